"""Memories: what the agent remembers, by scope."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical

from memtui import actions
from memtui.core.base.phrasing import many
from memtui.present import safe_text
from memtui.tui.model import fuzzy
from memtui.tui.model.memory_autosave import Draft, Drafts
from memtui.tui.model.remembered import State
from memtui.tui.screens.memories import rows, tree
from memtui.tui.screens.memories.rows import Pair
from memtui.tui.screens.memories.survey import Surveyed
from memtui.tui.screens.memories.table import MemoryList
from memtui.tui.screens.memories.tree import Place
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.field import Field
from memtui.tui.widgets.line import OneLine
from memtui.tui.widgets.rows import Column, RowList

NAMED = 4
READING = "Reading …"
EMPTY = """Nothing is remembered here yet.

{memories.new}  makes a memory
{app.inbox}  drafts from your sessions, to be approved
{app.health}  whether the hooks are installed"""


def _titles(drafts: list[Draft]) -> str:
    """Which they are, and the key that goes on with each."""
    new, edit = actions.key_of("memories.new"), actions.key_of("memories.edit")
    ways = [f"{new}, its file is gone" if d.orphan else edit if d.path else new for d in drafts[:NAMED]]
    words = [f"{d.title} ({way})" for d, way in zip(drafts, ways, strict=False)]
    return ", ".join(words) + (f" and {len(drafts) - NAMED} more" if len(drafts) > NAMED else "")


class Memories(Surveyed):
    """Scopes on the left, memories in the middle, the memory itself on the right."""

    group: ClassVar[str] = "memories"
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "log", "memories"})
    legend = rows.LEGEND

    def __init__(self) -> None:
        super().__init__()
        self.typed = ""
        self.kind = ""
        self.wanting = self.never = False
        self.sort, self.reverse = "name", False
        self.folds: dict[str, bool] = {}
        self.drafts: dict[str, float] = {}
        self._place_wanted = ""
        self._pairs: fuzzy.Haystack[Pair] = fuzzy.Haystack((), rows.searched)

    def body(self) -> ComposeResult:
        """Three panes; on a narrow screen the list alone, and the memory over it."""
        with Horizontal(id="panes"):
            columns = [Column("scope"), Column("", 5, right=True)]
            yield RowList[Place](columns, Place.draw, lambda place: place.key, id="scopes")
            with Vertical(id="middle"):
                yield OneLine(id="place")
                yield MemoryList(
                    rows.COLUMNS,
                    self._draw,
                    lambda pair: pair[1].memory.path,
                    empty=READING,
                    id="list",
                )
                yield Field(placeholder="name, description, type", id="filter")
            yield Detail(id="detail")
        yield OneLine(id="line")

    def on_mount(self) -> None:
        """As it was left, in the list."""
        super().on_mount()
        left = self.state.get(self.group)
        sort, kind, place, folds = (left.get(key) for key in ("sort", "kind", "place", "folds"))
        self.sort = sort if isinstance(sort, str) and sort in rows.SORTS else "name"
        self.reverse = left.get("reverse") is True
        self.kind = kind if isinstance(kind, str) else ""
        self.wanting, self.never = left.get("wanting") is True, left.get("never") is True
        self._place_wanted = place if isinstance(place, str) else ""
        self.folds = {str(k): v for k, v in folds.items() if isinstance(v, bool)} if isinstance(folds, dict) else {}
        self.table.glance = self.glance
        self.table.focus()
        self.first_page()
        self.call_after_refresh(self.show_beside)
        waiting = Drafts(self.main.data.root).all()
        if waiting:
            self.main.say(f"{many(len(waiting), 'draft')} of yours not saved yet: {_titles(waiting)}.")

    @property
    def state(self) -> State:
        """What is remembered from one start to the next."""
        return State(self.main.data.root, read_only=self.main.read_only)

    def remember(self) -> None:
        """Keep how the screen is left."""
        place = self.places.row_id
        left = {"sort": self.sort, "reverse": self.reverse, "kind": self.kind, "place": place, "folds": self.folds}
        self.state.put(self.group, {**left, "wanting": self.wanting, "never": self.never})

    @property
    def table(self) -> MemoryList:
        """The memories."""
        return self.query_one("#list", MemoryList)

    @property
    def places(self) -> RowList[Place]:
        """The scopes."""
        return self.query_one("#scopes", RowList)

    # filling

    def plant(self) -> None:
        """Draw the tree, then the list of the place under its cursor."""
        made = tree.build(self.found, self.rows, self.folds, self.main.data.facts.project, self.unread)
        self.places.show(made)
        if self._place_wanted:
            keys = [place.key for place in made]
            if self._place_wanted in keys:
                self.places.move_to(keys.index(self._place_wanted))
            if self._loaded or self._place_wanted in keys:
                self._place_wanted = ""
        self.sift()

    @property
    def place(self) -> Place | None:
        """What the tree's cursor stands on."""
        return self.places.row

    def here(self) -> list[Pair]:
        """The memories of the place."""
        place = self.place
        chosen = place.scopes if place else ()
        return [(s, row) for s in chosen for row in self.rows.get(s.label, []) if place and place.holds(row)]

    def sift(self) -> None:
        """The memories of the place that what is set lets through, in their order; then the filter."""
        pairs = self.here()
        if self.kind:
            pairs = [pair for pair in pairs if (pair[1].memory.type or "-") == self.kind]
        if self.wanting:
            pairs = [pair for pair in pairs if pair[1].wanting or pair[1].memory.path in self.drafts]
        if self.never:
            pairs = [pair for pair in pairs if pair[1].never_delivered(pair[0])]
        self._pairs = fuzzy.Haystack(rows.ordered(pairs, self.sort, self.reverse), rows.searched)
        table = self.table
        table.order = (self.sort, self.reverse)
        scopes = {pair[0].label: pair for pair in pairs}
        table.scopes = max(len(rows.scope_word(*pair)) for pair in scopes.values()) if len(scopes) > 1 else 0
        table.longest = max((len(row.memory.name) for _, row in pairs), default=0)
        table.fit()
        self.fill()

    def fill(self) -> None:
        """Put the memories of the place through the filter."""
        shown = self._pairs.select(self.typed)
        self.table.empty = self._why_empty()
        self.table.show(shown)
        self.count()
        if self._loaded:
            self.show_beside()

    def show_beside(self) -> None:
        """What goes with the list: the memory under the cursor, and how full the indexes are."""
        self.show_lines()
        self.show_detail()

    def _why_empty(self) -> str:
        if not self._loaded:
            return READING
        if self.typed:
            ways = actions.keyed("escape clears the filter, {memories.search} searches the texts.")
            return f"Nothing fits “{safe_text.line(self.typed, 60)}”.\n{ways}"
        if self.wanting:
            return "Nothing here wants your attention.\nescape shows all."
        if self.never:
            return "Everything here that memtui delivers was delivered.\nescape shows all."
        if self.kind:
            return f"No {self.kind} here.\nescape shows all types."
        scope = self.place.scopes[0] if self.place and len(self.place.scopes) == 1 else None
        if scope is not None and scope.problem:
            return f"{scope.directory}\n{scope.problem}: it is not read."
        return actions.keyed(EMPTY)

    def count(self) -> None:
        """What is shown, on the right of the foot."""
        if self.bulk.running:
            return  # it tells how far it is
        if self.begun:
            self.tell("reading …")
            return
        shown, total, marked = len(self.table.rows), len(self._pairs.rows), len(self.table.marks)
        words = f"{shown} of {total}" if shown != total else many(total, "memory", "memories")
        words += f" · {self.kind}" if self.kind else ""
        words += " · attention" * self.wanting + " · never sent" * self.never
        self.tell(words + (f" · {marked} marked" if marked else ""))

    def _draw(self, pair: Pair) -> list[Text]:
        brief = self.table.columns[rows.SCOPE].width == rows.BRIEF_SCOPE
        return rows.draw(pair, self.typed, self.outcomes, set(self.drafts), self.main.data.now(), brief=brief)
