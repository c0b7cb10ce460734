"""Mending of what the doctor finds in memtui's own files, where nobody's decision is needed."""

import os

from memtui.core import clock, doctor
from memtui.core.errors import MemtuiError


def set_errors_aside(root: str, now: float) -> str | None:
    """Give the log of errors another name, so that the next error begins a new one; the name. None if there is none.

    Nothing that was set aside before is overwritten. Raises MemtuiError.
    """
    log = root + "/log"
    source = f"{log}/errors.jsonl"
    day = clock.iso_seconds(now)[:10]
    number = 1
    while True:
        path = f"{log}/errors-{day}{'' if number == 1 else f'-{number}'}.jsonl"
        if os.path.lexists(path):
            number += 1
            continue
        try:
            # A hook that writes at this moment writes into the same file under either name.
            os.rename(source, path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise MemtuiError(f"{source} can't be set aside: {error.strerror}.", "Check owner and mode.") from error
        return path


def close(root: str) -> list[str]:
    """Make memtui's files readable and writable for their owner, and for nobody else; those that were not. Raises
    MemtuiError."""
    done = []
    for path, mode in doctor.modes(root):
        wanted = mode & 0o700 | (0o700 if os.path.isdir(path) else 0o600)
        if wanted != mode:
            try:
                os.chmod(path, wanted)
            except OSError as error:
                hint = f'Make it yours again: sudo chown "$USER" {path}'
                raise MemtuiError(f"{path} can't be closed: {error.strerror}.", hint) from error
            done.append(path)
    return done
