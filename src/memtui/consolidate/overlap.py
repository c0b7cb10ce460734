"""What memories say twice or against each other: near-duplicates within and across scopes, plain contradictions, and
what CLAUDE.md or a rule says already.

Of two scopes the memory of the broader one stays, since others read it, too. Nothing of a person's own goes into a
repository, and what an agent has for itself stays there.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from memtui.consolidate import contradictions, coverage, similarity
from memtui.core.base.finding import Finding, note
from memtui.core.health import memory_checks
from memtui.core.journal.own_files import Pair
from memtui.core.memories.memory import CODE, Memory, flat
from memtui.core.memories.scopes import Scope
from memtui.core.places import trust

# The least share (of 1) of their words that both of a pair have and that is worth a person's time: of 400 memories of
# one project, the 14 pairs above it were about one thing each, and below 0.41 hubs and lists began, which share a form.
ALIKE = 0.45
# A memory repeats instructions if so much of its words stands in one place there, and it has at least so many.
REPEATED, WORDS = 0.9, 6
# The fields with the commands that a memory forbids.
FORBIDS = {"forbids", "metadata.forbids"}
PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)])\s)")


class Known(NamedTuple):
    """A memory and its scope."""

    scope: Scope
    memory: Memory

    @property
    def ref(self) -> str:
        """What a person calls it."""
        return f"{self.scope.shown}:{self.memory.stem}"


def of_memories(
    root: str, known: Sequence[Known], kept_apart: set[Pair], go_on: Callable[[], bool] = lambda: True
) -> Iterator[Finding]:
    """Find pairs of memories that are alike or contradict each other, except for those kept apart. `go_on` is asked
    before each memory and each pair; False ends the search. `root` as for `obstacle`."""
    places = {each.memory.path: each for each in known}
    memories = [each.memory for each in known if each.memory.broken is None]
    opposed = set()
    for mine, theirs in contradictions.find(takewhile(lambda _: go_on(), memories)):
        pair = frozenset((mine.memory.path, theirs.memory.path))
        if pair not in kept_apart:
            opposed.add(pair)
            one, other = places[mine.memory.path], places[theirs.memory.path]
            yield _of_two("memories.contradict", one, other, words=mine.words, against=theirs.words)
    pairs = [(similarity.of_two(*found[:2]), found) for found in similarity.pairs(memories, least=ALIKE, go_on=go_on)]
    for score, found in sorted(pairs, key=lambda each: -each[0]):
        pair = frozenset((found.one.path, found.other.path))
        if len(pair) < 2 or pair in kept_apart | opposed:
            continue
        apart = contradictions.difference(found.one, found.other)
        one, other = places[found.one.path], places[found.other.path]
        if apart is None:
            why = "" if one.scope.label == other.scope.label else obstacle(root, one, other)
            facts = {"score": round(100 * score), "share": round(100 * found.share), "shared": list(found.shared)}
            yield _of_two("memories.alike", one, other, **facts, why=why)
        elif not apart.is_date:
            yield _of_two("memories.contradict", one, other, words=apart.one, against=apart.other)


def _of_two(code: str, one: Known, other: Known, **facts: object) -> Finding:
    about = memory_checks.about(one.scope, one.memory)
    return note(code, f"memory:{one.memory.path}", other=other.ref, other_path=other.memory.path, **facts, **about)


def repeating(
    known: Iterable[Known], instructions: Sequence[Memory], go_on: Callable[[], bool] = lambda: True
) -> Iterator[Finding]:
    """Find memories of which the whole statement stands in a file of instructions. `go_on` is asked before each memory;
    False ends the search."""
    places = [(each, text, similarity.telling(text)) for each in instructions for text in _paragraphs(each.body)]
    for scope, memory in takewhile(lambda _: go_on(), known if places else ()):
        if memory.broken is not None or FORBIDS & dict(flat(memory.fields)).keys():
            continue  # what forbids commands does more than its words
        # Its description, and the first paragraph: what it says, before why and how.
        first = next((each for each in _paragraphs(memory.body) if not each.lstrip().startswith("#")), "")
        for statement in dict.fromkeys((memory.description, first)):
            own = similarity.telling(statement)
            match = next((each for each in places if len(own & each[2]) >= REPEATED * len(own)), None)
            if len(own) >= WORDS and match is not None:
                facts = {"file": match[0].path, "words": " ".join(match[1].split())[:100]}
                yield note("memories.repeats", f"memory:{memory.path}", **facts, **memory_checks.about(scope, memory))
                break


def _paragraphs(body: str) -> list[str]:
    plain = CODE.sub(lambda code: "\n" if code["fence"] else code[0], body)
    return [each for each in PARAGRAPH.split(plain) if each.strip()]


def obstacle(root: str, one: Known, other: Known) -> str:
    """Return why no merge of two memories of different scopes is proposed, as a part of a sentence; empty if one is.
    `root` is memtui's directory, empty where there is no home."""
    kinds = {one.scope.kind: one, other.scope.kind: other}
    for each in (one, other):
        if each.scope.needs_trust and (not root or not trust.load(root, each.scope.directory).allows(each.memory.raw)):
            return f"{each.ref} is not trusted"
        if not each.scope.writable or each.scope.problem:
            return f"{each.ref} can't be changed"
    if "agent" in kinds:
        return "an agent gets only what is its own"
    if set(kinds) == {"global", "auto"}:
        return ""
    if set(kinds) == {"project", "auto"}:
        covered = coverage.cover(
            *(coverage.of_file(kinds[k].memory.path, kinds[k].memory.raw) for k in ("auto", "project"))
        )
        says_more = covered.dropped or not covered.is_verbatim
        return f"{kinds['auto'].ref} says more, which would go into the repository" if says_more else ""
    if set(kinds) == {"global", "project"}:
        mine = kinds["global"].ref
        return f"{kinds['project'].ref} is for everybody in the repository, {mine} for you in all projects"
    return "neither is for all that the other is for"


def broadest(known: list[Known]) -> tuple[str, str]:
    """Return the label of the scope whose memory stays, and why, as a sentence. No pair of them has an `obstacle`."""
    for kind, why in (("global", "which holds in all projects"), ("project", "which says all of it")):
        stays = next((each for each in known if each.scope.kind == kind), None)
        if stays is not None:
            return stays.scope.label, f"{stays.ref} stays, {why}."
    return known[0].scope.label, ""
