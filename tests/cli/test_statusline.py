"""`memtui statusline`: the line for Claude Code's status line."""

import json
import subprocess
from pathlib import Path

import pytest

from tables import rows


def test_it_says_what_waits_and_is_installed_and_removed(memtui):
    assert memtui("statusline").out.startswith("memtui 2 notes · ")
    assert memtui.json("statusline")["line"] == memtui("statusline").out.strip()
    done = memtui("setup", "statusline", "--yes")
    assert "hooks and status line installed in" in done.out
    assert '+  "statusLine": {' in done.out
    assert "and the status line" in memtui("setup", check=False).out
    assert "status line removed" in memtui("setup", "statusline", "--remove", "--yes").out
    assert "status line" not in memtui("setup", check=False).out


def test_it_follows_another_commands_line_and_never_fails(bare, tmp_path):
    bare("note", "one")
    given = json.dumps({"session_id": "s1", "model": {"display_name": "Opus"}})
    other = "sed 's/.*display_name\": \"\\([A-Za-z]*\\).*/\\1/'; echo; echo more"
    assert bare("statusline", "--after", other, stdin=given).out == "Opus · memtui 1 note\n"
    assert bare("statusline", "--after", "exit 3", stdin=given).out == "memtui 1 note\n"
    bare.env["HOME"] = ""
    done = bare("statusline", stdin=b"\xff")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert bare("statusline", "--after", "echo mine").out == "mine\n"


def shown(settings, **more):
    """What a status line prints, run as the client does: without memtui on the PATH."""
    command = json.loads(settings)["statusLine"]["command"]
    env = {"PATH": "/usr/bin:/bin", **more}
    return subprocess.run(["/bin/sh", "-c", command], input=b"{}", capture_output=True, env=env, check=True).stdout


@pytest.mark.slow
@pytest.mark.parametrize("other", ["""printf '%s\\n' "it's mine" """, "sed 's/{}/\"mine\"/' # mine\n", "echo 'mine ü'"])
def test_the_line_for_both_can_be_pasted_and_never_loses_the_other(bare, other):
    path = Path(bare.env["HOME"], ".claude/settings.json")
    path.parent.mkdir(exist_ok=True)
    before = json.dumps({"statusLine": {"type": "command", "command": other}})
    path.write_text(before)
    alone = shown(before).strip()
    assert b"mine" in alone
    done = bare("setup", "statusline", "--yes")
    (line,) = [each for each in done.err.splitlines() if each.startswith('"command": ')]
    assert "To see both" in done.err.partition(line)[0]
    path.write_text(path.read_text().replace('"command": ' + json.dumps(other), line))
    bare("note", "one")
    for gone in ("memtui/__main__.py", "/python"):
        assert gone in line
        assert shown(path.read_text().replace(gone, "gone"), HOME=bare.env["HOME"]).strip() == alone
    assert alone + b" \xc2\xb7 memtui 1 note" in shown(path.read_text(), HOME=bare.env["HOME"])
    assert "shows memtui's already" in bare("setup", "statusline", "--yes").err
    assert not bare.json("setup", "statusline", "--yes")["to_paste"]
    for what in ("statusline", "hooks"):
        gone = bare("setup", what, "--remove", "--yes")
        assert "is your own and starts memtui: it is left alone" in gone.err
        (back,) = [each for each in gone.err.splitlines() if each.startswith('"command": ')]
    assert json.loads(path.read_text()) == json.loads(before.replace('"command": ' + json.dumps(other), line))
    path.write_text(path.read_text().replace(line, back))
    assert json.loads(path.read_text()) == json.loads(before)
    assert "starts memtui" not in bare("setup", "hooks", "--remove", "--yes").err


@pytest.mark.parametrize(
    ("file", "settings", "said"), rows(__file__, "test_an_install_says_at_once_what_keeps_sessions_from_being_served")
)
def test_an_install_says_at_once_what_keeps_sessions_from_being_served(bare, file, settings, said):
    path = Path(bare.env["HOME"], ".claude", file)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(settings)
    done = bare("setup", "hooks", "--yes")
    assert "hooks installed in" in done.out
    assert said in " ".join(done.err.split())
    assert "will use memtui" not in done.err
    assert said in " ".join(bare("setup", "hooks", "--yes").err.split())
    assert said[:18] in bare.json("setup", "hooks", "--yes")["not_served"][0]
