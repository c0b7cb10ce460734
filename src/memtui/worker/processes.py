"""Start a process that nobody waits for, in the interpreter with all that memtui needs."""

import os
import subprocess
import sys

from memtui.base import fastjson_hot, fs_hot, paths_hot
from memtui.client import settings_files_hot


def own(env: dict[str, str], cwd: str) -> dict[str, str]:
    """Return the environment without what a project's settings set: that could lead memories and keys elsewhere."""
    places = (cwd, paths_hot.project_root(cwd))
    names = {name for place in places for _, name in settings_files_hot.variables(env, place)}
    return {name: value for name, value in env.items() if name not in names}


def start(env: dict[str, str], root: str, cwd: str, module: str, *words: str, payload: bytes = b"") -> None:
    """Start `python -m MODULE WORDS…` for a session in `cwd`, detached, with `payload` as its input. Raises OSError."""
    started = subprocess.Popen(
        [python(root), "-m", module, *words],
        env={**own(env, cwd), "PYTHONPATH": paths_hot.SOURCES},
        cwd="/",
        stdin=subprocess.PIPE if payload else subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    if payload:
        assert started.stdin is not None
        with started.stdin as stream:
            stream.write(payload)


def python(root: str) -> str:
    """Return the interpreter with all that memtui needs: as the installation noted it, or this one."""
    records = fastjson_hot.table(fs_hot.read_table(root + "/installs.json", "settings"), "files").values()
    noted = [str(record.get("python")) for record in records if isinstance(record, dict) and record.get("python")]
    above, separator, _ = paths_hot.SOURCES.rpartition("/lib/python")
    candidates = [*noted, above + "/bin/python"] if separator else noted
    return next((candidate for candidate in candidates if os.access(candidate, os.X_OK)), sys.executable)
