"""Time as the files show it, without `datetime` (a hook can't afford the import)."""

import time


def now() -> float:
    """Seconds since the epoch. `MEMTUI_NOW` is honoured by the command line and the demo, never here."""
    return time.time()


def iso(seconds: float) -> str:
    """`2026-11-21T03:37:00.123Z`: UTC, milliseconds, sorts as text."""
    millis = int(seconds * 1000 + 0.5)
    t = time.gmtime(millis // 1000)
    return "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ" % (*t[:6], millis % 1000)


def iso_seconds(seconds: float) -> str:
    """`2026-11-21T03:37:00Z`: the short form, for files that a person edits."""
    return "%04d-%02d-%02dT%02d:%02d:%02dZ" % time.gmtime(int(seconds))[:6]


def _days(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the proleptic Gregorian calendar (Hinnant, days_from_civil)."""
    year -= month <= 2
    era = year // 400
    yoe = year - era * 400
    doy = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + yoe * 365 + yoe // 4 - yoe // 100 + doy - 719468


def parse(text: "object") -> "float | None":
    """Seconds since the epoch of an ISO 8601 date or date-time; None for anything else.

    A date alone is midnight UTC, a time without a zone is UTC. Offsets such as `+02:00` are honoured.
    """
    if not isinstance(text, str):
        return None
    text = text.strip()
    try:
        year, month, day = int(text[0:4]), int(text[5:7]), int(text[8:10])
        if text[4] != "-" or text[7] != "-" or not (1 <= month <= 12 and 1 <= day <= 31):
            return None
        seconds = float(_days(year, month, day) * 86400)
        rest = text[11:]
        if len(text) == 10:
            return seconds
        if text[10] not in "T t":
            return None
        offset = 0
        if rest[-1] in "Zz":
            rest = rest[:-1]
        elif len(rest) > 6 and rest[-6] in "+-" and rest[-3] == ":":
            offset = (int(rest[-5:-3]) * 3600 + int(rest[-2:]) * 60) * (1 if rest[-6] == "+" else -1)
            rest = rest[:-6]
        parts = rest.split(":")
        if not 2 <= len(parts) <= 3:
            return None
        seconds += int(parts[0]) * 3600 + int(parts[1]) * 60
        if len(parts) == 3:
            seconds += float(parts[2])
        return seconds - offset
    except (ValueError, IndexError):
        return None
