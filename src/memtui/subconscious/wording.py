"""Texts of others and of the model, on one line."""

from memtui.core.base import visible
from memtui.core.redaction.redact import redact


def line(text: object) -> str:
    """Return a text on one line, without secrets: their lines tell some of them apart."""
    return visible.one_line(redact(visible.clean(str(text)))[0])


def cut(text: object, most: int) -> str:
    """Return a text on one line of at most `most` characters; a longer one ends with an ellipsis."""
    found = line(text)
    return found if len(found) <= most else found[: most - 1].rstrip() + "…"
