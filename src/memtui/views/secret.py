"""Words for a text that seems to hold a secret, before it is kept."""

from memtui.redact import redact


def suspicion(kinds: list[str], what: str = "This") -> str:
    """Name what a text seems to hold: `This looks like it holds a password`."""
    return f"{what} looks like it holds {redact.described(kinds)}"


def question(kinds: list[str]) -> str:
    """Return the sentences before a person is asked what to do with it."""
    return f"{suspicion(kinds)}. It would be sent to sessions and kept in logs."
