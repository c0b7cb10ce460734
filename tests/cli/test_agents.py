"""`memtui setup`: the other coding agents of this machine, their hooks, and what a person still has to do."""

import json
from pathlib import Path

import pytest


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
    memtui("setup", "hooks", "--agent", "all", "--yes")
    rows = agents(memtui)
    assert (rows["copilot"]["state"], rows["codex"]["state"]) == ("hooked", "not trusted")
    assert "/hooks" in rows["codex"]["remedy"]


def test_hooks_of_all_agents_go_again_without_a_trace(memtui, here):
    theirs = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}'
    (here / ".codex" / "hooks.json").write_text(theirs)
    memtui("setup", "hooks", "--agent", "all", "--yes")
    assert (here / ".copilot" / "hooks" / "memtui.json").exists()
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
}


@pytest.mark.every(step=4)
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_hooks_of_copilot_leave_the_directory_as_it_was(bare, layout):
    place = Path(bare.env["HOME"]) / ".copilot"
    place.mkdir()
    for name, text in layout.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).mkdir(exist_ok=True) if name.endswith("/") else (place / name).write_bytes(text.encode())
    look = lambda: {str(path.relative_to(place)): path.is_dir() or path.read_bytes() for path in place.rglob("*")}
    before = look()
    bare("setup", "hooks", "--agent", "copilot", "--yes")
    there = look()
    assert {name: there[name] for name in before} == before
    assert there.keys() - before.keys() <= {"hooks", "hooks/memtui.json"}
    bare("setup", "hooks", "--agent", "copilot", "--yes")
    assert look() == there
    bare("setup", "hooks", "--agent", "copilot", "--remove", "--yes")
    assert look() == before
