"""Mending of what the doctor finds in memtui's own files, where nobody's decision is needed; each a step of undo."""

import os

from memtui.core.base import clock
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import many
from memtui.core.health import doctor
from memtui.core.journal.changes.mode_edit import ModeEdit
from memtui.core.journal.changes.renaming import Renaming
from memtui.core.journal.journal import Journal


def set_errors_aside(journal: Journal) -> str | None:
    """Give the log of errors another name, so that the next error begins a new one; the name. None if there is none.

    Nothing that was set aside before is overwritten. Raises MemtuiError.
    """
    log = journal.root + "/log"
    source = f"{log}/errors.jsonl"
    file = Renaming.number(source)
    if file is None:
        return None
    day = clock.iso_seconds(journal.now())[:10]
    number = 1
    while os.path.lexists(path := f"{log}/errors-{day}{'' if number == 1 else f'-{number}'}.jsonl"):
        number += 1
    # A hook that writes at this moment writes into the same file under either name.
    journal.run("errors", [Renaming(source, path, file)], f"set the errors aside, in {os.path.basename(path)}")
    return path


def close(journal: Journal) -> tuple[list[str], bool]:
    """Make memtui's files readable and writable for their owner, and for nobody else; those that were not, and whether
    there is something to undo. Raises MemtuiError.

    An undo opens them to others again, but never takes them from their owner: nothing could be undone then.
    """
    opened = [path for path, mode in doctor.modes(journal.root) if _wanted(path, mode) & ~mode and _open(path, mode)]
    shut = [ModeEdit(path, mode, _wanted(path, mode)) for path, mode in doctor.modes(journal.root)]
    shut = [each for each in shut if each.before != each.after]
    if shut:
        what = many(len(shut), "file or directory", "files and directories")
        journal.run("close", shut, f"make {what} of memtui's yours alone")
    return list(dict.fromkeys([*opened, *(each.path for each in shut)])), bool(shut)


def _wanted(path: str, mode: int) -> int:
    return mode & 0o700 | (0o700 if os.path.isdir(path) else 0o600)


def _open(path: str, mode: int) -> bool:
    """Let the owner read and write it."""
    try:
        os.chmod(path, mode | _wanted(path, mode))
    except OSError as error:
        hint = f'Make it yours again: sudo chown "$USER" {path}'
        raise MemtuiError(f"{path} can't be closed: {error.strerror}.", hint) from error
    return True
