"""Words for an error of the operating system about a file."""

from memtui.core.base.errors import MemtuiError


def file_error(error: OSError) -> MemtuiError:
    """Return the error to show: which file, what the system says, and what to do."""
    return MemtuiError(f"{error.filename or 'A file'}: {error.strerror or error}", "Fix that and try again.")
