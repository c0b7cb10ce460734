"""The text of a pending update: what it says, and at its end the lines of evidence, which show where it comes from."""

from collections.abc import Sequence

from memtui.core.inbox.format import EVIDENCE

# What is quoted in the text itself gets a backslash, so that it is no evidence.
QUOTE = "> "


def join(text: str, evidence: Sequence[str]) -> str:
    """The whole text of an entry."""
    lines = ["\\" + line if line.lstrip("\\").startswith(QUOTE) else line for line in text.split("\n")]
    return "\n".join([*lines, "", *evidence] if evidence else lines)


def split(whole: str) -> tuple[str, list[str]]:
    """The inverse of `join`; blank lines around the text go."""
    lines = whole.rstrip().split("\n")
    end = len(lines)
    while end and lines[end - 1].startswith(EVIDENCE):
        end -= 1
    text = [line[1:] if line.startswith("\\") and line.lstrip("\\").startswith(QUOTE) else line for line in lines[:end]]
    return "\n".join(text).strip(), lines[end:]
