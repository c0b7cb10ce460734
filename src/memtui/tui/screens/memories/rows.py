"""The rows of the Memories screen: columns, sorting, filters, and how a row is drawn."""

import dataclasses
import os
from collections.abc import Callable, Collection, Container, Mapping
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
from memtui.present import legend, safe_text
from memtui.present import memories as present
from memtui.present.deliveries import GLYPHS
from memtui.tui.model import fuzzy
from memtui.tui.screens.memories import tree
from memtui.tui.screens.memories.tree import Place
from memtui.tui.widgets.rows import Column

Pair = tuple[Scope, Row]
# In recall, the row where delivery ends: it is no memory, and no command acts on it.
RULE: Pair = (Scope("", "", ""), Row(Memory("rule", "", "", "", "", {}, "", 0, 0.0), ""))


class Sort(NamedTuple):
    """An order of the list: the number of its column, its key, and whether the arrow up is shown when not reversed."""

    column: int
    key: Callable[[Pair], object]
    up: bool = True


def _by(name: str) -> Callable[[Pair], object]:
    key = memory_status.SORT_KEYS[name]
    return lambda pair: key(pair[1])


SORTS = {
    "name": Sort(2, _by("name")),
    "type": Sort(0, _by("type")),
    "age": Sort(6, _by("age")),
    "size": Sort(7, _by("size"), up=False),
    "sent": Sort(8, _by("deliveries"), up=False),
    "last": Sort(9, _by("last")),
    "recalled": Sort(10, _by("recalled"), up=False),
    "used": Sort(11, _by("used"), up=False),
    "flags": Sort(5, _by("flags")),
    "scope": Sort(3, lambda pair: scope_word(*pair)),
}
# The sort names whose order changes with deliveries.
BY_DELIVERIES = {"sent", "last", "recalled", "used", "flags"}
# The list width from which recalls and uses are shown: it is 130 in 160x48, and 106 beside the detail in 200 cells.
WITH_RECALLS = 104
COLUMNS = (
    Column("", 1),
    Column("type", 9, from_width=84),
    Column("name"),
    Column("scope", 7),
    Column("description", from_width=62),
    Column("!·", 3),
    Column("age", 4, right=True),
    Column("size", 6, right=True, from_width=84),
    Column("sent", 5, right=True, from_width=40),
    Column("last", 6, right=True, from_width=40),
    Column("recalled", 8, right=True, from_width=WITH_RECALLS),
    Column("used", 4, right=True, from_width=WITH_RECALLS),
)
NAME, SCOPE, DESCRIPTION = 2, 3, 4
# The most cells of the scope column (BRIEF, the column's own, WIDE) and the list widths from which they hold; below
# SCOPE_FROM it is hidden.
BRIEF_SCOPE, LEAST_SCOPE, USUAL_FROM, WIDE_SCOPE, WIDE_FROM, SCOPE_FROM = 4, 6, 56, 14, 110, 44
# Abbreviated scope words.
BRIEF = {"global": "glob", "project": "proj", "CLAUDE.md": "CLAU", "rules": "rule"}
NEVER = 10_000  # a list width that is never reached
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
            "In the column !·, what is to fix or worth knowing",
            {**memory_status.MEANINGS, AUTOSAVED: legend.UNSAVED[1]}.items(),
        )
        + "  +       there is more: the detail says what",
        "",
        legend.receipts("The last delivery") + f"  {BY_CLIENT}  Claude Code loads it itself\n  -       never delivered",
    )
)


def distinct_width(words: Collection[str]) -> int:
    """Return the fewest cells, at most WIDE_SCOPE, in which no two of these words are cut to the same."""
    widths = range(BRIEF_SCOPE, WIDE_SCOPE)
    cut = ({word if len(word) <= width else word[: width - 1] for word in words} for width in widths)
    return next((width for width, left in zip(widths, cut, strict=True) if len(left) == len(set(words))), WIDE_SCOPE)


def columns(sort: str, reverse: bool, width: int, *, scopes: Collection[str], longest_name: int) -> list[Column]:
    """Return the columns for a list `width` cells wide, the sorted one with an arrow. `scopes`: the scope words of the
    memories; `longest_name`: the length of the longest name."""
    at, _, up = SORTS[sort]
    columns = list(COLUMNS)
    scope = WIDE_SCOPE if width >= WIDE_FROM else columns[SCOPE].width if width >= USUAL_FROM else BRIEF_SCOPE
    if scope > BRIEF_SCOPE:
        longest = max(map(len, scopes), default=0)
        scope = max(LEAST_SCOPE, min(max(scope, distinct_width(scopes)), longest))
    columns[SCOPE] = Column(
        "scope" if scope > BRIEF_SCOPE else "in", scope, from_width=SCOPE_FROM if len(scopes) > 1 else NEVER
    )
    if width >= columns[DESCRIPTION].from_width:
        rest = width - sum(column.width + 1 for column in columns if column.width and width >= column.from_width) - 2
        columns[NAME] = Column("name", max(SHORT_NAME, min(longest_name, LONG_NAME, rest - LEAST_DESCRIPTION)))
    found = columns[at]
    title = found.title + ("▴" if up != reverse else "▾")
    columns[at] = dataclasses.replace(found, title=title, width=found.width and max(found.width, len(title)))
    return columns


def sort_of(column: int) -> str:
    """Return the sort name for a click on the title of this column; empty if there is none."""
    names = {each.column: name for name, each in SORTS.items()} | {1: "type"}
    return names.get(column, "")


@dataclasses.dataclass
class View:
    """The order of the list."""

    sort: str = "name"
    reverse: bool = False

    def restore(self, state: Mapping[str, object]) -> None:
        """Restore a state that was remembered with `dataclasses.asdict`."""
        sort = state.get("sort")
        self.sort = sort if isinstance(sort, str) and sort in SORTS else "name"
        self.reverse = state.get("reverse") is True

    def ordered(self, pairs: list[Pair]) -> list[Pair]:
        """Return the memories in order, equals by name."""
        sort_key = SORTS[self.sort].key
        return sorted(pairs, key=lambda pair: (sort_key(pair), pair[1].memory.name.casefold()), reverse=self.reverse)


def place_line(place: Place | None, typed: str) -> Text:
    """Return one line with a place of the tree and the query."""
    line = Text(" scope ", style="dim", no_wrap=True, overflow="ellipsis")
    if place is None:
        return line
    line.append(safe_text.line(place.words, 60) + " ▾", "bold")
    if typed:
        line.append(f"  only {safe_text.line(typed, 60)}", "yellow")
    else:
        line.append(
            actions.keyed("  {memories.scope} chooses") if place.key == tree.ALL else "  escape shows all", "dim"
        )
    return line


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


def draw(
    pair: Pair, typed: str, outcomes: Mapping[str, str], autosaves: Container[str], now: float, *, brief: bool = False
) -> list[Text]:
    """Return a row's cells. `outcomes`: by delivery id; `autosaves`: paths that have one; `brief`: shorten scopes."""
    scope, row = pair
    found = row.memory
    name = Text(safe_text.line(found.name, 200), style="red" if found.broken else "")
    description = Text(safe_text.line(found.description, 400), style="dim")
    flags = (AUTOSAVED if found.path in autosaves else "") + row.letters
    kind, colour = found.type or "-", present.TYPE_STYLES.get(found.type, "dim")
    word = safe_text.line(scope_word(scope, row), 40)
    type_cell = Text(safe_text.line(kind, 20), style=colour)
    scope_cell = Text(BRIEF.get(word, word[:BRIEF_SCOPE]) if brief else word, style="dim")
    if typed:
        fuzzy.mark([name, description, type_cell, scope_cell], typed)
    return [
        Text(safe_text.line(kind, 20)[0], style=colour),
        type_cell,
        name,
        scope_cell,
        description,
        _flags(flags if len(flags) <= 3 else flags[:2] + "+", row),
        Text(age(found.changed_at or None, now), style="dim"),
        Text(size(found.size), style="dim"),
        Text(f"{row.deliveries}×" if row.deliveries else "", style="dim"),
        last(scope, row, outcomes, now),
        Text(f"{row.recalls.recalled}×" if row.recalls.recalled else "", style="dim"),
        Text(f"{row.uses}×" if row.uses else "", style="dim"),
    ]


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
