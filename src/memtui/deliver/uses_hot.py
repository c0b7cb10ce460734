"""What became of the memories that were recalled, for the hook that recalls: how often each was delivered, opened by
the agent afterwards, and corrected again. A worker counts it (worker/recall_uses.py); what the file does not have is
not known.

`recall/uses` under the data root: MAGIC, the number of shards, where each begins and the last one ends (32 bits each,
little-endian), then the shards: the check of what follows (`ids_hot.number_of`), and `marshal` of a dict by path. A
path is in the shard `ids_hot.number_of(path) % number`, so that a hook reads only those of memories it considers."""

import marshal
import posix

from memtui.base import fs_hot, ids_hot

MAGIC = b"uses\x00\x00\x00\x03"
FILE = "recall/uses"
# About so many memories are in one shard.
IN_SHARD = 4
# A file of ours has no more shards.
MOST_SHARDS = 1 << 20
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    # How often a memory was delivered by recall, opened by the agent after that (once a delivery), and corrected after
    # that; and when it was delivered last, in seconds since the epoch.
    Use = tuple[int, int, int, float]


def load(root: str, paths: "Iterable[str]") -> "dict[str, Use]":
    """Return what is known of these memories, by path; those never recalled are left out."""
    uses_by_name: dict[str, Use] = {}
    try:
        fd = fs_hot.open_regular(f"{root}/{FILE}", ours=True)
        try:
            start = len(MAGIC) + 4
            head = posix.pread(fd, start, 0)
            count = int.from_bytes(head[len(MAGIC) :], "little")
            if not head.startswith(MAGIC) or not 0 < count <= MOST_SHARDS:
                return {}
            offsets = memoryview(posix.pread(fd, 4 * (count + 1), start)).cast("I")
            if offsets[count] != posix.fstat(fd).st_size:
                return {}
            opened: dict[int, dict[str, Use]] = {}
            for path in paths:
                number = _shard(path, count)
                if number not in opened:
                    opened[number] = _read(posix.pread(fd, offsets[number + 1] - offsets[number], offsets[number]))
                if path in opened[number]:
                    uses_by_name[path] = opened[number][path]
        finally:
            posix.close(fd)
    except (OSError, ValueError, TypeError, EOFError, IndexError, OverflowError):
        return uses_by_name
    return uses_by_name


def _read(data: bytes) -> "dict[str, Use]":
    """Return a shard; `{}` for a torn one."""
    if len(data) < 5 or ids_hot.number_of(data[4:]) != int.from_bytes(data[:4], "little"):
        return {}
    shard: dict[str, Use] = marshal.loads(data[4:])  # noqa: S302  # ours, and whole
    return shard


def pack(uses_by_name: "Mapping[str, Use]") -> bytes:
    """Return the file's content for what is known of memories, by path."""
    parts: list[dict[str, Use]] = [{} for _ in range(len(uses_by_name) // IN_SHARD + 1)]
    for path, use in uses_by_name.items():
        parts[_shard(path, len(parts))][path] = use
    bodies = list(map(marshal.dumps, parts))
    shards = [ids_hot.number_of(body).to_bytes(4, "little") + body for body in bodies]
    at = len(MAGIC) + 4 + 4 * (len(shards) + 1)
    table = []
    for shard in [*shards, b""]:
        table.append(at.to_bytes(4, "little"))
        at += len(shard)
    return b"".join([MAGIC, len(shards).to_bytes(4, "little"), *table, *shards])


def _shard(path: str, count: int) -> int:
    return ids_hot.number_of(path.encode("utf-8", "surrogatepass")) % count
