"""The base class of every kind of change. A change can be checked and written as a row of the journal, made, inverted,
and compared with the disk. Each kind has a module in this package; `records.KINDS` lists them."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

from memtui.core.base.errors import ConflictError
from memtui.core.base.storage import read_or_none

Row = Mapping[str, Any]
# Whether a change was made (made) or not (open); foreign: the file is neither as it was before nor as it is after it.
State = Literal["made", "open", "foreign"]
# Returns the stored content with a hash. Raises NotFoundError once it was purged.
ReadContent = Callable[[str], bytes]
LOOK_AGAIN = "Nothing was written. Check the file and try again."


class KeepContent(Protocol):
    """Stores a content and returns its hash."""

    def __call__(self, data: bytes, durable: bool = True) -> str: ...


class ChangedFiles(dict[str, bytes | None]):
    """File contents by path, as the earlier changes of the same operation leave them; None: no file. Looking up a path
    reads the file and may raise OSError."""

    def __missing__(self, path: str) -> bytes | None:
        self[path] = found = read_or_none(path)
        return found


@dataclass(frozen=True)
class Change(ABC):
    """A change of the file, or directory, at `path`."""

    # The key that only rows of this kind have.
    key: ClassVar[str]
    path: str

    @property
    def about(self) -> str:
        """The path of the file that the change is about: where it says something of another one, that one."""
        return self.path

    def with_metadata(self) -> "Change":
        """Return the change with the present file's permission bits and time added, so that an undo restores them."""
        return self

    @abstractmethod
    def row(self, files: ChangedFiles, keep: KeepContent) -> dict[str, Any]:
        """Return the change's row of the journal, without the path. Stores the contents that the row names, and updates
        `files`. Raises ConflictError if the file is not as the change expects it, OSError, MemtuiError."""

    @abstractmethod
    def make(self) -> None:
        """Make the change. Raises ConflictError if the file is not as the change expects it, OSError."""

    @abstractmethod
    def inverse(self) -> "Change":
        """Return the change that takes this one back."""

    @abstractmethod
    def state(self, row: Row, rows: Sequence[Row]) -> State:
        """Return whether the change was made. `row` is its own row, `rows` are all rows of the operation for the same
        path. Raises OSError."""

    @classmethod
    @abstractmethod
    def from_row(cls, row: Row, read: ReadContent) -> "Change":
        """Return the change of a valid row. Raises NotFoundError if a content was purged."""

    @staticmethod
    @abstractmethod
    def is_valid(row: Row) -> bool:
        """Return whether a row with the `key` has the shape that this version writes: recovery trusts no other."""


def conflict(path: str, exists: bool = False) -> ConflictError:
    """Return the error for a file that was changed or removed meanwhile, or that `exists` where none may be."""
    if exists:
        return ConflictError(f"{path} exists already.", "Choose another name, or change that memory instead.")
    what = "changed meanwhile" if os.path.lexists(path) else "is gone"
    return ConflictError(f"{path} {what}.", LOOK_AGAIN)


def is_digest(value: object) -> bool:
    """Return whether a value is a hash by which the journal names contents."""
    return isinstance(value, str) and len(value) == 64 and not value.strip("0123456789abcdef")


def is_digest_or_none(value: object) -> bool:
    """Return whether a value is such a hash, or None for no content."""
    return value is None or is_digest(value)
