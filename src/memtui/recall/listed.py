"""Read which memories are bound to paths, or forbid commands: `{"v": 1, "dirs": {directory: {file: [text]}}}`.

A worker writes that (worker/binding.py); where no memory is, there is no such file. Hot path.
"""

from memtui.core.base import fastjson, fs, session_state

VERSION = 1


def load(root: str, file: str) -> "dict[str, object]":
    """Return what a file under the data root lists, by directory; `{}` if it lists nothing or can't be read."""
    try:
        found = fastjson.loads_dict(fs.read(f"{root}/{file}", "cache"))
    except OSError:
        return {}
    return session_state.table(found, "dirs") if found.get("v") == VERSION else {}
