"""The daemon with a sentence model in tests: started as memtui starts it, with the small model of `semantic_model`."""

import contextlib
import functools
import json
import os
import shlex
import signal
import socket
import sys
from pathlib import Path

from memtui.recall import semantic_hot
from memtui.worker import sentence_vectors
from waiting import eventually

MODEL = Path(__file__).parent / "semantic_model"


@functools.cache
def _listener():
    return socket.create_server(("127.0.0.1", 0), backlog=1000)


def hub():
    """The address of what stands for the host that models come from: a connection to it is made, and no more."""
    return f"http://127.0.0.1:{_listener().getsockname()[1]}"


def prepare(root, *settings, model="tiny", endpoint=None):
    """Switch it on, and have workers start it in an interpreter that finds the small model."""
    root = Path(root)
    root.mkdir(parents=True, exist_ok=True)
    program = root.parent / "python with a model"
    program.write_text(
        f"#!/bin/sh\nexport HF_ENDPOINT={endpoint or hub()}\n"
        f'PYTHONPATH="$PYTHONPATH":{shlex.quote(str(MODEL))} exec {shlex.quote(sys.executable)} "$@"\n'
    )
    program.chmod(0o755)
    path = root / "installs.json"
    known = json.loads(path.read_text()) if path.exists() else {"v": 1, "files": {"/none": {}}}
    for record in known["files"].values():
        record["python"] = str(program)
    path.write_text(json.dumps(known))
    lines = ["semantic = true", f'semantic_model = "{model}"', *settings]
    (root / "config.toml").write_text("\n".join(lines) + "\n")


def ready(root):
    """Wait until a daemon runs and has made all vectors; return what it says of itself."""

    def state():
        said = sentence_vectors.status(str(root))
        return said if said and not said["waiting"] else None

    said = eventually(state)
    assert said
    return said


def end(root):
    """End the daemon, whatever it is doing."""
    root = str(root)
    if pid := sentence_vectors.status(root).get("pid"):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    assert eventually(lambda: sentence_vectors.stop(root) or not sentence_vectors.is_held(root))
    assert eventually(lambda: not sentence_vectors.is_held(root))


def socket_is_there(root):
    """Whether a socket is there, of whichever daemon."""
    return os.path.exists(semantic_hot.socket_of(str(root)))
