"""Checks of memories by reading them alone. Each finding has the memory's `path`, and maybe a `line`."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from memtui.base import clock_hot
from memtui.base.finding import Finding, note, problem
from memtui.base.similarity import ECHO, TextWords, similarity, words
from memtui.redact import redact
from memtui.rules import problems
from memtui.store import scopes
from memtui.store.frontmatter import document, prose_hot
from memtui.store.frontmatter.document import FENCE
from memtui.store.index import index_lines
from memtui.store.index.index import EM_DASH, Index, IndexEntry, normal
from memtui.store.memory import TYPES, Memory, flat, text_of
from memtui.store.scopes import Scope
from memtui.tidy.checks.check import Check, Checked, about

# A longer text says something.
EMPTY_BYTES = 4096
OWN_TYPE = 3
COUNT_DIGITS = 8
DAY_SECONDS = 86_400
EXPIRES = ("expires", "expires_at", "expiresAt", "valid_until", "validUntil")
# The most characters of a line that the client asks for.
LINE_CHARACTERS = 200
# Where a part of a sentence ends.
CLAUSE = re.compile(r"[,;:.!?]\s|\s[—–-]\s|\s\(")
# A text of fewer words says too little.
FEWEST_WORDS = 3
PLACEHOLDER = re.compile(r"(?:todo|tbd|fixme|wip|n/?a|none|empty|placeholder|to be written|\W|_)*", re.IGNORECASE)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
HEADING = re.compile(r"^ {0,3}#{1,6}(?:[ \t].*)?$", re.MULTILINE)


def _in_files(checked: Checked) -> Iterator[Finding]:
    """Find secrets, and copies that a sync program left, in sound and broken memories."""
    copied = scopes.copied_memories(checked.every)
    for memory in checked.every:
        if in_it := checked.answers.of("secret", memory.raw, partial(secrets, memory.raw)):
            yield about(problem("memories.secret", kinds=in_it[0], line=in_it[1]), checked.scope, memory)
        if memory.path in copied:
            yield about(problem("memories.copy", original=copied[memory.path]), checked.scope, memory)


def secrets(data: bytes) -> tuple[str, int] | None:
    """Return the kinds of secrets in a file, in words, and the line of the first; None if it has none."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    # A short number behind such a word ("--keys 20000") is a count.
    every = redact.found_in(text)
    keys = [key for key in every if key.end - key.start >= COUNT_DIGITS or not text[key.start : key.end].isdecimal()]
    if not keys:
        return None
    return redact.described(dict.fromkeys(key.kind for key in keys)), text.count("\n", 0, keys[0].start) + 1


def _head(memory: Memory, _: float) -> Iterator[Finding]:
    if not memory.has_frontmatter:
        yield note("memories.no_frontmatter")
    elif memory.raw.count(FENCE.encode()) > 2 and FENCE in document.parse(memory.raw).block:
        yield problem("memories.cut_head")


def _text(memory: Memory, _: float) -> Iterator[Finding]:
    if is_empty(memory.body):
        yield problem("memories.empty")
    elif memory.has_frontmatter and not memory.description:
        proposed = prose_hot.first_sentence(memory.body)
        code = "memories.no_description" if proposed else "memories.no_sentence"
        yield problem(code, proposed=proposed, field="description")


def _expired(memory: Memory, now: float) -> Iterator[Finding]:
    for field in EXPIRES:
        text = text_of(memory.fields, field)
        when = clock_hot.parse(text)
        if when is not None and now >= when + (DAY_SECONDS if len(text) == len("2026-11-22") else 0):
            paths = (path for path, _ in flat(memory.fields) if path.rpartition(".")[2] == field)
            yield problem("memories.expired", field=next(paths, field), when=text)


def _rules(memory: Memory, _: float) -> Iterator[Finding]:
    for line, why in problems.problems_of(memory):
        yield problem("rules.form", line=line, why=why)


def is_empty(body: str) -> bool:
    """Tell whether a body says nothing: only headings, comments and words such as TODO."""
    return PLACEHOLDER.fullmatch(HEADING.sub("", COMMENT.sub("", body[:EMPTY_BYTES])).strip()) is not None


def _names(checked: Checked) -> Iterator[Finding]:
    """Find memories that claim another one's name; their own can be their file's, if no other has or claims it."""
    # A copy with a name of its own would look like a memory of its own.
    copied = scopes.copied_memories(checked.every)
    memories = [memory for memory in checked.memories if memory.path not in copied]
    claimed = Counter(memory.stem for memory in memories)
    claimed += Counter(memory.name for memory in memories if memory.name != memory.stem)
    linked = {target.removesuffix(".md") for memory in memories for target in memory.links}
    firsts: dict[str, Memory] = {}
    # The one whose file has the name keeps it.
    for memory in sorted(memories, key=lambda mem: mem.name != mem.stem):
        first = firsts.setdefault(memory.name, memory)
        # A name of several words, that no link has, is a title, which two may share.
        if first is not memory and (" " not in memory.name or memory.name in linked):
            certain = claimed[memory.stem] == 1 and memory.name != memory.stem
            facts = {"name": memory.name, "first": first.stem, "field": "name", "proposed": memory.stem}
            yield about(problem("memories.same_name", **facts, certain=certain), checked.scope, memory)


def _types(checked: Checked) -> Iterator[Finding]:
    """Find types that are none of the usual ones. What OWN_TYPE memories have is a type of the store's own."""
    counts = Counter(memory.type for memory in checked.memories)
    for memory in checked.memories:
        if memory.type and memory.type not in TYPES and counts[memory.type] < OWN_TYPE:
            plain = memory.type.strip().casefold()
            usual = next((kind for kind in TYPES if plain in {kind, kind + "s"}), "")
            facts = {"type": memory.type, "types": ", ".join(TYPES), "field": "type", "proposed": usual}
            yield about(note("memories.type", **facts), checked.scope, memory)


def of_index(scope: Scope, index: Index, memories: Mapping[str, Memory]) -> Iterator[Finding]:
    """Find what is wrong with the lines of an index. `memories` of the scope, by their normal path in it."""
    for finding in _of_lines(index, memories):
        facts = {**finding.data, "scope": scope.shown, "path": scope.index_path}
        yield finding._replace(subject=f"index:{scope.label}", data=facts)


def _of_lines(index: Index, memories: Mapping[str, Memory]) -> Iterator[Finding]:
    if in_it := secrets(index.raw):
        yield problem("memories.secret", kinds=in_it[0], line=in_it[1], memory="MEMORY.md")
    if index.conflict:
        return  # what else is wrong with it depends on how that is resolved
    for first, *others in index_lines.repeated(index):
        numbers = [entry.line for entry in (first, *others)]
        line = _combined(index, first, others, memories.get(normal(first.target)))
        where = {"line": others[0].line, "lines": numbers, "count": len(numbers), "words": first.raw_target}
        certain = len(line) <= max(LINE_CHARACTERS, len(index.lines[first.line - 1].rstrip()))
        yield problem("memories.same_line", file=first.target, proposed=line, certain=certain, **where)
    for start, _, title in index_lines.empty_sections(index):
        yield note("memories.empty_section", title=title, line=start + 1)
    for entry in index.entries:
        memory = memories.get(normal(entry.target))
        length = len(index.lines[entry.line - 1].strip())
        if length > LINE_CHARACTERS:
            facts = {"line": entry.line, "count": length, "most": LINE_CHARACTERS, "file": entry.target}
            room = min(index_lines.HOOK_LIMIT, LINE_CHARACTERS - length + len(entry.hook))
            proposed = _shorter(entry, memory, room)
            yield note("memories.long_hook", **facts, words=entry.hook, proposed=proposed, certain=bool(proposed))


def _combined(index: Index, first: IndexEntry, others: Iterable[IndexEntry], memory: Memory | None) -> str:
    """Return the first line of a memory with what only its other lines say behind it."""
    line = index.lines[first.line - 1].rstrip()
    listed_words = words(f"{line} {memory.description} {memory.body}" if memory is not None else line)
    for entry in others:
        text = index_lines.text_of(index, entry)
        if not words(text) <= listed_words:
            line = f"{line.rstrip(' ;,.')}{'; ' if first.hook else EM_DASH}{text}"
            listed_words |= words(text)
    return line


def _shorter(entry: IndexEntry, memory: Memory | None, room: int) -> str:
    """Return an entry's text up to the end of a clause within `room`; empty if the memory lacks words of it."""
    text = entry.hook
    if memory is None or memory.broken or not words(text) <= words(f"{memory.description} {memory.body}"):
        return ""
    if "<!--" in text or "\ufffd" in text:  # a comment that goes on, bytes that are no text
        return ""
    ends = [match.start() for match in CLAUSE.finditer(text) if match.start() <= room]
    parts = [text[:end].rstrip(" ,;:.—–-") for end in reversed(ends)]
    parts.append(text[: max(room - 1, 0)].rpartition(" ")[0].rstrip(" ,;:.—–-(") + "…")
    described = words(memory.description)
    for part in parts:
        own = words(part)
        echoes = similarity(TextWords(own), TextWords(described)).score >= ECHO
        pairs = all(part.count(one) == part.count(other) for one, other in ("[]", "()"))
        is_open = not pairs or any(part.count(mark) % 2 for mark in ("`", "**", "__"))
        if len(own) >= FEWEST_WORDS and not is_open and not echoes:
            return part
    return ""


CHECKS = (
    Check(("memories.secret", "memories.copy"), of_scope=_in_files),
    Check(("memories.no_frontmatter", "memories.cut_head"), of_memory=_head),
    Check(("memories.empty", "memories.no_description", "memories.no_sentence"), of_memory=_text),
    Check(("memories.expired",), of_memory=_expired),
    Check(("rules.form",), of_memory=_rules),
    Check(("memories.same_name",), of_scope=_names),
    Check(("memories.type",), of_scope=_types),
)
