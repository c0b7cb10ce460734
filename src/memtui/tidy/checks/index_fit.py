"""Bring a MEMORY.md under its limit: shorten lines, order by use, make unused memories recall-only; no text is lost."""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from memtui.base.phrasing_hot import many
from memtui.store.index import index_lines
from memtui.store.index.index import Index, IndexEntry, budget, normal, parse_index
from memtui.store.memory import Memory
from memtui.store.scopes import Scope
from memtui.store.status import Usage
from memtui.tidy.checks import memory_checks

# How often each memory was used and delivered, by its normal path in the scope.
Uses = Mapping[str, tuple[int, int]]
NEVER = (0, 0)
# A step can make room for another one, but not without end.
ROUNDS = 5


def uses_of(scope: Scope, usage: Usage | None) -> Uses:
    """Return how often the memories of a scope were used and delivered; nothing where that is not to be looked at."""
    if usage is None or not usage.memories:
        return {}
    uses_by_file: dict[str, tuple[int, int]] = {}
    for top in {f"{scope.directory}/", f"{os.path.realpath(scope.directory)}/"}:
        for path, counts in usage.memories.items():
            if path.startswith(top):
                uses, deliveries = uses_by_file.get(file := normal(path.removeprefix(top)), NEVER)
                uses_by_file[file] = uses + counts.uses, deliveries + counts.deliveries
    return uses_by_file


class Fit(NamedTuple):
    """An index under its limit, and how many lines each step changed."""

    data: bytes
    shortened: int = 0
    ordered: int = 0
    recall_only: int = 0

    @property
    def words(self) -> str:
        """Say what each step does: `Shortens 3 lines. Makes 41 memories recall-only: …`; empty if nothing changes."""
        recalled = "they stay, and memtui brings each with the prompts that it fits"
        steps = {
            f"Shortens {many(self.shortened, 'line')}.": self.shortened,
            f"Orders {many(self.ordered, 'line')} by use, most used first.": self.ordered,
            f"Makes {many(self.recall_only, 'memory', 'memories')} recall-only: {recalled}.": self.recall_only,
        }
        return " ".join(sentence for sentence, count in steps.items() if count)


def fit(scope: Scope, data: bytes, memories: Mapping[str, Memory], uses: Uses) -> Fit:
    """Bring a scope's index under its limit, unless in conflict; a subagent's least used lines stay below the cut."""
    other = Fit(data)
    for _ in range(ROUNDS):
        after = _once(scope, other, memories, uses)
        if after.data == other.data:
            break
        other = after
    return other


def _once(scope: Scope, other: Fit, memories: Mapping[str, Memory], uses: Uses) -> Fit:
    agent = scope.kind == "agent"

    def fits(data: bytes) -> bool:
        return budget(data, agent=agent).cut_line is None

    data = other.data
    if fits(data) or parse_index(data).conflict:
        return other
    short, count = _shortened(scope, data, memories)
    other = other._replace(data=short, shortened=other.shortened + count)
    if fits(short):
        return other
    ordered, count = _ordered(short, uses)
    other = other._replace(data=ordered, ordered=other.ordered + count)
    if not agent and (less := _recall_only(ordered, uses, fits)) is not None:
        return other._replace(data=less[0], recall_only=other.recall_only + less[1])
    return other


def _shortened(scope: Scope, data: bytes, memories: Mapping[str, Memory]) -> tuple[bytes, int]:
    """Shorten the lines that are too long and whose text the memory has as well, to the head of their sentence."""
    count = 0
    for finding in memory_checks.of_index(scope, parse_index(data), memories):
        if finding.code == "memories.long_hook" and finding.data["certain"]:
            file, proposed, words = (str(finding.data[key]) for key in ("file", "proposed", "words"))
            data, before = index_lines.set_hook(data, file, proposed, words, exact=True), data
            count += data != before
    return data, count


def _ordered(data: bytes, uses: Uses) -> tuple[bytes, int]:
    """Sort the lines of each list by use, most first; equals keep their order. Return how many moved."""
    index = parse_index(data)
    lines = list(index.lines)
    use = {lines_block.line - 1: _used(lines_block, uses) for lines_block in index.entries}
    moved = 0
    for block in _lists(index):
        best = sorted(block, key=lambda lines_block: max(use.get(line, NEVER) for line in lines_block), reverse=True)
        changed = [lines_block for lines_block, other in zip(best, block, strict=True) if lines_block != other]
        if not changed:
            continue
        moved += len(changed)
        text = [index.lines[number] for lines_block in best for number in lines_block]
        start, end = block[0][0], block[-1][-1] + 1
        if not lines[end - 1].endswith("\n"):
            ended = (line if line.endswith("\n") else line + index.newline for line in text[:-1])
            text = [*ended, text[-1].rstrip("\r\n")]
        lines[start:end] = text
    after = index_lines.joined_lines(index, lines)
    return (after, moved) if moved and _same_memories(index, parse_index(after)) else (data, 0)


def _lists(index: Index) -> Iterator[list[range]]:
    """Yield each list of memories without a gap, as the lines (from 0) of its items with all that is indented below."""
    items: list[range] = []
    indent = 0
    for entry in index.entries:
        lines = index_lines.entry_lines(index, entry)
        if items and lines.start < items[-1].stop:
            continue
        if items and lines.start == items[-1].stop and entry.indent >= indent:
            if entry.indent > indent:
                items[-1] = range(items[-1].start, lines.stop)
            else:
                items.append(lines)
            continue
        if len(items) > 1:
            yield items
        items, indent = [lines], entry.indent
    if len(items) > 1:
        yield items


def _used(entry: IndexEntry, uses: Uses) -> tuple[int, int]:
    return max((uses.get(target, NEVER) for target in entry.targets), default=NEVER)


def _recall_only(data: bytes, uses: Uses, fits: Callable[[bytes], bool]) -> tuple[bytes, int] | None:
    """Make as few memories recall-only as it takes, never used ones first, from the end; None if that fails."""
    index = parse_index(data)
    able = [entry for entry in reversed(index.entries) if index_lines.may_be_recall_only(index, entry)]
    targets = list(dict.fromkeys(entry.target for entry in sorted(able, key=lambda entry: _used(entry, uses))))

    def without(count: int) -> bytes:
        return index_lines.remove_empty_sections(index_lines.recall_only(data, targets[:count]))

    too_many = budget(data)
    lines, units = too_many.lines - too_many.max_lines, too_many.units - too_many.max_units
    sizes: dict[str, list[int]] = {}
    for entry in able:
        sizes.setdefault(entry.target, []).extend(index_lines.entry_lines(index, entry))
    for count, target in enumerate(targets, 1):
        lines -= len(sizes[target])
        units -= sum(len(index.lines[number].encode("utf-16-le", "replace")) >> 1 for number in sizes[target])
        if lines <= 0 and units <= 0 and fits(after := without(count)):
            return (after, count) if _same_memories(index, parse_index(after)) else None
    return None


def _same_memories(before: Index, after: Index) -> bool:
    pairs = ((index.lines_of_memories, index.mentions) for index in (before, after))
    one, other = ([sorted(normal(entry.target) for entry in entries) for entries in pair] for pair in pairs)
    return one == other
