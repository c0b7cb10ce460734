"""What stands around the rows of a screen: bars, titles of panes, and how list and preview share the room."""

from typing import Any, NamedTuple

from rich.text import Text
from textual.content import Content
from textual.geometry import Region
from textual.messages import Update
from textual.widget import Widget
from textual.widgets import Input

from memtui.keymap import Action
from memtui.tui.widgets.lines import FootBar, TopBar, fitting
from memtui.views import safe_text

# The cells of a screen from which the detail has a pane below the list, and from which it has one beside it: the list
# shows as much of a sentence there as one of 120 cells does. The width of the detail then, as the style sheet has it.
STACKED, BESIDE = 100, 160
DETAIL_PERCENT = 40
# Of the lines of both panes: the most that the list above the detail has, in percent, the least, and those around its
# rows: its border, its head and the line of the filter.
LIST_PERCENT, LEAST_LIST, AROUND_ROWS = 60, 8, 4
# The most of the list's room that the preview takes from it, and the rows that the list keeps in any case.
GLANCE_PERCENT, LEAST_ROWS = 40, 3
CORNERS = 6  # cells of a border that its title can't have


class Described(NamedTuple):
    """What the detail pane shows of a row."""

    text: Text
    title: str = ""  # in the border


class Frame:
    """The frame of `screen`, a ListScreen, whose module needs this one; `status` stands in its bottom bar."""

    def __init__(self, screen: Any) -> None:
        self.screen = screen
        self.top, self.foot = TopBar(id="top"), FootBar(id="foot")
        self.status, self._is_drawing = "", False
        self._titles: dict[Widget, Text] = {}
        self._lines_for_rows = 0  # how many the list above the detail has

    def tell(self, status: str) -> None:
        if status != self.status:
            self.status = status
            self.draw()

    def show_status(self) -> None:
        """Say what the screen has to say there, unless many changes are being made: then their progress stays."""
        if not self.screen.services.at_work:
            self.tell(self.screen.status_words())

    def draw(self) -> None:
        """Draw the bars, once for all that is done meanwhile."""
        if not self._is_drawing:
            self._is_drawing = True
            self.screen.call_next(self._draw)

    def _draw(self) -> None:
        self._is_drawing = False
        screen = self.screen
        if not (screen.is_mounted and self.foot.is_attached):
            return
        screen.frame_top()
        if isinstance(screen.focused, Input):
            self.foot.show(None, self.status, screen.services, screen.typing_keys())
        else:
            usable = [action for action in screen.footer_actions() if self._works(action)]
            self.foot.show(usable, self.status, screen.services, screen.key_words())

    def _works(self, action: Action) -> bool:
        """Return whether an action works now: one of the list only while the list is seen."""
        screen = self.screen
        if (action.listed and screen.detail_covers_list) or (action.writes and screen.services.read_only):
            return False
        if action.listed and not screen.all_rows and action.verb != "project":  # there is nothing to act on
            return False
        command = screen.commands.get(action.id)
        return command is None or not command.why_not()

    def draw_top(self) -> None:
        screen = self.screen
        if screen.is_mounted and self.foot.is_attached:  # a closing screen has no bars any more
            choice = screen.commands.get("list.project")
            project = "all" if screen.of_all_projects else screen.services.data.facts.project
            offers = choice is not None and not choice.why_not()
            self.top.show(screen.group, screen.services, project, offers=offers)

    @property
    def detail_width(self) -> int:
        """The cells of a line of the detail, also while that is hidden."""
        width: int = self.screen.size.width
        beside = self.screen.has_class("wide") and not self.screen.detail_covers_list
        return (width * DETAIL_PERCENT // 100 if beside else width) - 4

    def entitle(self, pane: Widget, title: Text) -> None:
        """Show a text in the border of a pane, as many of its facts as there is room for."""
        whole = self.screen if self.screen.has_class("narrow") else pane  # a hidden pane has no width yet
        room = max(1, whole.outer_size.width - CORNERS)
        is_rule = whole is not pane and bool(title)  # it has no corner, and no blank beside its title
        text = fitting(title, room - 3 * is_rule)
        text.truncate(room - 3 * is_rule, overflow="ellipsis")
        text = Text.assemble("─ ", text, " ") if is_rule else text
        if self._titles.get(pane) != text:
            self._titles[pane] = text
            pane._border_title = Content.from_rich_text(text)  # noqa: SLF001  the property paints all of the pane again
            pane.refresh(Region(*-pane.content_offset, pane.outer_size.width, 1))

    def show(self, described: Described, row_id: str, sought: str) -> None:
        text, title = described.text, Text(safe_text.line(described.title))
        screen = self.screen
        self.entitle(screen.detail, title)
        screen.detail.show(row_id, text, sought)
        screen.post_message(Update(screen.detail))  # painted with the list: its own message comes too late for that
        if screen.glance.display:
            self.entitle(screen.glance, title)
            screen.glance.show(row_id, text.copy(), sought)

    def share_room(self) -> None:
        """Give the preview its part of the room, or all that a short list leaves free; not while one types."""
        screen, table, glance, middle = self.screen, self.screen.table, self.screen.glance, self.screen.middle
        # Where nothing can be selected there is no detail; a text that ends with … says that rows are still read.
        screen.set_class(not (screen.all_rows or screen.is_filtered or table.empty.endswith("…")), "bare")
        if screen.filter_line.has_focus:
            return
        self._share_with_detail()
        if not (glance.display and middle.size.height):
            return
        others = [pane for pane in middle.children if pane.display and pane not in {table, glance}]
        room = middle.size.height - sum(pane.size.height or 1 for pane in others)
        free = room - table.header - len(table.rows)
        share = max(free if free > LEAST_ROWS else 0, min(screen.glance_lines, room * GLANCE_PERCENT // 100))
        glance.styles.height = height = share if table.rows else 0
        glance.set_class(not height, "gone")

    def _share_with_detail(self) -> None:
        """Give the detail below the list the lines that the rows leave free."""
        screen = self.screen
        needed, panes = screen.table.needed, screen.middle.parent
        if needed > self._lines_for_rows or screen.is_filtered or needed <= self._lines_for_rows // 2:
            self._lines_for_rows = needed
        if screen.has_class("stacked") and isinstance(panes, Widget) and panes.size.height:
            most = panes.size.height * LIST_PERCENT // 100
            panes.styles.grid_rows = f"{max(LEAST_LIST, min(most, self._lines_for_rows + AROUND_ROWS))} 1fr"
