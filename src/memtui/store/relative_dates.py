"""Relative dates (“next Thursday”) with the absolute ones, but for those in code and quotes: in a memory, of which only
the day of writing is known, and in a person's words, which are of a certain day."""

import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

from memtui.base import word_lists
from memtui.store.memory import CODE

NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "ten": 10}
_SECTIONS = word_lists.read(__file__.removesuffix("py") + "txt") | {"numbers": "|".join(NUMBERS)}
WEEKDAYS = tuple(_SECTIONS["weekdays"].split("|"))


def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(word_lists.expanded(_SECTIONS, name), re.IGNORECASE)


RELATIVE, SAID, QUOTED = map(_pattern, ("relative", "said", "quoted"))
LENGTH, PREPOSITION, TO_COME, GENERAL = map(_pattern, ("length", "preposition", "to_come", "general"))
STATE, COUNTED, EVENT = map(_pattern, ("state", "counted", "event"))
HABIT, ANY_CASE, EVERY, BOUND = map(_pattern, ("habit", "any_case", "every", "bound"))
CLAUSE_END, SENTENCE_END = re.compile(r"[;:()—–]|\.\*\*|\s-\s"), re.compile(r"[.!?](?:\s|$)|\n")
# So many words after "today" can have what happened.
NEAR = 6
_LETTER = r"[^\W\u3040-\ud7a3]"  # of a script with blanks between words
# What a sentence may begin with.
STARTS = " \t#*_>-+"


class RelativeDate(NamedTuple):
    """A relative date in a text: its place, its words, the absolute date or span; whether it says how things are."""

    start: int
    end: int
    words: str
    absolute: str
    is_state: bool


def relative_dates(text: str, day: date, *, spoken: bool = False) -> Iterator[RelativeDate]:
    """Yield the relative dates of a text written, or `spoken`, on that day. `absolute` can take the place of words."""
    for match in _apart(text, RELATIVE.finditer(text)):
        before, after = _around(text, match)
        general = ANY_CASE if spoken and BOUND.search(before) else GENERAL
        if general.search(before) or general.search(after):
            continue
        if (match["span"] or match["weekday"]) and LENGTH.search(before):
            continue
        if match["count2"] and not TO_COME.search(before) and not (spoken and not before.strip(STARTS)):
            continue
        absolute = _absolute(match, day)
        unit = (match["unit1"] or match["unit2"] or "").casefold()
        if match["span"] or unit in {"month", "year"}:
            absolute = absolute if PREPOSITION.search(before) or before.endswith("(") else f"in {absolute}"
        elif match["count2"]:
            absolute = f"on {absolute}"
        if not before.strip(STARTS) and match[0][0].isupper():
            absolute = absolute[0].upper() + absolute[1:]
        yield RelativeDate(match.start(), match.end(), match[0], absolute, _is_state(before, match[0], after))


def dated(text: str, day: date) -> str:
    """Return what a person said on a day with absolute dates in the place of relative ones, all else as it was."""
    changes = {said.span(said.lastgroup or 0): _spoken_date(said, day) for said in _apart(text, SAID.finditer(text))}
    for (unit, steps), pattern in foreign_patterns().items():
        then = day + timedelta(steps * (7 if unit == "week" else 1))
        absolute = f"{then:%G-W%V}" if unit == "week" else then.isoformat()
        changes |= {match.span(): absolute for match in _apart(text, pattern.finditer(text))}
    for other in relative_dates(text, day, spoken=True):
        if not any(other.start < end and start < other.end for start, end in changes):
            changes[other.start, other.end] = "" if other.is_state else other.absolute
    for (start, end), absolute in sorted(changes.items(), reverse=True):
        words = text[start:end]
        is_name = words[0].isupper() and not words.isupper() and words.casefold() not in WEEKDAYS
        if not is_name or not SENTENCE_END.split(text[:start])[-1].strip(STARTS):
            text = text[:start] + (absolute or f"{words} (said on {day.isoformat()})") + text[end:]
    return text


@cache
def foreign_patterns() -> "dict[tuple[str, int], re.Pattern[str]]":
    """Return the patterns of other languages by unit and number, which take longer than a whole check of memories."""
    patterns = {}
    for unit, _, steps in (name.partition(" ") for name in _SECTIONS if name.startswith(("day ", "week "))):
        words = word_lists.expanded(_SECTIONS, f"{unit} {steps}")
        whole = rf"(?<!{_LETTER})(?<![/#@.-])(?:{words})(?!{_LETTER}|[/-]\w)"
        patterns[unit, int(steps)] = re.compile(whole, re.IGNORECASE)
    return patterns


def _spoken_date(match: "re.Match[str]", day: date) -> str:
    """Return the day of a match of SAID; empty if it can't be reckoned; the words if they are of any day."""
    words, sentence = match[match.lastgroup or 0], " ".join(_around(match.string, match))
    if match["open"]:
        return words if EVERY.search(match.string[: match.start()]) else ""
    if ANY_CASE.search(sentence) or (match["weekday"] and HABIT.search(sentence)):
        return words
    if match["weekday"]:
        return _weekday(WEEKDAYS.index(words.casefold()), "next", day).isoformat()
    return (day + timedelta(2 if "after" in words.casefold() else -2)).isoformat()


def _apart(text: str, matches: Iterable["re.Match[str]"]) -> Iterator["re.Match[str]"]:
    """Yield the matches that begin outside of code and quotes."""
    hidden: list[tuple[int, int]] | None = None
    for match in matches:
        if hidden is None:
            hidden = [other.span() for pattern in (CODE, QUOTED) for other in pattern.finditer(text)]
        if not any(start <= match.start() < end for start, end in hidden):
            yield match


def _is_state(before: str, words: str, after: str) -> bool:
    """Return whether "today" says in a sentence how things are, and so means each day on which it is read."""
    if words.casefold() != "today" or COUNTED.search(before):
        return False
    if before.endswith("(") and after.startswith(")"):
        before = before[:-1]
    before, after = CLAUSE_END.split(before)[-1], CLAUSE_END.split(after)[0]
    if before.strip():
        after = after.partition(",")[0]
    clause = STATE.sub(" ", f"{before} {' '.join(after.split()[:NEAR])}")
    return TO_COME.search(clause) is None and EVENT.search(clause) is None


def _around(text: str, match: "re.Match[str]") -> tuple[str, str]:
    """Return the words of the sentence before and after a match, on its line."""
    newline = text.find("\n", match.end())
    before = text[text.rfind("\n", 0, match.start()) + 1 : match.start()]
    after = text[match.end() : newline if newline >= 0 else len(text)]
    return SENTENCE_END.split(before)[-1], SENTENCE_END.split(after, maxsplit=1)[0]


def _absolute(match: "re.Match[str]", day: date) -> str:
    words = {key: value.casefold() for key, value in match.groupdict().items() if value}
    if "day" in words:
        days = {"yesterday": -1, "last night": -1, "tomorrow": 1}.get(words["day"], 0)
        return (day + timedelta(days)).isoformat()
    if "weekday" in words:
        return _weekday(WEEKDAYS.index(words["weekday"]), words["which"], day).isoformat()
    if "span" in words:
        return _span(words["span"], {"last": -1, "next": 1, "this": 0}[words["which"]], day)
    number = 1 if "count1" in words else 2
    count, unit = words[f"count{number}"], words[f"unit{number}"]
    steps = (int(count) if count.isdigit() else NUMBERS[count]) * (-1 if number == 1 else 1)
    if unit in {"day", "week"}:
        return (day + timedelta(steps * (7 if unit == "week" else 1))).isoformat()
    return _span(unit, steps, day)


def _weekday(weekday: int, which: str, day: date) -> date:
    """Return the day: the next one after the day of writing, the last one before it, or the one of its week."""
    ahead = (weekday - day.weekday()) % 7
    if which == "next":
        return day + timedelta(ahead or 7)
    if which == "last":
        return day - timedelta((-ahead) % 7 or 7)
    return day - timedelta(day.weekday()) + timedelta(weekday)


def _span(unit: str, steps: int, day: date) -> str:
    """Return a week or weekend (its first day), a month, a quarter (2026-Q4) or a year, `steps` from that day's."""
    if unit in {"week", "weekend"}:
        monday = day - timedelta(day.weekday()) + timedelta(7 * steps)
        return f"the {unit} of {(monday + timedelta(5 if unit == 'weekend' else 0)).isoformat()}"
    if unit == "year":
        return str(day.year + steps)
    if unit == "quarter":
        quarters = day.year * 4 + (day.month - 1) // 3 + steps
        return f"{quarters // 4}-Q{quarters % 4 + 1}"
    months = day.year * 12 + day.month - 1 + steps
    return f"{months // 12}-{months % 12 + 1:02}"
