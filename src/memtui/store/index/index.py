"""MEMORY.md, one line a memory: parsed, and measured by how much the client loads (Claude Code 2.1.197).

It removes frontmatter and block comments and loads whole lines, up to 200 and 25,000 UTF-16 units; of a subagent's
it removes nothing. A comment that begins with RECALL_ONLY has the lines of memories that only memtui brings."""

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from memtui.client.locate_hot import INDEX_NAME
from memtui.store import links
from memtui.store.frontmatter import document, head_hot

ITEM = re.compile(r"(\s*)([-*+]|\d{1,9}[.)])([ \t]+)(?:\[[ xX]\][ \t]+)?")
FENCE = re.compile(r"[ \t]*(?:[-*+][ \t]+)?(`{3,}|~{3,})")
SEPARATOR = re.compile(r"\s*(—|–|--|-|:)\s+")
# A memory that is listed by the name of its file alone.
BARE_NAME = re.compile(ITEM.pattern + r"[`*_]*(?P<name>[\w./-]+\.md)\b")
LINK_LIMIT = 100  # links in one line
MAX_LINES = 200
MAX_UNITS = 25_000
RECALL_ONLY = "<!-- recall only"
EM_DASH = " — "


@dataclass(frozen=True)
class IndexEntry:
    """A link to a memory. `line` counts from 1; `target` is the path in the directory, decoded, without the anchor."""

    line: int
    title: str
    target: str
    hook: str  # the text after the link and its separator
    leads: bool  # it begins a list item: the line is this memory's own
    indent: int
    separator: str  # as written: `—`, `-`, …; empty if there is none
    raw_target: str
    start: int  # of the raw target in its line
    end: int

    def is_for(self, target: str) -> bool:
        """Return whether the link points at that file (relative path), however it is spelled."""
        return normal(target) in self.targets

    @cached_property
    def targets(self) -> set[str]:
        """The normal paths of the files that the link can mean: decoded, and as written."""
        return {normal(self.target), normal(self.raw_target.partition("#")[0])}


@dataclass(frozen=True)
class Index:
    """A parsed index: `lines` with their ends, `entries` (memories' own lines), `mentions` (all other links)."""

    raw: bytes
    bom: bool
    newline: str
    lines: tuple[str, ...]
    entries: tuple[IndexEntry, ...]
    mentions: tuple[IndexEntry, ...]
    hidden: frozenset[int]  # numbers, from 0, of lines in frontmatter, comments and code
    code: frozenset[int]  # those of code alone
    conflict: int  # the first line, from 1, with git's conflict markers; 0: none
    unclosed: int | None  # the first line, from 0, of a comment or code that is never closed
    recall_only: tuple[IndexEntry, ...] = ()  # the lines in the comment of memories that are only recalled

    @property
    def lines_of_memories(self) -> tuple[IndexEntry, ...]:
        """The lines of all memories, also of those that are only recalled."""
        return (*self.entries, *self.recall_only)

    @cached_property
    def entry_on(self) -> dict[int, IndexEntry]:
        return {entry.line: entry for entry in self.entries}

    @cached_property
    def style(self) -> tuple[str, str]:
        """The most frequent bullet and separator of its entries, else `-` and an em dash."""
        bullets = [item[2] for e in self.entries if (item := ITEM.match(self.lines[e.line - 1])) and item[2] in "-*+"]
        marks = [entry.separator for entry in self.entries if entry.separator]
        mark = max(dict.fromkeys(marks), key=marks.count) if marks else ""
        bullet = max("-*+", key=bullets.count) if bullets else "-"
        return bullet, {"": EM_DASH, ":": ": "}.get(mark, f" {mark} ")


def normal(target: str) -> str:
    """Return a relative path in the form in which paths of the same file are equal."""
    return unicodedata.normalize("NFC", os.path.normpath(target))


@lru_cache(16)
def parse_index(data: bytes) -> Index:
    """Parse an index with any content. Never raises."""
    doc = document.parse(data)
    text = data.decode("utf-8", "surrogateescape")
    bom = text.startswith("\ufeff")
    lines = tuple(re.findall(r"[^\n]*\n|[^\n]+", text.removeprefix("\ufeff")))
    conflict = head_hot.first_conflict(data)
    hidden, code, unclosed = _hidden(lines, doc.lines_above)
    entries: list[IndexEntry] = []
    mentions: list[IndexEntry] = []
    recall_only: list[IndexEntry] = []
    in_comment = False
    for number, line in enumerate(lines):
        in_comment = number in hidden and number not in code and (in_comment or line.startswith(RECALL_ONLY))
        if in_comment and "-->" not in line:
            recall_only += [entry for entry in _links(line, number + 1) if entry.leads]
        in_comment = in_comment and "-->" not in line
        if number in hidden or "](" not in line:
            continue
        for entry in _links(line, number + 1):
            (entries if entry.leads else mentions).append(entry)
    links_in_text = tuple(entries), tuple(mentions)
    return Index(data, bom, doc.newline, lines, *links_in_text, hidden, code, conflict, unclosed, tuple(recall_only))


def _hidden(lines: tuple[str, ...], top: int) -> tuple[frozenset[int], frozenset[int], int | None]:
    """Return the numbers of lines that are no text, of those that are code, and of the first one never closed."""
    hidden = set(range(top))
    code: set[int] = set()
    last_close = max((number for number in range(top, len(lines)) if "-->" in lines[number]), default=-1)
    fence = ""
    began: int | None = None  # of a comment or code that is open
    for number in range(top, len(lines)):
        line = lines[number]
        if fence:
            hidden.add(number)
            code.add(number)
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence, began = "", None
        elif began is not None:
            hidden.add(number)
            began = None if "-->" in line else began
        elif opened := FENCE.match(line):
            fence, began = opened[1], number
            hidden.add(number)
            code.add(number)
        elif line.lstrip().startswith("<!--"):
            hidden.add(number)
            began = None if "-->" in line else number
        elif line.rfind("<!--") > line.rfind("-->") and last_close > number:
            began = number
    return frozenset(hidden), frozenset(code), began


@lru_cache(4096)
def _links(line: str, number: int) -> tuple[IndexEntry, ...]:
    # A fix parses the whole index after each line that it changes.
    return tuple(_read_links(line, number))


def _read_links(line: str, number: int) -> Iterator[IndexEntry]:
    item = ITEM.match(line)
    for span in links.inline_spans(line, LINK_LIMIT):
        raw = line[span.start : span.end]
        target = links.file_target(raw)
        if target and not target.startswith("..") and target != INDEX_NAME:
            after = line[span.close + 1 :]
            separator = SEPARATOR.match(after)
            leads = item is not None and not any(map(str.isalnum, line[item.end() : span.opening]))
            hook = _shown((after[separator.end() :] if separator else after).strip())
            title, indent = _shown(line[span.opening + 1 : span.middle]), len(item[1].expandtabs(4)) if item else 0
            mark = separator[1] if separator else ""
            yield IndexEntry(number, title, _shown(target), hook, leads, indent, mark, raw, span.start, span.end)
            item = None  # further links of the line are mentions


def _shown(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def dangling(index: Index, files: Iterable[str]) -> list[IndexEntry]:
    """List the links to memories that are not among the directory's files (relative paths)."""
    present = {normal(name) for name in files}
    links_in_text = sorted((*index.lines_of_memories, *index.mentions), key=lambda entry: (entry.line, entry.start))
    return [entry for entry in links_in_text if not entry.targets & present]


def missing(index: Index, files: Iterable[str]) -> list[str]:
    """List the memories among the files that no link of the index points at and no item begins with, sorted."""
    targets = {target for entry in (*index.lines_of_memories, *index.mentions) for target in entry.targets}
    shown = (line for number, line in enumerate(index.lines) if number not in index.hidden)
    targets |= {normal(match["name"]) for line in shown if (match := BARE_NAME.match(line))}
    return sorted(name for name in files if name.endswith(".md") and name != INDEX_NAME and normal(name) not in targets)


@dataclass(frozen=True)
class Budget:
    """How much of an index the client loads: `lines` and UTF-16 `units` of its limits. `cut_line`: the first line (from
    1) that is not loaded whole, None for none; `below`: the entries from there on."""

    lines: int
    units: int
    cut_line: int | None
    below: tuple[IndexEntry, ...]
    max_lines: int = MAX_LINES
    max_units: int = MAX_UNITS

    @property
    def share(self) -> float:
        """How full the index is, 1.0 at the limit: the greater of the two shares."""
        return max(self.lines / self.max_lines, self.units / self.max_units)


def loaded_lines(data: bytes, *, agent: bool = False) -> list[tuple[int, str]]:
    """Return the lines that count towards the limits as (line number, text); `agent`: as in a subagent's memory."""
    doc = document.parse(data)
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    numbered = list(enumerate(text.split("\n"), 1))
    if not agent:
        numbered = _without_comments(numbered[doc.lines_above :])
    while numbered and not numbered[0][1].strip():
        numbered.pop(0)
    while numbered and not numbered[-1][1].strip():
        numbered.pop()
    if numbered:
        numbered[0] = numbered[0][0], numbered[0][1].lstrip()
        numbered[-1] = numbered[-1][0], numbered[-1][1].rstrip()
    return numbered


def _without_comments(numbered: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Drop comments that begin a line. Inside a list item or after other text the client keeps them, and so do we."""
    visible_lines: list[tuple[int, str]] = []
    fence = ""
    in_list = False
    at = 0
    while at < len(numbered):
        number, line = numbered[at]
        at += 1
        indent = len(line) - len(line.lstrip(" "))
        opened = FENCE.match(line)
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif opened:
            fence = opened[1]
        elif line[indent:].startswith("<!--") and indent <= (1 if in_list else 3):
            end = next((n for n in range(at - 1, len(numbered)) if "-->" in numbered[n][1]), -1)
            if end >= 0:
                number, line = numbered[end][0], numbered[end][1].partition("-->")[2]
                at = end + 1
                if not line.strip():
                    while at < len(numbered) and not numbered[at][1].strip():
                        at += 1
                    continue
        if line.strip():
            in_list = ITEM.match(line) is not None or (in_list and indent > 0)
        visible_lines.append((number, line))
    return visible_lines


def loaded(data: bytes, *, agent: bool = False) -> set[str]:
    """Return the lines of an index that the client loads whole; `agent`: as in a subagent's memory."""
    cut = budget(data, agent=agent).cut_line
    return {line.strip() for number, line in loaded_lines(data, agent=agent) if cut is None or number < cut}


@lru_cache(16)
def budget(data: bytes, *, agent: bool = False) -> Budget:
    """Measure an index; `agent`: as a subagent's memory. Never raises."""
    numbered = loaded_lines(data, agent=agent)
    index = parse_index(data)
    sizes = [(len(line.encode("utf-16-le", "replace")) >> 1) + 1 for _, line in numbered]
    whole = 0  # lines that are loaded whole
    used = 0
    for size in sizes[:MAX_LINES]:
        if used + size - 1 > MAX_UNITS:
            break
        used += size
        whole += 1
    cut = numbered[whole][0] if whole < len(numbered) else None
    below = tuple(entry for entry in index.entries if cut is not None and entry.line >= cut)
    return Budget(len(numbered), max(sum(sizes) - 1, 0), cut, below)
