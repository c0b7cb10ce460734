"""Times to come, in words: a day, with the time of day where that matters. All are local."""

import time


def day(seconds: float, now: float) -> str:
    """Write a time to come, in local time: `18:00` for today, else `Mon 24 Nov`; of another year with the year."""
    there, here = time.localtime(seconds), time.localtime(now)
    if there[:3] == here[:3]:
        return time.strftime("%H:%M", there)
    year = "" if there.tm_year == here.tm_year else f" {there.tm_year}"
    return f"{time.strftime('%a', there)} {there.tm_mday} {time.strftime('%b', there)}{year}"


def day_and_time(seconds: float, now: float) -> str:
    """Write a time to come as `day` does, with the time of day unless that is midnight: `Mon 24 Nov 14:00`."""
    there, shown = time.localtime(seconds), day(seconds, now)
    return shown if ":" in shown or there[3:5] == (0, 0) else f"{shown} {time.strftime('%H:%M', there)}"
