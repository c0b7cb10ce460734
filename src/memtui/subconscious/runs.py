"""The log of runs, `subconscious/runs.jsonl`: when the subconscious read what, what it cost, and what came of it.

A run is noted when it begins and again when it has ended; one that only began is under way, or was killed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memtui.core.base import backwards, clock, fastjson
from memtui.subconscious import lines, places

VERSION = 1
# Outcomes. Others are those of a call that failed (llm/errors.py): budget, busy, …
BEGUN, DONE, FAILED = "begun", "done", "failed"
# The event of a run that a person asked for.
BY_HAND = "by hand"
# Bytes of the file from which its older half is dropped; seconds after which a run that only began was killed, where it
# does not say how many it may take.
TRIM_BYTES, UNDER_WAY = 2 << 20, 900.0


@dataclass(frozen=True)
class Run:
    """One run. `time` in seconds since the epoch; `event`: after which hook; `outcome`: BEGUN, DONE, FAILED, or why the
    model gave no answer; `why`: in words; `heard`: messages read; `limit`: the seconds that it may take; `looks`: what
    its tools looked at; `blocks`: names of the blocks it changed; `whispers`: ids of what it said; `refused`: what it
    asked for and did not get."""

    id: str
    time: float
    session: str
    project: str
    cwd: str
    event: str
    backend: str = ""
    model: str = ""
    mode: str = ""
    tools: str = ""
    outcome: str = BEGUN
    why: str = ""
    seconds: float = 0.0
    calls: int = 0
    tokens: int = 0
    cost: float | None = 0.0
    heard: int = 0
    limit: int = 0
    note: str = ""
    looks: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    whispers: tuple[str, ...] = ()
    refused: tuple[str, ...] = field(default=())

    def data(self) -> dict[str, Any]:
        """Return the run as the log and --json have it."""
        found: dict[str, Any] = {key: getattr(self, key) for key in _KEYS}
        return found | {"time": clock.iso(self.time)} | {key: list(getattr(self, key)) for key in _LISTS}

    def killed(self, now: float) -> bool:
        """Whether its process ended without a word."""
        return self.outcome == BEGUN and now - self.time > (self.limit or UNDER_WAY)


_TEXTS = (*("id", "session", "project", "cwd", "event", "backend", "model", "mode", "tools", "outcome", "why", "note"),)
_NUMBERS = ("seconds", "calls", "tokens", "cost", "heard", "limit")
_LISTS = ("looks", "blocks", "whispers", "refused")
_KEYS = (*_TEXTS, *_NUMBERS)


def path(root: str) -> str:
    """Return the file of the log."""
    return places.home(root) + "/runs.jsonl"


def append(root: str, run: Run) -> None:
    """Log a run, or its end. Raises OSError."""
    row = {"v": VERSION, **run.data()}
    lines.append(root, path(root), fastjson.dumps(row).encode() + b"\n", TRIM_BYTES)


def newest_first(root: str, limit: int = 100, session: str = "") -> list[Run]:
    """Return the runs, newest first, each as it ended; those of a `session` (by the beginning of its id) if given.
    Lines that can't be read are skipped."""
    found: dict[str, Run] = {}
    try:
        for _, line in backwards.lines(path(root), needle=session.encode() if session else b""):
            run = of_row(fastjson.loads_dict(line))
            if run is not None and run.id not in found and run.session.startswith(session):
                found[run.id] = run
                if len(found) >= limit:
                    break
    except OSError:
        pass
    return sorted(found.values(), key=lambda run: -run.time)


def of_row(row: Mapping[str, object]) -> Run | None:
    """Read a line of the log; None if it is none."""
    when = clock.parse(row.get("time"))
    if row.get("v") != VERSION or when is None or not isinstance(row.get("id"), str):
        return None
    values: dict[str, Any] = {key: str(row.get(key) or "") for key in _TEXTS}
    for key in _NUMBERS:
        given = row.get(key)
        values[key] = given if isinstance(given, (int, float)) and not isinstance(given, bool) else 0
    values["cost"] = row.get("cost") if isinstance(row.get("cost"), (int, float)) else None
    for key in _LISTS:
        given = row.get(key)
        values[key] = tuple(map(str, given)) if isinstance(given, list) else ()
    return Run(time=when, **values)
