"""Text without what hides a key from the rules, with a map back to the places in the original.

A key can be hidden by invisible characters, colours, separators written as an entity or an escape, and line breaks."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
_ESCAPED = re.compile(
    rf"[{_INVISIBLE}]+"
    r"|\x1b\[[0-9;:]{0,30}[A-Za-z]"
    r"|&(?:#(?P<dec>[0-9]{2,5})|#[xX](?P<hex>[0-9A-Fa-f]{2,4})"
    r"|(?P<name>quot|apos|amp|lt|gt|equals|colon|period|lowbar|commat|sol|num|nbsp));"
    r"|%(?P<url>2[267BbFf]|3[ADFadf]|40)|\\u00(?P<json>[2-7][0-9A-Fa-f])|\\x(?P<hexed>[2-7][0-9A-Fa-f])"
    r"|\\(?P<mark>[\"'/=:])|\\(?P<line>[nrt])"
    r"|(?P<wide>[\uff01-\uff5e])"
)
_ENTITIES = {
    "quot": '"', "apos": "'", "amp": "&", "lt": "<", "gt": ">", "equals": "=", "colon": ":", "period": ".",
    "lowbar": "_", "commat": "@", "sol": "/", "num": "#", "nbsp": " ",
}  # fmt: skip


def _meant(match: re.Match[str]) -> str:
    """Return the character that an escape means; empty for invisible ones."""
    code = match.lastgroup
    if code is None:
        return ""
    value = match[code]
    if code == "name":
        return _ENTITIES[value]
    if code == "mark":
        return value
    if code == "line":
        return "\n"
    if code == "wide":
        return chr(ord(value) - 0xFEE0)
    char = chr(int(value, 10 if code == "dec" else 16))
    return char if char.isprintable() else " "


class ReducedText:
    """A text with `pieces` (start, end, replacement) replaced by shorter ones, with a map back to the original."""

    def __init__(self, text: str, pieces: Iterable[tuple[int, int, str]]) -> None:
        parts: list[str] = []
        # Where each stretch begins that is the same in both: in this text, and in the original.
        self._breaks, self._places = [0], [0]
        at = size = 0
        for start, end, shown in pieces:
            parts += [text[at:start], shown]
            size += start - at + len(shown)
            at = end
            self._breaks.append(size)
            self._places.append(end)
        parts.append(text[at:])
        self.text = "".join(parts)

    def place(self, at: int) -> int:
        """Return the place in the original of a place in this text."""
        number = bisect_right(self._breaks, at) - 1
        place = self._places[number] + at - self._breaks[number]
        return min(place, self._end(number))

    def _end(self, number: int) -> int:
        return self._places[number + 1] if number + 1 < len(self._places) else 1 << 62


# A line break within a token, with the indentation or the quotation marks of the next line, and the token's rest.
_WRAPPED = re.compile(
    r"(?<=[A-Za-z0-9_+/=.~!$%-])(?P<gap>[ \t]*\\?\r?\n[ \t]*(?:(?:[>|#*│┃]|//)[ \t]*){0,6})"
    r"(?P<rest>[A-Za-z0-9_+/=.~$:-][A-Za-z0-9_+/=.~$!:%-]*)"
)
_LIST_NUMBER = re.compile(
    r"^(?:[0-9]{1,5}[.)]?|[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T.*)?|v?[0-9]+(?:\.[0-9]+)+(?:[-+][\w.]+)?)$"
)


def _goes_on(rest: str) -> bool:
    """Tell whether the first token of a line can be the rest of a key: no word, number, date or version."""
    if _LIST_NUMBER.match(rest):
        return False
    return (
        any(c.isdigit() for c in rest)
        or (len(rest) > 3 and rest.isupper())
        or bool(re.search("[a-z][A-Z]|[A-Z]{2}[a-z]", rest))
    )


# What each of these begins with: most texts have none, and are searched for a class of characters six times as fast.
_BEGINS = re.compile(rf"[{_INVISIBLE}\x1b&%\\\uff01-\uff5e]")


def unescaped(text: str) -> ReducedText:
    """Remove invisible characters and resolve escapes."""
    found = _ESCAPED.finditer(text) if _BEGINS.search(text) else ()
    return ReducedText(text, [(*match.span(), _meant(match)) for match in found])


def unwrapped(text: str) -> ReducedText | None:
    """Remove the line breaks within which a key may go on; None if there are none."""
    joins = list(_joins(text)) if "\n" in text else []
    return ReducedText(text, joins) if joins else None


def _joins(text: str) -> Iterator[tuple[int, int, str]]:
    at = joined = -1
    while match := _WRAPPED.search(text, max(at, 0)):
        rest = match["rest"]
        # The last line of a key may be a few digits, or a letter.
        if _goes_on(rest) or ((rest.isdigit() or len(rest) < 3) and match.start("gap") == joined):
            yield match.start("gap"), match.end("gap"), ""
            joined = match.end("rest")
        # A key in many lines: the next line break may follow this piece directly.
        at = max(match.end("rest") - 1, match.start("rest"))
