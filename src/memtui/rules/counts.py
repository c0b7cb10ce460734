"""How often rules were kept: `rules/counts.db` under the data root, counted by a worker, read by both doors."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from memtui.rules.counting import Moment
from memtui.rules.rule_hot import Rule

FILE = "rules/counts.db"
# Days of transcripts from which a new rule is counted.
DAYS = 60


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
    return held_by_path(root).get(path, [])


def held_by_path(root: str) -> dict[str, list[Held]]:
    """Return how the rules of all memories were kept, by the memory's path; `{}` if nothing was counted."""
    del root
    return {}


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
    del root, path
    return {}


def moments_of(root: str, session: str) -> list[tuple[str, Moment]]:
    """List the moments of a session in order of time, each with the path of the rule's memory."""
    del root, session
    return []


def sessions_with_breaks(root: str) -> dict[str, int]:
    """Count the rules that each session broke, by session; sessions without a break are left out."""
    del root
    return {}


def count_in(transcripts: Iterable[str], rules: Iterable[Rule], since: float) -> dict[str, list[Moment]]:
    """Count rules in transcripts from a time on, and store nothing: moments by the key of the rule."""
    del transcripts, since
    return {rule.key(): [] for rule in rules}
