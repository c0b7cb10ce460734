"""What Activity lists: notes, sessions, deliveries, as workers read them; what a query wants; what they add up to."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from rich.text import Text
from textual.worker import get_current_worker

from memtui.base import clock_hot, findings, paths_hot, session_state_hot
from memtui.base.finding import Finding
from memtui.base.phrasing_hot import many
from memtui.client import projects
from memtui.client.transcripts import transcript_hot
from memtui.deliver import receipts_hot
from memtui.deliver.filter import LOST, Filter
from memtui.deliver.log_queries import DeliveryRow, Reading, read
from memtui.deliver.record import Delivery
from memtui.deliver.sessions import Session, of_state, served
from memtui.deliver.statistics import ReceiptCounts, Statistics
from memtui.inbox import undelivered
from memtui.models.subconscious import runs as model_runs
from memtui.review.waiting_entries import Waiting, homes, waiting_in
from memtui.settings import config_hot
from memtui.tidy.checks import doctor
from memtui.tui.screens.activity.rows import BreakRow, NoteRow, RowContext, add_title, read_breaks
from memtui.tui.screens.activity.sessions import Row, RunRow, SessionGroup, SwitchRow
from memtui.views import colours, query, safe_text
from memtui.views.deliveries import EVENTS, GLYPHS, KIND_WORD, LABELS, WORDS, limits, outcomes, sums
from memtui.views.glyphs import bar

if TYPE_CHECKING:
    from memtui.models.subconscious.control import WaitingMention

Below = TypeVar("Below", RunRow, BreakRow)
# Deliveries whose receipts, and sessions whose titles, are looked up at once.
LOOKED_UP_AT_ONCE, SESSIONS_AT_ONCE = 50, 12
RUNS = 200  # runs of the model that are shown, the newest
DAYS_SHOWN, CELLS = 14, (5, 26)  # the days that are plotted, and the cells of the bars, at the least and the most
COUNTING = "counting …"  # instead of a number that is not known yet
BROKEN = "broken"
FIELDS = {"session": "session", "project": "project", "kind": "kind", "memory": "memory", "is": "outcome"}
KINDS = {word: kind for kind, word in KIND_WORD.items()}
# What `is:` takes: notes that wait, what was lost, rules that were broken, and each outcome of a delivery.
WAITS = "waits"
STATES = {"waiting": WAITS, LOST: LOST, BROKEN: BROKEN}
STATES |= {WORDS.get(each, each).replace(" ", "-"): each for each in receipts_hot.GLYPHS}
UNWRITTEN_SECONDS = 86400  # how long after a session was seen a missing transcript is looked for again
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
    """What was read for the `screen`, what a query wants of it, and which sessions are folded."""

    def __init__(self, screen: Any) -> None:
        super().__init__(screen.services.data, screen.services.read_only)
        self.screen = screen
        self.problem: str | None = None  # what could not be read of the notes; None until they are read
        self.everything: Reading | None = None  # the reading of `scope`
        self.reading: Reading | None = None  # of what the query wants
        self.wanted, self.scope, self.here, self.wrong, self.asks = Filter(), Filter(), "", "", False
        self.live: frozenset[str] = frozenset()  # the sessions that run
        self.runs: dict[str, list[RunRow]] = {}  # of the model by session, newest first
        self.breaks: dict[str, list[BreakRow]] = {}  # of rules, by session, newest first
        self.only_breaks = False
        self.slugs: dict[str, str] = {}  # the keys of the projects of live sessions
        self.folds: dict[str, bool] = {}  # whether a session is unfolded; of what a query wants all are at first
        self._homes: dict[str, str | None] = {self.data.slug: self.data.project_root}

    @property
    def unwritten(self) -> set[str]:
        """The sessions without a transcript that something was delivered to lately."""
        begun, facts = self.data.now() - UNWRITTEN_SECONDS, self.facts
        return {name for name in facts if not facts[name].transcript and (facts[name].last or begun) >= begun}

    def want(self, text: str, here: str) -> None:
        criteria, self.wrong, self.folds, self.here = Filter(), "", {}, here
        try:
            criteria = parse(text)
        except ValueError as error:
            self.wrong = str(error)
        self.only_breaks = criteria.outcome == BROKEN
        criteria = criteria.but(outcome="") if self.only_breaks else criteria
        self.scope = Filter(project="" if criteria.project or criteria.session else here)
        project = "" if criteria.project.casefold() == query.ALL else criteria.project
        self.asks = self.only_breaks or bool(criteria.but(project=project))
        self.wanted = criteria.but(project=project or self.scope.project)
        self.words = self.wanted.text

    def wanted_notes(self) -> Sequence[NoteRow]:
        """Return the notes that the query wants. Those that are lost did not arrive either."""
        criteria = self.wanted
        if self.wrong or self.only_breaks or criteria.memory or criteria.kind not in {"", "guidance"}:
            return []
        if criteria.outcome not in {"", WAITS, LOST, receipts_hot.WAITING}:
            return []
        logged = {row.id for row in self.everything.rows} if self.everything is not None else set()
        return [
            note
            for note in self.notes
            if (note.under_way is None or note.under_way.delivery not in logged)
            and (criteria.outcome != LOST or note.is_lost)
            and (
                criteria.outcome not in {WAITS, receipts_hot.WAITING} or (criteria.outcome == WAITS) == bool(note.item)
            )
            and self._has_words(note)
            and (not criteria.session or (note.session and criteria.session.startswith(note.session)))
            and self._is_of(note.home, note.home or "")
        ]

    def _has_words(self, row: NoteRow | RunRow | BreakRow) -> bool:
        text = row.searched(self).casefold()
        return all(word in text for word in self.wanted.text.casefold().split())

    def _is_of(self, project: str | None, root: str) -> bool:
        return not self.wanted.project or project is None or self.wanted.project in {project, self.project(root)}

    def sessions(self) -> list[Row]:
        """Return the sessions, live ones first, each with its rows; look up what those are about that are new."""
        if self.wrong or self.everything is None:
            return []
        logged = self._logged()
        roots = {row.root for row in (*logged, *self.everything.rows, *self.data.statistics.recent)}
        self.projects |= projects.names_of_roots(self.data.env, roots)
        groups, runs, breaks = _by_session(logged), self._wanted_runs(), self._wanted_breaks()
        here = [name for name in sorted(self.live) if self.scope.project in {"", self.slugs.get(name)}]
        for name in (*([] if self.asks else here), *runs, *breaks):  # also live ones that got nothing
            groups.setdefault(name, [])

        def newest(name: str) -> float:
            below: tuple[Sequence[Any], ...] = (groups[name], runs.get(name, ()), breaks.get(name, ()))
            return max((rows[0].time for rows in below if rows), default=0.0)

        order = sorted(groups, key=lambda name: (name not in self.live, -newest(name)))
        if order and not self.asks:
            self.folds.setdefault(order[0], True)
        unknown: dict[str, DeliveryRow | None] = {}
        rows: list[Row] = []
        for name in order:
            deliveries, read_by, broken = groups[name], runs.get(name, []), breaks.get(name, [])
            facts = self.facts.get(name)
            if facts is None:
                unknown[name] = deliveries[0] if deliveries else None
                facts = Session(name)
            unfolded = self.folds.get(name, self.asks)
            root = deliveries[0].root if deliveries else facts.project
            root = root or (read_by[0].root if read_by else broken[0].root if broken else "")
            group = SessionGroup(name, deliveries, root, facts, name in self.live, unfolded, read_by, broken)
            rows += [group, *(group.below if unfolded else [])]
        if unknown:
            self.work("sessions", lambda: self._find_sessions(unknown))
        return rows

    def _wanted_runs(self) -> dict[str, list[RunRow]]:
        criteria = self.wanted
        if self.only_breaks or criteria.kind or criteria.memory or criteria.outcome:
            return {}
        return self._fitting(self.runs, lambda row: self._is_of(row.run.project, row.root))

    def _wanted_breaks(self) -> dict[str, list[BreakRow]]:
        criteria = self.wanted
        if criteria.kind or criteria.outcome:
            return {}

        def fits(row: BreakRow) -> bool:
            is_of_memory = criteria.memory in {"", row.broken.memory, row.broken.path}
            return is_of_memory and self._is_of(paths_hot.project_key(row.root), row.root)

        return self._fitting(self.breaks, fits)

    def _fitting(
        self, rows_by_session: dict[str, list[Below]], fits: Callable[[Below], bool]
    ) -> dict[str, list[Below]]:
        """Return the rows with the words of the query that fit it, of the sessions that it wants."""
        sessions = {name: rows for name, rows in rows_by_session.items() if name.startswith(self.wanted.session)}
        fitting = {name: [row for row in rows if fits(row) and self._has_words(row)] for name, rows in sessions.items()}
        return {name: rows for name, rows in fitting.items() if rows}

    def _logged(self) -> Sequence[DeliveryRow]:
        """Return the deliveries that the query wants, newest first; words may also be those of a session's title."""
        if self.only_breaks:
            return []
        logged, criteria = self.reading.rows if self.reading is not None else [], self.wanted
        if not (criteria.text and criteria == self.scope.but(text=criteria.text)):
            return logged
        words = criteria.text.casefold().split()
        titled = {name for name, facts in self.facts.items() if all(word in facts.title.casefold() for word in words)}
        if not titled or self.everything is None:
            return logged
        return _joined(logged, [row for row in self.everything.rows if row.session in titled])

    @property
    def count(self) -> str:
        """How many deliveries are listed that brought a text: only of these there are receipts."""
        return "0" if self.wrong else _counted(self.reading)

    @property
    def total(self) -> str:
        return _counted(self.everything)

    def summary(self, counted: str, room: int) -> Text:
        """Return how many notes are lost, how many deliveries are `counted`, and their outcomes, in `room` cells."""
        known, notes = self.data.receipts.known, sum(note.is_lost for note in self.wanted_notes())
        line = Text().append(f"{many(notes, 'note')} not delivered" if notes else "", colours.PROBLEM)
        line.append(" · " if notes else "").append(counted, "bold")
        rows = self.reading.rows if self.reading is not None else []
        sums = outcomes(ReceiptCounts.of(known.get(row.id, "") for row in rows))
        words = Text().join(Text(f" · {count:,} {word}", GLYPHS[outcome][1]) for count, word, outcome in sums)
        short = Text().join(Text(f"  {count:,} {GLYPHS[outcome][0]}", GLYPHS[outcome][1]) for count, _, outcome in sums)
        return line.append_text(words if line.cell_len + words.cell_len <= room else short)

    def work(self, group: str, work: Callable[[], object]) -> None:
        self.screen.run_worker(work, thread=True, exclusive=True, group=group)

    def begin(self, criteria: Filter) -> Reading:
        return Reading(self.data.root, criteria, self.data.receipts)

    def read_notes(self) -> None:
        """Read the notes of all projects that wait, in the order in which sessions get them, are lost or under way."""
        data = self.data
        data.count_live()
        slugs = [data.slug, None, *(slug for slug in paths_hot.inbox_slugs(data.root) if slug != data.slug)]
        unread: list[Finding] = []
        now, budget = data.now(), config_hot.number(data.settings(), "budget")
        waiting = waiting_in(data.root, slugs, ("guidance",), unread)
        self._homes |= homes(data.env, (entry for entry in waiting if entry.slug not in self._homes))
        notes = [
            NoteRow(row.entry, row.entry.time(), row.slug, row, states=_wrong(row, now, budget)) for row in waiting
        ]
        notes.sort(key=lambda row: (row.is_lost, not row.entry.flag("urgent"), row.time or now))
        tasks = undelivered.under_way(data.root, slugs)
        notes += [NoteRow(task.entry, task.time, task.slug, under_way=task) for task in tasks]
        runs: dict[str, list[RunRow]] = {}
        mentions: list[WaitingMention] = []
        if data.has_model:
            from memtui.models import choice
            from memtui.models.subconscious import control

            mentions = control.mentions(data.root, now)
            for run in model_runs.newest_first(data.root, RUNS):
                runs.setdefault(run.session, []).append(RunRow(run, paths_hot.project_root(run.cwd)))
            served = choice.known(data.root)
            if served.instead and served.session:
                below = runs.setdefault(served.session, [])
                below.append(SwitchRow(served))
                below.sort(key=lambda row: -row.time)
        breaks = read_breaks(data.root)
        roots = {row.root for rows in runs.values() for row in rows} | {rows[0].root for rows in breaks.values()}
        names = projects.names(data.env, self._homes) | projects.names_of_roots(data.env, roots)
        live = {name: _of_state(data.root, name).slug for name in data.facts.live}
        problem = " ".join(map(findings.with_remedy, unread))

        def show() -> None:
            self.notes, self.runs, self.breaks, self.mentions, self.slugs = notes, runs, breaks, mentions, live
            self.projects |= names
            self.problem = problem
            self.screen.fill()

        self.screen.call_later(show)

    def read(self, reading: Reading, count: int, *, first: bool) -> None:
        """Read `count` more rows, then look up their receipts, with `first` also those of earlier rows, then count."""
        worker = get_current_worker()

        def go_on(lines: int) -> bool:
            self.screen.call_later(self.screen.show_progress, f"{lines:,} lines read")
            return not worker.is_cancelled

        before = 0 if first else len(reading.rows)
        reading.more(count, go_on)
        if worker.is_cancelled:
            return
        self.screen.call_later(self.screen.show_rows, reading)
        self._look_up(reading.rows[before:])
        if not self.data.statistics.ready:
            self._count(go_on)

    def follow(self) -> None:
        for reading in {id(log): log for log in [self.everything, self.reading] if log is not None}.values():
            fresh = reading.fresh()
            if fresh is None:
                self.screen.call_later(self.screen.read_first)
                return
            if fresh:
                self.screen.call_later(self.screen.show_rows, reading)
                self._look_up(fresh)
        if self.data.statistics.ready:
            self._count(lambda _: True)

    def _find_sessions(self, first_rows: dict[str, DeliveryRow | None]) -> None:
        """Find what sessions are about, the first first. `first_rows`: their newest deliveries by id."""
        worker, finder = get_current_worker(), transcript_hot.Finder(paths_hot.config_dir(self.data.env))

        def show(facts: dict[str, Session]) -> None:
            self.facts |= facts
            self.several_agents = len({session.agent for session in self.facts.values()}) > 1
            self.screen.fill()

        names = list(first_rows)
        for start in range(0, len(names), SESSIONS_AT_ONCE):
            if worker.is_cancelled:
                return
            clients, facts = served(self.data.root), dict[str, Session]()
            for name in names[start : start + SESSIONS_AT_ONCE]:
                session = _of_state(self.data.root, name)
                newest = first_rows[name]
                delivery = read(newest) if newest is not None else None
                if delivery is not None:
                    session.note(delivery)
                session.look(clients, self.data.now())
                session.look_up(finder)
                facts[name] = session
            self.screen.call_later(show, facts)

    def _count(self, go_on: Callable[[int], bool]) -> None:
        statistics = self.data.statistics
        if statistics.count(go_on):
            self._look_up(statistics.recent)
            self.screen.call_later(self.screen.show_receipts)

    def _look_up(self, rows: Sequence[DeliveryRow | Delivery]) -> None:
        """Look up receipts, a few at a time, so that those of the newest are shown first."""
        for start in range(0, len(rows), LOOKED_UP_AT_ONCE):
            if get_current_worker().is_cancelled:
                return
            if self.data.receipts.look(rows[start : start + LOOKED_UP_AT_ONCE]):
                self.screen.call_later(self.screen.show_receipts)


def _of_state(root: str, session: str) -> Session:
    return of_state(session, session_state_hot.load(root, session).values() if session else {})


def _wrong(note: Waiting, now: float, budget: int) -> tuple[Finding, ...]:
    """Find what keeps a note from being delivered, then what else is wrong with it."""
    wrong = [*undelivered.problems(note.entry, note.directory, now, budget), *doctor.secret(note.entry)]
    return tuple(sorted(wrong, key=lambda finding: not findings.flag(finding)))


def _joined(rows: Sequence[DeliveryRow], others: Sequence[DeliveryRow]) -> Sequence[DeliveryRow]:
    names = {row.id for row in rows}
    more = [row for row in others if row.id not in names]
    return sorted([*rows, *more], key=lambda row: row.time, reverse=True) if more else rows


def _by_session(rows: Sequence[DeliveryRow]) -> dict[str, list[DeliveryRow]]:
    groups: dict[str, list[DeliveryRow]] = {}
    for row in rows:
        groups.setdefault(row.session, []).append(row)
    return groups


# sums


def _counted(reading: Reading | None) -> str:
    """Return how many deliveries brought a text; `+` while there may be more."""
    if reading is None:
        return "…"
    return f"{sum(row.injected for row in reading.rows):,}{'' if reading.done else '+'}"


def plots(statistics: Statistics, known: dict[str, str], width: int) -> Text:
    """Draw all plots. `known`: outcome by the id of a delivery."""
    text = Text()
    if not statistics.lines:
        nothing = "Nothing was delivered yet, so there is nothing to plot." if statistics.ready else COUNTING
        return text.append(nothing + "\n", style="bold").append("escape goes back.", style="dim")
    recent = len(statistics.recent)
    _add_days(text, statistics, known, max(CELLS[0], min(CELLS[1], width // 3)))
    counts = ReceiptCounts.of(statistics.outcomes(known))
    unknown = recent - counts.total
    note = f"known for {counts.settled:,} of the newest {recent:,} deliveries"
    add_title(text, "Receipts", note + (f", {unknown:,} not looked up yet" if unknown else ""))
    for words, style in sums(counts):
        text.append(f"  {words}\n", style=style)
    add_title(text, "Hook time", "of logged runs")
    text.append(f"{'half under':>22}  {'95% under':>9}  {'runs':>6}\n", style="dim")
    for event, times in sorted(statistics.events.items(), key=lambda pair: -len(pair[1])):
        text.append(f"  {safe_text.line(EVENTS.get(event, event), 18):<10}")
        half, most = (f"{limit:,} ms" for limit in limits(times))
        text.append(f"{half:>10}  {most:>9}  ").append(f"{len(times):>6,}\n", style="dim")
    return text


def _add_days(text: Text, statistics: Statistics, known: dict[str, str], cells: int) -> None:
    days = [day.deliveries for _, day in statistics.days_back(DAYS_SHOWN)]
    note = f"receipts of the newest {len(statistics.recent):,} deliveries" * (sum(days) > len(statistics.recent))
    add_title(text, "Per day", note if statistics.ready else COUNTING)
    for first, last, day in statistics.days_folded(DAYS_SHOWN):
        if day is None:
            span = f"{_date(last)} to {_date(first)}" if last > first else _date(first)
            text.append(f"{span}  {'none' if statistics.ready else COUNTING}\n", style="dim")
        else:
            text.append(f"{_date(last)}  {day.deliveries:>6,} ")
            text.append(f"{bar(day.deliveries, max(days), cells):<{cells}}", "cyan")
            for count, _, outcome in outcomes(ReceiptCounts.of(statistics.outcomes(known, last))):
                text.append(f"  {GLYPHS[outcome][0]} {count:,}", GLYPHS[outcome][1])
            text.append("\n")


def _date(number: int) -> str:
    return time.strftime("%a %d %b", time.gmtime(number * clock_hot.DAY))
