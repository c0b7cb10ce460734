"""A change that says itself how it is made, and how far it came."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# Keeps a content, and gives its hash.
Keep = Callable[[bytes], str]


@dataclass(frozen=True)
class Step(ABC):
    """What becomes of the file, or directory, at `path`."""

    path: str

    @abstractmethod
    def inverse(self) -> "Step":
        """What takes it back."""

    @abstractmethod
    def check(self) -> None:
        """Raise ConflictError if things are not as it expects them, OSError."""

    @abstractmethod
    def make(self) -> None:
        """Do it. Raises as `check`."""

    @abstractmethod
    def state(self) -> str:
        """`made`, `open`, or `foreign` if things are neither as before nor as after it. Raises OSError."""

    @abstractmethod
    def row(self, keep: Keep) -> dict[str, Any]:
        """What the journal's record says of it besides the path."""
