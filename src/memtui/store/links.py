"""The links of memories, `[[name]]` and Markdown links to files, but for code, which is found here too."""

import itertools
import os
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from memtui.client.locate_hot import INDEX_NAME, is_memory_name

# `[label](target "title")`: the label may have brackets in pairs, two deep, and the target parentheses, one deep. It is
# looked for from each bracket on, as an image can be the label of a link.
INLINE = re.compile(
    r"(?<![!\\])\[(?=(?P<label>(?:\\.|[^\[\]\\]|\[(?:\\.|[^\[\]\\]|\[[^\[\]]*\])*+\]){0,1000}+)\]\("
    r"(?:<(?P<in>[^>]{0,1000})>[^)]*|(?P<bare>(?:[^()]|\([^()]*\)){0,1000}?)"
    r"(?:\s+(?:\"[^\"]{0,1000}\"|'[^']{0,1000}'|\([^()]*\)))?\s*)(?P<close>\)))",
    re.DOTALL,
)
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|/|#|\\")
WIKI = re.compile(r"(?<![A-Za-z0-9_\\])!?\[\[(?P<name>[^\[\]|#\n\0]{1,200}?)(?P<tail>(?:\\?\||#)[^\[\]\n]{0,200})?\]\]")
# A name begins with a letter, a digit or `_`, or with anything outside of ASCII.
ODD = re.compile(r"[!-/:-@\[-^`{-~]")
URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|(?:mailto|tel|data):")
# What a test of a shell has between its brackets, which have blanks inside.
OPERATOR = re.compile(r"[=<>&$\"]| -\w+ ")
# Numbers alone are an index or a footnote; a year or a date can be a name.
NUMBERS = re.compile(r"(?!.*\d{4})[\d\s.,:+*/-]+$")
# Characters that the target of a Markdown link can't have as they are.
ENCODED = {ord(char): f"%{ord(char):02X}" for char in " ()<>%#?[]\\\"'\t\n\r"}
OTHER_FILE = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|avif|bmp|ico|pdf|mp[34]|mov|wav|webm|zip|gz|docx?|xlsx?|pptx?|csv|tsv|txt|json|ya?ml"
    r"|toml|xml|html?|css|py|tsx?|jsx|sh|rs|rb|canvas)$",
    re.IGNORECASE,
)
CONTENTS = {"toc", "_toc_"}
FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
MARKER = re.compile(r" *(?:[-*+]|\d{1,9}[.)])(?:( {1,4})(?! )| )|(?: *> ?)+")
# What begins a piece of text of its own, so that no code span reaches from the line before into it.
PIECE = re.compile(r"#{1,6} |\|")
TICKS = re.compile(r"`+")
TAB = 4


class Link(NamedTuple):
    """A link: its span, where `target` is written, where in it the file's name is, and the words that a reader sees."""

    start: int
    end: int
    at: int
    name_start: int
    name_end: int
    target: str
    label: str
    encoded: bool = False


class InlineSpan(NamedTuple):
    """A Markdown link in a text: its `[`, its `](`, its target without title and brackets, and its `)`."""

    opening: int
    middle: int
    start: int
    end: int
    close: int


def find(text: str) -> list[Link]:
    wiki, inline = "[[" in text, "](" in text
    if not (wiki or (inline and ".md" in text)):
        return []
    plain = masked(text)
    links = [*_wiki(text, plain)] if wiki else []
    if inline:
        for span in inline_spans(plain):
            if "\n" not in plain[span.start : span.end] and "\n\n" not in plain[span.opening : span.middle]:
                label = text[span.opening + 1 : span.middle]
                links += _file(text, span.opening, span.close + 1, span.start, span.end, label)
    return sorted(links, key=lambda link: (link.start, -link.end))


def targets(text: str) -> tuple[str, ...]:
    names = dict.fromkeys(link.target for link in find(text))
    return tuple(name for name in names if not (name.endswith(".md") and name[:-3] in names))


def _wiki(text: str, plain: str) -> Iterator[Link]:
    for match in WIKI.finditer(plain):
        name = match["name"].strip()
        padded = match["name"][0].isspace()
        if not name or not _is_name(name) or (padded and OPERATOR.search(name)):
            continue
        start = match.start("name") + match["name"].index(name)
        tail = text[match.start("tail") : match.end("tail")].lstrip("\\") if match["tail"] else ""
        label = tail[1:].strip() if tail.startswith("|") else ""
        target = os.path.normpath(name)
        begin, end = _name_span(name)
        yield Link(match.start(), match.end(), start, start + begin, start + end, target, label or name[begin:end])


def _name_span(link_text: str) -> tuple[int, int]:
    """Return where in a target the name of the file is, without directory and `.md`."""
    begin = link_text.rfind("/") + 1
    end = len(link_text.removesuffix(".md"))
    return (begin, end) if begin < end else (begin, len(link_text))


def _is_name(name: str) -> bool:
    """Tell whether what stands in double brackets can be the name of a memory."""
    last = name.rpartition("/")[2]
    odd = not last or ODD.match(re.sub(r"^(?:\.{1,2}/)+", "", name).lstrip("_") or "x")
    if odd or URL.match(name) or OTHER_FILE.search(name) or NUMBERS.match(name):
        return False
    return name.lower() not in CONTENTS and last != INDEX_NAME


def _file(text: str, start: int, end: int, at: int, to: int, label: str) -> Iterator[Link]:
    raw = text[at:to]
    path = raw.partition("#")[0].partition("?")[0]
    target = file_target(raw)
    if target and is_memory_name(os.path.basename(target)):
        begin, stop = _name_span(path.rstrip())
        yield Link(start, end, at, at + begin, at + stop, target, label, text[at - 1] != "<")


def file_target(raw: str) -> str:
    """Return the path, from where the link is, of the Markdown file that a link's target names; empty for others."""
    path = raw.strip().partition("#")[0].partition("?")[0]
    if not path.endswith(".md") or SCHEME.match(path):
        return ""
    if "%" in path:
        from urllib.parse import unquote

        path = unquote(path, errors="surrogateescape")
    path = os.path.normpath(path)
    return "" if "\0" in path else path


def inline_spans(text: str, most: int | None = None) -> Iterator[InlineSpan]:
    """Yield the links `[text](target "title")` of a text, at most so many. Images are none."""
    for match in itertools.islice(INLINE.finditer(text) if "](" in text else (), most):
        start, end = match.span("bare" if match["in"] is None else "in")
        yield InlineSpan(match.start(), match.end("label"), start, end, match.start("close"))


def encoded(target: str) -> str:
    """Return the path of a memory as the target of a Markdown link."""
    return target.translate(ENCODED)


def leads_to(target: str, source: str, path: str, names: Collection[str]) -> bool:
    """Tell whether a target in the file `source` leads to the memory with this path and names."""
    key = key_of(source or path)
    keys = {key(name) for name in names}
    if key(target) in keys or key(target.removesuffix(".md")) in keys:
        return True
    if "/" not in target:
        return False
    file = target.removesuffix(".md") + ".md"
    if source and key(os.path.normpath(f"{os.path.dirname(source)}/{file}")) == key(path):
        return True
    return not file.startswith("..") and key(path).endswith("/" + key(file))


def shown(target: str) -> str:
    """Return a target as a person writes a link to it: `[[name]]`, or the name of the file."""
    return target if target.endswith(".md") else f"[[{target}]]"


def key_of(path: str) -> Callable[[str], str]:
    """Return the function that makes names equal which lead to the same file in the directory of a memory."""
    if path and _ignores_case(os.path.dirname(path)):
        return lambda name: unicodedata.normalize("NFC", name).casefold()
    return lambda name: name if name.isascii() else unicodedata.normalize("NFC", name)


@lru_cache(1 << 10)
def _ignores_case(directory: str) -> bool:
    above, name = os.path.split(directory)
    try:
        return name != name.swapcase() and os.path.samefile(directory, os.path.join(above, name.swapcase()))
    except OSError:
        return False


def renamed(text: str, leads: Callable[[Link], bool], new: str | None) -> str:
    """Return a text in which those links have the name `new`, or with None are their words; all else stays."""
    spans = [
        (link.start, link.end, link.label)
        if new is None
        else (link.name_start, link.name_end, encoded(new) if link.encoded else new)
        for link in find(text)
        if leads(link)
    ]
    pieces = []
    at = 0
    for start, end, words in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= at:
            pieces += [text[at:start], words]
            at = end
    return "".join([*pieces, text[at:]]) if pieces else text


class CodeSpan(NamedTuple):
    """Code from `start` up to `end`, with its marks: a block of lines, or a span of a line."""

    start: int
    end: int
    block: bool


def spans(text: str) -> list[CodeSpan]:
    """List the code of a text in order. Code that is never closed reaches to the end. Never raises."""
    if not any(mark in text for mark in ("`", "~~~", "    ", "\t")):
        return []
    result: list[CodeSpan] = []
    items: list[int] = []  # the columns at which the text of the open list items begins
    fence = ""
    begin = at = running = 0
    apart = True  # from the text above, by a blank line or the like
    for line in text.split("\n"):
        end = at + len(line)
        bare = line.strip()
        if fence:
            mark = bare.lstrip("> ")
            if mark.startswith(fence) and not mark.strip(fence[0]):
                result.append(CodeSpan(begin, end, True))
                fence, running, apart = "", end, True
        elif not bare:
            result += _inline(text, running, at)
            running, apart = end, True
        else:
            plain = line.expandtabs(TAB)
            indent = len(plain) - len(plain.lstrip(" "))
            if apart:
                items = [item for item in items if item <= indent]
            if apart and indent >= (items[-1] if items else 0) + TAB:
                result += [*_inline(text, running, at), CodeSpan(at, end, True)]
                running = end
            else:
                column, marked = _text_begins(plain, items)
                opened = FENCE.match(plain[column:].rstrip())
                if opened or marked or PIECE.match(plain, column):
                    result += _inline(text, running, at)
                    running = at
                if opened:
                    fence, begin = opened[1] or opened[2], at
                apart = False
        at = end + 1
    result += [CodeSpan(begin, len(text), True)] if fence else _inline(text, running, len(text))
    return result


def _text_begins(line: str, items: list[int]) -> tuple[int, bool]:
    """Return the column of a line's text behind its marks, and whether it begins a list item, noted in `items`."""
    column = len(line) - len(line.lstrip(" "))
    marked = False
    while (mark := MARKER.match(line, column)) and mark.end() > column:
        if ">" not in mark[0]:
            items[:] = [item for item in items if item <= column]
            items.append(mark.end())
            marked = True
        column = mark.end()
    return column, marked


def _inline(text: str, start: int, end: int) -> Iterator[CodeSpan]:
    """Yield the code spans in a piece of text: from a run of backticks to the next one of the same length."""
    if text.find("`", start, end) < 0:
        return
    runs = [match.span() for match in TICKS.finditer(text, start, end)]
    number = 0
    while number < len(runs):
        begin, stop = runs[number]
        begin += text[begin - 1 : begin] == "\\"  # an escaped one is none
        size = stop - begin
        close = next((at for at in range(number + 1, len(runs)) if runs[at][1] - runs[at][0] == size), None)
        if close is None:
            number += 1
            continue
        yield CodeSpan(begin, runs[close][1], False)
        number = close + 1


def masked(text: str, code_spans: Iterable[CodeSpan] | None = None) -> str:
    """Return a text of the same length with NULs for its code, or for the spans `code_spans`; line ends stay."""
    pieces = []
    at = 0
    for start, end, _ in spans(text) if code_spans is None else code_spans:
        pieces += [text[at:start], re.sub(r"[^\n]", "\0", text[start:end])]
        at = end
    return "".join([*pieces, text[at:]]) if pieces else text
