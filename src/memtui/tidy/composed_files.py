"""Compose proposals into what they make of the files, and make those that can be made as one step of undo."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, NamedTuple

from memtui.base.errors import ConflictError, MemtuiError
from memtui.base.phrasing import many, some
from memtui.inbox import format as inbox_format
from memtui.store import references
from memtui.store.frontmatter import document
from memtui.store.index import index
from memtui.store.journal import acts
from memtui.store.journal.text_edit import text_edits
from memtui.store.plan import FileDiff, Plan, ScopeFiles, is_archived, is_index
from memtui.store.store import Store
from memtui.tidy import coverage
from memtui.tidy.changeset import Proposal, name, title
from memtui.tidy.coverage import Coverage

# Why a proposal is refused: its files are as it would leave them (made), a file that it read changed since (stale),
# another proposal changes the same lines (overlap), it would spread a memory that came with a repository and that
# nobody trusted (untrusted), or a file can't be written (forbidden).
Reason = Literal["made", "stale", "overlap", "untrusted", "forbidden"]
# Times that proposals are composed again because a file changed between reading and writing.
TRIES = 3
SCOPES_NAMED = 2  # in the summary of a change
# The verb of a proposal of each kind, for one and counted for several.
DONE = {
    "merge": "merged",
    "rewrite": "rewritten",
    "archive": "archived",
    "delete": "removed",
    "relink": "fixed",
}


class Refused(NamedTuple):
    """A proposal that can't be made: why, the path of the file it is about, and the error for a person."""

    proposal: Proposal
    reason: Reason
    path: str
    error: MemtuiError


class Savings(NamedTuple):
    """What less there is: memories, bytes of them, lines of MEMORY.md and bytes of it; negative for more."""

    memories: int
    bytes: int
    index_lines: int
    index_bytes: int


class Weighed(NamedTuple):
    """The files that a proposal changes, what that saves, what becomes of statements, and why it can't be made."""

    proposal: Proposal
    diffs: tuple[FileDiff, ...]
    savings: Savings
    coverage: Coverage | None
    refused: Refused | None

    @property
    def safe(self) -> bool:
        """Whether nobody needs to decide about it: it only has fixes that lint makes by itself, and drops nothing."""
        dropped = self.coverage is not None and self.coverage.dropped
        return self.refused is None and not dropped and self.proposal.is_safe


class Applied(NamedTuple):
    """What became of proposals, the files that changed, and the id of the step in the journal, empty for none."""

    made: tuple[Proposal, ...]
    refused: tuple[Refused, ...]
    diffs: tuple[FileDiff, ...] = ()
    transaction: str = ""


def savings(diffs: Iterable[FileDiff]) -> Savings:
    """Return what changes of files save. An archived memory is saved, too."""
    sums = [0, 0, 0, 0]
    for diff in diffs:
        for data, sign in ((diff.before, 1), (diff.after, -1)):
            if data is not None and not is_archived(diff.path):
                at = 2 if is_index(diff.path) else 0
                lines = index.budget(data).lines if at else 0  # as the TUI's bar has them
                sums[at] += sign * (lines if at else 1)
                sums[at + 1] += sign * len(data)
    return Savings(*sums)


def weigh(files: ScopeFiles, proposal: Proposal) -> Weighed:
    """Weigh a proposal by itself, against the files as they were read."""
    composed = Composition(files, [proposal])
    diffs = tuple(composed.preview())
    return Weighed(proposal, diffs, savings(diffs), coverage.of_proposal(proposal), next(iter(composed.refused), None))


def apply(store: Store, proposals: Sequence[Proposal]) -> Applied:
    """Make the proposals that can be made. Raises MemtuiError if a file can't be written; then nothing is changed."""
    for tries_left in reversed(range(TRIES)):
        composition = Composition(store.files(), proposals)
        plans, refused = tuple(composition.made), tuple(composition.refused)
        if not composition.preview():
            return Applied(plans, refused)
        successors = {path: proposal.successor for proposal in plans for path in proposal.gone if proposal.successor}
        summary = _summary(composition.files, plans)
        try:
            transaction = composition.apply(store.journal, "consolidate", summary, became=successors)
        except ConflictError:  # a file changed since it was read a moment ago: now its proposal is stale
            if not tries_left:
                raise
            continue
        return Applied(plans, refused, tuple(composition.preview()), transaction)
    raise AssertionError  # not reached: the last try returns or raises


def _summary(files: ScopeFiles, proposals: Sequence[Proposal]) -> str:
    """Return a line for the list of changes: `merge a into b`, `approve 4 changes: 3 merged, 1 archived`."""
    if len(proposals) == 1:
        return title(proposals[0])
    if all(proposal.is_safe for proposal in proposals):
        shown = dict.fromkeys(files.scope_of(file.path).scope.shown for each in proposals for file in each.outputs)
        return f"fix {many(len(proposals), 'file')} of {some([*shown], SCOPES_NAMED)}"
    counts = {kind: sum(proposal.kind == kind for proposal in proposals) for kind in DONE}
    words = ", ".join(f"{count} {DONE[kind]}" for kind, count in counts.items() if count)
    return f"{acts.summary('consolidate', many(len(proposals), 'change'))}: {words}"


class _RefusedError(Exception):
    """Why a proposal is refused, as in Refused: the reason, the path and the error."""


def _stale(path: str, what: str, reason: Reason = "stale") -> _RefusedError:
    words = f"{path} {what} since this was planned."
    return _RefusedError(reason, path, ConflictError(words, "Plan again: memtui consolidate"))


@contextmanager
def _forbidden(path: str) -> Iterator[None]:
    """Turn an error about a file into a refusal."""
    try:
        yield
    except MemtuiError as error:
        raise _RefusedError("forbidden", path, error) from error


class Composition(Plan):
    """The plan of some proposals: `made` are those that can be made, in their order, `refused` the others."""

    def __init__(self, files: ScopeFiles, proposals: Iterable[Proposal]) -> None:
        super().__init__(files, unlinks=True)
        self.made: list[Proposal] = []
        self.refused: list[Refused] = []
        self._writer: dict[str, Proposal] = {}
        for proposal in proposals:
            try:
                outputs = self._outputs(proposal)
            except _RefusedError as refusal:
                self.refused.append(Refused(proposal, *refusal.args))
            else:
                self.made.append(proposal)
                self._writer |= dict.fromkeys(outputs, proposal)
                # It may count as trusted what is made from trusted files only.
                trusted = all(files.is_trusted(file.path) for file in proposal.files if file.before is not None)
                for path, data in outputs.items():
                    if data != self.now(path):
                        self.write(path, data, trusted=trusted)
                heir = next((output.path for output in proposal.written if not is_index(output.path)), None)
                self.heirs |= dict.fromkeys(proposal.gone, heir) if heir is not None else {}

    def _outputs(self, proposal: Proposal) -> dict[str, bytes | None]:
        """Return what a proposal makes of its files after those before it; MEMORY.md may have other lines by now."""
        for file in proposal.files:
            with _forbidden(file.path):
                self.files.readable(file.path)
                data = self.files.data(file.path)
            if data != file.before:
                is_made = self._is_made(proposal)
                if None in {data, file.before} or is_made or not is_index(file.path):
                    what = "is gone" if data is None else "changed" if file.before is not None else "is there now"
                    raise _stale(file.path, what, "made" if is_made else "stale")
            if data is not None and self.now(file.path) is None:
                raise self._overlap(file.path)
        outputs = {file.path: self._output(file) for file in proposal.outputs}
        self._refuse_spreading(proposal)
        return outputs

    def _is_made(self, proposal: Proposal) -> bool:
        """Return whether the files are as a proposal would leave them: somebody made it already."""
        for file in proposal.outputs:
            with _forbidden(file.path):
                self.files.writable(file.path)
                if self.files.data(file.path) != file.after:
                    return False
        return True

    def _output(self, file: FileDiff) -> bytes | None:
        path, before, after = file.path, file.before, file.after
        with _forbidden(path):
            scope = self.files.writable(path).scope
            references.real_path(scope, scope.index_path)  # its lines follow
            if before is None and not is_index(path):
                references.check_name(os.path.basename(path))
            now = self.now(path)
            broken = None if after is None or is_index(path) else document.parse(after).broken
            if broken is not None:
                raise MemtuiError(f"{path} would be broken: {broken}.", "Correct its frontmatter in the change.")
        if now in {before, after}:
            return after
        if after is None or before is None or now is None:
            raise self._overlap(path)
        # Another change of the file, such as a new line of MEMORY.md: both are made where they change other lines.
        text = inbox_format.decode(now)
        for edit in text_edits(path, before, after):
            try:
                if not edit.removed and edit.anchor and edit.anchor not in text:
                    raise self._overlap(path)
                text = edit.apply(text)
            except ConflictError as error:
                raise self._overlap(path) from error
        return inbox_format.encode(text)

    def _overlap(self, path: str) -> _RefusedError:
        if (other := self._writer.get(path)) is None:
            return _stale(path, "changed")
        error = ConflictError(f"{path}: change {other.ref} changes the same lines.", "Plan again after that one.")
        return _RefusedError("overlap", path, error)

    def _refuse_spreading(self, proposal: Proposal) -> None:
        """Refuse to mix an untrusted memory into another one, or to put it where no trust is needed."""
        inputs = [file.path for file in proposal.memories]
        outputs = {file.path for file in proposal.outputs}
        targets = {self.files.scope_of(path).scope.directory for path in outputs}
        for path in inputs:
            alone = len(inputs) == 1 and targets == {self.files.scope_of(path).scope.directory}
            only_read = proposal.kind == "relink" and path not in outputs
            if proposal.written and not alone and not only_read and not self.files.is_trusted(path):
                raise _RefusedError("untrusted", path, references.not_trusted(name(path)))
