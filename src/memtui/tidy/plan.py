"""Plan what to do about memories from what lint finds, without a model: the same memories, the same proposals."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from memtui.base import findings
from memtui.base.errors import MemtuiError
from memtui.base.finding import Finding
from memtui.rules import rule_hot
from memtui.store import memory, references, scopes
from memtui.store.memory import Memory, is_pinned
from memtui.store.plan import FileDiff
from memtui.store.scopes import Scope
from memtui.store.store import Store
from memtui.tidy import changeset, coverage, merged_memory
from memtui.tidy.changeset import Kind, Proposal, archived, evidence_of, propose
from memtui.tidy.checks import lint, lint_fixes, rule_steps
from memtui.tidy.checks.lint import LintInput

# The most memories that become one, and the most bytes of its body; larger ones should be split.
MOST, LARGEST = 4, 4096
# So often a memory without rules must have been violated before it is proposed to be pinned.
VIOLATED = 3
# By finding: what becomes of a memory that no longer helps.
REMOVED: Mapping[str, Kind] = {"memories.empty": "delete", "memories.expired": "archive"}
# What each step does, and the fields that it writes.
STEPS = dict(row.split(": ", 1) for row in coverage.SECTIONS["steps"].split("\n"))
PIN = {"pinned": "true"}
FIELDS = {
    "memories.violated": PIN,
    rule_steps.PIN: PIN,
    rule_steps.RELAX: dict.fromkeys(("pinned", "pin", "metadata.pinned", "metadata.pin"), ""),
}
# Proposals, each with the place of its worst finding.
Placed = Iterator[tuple[int, Proposal]]


class Planned(NamedTuple):
    """Proposals, and the findings that they were made from, both worst first; all `fixes`, also of files that go."""

    proposals: tuple[Proposal, ...]
    findings: tuple[Finding, ...]
    fixes: list[Proposal]


def plan(store: Store, subject: LintInput, go_on: Callable[[], bool] = lambda: True) -> Planned:
    """Plan what to do about a subject's memories, the person's own. `go_on` is asked now and then; False ends it."""
    reports = lint.check(subject, go_on)
    planner = _Planner(store, subject, reports)
    steps = (planner.merges, planner.removals, planner.fixes, planner.rule_steps, planner.links, planner.mutes)
    placed = [proposal for step in steps if go_on() for proposal in step()]
    unique = {item.id: item for _, item in sorted(placed, key=lambda item: item[0])}
    return Planned(tuple(unique.values()), tuple(reports), planner.file_fixes if go_on() else [])


def within(proposals: Iterable[Proposal], scopes: Iterable[Scope]) -> tuple[Proposal, ...]:
    """Return the proposals about files of some scopes; a plan of these alone would weigh words differently."""
    places = tuple(scope.directory + "/" for scope in scopes)
    return tuple(proposal for proposal in proposals if any(file.path.startswith(places) for file in proposal.files))


class _Planner:
    """The proposals for some findings. `gone` are the files that go."""

    def __init__(self, store: Store, subject: LintInput, findings: Sequence[Finding]) -> None:
        self.store, self.subject, self.found = store, subject, findings
        self.gone: set[str] = set()
        self.scopes = {scope.label: scope for scope in subject.scopes}
        self.file_fixes = lint_fixes.plan(subject, findings)

    def _numbered(self, codes: Collection[str]) -> Iterator[tuple[int, Finding]]:
        return ((at, finding) for at, finding in enumerate(self.found) if finding.code in codes)

    def _memory(self, path: object) -> Memory | None:
        """Return a memory that may be changed; None if it may not."""
        mem = self.subject.memories.get(str(path))
        if mem is None or mem.broken is not None or os.path.islink(mem.path) or mem.path in self.gone:
            return None
        scope = self.scopes.get(mem.scope_label)
        can_change = scope is not None and scope.writable and not scope.problem
        return mem if can_change and len(mem.raw) <= memory.MAX_BYTES else None

    def merges(self) -> Placed:
        """Propose a merge for each cluster of memories of a scope that overlap."""
        scores: dict[frozenset[str], tuple[int, int]] = {}
        for at, finding in self._numbered({"memories.alike"}):
            facts: dict[str, Any] = dict(finding.data)
            if not facts["why"]:
                scores[frozenset((facts["path"], facts["other_path"]))] = (facts["score"], at)
        copied = scopes.copied_memories(tuple(self.subject.memories.values()))
        for cluster in _clusters(scores):
            memories = [mem for mem in map(self._memory, cluster) if mem is not None]
            # What they all are copies of is to stay, and can't be merged now.
            if len(memories) < len(cluster) or all(mem.path in copied for mem in memories):
                continue
            if all(map(self.store.is_trusted, memories)):
                pairs = [at for pair, (_, at) in scores.items() if pair <= set(cluster)]
                merge = self._merge(merged_memory.best_first(memories, self._referred(memories)), pairs)
                if merge is not None:
                    self.gone.update(merge.gone)
                    yield min(pairs), merge

    def _referred(self, memories: Sequence[Memory]) -> set[str]:
        """Return the paths of those of some memories that the index or a link refers to."""
        linking = [mem for mem in self.subject.memories.values() if mem.links]
        return {
            mem.path
            for mem in memories
            if any(other.scope_label == mem.scope_label and other.links_to(mem) for other in linking)
            or references.index_entry(self.scopes[mem.scope_label], os.path.basename(mem.path)) is not None
        }

    def _merge(self, memories: Sequence[Memory], pairs: Sequence[int]) -> Proposal | None:
        evidence = [evidence_of(self.found[at]) for at in pairs]
        reason = " ".join(findings.message(self.found[at]) for at in sorted(pairs)[: lint_fixes.SHOWN])
        try:
            merge = merged_memory.proposal(memories, evidence, reason)
        except MemtuiError:
            return None
        covered = changeset.covered(merge)
        if covered is None or not covered.is_verbatim:
            return None
        size = len(memory.from_bytes(memories[0].path, "", merge.written[0].after or b"").body.encode())
        return merge if size <= max(LARGEST, len(memories[0].body.encode())) else None

    def removals(self) -> Placed:
        """Propose to remove what is empty, to archive what expired."""
        for at, finding in self._numbered(REMOVED):
            mem, kind = self._memory(finding.data.get("path")), REMOVED[finding.code]
            if mem is None or (kind == "archive" and not self.store.is_trusted(mem)):
                continue
            directory = self.scopes[mem.scope_label].directory
            files = archived(directory, mem) if kind == "archive" else [FileDiff(mem.path, mem.raw, None)]
            self.gone.add(mem.path)
            yield at, propose(kind, files, [evidence_of(finding)], findings.message(finding))

    def fixes(self) -> Placed:
        """Propose what lint would fix, one change for each file."""
        for fix in self.file_fixes:
            (file,) = fix.files
            if file.path not in self.gone:
                path_numbers = (at for at, finding in enumerate(self.found) if finding.data.get("path") == file.path)
                yield next(path_numbers), fix

    def rule_steps(self) -> Placed:
        """Propose to pin what was violated or broken, to refuse what was broken although pinned, to relax what held."""
        for at, each in self._numbered({"memories.violated", *rule_steps.CODES}):
            mem, count = self._memory(each.data.get("path")), each.data.get("count")
            if mem is None or not self.store.is_trusted(mem):
                continue
            # Where rules are counted, their counts say better what was broken.
            is_seldom = isinstance(count, int) and count < VIOLATED
            is_settled = is_seldom or is_pinned(mem.fields) or bool(rule_hot.parse_all(mem.fields)[0])
            if each.code == "memories.violated" and is_settled:
                continue
            step = "rules.archive" if each.code == rule_steps.RELAX and not is_pinned(mem.fields) else each.code
            evidence, reason = evidence_of(each), f"{findings.message(each)} {STEPS[step]}"
            with suppress(MemtuiError):
                if step == "rules.archive":
                    self.gone.add(mem.path)
                    files = archived(self.scopes[mem.scope_label].directory, mem)
                    yield at, propose("archive", files, [evidence], reason)
                else:
                    fields = {str(each.data["field"]): "refuse"} if step == rule_steps.REFUSE else FIELDS[step]
                    data = memory.with_fields(mem, fields)
                    yield at, propose("rewrite", [FileDiff(mem.path, mem.raw, data)], [evidence], reason)

    def mutes(self) -> Placed:
        """Propose to mute a memory that prompts bring again and again in vain."""
        for at, finding in self._numbered({"memories.unused"}):
            mem = self.subject.memories[str(finding.data["path"])]
            if mem.path not in self.gone:
                files = [FileDiff(mem.path, mem.raw, mem.raw)]
                yield at, propose("mute", files, [evidence_of(finding)], findings.message(finding))

    def links(self) -> Placed:
        """Propose to let links to no memory lead to the one whose name only differs in its spelling: `[[Use PNPM]]`."""
        for at, each in self._numbered({"memories.link", "memories.odd_link"}):
            label = next((label for label, scope in self.scopes.items() if scope.shown == each.data.get("scope")), "")
            name = str(each.data.get("name"))
            own = [mem for mem in self.subject.memories.values() if mem.scope_label == label]
            stems = {mem.stem for mem in own if _spelled(name) in {_spelled(mem.stem), _spelled(mem.name)}}
            linking = [mem for mem in own if {name, name + ".md"} & set(mem.links) and self._memory(mem.path)]
            if len(stems) == 1 and linking:
                relink = partial(references.relink, path="", names=(name,), new=stems.pop())
                files = [FileDiff(mem.path, mem.raw, relink(mem.raw, mem.path)) for mem in linking]
                yield at, propose("relink", files, [evidence_of(each)], findings.message(each))


def _spelled(name: str) -> str:
    """Return the name that a link means, however it is spelled: with blanks, capitals, a directory or `.md`."""
    return memory.slugify(os.path.basename(name).removesuffix(".md").replace("_", " "))


def _clusters(scores: Mapping[frozenset[str], tuple[int, int]]) -> list[list[str]]:
    """Group files of which all are alike, each in one group, the most alike first."""
    groups: dict[str, list[str]] = {}
    for pair, _ in sorted(scores.items(), key=lambda item: (-item[1][0], sorted(item[0]))):
        one, other = sorted(pair)
        for path, partner in ((one, other), (other, one)):
            group = groups.get(partner)
            if path in groups:
                continue
            if group is None:
                groups[path] = groups[partner] = [path, partner]
            elif len(group) < MOST and all(frozenset((path, item)) in scores for item in group):
                group.append(path)
                groups[path] = group
    return list({id(item): sorted(item) for item in groups.values()}.values())
