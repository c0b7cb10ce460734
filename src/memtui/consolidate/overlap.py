"""Find what memories say twice or against each other: near-duplicates within and across scopes, plain contradictions,
and what CLAUDE.md or a rule says already."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from memtui.consolidate import across, contradictions, duplicates, rivals, similar
from memtui.consolidate.across import Known
from memtui.core.base.finding import Finding, note
from memtui.core.health import memory_checks
from memtui.core.journal.own_files import Pair
from memtui.core.memories.memory import CODE, Memory, flat
from memtui.core.memories.scopes import Scope

# The least share (of 1) of their words that both of a pair have and that is worth a person's time: of 400 memories of
# one project, the 14 pairs above it were about one thing each, and below 0.41 hubs and lists began, which share a form.
ALIKE = 0.45
# A memory repeats instructions if so much of its words stands in one place there, and it has at least so many.
REPEATED = 0.9
WORDS = 6
# The fields with the commands that a memory forbids.
FORBIDS = {"forbids", "metadata.forbids"}
PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)])\s)")
# Words that say little about what a sentence is about.
FILLERS = duplicates.words(
    "a an and are as at be by for from has have in is it its of on or that the this to was we with you"
)


def of_memories(
    root: str, known: Sequence[Known], kept_apart: set[Pair], go_on: Callable[[], bool] = lambda: True
) -> Iterator[Finding]:
    """Find pairs of memories that are alike or contradict each other, except for those kept apart. `go_on` is asked
    before each memory and each pair; False ends the search. `root` as for `across.obstacle`."""
    scopes = {each.memory.path: each.scope for each in known}
    memories = [each.memory for each in known if each.memory.broken is None]
    opposed = set()
    for one, other in contradictions.find(takewhile(lambda _: go_on(), memories)):
        pair = frozenset((one.memory.path, other.memory.path))
        if pair not in kept_apart:
            opposed.add(pair)
            facts = _pair(scopes, one.memory, other.memory)
            words = {"words": one.words, "against": other.words}
            yield note("memories.contradict", f"memory:{one.memory.path}", **words, **facts)
    pairs = [(similar.of_two(*found[:2]), found) for found in duplicates.pairs(memories, least=ALIKE, go_on=go_on)]
    for score, found in sorted(pairs, key=lambda each: -each[0]):
        pair = frozenset((found.one.path, found.other.path))
        if len(pair) == 2 and pair not in kept_apart | opposed:
            apart = rivals.between(found.one, found.other)
            if apart is not None:
                if not apart.is_date:
                    words = {"words": apart.one, "against": apart.other}
                    facts = _pair(scopes, found.one, found.other)
                    yield note("memories.contradict", f"memory:{found.one.path}", **words, **facts)
                continue
            both = [Known(scopes[each.path], each) for each in (found.one, found.other)]
            why = "" if found.one.scope_label == found.other.scope_label else across.obstacle(root, *both)
            shares = {"score": round(100 * score), "share": round(100 * found.share)}
            facts = {**shares, "shared": list(found.shared), "why": why}
            yield note("memories.alike", f"memory:{found.one.path}", **facts, **_pair(scopes, found.one, found.other))


def _pair(scopes: Mapping[str, Scope], one: Memory, other: Memory) -> dict[str, object]:
    label = f"{scopes[other.path].shown}:{other.stem}"
    return {"other": label, "other_path": other.path, **memory_checks.about(scopes[one.path], one)}


def repeating(
    known: Iterable[Known], instructions: Sequence[Memory], go_on: Callable[[], bool] = lambda: True
) -> Iterator[Finding]:
    """Find memories of which the whole statement stands in a file of instructions. `go_on` is asked before each memory;
    False ends the search."""
    places = [(each, text, _words(text)) for each in instructions for text in _paragraphs(each.body)]
    if not places:
        return
    for scope, memory in takewhile(lambda _: go_on(), known):
        if memory.broken is not None or FORBIDS & dict(flat(memory.fields)).keys():
            continue  # what forbids commands does more than its words
        for statement in dict.fromkeys((memory.description, _statement(memory.body))):
            own = _words(statement)
            if len(own) < WORDS:
                continue
            found = next((each for each in places if len(own & each[2]) >= REPEATED * len(own)), None)
            if found is not None:
                file, text, _ = found
                facts = {"file": file.path, "words": " ".join(text.split())[:100]}
                yield note("memories.repeats", f"memory:{memory.path}", **facts, **memory_checks.about(scope, memory))
                break


def _paragraphs(body: str) -> list[str]:
    return [each for each in PARAGRAPH.split(CODE.sub(_spared, body)) if each.strip()]


def _spared(match: "re.Match[str]") -> str:
    return "\n" if match["fence"] else match[0]


def _statement(body: str) -> str:
    """Return the first paragraph of a body that is no heading: what the memory says, before why and how."""
    return next((each for each in _paragraphs(body) if not each.lstrip().startswith("#")), "")


def _words(text: str) -> frozenset[str]:
    return duplicates.words(text) - FILLERS
