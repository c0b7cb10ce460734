"""The rows of the Sessions screen: live or past, project, title, when seen last, whether what it was told arrived."""

from collections.abc import Sequence

from rich.text import Text

from memtui.core.base.phrasing import age
from memtui.core.deliveries import receipts
from memtui.core.deliveries.session_list import SessionRow
from memtui.present import safe_text, sessions
from memtui.present.deliveries import GLYPHS
from memtui.tui.model import fuzzy
from memtui.tui.widgets.rows import Column

# From so many cells on what did not arrive is said in words, below in glyphs.
WORDS_FROM = 86
WORDS, BRIEF = 24, 10
COLUMNS = (
    Column("", 2),
    Column("project", 12, from_width=56),
    Column("title"),
    Column("seen", 4, right=True),
    Column("sent", 4, right=True, from_width=72),
    Column("arrived", 9, right=True, from_width=36),
    Column("", WORDS, from_width=WORDS_FROM),
    Column("", BRIEF, from_width=44, until_width=WORDS_FROM),
)
# Where all sessions are of one project, its name takes no room from the titles.
OF_ONE_PROJECT = (COLUMNS[0], Column("project", 12, from_width=100), *COLUMNS[2:])


def cells(row: SessionRow, project: str, typed: str, now: float) -> list[Text]:
    """Draw the cells of a row for COLUMNS. `typed`: the filter, whose matches are marked."""
    name = Text(safe_text.line(project, 40), style="dim")
    title = Text(safe_text.line(sessions.title(row), 300), style="bold" if row.live else "" if row.title else "dim")
    besides, brief = _besides(row, words=True), _besides(row, words=False)
    fuzzy.mark([name, title, besides], typed)
    return [
        state(row),
        name,
        title,
        Text(age(row.last, now), style="dim"),
        Text(f"{row.deliveries:,}" if row.deliveries else "-", style="dim"),
        Text(sessions.arrived(row), style="" if row.counts.arrived == row.counts.settled else "bold"),
        besides,
        brief,
    ]


def state(row: SessionRow) -> Text:
    """Draw whether a session is live, and the worst that became of what it was told."""
    glyph, style = sessions.LIVE if row.live else (" ", "")
    text = Text(glyph, style=style)
    if row.counts.lost or row.counts.previewed:
        glyph, style = GLYPHS[receipts.FAILED if row.counts.lost else receipts.PREVIEWED]
        text.append(glyph, style=style)
    return text


def _besides(row: SessionRow, *, words: bool) -> Text:
    if words:
        text = joined(sessions.besides(row), "  ")
        if text.cell_len <= WORDS:
            return text
    return joined(sessions.besides(row, brief=True), "  ")


def joined(words: Sequence[tuple[str, str]], gap: str) -> Text:
    """Join words, each with its style."""
    return Text(gap).join(Text(each, style=style) for each, style in words)


def searched(row: SessionRow) -> str:
    """Return the text of a row that the filter searches, beside the name of its project."""
    besides = " ".join(words for words, _ in sessions.besides(row))
    return f"{sessions.title(row)[:300]} {row.branch} {row.id[:8]} {besides}"
