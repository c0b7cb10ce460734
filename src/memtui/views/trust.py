"""A memory that a person is asked to trust."""

from memtui.redact import redact
from memtui.views import safe_text, secret
from memtui.views.colours import QUIET, WARNING
from memtui.views.parts import File, Part, TextDifference, Words, line

SIDES = ("the trusted text", "the text now")


def describe(name: str, content: bytes, before: bytes | None) -> list[Part]:
    """Return a memory as sessions get it once it is trusted; of one that was trusted (`before`) what changed."""
    text = content.decode("utf-8", "replace")
    parts: list[Part] = [Words("\n"), File(text.rstrip("\n"), name)]
    if before is not None and before != content:
        parts = [Words("  changed since it was trusted\n", QUIET), TextDifference(before, content, SIDES)]
    kinds = redact.kinds_in(text)
    warning = f"! {secret.suspicion(kinds)}: sessions read it once it is trusted." if kinds else ""
    return [Words(safe_text.line(name, 200), "bold"), *parts, line(warning, WARNING)]
