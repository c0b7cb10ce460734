"""The base class of every screen: a list with a filter line below it, and a detail of the row under the cursor beside
it, below it, or over it, as the screen has room.

A screen is one class such as `class Inbox(ListScreen[Row])`. It adds to `commands`, by action id (what every list can
do is there already), starts a worker in `reload` that posts messages, sets `found` and calls `fill`. That shows the
rows of `select`, with `describe` for the detail, `summary` on top and `why_empty` for an empty list. What a filter lets
through and what is marked is said here, the same on all screens; a screen has only the noun for its rows.
"""

import os
from collections.abc import Callable, Sequence
from typing import ClassVar, Generic, NamedTuple, TypeVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Region
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from memtui import actions
from memtui.present import query, safe_text
from memtui.tui import key_bindings
from memtui.tui.files import COMMAND
from memtui.tui.model import fuzzy
from memtui.tui.model.remembered import State
from memtui.tui.safety_net import composed
from memtui.tui.services import Command, HowFar, News, Services
from memtui.tui.widgets.bars import FootBar, TopBar
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.field import Field
from memtui.tui.widgets.glance import Glance
from memtui.tui.widgets.line import OneLine, fitting
from memtui.tui.widgets.rows import RowList

Row = TypeVar("Row")
# The cells from which the detail has a pane below the list, and from which it has one beside it.
STACKED, BESIDE = 100, 140
# Of the lines of both panes: the most that the list above the detail has, in percent, the least, and those around its
# rows: its border, its head and the line of the filter.
LIST_PERCENT, LEAST_LIST, AROUND_ROWS = 60, 8, 4
POLL_SECONDS = 0.02
# Cells of a border that its title can't have.
CORNERS = 6
# The most of the list's room that the preview takes from it, and the rows that the list keeps in any case.
LEAST_ROWS = 3
GLANCE_PERCENT = 40
READ_REST = "enter reads the rest"


class Described(NamedTuple):
    """What the detail pane shows of a row (`text`, with `title` in its border), and the preview below a list without a
    pane: as much of `glance` (None: of `text`) as there is room for, then all of `tail`."""

    text: Text
    glance: Text | None = None
    tail: Text | None = None
    title: str = ""


class ListScreen(Screen[None], Generic[Row]):
    """A screen with a list, as the module describes. `found`: the rows that were read; `typed`: the text of the
    filter."""

    BINDINGS: ClassVar[list[BindingType]] = [*key_bindings.bindings(actions.LIST)]
    HORIZONTAL_BREAKPOINTS = [(0, "narrow"), (STACKED, "stacked"), (BESIDE, "wide")]  # noqa: RUF012  textual's
    group: ClassVar[str] = ""
    # The parts of the files that the screen shows, as `Watch` names them.
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "inbox", "log", "memories"})
    # The width of the detail pane beside the list.
    detail_percent: ClassVar[int] = 40
    # The most lines of the preview below a list that needs the others.
    glance_lines = 7
    # A row in messages: "There is no … under the cursor"; one and several rows in the title, after their number.
    row_word: ClassVar[str] = "line"
    nouns: ClassVar[tuple[str, str]] = ("line", "lines")
    legend: str = ""
    nothing_chosen: ClassVar[str] = "Nothing is selected."

    def __init__(
        self, services: Services, table: RowList[Row], searched: Callable[[Row], str], *, placeholder: str
    ) -> None:
        super().__init__()
        self.services, self.table, self.searched = services, table, searched
        self.top, self.foot = TopBar(id="top"), FootBar(id="foot")
        self.summary_line, self.middle, self.detail = OneLine(id="summary"), Vertical(id="middle"), Detail(id="detail")
        self.glance = Glance(id="glance")
        self.filter_line = Field(placeholder=placeholder, id="filter")
        self.found: Sequence[Row] = ()
        self.typed = self.status = ""
        self._is_framing = False
        self._unfiltered = ""  # the id of the row under the cursor before the filter
        self.unfolded: set[str] = set()  # the ids of the open folds
        self.wanted: Callable[[Sequence[Row]], int | None] | None = None
        self.commands = self._list_commands()
        self._nothing = table.empty
        self._then: Callable[[], object] | None = None
        self._titles: dict[Widget, Text] = {}
        self._described: Row | None = None  # the row that the detail shows
        self._lines_for_rows = 0  # how many the list above the detail has

    # layout

    def body(self) -> ComposeResult:
        yield self.summary_line
        with Horizontal(id="panes"):
            with self.middle:
                yield self.table
                yield self.glance
                yield self.filter_line
                yield from self.below_list()
            yield self.detail

    @property
    def of_all_projects(self) -> bool:
        """Whether the list has what all projects have, which the top bar says in place of this project."""
        return self.services.all_projects

    def toggle_projects(self) -> None:
        """Choose all projects or this one, for all places."""
        self.services.all_projects = not self.services.all_projects
        self.reload()
        self.frame()

    def below_list(self) -> ComposeResult:
        """Yield what stands below the list and its preview; nothing by default."""
        yield from ()

    def on_mount(self) -> None:
        self.begin()

    def begin(self) -> None:
        self.table.focus()
        self.reload()

    def on_screen_resume(self) -> None:
        self.frame()
        # Paint first: reading takes time from painting.
        self.call_after_refresh(self._reload_if_open)

    def _reload_if_open(self) -> None:
        # Between the paint and this call the screen may have been closed.
        if self.is_running and self.foot.is_attached:
            if self.services.files.has_read:
                self.reload()
            else:
                self.services.read()
            then, self._then = self._then, None
            if then is not None:
                self._run_when_read(then)

    def when_read(self, then: Callable[[], object]) -> None:
        """Call `then` once this screen, which is being opened, shows its files; not if it is closed by then."""
        self._then = then

    def _run_when_read(self, then: Callable[[], object]) -> None:
        if any(
            each.node is self and each.group not in {COMMAND, "plan"} and not each.is_finished for each in self.workers
        ):
            self.set_timer(POLL_SECONDS, lambda: self._run_when_read(then))
        elif self.is_current:
            self.call_later(then)  # after the messages that the workers posted

    # reading

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

    def files_on_screen(self) -> list[str]:
        """Return the files of the rows on the screen: they are checked for changes more often than others."""
        return []

    # showing

    def fill(self) -> None:
        shown = self.select()
        self.table.empty = "" if shown else self.why_empty()
        at = self.wanted(shown) if self.wanted is not None else None
        self.table.show(shown, at)
        if at is not None:
            self.wanted = None
        self.table.keep_marks(self.found)
        self.show_status()
        self.summarize()
        self.show_detail()

    def summarize(self) -> None:
        summary = self.summary()
        self.summary_line.put(fitting(summary, self.summary_line.content_size.width or self.size.width))
        self.entitle(self.middle, summary)

    def entitle(self, pane: Widget, title: Text) -> None:
        """Show a text in the border of a pane, as many of its facts as there is room for."""
        room = max(1, pane.outer_size.width - CORNERS)
        shown = fitting(title, room)
        shown.truncate(room, overflow="ellipsis")
        if self._titles.get(pane) != shown:
            self._titles[pane] = shown
            pane._border_title = Content.from_rich_text(shown)  # noqa: SLF001  the property paints all of the pane again
            pane.refresh(Region(*-pane.content_offset, pane.outer_size.width, 1))

    def select(self) -> Sequence[Row]:
        return fuzzy.Haystack(self.found, self.searched).select(self.typed)

    def share_room(self) -> None:
        """Give what stands below the list its part of the room: the preview, or the detail."""
        self._share_panes()
        if self.glance.display and self.middle.size.height:
            others = [each for each in self.middle.children if each.display and each not in {self.table, self.glance}]
            room = self.middle.size.height - sum(each.size.height or 1 for each in others)
            # A message takes its lines from the preview, which can be scrolled.
            self.table.styles.min_height = self.table.header + min(len(self.table.rows), LEAST_ROWS)
            free = room - self.table.header - len(self.table.rows) if self.table.rows else 0
            share = min(self.glance_lines, room * GLANCE_PERCENT // 100, max(LEAST_ROWS, self.glance.needed))
            self.glance.styles.height = max(free if free >= LEAST_ROWS else 0, share)

    def _share_panes(self) -> None:
        """Give the detail below the list the lines that the rows leave free. It stays where it is while rows come off
        one by one, and while the filter hides some."""
        needed, panes = self.table.needed, self.middle.parent
        if needed > self._lines_for_rows or (not self.is_filtered and needed <= self._lines_for_rows // 2):
            self._lines_for_rows = needed
        if self.has_class("stacked") and isinstance(panes, Widget) and panes.size.height:
            most = panes.size.height * LIST_PERCENT // 100
            panes.styles.grid_rows = f"{max(LEAST_LIST, min(most, self._lines_for_rows + AROUND_ROWS))} 1fr"

    @property
    def is_filtered(self) -> bool:
        return bool(self.typed.strip())

    def why_empty(self) -> str:
        """Return the text of an empty list: that the filter hides everything, or how rows get there."""
        if self.is_filtered:
            return f"{self.why_no_matches()}\nescape clears the filter."
        return self._nothing

    def why_no_matches(self) -> str:
        """Return that nothing matches, or what is wrong with the query."""
        return f"No matches for “{safe_text.line(self.typed, 60)}”."

    def summary(self) -> Text:
        """Return the most important facts of the screen: the title of the list, on a narrow screen the line above."""
        return Text(self.counted())

    def counted(self) -> str:
        """Return how many rows there are, pass the filter, and are marked: `5 of 13 memories · 2 marked`."""
        listed, total = self.numbers()
        noun = self.nouns[total != "1"]
        return (f"{listed} of {total} {noun}" if self.is_filtered else f"{total} {noun}") + self.marked()

    def marked(self) -> str:
        """Return how many rows are marked, for the end of a count."""
        return f" · {len(self.table.marks):,} marked" if self.table.marks else ""

    def numbers(self) -> tuple[str, str]:
        """Return how many rows pass the filter, and how many there are."""
        return f"{len(self.table.rows):,}", f"{len(self.found):,}"

    def describe(self, row: Row) -> Described:
        """Return what the detail shows of a row; by default the text that the filter searches."""
        return Described(Text(safe_text.clean(self.searched(row))))

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
        if row is None:
            self.detail.show("", Text(self.nothing_chosen, style="dim"))
            self.glance.show(Text())
            self.entitle(self.detail, Text())
        else:
            text, glance, tail, title = self.describe(row)
            self.entitle(self.detail, Text(title))
            self.detail.show(self.table.row_id, text, self.sought)
            if self.glance.display:
                hint = "" if self.fold_word() else READ_REST
                self.glance.show(text.copy() if glance is None else glance, tail, self.sought, hint)
        self.share_room()  # here, because every screen comes here after its rows have changed
        self.frame()

    def key_words(self) -> list[tuple[str, str]]:
        """Return what escape and enter do now, for the beginning of the bottom bar, where that is not on the screen."""
        if self.detail_covers_list:
            return [("escape", "back")]
        clear = [("escape", "clear")] if self.is_filtered else []
        reads = "read" if not self.detail_seen and self.table.row is not None else ""
        word = self.fold_word() or reads
        return clear + ([("enter", word)] if word else [])

    # folds

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
            self.table.move_to(places[0])
            lines = min(len(places) + self.table.header, self.table.size.height)
            shown = Region(0, places[0], 1, lines)
            self.table.scroll_to_region(shown, animate=False, force=True, immediate=True)

    def go_left(self) -> None:
        """Leave the detail, or close the fold that the row under the cursor heads or is in."""
        row = self.table.row
        if not self.leave_detail() and row is not None and (fold := self.fold_of(row)):
            self.fold(fold, unfold=False)

    def go_right(self) -> None:
        """Open the fold under the cursor, or read the row."""
        row = self.table.row
        if row is not None and self.fold_word() == "unfold":
            self.fold(self.fold_of(row), unfold=True)
        else:
            self.open_detail()

    def can_run(self, action: actions.Action) -> bool:
        """Return whether an action works now: one of the list only while the list is seen."""
        if (action.listed and self.detail_covers_list) or (action.writes and self.services.read_only):
            return False
        command = self.commands.get(action.id)
        return command is None or not command.why_not()

    def on_resize(self) -> None:
        """Draw the bars and the detail for the new width."""
        self.call_after_refresh(self.frame)
        self.call_after_refresh(self.summarize)
        self.call_after_refresh(self.show_detail)

    @property
    def detail_covers_list(self) -> bool:
        return self.has_class("whole") or (self.has_class("narrow") and self.has_class("deep"))

    @property
    def detail_seen(self) -> bool:
        return not self.has_class("narrow") or self.has_class("deep")

    @property
    def detail_width(self) -> int:
        """The width of the detail in cells, also while it is hidden."""
        width = self.size.width
        return (width * self.detail_percent // 100 if width >= BESIDE else width) - 4

    def copied(self) -> str:
        return self.detail.plain

    # bars, and state from one start to the next

    def compose(self) -> ComposeResult:
        yield self.top
        yield from composed(self, self.body)
        yield self.foot

    def tell(self, status: str) -> None:
        if status != self.status:
            self.status = status
            self.frame()

    def show_status(self) -> None:
        """Show `status_words` there, unless many changes are being made: then their progress stays."""
        if not self.services.at_work:
            self.tell(self.status_words())

    def status_words(self) -> str:
        """Return what there is to say beside the keys, such as that files are still being read."""
        return ""

    def on_news(self, message: News) -> None:
        message.show()

    def on_how_far(self, message: HowFar) -> None:
        self.tell(message.words)

    def frame(self) -> None:
        """Draw the bars, once for all that is done meanwhile."""
        if not self._is_framing:
            self._is_framing = True
            self.call_next(self._draw_bars)

    def frame_top(self) -> None:
        if self.is_mounted and self.foot.is_attached:  # a closing screen has no bars any more
            self.top.show(self.group, self.services, of_all_projects=self.of_all_projects)

    def _draw_bars(self) -> None:
        self._is_framing = False
        if not (self.is_mounted and self.foot.is_attached):
            return
        self.frame_top()
        if isinstance(self.focused, Input):
            self.foot.show(None, self.status, self.services, self.typing_keys())
        else:
            usable = [action for action in self.footer_actions() if self.can_run(action)]
            self.foot.show(usable, self.status, self.services, self.key_words())

    def typing_keys(self) -> Sequence[tuple[str, str]]:
        """Return the keys that work in the line in which a person types, and what each does."""
        return (("enter", "to the list"), ("escape", "clear, back"))

    def footer_actions(self) -> list[actions.Action]:
        """Return the actions of this screen for the bottom bar, the most useful first; they may depend on the row."""
        own = (*actions.of(self.group), *actions.of(actions.LIST))
        return [action for action in own if action.footer and action.id in self.commands]

    @property
    def left(self) -> dict[str, object]:
        return State(self.services.data.root).get(self.group)

    def keep(self, **state: object) -> None:
        if os.path.isdir(self.services.data.root):
            State(self.services.data.root, read_only=self.services.read_only).put(self.group, state)

    def on_descendant_focus(self) -> None:
        self.frame()

    # commands

    def _list_commands(self) -> dict[str, Command]:
        commands = {
            "filter": Command(self.open_filter),
            "mark": Command(self.mark, self.no_row),
            "mark_all": Command(self.mark_all, self.no_row),
            "range": Command(self.mark_range, self.no_row),
            "open": Command(self.open_whole, self.no_row),
            "left": Command(self.go_left),
            "right": Command(self.go_right, self.no_row),
            "next": Command(lambda: self.table.action_move(1), self.no_row),
            "previous": Command(lambda: self.table.action_move(-1), self.no_row),
        }
        return {f"{actions.LIST}.{verb}": command for verb, command in commands.items()}

    def no_row(self) -> str:
        return "" if self.table.row is not None else f"There is no {self.row_word} under the cursor."

    def one_by_one(self) -> str:
        marked = len(self.table.chosen())
        return f"{marked} are marked, but this works on one: escape unmarks." if marked > 1 else ""

    @on(RowList.Opened, "#list")
    def _opened(self) -> None:
        self.open()

    def open(self) -> None:
        row = self.table.row
        if row is not None and (word := self.fold_word()):
            self.fold(self.fold_of(row), unfold=word == "unfold")
        else:
            self.open_detail()

    def open_detail(self) -> None:
        self.add_class("deep")
        self.detail.focus()

    def open_whole(self) -> None:
        self.add_class("whole")
        self.open_detail()

    def mark(self) -> None:
        self.table.toggle_mark()
        self.summarize()

    def markable(self) -> Sequence[Row]:
        """Return the rows that `mark_all` marks."""
        return self.table.rows

    def mark_all(self) -> None:
        self.table.mark_all(self.markable())
        self.summarize()
        self.frame()

    def mark_range(self) -> None:
        self.table.mark_range()
        self.summarize()
        self.frame()
        if self.table.in_range:
            self.tell(actions.keyed("a range begins here: {list.range} again at its end"))
        else:
            self.show_status()

    # the filter

    def toggle_term(self, term: str) -> None:
        """Put a term such as `is:problem` into the filter, or take it out."""
        self.show_query(query.toggled(self.typed, term))

    def show_query(self, text: str) -> None:
        self.typed = self.filter_line.value = text
        self.filter_line.set_class(bool(text), "shown")
        self.table.redraw()
        self.fill()

    def open_filter(self) -> None:
        self.remove_class("deep", "whole")
        if not self.typed:
            self._unfiltered = self.table.row_id
        self.filter_line.add_class("shown")
        self.share_room()
        self.filter_line.focus()

    @on(Input.Changed, "#filter")
    def filter_typed(self, event: Input.Changed) -> None:
        if event.value != self.typed:
            self.typed = event.value
            self.table.redraw()
            self.fill()

    @on(Input.Submitted, "#filter")
    def filter_submitted(self) -> None:
        self.filter_line.set_class(bool(self.typed), "shown")
        self.table.focus()

    def on_key(self, event: events.Key) -> None:
        """Move the cursor of the list with the arrow keys while the filter has the focus."""
        if event.key in {"up", "down"} and self.filter_line.has_focus:
            self.table.action_move(1 if event.key == "down" else -1)
            event.stop()

    # escape

    def key_escape(self, event: events.Key) -> None:
        """Go one step back: from the detail to the list, to no marks, to no filter."""
        event.stop()  # a dialog that this opens again would take the same key as its own
        if not any(step() for step in self.escape_steps()):
            self.table.focus()
        self.show_status()
        self.summarize()
        self.frame()

    def escape_steps(self) -> Sequence[Callable[[], bool]]:
        """Return the steps that escape tries in this order, until one returns that it had something to take back."""
        return (self.leave_detail, self.table.clear_marks, self.clear_filter)

    def leave_detail(self) -> bool:
        """Go back to the list; return False if the detail is not open or focused."""
        if not (self.detail.has_focus or self.detail_covers_list):
            return False
        self.remove_class("deep", "whole")
        self.table.focus()
        return True

    def clear_filter(self) -> bool:
        if not (self.typed or self.filter_line.has_class("shown")):
            return False
        if not self.table.rows:  # nothing was found: back to where the cursor was
            self.wanted = lambda rows: self.table.index_of(self._unfiltered, rows)
        self.filter_line.value = ""
        self.filter_line.remove_class("shown")
        self.table.focus()
        return True
