"""What to say of a text that looks as if it held a secret, before it is kept."""

from memtui.core.redaction import redact


def suspicion(kinds: list[str], what: str = "This") -> str:
    """What a text seems to hold: `This looks like it holds a password`."""
    return f"{what} looks like it holds {redact.described(kinds)}"


def question(kinds: list[str]) -> str:
    """What to say before asking what shall become of it."""
    return f"{suspicion(kinds)}. Sessions would be told it, and logs would keep it."
