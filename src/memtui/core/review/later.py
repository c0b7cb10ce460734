"""Until when a person hides what waits in the inbox and is no entry of it: changes, problems, memories.

`later.json` in memtui's directory (docs/file-formats.md) maps what tells it from all others to a time, or to `never`.
What changes since has another key, and shows again.
"""

from collections.abc import Collection

from memtui.core.base import clock, fastjson, fs
from memtui.core.base.storage import read_or_none
from memtui.core.base.when import NEVER
from memtui.core.journal.changes import FileChange
from memtui.core.journal.journal import Journal

FORMAT = 1
# The newest that are kept.
MOST = 10_000


def path(root: str) -> str:
    """Return the path of the file in memtui's directory."""
    return root + "/later.json"


def load(root: str) -> dict[str, float]:
    """Read until when what is hidden, in seconds since the epoch, `when.NEVER` for good; nothing from a file that can't
    be read."""
    try:
        return {key: until for key, words in _rows(fs.read_or_empty(path(root))).items() if (until := _time(words))}
    except OSError:
        return {}


def _rows(data: bytes) -> dict[str, str]:
    rows = fastjson.loads_dict(data).get("until") if data.strip() else None
    # An empty key would hide each entry, which has none here.
    return {str(key): str(words) for key, words in rows.items() if key} if isinstance(rows, dict) else {}


def _time(words: str) -> float | None:
    return NEVER if words == "never" else clock.parse(words)


def step(what: str, until: float | None) -> str:
    """Return what the list of changes calls it that something is hidden until a time, for good, or shown again."""
    return f"{'bring back' if until is None else 'reject' if until == NEVER else 'later'}: {what}"


def hide(journal: Journal, keys: Collection[str], until: float | None, what: str) -> None:
    """Hide what has these keys until a time, `when.NEVER` for good, None to show it again; as one step of undo, which
    the list of changes calls `what`. Raises MemtuiError."""
    file = path(journal.root)
    before = read_or_none(file)
    rows = {key: words for key, words in _rows(before or b"").items() if key not in keys}
    if until is not None:
        rows |= dict.fromkeys(filter(None, keys), "never" if until == NEVER else clock.iso_seconds(until))
    newest = dict(list(rows.items())[-MOST:])
    after = fastjson.dumps({"v": FORMAT, "until": newest}).encode() + b"\n"
    if after != before:
        journal.run("snooze", [FileChange(file, before, after)], what)
