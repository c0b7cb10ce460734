"""Plan what to do about memories from what lint finds, without a model: the same memories give the same proposals,
worst first.

Memories that overlap are merged, what lint can fix is fixed, what has expired or repeats CLAUDE.md goes. What needs a
person's words, such as a contradiction, is left to findings.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from typing import NamedTuple

from memtui.consolidate import coverage, lint, lint_fixes, merging, overlap, strengthening
from memtui.consolidate.changeset import (
    FileInput,
    FileOutput,
    Kind,
    Proposal,
    ProposalEvidence,
    is_index,
    propose,
    read_from,
)
from memtui.consolidate.files import in_archive
from memtui.consolidate.lint import LintInput
from memtui.core.base import fs
from memtui.core.base.errors import MemtuiError
from memtui.core.base.finding import Finding
from memtui.core.health import findings
from memtui.core.memories import copies, memory, references
from memtui.core.memories.memory import LinkTargets, Memory
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
REMOVED: Mapping[str, Kind] = {
    "memories.empty": "delete",
    "memories.repeats": "delete",
    "memories.expired": "archive",
    "memories.unused": "archive",
}
# Proposals, each with the place of its worst finding.
Placed = Iterator[tuple[int, Proposal]]


class Planned(NamedTuple):
    """Proposals, and the findings that they were made from, both worst first."""

    proposals: tuple[Proposal, ...]
    findings: tuple[Finding, ...]


def plan(store: Store, subject: LintInput, go_on: Callable[[], bool] = lambda: True) -> Planned:
    """Plan what to do about the memories of a subject, which are the person's own (`lint.here`). `go_on` is asked now
    and then; False ends the plan early."""
    found = lint.check(subject, go_on)
    planner = _Planner(store, subject, found)
    placed: list[tuple[int, Proposal]] = []
    for step in (
        planner.merges,
        planner.removals,
        planner.fixes,
        planner.stronger_forms,
        planner.links,
    ):
        if go_on():
            placed += step()
    unique = {each.id: each for _, each in sorted(placed, key=lambda each: each[0])}
    return Planned(tuple(unique.values()), tuple(found))


def within(proposals: Iterable[Proposal], scopes: Iterable[Scope]) -> tuple[Proposal, ...]:
    """Return the proposals about files of some scopes. A plan of these alone would differ: how alike two memories are
    depends on how rare their words are among all."""
    places = tuple(each.directory + "/" for each in scopes)
    return tuple(each for each in proposals if any(file.path.startswith(places) for file in each.inputs))


class _Planner:
    """The proposals for some findings. `gone` are the files that go."""

    def __init__(self, store: Store, subject: LintInput, found: Sequence[Finding]) -> None:
        self.store, self.subject, self.found = store, subject, found
        self.gone: set[str] = set()
        self.scopes = {each.label: each for each in subject.scopes}

    def _numbered(self, codes: Collection[str]) -> Iterator[tuple[int, Finding]]:
        return ((at, each) for at, each in enumerate(self.found) if each.code in codes)

    def _memory(self, path: object) -> Memory | None:
        """Return a memory that may be changed; None if it may not."""
        found = self.subject.memories.get(str(path))
        if found is None or found.broken is not None or os.path.islink(found.path) or found.path in self.gone:
            return None
        scope = self.scopes.get(found.scope_label)
        can_change = scope is not None and scope.writable and not scope.problem
        return found if can_change and len(found.raw) <= memory.MAX_BYTES else None

    # Merges

    def merges(self) -> Placed:
        """Propose a merge for each cluster of memories that overlap. Of a cluster in several scopes that can't become
        one, those of one scope are merged."""
        shares: dict[frozenset[str], tuple[float, int]] = {}
        for at, each in self._numbered({"memories.alike"}):
            if (share := _of_one(each, "share")) >= MERGED:
                shares[frozenset((str(each.data["path"]), str(each.data["other_path"])))] = (share, at)
        copied = copies.of_memories(tuple(self.subject.memories.values()))
        for cluster in _clusters(shares):
            memories = [each for each in map(self._memory, cluster) if each is not None]
            if len(memories) < len(cluster):
                continue
            memories, why = self._mergeable(memories)
            if all(each.path in copied for each in memories):
                continue  # what they are copies of is to stay, and can't be merged now
            if len(memories) < 2 or not all(self.store.is_trusted(each) for each in memories):
                continue
            paths = {each.path for each in memories}
            pairs = [at for pair, (_, at) in shares.items() if pair <= paths]
            merge = self._merge(memories, pairs, why)
            if merge is not None:
                self.gone.update(merge.gone)
                yield min(pairs), merge

    def _mergeable(self, memories: Sequence[Memory]) -> tuple[list[Memory], str]:
        """Return those of a cluster that can be merged, the one that stays first, and why it is that one, if they are
        of several scopes."""
        ordered = merging.best_first(memories, self._referred(memories))
        labels = [each.scope_label for each in ordered]
        if len(set(labels)) == 1:
            return ordered, ""
        known = [overlap.Known(self.scopes[each.scope_label], each) for each in ordered]
        differ = [pair for pair in combinations(known, 2) if pair[0].scope.label != pair[1].scope.label]
        if not any(overlap.obstacle(self.store.root, *pair) for pair in differ):
            label, why = overlap.broadest(known)
            return sorted(ordered, key=lambda each: each.scope_label != label), why
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
            merge = merging.proposal(memories, evidence, reason=reason, outside=sorted(outside))
        except MemtuiError:
            return None
        covered = coverage.of_proposal(merge)
        if covered is None or not covered.is_verbatim:
            return None
        size = len(memory.from_bytes(first.path, "", merge.written[0].data or b"").body.encode())
        return merge if size <= max(LARGEST, len(first.body.encode())) else None

    # What goes

    def removals(self) -> Placed:
        """Propose to remove what is empty or only repeats instructions, to archive what expired or is never used."""
        for at, each in self._numbered(REMOVED):
            found, kind = self._memory(each.data.get("path")), REMOVED[each.code]
            if found is None or (kind == "archive" and not self.store.is_trusted(found)):
                continue
            read, outputs = [read_from(found.path, found.raw)], [FileOutput(found.path, None)]
            if each.code == "memories.repeats":
                instructions = _repeated(found, str(each.data.get("file")))
                if instructions is None:
                    continue
                read.append(instructions)
            if kind == "archive":
                place = in_archive(self.scopes[found.scope_label].directory, found.stem)
                outputs.append(FileOutput(place, found.raw))
            self.gone.add(found.path)
            yield at, propose(kind, read, outputs, [_evidence(each)], findings.message(each))

    # What lint fixes

    def fixes(self) -> Placed:
        """Propose what lint would fix, one change for each file."""
        by_path: dict[str, list[int]] = {}
        for at, each in enumerate(self.found):
            if lint_fixes.fixable(each):
                by_path.setdefault(str(each.data.get("path")), []).append(at)
        for scope, files in lint_fixes.plan_all(self.subject, self.found):
            for fixed in files:
                path = f"{scope.directory}/{fixed.file}"
                numbers = by_path.get(path, [])
                if path in self.gone or not numbers:
                    continue
                messages = [findings.message(self.found[at]) for at in numbers[:SHOWN]]
                kind: Kind = "relink" if is_index(path) else "rewrite"
                yield (
                    min(numbers),
                    propose(
                        kind,
                        [read_from(path, fixed.before)],
                        [FileOutput(path, fixed.after)],
                        [_evidence(self.found[at]) for at in numbers],
                        " ".join(filter(None, [*messages, fixed.words])),
                    ),
                )

    def stronger_forms(self) -> Placed:
        """Propose a stronger form of a memory that was violated VIOLATED times: to pin it; once it is violated again
        although it is pinned, that a hook refuses the commands that it forbids."""
        for at, each in self._numbered({"memories.violated"}):
            found, count, last = self._memory(each.data.get("path")), each.data.get("count"), each.data.get("last")
            if found is None or not isinstance(count, int) or count < VIOLATED or not self.store.is_trusted(found):
                continue
            evidence, reason = _evidence(each), findings.message(each)
            with suppress(MemtuiError):
                form = strengthening.pinned(found, evidence, reason)
                # What was done to it has to show first what it does.
                if form is None and isinstance(last, float) and last > found.mtime:
                    form = strengthening.forbidding(found, evidence, reason)
                if form is not None:
                    yield at, form

    def links(self) -> Placed:
        """Propose to let links to no memory lead to the one whose name only differs in its spelling: `[[Use PNPM]]`."""
        for at, each in self._numbered({"memories.link", "memories.odd_link"}):
            label = next((label for label, scope in self.scopes.items() if scope.shown == each.data.get("scope")), "")
            name = str(each.data.get("name"))
            own = [found for found in self.subject.memories.values() if found.scope_label == label]
            meant = {found.stem for found in own if _spelled(name) in {_spelled(found.stem), _spelled(found.name)}}
            linking = [found for found in own if {name, name + ".md"} & set(found.links) and self._memory(found.path)]
            if len(meant) == 1 and linking:
                (stem,) = meant
                after = [references.relink(found.raw, found.path, "", (name,), stem) for found in linking]
                outputs = [FileOutput(found.path, data) for found, data in zip(linking, after, strict=True)]
                read = [read_from(found.path, found.raw) for found in linking]
                yield at, propose("relink", read, outputs, [_evidence(each)], findings.message(each))


def _repeated(found: Memory, path: str) -> FileInput | None:
    """Return the file of instructions if it says all that a memory does; None if it does not."""
    try:
        data = fs.read_bytes(path, memory.MAX_BYTES)
    except OSError:
        return None
    says = coverage.of_text(path, data.decode("utf-8", "replace"))
    own = [each for each in coverage.of_file(found.path, found.raw) if each.kind != "field"]
    return read_from(path, data) if coverage.cover(own, says).is_verbatim else None


def _spelled(name: str) -> str:
    """Return the name that a link means, however it is spelled: with blanks, capitals, a directory or `.md`."""
    return memory.slugify(os.path.basename(name).removesuffix(".md").replace("_", " "))


def _evidence(found: Finding, score: float | None = None) -> ProposalEvidence:
    """Return a finding as evidence; what `data` can't hold in a file is left out, lists become texts."""
    plain = {key: value for key, value in found.data.items() if isinstance(value, str | int | float | bool)}
    lists = [value for value in found.data.values() if isinstance(value, list | tuple)]
    return ProposalEvidence(found.code, score, tuple(str(each) for value in lists for each in value), plain)


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
