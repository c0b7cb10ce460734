"""The Memories screen: the agent's memories, by scope."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal

from memtui import keymap
from memtui.keymap import Action
from memtui.store.scopes import Scope
from memtui.tui.dialogs.ask import Choice
from memtui.tui.model import matches
from memtui.tui.model.data import State
from memtui.tui.screens.frame import STACKED, Described
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.screens.memories import rows
from memtui.tui.screens.memories.commands import MemoryCommands
from memtui.tui.screens.memories.detail import MemoryDetail
from memtui.tui.screens.memories.reader import MemoryReader, Pair
from memtui.tui.screens.memories.rows import RULE, MemoryTable, ScopeTree
from memtui.tui.services import Command, Services, bindings
from memtui.tui.widgets.rows import RowList
from memtui.views import query, safe_text

if TYPE_CHECKING:
    from memtui.tui.screens.memories.recall import Recall

# The order of actions in the bottom bar.
IN_LIST = ("edit", "remove", "filter", "recall", "new", "mark", "retype", "move", "sort", "attention", "project")
WHILE_MARKED = ("remove", "retype", "move", "mark", "filter")
WHILE_READ = ("edit", "follow", "remove", "retype", "move")
READING = "Reading …"
COUNTS = "rules/counts.db"  # as rules/counts_file.py has it, which is imported after the first paint
LATE = frozenset({"log", "rules"})  # after a change of these parts no memory is read again
PLACED = 110  # the width of the terminal from which the scopes have a pane: the sentences have their room beside it


class Memories(ListScreen[Pair]):
    """The screen: scopes on the left, memories in the middle, the memory on the right, below the list or over it."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("memories")]
    group: ClassVar[str] = "memories"
    # Beside the list a text has a place where both have room for their sentences.
    HORIZONTAL_BREAKPOINTS = [(0, "narrow"), (STACKED, "stacked"), (190, "wide")]  # noqa: RUF012  textual's
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "log", "memories", "rules"})
    row_word: ClassVar[str] = "memory"
    nouns: ClassVar[tuple[str, str]] = ("memory", "memories")
    legend: str = rows.LEGEND
    table: MemoryTable

    def __init__(self, services: Services) -> None:
        self.reader = MemoryReader(services, self)
        table = MemoryTable(self.reader, lambda: self.sought, empty=READING)
        super().__init__(services, table, placeholder="words, type:, scope:, is:, project:")
        self.places, self.details = ScopeTree(self.reader), MemoryDetail(self.reader)
        self.changes = MemoryCommands(self)
        self.commands |= self.changes.table() | {
            "memories.sort": Command(self.sort),
            "memories.recall": Command(self._begin_recall),
            "list.attention": Command(partial(self.toggle_term, query.IS_PROBLEM)),
            "list.project": Command(self.toggle_projects),
            "list.left": Command(self.left),
            "list.right": Command(self.go_right),
        }
        self._pairs: matches.Haystack[Pair] = matches.Haystack((), rows.searched)
        self.search = query.MemoryQuery()
        self.places.border_title = "scopes"
        self.recall: Recall | None = None  # is made when it is first begun
        self._painted = False  # whether the list was painted: the detail comes after it

    def body(self) -> ComposeResult:
        with Horizontal(id="panes"):
            yield self.places
            with self.middle:
                yield self.summary_line
                yield self.table
                yield self.filter_line
                yield self.glance
            yield self.detail

    def begin(self) -> None:
        """Focus the list, with the first page of memories; others are read after the first paint."""
        order = str(State(self.services.data.root).get(self.group).get("sort"))
        self.table.order = order if order in rows.ORDERS else "name"
        # The column is there at the first paint, so that no other moves when it is known what stands in it.
        self.table.has_rules = os.path.exists(f"{self.services.data.root}/{COUNTS}")
        self.table.focus()
        self.reader.first_page(self.app.size.height)
        self.show_memories()
        self.call_after_refresh(self._show_beside)
        self.changes.name_autosaves()

    def on_resize(self) -> None:
        self.set_class(self.size.width < PLACED, "unplaced")
        super().on_resize()

    def _show_beside(self) -> None:
        self._painted = True
        self.show_detail()

    def reload(self) -> None:
        self.reader.reload()
        if recall := self.recalled:
            recall.run(fresh=True)

    def follow(self, parts: frozenset[str] | None) -> None:
        if parts is None or parts & (self.reads - LATE):
            self.reload()
        elif parts & LATE:
            self.reader.count_deliveries()
            if recall := self.recalled:
                recall.run(fresh=False)
        elif "receipts" in parts:
            self.reader.set_outcomes(self.services.data.outcomes([]))

    def on_screen_resume(self) -> None:
        approved, self.services.data.approved = self.services.data.approved, ""
        if approved and os.path.exists(approved):
            self.reader.expected = approved

    def show_memories(self) -> None:
        if not self.table.is_attached:
            return  # the screen is closing
        reader = self.reader
        self.all_rows = reader.pairs()
        self.details.forget()
        self.places.show_scopes()
        self.sift()
        if not reader.expected:
            return
        if self.recalled is None:
            self.go_to(reader.expected)
            return
        at, reader.expected = self.table.index_of(reader.expected), ""
        if at is not None:  # in recall only if it is listed
            self.table.move_to(at)

    def show_counts(self) -> None:
        if self.search.state or self.table.order in rows.BY_DELIVERIES:
            self.sift()

    def show_outcomes(self) -> None:
        self.table.redraw()
        self.show_detail()

    def show_held(self) -> None:
        self.table.has_rules = bool(self.reader.held)
        self.table.fit()
        self.show_counts()
        self.show_outcomes()

    def sift(self) -> None:
        """Show the memories of the chosen place that pass the filters, in order; in recall what a prompt finds."""
        self.table.of_projects = self._is_everywhere
        names = (self.reader.name_of(scope) for scope in self.reader.scopes if self._may_list(scope))
        self.table.longest_scope = max(map(len, names), default=0)
        pairs = self.recalled.pairs() if self.recalled else self.table.ordered(self._sought_in())
        body = None if self.recalled else lambda pair: pair[1].memory.text
        self._pairs = matches.Haystack(pairs, rows.searched, body)
        self.table.fit()
        self.table.redraw()
        self.fill()

    def _sought_in(self) -> list[Pair]:
        """Return the memories that the query is about: of the chosen place, of this project, or of all."""
        reader, place = self.reader, self.places.row
        if self._is_everywhere:
            return reader.pairs(scope for scope in reader.scopes if self._may_list(scope))
        if self.search.scope:
            return reader.pairs(scope for scope in reader.scopes if not scope.project and self._may_list(scope))
        return reader.pairs(place.scopes) if place else []

    @property
    def _is_everywhere(self) -> bool:
        place = self.places.row
        return bool(self.search.project) or (self.services.all_projects and place is not None and place.key == rows.ALL)

    def _may_list(self, scope: Scope) -> bool:
        """Whether a scope is listed among others: instructions are no memories, and only where they are asked for."""
        return rows.group_of(scope) != rows.INSTRUCTIONS or query.names(scope, self.search.scope)

    def select(self) -> Sequence[Pair]:
        search = self.search
        if not self.typed:
            return self._pairs.rows
        matching = [] if search.is_mistyped else self._pairs.select(search.words)
        if search.has_terms:
            here, autosaves = self.services.data.facts.project, self.reader.autosaves
            marked = search.marked(self.services.data.root, self.reader.scopes)
            matching = [pair for pair in matching if search.matches(*pair, here, autosaves, marked)]
        if self.recalled is None:
            return matching
        paths = {row.memory.path for _, row in matching if row is not RULE[1]}
        return [pair for pair in self._pairs.rows if pair[1].memory.path in paths]

    def fill(self) -> None:
        before, self.search = self.search, query.memories(self.typed)
        if (before.scope, bool(before.project)) != (self.search.scope, bool(self.search.project)):
            self.sift()  # it is about other memories now
        else:
            super().fill()

    def why_empty(self) -> str:
        if self.recalled and not self.typed:
            return self.recalled.why_empty()
        if not self.reader.loaded:
            return READING
        if self.is_filtered:
            everywhere = "" if self.of_all_projects or self.recalled else " project:all searches in all projects."
            return super().why_empty() + everywhere
        return self.places.why_empty()

    def why_no_matches(self) -> str:
        return safe_text.line(self.search.problem(self.reader.choices())) or super().why_no_matches()

    def numbers(self) -> tuple[str, str]:
        rows_listed, rows = self.table.rows, self._pairs.rows
        rules = (rows_listed.count(RULE), rows.count(RULE)) if self.recalled else (0, 0)
        return f"{len(rows_listed) - rules[0]:,}", f"{len(rows) - rules[1]:,}"

    def counted(self) -> str:
        if self.reader.partly:
            return READING
        return super().counted() + " in all projects" * (self._is_everywhere and not self.recalled)

    def summary(self) -> Text:
        place = self.places.row
        if recall := self.recalled:
            return super().summary() if self.is_filtered else recall.summary()
        if self.places.display or place is None:
            return super().summary()
        words = f"{' ' * self.has_class('narrow')}scope ({keymap.key_of('list.left')}) "
        line = Text(words, "dim", no_wrap=True, overflow="ellipsis")
        line.append(safe_text.line(place.words, 60) + " ▾", "bold")
        line.append(f" · {self.counted()}")
        return line.append(" · escape shows all" * (place.key != rows.ALL), "dim")

    @property
    def of_all_projects(self) -> bool:
        return (bool(self.search.project) and not self.recalled) or super().of_all_projects

    def describe(self, row: Pair) -> Described:
        if recall := self.recalled:
            return recall.describe(row)
        if not self._painted:
            return Described(Text())
        return Described(self.details.text(row), title=safe_text.line(row[1].memory.name))

    @property
    def sought(self) -> str:
        return self.search.words

    def copied(self) -> str:
        if recall := self.recalled:
            return recall.copied(self.table.row)
        return self.table.row[1].memory.raw.decode("utf-8", "replace") if self.table.row else ""

    def footer_actions(self) -> list[Action]:
        if recall := self.recalled:
            return recall.footer_actions()
        order = WHILE_READ if self.detail.has_focus else WHILE_MARKED if self.table.marks else IN_LIST
        return [keymap.on_screen("memories", verb) for verb in order]

    def key_words(self) -> list[tuple[str, str]]:
        can_leave = self.recalled and self.table.has_focus and not (self.table.marks or self.is_filtered)
        return super().key_words() + [("escape", "back")] * bool(can_leave)

    def typing_keys(self) -> Sequence[tuple[str, str]]:
        if self.recalled and self.recalled.line.has_focus:
            return (("enter", "to the list"), ("down", "recent prompts"), ("escape", "back"))
        return super().typing_keys()

    def toggle_projects(self) -> None:
        super().toggle_projects()
        self.sift()

    def open_filter(self) -> None:
        """Open the line, and prepare the search once it is painted: the first letter need not wait for that."""
        super().open_filter()
        if self.reader.loaded:
            self.call_after_refresh(self._pairs.prepare)

    def filter_typed(self, text: str) -> None:
        if text and text != self.typed:  # the row under the cursor may match too, but worse
            self.wanted = lambda pairs: 0 if pairs else None
        super().filter_typed(text)

    @property
    def recalled(self) -> "Recall | None":
        return self.recall if self.table.recall else None

    async def _begin_recall(self) -> None:
        from memtui.tui.screens.memories.recall import Recall

        if not self.middle.is_attached:  # a key that came with the one of the tab
            self.call_after_refresh(lambda: self.services.start(self, self._begin_recall(), "memories.recall"))
            return
        if self.recall is None:
            self.recall = Recall(self)
            await self.middle.mount(self.recall, before=0)
        self.recall.begin()

    def no_row(self) -> str:
        return "That is for the list: enter goes to it." if self.places.has_focus else super().no_row()

    def why_no_mark(self) -> str:
        """Return why no row is marked. The rule of recall is passed over."""
        return self.no_row()

    def go_to(self, path: str) -> None:
        """Put the cursor on a memory once it is read, leaving recall and clearing filters that hide it."""
        if self.recalled is not None:
            self.recalled.leave()
        target = next((pair for pair in self.reader.pairs() if pair[1].memory.path == path), None)
        self.reader.expected = "" if target else path
        if target is None:
            return
        scope, place = target[0], self.places.row
        if place is None or scope.label not in {s.label for s in place.scopes}:
            self.places.go_to(rows.ALL if rows.is_here(scope) else scope.label)
        self.wanted = lambda pairs: self.table.index_of(path, pairs)
        self.sift()
        if self.typed and self.table.index_of(path) is None:
            self.typed = ""
            self.clear_filter()
            self.table.focus()
            self.wanted = lambda pairs: self.table.index_of(path, pairs)
            self.sift()
        self.wanted = None

    def read_memory(self, path: str) -> None:
        self.go_to(path)
        self.open_detail()
        self.show_detail()

    def key_enter(self) -> None:
        """Open the moment at which a rule was broken, from the detail that names it."""
        if self.detail.has_focus and self.changes.breaks():
            self.services.action_run("memories.follow")

    @on(RowList.Moved, "#scopes")
    def relist(self) -> None:
        self.sift()

    def sort(self) -> None:
        """Show the list in the next order, and remember that."""
        self.table.next_order()
        self.sift()
        root = self.services.data.root
        if os.path.isdir(root):
            State(root, read_only=self.services.read_only).put(self.group, {"sort": self.table.order})

    def fold_word(self) -> str:
        place = self.places.row
        return ("list" if place is None or place.fold is not False else "unfold") if self.places.has_focus else ""

    @on(RowList.Opened, "#scopes")
    def enter_place(self) -> None:
        """Unfold the place under the cursor, or focus its list."""
        place = self.places.row
        if place is not None and place.fold is False:
            self.places.fold(place.key, unfold=True)
            self.sift()
        else:
            self.table.focus()

    async def left(self) -> None:
        """Fold the place in the tree, or focus the pane to the left; without room for the tree, ask for a scope."""
        place = self.places.row
        if self.detail.has_focus:
            self.leave_detail()
        elif self.places.has_focus and place is not None:
            if place.fold:
                self.places.fold(place.key, unfold=False)
                self.sift()
            elif place.depth:
                self.places.to_parent()
        elif not self.places.display:
            places = self.places.places()
            names = [f"{'  ' * place.depth}{place.label}" for place in places]
            wide, most = max(map(len, names)), max(len(place.counted) for place in places)
            lines = [f"{name:<{wide}}  {row.counted:>{most}}" for name, row in zip(names, places, strict=True)]
            options = [(place.key, words) for place, words in zip(places, lines, strict=True)]
            key = await self.services.ask(Choice("Choose a scope", options, self.places.row_id))
            if key is not None:
                self.note_row("scope", begins=self.places.row_id == rows.ALL)
                self.places.go_to(key)
        else:
            self.note_row("scope", begins=self.places.row_id == rows.ALL)
            self.places.focus()

    def go_right(self) -> None:
        """Unfold the place in the tree, or focus the pane to the right."""
        if self.table.has_focus:
            self.open_detail()
        elif self.places.has_focus:
            self.enter_place()

    def escape_steps(self) -> Sequence[Callable[[], bool]]:
        return (
            lambda: self.recalled is not None and self.recalled.line.has_focus and self.recalled.leave(),
            lambda: not self.filter_line.has_focus and self.changes.step_back(),
            self.leave_detail,
            lambda: self.filter_line.has_focus and self.clear_filter(),
            self.table.clear_marks,
            self.clear_filter,
            lambda: self.recalled is not None and self.recalled.leave(),
            self.reader.stop,
            self._to_all,
        )

    def _to_all(self) -> bool:
        place = self.places.row
        if place is None or place.key == rows.ALL:
            return False
        self.go_back_to(self.rows_before.pop("scope", ""))
        self.places.go_to(rows.ALL)
        self.table.focus()
        return True
