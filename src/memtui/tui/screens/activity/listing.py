"""The rows that Activity shows: the notes that a query wants, then the sessions, newest first, with what each got."""

from collections.abc import Callable, Mapping, Sequence

from memtui.core.client import projects
from memtui.core.deliveries.filter import LOST, Filter
from memtui.core.deliveries.reading import DeliveryRow, Reading
from memtui.core.deliveries.sessions import SessionRow
from memtui.tui.screens.activity.rows import NoteRow, Row, RowContext, RunRow, SessionGroup


class Listing:
    """What was read, and which sessions are folded. `everything`: the reading of the whole log; `reading`: of what the
    query wants; `wanted`: the query; `wrong`: why it means nothing; `runs`: of the model by session, newest first;
    `started`: when each session began that has a state, by id; `live`: the sessions that run."""

    def __init__(self, context: RowContext) -> None:
        self.context = context
        self.everything: Reading | None = None
        self.reading: Reading | None = None
        self.wanted, self.wrong = Filter(), ""
        self.live: frozenset[str] = frozenset()
        self.runs: dict[str, list[RunRow]] = {}
        self.started: dict[str, float] = {}
        self._folds: dict[str, bool] = {}
        self._folds_of_query: dict[str, bool] = {}  # of what a query wants, all of which is unfolded at first
        self._been_newest: set[str] = set()

    def want(self, wanted: Filter, wrong: str = "") -> None:
        """Take another query."""
        self.wanted, self.wrong, self._folds_of_query = wanted, wrong, {}
        self.context.words = wanted.text

    def fold(self, session: str, *, unfold: bool) -> None:
        """Fold or unfold a session."""
        (self._folds_of_query if self.wanted else self._folds)[session] = unfold

    def notes(self) -> Sequence[Row]:
        """Return the notes that the query wants. Those that are stuck did not arrive either."""
        wanted = self.wanted
        if self.wrong or wanted.memory or wanted.kind not in {"", "guidance"}:
            return []
        if wanted.outcome not in {"", "waiting", LOST}:
            return []
        logged = {row.id for row in self.everything.rows} if self.everything is not None else set()
        return [
            note
            for note in self.context.notes
            if (note.under_way is None or note.under_way.delivery not in logged)
            and (wanted.outcome != LOST or note.is_stuck)
            and self._has_words(note)
            and (not wanted.session or (note.session and wanted.session.startswith(note.session)))
            and self._is_of(note.home, note.home or "")
        ]

    def _has_words(self, row: NoteRow | RunRow) -> bool:
        text = row.searched(self.context).casefold()
        return all(word in text for word in self.wanted.text.casefold().split())

    def _is_of(self, project: str | None, root: str) -> bool:
        return (
            not self.wanted.project or project is None or self.wanted.project in {project, self.context.project(root)}
        )

    def sessions(self, find: Callable[[dict[str, DeliveryRow | None]], object]) -> list[Row]:
        """Return the sessions, those that run first, each with the rows below it. `find` is told of which sessions
        nothing is known, with their newest deliveries."""
        if self.wrong or self.everything is None:
            return []
        logged, context = self._logged(), self.context
        context.projects |= projects.names_of_roots(context.data.env, {each.root for each in logged})
        groups: dict[str, list[DeliveryRow]] = {}
        for each in logged:
            groups.setdefault(each.session, []).append(each)
        runs = self._wanted_runs()
        others = [*runs] if self.wanted else [*sorted(self.live), *self._without_deliveries(), *runs]
        for name in others:
            groups.setdefault(name, [])
        order = sorted(groups, key=lambda name: (name not in self.live, -self._newest(groups[name], runs, name)))
        if order and not self.wanted and order[0] not in self._been_newest:
            self._been_newest.add(order[0])
            self._folds[order[0]] = True
        unknown: dict[str, DeliveryRow | None] = {}
        rows: list[Row] = []
        for name in order:
            deliveries, read_by = groups[name], runs.get(name, [])
            facts = context.facts.get(name)
            if facts is None:
                unknown[name] = deliveries[0] if deliveries else None
                facts = SessionRow(name, "", "", "")
            unfolded = self._folds_of_query.get(name, True) if self.wanted else self._folds.get(name, False)
            root = (deliveries[0].root if deliveries else facts.project) or (read_by[0].root if read_by else "")
            group = SessionGroup(name, deliveries, root, facts, name in self.live, unfolded, read_by)
            rows += [group, *(group.below if unfolded else [])]
        if unknown:
            find(unknown)
        return rows

    def _newest(self, deliveries: Sequence[DeliveryRow], runs: Mapping[str, Sequence[RunRow]], name: str) -> float:
        times = [*(each.time for each in deliveries[:1]), *(each.time for each in runs.get(name, ())[:1])]
        return max(times) if times else self.started.get(name, 0.0)

    def _without_deliveries(self) -> list[str]:
        """Return the sessions that got nothing, as far back as the log was read."""
        read = self.everything
        oldest = 0.0 if read is None or read.done or not read.rows else read.rows[-1].time
        return [name for name, began in self.started.items() if began >= oldest]

    def _wanted_runs(self) -> dict[str, list[RunRow]]:
        """Return the runs that the query wants, by session."""
        wanted = self.wanted
        if wanted.kind or wanted.memory or wanted.outcome:
            return {}
        fitting = {
            name: [each for each in runs if self._is_of(each.run.project, each.root) and self._has_words(each)]
            for name, runs in self.runs.items()
            if name.startswith(wanted.session)
        }
        return {name: runs for name, runs in fitting.items() if runs}

    def _logged(self) -> Sequence[DeliveryRow]:
        """Return the deliveries that the query wants, newest first; words may also be those of a session's title."""
        logged, wanted = self.reading.rows if self.reading is not None else [], self.wanted
        if not (wanted.text and wanted == Filter(text=wanted.text)):
            return logged
        words, facts = wanted.text.casefold().split(), self.context.facts
        titled = {name for name in facts if all(word in facts[name].title.casefold() for word in words)}
        if not titled or self.everything is None:
            return logged
        matched = {row.id for row in logged}
        more = [row for row in self.everything.rows if row.session in titled and row.id not in matched]
        return sorted([*logged, *more], key=lambda row: row.time, reverse=True) if more else logged
