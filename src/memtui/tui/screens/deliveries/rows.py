"""The rows of the deliveries: in the log, and in one session with the sum of characters."""

from rich.text import Text

from memtui.core.deliveries.filter import SESSION_SHOWN
from memtui.core.deliveries.reading import DeliveryRow, Receipts
from memtui.core.deliveries.record import CHARS_A_TOKEN
from memtui.present import safe_text
from memtui.present.deliveries import EVENTS, GLYPHS, brought
from memtui.tui.model import fuzzy
from memtui.tui.model.times import when
from memtui.tui.widgets.rows import Column

IN_LOG = (
    Column("time", 9),
    Column("sess", 4, from_width=34),
    Column("event", 6, from_width=44),
    Column("what"),
    Column("project", 12, from_width=72),
    Column("chars", 6, right=True, from_width=60),
    Column("ms", 4, right=True, from_width=84),
    Column("", 1),
)
IN_SESSION = (
    Column("time", 9),
    Column("event", 6, from_width=40),
    Column("what"),
    Column("chars", 6, right=True, from_width=46),
    Column("tokens", 6, right=True, from_width=90),
    Column("total", 7, right=True, from_width=64),
    Column("ms", 4, right=True, from_width=50),
    Column("", 1),
)


def in_log(row: DeliveryRow, project: str, receipts: Receipts, sought: str, now: float) -> list[Text]:
    """Draw the cells of a row for the columns IN_LOG. `project`: its name; `sought`: the words of the filter, which are
    highlighted."""
    glyph, style = GLYPHS.get(receipts.known.get(row.id, ""), (" ", ""))
    session = Text(safe_text.line(row.session[:SESSION_SHOWN], SESSION_SHOWN), style="dim")
    event = Text(safe_text.line(EVENTS.get(row.event, row.event), 20), style="dim")
    words, whose = _brought(row), Text(safe_text.line(project, 40), style="dim")
    for text in (session, event, words, whose):
        for start, end in fuzzy.spans(text.plain, sought):
            text.stylize(fuzzy.STYLE, start, end)
    return [
        Text(when(row.time, now), style="dim"),
        session,
        event,
        words,
        whose,
        Text(f"{row.chars:,}" if row.chars else "", style="dim"),
        Text(f"{row.ms:.0f}" if row.ms is not None else "", style="dim"),
        Text(glyph, style=style),
    ]


def _brought(row: DeliveryRow) -> Text:
    counts, titles = brought(row.contents)
    text = Text(safe_text.line(titles or counts, 200), style="" if row.injected else "dim")
    if titles and counts:
        text = Text.assemble((safe_text.line(counts, 80) + " · ", "dim"), text)
    return text


def in_session(row: DeliveryRow, so_far: int, receipts: Receipts, sought: str, now: float) -> list[Text]:
    """Draw the cells of a row for the columns IN_SESSION. `so_far`: characters of the session, with this delivery."""
    time, _, event, words, _, own, ms, glyph = in_log(row, "", receipts, sought, now)
    tokens = Text(f"{row.chars // CHARS_A_TOKEN:,}", style="dim")
    return [time, event, words, own, tokens, Text(f"{so_far:,}", style="dim"), ms, glyph]
