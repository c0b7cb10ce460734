"""The text of a pending update: what it says, followed by lines of evidence, which quote where it comes from."""

from collections.abc import Sequence

from memtui.inbox.format import EVIDENCE

# How a quote begins. One in the text itself gets a backslash, so that it is not taken for evidence.
QUOTE = "> "


def join(text: str, evidence: Sequence[str]) -> str:
    """Return the whole text of an entry."""
    lines = ["\\" + line if line.lstrip("\\").startswith(QUOTE) else line for line in text.split("\n")]
    return "\n".join([*lines, "", *evidence] if evidence else lines)


def split(whole: str) -> tuple[str, list[str]]:
    """Split an entry's text into what it says and its evidence, without blank lines around. The inverse of `join`."""
    lines = whole.rstrip().split("\n")
    end = len(lines)
    while end and lines[end - 1].startswith(EVIDENCE):
        end -= 1
    text = [line[1:] if line.startswith("\\") and line.lstrip("\\").startswith(QUOTE) else line for line in lines[:end]]
    return "\n".join(text).strip(), lines[end:]
