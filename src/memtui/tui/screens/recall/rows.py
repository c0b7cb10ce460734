"""The rows of the Recall screen: the memories that a prompt would bring, a rule, and those that it would not, with the
reason."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.segment import Segment
from rich.text import Text
from textual.strip import Strip

from memtui.core.base.phrasing import short
from memtui.present import legend, recall, safe_text
from memtui.recalling import RecallCandidate, RecallRun
from memtui.tui.model import fuzzy
from memtui.tui.widgets.rows import Column, RowList

RULE = "rule"
COLUMNS = (
    Column("", 1),
    Column("likely", 10, from_width=52),
    Column("likely", 3, until_width=52),
    Column("memory"),
    Column("scope", 7, from_width=64),
    Column("because, or why not", 26, from_width=72),
    Column("because", 20, from_width=58, until_width=72),
    Column("size", 4, right=True, from_width=44),
)
LEGEND = legend.section("Memories", recall.MARKS)


@dataclass(frozen=True)
class RecallRow:
    """A row: a memory that was found, or, without one, the rule below those that would be delivered."""

    key: str
    found: RecallCandidate | None = None


def rows(run: RecallRun) -> list[RecallRow]:
    """Return the rows of a dry run: what would be delivered, the rule, what is left out. Without anything left out or
    delivered the rule still says what the whole is."""
    delivered = [RecallRow(each.path, each) for each in run.delivered]
    left_out = [RecallRow(each.path, each) for each in run.left_out]
    return [*delivered, RecallRow(RULE), *left_out] if delivered or left_out else []


def rule(run: RecallRun) -> str:
    """Return the words in the rule."""
    left_out = len(run.left_out)
    below = f"left out: {left_out}" if left_out else "nothing is left out"
    return f"{recall.amount(run)} · {below}" if run.delivered else f"nothing is delivered · {below}"


def cells(found: RecallCandidate, typed: str) -> list[Text]:
    """Draw the cells of a memory for COLUMNS. `typed`: the filter, whose matches are marked."""
    mark, style, words = recall.outcome(found.outcome)
    dim = "" if found.delivered else "dim"
    name = Text(safe_text.line(found.name, 120), style="bold" if found.delivered else "")
    scope = Text(safe_text.line(found.scope, 40), style="dim")
    why = Text(safe_text.line(recall.because(found) if found.delivered else words, 120), style=dim)
    fuzzy.mark([name, scope, why], typed)
    if found.pinned:
        name = Text.assemble((recall.PINNED + " ", "cyan"), name)
    likely = recall.scored(found)
    return [
        Text(mark, style=style),
        Text(likely, style="cyan" if found.delivered else "dim"),
        Text(likely[:3], style="cyan" if found.delivered else "dim"),
        name,
        scope,
        why,
        why,
        Text(short(found.units) if found.units else "", style="dim"),
    ]


def searched(row: RecallRow) -> str:
    """Return the text of a row that the filter searches."""
    if row.found is None:
        return ""
    found = row.found
    words = recall.because(found) if found.delivered else recall.outcome(found.outcome)[2]
    return f"{found.name} {found.scope} {words} {found.description} {found.type}"


class RecallList(RowList[RecallRow]):
    """The list, with a rule across all columns. `rule` returns its words."""

    def __init__(self, draw: Callable[[RecallRow], list[Text]], rule: Callable[[], str]) -> None:
        super().__init__(COLUMNS, draw, lambda row: row.key, id="list")
        self._rule = rule

    def chosen(self) -> list[RecallRow]:
        """Return the rows that a command acts on; the rule is none."""
        return [row for row in super().chosen() if row.found is not None]

    def toggle_mark(self) -> None:
        """Mark or unmark the row under the cursor; from the rule only move on."""
        if self.row_id == RULE:
            self.action_move(1)
        else:
            super().toggle_mark()

    def _line(self, at: int, width: int) -> Strip:
        if self.rows[at].found is not None:
            return super()._line(at, width)
        here = at == self.cursor
        paint = self._paint
        assert paint is not None
        style = paint.base + paint.cursor if here else self.get_component_rich_style("rows--head")
        words = f"{legend.CURSOR if here else ' '}── {safe_text.line(self._rule())} "
        text = Text(words, no_wrap=True)
        text.truncate(width, overflow="ellipsis")
        line = text.plain + "─" * max(0, width - 1 - text.cell_len)
        return Strip([Segment(line, style)]).adjust_cell_length(width, paint.base).crop(0, width)


def memories(found: Sequence[RecallRow]) -> list[RecallCandidate]:
    """Return the memories of some rows."""
    return [row.found for row in found if row.found is not None]
