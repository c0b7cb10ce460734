"""The list of memories: its columns, which adapt to width and order, its orders, and how a row is drawn."""

import dataclasses
import os
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from rich.segment import Segment
from rich.text import Text
from textual.strip import Strip

from memtui.base import clock, findings
from memtui.base.finding import PROBLEM
from memtui.base.phrasing import age, size
from memtui.store import memory
from memtui.store import status as memory_status
from memtui.store.memory import Memory
from memtui.store.scopes import Scope
from memtui.store.status import Row
from memtui.tui.model import fuzzy
from memtui.tui.widgets import markdown
from memtui.tui.widgets.bars import fitting
from memtui.tui.widgets.rows import Column, RowList
from memtui.views import colours, glyphs, query, safe_text
from memtui.views import memories as present
from memtui.views.deliveries import GLYPHS, legend
from memtui.views.recall import PINNED

Pair = tuple[Scope, Row]
# In recall, the row where delivery ends: it is no memory, and no command acts on it.
RULE: Pair = (Scope("", "", ""), Row(Memory("rule", "", "", "", "", {}, "", 0, 0.0), ""))


def _by(name: str) -> Callable[[Pair], object]:
    key = memory_status.SORT_KEYS[name]
    return lambda pair: key(pair[1])


USED = Column("used", 6, right=True)
# The orders of the list: the key of each, and the last column, which says what the list is ordered by; ordered by name
# or type, how often a memory was of use. As wide for each order as can be, so that the others do not move.
ORDERS: dict[str, tuple[Callable[[Pair], object], Column]] = {
    "name": (_by("name"), USED),
    "type": (_by("type"), USED),
    "age": (_by("age"), Column("age▴", 6, right=True)),
    "size": (_by("size"), Column("size▾", 6, right=True)),
    "delivered": (_by("deliveries"), Column("delivered▾", 10, right=True)),
    "last": (_by("last"), Column("last▴", 6, right=True)),
    "used": (lambda pair: -pair[1].used, Column("used▾", 6, right=True)),
    "flags": (_by("flags"), Column("fix▴", 9)),
    "scope": (lambda pair: scope_word(*pair), Column("scope▴", 14)),
}
# The orders that change with deliveries.
BY_DELIVERIES = {"delivered", "last", "used", "flags"}
# The list widths from which types are written out, and sentences stand beside names.
WHOLE_TYPE, SAYS_FROM = 60, 44
COLUMNS = (
    Column("", 1),
    Column("type", 9, from_width=WHOLE_TYPE),
    Column("", 1, until_width=WHOLE_TYPE),
    Column("name"),
    Column("what it says", from_width=SAYS_FROM),
)
TYPE, NAME = 1, 3
# Cells of the name column: at least the first, at most the last, and between them a third of the list.
SHORT_NAME, LONG_NAME = 12, 40
# The mark of a memory with an autosave, and the word for it; a word for each letter of a problem.
AUTOSAVED, UNSAVED = glyphs.UNSAVED[0], "unsaved"
WORDS = ("broken", "hidden", "untrusted", "not loaded", "unlisted", "links", "changed")
REASONS = dict(zip(memory_status.ORDER, WORDS, strict=True))
# In the column of the last delivery, for memories that the client loads by itself.
BY_CLIENT = "client"
NUMBERS = (
    ("delivered", "how often memtui brought it to Claude"),
    ("used", "how often a prompt brought it, or Claude opened or wrote it"),
)
LEGEND = "\n".join(
    (
        glyphs.section("Types", ((name[0], name) for name in memory.TYPES)) + "  -       no type",
        "",
        glyphs.section("Filter", ((f"is:{state}", meaning) for state, meaning in query.STATES.items())),
        glyphs.section("Marks", [(PINNED, "pinned: recall counts it more")]),
        glyphs.section(
            "In the order of problems, what is to fix or worth knowing",
            [(REASONS[letter], meaning) for letter, meaning in memory_status.MEANINGS.items()],
        ),
        glyphs.section("In every order", [("!", "a problem: the detail says more"), glyphs.UNSAVED]),
        glyphs.section("Numbers", NUMBERS),
        "",
        legend("In the order of the last delivery")
        + f"  {BY_CLIENT}  Claude Code loads it itself\n  -       never delivered",
    )
)


def fitted(columns: Sequence[Column], width: int, longest_name: int, longest_scope: int = 0) -> list[Column]:
    """Return the columns with room for the longest name in a third, and of a scope in a quarter of `width`."""
    if width < SAYS_FROM:
        return list(columns)
    sizes: dict[str, dict[str, Any]] = {
        "name": {"width": max(SHORT_NAME, min(longest_name, LONG_NAME, width // 3))},
        "scope": {"longest": longest_scope},
    }
    return [dataclasses.replace(column, **sizes.get(column.title.rstrip("▴"), {})) for column in columns]


def columns(sort: str, last: str = "") -> list[Column]:
    """Return the columns of the list in an order, with the last one of another: `last`."""
    column = ORDERS[last or sort][1]
    columns = [*COLUMNS, column if last in {"", sort} else dataclasses.replace(column, title=column.title.rstrip("▴▾"))]
    for at in {"name": [NAME], "type": [TYPE]}.get(sort, ()):
        columns[at] = dataclasses.replace(columns[at], title=columns[at].title + "▴")
    return columns


def searched(pair: Pair) -> str:
    scope, row = pair
    mem = row.memory
    flags = f" {_flags(row)} {_reason(row)}" if row.flags else ""
    return f"{mem.name} {mem.description} {mem.type} {scope.kind}:{scope_word(scope, row)}{flags}".casefold()


def _flags(row: Row) -> str:
    return " ".join(map(findings.flag, row.flags))


def flagged_first(pairs: list[Pair], typed: str) -> list[Pair]:
    """Return memories with those first whose own word for what is wrong was typed."""
    words = set(typed.casefold().split()) & {*WORDS}
    return sorted(pairs, key=lambda pair: _reason(pair[1]).plain not in words) if words else pairs


def body(pair: Pair) -> str:
    """Return the text of a memory, which the query searches as well."""
    return pair[1].memory.body


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


def after_problem(row: Row, description: Text, typed: str) -> Text:
    """Return a description behind the word for its worst problem, or for what has a typed word."""
    is_sought = row.flags and any(word in _flags(row).casefold() for word in typed.casefold().split())
    if not (is_sought or findings.problems(row.flags)):
        return description
    reason = _reason(row)
    return Text.assemble(reason, (" · " if description else "", reason.style), description)


def draw(
    pair: Pair,
    typed: str,
    outcomes: Mapping[str, str],
    autosaves: Container[str],
    now: float,
    sort: str,
    project: str = "",
) -> list[Text]:
    """Return a row's cells. `outcomes`: by delivery id; `autosaves`: paths that have one; `sort`: the order."""
    row = pair[1]
    mem = row.memory
    # Cut by letters, as much of a name as there is room for.
    name = Text(safe_text.line(mem.name, 200), colours.PROBLEM if mem.broken else "", overflow="ellipsis")
    description = Text(markdown.inline(safe_text.line(mem.description, 400)).plain, style="dim")
    kind, colour = safe_text.line(mem.type or "-", 20), colours.TYPES.get(mem.type, "dim")
    type_cell = Text(kind, style=colour)
    if typed:
        fuzzy.mark([name, description, type_cell], typed)
    reason, is_wrong, unsaved = _reason(row), bool(findings.problems(row.flags)), mem.path in autosaves
    if sort != "flags":
        description = after_problem(row, description, typed)
    if memory.is_pinned(mem.fields):
        name = Text.assemble((PINNED + " ", colours.PERSON), name, overflow="ellipsis")
    mark = "!" if is_wrong else AUTOSAVED if unsaved else ""
    reason = reason or Text(UNSAVED * unsaved, style=colours.WARNING)
    last_cell = reason if sort == "flags" else _ordered_by(sort, pair, outcomes, now, project)
    return [
        Text(mark, style=colours.PROBLEM if mark == "!" else colours.WARNING),
        type_cell,
        Text(kind[0], style=colour),
        name,
        description,
        last_cell,
    ]


def _ordered_by(sort: str, pair: Pair, outcomes: Mapping[str, str], now: float, project: str) -> Text:
    """Return the last cell of a row: what the list is ordered by."""
    scope, row = pair
    if sort == "last":
        return last(scope, row, outcomes, now)
    words = {
        "age": lambda: age(row.memory.changed_at or None, now),
        "size": lambda: size(row.memory.size),
        "delivered": lambda: f"{row.deliveries}×" if row.deliveries else "",
        "scope": lambda: safe_text.line(scope_word(scope, row, project), 40),
    }.get(sort, lambda: f"{row.used}×" if row.used else "")()
    return Text(words, style="dim", no_wrap=True)


def last(
    scope: Scope, row: Row, outcomes: Mapping[str, str], now: float, words: Callable[[float | None, float], str] = age
) -> Text:
    """Return how long ago a memory was delivered last, by `words`, and a glyph for the outcome."""
    if not row.last_delivery:
        return Text("-" if scope.delivered else BY_CLIENT, style="dim")
    cell = Text().append(words(clock.parse(row.last_delivery), now) + " ", "dim")
    outcome = outcomes.get(str(row.newest[0].record.get("id"))) if row.newest else None
    if outcome is None:
        return cell.append(" ")
    glyph, style = GLYPHS[outcome]
    return cell.append(glyph, style)


def _path(pair: Pair) -> str:
    return pair[1].memory.path


class MemoryTable(RowList[Pair]):
    """The list. In recall it has columns of its own, and a `rule` where delivery ends."""

    DEFAULT_CSS = "MemoryTable { width: 1fr; }"

    def __init__(self, draw: Callable[[Pair], list[Text]], sought: Callable[[], str], *, empty: str) -> None:
        look = lambda pair: (_path(pair), sought())
        can_mark = lambda pair: pair is not RULE
        super().__init__(COLUMNS, draw, _path, empty=empty, look=look, can_mark=can_mark, id="list")
        self.order = "name"
        self.of_projects = False
        self.longest_name = self.longest_scope = 0
        self.recall_columns: Sequence[Column] = ()
        self.rule: Callable[[], str] = str

    @property
    def last_column(self) -> str:
        """The order whose column is the last."""
        return "scope" if self.of_projects and ORDERS[self.order][1] is USED else self.order

    def chosen(self) -> list[Pair]:
        return [pair for pair in super().chosen() if pair is not RULE]

    def why_none(self) -> str:
        """Return why no memory is chosen; empty if there is one."""
        if self.chosen():
            return ""
        if self.marks:
            return "The filter hides the marked ones: escape shows them."
        return "There is no memory under the cursor."

    def why_read_only(self) -> str:
        """Return why the chosen memories can't be changed; empty if they can."""
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
        names = [len(mem.name) + len(PINNED + " ") * memory.is_pinned(mem.fields) for mem in memories]
        self.longest_name = max([self.longest_name, *names])
        self.fit()
        sort_key = ORDERS[self.order][0]
        return sorted(pairs, key=lambda pair: (sort_key(pair), pair[1].memory.name.casefold()))

    def fit(self) -> None:
        width = self.scrollable_content_region.width - 1
        if width > 0:
            shown = self.recall_columns or columns(self.order, self.last_column)
            self.columns = fitted(shown, width, self.longest_name, self.longest_scope)

    def on_resize(self) -> None:
        self.fit()
        super().on_resize()

    def _line(self, at: int, width: int) -> Strip:
        if self.rows[at] is not RULE:
            return super()._line(at, width)
        is_here, paint = self.has_cursor and at == self.cursor, self._paint
        assert paint is not None
        style = paint.cursor.base if is_here else self.get_component_rich_style("rows--head")
        text = fitting(Text(f"{glyphs.CURSOR if is_here else ' '}── {safe_text.line(self.rule())}"), width - 1)
        text.truncate(width - 1, overflow="ellipsis")
        text.append(" ")
        line = text.plain + "─" * max(0, width - 1 - text.cell_len)
        return Strip([Segment(line, style)]).adjust_cell_length(width, paint.ink.base).crop(0, width)
