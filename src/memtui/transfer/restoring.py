"""Bring the memories of an archive of memtui back byte for byte, with the index and what was beside them.

Only files that are not there are written: one that is there with other content stays as it is, and is reported.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from memtui.core.base import fs
from memtui.core.base.errors import ConflictError, MemtuiError, UsageError
from memtui.core.base.phrasing import many
from memtui.core.base.storage import read_or_none, storage_error
from memtui.core.journal.changes import beside_edit
from memtui.core.journal.changes.beside_edit import BesideRow
from memtui.core.journal.changes.change import Change
from memtui.core.journal.changes.file_change import FileChange
from memtui.core.memories import beside, memory, references
from memtui.core.memories.scopes import Scope
from memtui.core.memories.store import Store
from memtui.core.places import locate
from memtui.transfer import archive
from memtui.transfer.archive import Archive, ArchivedScope
from memtui.transfer.incoming import LeftOut
from memtui.transfer.placing import Places

CHOOSE = "If it is this one: --only {} --scope {}."


@dataclass
class RestorePlan:
    """What a restore would do, each as `scope:path`: files it writes, those that are the same already, those that are
    there with other content and stay; `skipped`: what can't be restored."""

    new: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    skipped: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list, repr=False)

    def add(self, part: "RestorePlan") -> None:
        """Add what a part of the archive would do."""
        for name in ("new", "same", "conflicts", "skipped", "notes", "changes"):
            getattr(self, name).extend(getattr(part, name))

    def write(self, store: Store, source: str) -> str:
        """Write the files as one step of undo, and return the transaction's id; '' if there is nothing to write.
        `source` names the archive in the list of changes. Raises MemtuiError."""
        if not self.changes:
            return ""
        words = f"restore {many(len(self.new), 'file')} from {source}"
        return store.journal.run("import", self.changes, words)


def plan(store: Store, given: Archive, *, scope: str = "", only: Sequence[str] = ()) -> RestorePlan:
    """Plan to restore an archive, or the scopes of it in `only`; `scope`: the label of another scope for a single one.
    What has no place here, or can't be written, is left out and named. Raises UsageError, NotFoundError for an unknown
    scope, MemtuiError for a `scope` that can't be written to."""
    wanted = archive.only(given, only).scopes
    if scope and len(wanted) > 1:
        labels = ", ".join(each.label for each in wanted)
        hint = "Choose one with --only, or leave out --scope, and each goes into its own."
        raise UsageError(f"The archive has several scopes: {labels}.", hint)
    made = RestorePlan(skipped=list(given.skipped))
    for each, target in _placed(store, wanted, scope, made):
        part = RestorePlan()
        try:
            references.writable(target)
            part.changes = list(_changes(store, each, target, part))
        except MemtuiError as error:
            if scope:
                raise
            made.skipped.append(_left_out(each, error))
            continue
        made.add(part)
    return made


def _placed(
    store: Store, wanted: Sequence[ArchivedScope], scope: str, made: RestorePlan
) -> list[tuple[ArchivedScope, Scope]]:
    """Return where scopes go. Of several that would go into one, only one that is surely meant does."""
    if scope:
        return [(each, store.scope(scope)) for each in wanted]
    places = Places(store)
    found: dict[str, list[tuple[ArchivedScope, Scope, int]]] = {}
    for each in wanted:
        try:
            target, sure = places.here(each.label, each.project)
        except MemtuiError as error:
            made.skipped.append(_left_out(each, error))
            continue
        found.setdefault(os.path.realpath(target.directory), []).append((each, target, sure))
    placed = []
    for rivals in found.values():
        surest = max(sure for _, _, sure in rivals)
        meant = [(each, target) for each, target, sure in rivals if sure == surest]
        if len(meant) == 1:
            placed += meant
        for each, target, _ in rivals:
            if (each, target) not in placed:
                told = f"Others in the archive could be meant for {target.shown} as well."
                made.skipped.append(_left_out(each, ConflictError(told, CHOOSE.format(each.label, target.shown))))
    return placed


def _left_out(each: ArchivedScope, error: MemtuiError) -> LeftOut:
    return LeftOut(each.label, f"can't be restored here: {error.message} {error.hint}".strip())


def _changes(store: Store, given: ArchivedScope, target: Scope, made: RestorePlan) -> Iterator[Change]:
    new: list[tuple[str, bytes]] = []
    for name in given.memories:
        state = _state(target, name, given.files[name], made)
        if state == "new":
            new.append((name, given.files[name]))
        if state in {"new", "same"}:
            rows = given.rows
            for kind in beside.KINDS:
                known = beside.rows(store.root, kind, target.directory).get(name, [])
                after = _with(known, rows.get(kind, {}).get(name, []))
                yield from beside.edit(store.root, kind, target.directory, name, after)
    yield from store.trust_changes(target, new)
    mode = references.file_mode(target)
    for name, data in new:
        time = given.modified.get(name)
        times = (None, None if time is None else round(time * 1e9))
        yield FileChange(references.real_path(target, f"{target.directory}/{name}"), None, data, mode, times)
    yield from _index(store, given, target, made, new)


def _with(known: list[BesideRow], more: list[BesideRow]) -> list[BesideRow]:
    texts = {beside_edit.text_of(row).casefold() for row in known}
    return known + [row for row in more if beside_edit.text_of(row).casefold() not in texts]


def _state(target: Scope, name: str, data: bytes, made: RestorePlan) -> str:
    """Tell whether a file is new, the same or a conflict here, and count it."""
    path = f"{target.directory}/{name}"
    try:
        there = read_or_none(references.real_path(target, path))
    except OSError as error:
        raise storage_error(error, path) from error
    if there is None and fs.stamp(path):
        raise ConflictError(f"{path} is no file.", "Move it away, and try again.")
    state = "new" if there is None else "same" if there == data else "conflict"
    {"new": made.new, "same": made.same, "conflict": made.conflicts}[state].append(f"{target.label}:{name}")
    return state


def _index(
    store: Store, given: ArchivedScope, target: Scope, made: RestorePlan, new: list[tuple[str, bytes]]
) -> Iterator[Change]:
    """Restore the index, or where there is another one, give the new memories a line in it."""
    data = given.files.get(locate.INDEX_NAME)
    there = read_or_none(references.real_path(target, target.index_path))
    if data is not None and (there is None or there == data):
        _state(target, locate.INDEX_NAME, data, made)
        if there is None:
            path = references.real_path(target, target.index_path)
            time = given.modified.get(locate.INDEX_NAME)
            times = (None, None if time is None else round(time * 1e9))
            yield FileChange(path, None, data, references.file_mode(target), times)
        return
    if there is None or not new:
        return
    made.notes.append(f"{target.label}:{locate.INDEX_NAME} stays; the new memories get a line in it.")

    def lines(index: bytes) -> bytes:
        for name, content in new:
            each = memory.from_bytes(name, target.label, content)
            index = references.with_line(store.root, target, index, name, each.name, each.description, each.type)
        return index

    yield from references.index_edits(target, lines)
