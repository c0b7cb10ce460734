"""The parts of a detail, which `cli/output.py` and `tui/widgets/prose.py` draw."""

from typing import NamedTuple

from memtui.views import safe_text

HEADING = "bold"


class Words(NamedTuple):
    """Text of one or more lines, and its style; it ends its line only where it has a line break."""

    text: str
    style: str = ""


class TextDifference(NamedTuple):
    """Two texts, whose lines that differ are drawn; None is a file that is not there."""

    before: bytes | None
    after: bytes | None

    @property
    def lines(self) -> list[str]:
        """A unified diff without its head, with one line of context."""
        import difflib

        old, new = [(data or b"").decode("utf-8", "replace").splitlines() for data in self]
        return list(difflib.unified_diff(old, new, n=1, lineterm=""))[2:]


class File(NamedTuple):
    """A text that a person has to see whole, and the path where it is, should it be too long for a screen."""

    text: str
    path: str
    style: str = ""


class Remedy(NamedTuple):
    """What to do about a problem; the command line never breaks a command in it."""

    text: str


Part = Words | TextDifference | File | Remedy


def line(text: str, style: str = "", most: int = 300) -> Words:
    """Return text of others as a line of its own, made safe and cut; nothing where there is no text."""
    return Words(f"{safe_text.line(text, most)}\n" if text else "", style)


def heading(words: str) -> Words:
    return Words(f"\n{words}\n", HEADING)
