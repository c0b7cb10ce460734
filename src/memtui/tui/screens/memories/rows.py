"""The rows of the Memories screen: columns, orders, and how a row is drawn."""

import dataclasses
import os
from collections.abc import Callable, Container, Mapping, Sequence
from typing import NamedTuple

from rich.text import Text

from memtui import actions
from memtui.core.base import clock
from memtui.core.base.finding import NOTE, PROBLEM
from memtui.core.base.phrasing import age, size
from memtui.core.health import findings
from memtui.core.memories import memory
from memtui.core.memories import status as memory_status
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.core.memories.status import Row
from memtui.present import colours, legend, safe_text
from memtui.present import memories as present
from memtui.present.deliveries import GLYPHS
from memtui.tui.model import fuzzy
from memtui.tui.screens.memories import tree
from memtui.tui.screens.memories.tree import Place
from memtui.tui.widgets.rows import Column

Pair = tuple[Scope, Row]
# In recall, the row where delivery ends: it is no memory, and no command acts on it.
RULE: Pair = (Scope("", "", ""), Row(Memory("rule", "", "", "", "", {}, "", 0, 0.0), ""))


class ListOrder(NamedTuple):
    """An order of the list: its key, the last column while it is on, and whether the arrow up is shown when not
    reversed."""

    key: Callable[[Pair], object]
    column: "Column | None" = None
    up: bool = True


def _by(name: str) -> Callable[[Pair], object]:
    key = memory_status.SORT_KEYS[name]
    return lambda pair: key(pair[1])


USED = Column("used", 6, right=True)
# The last column says what the list is ordered by; ordered by name or type, how often a memory was of use. As wide for
# each order as can be, so that the others do not move.
ORDERS = {
    "name": ListOrder(_by("name")),
    "type": ListOrder(_by("type")),
    "age": ListOrder(_by("age"), Column("age", 6, right=True)),
    "size": ListOrder(_by("size"), Column("size", 6, right=True), up=False),
    "sent": ListOrder(_by("deliveries"), Column("sent", 6, right=True), up=False),
    "last": ListOrder(_by("last"), Column("last", 6, right=True)),
    "used": ListOrder(lambda pair: -times_used(pair[1]), USED, up=False),
    "flags": ListOrder(_by("flags"), Column("fix", 6)),
    "scope": ListOrder(lambda pair: scope_word(*pair), Column("scope", 14)),
}
# The orders that change with deliveries.
BY_DELIVERIES = {"sent", "last", "used", "flags"}
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
# Cells of the name column: at least the first, at most the last, and between them what LEAST_DESCRIPTION leaves.
SHORT_NAME, LEAST_DESCRIPTION, LONG_NAME = 12, 18, 40
# The letter of a memory with an autosave.
AUTOSAVED = legend.UNSAVED[0]
# In the column of the last delivery, for memories that the client loads by itself.
BY_CLIENT = "client"
LEGEND = "\n".join(
    (
        legend.section("Types", ((name[0], name) for name in memory.TYPES)) + "  -       no type",
        "",
        legend.section("Scopes", [("@name", "the subagent's own memories")]),
        legend.section(
            "In the order of problems, what is to fix or worth knowing",
            {**memory_status.MEANINGS, AUTOSAVED: legend.UNSAVED[1]}.items(),
        )
        + "  !       a problem, in every order: the detail says which",
        "",
        legend.receipts("In the order of the last delivery")
        + f"  {BY_CLIENT}  Claude Code loads it itself\n  -       never delivered",
    )
)


def fitted(columns: Sequence[Column], width: int, longest_name: int) -> list[Column]:
    """Return the columns with as much room for names, up to the longest, as sentences leave in `width` cells."""
    if width < SAYS_FROM:
        return list(columns)
    fixed = [each for each in columns if each.width and each.from_width <= width < (each.until_width or width + 1)]
    rest = width - sum(column.width + 1 for column in fixed) - 2
    room = max(SHORT_NAME, min(longest_name, LONG_NAME, rest - LEAST_DESCRIPTION))
    return [dataclasses.replace(each, width=room) if each.title[:4] == "name" else each for each in columns]


def columns(sort: str, reverse: bool) -> list[Column]:
    """Return the columns, the one of the order with an arrow."""
    order = ORDERS[sort]
    columns = [*COLUMNS, order.column or USED]
    at = {"name": NAME, "type": TYPE}.get(sort, len(COLUMNS))
    title = columns[at].title + ("▴" if order.up != reverse else "▾")
    room = columns[at].width and max(columns[at].width, len(title))
    columns[at] = dataclasses.replace(columns[at], title=title, width=room)
    return columns


def sort_of(column: int, sort: str) -> str:
    """Return the order for a click on the title of this column; empty if there is none. `sort`: the present one."""
    if column == len(COLUMNS):
        return sort if ORDERS[sort].column else "used"
    return {TYPE: "type", TYPE + 1: "type", NAME: "name"}.get(column, "")


@dataclasses.dataclass
class View:
    """The order of the list."""

    sort: str = "name"
    reverse: bool = False

    def restore(self, state: Mapping[str, object]) -> None:
        """Restore a state that was remembered with `dataclasses.asdict`."""
        sort = state.get("sort")
        self.sort = sort if isinstance(sort, str) and sort in ORDERS else "name"
        self.reverse = state.get("reverse") is True

    def ordered(self, pairs: list[Pair]) -> list[Pair]:
        """Return the memories in order, equals by name."""
        sort_key = ORDERS[self.sort].key
        return sorted(pairs, key=lambda pair: (sort_key(pair), pair[1].memory.name.casefold()), reverse=self.reverse)


def place_line(place: Place | None, count: str) -> Text:
    """Return one line with a place of the tree, and how many memories are listed."""
    line = Text(" scope ", style="dim", no_wrap=True, overflow="ellipsis")
    if place is None:
        return line
    line.append(safe_text.line(place.words, 60) + " ▾", "bold").append(f" · {count}" if count else "")
    hint = actions.keyed("{memories.left} chooses a scope") if place.key == tree.ALL else "escape shows all"
    return line.append(f" · {hint}", "dim")


def searched(pair: Pair) -> str:
    """Return the text that the filter searches, in lower case."""
    scope, row = pair
    found = row.memory
    flags = f" {' '.join(map(findings.flag, row.flags))}" if row.flags else ""
    return f"{found.name} {found.description} {found.type} {scope.kind}:{scope_word(scope, row)}{flags}".casefold()


def body(pair: Pair) -> str:
    """Return the text of a memory, which the query searches as well."""
    return pair[1].memory.body


def scope_word(scope: Scope, row: Row) -> str:
    """Return a memory's scope for the list: global, project, auto, @AGENT, CLAUDE.md, rules, or another project."""
    if scope.kind == "agent":
        return f"@{scope.source}"
    if scope.kind == "instructions":
        return os.path.basename(row.file) if row.file.endswith("CLAUDE.md") else "rules"
    if scope.kind in {"auto", "team"} and scope.project:
        return scope.project
    return scope.label


def _flags(shown: str, row: Row) -> Text:
    """Return the letters of a row, those that are only worth knowing dim, as in Setup."""
    known = {memory_status.LETTERS[flag.code] for flag in row.flags if flag.level == NOTE}
    wrong = {memory_status.LETTERS[flag.code] for flag in row.flags if flag.level == PROBLEM}
    text = Text()
    for letter in shown:
        text.append(letter, "dim" if letter in known - wrong else "yellow")
    return text


def times_used(row: Row) -> int:
    """Return how often a prompt brought a memory, or the agent opened or wrote it."""
    return row.recalls.recalled + row.uses


def draw(
    pair: Pair, typed: str, outcomes: Mapping[str, str], autosaves: Container[str], now: float, sort: str
) -> list[Text]:
    """Return a row's cells. `outcomes`: by delivery id; `autosaves`: paths that have one; `sort`: the order."""
    row = pair[1]
    found = row.memory
    name = Text(safe_text.line(found.name, 200), style="red" if found.broken else "")
    description = Text(safe_text.line(found.description, 400), style="dim")
    kind, colour = safe_text.line(found.type or "-", 20), present.TYPE_STYLES.get(found.type, "dim")
    type_cell = Text(kind, style=colour)
    if typed:
        fuzzy.mark([name, description, type_cell], typed)
    unsaved = found.path in autosaves
    mark = "!" if findings.problems(row.flags) else AUTOSAVED if unsaved else ""
    last_cell = _ordered_by(sort, pair, outcomes, (AUTOSAVED if unsaved else "") + row.letters, now)
    return [
        Text(mark, style=colours.PROBLEM if mark == "!" else colours.WARNING),
        type_cell,
        Text(kind[0], style=colour),
        name,
        description,
        last_cell,
    ]


def _ordered_by(sort: str, pair: Pair, outcomes: Mapping[str, str], letters: str, now: float) -> Text:
    """Return the last cell of a row: what the list is ordered by."""
    scope, row = pair
    if sort == "flags":
        return _flags(letters, row)
    if sort == "last":
        return last(scope, row, outcomes, now)
    used = times_used(row)
    words = {
        "age": lambda: age(row.memory.changed_at or None, now),
        "size": lambda: size(row.memory.size),
        "sent": lambda: f"{row.deliveries}×" if row.deliveries else "",
        "scope": lambda: safe_text.line(scope_word(scope, row), 40),
    }.get(sort, lambda: f"{used}×" if used else "")()
    return Text(words, style="dim")


def last(scope: Scope, row: Row, outcomes: Mapping[str, str], now: float) -> Text:
    """Return how long ago a memory was delivered last, and a glyph for the outcome."""
    if not row.last_delivery:
        return Text("-" if scope.delivered else BY_CLIENT, style="dim")
    cell = Text().append(age(clock.parse(row.last_delivery), now) + " ", "dim")
    outcome = outcomes.get(str(row.newest[0].record.get("id"))) if row.newest else None
    if outcome is None:
        return cell.append(" ")
    glyph, style = GLYPHS[outcome]
    return cell.append(glyph, style)
