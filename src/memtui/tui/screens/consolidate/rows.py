"""The rows of the Consolidate screen: whether anything is lost, what is proposed about which memories, why, where, and
by how much files become smaller or larger."""

from collections.abc import Sequence

from rich.text import Text

from memtui.present import changesets, legend, safe_text
from memtui.tui.model import fuzzy
from memtui.tui.screens.consolidate.reading import ProposalRow
from memtui.tui.widgets.rows import Column

SAFE, DROPS, BLOCKED = ("✓", "green"), ("!", "yellow"), ("✗", "red")
MARKS = (
    (SAFE[0], "safe: a fix that needs no decision"),
    (DROPS[0], "it drops a statement, or a memory that nothing replaces"),
    (BLOCKED[0], "it can't be made now: the detail says why"),
    legend.UNSAVED,
    ("→", "between two names: before, after"),
)
COLUMNS = (
    Column("", 1),
    Column("kind", 7),
    Column("what"),
    Column("why", 16, from_width=50),
    Column("where", 12, from_width=64),
    Column("size", 7, right=True, from_width=40),
)


def searched(row: ProposalRow) -> str:
    """Return the text of a row that the filter searches."""
    found = row.proposal
    return f"{found.kind} {changesets.about(found)} {changesets.brief(found)} {row.where}"


def drops(row: ProposalRow) -> bool:
    """Return whether a proposal loses something: a statement, or a memory that nothing replaces."""
    found = row.weighed
    statements = found is not None and found.coverage is not None and bool(found.coverage.lost)
    return statements or row.proposal.kind in {"delete", "archive"}


def mark(row: ProposalRow) -> tuple[str, str]:
    """Return the mark of a row, and its style."""
    if row.why_not:
        return BLOCKED
    return DROPS if drops(row) else SAFE if row.safe else (" ", "")


def cells(row: ProposalRow, typed: str, *, unsaved: bool = False) -> Sequence[Text]:
    """Draw the cells of a row for COLUMNS. `typed`: the filter, whose matches are marked; `unsaved`: its outcome was
    edited and not saved."""
    found = row.proposal
    what = Text(safe_text.line(changesets.about(found), 200), style="dim" if row.why_not else "")
    kind, why = Text(found.kind, style="dim"), Text(safe_text.line(changesets.brief(found), 60), style="dim")
    where = Text(safe_text.line(row.where, 40), style="dim")
    fuzzy.mark([kind, what, why, where], typed)
    sign, style = mark(row)
    what = Text.assemble((f"{legend.UNSAVED[0]} ", "yellow"), what) if unsaved else what
    return [Text(sign, style=style), kind, what, why, where, _size(row)]


def _size(row: ProposalRow) -> Text:
    if row.weighed is None:
        return Text("…", style="dim")
    words = changesets.resized(row.weighed.savings)
    return Text(words, style="" if words.startswith("-") else "dim")
