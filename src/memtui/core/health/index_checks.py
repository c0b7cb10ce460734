"""Checks of a MEMORY.md that lint makes, beyond what `IndexState` finds for everybody: lines that repeat, are too long,
say nothing, or go on."""

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


def of_index(scope: Scope, index: Index, memories: Mapping[str, Memory]) -> Iterator[Finding]:
    """Find what is wrong with the lines of an index. `memories` of the scope, by their normal path in it."""
    about: dict[str, object] = {"scope": scope.shown, "path": scope.index_path}
    subject = f"index:{scope.label}"
    if found_secrets := memory_checks.secrets(index.raw):
        kinds, at = found_secrets
        yield problem("memories.secret", subject, kinds=kinds, line=at, memory="MEMORY.md", **about)
    for first, *others in index_lines.repeated(index):
        numbers = [entry.line for entry in (first, *others)]
        line = _combined(index, first, others, memories.get(normal(first.target)))
        where = {"line": others[0].line, "lines": numbers, "count": len(numbers), "words": first.raw_target}
        certain = len(line) <= max(LINE_CHARACTERS, len(index.lines[first.line - 1].rstrip()))
        facts = {"file": first.target, "proposed": line, "certain": certain}
        yield problem("memories.same_line", subject, **facts, **where, **about)
    for start, _, title in index_lines.empty_sections(index):
        yield note("memories.empty_section", subject, title=title, line=start + 1, **about)
    echoes = []
    for entry in index.entries:
        found = memories.get(normal(entry.target))
        length = len(index.lines[entry.line - 1].strip())
        if length > LINE_CHARACTERS:
            facts = {"line": entry.line, "count": length, "most": LINE_CHARACTERS, "file": entry.target}
            proposed = _shorter(entry, found)
            facts |= {"words": entry.hook, "proposed": proposed, "certain": bool(proposed)}
            yield note("memories.long_hook", subject, **facts, **about)
        elif found is not None and _same(entry.hook, found.description) and not _is_made(entry, found):
            echoes.append(entry)
    if echoes:
        names = [entry.target for entry in echoes]
        yield note("memories.echoes", subject, files=names, line=echoes[0].line, **about)
    spills = index_lines.spilling(index)
    short = [e for e in spills if len(index_lines.joined(index, e)) <= LINE_CHARACTERS]
    for certain, those in ((True, short), (False, [e for e in spills if e not in short])):
        if those:
            names = [entry.target for entry in those]
            yield note("memories.spills", subject, files=names, line=those[0].line, certain=certain, **about)


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


def _is_made(entry: IndexEntry, found: Memory) -> bool:
    """Return whether a line is as memtui adds them: what it writes itself it does not report."""
    return index_lines.is_made(entry, found.name, found.description)


def _shorter(entry: IndexEntry, found: Memory | None) -> str:
    """Return the memory's description, if it is short and the memory has every word of the longer text, so that nothing
    is lost; else an empty text."""
    if found is None or found.broken or not found.description or len(found.description) > index_lines.HOOK_LIMIT:
        return ""
    has_all = words(entry.hook) <= words(f"{found.description} {found.body}")
    return found.description if has_all and found.description != entry.hook else ""
