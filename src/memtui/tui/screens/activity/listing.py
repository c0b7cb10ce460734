"""The rows that Activity shows: the notes that a query wants, then the sessions, newest first, with what each got."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from memtui.client import projects
from memtui.deliver import receipts
from memtui.deliver.filter import LOST, Filter
from memtui.deliver.log_queries import DeliveryRow, Reading
from memtui.deliver.sessions import Session
from memtui.tui.screens.activity.details import RowContext
from memtui.tui.screens.activity.rows import NoteRow, Row, RunRow, SessionGroup
from memtui.views import query
from memtui.views.deliveries import KIND_WORD, LABELS, WORDS

if TYPE_CHECKING:
    from memtui.tui.model.data import Data

FIELDS = {"session": "session", "project": "project", "kind": "kind", "memory": "memory", "is": "outcome"}
KINDS = {word: kind for kind, word in KIND_WORD.items()}
# What `is:` takes: notes that wait, what was lost, and each outcome of a delivery.
WAITS = "waits"
STATES = {"waiting": WAITS, LOST: LOST}
STATES |= {WORDS.get(each, each).replace(" ", "-"): each for each in receipts.GLYPHS}
# How long after a session was seen a missing transcript is looked for again.
UNWRITTEN_SECONDS = 86400
IS_LOST = f"is:{LOST}"


def parse(text: str) -> Filter:
    """Return the filter of deliveries that a query means. Raises ValueError for a value that means nothing."""
    search = query.parse(text, FIELDS)
    terms = dict(search.terms)
    for name, words in (("is", STATES), ("kind", KINDS)):
        value = terms.get(name, "").lower()
        if value and value not in words:
            raise ValueError(query.not_among(name, value, words))
        terms |= {name: words[value]} if value else {}
    return Filter(labels=LABELS).but(**{FIELDS[name]: value for name, value in terms.items()}, text=search.words)


class Listing(RowContext):
    """What was read, what a query wants of it, and which sessions are folded."""

    def __init__(self, data: "Data", *, read_only: bool) -> None:
        super().__init__(data, read_only)
        self.everything: Reading | None = None  # the reading of `scope`
        self.reading: Reading | None = None  # of what the query wants
        self.wanted, self.scope, self.here, self.wrong, self.asks = Filter(), Filter(), "", "", False
        self.live: frozenset[str] = frozenset()  # the sessions that run
        self.runs: dict[str, list[RunRow]] = {}  # of the model by session, newest first
        self.started: dict[str, tuple[float, str]] = {}  # when each session began, and the key of its project
        self._folds: dict[str, bool] = {}
        self._folds_of_query: dict[str, bool] = {}  # of what a query wants, all of which is unfolded at first

    @property
    def unwritten(self) -> set[str]:
        """The sessions without a transcript that something was delivered to lately."""
        begun, facts = self.data.now() - UNWRITTEN_SECONDS, self.facts
        return {name for name in facts if not facts[name].transcript and (facts[name].last or begun) >= begun}

    def want(self, text: str, here: str) -> None:
        criteria, self.wrong, self._folds_of_query, self.here = Filter(), "", {}, here
        try:
            criteria = parse(text)
        except ValueError as error:
            self.wrong = str(error)
        self.scope = Filter(project="" if criteria.project or criteria.session else here)
        project = "" if criteria.project.casefold() == query.ALL else criteria.project
        self.asks = bool(criteria.but(project=project))
        self.wanted = criteria.but(project=project or self.scope.project)
        self.words = self.wanted.text

    def fold(self, session: str, *, unfold: bool) -> None:
        (self._folds_of_query if self.asks else self._folds)[session] = unfold

    def find_mistake(self) -> str:
        """Say what is wrong with the query, also that nothing is of the project it names; empty if nothing is."""
        project, rows = self.wanted.project, self.reading.rows if self.reading is not None else ()
        if self.wrong or rows or project in {"", self.here, *self.projects, *self.projects.values()}:
            return self.wrong
        names = {os.path.basename(name) for name in self.projects.values()} - {""}
        return "" if project in names else query.not_among("project", project, [query.ALL, *sorted(names)])

    def wanted_notes(self) -> Sequence[NoteRow]:
        """Return the notes that the query wants. Those that are lost did not arrive either."""
        criteria = self.wanted
        if self.find_mistake() or criteria.memory or criteria.kind not in {"", "guidance"}:
            return []
        if criteria.outcome not in {"", WAITS, LOST, receipts.WAITING}:
            return []
        logged = {row.id for row in self.everything.rows} if self.everything is not None else set()
        return [
            note
            for note in self.notes
            if (note.under_way is None or note.under_way.delivery not in logged)
            and (criteria.outcome != LOST or note.is_lost)
            and (criteria.outcome not in {WAITS, receipts.WAITING} or (criteria.outcome == WAITS) == bool(note.item))
            and self._has_words(note)
            and (not criteria.session or (note.session and criteria.session.startswith(note.session)))
            and self._is_of(note.home, note.home or "")
        ]

    def _has_words(self, row: NoteRow | RunRow) -> bool:
        text = row.searched(self).casefold()
        return all(word in text for word in self.wanted.text.casefold().split())

    def _is_of(self, project: str | None, root: str) -> bool:
        return not self.wanted.project or project is None or self.wanted.project in {project, self.project(root)}

    def sessions(self, find: Callable[[dict[str, DeliveryRow | None]], object]) -> list[Row]:
        """Return the sessions, live ones first, each with its rows; `find` gets those with no facts yet."""
        if self.wrong or self.everything is None:
            return []
        logged = self._logged()
        roots = {row.root for row in (*logged, *self.everything.rows, *self.data.statistics.recent)}
        self.projects |= projects.names_of_roots(self.data.env, roots)
        groups, runs = _by_session(logged), self._wanted_runs()
        whole, all_runs = groups, runs
        if self.asks:
            whole, all_runs = _by_session(_joined(logged, self.everything.rows)), self.runs
        # Also sessions that got nothing, as far back as the log was read.
        oldest = self.everything.rows[-1].time if self.everything.rows and not self.everything.done else 0.0
        begun = [name for name, (began, _) in self.started.items() if began >= oldest]
        others = [] if self.asks else [*sorted(self.live), *begun]
        others = [other for other in others if self.scope.project in {"", self.started.get(other, (0.0, None))[1]}]
        for name in (*others, *runs):
            groups.setdefault(name, [])
        order = sorted(
            groups, key=lambda name: (name not in self.live, -self._newest(whole.get(name, ()), all_runs, name))
        )
        if order and not self.asks:
            self._folds.setdefault(order[0], True)
        unknown: dict[str, DeliveryRow | None] = {}
        rows: list[Row] = []
        for name in order:
            deliveries, read_by = whole.get(name, []), all_runs.get(name, [])
            hits: list[DeliveryRow | RunRow] = [*groups[name], *runs.get(name, [])]
            facts = self.facts.get(name)
            if facts is None:
                unknown[name] = deliveries[0] if deliveries else None
                facts = Session(name)
            unfolded = self._folds_of_query.get(name, True) if self.asks else self._folds.get(name, False)
            root = (deliveries[0].root if deliveries else facts.project) or (read_by[0].root if read_by else "")
            group = SessionGroup(name, deliveries, root, facts, name in self.live, unfolded, read_by, hits)
            rows += [group, *(group.below if unfolded else [])]
        if unknown:
            find(unknown)
        return rows

    def _newest(self, deliveries: Sequence[DeliveryRow], runs: Mapping[str, Sequence[RunRow]], name: str) -> float:
        times = [*(row.time for row in deliveries[:1]), *(run_row.time for run_row in runs.get(name, ())[:1])]
        return max(times) if times else self.started.get(name, (0.0, ""))[0]

    def _wanted_runs(self) -> dict[str, list[RunRow]]:
        """Return the runs that the query wants, by session."""
        criteria = self.wanted
        if criteria.kind or criteria.memory or criteria.outcome:
            return {}
        fitting = {
            name: [each for each in runs if self._is_of(each.run.project, each.root) and self._has_words(each)]
            for name, runs in self.runs.items()
            if name.startswith(criteria.session)
        }
        return {name: runs for name, runs in fitting.items() if runs}

    def _logged(self) -> Sequence[DeliveryRow]:
        """Return the deliveries that the query wants, newest first; words may also be those of a session's title."""
        logged, criteria = self.reading.rows if self.reading is not None else [], self.wanted
        if not (criteria.text and criteria == self.scope.but(text=criteria.text)):
            return logged
        words = criteria.text.casefold().split()
        titled = {name for name, facts in self.facts.items() if all(word in facts.title.casefold() for word in words)}
        if not titled or self.everything is None:
            return logged
        return _joined(logged, [row for row in self.everything.rows if row.session in titled])


def _joined(rows: Sequence[DeliveryRow], others: Sequence[DeliveryRow]) -> Sequence[DeliveryRow]:
    """Return deliveries of two lists, each once, newest first."""
    names = {row.id for row in rows}
    more = [row for row in others if row.id not in names]
    return sorted([*rows, *more], key=lambda row: row.time, reverse=True) if more else rows


def _by_session(rows: Sequence[DeliveryRow]) -> dict[str, list[DeliveryRow]]:
    groups: dict[str, list[DeliveryRow]] = {}
    for row in rows:
        groups.setdefault(row.session, []).append(row)
    return groups
