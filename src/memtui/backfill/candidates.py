"""What was found in the transcripts, said once: the same rule of several sessions is one candidate; and their order."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields, replace

from memtui.consolidate import duplicates
from memtui.core.base import clock
from memtui.core.client.conversation import normalised
from memtui.core.inbox.format import LASTING
from memtui.extract import decisions
from memtui.extract.signals import Signal, said_again

# How many of the words of two short texts, of all that either has, make them the same for a person.
SAME = 0.7
# Candidates that are remembered, the best of all.
MOST = 5000
# How likely a draft is durable that only the rules have seen.
UNKNOWN = 0.2
# What the order of candidates depends on: the weights of how durable, how sure, how often said, how recent.
DURABLE, SURE, OFTEN, RECENT = 0.5, 0.25, 0.15, 0.1
# From so many sessions on it counts no more; days after which a rule counts half as recent.
SESSIONS, HALF_LIFE = 4, 90.0
# The fields of a draft that are no text.
OTHERS = {"confidence", "durable", "judged", "repeats"}
_FIELDS = {each.name for each in fields(Signal)}


@dataclass
class Candidate:
    """A draft that could be offered: the surest way in which it was said, the root of its project, the sessions that
    say it, and the records that do."""

    draft: Signal
    project: str
    sessions: list[str] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)
    newest: str = ""

    @property
    def confidence(self) -> float:
        """How likely it is feedback: each session that says it again leaves less doubt."""
        return said_again(self.draft.confidence, max(1, len(self.sessions)) - 1)

    @property
    def one_off(self) -> bool:
        """Whether it looks like an order for one task, which the inbox would fold."""
        return self.draft.durable is not None and self.draft.durable < LASTING and len(self.sessions) < 2

    def score(self, now: float) -> float:
        """Return how much it deserves to be offered first, from 0 to 1."""
        durable = UNKNOWN if self.draft.durable is None else self.draft.durable
        often = (min(SESSIONS, max(1, len(self.sessions))) - 1) / (SESSIONS - 1)
        days = max(0.0, now - (clock.parse(self.newest) or 0.0)) / clock.DAY
        recent: float = 0.5 ** (days / HALF_LIFE)
        return round(DURABLE * durable + SURE * self.confidence + OFTEN * often + RECENT * recent, 4)

    def to_row(self) -> dict[str, object]:
        """Return it as a JSON object, which `of_row` reads."""
        return {**asdict(self), "draft": {**asdict(self.draft), "judged": decisions.row_of(self.draft.judged)}}


def of_row(row: object) -> Candidate | None:
    """Read a candidate that was kept; None if it is none."""
    given = row.get("draft") if isinstance(row, dict) else None
    if not isinstance(row, dict) or not isinstance(given, dict) or not set(given) <= _FIELDS:
        return None
    repeats = given.get("repeats")
    repeats = tuple(map(str, repeats)) if isinstance(repeats, list | tuple) else ()
    given = {**given, "judged": decisions.of_row(given.get("judged")), "repeats": repeats}
    texts = all(isinstance(value, str) for key, value in given.items() if key not in OTHERS)
    numbers = isinstance(given.get("confidence"), float) and isinstance(given.get("durable"), float | None)
    lists = [[str(each) for each in row.get(key) or []] for key in ("sessions", "evidence")]
    if not texts or not numbers or not isinstance(row.get("project"), str):
        return None
    try:
        return Candidate(Signal(**given), row["project"], lists[0], lists[1], str(row.get("newest", "")))
    except TypeError:
        return None


class Candidates:
    """All candidates, found by their words."""

    def __init__(self, kept: Iterable[Candidate] = ()) -> None:
        self._all: dict[tuple[str, str], Candidate] = {}
        for each in kept:
            self._all[_key(each.draft, each.project)] = each

    def __len__(self) -> int:
        return len(self._all)

    def add(self, draft: Signal, project: str) -> None:
        """Add a draft of a session in a project."""
        key = _key(draft, project)
        known = self._all.get(key)
        if known is None:
            self._all[key] = Candidate(draft, project, [draft.session], draft.origins, draft.time)
            return
        new = [origin for origin in draft.origins if origin not in known.evidence]
        if not new:
            return
        known.evidence += new
        if draft.session not in known.sessions:
            known.sessions.append(draft.session)
        known.newest = max(known.newest, draft.time)
        if draft.confidence > known.draft.confidence:
            known.draft, known.project = draft, project

    def ranked(self, now: float) -> list[Candidate]:
        """List the best MOST candidates, best first; what says nearly the same as a better one of the same scope counts
        for that one."""
        found: list[Candidate] = []
        texts: dict[str, Texts] = {}
        for each in sorted(self._all.values(), key=lambda one: (-one.score(now), one.draft.description)):
            known = texts.setdefault(each.draft.scope + ("" if each.draft.scope == "global" else each.project), Texts())
            at = known.find(each.draft.description)
            if at is None:
                known.add(each.draft.description, str(len(found)))
                found.append(each)
            else:
                found[int(at)] = _joined(found[int(at)], each)
        return sorted(found, key=lambda one: (-one.score(now), one.draft.description))[:MOST]

    def kept(self, now: float) -> Iterator[Candidate]:
        """Yield what a later backfill should know: the best MOST, each as it was found."""
        yield from sorted(self._all.values(), key=lambda one: -one.score(now))[:MOST]


def _key(draft: Signal, project: str) -> tuple[str, str]:
    return ("" if draft.scope == "global" else project), normalised(draft.description)


def _joined(one: Candidate, other: Candidate) -> Candidate:
    return replace(
        one,
        sessions=list(dict.fromkeys([*one.sessions, *other.sessions])),
        evidence=[*one.evidence, *other.evidence],
        newest=max(one.newest, other.newest),
    )


class Texts:
    """Short texts, among which one that says nearly the same is found by the words that both have."""

    def __init__(self) -> None:
        self._bags: list[tuple[frozenset[str], str]] = []
        self._holders: dict[str, list[int]] = {}
        self._exact: dict[str, str] = {}

    def add(self, text: str, what: str) -> None:
        """Know a text, named by `what`."""
        bag = duplicates.words(text)
        for word in bag:
            self._holders.setdefault(word, []).append(len(self._bags))
        self._bags.append((bag, what))
        self._exact.setdefault(normalised(text), what)

    def find(self, text: str) -> str | None:
        """Return what names the text that says nearly the same, or None."""
        exact = self._exact.get(normalised(text))
        if exact is not None:
            return exact
        bag = duplicates.words(text)
        tried: set[int] = set()
        for word in sorted((word for word in bag if word in self._holders), key=lambda w: len(self._holders[w]))[:8]:
            for at in self._holders[word][-500:]:
                if at not in tried and len(bag & self._bags[at][0]) >= SAME * len(bag | self._bags[at][0]):
                    return self._bags[at][1]
                tried.add(at)
        return None
