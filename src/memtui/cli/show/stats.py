"""`memtui deliveries --stats`: sums of the deliveries, which the TUI plots."""

import time

from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base import clock
from memtui.core.base.errors import UsageError
from memtui.core.base.phrasing import age, many, size
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries import receipts
from memtui.core.deliveries.reading import Receipts
from memtui.core.deliveries.receipt_counts import ReceiptCounts
from memtui.core.deliveries.statistics import Day, Statistics, day_of, percentile
from memtui.core.memories import moved, scopes
from memtui.core.memories.status import Row, never_delivered
from memtui.present.bars import bar
from memtui.present.deliveries import GLYPHS, recalls, sums

MOST_DAYS = 3650
MEMORIES = 12  # memories delivered most that are listed
BAR, WIDE_BAR, LEAST_BAR = 10, 24, 4  # columns
WITH_BARS = 60  # columns below which a table has no bars
EVENT_COLUMNS, MEMORY_COLUMNS = 36, 48  # beside the bars: of events, of memories


def run(ctx: Context, days: int, *, whole: bool = False) -> Result:
    """Count the deliveries of the last days; of a long log only its newest part, unless `whole`. Raises UsageError."""
    if not 1 <= days <= MOST_DAYS:
        raise UsageError(f"--days {days}: give a number from 1 to {MOST_DAYS}.")
    most = 0 if whole else delivery_log.WINDOW_BYTES
    statistics = Statistics(ctx.root, ctx.now, lambda: moved.load(ctx.root), days, ctx.project_wanted, most)
    statistics.count(lambda _: True)
    proofs = Receipts(ctx.env, ctx.now)
    proofs.look(statistics.recent)
    never = never_delivered(ctx.root, scopes.discover(ctx.env, ctx.cwd), statistics, ctx.usage)
    data = _data(statistics, proofs.known, never)
    return Result(data, lambda out: _print(ctx, out, statistics, proofs.known, never))


def _date(number: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(number * clock.DAY))


def _counted_days(statistics: Statistics) -> "list[tuple[int, Day]]":
    """Return the days, oldest first, without those before the part of the log that was read."""
    first = day_of(statistics.oldest) if statistics.cut else 0
    return [(number, day) for number, day in statistics.days_back(statistics.span) if number >= first]


def _times(times: "list[float]") -> "dict[str, float | None]":
    if not times:
        return {"p50_ms": None, "p95_ms": None}
    return {"p50_ms": round(percentile(times, 0.5), 1), "p95_ms": round(percentile(times, 0.95), 1)}


def _data(statistics: Statistics, known: "dict[str, str]", never: "list[Row]") -> "dict[str, object]":
    return {
        "days": [
            {
                "date": _date(number),
                "deliveries": day.deliveries,
                "characters": day.chars,
                "hooks": len(day.times),
                **_times(list(day.times)),
                "outcomes": statistics.outcomes(known, number),
                "receipts": ReceiptCounts.of(statistics.outcomes(known, number)).data(),
            }
            for number, day in _counted_days(statistics)
        ],
        "whole_log": statistics.complete,
        "counted_since": clock.iso_seconds(statistics.oldest) if statistics.cut else None,
        "outcomes": {
            "of_newest": len(statistics.recent),
            "counts": statistics.outcomes(known),
            "receipts": ReceiptCounts.of(statistics.outcomes(known)).data(),
        },
        "events": [
            {"event": event, "hooks": len(times), **_times(list(times))} for event, times in statistics.by_runs()
        ],
        "memories": [
            {
                "name": each.name,
                "path": path,
                "deliveries": each.deliveries,
                "uses": each.uses,
                **statistics.recalled(path).data(),
                "last_delivery": clock.iso_seconds(each.last) if each.last else None,
            }
            for path, each in statistics.by_deliveries()
        ],
        "never_delivered": [
            {"name": row.memory.name, "scope": row.memory.scope_label, "path": row.memory.path} for row in never
        ],
    }


def _print(ctx: Context, out: Output, statistics: Statistics, known: "dict[str, str]", never: "list[Row]") -> None:
    if statistics.cut:
        since, mb = clock.iso_seconds(statistics.oldest), delivery_log.WINDOW_BYTES >> 20
        words = f"! counted since {since}: the newest {mb} MB of the log, {many(statistics.lines, 'record')}"
        out.print(out.style(words, "yellow"))
        out.print(f"  All {many(statistics.span, 'day')}: memtui deliveries --stats --days {statistics.span} --all")
        out.print()
    if not statistics.lines:
        out.print(f"Nothing was delivered {'since then' if statistics.cut else 'in ' + many(statistics.span, 'day')}.")
        out.print("  Are the hooks installed? memtui hooks status")
        return
    _print_days(out, statistics, known)
    _print_outcomes(out, statistics, known)
    _print_events(out, statistics)
    _print_memories(ctx, out, statistics, never)


def _print_days(out: Output, statistics: Statistics, known: "dict[str, str]") -> None:
    days = _counted_days(statistics)
    most, longest = max(day.deliveries for _, day in days), max(day.chars for _, day in days)
    out.heading("Per day", "deliveries, characters, hook time in ms, arrived of settled")
    cells = []
    first = days[0][0]
    for start, end, day in statistics.days_folded(statistics.span):
        if end < first:
            break
        if day is None:
            empty = f"none for {many(end - max(start, first) + 1, 'day')}"
            cells.append([_date(end), *_day_cells(Day(), most, longest), (empty, "dim")])
        else:
            brief = "  ".join(words for words, _ in sums(ReceiptCounts.of(statistics.outcomes(known, end)), brief=True))
            cells.append([_date(end), *_day_cells(day, most, longest), brief])
    headers = ["DAY", "SENT", "", "SIZE", "", "P50", "P95", "RECEIPTS"]
    if out.columns is not None and out.columns < WITH_BARS:
        bars = {2, 4}
        headers = [cell for place, cell in enumerate(headers) if place not in bars]
        cells = [[cell for place, cell in enumerate(row) if place not in bars] for row in cells]
        out.table(headers, cells, right=(1, 2, 3, 4), indent="  ")
    else:
        out.table(headers, cells, right=(1, 3, 5, 6), indent="  ")
    out.print()


def _day_cells(day: Day, most: int, longest: int) -> "list[tuple[str, str]]":
    if not day.times and not day.deliveries:
        return [("-", "dim"), *[("", "")] * 5]
    times = [f"{percentile(day.times, share):.0f}" if day.times else "-" for share in (0.5, 0.95)]
    return [
        (str(day.deliveries), ""),
        (bar(day.deliveries, most, BAR).rstrip(), "cyan"),
        (size(day.chars), ""),
        (bar(day.chars, longest, BAR).rstrip(), "cyan"),
        *((each, "") for each in times),
    ]


def _print_outcomes(out: Output, statistics: Statistics, known: "dict[str, str]") -> None:
    outcomes = statistics.outcomes(known)
    counts = ReceiptCounts.of(outcomes)
    out.heading("Receipts", f"of the newest {len(statistics.recent):,} deliveries")
    out.phrases(sums(counts), "  ")
    cells: list[list[str | tuple[str, str]]] = []
    for outcome, (glyph, style) in GLYPHS.items():
        count = outcomes.get(outcome, 0)
        if count and outcome in receipts.SETTLED:
            share = f"{count * 100 / counts.settled:.0f}% of settled"
            cells.append([(f"{glyph} {outcome}", style), f"{count:,}", share, (bar(count, counts.settled, BAR), style)])
        elif count:
            cells.append([(f"{glyph} {outcome}", style), f"{count:,}", ("not settled", "dim"), ""])
    if out.columns is not None and out.columns < WITH_BARS:
        cells = [row[:-1] for row in cells]
    out.table([""] * len(cells[0]), cells, flex=(), right=(1, 2), indent="  ")
    out.print()


def _print_events(out: Output, statistics: Statistics) -> None:
    slowest = max((percentile(times, 0.95) for times in statistics.events.values()), default=0.0)
    out.heading("Hook time", "in ms, by event")
    cells = []
    for event, times in statistics.by_runs():
        slow = percentile(times, 0.95)
        drawn = (bar(slow, slowest, _room(out, EVENT_COLUMNS)).rstrip(), "dim")
        cells.append([line(event) or "-", f"{len(times)}×", f"{percentile(times, 0.5):.0f}", f"{slow:.0f}", drawn])
    out.table(["EVENT", "RUNS", "P50", "P95", ""], cells, flex=(0,), right=(1, 2, 3), indent="  ")
    out.print()


def _room(out: Output, others: int) -> int:
    """Return the columns of a wide bar beside `others`."""
    return WIDE_BAR if out.columns is None else max(LEAST_BAR, min(WIDE_BAR, out.columns - others))


def _print_memories(ctx: Context, out: Output, statistics: Statistics, never: "list[Row]") -> None:
    most = [(path, each) for path, each in statistics.by_deliveries()[:MEMORIES] if each.deliveries]
    span = "in the whole log" if statistics.complete else f"in {many(statistics.span, 'day')}"
    span = f"since {_date(day_of(statistics.oldest))}" if statistics.cut else span
    out.heading("Delivered most", f"memories, {span}")
    top = most[0][1].deliveries if most else 0
    cells = [
        [
            (line(each.name), "bold"),
            f"{each.deliveries}×",
            (bar(each.deliveries, top, _room(out, MEMORY_COLUMNS)).rstrip(), "cyan"),
            age(each.last or None, ctx.now()),
            (f"used {each.uses}×" if each.uses else "", "dim"),
        ]
        for _, each in most
    ]
    notes = [recalls(statistics.recalled(path)) for path, _ in most]
    out.table(["", "", "", "", ""], cells, flex=(0,), right=(1, 3), indent="  ", notes=notes)
    out.print()
    out.heading(
        "Never delivered" if statistics.complete else f"Not delivered {span}",
        "of what memtui delivers here",
    )
    out.paragraph(", ".join(line(row.memory.name) for row in never) or "none: each was delivered", "  ")
