"""Installing hooks keeps a person's settings; uninstalling leaves no trace."""

import json
import os
import shlex
import stat
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_jsontext import VALUES, texts

import recorded
from memtui.base.errors import ConflictError, MemtuiError, UsageError
from memtui.client.agents.program import PROGRAM
from memtui.hooks.install import entries, settings_merge
from memtui.hooks.install import installation as install

PYTHON = "/opt/py thon/bin/python3"
LAUNCHER = "/opt/it's ü/memtui/hooks/launch.py"
THEIRS = {"hooks": [{"type": "command", "command": "echo theirs"}]}
MATCHER = "Read|Write|Edit|MultiEdit|memory_read|memory_write"
EVENTS = [event.name for event in PROGRAM.events]


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


class World:
    """A home directory with a settings file, and the engine's calls on it."""

    def __init__(self, home):
        self.home = home
        self.env = {"HOME": str(home), "PATH": os.environ["PATH"]}
        self.root = home / ".claude" / "memtui"
        self.file = home / ".claude" / "settings.json"

    def write(self, data, file=None):
        file = file or self.file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data if isinstance(data, bytes) else data.encode())

    def plan(self, action="install", file=None, python=PYTHON, launcher=LAUNCHER, **more):
        path = str(file or self.file)
        return install.plan(path, action, env=self.env, interpreter=python, launcher=launcher, **more)

    def install(self, **more):
        change = self.plan(**more)
        install.apply(change)
        return change

    def uninstall(self, file=None):
        install.apply(self.plan("uninstall", file))

    def value(self):
        return json.loads(self.file.read_text(encoding="utf-8-sig"))


def ours(settings_value):
    """The events that hold a command of ours."""
    return [
        event
        for event, groups in (settings_value.get("hooks") or {}).items()
        if any(entries.is_ours(hook) for group in groups or [] for hook in group["hooks"])
    ]


def without_hooks(value):
    return {key: item for key, item in value.items() if key != "hooks"}


def test_every_event_gets_a_command_with_an_absolute_interpreter(world):
    world.write("{}")
    world.install()
    hooks = world.value()["hooks"]
    assert list(hooks) == EVENTS
    for event, groups in hooks.items():
        words = shlex.split(groups[0]["hooks"][0]["command"])
        assert words[:12] == ["[", "!", "-r", LAUNCHER, "]", "||", "exec", PYTHON, "-I", "-S", LAUNCHER, event]
        assert words[12:] == ["--root", str(world.root), "--config", str(world.root.parent)]
    assert "matcher" not in hooks["SessionStart"][0]
    assert hooks["PostToolUse"][0]["matcher"] == MATCHER
    assert "matcher" not in hooks["PreToolUse"][0]


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_settings_in_utf_16_stay_so_and_are_restored_to_the_byte(world, codec):
    before = '\ufeff{\r\n  "model": "opus ü 😀"\r\n}\r\n'.encode(codec)
    world.write(before)
    world.install()
    after = json.loads(world.file.read_bytes().decode(codec).removeprefix("\ufeff"))
    assert (list(after["hooks"]), after["model"]) == (EVENTS, "opus ü 😀")
    world.uninstall()
    assert world.file.read_bytes() == before


def test_a_second_install_changes_nothing_and_a_plan_writes_nothing(world):
    world.write('{\n  "model": "opus"\n}\n')
    change = world.plan()
    assert world.file.read_text() == '{\n  "model": "opus"\n}\n'
    assert not world.root.exists()
    assert change.changed
    assert '+  "hooks": {' in change.diff
    assert '-  "model": "opus"' in change.diff  # it gets a comma
    assert change.before == b'{\n  "model": "opus"\n}\n'
    install.apply(change)
    again = world.plan()
    assert not again.changed
    assert again.diff == ""
    before = (world.root / "installs.json").read_bytes()
    install.apply(again)
    assert (world.root / "installs.json").read_bytes() == before


def test_an_older_interpreter_is_replaced_and_an_unused_event_left(world):
    world.write(json.dumps({"hooks": {"Stop": [THEIRS]}, "model": "x"}, indent=4))
    original = world.file.read_bytes()
    world.install(python="/old/python3")
    first = world.file.read_text()
    world.install()
    assert world.file.read_text() == first.replace("/old/python3", "'/opt/py thon/bin/python3'")
    world.uninstall()
    assert world.file.read_bytes() == original
    stale = {"hooks": [{"type": "command", "command": f"python3 -I -S {shlex.quote(LAUNCHER)} Notification"}]}
    world.write(json.dumps({"hooks": {"Notification": [stale, THEIRS]}}))
    world.install()
    assert world.value()["hooks"]["Notification"] == [THEIRS]


@pytest.mark.parametrize("noted", [True, False])
def test_a_matcher_and_a_timeout_of_the_persons_stay(world, noted):
    world.write("{}")
    world.install()
    world.write(world.file.read_text().replace(MATCHER, "Write|Edit").replace('"timeout": 10', '"timeout": 30', 1))
    if not noted:
        (world.root / "installs.json").unlink()
    world.install()
    assert world.value()["hooks"]["PostToolUse"][0]["matcher"] == "Write|Edit"
    assert world.value()["hooks"]["SessionStart"][0]["hooks"][0]["timeout"] == 30
    assert not world.plan().changed


def test_a_new_project_file_is_readable_for_others_and_a_user_file_is_not(world):
    previous = os.umask(0o022)
    try:
        repo = world.home / "repo"
        repo.mkdir()
        file = repo / ".claude" / "settings.json"
        world.install(file=file, scope="project")
        assert ours(json.loads(file.read_text())) == EVENTS
        world.install()
    finally:
        os.umask(previous)
    assert (stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(file.parent.stat().st_mode)) == (0o644, 0o755)
    assert stat.S_IMODE(world.file.stat().st_mode) == 0o600
    world.uninstall(file)
    assert list(repo.iterdir()) == []


def test_the_mode_is_kept_and_a_backup_is_private(world):
    world.write("{}\n")
    world.file.chmod(0o640)
    backup = install.apply(world.plan())
    assert stat.S_IMODE(world.file.stat().st_mode) == 0o640
    with open(backup, "rb") as file:
        assert file.read() == b"{}\n"
    assert stat.S_IMODE(os.stat(backup).st_mode) == 0o600
    assert os.path.dirname(backup) == str(world.root / "backups")


@pytest.mark.slow
def test_old_backups_go_and_uninstall_needs_none(world):
    world.write('{"a": 1}')
    for number in range(15):
        world.install(python=f"/python{number}")
    assert len(list((world.root / "backups").iterdir())) == install.BACKUPS_KEPT
    world.uninstall()
    assert world.file.read_bytes() == b'{"a": 1}'


def test_a_linked_settings_file_is_written_through_the_link(world):
    target = world.home / "dotfiles" / "claude.json"
    world.write('{"a": 1}\n', target)
    world.file.parent.mkdir()
    world.file.symlink_to(os.path.relpath(target, world.file.parent))
    world.install()
    assert world.file.is_symlink()
    assert ours(json.loads(target.read_text())) == EVENTS
    world.uninstall()
    assert world.file.is_symlink()
    assert target.read_bytes() == b'{"a": 1}\n'


@pytest.mark.every(step=5)
@pytest.mark.parametrize(
    "original",
    [
        b"", b"\n\n", b"  \r\n", b"{}", b"{ \n }\n", b'\xef\xbb\xbf{\r\n\t"a": 1\r\n}', b'{"hooks":{}}', b'{"hooks": []}',
        b'{"a":1,"hooks": null}', b'{"hooks": { "Stop": [ ] , "Foo": {}}}', b'{"hooks": {"Stop": null}}',
        b'{"a": 1, "hooks": {"Foo": []}}', '{"a": "ünï", "b": "\\u00fc"}'.encode(),
        b'{"hooks": {}, "hooks": {"Stop": []}}', b'{"a": "\xff"}',
    ],
)  # fmt: skip
@pytest.mark.parametrize("way", ["backup", "no backup", "foreign", "no record"])
def test_uninstall_restores_every_odd_file(world, original, way):
    world.write(original)
    world.install()
    text = world.file.read_bytes().decode("utf-8-sig", "replace")
    assert set(ours(json.loads(text))) == set(EVENTS)
    expected = original
    if way == "no backup":
        for backup in (world.root / "backups").iterdir():
            backup.unlink()
    elif way == "foreign":
        world.file.write_bytes(world.file.read_bytes() + b" ")
        # A file that held nothing but blanks has no end that somebody could have added to.
        expected = original if not original.strip() or original.strip() in (b"{}", b"{ \n }") else original + b" "
    elif way == "no record":
        (world.root / "installs.json").unlink()
    world.uninstall()
    if way == "no record":
        left = json.loads(world.file.read_text("utf-8-sig", "replace"))
        was = json.loads(original.decode("utf-8-sig", "replace").strip() or "{}")
        assert without_hooks(left) == without_hooks(was)
        assert not ours(left)
        assert left == was or b"Foo" not in original or b"Stop" in original
    else:
        assert world.file.read_bytes() == expected


COMMANDS = st.fixed_dictionaries({"type": st.just("command"), "command": st.text(max_size=9)})
GROUPS = st.lists(st.fixed_dictionaries({"hooks": st.lists(COMMANDS, max_size=2)}), max_size=2)
HOOKS = st.dictionaries(st.sampled_from([*EVENTS, "Notification"]), GROUPS, max_size=4)
SETTINGS = st.builds(
    lambda value, hooks, first: (
        ({"hooks": hooks, **value} if first else {**value, "hooks": hooks}) if hooks is not None else value
    ),
    st.dictionaries(st.text(max_size=6).filter(lambda key: key != "hooks"), VALUES, max_size=4),
    st.none() | HOOKS,
    st.booleans(),
)
QUICK = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def added(text):
    made = settings_merge.Made()
    return settings_merge.add(text, entries.groups(PYTHON, LAUNCHER), {}, made, "settings.json"), made


@pytest.mark.slow
@given(texts(SETTINGS))
@QUICK
def test_install_keeps_whatever_settings_and_the_structural_undo_is_exact(case):
    text, value = case
    after, made = added(text)
    now = settings_merge.load(after)
    assert without_hooks(now) == without_hooks(value)
    assert list(without_hooks(now)) == list(without_hooks(value))
    for event, groups in (value.get("hooks") or {}).items():
        assert now["hooks"][event][: len(groups)] == groups
    assert ours(now) == [event for event in now["hooks"] if event in EVENTS]
    assert set(EVENTS) <= set(now["hooks"])
    assert settings_merge.strip(after, made, "settings.json") == text


@pytest.mark.slow
@given(texts(SETTINGS), st.sampled_from([*EVENTS, "Notification"]), st.booleans(), st.booleans())
@QUICK
def test_somebody_elses_edit_survives_the_uninstall_alone(case, event, in_front, rewritten):
    text, value = case
    after, made = added(text)
    if rewritten:  # as other tools do: parse, change, write anew
        now = settings_merge.load(after)
        held = now["hooks"].setdefault(event, [])
        held.insert(0 if in_front else len(held), THEIRS)
        now["theirs"] = 1
        edited = json.dumps(now, indent=2)
    else:
        if event not in settings_merge.load(after)["hooks"]:
            after = settings_merge.append(after, ("hooks",), [], event)
        edited = settings_merge.append(settings_merge.append(after, ("hooks", event), THEIRS), (), 1, "theirs")
    left = settings_merge.load(settings_merge.strip(edited, made, "settings.json"))
    assert left.pop("theirs") == 1
    expected = settings_merge.load(json.dumps(value))
    theirs = expected.setdefault("hooks", {}).setdefault(event, [])
    theirs.insert(0 if in_front and rewritten else len(theirs), THEIRS)
    assert left == expected


@pytest.mark.slow
@given(texts(SETTINGS), st.booleans())
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_on_disk_install_and_uninstall_give_back_the_bytes(tmp_path_factory, case, upgrade):
    world = World(tmp_path_factory.mktemp("home"))
    world.write(case[0].encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
    original = world.file.read_bytes()
    if upgrade:
        world.install(python="/old/python")
    world.install()
    assert not world.plan().changed
    world.uninstall()
    assert world.file.read_bytes() == original
    assert not (world.root / "installs.json").exists()


def test_uninstall_keeps_an_edit_and_understands_an_older_record(world):
    world.write('{\n  "a": 1\n}\n')
    world.install(python="/old/python")
    world.write(world.file.read_text().replace('"a": 1', '"a":   2'))
    world.install()
    world.uninstall()
    assert world.file.read_bytes() == b'{\n  "a":   2\n}\n'
    world.write('{ "a": 1 }')
    world.install()
    path = world.root / "installs.json"
    value = json.loads(path.read_text())
    for record in value["files"].values():
        record |= {"backup": "backups/gone.json", "backup_hash": "0" * 16, "after_hash": "1" * 16}
    path.write_text(json.dumps(value))
    assert not world.plan().changed
    world.uninstall()
    assert world.file.read_bytes() == b'{ "a": 1 }'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        *((b"{", "not valid JSON"), (b"// mine\n{}", "not valid JSON"), (b'{"a": 1,}', "not valid JSON")),
        *(("{".encode("utf-16"), "not valid JSON"), (b"\xff\xfe{", "not valid JSON")),
        *((b"[]", "has a JSON list"), (b"null", "has a JSON null"), (b'"text"', "has a JSON string")),
        *((b"1.5", "has a JSON number"), (b'{"hooks": "x"}', "`hooks`"), (b'{"hooks": [1]}', "`hooks`")),
        (b'{"hooks": {"Stop": "x"}}', "`hooks.Stop`"),
        (b'{"hooks": {"SessionEnd": {"a": 1}}}', "`hooks.SessionEnd`"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_settings_that_make_no_sense_are_left_alone_and_explained(world, data, message):
    world.write(data)
    with pytest.raises(MemtuiError) as caught:
        world.plan()
    assert message in caught.value.message
    assert caught.value.hint
    assert world.file.read_bytes() == data
    assert not world.root.exists()


def test_a_conflict_or_a_full_disk_leaves_settings_and_record_as_they_were(world, monkeypatch):
    world.write("{}")
    change = world.plan()
    world.write('{"a": 1}')
    with pytest.raises(ConflictError):
        install.apply(change)
    assert world.file.read_bytes() == b'{"a": 1}'
    change = world.plan()
    real = install.fs_hot.write_atomic

    def full(path, data, durable=True):
        if path == str(world.file):
            raise OSError(28, "No space left on device", path)
        real(path, data, durable)

    monkeypatch.setattr(install.fs_hot, "write_atomic", full)
    with pytest.raises(MemtuiError, match="No space left") as caught:
        install.apply(change)
    assert "nothing was lost" in caught.value.hint
    assert world.file.read_bytes() == b'{"a": 1}'
    assert not (world.root / "installs.json").exists()


@pytest.mark.usefixtures("as_a_user")
def test_an_unwritable_directory_is_an_error_before_anything_is_written(world):
    world.write("{}")
    world.root.mkdir()
    world.file.parent.chmod(0o500)
    try:
        with pytest.raises(MemtuiError, match="can't be written"):
            world.plan()
    finally:
        world.file.parent.chmod(0o700)


def test_a_damaged_record_is_an_error_with_a_way_out(world):
    world.write("{}")
    world.install()
    (world.root / "installs.json").write_text('{"files": {"x": 1}}')
    with pytest.raises(MemtuiError) as caught:
        world.plan("uninstall")
    assert "installs.json" in caught.value.hint


def test_files_interpreter_and_commands_are_the_right_ones(tmp_path):
    env = {"HOME": str(tmp_path)}
    repo = tmp_path / "repo"
    (repo / ".git").mkdir(parents=True)
    (repo / "src").mkdir()
    here = str(repo / "src")
    assert install.settings_path(env, here, "user") == f"{tmp_path}/.claude/settings.json"
    assert install.settings_path({**env, "CLAUDE_CONFIG_DIR": "/c/"}, here, "user") == "/c/settings.json"
    assert install.settings_path(env, here, "project") == f"{repo}/.claude/settings.json"
    assert install.settings_path(env, here, "local") == f"{repo}/.claude/settings.local.json"
    assert install.settings_path(env, str(tmp_path), "local") == f"{tmp_path}/.claude/settings.local.json"
    with pytest.raises(UsageError):
        install.settings_path(env, here, "team")
    found = entries.choose_interpreter()
    assert os.path.isabs(found)
    with open(found, "rb") as file:
        assert file.read(2) != b"#!"
    done = subprocess.run([found, "-I", "-S", "-c", "import sys; print(sys.version)"], capture_output=True, text=True)
    assert done.stdout.strip() == sys.version
    launcher = "/memtui/hooks/launch.py"
    for line in (None, 1, "", "echo memtui", "cat /x/memtui/hooks/launch.pyc", f"echo '{launcher}", launcher):
        assert entries.parse(line) is None


NAMES = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=20)


@given(NAMES, NAMES)
def test_any_path_survives_the_command_line(interpreter, directory):
    line = entries.command("Stop", "/" + interpreter, f"/{directory}/memtui/hooks/launch.py")
    assert entries.parse(line) == entries.HookCommand("/" + interpreter, f"/{directory}/memtui/hooks/launch.py", "Stop")


def test_commands_are_made_and_read_as_ever():
    call = lambda name, *given: getattr(entries, name)(*given)
    recorded.check(__file__, "commands", call)
