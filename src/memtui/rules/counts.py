"""How often rules were kept, as counted (rules/counts_update.py); what a text can tell of it is in views."""

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memtui.rules import counts_file
from memtui.rules.counting import Moment, SessionCounter
from memtui.rules.rule_hot import Rule

# Of the interval of 90 percent: the quantile of the normal distribution. Simulated, it holds the true share in 88 to 93
# of 100 cases, for 3 to 60 sessions whose opportunities hang together with a correlation of 0 to .2.
QUANTILE = 1.6449


@dataclass(slots=True)
class Held:
    """How a rule of a memory was kept: since the memory was written (`since`, seconds since the epoch), and before.
    `low`, `high`: bounds of the share kept since, 0 to 1; `breaks`: those since, newest first."""

    rule: Rule
    since: float
    opportunities: int = 0
    kept: int = 0
    opportunities_before: int = 0
    kept_before: int = 0
    low: float = 0.0
    high: float = 1.0
    breaks: list[Moment] = field(default_factory=list)

    @property
    def is_clear(self) -> bool:
        """Whether the share kept has changed: the interval does not span the share before."""
        before = self.kept_before / self.opportunities_before if self.opportunities_before else None
        return before is not None and not self.low <= before <= self.high


def held(root: str, path: str) -> list[Held]:
    """Return how the rules of the memory at a path were kept, those without an opportunity too."""
    return _held(root, path).get(path, [])


def held_by_path(root: str) -> dict[str, list[Held]]:
    """Return how the rules of all memories that are there were kept, by their paths; `{}` if nothing was counted."""
    return {path: rows for path, rows in _held(root, None).items() if os.path.exists(path)}


def _held(root: str, path: str | None) -> dict[str, list[Held]]:
    stated, sums, breaks = counts_file.query(
        root,
        "SELECT path, rule, entry, since FROM stated WHERE path = ifnull(:path, path)",
        """SELECT path, rule, time >= since, count(*), sum(is_kept) FROM told WHERE path = ifnull(:path, path)
        GROUP BY path, rule, session, time >= since""",
        """SELECT path, rule, time, session, uuid, key, is_kept, line FROM told
        WHERE path = ifnull(:path, path) AND time >= since AND NOT is_kept ORDER BY time DESC""",
        path=path,
    )
    rules = ((memory, number, counts_file.rule_of(entry), since) for memory, number, entry, since in stated)
    rows = {(memory, number): Held(rule, since) for memory, number, rule, since in rules if rule is not None}
    sessions: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for memory, number, is_since, count, kept in sums:
        row = rows.get((memory, number))
        if row is None:
            continue
        if is_since:
            row.opportunities, row.kept = row.opportunities + count, row.kept + kept
            sessions.setdefault((memory, number), []).append((count, kept))
        else:
            row.opportunities_before, row.kept_before = row.opportunities_before + count, row.kept_before + kept
    for memory, number, *values in breaks:
        if (memory, number) in rows:
            rows[memory, number].breaks.append(_moment(*values))
    by_path: dict[str, list[Held]] = {}
    for (memory, number), row in rows.items():
        row.low, row.high = interval(sessions.get((memory, number), []))
        by_path.setdefault(memory, []).append(row)
    return by_path


def _moment(time: float, session: str, uuid: str, key: str, is_kept: int, line: str) -> Moment:
    return Moment(time, session, uuid, key, bool(is_kept), line)


class SessionCount(NamedTuple):
    """How a session kept a rule since its memory was written; `time`: of its first opportunity, `broken_at`: of its
    last break, 0.0 for none; both in seconds since the epoch."""

    session: str
    time: float
    opportunities: int
    kept: int
    broken_at: float


def by_session(root: str, path: str) -> dict[str, list[SessionCount]]:
    """Return how each session kept the rules of the memory at a path, newest first, by the key of the rule."""
    (rows,) = counts_file.query(
        root,
        """SELECT key, session, min(time), count(*), sum(is_kept), max(iif(is_kept, 0.0, time)) FROM told
        WHERE path = :path AND time >= since GROUP BY key, session ORDER BY min(time) DESC""",
        path=path,
    )
    counts: dict[str, list[SessionCount]] = {}
    for key, *values in rows:
        counts.setdefault(key, []).append(SessionCount(*values))
    return counts


def breaks(root: str) -> int:
    """Count the moments at which any session broke a rule."""
    (rows,) = counts_file.query(root, "SELECT count(*) FROM moments WHERE NOT is_kept")
    return rows[0][0] if rows else 0


def moments_of(root: str, session: str) -> list[tuple[str, Moment]]:
    """List the moments of a session after each memory was written, in order of time, with the memory's path."""
    (rows,) = counts_file.query(
        root,
        """SELECT path, time, session, uuid, key, is_kept, line FROM told
        WHERE session = :session AND time >= since ORDER BY time""",
        session=session,
    )
    return [(path, _moment(*values)) for path, *values in rows]


def places_of_breaks(root: str) -> dict[str, str]:
    """Return the root of the project that each session with a break ran in, by session; empty if nothing tells."""
    (rows,) = counts_file.query(
        root,
        """SELECT name, transcripts.place FROM moments JOIN sessions ON sessions.id = session
        JOIN transcripts ON transcripts.id = transcript WHERE NOT is_kept GROUP BY name""",
    )
    return dict(rows)


def interval(sessions: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Return the bounds of the true share for (opportunities, kept) of sessions: Wilson's, by Kish's effective size."""
    count, kept = (sum(numbers) for numbers in zip(*sessions, strict=True)) if sessions else (0, 0)
    if not count:
        return 0.0, 1.0
    share = kept / count
    size = float(count)
    if 0 < share < 1 and len(sessions) > 1:
        spread = sum((one - share * total) ** 2 for total, one in sessions) * len(sessions) / (len(sessions) - 1)
        most = sum(total * total for total, _ in sessions) / count  # as if a session were one opportunity
        size /= min(max(1.0, spread / (share * (1 - share) * count)), most)
    square = QUANTILE * QUANTILE / size
    middle = (share + square / 2) / (1 + square)
    half = math.sqrt(share * (1 - share) * square + square * square / 4) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


def count_in(transcripts: Iterable[str], rules: Iterable[Rule], since: float) -> dict[str, list[Moment]]:
    """Count rules in transcripts from a time on, and store nothing: moments by the key of the rule, in order."""
    from memtui.client.transcripts import transcript_hot
    from memtui.rules import counts_update, tool_calls

    rules = list(rules)
    moments: dict[str, dict[str, Moment]] = {rule.key(): {} for rule in rules}  # by call: forks repeat it
    for path in transcripts:
        try:
            counter = SessionCounter(rules, counts_update.places(path)[1])
            for record in transcript_hot.Reader(path, 0, tool_calls.is_wanted):
                for moment in counter.feed(record):
                    moments[moment.key].setdefault(moment.id, moment)
            for moment in counter.open_moments():
                moments[moment.key].setdefault(moment.id, moment)
        except OSError:
            continue
    return {key: sorted(row for row in by_call.values() if row.time >= since) for key, by_call in moments.items()}
