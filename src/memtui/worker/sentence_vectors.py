"""Keep the daemon with a sentence model (recall/daemon.py) running while there are sessions, and its vectors whole."""

import os
import signal
import time
from collections.abc import Iterator, Sequence
from typing import Any

from memtui.base import fastjson_hot, fs_hot, installer
from memtui.base.finding import Finding, good, note, problem
from memtui.client import process_hot
from memtui.recall import segment_hot, semantic_hot, sentences
from memtui.settings import config_hot
from memtui.worker import processes

PATIENCE, SHORT = 5.0, 1.0  # seconds that a worker waits for an answer, and a person
NAMING = 0.5  # seconds within which a daemon that has the lock says which process it is, also on a busy machine
APART = 3600.0  # for which a daemon that could not load its model is not started again with the same settings
# What the daemon is doing.
RUNNING, STARTING, FAILED, SILENT, NONE = "running", "starting", "failed", "silent", "none"
LOADED = {RUNNING, FAILED}


def keep(env: dict[str, str], root: str, cwd: str, directories: Sequence[str], now: float) -> bool:
    """Have the daemon make the vectors that these directories lack; return whether it was started. Raises OSError."""
    report = fill(root, directories)
    if report.get("model") == wanted(root):
        return False
    does = doing(root, report)
    if does in {RUNNING, SILENT}:
        stop(root)
    elif does == STARTING or failed_lately(root, now):
        return False
    processes.start(env, root, cwd, "memtui.recall.daemon", root, *directories)
    return True


def fill(root: str, directories: Sequence[str]) -> dict[str, object]:
    """Have the daemon, if one runs, make the vectors that these directories lack; return what it says."""
    return status(root, {"op": "fill", "directories": list(directories)}, PATIENCE)


def is_on(root: str) -> bool:
    """Return whether the person wants prompts to be compared by sentences."""
    return config_hot.value(config_hot.load(root), None, "semantic") is True


def wanted(root: str) -> str:
    """Return the name of the model of the settings, as fastembed calls it."""
    return sentences.full_name(config_hot.value(config_hot.load(root), None, "semantic_model"))


def status(root: str, request: dict[str, object] | None = None, seconds: float = SHORT) -> dict[str, object]:
    """Return what the daemon says of itself (recall/daemon.py); `{}` if none answers in this version."""
    try:
        return semantic_hot.ask(root, request or {"op": "status"}, seconds)
    except semantic_hot.AbsentError:
        return {}


def stop(root: str) -> bool:
    """Have the daemon end, and wait for that; one that goes on is killed. Return whether there was one."""
    if not is_held(root):
        return False
    end = time.monotonic() + (PATIENCE if status(root, {"op": "stop"}, SHORT) else 0.0)
    while is_held(root) and time.monotonic() < end:
        time.sleep(0.02)
    end = time.monotonic() + NAMING
    while is_held(root) and time.monotonic() < end:
        _kill(root)
        time.sleep(0.02)
    return True


def _kill(root: str) -> None:
    """Kill the daemon that holds the lock, if it has said by now which process it is."""
    try:
        identity: Any = fastjson_hot.loads(fs_hot.read(semantic_hot.place(root) + "/lock", "cache"))
        # The lock was let go by a process that ended, and the number of that may be another one's by now.
        if is_held(root) and process_hot.runs(identity):
            os.kill(identity[0], signal.SIGKILL)
            fs_hot.unlink(semantic_hot.socket_of(root))
    except (OSError, ValueError):
        pass  # it ended by itself, or has just begun


def downloaded(root: str) -> int:
    """Return the bytes of sentence models that are on the disk."""
    tree = os.walk(semantic_hot.place(root) + "/models")
    return sum(os.lstat(f"{directory}/{name}").st_size for directory, _, names in tree for name in names)


def doing(root: str, report: dict[str, object]) -> str:
    """Return what the daemon is doing by what it says of itself: RUNNING, STARTING, FAILED, SILENT or NONE."""
    if report:
        return RUNNING
    is_running, has_socket = is_held(root), os.path.exists(semantic_hot.socket_of(root))
    if is_running:
        return SILENT if has_socket else STARTING
    if os.path.exists(semantic_hot.failed(root)):
        return FAILED
    return SILENT if has_socket else NONE


def is_held(root: str) -> bool:
    """Tell whether a daemon lives: it holds the lock."""
    path = semantic_hot.place(root) + "/lock"
    if not os.path.exists(path):
        return False
    try:
        with fs_hot.Lock(path, 0.0):
            return False
    except OSError as error:
        return isinstance(error, fs_hot.LockTimeoutError)


def why_failed(root: str) -> str:
    """Return why the last daemon could not load its model; empty if it could."""
    return str(fs_hot.read_table(semantic_hot.failed(root)).get("why", ""))


def failed_lately(root: str, now: float) -> bool:
    """Tell whether the last daemon could not load its model a short time ago, and no setting was edited since."""
    try:
        failed = os.stat(semantic_hot.failed(root)).st_mtime
    except OSError:
        return False
    edited = os.stat(config_hot.file_path(root)).st_mtime if os.path.exists(config_hot.file_path(root)) else 0.0
    return edited <= failed and now - failed < APART


def covered(root: str, directories: Sequence[str]) -> tuple[int, int]:
    """Return how many memories of these directories have vectors of the model of the settings, and of how many."""
    key = sentences.key_of(wanted(root))
    ready = total = 0
    for directory in directories:
        manifest = segment_hot.read_manifest(root, directory)
        for entry in manifest.segments if manifest is not None else ():
            number = int(str(entry["number"]))
            total += number
            ready += number if os.path.exists(semantic_hot.file_of(root, str(entry["name"]), key)) else 0
    return ready, total


def check(root: str) -> Iterator[Finding]:
    """Find what keeps prompts from being compared by sentences, where a person wants that."""
    if not is_on(root):
        return
    report = status(root)
    does = doing(root, report)
    if not sentences.installed() and does != RUNNING:
        yield problem("semantic.not_installed", install=installer.adding("fastembed"))
    elif does == FAILED:
        yield problem("semantic.not_loaded", why=why_failed(root).rstrip(".") or "no reason is known")
    elif does == SILENT:
        yield note("semantic.silent")
    elif does == RUNNING:
        yield good("semantic.ok", model=report.get("model"), pid=report.get("pid"))
    else:
        yield good("semantic.starting" if does == STARTING else "semantic.idle", model=wanted(root))
