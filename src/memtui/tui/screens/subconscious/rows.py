"""The rows of the Subconscious screen: who waits for a reply, its blocks, what it said, and its runs."""

from dataclasses import dataclass, field

from rich.text import Text

from memtui.core.base.phrasing import many
from memtui.core.deliveries import receipts
from memtui.present import safe_text
from memtui.present import subconscious as present
from memtui.present.deliveries import GLYPHS
from memtui.subconscious import places
from memtui.subconscious.block_versions import BlockVersion
from memtui.subconscious.overview import WaitingMention
from memtui.subconscious.runs import Run
from memtui.subconscious.whispers import Whisper

WAITS, BLOCK, WHISPER, RUN = "question", "block", "whisper", "run"
# The outcomes of a whisper that was not delivered: it waits, or was withdrawn or expired.
WAITING, OVER = "waits", "over"
MARKS = (
    (WAITS, "words with @memtui that have no reply yet"),
    (BLOCK, "a block of its notes, which you may change"),
    (WHISPER, "what it whispered to a session, with its receipt"),
    (RUN, "it read a turn: what came of that, and what it cost"),
)


@dataclass(frozen=True)
class SubconsciousRow:
    """One row. `key`: its id; `time`: seconds since the epoch, None for a block that nobody changed; `project`: what
    another project is called that it is of, empty for this one. One of the others is set, by its `kind`: of a block its
    `name`, `content` and `versions` (newest first); of a whisper `outcome` too: that of its delivery, WAITING or OVER;
    of a run the `changes` that it made, each with the text before."""

    kind: str
    key: str
    time: float | None
    name: str = ""
    content: str = ""
    versions: tuple[BlockVersion, ...] = ()
    mention: WaitingMention | None = None
    whisper: Whisper | None = None
    outcome: str = ""
    delivery: str = ""
    run: Run | None = None
    changes: tuple[tuple[BlockVersion, str], ...] = field(default=())
    project: str = ""

    @property
    def session(self) -> str:
        """The session that it is about; empty for a block."""
        about = self.mention or self.whisper or self.run
        return about.session if about is not None else ""

    @property
    def slug(self) -> str:
        """The slug of the project that it is of; empty for a block, and where it is not known."""
        about = self.mention or self.whisper or self.run
        return about.project if about is not None else ""


def words(row: SubconsciousRow) -> str:
    """Return what a row says, on one line."""
    if row.mention is not None:
        return safe_text.line(row.mention.words, 300)
    if row.whisper is not None:
        return safe_text.line(row.whisper.text, 300)
    if row.run is not None:
        said = present.did(row.run)
        return safe_text.line(f"{said}: {row.run.note}" if row.run.note and said else said or row.run.note, 300)
    return f"{row.name}  {safe_text.line(row.content.partition(chr(10))[0], 200)}".rstrip()


def state(row: SubconsciousRow, now: float) -> Text:
    """Return the state of a row."""
    if row.whisper is not None:
        if row.outcome in GLYPHS:
            glyph, style = GLYPHS[row.outcome]
            return Text(f"{glyph} {row.outcome}", style=style)
        if row.outcome == WAITING:
            return Text("… waits", style="cyan")
        return Text(present.ended(row.whisper, now), style="dim")
    if row.run is not None:
        said, style = present.outcome(row.run, now)
        return Text(said, style=style)
    if row.mention is not None:
        return Text("no reply yet", style="cyan")
    return Text(f"{len(row.content):,}/{places.MOST:,}", style="dim")


def who(row: SubconsciousRow) -> str:
    """Return whom a row is from or for."""
    if row.mention is not None:
        return "you" if row.mention.who == "person" else "the agent"
    if row.session:
        return row.session[:8]
    return present.WHO.get(row.versions[0].by, "") if row.versions else ""


def searched(row: SubconsciousRow) -> str:
    """Return the text that the filter searches."""
    return f"{row.kind} {row.project} {words(row)} {who(row)} {row.content}"


def counted(rows: "list[SubconsciousRow]") -> str:
    """Say how many runs and whispers there are."""
    runs = [row for row in rows if row.run is not None]
    said = [row for row in rows if row.whisper is not None]
    came = sum(row.outcome == receipts.ARRIVED for row in said)
    return f"{many(len(runs), 'run')}, {many(len(said), 'whisper')}" + (f", {came} arrived" if said else "")
