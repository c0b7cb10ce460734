"""Guidance: what the agent will be told, what is under way, what it was told and whether that arrived."""

from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from memtui import actions
from memtui.core.base import clock, paths
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import ago, many
from memtui.core.client import projects, transcript
from memtui.core.client import titles as first
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries import receipts
from memtui.core.deliveries import record as delivery_record
from memtui.core.deliveries.record import text_of
from memtui.core.inbox import under_way
from memtui.core.review.waiting import Waiting, waiting_in
from memtui.present import safe_text, undelivered, unheard
from memtui.tui.model import fuzzy
from memtui.tui.screens.guidance import rows
from memtui.tui.screens.guidance.commands import GuidanceActs
from memtui.tui.screens.guidance.rows import Row
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.field import Field
from memtui.tui.widgets.glance import Glance
from memtui.tui.widgets.line import OneLine
from memtui.tui.widgets.rows import Column, RowList

# The history shown: so many notes, none older than this.
HISTORY = 200
HISTORY_SECONDS = 45 * 86400.0
EMPTY = """Nothing waits, and nothing was told yet.
{guidance.new} writes guidance: the agent gets it with the next prompt, once,
and you see here whether it arrived.
Scripts leave some with: memtui guide "…\""""


class Guidance(GuidanceActs):
    """The queue, what is under way, and the history, in one list; the note itself on the right."""

    group: ClassVar[str] = "guidance"
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "inbox", "log", "receipts"})
    legend = "A session gets a note once. What did not arrive comes back into the queue; after three times it is held."

    def __init__(self) -> None:
        super().__init__()
        self.titles: dict[str, str] = {}
        self._problem = ""

    def body(self) -> ComposeResult:
        """Two panes; on a narrow screen the list, and the note over it."""
        yield OneLine(id="answer")
        with Horizontal(id="panes"):
            with Vertical(id="middle"):
                yield RowList[Row](
                    [
                        Column("state", 11),
                        Column("guidance"),
                        Column("to", 14, from_width=56),
                        Column("from", 10, from_width=76),
                        Column("age", 4, right=True),
                    ],
                    self._draw,
                    lambda row: row.key,
                    empty=actions.keyed(EMPTY),
                    id="list",
                )
                yield Glance(id="glance")
                yield Field(placeholder="filter: text, sender, session, state", id="filter")
            yield Detail(id="detail")

    # reading

    def reload(self) -> None:
        """Read queue and history in a worker."""
        self._read()

    @work(thread=True, exclusive=True, group="guidance")
    def _read(self) -> None:
        data = self.main.data
        now = data.now()
        slugs = [data.slug, None]
        if self.every:
            others = [slug for slug in paths.inbox_slugs(data.root) if slug != data.slug]
            slugs += others
            fresh = projects.paths_of(data.env, [slug for slug in others if slug not in self.names])
            self.names.update((slug, (home or "").rstrip("/").rpartition("/")[2]) for slug, home in fresh.items())
        unread: list[MemtuiError] = []
        queue = [self._queued(each, now) for each in waiting_in(data.root, slugs, ("guidance",), unread)]
        problem = " ".join(f"{error.message} {error.hint}" for error in unread)
        queue.sort(key=lambda row: (not row.states, row.time or 0.0), reverse=True)
        taken = under_way.listed(data.root, slugs)
        waiting = {row.item.id for row in queue if row.item is not None}
        queue += [Row(f"way {t.delivery} {t.entry.id}", t.entry.text, t.time, taken=t) for t in taken]
        self.app.call_from_thread(self._show, queue, None, problem)
        history = self._history(set(slugs), waiting, now)
        self.app.call_from_thread(self._show, queue, history, problem)
        self._look_up(
            {text_of(row.note.record, "session_id") for row in history if row.note} | {t.session for t in taken}
        )

    def _queued(self, item: Waiting, now: float) -> Row:
        states = tuple(undelivered.findings_of(self.main.data.settings(), item, now))
        return Row(f"{item.path}#{item.id}", item.entry.text, item.entry.time(), item=item, states=states)

    def _history(self, slugs: set[str | None], waiting: set[str], now: float) -> list[Row]:
        data = self.main.data
        notes: list[delivery_record.Note] = []
        for record in delivery_log.newest_first(data.root, needle=b'"guidance"', since=max(0.0, now - HISTORY_SECONDS)):
            if self.every or record.get("project") in slugs:
                notes += delivery_record.notes(record)
            if len(notes) >= HISTORY:
                break
        outcomes = data.outcomes([note.record for note in notes])
        found = []
        for note in notes:
            name = text_of(note.record, "id")
            outcome = outcomes.get(name, receipts.UNKNOWN)
            when = clock.parse(note.record.get("time"))
            back = note.id in waiting
            found.append(Row(f"told {name} {note.id}", note.text, when, note=note, outcome=outcome, back=back))
        return found

    def _look_up(self, sessions: set[str]) -> None:
        """What each session is about, read once."""
        found = {}
        finder = transcript.Finder(paths.config_dir(self.main.data.env))
        for session in sessions - set(self.titles):
            path = finder.find(session)
            found[session] = first.first_words(path)[:80] if path else ""
        if found:
            self.app.call_from_thread(self._named, found)

    def _named(self, found: dict[str, str]) -> None:
        self.titles |= found
        self.show_detail()

    def _show(self, queue: list[Row], history: list[Row] | None, problem: str) -> None:
        self._problem = problem
        self.found = queue + (history if history is not None else [row for row in self.found if row.note])
        self.fill()

    def fill(self) -> None:
        """Put what was read through the filter."""
        shown = fuzzy.select(self.found, self.typed, rows.searched)
        self.table.empty = (
            actions.keyed(EMPTY)
            if not self.typed
            else f"Nothing fits “{safe_text.line(self.typed, 60)}”.\nescape clears the filter."
        )
        self.table.show(shown)
        new = [at for at, row in enumerate(shown) if row.item is not None and row.text == self._wanted]
        if self._wanted and new:
            self.table.move_to(max(new, key=lambda at: shown[at].time or 0.0))
            self._wanted = ""
        self.table.marks &= {row.key for row in self.found}
        self.count()
        self._answer()
        self.show_detail()

    def count(self) -> None:
        """On the right of the foot, what the filter shows and how many are marked."""
        shown = f"{len(self.table.rows)} of {len(self.found)}" if self.typed else ""
        marked = f"{len(self.table.marks)} marked" if self.table.marks else ""
        self.tell(" · ".join(filter(None, (shown, marked))))

    def key_escape(self) -> None:
        """Back, one step at a time."""
        super().key_escape()
        self.count()

    def _answer(self) -> None:
        text = Text(no_wrap=True, overflow="ellipsis")
        waits = [row for row in self.found if row.item is not None]
        stuck = sum(bool(row.states) for row in waits)
        under = sum(row.taken is not None for row in self.found)
        last = next((row for row in self.found if row.note is not None), None)
        if self._problem:
            text.append("! " + safe_text.line(self._problem), style="red")
        elif not waits:
            text.append("Nothing waits to be told", style="bold")
        else:
            text.append(f"{many(len(waits) - stuck, 'note waits', 'notes wait')} to be told", style="bold")
        deaf = unheard.keyed(self.main.data.unheard())
        if deaf and not self._problem:
            text.append(f" · {deaf}", style="bold yellow")
        if stuck:
            text.append(f" · {stuck} stuck", style="yellow")
        if under:
            text.append(f" · {under} under way", style="cyan")
        if last is not None:
            text.append(f" · last told {ago(last.time, self.main.data.now())}, ", style="dim")
            text.append_text(rows.state(last))
        if self.every:
            text.append(" · all projects", style="dim")
        self.query_one("#answer", OneLine).put(text)

    # drawing

    def _draw(self, row: Row) -> list[Text]:
        said = Text(safe_text.line(row.text, 400), style="dim" if row.note is not None else "")
        fuzzy.mark([said], self.typed)
        whom = Text(safe_text.line(rows.to(row, self._project(row)), 60), style="dim")
        return [
            rows.state(row),
            said,
            whom,
            Text(safe_text.line(rows.sender(row), 40), style="dim"),
            rows.when(row, self.main.data.now()),
        ]

    @on(RowList.Moved, "#list")
    def show_detail(self) -> None:
        """The note under the cursor."""
        row = self.table.row
        if row is None:
            key, text = "", Text("Nothing is chosen.", style="dim")
        else:
            key, text = row.key, rows.detail(row, self.titles, self._project(row), self.main.data.now())
        self.query_one("#detail", Detail).show(key, text)
        self.query_one(Glance).show(text if row else Text())
        self.frame()

    # moving

    @on(RowList.Opened, "#list")
    def do_guidance_open(self) -> None:
        """Over the list on a narrow screen, else to the right."""
        self.deepen()
