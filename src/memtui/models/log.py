"""The log of calls, `log/llm-YYYY-MM.jsonl`: what was asked of which model, what it used, what became of it; no text.

A call is noted before it is made, with what it may use at most, and again when it has ended. So processes share the
budget of a day, and a killed one counts as what it may have used."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile

from memtui.base import clock_hot, fastjson_hot, fs_hot, reverse_lines_hot
from memtui.deliver import log_hot
from memtui.models.call import ModelError, ModelUsage

VERSION = 1
PREFIX = "llm-"  # how the files of the log begin, one a month; tidy/checks/retention.py removes the old ones
# What became of a call: `begun` is one under way, or of a process that was killed.
ANSWERED, BEGUN = "ok", "begun"
LOCK_SECONDS = 5.0


@dataclass(frozen=True)
class LoggedCall:
    """A call in the log. `time` in seconds since the epoch; `seconds`: how long it took, with all `attempts`."""

    id: str
    time: float
    purpose: str
    backend: str
    model: str
    usage: ModelUsage
    outcome: str = BEGUN
    seconds: float = 0.0
    attempts: int = 0

    def data(self) -> dict[str, object]:
        cost = None if self.usage.cost is None else round(self.usage.cost, 6)
        facts = {"id": self.id, "time": clock_hot.iso(self.time), "purpose": self.purpose, "backend": self.backend}
        used = {**self.usage._asdict(), "cost": cost, "seconds": round(self.seconds, 3), "attempts": self.attempts}
        return {**facts, "model": self.model, "outcome": self.outcome, **used}


def path_of(root: str, seconds: float) -> str:
    """Return the log file of a time's month: `log/llm-2026-11.jsonl`."""
    return f"{root}/log/{PREFIX}{clock_hot.iso(seconds)[:7]}{log_hot.SUFFIX}"


def append(root: str, call: LoggedCall) -> None:
    """Log a call, or its end. Raises OSError."""
    fs_hot.append(path_of(root, call.time), fastjson_hot.dumps({"v": VERSION, **call.data()}).encode() + b"\n")


def begin(root: str, call: LoggedCall, daily_tokens: int, daily_dollars: float) -> None:
    """Log a call that is about to be made, with what it may use. Raises ModelError beyond the day's budget, OSError."""
    with fs_hot.Lock(f"{root}/run/llm-budget.lock", LOCK_SECONDS):
        used, wanted = used_today(root, call.time), call.usage
        if daily_tokens and used.tokens + wanted.tokens > daily_tokens:
            limit = f"of today's {daily_tokens:,} {used.tokens:,} are used."
            why = f"The call could use {wanted.tokens:,} tokens, and {limit}"
            raise ModelError("budget", why, "Allow more: memtui config set llm_daily_tokens NUMBER")
        cost, more = used.cost or 0.0, wanted.cost or 0.0
        if daily_dollars and cost + more > daily_dollars:
            why = f"The call could cost ${more:.3f}, and of today's ${daily_dollars:g} ${cost:.3f} is used."
            raise ModelError("budget", why, "Allow more: memtui config set llm_daily_dollars NUMBER")
        append(root, call)


def newest_first(root: str) -> Iterator[LoggedCall]:
    """Yield the calls, newest first, each as it ended. Lines that can't be read are skipped."""
    ended: set[str] = set()
    for path in log_hot.months(root, PREFIX):
        try:
            for _, line in reverse_lines_hot.lines(path):
                call = _parsed(fastjson_hot.loads_dict(line))
                if call is None or call.id in ended:
                    continue
                ended.add(call.id)
                yield call
        except OSError:
            continue


def today(root: str, now: float) -> list[LoggedCall]:
    """List the calls since midnight, local time, newest first."""
    begin = midnight(now)
    # A call is logged with the time at which it began, so that its end can stand among later ones.
    recent = takewhile(lambda call: call.time >= begin - clock_hot.DAY, newest_first(root))
    return [call for call in recent if call.time >= begin]


def midnight(now: float) -> float:
    """Return when the day began, in local time."""
    day = time.localtime(now)
    return time.mktime((day.tm_year, day.tm_mon, day.tm_mday, 0, 0, 0, 0, 0, -1))


def sum_of(calls: Iterable[LoggedCall]) -> ModelUsage:
    """Sum up what calls used; those of unknown cost cost nothing."""
    total = ModelUsage()
    for call in calls:
        total = total.plus(call.usage if call.usage.cost is not None else call.usage._replace(cost=0.0))
    return total


def used_today(root: str, now: float) -> ModelUsage:
    """Sum up what the calls since midnight, local time, used."""
    return sum_of(today(root, now))


def _parsed(row: dict[str, object]) -> LoggedCall | None:
    seconds = clock_hot.parse(row.get("time"))
    if row.get("v") != VERSION or seconds is None or not isinstance(row.get("id"), str):
        return None
    numbers = {
        key: value
        for key in ("input", "output", "cached", "written", "cost", "seconds", "attempts")
        if isinstance(value := row.get(key), int | float) and not isinstance(value, bool)
    }
    tokens = {key: int(numbers.get(key, 0)) for key in ("input", "output", "cached", "written")}
    purpose, backend, model = (str(row.get(key) or "") for key in ("purpose", "backend", "model"))
    usage, outcome = ModelUsage(**tokens, cost=numbers.get("cost")), str(row.get("outcome") or BEGUN)
    took, attempts = float(numbers.get("seconds", 0.0)), int(numbers.get("attempts", 0))
    return LoggedCall(str(row["id"]), seconds, purpose, backend, model, usage, outcome, took, attempts)
