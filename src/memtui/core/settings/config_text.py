"""The text of config.toml, changed line by line: comments, order and blank lines stay.

Our settings are plain values on one line, at the top or below `[projects."<path>"]` or `[keys]`. What was written in
another way is left to a person's editor: the new text is parsed, and must say exactly what was asked.
"""

import json
import re
import tomllib
from collections.abc import Sequence
from typing import Any

from memtui.core.base.errors import MemtuiError
from memtui.core.settings import keymap

VALUE = re.compile(r"""\s*(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s#"'\[{][^\s#]*)""")
BARE = re.compile(r"[A-Za-z0-9_-]+")
HEADER = re.compile(r"\s*\[")


def quoted(text: str) -> str:
    """A TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def written(value: "str | int | float | bool") -> str:
    """A value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return quoted(value) if isinstance(value, str) else repr(value)


def parse(text: str) -> "dict[str, object]":
    """The settings. Raises MemtuiError with line and reason."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except ValueError as error:
        raise MemtuiError(f"config.toml can't be read: {error}.", "Fix it: memtui config edit") from error


def _table_of(line: str) -> "list[str] | None":
    """The path of a table header; None for any other line, or a header that is odd."""
    if not HEADER.match(line) or line.lstrip().startswith("[["):
        return None
    try:
        value: object = tomllib.loads(line.rstrip("\r"))
    except ValueError:
        return None
    path = []
    while isinstance(value, dict) and value:
        key = next(iter(value))
        path.append(key)
        value = value[key]
    return path


def _region(lines: "list[str]", table: "Sequence[str]") -> "tuple[int, int] | None":
    """From where to where the lines of a table go; of no table: those at the top."""
    heads = [n for n, line in enumerate(lines) if HEADER.match(line)]
    if not table:
        return 0, heads[0] if heads else len(lines)
    for place, number in enumerate(heads):
        if _table_of(lines[number]) == [*table]:
            return number + 1, heads[place + 1] if place + 1 < len(heads) else len(lines)
    return None


def change(text: str, key: str, value: "str | int | float | bool | None", table: "Sequence[str]" = ()) -> str:
    """The text with one setting changed, at the top or in a `table` by its path; None removes it. Raises MemtuiError
    where that can't be done safely."""
    before = parse(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.split("\n")
    region = _region(lines, table)
    place = _find(lines, key, region) if region else None
    if value is None:
        if place is not None:
            del lines[place]
    elif place is not None:
        head, _, rest = lines[place].partition("=")
        match = VALUE.match(rest)
        lines[place] = head + "= " + written(value) + (rest[match.end() :] if match else "")
    else:
        _insert(lines, f"{_bare(key)} = {written(value)}", region, table, newline)
    made = "\n".join(lines)
    if made and not made.endswith("\n"):
        made += newline
    try:
        same = _plain(parse(made)) == _expected(_plain(before), key, value, table)
    except MemtuiError:
        same = False
    if not same:
        raise MemtuiError(f"{key} stands in config.toml in a form that can't be changed here.", "memtui config edit")
    return made


def _plain(found: "dict[str, object]") -> "dict[str, object]":
    return {**found, keymap.TABLE: keymap.written(found)} if isinstance(found.get(keymap.TABLE), dict) else found


def _bare(name: str) -> str:
    """A key as TOML writes it."""
    return name if BARE.fullmatch(name) else quoted(name)


def _find(lines: "list[str]", key: str, region: "tuple[int, int]") -> "int | None":
    word = re.escape(key)
    wanted = re.compile(rf"\s*(?:{word}|\"{word}\"|'{word}')\s*=")
    return next((n for n in range(*region) if wanted.match(lines[n])), None)


def _insert(
    lines: "list[str]", line: str, region: "tuple[int, int] | None", table: "Sequence[str]", newline: str
) -> None:
    end = newline[:-1]
    if region is None:
        while lines and not lines[-1].strip():
            lines.pop()
        gap = [end] if lines else []
        lines += [*gap, f"[{'.'.join(map(_bare, table))}]{end}", line + end, ""]
        return
    at = region[1]
    while at > region[0] and not lines[at - 1].strip():
        at -= 1
    lines.insert(at, line + end)


def _expected(before: "dict[str, object]", key: str, value: object, table: "Sequence[str]") -> "dict[str, object]":
    found: dict[str, Any] = json.loads(json.dumps(before, default=str))
    inside = found
    for name in table:
        if value is None and name not in inside:
            return found
        inside = inside.setdefault(name, {})
        if not isinstance(inside, dict):
            return found
    if value is None:
        inside.pop(key, None)
    else:
        inside[key] = value
    return found
