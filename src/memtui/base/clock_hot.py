"""Write and read the times in memtui's files, without `datetime` (a hook can't afford the import)."""

import time

DAY = 86_400.0  # seconds


def now() -> float:
    """Return seconds since the epoch. The command line and the demo honour `MEMTUI_NOW`; this never does."""
    return time.time()


def iso(seconds: float) -> str:
    """Write a time as `2026-11-21T03:37:00.123Z`: UTC, with milliseconds; sorts as text."""
    millis = int(seconds * 1000 + 0.5)
    t = time.gmtime(millis // 1000)
    return "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ" % (*t[:6], millis % 1000)


def iso_seconds(seconds: float) -> str:
    """Write a time as `2026-11-21T03:37:00Z`: the short form, for files that a person edits."""
    return "%04d-%02d-%02dT%02d:%02d:%02dZ" % time.gmtime(int(seconds))[:6]


def _days(year: int, month: int, day: int) -> int:
    """Count the days since 1970-01-01 in the proleptic Gregorian calendar (Hinnant, days_from_civil)."""
    year -= month <= 2
    era = year // 400
    yoe = year - era * 400
    doy = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + yoe * 365 + yoe // 4 - yoe // 100 + doy - 719468


def _digits(text: str, count: int = 2) -> int:
    """Read a number of so many digits. `int` alone would accept blanks, signs and underscores too."""
    if len(text) != count or not (text.isascii() and text.isdigit()):
        raise ValueError
    return int(text)


def parse(text: "object") -> "float | None":
    """Read an ISO 8601 date or date-time as seconds since the epoch (no zone: UTC); None for anything else."""
    if not isinstance(text, str):
        return None
    text = text.strip()
    try:
        date = _digits(text[:4] + text[5:7] + text[8:10], 8)
        year, month, day = date // 10000, date // 100 % 100, date % 100
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        last = 28 + leap if month == 2 else 30 if month in {4, 6, 9, 11} else 31
        if text[4] != "-" or text[7] != "-" or not (year and 1 <= month <= 12 and 1 <= day <= last):
            return None
        seconds = _days(year, month, day) * DAY
        if len(text) == 10:
            return seconds
        if text[10] not in "T t":
            return None
        return seconds + _time(text[11:])
    except (ValueError, IndexError):
        return None


def _time(text: str) -> float:
    """Read `HH:MM` or `HH:MM:SS.fff`, with or without a zone, as seconds since midnight UTC. Raises ValueError."""
    offset = 0
    sign = max(text.find("+"), text.find("-"))
    if text[-1] in "Zz":
        text = text[:-1]
    elif sign > 0:
        zone = text[sign + 1 :]
        if len(zone) == 5 and zone[2] == ":":
            zone = zone[:2] + zone[3:]
        if len(zone) not in {2, 4}:
            raise ValueError
        offset = (_digits(zone[:2]) * 3600 + _digits(zone[2:] or "00") * 60) * (1 if text[sign] == "+" else -1)
        text = text[:sign].rstrip(" ")
    parts = text.split(":")
    if not 2 <= len(parts) <= 3:
        raise ValueError
    hours, minutes, seconds = _digits(parts[0]), _digits(parts[1]), 0.0
    if len(parts) == 3:
        whole, dot, fraction = parts[2].replace(",", ".").partition(".")
        if dot and not (fraction.isascii() and fraction.isdigit()):
            raise ValueError
        seconds = _digits(whole) + float("0." + (fraction or "0"))
    if hours > 23 or minutes > 59 or seconds >= 61 or abs(offset) > 86400:
        raise ValueError
    return hours * 3600 + minutes * 60 + seconds - offset


def ago(seconds: "float | None", now: float) -> str:
    """Write how long ago a time was: `just now`, `4m ago`, `3h ago`, `12d ago`; `undated` for None."""
    if seconds is None:
        return "undated"
    past = max(0, int(now - seconds))
    for size, letter in ((86400, "d"), (3600, "h"), (60, "m")):
        if past >= size:
            return f"{past // size}{letter} ago"
    return "just now"
