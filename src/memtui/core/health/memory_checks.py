"""Checks of memories that lint makes by reading them alone: what they lack, what they say of themselves that is not so,
and what should not be in them. Each finding's data has the memory's `path` and, where there is one, the `line`."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile

from memtui.core.base import clock
from memtui.core.base.finding import Finding, note, problem
from memtui.core.frontmatter import document, prose
from memtui.core.frontmatter.document import FENCE, Document
from memtui.core.frontmatter.subset import split_key
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
DASHES = re.compile(r"-{3,}")
# What dashes may become a dash in: a name or a pattern would mean something else.
SPOKEN = {"description", "title"}
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
    if memory.has_frontmatter and memory.raw.count(FENCE.encode()) > 2:
        doc = document.parse(memory.raw)
        if FENCE in doc.block:
            yield problem("memories.cut_head", subject, certain=with_dash(doc) is not None, **facts)
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


def with_dash(doc: Document) -> bytes | None:
    """Return a file with a dash for each `---` in its description, at which Claude Code would end the frontmatter; None
    if there are others."""
    lines, key = [], ""
    for line in doc.block.splitlines(keepends=True):
        pair = split_key(line)
        key = pair[0] if pair else key
        lines.append(DASHES.sub("—", line) if key in SPOKEN or line.lstrip().startswith("#") else line)
    text = doc.head + "".join(lines) + doc.fence + doc.rest
    after = document.parse(text.encode("utf-8", "surrogateescape"))
    is_same = FENCE not in after.block and after.broken is None and after.fields.keys() == doc.fields.keys()
    return after.raw if is_same else None


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
    name: no other memory has or claims that."""
    claimed = Counter(memory.stem for memory in memories) + Counter(
        memory.name for memory in memories if memory.name != memory.stem
    )
    linked = {target.removesuffix(".md") for memory in memories for target in memory.links}
    firsts: dict[str, Memory] = {}
    # The one whose file has the name keeps it.
    for memory in sorted(memories, key=lambda each: each.name != each.stem):
        first = firsts.setdefault(memory.name, memory)
        # A name of several words, that no link has, is a title, which two may share.
        if first is not memory and (" " not in memory.name or memory.name in linked):
            yield memory.path, (first, claimed[memory.stem] == 1 and memory.name != memory.stem)


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
