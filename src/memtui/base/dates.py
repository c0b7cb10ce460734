"""Local times in words: of what is to come a day, with the time of day where that matters; of what was in few cells."""

import time

from memtui.base import clock


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
    return (
        day_text
        if ":" in day_text or struct_time[3:5] == (0, 0)
        else f"{day_text} {time.strftime('%H:%M', struct_time)}"
    )


def when(seconds: float, now: float) -> str:
    """Return `14:02:11` for today, `Thu 14:02` this week, `12 Nov` this year, else `2025-11`: at most 9 cells."""
    local, today = time.localtime(seconds), time.localtime(now)
    if local[:3] == today[:3]:
        return time.strftime("%H:%M:%S", local)
    if 0 <= now - seconds < 6 * clock.DAY:
        return time.strftime("%a %H:%M", local)
    return time.strftime("%d %b" if local[0] == today[0] else "%Y-%m", local).lstrip("0")
