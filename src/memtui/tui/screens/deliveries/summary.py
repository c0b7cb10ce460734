"""The line above the deliveries: what today adds up to, or which filters are set and what they let through."""

from collections.abc import Sequence

from rich.text import Text

from memtui.core.base.phrasing import many, short
from memtui.core.deliveries.receipt_counts import ReceiptCounts
from memtui.core.deliveries.statistics import Statistics, day_of, percentile
from memtui.present.bars import spark
from memtui.present.deliveries import sums

DAYS_SHOWN = 14
# The fewest cells between the words and the plot of the last days.
GAP = 3
Words = Sequence[tuple[str, str]]


def today(statistics: Statistics, known: dict[str, str], width: int) -> Text:
    """Draw `today 212 deliveries in all projects · 38 k characters · p50 17 p95 31 ms · ✓ arrived 98 of 99 …`, in as
    many words as fit into `width`. `known`: outcome by the id of a delivery."""
    if not statistics.ready:
        return line([("counting …" if statistics.lines else "", "dim")])
    day = statistics.today
    counts = ReceiptCounts.of(statistics.outcomes(known, day_of(statistics.now())))
    left = day.deliveries - counts.total
    more = [(f"{left:,} not looked up", "dim")] if left > 0 else []
    long, brief = apart([*sums(counts), *more]), apart([*sums(counts, brief=True), *more])
    chars = f" · {short(day.chars)} char" if day.deliveries else ""
    ms = f" · p50 {percentile(day.times, 0.5):.0f} p95 {percentile(day.times, 0.95):.0f} ms" if day.times else ""
    head = f"today {many(day.deliveries, 'delivery', 'deliveries')}"
    everywhere = (" in all projects", "")
    found = first_that_fits(
        [
            [(head, "bold"), everywhere, (f"{chars}acters" if chars else "", ""), (ms, ""), *long],
            [(head, "bold"), everywhere, (f"{chars}s" if chars else "", ""), (ms, ""), *long],
            [(head, "bold"), everywhere, (f"{chars}s" if chars else "", ""), *long],
            [(head, "bold"), everywhere, *long],
            [(head, "bold"), everywhere, *brief],
            [(head, "bold"), *long],
            [(f"today {day.deliveries}", "bold"), *long],
            [(head, "bold"), *brief],
            [(f"today {day.deliveries}", "bold"), *brief],
        ],
        width,
    )
    drawn = spark([each.deliveries for _, each in statistics.days_back(DAYS_SHOWN)])
    label = f"{DAYS_SHOWN} days "
    room = width - found.cell_len - len(label) - len(drawn) - 2
    if room >= GAP and statistics.lines:
        found.append(" " * room)
        found.append(label, style="dim")
        found.append(drawn, style="cyan")
    return found


def filtered(filters: Sequence[str], count: str | None, counts: ReceiptCounts, escape: str, width: int) -> Text:
    """Draw `48 match: guidance, in shop · ✓ arrived 40 of 41  escape clears the last`, in as many words as fit.
    `filters`: the words of each, the one that was set last at the end; `count`: how many match, None where they need
    not be counted; `escape`: what escape does."""
    head = [(f"{count} match" if count else "searching", "bold"), (": " + ", ".join(filters), "")]
    if count is None:
        head = [(", ".join(filters), "bold")]
    clear = (f"  {escape}", "dim")
    long, brief = apart(sums(counts)), apart(sums(counts, brief=True))
    return first_that_fits(
        [[*head, *long, clear], [*head, *brief, clear], [*head, clear], [*head, ("  escape", "dim")]], width
    )


def apart(words: Words) -> list[tuple[str, str]]:
    """Return the words with what stands between them: a dot before the first, blanks before each other."""
    return [(("  " if at else " · ") + text, style) for at, (text, style) in enumerate(words)]


def first_that_fits(wordings: Sequence[Words], width: int) -> Text:
    """Draw the first of the wordings that fits into `width` cells, or else the last."""
    drawn = map(line, wordings)
    return next((each for each in drawn if each.cell_len <= width - 2), line(wordings[-1]))


def line(words: Words) -> Text:
    """Draw words with their styles as one line."""
    return Text.assemble(*words, no_wrap=True, overflow="ellipsis", end="")
