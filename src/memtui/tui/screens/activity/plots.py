"""The plots of the deliveries: by day, by receipt and by hook event."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.text import Text

from memtui.core.base import clock
from memtui.core.base.phrasing import short
from memtui.core.deliveries import receipts
from memtui.core.deliveries.memory_counts import ReceiptCounts
from memtui.core.deliveries.statistics import Day, Statistics, percentile
from memtui.present import safe_text
from memtui.present.bars import bar
from memtui.present.deliveries import EVENTS, GLYPHS, sums
from memtui.tui.widgets.gauges import shares

# What fills the bar of a day's receipts: name, character, style. They differ without colour too, and in ASCII.
FILLS = (
    ("arrived", "█", GLYPHS[receipts.ARRIVED][1]),
    ("previewed", "▓", GLYPHS[receipts.PREVIEWED][1]),
    ("lost", "▒", GLYPHS[receipts.FAILED][1]),
    ("waiting", "┄", GLYPHS[receipts.WAITING][1]),
    ("unknown", "·", GLYPHS[receipts.UNKNOWN][1]),
)
# Cells of the bars in a row, at the least and the most.
CELLS = (5, 26)
# The days of the plots.
DAYS_SHOWN = 14
# Instead of a number that is not known yet.
COUNTING = "counting …"


def plots(statistics: Statistics, known: dict[str, str], width: int) -> Text:
    """Draw all plots. `known`: outcome by the id of a delivery."""
    text = Text()
    if not statistics.lines:
        nothing = "Nothing was delivered yet, so there is nothing to plot." if statistics.ready else COUNTING
        text.append(nothing + "\n", style="bold")
        text.append("escape goes back.", style="dim")
        return text
    _by_day(text, statistics, known, width)
    _receipts(text, statistics, known, width)
    _events(text, statistics, width)
    return text


def _title(text: Text, title: str, note: str = "") -> None:
    text.append(("\n" if text.plain else "") + title, style="bold")
    text.append(f"  {note}\n", style="dim")


class _Plot(NamedTuple):
    """A column of the rows by day: its heading, and its numbers and bar of a day. It takes `cells` and the bar's."""

    heading: str
    cells: int
    numbers: Callable[[Day], str]
    bar: Callable[[int, Day], Text]
    from_width: int = 0


def _by_day(text: Text, statistics: Statistics, known: dict[str, str], width: int) -> None:
    days = [day for _, day in statistics.days_back(DAYS_SHOWN)]
    most, longest = max(day.deliveries for day in days), max(day.chars for day in days)
    slowest = max(percentile(day.times, 0.95) for day in days)

    def times(day: Day) -> str:
        return f"{percentile(day.times, 0.5):>3.0f} {percentile(day.times, 0.95):>3.0f}" if day.times else "-"

    every = (
        _Plot("deliveries", 6, lambda day: f"{day.deliveries:,}", lambda _, day: _bar(day.deliveries, most, cells)),
        _Plot("characters", 6, lambda day: short(day.chars), lambda _, day: _bar(day.chars, longest, cells), 46),
        _Plot("p50 p95 ms", 8, times, lambda _, day: _bar(percentile(day.times, 0.95), slowest, cells, "dim"), 76),
        _Plot(
            "receipts", 0, lambda _: "", lambda number, day: _filled(statistics.outcomes(known, number), day, cells), 56
        ),
    )
    shown = [each for each in every if width >= each.from_width]
    taken = 10 + sum(each.cells + 2 for each in shown)
    cells = max(CELLS[0], min(CELLS[1], (width - taken) // len(shown)))
    older = sum(day.deliveries for day in days) > len(statistics.recent)
    note = f"receipts of the newest {len(statistics.recent):,} deliveries" if older else ""
    _title(text, "Per day", note if statistics.ready else COUNTING)
    heads = "".join(f"  {each.heading:<{each.cells + cells}}" for each in shown)
    text.append(f"{'':10}{heads}".rstrip() + "\n", style="dim")
    for first, last, day in statistics.days_folded(DAYS_SHOWN):
        if day is None:
            span = f"{_date(first)} to {_date(last)}" if last > first else _date(first)
            text.append(f"{span}  {'none' if statistics.ready else COUNTING}\n", style="dim")
            continue
        text.append(f"{_date(last):<10}")
        for each in shown:
            numbers = each.numbers(day)
            text.append(f"  {numbers:>{each.cells - 1}} " if each.cells else "  ")
            text.append_text(each.bar(last, day))
        text.append("\n")
    if shown[-1].heading == "receipts":
        _legend(text)


def _legend(text: Text) -> None:
    text.append("receipts: ", style="dim")
    for name, char, style in FILLS:
        text.append(char * 2, style=style)
        text.append(f" {name}  " if name != FILLS[-1][0] else f" {name}\n", style="dim")


def _bar(value: float, top: float, cells: int, style: str = "cyan") -> Text:
    return Text(bar(value, top, cells), style)


def _date(number: int) -> str:
    return time.strftime("%a %d %b", time.gmtime(number * clock.DAY))


def _filled(outcomes: dict[str, int], day: Day, cells: int) -> Text:
    """Draw what became of a day's deliveries; those whose receipts were not looked up stay blank."""
    counts = ReceiptCounts.of(outcomes)
    parts = [(getattr(counts, name), char, style) for name, char, style in FILLS]
    return shares([*parts, (max(0, day.deliveries - counts.total), " ", "")], cells)


def _receipts(text: Text, statistics: Statistics, known: dict[str, str], width: int) -> None:
    outcomes = statistics.outcomes(known)
    counts = ReceiptCounts.of(outcomes)
    left = len(statistics.recent) - counts.total
    _title(
        text,
        "Receipts",
        f"of the newest {len(statistics.recent):,} deliveries" + (f", {left:,} not looked up yet" if left else ""),
    )
    for words, style in sums(counts)[:1] if counts.settled else ():
        text.append(words, style=style)
        text.append("  of those that are settled\n", style="dim")
    cells = max(4, min(80, width - 30))
    for outcome, (glyph, style) in GLYPHS.items():
        if outcomes.get(outcome):
            number = outcomes[outcome]
            text.append(f"  {glyph} {outcome:<10}", style=style)
            text.append(f"{number:>6,}")
            if outcome in receipts.SETTLED:
                text.append(f" {number * 100 / counts.settled:>3.0f}% ")
                text.append(bar(number, counts.settled, cells), style=style)
            else:
                text.append("  not settled", style="dim")
            text.append("\n")


def _events(text: Text, statistics: Statistics, width: int) -> None:
    slowest = max((percentile(times, 0.95) for times in statistics.events.values()), default=0.0)
    rows = [
        (
            safe_text.line(EVENTS.get(event, event), 18),
            f"{len(times):,}",
            f"{percentile(times, 0.5):.0f}",
            f"{percentile(times, 0.95):.0f}",
            Text(bar(percentile(times, 0.95), slowest, max(4, min(80, width - 42))), "dim"),
        )
        for event, times in statistics.by_runs()
    ]
    _title(text, "Hook time", "how long the hooks took, by event")
    _table(text, ("event", "runs", "p50 ms", "p95 ms", ""), rows, (18, 7, 7, 7))


def _table(text: Text, heads: Sequence[str], rows: Sequence[Sequence[str | Text]], widths: Sequence[int]) -> None:
    """Append rows below their headings: the first cell to the left, the others to the right, and a bar."""

    def padded(cells: Sequence[str | Text]) -> str:
        return str(cells[0]).ljust(widths[0]) + "".join(
            str(cell).rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=False)
        )

    text.append(padded(heads).rstrip() + "\n", style="dim")
    for cells in rows:
        text.append(padded(cells) + " ")
        text.append_text(Text.assemble(cells[-1], "\n"))
