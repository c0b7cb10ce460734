"""Changing one field among the lines of frontmatter: finding its lines, keeping its quotes, comment and place."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memtui.core.base.errors import MemtuiError
from memtui.core.frontmatter import subset as yaml_subset
from memtui.core.frontmatter.words import NotInSubsetError, indent_of, is_filler, odd_character, split_key

# Plain text that some YAML reader would take for a number, a date, a truth value or nothing.
TYPED = re.compile(r"[-+.]?\d[\w.,:+ -]*|[-+]?\.(?:inf|nan)|~|=|<<|null|true|false|yes|no|on|off|[yn]", re.IGNORECASE)
SHORT_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
ORDER = ("name", "description", "type", "metadata")


@dataclass(frozen=True)
class Entry:
    """A field's lines `start` to `end` (exclusive; blank lines and comments after it are not its own)."""

    key: str
    start: int
    end: int
    indent: int
    column: int  # in the first line, after the colon


def clean(text: str) -> str:
    """Text as it can be written: lone surrogates become U+FFFD, line ends `\\n`."""
    text = text.replace("\r\n", "\n")
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def ending(line: str) -> str:
    """The line's own line end."""
    return line[len(line.rstrip("\r\n")) :]


def comment_of(rest: str) -> str:
    """The comment after a value on one line, with the blanks before it; empty if there is none."""
    text = rest.rstrip("\r\n")
    value = text.lstrip(" ")
    if value[:1] in ("'", '"'):
        close = yaml_subset.closing(value, value[0], 1)
        tail = value[close + 1 :] if close >= 0 else ""
        return tail if tail.strip(" ").startswith("#") else ""
    at = text.rfind("]" if value[:1] == "[" else "}") if value[:1] in ("[", "{") else 0
    at = text.find(" #", max(at, 0))
    return text[len(text[:at].rstrip(" ")) :] if at >= 0 else ""


def entries(lines: Sequence[str], low: int, high: int, indent: int) -> list[Entry]:
    """The fields at one indentation between two lines."""
    starts = []
    for n in range(low, high):
        if indent_of(lines[n]) == indent and not is_filler(lines[n]):
            found = split_key(lines[n], indent)
            if found:
                starts.append((n, *found))
    result = []
    for number, (start, key, column) in enumerate(starts):
        end = starts[number + 1][0] if number + 1 < len(starts) else high
        is_block = lines[start][column:].lstrip(" ")[:1] in ("|", ">")
        while end > start + 1 and is_filler(lines[end - 1]):
            if is_block and lines[end - 1].strip() and indent_of(lines[end - 1]) > indent:
                break
            end -= 1
        result.append(Entry(key, start, end, indent, column))
    return result


def _level(lines: Sequence[str], low: int, high: int) -> int:
    """The indentation of the first field between two lines; -1 where there is none."""
    return next((indent_of(line) for line in lines[low:high] if not is_filler(line)), -1)


def _find(lines: Sequence[str], path: Sequence[str]) -> tuple[list[Entry], int, int, int]:
    """The chain of entries as far as the path leads, and the bounds and indentation of the deepest level."""
    chain: list[Entry] = []
    low, high, indent = 0, len(lines), max(_level(lines, 0, len(lines)), 0)
    for key in path:
        matches = [entry for entry in entries(lines, low, high, indent) if entry.key == key]
        if not matches:
            break
        chain.append(matches[-1])
        low, high = matches[-1].start + 1, matches[-1].end
        if len(chain) < len(path):
            below = _level(lines, low, high)
            if below <= indent:
                break
            indent = below
    return chain, low, high, indent


def set_field(lines: Sequence[str], path: Sequence[str], value: object, newline: str) -> list[str]:
    """The lines with one field set. The caller checks that they read as expected."""
    chain, low, high, indent = _find(lines, path)
    result = list(lines)
    if len(chain) == len(path):
        entry = chain[-1]
        result[entry.start : entry.end] = _rewritten(lines, entry, value)
        return result
    missing = path[len(chain) :]
    if chain:
        parent = chain[-1]
        head = lines[parent.start][parent.column :].strip()
        if head[:1] == "{" and parent.end == parent.start + 1:
            pairs = yaml_subset.load(lines[parent.start].strip() + "\n")[parent.key]
            if isinstance(pairs, dict) and len(missing) == 1:
                result[parent.start] = _with_value(
                    lines[parent.start], parent.column, _flow(pairs | {missing[0]: value})
                )
                return result
        if head and head[0] != "#":
            raise MemtuiError(f"`{parent.key}` holds a value of its own", "change it in an editor")
        if low == high:
            indent = parent.indent + 2
    made = []
    for depth, key in enumerate(missing[:-1]):
        made.append(" " * (indent + 2 * depth) + _key(key) + ":" + newline)
    made += _fresh(missing[-1], value, indent + 2 * (len(missing) - 1), newline)
    at = high if chain else _place(lines, missing[0], indent)
    result[at:at] = made
    return result


def _place(lines: Sequence[str], key: str, indent: int) -> int:
    """Where a new field at the top goes: after the last of those that come before it by custom, else at the end."""
    found = entries(lines, 0, len(lines), indent)
    if key not in ORDER[:2]:
        return found[-1].end if found else len(lines)
    before = [entry.end for entry in found if entry.key in ORDER[: ORDER.index(key)]]
    return max(before) if before else (found[0].start if found else len(lines))


def drop_field(lines: Sequence[str], path: Sequence[str]) -> list[str]:
    """The lines without one field, and without a parent that would be left empty."""
    chain, *_ = _find(lines, path)
    result = list(lines)
    if len(chain) < len(path):
        parent = chain[-1] if chain else None
        pairs = yaml_subset.load(lines[parent.start].strip() + "\n")[parent.key] if parent else None
        if parent is None or not isinstance(pairs, dict):
            raise MemtuiError("this field can't be found among the lines", "remove it in an editor")
        left = {key: value for key, value in pairs.items() if key != path[-1]}
        result[parent.start : parent.start + 1] = (
            [_with_value(lines[parent.start], parent.column, _flow(left))] if left else []
        )
        return result
    for number in range(len(chain) - 1, -1, -1):
        entry = chain[number]
        others = (
            number > 0 and len(entries(lines, chain[number - 1].start + 1, chain[number - 1].end, entry.indent)) > 1
        )
        if number == 0 or others:
            for twin in reversed([e for e in _siblings(lines, chain, number) if e.key == entry.key]):
                del result[twin.start : twin.end]
            break
    return result


def _siblings(lines: Sequence[str], chain: Sequence[Entry], number: int) -> list[Entry]:
    low, high = (chain[number - 1].start + 1, chain[number - 1].end) if number else (0, len(lines))
    return entries(lines, low, high, chain[number].indent)


def _key(key: str) -> str:
    return key if split_key(key + ":") == (key, len(key) + 1) and not TYPED.fullmatch(key) else double_quoted(key)


def _with_value(line: str, column: int, text: str) -> str:
    """A line with another value behind its colon; blanks and comment stay."""
    rest = line[column:]
    gap = rest[: len(rest) - len(rest.lstrip(" "))]
    if not rest.strip():
        gap = " "
    return line[:column] + (gap or " ") + text + comment_of(rest) + ending(line)


def _rewritten(lines: Sequence[str], entry: Entry, value: object) -> list[str]:
    first = lines[entry.start]
    head = first[entry.column :].strip()
    below = list(lines[entry.start + 1 : entry.end])
    newline = ending(first)
    if isinstance(value, list):
        items = [line for line in below if not is_filler(line)]
        if (
            value
            and items
            and not head
            and all(line.lstrip(" ").startswith("- ") for line in items)
            and len(items) == len(below)
        ):
            return [first, *_items(below, value)]
        return [_with_value(first, entry.column, _flow(value))]
    text = str(value)
    if head[:1] in ("|", ">") and "\n" in text:
        indent = next((indent_of(line) for line in below if line.strip()), entry.indent + 2)
        block = _literal(text, indent, newline)
        if block:
            return [first[: entry.column] + " " + block[0] + newline, *block[1:]]
    style = head[:1] if head[:1] in ("'", '"') else ""
    typed = not style and not below and bool(TYPED.fullmatch(head.removesuffix(comment_of(" " + head)).rstrip(" ")))
    if below:
        first = first[: entry.column] + " " + newline
    return [_with_value(first, entry.column, scalar(text, style, typed=typed))]


def _items(below: Sequence[str], value: Sequence[object]) -> list[str]:
    """The lines of a block list; lines of items that stay, at its ends, are kept as they are."""
    old = []
    for line in below:
        try:
            read = yaml_subset.load("k:\n" + line.rstrip("\r\n").replace("\t", " ") + "\n")["k"]
        except NotInSubsetError:
            read = None
        old.append(read[0] if isinstance(read, list) and len(read) == 1 else None)
    front = 0
    while front < min(len(old), len(value)) and old[front] == value[front]:
        front += 1
    back = 0
    while back < min(len(old), len(value)) - front and old[-1 - back] == value[-1 - back]:
        back += 1
    lead = " " * indent_of(below[0]) + "- "
    made = [lead + scalar(str(item)) + ending(below[0]) for item in value[front : len(value) - back]]
    return [*below[:front], *made, *below[len(below) - back :]]


def _fresh(key: str, value: object, indent: int, newline: str) -> list[str]:
    lead = " " * indent
    if isinstance(value, list) and value:
        return [lead + _key(key) + ":" + newline, *(f"{lead}  - {scalar(str(item))}{newline}" for item in value)]
    text = "[]" if isinstance(value, list) else scalar(str(value))
    return [lead + _key(key) + ": " + text + newline]


def _flow(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(key)}: {_flow(below)}" for key, below in value.items()) + "}"
    text = str(value)
    bare = is_plain(text) and not set(",[]{}?#:'\"") & set(text) and text[0] not in "-?:"
    return text if bare else double_quoted(text)


def _literal(text: str, indent: int, newline: str) -> list[str]:
    """A `|` block: its indicator, then its lines; empty where the text does not survive one."""
    content = text.removesuffix("\n")
    if content.endswith("\n") or content[:1] in ("", " ", "\n", "\t") or odd_character(text) or "---" in text:
        return []
    lines = [" " * indent + line + newline if line else newline for line in content.split("\n")]
    return ["|" if text.endswith("\n") else "|-", *lines]


def is_plain(text: str, *, typed: bool = False) -> bool:
    """Whether text can stand unquoted and is still this text for every YAML reader, Claude Code's included."""
    if not text or "\t" in text or "\n" in text or "---" in text or odd_character(text):
        return False
    if TYPED.fullmatch(text) and not typed:
        return False
    try:
        return yaml_subset.load(f"k: {text}\n") == {"k": text}
    except NotInSubsetError:
        return False


def double_quoted(text: str) -> str:
    """Text in double quotes on one line. `---` is broken up: Claude Code would end the frontmatter there."""
    out = []
    for char in text:
        code = ord(char)
        if char in SHORT_ESCAPES:
            out.append(SHORT_ESCAPES[char])
        elif odd_character(char):
            out.append(f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
        else:
            out.append(char)
    made = "".join(out)
    return '"' + (made.replace("--", "-\\x2d") if "---" in made else made) + '"'


def scalar(text: str, style: str = "", *, typed: bool = False) -> str:
    """One line of YAML that reads as this text: in the style asked for (`'`, `"` or plain) if that can hold it."""
    if not style and is_plain(text, typed=typed):
        return text
    if style == "'" and "\n" not in text and "---" not in text and not odd_character(text):
        return "'" + text.replace("'", "''") + "'"
    return double_quoted(text)
