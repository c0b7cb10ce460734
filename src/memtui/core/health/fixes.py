"""Fixes: what is done about a finding, once a person wants it. Each that changes a file is one step of undo.

The fixes of AT_ONCE need nobody's decision: `memtui doctor --fix` makes them all. The others ask: a door shows what
would become of it first. `install`, `trust` and `config` belong to the doors, which show a diff or open an editor.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from memtui.core.base import clock, paths
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import many
from memtui.core.base.storage import storage_error
from memtui.core.health import file_checks, index_report, retention
from memtui.core.health.index_report import Report
from memtui.core.inbox import reconcile
from memtui.core.journal.changes.mode_edit import ModeEdit
from memtui.core.journal.changes.renaming import Renaming
from memtui.core.memories.store import Store
from memtui.core.review.entries import Review
from memtui.core.review.waiting import Waiting, find, waiting_in

# A worker has no hurry; a person waits for a month of a gigabyte to be written anew.
WAIT_SECONDS = 10.0
AT_ONCE = ("files", "errors", "guidance", "index")


class Outcome(NamedTuple):
    """What a fix did. `changed`: paths, the claims that were settled, the reports of indexes that were fixed, or the
    id of a note; `undoable`: whether it is a step of undo."""

    fix: str
    changed: list[object]
    undoable: bool = True
    facts: retention.Due | None = None


def fix(store: Store, what: str, subject: str = "") -> Outcome:
    """Make a fix by its id, for the `subject` of a finding, or for all. Raises MemtuiError, OSError."""
    return _FIXES[what](store, subject)


def fixable(store: Store, subject: str = "") -> list[Report]:
    """List the indexes that the fix `index` would write, of all scopes or of a finding's."""
    every = index_report.reports(store.root, store.scopes())
    return [each for each in every if each.fixable and subject in {"", f"index:{each.scope.label}"}]


def note(root: str, subject: str) -> Waiting:
    """Find the guidance that a finding is about, of any project. Raises NotFoundError."""
    items = waiting_in(root, [None, *paths.inbox_slugs(root)], ("guidance",))
    return find(items, subject.partition(":")[2], "guidance")


def _errors(store: Store, _: str) -> Outcome:
    """Give the log of errors another name, so that the next error begins a new one. Nothing that was set aside before
    is overwritten."""
    log = store.root + "/log"
    source = f"{log}/errors.jsonl"
    file = Renaming.number(source)
    if file is None:
        return Outcome("errors", [])
    day = clock.iso_seconds(store.journal.now())[:10]
    number = 1
    while os.path.lexists(path := f"{log}/errors-{day}{'' if number == 1 else f'-{number}'}.jsonl"):
        number += 1
    # A hook that writes at this moment writes into the same file under either name.
    store.journal.run("errors", [Renaming(source, path, file)], f"set the errors aside, in {os.path.basename(path)}")
    return Outcome("errors", [path])


def _files(store: Store, _: str) -> Outcome:
    """Make memtui's files readable and writable for their owner, and for nobody else.

    An undo opens them to others again, but never takes them from their owner: nothing could be undone then.
    """
    opened = []
    for path, mode in file_checks.modes(store.root):
        if _wanted(path, mode) & ~mode:
            _open(path, mode)
            opened.append(path)
    shut = [ModeEdit(path, mode, _wanted(path, mode)) for path, mode in file_checks.modes(store.root)]
    shut = [each for each in shut if each.before != each.after]
    if shut:
        what = many(len(shut), "file or directory", "files and directories")
        store.journal.run("close", shut, f"make {what} of memtui's yours alone")
    return Outcome("files", list(dict.fromkeys([*opened, *(each.path for each in shut)])), bool(shut))


def _wanted(path: str, mode: int) -> int:
    return mode & 0o700 | (0o700 if os.path.isdir(path) else 0o600)


def _open(path: str, mode: int) -> None:
    """Let the owner read and write it."""
    try:
        os.chmod(path, mode | _wanted(path, mode))
    except OSError as error:
        hint = f'Make it yours again: sudo chown "$USER" {path}'
        raise MemtuiError(f"{path} can't be closed: {error.strerror}.", hint) from error


def _guidance(store: Store, _: str) -> Outcome:
    """Settle every claim that the transcripts tell about."""
    return Outcome("guidance", [*reconcile.reconcile(store.env, store.root, now=store.journal.now())], undoable=False)


def index(store: Store, shown: list[Report]) -> Outcome:
    """Add lines that are missing, and remove those that point nowhere, in the indexes that a person saw. Raises
    MemtuiError."""
    return Outcome("index", [*index_report.fix(store, shown)])


def _again(store: Store, subject: str) -> Outcome:
    """Leave guidance anew that expired or came back too often."""
    return Outcome("again", [_review(store).again(note(store.root, subject))[0]])


def _withdraw(store: Store, subject: str) -> Outcome:
    """Take guidance back that no session gets."""
    item = note(store.root, subject)
    _review(store).withdraw([item])
    return Outcome("withdraw", [item.id])


def _review(store: Store) -> Review:
    return Review(store.root, by=store.journal.by, now=store.journal.now)


def due(store: Store) -> retention.Due:
    """List what is kept no longer, and `collect` would remove. Raises MemtuiError."""
    with _told(store):
        return retention.due(store.root, store.journal.now())


def collect(store: Store) -> retention.Due:
    """Remove for good what is kept no longer. Raises MemtuiError."""
    with _told(store):
        return retention.collect(store.root, store.journal.now(), wait=WAIT_SECONDS)


@contextmanager
def _told(store: Store) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise storage_error(error, str(error.filename or store.root)) from error


_FIXES: dict[str, Callable[[Store, str], Outcome]] = {
    "files": _files,
    "errors": _errors,
    "guidance": _guidance,
    "index": lambda store, subject: index(store, fixable(store, subject)),
    "again": _again,
    "withdraw": _withdraw,
    "collect": lambda store, _: Outcome("collect", [], undoable=False, facts=collect(store)),
}
