"""Change lines of memories in MEMORY.md; all others keep their bytes, and an index in conflict is not changed."""

import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from memtui.store import links
from memtui.store.index import index as memory_index
from memtui.store.index.index import Index, IndexEntry, budget, loaded, normal, parse_index
from memtui.store.memory import one_line

HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]+(.*?))?[ \t#]*$")
HOOK_LIMIT = 150  # the client asks for entries of at most about 200 characters
RECALL_ONLY_WORDS = ": not loaded; memtui brings each with the prompts that it fits"


def joined_lines(index: Index, lines: Iterable[str]) -> bytes:
    if index.conflict:  # whoever resolves it would lose what was written between the markers
        return index.raw
    return (("\ufeff" if index.bom else "") + "".join(lines)).encode("utf-8", "surrogateescape")


def _title(text: str) -> str:
    return re.sub(r"([\[\]\\])", r"\\\1", one_line(text))


def _hook(text: str) -> str:
    text = one_line(text)
    return text if len(text) <= HOOK_LIMIT else text[: HOOK_LIMIT - 1].rstrip() + "…"


def line_for(index: Index, target: str, title: str, hook: str, indent: str = "") -> str:
    """Return a new line in the style of the file: its most frequent bullet and separator, else `-` and an em dash."""
    bullet, separator = index.style
    name = _title(title) or _title(os.path.basename(target).removesuffix(".md"))
    text = _hook(hook)
    return f"{indent}{bullet} [{name}]({links.encoded(target)})" + (separator + text if text else "")


def _depth(line: str) -> int:
    text = line.expandtabs(4)
    return len(text) - len(text.lstrip(" "))


def _lead(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def _line_end(line: str) -> str:
    return line[len(line.rstrip("\r\n")) :]


def _block_end(index: Index, entry: IndexEntry) -> int:
    """Return the number, from 0, of the first line after an entry and the more indented lines that continue it."""
    at = entry.line
    while at < len(index.lines):
        line = index.lines[at]
        if not line.strip() or _depth(line) <= entry.indent or at + 1 in index.entry_on:
            break
        if at in index.hidden or HEADING.match(line.rstrip("\r\n")):
            break
        at += 1
    return at


def entry_lines(index: Index, entry: IndexEntry) -> range:
    """Return the numbers, from 0, of an entry's line and of those that continue it."""
    return range(entry.line - 1, _block_end(index, entry))


def _headings(index: Index) -> list[tuple[int, str]]:
    matches = [(n, HEADING.match(line.rstrip("\r\n"))) for n, line in enumerate(index.lines) if n not in index.hidden]
    return [(n, (match[1] or "").strip()) for n, match in matches if match]


def _section(index: Index, kind: str) -> tuple[int, int]:
    """Return the bounds (lines from 0) of the section whose heading names a type, else of the last with entries."""
    heads = _headings(index)
    starts = [-1, *[n for n, _ in heads]]
    sections = list(zip(starts, [*starts[1:], len(index.lines)], ["", *[text for _, text in heads]], strict=True))
    lines = [entry.line - 1 for entry in index.entries]
    filled = [(s, e) for s, e, _ in sections if any(map(range(s + 1, e).__contains__, lines))]
    word = re.compile(rf"(?<!\w){re.escape(kind)}s?(?!\w)", re.IGNORECASE)
    matching = [(start, end) for start, end, text in sections if kind and word.search(text)]
    if matching:
        return next((bounds for bounds in matching if bounds in filled), matching[0])
    return filled[-1] if filled else sections[-1][:2]


def add_line(data: bytes, target: str, title: str, hook: str, *, kind: str = "", at_end: bool = False) -> bytes:
    """Add a line for a memory without one, at the end of the section that fits `kind`, or `at_end` of all."""
    index = parse_index(data)
    if any(entry.is_for(target) for entry in index.lines_of_memories):
        return data
    start, end = (len(index.lines) - 1, len(index.lines)) if at_end else _section(index, kind)
    if index.unclosed is not None:
        end = min(end, index.unclosed)  # inside a comment nobody would see the line
    inside = [entry for entry in index.entries if start < entry.line - 1 < end]
    lines = list(index.lines)
    if inside:
        shallow = min(entry.indent for entry in inside)
        last = [entry for entry in inside if entry.indent == shallow][-1]
        at = last.line
        while at < end and lines[at].strip() and _depth(lines[at]) > shallow:
            at += 1
        if "<!--" in lines[at - 1]:
            while at < end and at in index.hidden:
                at += 1  # the line begins a comment that continues here
        new_lines = [line_for(index, target, title, hook, _lead(index.lines[last.line - 1]))]
    else:
        at = end
        while at > max(start + 1, 0) and not lines[at - 1].strip():
            at -= 1
        new_lines = [line_for(index, target, title, hook)]
        above = lines[at - 1] if at else ""
        if above.strip() and not memory_index.ITEM.match(above):
            # Markdown needs a blank line between a heading or prose and a list; an existing one is used.
            if at < len(lines) and not lines[at].strip():
                at += 1
            else:
                new_lines.insert(0, "")
        if at < len(lines) and lines[at].strip():
            new_lines.append("")
    return _with_lines(index, at, new_lines)


def append_lines(data: bytes, memories: Iterable[tuple[str, str, str]]) -> bytes:
    """Add lines for memories without one, as (target, title, hook), behind the last entry."""
    index = parse_index(data)
    last = index.entries[-1]
    lead = _lead(index.lines[last.line - 1])
    return _with_lines(index, _block_end(index, last), [line_for(index, *memory, lead) for memory in memories])


def _with_lines(index: Index, at: int, added: Sequence[str]) -> bytes:
    lines, text = list(index.lines), index.newline.join(added)
    if at and not lines[at - 1].endswith("\n"):
        text = index.newline + text  # the file has no final line end, and none is added
    else:
        text += index.newline
    lines.insert(at, text)
    return joined_lines(index, lines)


def place_line(
    data: bytes,
    target: str,
    title: str,
    hook: str,
    *,
    kind: str = "",
    agent: bool = False,
    first: bool = False,
    view: Callable[[bytes], bytes] = lambda data: data,
) -> bytes:
    """Add a line where it is loaded and pushes nothing out, else at the end, or (`first`) above the last loaded one."""
    added = add_line(data, target, title, hook, kind=kind)
    if len(added) <= memory_index.MAX_UNITS and added.count(b"\n") < memory_index.MAX_LINES:
        return added
    was, now = (loaded(view(raw), agent=agent) for raw in (data, added))
    if was <= now and not (first and is_below(added, target, agent)):
        return added
    index = parse_index(data)
    cut = budget(data, agent=agent).cut_line
    for entry in reversed(index.entries if first else ()):
        if cut is not None and entry.line >= cut:
            continue
        above = list(index.lines)
        line = line_for(index, target, title, hook, _lead(above[entry.line - 1]))
        above.insert(entry.line - 1, line + index.newline)
        if not is_below(after := joined_lines(index, above), target, agent):
            return after
    return add_line(data, target, title, hook, at_end=True)


def is_below(data: bytes, target: str, agent: bool) -> bool:
    """Tell whether Claude Code does not load the line of a memory."""
    return any(entry.is_for(target) for entry in budget(data, agent=agent).below)


def remove_line(data: bytes, target: str) -> bytes:
    """Remove a memory's lines with those that continue them; mentions in other text stay."""
    index = parse_index(data)
    own = [entry for entry in index.lines_of_memories if entry.is_for(target)]
    removed = {number for entry in own for number in entry_lines(index, entry)}
    block = recall_only_lines(index)
    if index.recall_only and removed.issuperset(block[1:-1]):
        removed.update(block)
    return _without(index, removed)


def recall_only_lines(index: Index) -> range:
    """Return the numbers, from 0, of the comment with the memories that are only recalled; empty if there is none."""
    if not index.recall_only:
        return range(0)
    first = index.recall_only[0].line - 1
    while not index.lines[first].startswith(memory_index.RECALL_ONLY):
        first -= 1
    end = next(n for n in range(first, len(index.lines)) if n == len(index.lines) - 1 or "-->" in index.lines[n])
    return range(first, end + 1)


def recall_only(data: bytes, targets: Collection[str]) -> bytes:
    """Move memories' lines into the comment of recall-only ones, but for those with others below, or comments."""
    index, names = parse_index(data), set(targets)
    moved = [entry for entry in index.entries if entry.target in names and may_be_recall_only(index, entry)]
    if not moved or index.conflict:
        return data
    removed = {number for entry in moved for number in entry_lines(index, entry)}
    lines = [joined(index, entry).strip() + index.newline for entry in moved]
    block = recall_only_lines(index)
    if block:
        at = block[-1]
    else:
        at = len(index.lines) if index.unclosed is None else index.unclosed
        above = next((index.lines[n] for n in range(at - 1, -1, -1) if n not in removed), "")
        lead = index.newline * ((not above.endswith("\n") and bool(above)) + bool(above.strip()))
        lines = [lead, memory_index.RECALL_ONLY + RECALL_ONLY_WORDS + index.newline, *lines, "-->" + index.newline]
        lines += [index.newline] * (at < len(index.lines))
    above_block = [line for number, line in enumerate(index.lines[:at]) if number not in removed]
    rest = [line for number, line in enumerate(index.lines) if number >= at and number not in removed]
    return joined_lines(index, [*above_block, *lines, *rest])


def may_be_recall_only(index: Index, entry: IndexEntry) -> bool:
    """Return whether a line can move into the comment: nothing is below it, and no comment begins or ends in it."""
    numbers = entry_lines(index, entry)
    text = "".join(index.lines[n] for n in numbers)
    below = index.entry_on.get(numbers[-1] + 2)
    is_parent = below is not None and below.indent > entry.indent
    return not is_parent and "<!--" not in text and "-->" not in text


def replace_target(data: bytes, old: str, new: str, old_title: str = "", new_title: str = "") -> bytes:
    """Point all links to one memory at another file, with their anchors; a title that is `old_title` is replaced."""
    return replace_targets(data, {old: new}, old_title, new_title)


def replace_targets(data: bytes, names: Mapping[str, str], old_title: str = "", new_title: str = "") -> bytes:
    """Point links as `replace_target`, for many memories at once: the new files by the old ones."""
    index, targets = parse_index(data), {normal(old): new for old, new in names.items()}
    lines = list(index.lines)
    entries = (*index.lines_of_memories, *index.mentions)
    for entry in sorted(entries, key=lambda entry: (entry.line, entry.start), reverse=True):
        if (new := next((targets[target] for target in entry.targets if target in targets), None)) is None:
            continue
        line = lines[entry.line - 1]
        anchor = "".join(entry.raw_target.partition("#")[1:])
        bracketed = line[entry.start - 1] == "<"
        before = line[: entry.start]
        label = before.rfind("[" + entry.title + "](")
        if new_title and entry.title == old_title and label >= 0:
            before = before[: label + 1] + _title(new_title) + before[label + 1 + len(entry.title) :]
        lines[entry.line - 1] = before + (new if bracketed else links.encoded(new)) + anchor + line[entry.end :]
    return joined_lines(index, lines)


def set_hook(data: bytes, target: str, hook: str, was: str, *, exact: bool = False) -> bytes:
    """Replace the text after the link where it is `was` (`exact`: as it is); what a person wrote stays."""
    index = parse_index(data)
    lines = list(index.lines)
    text, before = _hook(hook), was if exact else _hook(was)
    for entry in index.lines_of_memories:
        if entry.is_for(target) and entry.hook == before:
            line = lines[entry.line - 1]
            close = line.find(")", entry.end)
            mark = memory_index.SEPARATOR.match(line, close + 1)
            between = mark[0] if mark and mark[0].strip() else index.style[1]
            lines[entry.line - 1] = line[: close + 1] + (between + text if text else "") + _line_end(line)
    return joined_lines(index, lines)


def repeated(index: Index) -> list[list[IndexEntry]]:
    """List the lines of one memory where it has several, in order. Lines for different anchors are not the same."""
    by_target: dict[tuple[str, str], list[IndexEntry]] = {}
    for entry in index.entries:
        by_target.setdefault((normal(entry.target), entry.raw_target.partition("#")[2]), []).append(entry)
    return [entries for entries in by_target.values() if len(entries) > 1]


def combine_repeated(data: bytes, target: str, line: str) -> bytes:
    """Put one line for the first of a memory's several, and remove the others; `target` as the lines have it."""
    index = parse_index(data)
    removed: set[int] = set()
    lines = list(index.lines)
    for first, *others in repeated(index):
        if first.raw_target == target:
            lines[first.line - 1] = line + _line_end(lines[first.line - 1])
            for entry in others:
                removed.update(entry_lines(index, entry))
    return _without(index, removed, lines)


def text_of(index: Index, entry: IndexEntry) -> str:
    """Return the text behind an entry's link, that of the lines that continue it included."""
    line = joined(index, entry)
    close = line.find(")", entry.end)
    mark = memory_index.SEPARATOR.match(line, close + 1)
    return line[mark.end() if mark else close + 1 :].strip()


def joined(index: Index, entry: IndexEntry) -> str:
    """Return an entry's line with the lines that continue it behind it, without their bullets."""
    parts = [index.lines[n].strip() for n in entry_lines(index, entry)]
    rest = [part[item.end() :] if (item := memory_index.ITEM.match(part)) else part for part in parts[1:]]
    first = parts[0].rstrip(" ;,.") if any(rest) else parts[0]
    return _lead(index.lines[entry.line - 1]) + "; ".join([first, *filter(None, rest)])


def empty_sections(index: Index) -> list[tuple[int, int, str]]:
    """List the sections below the first level that have no text, as (line from 0, line of their end, title)."""
    heads = _headings(index)
    levels = {n: len(index.lines[n].lstrip(" ")) - len(index.lines[n].lstrip(" ").lstrip("#")) for n, _ in heads}
    sections = []
    for n, title in heads:
        if levels[n] < 2:
            continue
        end = next((m for m, _ in heads if m > n and levels[m] <= levels[n]), len(index.lines))
        if not any(index.lines[at].strip() for at in range(n + 1, end) if at not in levels):
            sections.append((n, end, title))
    return sections


def remove_empty_sections(data: bytes) -> bytes:
    """Remove the headings of sections without any text, and the blank lines below them."""
    index = parse_index(data)
    return _without(index, {at for start, end, _ in empty_sections(index) for at in range(start, end)})


def _without(index: Index, removed: set[int], lines: Sequence[str] | None = None) -> bytes:
    """Return the index without some lines (numbers from 0); `lines` are its lines where others were changed."""
    if not removed:
        return index.raw
    rest = [line for number, line in enumerate(lines or index.lines) if number not in removed]
    if rest and max(removed) == len(index.lines) - 1 and not index.lines[-1].endswith("\n"):
        rest[-1] = rest[-1].rstrip("\r\n")
    return joined_lines(index, rest)
