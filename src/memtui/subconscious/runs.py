"""The log of runs, `subconscious/runs.jsonl`: when the subconscious read what, what it cost, and what came of it.

A run is noted when it begins and again when it has ended; one that only began is under way, or was killed.
"""

from dataclasses import dataclass
from typing import Any

from memtui.subconscious import lines, places

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
    refused: tuple[str, ...] = ()

    def data(self) -> dict[str, Any]:
        """Return the run as the log and --json have it."""
        return lines.data_of(self)

    def killed(self, now: float) -> bool:
        """Whether its process ended without a word."""
        return self.outcome == BEGUN and now - self.time > (self.limit or UNDER_WAY)


def path(root: str) -> str:
    """Return the file of the log."""
    return places.home(root) + "/runs.jsonl"


def append(root: str, run: Run) -> None:
    """Log a run, or its end. Raises OSError."""
    lines.append(root, path(root), run, TRIM_BYTES)


def newest_first(root: str, limit: int = 100, session: str = "") -> list[Run]:
    """Return the runs, newest first, each as it ended; those of a `session` (by the beginning of its id) if given.
    Lines that can't be read are skipped."""
    runs: dict[str, Run] = {}
    for run in lines.newest_first(path(root), Run, session.encode()):
        if run.session.startswith(session):
            runs.setdefault(run.id, run)
            if len(runs) >= limit:
                break
    return sorted(runs.values(), key=lambda run: -run.time)
