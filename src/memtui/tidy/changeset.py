"""Proposals of changes to memories, each with its reason, and what those make of the files that a person approves."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import chain, count
from typing import Literal, NamedTuple, get_args

from memtui.base import ids_hot
from memtui.base.errors import ConflictError, MemtuiError, UsageError
from memtui.base.finding import Finding
from memtui.base.findings import OF_MEMORIES
from memtui.base.phrasing_hot import many, some
from memtui.base.storage import read_or_none
from memtui.inbox import format_hot
from memtui.store import references, triggers
from memtui.store.frontmatter import document
from memtui.store.index import index
from memtui.store.journal import acts
from memtui.store.journal.text_edit import text_edits
from memtui.store.memory import Memory
from memtui.store.plan import ARCHIVE, FileDiff, Plan, ScopeFiles, is_archived, is_index
from memtui.store.store import Store
from memtui.tidy import coverage
from memtui.tidy.coverage import Coverage

Kind = Literal["merge", "rewrite", "archive", "delete", "relink", "mute"]
# The code of the evidence that names what a model wrote and no input says.
ADDED = "added"
# The code of the evidence of rules that a memory's own words say: `texts` are the rules.
RULES = "rules.proposed"
# What makes the proposals that need no model.
BY = "memtui"
# The codes of the findings that lint fixes by itself.
FIXED = {code for code, kind in OF_MEMORIES.items() if kind.fix == "lint"}
# Why a proposal is refused: a file that it read changed since (stale), another one changes the same lines (overlap), it
# would spread a memory that nobody trusted (untrusted), or a file can't be written (forbidden).
Reason = Literal["stale", "overlap", "untrusted", "forbidden"]
# Times that proposals are composed again because a file changed between reading and writing.
TRIES = 3
# What a rewrite does, by the code of its evidence.
STEPS = {"rules.pin": "pin", "rules.refuse": "enforce", "rules.relax": "unpin", RULES: "check"}
STEPS["memories.violated"] = STEPS["rules.pin"]
SCOPES_NAMED = 2  # in the summary of a change
# The verb of a proposal of each kind, for one and counted for several.
DONE = dict(zip(get_args(Kind), ("merged", "rewritten", "archived", "removed", "fixed", "muted"), strict=True))


@dataclass(frozen=True)
class ProposalEvidence:
    """What speaks for a proposal: the code of a finding, a score from 0 to 1, passages, the finding's facts."""

    code: str
    score: float | None = None
    texts: tuple[str, ...] = ()
    data: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Proposal:
    """One change, made as a whole or not at all, proposed `by` memtui or a model; the same files get the same `id`."""

    id: str
    kind: Kind
    reason: str
    evidence: tuple[ProposalEvidence, ...]
    files: tuple[FileDiff, ...]
    by: str = BY

    @property
    def outputs(self) -> tuple[FileDiff, ...]:
        """The files that change, without those that it was only made from; of a merge also one that stays as it is."""
        return tuple(file for file in self.files if self.kind == "merge" or file.before != file.after)

    @property
    def is_current(self) -> bool:
        """Whether the files that it was made from are as they were. Reads them."""
        with suppress(OSError, ValueError):
            return all(read_or_none(file.path) == file.before for file in self.files)
        return False

    @property
    def memories(self) -> tuple[FileDiff, ...]:
        """The files that it was made from, without those that it makes, and MEMORY.md."""
        return tuple(file for file in self.files if file.before is not None and not is_index(file.path))

    @property
    def ref(self) -> str:
        """The id that a person types: of a planned change by cause and paths, so that it stays; else `id`."""
        if not self.evidence or any(evidence.code not in OF_MEMORIES for evidence in self.evidence):
            return self.id
        facts = self.evidence[0].data
        cause = "" if self.is_safe else f"{self.evidence[0].code} {facts.get('link', '')}{facts.get('rule', '')}"
        paths = sorted(os.path.realpath(file.path) for file in self.outputs or self.files)
        return ids_hot.digest("\n".join([self.kind, cause, *paths]), 5)

    @property
    def is_safe(self) -> bool:
        """Whether it needs no decision: it only has fixes that lint makes by itself, which drop nothing."""
        is_fix = bool(self.evidence) and all(evidence.code in FIXED for evidence in self.evidence)
        return is_fix and self.kind in {"rewrite", "relink"}

    @property
    def subject(self) -> str:
        """What a decision is about: `id`; of a step about a rule its evidence; of a fix of MEMORY.md what it fixes."""
        if self.evidence and "again" in self.evidence[0].data:
            return ids_hot.digest(f"{self.ref} {self.evidence[0].data['again']}", 5)
        if self.evidence and self.evidence[0].code == RULES:  # whatever else is changed in the memory
            return ids_hot.digest("\n".join([RULES, self.files[0].path, *self.evidence[0].texts]), 5)
        if self.ref == self.id or self.kind == "mute" or not all(is_index(output.path) for output in self.outputs):
            return self.id
        facts = [(part.code, part.texts, part.data.get("file"), part.data.get("title")) for part in self.evidence]
        return ids_hot.digest("\n".join([self.ref, *sorted(map(str, facts))]), 5)

    @property
    def later_key(self) -> str:
        return f"change:{self.subject}"

    @property
    def word(self) -> str:
        """What the Inbox calls it: merge, mute, fix, or `rule`, a step about a memory that was broken, or held."""
        if any(evidence.code.startswith(("memories.violated", "rules.")) for evidence in self.evidence):
            return "rule"
        return self.kind if self.kind in {"merge", "mute"} else "fix"

    @property
    def written(self) -> tuple[FileDiff, ...]:
        return tuple(file for file in self.outputs if file.after is not None)

    @property
    def gone(self) -> tuple[str, ...]:
        return tuple(file.path for file in self.outputs if file.after is None)

    @property
    def successor(self) -> str | None:
        """The file that stands for those that go, so that links to them lead there; None if nothing replaces them."""
        return self.written[0].path if self.kind == "merge" else None

    def edited(self, path: str, data: bytes) -> "Proposal":
        """Return the proposal with another content for a file that it writes, which a person changed."""
        evidence = tuple(reason for reason in self.evidence if reason.code != ADDED)
        files = tuple(file._replace(after=data) if file.path == path else file for file in self.files)
        return replace(self, files=files, evidence=evidence)


def propose(
    kind: Kind, files: Iterable[FileDiff], evidence: Iterable[ProposalEvidence] = (), reason: str = "", by: str = BY
) -> Proposal:
    """Make a proposal, with an id made from its files. Raises UsageError if its kind can't have these files."""
    proposal = Proposal("", kind, reason, tuple(evidence), tuple(files), by)
    parts = [f"{file.path} {sha256(file.before)}" for file in proposal.files if file.before is not None]
    parts += [f"{file.path} {sha256(file.after)}" for file in proposal.outputs]
    proposal = replace(proposal, id=ids_hot.digest("\n".join([kind, *parts]), 5))
    check(proposal)
    return proposal


def sha256(data: bytes | None) -> str:
    """Return the SHA-256 of a file's content in hex, the name that other programs can check; empty for no file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def check(proposal: Proposal) -> None:
    """Raise UsageError for a proposal whose files contradict each other, or that its kind can't have."""
    kind, removed, written = proposal.kind, proposal.gone, proposal.written
    paths = {file.path for file in proposal.files}
    read = {file.path for file in proposal.files if file.before is not None}
    new = [file for file in written if file.before is None]
    archived = [is_archived(file.path) for file in written]
    fits = {
        "merge": len(written) == 1 and bool(removed) and len(read) >= 2,
        "rewrite": not removed and not new,
        "archive": len(removed) == len(written) == len(new) and bool(removed) and all(archived),
        "delete": bool(removed) and not written,
        "relink": not removed,
        "mute": not proposal.outputs and len(read) == 1,
    }[kind]
    is_of_index = any(is_index(file.path) for file in proposal.outputs) and kind != "relink"
    is_once = len(paths) == len(proposal.files) and read.issuperset(removed)
    if not (fits and is_once) or is_of_index or (kind != "archive" and any(archived)):
        raise UsageError(f"Change {proposal.id} has files that a {kind} can't have.")


def evidence_of(finding: Finding) -> ProposalEvidence:
    """Return a finding as evidence; what `data` can't hold in a file is left out, lists become texts."""
    plain = {key: value for key, value in finding.data.items() if isinstance(value, str | int | float | bool)}
    lists = [value for value in finding.data.values() if isinstance(value, list | tuple)]
    score = finding.data.get("score")
    texts = tuple(str(item) for value in lists for item in value)
    return ProposalEvidence(finding.code, score / 100 if isinstance(score, int) else None, texts, plain)


def name(path: str) -> str:
    """Name a file: a memory by its stem, an index as MEMORY.md."""
    return os.path.basename(path) if is_index(path) else os.path.basename(path).removesuffix(".md")


def title(proposal: Proposal) -> str:
    """Say what a proposal does: `merge pnpm-only into prefer-pnpm`, `archive old-freeze`, `fix MEMORY.md`."""
    removed, outputs = [name(path) for path in proposal.gone], [name(file.path) for file in proposal.written]
    if proposal.kind == "merge":
        return f"merge {' and '.join(removed)} into {outputs[0]}"
    if proposal.kind == "mute":
        return f"mute {name(proposal.files[0].path)}"
    if proposal.kind in {"archive", "delete"}:
        return f"{'archive' if proposal.kind == 'archive' else 'remove'} {some(removed)}"
    code = proposal.evidence[0].code if proposal.evidence else ""
    return f"{'fix' if proposal.kind == 'relink' else STEPS.get(code, proposal.kind)} {some(outputs)}"


def archived(directory: str, memory: Memory) -> list[FileDiff]:
    """Return the files as they are once a memory of a scope is in its archive, under a name that is free there."""
    place = f"{directory}/{ARCHIVE}/{memory.path.removeprefix(directory + '/').removesuffix('.md')}"
    paths = (f"{place}{end}.md" for end in chain([""], (f"-{number}" for number in count(2))))
    free = next(path for path in paths if not os.path.lexists(path))
    return [FileDiff(memory.path, memory.raw, None), FileDiff(free, None, memory.raw)]


# what proposals make of the files


def covered(proposal: Proposal) -> Coverage | None:
    """Return what became of the statements that a merge or rewrite read; None for other kinds."""
    if proposal.kind not in {"merge", "rewrite"}:
        return None
    files = [file for file in proposal.outputs if not is_index(file.path)]
    before = [statement for file in files for statement in coverage.of_file(file.path, file.before or b"")]
    after = [statement for file in proposal.written for statement in coverage.of_file(file.path, file.after or b"")]
    return coverage.cover(before, after)


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
    return Weighed(proposal, diffs, savings(diffs), covered(proposal), next(iter(composed.refused), None))


def apply(store: Store, proposals: Sequence[Proposal]) -> Applied:
    """Make the proposals that can be made. Raises MemtuiError if a file can't be written; then nothing is changed."""
    for tries_left in reversed(range(TRIES)):
        composition = Composition(store.files(), proposals)
        plans, refused = tuple(composition.applicable), tuple(composition.refused)
        places = [composition.files.scope_of(plan.files[0].path) for plan in plans if plan.kind == "mute"]
        mutes = [edit for place in places for edit in triggers.mute_edits(store, place.scope.directory, place.file)]
        if not (composition.preview() or mutes):
            return Applied(plans, refused)
        successors = {path: proposal.successor for proposal in plans for path in proposal.gone if proposal.successor}
        summary = _summary(composition.files, plans)
        try:
            transaction = composition.apply(store.journal, "consolidate", summary, mutes, became=successors)
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


def _stale(path: str, what: str) -> _RefusedError:
    words = f"{path} {what} since this was planned."
    return _RefusedError("stale", path, ConflictError(words, "Plan again: memtui consolidate"))


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
        self.applicable: list[Proposal] = []
        self.refused: list[Refused] = []
        self._writer: dict[str, Proposal] = {}
        for proposal in proposals:
            try:
                outputs = self._outputs(proposal)
            except _RefusedError as refusal:
                self.refused.append(Refused(proposal, *refusal.args))
            else:
                self.applicable.append(proposal)
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
        for file in proposal.outputs:
            with _forbidden(file.path):
                self.files.writable(file.path)
        for file in proposal.files:
            with _forbidden(file.path):
                self.files.readable(file.path)
                data = self.files.data(file.path)
            if data != file.before and (None in {data, file.before} or not is_index(file.path)):
                what = "is gone" if data is None else "changed" if file.before is not None else "is there now"
                raise _stale(file.path, what)
            if data is not None and self.now(file.path) is None:
                raise self._overlap(file.path)
        outputs = {file.path: self._output(file) for file in proposal.outputs}
        self._refuse_spreading(proposal)
        return outputs

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
        text = format_hot.decode(now)
        for edit in text_edits(path, before, after):
            try:
                if not edit.removed and edit.anchor and edit.anchor not in text:
                    raise self._overlap(path)
                text = edit.apply(text)
            except ConflictError as error:
                raise self._overlap(path) from error
        return format_hot.encode(text)

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
