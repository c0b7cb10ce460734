"""What the workers of Activity do: read the notes, the delivery log and the sessions, and tell the screen."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from textual.worker import get_current_worker

from memtui.base import findings, paths, session_state
from memtui.base.finding import Finding
from memtui.client import projects
from memtui.client.transcripts import transcript
from memtui.deliver import sessions
from memtui.deliver.filter import Filter
from memtui.deliver.log_queries import DeliveryRow, Reading, read
from memtui.deliver.record import NOTHING_MOVED, Delivery
from memtui.deliver.sessions import Session, of_state, states
from memtui.inbox import undelivered
from memtui.models.subconscious import runs as model_runs
from memtui.review.waiting_entries import Waiting, homes, waiting_in
from memtui.settings import config
from memtui.store.versions import moves
from memtui.tidy.checks import doctor
from memtui.tui.screens.activity.rows import NoteRow, RunRow

if TYPE_CHECKING:
    from memtui.models.subconscious.control import WaitingMention
    from memtui.tui.model.data import Data

# Deliveries whose receipts, and sessions whose titles, are looked up at once.
LOOKED_UP_AT_ONCE, SESSIONS_AT_ONCE = 50, 12
# Runs of the model that are shown, the newest.
RUNS = 200


class ReadNotes(NamedTuple):
    """The notes that wait, and what a model did. `started`: when each session began, and its project."""

    notes: list[NoteRow]
    names: dict[str, str]
    problem: str
    unused: bool
    runs: dict[str, list[RunRow]]
    mentions: "list[WaitingMention]"
    started: dict[str, tuple[float, str]]


def _wrong(note: Waiting, now: float, budget: int) -> Iterator[Finding]:
    """Find what keeps a note from being delivered, then what else is wrong with it."""
    wrong = [*undelivered.problems(note.entry, note.directory, now, budget), *doctor.secret(note.entry)]
    yield from sorted(wrong, key=lambda finding: not findings.flag(finding))


class ActivityReader:
    """The work of the screen's workers, in threads: they have the screen call its `show_…`."""

    def __init__(self, data: "Data", screen: Any) -> None:
        self.data, self._later, self._to = data, screen.call_later, screen
        self._known: dict[str, tuple[float, str]] = {}
        self._states_stamp = -1
        self._homes: dict[str, str | None] = {self.data.slug: self.data.project_root}

    def reading(self, criteria: Filter) -> Reading:
        earlier = moves.load(self.data.root) if criteria.memory else NOTHING_MOVED
        return Reading(self.data.root, criteria, self.data.receipts, earlier=earlier)

    def read_notes(self) -> None:
        """Read the notes of all projects that wait, in the order in which sessions get them, are lost or under way."""
        data = self.data
        data.count_live()
        slugs = [data.slug, None, *(slug for slug in paths.inbox_slugs(data.root) if slug != data.slug)]
        unread: list[Finding] = []
        now, budget = data.now(), config.number(data.settings(), "budget")
        waiting = waiting_in(data.root, slugs, ("guidance",), unread)
        self._homes |= homes(data.env, (entry for entry in waiting if entry.slug not in self._homes))
        notes = [
            NoteRow(entry.entry, entry.entry.time(), entry.slug, entry, states=tuple(_wrong(entry, now, budget)))
            for entry in waiting
        ]
        notes.sort(key=lambda row: (row.is_lost, not row.entry.flag("urgent"), row.time or now))
        tasks = undelivered.under_way(data.root, slugs)
        notes += [NoteRow(task.entry, task.time, task.slug, under_way=task) for task in tasks]
        names = projects.names(data.env, self._homes)
        problem = " ".join(map(findings.with_remedy, unread))
        runs: dict[str, list[RunRow]] = {}
        mentions: list[WaitingMention] = []
        if data.has_model:
            from memtui.models.subconscious import control

            mentions = control.mentions(data.root, now)
            for run in model_runs.newest_first(data.root, RUNS):
                runs.setdefault(run.session, []).append(RunRow(run, paths.project_root(run.cwd)))
        names |= projects.names_of_roots(data.env, {row.root for several in runs.values() for row in several})
        read_notes = ReadNotes(notes, names, problem, not data.records(1), runs, mentions, self._started())
        self._later(self._to.show_notes, read_notes)

    def _started(self) -> dict[str, tuple[float, str]]:
        """Return when each session with a state began, and the key of its project."""
        directory = self.data.root + "/sessions"
        stamp = os.stat(directory).st_mtime_ns if os.path.isdir(directory) else 0
        if stamp != self._states_stamp:
            self._states_stamp = stamp
            sessions = {name: (each.started, each.slug) for name, each in states(self.data.root).items()}
            self._known = {name: (began, slug) for name, (began, slug) in sessions.items() if began is not None}
        return self._known

    def read(self, reading: Reading, count: int, *, first: bool, oldest_first: bool = False) -> None:
        """Read `count` more rows, then look up their receipts, with `first` also those of earlier rows, then count."""
        worker = get_current_worker()

        def go_on(lines: int) -> bool:
            self._later(self._to.show_progress, f"{lines:,} lines read")
            return not worker.is_cancelled

        before = 0 if first else len(reading.rows)
        reading.more(count, go_on)
        if worker.is_cancelled:
            return
        self._later(self._to.show_rows, reading)
        self._look_up(reading.rows[before:][:: -1 if oldest_first else 1])
        if not self.data.statistics.ready:
            self._count(go_on)

    def follow(self, readings: Sequence[Reading]) -> None:
        for reading in readings:
            fresh = reading.fresh()
            if fresh is None:
                self._later(self._to.read_first)
                return
            if fresh:
                self._later(self._to.show_rows, reading)
                self._look_up(fresh)
        if self.data.statistics.ready:
            self._count(lambda _: True)

    def find_sessions(self, first_rows: dict[str, DeliveryRow | None]) -> None:
        """Find what sessions are about, the first first. `first_rows`: their newest deliveries by id."""
        worker, finder = get_current_worker(), transcript.Finder(paths.config_dir(self.data.env))
        names = list(first_rows)
        for start in range(0, len(names), SESSIONS_AT_ONCE):
            if worker.is_cancelled:
                return
            clients = sessions.served(self.data.root)
            some = names[start : start + SESSIONS_AT_ONCE]
            facts = {name: self._find_session(name, first_rows[name], finder, clients) for name in some}
            self._later(self._to.show_facts, facts)

    def _find_session(
        self, name: str, newest: DeliveryRow | None, finder: transcript.Finder, clients: dict[int, str]
    ) -> Session:
        session = of_state(name, session_state.load(self.data.root, name).values() if name else {})
        delivery = read(newest) if newest is not None else None
        if delivery is not None:
            session.note(delivery)
        session.look(clients, self.data.now())
        session.look_up(finder)
        return session

    def _count(self, go_on: Callable[[int], bool]) -> None:
        statistics = self.data.statistics
        if statistics.count(go_on):
            self._look_up(statistics.recent)
            self._later(self._to.show_receipts)

    def _look_up(self, rows: Sequence[DeliveryRow | Delivery]) -> None:
        """Look up receipts, a few at a time, so that those of the newest are shown first."""
        for start in range(0, len(rows), LOOKED_UP_AT_ONCE):
            if get_current_worker().is_cancelled:
                return
            if self.data.receipts.look(rows[start : start + LOOKED_UP_AT_ONCE]):
                self._later(self._to.show_receipts)
