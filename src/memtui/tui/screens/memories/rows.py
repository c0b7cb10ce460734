"""The list of memories: its columns, which adapt to width and order, and its rows; and the tree of scopes."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from rich.segment import Segment
from rich.text import Text
from textual.geometry import Size
from textual.strip import Strip

from memtui import keymap
from memtui.base import clock_hot, findings
from memtui.base.finding import PROBLEM
from memtui.base.phrasing_hot import age
from memtui.store import memory
from memtui.store import status as memory_status
from memtui.store.memory import Memory
from memtui.store.scopes import Scope
from memtui.store.status import Row
from memtui.tui.model import matches
from memtui.tui.screens.memories.reader import MemoryReader, Pair
from memtui.tui.texts import TABLES, TEXTS
from memtui.tui.widgets import prose
from memtui.tui.widgets.lines import fitting
from memtui.tui.widgets.rows import Column, RowList
from memtui.views import colours, glyphs, query, rules, safe_text
from memtui.views import memories as present
from memtui.views.deliveries import GLYPHS, legend
from memtui.views.recall import PINNED

# In recall, the row where delivery ends: it is no memory, and no command acts on it.
RULE: Pair = (Scope("", "", ""), Row(Memory("rule", "", "", "", "", {}, "", 0, 0.0), ""))


class ListOrder(NamedTuple):
    """An order of the list: its last column, which says what it is, and the words there for a memory."""

    column: Column
    words: Callable[[Row, float], str] = lambda *_: ""  # the latter: now


USED = ListOrder(Column("used", 5, right=True), lambda row, _: f"{row.used}×" if row.used else "")
# The orders of the list; by name it says how often a memory was of use. As wide for each order as can be, so that the
# others do not move. `_last_cell` draws those without words.
ORDERS = {
    "name": USED,
    "age": ListOrder(Column("age▴", 6, right=True), lambda row, now: age(row.memory.changed_at or None, now)),
    "last": ListOrder(Column("last▴", 6, right=True)),
    "used": ListOrder(Column("used▾", 6, right=True), USED.words),
    "held": USED,
    "flags": ListOrder(Column("fix▴", 9)),
    "scope": ListOrder(Column("scope▴", 14)),
}
BY_DELIVERIES = {"last", "used", "flags", "held"}  # the orders that change with deliveries
WHOLE_TYPE, SAYS_FROM = 60, 44  # the list widths from which types are written out, and sentences stand beside names
# How often the agent kept the rules, which a list without room for all has instead of how often they were of use.
HELD = Column("held", 6, right=True, from_width=SAYS_FROM)
COLUMNS = (
    Column("", 1),
    Column("type", 9, from_width=WHOLE_TYPE),
    Column("", 1, until_width=WHOLE_TYPE),
    Column("name"),
    Column("what it says", from_width=SAYS_FROM),
)
BESIDE_SCOPE = 98  # the list width from which types are written out beside scopes
HALF = 0.5  # rules that are kept less often than this are to be looked at
SHORT_NAME, LONG_NAME = 12, 40  # the least and the most cells of the name column; between them a third of the list
# The mark of a memory with an autosave, and the word for it; a word for each letter of a problem.
AUTOSAVED, UNSAVED = glyphs.UNSAVED[0], "unsaved"
WORDS = ("broken", "hidden", "untrusted", "check fails", "not loaded", "unlisted", "links", "unchecked", "changed")
REASONS = dict(zip(memory_status.ORDER, WORDS, strict=True))
BY_CLIENT = "client"  # in the column of the last delivery, for memories that the client loads by itself
LEGEND = "\n".join(
    (
        glyphs.section("Types", ((name[0], name) for name in memory.TYPES)) + "  -       no type",
        "",
        glyphs.section("Filter", ((f"is:{state}", meaning) for state, meaning in query.STATES.items())),
        glyphs.section("Marks", [(PINNED, "pinned: every session begins with it")]),
        glyphs.section(
            "In the order of problems, what is to fix or worth knowing",
            [(REASONS[letter], meaning) for letter, meaning in memory_status.MEANINGS.items()],
        ),
        glyphs.section("In every order", [("!", "a problem: the detail says more"), glyphs.UNSAVED]),
        glyphs.section("Numbers", TABLES["memory numbers"].items()),
        "",
        legend("In the order of the last delivery")
        + f"  {BY_CLIENT}  Claude Code loads it itself\n  -       never delivered",
    )
)
ALL = "all"  # the tree of scopes: its first line, which has all
# The groups of scopes, folded at first: (key, label).
INSTRUCTIONS = "instructions"
GROUPS = {"agents": "agents", "others": "other projects", INSTRUCTIONS: INSTRUCTIONS}
MOST_LABEL = 20  # cells of a label in the tree
UNREAD = "…"  # shown instead of a count until all memories are read


def searched(pair: Pair) -> str:
    scope, row = pair
    mem = row.memory
    flags = " ".join([*map(findings.flag, row.flags), _reason(row).plain])
    return f"{mem.name} {mem.description} {mem.type} {scope.kind}:{scope_word(scope, row)} {flags}".casefold()


def scope_word(scope: Scope, row: Row, project: str = "") -> str:
    """Return the name of a memory's scope, of an instruction that of its file or `rules`."""
    if scope.kind == "instructions":
        return os.path.basename(row.file) if row.file.endswith("CLAUDE.md") else "rules"
    return present.scope_name(scope, project)


def _reason(row: Row) -> Text:
    """Return the word for the worst problem of a memory, else for the first thing that is worth knowing, dim."""
    worst = min(row.flags, key=lambda flag: flag.level != PROBLEM, default=None)
    if worst is None:
        return Text()
    style = colours.PROBLEM if worst.level == PROBLEM else "dim"
    return Text(REASONS[memory_status.LETTERS[worst.code]], style=style)


def last(
    scope: Scope, row: Row, outcomes: Mapping[str, str], now: float, words: Callable[[float | None, float], str] = age
) -> Text:
    """Return how long ago a memory was delivered last, by `words`, and a glyph for the outcome."""
    if not row.last_delivery:
        return Text("-" if scope.delivered else BY_CLIENT, style="dim")
    cell = Text().append(words(clock_hot.parse(row.last_delivery), now) + " ", "dim")
    outcome = outcomes.get(str(row.newest[0].record.get("id"))) if row.newest else None
    return cell.append(" ") if outcome is None else cell.append(*GLYPHS[outcome])


def _path(pair: Pair) -> str:
    return pair[1].memory.path


class MemoryTable(RowList[Pair]):
    """The list. `words`: what is typed into the filter; `recall`: the state that draws the list, if it is in it."""

    def __init__(self, reader: MemoryReader, words: Callable[[], str], *, empty: str) -> None:
        look = lambda pair: (_path(pair), words())
        can_mark = lambda pair: pair is not RULE
        super().__init__(COLUMNS, self._cells, _path, empty=empty, look=look, can_mark=can_mark, id="list")
        self.reader, self.words = reader, words
        self.order = "name"
        self.of_projects = self.has_rules = False
        self.longest_name = self.longest_scope = 0
        self.recall: Any = None

    @property
    def _last_order(self) -> str:
        if self.recall:
            return ""
        return "scope" if self.of_projects and ORDERS[self.order] is USED else self.order

    def chosen(self) -> list[Pair]:
        return [pair for pair in super().chosen() if pair is not RULE]

    def why_none(self) -> str:
        if self.chosen():
            return ""
        if self.marks:
            return "The filter hides the marked ones: escape shows them."
        return "There is no memory under the cursor."

    def why_read_only(self) -> str:
        read_only = (row.memory for scope, row in self.chosen() if not scope.writable and not scope.is_shared)
        first = next(read_only, None)
        if first is None:
            return ""
        if first.scope_label == "model":
            return f"{first.name} is a block of the model: only its text can be changed."
        return f"{first.name} is one of your instructions, read-only here: change {first.path} itself."

    def ordered(self, pairs: Sequence[Pair]) -> list[Pair]:
        """Return memories in the order of the list, equals by name, and set the columns for them."""
        # Never shorter again: in another scope, or while more memories are read, the columns stay where they are.
        memories = [row.memory for _, row in pairs]
        names = [len(mem.name) + len(PINNED + " ") * mem.pinned for mem in memories]
        self.longest_name = max([self.longest_name, *names])
        self.fit()
        by_row = memory_status.SORT_KEYS.get(self.order)

        def sort_key(pair: Pair) -> Any:
            name = pair[1].memory.name.casefold()
            return name if self.order == "name" else (by_row(pair[1]) if by_row else scope_word(*pair), name)

        return sorted(pairs, key=sort_key)

    def next_order(self) -> None:
        names = [name for name in ORDERS if name != "held" or self.has_rules]
        self.order = names[(names.index(self.order) + 1) % len(names)]
        self.redraw()

    def _columns(self) -> list[Column]:
        column = ORDERS[self._last_order].column
        if column is USED.column and self.has_rules:
            column = replace(column, from_width=WHOLE_TYPE)
        bare = replace(column, title=column.title.rstrip("▴▾"))
        held_columns = [replace(HELD, from_width=0) if self.order == "held" else HELD] * self.has_rules
        columns = [*COLUMNS, *held_columns, column if self._last_order == self.order else bare]
        if self._last_order == "scope":
            columns[1:3] = [replace(COLUMNS[1], from_width=BESIDE_SCOPE), replace(COLUMNS[2], until_width=BESIDE_SCOPE)]
        return [replace(each, title=f"{each.title}▴") if each.title == self.order else each for each in columns]

    def fit(self) -> None:
        """Give the columns room for the longest name in a third of the list, and for the longest scope in a quarter."""
        width = self.scrollable_content_region.width - 1
        columns = [*(self.recall.columns if self.recall else self._columns())]
        if width >= SAYS_FROM:
            name_width = max(SHORT_NAME, min(self.longest_name, LONG_NAME, width // 3))
            sizes: dict[str, dict[str, Any]] = {"name": {"width": name_width}, "scope": {"longest": self.longest_scope}}
            columns = [replace(column, **sizes.get(column.title.rstrip("▴"), {})) for column in columns]
        self.columns = columns  # also without a width: as many as a row's cells, whatever is painted first

    def on_resize(self) -> None:
        self.fit()
        super().on_resize()

    def _cells(self, pair: Pair) -> list[Text]:
        if self.recall:
            cells: list[Text] = self.recall.draw(pair)
            return cells
        row, mem = pair[1], pair[1].memory
        kind = safe_text.line(mem.type or "-", 20)
        type_cell, mark = Text(kind, "dim"), Text()
        name, says = self.draw_words(pair, colours.PROBLEM if mem.broken else "", type_cell)
        if findings.problems(row.flags):
            mark = Text("!", style=colours.PROBLEM)
        elif mem.path in self.reader.autosaves:
            mark = Text(AUTOSAVED, style=colours.WARNING)
        share = colours.WARNING if row.held_share is not None and row.held_share < HALF else "dim"
        held_cells = [Text(rules.fraction(row), share, no_wrap=True)] * self.has_rules
        last_cell = self._last_cell(pair, self._last_order)
        return [mark, type_cell, Text(kind[0], "dim"), name, says, *held_cells, last_cell]

    def draw_words(self, pair: Pair, style: str, *others: Text) -> tuple[Text, Text]:
        """Draw name and description of a memory; in them and in `others` what is typed is marked."""
        row, mem, typed = pair[1], pair[1].memory, self.words()
        # Cut by letters, as much of a name as there is room for.
        name = Text(safe_text.line(mem.name, 200), style, overflow="ellipsis")
        says = Text(prose.inline(safe_text.line(mem.description, 400)).plain, style="dim")
        matches.mark([name, says, *others], typed)
        if self._last_order != "flags" and findings.problems(row.flags):
            reason = _reason(row)
            says = Text.assemble(reason, (" · " if says else "", reason.style), says)
        if mem.pinned:
            name = Text.assemble((PINNED + " ", colours.PERSON), name, overflow="ellipsis")
        return name, says

    def _last_cell(self, pair: Pair, order: str) -> Text:
        scope, row = pair
        data = self.reader.services.data
        if order == "flags":
            return _reason(row) or Text(UNSAVED * (row.memory.path in self.reader.autosaves), style=colours.WARNING)
        if order == "last":
            return last(scope, row, self.reader.outcomes, data.now())
        words = ORDERS[order].words(row, data.now())
        if order == "scope":
            return Text(safe_text.line(scope_word(scope, row, data.facts.project), 40), "dim", overflow="ellipsis")
        return Text(words, style="dim", no_wrap=True)

    def _line(self, at: int, width: int) -> Strip:
        if self.rows[at] is not RULE:
            return super()._line(at, width)
        is_here, paint = self.has_cursor and at == self.cursor, self._paint
        assert paint is not None
        style = paint.cursor.base if is_here else self.get_component_rich_style("rows--head")
        text = fitting(Text(f"{glyphs.CURSOR if is_here else ' '}── {safe_text.line(self.recall.rule())}"), width - 1)
        text.truncate(width - 1, overflow="ellipsis")
        text.append(" ")
        line = text.plain + "─" * max(0, width - 1 - text.cell_len)
        return Strip([Segment(line, style)]).adjust_cell_length(width, paint.ink.base).crop(0, width)


# the tree of scopes, and of groups of scopes


@dataclass(frozen=True)
class Place:
    """A line of the tree: some scopes."""

    key: str
    label: str
    count: int
    scopes: tuple[Scope, ...]
    depth: int = 0
    fold: bool | None = None  # whether it is unfolded, None if it can't be folded
    unread: bool = False  # it may have more memories than `count`

    @property
    def scope(self) -> Scope | None:
        """Its scope; None if it has several."""
        return self.scopes[0] if len(self.scopes) == 1 else None

    @property
    def counted(self) -> str:
        """The number of memories in words, UNREAD until it is known."""
        return UNREAD if self.unread else str(self.count)

    @property
    def words(self) -> str:
        """Its name, with that of the group above it."""
        return f"{GROUPS[group_of(self.scopes[0])]} ▸ {self.label}" if self.depth else self.label

    def draw(self) -> list[Text]:
        mark = {True: f"{glyphs.UNFOLDED} ", False: f"{glyphs.FOLDED} ", None: "  "}[self.fold]
        name = "  " * self.depth + mark + safe_text.line(self.label, 60)
        text = Text(name, style="bold" if not self.depth and (self.count or self.unread) else "dim")
        if self.scope is not None and not self.depth and (self.scope.problem or not self.scope.trusted):
            text.append(" !", colours.PROBLEM)
        return [text, Text(self.counted, "dim")]


def group_of(scope: Scope) -> str:
    """Return the key of a scope's group; empty for scopes with a line of their own at the top."""
    if scope.label in {"global", "project", "auto", "team", "model"} or scope.kind == "remote":
        return ""
    return {"agent": "agents", INSTRUCTIONS: INSTRUCTIONS}.get(scope.kind, "others")


def is_here(scope: Scope) -> bool:
    """Return whether a scope belongs to this project, so that the first line of the tree counts it."""
    return group_of(scope) not in {"others", INSTRUCTIONS}


class ScopeTree(RowList[Place]):
    """The widget. `unfolded`: the keys of the groups whose scopes are shown."""

    def __init__(self, reader: MemoryReader) -> None:
        columns = (Column(""), Column("", 2, right=True))
        super().__init__(columns, Place.draw, lambda place: place.key, header=False, id="scopes")
        self.reader = reader
        self.unfolded: set[str] = set()
        self.width_needed = 0  # cells

    def places(self, unfolded: Collection[str] = tuple(GROUPS)) -> list[Place]:
        """Return the lines of the tree, with the scopes of the `unfolded` groups."""
        scopes, unread = self.reader.scopes, self.reader.unread
        project, everywhere = self.reader.services.data.facts.project, self.reader.services.all_projects

        def place(key: str, label: str, members: Sequence[Scope]) -> Place:
            count = sum(len(self.reader.rows.get(scope.label, ())) for scope in members)
            return Place(key, label, count, tuple(members), unread=any(scope.label in unread for scope in members))

        def place_of(scope: Scope) -> Place:
            name = present.scope_name(scope, project)
            return place(scope.label, name.partition(" ")[2] if group_of(scope) else name, [scope])

        listed = [scope for scope in scopes if is_here(scope) or (everywhere and group_of(scope) != INSTRUCTIONS)]
        places = [place(ALL, "all projects" if everywhere else "all here", listed)]
        places += [place_of(scope) for scope in scopes if not group_of(scope)]
        for key, label in GROUPS.items():
            members = [scope for scope in scopes if group_of(scope) == key]
            places += [replace(place(key, label, members), fold=key in unfolded)] if members else []
            places += [replace(place_of(scope), depth=1) for scope in members] if key in unfolded else []
        return places

    def get_content_width(self, container: Size, viewport: Size) -> int:  # noqa: ARG002
        return self.width_needed

    def show_scopes(self) -> None:
        places = self.places(self.unfolded)
        counts = max(2, *(len(place.counted) for place in places))
        self.columns[1:] = [Column("", counts, right=True)]
        width = min(MOST_LABEL, max(place.draw()[0].cell_len for place in self.places())) + counts + 3
        if width != self.width_needed:
            self.width_needed = width
            self.refresh(layout=True)
        here, keys = self.row_id, {place.key for place in places}
        self.show(places)
        if here and here not in keys:  # not the next one: keys would go to another project's memories
            self._move_to_key(ALL)

    def fold(self, key: str, *, unfold: bool) -> None:
        self.unfolded = self.unfolded | {key} if unfold else self.unfolded - {key}
        self.show_scopes()

    def to_parent(self) -> None:
        self.move_to(next(at for at in range(self.cursor, -1, -1) if not self.rows[at].depth))

    def go_to(self, key: str) -> None:
        """Move the cursor to a place, unfolding what it is under."""
        scope = next((scope for scope in self.reader.scopes if scope.label == key), None)
        if scope is not None and group_of(scope):
            self.fold(group_of(scope), unfold=True)
        self._move_to_key(key)

    def _move_to_key(self, key: str) -> None:
        at = self.index_of(key)
        if at is not None:
            self.move_to(at)

    def why_empty(self) -> str:
        """Return why the list has no memories of the place under the cursor, and what will fill it."""
        from memtui.views import notes

        services, scope = self.reader.services, self.row.scope if self.row is not None else None
        if scope is not None and scope.problem:
            return f"{scope.directory}\n{scope.problem}: it is not read."
        if scope is not None and any(self.reader.rows.values()):
            filled_by = keymap.keyed(TEXTS.get(f"empty {scope.kind}", ""), read_only=services.read_only)
            return f"No memories in {self.reader.name_of(scope)}.\n{filled_by}"
        keys = notes.before(services.data.unheard(["project"]), TEXTS["keys without memories"])
        return keymap.keyed(f"Nothing is remembered here yet.\n\n{keys}", read_only=services.read_only)
