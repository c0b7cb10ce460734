"""Whatever happens a prompt is neither blocked nor harmed: exit code 0, and nothing or one whole answer on stdout."""

import json
import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest
from launching import EVENTS, LAUNCHER, PYTHON, SPEAKING, Home

from memtui.base import fs, paths


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


# --- standard input

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


@pytest.mark.every(step=4)
@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("odd", ODD)
def test_input_that_makes_no_sense_gives_no_answer(home, event, odd):
    home.guide("said", urgent="yes")
    assert home.run(event, ODD[odd]).raw == b""
    assert home.waiting() == ["said"]


@pytest.mark.slow
@pytest.mark.parametrize("event", EVENTS)
def test_fields_of_other_types_are_passed_over(home, event):
    for odd in (None, 5, [], {}, True):
        payload = dict.fromkeys(home.payload(event), odd) | {"session_id": "s1"}
        home.run(event, json.dumps(payload).encode())
    assert home.errors() == []


@pytest.mark.slow
def test_a_payload_of_thirty_megabytes_is_served(home):
    home.guide("said")
    assert "said" in home.prompt(prompt="x" * 30_000_000).context


def test_bytes_that_are_not_utf8_do_not_keep_guidance_away(home):
    home.guide("said")
    data = json.dumps(home.payload("UserPromptSubmit")).encode().replace(b'"hi"', b'"\xff\xfe"')
    assert "said" in home.run("UserPromptSubmit", data).context


def test_a_session_id_that_is_a_path_stays_in_its_directory(home):
    home.leave("updates", "draft")
    assert "draft" in home.prompt("../../../evil").context
    assert home.prompt("../../../evil").raw == b""
    assert os.listdir(home.root / "sessions") == ["_________evil.json"]


@pytest.mark.parametrize("argv", [[], ["Nonsense"], ["userpromptsubmit"], ["--help"], ["UserPromptSubmit", "x", "y"]])
def test_unknown_words_on_the_command_line_are_no_error(home, argv):
    home.run("UserPromptSubmit", json.dumps(home.payload("UserPromptSubmit")).encode(), argv=argv)


@pytest.mark.slow
def test_a_directory_that_is_gone_or_odd_is_no_error(home, tmp_path):
    home.guide("everywhere", "global")
    for cwd in ("/nowhere/at/all", "relative", "", "/a\0b", "~", "/w/\ud800"):
        home.prompt(cwd=cwd)
    assert home.waiting("global") == []


# --- environment


@pytest.mark.parametrize("event", EVENTS)
def test_without_a_home_nothing_happens(home, event):
    data = json.dumps(home.payload(event)).encode()
    assert home.run(event, data, env={"HOME": None}).raw == b""


def test_an_environment_that_is_not_utf8_is_no_error(home):
    home.guide("said")
    env = {os.fsdecode(b"ODD\xff"): os.fsdecode(b"\xfe"), "MEMTUI_AGENT": os.fsdecode(b"\xff")}
    assert "said" in home.prompt(env=env).context
    assert home.errors() == []


def test_what_the_user_installed_or_set_for_python_plays_no_part(home, tmp_path):
    (tmp_path / "posix.py").write_text("raise SystemExit(2)")
    (tmp_path / "memtui").mkdir()
    home.guide("said")
    env = {"PYTHONPATH": str(tmp_path), "PYTHONSTARTUP": "/nowhere", "PYTHONHOME": "/nowhere"}
    assert "said" in home.prompt(env=env).context


# --- standard output


@pytest.mark.parametrize("event", SPEAKING)
def test_where_nobody_listens_guidance_is_kept(home, event):
    home.guide("said", urgent="yes")
    home.remember("memory")
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen(
        [PYTHON, "-I", "-S", str(LAUNCHER), event], stdin=subprocess.PIPE, stdout=write, stderr=subprocess.PIPE,
        env=home.env,
    )  # fmt: skip
    os.close(write)
    _, complaint = process.communicate(json.dumps(home.payload(event)).encode(), timeout=30)
    assert (process.returncode, complaint) == (0, b"")
    assert home.waiting() == ["said"]
    assert os.listdir(home.boxes["project"] / "claimed") == [] if event != "SessionStart" else True
    assert [record["items"] for record in home.log()] == []
    assert "said" in home.prompt("s2").context


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


# --- files


def fill(home):
    home.guide("global note", "global")
    home.leave("updates", "global draft", "global")
    home.leave("items", "global item", "global")


def directory(path):
    path.mkdir(parents=True)


def fifo(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)


def binary(path):
    fs.append(str(path), os.urandom(5000) + bytes(range(256)))


def loop(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(path.name)


def dangling(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to("nowhere/at/all")


def device(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to("/dev/zero")


def standard_input(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to("/dev/stdin")


def listening(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    here = os.getcwd()
    os.chdir(path.parent)  # a socket's address is short
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
    finally:
        os.chdir(here)


def huge(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(1 << 30)


def nothing_but_nul(path):
    fs.append(str(path), b"\0" * 5000)


def closed(path):
    fs.append(str(path), b"said\n")
    path.chmod(0)


def somebody_elses(path):
    if os.getuid():
        pytest.skip("only root can give a file away")
    fs.append(str(path), b"said by somebody else\n")
    os.chown(path, 65534, 65534)


BREAKERS = [
    directory, fifo, binary, loop, dangling, device, standard_input, listening, huge, nothing_but_nul, closed,
    somebody_elses,
]  # fmt: skip
# What a hook may take of memory, in kilobytes: who reads a file of a gigabyte whole does not get far.
SPACE = 400_000
TRANSCRIPT = "../projects/SLUG/s1.jsonl"
CLAIM = "01K8ZC5N8W3M1T9Q6V2R4B7XAD~s1~1.md"
REPLACED = "replaced~guidance.md~5~01K8ZC5N8W3M1T9Q6V2R4B7XAD"


@pytest.mark.every(step=13)
@pytest.mark.parametrize("breaker", BREAKERS, ids=lambda breaker: breaker.__name__)
@pytest.mark.parametrize(
    "name",
    [
        "guidance.md", "pending-updates.md", "pending-items.md", ".lock", "claimed", f"claimed/{CLAIM}",
        f"claimed/{REPLACED}", "extracted.jsonl", "rejected.jsonl",
    ],
)  # fmt: skip
def test_an_inbox_with_a_broken_file_keeps_nothing_of_another_from_the_prompt(home, name, breaker, request):
    if breaker is closed:
        request.getfixturevalue("as_a_user")
    breaker(home.boxes["project"] / name)
    fill(home)
    home.space = SPACE
    if breaker is somebody_elses and name == "claimed":
        assert home.start().raw == home.prompt().raw == b""  # a directory of memtui's that is not ours
        return
    home.start()
    said = home.prompt().context
    assert "LateError" not in [error["error"] for error in home.errors()]
    for text in ("global note", "global draft", "global item"):
        assert text in said
    assert "somebody else" not in said
    home.tool()
    assert "global draft" not in home.prompt().context
    if breaker in {binary, nothing_but_nul} and "claimed/" in name:
        return  # given back
    assert (home.boxes["project"] / name).is_symlink() or (home.boxes["project"] / name).exists()


@pytest.mark.slow
@pytest.mark.every(step=13)
@pytest.mark.parametrize("breaker", BREAKERS, ids=lambda breaker: breaker.__name__)
@pytest.mark.parametrize(
    "name",
    [
        "config.toml",
        "trust.json",
        "installs.json",
        "run",
        "log",
        "log/errors.jsonl",
        "sessions/s1.json",
        "sessions/s1.index.json",
        "sessions/s1.missed.json",
        "run/config.json",
        "projects",
        "sessions/s1.cursor.json",
        "log/deliveries-2026-01.jsonl",
        "log/deliveries-2126-01.jsonl",
        "global/claimed/" + CLAIM,
        "../settings.json",
        "../memory/odd.md",
        "../memory/MEMORY.md",
        "../../../shop/.claude/settings.json",
        "../../../shop/.claude/memory/odd.md",
        "../../../shop/.git/commondir",
        TRANSCRIPT,
    ],
)
def test_broken_files_of_memtuis_own_do_not_keep_guidance_away(home, name, breaker, request):
    if breaker is closed:
        request.getfixturevalue("as_a_user")
    name = name.replace("../projects/SLUG", "../projects/" + paths.slug(str(home.project))).replace(
        "SLUG", home.boxes["project"].name
    )
    breaker(Path(os.path.normpath(home.root / name)))
    fill(home)
    home.remember("memory")
    home.remember("of the repository", scope="project", trusted=False)
    if name == "run/config.json":
        home.settings("budget = 8000")
    home.space = SPACE
    if breaker is somebody_elses and name in {"run", "log", "projects"}:
        assert home.start().raw == home.prompt().raw == b""  # a directory of memtui's that is not ours
        return
    assert "memory" in home.start().context
    assert "global note" in home.prompt().context
    home.guide("now", "global", urgent="yes")
    assert "now" in home.tool().context
    for event in ("PostToolUse", "Stop"):
        home.hook(event)
    if name != "log/errors.jsonl":
        assert "LateError" not in [error["error"] for error in home.errors()]


@pytest.mark.parametrize(
    "state",
    [
        {"v": 1, "updates": 5, "stamps": [], "dirs": "x", "turn": {"a": 1}, "tool": 7, "prompted": "yes", "waiting": 1},
        {"v": 1, "updates": {"global": [1]}, "stamps": {"global": "x"}, "turn": [1, [2], ["a", "b", "c"], ["a", "b"]]},
        {"v": 1, "updates": {"global": {"x": [], "y": [1], "z": 5}}, "told": 5, "waiting": [1, {}], "started": []},
        {"v": 1, "dirs": {"/nowhere": 5, "": 1}, "started": "nonsense", "compacting": []},
    ],
)
def test_a_session_state_of_odd_shape_breaks_nothing(home, state):
    (home.root / "sessions").mkdir(parents=True)
    home.remember("memory")
    fill(home)
    for source in ("compact", "resume", "startup"):
        (home.root / "sessions" / "s1.json").write_text(json.dumps(state))
        # A session that goes on has the index already.
        assert ("memtui-index" in home.start(source).context) or source == "resume"
    (home.root / "sessions" / "s1.json").write_text(json.dumps(state))
    assert "global note" in home.prompt().context
    assert home.errors() == []


@pytest.mark.parametrize("index", [{"v": 1, "lines": []}, {"v": 1, "lines": {"global": {"a.md": 5, "b.md": [1]}}}])
def test_an_index_state_of_odd_shape_breaks_nothing(home, index):
    home.remember("memory")
    home.start()
    (home.root / "sessions" / "s1.index.json").write_text(json.dumps(index))
    home.remember("new")
    assert "new" in home.prompt().context


@pytest.mark.parametrize("event", EVENTS)
def test_a_root_that_can_not_be_written_is_no_error(home, event):
    home.config.mkdir(parents=True)
    home.root.write_text("a file where the directory should be")
    home.remember("memory")
    said = home.hook(event)
    assert ("memory" in said.context) == (event == "SessionStart")
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
    directory(home.boxes["project"] / "guidance.md")
    home.prompt()
    (error,) = home.errors()
    assert (error["v"], error["where"]) == (1, "UserPromptSubmit")
    assert error["message"]
    assert any("claims.py" in place for place in error["trace"])


def test_an_error_of_any_kind_in_a_hook_is_written_down_and_goes_no_further(home, tmp_path):
    """The whole of memtui, with a bug put in."""
    package = tmp_path / "copy" / "memtui"
    shutil.copytree(LAUNCHER.parents[1], package, ignore=shutil.ignore_patterns("__pycache__"))
    data = json.dumps(home.payload("UserPromptSubmit")).encode()
    for bug, logged in (("1 / 0", "ZeroDivisionError"), ("raise SystemExit(2)", ""), ("raise KeyboardInterrupt", "")):
        (package / "hooks" / "user_prompt_submit.py").write_text(f"def handle(hook):\n    {bug}\n")
        done = subprocess.run(
            [PYTHON, "-I", "-S", str(package / "hooks" / "launch.py"), "UserPromptSubmit"],
            input=data, env=home.env, capture_output=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        if logged:
            assert home.errors()[-1]["error"] == logged
    (package / "hooks" / "runner.py").write_text("not python")
    done = subprocess.run(
        [PYTHON, "-I", "-S", str(package / "hooks" / "launch.py"), "Stop"], input=data, env=home.env,
        capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
