"""Until when what waits is hidden; of what is no entry of an inbox in `later.json` (docs/file-formats.md)."""

from collections.abc import Collection

from memtui.base import clock, dates, fastjson, fs
from memtui.base.dates import NEVER
from memtui.base.errors import UsageError
from memtui.base.storage import read_or_none
from memtui.store.journal import acts
from memtui.store.journal.changes import FileChange
from memtui.store.journal.journal import Journal

TAKEN = "30m, 2h, 18:00, tomorrow, friday, 3d, 2w, 2030-12-31, 2030-12-31 14:00"
HINT = f"Use one of: {TAKEN}, now."
FORMAT = 1
# The newest that are kept.
MOST = 10_000


def moment(words: str, now: float) -> float | None:
    """Return when what is hidden shows again (seconds since the epoch), None for `now`. Raises UsageError."""
    if not words:
        raise UsageError("Type a time, such as 30m or tomorrow.")
    seconds = dates.read(words, now, ahead=True)
    if seconds is None:
        raise UsageError(f"“{words}” is not a time.", HINT)
    if seconds == NEVER:
        raise UsageError("A draft can't wait for ever.", "Reject it instead, or " + HINT[0].lower() + HINT[1:])
    if seconds < now:
        raise UsageError(f"“{words}” is in the past.", HINT)
    return seconds if seconds > now else None


def path(root: str) -> str:
    """Return the path of the file in memtui's directory."""
    return root + "/later.json"


def load(root: str) -> dict[str, float]:
    """Read until when what is hidden, in seconds since the epoch, NEVER for good; nothing if it can't be read."""
    try:
        rows = _rows(fs.read_or_empty(path(root)))
        times = {key: NEVER if words == "never" else clock.parse(words) for key, words in rows.items()}
        return {key: until for key, until in times.items() if until}
    except OSError:
        return {}


def _rows(data: bytes) -> dict[str, str]:
    rows = fastjson.loads_dict(data).get("until") if data.strip() else None
    # An empty key would hide each entry, which has none here.
    return {str(key): str(words) for key, words in rows.items() if key} if isinstance(rows, dict) else {}


def step(what: str, until: float | None, now: float) -> str:
    """Return what the list of changes calls it that something is hidden until a time, for good, or shown again."""
    if until in {None, NEVER}:
        return f"bring back {what}" if until is None else acts.summary("reject", what)
    return acts.summary("snooze", f"until {dates.day_and_time(until, now)}: {what}")


def hide(journal: Journal, keys: Collection[str], until: float | None, what: str) -> None:
    """Hide what has these keys until a time (None: show it) as one step of undo, called `what`. Raises MemtuiError."""
    file = path(journal.root)
    before = read_or_none(file)
    rows = {key: words for key, words in _rows(before or b"").items() if key not in keys}
    if until is not None:
        rows |= dict.fromkeys(filter(None, keys), "never" if until == NEVER else clock.iso_seconds(until))
    newest = dict(list(rows.items())[-MOST:])
    after = fastjson.dumps({"v": FORMAT, "until": newest}).encode() + b"\n"
    if after != before:
        journal.run("snooze", [FileChange(file, before, after)], what)
