"""What one proposal is worth, and what it costs: the files that it changes, what that saves, and what it drops."""

from collections.abc import Iterable
from typing import NamedTuple

from memtui.consolidate import coverage
from memtui.consolidate.changeset import Proposal
from memtui.consolidate.composing import Composition, FileDiff, Refused, Savings, savings
from memtui.consolidate.coverage import Coverage
from memtui.consolidate.files import MemoryFiles
from memtui.consolidate.plan import is_safe


class Weighed(NamedTuple):
    """A proposal with the files that it changes, what that saves, what becomes of the statements (None where there is
    nothing to compare), why it can't be made (None if it can), and whether it is `safe`: nobody needs to decide."""

    proposal: Proposal
    diffs: tuple[FileDiff, ...]
    savings: Savings
    coverage: Coverage | None
    refused: Refused | None
    safe: bool


def weigh(files: MemoryFiles, proposal: Proposal) -> Weighed:
    """Weigh a proposal by itself, against the files as they were read."""
    composed = Composition(files, [proposal])
    refused = composed.refused[0] if composed.refused else None
    diffs = tuple(composed.diffs()) if refused is None else ()
    covered = coverage.of_proposal(proposal)
    safe = refused is None and is_safe(proposal) and not (covered is not None and covered.dropped)
    return Weighed(proposal, diffs, savings(diffs), covered, refused, safe)


def total(found: Iterable[Savings]) -> Savings:
    """Add savings up."""
    columns = list(zip(*found, strict=True))
    return Savings(*map(sum, columns)) if columns else Savings(0, 0, 0, 0)
