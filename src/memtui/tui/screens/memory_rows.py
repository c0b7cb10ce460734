"""The table of memories: its columns, their order, and how a row is drawn."""

from collections.abc import Callable, Mapping

from rich.text import Text

from memtui.core import clock, memory, survey
from memtui.core.scopes import Scope
from memtui.core.survey import Row
from memtui.core.told import GLYPHS
from memtui.core.words import age, size
from memtui.tui import fuzzy, safe
from memtui.tui.widgets.rows import Column

Pair = tuple[Scope, Row]

# sort -> (column, whether its natural order shows the smallest first)
SORTS = {
    "name": (2, True),
    "type": (0, True),
    "age": (5, True),
    "size": (6, False),
    "sent": (7, False),
    "last": (8, True),
}
KEYS: dict[str, Callable[[Row], object]] = {
    "name": lambda _: 0,
    "type": lambda row: row.memory.type or "~",
    "age": lambda row: -row.memory.changed_at,
    "size": lambda row: -row.memory.size,
    "sent": lambda row: -row.deliveries,
    "last": lambda row: -(clock.parse(row.last_delivery) or 0.0),
}
COLUMNS = (
    Column("", 1),
    Column("type", 9, from_width=92),
    Column("name"),
    Column("description", from_width=62),
    Column("", 3),
    Column("age", 4, right=True),
    Column("size", 7, right=True, from_width=88),
    Column("sent", 5, right=True, from_width=40),
    Column("last", 6, right=True, from_width=40),
)
DRAFT = "D"
LEGEND = (
    "Types\n  "
    + "  ".join(f"{name[0]} {name}" for name in memory.TYPES)
    + "\n\nFlags\n"
    + "".join(
        f"  {letter}  {words}\n" for letter, words in {**survey.MEANINGS, DRAFT: "you have a draft of it"}.items()
    )
    + "\nReceipts of the last delivery\n"
    + "".join(f"  {glyph}  {outcome}\n" for outcome, (glyph, _) in GLYPHS.items() if outcome != "nothing").rstrip()
)


def columns(sort: str, reverse: bool) -> list[Column]:
    """The columns, the sorted one with an arrow."""
    at, up = SORTS[sort]
    made = list(COLUMNS)
    found = made[at]
    arrow = "▴" if up != reverse else "▾"
    made[at] = Column((found.title + arrow)[: found.width or 99], found.width, found.right, found.from_width)
    return made


def sort_of(column: int) -> str:
    """The order that a click on a column's head asks for; empty if none."""
    heads = {at: name for name, (at, _) in SORTS.items()} | {1: "type"}
    return heads.get(column, "")


def ordered(pairs: list[Pair], sort: str, reverse: bool) -> list[Pair]:
    """The pairs in an order; names decide between equals."""

    first = KEYS[sort]
    return sorted(pairs, key=lambda pair: (first(pair[1]), pair[1].memory.name.casefold()), reverse=reverse)


def searched(pair: Pair) -> str:
    """What the filter looks at."""
    found = pair[1].memory
    return f"{found.name} {found.description} {found.type} {pair[0].label}".casefold()


def draw(pair: Pair, typed: str, outcomes: Mapping[str, str], drafts: set[str], now: float) -> list[Text]:
    """The cells of a row."""
    _, row = pair
    found = row.memory
    name = Text(safe.line(found.name, 200), style="red" if found.broken else "")
    description = Text(safe.line(found.description, 400), style="dim")
    for text in (name, description) if typed else ():
        for start, end in fuzzy.spans(text.plain, typed):
            text.stylize("bold underline", start, end)
    flags = (DRAFT if found.path in drafts else "") + row.letters
    kind = found.type or "-"
    return [
        Text(safe.line(kind, 20)[0], style="bold" if found.type in memory.TYPES else "dim"),
        Text(safe.line(kind, 20), style="dim"),
        name,
        description,
        Text(flags if len(flags) <= 3 else flags[:2] + "+", style="yellow"),
        Text(age(found.changed_at or None, now), style="dim"),
        Text(size(found.size), style="dim"),
        Text(f"{row.deliveries}×" if row.deliveries else "", style="dim"),
        last(row, outcomes, now),
    ]


def last(row: Row, outcomes: Mapping[str, str], now: float) -> Text:
    """How long ago it was delivered last, and whether that arrived."""
    if not row.last_delivery:
        return Text("-", style="dim")
    made = Text(age(clock.parse(row.last_delivery), now) + " ", style="dim")
    outcome = outcomes.get(str(row.told[0].record.get("id"))) if row.told else None
    if outcome is None:
        return made.append(" ")
    glyph, style = GLYPHS[outcome]
    return made.append(glyph, style)
