"""Directories of memtui's that belong to another user, themselves or by a link, are neither read nor written."""

import os

import pytest
from launching import EVENTS, Home

from memtui.cli.main import main

STRANGER = 12345


@pytest.fixture
def home(tmp_path):
    if os.geteuid() != 0:
        assert "CI" not in os.environ, "the gate has to run as root: only root can give files away"
        pytest.skip("only root can give files away")
    return Home(tmp_path)


def give_away(path):
    os.chown(path, STRANGER, STRANGER, follow_symlinks=False)


def link_away(path):
    """Put a link in the place of a directory, to where another user keeps the same."""
    elsewhere = path.with_name(path.name + ".elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    os.chown(elsewhere, STRANGER, STRANGER)


def fill(home):
    """Have guidance, a session that took some, a log."""
    home.guide("first")
    home.start()
    home.settle()
    home.prompt()
    home.guide("second", urgent="yes")
    home.guide("everywhere", "global")


def everything(home):
    found = {}
    for place, _, files in os.walk(home.root, followlinks=True):
        for name in files:
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                found[path] = (os.stat(path).st_mtime_ns, file.read())
    return found


PLACES = ["", "log", "run", "sessions", "global", "projects", "PROJECT", "PROJECT/claimed"]


@pytest.mark.slow
@pytest.mark.every(step=4)
@pytest.mark.parametrize("how", [give_away, link_away])
@pytest.mark.parametrize("place", PLACES)
def test_hooks_are_silent_and_touch_nothing_where_a_directory_is_anothers(home, place, how):
    fill(home)
    how(home.root / place.replace("PROJECT", str(home.boxes["project"])))
    before = everything(home)
    for event in EVENTS:
        assert home.hook(event).raw == b""
    assert everything(home) == before


def test_a_link_that_another_user_made_is_not_followed(home):
    fill(home)
    box = home.boxes["project"]
    elsewhere = box.with_name("elsewhere")
    box.rename(elsewhere)
    box.symlink_to(elsewhere)
    assert "second" in home.prompt().context
    home.guide("third")
    give_away(box)
    assert home.prompt().raw == b""


@pytest.fixture
def command(home, monkeypatch, capsys):
    """The command line in the home's project: exit code and what was printed."""
    for name in ("CLAUDE_CONFIG_DIR", "MEMTUI_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in home.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(home.project)

    def run(*words):
        code = main(list(words))
        told = capsys.readouterr()
        return code, " ".join((told.out + told.err).split())

    return run


@pytest.mark.every(step=4)
@pytest.mark.parametrize("place", PLACES)
def test_commands_refuse_and_doctor_says_whose_it_is(home, command, place):
    fill(home)
    path = home.root / place.replace("PROJECT", str(home.boxes["project"]))
    give_away(path)
    before = everything(home)
    for words in (["guide", "text"], ["inbox"], ["status"], ["config", "set", "mode", "off"], ["doctor", "--fix"]):
        code, told = command(*words)
        assert (code, f"{path} belongs to another user (number {STRANGER})" in told) == (1, True), (words, told)
    code, told = command("doctor")
    assert code == 5
    assert f"belongs to another user (number {STRANGER})" in told
    assert "sudo chown -R" in told
    assert everything(home) == before


def test_another_projects_inbox_keeps_nothing_of_this_one_back(home, command):
    fill(home)
    other = home.root / "projects" / "-other"
    other.mkdir()
    (other / "guidance.md").write_text("planted\n")
    give_away(other)
    assert "second" in home.prompt().context
    code, told = command("inbox", "--all-projects")
    assert (code, "planted" in told) == (0, False)
    code, told = command("doctor")
    assert f"{other} belongs to another user" in told
