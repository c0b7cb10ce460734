"""Moving about in the memories: panes, scopes, filter, marks, order."""

from typing import TYPE_CHECKING

from textual import events, on
from textual.widgets import Input

from memtui import actions
from memtui.core.base.phrasing import many
from memtui.core.memories.scopes import Scope
from memtui.core.memories.status import Row
from memtui.tui.dialogs.ask import Choice
from memtui.tui.screens.frame import Base
from memtui.tui.screens.memories import rows as memory_rows
from memtui.tui.screens.memories import tree
from memtui.tui.screens.memories.rows import Pair
from memtui.tui.screens.memories.table import MemoryList
from memtui.tui.screens.memories.tree import Place
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.rows import RowList

NARROW = 100
# With less room the memory stands below the list: beside it the list's columns would be scraps.
BESIDE = 176


class Keys(Base):
    """The part of the screen that changes nothing in files."""

    found: list[Scope]
    rows: dict[str, list[Row]]
    typed: str
    kind: str
    wanting: bool
    never: bool
    sort: str
    reverse: bool
    folds: dict[str, bool]
    drafts: dict[str, float]
    _wanted: str

    if TYPE_CHECKING:

        @property
        def table(self) -> MemoryList: ...
        @property
        def places(self) -> RowList[Place]: ...
        @property
        def place(self) -> Place | None: ...
        @property
        def unread(self) -> set[str]: ...
        def remember(self) -> None: ...
        def plant(self) -> None: ...
        def sift(self) -> None: ...
        def fill(self) -> None: ...
        def count(self) -> None: ...
        def here(self) -> list[Pair]: ...
        def step_back(self) -> bool: ...
        def stop_reading(self) -> bool: ...
        def show_detail(self) -> None: ...
        def show_lines(self) -> None: ...

    # panes

    def on_resize(self) -> None:
        """One pane or three, and where the memory stands."""
        self.set_class(self.size.width < NARROW, "narrow")
        self.set_class(NARROW <= self.size.width < BESIDE, "stacked")
        super().on_resize()

    @on(RowList.Opened, "#list")
    def open_detail(self) -> None:
        """The keys to the memory, which on a narrow screen takes the place of the list."""
        if self.has_class("narrow"):
            self.add_class("deep")
            self.show_lines()
        self.query_one("#detail", Detail).focus()

    def do_memories_open(self) -> None:
        """Over the whole screen."""
        self.add_class("deep", "whole")
        self.query_one("#detail", Detail).focus()

    def _back(self) -> None:
        self.remove_class("deep", "whole")
        self.show_lines()
        self.table.focus()

    def key_escape(self) -> None:
        """Back: to where the person came from, from the memory to the list, from marks to none, from the filters to
        everything, from a scope to all."""
        reading = not self.query_one("#filter", Input).has_focus
        if reading and self.step_back():
            return
        place = self.place
        if self.query_one("#detail", Detail).has_focus or self.has_class("deep"):
            self._back()
        elif self.query_one("#filter", Input).has_focus:
            self._clear_filter()
        elif self.table.clear_marks():
            self.count()
        elif self.typed:
            self._clear_filter()
        elif self.kind or self.wanting or self.never:
            self.kind, self.wanting, self.never = "", False, False
            self.remember()
            self.sift()
        elif self.stop_reading():
            self.count()
        elif place is not None and place.key != tree.ALL:
            self.go_to_place(tree.ALL)
            self.table.focus()
        else:
            self.table.focus()
            self.count()

    def do_memories_left(self) -> None:
        """Fold, or one pane to the left."""
        place = self.place
        if self.query_one("#detail", Detail).has_focus:
            self._back()
        elif self.places.has_focus and place is not None:
            if place.fold:
                self._fold(place.key, False)
            elif place.depth:
                keys = [each.key for each in self.places.rows]
                parent = next(at for at in range(self.places.cursor, -1, -1) if not self.places.rows[at].depth)
                self.places.move_to(keys.index(self.places.rows[parent].key))
            else:
                self.main.say("There is no pane to the left of the scopes, and nothing to fold.")
        elif self.has_class("narrow"):
            key = actions.key_of("memories.scope")
            self.main.say(f"There is no room for the scopes beside the list: {key} chooses one.")
        else:
            self.places.focus()

    def do_memories_right(self) -> None:
        """Unfold, or one pane to the right."""
        place = self.place
        if self.table.has_focus:
            self.open_detail()
        elif self.places.has_focus and place is not None and place.fold is False:
            self._fold(place.key, True)
        elif self.places.has_focus:
            self.table.focus()
        else:
            self.main.say("There is no pane to the right of the memory.")

    # scopes

    def _fold(self, key: str, unfolded: bool) -> None:
        self.folds[key] = unfolded
        self.plant()
        self.remember()

    @on(RowList.Moved, "#scopes")
    def _scope_moved(self) -> None:
        self.sift()
        self.remember()

    @on(RowList.Opened, "#scopes")
    def _scope_opened(self) -> None:
        place = self.place
        if place is not None and place.fold is False:
            self._fold(place.key, True)
        else:
            self.table.focus()

    def do_memories_scope(self) -> None:
        """The tree, or where there is no room for it a choice."""
        if not self.has_class("narrow"):
            if self.places.has_focus:
                self.main.say("The cursor is in the scopes already: enter goes to the list of one.")
            self.places.focus()
            return
        folds = dict.fromkeys([*self.folds, "others", "agents", "instructions", *tree.OPEN], True)
        places = tree.build(self.found, self.rows, folds, self.main.data.facts.project, self.unread)

        def then(key: str | None) -> None:
            if key is not None:
                self.go_to_place(key)

        rows = [(p.key, f"{'  ' * p.depth}{p.label}  {p.counted}") for p in places]
        self.app.push_screen(Choice("Scope", rows, self.places.row_id), then)

    def on_click(self, event: events.Click) -> None:
        """The line that stands for the folded tree opens it."""
        if event.widget is not None and event.widget.id == "place":
            self.do_memories_scope()

    def go_to_place(self, key: str) -> None:
        """Show a place of the tree, unfolding what it stands under."""
        head = key.partition("/")[0]
        if key not in {place.key for place in self.places.rows}:
            scope = next((s for s in self.found if s.label == head), None)
            self.folds[tree.group_of(scope) or head if scope else head] = True
            self.plant()
        keys = [place.key for place in self.places.rows]
        if key in keys:
            self.places.move_to(keys.index(key))

    def go_to(self, path: str) -> None:
        """Put the cursor on a memory, taking away whatever hides it; one that is not read yet, once it is."""
        label = next((label for label, rows in self.rows.items() for row in rows if row.memory.path == path), None)
        self._wanted = "" if label else path
        if label is None:
            return
        place = self.place
        row = next(row for row in self.rows[label] if row.memory.path == path)
        if place is None or label not in {s.label for s in place.scopes} or not place.holds(row):
            scope = next(s for s in self.found if s.label == label)
            self.go_to_place(tree.ALL if tree.is_here(scope) else label)
        if self.typed or self.kind or self.wanting or self.never:
            self.kind, self.wanting, self.never = "", False, False
            self._clear_filter()
        self.sift()
        paths = [each.memory.path for _, each in self.table.rows]
        if path in paths:
            self.table.move_to(paths.index(path))

    # filter

    def do_memories_filter(self) -> None:
        """Open the filter, in the list."""
        self.remove_class("deep", "whole")
        line = self.query_one("#filter", Input)
        line.add_class("shown")
        line.focus()

    @on(Input.Changed, "#filter")
    def _typed(self, event: Input.Changed) -> None:
        if event.value != self.typed:
            self.typed = event.value
            self.table.redraw()
            self.fill()
            if self.typed:
                self.table.move_to(0)  # the best; what the cursor was on may fit as well, but worse

    @on(Input.Submitted, "#filter")
    def _filtered(self) -> None:
        self.query_one("#filter", Input).set_class(bool(self.typed), "shown")
        self.table.focus()

    def on_key(self, event: events.Key) -> None:
        """The arrows move in the list while the filter is typed."""
        if event.key in {"up", "down"} and self.query_one("#filter", Input).has_focus:
            self.table.action_move(1 if event.key == "down" else -1)
            event.stop()

    def _clear_filter(self) -> None:
        line = self.query_one("#filter", Input)
        self.typed = ""
        line.value = ""
        line.remove_class("shown")
        self.table.focus()
        self.sift()

    def do_memories_type_filter(self) -> None:
        """One type only."""
        counts: dict[str, int] = {}
        for _, row in self.here():
            counts[row.memory.type or "-"] = counts.get(row.memory.type or "-", 0) + 1

        def then(kind: str | None) -> None:
            if kind is not None:
                self.kind = kind
                self.remember()
                self.sift()

        kinds = [(k, f"{'untyped' if k == '-' else k}  {counts[k]}") for k in sorted(counts)]
        self.app.push_screen(Choice("Show", [("", "all types"), *kinds], self.kind), then)

    def do_memories_attention(self) -> None:
        """What wants attention only, or all."""
        self.wanting = not self.wanting
        self.remember()
        self.sift()

    def do_memories_never(self) -> None:
        """What was never delivered only, or all."""
        self.never = not self.never
        self.remember()
        self.sift()

    # order

    def do_memories_sort(self) -> None:
        """The next order by a column that is shown."""
        names = self.table.sorts()
        if not names:
            self.main.say("There is no room for a column to sort by.")
            return
        at = names.index(self.sort) if self.sort in names else -1
        self._order(names[(at + 1) % len(names)], False)

    def do_memories_reverse(self) -> None:
        """The same order from its other end."""
        self._order(self.sort, not self.reverse)

    @on(RowList.Headed, "#list")
    def _headed(self, event: RowList.Headed) -> None:
        sort = memory_rows.sort_of(event.column)
        if sort:
            self._order(sort, sort == self.sort and not self.reverse)

    def _order(self, sort: str, reverse: bool) -> None:
        self.sort, self.reverse = sort, reverse
        self.table.redraw()
        self.sift()
        self.remember()

    # marks

    def do_memories_mark(self) -> None:
        """Mark."""
        self.table.toggle_mark()
        self.count()

    def do_memories_range(self) -> None:
        """Mark a range."""
        self.table.mark_range()
        self.count()
        if self.table.in_range:
            self.tell(actions.keyed("a range begins here: {memories.range} again at its end"))

    def do_memories_mark_all(self) -> None:
        """Mark all that are shown, or none if all are marked."""
        shown = {row.memory.path for _, row in self.table.rows}
        self.table.marks = set() if shown <= self.table.marks else shown
        self.table.redraw()
        self.count()
        if self.table.marks:
            self.main.say(f"{many(len(shown), 'memory', 'memories')} marked; escape unmarks.")
