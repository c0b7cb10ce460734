"""Every command and key that README.md and docs/*.md name, typed in a terminal: it does what is said there."""

import os
import re
import sys
import time
from dataclasses import dataclass, field

import pytest

from memtui.base import paths
from memtui.inbox import format as inbox_format

from . import documented
from .screen import MemtuiTerminal, ShellTerminal
from .worlds import DemoWorld

pytestmark = pytest.mark.terminal

ASKED = (r"\[y/N\] ", "y\r")
QUIT = (r"1 Memories", "q")
# What is typed for a word that stands for something else.
EXCEPTIONS = {
    "python3 -m venv .venv && . .venv/bin/activate && pip install -q . && memtui demo --tour": "installs; the gate does, and demo is typed",
    "python3 -m venv .venv && .venv/bin/pip install -q -c constraints.txt -e '.[test]' && .venv/bin/pytest": "the gate itself",
    **dict.fromkeys(("uv tool install .", "pipx install ."), "installs"),
    "pip install fastembed": "installs",
    "pip install argcomplete": "installs",
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
        typed("setup hooks", "memtui setup hooks --remove", "settings", 0, ASKED),
        typed("memtui setup hooks", "memtui setup hooks", "settings", 0, ASKED),
        typed(("memtui setup", "setup"), "memtui setup", r"7 hooks \(user\)"),
        typed("", "memtui setup hooks --scope project --dry-run", "settings"),
        typed(("memtui setup statusline", "setup statusline"), "memtui setup statusline --yes", "status line"),
        typed("memtui setup hooks --remove", "memtui setup statusline --remove --yes", "status line removed"),
        typed("setup plugin", "memtui setup plugin", "claude plugin install"),
        typed("setup completions SHELL", "memtui setup completions bash", "complete"),
        typed("memtui statusline", "echo | memtui statusline", r"memtui \d+ notes? · \d+ drafts"),
        typed("memtui statusline --after COMMAND", "echo | memtui statusline --after 'echo mine'", "mine · memtui"),
        typed(
            'memtui note "CI is broken on master: fix that first"',
            'memtui note "CI is broken on master: fix that first"',
            r"--withdraw\s+[0-9A-Z]{6}",
        ),
        typed(("memtui activity", "activity"), "memtui activity", "arrived"),
        typed(("memtui inbox", "inbox"), "memtui inbox", "draft .*(?s:.*)merge "),
        typed("", "memtui inbox --limit 1", "more: memtui inbox --limit 0"),
        typed(
            ("memtui approve 4B7XAD", "memtui approve ID", "approve ID", "approve ID…", "approve"),
            "memtui approve {update}",
            "memtui undo",
        ),
        typed("memtui list", "memtui list", "prefer-pnpm"),
        typed("memtui --version", "memtui --version", r"memtui \d"),
        typed("", "memtui list --all-projects --scope project --sort age --names", "prefer-pnpm"),
        typed("", "memtui search pnpm --limit 1", "prefer-pnpm"),
        typed(("memtui undo", "undo [ID]", "undo"), "memtui undo", "(?i)undo|approve"),
        typed(("memtui doctor", "doctor"), "memtui doctor", "memtui", 5),
        typed(("memtui trust", "trust"), "memtui trust", "skip-code-review", 0, ASKED),
        typed("", "memtui trust --remove skip-code-review", "skip-code-review"),
        typed("", "memtui trust --list", "skip-code-review"),
        typed("", "memtui trust --team --list", "No team shares memories here", 3),
        typed("", "memtui trust --always --yes", ""),
        typed("memtui", "memtui", "", 0, QUIT),
        typed("", "memtui --screen inbox --read-only", "", 0, ("read-only", "q")),
        typed(("demo [DIR]", "memtui demo"), "memtui demo", "A sample world"),
        typed("demo [DIR]", "memtui demo $TMPDIR/mine", "Try it in a shell"),
        typed("", "memtui demo --keep $TMPDIR/mine && memtui demo --yes $TMPDIR/mine", "made anew"),
        typed("", "memtui demo --tour", "", 0, ("1 of 3", "q"), ("c note", "q")),
        typed("", "memtui demo --open", "", 0, QUIT),
        typed(
            'echo "CI is red" >> guidance.md',
            '(cd {inbox} && echo "CI is red" >> guidance.md) && memtui note --list',
            "CI is red",
        ),
        typed("help config", "memtui help config", "nobody looks"),
        typed("memtui config set mode notes", "memtui config set mode notes", "notes"),
        typed("memtui config set mode off --project .", "memtui config set mode off --project .", "off"),
    ],
    "memories": [
        typed("list [QUERY…]", "memtui list is:problem && memtui list is:never", "prefer-pnpm|payment"),
        typed("show NAME", "memtui show prefer-pnpm", "Use pnpm"),
        typed("show ID", "memtui show {update}", "evidence"),
        typed("", "memtui show prefer-pnpm --raw", "name: prefer-pnpm"),
        typed("history NAME", "memtui history prefer-pnpm", "first run"),
        typed("", "memtui history prefer-pnpm --show 1", "name: prefer-pnpm"),
        typed("", "memtui history prefer-pnpm --diff 1", "prefer-pnpm"),
        typed("", "memtui history prefer-pnpm --restore 1", "prefer-pnpm"),
        typed(
            "edit NAME --trigger TEXT",
            "memtui edit prefer-pnpm --trigger 'install a package' --trigger other",
            "install a package",
        ),
        typed(
            "",
            "memtui edit prefer-pnpm --no-trigger 3 && memtui edit prefer-pnpm --no-trigger other",
            "no trigger",
            3,
        ),
        typed("search QUERY…", "memtui search lock file", "prefer-pnpm"),
        typed("", "memtui new old-news --body Old.", "old-news"),
        typed("new NAME", "memtui new from-body --type project --description Short --body 'A body.'", "from-body"),
        typed(
            ("edit NAME…", "edit"),
            "memtui edit prefer-pnpm --set owner=me --type user --description 'pnpm only' --body 'Use it.'",
            "prefer-pnpm",
        ),
        typed(("mv NAME NEWNAME", "mv"), "memtui mv from-body moved", "moved"),
        typed("mv NAME SCOPE:NEWNAME", "memtui mv moved auto:moved-on && memtui mv moved-on moved", "moved-on"),
        typed("mv NAME… --scope SCOPE", "memtui mv moved --scope global --json", "global"),
        typed("", "memtui mv moved prefer-npm && memtui mv prefer-npm --scope project", "prefer-npm"),
        typed("", "memtui mv prefer-npm copied --copy", "copied"),
        typed("", "memtui mv copied --copy --scope global --yes", "global"),
        typed(("memtui rm prefer-npm && memtui undo", "rm"), "memtui rm prefer-npm && memtui undo", "prefer-npm"),
        typed("undo --redo", "memtui undo --redo", "prefer-npm"),
        typed("undo --list", "memtui undo --list", "prefer-npm"),
        typed("", "memtui undo --list --limit 0", "prefer-npm"),
        typed(
            "memtui undo 4B7XAD",
            "memtui mv prefer-pnpm again --copy && memtui undo $(memtui undo --list | sed -n 3p | cut -c1-6)",
            "delete|prefer-npm",
        ),
        typed("memtui undo --yes", "memtui undo --yes", ""),
        typed("rm NAME…", "memtui rm old-news", "removed"),
        typed(
            ("history", "history NAME… --restore"),
            "memtui history && memtui history old-news --restore",
            "old-news",
        ),
        typed("", "memtui rm old-news --purge --yes", "old-news"),
        typed(("check [PATH]", "check", "memtui check"), "memtui check", "old-wiki", 5),
        typed("", "memtui check --fix --dry-run", "old-wiki", 5),
        typed("check --fix", "memtui check --fix", "old-wiki", 5, ASKED),
        typed("", "memtui check --scope project", "MEMORY.md of project", 5),
    ],
    "what waits": [
        typed(("note TEXT", "note"), "memtui note Take care", r"--withdraw\s+[0-9A-Z]{6}"),
        typed(
            "",
            "memtui note Be quick --global --urgent --expires 2h --from me --json",
            '"ok": true',
        ),
        typed("", "memtui note Look --to session:0b5d3a52 --to 'path:src/**'", r"--withdraw\s+[0-9A-Z]{6}"),
        typed("memtui note --to people", "memtui note --to people Look up", r"--withdraw\s+[0-9A-Z]{6}"),
        typed("memtui config set note_to people", "memtui config set note_to people", "people"),
        typed("memtui note --to agent:NAME", "memtui note --to agent:reviewer Look", r"--withdraw\s+[0-9A-Z]{6}"),
        typed(
            "", "memtui note --yes The token is ghp_0123456789abcdefghijABCDEFGHIJ012345", r"--withdraw\s+[0-9A-Z]{6}"
        ),
        typed("", "memtui note --list", "Take care"),
        typed(("memtui note --withdraw ID", "note --withdraw ID"), "memtui note --withdraw {note}", ""),
        typed("", "memtui guide Take care", r"--withdraw\s+[0-9A-Z]{6}"),
        typed("inbox ID", "memtui inbox {update}", "evidence"),
        typed(
            (),
            "memtui approve {update} --name a-name --type user --scope global --description D --body B --no-trigger",
            "a-name",
        ),
        typed(
            "",
            "memtui undo --yes && memtui approve {update} --into prefer-pnpm",
            "prefer-pnpm",
        ),
        typed(
            "approve --all",
            "memtui reject --all --one-offs && memtui undo --yes && memtui approve --all --one-offs; memtui undo --yes",
            "(?s)prefer-pnpm already.*approve",
        ),
        typed("", "memtui reject {other} --later friday", "until"),
        typed("", "memtui inbox --later", "UNTIL"),
        typed("", "memtui reject {other} --later now && memtui reject --all --later 2w", "back"),
        typed("", "memtui undo --yes", ""),
        typed(
            ("approve NAME…", "inbox NAME"),
            "memtui history prefer-pnpm && (cd .claude/memory && echo Mine. >> prefer-pnpm.md && touch -d '1 hour' prefer-pnpm.md)"
            " && memtui inbox --kind changed && memtui inbox prefer-pnpm && memtui approve prefer-pnpm --yes",
            "kept  .*prefer-pnpm",
        ),
        typed(
            "reject NAME…",
            "(cd .claude/memory && echo Again. >> prefer-pnpm.md && touch -d '2 hours' prefer-pnpm.md)"
            " && memtui reject prefer-pnpm",
            "rejected  .*prefer-pnpm",
        ),
        typed(("reject ID…", "reject ID", "reject --all"), "memtui reject {other} --never", ""),
        typed("", "memtui inbox --kind todos", "snapshot|item|test"),
        typed("", "memtui approve {item}", ""),
    ],
    "the rest": [
        typed(
            "",
            "memtui activity --session 0b5d --kind guidance --memory prefer-pnpm --outcome arrived --text x --since 2d",
            "",
        ),
        typed("", "memtui activity --since 30d --all-projects", "arrived"),
        typed("", "memtui activity --kind notes", "CI is red|lint job"),
        typed("activity ID", "memtui activity Z2C4A7", "memtui-"),
        typed("recall TEXT", 'memtui recall "install with pnpm or with npm?"', "prefer-pnpm"),
        typed("", 'memtui recall --json "install with pnpm or with npm?"', '"parts"'),
        typed("recall", "memtui recall --all pnpm release commit database", "would"),
        typed("", "echo what about pnpm and npm | memtui recall -", "prefer-pnpm"),
        typed('memtui recall "how do we release?"', 'memtui recall "how do we release?"', "release-steps"),
        typed(
            'memtui edit release-steps --trigger "put it live"',
            'memtui edit release-steps --trigger "put it live"',
            "put it live",
        ),
        typed("", "memtui import sessions --since 2d --project . --dry-run", "draft"),
        typed(("memtui import sessions", "import sessions"), "memtui import sessions --dry-run --limit 5", "draft"),
        typed("memtui import ~/.claude-mem --dry-run", "memtui import .claude/memory --dry-run", "known already|would"),
        typed("memtui export global", "memtui export global && rm -r memtui-global", "another machine"),
        typed("export SCOPE", "memtui export global --to $TMPDIR/mine", "another machine"),
        typed(("export --all", "memtui export"), "memtui export --all --to $TMPDIR/all", "auto:blog"),
        typed("", "memtui import $TMPDIR/all --dry-run --scope global", "known already|would"),
        typed(
            ("import PATH", "memtui import"),
            "printf '# Fruit\\n\\nEat an apple a day.\\n' > $TMPDIR/fruit.md && memtui import $TMPDIR/fruit.md",
            "fruit",
        ),
        typed("activity --sessions", "memtui activity --sessions --all-projects", "3e8f"),
        typed("", "memtui activity --sessions --live", "d2f7"),
        typed("", "memtui activity 3e8f", "arrived"),
        typed("status", "memtui status", "mode full"),
        typed("memtui status --paths guidance", "memtui status --paths guidance", r"guidance\.md"),
        typed("memtui status --paths", "memtui status --paths && memtui status --paths errors", r"errors\.jsonl"),
        typed("", "memtui doctor --errors", ""),
        typed("", "memtui doctor --json", '"code"', 5),
        typed("doctor --fix", "memtui doctor --fix", "problems with memories", 5),
        typed("check --format github", "memtui check .claude/memory --format github", "old-wiki", 5),
        typed("", "memtui check .claude/memory --fix --yes", "memories"),
        typed(
            ("check --apart NAME OTHER", "memtui check --apart"),
            "memtui check --apart prefer-pnpm release-steps",
            "are kept apart",
        ),
        typed("", "memtui doctor --fix projects", "Nothing waits to be given", 5),
        typed(("consolidate", "memtui consolidate"), "memtui consolidate", "propose|nothing to consolidate"),
        typed("", "memtui consolidate --scope project --all --yes", "made|nothing to consolidate"),
        typed(("config", "config list"), "memtui config list", "budget"),
        typed(("memtui config list --keys", "config list --keys"), "memtui config list --keys", "memories.edit"),
        typed("config get KEY", "memtui config get mode", "full"),
        typed("config set KEY VALUE", "memtui config set budget 8000", "8000"),
        typed("config unset KEY", "memtui config unset budget", "9000|default|budget"),
        typed(
            ("memtui doctor --clean --dry-run", "memtui doctor --clean"),
            "memtui doctor --clean --dry-run && memtui doctor --clean",
            "",
        ),
        typed(("model", "memtui model"), "memtui model", "llm_backend"),
        typed(
            ("consolidate --ask-model", "memtui consolidate --ask-model --dry-run"),
            "memtui consolidate --ask-model --dry-run --scope project",
            "llm_backend",
            1,
        ),
        typed("memtui consolidate --ask-model", "memtui consolidate --ask-model --yes", "llm_backend", 1),
        typed("model sentences", "memtui model sentences", "not running"),
        typed(("model sentences on", "memtui model sentences on"), "memtui model sentences on", "not installed", 1),
        typed("", "memtui model sentences off", "semantic = false"),
        typed(("model blocks", "model blocks BLOCK"), "memtui model blocks", "project_context"),
        typed(
            ("model log", "memtui model log"),
            "memtui model log --limit 5",
            "No model was asked",
        ),
        typed("memtui model log --runs --json", "memtui model log --runs --json", "outcome"),
        typed("model stop", "memtui model stop", "reads no more sessions"),
        typed("model start", "memtui model start", "again"),
        typed("memtui config set glyphs ascii", "memtui config set glyphs ascii", "ascii"),
        typed("memtui help COMMAND", "memtui help note", "example"),
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
        "note": notes[0],
        "inbox": box,
    }


def transferred(tui, world):
    """The palette exports the scope that is chosen, and imports, after showing what comes."""
    tui.press("\x10")
    tui.see("Actions and themes", "memories: edit ")
    tui.press("export this scope")
    tui.see("export this scope…", gone="memories: edit ")
    tui.press("\r")
    tui.see("Export .* to ─", "On another machine", gone="Actions and themes")
    tui.press("\x1b")
    tui.see("prefer-pnpm", gone="On another machine")
    tui.press("\x10")
    tui.see("Actions and themes", "memories: edit ")
    tui.press("import memories")
    tui.see("import memories…", gone="memories: edit ")
    tui.press("\r")
    tui.see("Import memories from", gone="Actions and themes")
    tui.press(".claude/memory\r")
    tui.see("Nothing new is in it|Would add")
    tui.press("\x1b")
    tui.see("prefer-pnpm", gone="Nothing new is in it|Would add")


def numbers(tui, world):
    """The numbers open the screens."""
    for key, words in (
        ("2", "Inbox"),
        ("3", r"\d deliveries · "),
        ("4", "hooks +✓ 7 hooks|problems +✓ none"),
        ("1", "prefer-pnpm"),
    ):
        tui.press(key)
        tui.see(words)


def help_(tui, world):
    tui.press("?")
    tui.see("edit its fields and text", "q \\^q +leave memtui")
    tui.press("G")
    tui.see("Keys can be remapped")
    tui.press("\x1b")
    tui.see("prefer-pnpm", gone="Keys can be remapped")


def note_and_undo(tui, world):
    """c writes a note, z takes it back, Z gives it again; 3 shows it on top."""
    tui.press("3")
    tui.see(r"\d deliveries · ")
    tui.press("c")
    tui.see("Write a note")
    tui.press("A note of mine.")
    tui.see("A note of mine.")
    tui.press("\x13")
    tui.see("waiting +A note of mine")
    tui.press("z")
    tui.see("Undone", gone="waiting +A note of mine")
    tui.press("Z")
    tui.see("waiting +A note of mine")
    tui.press("1")
    tui.see("prefer-pnpm")


def list_of_changes(tui, world):
    """U lists the changes; z undoes one that is not the last."""
    memory = world.project / ".claude/memory/prefer-pnpm.md"
    with ShellTerminal(world) as shell:
        for command in ("memtui rm project:prefer-pnpm", "memtui config set budget 1234"):
            assert shell.run(command)[0] == 0
    tui.press("U")
    tui.see("remove project:prefer-pnpm", "budget")
    tui.press("j")
    tui.see("z undoes it")
    tui.press("z")
    tui.see("was undone: Z redoes it")
    assert memory.exists()
    tui.press("\x1b")
    tui.see("prefer-pnpm", gone="what was changed")


def first_approval(tui, world):
    """2, a: a draft of the inbox, all of which is shown, is a memory; 1 shows it, z undoes it."""
    memory = world.project / ".claude/memory/ask-before-migrations.md"
    tui.press("2")
    tui.see("1[0-9] to decide")
    tui.press("a")
    tui.see("Approved: ask-before-migrations")
    assert "show the SQL first" in memory.read_text()
    tui.press("1")
    tui.see("ask-before-migrations")
    tui.press("z")
    tui.see("Undone|undone")
    assert not memory.exists()


def changed_by_others(tui, world):
    """a in the inbox keeps a memory that somebody else changed, x rejects the change, e edits it, H lists its
    versions."""
    path = world.project / ".claude/memory/prefer-pnpm.md"
    with ShellTerminal(world) as shell:  # memtui has seen it as it is
        assert shell.run("memtui history prefer-pnpm")[0] == 0
    tui.press("2")
    tui.see("to decide")
    tui.press("/")
    tui.see("words, kind:")
    tui.press("changed prefer-pnpm")
    tui.press("\r")
    for hours, (key, said) in enumerate((("a", "Kept"), ("x", "Rejected"), ("e", "save  ")), 1):
        before = path.read_text()
        made = world.root / "made"  # the file is never seen with another time
        made.write_text(f"{before}Changed {hours}.\n")
        os.utime(made, (time.time() + hours * 3600,) * 2)
        made.replace(path)
        tui.see(rf"\+ Changed {hours}\.", "keep it: it (counts as seen|is trusted)")
        tui.press("H")
        tui.see("Versions of prefer-pnpm", "not seen yet")
        tui.press("\x1b")
        tui.see("keep it: it (counts as seen|is trusted)", gone="Versions of")
        tui.press(key)
        tui.see(said)
        if key != "e":
            tui.see("No matches for")
        assert (path.read_text() == before) == (key == "x")
    tui.press("\x1b")
    tui.see(r"z undo\b", gone="save  ")
    tui.press("1")
    tui.see("what it says +used", r"z undo\b")


def activity(tui, world):
    """3 shows what sessions got, p those of all projects, ! what was lost of it, P plots; escape goes back."""
    tui.press("3")
    tui.see(r"\d deliveries · ", "add tests for the new components", gone="draft the post on caching")
    tui.press("p")
    tui.see(r"\ball ▾", "draft the post on caching")
    tui.press("!")
    tui.see("is:lost", "draft the post on caching", gone="add tests for")
    tui.press("\x1b")
    tui.see("add tests for the new components", gone="is:lost")
    tui.press("P")
    tui.see("Per day", "Hook time")
    tui.press("\x1b")
    tui.see("add tests for the new components", gone="Hook time")
    tui.press("p1")
    tui.see("prefer-pnpm")


def recalled(tui, _):
    """r in Memories shows what a prompt would bring."""
    tui.press("r")
    tui.see("likely +name", "recent prompts")
    tui.press("how do we put the new version live?\r")
    tui.see("1 of [0-9]+ memories would be delivered", "✓ +[0-9]+% .*release-steps")
    tui.press("t")
    tui.see("Add a trigger for release-steps")
    tui.press("\x1b")
    tui.see("✓ +[0-9]+% .*release-steps", gone="Add a trigger for")
    tui.press("\x1b")
    tui.see("what it says +used", gone="likely +name")


def undo_of_others(tui, world):
    """What was done elsewhere is named first, and one is asked."""
    with ShellTerminal(world) as shell:
        assert shell.run("memtui rm release-steps")[0] == 0
    tui.press("z")
    tui.see("Undo “remove project:release-steps”", "Undo it")
    assert not (world.project / ".claude/memory/release-steps.md").exists()
    tui.press("\x1b[B")
    tui.see("› *Undo it")
    tui.press("\r")
    tui.see("Undone: .*release-steps", gone="Undo it")
    assert (world.project / ".claude/memory/release-steps.md").exists()


def settings(world):
    path = world.root / "config.toml"
    return path.read_text() if path.exists() else ""


# What is done in the TUI for the keys that a text names.
KEYS = {
    **{("README.md", key): first_approval for key in ("2", "a", "1", "z")},
    ("faq.md", "z"): first_approval,
    **{("architecture.md", key): first_approval for key in ("a", "z")},
    ("README.md", "q"): numbers,
    **{("README.md", key): changed_by_others for key in ("e", "x")},
    **{(file, key): changed_by_others for file in ("faq.md", "cli.md", "hooks.md") for key in ("a", "e", "x")},
    **{(file, "r"): recalled for file in ("README.md", "faq.md", "cli.md")},
    **{(file, "?"): help_ for file in ("README.md", "faq.md")},
    **{(file, "c"): note_and_undo for file in ("README.md", "faq.md")},
    **{("faq.md", key): activity for key in ("3", "p", "!", "P")},
    **{(file, "U"): list_of_changes for file in ("README.md", "faq.md", "cli.md")},
    ("cli.md", "z"): undo_of_others,
    ("cli.md", "ctrl+p"): transferred,
    ("cli.md", "Z"): note_and_undo,
}


@pytest.mark.terminal(always=True)
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
    """`"memories.edit" = "E"` and `"app.quit" = "Q,ctrl+x"` of docs/file-formats.md."""
    text = (documented.REPO / "docs/file-formats.md").read_text()
    lines = [line for line in ('"memories.edit" = "E"', '"app.quit" = "Q,ctrl+x"') if line in text]
    assert len(lines) == 2
    (world.root / "config.toml").write_text("[keys]\n" + "\n".join(lines) + "\n")
    for key in ("Q", "\x18"):
        with MemtuiTerminal(world) as tui:
            tui.see("hooks", "prefer-pnpm")
            if key == "Q":
                tui.press("E")
                tui.see("save  ")
                tui.press("\x1b")
                tui.see("Q quit", gone="save  ")
            tui.press(key)
            assert tui.end() == 0


def test_every_documented_key_is_pressed():
    found = {(each.file, each.text) for each in documented.keys()}
    assert found == set(KEYS)


@pytest.mark.terminal(always=True)
@pytest.mark.every(of=2)
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
