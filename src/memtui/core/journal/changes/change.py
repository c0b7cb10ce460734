"""The methods of every kind of change: be checked and written as a row of the journal, be made, be taken back, and tell
how far it came. Each kind has a module beside this one; `records.KINDS` lists them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

from memtui.core.base.errors import ConflictError
from memtui.core.base.storage import read_or_none

Row = Mapping[str, Any]
# Whether a change was made; foreign: the file is neither as before nor as after it.
State = Literal["made", "open", "foreign"]
# Gives the kept content of a hash. Raises NotFoundError once it was purged.
ReadContent = Callable[[str], bytes]
LOOK_AGAIN = "Nothing was written. Look at it again, then repeat."


class KeepContent(Protocol):
    """Keeps a content, and gives its hash."""

    def __call__(self, data: bytes, durable: bool = True) -> str: ...


class Files(dict[str, bytes | None]):
    """Paths to contents as the changes before in one operation leave them; None is no file. Raises OSError."""

    def __missing__(self, path: str) -> bytes | None:
        self[path] = found = read_or_none(path)
        return found


@dataclass(frozen=True)
class Change(ABC):
    """A change of the file, or directory, at `path`."""

    # The key that only the rows of this kind have.
    key: ClassVar[str]
    path: str

    def remembering(self) -> "Change":
        """The change with what else of the present file is to come back with an undo: permission bits, its time."""
        return self

    @abstractmethod
    def row(self, files: Files, keep: KeepContent) -> dict[str, Any]:
        """Its row in the journal's record, less the path; the contents that it names are kept, and `files` is brought
        up to date. Raises ConflictError if things are not as it expects them, OSError, MemtuiError."""

    @abstractmethod
    def make(self) -> None:
        """Do it. Raises ConflictError if things are not as it expects them, OSError."""

    @abstractmethod
    def inverse(self) -> "Change":
        """The change that takes it back."""

    @abstractmethod
    def state(self, row: Row, rows: Sequence[Row]) -> State:
        """Whether it was made, by its own row and all of the operation for the same path. Raises OSError."""

    @classmethod
    @abstractmethod
    def from_row(cls, row: Row, read: ReadContent) -> "Change":
        """The change of a row that fits. Raises NotFoundError if a content was purged."""

    @staticmethod
    @abstractmethod
    def fits(row: Row) -> bool:
        """Whether a row with the `key` has the shape that this version writes: nothing else may steer recovery."""


def conflict(path: str, taken: bool = False) -> ConflictError:
    """Somebody else wrote the file meanwhile, or the name is taken."""
    if taken:
        return ConflictError(f"{path} exists already", "Choose another name, or change that memory instead.")
    return ConflictError(f"{path} changed since it was read", LOOK_AGAIN)


def is_digest(value: object) -> bool:
    """Whether it is a hash as the journal names contents."""
    return isinstance(value, str) and len(value) == 64 and not value.strip("0123456789abcdef")


def is_digest_or_none(value: object) -> bool:
    """Whether it is such a hash, or None, which stands for no content."""
    return value is None or is_digest(value)
