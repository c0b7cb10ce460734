"""The code in a Markdown text: fenced and indented blocks, and spans between backticks."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
MARKER = re.compile(r" *(?:[-*+]|\d{1,9}[.)])(?:( {1,4})(?! )| )|(?: *> ?)+")
# What begins a piece of text of its own, so that no code span reaches from the line before into it.
PIECE = re.compile(r"#{1,6} |\|")
TICKS = re.compile(r"`+")
TAB = 4


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
