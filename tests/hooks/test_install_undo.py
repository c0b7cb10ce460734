"""Installing and uninstalling hooks are steps of undo: settings come back to the byte, or are left alone."""

import os

import pytest
import test_install

from memtui.base import fs_hot
from memtui.base.errors import ConflictError
from memtui.hooks.install import installation as install
from memtui.store.journal import undo
from memtui.store.journal.journal import Journal
from memtui.views.changes import undone_as_one
from store.journal.test_journal import Killed, Killer

LAUNCHER = "/opt/memtui/hooks/launch.py"
SETTINGS = b'{\n\t"env": {"API_KEY": "hunter2-in-env"},\n    "hooks" : { "Stop":[ ] },\n  "apiKeyHelper": "hunter2-at-the-end"\n}'
SECRETS = (b"hunter2-in-env", b"hunter2-at-the-end")


class World(test_install.World):
    """A home directory with settings, and a repository."""

    def __init__(self, home):
        super().__init__(home)
        self.file.parent.mkdir(parents=True)
        self.repo = home / "repo"
        (self.repo / ".git").mkdir(parents=True)

    def apply(self, action, scope="user"):
        path = install.settings_path(self.env, str(self.repo), scope)
        install.apply(self.plan(action, path, launcher=LAUNCHER, scope=scope))

    @property
    def journal(self):
        return Journal(str(self.root))


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    made.file.write_bytes(SETTINGS)
    made.file.chmod(0o640)
    return made


def kept(world):
    """All that the journal holds."""
    places = [world.root / "journal.jsonl", *(world.root / "trash").iterdir()]
    assert {os.stat(path).st_mode & 0o777 for path in places} == {0o600}
    assert os.stat(world.root / "trash").st_mode & 0o777 == 0o700
    return b"".join(path.read_bytes() for path in places)


@pytest.mark.slow
def test_an_uninstallation_is_undone_as_installing_is_and_keeps_no_secret(world):
    world.apply("install")
    after = world.file.read_bytes()
    assert LAUNCHER.encode() in after
    assert undo.run(world.journal, "undo").first().summary == f"install the hooks in {world.file}"
    assert world.file.read_bytes() == SETTINGS
    assert not (world.root / "installs.json").exists()
    undo.run(world.journal, "redo").first()
    assert (world.file.read_bytes(), world.file.stat().st_mode & 0o777) == (after, 0o640)
    assert not any(secret in kept(world) for secret in SECRETS)
    world.apply("uninstall")
    assert world.file.read_bytes() == SETTINGS
    world.apply("install")
    after, records = world.file.read_bytes(), (world.root / "installs.json").read_bytes()
    world.apply("uninstall")
    assert world.file.read_bytes() == SETTINGS
    undo.run(world.journal, "undo").first()
    assert world.file.read_bytes() == after
    assert (world.root / "installs.json").read_bytes() == records
    world.apply("uninstall")
    assert world.file.read_bytes() == SETTINGS
    assert not any(secret in kept(world) for secret in SECRETS)


def test_settings_changed_by_somebody_since_stay_and_the_way_is_told(world):
    world.apply("install")
    changed = world.file.read_bytes().replace(b"hunter2-in-env", b"another")
    world.file.write_bytes(changed)
    with pytest.raises(ConflictError, match=r"settings\.json") as caught:
        undone_as_one(undo.run(world.journal, "undo"))
    assert "memtui setup hooks --remove" in caught.value.hint
    assert world.file.read_bytes() == changed
    assert install.load(str(world.root))


def test_a_file_and_directories_that_were_made_go_and_come_back_unchanged(world):
    path = world.repo / ".claude/settings.local.json"
    world.apply("install", "local")
    after, modes = path.read_bytes(), [os.stat(each).st_mode for each in (path, path.parent)]
    undo.run(world.journal, "undo").first()
    assert not path.parent.exists()
    undo.run(world.journal, "redo").first()
    assert (path.read_bytes(), [os.stat(each).st_mode for each in (path, path.parent)]) == (after, modes)
    world.apply("uninstall", "local")
    assert not path.parent.exists()
    undo.run(world.journal, "undo").first()
    assert (path.read_bytes(), [os.stat(each).st_mode for each in (path, path.parent)]) == (after, modes)
    world.apply("uninstall", "local")
    assert not path.parent.exists()


@pytest.mark.slow
@pytest.mark.parametrize("start", [SETTINGS, None])
@pytest.mark.parametrize("action", ["install", "uninstall", "undo"])
def test_killed_at_any_system_call_settings_and_record_agree(tmp_path, action, start):
    for allowed in range(200):
        place = tmp_path / str(allowed)
        world = World(place)
        if start is not None:
            world.file.write_bytes(start)
        if action != "install":
            world.apply("install")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(install.compileall, "compile_dir", lambda *_, **__: True)
            killer = Killer(patch, allowed)
            try:
                undo.run(world.journal, "undo").first() if action == "undo" else world.apply(action)
            except Killed:
                pass
        world.journal.recover()
        found = fs_hot.read_or_empty(str(world.file))
        assert (LAUNCHER.encode() in found) == bool(install.load(str(world.root)))
        world.apply("uninstall")
        assert (fs_hot.read_or_empty(str(world.file)), world.file.exists()) == (start or b"", start is not None)
        if not killer.hit:
            return
    pytest.fail("it never came to its end")
