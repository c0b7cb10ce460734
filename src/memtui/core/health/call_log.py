"""The files of the log of calls of models, one a month: where they are, and which are old. llm/log.py writes them."""

from memtui.core.base import clock
from memtui.core.deliveries import folding
from memtui.core.deliveries.log import SUFFIX

PREFIX = "llm-"


def path_of(root: str, seconds: float) -> str:
    """Return the log file of a time's month: `log/llm-2026-11.jsonl`."""
    return f"{root}/log/{PREFIX}{clock.iso(seconds)[:7]}{SUFFIX}"


def old(root: str, now: float, days: int) -> list[str]:
    """Return the files of the months that ended more than so many days ago, oldest first; none for 0 days."""
    return folding.old(root, now, days, PREFIX)
