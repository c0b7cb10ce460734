"""The inbox: everything that waits for the person's decision, worst first."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import on, work
from textual.binding import BindingType
from textual.timer import Timer
from textual.worker import get_current_worker

from memtui import keymap
from memtui.base.errors import MemtuiError
from memtui.base.storage import file_error
from memtui.review.evidence import Evidence
from memtui.store.memory import Memory
from memtui.tidy.changeset import Weighed
from memtui.tui.model import autosave
from memtui.tui.screens.frame import Described
from memtui.tui.screens.inbox import proposals
from memtui.tui.screens.inbox import row as inbox_row
from memtui.tui.screens.inbox.chosen import ENTRIES, RULES, Chosen
from memtui.tui.screens.inbox.commands import OF_FAMILY, VERBS, commands
from memtui.tui.screens.inbox.proposals import InboxPlan, PlannedChanges
from memtui.tui.screens.inbox.row import TERMS, WHOLE, FoldRow, InboxReading, InboxView
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import Command, Services, bindings
from memtui.tui.texts import TEXTS
from memtui.tui.widgets.rows import Column, RowList
from memtui.views import notes, query, safe_text
from memtui.views.decisions import BLOCKED, Decision, ProblemRow, ProposedRow, in_order

REST_SECONDS = 0.15  # how long the cursor rests on a draft before its transcript is read
# How long no decision follows another before what depends on them is read: changes, similar memories.
SETTLE_SECONDS = 1.5
READING = "Reading …"
UNHEARD = "Sessions will save no drafts here.\n{}."
COLUMNS = (Column("kind", 8), Column("what it says"), Column("for", 14, from_width=72), Column("when", 4, right=True))
ON_LIST = ("mark", "mark_all", "filter", "project")  # the actions in the foot after those of a row


class Inbox(ListScreen[Decision]):
    """The screen: on the left the list, on the right what the row under the cursor becomes, and why."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("inbox")]
    group: ClassVar[str] = "inbox"
    glance_lines = 20
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "inbox", "memories", "versions", "rules"})
    row_word: ClassVar[str] = "row"
    nouns: ClassVar[tuple[str, str]] = ("to decide", "to decide")
    legend: str = inbox_row.LEGEND

    def __init__(self, services: Services) -> None:
        self.view = InboxView(services)
        key, look, can_mark = attrgetter("key"), lambda row: (row.look, self.view.typed), lambda row: not row.folds
        table = RowList[Decision](COLUMNS, self._draw, key, empty=READING, look=look, can_mark=can_mark, id="list")
        super().__init__(services, table, placeholder="words, kind:, type:, scope:, is:, project:")
        self.chosen = Chosen(services, self, self._take_off)
        self.families = {family: kind(self.chosen, self.view) for family, kind in OF_FAMILY.items()}
        self.commands |= commands(self.chosen, self.families) | {
            "inbox.backfill": Command(self._read_past_sessions),
            "list.mark": Command(self.mark, self.chosen.why_not_marked),
            "list.mark_all": Command(self.mark_all, self.chosen.why_not_marked),
            "list.project": Command(self.toggle_projects),
        }
        self._folds: dict[str, str] = {}  # the key of its fold, by that of a row in one
        self._entries: Sequence[Decision] = ()
        self._changes = PlannedChanges()
        self._gone: set[str] = set()  # keys of the rows that were decided on since the entries were read
        self._elsewhere: Sequence[Decision] = ()  # what waits in other projects
        self._plan_problem = ""
        self.planning = self.planned = False
        self._begins = not services.files.has_read
        self._rest_timer: Timer | None = None
        self._settle_timer: Timer | None = None
        self._last: InboxReading | None = None

    def reload(self) -> None:
        self._read()
        if self.planned:
            self._look_for_changes()
        elif not self.planning:
            self.plan()

    def follow(self, parts: frozenset[str] | None) -> None:
        """After a change made here, read at once only what it touched; after one by others, all that depends on it."""
        if self._begins:  # the first reading of the application, during which planning has begun
            self._begins = False
            super().follow(parts)
        elif parts is None:
            self._read(with_memories=False)
            if self.planned:
                self._look_for_changes()
                self._settle_soon()
            else:
                self.plan()
        elif parts == ENTRIES or self._settle_timer is not None:
            if parts & ENTRIES and self._last is not None:
                self._read(self._last)
            self._settle_soon()
        elif parts == RULES:
            if self.planned:
                self._look_for_changes()
        else:
            super().follow(parts)

    def _settle_soon(self) -> None:
        """Read what else depends on a decision once no other one follows it."""
        if self._settle_timer is not None:
            self._settle_timer.stop()
        self._settle_timer = self.set_timer(SETTLE_SECONDS, self._read_rest)

    def _read_rest(self) -> None:
        self._settle_timer = None
        if not self.planned:  # what is being planned does not know the change
            self.planning = False
        self.reload()

    @work(thread=True, exclusive=True, group="inbox")
    def _read(self, last: InboxReading | None = None, *, with_memories: bool = True) -> None:
        """Read all, or after a decision about entries these alone, with the rest as in `last`."""
        worker, data, removed = get_current_worker(), self.services.data, frozenset(self._gone)
        every = self.of_all_projects
        reading = inbox_row.read_entries(data, last) if last else inbox_row.read(data, all_projects=every)
        if worker.is_cancelled or reading is None:
            return
        self.call_later(self._show_reading, reading, removed)
        # Only drafts are compared with memories.
        has_drafts = any(entry.kind == "updates" for entry in reading.waiting)
        if has_drafts and ((with_memories and last is None) or not self.view.memories):
            self.call_later(self._show_memories, self.view.read_memories())

    def _show_reading(self, reading: InboxReading, removed: frozenset[str]) -> None:
        before = self._state()
        view, near, self._last = self.view, {self.services.data.slug, None}, reading
        self._gone -= removed
        view.names = reading.names
        view.forget()
        others = [entry for entry in reading.waiting if entry.slug not in near and not entry.entry.snoozed(view.now)]
        self._elsewhere = inbox_row.rows_of(others, view, reading.places)
        here = [entry for entry in reading.waiting if self.of_all_projects or entry.slug in near]
        self._entries = [*inbox_row.rows_of(here, view, reading.places), *reading.others]
        self._arrange(before)

    def _state(self) -> tuple[object, ...]:
        """What is shown, to be compared: after a decision about an entry, it mostly is as it has been since the key."""
        rest = (self._last.problem, id(self._last.others)) if self._last is not None else ()
        return inbox_row.as_seen(self.all_rows), inbox_row.as_seen(self._elsewhere), *rest

    def _arrange(self, before: tuple[object, ...] = ()) -> None:
        """Put the rows together, and show them where they are not as `before`."""
        hidden = self._last.hidden if self._last is not None else {}
        rows = [row for row in (*self._entries, *self._changes.rows) if row.key not in self._gone]
        self.all_rows = in_order(rows, hidden, self.view.now)
        awake = [row for row in self.all_rows if row.until is None]
        # The tab counts what the key chose, not what a query names.
        if (self.planned or self._plan_problem) and self.of_all_projects == self.services.all_projects:
            self.services.data.note_decisions(Counter(row.kind.word for row in awake if row.item is None))
        if before != self._state():
            self.fill()
        else:
            self.table.renew(self.all_rows)
            self._described = self.table.row
            self.look_soon()

    def _show_memories(self, memories: Sequence[Memory]) -> None:
        states = [[(each.path, each.mtime, each.size) for each in own] for own in (memories, self.view.memories)]
        if states[0] != states[1]:
            self.view.memories = memories
            self.view.evidence.clear()
            self.show_detail()
            self.look_soon()

    @on(RowList.Moved, "#list")
    def look_soon(self) -> None:
        """Look for more about the row under the cursor, once the cursor rests."""
        if self._rest_timer is not None:
            self._rest_timer.stop()
            self._rest_timer = None
        if (row := self.table.row) is not None:
            self._rest_timer = self.set_timer(REST_SECONDS, partial(self._look_up, row))

    def _look_up(self, row: Decision) -> None:
        self._rest_timer = None
        if (find := self.families[row.kind.family].look_up(row)) is not None:
            self._find(row.key, find, self.view.memories)

    @work(thread=True, exclusive=True, group="evidence")
    def _find(self, key: str, find: Callable[[], object], memories: Sequence[Memory]) -> None:
        self.call_later(self._show_found, key, find(), memories)

    def _show_found(self, key: str, value: object, memories: Sequence[Memory]) -> None:
        if memories is not self.view.memories:
            return  # the row is looked up again, since these were read anew
        where: dict[str, object] = self.view.evidence if isinstance(value, Evidence) else self.view.occasions  # type: ignore[assignment]
        where[key] = value
        if self.table.row_id == key:
            self.show_detail()

    def refresh_ages(self) -> None:
        super().refresh_ages()
        self.reload()

    def fill(self) -> None:
        if (last := self._last) is not None and last.of_all != self.of_all_projects:
            self._show_reading(last._replace(of_all=self.of_all_projects), frozenset())  # what others wrote comes later
            self._read()
        autosaves = autosave.names(self.services.data.root)
        if autosaves != self.view.autosaves:
            self.view.autosaves = autosaves
            self.table.redraw()
        self.view.typed = self.sought
        self.table.widen("for", max((cell_len(row.place) for row in self.all_rows), default=0))
        super().fill()
        self.look_soon()

    def select(self) -> Sequence[Decision]:
        self._folds = {}
        if self.typed:
            return inbox_row.filtered(self.all_rows, self.typed)
        # Without likely one-offs and hidden rows.
        inbox_rows = inbox_row.folded(self.all_rows, self.unfolded, self.view.now)
        self._folds = {row.key: fold.key for fold in inbox_rows if isinstance(fold, FoldRow) for row in fold.folds}
        return inbox_rows

    @property
    def sought(self) -> str:
        return query.parse(self.typed, TERMS).words

    @property
    def of_all_projects(self) -> bool:
        return super().of_all_projects or "project" in query.parse(self.typed, TERMS).terms

    def why_no_matches(self) -> str:
        rows = [*self.all_rows, *self._elsewhere]
        return inbox_row.mistake(rows, self.typed, self.view.names.values()) or super().why_no_matches()

    def why_empty(self) -> str:
        if self.is_filtered:
            elsewhere = "" if self.of_all_projects else f"\n{keymap.key_of('list.project')} shows all projects."
            return super().why_empty() + elsewhere
        if self._last is None:
            return READING
        read_only = self.services.read_only
        why = notes.keyed(self.services.data.unheard(), read_only=read_only)
        words = UNHEARD.format(why[:1].upper() + why[1:]) if why else TEXTS["nothing waits"]
        words += "\nLooking for what can be merged, fixed or removed …" * (self.planning and not self.planned)
        return f"{words}\n{keymap.keyed(TEXTS['elsewhere' + ' read-only' * read_only])}"

    def numbers(self) -> tuple[str, str]:
        count, total = (len([row for row in rows if row.until is None]) for rows in (self.table.rows, self.all_rows))
        return f"{count:,}", f"{total:,}"

    def summary(self) -> Text:
        problem = (self._last.problem if self._last is not None else "") or self._plan_problem
        if problem:
            return Text("! " + safe_text.line(problem), "red", no_wrap=True, overflow="ellipsis")
        if self._last is None:
            return Text(READING, "dim")
        text = Text(no_wrap=True, overflow="ellipsis")
        others = len(inbox_row.filtered(self._elsewhere, self.typed) if self.typed else self._elsewhere)
        elsewhere = f"{others} in other projects" if others else ""
        count = "Nothing to decide" if self.numbers()[1] == "0" else self.counted()
        count += f" ({elsewhere})" if elsewhere and self.of_all_projects else ""
        text.append(count, style="bold")
        text.append(", still looking for more" if self.planning and not self.planned else "")
        if elsewhere and not self.of_all_projects:
            text.append(f" · {elsewhere} ({keymap.key_of('list.project')})", style="dim")
        return text

    def describe(self, row: Decision) -> Described:
        self.view.detail_width = self.frame.detail_width
        self.view.needed = WHOLE  # unless the family of the row knows better
        return self.families[row.kind.family].describe(row)._replace(title=row.heading)

    def marked_words(self) -> str:
        return self.chosen.count()

    def footer_actions(self) -> list[keymap.Action]:
        leader = self.chosen.leader
        if leader is None:
            return [keymap.on_screen("inbox", verb) for verb in (ON_LIST if self.all_rows else ("project",))]
        verbs = [verb for verb in VERBS if verb in leader.kind.verbs and (verb, leader.sign) != ("approve", BLOCKED)]
        if all(row.is_taken for row in self.chosen.same_kind()):  # such drafts can't be approved, but merged
            verbs = ["merge", *(verb for verb in verbs if verb not in {"merge", "approve"})]
        own = [replace(keymap.get(f"inbox.{verb}"), footer=leader.kind.verbs[verb]) for verb in verbs]
        return [*own, *(keymap.on_screen("inbox", verb) for verb in ON_LIST)]

    @property
    def detail_seen(self) -> bool:
        """Whether the row under the cursor is on the screen to its end, as far as it is to be looked at."""
        pane = self.detail if super().detail_seen else self.glance
        shown = pane.content_region
        notes_from = [rack.region.y for rack in self.query("ToastRack") if rack.region.height]
        lines_seen = min([shown.bottom, *notes_from]) - shown.y if pane.display else 0
        return lines_seen > 0 and min(self.view.needed, len(pane.lines)) <= pane.scroll_y + lines_seen

    def copied(self) -> str:
        row = self.table.row
        return "" if row is None else self.families[row.kind.family].copied(row)

    async def _read_past_sessions(self) -> None:
        from memtui.tui.dialogs import first_start

        await first_start.read_past_sessions(self.services)

    def plan(self) -> None:
        """Begin to plan changes in a worker; what was planned before stays in the list until then."""
        self.planning, self._plan_problem = True, ""
        self._plan()

    @work(thread=True, exclusive=True, group="plan")
    def _plan(self) -> None:
        """Plan, then weigh each change. A worker that is cancelled shows nothing more."""
        worker, data = get_current_worker(), self.services.data
        plan, problem = None, ""
        try:
            plan = proposals.plan(data, lambda: not worker.is_cancelled)
        except (MemtuiError, OSError) as error:
            failure = error if isinstance(error, MemtuiError) else file_error(error)
            problem = f"{failure.message} {failure.hint}".strip()
        if not worker.is_cancelled:
            self.call_later(self._show_plan, plan, problem)
        for weighed in proposals.weigh(data, plan) if plan is not None else ():
            if worker.is_cancelled:
                return
            self.call_later(self._show_weighed, weighed)
        if not worker.is_cancelled:
            self.call_later(setattr, self, "planning", False)

    def _show_plan(self, plan: InboxPlan | None, problem: str) -> None:
        self._plan_problem = problem
        if plan is not None:
            self._changes.take(plan)
            self.planned = True
        else:
            self.planning = False
        self._arrange()

    def _show_weighed(self, weighed: Sequence[Weighed]) -> None:
        self._changes.weigh(weighed)
        self.table.redraw()
        self._arrange()

    @work(thread=True, exclusive=True, group="changes")
    def _look_for_changes(self) -> None:
        back, outdated = self._changes.look(self.services.data)
        if not get_current_worker().is_cancelled:
            self.call_later(self._show_changes, back, outdated)

    def _show_changes(self, back: set[str], outdated: bool) -> None:
        """Show the changes that an undo brought back; then plan again, unless a decision follows."""
        if back:
            self._changes.decided -= back
            self._arrange()
        if outdated and self._settle_timer is None:
            self.plan()

    def _take_off(self, rows: Sequence[Decision]) -> None:
        """Take rows off the list that were decided on."""
        self.wanted = None  # the cursor goes on from here, whatever is planned
        self._gone |= {row.key for row in rows}
        changes = {row.proposal.id for row in rows if isinstance(row, ProposedRow)}
        if changes := changes | {row.key for row in rows if isinstance(row, ProblemRow)}:
            self._changes.decided |= changes
            self._settle_soon()
        self._arrange()

    def rows_here(self) -> Sequence[Decision]:
        return [row for row in self.all_rows if row.until is None]

    def markable(self) -> Sequence[Decision]:
        return self.chosen.markable()

    def mark_all(self) -> None:
        super().mark_all()
        row = self.table.row
        alike = [other for other in self.table.rows if row is not None and other.kind is row.kind]
        if (others := len(alike) - len(self.acted_on())) > 0 and self.table.marks:
            self.services.say(f"{len(self.acted_on())} marked; {others} to be looked at by itself.")

    def acted_on(self) -> Sequence[Decision]:
        return self.chosen.same_kind()

    def fold_word(self) -> str:
        row = self.table.row
        return ("fold" if row.is_open else "unfold") if isinstance(row, FoldRow) else ""

    def fold_of(self, row: Decision) -> str:
        return row.key if isinstance(row, FoldRow) else self._folds.get(row.key, "")

    def _draw(self, row: Decision) -> list[Text]:
        kind, what, *more = inbox_row.cells(row, self.view)
        return [kind, Text("  ").append_text(what) if row.key in self._folds else what, *more]
