"""Every command and key that README.md and docs/*.md name, typed in a terminal: it does what is said there."""

import os
import re
import sys
import time
from dataclasses import dataclass, field

import pytest

from memtui.core.base import paths
from memtui.core.inbox import format as inbox_format

from . import documented
from .screen import SECONDS, MemtuiTerminal, ShellTerminal
from .worlds import DemoWorld

pytestmark = pytest.mark.terminal

ASKED = (r"\[y/N\] ", "y\r")
QUIT = (r"1 Memories", "q")
# What is typed for a word that stands for something else.
EXCEPTIONS = {
    "python3 -m venv .venv && .venv/bin/pip install -q . && .venv/bin/memtui demo --tour": "installs; the gate does, and demo is typed",
    "python3 -m venv .venv && .venv/bin/pip install -q -c constraints.txt -e '.[test]' && .venv/bin/pytest": "the gate itself",
    "pipx install .": "installs",
    "pip install fastembed": "installs",
    "source .venv/bin/activate": "of an environment that the line above makes",
    "claude plugin marketplace add PATH-OR-URL && claude plugin install memtui@memtui": "the client's: test_install.py",
    "claude -p": "the client's",
    "memtui 2 notes · 3 drafts · ✓ arrived 2m": "what statusline prints",
    "python -I -S": "how hooks are run, not typed",
}


@dataclass(frozen=True)
class Typed:
    """What is typed for documented commands: `code` is how it ends, `shows` what is printed."""

    documented: str | tuple[str, ...]
    line: str
    shows: str = ""
    code: int = 0
    answers: list[tuple[str, str]] = field(default_factory=list)

    @property
    def commands(self) -> set[str]:
        """Those that are documented so."""
        return {self.documented} if isinstance(self.documented, str) else set(self.documented)


def typed(
    documented: str | tuple[str, ...], line: str, shows: str = "", code: int = 0, *answers: tuple[str, str]
) -> Typed:
    return Typed(documented, line, shows, code, list(answers))


# Each in a sample world of its own, one after the other. `{update}`, `{note}`, … are ids there.
STORIES = {
    "readme": [
        typed(("memtui hooks uninstall", "hooks uninstall"), "memtui hooks uninstall", "settings", 0, ASKED),
        typed(("memtui hooks install", "hooks install"), "memtui hooks install", "settings", 0, ASKED),
        typed("hooks status", "memtui hooks status", "all good"),
        typed("", "memtui hooks install --scope project --dry-run", "settings"),
        typed("memtui hooks install --status-line", "memtui hooks install --status-line --yes", "status line"),
        typed("hooks uninstall --status-line", "memtui hooks uninstall --status-line --yes", "status line removed"),
        typed("memtui config set pager never", "memtui config set pager never", "never"),
        typed("statusline", "echo | memtui statusline", r"memtui \d+ notes? · \d+ drafts"),
        typed("statusline --after COMMAND", "echo | memtui statusline --after 'echo mine'", "mine · memtui"),
        typed(
            'memtui guide "CI is broken on master: fix that first"',
            'memtui guide "CI is broken on master: fix that first"',
            r"[0-9A-Z]{26}",
        ),
        typed(("memtui deliveries", "deliveries"), "memtui deliveries", "arrived"),
        typed(("memtui receipts", "receipts [ID…]"), "memtui receipts", "arrived"),
        typed(("memtui inbox", "inbox"), "memtui inbox", "CI is broken on master"),
        typed("", "memtui inbox --limit 1", "more|--limit"),
        typed(("memtui approve 4B7XAD", "approve ID…", "approve"), "memtui approve {update}", "memtui undo"),
        typed(("memtui list", "list"), "memtui list", "prefer-pnpm"),
        typed(("memtui undo", "undo [ID]", "undo"), "memtui undo", "(?i)undo|taken back|approve"),
        typed(("memtui doctor", "doctor"), "memtui doctor", "memtui", 5),
        typed(("memtui trust", "trust"), "memtui trust", "skip-code-review", 0, ASKED),
        typed("", "memtui trust --remove skip-code-review", "skip-code-review"),
        typed("", "memtui trust --list", "skip-code-review"),
        typed("", "memtui trust --team --list", "No team shares memories here", 3),
        typed("", "memtui trust --always --yes", ""),
        typed("memtui", "memtui", "", 0, QUIT),
        typed("demo [DIR]", "memtui demo", "A sample world"),
        typed("demo [DIR]", "memtui demo $TMPDIR/mine", "Try it yourself"),
        typed("", "memtui demo --keep $TMPDIR/mine && memtui demo --yes $TMPDIR/mine", "made anew"),
        typed("", "memtui demo --tour", "", 0, ("1 of 9", "q"), ("g guide", "q")),
        typed("", "memtui demo --open", "", 0, QUIT),
        typed(
            'echo "CI is red" >> guidance.md',
            '(cd {inbox} && echo "CI is red" >> guidance.md) && memtui inbox',
            "CI is red",
        ),
        typed("help config", "memtui help config", "nobody looks"),
        typed("memtui config set mode whisper", "memtui config set mode whisper", "whisper"),
        typed("memtui config set mode off --project .", "memtui config set mode off --project .", "off"),
    ],
    "memories": [
        typed("", "memtui list --attention && memtui list --never", "prefer-pnpm|payment"),
        typed("show NAME", "memtui show prefer-pnpm", "Use pnpm"),
        typed("", "memtui show prefer-pnpm --raw", "name: prefer-pnpm"),
        typed("history NAME", "memtui history prefer-pnpm", "first look"),
        typed("", "memtui history prefer-pnpm --show 1", "name: prefer-pnpm"),
        typed("", "memtui history prefer-pnpm --diff 1", "prefer-pnpm"),
        typed("", "memtui history prefer-pnpm --restore 1", "prefer-pnpm"),
        typed("triggers NAME", "memtui triggers prefer-pnpm", "No triggers"),
        typed("", "memtui triggers prefer-pnpm --add 'install a package' --add other", "install a package"),
        typed(
            "",
            "memtui triggers prefer-pnpm --remove 2 && memtui triggers prefer-pnpm --remove other",
            "3|no trigger",
            3,
        ),
        typed("triggers NAME", "memtui triggers prefer-pnpm --edit", "install a package"),
        typed("", "memtui triggers prefer-pnpm --mute 'how do I deploy?'", "Never recalled"),
        typed("", "memtui triggers prefer-pnpm --unmute 1 --json", '"muted": \\[\\]'),
        typed("", "memtui triggers prefer-pnpm --forget 1", "no learned path", 3),
        typed("", "memtui triggers --write --all --dry-run", "llm_backend", 1),
        typed("", "memtui triggers --write prefer-pnpm --yes", "llm_backend", 1),
        typed("triggers", "memtui triggers", "install a package"),
        typed("search WORD…", "memtui search lock file", "prefer-pnpm"),
        typed("new NAME", "memtui new from-editor --type feedback", "from-editor"),
        typed("", "memtui new from-body --type project --description Short --body 'A body.'", "from-body"),
        typed(
            "edit NAME…",
            "memtui edit prefer-pnpm --set owner=me --type user --description 'pnpm only' --body 'Use it.'",
            "prefer-pnpm",
        ),
        typed("edit NAME…", "memtui edit prefer-pnpm", "prefer-pnpm"),
        typed("mv NAME NEWNAME", "memtui mv from-body moved", "moved"),
        typed("mv NAME SCOPE:NEWNAME", "memtui mv moved auto:moved-on && memtui mv moved-on moved", "moved-on"),
        typed("mv NAME… --to SCOPE", "memtui mv moved --to global --json", "global"),
        typed("", "memtui mv moved --scope project --name prefer-npm", "prefer-npm"),
        typed("cp NAME NEWNAME", "memtui cp prefer-npm copied", "copied"),
        typed("cp NAME… --to SCOPE", "memtui cp copied --to global --yes", "global"),
        typed("memtui rm prefer-npm && memtui undo", "memtui rm prefer-npm && memtui undo", "prefer-npm"),
        typed("redo", "memtui redo", "prefer-npm"),
        typed("undo --list", "memtui undo --list", "prefer-npm"),
        typed("", "memtui undo --list --limit 0", "prefer-npm"),
        typed(
            "memtui undo 4B7XAD",
            "memtui cp prefer-pnpm again && memtui undo $(memtui undo --list | sed -n 3p | cut -c1-6)",
            "delete|prefer-npm",
        ),
        typed("memtui undo --yes", "memtui undo --yes", ""),
        typed("rm NAME…", "memtui rm from-editor", "trash"),
        typed("restore [ID|NAME…]", "memtui restore && memtui restore from-editor", "from-editor"),
        typed("", "memtui rm from-editor --purge --yes", "from-editor"),
        typed("index", "memtui index", "old-wiki"),
        typed("", "memtui index --fix", "old-wiki", 0, ASKED),
        typed("", "memtui index --fix --yes", "MEMORY.md|index"),
        typed("", "memtui edit prefer-pnpm --keep ours", "no conflict markers", 2),
        typed("", "memtui index --scope project --keep both", "no conflict markers", 2),
    ],
    "what waits": [
        typed(("guide TEXT", "guide"), "memtui guide Take care", r"[0-9A-Z]{26}"),
        typed("", "memtui guide Be quick --global --urgent --expires 2h --from me --json", '"ok": true'),
        typed("", "memtui guide Look --to session:0b5d3a52 --to 'path:src/**'", r"[0-9A-Z]{26}"),
        typed("memtui guide --to people", "memtui guide --to people Look up", r"[0-9A-Z]{26}"),
        typed("memtui config set guide_to people", "memtui config set guide_to people", "people"),
        typed("memtui guide --to agent:NAME", "memtui guide --to agent:reviewer Look", r"[0-9A-Z]{26}"),
        typed("", "memtui guide --yes The token is ghp_0123456789abcdefghijABCDEFGHIJ012345", r"[0-9A-Z]{26}"),
        typed("", "memtui guide --list", "Take care"),
        typed("", "memtui guide --edit {note} --no-urgent --expires 18:00 --to anyone Changed", ""),
        typed(("memtui guide --withdraw ID", "guide --withdraw ID"), "memtui guide --withdraw {note}", ""),
        typed("memtui guide --again", "memtui guide --again JVPWFV --expires 2h", r"[0-9A-Z]{6}"),
        typed("inbox show ID", "memtui inbox show {update}", "In context"),
        typed(
            "",
            "memtui approve {update} --dry-run --name a-name --type user --scope global --description D --body B"
            " --no-trigger",
            "a-name",
        ),
        typed("", "memtui approve {update} --edit --name edited", "edited"),
        typed("", "memtui undo --yes && memtui approve {update} --into prefer-pnpm", "prefer-pnpm"),
        typed("", "memtui approve --all --one-offs; memtui undo --yes", "(?s)prefer-pnpm already.*approve"),
        typed("snooze ID… --until WHEN", "memtui snooze {other} --until friday", "until"),
        typed("inbox --snoozed", "memtui inbox --snoozed", "until"),
        typed("", "memtui snooze {other} --until now && memtui snooze --all --until 2w", "back"),
        typed("", "memtui undo --yes", ""),
        typed(
            ("keep NAME…", "inbox show NAME", "keep", "inbox"),
            "memtui history prefer-pnpm && (cd .claude/memory && echo Mine. >> prefer-pnpm.md && touch -d '1 hour' prefer-pnpm.md)"
            " && memtui inbox --kind changed && memtui inbox show prefer-pnpm && memtui keep prefer-pnpm",
            "Kept: project:prefer-pnpm",
        ),
        typed(
            ("take-back NAME…", "take-back"),
            "(cd .claude/memory && echo Again. >> prefer-pnpm.md && touch -d '2 hours' prefer-pnpm.md)"
            " && memtui take-back prefer-pnpm",
            "Taken back: project:prefer-pnpm",
        ),
        typed("", "memtui keep --all --all-projects", "Kept: auto:flaky-upload-test"),
        typed("reject ID…", "memtui reject {other} --never", ""),
        typed("items", "memtui items", "snapshot|item|test"),
        typed("items done ID…", "memtui items done {item}", ""),
        typed("items keep ID…", "memtui items keep {kept}", ""),
        typed("items edit ID TEXT", "memtui items edit {kept} Another text", ""),
        typed("items guide ID…", "memtui items guide {kept}", ""),
    ],
    "the rest": [
        typed(
            "",
            "memtui deliveries --session 0b5d --kind guidance --memory prefer-pnpm --outcome arrived --text x --since 2d",
            "",
        ),
        typed("", "memtui deliveries --follow", "", 130, ("arrived", "\x03")),
        typed("", "memtui deliveries --since 30d --until now", "arrived"),
        typed("deliveries --stats", "memtui deliveries --stats --days 30", "P95"),
        typed("deliveries show ID", "memtui deliveries show Z2C4A7", "memtui-"),
        typed("recall TEXT", 'memtui recall "install with pnpm or with npm?"', "prefer-pnpm"),
        typed(
            "recall --explain TEXT", 'memtui recall --explain "install with pnpm or with npm?"', "the model would get"
        ),
        typed("", 'memtui recall --explain --json "install with pnpm or with npm?"', '"idf"'),
        typed("recall --session ID TEXT", "memtui recall --session 3e8f which port does the database have", "as for"),
        typed("recall --all TEXT", "memtui recall --all pnpm release commit database", "would"),
        typed("", "echo what about pnpm and npm | memtui recall -", "prefer-pnpm"),
        typed('memtui recall "how do we release?"', 'memtui recall "how do we release?"', "release-steps"),
        typed(
            'memtui triggers release-steps --add "put it live"',
            'memtui triggers release-steps --add "put it live"',
            "put it live",
        ),
        typed("recall --replay N", "memtui recall --replay 5", "prompts would get memories now"),
        typed(
            "recall --replay N --with FILE",
            "memtui recall --replay 5 --with .claude/memory/prefer-pnpm.md",
            "prompts would get other memories",
        ),
        typed("recall --replay N --without NAME", "memtui recall --replay 5 --without prefer-pnpm --all", "other"),
        typed("backfill --dry-run", "memtui backfill --dry-run", "draft"),
        typed("backfill --since WHEN", "memtui backfill --since 2d --project . --dry-run", "draft"),
        typed(("memtui backfill", "backfill --most N"), "memtui backfill --most 5", "draft"),
        typed("memtui import ~/.claude-mem --dry-run", "memtui import .claude/memory --dry-run", "known already|would"),
        typed("memtui export global", "memtui export global && rm memtui-global.zip", "other machine"),
        typed(
            ("export SCOPE --to PATH", "export SCOPE"), "memtui export global --to $TMPDIR/mine.zip", "other machine"
        ),
        typed(("export --all", "memtui export"), "memtui export --all --to $TMPDIR/all", "auto:blog"),
        typed("import PATH --restore", "memtui import $TMPDIR/mine.zip --restore", "there already"),
        typed("import PATH --only SCOPE", "memtui import $TMPDIR/mine.zip --restore --only global", "there already"),
        typed("import PATH --dry-run", "memtui import $TMPDIR/all --dry-run", "known already"),
        typed(
            ("import PATH", "import PATH --from KIND", "memtui import", "import PATH --restore", "import PATH --again"),
            "printf '# Fruit\\n\\nEat an apple a day.\\n' > $TMPDIR/fruit.md && memtui import $TMPDIR/fruit.md --from markdown --again",
            "1 draft came",
        ),
        typed("import PATH --scope SCOPE", "memtui import $TMPDIR/fruit.md --scope global --limit 5", "known already"),
        typed("", "memtui import $TMPDIR/mine.zip --restore --yes", "there already"),
        typed("sessions", "memtui sessions", "3e8f"),
        typed("", "memtui sessions --all-projects --live", "d2f7"),
        typed("sessions ID", "memtui sessions d2f7", "resume"),
        typed(("sessions show ID", "sessions show"), "memtui sessions show 3e8f --rows 1", "and 2 older"),
        typed("tui", "memtui tui --screen inbox --read-only", "", 0, ("read-only", "q")),
        typed("status", "memtui status", "mode full"),
        typed("", "memtui doctor --errors", ""),
        typed("", "memtui doctor --all-projects", "to fix", 5),
        typed("", "memtui doctor --json", '"code"', 5),
        typed("doctor --fix", "memtui doctor --fix", "old-wiki", 5, ASKED),
        typed("lint [PATH]", "memtui lint .claude/memory --format github", "", 0),
        typed(
            "memtui lint",
            "printf '\\n## Nothing yet\\n' >> .claude/memory/MEMORY.md && memtui lint --fix",
            "worth knowing|to fix",
            5,
            ASKED,
        ),
        typed("lint PATH --fix", "memtui lint .claude/memory --fix", "memories"),
        typed("", "memtui lint --apart prefer-pnpm release-steps", "are kept apart"),
        typed("memtui lint --apart", "memtui lint --compare prefer-pnpm release-steps", "are compared again"),
        typed("", "memtui doctor --fix --yes", "memtui", 5),
        typed("", "memtui doctor --fix projects", "Nothing waits to be given", 5),
        typed("consolidate", "memtui consolidate", "propose|nothing to consolidate"),
        typed(
            "memtui consolidate --plan FILE",
            "memtui consolidate --scope project --safe --plan plan.json",
            "accepted",
        ),
        typed("", "memtui consolidate --apply plan.json --all --yes", "made|No change"),
        typed("", "memtui consolidate --applied", "fix MEMORY.md|consolidate"),
        typed(
            "",
            "memtui consolidate --accept zzzz --reject zzzz",
            "",
            3,
        ),
        typed(("config", "config list"), "memtui config list", "budget"),
        typed(("memtui config list --keys", "config list --keys"), "memtui config list --keys", "memories.edit"),
        typed("config list --all-projects", "memtui config list --all-projects", "shop"),
        typed("config get KEY", "memtui config get mode", "full"),
        typed("config set KEY VALUE", "memtui config set budget 8000", "8000"),
        typed("config unset KEY", "memtui config unset budget", "9000|default|budget"),
        typed(("memtui gc --dry-run", "memtui gc", "gc"), "memtui gc --dry-run && memtui gc", ""),
        typed("config edit", "memtui config edit", ""),
        typed("llm", "memtui llm", "llm_backend"),
        typed("dream", "memtui dream --dry-run --scope project --remove 3 --again", "no model would be asked"),
        typed("", "memtui dream --yes --plan dream.json", "nothing is changed yet"),
        typed("learned", "memtui learned", "Nothing was learned|decisions"),
        typed("memtui learned --reset", "memtui learned --reset", "Nothing|Forgotten"),
        typed(("semantic", "semantic status"), "memtui semantic status", "not running"),
        typed(("semantic on", "memtui semantic on"), "memtui semantic on", "not installed", 1),
        typed("semantic off", "memtui semantic off", "semantic = false"),
        typed("semantic stop", "memtui semantic stop", "No daemon"),
        typed(("subconscious", "subconscious status"), "memtui subconscious", "config set subconscious whisper"),
        typed("subconscious blocks", "memtui subconscious blocks", "project_context"),
        typed(
            "subconscious edit BLOCK",
            "memtui subconscious edit guidance --text 'Ask before a migration.' --yes",
            "Ask before a migration",
        ),
        typed("subconscious edit BLOCK", "memtui subconscious edit guidance", "changed|Nothing"),
        typed("subconscious show BLOCK", "memtui subconscious show guidance", "Ask before"),
        typed("subconscious history BLOCK", "memtui subconscious history guidance", "you"),
        typed("", "memtui subconscious history guidance --diff 1", "Ask before"),
        typed(
            "memtui subconscious history BLOCK --restore N",
            "memtui subconscious history guidance --restore 1",
            "changed|Nothing",
        ),
        typed(
            ("subconscious undo BLOCK [VERSION]", "memtui subconscious undo"),
            "memtui subconscious undo project_context 1",
            "undid version 1|Nothing is left",
        ),
        typed("", "memtui subconscious undo --run NONE1", "no run", 3),
        typed(
            ("subconscious runs", "memtui subconscious runs --json"),
            "memtui subconscious runs --limit 5 --json",
            "outcome",
        ),
        typed("subconscious whispers", "memtui subconscious whispers --session 7c1e", "no deploy script|over|gone"),
        typed("subconscious conversation [ID]", "memtui subconscious conversation", "summed up"),
        typed("subconscious run [ID]", "memtui subconscious run", "config set subconscious", 1),
        typed("subconscious stop", "memtui subconscious stop", "stopped"),
        typed("subconscious start", "memtui subconscious start", "again"),
        typed("llm log", "memtui llm log --limit 5", "No model was asked"),
        typed("memtui config set glyphs ascii", "memtui config set glyphs ascii", "ascii"),
        typed("memtui paths guidance", "memtui paths guidance", r"guidance\.md"),
        typed("paths [NAME]", "memtui paths && memtui paths errors", r"errors\.jsonl"),
        typed("completions SHELL", "memtui completions bash", "complete"),
        typed("memtui --man", "memtui --man | head -3", "memtui - "),
        typed("memtui help COMMAND", "memtui help guide", "example"),
        typed("", "memtui --debug --project . list --json", '"ok": true'),
    ],
}


@pytest.fixture
def world(tmp_path):
    """The sample world with `memtui` on its PATH, and an editor that adds a line."""
    found = DemoWorld(tmp_path)
    for name, script in (
        ("memtui", f'#!/bin/sh\nexec {sys.executable} -m memtui "$@"\n'),
        ("editor", '#!/bin/sh\necho "# A line." >> "$1"\n'),
    ):
        (found.bin / name).write_text(script)
        (found.bin / name).chmod(0o700)
    return found


def ids(world):
    """What the words in braces stand for."""
    box = paths.inbox_dir(str(world.root), paths.project_key(str(world.project)))

    def waiting(name):
        with open(f"{box}/{name}", encoding="utf-8") as file:
            return [entry.id for entry in inbox_format.parse(file.read())]

    updates, items, notes = waiting("pending-updates.md"), waiting("pending-items.md"), waiting("guidance.md")
    return {
        "update": "J5VMX3",
        "other": next(each for each in updates if not each.endswith("J5VMX3")),
        "item": items[0],
        "kept": items[1],
        "note": notes[0],
        "inbox": box,
    }


def consolidated(tui, _):
    """H on the Consolidate screen lists what was made."""
    tui.press("6")
    tui.see("proposed")
    tui.press("H")
    tui.see("Nothing was consolidated yet")
    tui.press("\x1b")
    tui.see("proposed", gone="Nothing was consolidated yet")
    tui.press("1")
    tui.see("prefer-pnpm")


def transferred(tui, world):
    """X exports the scope that is chosen, and I imports, after showing what comes."""
    tui.press("X")
    tui.see("Export .* to")
    tui.press("\x1b")
    tui.see("prefer-pnpm", gone="Export .* to")
    tui.press("I")
    tui.see("Import memories from")
    tui.press(".claude/memory\r")
    tui.see("Nothing new is in it|would come into the inbox")
    tui.press("\x1b")
    tui.see("prefer-pnpm", gone="Nothing new is in it|would come into the inbox")


def backfilled(tui, world):
    """B in the Inbox reads the earlier sessions, if that is wanted."""
    tui.press("2")
    tui.see("wait for you|to review")
    tui.press("B")
    # Its keys are drawn last when it opens, and when it closes.
    tui.see("Read your earlier sessions", "Not now", "escape cancel")
    tui.press("\x1b")
    tui.see("B in the Inbox|wait for you|to review", gone="escape cancel")
    tui.press("1")
    tui.see("prefer-pnpm")


def numbers(tui, world):
    """1 to 8 open the eight screens."""
    for key, words in (
        ("2", "Inbox"),
        ("3", "notes wait"),
        ("4", "deliveries"),
        ("5", "Settings|Hooks"),
        ("6", "proposed"),
        ("7", "notes|whisper|off"),
        ("8", "likely +memory"),
        ("1", "prefer-pnpm"),
    ):
        tui.press(key)
        tui.see(words)


def help_(tui, world):
    tui.press("?")
    tui.see("Edit its fields and text")
    tui.press("G")
    tui.see("Keys can be remapped")
    tui.press("\x1b")
    tui.see("prefer-pnpm", gone="Keys can be remapped")


def guide_and_undo(tui, world):
    """g leaves guidance, z takes it back, Z gives it again."""
    tui.press("g")
    tui.see("Note to the agent")
    tui.press("A note of mine.")
    tui.see("A note of mine.")
    tui.press("\x13")
    tui.see("3 Guidance 7")
    tui.press("z")
    tui.see("3 Guidance 6")
    tui.press("Z")
    tui.see("3 Guidance 7")


def list_of_changes(tui, world):
    """U lists the changes; enter undoes one that is not the last."""
    memory = world.project / ".claude/memory/prefer-pnpm.md"
    with ShellTerminal(world) as shell:
        for command in ("memtui rm project:prefer-pnpm", "memtui config set budget 1234"):
            assert shell.run(command)[0] == 0
    tui.press("U")
    tui.see("trash project:prefer-pnpm", "budget")
    tui.press("j")
    tui.see("enter undoes it")
    tui.press("\r")
    tui.see("was undone: Z redoes it")
    assert memory.exists()
    tui.press("\x1b")
    tui.see("prefer-pnpm", gone="what was changed")


def first_approval(tui, world):
    """2, a: a draft of the inbox, all of which is shown, is a memory; 1 shows it, z undoes it."""
    memory = world.project / ".claude/memory/ask-before-migrations.md"
    tui.press("2")
    tui.see("drafts to review")
    tui.press("a")
    tui.see("3 drafts to review")
    assert "show the SQL first" in memory.read_text()
    tui.press("1")
    tui.see("ask-before-migrations")
    tui.press("z")
    tui.see("Undone|undone")
    assert not memory.exists()


def changed_by_others(tui, world):
    """a or = in the inbox keeps a memory that somebody else changed, x takes it back, e edits it, H lists its
    versions."""
    path = world.project / ".claude/memory/prefer-pnpm.md"
    with ShellTerminal(world) as shell:  # memtui has seen it as it is
        assert shell.run("memtui history prefer-pnpm")[0] == 0
    tui.press("2")
    tui.see("drafts to review")
    tui.press("/")
    tui.see("filter: name")
    tui.press("project:prefer-pnpm")
    tui.press("\r")
    for hours, (key, said) in enumerate((("=", "Kept"), ("a", "Kept"), ("x", "Taken back"), ("e", "save  ")), 1):
        before = path.read_text()
        made = world.root / "made"  # the file is never seen with another time
        made.write_text(f"{before}Changed {hours}.\n")
        os.utime(made, (time.time() + hours * 3600,) * 2)
        made.replace(path)
        tui.press("\x12")
        tui.see(rf"\+ Changed {hours}\.", "keep it: it counts as seen", "2 changed by others")
        tui.press("H")
        tui.see("Versions of prefer-pnpm: enter restores one", "not seen yet")
        tui.press("\x1b")
        tui.see("keep it: it counts as seen", gone="Versions of")
        tui.press(key)
        tui.see(said)
        if key != "e":
            tui.see(r"review · 1 looks like a one-off · 1 changed by others · \d unfinished")
        assert (path.read_text() == before) == (key == "x")
    tui.press("\x1b")
    tui.see(r"z undo\b", gone="save  ")
    tui.press("1")
    tui.see("size +sent +last", r"z undo\b")


def sessions(tui, world):
    """S in Deliveries lists the sessions; escape goes back."""
    tui.press("4")
    tui.see("what +project +chars|chars +ms")
    tui.press("S")
    tui.see("Sessions: 1 live", "add tests for the new components")
    tui.press("\x1b")
    tui.see("what +project +chars|chars +ms", gone="Sessions: 1 live")
    tui.press("1")
    tui.see("prefer-pnpm")


def recalled(tui, _):
    """8 shows what a prompt would bring."""
    tui.press("8")
    tui.see("likely +memory", "to help|would be delivered")
    tui.press("i")
    tui.see("to the list")
    tui.press("how do we put the new version live?\r")
    tui.see("1 memory would be delivered", "✓ .[0-9]+ .*release-steps")
    tui.press("1")
    tui.see("size +sent +last", gone="likely +memory")


def undone_by_itself(tui, _):
    """x on a block undoes one change of it, and z takes that back."""
    tui.press("7")
    tui.see("›question")
    tui.press("jjjj")
    tui.see("›block +project_context", "Tests of components")
    tui.press("x")
    tui.see("enter undoes one")
    tui.press("\r")
    tui.see("Undid a change of project_context")
    tui.press("z")
    tui.see("Undone|undone")
    tui.press("1")
    tui.see("prefer-pnpm")


def undo_of_others(tui, world):
    """What was done elsewhere is named first; the same key again means yes."""
    with ShellTerminal(world) as shell:
        assert shell.run("memtui rm release-steps")[0] == 0
    tui.press("z")
    tui.see("z again")
    assert not (world.project / ".claude/memory/release-steps.md").exists()
    tui.press("z")
    tui.see("Undone|undone")
    assert (world.project / ".claude/memory/release-steps.md").exists()


def themes(tui, world):
    """ctrl+t goes round four themes, and settings name the one that was chosen."""
    for name in ("light", "ansi-dark", "ansi-light", "dark", "light"):
        tui.press("\x14")
        tui.see(f"Theme: {name}")
    deadline = time.monotonic() + SECONDS
    while 'theme = "light"' not in settings(world):
        assert time.monotonic() < deadline, settings(world)
        time.sleep(0.1)


def settings(world):
    path = world.root / "config.toml"
    return path.read_text() if path.exists() else ""


# What is done in the TUI for the keys that a text names.
KEYS = {
    **{("README.md", key): first_approval for key in ("2", "a", "1", "z")},
    ("README.md", "q"): numbers,
    ("README.md", "7"): undone_by_itself,
    ("cli.md", "B"): backfilled,
    **{("README.md", key): changed_by_others for key in ("=", "e", "x")},
    **{(file, key): changed_by_others for file in ("cli.md", "hooks.md") for key in ("a", "=", "e", "x")},
    **{(file, "8"): recalled for file in ("README.md", "cli.md")},
    ("README.md", "?"): help_,
    ("README.md", "g"): guide_and_undo,
    ("README.md", "S"): sessions,
    ("README.md", "U"): list_of_changes,
    ("cli.md", "H"): consolidated,
    ("cli.md", "z"): undo_of_others,
    **{("cli.md", key): transferred for key in ("I", "X")},
    ("cli.md", "Z"): guide_and_undo,
    ("file-formats.md", "ctrl+t"): themes,
}


def test_documented_keys_do_what_is_said(world):
    with MemtuiTerminal(world) as tui:
        tui.see("hooks", "prefer-pnpm")
        for steps in dict.fromkeys([numbers, *KEYS.values()]):
            steps(tui, world)
        # It follows what others do.
        (world.root / "global" / "guidance.md").write_text("Something new.\n")
        tui.press("3")
        tui.see("Something new")
        tui.press("q")
        assert tui.end() == 0
        assert tui.left_on == []
    assert world.errors() == []


def test_documented_settings_of_keys_are_heard(world):
    """`"memories.edit" = "E"` and `"app.quit" = "x,ctrl+x"` of docs/file-formats.md."""
    text = (documented.REPO / "docs/file-formats.md").read_text()
    lines = [line for line in ('"memories.edit" = "E"', '"app.quit" = "x,ctrl+x"') if line in text]
    assert len(lines) == 2
    (world.root / "config.toml").write_text("[keys]\n" + "\n".join(lines) + "\n")
    for key in ("x", "\x18"):
        with MemtuiTerminal(world) as tui:
            tui.see("hooks", "prefer-pnpm")
            if key == "x":
                tui.press("E")
                tui.see("save  ")
                tui.press("\x1b")
                tui.see("x quit", gone="save  ")
            tui.press(key)
            assert tui.end() == 0


def test_every_documented_key_is_pressed():
    found = {(each.file, each.text) for each in documented.keys()}
    assert found == set(KEYS)


@pytest.mark.parametrize("story", STORIES)
def test_a_documented_command_does_what_is_said(world, story):
    given = ids(world)
    with ShellTerminal(world) as shell:
        shell.run(f"export TMPDIR={world.base} COLUMNS=150")
        for each in STORIES[story]:
            line = each.line.format(**given)
            code, printed = shell.run(line, each.answers)
            assert code == each.code, printed
            assert re.search(each.shows, printed), (line, printed)
            assert not re.search(r"Traceback|unexpected", printed), (line, printed)
    assert world.errors() == []


def lines():
    """All that is typed."""
    return [each.line for story in STORIES.values() for each in story]


def is_typed(text):
    """As it stands there, and perhaps with what it takes."""
    return any(re.search(rf"memtui {re.escape(text.removeprefix('memtui '))}(?!\w)", line) for line in lines())


def test_every_documented_command_is_typed():
    known = {command for story in STORIES.values() for each in story for command in each.commands} | set(EXCEPTIONS)
    found = documented.commands()
    missing = [each for each in found if each.text not in known and not is_typed(each.text)]
    assert [f"{each.file}:{each.line} {each.text}" for each in missing] == []
    assert known - {""} - {each.text for each in found} == set()


def test_every_documented_option_is_typed():
    found = {
        (command, option)
        for command, option in documented.options()
        if not any(re.search(rf"memtui {command}\b[^&]*{option}\b", line) for line in lines())
    }
    assert found == set()
