"""`memtui setup`: the other coding agents of this machine, their hooks, and what a person still has to do."""

import json
from pathlib import Path

import pytest

from memtui.client.agents import programs
from memtui.client.agents.agents_hot import NAMES


@pytest.fixture
def here(memtui):
    """Directories of Codex and Copilot CLI, and nobody's program on the PATH."""
    memtui.env["PATH"] = "/nowhere"
    home = Path(memtui.env["HOME"])
    for name in (".codex", ".copilot"):
        (home / name).mkdir()
    return home


def agents(memtui):
    return {row["name"]: row for row in memtui.json("setup", check=False)["agents"]}


def test_each_agent_of_the_machine_is_listed_with_what_to_do(memtui, here):
    assert {name: row["state"] for name, row in agents(memtui).items()} == {
        "codex": "not hooked",
        "copilot": "not hooked",
    }
    assert "Copilot CLI: · not hooked: memtui setup hooks --agent copilot" in memtui("setup", check=False).out
    assert "! Codex: " in memtui("setup", "hooks", "--agent", "all", "--yes").err
    rows = agents(memtui)
    assert (rows["copilot"]["state"], rows["codex"]["state"]) == ("hooked", "not trusted")
    assert "/hooks" in rows["codex"]["remedy"]


def test_hooks_of_all_agents_go_again_without_a_trace(memtui, here):
    theirs = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}'
    (here / ".codex" / "hooks.json").write_text(theirs)
    memtui("setup", "hooks", "--agent", "all", "--yes")
    assert (here / ".copilot" / "hooks" / "memtui.json").exists()
    still = "Codex, Copilot CLI still run memtui: memtui setup hooks --remove --agent all"
    assert still in memtui("setup", "hooks", "--remove", "--yes").err
    assert memtui("setup", "hooks", "--agent", "all", "--remove", check=False).code == 1  # nobody to ask
    memtui("setup", "hooks", "--agent", "all", "--remove", "--yes")
    assert (here / ".codex" / "hooks.json").read_text() == theirs
    assert [*(here / ".copilot").iterdir()] == []


def test_who_has_no_claude_code_is_not_told_to_install_its_hooks(bare):
    (Path(bare.env["HOME"]) / ".copilot").mkdir()
    assert bare("setup", check=False).code == 5
    bare("setup", "hooks", "--agent", "copilot", "--yes")
    assert bare("setup").code == 0
    assert all("hooks: ✓ Copilot CLI\n" in bare(*words).out for words in (["status"], ["setup"]))
    assert "Claude Code has no hooks of memtui's, only Copilot CLI." in bare("doctor", check=False).out


def test_hooks_for_an_agent_that_is_not_here_say_so(memtui, here):
    assert "Gemini CLI is not on this machine." in memtui("setup", "hooks", "--agent", "gemini", "--dry-run").err
    assert "Not on this machine: " in memtui("setup", "hooks", "--agent", "all", "--dry-run").err
    assert "· Claude Code: not on the PATH" in memtui("doctor", check=False).out


def test_undo_takes_an_agents_hooks_away(memtui, here):
    memtui("setup", "hooks", "--agent", "copilot", "--yes")
    memtui("undo")
    assert not (here / ".copilot" / "hooks" / "memtui.json").exists()
    assert agents(memtui)["copilot"]["state"] == "not hooked"


def test_a_file_of_that_name_that_is_a_persons_stays(memtui, here):
    path = here / ".copilot" / "hooks" / "memtui.json"
    path.parent.mkdir()
    path.write_text('{"version": 1, "hooks": {}}')
    assert memtui("setup", "hooks", "--agent", "copilot", "--yes", check=False).code
    assert path.read_text() == '{"version": 1, "hooks": {}}'


@pytest.mark.parametrize(
    "place", ["~/hooks/aa.json", "~/settings.json", ".github/hooks/x.json", ".claude/settings.json"]
)
def test_a_prompt_hook_that_replaces_ours_is_named(memtui, here, place):
    memtui.env["PWD"] = memtui.cwd
    memtui("setup", "hooks", "--agent", "copilot", "--yes")
    memtui("setup", "hooks", "--scope", "local", "--yes")
    path = Path(memtui.cwd, place.replace("~", str(here / ".copilot")))
    for name in (path, here / ".copilot" / "hooks" / "zz.json"):
        name.parent.mkdir(parents=True, exist_ok=True)
        name.write_text(THEIRS)
    (note,) = agents(memtui)["copilot"]["notes"]
    assert str(path) in note


THEIRS = json.dumps({"version": 1, "hooks": {"userPromptSubmitted": [{"type": "command", "bash": "true"}]}})
LAYOUTS = {
    "copilot": {
        "nothing": {},
        "a directory of hooks": {"hooks/": ""},
        "hooks of the person": {"hooks/aa.json": THEIRS, "hooks/zz.json": THEIRS},
        "hooks in the settings": {"settings.json": THEIRS},
        "hooks in both": {"hooks/aa.json": THEIRS, "settings.json": THEIRS},
        "settings with comments": {"settings.json": "// mine\n" + THEIRS},
        "settings that are broken": {"settings.json": "{"},
        "settings without hooks": {"settings.json": '{"model": "auto"}\n'},
        "hooks that are switched off": {"settings.json": '{"disableAllHooks": true}'},
        "a file without an end of line": {"hooks/a b.json": THEIRS[:-1]},
        "a file in another code": {"hooks/ü.json": "\ufeff" + THEIRS + "\r\n"},
        "sessions": {"session-state/x/events.jsonl": "{}\n"},
    },
    "opencode": {
        "nothing": {},
        "an empty directory": {"plugins/": ""},
        "a plugin": {"plugins/mine.js": "export const Mine = async () => ({})\n"},
        "a plugin in the other directory": {"plugin/mine.ts": "export default async () => ({})\r\n"},
        "plugins by name": {"opencode.jsonc": '{\n  // mine\n  "plugin": ["file:///nowhere/mine.js"],\n}\n'},
        "commands": {"command/check.md": "Check $ARGUMENTS\n", "agent/mine.md": "---\nmode: primary\n---\nMine\n"},
        "rules": {"AGENTS.md": "Use tabs.\n"},
        "packages": {"package.json": '{"dependencies": {}}\n', "plugins/mine.js": "export const a = 1"},
        "a file of that name": {"memtui.js": "mine"},
        "accents": {"plugins/größe.js": "export const G = async () => ({})\n"},
    },
}


def shapes(program):
    """A file of settings with hooks of the person's own, in many shapes."""
    hook = {"type": "command", "command": "true"}
    prompt, tool = (event.own for event in program.events if event.name in {"UserPromptSubmit", "PreToolUse"})
    hooks = {prompt: [{"hooks": [hook, {**hook, "timeout": 3}]}], tool: [{"matcher": "write", "hooks": [hook] * 2}]}
    whole = {"ui": {"theme": "Default"}, "hooks": hooks, "security": {}}
    texts = {
        "empty": "",
        "blank": "\n",
        "braces": "{}",
        "no hooks": '{"hooks": {}}\n',
        "other settings": json.dumps({**whole, "hooks": {}}, indent=2),
        "one line": json.dumps({"hooks": hooks}),
        "tabs": json.dumps(whole, indent="\t") + "\n\n",
        "windows": json.dumps(whole, indent=4).replace("\n", "\r\n"),
        "other events": json.dumps({"hooks": {"Another": [{"hooks": [hook]}], prompt: []}}, indent=1),
        "every event": json.dumps({"hooks": {event.own: [{"hooks": [hook]}] for event in program.events}}),
        "accents": '{"ui": {"caf\\u00e9": {}, "é": {}}}',
    }
    if program.allows_comments:
        texts |= {
            "comments": '// Mine\n{\n  "ui": {}, // no: "hooks": {\n  /* later\n  "hooks": {} */\n  "model": "a//b"\n}\n',
            "only a comment": "{\n  // nothing yet\n}\n",
            "comments in hooks": '{\n  "hooks": {\n    // of mine\n  } /* end */\n}\n',
        }
    name = Path(program.hooks_file({"HOME": "/"})).name
    return {"nothing": {}} | {shape: {name: text} for shape, text in texts.items()}


CASES = {
    f"{name}: {layout}": (name, files)
    for name in NAMES[1:]
    for layout, files in (LAYOUTS.get(name) or shapes(programs.load(name))).items()
}


@pytest.mark.every(step=6)
@pytest.mark.parametrize(("agent", "files"), CASES.values(), ids=CASES)
def test_hooks_leave_a_persons_files_as_they_were(bare, agent, files):
    program = programs.load(agent)
    place = Path(program.home(bare.env))
    place.mkdir(parents=True)
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).mkdir(exist_ok=True) if name.endswith("/") else (place / name).write_bytes(text.encode())
    look = lambda: {str(path.relative_to(place)): path.is_dir() or path.read_bytes() for path in place.rglob("*")}
    before, ours = look(), Path(program.hooks_file(bare.env))
    bare("setup", "hooks", "--agent", agent, "--yes")
    there = look()
    changed = {name for name in there if there[name] != before.get(name)}
    assert changed <= {str(ours.relative_to(place)), str(ours.parent.relative_to(place))}
    text = ours.read_text()
    assert all(f"launch.py {event.name}" in text for event in program.events)
    comments = ("// Mine", "// no:", "/* later", "// nothing yet", "// of mine", "/* end */")
    assert all(comment in text for comment in comments if comment in "".join(files.values()) and ours.name in files)
    bare("setup", "hooks", "--agent", agent, "--yes")
    assert look() == there
    bare("setup", "hooks", "--agent", agent, "--remove", "--yes")
    assert look() == before
