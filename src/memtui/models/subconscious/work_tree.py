"""The files of a project as they were at the last look, so that what a command changed is known, and can be undone."""

import os
import stat
from collections.abc import Collection, Iterator
from typing import NamedTuple

from memtui.base import fs_hot
from memtui.base.phrasing_hot import many
from memtui.models.subconscious import project_files
from memtui.redact.redact import kinds_in

FILES, FILE_BYTES, ALL_BYTES = 20_000, 256 << 10, 64 << 20  # files; bytes of one, and of all, that are kept


class Content(NamedTuple):
    """A file: its `stamp` (mode, inode, size and times), and its bytes; None, and `why`, where these are not kept."""

    stamp: tuple[int, ...]
    data: bytes | None
    why: str = ""


class ChangedFile(NamedTuple):
    """A file that changed: its path, contents before and after (None: no file); `why` there is no version of it."""

    path: str
    before: bytes | None
    after: bytes | None
    mode: int
    why: str = ""


class WorkTree:
    """The files below `top`. `managed`: directories whose files have versions of their own."""

    def __init__(self, top: str, managed: Collection[str] = ()) -> None:
        self._tools, self._managed = project_files.Tools(top), tuple(f"{path}/" for path in managed)
        self.top, self._is_whole, self._size = self._tools.top.rstrip("/"), True, 0
        self._files: dict[str, Content] = {}
        self.outside: set[str] = set()

    def name(self, path: str) -> str:
        return path.removeprefix(self.top + "/")

    def look(self) -> list[ChangedFile]:
        """Look at all files, and return those that changed since the last time; at first all are new."""
        before, after, was_whole = self._files, dict[str, Content](), self._is_whole
        self._size = sum(len(content.data or b"") for content in before.values())
        for path, stamp in self._stamps():
            content = before.get(path)
            after[path] = content if content and content.stamp == stamp else self._read(path, stamp)
        # Beyond the limit: it is there still.
        after |= {path: before[path] for path in before.keys() - after.keys() if os.path.lexists(path)}
        self._files = after
        changes = []
        for path in sorted(before.keys() | after.keys()):
            old, new = before.get(path), after.get(path)
            if old is new or (old and new and old.data is not None and old.data == new.data):
                continue
            why = (new.why if new else "") or (old.why if old else "")
            if not old and not (was_whole and self._is_whole):
                why = f"only {many(FILES, 'file')} of the project are watched"
            mode = (old or new or Content((fs_hot.FILE_MODE,), None)).stamp[0] & 0o7777
            changes.append(ChangedFile(path, old and old.data, new and new.data, mode, why))
        return changes

    def _stamps(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        count, self._is_whole = 0, True
        for path in self._paths():
            try:
                status = os.lstat(path)
            except OSError:
                continue
            if not stat.S_ISREG(status.st_mode):
                continue
            count += 1
            if count > FILES:
                self._is_whole = False
                return
            yield path, (status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    def _paths(self) -> Iterator[str]:
        yield from sorted(self.outside)
        for directory, names, files in os.walk(self.top):
            names[:] = sorted(name for name in names if name not in project_files.SKIPPED)
            yield from (f"{directory}/{name}" for name in sorted(files))

    def _read(self, path: str, stamp: tuple[int, ...]) -> Content:
        if path.startswith(self._managed):
            return Content(stamp, None, "a memory, which has versions of its own")
        if self._tools.holds_secrets(path):
            return Content(stamp, None, "it may hold secrets")
        if stamp[2] > FILE_BYTES:
            return Content(stamp, None, f"over {FILE_BYTES >> 10} KB")
        if self._size + stamp[2] > ALL_BYTES:
            return Content(stamp, None, f"the project has over {ALL_BYTES >> 20} MB of text")
        try:
            data = fs_hot.read_bytes(path, FILE_BYTES + 1)
        except OSError as error:
            return Content(stamp, None, f"not read: {error.strerror or error}")
        if b"\0" in data:
            return Content(stamp, None, "not text")
        self._size += len(data)
        return Content(stamp, data)


def secret_in(change: ChangedFile) -> bool:
    """Whether a content of a changed file has what looks like a secret."""
    return any(kinds_in(data.decode("utf-8", "replace")) for data in (change.before, change.after) if data)
