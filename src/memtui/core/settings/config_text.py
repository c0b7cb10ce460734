"""Edit config.toml line by line: comments, order and blank lines stay.

The new text is parsed, and must have the one change and no other; odd forms are left to an editor."""

import json
import re
import tomllib
from collections.abc import Sequence

from memtui.core.base.errors import MemtuiError
from memtui.core.settings import config, defaults, keymap

VALUE = re.compile(r"""\s*(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s#"'\[{][^\s#]*)""")
BARE = re.compile(r"[A-Za-z0-9_-]+")
HEADER = re.compile(r"\s*\[")


def _quoted(text: str) -> str:
    """Write text as a TOML string."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def written(value: "str | int | float | bool") -> str:
    """Write a value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return _quoted(value) if isinstance(value, str) else repr(value)


def parse(text: str) -> "dict[str, object]":
    """Parse the text as settings. Raises MemtuiError with line and reason."""
    try:
        return config.renewed(tomllib.loads(text.removeprefix("\ufeff")))
    except ValueError as error:
        raise MemtuiError(f"config.toml can't be read: {error}.", "Fix it: memtui config edit") from error


def _table_of(line: str) -> "list[str] | None":
    """Return the path of a table's header; None for any other line, and for a header that can't be parsed."""
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
    """Return a table's (first line, line after the last); the top's for an empty `table`, None if absent."""
    headers = [n for n, line in enumerate(lines) if HEADER.match(line)]
    if not table:
        return 0, headers[0] if headers else len(lines)
    for place, number in enumerate(headers):
        if _table_of(lines[number]) == [*table]:
            return number + 1, headers[place + 1] if place + 1 < len(headers) else len(lines)
    return None


def change(text: str, key: str, value: "str | int | float | bool | None", table: "Sequence[str]" = ()) -> str:
    """Return the text with one setting changed, or removed (None). Raises MemtuiError for a form that is not safe."""
    before = parse(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.split("\n")
    region = _region(lines, table)
    names = "|".join(map(re.escape, [key, *(old for old, new in defaults.EARLIER.items() if new == key)]))
    sets = re.compile(rf"""\s*(?:(?:{names})|(["'])(?:{names})\1)\s*=""")
    place = next((number for number in range(*region or (0, 0)) if sets.match(lines[number])), None)
    if value is None:
        if place is not None:
            del lines[place]
    elif place is not None:
        head, _, rest = lines[place].partition("=")
        match = VALUE.match(rest)
        head = next((head.replace(old, new) for old, new in defaults.EARLIER.items() if old in head), head)
        lines[place] = head + "= " + written(value) + (rest[match.end() :] if match else "")
    else:
        _insert(lines, f"{_bare(key)} = {written(value)}", region, table, newline)
    after = "\n".join(lines)
    if after and not after.endswith("\n"):
        after += newline
    expected = dict(keymap.flat(before))
    name = ".".join([*table, key])
    expected.pop(name, None)
    if value is not None:
        expected[name] = value
    try:
        correct = dict(keymap.flat(parse(after))) == expected
    except MemtuiError:
        correct = False
    if not correct:
        raise MemtuiError(f"{key} is written in config.toml in a form that memtui can't edit.", "memtui config edit")
    return after


def _bare(name: str) -> str:
    """Write a key as TOML, in quotes only where it needs them."""
    return name if BARE.fullmatch(name) else _quoted(name)


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
