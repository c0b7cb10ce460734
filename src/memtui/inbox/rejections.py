"""The drafts that a person rejected, in `rejected.jsonl` beside an inbox; some must never be drafted again."""

from collections.abc import Sequence
from typing import NamedTuple

from memtui.base import clock, fastjson, fs, ids
from memtui.client.transcripts.conversation import normalised
from memtui.inbox import format as inbox_format
from memtui.redact import redact

# Bytes of the file that are read; characters that are kept of a draft's first line and of the rest.
MOST_BYTES = 4 << 20
DESCRIPTION, BODY = 600, 1000


class RefusedDraft(NamedTuple):
    """A rejected draft. `time`: when, in seconds since the epoch, or None; `never`: it must not be drafted again."""

    name: str
    description: str
    body: str
    time: float | None
    never: bool


def path(directory: str) -> str:
    """Return the file of an inbox."""
    return f"{directory}/{inbox_format.REJECTED}"


def line(entry_id: str, name: str, text: str, now: float, *, never: bool) -> str:
    """Return the line that lists a rejected draft, without secrets."""
    first, _, rest = redact.redact(text)[0].strip().partition("\n")
    words = first.strip()
    row = {
        "v": 1,
        "hash": ids.content_hash(normalised(words)),
        "text": words[:DESCRIPTION],
        "body": rest.strip()[:BODY],
        "name": redact.redact(name)[0],
        "never": never,
        "time": clock.iso_seconds(now),
        "id": entry_id,
    }
    return fastjson.dumps({key: value for key, value in row.items() if value not in ("", None)}) + "\n"


def is_never(row: dict[str, object]) -> bool:
    """Tell whether a line says that something must never be drafted again; older versions listed nothing else."""
    return row.get("never") is not False


def load(directory: str) -> list[RefusedDraft]:
    """Read the rejected drafts of an inbox, oldest first, of a long file the newest; none if it can't be read."""
    try:
        data = fs.read_or_empty(path(directory))[-MOST_BYTES:]
    except OSError:
        return []
    return [_of(row) for row in map(fastjson.loads_dict, data.splitlines()) if isinstance(row.get("text"), str)]


def near(directories: Sequence[str]) -> list[RefusedDraft]:
    """Read the drafts that were rejected from several inboxes."""
    return [refused_draft for directory in dict.fromkeys(directories) for refused_draft in load(directory)]


def _of(row: dict[str, object]) -> RefusedDraft:
    name, description, body = (str(row.get(key) or "") for key in ("name", "text", "body"))
    return RefusedDraft(name, description, body, clock.parse(row.get("time")), is_never(row))


def too_old(data: bytes, before: float) -> tuple[bytes, int]:
    """Return a file without drafts rejected before a time (not for good), and how many these are."""
    lines = data.splitlines(keepends=True)
    rows = ((line, fastjson.loads_dict(line)) for line in lines)
    recent = [line for line, row in rows if is_never(row) or (clock.parse(row.get("time")) or before) >= before]
    return b"".join(recent), len(lines) - len(recent)
