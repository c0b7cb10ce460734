"""Edit JSON text without reformatting it: append, replace or remove one value; every other character stays.

New text takes the layout of its surroundings. A path is a tuple of keys and indexes; of repeated keys the last
counts."""

import json
from dataclasses import dataclass
from typing import Any

from memtui.client.settings_faults import DECODER

WHITESPACE = " \t\r\n"
DEFAULT_INDENT = "  "

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Child:
    """A member or item by positions: the whole from `start` to `end`, its key's end, and where its value starts."""

    key: str | int
    start: int
    key_end: int
    value: int
    end: int


def load(text: str) -> Any:
    """Parse a whole document. Raises ValueError, also for nesting too deep to read."""
    try:
        start = _skip(text, 0)
        value, end = DECODER.raw_decode(text, start)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if _skip(text, end) != len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    return value


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in WHITESPACE:
        position += 1
    return position


def _blank_before(text: str, position: int) -> str:
    start = position
    while start and text[start - 1] in WHITESPACE:
        start -= 1
    return text[start:position]


def _end(text: str, start: int) -> int:
    return int(DECODER.raw_decode(text, start)[1])


def children(text: str, start: int) -> list[Child]:
    """List the members or items of the container that starts at `start`; none for a value that is no container."""
    other: list[Child] = []
    if text[start] not in "{[":
        return other
    position = _skip(text, start + 1)
    while text[position] not in "}]":
        first = value = key_end = position
        key: str | int = len(other)
        if text[start] == "{":
            key, key_end = DECODER.raw_decode(text, position)
            value = _skip(text, _skip(text, key_end) + 1)
        end = _end(text, value)
        other.append(Child(key, first, key_end, value, end))
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return other


def span(text: str, path: Path) -> tuple[int, int]:
    """Return the start and end of the value at `path`. Raises KeyError."""
    start = _skip(text, 0)
    for step in path:
        matches = [child for child in children(text, start) if child.key == step]
        if not matches:
            raise KeyError(path)
        start = matches[-1].value
    return start, _end(text, start)


def source(text: str, path: Path) -> str:
    """Return the text of the value at `path`. Raises KeyError."""
    start, end = span(text, path)
    return text[start:end]


@dataclass(frozen=True)
class _Style:
    """The layout of a document; `newline` is empty without line breaks, `unit` is one step of indentation."""

    newline: str
    unit: str
    colon: str
    comma: str


def _style(text: str) -> _Style:
    newline = "\r\n" if "\r\n" in text else "\n"
    top = _skip(text, 0)
    members = children(text, top)
    if not members:
        return _Style(newline, DEFAULT_INDENT, ": ", ", ")
    colon = ": "
    if text[top] == "{":
        colon = text[members[0].key_end : members[0].value]
        colon = ": " if "\n" in colon or "\r" in colon else colon
    comma = "," if colon == ":" else ", "
    for child in members:
        lead = _blank_before(text, child.start)
        if "\n" in lead:
            return _Style(newline, lead[lead.rfind("\n") + 1 :].removeprefix(_line_indent(text, top)), colon, comma)
    return _Style("", DEFAULT_INDENT, colon, comma)


def _line_indent(text: str, position: int) -> str:
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _render(value: Any, style: _Style, indent: str, *, lines: bool) -> str:
    if not lines:
        return json.dumps(value, ensure_ascii=False, separators=(style.comma, style.colon))
    text = json.dumps(value, ensure_ascii=False, indent=style.unit, separators=(",", style.colon))
    return text.replace("\n", (style.newline or "\n") + indent)


def append(text: str, path: Path, value: Any, key: str | None = None) -> str:
    """Add `value` at the end of the container at `path`: a member called `key`, or without one a list item."""
    start, end = span(text, path)
    style = _style(text)
    other = children(text, start)
    label = "" if key is None else json.dumps(key, ensure_ascii=False) + style.colon
    if other:
        lead = _blank_before(text, other[-1].start)
        if "\n" in lead:
            indent = lead[lead.rfind("\n") + 1 :]
            added = (style.newline or "\n") + indent + label + _render(value, style, indent, lines=True)
        else:
            lead = lead or ("" if len(other) > 1 or style.comma == "," else " ")
            added = lead + label + _render(value, style, "", lines=False)
        at = other[-1].end
        return text[:at] + "," + added + text[at:]
    if style.newline:
        outer = _line_indent(text, start)
        inner = outer + style.unit
        body = style.newline + inner + label + _render(value, style, inner, lines=True) + style.newline + outer
    else:
        body = label + _render(value, style, "", lines=False)
    return text[: start + 1] + body + text[end - 1 :]


def replace(text: str, path: Path, value: Any) -> str:
    """Replace the value at `path`, over several lines if the old one was. Raises KeyError."""
    start, end = span(text, path)
    lines = "\n" in text[start:end]
    return text[:start] + _render(value, _style(text), _line_indent(text, start), lines=lines) + text[end:]


def put_source(text: str, path: Path, new: str) -> str:
    """Replace the value at `path` with ready JSON text. Raises KeyError."""
    start, end = span(text, path)
    return text[:start] + new + text[end:]


def remove(text: str, path: Path) -> str:
    """Remove the member or item at `path` and its comma; undoes `append`. Raises KeyError."""
    start, end = span(text, path[:-1])
    other = children(text, start)
    matches = [number for number, child in enumerate(other) if child.key == path[-1]]
    if not matches:
        raise KeyError(path)
    number = matches[-1]
    if len(other) == 1:
        return text[: start + 1] + text[end - 1 :]
    if number == len(other) - 1:
        return text[: other[number - 1].end] + text[other[number].end :]
    return text[: other[number].start] + text[other[number + 1].start :]
