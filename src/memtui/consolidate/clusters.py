"""Clusters: the memories that a dream looks at together, since they may say the same, or that need a look by
themselves.

Left out is what must not reach a model or could not be changed: memories that are broken, long, not trusted, in a
read-only scope, or that seem to contain a secret.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from itertools import combinations
from typing import Literal, NamedTuple

from memtui.consolidate import checks, contradictions, similarity
from memtui.consolidate.changeset import ProposalEvidence
from memtui.core.journal.own_files import Pair
from memtui.core.memories.memory import Memory
from memtui.core.memories.relative_dates import relative_dates
from memtui.core.memories.scopes import Scope
from memtui.core.places import trust
from memtui.core.redaction.redact import kinds_in

# Memories of a cluster, at most; characters of a memory that a dream looks at, at most.
MOST_TOGETHER, MOST_CHARACTERS = 6, 8000
# The code of what two memories that are alike are found by.
ALIKE = "memories.alike"
# The most pairs that are looked at, the most alike first.
MOST_PAIRS = 400
# A description with fewer words says too little.
FEW_WORDS = 3
# Why a dream does not look at a memory.
WhyNot = Literal["", "read_only", "broken", "empty", "long", "untrusted", "secret"]


class Cluster(NamedTuple):
    """Memories of one scope, its directory, and why they are looked at."""

    directory: str
    memories: tuple[Memory, ...]
    evidence: tuple[ProposalEvidence, ...]


def sorted_out(root: str, scope: Scope, memories: Iterable[Memory]) -> list[tuple[Memory, WhyNot]]:
    """Return the memories of a scope, each with the reason why a dream does not look at it, empty if it does."""
    if scope.kind == "instructions" or not scope.writable or scope.problem:
        return [(each, "read_only") for each in memories]
    trusted = trust.load(root, scope.directory) if scope.needs_trust else None
    return [(each, _why_not(each, trusted)) for each in memories]


def _why_not(found: Memory, trusted: "trust.Trust | None") -> WhyNot:
    if found.broken is not None:
        return "broken"
    if not found.raw:
        return "empty"
    if len(found.raw) > MOST_CHARACTERS:
        return "long"
    if trusted is not None and not trusted.allows(found.raw):
        return "untrusted"
    return "secret" if kinds_in(found.raw.decode("utf-8", "replace")) else ""


def clusters(directory: str, memories: Sequence[Memory], kept_apart: Collection[Pair] = ()) -> list[Cluster]:
    """List the clusters among the memories of one scope: those that contradict each other, then those alike, the most
    alike first, then single ones. Each memory is in at most one; two that are kept apart are never in the same."""
    groups: dict[str, list[Memory]] = {}
    reasons: dict[str, list[ProposalEvidence]] = {}
    for one, other, evidence in _pairs(memories):
        mine, theirs = (groups.get(each.path, [each]) for each in (one, other))
        joined = mine if mine is theirs else [*mine, *theirs]
        apart = any(frozenset((a.path, b.path)) in kept_apart for a, b in combinations(joined, 2))
        if len(joined) > MOST_TOGETHER or apart:
            continue
        known = reasons.get(mine[0].path, []) + (reasons.get(theirs[0].path, []) if mine is not theirs else [])
        for each in joined:
            groups[each.path], reasons[each.path] = joined, [*known, evidence]
    together = {id(group): Cluster(directory, tuple(group), tuple(reasons[group[0].path])) for group in groups.values()}
    alone = [Cluster(directory, (each,), tuple(_why(each))) for each in memories if each.path not in groups]
    return [*together.values(), *(each for each in alone if each.evidence)]


def _pairs(memories: Sequence[Memory]) -> Iterator[tuple[Memory, Memory, ProposalEvidence]]:
    for one, other in contradictions.find(memories):
        yield one.memory, other.memory, ProposalEvidence("memories.contradict", texts=(one.words, other.words))
    for pair in similarity.pairs(memories, MOST_PAIRS):
        apart = contradictions.difference(pair.one, pair.other)
        if apart is None:
            yield pair.one, pair.other, ProposalEvidence(ALIKE, similarity.of_two(pair.one, pair.other), pair.shared)
        elif not apart.is_date:
            yield pair.one, pair.other, ProposalEvidence("memories.contradict", texts=(apart.one, apart.other))


def _why(found: Memory) -> Iterator[ProposalEvidence]:
    """Yield why a memory needs a look by itself: it names relative dates, or its description says too little."""
    if words := tuple(each.words for each in relative_dates(found.body, written_on(found))):
        yield ProposalEvidence("memories.date", texts=words)
    if len(found.description.split()) < FEW_WORDS:
        yield ProposalEvidence("memories.no_description", texts=tuple(filter(None, [found.description])))


def written_on(found: Memory) -> date:
    """Return the day on which a memory was written, by its own fields, else by its file."""
    return checks.written(found)[0] or datetime.fromtimestamp(found.mtime, UTC).date()
