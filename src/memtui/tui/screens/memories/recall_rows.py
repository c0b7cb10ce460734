"""The list in recall: the memories that a prompt would bring, a rule, and those that it would not, with the reason."""

from collections.abc import Mapping, Sequence

from rich.text import Text

from memtui.core.base.phrasing import short
from memtui.present import legend, recall, safe_text
from memtui.recalling import RecallCandidate, RecallRun
from memtui.tui.model import fuzzy
from memtui.tui.screens.memories.rows import RULE, SAYS_FROM, WHOLE_TYPE, Pair
from memtui.tui.widgets.rows import Column

COLUMNS = (
    Column("", 1),
    Column("likely", 11, from_width=WHOLE_TYPE),
    Column("likely", 6, until_width=WHOLE_TYPE),
    Column("name"),
    Column("what it says", from_width=SAYS_FROM),
    Column("size", 4, right=True, from_width=SAYS_FROM),
)
LEGEND = (
    legend.section("Memories", recall.MARKS) + "\n"
    "likely: how likely it is that the memory helps with the prompt. It is worked out of the words that match, of"
    " the likeness in meaning, and of what its deliveries led to. The line across the list is where delivery ends."
)


def pairs(run: RecallRun, memories: Mapping[str, Pair]) -> list[Pair]:
    """Return the rows of a dry run: what would be delivered, the rule, what is left out. `memories`: by path; one that
    is not read yet has no row."""
    delivered, left_out = (
        [memories[each.path] for each in some if each.path in memories] for some in (run.delivered, run.left_out)
    )
    return [*delivered, RULE, *left_out] if delivered or left_out else []


def rule(run: RecallRun) -> str:
    """Return the words in the rule."""
    left_out = f"left out: {len(run.left_out)}" if run.left_out else "nothing is left out"
    return f"{recall.amount(run)} · {left_out}" if run.delivered else left_out


def draw(candidate: RecallCandidate | None, typed: str) -> list[Text]:
    """Draw the cells of a memory for COLUMNS. `typed`: the query, whose matches are marked."""
    if candidate is None:
        return [Text()] * len(COLUMNS)
    mark, style, _ = recall.outcome(candidate.outcome)
    name = Text(safe_text.line(candidate.name, 120), style="bold" if candidate.delivered else "")
    says = Text(safe_text.line(candidate.description, 400), style="dim")
    fuzzy.mark([name, says], typed)
    if candidate.pinned:
        name = Text.assemble((recall.PINNED + " ", "cyan"), name)
    likely = recall.scored(candidate)
    return [
        Text(mark, style=style),
        Text(likely, style="cyan" if candidate.delivered else "dim"),
        Text(likely[:4], style="cyan" if candidate.delivered else "dim"),
        name,
        says,
        Text(short(candidate.units) if candidate.units else "", style="dim"),
    ]


def filtered(rows: Sequence[Pair], matching: Sequence[Pair]) -> list[Pair]:
    """Return the rows that match, in their order, with the rule between them."""
    paths = {row.memory.path for _, row in matching if row is not RULE[1]}
    return [pair for pair in rows if pair is RULE or pair[1].memory.path in paths] if paths else []
