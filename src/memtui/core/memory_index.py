"""MEMORY.md, the index of a directory's memories, one line each: read, and changed only in the line concerned.

Hand-made order, headings, bullets, separators, line ends and prose stay. Only links to `.md` files of the directory are
memories; a list item that opens with one is that memory's line, other links are mentions. What stands in the
frontmatter, in HTML comments or in fenced code is neither.
"""

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from memtui.core import fieldlines, frontmatter

INDEX_NAME = "MEMORY.md"
ITEM = re.compile(r"(\s*)([-*+]|\d{1,9}[.)])([ \t]+)(?:\[[ xX]\][ \t]+)?")
HEADING = re.compile(r" {0,3}#{1,6}(?:[ \t]+(.*?))?[ \t#]*$")
FENCE = re.compile(r"[ \t]*(?:[-*+][ \t]+)?(`{3,}|~{3,})")
SEPARATOR = re.compile(r"\s*(—|–|--|-|:)\s+")
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|/|#|\\")
LINK_TITLE = re.compile(r"""\s+(?:"[^"]*"|'[^']*')\s*$""")
TITLE_LIMIT = 1000
LINK_LIMIT = 100  # in one line
HOOK_LIMIT = 150  # the client asks for entries of at most about 200 characters
EM_DASH = " — "


@dataclass(frozen=True)
class Entry:
    """A link to a memory. `line` counts from 1; `target` is the path in the directory, decoded, without its anchor."""

    line: int
    title: str
    target: str
    hook: str  # what follows the link and its separator
    leads: bool  # it opens a list item: the line is this memory's own
    indent: int
    separator: str  # as it stands there, `—`, `-`, …; empty where none follows
    raw_target: str
    start: int  # of the raw target in its line
    end: int

    def is_for(self, target: str) -> bool:
        """Whether the link points at that file (relative path), in whatever spelling."""
        return _same(self.target, target) or _same(self.raw_target.partition("#")[0], target)


@dataclass(frozen=True)
class Index:
    """`lines` with their line ends; `entries` the memories' own lines, `mentions` all other links to memories."""

    raw: bytes
    bom: bool
    newline: str
    lines: tuple[str, ...]
    entries: tuple[Entry, ...]
    mentions: tuple[Entry, ...]
    hidden: frozenset[int]  # numbers, from 0, of lines in frontmatter, comments and code


def _same(one: str, other: str) -> bool:
    return _normal(one) == _normal(other)


def _normal(target: str) -> str:
    return unicodedata.normalize("NFC", os.path.normpath(target))


def parse_index(data: bytes) -> Index:
    """Read an index of any content. Never raises."""
    doc = frontmatter.parse(data)
    text = data.decode("utf-8", "surrogateescape")
    bom = text.startswith("\ufeff")
    lines = tuple(re.findall(r"[^\n]*\n|[^\n]+", text.removeprefix("\ufeff")))
    top = len(doc.lines) + doc.head.count("\n") + (1 if doc.fence else 0) if doc.has_frontmatter and doc.fence else 0
    hidden = frozenset(_hidden(lines, top))
    entries: list[Entry] = []
    mentions: list[Entry] = []
    for number, line in enumerate(lines):
        if number in hidden or "](" not in line:
            continue
        for entry in _links(line, number + 1):
            (entries if entry.leads else mentions).append(entry)
    return Index(data, bom, doc.newline, lines, tuple(entries), tuple(mentions), hidden)


def _hidden(lines: tuple[str, ...], top: int) -> Iterator[int]:
    yield from range(top)
    fence = ""
    comment = False
    for number in range(top, len(lines)):
        line = lines[number]
        if fence:
            yield number
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            continue
        if comment:
            yield number
            comment = "-->" not in line
            continue
        opened = FENCE.match(line)
        if opened:
            fence = opened[1]
            yield number
        elif line.lstrip().startswith("<!--"):
            yield number
            comment = "-->" not in line


def _closing(line: str, start: int) -> int:
    """Where the target that begins after `](` ends: at its parenthesis, or at `>` of a `<target>`; -1: nowhere."""
    if line[start : start + 1] == "<":
        return line.find(">", start)
    depth = 0
    for at in range(start, min(len(line), start + TITLE_LIMIT)):
        if line[at] == "(":
            depth += 1
        elif line[at] == ")":
            if not depth:
                return at
            depth -= 1
    return -1


def _opening(line: str, end: int) -> int:
    """Where the `[` of the link stands whose `]` is at `end`; -1: nowhere near."""
    depth = 0
    for at in range(end - 1, max(-1, end - TITLE_LIMIT), -1):
        if line[at - 1 : at] == "\\":
            continue
        if line[at] == "]":
            depth += 1
        elif line[at] == "[":
            if not depth:
                return at
            depth -= 1
    return -1


def _links(line: str, number: int) -> Iterator[Entry]:
    item = ITEM.match(line)
    at = line.find("](")
    for _ in range(LINK_LIMIT):
        if at < 0:
            break
        opening = _opening(line, at)
        start = at + 2
        end = _closing(line, start)
        after = at + 2
        if opening >= 0 and end >= 0 and line[opening - 1 : opening] != "!":
            bracketed = line[start] == "<"
            raw = line[start + 1 : end] if bracketed else LINK_TITLE.sub("", line[start:end])
            start += bracketed
            target = memory_target(raw)
            close = line.find(")", end) if bracketed else end
            if target:
                rest = line[close + 1 :].strip()
                found = SEPARATOR.match(line[close + 1 :])
                leads = item is not None and not any(map(str.isalnum, line[item.end() : opening]))
                yield Entry(
                    number,
                    _shown(line[opening + 1 : at]),
                    _shown(target),
                    _shown(line[close + 1 + found.end() :].strip() if found else rest),
                    leads,
                    len(item[1].expandtabs(4)) if item else 0,
                    found[1] if found else "",
                    raw,
                    start,
                    start + len(raw),
                )
                item = None  # further links of the line are mentions
            after = close + 1
        at = line.find("](", after)


def _shown(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def memory_target(raw: str) -> str:
    """The path of a memory that a link's target names; empty for URLs, other files and directories, and the index."""
    path = raw.strip().partition("#")[0].partition("?")[0]
    if not path.endswith(".md") or SCHEME.match(path):
        return ""
    path = os.path.normpath(unquote(path, errors="surrogateescape"))
    return "" if path.startswith("..") or path == INDEX_NAME or "\0" in path else path


def encode_target(target: str) -> str:
    """The path of a memory that a link's target names; empty for URLs, other files, other directories, the index."""
    special = set(" ()<>%#?[]\\\"'\t\n\r")
    return "".join(f"%{ord(char):02X}" if char in special else char for char in target)


def dangling(index: Index, files: Iterable[str]) -> list[Entry]:
    """Links to memories that are not among the directory's files (relative paths)."""
    there = {_normal(name) for name in files}
    return [
        entry
        for entry in sorted((*index.entries, *index.mentions), key=lambda entry: (entry.line, entry.start))
        if not {_normal(entry.target), _normal(entry.raw_target.partition("#")[0])} & there
    ]


def missing(index: Index, files: Iterable[str]) -> list[str]:
    """The memories among the files that no line of the index points at, sorted."""
    known = set()
    for entry in (*index.entries, *index.mentions):
        known |= {_normal(entry.target), _normal(entry.raw_target.partition("#")[0])}
    return sorted(name for name in files if name.endswith(".md") and name != INDEX_NAME and _normal(name) not in known)


def _bytes(index: Index, lines: Iterable[str]) -> bytes:
    return (("\ufeff" if index.bom else "") + "".join(lines)).encode("utf-8", "surrogateescape")


def _one_line(text: str) -> str:
    return " ".join(fieldlines.clean(text).split())


def _title(text: str) -> str:
    return re.sub(r"([\[\]\\])", r"\\\1", _one_line(text))


def _separator(index: Index) -> str:
    marks = [entry.separator for entry in index.entries if entry.separator]
    mark = max(dict.fromkeys(marks), key=marks.count) if marks else ""
    return {"": EM_DASH, ":": ": "}.get(mark, f" {mark} ")


def _hook(text: str) -> str:
    text = _one_line(text)
    return text if len(text) <= HOOK_LIMIT else text[: HOOK_LIMIT - 1].rstrip() + "…"


def line_for(index: Index, target: str, title: str, hook: str, indent: str = "") -> str:
    """A new line in the manner of the file (bullet, separator by majority; `-` and an em dash where there is none)."""
    bullets = [found[2] for e in index.entries if (found := ITEM.match(index.lines[e.line - 1])) and found[2] in "-*+"]
    bullet = max("-*+", key=bullets.count) if bullets else "-"
    separator = _separator(index)
    name = _title(title) or _title(os.path.basename(target).removesuffix(".md"))
    text = _hook(hook)
    return f"{indent}{bullet} [{name}]({encode_target(target)})" + (separator + text if text else "")


def _depth(line: str) -> int:
    text = line.expandtabs(4)
    return len(text) - len(text.lstrip(" "))


def _block_end(index: Index, entry: Entry) -> int:
    """The number, from 0, of the line after an entry and the deeper lines that continue it."""
    own = {other.line for other in index.entries}
    at = entry.line
    while at < len(index.lines):
        line = index.lines[at]
        if not line.strip() or _depth(line) <= entry.indent or at + 1 in own:
            break
        if at in index.hidden or HEADING.match(line.rstrip("\r\n")):
            break
        at += 1
    return at


def _headings(index: Index) -> list[tuple[int, str]]:
    found = ((n, HEADING.match(line.rstrip("\r\n"))) for n, line in enumerate(index.lines) if n not in index.hidden)
    return [(n, (match[1] or "").strip()) for n, match in found if match]


def _section(index: Index, kind: str) -> tuple[int, int]:
    """The bounds, from 0, of the section for a type: the one whose heading names it, else the last one with entries."""
    heads = _headings(index)
    starts = [-1, *(n for n, _ in heads)]
    ends = [*(n for n, _ in heads), len(index.lines)]
    sections = list(zip(starts, ends, ["", *(text for _, text in heads)], strict=True))

    def filled(start: int, end: int) -> bool:
        return any(start < entry.line - 1 < end for entry in index.entries)

    if kind:
        word = re.compile(rf"(?<!\w){re.escape(kind)}s?(?!\w)", re.IGNORECASE)
        named = [(start, end) for start, end, text in sections if word.search(text)]
        if named:
            return next((bounds for bounds in named if filled(*bounds)), named[0])
    last = [(start, end) for start, end, _ in sections if filled(start, end)]
    return last[-1] if last else (starts[-1], ends[-1])


def add_line(data: bytes, target: str, title: str, hook: str, *, kind: str = "") -> bytes:
    """The index with a line for a new memory; unchanged where it has one already.

    It goes after the last line of its section: the one whose heading names the type `kind`, else the last that holds
    memories. `target` is relative to the directory.
    """
    index = parse_index(data)
    if any(entry.is_for(target) for entry in index.entries):
        return data
    start, end = _section(index, kind)
    inside = [entry for entry in index.entries if start < entry.line - 1 < end]
    lines = list(index.lines)
    if inside:
        shallow = min(entry.indent for entry in inside)
        last = [entry for entry in inside if entry.indent == shallow][-1]
        at = last.line
        while at < end and lines[at].strip() and _depth(lines[at]) > shallow:
            at += 1
        lead = index.lines[last.line - 1]
        made = [line_for(index, target, title, hook, lead[: len(lead) - len(lead.lstrip(" \t"))])]
    else:
        at = end
        while at > max(start + 1, 0) and not lines[at - 1].strip():
            at -= 1
        made = [line_for(index, target, title, hook)]
        above = lines[at - 1] if at else ""
        if above.strip() and not ITEM.match(above):
            # Markdown wants a blank line between a heading or prose and a list; one that is there already is used.
            if at < len(lines) and not lines[at].strip():
                at += 1
            else:
                made.insert(0, "")
        if at < len(lines) and lines[at].strip():
            made.append("")
    text = index.newline.join(made)
    if at and not lines[at - 1].endswith("\n"):
        text = index.newline + text  # the file has no final line end, and keeps it so
    else:
        text += index.newline
    lines.insert(at, text)
    return _bytes(index, lines)


def remove_line(data: bytes, target: str) -> bytes:
    """The index without the lines of a memory, and without the deeper lines that only continue them.

    Mentions inside other text stay: they are the person's words, and show up in `dangling`.
    """
    index = parse_index(data)
    gone: set[int] = set()
    for entry in index.entries:
        if entry.is_for(target):
            gone.update(range(entry.line - 1, _block_end(index, entry)))
    kept = [line for number, line in enumerate(index.lines) if number not in gone]
    if gone and kept and max(gone) == len(index.lines) - 1 and not index.lines[-1].endswith("\n"):
        kept[-1] = kept[-1].rstrip("\r\n")
    return _bytes(index, kept) if gone else data


def replace_target(data: bytes, old: str, new: str, *, old_title: str = "", new_title: str = "") -> bytes:
    """The index with every link to one memory, mentions included, pointing at another file of the directory.

    Anchors stay. A title is changed only where it is `old_title` and a new one is given.
    """
    index = parse_index(data)
    lines = list(index.lines)
    for entry in sorted((*index.entries, *index.mentions), key=lambda entry: (entry.line, entry.start), reverse=True):
        if not entry.is_for(old):
            continue
        line = lines[entry.line - 1]
        anchor = "".join(entry.raw_target.partition("#")[1:])
        bracketed = line[entry.start - 1] == "<"
        before = line[: entry.start]
        label = before.rfind("[" + entry.title + "](")
        if new_title and entry.title == old_title and label >= 0:
            before = before[: label + 1] + _title(new_title) + before[label + 1 + len(entry.title) :]
        lines[entry.line - 1] = before + (new if bracketed else encode_target(new)) + anchor + line[entry.end :]
    return _bytes(index, lines)


def set_hook(data: bytes, target: str, hook: str) -> bytes:
    """The index with another text behind a memory's own line; title and separator stay."""
    index = parse_index(data)
    lines = list(index.lines)
    text = _hook(hook)
    for entry in index.entries:
        if entry.is_for(target):
            line = lines[entry.line - 1]
            close = line.find(")", entry.end)
            found = SEPARATOR.match(line, close + 1)
            between = found[0] if found and found[0].strip() else _separator(index)
            lines[entry.line - 1] = line[: close + 1] + (between + text if text else "") + fieldlines.ending(line)
    return _bytes(index, lines)
