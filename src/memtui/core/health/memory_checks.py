"""Checks of memories that lint makes by reading them alone: what they lack, what they say of themselves that is not so,
and what should not be in them. Each finding's data has the memory's `path` and, where there is one, the `line`."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from memtui.core.base import clock
from memtui.core.base.finding import Finding, note, problem
from memtui.core.frontmatter import prose
from memtui.core.health import head_checks
from memtui.core.memories import copies
from memtui.core.memories.memory import TYPES, Memory, flat, slugify, text_of
from memtui.core.memories.references import is_name
from memtui.core.memories.scopes import Scope
from memtui.core.redaction import redact

LARGE_BYTES = 4096
OWN_TYPE = 3
COUNT_DIGITS = 8
DAY_SECONDS = 86_400
EXPIRES = ("expires", "expires_at", "expiresAt", "valid_until", "validUntil")
PLACEHOLDER = re.compile(r"(?:todo|tbd|fixme|wip|n/?a|none|empty|placeholder|to be written|\W|_)*", re.IGNORECASE)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
HEADING = re.compile(r"^ {0,3}#{1,6}(?:[ \t].*)?$", re.MULTILINE)


def about(scope: Scope, memory: Memory) -> dict[str, object]:
    """Return the facts that every finding about a memory has."""
    return {"scope": scope.shown, "memory": memory.stem, "path": memory.path}


def of_memories(
    scope: Scope, memories: Sequence[Memory], now: float, go_on: Callable[[], bool] = lambda: True
) -> Iterator[Finding]:
    """Find what is wrong with the memories of a scope. `now` in seconds since the epoch. `go_on` is asked before each
    memory; False ends the search."""
    whole = [memory for memory in memories if memory.broken is None]
    for memory in takewhile(lambda _: go_on(), memories):
        if in_it := secrets(memory.raw):
            facts = {"kinds": in_it[0], "line": in_it[1], **about(scope, memory)}
            yield problem("memories.secret", f"memory:{memory.path}", **facts)
    for memory in takewhile(lambda _: go_on(), whole):
        yield from _texts(scope, memory, now)
    copied = copies.of_memories(memories)
    for memory in memories:
        if memory.path in copied:
            facts = {"original": copied[memory.path], **about(scope, memory)}
            yield problem("memories.copy", f"memory:{memory.path}", **facts)
    # A copy with a name of its own would look like a memory of its own.
    yield from _names(scope, [memory for memory in whole if memory.path not in copied])
    yield from _types(scope, whole)


def line_of(memory: Memory, at: int) -> int:
    """Return the line of its file, from 1, of a place in a memory's body."""
    whole = memory.raw.decode("utf-8", "replace").replace("\r\n", "\n")
    return whole.count("\n") - memory.body.count("\n") + memory.body.count("\n", 0, at) + 1


def secrets(data: bytes) -> tuple[str, int] | None:
    """Return the kinds of secrets in a file, in words, and the line of the first; None if it has none."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    # A short number behind such a word ("--keys 20000") is a count.
    found = [
        each
        for each in redact.found_in(text)
        if not (text[each.start : each.end].isdecimal() and each.end - each.start < COUNT_DIGITS)
    ]
    if not found:
        return None
    kinds = dict.fromkeys(each.kind for each in found)
    return redact.described(kinds), text.count("\n", 0, found[0].start) + 1


def _texts(scope: Scope, memory: Memory, now: float) -> Iterator[Finding]:
    facts = about(scope, memory)
    subject = f"memory:{memory.path}"
    heads = list(head_checks.of_memory(memory, facts))
    yield from heads
    # The description that is missing may stand in the second block.
    if any(each.code == "memories.two_heads" for each in heads):
        return
    if is_empty(memory.body):
        yield problem("memories.empty", subject, **facts)
    elif memory.has_frontmatter and not memory.description:
        proposed = prose.first_sentence(memory.body)
        code = "memories.no_description" if proposed else "memories.no_sentence"
        yield problem(code, subject, proposed=proposed, field="description", **facts)
    if not memory.has_frontmatter:
        yield note("memories.no_frontmatter", subject, **facts)
    if memory.unquoted:
        yield note("memories.unquoted", subject, **facts)
    size = len(memory.body.encode("utf-8", "replace"))
    if size > LARGE_BYTES:
        yield note("memories.large", subject, bytes=size, **facts)
    for field in EXPIRES:
        given = text_of(memory.fields, field)
        when = clock.parse(given)
        if when is not None and now >= when + (DAY_SECONDS if len(given) == len("2026-11-22") else 0):
            paths = (path for path, _ in flat(memory.fields) if path.rpartition(".")[2] == field)
            yield problem("memories.expired", subject, field=next(paths, field), when=given, **facts)


def is_empty(body: str) -> bool:
    """Tell whether a body says nothing: only headings, comments and words such as TODO."""
    return PLACEHOLDER.fullmatch(HEADING.sub("", COMMENT.sub("", body[:LARGE_BYTES])).strip()) is not None


def _names(scope: Scope, memories: Sequence[Memory]) -> Iterator[Finding]:
    """Find memories that claim a name that another one has, or another name than their file's."""
    taken = {memory.stem for memory in memories}
    claims = dict(_claims(memories))
    for memory in memories:
        # The name for both is the frontmatter's, by which links and sessions know it.
        new = memory.name if is_name(memory.name) else slugify(memory.name)
        facts = {"name": memory.name, "proposed": memory.stem, "field": "name", "new": new, **about(scope, memory)}
        if memory.path in claims:
            first, certain = claims[memory.path]
            yield problem("memories.same_name", f"memory:{memory.path}", first=first.stem, certain=certain, **facts)
        elif not _agree(memory.name, memory.stem, memory.type) and memory.name not in taken:
            yield note("memories.name", f"memory:{memory.path}", **facts)


def _claims(memories: Sequence[Memory]) -> Iterator[tuple[str, tuple[Memory, bool]]]:
    """Yield the path of each memory that has another one's name, with that one, and whether its file's name can be its
    name. What one gives up another may claim, so it is gone through until nothing changes."""
    names = {memory.path: memory.name for memory in memories}
    stems = Counter(memory.stem for memory in memories)
    linked = {target.removesuffix(".md") for memory in memories for target in memory.links}
    found: set[str] = set()
    again = True
    while again:
        again = False
        firsts: dict[str, Memory] = {}
        for memory in memories:
            first = firsts.setdefault(names[memory.path], memory)
            # A name of several words, that no link has, is a title, which two may share.
            if first is memory or (" " in memory.name and memory.name not in linked):
                continue
            # The one whose file has the name keeps it.
            owns = names[memory.path] == memory.stem and names[first.path] != first.stem
            loser, keeper = (first, memory) if owns else (memory, first)
            if loser.path not in found:
                certain = stems[loser.stem] == 1 and names[loser.path] != loser.stem
                found.add(loser.path)
                yield loser.path, (keeper, certain)
                if certain:
                    names[loser.path] = loser.stem
                    again = True


def _agree(name: str, stem: str, kind: str) -> bool:
    """Tell whether a name is the file's in other words: with blanks, capitals or accents, or without its type."""
    one, other = slugify(name).split("-"), slugify(stem).split("-")
    if " " in name.strip():
        return True  # a title for people
    return one == other or [word for word in other if word != kind] == [word for word in one if word != kind]


def _types(scope: Scope, memories: Sequence[Memory]) -> Iterator[Finding]:
    """Find types that are none of the usual ones. What OWN_TYPE memories have is a type of the store's own."""
    counts = Counter(memory.type for memory in memories)
    for memory in memories:
        if memory.type and memory.type not in TYPES and counts[memory.type] < OWN_TYPE:
            plain = memory.type.strip().casefold()
            usual = next((each for each in TYPES if plain in {each, each + "s"}), "")
            facts = {"type": memory.type, "types": ", ".join(TYPES), "field": "type", "proposed": usual}
            yield note("memories.type", f"memory:{memory.path}", **facts, **about(scope, memory))
