"""Times for a narrow column of a list."""

import time

from memtui.core.base import clock


def when(seconds: float, now: float) -> str:
    """Return `14:02:11` for today, `Thu 14:02` this week, `12 Nov` this year, else `2025-11`: at most 9 cells."""
    local, today = time.localtime(seconds), time.localtime(now)
    if local[:3] == today[:3]:
        return time.strftime("%H:%M:%S", local)
    if 0 <= now - seconds < 6 * clock.DAY:
        return time.strftime("%a %H:%M", local)
    return time.strftime("%d %b" if local[0] == today[0] else "%Y-%m", local).lstrip("0")
