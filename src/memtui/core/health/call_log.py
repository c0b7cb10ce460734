"""The files of the log of calls of models, one a month: where they are, and which are old. llm/log.py writes them."""

import os

from memtui.core.base import clock
from memtui.core.deliveries import folding

PREFIX, SUFFIX = "llm-", ".jsonl"


def path_of(root: str, seconds: float) -> str:
    """Return the log file of a time's month: `log/llm-2026-11.jsonl`."""
    return f"{root}/log/{PREFIX}{clock.iso(seconds)[:7]}{SUFFIX}"


def months(root: str) -> list[str]:
    """Return the log files, newest month first."""
    try:
        names = os.listdir(root + "/log")
    except OSError:
        return []
    found = sorted((name for name in names if name.startswith(PREFIX) and name.endswith(SUFFIX)), reverse=True)
    return [f"{root}/log/{name}" for name in found]


def old(root: str, now: float, days: int) -> list[str]:
    """Return the files of the months that ended more than so many days ago, oldest first; none for 0 days."""
    found = [(path, folding.month_end(path, PREFIX)) for path in reversed(months(root))]
    return [path for path, end in found if days > 0 and end is not None and end < now - days * clock.DAY]
