"""Add our hooks to the text of a settings file, and remove them again, without any other change.

The JSON is edited without reformatting: one value is appended, replaced or removed, every other character stays, and
new text takes the layout of its surroundings. A path is a tuple of keys and indexes; the last of equal keys counts."""

import functools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from memtui.base import fastjson_hot
from memtui.base.errors import MemtuiError
from memtui.client.applied_settings import DECODER
from memtui.hooks.install.entries import Groups, Table, is_ours

WHITESPACE = " \t\r\n"
DEFAULT_INDENT = "  "
STATUS_LINE = "statusLine"
_BLANKS = re.compile(r"[ \t\r\n]*")
_COMMENTS = re.compile(r'"(?:[^"\\]|\\.)*"|(//[^\r\n]*|/\*.*?\*/)', re.DOTALL)
JsonPath = tuple[str | int, ...]


class Child(NamedTuple):
    """A member or item by positions: the whole from `start` to `end`, its key's end, and where its value starts."""

    key: str | int
    start: int
    key_end: int
    value: int
    end: int


@functools.lru_cache(maxsize=8)
def bare(text: str) -> str:
    """Return a text with blanks in the place of each comment, so that all positions are the same."""
    return _COMMENTS.sub(lambda part: re.sub(r"[^\r\n]", " ", part[0]) if part[1] else part[0], text)


def load(text: str, allows_comments: bool = True) -> Any:
    """Parse a whole document. Raises ValueError, also for nesting too deep to read."""
    if bare(text) != text and not allows_comments:
        at = next(at for at, pair in enumerate(zip(text, bare(text), strict=True)) if pair[0] != pair[1])
        raise json.JSONDecodeError("A comment", text, at)
    text = bare(text)
    try:
        value, end = DECODER.raw_decode(text, _skip(text, 0))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if _skip(text, end) != len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    return value


def _skip(text: str, position: int) -> int:
    match = _BLANKS.match(bare(text), position)
    return match.end() if match else position


def _blank_before(text: str, position: int) -> str:
    return text[len(text[:position].rstrip(WHITESPACE)) : position]


def _end(text: str, start: int) -> int:
    return int(DECODER.raw_decode(bare(text), start)[1])


def _children(text: str, start: int) -> list[Child]:
    """List the members or items of the container that starts at `start`; none for a value that is no container."""
    children: list[Child] = []
    if text[start] not in "{[":
        return children
    position = _skip(text, start + 1)
    while text[position] not in "}]":
        first = value = key_end = position
        key: str | int = len(children)
        if text[start] == "{":
            key, key_end = DECODER.raw_decode(text, position)
            value = _skip(text, _skip(text, key_end) + 1)
        end = _end(text, value)
        children.append(Child(key, first, key_end, value, end))
        position = _skip(text, end)
        if text[position] == ",":
            position = _skip(text, position + 1)
    return children


def span(text: str, path: JsonPath) -> tuple[int, int]:
    """Return the start and end of the value at `path`. Raises KeyError."""
    start = _skip(text, 0)
    for step in path:
        matches = [child for child in _children(text, start) if child.key == step]
        if not matches:
            raise KeyError(path)
        start = matches[-1].value
    return start, _end(text, start)


def source(text: str, path: JsonPath) -> str:
    """Return the text of the value at `path`. Raises KeyError."""
    start, end = span(text, path)
    return text[start:end]


class _Style(NamedTuple):
    """The layout of a document; `newline` is empty without line breaks, `unit` is one step of indentation."""

    newline: str
    unit: str
    colon: str
    comma: str


def _style(text: str) -> _Style:
    newline = "\r\n" if "\r\n" in text else "\n"
    top = _skip(text, 0)
    members = _children(text, top)
    if not members:
        return _Style(newline, DEFAULT_INDENT, ": ", ", ")
    between = text[members[0].key_end : members[0].value]
    colon = ": " if text[top] == "[" or "\n" in between or "\r" in between else between
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


def append(text: str, path: JsonPath, value: Any, key: str | None = None) -> str:
    """Add `value` at the end of the container at `path`: a member called `key`, or without one a list item."""
    start, end = span(text, path)
    style, children = _style(text), _children(text, start)
    label = "" if key is None else json.dumps(key, ensure_ascii=False) + style.colon
    if children:
        lead, at = _blank_before(text, children[-1].start), children[-1].end
        if "\n" in lead:
            indent = lead[lead.rfind("\n") + 1 :]
            added = (style.newline or "\n") + indent + label + _render(value, style, indent, lines=True)
        else:
            lead = lead or ("" if len(children) > 1 or style.comma == "," else " ")
            added = lead + label + _render(value, style, "", lines=False)
        return text[:at] + "," + added + text[at:]
    body = label + _render(value, style, "", lines=False)
    if style.newline:
        outer = _line_indent(text, start)
        inner = outer + style.unit
        body = style.newline + inner + label + _render(value, style, inner, lines=True) + style.newline + outer
    comments = text[start + 1 : end - 1].rstrip(WHITESPACE)
    return text[: start + 1] + comments + body + text[end - 1 :]


def replace(text: str, path: JsonPath, value: Any) -> str:
    """Replace the value at `path`, over several lines if the old one was. Raises KeyError."""
    start, end = span(text, path)
    lines = "\n" in text[start:end]
    return text[:start] + _render(value, _style(text), _line_indent(text, start), lines=lines) + text[end:]


def _put_source(text: str, path: JsonPath, new: str) -> str:
    """Replace the value at `path` with ready JSON text."""
    start, end = span(text, path)
    return text[:start] + new + text[end:]


def remove(text: str, path: JsonPath) -> str:
    """Remove the member or item at `path` and its comma; undoes `append`. Raises KeyError."""
    start, end = span(text, path[:-1])
    children = _children(text, start)
    number = max((number for number, child in enumerate(children) if child.key == path[-1]), default=-1)
    if number < 0:
        raise KeyError(path)
    if len(children) == 1:
        return text[: start + 1] + text[end - 1 :]
    if number == len(children) - 1:
        return text[: children[number - 1].end] + text[children[number].end :]
    return text[: children[number].start] + text[children[number + 1].start :]


@dataclass
class Made:
    """What an installation made, for `strip`, as installs.json has it: the paths of `created` containers (None:
    unknown, then each that we empty goes), and [path, text] of empty ones that it `replaced`."""

    created: list[list[Any]] | None = field(default_factory=list)
    replaced: list[list[Any]] = field(default_factory=list)

    def note_created(self, *path: str) -> None:
        if self.created is not None and list(path) not in self.created:
            self.created.append(list(path))

    def note_replaced(self, path: JsonPath, text: str) -> None:
        if self.original(path) is None:
            self.replaced.append([list(path), text])

    def original(self, path: JsonPath) -> str | None:
        return next((text for earlier, text in self.replaced if earlier == list(path)), None)


def read(text: str, name: str, agent: str = "", allows_comments: bool = True) -> dict[str, Any]:
    """Parse settings as Claude Code would; a blank file means empty settings. Raises MemtuiError."""
    if not text.strip(WHITESPACE):
        return {}
    try:
        value = load(text, allows_comments)
    except ValueError as error:
        hint = "Claude Code can't read it either. Fix the file (comments and trailing commas are not allowed)."
        if agent:
            hint = f"{agent} may read it, but memtui can't change it: fix the file (trailing commas and the like)."
        raise MemtuiError(f"{name} is not valid JSON: {error}.", hint) from error
    if not isinstance(value, dict):
        raise MemtuiError(f"{name} has a JSON {_kind(value)}, not an object.", "Settings look like {…}: fix the file.")
    return value


def _kind(value: Any) -> str:
    names = {list: "list", dict: "object", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")


def _is_empty(value: Any) -> bool:
    return value is None or value in ({}, [])


def _begun(text: str, settings: dict[str, Any], record: Made) -> str:
    """Return the text of settings to which something can be added; that of empty ones is noted."""
    if not settings:
        record.note_replaced((), text)
    return text if text.strip(WHITESPACE) else "{}\n"


def add(text: str, groups: Groups, groups_before: Groups, record: Made, name: str) -> str:
    """Return the text with a group of ours for every event, older ones brought up to date, noted in `record`. Of one
    that a person changed since it was in `groups_before` only the command is replaced. Raises MemtuiError."""
    settings = read(text, name)
    text = _begun(text, settings, record)
    if "hooks" not in settings:
        record.note_created("hooks")
        for event in groups:
            record.note_created("hooks", event)
        return append(text, (), {event: [group] for event, group in groups.items()}, "hooks")
    hooks = settings["hooks"]
    _check(name, "hooks", hooks, dict)
    for event in groups if isinstance(hooks, dict) else ():
        _check(name, "hooks." + event, hooks.get(event), list)
    if _is_empty(hooks):
        text, hooks = _opened(text, ("hooks",), hooks, {}, record), {}
    for event in [event for event in hooks if event not in groups]:
        text = _strip_event(text, event, hooks[event], record)
    for event, group in groups.items():
        text = _add_event(text, event, group, hooks, groups_before.get(event), record)
    return text


def _check(name: str, where: str, value: Any, kind: type) -> None:
    if not isinstance(value, kind) and not _is_empty(value):
        words = f"`{where}` in {name} is a {_kind(value)}, not a JSON {_kind(kind())}."
        raise MemtuiError(words, "Fix the file and try again.")


def _opened(text: str, path: JsonPath, value: Any, empty: dict[str, Any] | list[Any], record: Made) -> str:
    """Return the text with an `empty` container in place of an empty value at `path`, which is noted."""
    record.note_replaced(path, source(text, path))
    return text if type(value) is type(empty) else _put_source(text, path, json.dumps(empty))


def _add_event(text: str, event: str, group: Table, hooks: Table, before: Table | None, record: Made) -> str:
    path: JsonPath = ("hooks", event)
    if event not in hooks:
        record.note_created("hooks", event)
        return append(text, ("hooks",), [group], event)
    present = hooks[event]
    if _is_empty(present):
        return append(_opened(text, path, present, [], record), path, group)
    line, has_ours = group["hooks"][0]["command"], False
    for number, other in enumerate(present):
        ours = [place for place, hook in enumerate(_hooks_of(other)) if is_ours(hook)]
        has_ours = has_ours or bool(ours)
        if ours and other == before:
            text = text if other == group else replace(text, (*path, number), group)
            continue
        for place in ours:
            if other["hooks"][place]["command"] != line:
                text = replace(text, (*path, number, "hooks", place, "command"), line)
    return text if has_ours else append(text, path, group)


def _hooks_of(group: Any) -> list[Any]:
    return fastjson_hot.rows(group, "hooks") if isinstance(group, dict) else []


def our_hooks(settings: dict[str, Any]) -> Iterator[tuple[str, str]]:
    hooks = fastjson_hot.table(settings, "hooks")
    for event in hooks:
        for group in fastjson_hot.rows(hooks, event):
            yield from ((event, hook["command"]) for hook in _hooks_of(group) if is_ours(hook))


def holds_ours(settings: dict[str, Any]) -> bool:
    return any(our_hooks(settings))


def strip(text: str, record: Made, name: str) -> str:
    """Return the text without our hooks and the containers made for them; undoes `add`. Raises MemtuiError."""
    settings = read(text, name)
    hooks = settings.get("hooks")
    if not isinstance(hooks, dict):
        return text
    for event, groups in hooks.items():
        text = _strip_event(text, event, groups, record)
    if read(text, name).get("hooks") == {}:
        text = _close(text, ("hooks",), record, emptied=holds_ours(settings))
    return _blank_again(text, record, name)


def has_status_line(settings: dict[str, Any]) -> bool:
    return is_ours(settings.get(STATUS_LINE))


def other_status_line(settings: dict[str, Any]) -> Any:
    """Return a status line that is not ours, which stays; None if there is none."""
    value = settings.get(STATUS_LINE)
    return None if _is_empty(value) or is_ours(value) else value


def add_status_line(text: str, line: dict[str, Any], record: Made, name: str) -> str:
    """Return the text with our status line, up to date; another stays. Raises MemtuiError."""
    settings = read(text, name)
    value: Any = settings.get(STATUS_LINE)
    if is_ours(value):
        same = value["command"] == line["command"]
        return text if same else replace(text, (STATUS_LINE, "command"), line["command"])
    if not _is_empty(value):
        return text
    text = _begun(text, settings, record)
    if STATUS_LINE not in settings:
        return append(text, (), line, STATUS_LINE)
    record.note_replaced((STATUS_LINE,), source(text, (STATUS_LINE,)))
    return replace(text, (STATUS_LINE,), line)


def strip_status_line(text: str, record: Made, name: str) -> str:
    """Return the text without our status line; undoes `add_status_line`. Raises MemtuiError."""
    if not has_status_line(read(text, name)):
        return text
    original = record.original((STATUS_LINE,))
    if original is not None:
        return _put_source(text, (STATUS_LINE,), original)
    return _blank_again(remove(text, (STATUS_LINE,)), record, name)


def _blank_again(text: str, record: Made, name: str) -> str:
    """Give settings that are empty now the text that they had before."""
    original = record.original(())
    return text if original is None or read(text, name) else original


def _strip_event(text: str, event: str, groups: Any, record: Made) -> str:
    path: JsonPath = ("hooks", event)
    if not isinstance(groups, list):
        return text
    count = len(groups)
    for number in range(len(groups) - 1, -1, -1):
        present = _hooks_of(groups[number])
        ours = [place for place, hook in enumerate(present) if is_ours(hook)]
        if ours and len(ours) == len(present):
            text = remove(text, (*path, number))
            count -= 1
            continue
        for place in reversed(ours):
            text = remove(text, (*path, number, "hooks", place))
    return text if count else _close(text, path, record, emptied=bool(groups))


def _close(text: str, path: JsonPath, record: Made, *, emptied: bool) -> str:
    """Restore a container that is empty now: remove one of ours, give one that was empty before its old text."""
    original = record.original(path)
    if original is not None:
        return _put_source(text, path, original)
    is_made = emptied if record.created is None else list(path) in record.created
    return remove(text, path) if is_made else text
