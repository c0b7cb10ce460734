"""config.toml, changed line by line: comments, order and blank lines stay.

Our settings are plain values on one line, at the top or below `[projects."<path>"]`. What was written in another way is
left to a person's editor: the new text is parsed, and must say exactly what was asked.
"""

import json
import re
import tomllib

from memtui.core.errors import MemtuiError

VALUE = re.compile(r"""\s*(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s#"'\[{][^\s#]*)""")
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
        raise MemtuiError(f"config.toml can't be read: {error}.", "Mend it: memtui config edit") from error


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


def _region(lines: "list[str]", project: "str | None") -> "tuple[int, int] | None":
    """From where to where the lines of a table go: the top, or a project's."""
    heads = [n for n, line in enumerate(lines) if HEADER.match(line)]
    if project is None:
        return 0, heads[0] if heads else len(lines)
    for place, number in enumerate(heads):
        if _table_of(lines[number]) == ["projects", project]:
            return number + 1, heads[place + 1] if place + 1 < len(heads) else len(lines)
    return None


def change(text: str, key: str, value: "str | int | float | bool | None", project: "str | None" = None) -> str:
    """The text with one setting changed; None removes it. Raises MemtuiError where that can't be done safely."""
    before = parse(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.split("\n")
    region = _region(lines, project)
    place = _find(lines, key, region) if region else None
    if value is None:
        if place is not None:
            del lines[place]
    elif place is not None:
        head, _, rest = lines[place].partition("=")
        match = VALUE.match(rest)
        lines[place] = head + "= " + written(value) + (rest[match.end() :] if match else "")
    else:
        _insert(lines, f"{key} = {written(value)}", region, project, newline)
    made = "\n".join(lines)
    if made and not made.endswith("\n"):
        made += newline
    if parse(made) != _expected(before, key, value, project):
        raise MemtuiError(f"{key} stands in config.toml in a form that can't be changed here.", "memtui config edit")
    return made


def _find(lines: "list[str]", key: str, region: "tuple[int, int]") -> "int | None":
    wanted = re.compile(rf"\s*(?:{key}|\"{key}\"|'{key}')\s*=")
    return next((n for n in range(*region) if wanted.match(lines[n])), None)


def _insert(
    lines: "list[str]", line: str, region: "tuple[int, int] | None", project: "str | None", newline: str
) -> None:
    end = newline[:-1]
    if region is None:
        while lines and not lines[-1].strip():
            lines.pop()
        gap = [end] if lines else []
        lines += [*gap, f"[projects.{quoted(project or '')}]{end}", line + end, ""]
        return
    at = region[1]
    while at > region[0] and not lines[at - 1].strip():
        at -= 1
    lines.insert(at, line + end)


def _expected(before: "dict[str, object]", key: str, value: object, project: "str | None") -> "dict[str, object]":
    found = json.loads(json.dumps(before, default=str))
    table = found
    if project is not None:
        if value is None and project not in found.get("projects", {}):
            return dict(found)
        table = found.setdefault("projects", {}).setdefault(project, {})
    if value is None:
        table.pop(key, None)
    else:
        table[key] = value
    return dict(found)
