"""Many drafts at once for an inbox: how much room it has, and what it had before."""

from memtui.base import fastjson, fs
from memtui.inbox import format as inbox_format

# Left free in an inbox file, of which only MAX_BYTES are read, for what sessions leave there.
KEPT_FREE = inbox_format.MAX_BYTES // 4
# Bytes of a list beside an inbox that are read.
MOST_READ = 4 << 20


def room(directory: str) -> int:
    """Return how many bytes of drafts an inbox takes; 0 or less if it is full, or can't be read."""
    try:
        length = len(fs.read_or_empty(f"{directory}/{inbox_format.FILES['updates']}"))
    except OSError:
        return 0
    return inbox_format.MAX_BYTES - KEPT_FREE - length


def lines_of(path: str) -> list[dict[str, object]]:
    """Return the objects of a JSON Lines file beside an inbox. Raises OSError."""
    return [row for row in map(fastjson.loads_dict, fs.read_or_empty(path, MOST_READ).split(b"\n")) if row]


def rows(path: str) -> list[dict[str, object]]:
    """Return what `lines_of` does; nothing if the file can't be read."""
    try:
        return lines_of(path)
    except OSError:
        return []
