"""Errors that tell a person what can't be done, and what to do."""

EXIT_FAILED, EXIT_USAGE, EXIT_NOT_FOUND, EXIT_CONFLICT, EXIT_FINDINGS = 1, 2, 3, 4, 5


class MemtuiError(Exception):
    """`message` says what happened, `hint` what to do; `exit_code` is the command line's."""

    exit_code = EXIT_FAILED

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(MemtuiError):
    """What was asked for is not valid: too long, empty, of an unknown kind."""

    exit_code = EXIT_USAGE


class NotFoundError(MemtuiError):
    """There is no such memory, entry, scope or delivery."""

    exit_code = EXIT_NOT_FOUND


class ConflictError(MemtuiError):
    """A file changed since it was read, or the name is taken: nothing was written."""

    exit_code = EXIT_CONFLICT
