"""Checks of a MEMORY.md that lint makes, beyond what `IndexState` finds for everybody: lines that repeat, are too long,
or go on."""

import re
from collections.abc import Iterable, Iterator, Mapping

from memtui.core.base.finding import Finding, note, problem
from memtui.core.health import memory_checks
from memtui.core.memories import index_lines
from memtui.core.memories.index import Index, IndexEntry, normal
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope

# The most characters of a line that the client asks for.
LINE_CHARACTERS = 200
# Two texts say the same if they share this part of their words.
ECHO = 0.9
WORD = re.compile(r"[^\W_]+")
# Where a part of a sentence ends.
CLAUSE = re.compile(r"[,;:.!?]\s|\s[—–-]\s|\s\(")
# A text of fewer words says too little.
FEWEST_WORDS = 3


def of_index(scope: Scope, index: Index, memories: Mapping[str, Memory]) -> Iterator[Finding]:
    """Find what is wrong with the lines of an index. `memories` of the scope, by their normal path in it."""
    about: dict[str, object] = {"scope": scope.shown, "path": scope.index_path}
    subject = f"index:{scope.label}"
    if found_secrets := memory_checks.secrets(index.raw):
        kinds, at = found_secrets
        yield problem("memories.secret", subject, kinds=kinds, line=at, memory="MEMORY.md", **about)
    if index.conflict:
        return  # what else is wrong with it depends on how that is resolved
    for first, *others in index_lines.repeated(index):
        numbers = [entry.line for entry in (first, *others)]
        line = _combined(index, first, others, memories.get(normal(first.target)))
        where = {"line": others[0].line, "lines": numbers, "count": len(numbers), "words": first.raw_target}
        certain = len(line) <= max(LINE_CHARACTERS, len(index.lines[first.line - 1].rstrip()))
        facts = {"file": first.target, "proposed": line, "certain": certain}
        yield problem("memories.same_line", subject, **facts, **where, **about)
    for start, _, title in index_lines.empty_sections(index):
        yield note("memories.empty_section", subject, title=title, line=start + 1, **about)
    for entry in index.entries:
        found = memories.get(normal(entry.target))
        length = len(index.lines[entry.line - 1].strip())
        if length > LINE_CHARACTERS:
            facts = {"line": entry.line, "count": length, "most": LINE_CHARACTERS, "file": entry.target}
            room = min(index_lines.HOOK_LIMIT, LINE_CHARACTERS - length + len(entry.hook))
            proposed = _shorter(entry, found, room)
            facts |= {"words": entry.hook, "proposed": proposed, "certain": bool(proposed)}
            yield note("memories.long_hook", subject, **facts, **about)
    spills = [each for each in index.entries if len(index_lines.entry_lines(index, each)) > 1]
    short = [e for e in spills if len(index_lines.joined(index, e)) <= LINE_CHARACTERS]
    for certain, those in ((True, short), (False, [e for e in spills if e not in short])):
        if those:
            files = [entry.target for entry in those]
            yield note("memories.spills", subject, files=files, line=those[0].line, certain=certain, **about)


def _combined(index: Index, first: IndexEntry, others: Iterable[IndexEntry], found: Memory | None) -> str:
    """Return the first line of a memory with what only its other lines say behind it."""
    line = index.lines[first.line - 1].rstrip()
    known = words(f"{line} {found.description} {found.body}" if found is not None else line)
    for entry in others:
        text = index_lines.text_of(index, entry)
        if not words(text) <= known:
            line = f"{line.rstrip(' ;,.')}{'; ' if first.hook else index_lines.EM_DASH}{text}"
            known |= words(text)
    return line


def words(text: str) -> set[str]:
    """Return the words of a text, in lower case."""
    return set(WORD.findall(text.casefold()))


def _same(one: str, other: str) -> bool:
    ones, others = words(one), words(other)
    return bool(ones and others) and len(ones & others) >= ECHO * len(ones | others)


def _shorter(entry: IndexEntry, found: Memory | None, room: int) -> str:
    """Return the beginning of an entry's text, at most `room` characters, up to the end of a part of a sentence; empty
    if the memory lacks a word of the text, as that would be lost, or if what is left says too little."""
    text = entry.hook
    if found is None or found.broken or not words(text) <= words(f"{found.description} {found.body}"):
        return ""
    if "<!--" in text or "\ufffd" in text:  # a comment that goes on, bytes that are no text
        return ""
    ends = [match.start() for match in CLAUSE.finditer(text) if match.start() <= room]
    parts = [text[:end].rstrip(" ,;:.—–-") for end in reversed(ends)]
    parts.append(text[: max(room - 1, 0)].rpartition(" ")[0].rstrip(" ,;:.—–-(") + "…")
    whole = (each for each in parts if len(words(each)) >= FEWEST_WORDS and _is_closed(each))
    return next((each for each in whole if not _same(each, found.description)), "")


def _is_closed(text: str) -> bool:
    """Return whether no mark of Markdown is left open."""
    pairs = all(text.count(one) == text.count(other) for one, other in ("[]", "()"))
    return pairs and not any(text.count(mark) % 2 for mark in ("`", "**", "__"))
