"""Whatever happens a prompt is neither blocked nor harmed: exit code 0, and nothing or one whole answer on stdout."""

import itertools
import json
import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from launching import EVENTS, LAUNCHER, PYTHON, SPEAKING

from memtui.base import fs_hot, paths_hot
from memtui.recall import index_build
from tables import rows

ODD = {
    "empty": b"",
    "blank": b" \n",
    "binary": bytes(range(256)) * 10,
    "half": b'{"session_id": "s1", "prompt": "ab',
    "array": b"[1, 2]",
    "number": b"5",
    "nothing in it": b"{}",
    "trailing": b'{"session_id": "s1"} {"session_id": "s2"}',
    "deep": b'{"session_id": "s1", "x": ' + b"[" * 100_000,
    "no session": b'{"session_id": "", "cwd": "/"}',
    "numeric session": b'{"session_id": 5, "cwd": "/"}',
    "session object": b'{"session_id": {"a": 1}}',
}


@pytest.mark.parametrize("odd", ODD)
def test_input_that_makes_no_sense_gives_no_answer(home, odd):
    home.guide("said", urgent="yes")
    for event in EVENTS:
        assert home.run(event, ODD[odd]).raw == b""
    assert home.waiting() == ["said"]


@pytest.mark.slow
def test_odd_fields_thirty_megabytes_and_odd_directories_are_no_error(home, tmp_path):
    for event, odd in itertools.product(EVENTS, (None, 5, [], {}, True)):
        payload = dict.fromkeys(home.payload(event), odd) | {"session_id": "s1"}
        home.run(event, json.dumps(payload).encode())
    assert home.errors() == []
    home.guide("said")
    assert "said" in home.prompt(prompt="x" * 30_000_000).context
    home.guide("everywhere", "global")
    for cwd in ("/nowhere/at/all", "relative", "", "/a\0b", "~", "/w/\ud800"):
        home.prompt(cwd=cwd)
    assert home.waiting("global") == []


def test_nothing_odd_in_input_or_environment_keeps_guidance_away(home, tmp_path):
    home.guide("said")
    data = json.dumps(home.payload("UserPromptSubmit")).encode().replace(b'"hi"', b'"\xff\xfe"')
    assert "said" in home.run("UserPromptSubmit", data).context
    home.launches = True
    home.guide("said")
    env = {os.fsdecode(b"ODD\xff"): os.fsdecode(b"\xfe"), "MEMTUI_AGENT": os.fsdecode(b"\xff")}
    assert "said" in home.prompt(env=env).context
    assert home.errors() == []
    (tmp_path / "posix.py").write_text("raise SystemExit(2)")
    (tmp_path / "memtui").mkdir()
    home.guide("said")
    home.launches = True
    env = {"PYTHONPATH": str(tmp_path), "PYTHONSTARTUP": "/nowhere", "PYTHONHOME": "/nowhere"}
    assert "said" in home.prompt(env=env).context


def test_no_odd_id_leaves_its_directory_and_without_a_home_all_is_quiet(home):
    home.leave("updates", "draft")
    assert "draft" in home.prompt("../../../evil").context
    assert (home.prompt("../../../evil").raw, os.listdir(home.root / "sessions")) == (b"", ["_________evil.json"])
    for event in EVENTS:
        assert home.hook(event, env={"HOME": None}).raw == b""
    for argv in ([], ["Nonsense"], ["userpromptsubmit"], ["--help"], ["UserPromptSubmit", "x", "y"]):
        data = json.dumps(home.payload("UserPromptSubmit")).encode()
        home.run("UserPromptSubmit", data, argv=argv, launches=True)


@pytest.mark.parametrize("event", SPEAKING)
def test_where_nobody_listens_guidance_is_kept(home, event):
    home.guide("said", urgent="yes")
    path = home.remember("memory")
    path.write_text(path.read_text() + "Run the release pipeline of the shop.\n")
    index_build.bring_up_to_date(str(home.root), str(path.parent))
    read, write = os.pipe()
    os.close(read)
    data = json.dumps(home.payload(event, prompt="how do I run the release pipeline of the shop?")).encode()
    command = [PYTHON, "-I", "-S", str(LAUNCHER), event]
    done = subprocess.run(command, input=data, stdout=write, stderr=subprocess.PIPE, env=home.env, timeout=30)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")
    assert home.waiting() == ["said"]
    assert os.listdir(home.boxes["project"] / "claimed") == [] if event != "SessionStart" else True
    assert [record["items"] for record in home.log()] == []
    again = home.prompt("s1", prompt="how do I run the release pipeline of the shop?").context
    assert "said" in again
    assert "Run the release pipeline" in again


@pytest.mark.slow
def test_with_standard_streams_closed_nothing_breaks(home):
    home.guide("said")
    for closed in ("<&-", ">&-", "<&- >&- 2>&-", "2>&-"):
        line = f"exec '{PYTHON}' -I -S '{LAUNCHER}' UserPromptSubmit {closed}"
        data = json.dumps(home.payload("UserPromptSubmit")).encode()
        done = subprocess.run(["/bin/sh", "-c", line], input=data, env=home.env, capture_output=True, check=False)
        assert done.returncode == 0
        if closed == "2>&-":
            assert b"said" in done.stdout
        else:
            assert home.waiting() == ["said"]


def listen(path):
    here = os.getcwd()
    os.chdir(path.parent)  # a socket's address is short
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
    finally:
        os.chdir(here)


def grow(path):
    path.touch()
    os.truncate(path, 1 << 30)


def close(path):
    fs_hot.append(str(path), b"said\n")
    path.chmod(0)


def give_away(path):
    if os.getuid():
        pytest.skip("only root can give a file away")
    fs_hot.append(str(path), b"said by somebody else\n")
    os.chown(path, 65534, 65534)


BREAKERS = {
    "directory": os.mkdir,
    "fifo": os.mkfifo,
    "binary": lambda path: fs_hot.append(str(path), os.urandom(5000) + bytes(range(256))),
    "loop": lambda path: path.symlink_to(path.name),
    "dangling": lambda path: path.symlink_to("nowhere/at/all"),
    "device": lambda path: path.symlink_to("/dev/zero"),
    "standard input": lambda path: path.symlink_to("/dev/stdin"),
    "listening": listen,
    "huge": grow,
    "nothing but nul": lambda path: fs_hot.append(str(path), b"\0" * 5000),
    "closed": close,
    "somebody else's": give_away,
}
# What a hook may take of memory, in kilobytes: who reads a file of a gigabyte whole does not get far.
SPACE = 400_000
CLAIM = "claimed/01K8ZC5N8W3M1T9Q6V2R4B7XAD~s1~1.md"
REPLACED = "claimed/replaced~guidance.md~5~01K8ZC5N8W3M1T9Q6V2R4B7XAD"


@pytest.fixture
def spoil(request):
    """Puts something of a kind where a file of memtui's belongs, and says whether the hooks then keep silent."""

    def run(home, kind, path):
        if kind == "closed":
            request.getfixturevalue("as_a_user")
            home.launches = True  # the server of forks has the powers of whoever runs the tests
        path.parent.mkdir(parents=True, exist_ok=True)
        BREAKERS[kind](path)
        home.guide("global note", "global")
        home.leave("updates", "global draft", "global")
        home.leave("items", "global item", "global")
        home.space = SPACE
        # A directory of memtui's that is not ours.
        return kind == "somebody else's" and path.name in {"claimed", "run", "log", "projects"}

    return run


@pytest.mark.every(step=13)
@pytest.mark.parametrize("kind", BREAKERS)
@pytest.mark.parametrize("name", rows(__file__, "a broken file in one inbox keeps nothing of another from a prompt"))
def test_a_broken_file_in_one_inbox_keeps_nothing_of_another_from_a_prompt(home, name, kind, spoil):
    path = home.boxes["project"] / name
    if spoil(home, kind, path):
        assert home.start().raw == home.prompt().raw == b""
        return
    home.start()
    said = home.prompt().context
    assert "LateError" not in [error["error"] for error in home.errors()]
    for text in ("global note", "global draft", "global item"):
        assert text in said
    assert "somebody else" not in said
    home.tool()
    assert "global draft" not in home.prompt().context
    given_back = kind in {"binary", "nothing but nul"} and "claimed/" in name
    assert given_back or path.is_symlink() or path.exists()


@pytest.mark.slow
@pytest.mark.every(step=13)
@pytest.mark.parametrize("kind", BREAKERS)
@pytest.mark.parametrize("name", rows(__file__, "broken files of memtuis own do not keep guidance away"))
def test_broken_files_of_memtuis_own_do_not_keep_guidance_away(home, name, kind, spoil):
    path = Path(os.path.normpath(home.root / name.replace("SLUG", paths_hot.slug(str(home.project)))))
    if spoil(home, kind, path):
        assert home.start().raw == home.prompt().raw == b""
        return
    home.remember("memory")
    home.remember("of the repository", scope="project", trusted=False)
    if name == "run/config.json":
        home.settings("budget = 8000")
    assert "memory" in home.start().context
    assert "global note" in home.prompt().context
    home.guide("now", "global", urgent="yes")
    assert "now" in home.tool().context
    for event in ("PostToolUse", "Stop"):
        home.hook(event)
    if name != "log/errors.jsonl":
        assert "LateError" not in [error["error"] for error in home.errors()]


@pytest.mark.parametrize("state", rows(__file__, "a session state of odd shape breaks nothing"))
def test_a_session_state_of_odd_shape_breaks_nothing(home, state):
    (home.root / "sessions").mkdir(parents=True)
    home.remember("memory")
    for source in ("compact", "resume", "startup"):
        (home.root / "sessions" / "s1.json").write_text(json.dumps(state))
        # A session that goes on has the index already.
        assert ("memtui-index" in home.start(source).context) or source == "resume"
    home.guide("said")
    (home.root / "sessions" / "s1.json").write_text(json.dumps(state))
    assert "said" in home.prompt().context
    assert home.errors() == []


@pytest.mark.parametrize("index", [{"v": 1, "lines": []}, {"v": 1, "lines": {"global": {"a.md": 5, "b.md": [1]}}}])
def test_an_index_state_of_odd_shape_breaks_nothing(home, index):
    home.remember("memory")
    home.start()
    (home.root / "sessions" / "s1.index.json").write_text(json.dumps(index))
    home.remember("new")
    assert "new" in home.prompt().context


def test_a_root_that_can_not_be_written_is_no_error(home):
    home.config.mkdir(parents=True)
    home.root.write_text("a file where the directory should be")
    home.remember("memory")
    for event in EVENTS:
        assert ("memory" in home.hook(event).context) == (event == "SessionStart")
    assert home.root.read_text() == "a file where the directory should be"


@pytest.mark.slow
def test_on_a_read_only_disk_guidance_stays_and_lists_are_not_repeated(home):
    """A root that can be read and not written: bind mounts need rights that tests lack, so files stand in the way."""
    home.guide("said")
    home.leave("updates", "draft")
    (home.root / "sessions").write_text("in the way")
    (home.root / "log").write_text("in the way")
    said = [home.prompt().context for _ in range(3)]
    assert sum("said" in text for text in said) == 1
    assert sum("draft" in text for text in said) == 0


def test_errors_are_written_down(home):
    (home.boxes["project"] / "guidance.md").mkdir(parents=True)
    home.prompt()
    (error,) = home.errors()
    assert (error["v"], error["where"]) == (1, "UserPromptSubmit")
    assert error["message"]
    assert any("claims_hot.py" in place for place in error["trace"])


@pytest.mark.slow
def test_an_error_of_any_kind_in_a_hook_is_written_down_and_stops_there(home, tmp_path):
    """The whole of memtui, with a bug put in."""
    package = tmp_path / "copy" / "memtui"
    shutil.copytree(LAUNCHER.parents[1], package, ignore=shutil.ignore_patterns("__pycache__"))
    data = json.dumps(home.payload("UserPromptSubmit")).encode()
    for bug, logged in (("1 / 0", "ZeroDivisionError"), ("raise SystemExit(2)", ""), ("raise KeyboardInterrupt", "")):
        (package / "hooks" / "user_prompt_submit_hot.py").write_text(f"def handle(hook):\n    {bug}\n")
        done = subprocess.run(
            [PYTHON, "-I", "-S", str(package / "hooks" / "launch.py"), "UserPromptSubmit"],
            input=data, env=home.env, capture_output=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        if logged:
            assert home.errors()[-1]["error"] == logged
