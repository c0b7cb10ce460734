"""Relative dates in a memory ("next Thursday"), which mean another day each time it is read, with the absolute ones."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}
UNIT = r"(?P<unit{0}>day|week|month|year)"
COUNT = r"(?P<count{0}>\d{{1,3}}|" + "|".join(NUMBERS) + ")"
RELATIVE = re.compile(
    r"(?<![\w/.#@-])(?:"
    r"(?P<day>yesterday|tomorrow|today|tonight|this (?:morning|afternoon|evening))"
    r"|(?P<which>last|next|this) (?:(?P<weekday>" + "|".join(WEEKDAYS) + r")|(?P<span>week|month|year|weekend))"
    r"|" + COUNT.format(1) + " " + UNIT.format(1) + r"s? ago"
    r"|in " + COUNT.format(2) + " " + UNIT.format(2) + r"s?(?! of)"
    r")(?![\w/-]|['’]s\b)",
    re.IGNORECASE,
)


class RelativeDate(NamedTuple):
    """A relative date in a text: its `start` and `end` there, its words, and the absolute date or span of dates."""

    start: int
    end: int
    words: str
    absolute: str


def relative_dates(text: str, written: date) -> Iterator[RelativeDate]:
    """Yield the relative dates of a text that was written on that day."""
    for match in RELATIVE.finditer(text):
        yield RelativeDate(match.start(), match.end(), match[0], _absolute(match, written))


def _absolute(match: "re.Match[str]", written: date) -> str:
    found = {key: value.casefold() for key, value in match.groupdict().items() if value}
    if "day" in found:
        return (written + timedelta({"yesterday": -1, "tomorrow": 1}.get(found["day"], 0))).isoformat()
    if "weekday" in found:
        return _weekday(WEEKDAYS.index(found["weekday"]), found["which"], written).isoformat()
    if "span" in found:
        return _span(found["span"], {"last": -1, "next": 1, "this": 0}[found["which"]], written)
    number = 1 if "count1" in found else 2
    count, unit = found[f"count{number}"], found[f"unit{number}"]
    steps = (int(count) if count.isdigit() else NUMBERS[count]) * (-1 if number == 1 else 1)
    if unit in {"day", "week"}:
        return (written + timedelta(steps * (7 if unit == "week" else 1))).isoformat()
    return _span(unit, steps, written)


def _weekday(wanted: int, which: str, written: date) -> date:
    """Return the day: the next one after the day of writing, the last one before it, or the one of its week."""
    ahead = (wanted - written.weekday()) % 7
    if which == "next":
        return written + timedelta(ahead or 7)
    if which == "last":
        return written - timedelta((-ahead) % 7 or 7)
    return written - timedelta(written.weekday()) + timedelta(wanted)


def _span(unit: str, steps: int, written: date) -> str:
    """Return a week or weekend (by its first and last day), a month (2026-11) or a year, `steps` from that day's."""
    if unit in {"week", "weekend"}:
        monday = written - timedelta(written.weekday()) + timedelta(7 * steps)
        first = monday + timedelta(5 if unit == "weekend" else 0)
        return f"{first.isoformat()} to {(monday + timedelta(6)).isoformat()}"
    if unit == "year":
        return str(written.year + steps)
    months = written.year * 12 + written.month - 1 + steps
    return f"{months // 12}-{months % 12 + 1:02}"
