"""Local times in words, and the times that people give: `2h`, `tomorrow`, `friday 9:30`, `2026-11-22`."""

import time

from memtui.base import clock_hot


def day(seconds: float, now: float) -> str:
    """Write a time to come, in local time: `18:00` for today, else `Mon 24 Nov`; of another year with the year."""
    struct_time, here = time.localtime(seconds), time.localtime(now)
    if struct_time[:3] == here[:3]:
        return time.strftime("%H:%M", struct_time)
    year = "" if struct_time.tm_year == here.tm_year else f" {struct_time.tm_year}"
    return f"{time.strftime('%a', struct_time)} {struct_time.tm_mday} {time.strftime('%b', struct_time)}{year}"


def day_and_time(seconds: float, now: float) -> str:
    """Write a time to come as `day` does, with the time of day unless that is midnight: `Mon 24 Nov 14:00`."""
    struct_time, day_text = time.localtime(seconds), day(seconds, now)
    if ":" in day_text or struct_time[3:5] == (0, 0):
        return day_text
    return f"{day_text} {time.strftime('%H:%M', struct_time)}"


def when(seconds: float, now: float) -> str:
    """Return `14:02:11` for today, `Thu 14:02` this week, `12 Nov` this year, else `2025-11`: at most 9 cells."""
    local, today = time.localtime(seconds), time.localtime(now)
    if local[:3] == today[:3]:
        return time.strftime("%H:%M:%S", local)
    if 0 <= now - seconds < 6 * clock_hot.DAY:
        return time.strftime("%a %H:%M", local)
    return time.strftime("%d %b" if local[0] == today[0] else "%Y-%m", local).lstrip("0")


NEVER = float("inf")
# Examples of what can be given where something ends, and where it began. Each can be given as it stands.
AHEAD = "today, tomorrow, friday, 18:00, 30m, 2h, 3d, 2w, 2030-12-31, 2030-12-31 14:00"
BACK = "today, yesterday, friday, 18:00, 30m, 2h, 3d, 2w, 2026-11-22, 2026-11-22 14:00"
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WEEK = 7
LAST = 253402214400  # 9999-12-31T00:00:00Z: the last day that files can hold
START, END, NEXT = (0, 0), (23, 59), (24, 0)  # of a day: its beginning, its last minute, the beginning of the next


def read(text: str, now: float, *, ahead: bool, day: "tuple[int, int]" = START) -> "float | None":
    """Return the moment that a person means, in seconds since the epoch, or NEVER; None for anything else. With `ahead`
    it lies after `now`, else before it. A day without a time is its `day`: START, END or NEXT."""
    words = text.lower().split()
    if words in (["now"], ["never"]):
        return now if words == ["now"] else NEVER
    seconds = None if text.rstrip().endswith("M") else _span(words)  # elsewhere `1M` is a month
    if seconds is not None:
        moment: float | None = now + seconds if ahead else now - seconds
    else:
        moment = _by_the_clock(words, now, ahead, day) or _zoned(text)
    return moment if moment is not None and 0 <= moment <= LAST else None


def _span(words: "list[str]") -> "int | None":
    number, unit = (words[0][:-1], words[0][-1]) if len(words) == 1 else ("", "")
    return int(number) * UNITS[unit] if unit in UNITS and _is_number(number) and len(number) < 7 else None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _by_the_clock(words: "list[str]", now: float, ahead: bool, alone: "tuple[int, int]") -> "float | None":
    """Read a day, a time of day, or a day and a time; `alone` is the time of a day without one."""
    if len(words) == 1 and words[0][10:11] == "t":  # 2026-11-22T14:00
        words = [words[0][:10], words[0][11:]]
    hour = _time_of_day(words[-1]) if words else None
    days = words[:-1] if hour else words
    if len(days) > 1 or not words:
        return None
    at = hour or alone
    today = time.localtime(now)
    if not days:
        return _nearest(today, at, range(-1, 2), now, ahead)
    if days[0] in DAYS:
        return _local(today[0], today[1], today[2] + DAYS[days[0]], at)
    weekday = next((number for number, name in enumerate(WEEKDAYS) if days[0] in {name, name[:3]}), None)
    if weekday is not None:
        first = (weekday - today.tm_wday) % WEEK - WEEK
        if not ahead and not hour:  # a day that has begun counts, also where its end is meant
            return _local(today[0], today[1], today[2] + (first if first + WEEK else 0), at)
        return _nearest(today, at, range(first, 2 * WEEK, WEEK), now, ahead)
    midnight = clock_hot.parse(days[0]) if len(days[0]) == len("2026-11-22") else None
    return None if midnight is None else _local(*time.gmtime(midnight)[:3], at)


def _time_of_day(word: str) -> "tuple[int, int] | None":
    hour, _, minute = word.partition(":")
    if not (len(hour) in {1, 2} and len(minute) == 2 and _is_number(hour + minute)):
        return None
    return (int(hour), int(minute)) if int(hour) < 24 and int(minute) < 60 else None


def _nearest(today: time.struct_time, at: "tuple[int, int]", days: "range", now: float, ahead: bool) -> "float | None":
    """Return the nearest moment after `now`, or before it, at a time of one of these days from today."""
    candidates = [_local(today[0], today[1], today[2] + day, at) for day in days]
    moments = [candidate for candidate in candidates if candidate is not None]
    if ahead:
        return min((moment for moment in moments if moment > now), default=None)
    return max((moment for moment in moments if moment <= now), default=None)


def _local(year: int, month: int, day: int, at: "tuple[int, int]") -> "float | None":
    try:
        return time.mktime((year, month, day, *at, 0, 0, 0, -1))
    except (OverflowError, ValueError):
        return None


def _zoned(text: str) -> "float | None":
    """Read an RFC 3339 time. One without a zone is local, to the second."""
    seconds = clock_hot.parse(text)
    if seconds is None:
        return None
    rest = text.strip()[10:]
    if "+" in rest or "-" in rest or rest[-1:] in {"Z", "z"}:
        return seconds
    utc = time.gmtime(seconds)
    minute = _local(utc[0], utc[1], utc[2], (utc[3], utc[4]))
    return None if minute is None else minute + seconds % 60
