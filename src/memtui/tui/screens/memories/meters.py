"""How full the indexes are: the limit that is nearer, lines or characters, as a bar and in numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.text import Text

from memtui.core.base import fs
from memtui.core.base.phrasing import many
from memtui.core.memories.scopes import Scope
from memtui.core.memories.status import Row
from memtui.present import safe_text
from memtui.tui.widgets.gauges import gauge

if TYPE_CHECKING:
    from memtui.core.memories import index as memory_index
    from memtui.core.memories.index import Budget

# Cells of the bar of one index, and of each of several; the first with room for the line is taken. From SPELT cells on,
# several have their units.
ALONE, TOGETHER, SPELT = (20, 12, 6), (12, 6, 0), 12
# From this share of a limit on, its numbers are yellow.
NEARLY = 0.8
# Projects that are named where some indexes are over their limit.
NAMED = 3


@dataclass
class Meter:
    """The index of a scope: how full it is, and its lines."""

    budget: "Budget"
    index: "memory_index.Index"


def meter_of(scope: Scope) -> Meter | None:
    """Return the meter of a scope's index, None if there is no index."""
    from memtui.core.memories import index as memory_index

    if not scope.has_index or scope.problem:
        return None
    try:
        data = fs.read_bytes(scope.index_path)
    except OSError:
        return None
    return Meter(memory_index.budget(data, agent=scope.kind == "agent"), memory_index.parse_index(data))


def binding(found: "Budget") -> str:
    """Return the fill level of the limit that is nearer: `177/200 lines`, or in characters (UTF-16 units)."""
    if found.units / found.max_units > found.lines / found.max_lines:
        return f"{_thousands(found.units)}/{found.max_units / 1000:.0f}k characters"
    return f"{found.lines}/{found.max_lines} lines"


def both(found: "Budget") -> Text:
    """Return the fill levels of both limits, that of the nearer first."""
    lines = f"{found.lines}/{found.max_lines} lines"
    units = f"{_thousands(found.units)}/{found.max_units / 1000:.0f}k characters"
    first = binding(found)
    text = Text(" ").append(first, "yellow" if found.share >= NEARLY else "")
    return text.append(f"  {lines if first == units else units}", "dim")


def _thousands(units: int) -> str:
    return f"{units / 1000:.1f}k" if units >= 1000 else str(units)


def index_line(found: Sequence[tuple[str, "Budget"]], width: int) -> Text:
    """Return one line, at most `width` cells wide if possible, with the fill levels of indexes: (name, budget) each."""
    made = Text()
    for bar in ALONE if len(found) == 1 else TOGETHER:
        made = Text(no_wrap=True, overflow="ellipsis").append(" index", "dim")
        for label, budget in found:
            made.append(f"  {safe_text.line(label, 40)} ", "dim")
            made.append_text(gauge(budget.share, bar) if bar else Text())
            made.append_text(both(budget) if len(found) == 1 else _brief(budget, bar))
            if len(found) == 1 and budget.below:
                made.append(f"  {len(budget.below)} below the cut", "yellow")
        if made.cell_len <= width:
            break
    return made


def _brief(found: "Budget", bar: int) -> Text:
    words = binding(found)
    if bar < SPELT:
        words = words.removesuffix(" lines").removesuffix(" characters")
    return Text((" " if bar else "") + words, "yellow" if found.share >= NEARLY else "dim")


def cut_line(found: Sequence[tuple[str, Sequence[Row]]]) -> Text:
    """Return one line about the indexes of many scopes, (name, memories) each: those that are over their limit."""
    over = {name: below for name, rows in found if (below := sum("B" in row.letters for row in rows if row.flags))}
    line = Text(" index  ", "dim", no_wrap=True, overflow="ellipsis")
    if not over:
        return line.append(f"all {len(found)} within their limit" if len(found) > 1 else "within its limit")
    worst = sorted(over, key=lambda name: -over[name])
    names = ", ".join(f"{safe_text.line(name, 40)} {over[name]} below the cut" for name in worst[:NAMED])
    more = f", {len(over) - NAMED} more" if len(over) > NAMED else ""
    return line.append(f"{len(over)} of {many(len(found), 'index', 'indexes')} over the limit: {names}{more}", "yellow")
