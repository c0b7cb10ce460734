"""The fixes of findings, each one step of undo: of AT_ONCE without asking, of DECIDED only by name."""

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from memtui.base import clock
from memtui.base.errors import MemtuiError
from memtui.base.phrasing import many, some
from memtui.base.shell import shell_word
from memtui.base.storage import read_or_none, storage_error
from memtui.inbox import reconciliation
from memtui.store.frontmatter import conflict_markers, document
from memtui.store.journal.changes import FileChange, ModeEdit
from memtui.store.plan import Plan
from memtui.store.store import Store
from memtui.tidy.checks import adoption, doctor, retention

# How long to wait for the lock: a worker that holds it may be rewriting a month of a gigabyte.
WAIT_SECONDS = 10.0
AT_ONCE = ("files", "errors", "notes")
DECIDED = ("projects",)


class FixOutcome(NamedTuple):
    """The outcome of a fix: what `changed` (paths, claims or ids of notes), and whether that can be undone."""

    fix: str
    changed: list[object]
    undoable: bool = True


def fix(store: Store, what: str, subjects: Sequence[str] = ()) -> FixOutcome:
    """Make the fix with the id `what`, for the `subjects` of some findings or for all. Raises MemtuiError, OSError."""
    return _FIXES[what](store, subjects)


def _errors(store: Store, _: Sequence[str]) -> FixOutcome:
    """Give the log of errors another name, so that the next error begins a new one. No file is overwritten."""
    log = store.root + "/log"
    source = f"{log}/errors.jsonl"
    data = read_or_none(source)
    if data is None:
        return FixOutcome("errors", [])
    day = clock.iso_seconds(store.journal.now())[:10]
    number = 1
    while os.path.lexists(path := f"{log}/errors-{day}{'' if number == 1 else f'-{number}'}.jsonl"):
        number += 1
    changes = [FileChange(path, None, data), FileChange(source, data, None)]
    store.journal.run("errors", changes, f"set the errors aside, in {os.path.basename(path)}")
    return FixOutcome("errors", [path])


def _files(store: Store, _: Sequence[str]) -> FixOutcome:
    """Make memtui's files private to their owner. Undo opens them to others, but never shuts out the owner."""
    opened = []
    for path, mode, _size in doctor.modes(store.root):
        if _wanted(path, mode) & ~mode:
            try:
                os.chmod(path, mode | _wanted(path, mode))
            except OSError as error:
                hint = f'Make it yours again: sudo chown "$USER" {shell_word(path)}'
                raise MemtuiError(f"{path} can't be closed: {error.strerror}.", hint) from error
            opened.append(path)
    shut = [ModeEdit(path, mode, _wanted(path, mode)) for path, mode, _size in doctor.modes(store.root)]
    shut = [mode_edit for mode_edit in shut if mode_edit.before != mode_edit.after]
    if shut:
        what = many(len(shut), "file or directory", "files and directories")
        store.journal.run("close", shut, f"make {what} of memtui's private to you")
    return FixOutcome("files", list(dict.fromkeys([*opened, *(mode_edit.path for mode_edit in shut)])), bool(shut))


def _wanted(path: str, mode: int) -> int:
    return mode & 0o700 | (0o700 if os.path.isdir(path) else 0o600)


def resolve(store: Store, subjects: Sequence[str], side: str) -> FixOutcome:
    """Resolve git's conflict markers in what findings are about, by one side, as one step. Raises MemtuiError."""
    plan = Plan(store.files())
    for subject in subjects:
        kind, _, name = subject.partition(":")
        path = store.scope(name).index_path if kind == "index" else name
        data = plan.files.data(path) or b""
        if side == "both" and 0 < conflict_markers.first(data) <= document.parse(data).lines_above:
            raise MemtuiError(f"The two versions of {name} differ in its frontmatter.", "Keep one of them, or edit it.")
        plan.write(path, conflict_markers.resolved(data, side), trusted=plan.files.is_trusted(path))
    changed = [*plan.after]
    plan.apply(store.journal, "edit", f"resolve {some([*map(os.path.basename, changed)])} ({side})")
    return FixOutcome("conflict", [*changed])


def collect(store: Store) -> retention.Due:
    """Remove for good what is kept long enough. Raises MemtuiError."""
    try:
        return retention.collect(store.root, store.journal.now(), wait=WAIT_SECONDS)
    except OSError as error:
        raise storage_error(error, str(error.filename or store.root)) from error


_FIXES: dict[str, Callable[[Store, Sequence[str]], FixOutcome]] = {
    "files": _files,
    "errors": _errors,
    # every claim whose transcript shows what became of it
    "notes": lambda store, _: FixOutcome(
        "notes", [*reconciliation.reconcile(store.env, store.root, now=store.journal.now())], undoable=False
    ),
    "projects": lambda store, subjects: FixOutcome("projects", adoption.adopt(store, subjects)),
}
