"""Undo changes of blocks one by one, or all that one run made, under whatever was changed later."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from memtui.core.base.errors import MemtuiError
from memtui.core.journal.journal import Journal
from memtui.subconscious.block_versions import SUBCONSCIOUS, BlockVersion, VersionLog
from memtui.subconscious.blocks import Blocks


@dataclass(frozen=True)
class UndoneChange:
    """The outcome of undoing what a version changed: whether it was `done`; if not, the `error`, or None if nothing of
    the change was left."""

    version: BlockVersion
    done: bool
    error: MemtuiError | None = None


def of_run(root: str, run: str) -> list[BlockVersion]:
    """Return the versions of blocks that a run wrote, newest first."""
    return [each for each in VersionLog(root).read() if each.run == run]


def each(root: str, versions: Iterable[BlockVersion], journal: Journal, now: Callable[[], float]) -> list[UndoneChange]:
    """Undo what versions changed, given newest first, as one step of undo. One that can't be undone does not keep the
    others."""
    found = []
    with journal.together():
        for version in versions:
            try:
                done = Blocks(root, version.project, now).undo(version.block, version, journal)
                found.append(UndoneChange(version, done))
            except MemtuiError as error:
                found.append(UndoneChange(version, False, error))
    return found


def last(blocks: Blocks, versions: Iterable[BlockVersion], journal: Journal) -> UndoneChange | None:
    """Undo the last change by the subconscious of which something is left; None if there is none. `versions`: of one
    block, newest first. Raises NotFoundError, OverlapError, MemtuiError."""
    for version in versions:
        if version.by == SUBCONSCIOUS and blocks.undo(version.block, version, journal):
            return UndoneChange(version, True)
    return None
