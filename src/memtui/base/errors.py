"""Errors that tell a person what can't be done and what to do about it; the exit codes of the command line."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

EXIT_FAILED, EXIT_USAGE, EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_FINDINGS = 1, 2, 3, 4, 5


class MemtuiError(Exception):
    """An error for a person: `message` says what happened, `hint` what to do."""

    exit_code = EXIT_FAILED

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


class UsageError(MemtuiError):
    """An argument or value is not valid: too long, empty, of an unknown kind."""

    exit_code = EXIT_USAGE


class NotFoundError(MemtuiError):
    """There is no such memory, entry, scope or delivery."""

    exit_code = EXIT_NOT_FOUND


class ConflictError(MemtuiError):
    """A file changed since it was read, or a name is in use already: nothing was written."""

    exit_code = EXIT_CONFLICT


def close_to(word: str, choices: "Iterable[str]", most: int = 1) -> "list[str]":
    """List what a mistyped word may have meant: the choices that have at least 60% of its letters, closest first."""
    from rapidfuzz import fuzz, process

    return [choice for choice, *_ in process.extract(word, [*choices], scorer=fuzz.ratio, limit=most, score_cutoff=60)]
