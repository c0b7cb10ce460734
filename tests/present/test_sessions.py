"""How sessions are said."""

from types import SimpleNamespace

from memtui.present import sessions


def test_an_id_from_a_file_is_no_command_of_the_shell():
    row = SimpleNamespace(id="1f0c; rm -rf ~", cwd="/srv/my shop", project="")
    assert sessions.resume(row, "/") == "cd '/srv/my shop' && claude --resume '1f0c; rm -rf ~'"
