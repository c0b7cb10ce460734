"""Legends: what each mark on a screen means, for the help."""

from collections.abc import Iterable

from memtui.views import deliveries

Marks = Iterable[tuple[str, str]]
# The marks of every list.
CURSOR, MARKED, FOLDED, UNFOLDED = "›", "●", "▸", "▾"
LISTS: Marks = (
    (CURSOR, "the row under the cursor"),
    (MARKED, "in front of a row: it is marked"),
    (FOLDED, "folded: enter shows what is in it"),
    (UNFOLDED, "unfolded; in a column's title: sorted by it, downwards"),
    ("▴", "in a column's title: sorted by it, upwards"),
    ("…", "the text goes on, or is still being read"),
)

# What has text of the person that was typed in a form and not saved.
UNSAVED = "D", "it has unsaved text of yours"
TOP: Marks = (
    ("9", "on a tab: so many wait there"),
    ("3(9)", "the same on a tab that has no room for its name"),
    ("!9", "on the tab of Setup, red: so many problems to fix"),
    ("▾", "after the project: p changes it, also to all"),
    ("3 live", "so many sessions run now"),
    ("hooks", "✓ they are installed; ✗ they are not, so sessions get nothing"),
)


def section(title: str, marks: Marks) -> str:
    """Return the lines of a legend: a title, and a line for each mark."""
    rows = [*marks]
    wide = max([6, *(len(mark) for mark, _ in rows)])
    return f"{title}\n" + "".join(f"  {mark:<{wide}}  {meaning}\n" for mark, meaning in rows)


def receipts(title: str = "Receipts") -> str:
    """Return the legend of the receipts of deliveries."""
    outcomes = deliveries.OUTCOMES.items()
    return section(title, ((deliveries.GLYPHS[code][0], f"{word}: {meaning}") for code, (_, word, meaning) in outcomes))
