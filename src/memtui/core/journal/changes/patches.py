"""Changes of files that are no memories, and may hold secrets or lie anywhere: only the bytes that change are kept, and
taken back only in exactly the file that was left; permission bits; a file's name; one entry of a table in a file."""

import errno
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from memtui.core.base import fs, ids
from memtui.core.base.errors import ConflictError
from memtui.core.journal.changes import files as ch
from memtui.core.journal.changes.files import FileChange
from memtui.core.journal.changes.step import Keep, Step

LOOK = "Nothing was written. Look at it again, then repeat."


def _digest(data: bytes | None) -> str | None:
    return None if data is None else ids.digest(data)


@dataclass(frozen=True)
class Patch(Step):
    """In the file whose hash is `was`, from byte `at` on, `removed` becomes `added`; then its hash is `now`. None is no
    file; one that appears has the permission bits `mode`, in directories of which `dirs` go with it."""

    at: int
    removed: bytes
    added: bytes
    was: str | None
    now: str | None
    mode: int = fs.FILE_MODE
    dirs: tuple[str, ...] = ()

    @classmethod
    def between(
        cls, path: str, before: bytes | None, after: bytes | None, mode: int, dirs: tuple[str, ...] = ()
    ) -> "Patch":
        """What turns one content into the other, as few bytes as can be in one place."""
        old, new = before or b"", after or b""
        shared = min(len(old), len(new))
        head = next((i for i in range(shared) if old[i] != new[i]), shared)
        tail = next((i for i in range(shared - head) if old[-1 - i] != new[-1 - i]), shared - head)
        removed, added = old[head : len(old) - tail], new[head : len(new) - tail]
        return cls(path, head, removed, added, _digest(before), _digest(after), mode, dirs)

    def inverse(self) -> "Patch":
        return Patch(self.path, self.at, self.added, self.removed, self.now, self.was, self.mode, self.dirs)

    def _before(self) -> bytes | None:
        data = ch.read(self.path)
        if _digest(data) != self.was:
            raise ch.conflict(self.path, taken=self.was is None)
        return data

    def check(self) -> None:
        self._before()

    def make(self) -> None:
        before = self._before()
        old = before or b""
        after = old[: self.at] + self.added + old[self.at + len(self.removed) :]
        if before is None and self.now is not None:
            self._make_dirs()
        ch.replace(FileChange(self.path, before, None if self.now is None else after, self.mode))
        for directory in reversed(self.dirs if self.now is None else ()):
            try:
                os.rmdir(directory)
            except OSError:
                break  # somebody else uses it

    def _make_dirs(self) -> None:
        if self.mode == fs.FILE_MODE:
            fs.makedirs(os.path.dirname(self.path))
        else:  # for all who may read the file
            os.makedirs(os.path.dirname(self.path), exist_ok=True)

    def state(self) -> str:
        found = _digest(ch.read(self.path))
        return "made" if found == self.now else "open" if found == self.was else "foreign"

    def row(self, keep: Keep) -> dict[str, Any]:
        cut = {"at": self.at, "from": self.was, "to": self.now, "mode": self.mode, "dirs": list(self.dirs)}
        return {"cut": cut, "removed": keep(self.removed), "added": keep(self.added)}


@dataclass(frozen=True)
class ModeEdit(Step):
    """Who may read and write, before and after. Of what is not there any more there is nothing to change."""

    before: int
    after: int

    def inverse(self) -> "ModeEdit":
        return ModeEdit(self.path, self.after, self.before)

    def _now(self) -> int | None:
        try:
            return os.lstat(self.path).st_mode & 0o777
        except (FileNotFoundError, NotADirectoryError):
            return None

    def check(self) -> None:
        if self._now() not in {None, self.before, self.after}:
            raise ConflictError(f"Somebody else changed who may read {self.path}", LOOK)

    def make(self) -> None:
        self.check()
        if self._now() is not None:
            os.chmod(self.path, self.after)

    def state(self) -> str:
        found = self._now()
        return "made" if found == self.after else "open" if found in {None, self.before} else "foreign"

    def row(self, keep: Keep) -> dict[str, Any]:  # noqa: ARG002
        return {"modes": [self.before, self.after]}


@dataclass(frozen=True)
class Renaming(Step):
    """A file, known by its number, gets the name `to`: whoever is writing to it goes on doing so."""

    to: str
    file: int

    def inverse(self) -> "Renaming":
        return Renaming(self.to, self.path, self.file)

    @staticmethod
    def number(path: str) -> int | None:
        """What the file system calls a file; None if there is none."""
        try:
            return os.lstat(path).st_ino
        except (FileNotFoundError, NotADirectoryError):
            return None

    def check(self) -> None:
        if self.number(self.path) != self.file:
            raise ConflictError(f"{self.path} is not there any more, or is another file", LOOK)
        if self.number(self.to) not in {None, self.file}:
            raise ConflictError(f"{self.to} was begun anew meanwhile", "Move it away first.")

    def make(self) -> None:
        self.check()
        if self.number(self.to) is None:
            try:
                os.link(self.path, self.to)  # never over a file that appears at this moment
            except FileExistsError:
                raise ConflictError(f"{self.to} was begun anew meanwhile", "Move it away first.") from None
            except OSError as error:
                if error.errno not in {errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS}:
                    raise
                os.rename(self.path, self.to)
                return
        os.unlink(self.path)
        fs.sync_dir(os.path.dirname(self.to))

    def state(self) -> str:
        if self.number(self.path) == self.file:
            return "open"
        return "made" if self.number(self.to) == self.file else "foreign"

    def row(self, keep: Keep) -> dict[str, Any]:  # noqa: ARG002
        return {"to": self.to, "file": self.file}


Value = Mapping[str, Any]


@dataclass(frozen=True)
class EntryEdit(Step):
    """The entry `key` of a table in a JSON file of memtui's, before and after; None is no entry. A file without entries
    goes."""

    table: str
    key: str
    before: Value | None
    after: Value | None

    def inverse(self) -> "EntryEdit":
        return EntryEdit(self.path, self.table, self.key, self.after, self.before)

    def _file(self) -> dict[str, Any]:
        data = fs.read_or_empty(self.path)
        try:
            found: Any = json.loads(data) if data.strip() else {"v": 1}
            entries = found.setdefault(self.table, {})
            entries.get(self.key)
        except (ValueError, AttributeError, RecursionError) as error:
            raise ConflictError(f"{self.path} is damaged: {error}", "Mend it, or move it away.") from error
        whole: dict[str, Any] = found
        return whole

    def check(self) -> None:
        if self._file()[self.table].get(self.key) != self.before:
            raise ConflictError(f"{self.path} has another entry for {self.key} by now", LOOK)

    def make(self) -> None:
        self.check()
        whole = self._file()
        entries = {key: value for key, value in whole[self.table].items() if key != self.key}
        if self.after is not None:
            entries[self.key] = self.after
        if not entries:
            fs.unlink(self.path)
            return
        whole[self.table] = dict(sorted(entries.items()))
        text = json.dumps(whole, ensure_ascii=False, indent=2) + "\n"
        # A byte of a path that is no UTF-8 is a lone surrogate, which JSON can say as an escape.
        fs.write_atomic(self.path, text.encode("utf-8", "backslashreplace"))

    def state(self) -> str:
        found = self._file()[self.table].get(self.key)
        return "made" if found == self.after else "open" if found == self.before else "foreign"

    def row(self, keep: Keep) -> dict[str, Any]:  # noqa: ARG002
        return {"entry": {"table": self.table, "key": self.key, "before": self.before, "after": self.after}}


def step_of(row: Mapping[str, Any], image: Callable[[str], bytes]) -> Step | None:
    """The step of a record's row; None for a row of another kind. Raises NotFoundError if a content was purged."""
    path = row["path"]
    if "cut" in row:
        cut = row["cut"]
        removed, added = image(row["removed"]), image(row["added"])
        return Patch(path, cut["at"], removed, added, cut["from"], cut["to"], cut["mode"], tuple(cut["dirs"]))
    if "modes" in row:
        return ModeEdit(path, *row["modes"])
    if "file" in row:
        return Renaming(path, row["to"], row["file"])
    if "entry" in row:
        found = row["entry"]
        return EntryEdit(path, found["table"], found["key"], found["before"], found["after"])
    return None
