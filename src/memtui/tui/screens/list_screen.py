"""The frame of every screen: a list, the filter under it, and the thing under the cursor beside it, or over it where
the screen is narrow; where you are on top, what you can press at the bottom.

How a screen is put on it:
- One class, `class Guidance(ListScreen[Row])`. It names its `group`, its bindings, the parts of
  the files that it `reads`, the `share` of its detail, `one` row in a word, and a `legend` for the help.
- `__init__(self, services)` gives to `super().__init__` the services, the `RowList`, and what the filter looks at.
- Its commands are a class of their own, made with `(services, list)`, whose `table()` is `{action id: Command(run,
  why_not)}`: `self.commands |= GuidanceCommands(services, self).table()`. What every list can do (filter, mark, range,
  open, next …) is in the table already, for the actions that the group has; an entry of the screen's own replaces it.
- `reload` starts a worker that posts messages. Their handlers set `found` and call `fill`, which shows what `select`
  lets through, puts the cursor where `wanted` finds its row, and draws count, answer and detail: `describe` a row,
  `answered` on top, `why_empty` for an empty list. Each of these has a default.
- `ladder` is what escape takes back, rung by rung; `body` composes the parts, if otherwise; `keep` and `left` remember
  from one start to the next how the screen was left.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar, Generic, NamedTuple, TypeVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Input

from memtui import actions
from memtui.present import safe_text
from memtui.tui.model import fuzzy
from memtui.tui.model.remembered import State
from memtui.tui.safety_net import composed
from memtui.tui.services import COMMAND, Command, HowFar, Services
from memtui.tui.widgets.bars import FootBar, TopBar
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.field import Field
from memtui.tui.widgets.glance import Glance
from memtui.tui.widgets.line import OneLine
from memtui.tui.widgets.rows import RowList

Row = TypeVar("Row")
NARROW = 100
POLL_SECONDS = 0.02


class Described(NamedTuple):
    """A row as the detail shows it, and as the lines below a list do that has no detail beside it: `glance` (None:
    `text`) as far as there is room, then all of `tail`."""

    text: Text
    glance: Text | None = None
    tail: Text | None = None


class ListScreen(Screen[None], Generic[Row]):
    """See the module. `found` is what was read, `typed` what the filter says, `status` the words right of the keys."""

    DEFAULT_CSS = "ListScreen { layout: vertical; }"
    HORIZONTAL_BREAKPOINTS = [(0, "narrow"), (NARROW, "wide")]  # noqa: RUF012  textual's
    group: ClassVar[str] = ""
    # The parts of the files that it shows, as `Watch` names them.
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "inbox", "log", "memories"})
    # Of a hundred cells, so many are the detail's where it stands beside the list.
    share: ClassVar[int] = 45
    one: ClassVar[str] = "line"
    legend: ClassVar[str] = ""
    nothing_chosen: ClassVar[str] = "Nothing is chosen."

    def __init__(
        self, services: Services, table: RowList[Row], searched: Callable[[Row], str], *, placeholder: str
    ) -> None:
        super().__init__()
        self.services, self.table, self.searched = services, table, searched
        self.top, self.foot = TopBar(id="top"), FootBar(id="foot")
        self.answer, self.glance, self.detail = OneLine(id="answer"), Glance(id="glance"), Detail(id="detail")
        self.filter_line = Field(placeholder=placeholder, id="filter")
        self.found: Sequence[Row] = ()
        self.typed = self.status = ""
        self.wanted: Callable[[Sequence[Row]], int | None] | None = None
        self.commands = self._frame_commands()
        self._nothing = table.empty
        self._then: Callable[[], object] | None = None

    # the parts

    def compose(self) -> ComposeResult:
        """Top line, body, bottom line."""
        yield self.top
        yield from composed(self, self.body)
        yield self.foot

    def body(self) -> ComposeResult:
        """Two panes under the answer; on a narrow screen the list, and the detail over it."""
        yield self.answer
        with Horizontal(id="panes"):
            with Vertical(id="middle"):
                yield self.table
                yield self.glance
                yield self.filter_line
            yield self.detail

    def on_mount(self) -> None:
        """Be there."""
        self.begin()

    def begin(self) -> None:
        """Start in the list."""
        self.table.focus()
        self.reload()

    def on_screen_resume(self) -> None:
        """Show what has changed while another screen was on."""
        self.frame()
        # The picture comes first: reading takes time from painting.
        self.call_after_refresh(self._reload_if_there)

    def _reload_if_there(self) -> None:
        # Between the paint and this call the person may have left.
        if self.is_running and self.foot.is_attached:
            if self.services.has_read:
                self.reload()
            else:
                self.services.read()
            then, self._then = self._then, None
            if then is not None:
                self._run_when_read(then)

    def when_read(self, then: Callable[[], object]) -> None:
        """Do something once the screen, which is coming up, shows its files; not if the person has left it by then."""
        self._then = then

    def _run_when_read(self, then: Callable[[], object]) -> None:
        if any(each.node is self and each.group != COMMAND and not each.is_finished for each in self.workers):
            self.set_timer(POLL_SECONDS, lambda: self._run_when_read(then))
        elif self.is_current:
            self.call_later(then)  # after the messages that the workers posted

    # reading

    def reload(self) -> object:
        """Show the data as it is now: called when files changed, and when the screen comes up."""
        return self.call_later(self.fill)

    def follow(self, parts: frozenset[str] | None) -> None:
        """Some parts of the files changed, as `Watch` names them; None: whatever there is shall be read."""
        if parts is None or parts & self.reads:
            self.reload()

    def aged(self) -> None:
        """Time went on, and what tells an age is drawn anew: also where no file changes, `now` is not now for long."""
        for table in self.query(RowList):
            table.redraw()
        self.show_detail()

    def near(self) -> list[str]:
        """The files behind what is on the screen, which are looked after more often than others."""
        return []

    # showing

    def fill(self) -> None:
        """Put what was read through the filter."""
        shown = self.select()
        self.table.empty = self.why_empty()
        self.table.show(shown)
        if self.wanted is not None and (at := self.wanted(shown)) is not None:
            self.wanted = None
            self.table.move_to(at)
        self.table.keep_marks(self.found)
        self.count()
        self.answer.put(self.answered())
        self.show_detail()

    def select(self) -> Sequence[Row]:
        """What the filter lets through."""
        return fuzzy.select(self.found, self.typed, self.searched)

    def why_empty(self) -> str:
        """What an empty list says: that the filter hides everything, or what will fill it."""
        if self.typed:
            return f"No matches for “{safe_text.line(self.typed, 60)}”.\nescape clears the filter."
        return self._nothing

    def answered(self) -> Text:
        """What the screen answers first, on its top line."""
        return Text()

    def describe(self, row: Row) -> Described:
        """All that is to be said of a row; as the filter sees it, if nothing else is."""
        return Described(Text(safe_text.clean(self.searched(row))))

    @on(RowList.Moved, "#list")
    def show_detail(self) -> None:
        """Show what is under the cursor; the keys that work there are at the bottom."""
        row = self.table.row
        if row is None:
            self.detail.show("", Text(self.nothing_chosen, style="dim"))
            self.glance.show(Text())
        else:
            text, glance, tail = self.describe(row)
            self.detail.show(self.table.row_id, text)
            self.glance.show(text if glance is None else glance, tail)
        self.frame()

    def count(self) -> None:
        """Say on the right of the foot what the filter shows, and how many are marked."""
        shown = f"{len(self.table.rows)} of {len(self.found)}" if self.typed else ""
        marked = f"{len(self.table.marks)} marked" if self.table.marks else ""
        self.tell(" · ".join(filter(None, (shown, marked))))

    def tell(self, status: str) -> None:
        """Put words on the right of the bottom line."""
        self.status = status
        self.frame()

    def on_how_far(self, message: HowFar) -> None:
        """Tell how far a change of many is."""
        self.tell(message.words)

    def frame(self) -> None:
        """Draw the bars."""
        if not (self.is_mounted and self.foot.is_attached):  # a screen that is closing has lost them already
            return
        self.top.show(self.group, self.services)
        if isinstance(self.focused, Input):
            self.foot.typing(self.status)
        else:
            over, read_only = self.over, self.services.read_only
            can = [a for a in self.footer_actions() if not ((a.listed and over) or (a.writes and read_only))]
            self.foot.show(can, self.status, self.services, over=over)

    def footer_actions(self) -> list[actions.Action]:
        """The screen's own actions that the foot names, the most wanted first; they may follow the cursor."""
        return [action for action in actions.of(self.group) if action.footer]

    def on_descendant_focus(self) -> None:
        """Other keys work there."""
        self.frame()

    def on_resize(self) -> None:
        """The bars depend on the width, and so may the detail."""
        self.call_after_refresh(self.frame)
        self.call_after_refresh(self.show_detail)

    @property
    def over(self) -> bool:
        """Whether one thing is read in the place of the list."""
        return self.has_class("whole") or (self.has_class("narrow") and self.has_class("deep"))

    @property
    def seen(self) -> bool:
        """Whether the detail is on the screen."""
        return not self.has_class("narrow") or self.has_class("deep")

    @property
    def room(self) -> int:
        """Cells across in the detail, also while it is hidden."""
        width = self.size.width
        return (width if width < NARROW else width * self.share // 100) - 4

    def copied(self) -> str:
        """The text that is copied: that of the detail."""
        return self.detail.plain

    # remembering

    @property
    def left(self) -> dict[str, object]:
        """How the screen was left the last time: what `keep` was given."""
        return State(self.services.data.root).get(self.group)

    def keep(self, **how: object) -> None:
        """Remember how the screen is left."""
        State(self.services.data.root, read_only=self.services.read_only).put(self.group, how)

    # what every list can do

    def _frame_commands(self) -> dict[str, Command]:
        every = {
            "filter": Command(self.open_filter),
            "mark": Command(self.mark, self.no_row),
            "mark_all": Command(self.mark_all, self.no_row),
            "range": Command(self.mark_range, self.no_row),
            "open": Command(self.open, self.no_row),
            "whole": Command(self.open_whole, self.no_row),
            "next": Command(lambda: self.table.action_move(1), self.no_row),
            "previous": Command(lambda: self.table.action_move(-1), self.no_row),
        }
        known = {action.id for action in actions.of(self.group)}
        return {name: command for verb, command in every.items() if (name := f"{self.group}.{verb}") in known}

    def no_row(self) -> str:
        """Why nothing can be done where the cursor stands on nothing."""
        return "" if self.table.row is not None else f"There is no {self.one} under the cursor."

    def one_by_one(self) -> str:
        """Why that can't be done to several."""
        marked = len(self.table.chosen())
        return f"{marked} are marked, this goes one by one: escape unmarks." if marked > 1 else ""

    @on(RowList.Opened, "#list")
    def _opened(self) -> None:
        self.open()

    def open(self) -> None:
        """Enter on a row: go into the detail."""
        self.deepen()

    def deepen(self) -> None:
        """Go into the detail, which on a narrow screen takes the place of the list."""
        self.add_class("deep")
        self.detail.focus()

    def open_whole(self) -> None:
        """Read it over the whole screen."""
        self.add_class("whole")
        self.deepen()

    def mark(self) -> None:
        """Mark the row under the cursor."""
        self.table.toggle_mark()
        self.count()

    def markable(self) -> Sequence[Row]:
        """What is marked by marking all."""
        return self.table.rows

    def mark_all(self) -> None:
        """Mark all that are listed, or none if they all are."""
        self.table.mark_all(self.markable())
        self.count()

    def mark_range(self) -> None:
        """Begin a range, or mark it to here."""
        self.table.mark_range()
        self.count()
        if self.table.in_range:
            self.tell(actions.keyed(f"a range begins here: {{{self.group}.range}} again at its end"))

    # the filter

    def open_filter(self) -> None:
        """Show the filter, in the list."""
        self.remove_class("deep", "whole")
        self.filter_line.add_class("shown")
        self.filter_line.focus()

    @on(Input.Changed, "#filter")
    def filter_typed(self, event: Input.Changed) -> None:
        """Every letter filters."""
        if event.value != self.typed:
            self.typed = event.value
            self.table.redraw()
            self.fill()

    @on(Input.Submitted, "#filter")
    def filter_taken(self) -> None:
        """Enter goes on in the list."""
        self.filter_line.set_class(bool(self.typed), "shown")
        self.table.focus()

    def on_key(self, event: events.Key) -> None:
        """The arrows move in the list while the filter is typed."""
        if event.key in {"up", "down"} and self.filter_line.has_focus:
            self.table.action_move(1 if event.key == "down" else -1)
            event.stop()

    # back

    def key_escape(self, event: events.Key) -> None:
        """One step back: from the detail to the list, from marks to none, from the filter to everything."""
        event.stop()  # a dialog that it leads back to would take the same key for its own
        if not any(rung() for rung in self.ladder()):
            self.table.focus()
        self.count()

    def ladder(self) -> Sequence[Callable[[], bool]]:
        """What escape takes back: the first of these that answers that there was anything to take back."""
        return (self.leave_detail, self.table.clear_marks, self.clear_filter)

    def leave_detail(self) -> bool:
        """Go back to the list."""
        if not (self.detail.has_focus or self.over):
            return False
        self.remove_class("deep", "whole")
        self.table.focus()
        return True

    def clear_filter(self) -> bool:
        """Show everything again."""
        if not (self.typed or self.filter_line.has_class("shown")):
            return False
        self.filter_line.value = ""
        self.filter_line.remove_class("shown")
        self.table.focus()
        return True
