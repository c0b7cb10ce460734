"""Plan a ChangeSet from what lint finds, without a model: the same memories give the same proposals, worst first.

Memories that overlap are merged, what lint can fix is fixed, what has expired or repeats CLAUDE.md goes. What needs a
person's words, such as a contradiction, is left to findings.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

from memtui.consolidate import across, coverage, lint, lint_fixes, merging, strengthening
from memtui.consolidate.changeset import (
    ARCHIVE,
    ChangeSet,
    FileInput,
    FileOutput,
    Kind,
    Proposal,
    ProposalEvidence,
    is_index,
    propose,
    read_from,
)
from memtui.consolidate.files import MemoryFiles
from memtui.consolidate.lint import LintInput
from memtui.core.base import clock, fs
from memtui.core.base.errors import MemtuiError
from memtui.core.base.finding import Finding
from memtui.core.health import findings
from memtui.core.memories import apart, copies, memory, references
from memtui.core.memories.links import LinkTargets
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.core.memories.store import Store

BY = "memtui"
# The least share of their words that two memories have in common and are merged by.
MERGED = 0.5
# The most memories that become one, and the most bytes of its body; larger ones should be split.
MOST, LARGEST = 4, 4096
# So often a memory must have been violated before a stronger form is proposed.
VIOLATED = 3
# The most findings that the reason of a change names.
SHOWN = 3
# By finding: what becomes of a memory that no longer helps.
REMOVED = {"memories.empty": "delete", "memories.expired": "archive", "memories.unused": "archive"}
# The findings that lint fixes by itself.
FIXED = lint_fixes.FIELDS | lint_fixes.TEXTS | lint_fixes.LINES


class Planned(NamedTuple):
    """A ChangeSet, and the findings that it was made from, worst first."""

    changes: ChangeSet
    findings: tuple[Finding, ...]


def plan(store: Store, subject: LintInput, go_on: Callable[[], bool] = lambda: True) -> Planned:
    """Plan what to do about the memories of a subject, which are the person's own (`lint.here`). `go_on` is asked now
    and then; False ends the plan early."""
    found = lint.check(subject, go_on)
    planner = _Planner(store, subject, found)
    proposals: list[tuple[int, Proposal]] = []
    first = (planner.merges, planner.removals, planner.fixes, planner.types)
    for step in (*first, planner.stronger_forms, planner.links):
        if go_on():
            proposals += step()
    proposals.sort(key=lambda each: each[0])
    unique = {each.id: each for _, each in proposals}
    changes = ChangeSet(clock.iso(store.journal.now()), BY, tuple(unique.values()))
    return Planned(changes, tuple(found))


def within(found: ChangeSet, scopes: Iterable[Scope]) -> ChangeSet:
    """Return a ChangeSet with the proposals about files of some scopes. A plan of these scopes alone would differ: how
    alike two memories are depends on how rare their words are among all."""
    places = tuple(each.directory + "/" for each in scopes)
    some = [each for each in found.proposals if any(file.path.startswith(places) for file in each.inputs)]
    return replace(found, proposals=tuple(some))


def is_safe(found: Proposal) -> bool:
    """Return whether a proposal needs no decision: it only has fixes that lint makes by itself, and drops nothing."""
    codes = {each.code for each in found.evidence}
    return found.kind in {"rewrite", "relink"} and bool(codes) and codes <= FIXED


def reject(store: Store, rejected: Iterable[Proposal]) -> int:
    """Keep memories apart for good that a person did not want to be merged. Return the number of pairs that are new.
    Raises MemtuiError."""
    pairs, files = 0, MemoryFiles(store)
    for each in rejected:
        there = [file.path for file in each.inputs if os.path.exists(file.path)] if each.kind == "merge" else []
        for one, other in combinations(
            [memory.read_memory(path, files.scope_of(path).scope.label) for path in there], 2
        ):
            pairs += apart.keep(store.journal, one, other)
    return pairs


class _Planner:
    """The proposals for some findings, each with the place of its worst finding. `gone` are the files that go."""

    def __init__(self, store: Store, subject: LintInput, found: Sequence[Finding]) -> None:
        self.store = store
        self.subject = subject
        self.found = found
        self.gone: set[str] = set()
        self.scopes = {each.label: each for each in subject.scopes}
        self.files = MemoryFiles(store)

    def _numbered(self, codes: Collection[str]) -> Iterator[tuple[int, Finding]]:
        return ((at, each) for at, each in enumerate(self.found) if each.code in codes)

    def _memory(self, path: object) -> Memory | None:
        """Return a memory that may be changed; None if it may not."""
        found = self.subject.memories.get(str(path))
        if found is None or found.broken is not None or os.path.islink(found.path) or found.path in self.gone:
            return None
        scope = self.scopes.get(found.scope_label)
        if scope is None or not scope.writable or scope.problem or len(found.raw) > memory.MAX_BYTES:
            return None
        return found

    # Merges

    def merges(self) -> list[tuple[int, Proposal]]:
        """Propose a merge for each cluster of memories that overlap. Of a cluster in several scopes that can't become
        one, those of one scope are merged."""
        found: dict[frozenset[str], tuple[float, int]] = {}
        for at, each in self._numbered({"memories.alike"}):
            if (share := _of_one(each, "share")) >= MERGED:
                found[frozenset((str(each.data["path"]), str(each.data["other_path"])))] = (share, at)
        proposals = []
        copied = copies.of_memories(tuple(self.subject.memories.values()))
        for cluster in _clusters(found):
            memories = [each for each in map(self._memory, cluster) if each is not None]
            if len(memories) < len(cluster):
                continue
            memories, why = self._mergeable(memories)
            if all(each.path in copied for each in memories):
                continue  # what they are copies of is to stay, and can't be merged now
            if len(memories) < 2 or not all(self.store.is_trusted(each) for each in memories):
                continue
            paths = {each.path for each in memories}
            pairs = [at for pair, (_, at) in found.items() if pair <= paths]
            made = self._merge(memories, pairs, why)
            if made is not None:
                proposals.append((min(pairs), made))
                self.gone.update(made.gone)
        return proposals

    def _mergeable(self, memories: Sequence[Memory]) -> tuple[list[Memory], str]:
        """Return those of a cluster that can be merged, the one that stays first, and why it is that one, if they are
        of several scopes."""
        ordered = merging.best_first(memories, self._referred(memories))
        if len({each.scope_label for each in memories}) == 1:
            return ordered, ""
        known = [across.Known(self.scopes[each.scope_label], each) for each in ordered]
        differ = [pair for pair in combinations(known, 2) if pair[0].scope.label != pair[1].scope.label]
        if not any(across.obstacle(self.store.root, *pair) for pair in differ):
            label, why = across.broadest(known)
            return sorted(ordered, key=lambda each: each.scope_label != label), why
        labels = [each.scope_label for each in ordered]
        most = max(labels, key=labels.count)
        return [each for each in ordered if each.scope_label == most], ""

    def _referred(self, memories: Sequence[Memory]) -> set[str]:
        """Return the paths of those of some memories that the index or a link refers to."""
        linking = [each for each in self.subject.memories.values() if each.links]
        return {
            each.path
            for each in memories
            if any(other.scope_label == each.scope_label and other.links_to(each) for other in linking)
            or references.index_entry(self.scopes[each.scope_label], os.path.basename(each.path)) is not None
        }

    def _merge(self, memories: Sequence[Memory], pairs: Sequence[int], why: str) -> Proposal | None:
        evidence = [_evidence(self.found[at], _of_one(self.found[at], "score")) for at in pairs]
        reason = " ".join([*(findings.message(self.found[at]) for at in sorted(pairs)[:SHOWN]), why]).rstrip()
        first, *others = memories
        outside = {name for each in others if each.scope_label != first.scope_label for name in each.links}
        if outside:
            own = LinkTargets(each for each in self.subject.memories.values() if each.scope_label == first.scope_label)
            outside = {target for target in outside if own.of(target, first.path) is None}
        try:
            made = merging.proposal(memories, evidence, reason=reason, outside=sorted(outside))
        except MemtuiError:
            return None
        covered = coverage.of_proposal(made)
        if covered is None or not covered.is_verbatim:
            return None
        size = len(memory.from_bytes(memories[0].path, "", made.written[0].data or b"").body.encode())
        return made if size <= max(LARGEST, len(memories[0].body.encode())) else None

    # What goes

    def removals(self) -> list[tuple[int, Proposal]]:
        """Propose to remove what is empty or only repeats instructions, to archive what expired or is never used."""
        proposals = []
        for at, each in self._numbered({*REMOVED, "memories.repeats"}):
            found = self._memory(each.data.get("path"))
            kind = REMOVED.get(each.code, "delete")
            if found is None or (kind == "archive" and not self.store.is_trusted(found)):
                continue
            read = [read_from(found.path, found.raw)]
            if each.code == "memories.repeats":
                instructions = self._repeated(found, str(each.data.get("file")))
                if instructions is None:
                    continue
                read.append(instructions)
            outputs = [FileOutput(found.path, None)]
            if kind == "archive":
                outputs.append(FileOutput(self._archived(found), found.raw))
                made = propose("archive", read, outputs, [_evidence(each)], findings.message(each))
            else:
                made = propose("delete", read, outputs, [_evidence(each)], findings.message(each))
            proposals.append((at, made))
            self.gone.add(found.path)
        return proposals

    def _repeated(self, found: Memory, path: str) -> FileInput | None:
        """Return the file of instructions if it says all that a memory does; None if it does not."""
        try:
            data = fs.read_bytes(path, memory.MAX_BYTES)
        except OSError:
            return None
        says = coverage.of_text(path, data.decode("utf-8", "replace"))
        own = [each for each in coverage.of_file(found.path, found.raw) if each.kind != "field"]
        return read_from(path, data) if coverage.cover(own, says).is_verbatim else None

    def _archived(self, found: Memory) -> str:
        directory = self.scopes[found.scope_label].directory
        stem = f"{directory}/{ARCHIVE}/{found.stem}"
        names = [stem, *(f"{stem}-{number}" for number in range(2, 1000))]
        return next(f"{each}.md" for each in names if not os.path.lexists(f"{each}.md"))

    # What lint fixes

    def fixes(self) -> list[tuple[int, Proposal]]:
        """Propose what lint would fix, one change for each file."""
        proposals = []
        by_path: dict[str, list[int]] = {}
        for at, each in enumerate(self.found):
            if lint_fixes.fixable(each):
                by_path.setdefault(str(each.data.get("path")), []).append(at)
        for scope in self.subject.scopes:
            known, usage = self.subject.memories.values(), self.subject.usage
            for fixed in lint_fixes.plan(self.subject.root, scope, self.found, known, usage):
                path = f"{scope.directory}/{fixed.file}"
                numbers = by_path.get(path, [])
                if path in self.gone or not numbers:
                    continue
                evidence = [_evidence(self.found[at]) for at in numbers]
                told = [findings.message(self.found[at]) for at in numbers[:SHOWN]]
                reason = " ".join(filter(None, [*told, fixed.words]))
                read, made = read_from(path, fixed.before), FileOutput(path, fixed.after)
                kind: Kind = "relink" if is_index(path) else "rewrite"
                proposals.append((min(numbers), propose(kind, [read], [made], evidence, reason)))
        return proposals

    def types(self) -> list[tuple[int, Proposal]]:
        """Propose the type that one of the usual ones is a variant of: `Feedback`, `references`."""
        proposals = []
        for at, each in self._numbered({"memories.type"}):
            own = [found for found in self.subject.memories.values() if found.type == each.data.get("type")]
            for found in own:
                usual = _usual(found.type)
                if usual is None or self._memory(found.path) is None:
                    continue
                try:
                    data = memory.with_fields(found, {"type": usual})
                except MemtuiError:
                    continue
                read, made = read_from(found.path, found.raw), FileOutput(found.path, data)
                proposals.append((at, propose("retype", [read], [made], [_evidence(each)], findings.message(each))))
        return proposals

    def stronger_forms(self) -> list[tuple[int, Proposal]]:
        """Propose a stronger form of a memory that was violated VIOLATED times: to pin it; once it is violated again
        although it is pinned, a line of CLAUDE.md or a rule, and that a hook refuses the commands that it forbids."""
        proposals = []
        for at, each in self._numbered({"memories.violated"}):
            found, count = self._memory(each.data.get("path")), each.data.get("count")
            if found is None or not isinstance(count, int) or count < VIOLATED or not self.store.is_trusted(found):
                continue
            proposals += [(at, made) for made in self._stronger(found, each) if made is not None]
        return proposals

    def _stronger(self, found: Memory, violated: Finding) -> Iterator[Proposal | None]:
        evidence, reason, last = _evidence(violated), findings.message(violated), violated.data.get("last")
        try:
            pinned = strengthening.pinned(found, evidence, reason)
            if pinned is not None:
                yield pinned
            if pinned is not None or not isinstance(last, float) or last <= found.mtime:
                return  # what was done to it has to show first what it does
            made = strengthening.instructed(self.scopes[found.scope_label], found, evidence, reason)
            if made is not None:
                self.files.writable(made.outputs[0].path, made.kind)
                yield made
        except (MemtuiError, OSError):  # a file that must not be written, or can't be read
            pass
        try:
            yield strengthening.forbidding(found, evidence, reason)
        except MemtuiError:
            return

    def links(self) -> list[tuple[int, Proposal]]:
        """Propose to let links to no memory lead to the one whose name only differs in its spelling: `[[Use PNPM]]`."""
        proposals = []
        for at, each in self._numbered({"memories.link", "memories.odd_link"}):
            scope = next((scope for scope in self.subject.scopes if scope.shown == each.data.get("scope")), None)
            name = str(each.data.get("name"))
            own = [found for found in self.subject.memories.values() if scope and found.scope_label == scope.label]
            meant = {found.stem for found in own if _spelled(name) in {_spelled(found.stem), _spelled(found.name)}}
            linking = [
                found
                for found in own
                if {name, name + ".md"} & set(found.links) and self._memory(found.path) is not None
            ]
            if len(meant) != 1 or not linking:
                continue
            (stem,) = meant
            outputs = [
                FileOutput(found.path, references.relink(found.raw, found.path, "", (name,), stem)) for found in linking
            ]
            read = [read_from(found.path, found.raw) for found in linking]
            proposals.append((at, propose("relink", read, outputs, [_evidence(each)], findings.message(each))))
        return proposals


def _spelled(name: str) -> str:
    """Return the name that a link means, however it is spelled: with blanks, capitals, a directory or `.md`."""
    return memory.slugify(os.path.basename(name).removesuffix(".md").replace("_", " "))


def _usual(kind: str) -> str | None:
    """Return the usual type that a type is a variant of."""
    plain = kind.strip().casefold()
    found = next((each for each in memory.TYPES if plain in {each, each + "s"}), None)
    return None if found == kind else found


def _evidence(found: Finding, score: float | None = None) -> ProposalEvidence:
    """Return a finding as evidence; what `data` can't hold in a file is left out, lists become texts."""
    plain = {key: value for key, value in found.data.items() if isinstance(value, str | int | float | bool)}
    lists = [value for value in found.data.values() if isinstance(value, list | tuple)]
    texts = tuple(str(each) for value in lists for each in value)
    return ProposalEvidence(found.code, score, texts, plain)


def _of_one(found: Finding, key: str) -> float:
    """Return a number of a finding that is of 100, of 1."""
    value = found.data[key]
    return value / 100 if isinstance(value, int | float) else 0.0


def _clusters(shares: Mapping[frozenset[str], tuple[float, int]]) -> list[list[str]]:
    """Group files of which all are alike, each in one group, the most alike first."""
    groups: dict[str, list[str]] = {}
    for pair, _ in sorted(shares.items(), key=lambda each: (-each[1][0], sorted(each[0]))):
        one, other = sorted(pair)
        for path, partner in ((one, other), (other, one)):
            group = groups.get(partner)
            if path in groups:
                continue
            if group is None:
                groups[path] = groups[partner] = [path, partner]
            elif len(group) < MOST and all(frozenset((path, each)) in shares for each in group):
                group.append(path)
                groups[path] = group
    return list({id(each): sorted(each) for each in groups.values()}.values())
