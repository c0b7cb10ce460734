"""What deliveries add up to: the line of today, and plots by day, by receipt, and of how long prompts waited."""

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from memtui.base import clock
from memtui.base.phrasing import many, short
from memtui.deliver import receipts
from memtui.deliver.log_queries import Reading
from memtui.deliver.statistics import Day, ReceiptCounts, Statistics
from memtui.views import colours, safe_text
from memtui.views.deliveries import EVENTS, GLYPHS, limits, outcomes, sums
from memtui.views.glyphs import bar

if TYPE_CHECKING:
    from memtui.tui.model.data import Data
    from memtui.tui.screens.activity.listing import Listing

# What fills the bar of a day's receipts: number, word, character, outcome. They differ without colour and in ASCII too.
FILLS: Sequence[tuple[Callable[[ReceiptCounts], int], str, str, str]] = (
    (lambda counts: counts.arrived, "arrived", "█", receipts.ARRIVED),
    (lambda counts: counts.previewed, "cut short", "▓", receipts.PREVIEWED),
    (lambda counts: counts.lost, "lost", "▒", receipts.FAILED),
    (lambda counts: counts.waiting, "on the way", "┄", receipts.WAITING),
    (lambda counts: counts.unknown, "not known", "·", receipts.UNKNOWN),
)
# Cells of the bars in a row, at the least and the most; and those of the numbers in front of a bar.
CELLS, NUMBERS = (5, 26), 7
# The days of the plots.
DAYS_SHOWN = 14
# The columns by day, and from which width on each is shown.
COLUMNS = (("deliveries", 0), ("characters", 46), ("receipts", 56))
# Instead of a number that is not known yet.
COUNTING = "counting …"


def summary(data: "Data", listing: "Listing", counted: str, room: int) -> Text:
    """Return how many notes are lost, how many deliveries are `counted`, and what became of them."""
    known, reading, notes = data.receipts.known, listing.reading, sum(note.is_lost for note in listing.wanted_notes())
    line = Text().append(f"{many(notes, 'note')} lost" if notes else "", colours.PROBLEM)
    line.append(" · " if notes else "").append(counted, "bold")
    parts = outcomes(ReceiptCounts.of(() if reading is None else (known.get(row.id, "") for row in reading.rows)))
    by_words = [(f" · {count:,} {word}", GLYPHS[outcome][1]) for count, word, outcome in parts]
    by_signs = [(f"  {GLYPHS[outcome][0]} {count:,}", GLYPHS[outcome][1]) for count, _, outcome in parts]
    words = Text.assemble(*by_words)
    return line.append_text(words if line.cell_len + words.cell_len <= room else Text.assemble(*by_signs))


def injected(reading: Reading) -> int:
    """Return how many rows of a reading brought a text: only of these there are receipts."""
    return sum(row.injected for row in reading.rows)


def total(statistics: Statistics, everything: Reading) -> str:
    """Return how many deliveries there are, as far as they are counted."""
    is_counted = statistics.ready and statistics.complete and not everything.wanted  # these are of all projects
    logged = sum(day.deliveries for day in statistics.days.values()) if is_counted else 0
    count = injected(everything)
    return f"{count:,}" if everything.done else f"{logged:,}" if logged > count else f"{count:,}+"


def plots(statistics: Statistics, known: dict[str, str], width: int) -> Text:
    """Draw all plots. `known`: outcome by the id of a delivery."""
    text = Text()
    if not statistics.lines:
        nothing = "Nothing was delivered yet, so there is nothing to plot." if statistics.ready else COUNTING
        return text.append(nothing + "\n", style="bold").append("escape goes back.", style="dim")
    _by_day(text, statistics, known, width)
    _receipts(text, statistics, known)
    _title(text, "Hook time", "of logged runs")
    text.append(f"{'half under':>22}  {'95% under':>9}  {'runs':>6}\n", style="dim")
    for event, times in sorted(statistics.events.items(), key=lambda pair: -len(pair[1])):
        text.append(f"  {safe_text.line(EVENTS.get(event, event), 18):<10}")
        half, most = (f"{limit:,} ms" for limit in limits(times))
        text.append(f"{half:>10}  {most:>9}  ").append(f"{len(times):>6,}\n", style="dim")
    return text


def _title(text: Text, title: str, note: str) -> None:
    text.append(("\n" if text.plain else "") + title, style="bold").append(f"  {note}\n", style="dim")


def _by_day(text: Text, statistics: Statistics, known: dict[str, str], width: int) -> None:
    days = [day for _, day in statistics.days_back(DAYS_SHOWN)]
    most, longest = max(day.deliveries for day in days), max(day.chars for day in days)
    columns = [name for name, from_width in COLUMNS if width >= from_width]
    cells = max(CELLS[0], min(CELLS[1], (width - 10) // len(columns) - NUMBERS - 2))
    older = sum(day.deliveries for day in days) > len(statistics.recent)
    note = f"receipts of the newest {len(statistics.recent):,} deliveries" if older else ""
    _title(text, "Per day", note if statistics.ready else COUNTING)
    text.append("".join([" " * 10, *(f"  {name:<{NUMBERS + cells}}" for name in columns)]).rstrip() + "\n", style="dim")
    for first, last, day in statistics.days_folded(DAYS_SHOWN):
        if day is None:
            span = f"{_date(last)} to {_date(first)}" if last > first else _date(first)
            text.append(f"{span}  {'none' if statistics.ready else COUNTING}\n", style="dim")
            continue
        text.append(f"{_date(last):<10}")
        for name in columns:
            if name == "receipts":
                text.append("  ").append_text(_filled(statistics.outcomes(known, last), day, cells + NUMBERS))
            else:
                value, top = (day.deliveries, most) if name == "deliveries" else (day.chars, longest)
                number = f"{value:,}" if name == "deliveries" else short(value)
                text.append(f"  {number:>{NUMBERS - 1}} ").append(bar(value, top, cells), "cyan")
        text.append("\n")
    if "receipts" in columns:
        text.append("receipts: ", style="dim")
        for _, word, char, outcome in FILLS:
            text.append(char * 2, style=GLYPHS[outcome][1])
            text.append(f" {word}  " if word != FILLS[-1][1] else f" {word}\n", style="dim")


def _date(number: int) -> str:
    return time.strftime("%a %d %b", time.gmtime(number * clock.DAY))


def _filled(known: dict[str, int], day: Day, cells: int) -> Text:
    """Draw what became of a day's deliveries; those whose receipts were not looked up stay blank."""
    counts = ReceiptCounts.of(known)
    parts = [(number(counts), char, GLYPHS[outcome][1]) for number, _, char, outcome in FILLS]
    return _shares([*parts, (max(0, day.deliveries - counts.total), " ", "")], cells)


def _receipts(text: Text, statistics: Statistics, known: dict[str, str]) -> None:
    counts = ReceiptCounts.of(statistics.outcomes(known))
    unknown = len(statistics.recent) - counts.total
    note = f"known for {counts.settled:,} of the newest {len(statistics.recent):,} deliveries"
    note += f", {unknown:,} not looked up yet" if unknown else ""
    _title(text, "Receipts", note)
    for words, style in sums(counts):
        text.append(f"  {words}\n", style=style)


def _shares(counts: Sequence[tuple[int, str, str]], width: int) -> Text:
    """Draw counts, (count, character, style) each, side by side in `width` cells; each above zero gets at least one."""
    total = sum(count for count, _, _ in counts)
    text = Text()
    left = width
    shares = [other for other in counts if other[0]]
    for at, (count, char, style) in enumerate(shares):
        cells = (
            left if at == len(shares) - 1 else max(1, min(left - (len(shares) - 1 - at), round(count / total * width)))
        )
        text.append(char * max(0, cells), style=style)
        left -= cells
    return text
