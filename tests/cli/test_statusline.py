"""`memtui statusline`: the line for Claude Code's status line."""

import json

from memtui.hooks.installer import status


def test_it_says_what_waits_in_this_project(memtui):
    assert memtui("statusline").out.startswith("memtui 2 notes · ")
    assert memtui.json("statusline")["line"] == memtui("statusline").out.strip()


def test_it_comes_after_the_line_of_another_command_which_gets_the_same_input(bare):
    bare("guide", "one")
    given = json.dumps({"session_id": "s1", "model": {"display_name": "Opus"}})
    other = "sed 's/.*display_name\": \"\\([A-Za-z]*\\).*/\\1/'; echo; echo more"
    assert bare("statusline", "--after", other, stdin=given).out == "Opus · memtui 1 note\n"
    assert bare("statusline", "--after", "exit 3", stdin=given).out == "memtui 1 note\n"


def test_it_never_fails(bare, tmp_path):
    bare.env["HOME"] = ""
    done = bare("statusline", stdin=b"\xff")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_hooks_install_adds_it_and_says_where_it_stands(memtui):
    done = memtui("hooks", "install", "--status-line", "--yes")
    assert "hooks and status line installed in" in done.out
    assert '+  "statusLine": {' in done.out
    assert "and the status line" in memtui("hooks", "status", check=False).out
    assert "status line removed" in memtui("hooks", "uninstall", "--status-line", "--yes").out
    assert "status line" not in memtui("hooks", "status", check=False).out


def test_doctor_says_when_another_status_line_hides_it(memtui):
    memtui("hooks", "install", "--status-line", "--yes")
    codes = {each["code"] for each in memtui.json("doctor", check=False)["findings"]}
    assert "hooks.status_line_hidden" not in codes
    path = f"{memtui.cwd}/.claude/settings.local.json"
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"statusLine": {"type": "command", "command": "date"}}')
    assert status.status(memtui.env, memtui.cwd).hidden_by == path
    codes = {each["code"] for each in memtui.json("doctor", check=False)["findings"]}
    assert "hooks.status_line_hidden" in codes
