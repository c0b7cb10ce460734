"""Files of the subconscious that grow by lines, and lose their older half when they are large. Several processes write
them, so nothing may be appended to a file while it is cut."""

import os

from memtui.core.base import fs
from memtui.subconscious import places

LOCK_SECONDS = 5.0


def append(root: str, path: str, data: bytes, most: int) -> None:
    """Append lines to a file, of which the older half goes if it has more than `most` bytes then. Raises OSError."""
    with fs.Lock(places.home(root) + "/lines.lock", LOCK_SECONDS):
        fs.append(path, data)
        if os.stat(path).st_size > most:
            kept = fs.read_bytes(path).splitlines(keepends=True)
            fs.write_atomic(path, b"".join(kept[len(kept) // 2 :]), durable=False)
