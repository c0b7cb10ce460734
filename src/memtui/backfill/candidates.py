"""What was found in the transcripts, said once: the same rule of several sessions is one candidate; and their order."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace

from memtui.consolidate.similarity import KnownTexts
from memtui.core.base import clock, paths
from memtui.core.client.conversation import normalised
from memtui.core.inbox.format import DELIVERED, LASTING
from memtui.extract import classifier, personal
from memtui.extract.personal import Correction
from memtui.extract.signals import MOST_SURE, Signal, said_again

# How many of the words of two short texts, of all that either has, make them the same for a person.
SAME = 0.7
# Candidates that are remembered, the best of all.
REMEMBERED = 5000
# What the order of candidates depends on: the weights of what it is worth, how often said, how recent.
WORTH, OFTEN, RECENT = 0.75, 0.15, 0.1
# How likely a draft lasts that only the rules have seen.
UNKNOWN = 0.2
# From so many sessions on it counts no more; days after which a rule counts half as recent.
SESSIONS, HALF_LIFE = 4, 90.0


@dataclass
class Candidate:
    """A draft that could be offered: the surest way in which it was said, its project's root ('' for several), the
    sessions and records that say it, and the roots of all `projects` in which it was said."""

    draft: Signal
    project: str
    sessions: list[str] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)
    newest: str = ""
    projects: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.projects = self.projects or [self.project]

    @property
    def confidence(self) -> float:
        """How likely it is feedback: each session that says it again leaves less doubt."""
        return min(MOST_SURE, said_again(self.draft.confidence, max(1, len(self.sessions)) - 1))

    @property
    def said(self) -> int:
        """How often it was said: in so many sessions, or where it is one, so often in that."""
        return len(self.sessions) if len(self.sessions) > 1 else 1 + len(self.draft.repeats)

    @property
    def one_off(self) -> bool:
        """Whether it looks like an order for one task, which the inbox would fold."""
        return self.draft.durable is not None and self.draft.durable < LASTING and len(self.sessions) < 2

    @property
    def lasts(self) -> bool:
        """Whether it is likely enough to last that sessions would get it, too."""
        return self.said > 1 or (self.draft.durable or 0.0) >= DELIVERED

    def score(self, now: float) -> float:
        """Return how much it deserves to be offered first, 0 to 1: what is surely feedback and lasts."""
        value = self.confidence * (UNKNOWN if self.draft.durable is None else self.draft.durable)
        often = (min(SESSIONS, max(1, len(self.sessions))) - 1) / (SESSIONS - 1)
        days = max(0.0, now - (clock.parse(self.newest) or 0.0)) / clock.DAY
        recent: float = 0.5 ** (days / HALF_LIFE)
        return round(WORTH * value + OFTEN * often + RECENT * recent * min(1.0, 2 * value), 4)

    def to_row(self) -> dict[str, object]:
        """Return it as a JSON object, which `of_row` reads."""
        return {**asdict(self), "draft": {**asdict(self.draft), "judged": personal.row_of(self.draft.judged)}}


def of_row(row: object) -> Candidate | None:
    """Read a candidate that was kept; None if it is none."""
    given = row.get("draft") if isinstance(row, dict) else None
    if not isinstance(row, dict) or not isinstance(given, dict):
        return None
    try:
        repeats = tuple(map(str, given["repeats"]))
        draft = Signal(**{**given, "judged": personal.of_row(given["judged"]), "repeats": repeats})
        sessions, evidence = (list(map(str, row[key])) for key in ("sessions", "evidence"))
    except (TypeError, KeyError):
        return None
    numbers = isinstance(draft.confidence, float) and isinstance(draft.durable, float | None)
    texts = (draft.description, draft.body, draft.time, draft.session, draft.scope, row.get("project"))
    if not numbers or not all(isinstance(each, str) for each in texts):
        return None
    return Candidate(draft, row["project"], sessions, evidence, str(row.get("newest", "")))


class Candidates:
    """All candidates, found by their words."""

    def __init__(self, kept: Iterable[Candidate] = ()) -> None:
        self._all = {_key(each.draft, each.project): each for each in kept}

    def __len__(self) -> int:
        return len(self._all)

    def add(self, draft: Signal, project: str) -> None:
        """Add a draft of a session in a project."""
        known = self._all.setdefault(_key(draft, project), Candidate(draft, project))
        new = [origin for origin in draft.origins if origin not in known.evidence]
        if not new:
            return
        known.evidence += new
        if draft.session not in known.sessions:
            known.sessions.append(draft.session)
        known.newest = max(known.newest, draft.time)
        if draft.confidence > known.draft.confidence:
            known.draft, known.project = draft, project

    def ranked(
        self,
        now: float,
        correction: Correction | None = None,
        wanted: Callable[[Candidate], bool] = lambda _: True,
    ) -> list[Candidate]:
        """List the `wanted` candidates, best first, with what was learned. What says nearly the same as a better one
        counts for that one; said in several projects, it is for all of them."""
        learned = correction or Correction()
        found: list[Candidate] = []
        texts = KnownTexts(SAME)
        judged = (
            replace(each, draft=classifier.again(each.draft, learned, paths.project_key(each.project)))
            for each in self._all.values()
            if wanted(each)
        )
        for each in _best_first(judged, now):
            at = texts.find(each.draft.description)
            if at is None:
                texts.add(each.draft.description, str(len(found)))
                found.append(each)
            else:
                found[int(at)] = _joined(found[int(at)], each)
        return _best_first(found, now)

    def kept(self, now: float) -> Iterator[Candidate]:
        """Yield what a later backfill should know: the best REMEMBERED, each as it was found."""
        yield from sorted(self._all.values(), key=lambda each: -each.score(now))[:REMEMBERED]


def _best_first(found: Iterable[Candidate], now: float) -> list[Candidate]:
    return sorted(found, key=lambda one: (-one.score(now), one.draft.description))


def _key(draft: Signal, project: str) -> tuple[str, str]:
    return ("" if draft.scope == "global" else project), normalised(draft.description)


def _joined(one: Candidate, other: Candidate) -> Candidate:
    projects = list(dict.fromkeys([*one.projects, *other.projects]))
    many = len(projects) > 1 or other.draft.scope == "global"
    return replace(
        one,
        draft=replace(one.draft, scope="global") if many else one.draft,
        project="" if len(projects) > 1 else one.project,
        sessions=list(dict.fromkeys([*one.sessions, *other.sessions])),
        evidence=[*one.evidence, *other.evidence],
        newest=max(one.newest, other.newest),
        projects=projects,
    )
