"""The statistics of the deliveries drawn as text: the summary line, and the plots."""

import time

from rich.text import Text

from memtui.core.base.phrasing import age, many, short
from memtui.core.deliveries import receipts
from memtui.core.deliveries.statistics import DAY, DAYS, MemoryUse, Statistics, day_of, percentile
from memtui.present import safe_text
from memtui.present.bars import bar, spark
from memtui.present.deliveries import EVENTS, GLYPHS
from memtui.tui.model.plots import shares

# The outcomes that shares are drawn of: the others don't say whether a delivery arrived.
CONCLUSIVE = (receipts.ARRIVED, receipts.PREVIEWED, *receipts.LOST)
SHADES = {receipts.ARRIVED: "█", receipts.PREVIEWED: "▓", **dict.fromkeys(receipts.LOST, "▒")}
DAYS_SHOWN = 14
# Memories listed as delivered most, and as never delivered.
MOST = 12
NEVER = 40


def summary(statistics: Statistics, known: dict[str, str], width: int) -> Text:
    """Draw `today 212 deliveries · 38 k characters · p50 17 p95 31 ms · arrived 98% ✓ …`, as much as fits into `width`.
    `known`: outcome by the id of a delivery."""
    text = Text(no_wrap=True, overflow="ellipsis", end="")
    if not statistics.ready:
        text.append("counting …" if statistics.lines else "", style="dim")
        return text
    today = statistics.today
    tight = width < 60
    text.append(
        f"today {today.deliveries if tight else many(today.deliveries, 'delivery', 'deliveries')}", style="bold"
    )
    if today.deliveries and not tight:
        text.append(f" · {short(today.chars)} characters" if width >= 90 else f" · {short(today.chars)} chars")
    if today.times and width >= 70:
        text.append(f" · p50 {percentile(today.times, 0.5):.0f} p95 {percentile(today.times, 0.95):.0f} ms")
    counts = statistics.outcomes(known, day_of(statistics.now()))
    total = sum(counts.get(outcome, 0) for outcome in CONCLUSIVE)
    if total:
        arrived = counts.get(receipts.ARRIVED, 0)
        word = "" if tight else "arrived "
        text.append(f" · {word}{arrived * 100 // total}% ✓", style="green" if arrived == total else "")
        previewed, lost = counts.get(receipts.PREVIEWED, 0), sum(counts.get(each, 0) for each in receipts.LOST)
        if previewed:
            text.append(f"  {previewed} ◐" if tight else f"  previewed {previewed} ◐", style="yellow")
        if lost:
            text.append(f"  {lost} ✗" if tight else f"  lost {lost} ✗", style="red")
    line = spark([day.deliveries for _, day in statistics.days_back(DAYS_SHOWN)])
    room = width - text.cell_len - len(line) - 13
    if room > 0:
        text.append(" " * room)
        text.append(f"{DAYS_SHOWN} days ", style="dim")
        text.append(line, style="cyan")
    return text


def plots(
    statistics: Statistics, known: dict[str, str], never: list[tuple[str, str]] | None, width: int, key: str
) -> Text:
    """Draw all plots. `known`: outcome by the id of a delivery; `never`: (name, path) of memories that were never
    delivered, None while a worker looks for them; `key`: the key that lists the memories."""
    text = Text()
    if not statistics.lines:
        text.append("Nothing was delivered yet, so there is nothing to plot.\n", style="bold")
        text.append("escape goes back.", style="dim")
        return text
    _by_day(text, statistics, known, width)
    _outcomes(text, statistics, known, width)
    _events(text, statistics, width)
    _memories(text, statistics, never, width, key)
    return text


def _title(text: Text, title: str, note: str = "") -> None:
    text.append(("\n" if text.plain else "") + title, style="bold")
    text.append(f"  {note}\n", style="dim")


def _by_day(text: Text, statistics: Statistics, known: dict[str, str], width: int) -> None:
    days = statistics.days_back(DAYS_SHOWN)
    most = max(day.deliveries for _, day in days)
    longest = max(day.chars for _, day in days)
    slowest = max(percentile(day.times, 0.95) for _, day in days)
    cells = max(4, min(24, (width - 50) // 4))
    _title(text, "A day", "deliveries, characters, hook time p50 and p95 in ms, what arrived")
    for number, day in reversed(days):
        text.append(_date(number), style="" if day.times or day.deliveries else "dim")
        if not day.times:
            text.append("  ·\n", style="dim")
            continue
        text.append(f" {day.deliveries:>5} ")
        text.append(bar(day.deliveries, most, cells), style="cyan")
        text.append(f" {short(day.chars):>6} ")
        text.append(bar(day.chars, longest, cells), style="cyan")
        text.append(f" {percentile(day.times, 0.5):>3.0f} {percentile(day.times, 0.95):>3.0f} ")
        if width >= 66:
            text.append(bar(percentile(day.times, 0.95), slowest, cells), style="dim")
            text.append(" ")
        if width >= 56:
            text.append_text(_stacked(statistics.outcomes(known, number), cells))
        text.append("\n")


def _date(number: int) -> str:
    return time.strftime("%a %d %b", time.gmtime(number * DAY))


def _stacked(counts: dict[str, int], cells: int) -> Text:
    return shares([(counts.get(each, 0), SHADES[each], GLYPHS[each][1]) for each in CONCLUSIVE], cells)


def _outcomes(text: Text, statistics: Statistics, known: dict[str, str], width: int) -> None:
    counts = statistics.outcomes(known)
    total = sum(counts.values())
    left = len(statistics.recent) - total
    _title(
        text, "Outcomes", f"of the newest {len(statistics.recent):,}" + (f", {left:,} still looked up" if left else "")
    )
    for outcome, (glyph, style) in GLYPHS.items():
        if counts.get(outcome):
            text.append(f"{glyph} {outcome:<10}", style=style)
            text.append(f"{counts[outcome]:>6} {counts[outcome] * 100 / total:>3.0f}% ")
            text.append(bar(counts[outcome], total, max(4, min(40, width - 26))) + "\n", style=style)


def _events(text: Text, statistics: Statistics, width: int) -> None:
    _title(text, "Hook time", "by event, in ms")
    slowest = max((percentile(times, 0.95) for times in statistics.events.values()), default=0.0)
    for event, times in statistics.by_runs():
        middle, slow = percentile(times, 0.5), percentile(times, 0.95)
        text.append(
            f"{safe_text.line(EVENTS.get(event, event), 10):<10}"
            f"{len(times):>7,}×  p50 {middle:>4.0f}  p95 {slow:>4.0f} "
        )
        text.append(bar(slow, slowest, max(4, min(30, width - 42))) + "\n", style="dim")


def _memories(text: Text, statistics: Statistics, never: list[tuple[str, str]] | None, width: int, key: str) -> None:
    span = "ever" if statistics.complete else f"in {DAYS} days"
    most = [each for _, each in statistics.by_deliveries()[:MOST] if each.deliveries]
    _title(text, "Delivered most", f"memories, {span}: {key} lists all, and leads to each")
    for each in most:
        _memory(text, each, most[0], statistics.now(), width)
    if not most:
        text.append("none\n", style="dim")
    _title(
        text,
        "Never delivered" if statistics.complete else f"Not delivered in {DAYS} days",
        "of what memtui delivers here",
    )
    if never is None:
        text.append("looking …\n", style="dim")
    elif never:
        for name, _ in never[:NEVER]:
            text.append(safe_text.line(name, 200) + "\n")
        if len(never) > NEVER:
            text.append(f"and {len(never) - NEVER} more: {key}\n", style="dim")
    else:
        text.append("none: each was delivered\n", style="dim")


def _memory(text: Text, each: MemoryUse, first: MemoryUse, now: float, width: int) -> None:
    name = safe_text.line(each.name, 28)
    text.append(f"{name:<28} {each.deliveries:>5}× ")
    text.append(bar(each.deliveries, first.deliveries, max(4, min(30, width - 60))), style="cyan")
    used = f", used {each.uses}×" if each.uses else ""
    text.append(f" {age(each.last or None, now)}{used}\n", style="dim")
