"""Apply the accepted proposals of a ChangeSet as one step of the journal: a crash leaves all of it done or nothing, and
one undo takes it back.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from memtui.consolidate.changeset import ChangeSet, Proposal, is_archived, is_index, title
from memtui.consolidate.composing import Composition, FileDiff, Refused
from memtui.consolidate.files import MemoryFiles
from memtui.core.base.errors import ConflictError
from memtui.core.base.phrasing import many
from memtui.core.journal.changes import Change, FileChange
from memtui.core.journal.text_edit import text_edits
from memtui.core.memories import apart, beside, references
from memtui.core.memories.store import Store

# Times that a plan is composed again because a file changed between reading and writing.
TRIES = 3
OP = "consolidate"
# The verb of a proposal of each kind, for one and counted for several.
DONE = {
    "merge": "merged",
    "rewrite": "rewritten",
    "retype": "retyped",
    "move": "moved",
    "archive": "archived",
    "delete": "removed",
    "relink": "fixed",
    "rule": "added to instructions",
}


class Applied(NamedTuple):
    """What became of the accepted proposals: those `made`, those `refused`, the files that changed, and the journal's
    id of the step, empty if nothing was made."""

    made: tuple[Proposal, ...]
    refused: tuple[Refused, ...]
    diffs: tuple[FileDiff, ...]
    transaction: str


def preview(store: Store, proposals: Sequence[Proposal], files: MemoryFiles | None = None) -> Composition:
    """Return what proposals would make of the files, whether they are accepted or not. `files`: read already."""
    return Composition(files or MemoryFiles(store), proposals)


def apply(store: Store, found: ChangeSet, only: Collection[str] | None = None) -> Applied:
    """Make the accepted proposals, or those of them with the ids `only`. One that can't be made is refused, and the
    others are made. Raises MemtuiError if a file can't be written; then nothing is changed."""
    wanted = [each for each in found.accepted if only is None or each.id in only]
    for left in reversed(range(TRIES)):
        composition = preview(store, wanted)
        if not composition.made:
            return Applied((), tuple(composition.refused), (), "")
        changes = _changes(composition)
        if not changes:
            return Applied(tuple(composition.made), tuple(composition.refused), (), "")
        became = {gone: each.successor for each in composition.made for gone in each.gone if each.successor}
        try:
            transaction = store.journal.run(OP, changes, _summary(composition.made), became=became)
        except ConflictError:  # a file changed since it was read a moment ago: now its proposal is stale
            if not left:
                raise
            continue
        return Applied(tuple(composition.made), tuple(composition.refused), tuple(composition.diffs()), transaction)
    raise AssertionError  # not reached: the last try returns or raises


def _changes(composition: Composition) -> list[Change]:
    """Return the changes of files: trust, what is new, what changes, what goes."""
    diffs = composition.diffs()
    store = composition.files.store
    contents: dict[str, list[tuple[str, bytes]]] = {}
    groups: list[list[Change]] = [[], [], []]
    for each in diffs:
        scope, file = composition.place(each.path)
        path = references.real_path(scope, each.path)
        if is_index(each.path) and each.before != b"":  # an empty one would be gone after an undo of lines
            mode = None if each.before else references.file_mode(scope)
            groups[1] += text_edits(path, each.before or b"", each.after or b"", mode)
            continue
        if scope.kind == "instructions" and each.before:
            groups[1] += text_edits(path, each.before, each.after or b"")
            continue
        if each.after is not None and composition.trusted(scope, each.path) and not is_archived(each.path):
            contents.setdefault(scope.label, []).append((file, each.after))
        if each.before is None:
            groups[0].append(FileChange(path, None, each.after, references.file_mode(scope)))
        elif each.after is None:
            groups[2].append(FileChange(path, each.before, None))
        elif each.repaired and each.before:
            groups[1] += text_edits(path, each.before, each.after)
        else:
            groups[1].append(FileChange(path, each.before, each.after))
    moved = {gone: each.successor for each in composition.made if each.kind == "move" for gone in each.gone}
    groups[1] += apart.moved_edits(store.root, {old: new for old, new in moved.items() if new is not None})
    groups[1] += beside.moved_edits(store.root, _became(composition))
    trusted = [change for label, found in contents.items() for change in store.trust_changes(store.scope(label), found)]
    return [*trusted, *(change for group in groups for change in group)]


def _became(composition: Composition) -> dict[beside.Place, list[beside.Place]]:
    """Map each memory that goes to the one that has from now on what is kept beside it: the one that it is merged into
    or moved to, none if it is deleted."""
    found: dict[beside.Place, list[beside.Place]] = {}
    for each in composition.made:
        written = [output.path for output in each.written if not is_index(output.path)]
        written = [] if each.kind == "delete" else written[:1]
        for path in each.gone:
            old, news = composition.place(path), [composition.place(new) for new in written]
            found[old.scope.directory, old.file] = [(new.scope.directory, new.file) for new in news]
    return found


def _summary(made: Sequence[Proposal]) -> str:
    """Return a line for the list of changes, in the words of the screens and of `memtui consolidate`:
    `merge pnpm-only into prefer-pnpm`, `consolidate 4 changes: 3 merged, 1 archived`."""
    if len(made) == 1:
        return title(made[0])
    counts = {kind: sum(each.kind == kind for each in made) for kind in DONE}
    told = ", ".join(f"{count} {DONE[kind]}" for kind, count in counts.items() if count)
    return f"{OP} {many(len(made), 'change')}: {told}"
