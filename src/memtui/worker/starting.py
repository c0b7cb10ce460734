"""Start a process that nobody waits for, in the interpreter with all that memtui needs."""

import os
import subprocess
import sys

from memtui.core.base import fastjson, fs, paths
from memtui.core.places import settings_files

# The directory that Python finds memtui in.
SOURCES = __file__.removesuffix("/memtui/worker/starting.py")


def start(env: dict[str, str], root: str, cwd: str, module: str, *words: str, given: bytes = b"") -> None:
    """Start `python -m MODULE WORDS…` for a session in `cwd`, detached, with `given` as its input. Raises OSError."""
    # What a project's settings set could lead memories and keys elsewhere.
    places = (cwd, paths.project_root(cwd))
    named = {name for place in places for _, name in settings_files.variables(env, place)}
    own = {name: value for name, value in env.items() if name not in named}
    started = subprocess.Popen(
        [python(root), "-m", module, *words],
        env={**own, "PYTHONPATH": SOURCES},
        cwd="/",
        stdin=subprocess.PIPE if given else subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    if given:
        assert started.stdin is not None
        with started.stdin as stream:
            stream.write(given)


def python(root: str) -> str:
    """Return the interpreter with all that memtui needs: hooks and workers run in a bare one. The installation noted it
    (hooks/installer/installs.py), or memtui is in its site-packages."""
    try:
        files = fastjson.loads_dict(fs.read(root + "/installs.json", "settings")).get("files")
    except OSError:
        files = None
    records = files.values() if isinstance(files, dict) else []
    noted = [str(each.get("python")) for each in records if isinstance(each, dict) and each.get("python")]
    above, found, _ = SOURCES.rpartition("/lib/python")
    candidates = [*noted, above + "/bin/python"] if found else noted
    return next((each for each in candidates if os.access(each, os.X_OK)), sys.executable)
