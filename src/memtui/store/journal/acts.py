"""The words for what a person does, one word an act: keys, the list of changes and the answers of commands say them."""

from memtui.base import word_lists

# What a person does who rejects what others wrote: its operations in the journal are `delete` or `restore`.
REJECTS = "take-back"
# Begins the summary of a rejection for good that follows a rejection.
NEVER = "never"
_TABLES = word_lists.tables(__file__.removesuffix("py") + "txt")


def summary(act: str, what: str) -> str:
    """Return what the list of changes says: the words of an act, or the act itself as a verb, and what it is about."""
    return _TABLES["summaries"].get(act, f"{act} {{}}").replace("{}", what)


def subject(act: str, words: str) -> str:
    before, _, after = summary(act, "\n").partition("\n")
    return words.removeprefix(before).removesuffix(after)


def done(act: str) -> str:
    """Return what is said once it is done: `removed`; empty for an operation that has no word."""
    return _TABLES["done"].get(act, "")
