"""The base class of screens: a list, a filter line, a detail. `reload` sets `all_rows` and calls `fill`."""

from collections.abc import Callable, Collection, Sequence
from typing import ClassVar, Generic, TypeVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.timer import Timer
from textual.widgets import Input

from memtui import keymap
from memtui.tui.files import COMMAND
from memtui.tui.safety_net import composed
from memtui.tui.screens.frame import BESIDE, CORNERS, STACKED, Described, Frame
from memtui.tui.services import Command, HowFar, Services, bindings
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.lines import Field, OneLine, fitting
from memtui.tui.widgets.rows import ReturnedRows, RowList
from memtui.views import query, safe_text

Row = TypeVar("Row")
POLL_SECONDS = 0.02


class ListScreen(Screen[None], Generic[Row]):
    """A screen with a list, as the module describes. `all_rows`: the rows that were read; `typed`: its filter."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings(keymap.LIST)]
    HORIZONTAL_BREAKPOINTS = [(0, "narrow"), (STACKED, "stacked"), (BESIDE, "wide")]  # noqa: RUF012  textual's
    group: ClassVar[str] = ""
    # The parts of the files that the screen shows, as `Watch` names them.
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "inbox", "log", "memories", "rules"})
    typing_seconds = 0.0  # how long the typing of a filter rests before it is searched
    glance_lines = 7  # of the preview below a list, at most
    # A row in messages: "There is no … under the cursor"; one and several rows in the title, after their number.
    row_word: ClassVar[str] = "line"
    nouns: ClassVar[tuple[str, str]] = ("line", "lines")
    legend: str = ""
    terms: ClassVar[Collection[str]] = ()  # of its filter

    def __init__(self, services: Services, table: RowList[Row], *, placeholder: str) -> None:
        super().__init__()
        self.services, self.table = services, table
        self.summary_line, self.middle, self.detail = OneLine(id="summary"), Vertical(id="middle"), Detail(id="detail")
        self.frame, self.glance = Frame(self), Detail(id="glance")
        self.glance.can_focus = False
        self.filter_line = Field(placeholder=placeholder, id="filter")
        self.filter_line.sign = "/ "
        self.all_rows: Sequence[Row] = ()
        self.typed = ""
        self.rows_before: dict[str, str] = {}  # the ids of the rows that the cursor goes back to, by what it left for
        self.unfolded: set[str] = set()  # the ids of the open folds
        self.wanted: Callable[[Sequence[Row]], int | None] | None = None
        self.returned = ReturnedRows(table.key)
        self.commands = self._list_commands()
        self.then: Callable[[], object] | None = None  # is called once the screen, as it is opened, shows its files
        self._typing_timer: Timer | None = None
        self._described: Row | None = None  # the row that the detail shows
        self._nothing, self._resumes = table.empty, False

    def body(self) -> ComposeResult:
        yield self.summary_line
        with Horizontal(id="panes"):
            with self.middle:
                yield self.table
                yield self.filter_line
                yield self.glance
            yield self.detail

    @property
    def of_all_projects(self) -> bool:
        """Whether the list has what all projects have, which the top line says in place of this project."""
        return self.services.all_projects

    def toggle_projects(self) -> None:
        self.services.all_projects = not self.services.all_projects
        self.reload()
        self.services.read()  # counts what waits in the Inbox, too
        self.frame.draw()

    def on_mount(self) -> None:
        # Within the key press, not by a message after it: the letter and the list are painted at once then.
        self.watch(self.filter_line, "value", self.filter_typed, init=False)
        self.begin()

    def begin(self) -> None:
        self.table.focus()
        self.reload()

    def on_screen_resume(self) -> None:
        self.frame.draw()
        # Paint first: reading takes time from painting. At the start Textual resumes a screen twice.
        if not self._resumes:
            self._resumes = True
            self.call_after_refresh(self._reload_if_open)

    def _reload_if_open(self) -> None:
        self._resumes = False
        # Between the paint and this call the screen may have been closed.
        if self.is_running and self.frame.foot.is_attached:
            if self.services.files.has_read:
                self.reload()
            else:
                self.services.read()
            then, self.then = self.then, None
            if then is not None:
                self._run_when_read(then)

    def _run_when_read(self, then: Callable[[], object]) -> None:
        running = {worker.group for worker in self.workers if worker.node is self and not worker.is_finished}
        if running - {COMMAND, "plan"}:
            self.set_timer(POLL_SECONDS, lambda: self._run_when_read(then))
        elif self.is_current:
            self.call_later(then)  # after the messages that the workers posted

    def reload(self) -> object:
        return self.call_later(self.fill)

    def follow(self, parts: frozenset[str] | None) -> None:
        """Reload after these parts of the files have changed, as `Watch` names them; None for all."""
        if parts is None or parts & self.reads:
            self.reload()

    def refresh_ages(self) -> None:
        for table in self.query(RowList):
            table.redraw()
        self.show_detail()

    def fill(self) -> None:
        rows = self.select()
        self.returned.note(self.all_rows, self.rows_here)
        self.table.empty = "" if rows else self.why_empty()
        at = self.wanted(rows) if self.wanted else self.returned.find(rows, self.services.undone_at)
        self.table.show(rows, at)
        if at is not None:
            self.wanted = None
        self.table.keep_marks(self.all_rows)
        self.show_marks()
        self.show_detail()

    def rows_here(self) -> Sequence[Row]:
        """Return the rows that are not hidden, which an undo may bring back."""
        return self.all_rows

    def summarize(self) -> None:
        summary, marked = self.summary(), f" · {len(self.table.marks):,} marked" if self.table.marks else ""
        above, title = self.summary_line.content_size.width or self.size.width, self.middle.outer_size.width - CORNERS
        self.summary_line.put(fitting(summary, above - len(marked)).copy().append(marked, "bold"))
        self.frame.entitle(self.middle, fitting(summary, title - len(marked)).copy().append(marked, "bold"))
        self.frame.draw()

    def select(self) -> Sequence[Row]:
        return self.all_rows

    @property
    def is_filtered(self) -> bool:
        return bool(self.typed.strip())

    def why_empty(self) -> str:
        """Return the text of an empty list: that the filter hides everything, or how rows get there."""
        return f"{self.why_no_matches()}\nescape clears the filter." if self.is_filtered else self._nothing

    def why_no_matches(self) -> str:
        wrong = safe_text.line(query.unknown_term(self.typed, self.terms), 200)
        return wrong or f"No matches for “{safe_text.line(self.typed, 60)}”."

    def summary(self) -> Text:
        """Return the main facts of the screen: the title of the list, on a narrow screen the line above."""
        return Text(self.counted())

    def counted(self) -> str:
        """Return how many rows there are, and how many pass the filter: `5 of 13 memories`."""
        count, total = self.numbers()
        return f"{count} of " * self.is_filtered + f"{total} {self.nouns[total != '1']}"

    def numbers(self) -> tuple[str, str]:
        return f"{len(self.table.rows):,}", f"{len(self.all_rows):,}"

    def describe(self, _row: Row) -> Described:
        return Described(Text())

    @property
    def sought(self) -> str:
        """The words that the detail highlights, and scrolls to; by default those of the filter."""
        return self.typed

    @on(RowList.Moved, "#list")
    def _moved(self) -> None:
        if self.table.row is None or self.table.row is not self._described:
            self.show_detail()

    def show_detail(self) -> None:
        row = self._described = self.table.row
        self.frame.show(Described(Text()) if row is None else self.describe(row), self.table.row_id, self.sought)
        self.frame.share_room()  # here, because every screen comes here after its rows have changed
        self.frame.draw()

    def key_words(self) -> list[tuple[str, str]]:
        """Return the keys that the bottom bar begins with, and what each does now."""
        if self.detail_covers_list or self.detail.has_focus:
            others = (keymap.keyed("{list.next} {list.previous}"), "next, previous")
            return [("escape", "back"), *[others] * (self.size.width >= STACKED)]
        clear = [("escape", "clear")] if self.is_filtered else []
        if marked := self.marked_words():
            return [*clear, (marked, "marked:")]
        word = self.fold_word() or ("read" if self.table.has_focus and self.table.row is not None else "")
        return clear + ([("enter", word)] if word else [])

    def fold_of(self, _row: Row) -> str:
        """Return the id of the fold that a row heads or is in; empty for none."""
        return ""

    def fold_word(self) -> str:
        """Return `fold` or `unfold` if enter does that to the row under the cursor, instead of opening it."""
        return ""

    def fold(self, fold: str, *, unfold: bool) -> None:
        """Open or close a fold. The cursor comes to its head, and the rows in it onto the screen."""
        self.unfolded = self.unfolded | {fold} if unfold else self.unfolded - {fold}
        self.fill()
        places = [at for at, row in enumerate(self.table.rows) if self.fold_of(row) == fold]
        if places:
            self.table.move_to(places[0], len(places))

    def go_left(self) -> None:
        row = self.table.row
        if not self.leave_detail() and row is not None and (fold := self.fold_of(row)):
            self.fold(fold, unfold=False)

    def go_right(self) -> None:
        row = self.table.row
        if row is not None and self.fold_word() == "unfold":
            self.fold(self.fold_of(row), unfold=True)
        else:
            self.open_detail()

    def on_resize(self) -> None:
        self.call_after_refresh(self.summarize)
        self.call_after_refresh(self.show_detail)

    @property
    def detail_covers_list(self) -> bool:
        return self.has_class("deep")

    @property
    def detail_seen(self) -> bool:
        return not self.has_class("narrow") or self.has_class("deep")

    def copied(self) -> str:
        return self.detail.plain

    def compose(self) -> ComposeResult:
        yield self.frame.top
        yield from composed(self, self.body)
        yield self.frame.foot

    def status_words(self) -> str:
        return keymap.keyed("a range has begun: {list.range} ends it here") if self.table.in_range else ""

    def on_how_far(self, message: HowFar) -> None:
        self.frame.tell(message.words)

    def frame_top(self) -> None:
        self.frame.draw_top()

    def typing_keys(self) -> Sequence[tuple[str, str]]:
        return (("enter", "to the list"), ("escape", "clear, back"))

    def footer_actions(self) -> list[keymap.Action]:
        """Return the actions of this screen for the bottom bar, the most useful first; they may depend on the row."""
        own = (*keymap.of(self.group), *keymap.of(keymap.LIST))
        return [action for action in own if action.footer and action.id in self.commands]

    def on_descendant_focus(self) -> None:
        self.frame.share_room()
        self.call_after_refresh(self.summarize)  # once it is known whether the detail covers the list

    def _list_commands(self) -> dict[str, Command]:
        commands = {
            "filter": Command(self.open_filter, title="list: filter", help=f"Filter: {self.filter_line.placeholder}"),
            "mark": Command(self.mark, self.why_no_mark),
            "mark_all": Command(self.mark_all, self.no_row),
            "range": Command(self.mark_range, self.no_row),
            "left": Command(self.go_left),
            "right": Command(self.go_right, self.no_row),
            "next": Command(lambda: self.table.action_move(1), self.no_row),
            "previous": Command(lambda: self.table.action_move(-1), self.no_row),
        }
        return {f"{keymap.LIST}.{verb}": command for verb, command in commands.items()}

    def no_row(self) -> str:
        return "" if self.table.row is not None else f"There is no {self.row_word} under the cursor."

    def marked_words(self) -> str:
        return str(len(self.acted_on())) if self.table.marks else ""

    def acted_on(self) -> Sequence[Row]:
        return self.table.chosen()

    def one_by_one(self) -> str:
        marked = len(self.acted_on())
        return f"{marked} are marked, but this works on one: escape unmarks." if marked > 1 else ""

    @on(RowList.Opened, "#list")
    def open(self) -> None:
        self.rows_before.clear()
        row = self.table.row
        if row is not None and (word := self.fold_word()):
            self.fold(self.fold_of(row), unfold=word == "unfold")
        else:
            self.open_detail()

    def open_detail(self) -> None:
        self.add_class("deep")
        self.detail.focus()

    def mark(self) -> None:
        self.table.toggle_mark()
        self.show_marks()

    def markable(self) -> Sequence[Row]:
        return [row for row in self.table.rows if self.table.can_mark(row)]

    def why_no_mark(self) -> str:
        row = self.table.row
        return self.no_row() or ("" if row is None or self.table.can_mark(row) else "This row can't be marked.")

    def mark_all(self) -> None:
        self.table.mark_all(self.markable())
        self.show_marks()

    def mark_range(self) -> None:
        self.table.mark_range()
        self.show_marks()

    def show_marks(self) -> None:
        self.frame.show_status()
        self.summarize()

    def toggle_term(self, term: str) -> None:
        """Put a term such as `is:problem` into the filter, or take it out."""
        self.show_query(query.toggled(self.typed, term))

    def show_query(self, text: str) -> None:
        if text:
            self.note_row("filter", begins=not self.typed)
        else:
            self.go_back_to(self.rows_before.pop("filter", ""))
        self.seek(text)
        if not text and self.table.rows:
            self.wanted = None
        self.filter_line.value = self.typed
        self.filter_line.set_class(bool(text), "shown")

    def seek(self, text: str) -> None:
        self.typed = text
        self.fill()

    def open_filter(self) -> None:
        self.remove_class("deep")
        self.note_row("filter", begins=not self.typed)
        self.filter_line.add_class("shown")
        self.frame.share_room()
        self.filter_line.focus()

    def filter_typed(self, text: str) -> None:
        """Search for what is typed, once no key has followed for `typing_seconds`."""
        if self._typing_timer is not None:
            self._typing_timer.stop()
        if text != self.typed and self.typing_seconds:
            self._typing_timer = self.set_timer(self.typing_seconds, lambda: self.seek(text))
        elif text != self.typed:
            self.seek(text)

    @on(Input.Submitted, "#filter")
    def filter_submitted(self, event: Input.Submitted) -> None:
        if event.value != self.typed:
            self.seek(event.value)
        if self.table.rows:  # the person goes on with what matches
            self.rows_before.pop("filter", "")
        self.filter_line.set_class(bool(self.typed), "shown")
        self.table.focus()

    def on_key(self, event: events.Key) -> None:
        if event.key in {"up", "down"} and self.filter_line.has_focus:
            self.table.action_move(1 if event.key == "down" else -1)
            event.stop()

    def key_escape(self, event: events.Key) -> None:
        """Go one step back: from the detail to the list, to no marks, to no filter."""
        event.stop()  # a dialog that this opens again would take the same key as its own
        if not any(step() for step in self.escape_steps()):
            self.table.focus()
        self.show_marks()

    def escape_steps(self) -> Sequence[Callable[[], bool]]:
        """Return the steps that escape tries in this order, until one returns that it had something to take back."""
        return (self.leave_detail, self.table.clear_marks, self.clear_filter)

    def leave_detail(self) -> bool:
        if not (self.detail.has_focus or self.detail_covers_list):
            return False
        self.remove_class("deep")
        self.table.focus()
        return True

    def clear_filter(self) -> bool:
        if not (self.typed or self.filter_line.has_class("shown")):
            return False
        self.show_query("")
        self.table.focus()
        return True

    def note_row(self, way: str, *, begins: bool) -> None:
        """Note the row that the cursor goes back to from a filter or the like, which `begins` or goes on."""
        if begins or way not in self.rows_before:
            self.rows_before[way] = self.table.row_id

    def go_back_to(self, row_id: str) -> None:
        """Put the cursor on this row, if it is there, as soon as the list is shown again."""
        self.wanted = (lambda rows: self.table.index_of(row_id, rows)) if row_id else None
