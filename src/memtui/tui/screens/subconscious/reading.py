"""Read what the Subconscious screen shows: state, questions, blocks, whispers with their receipts, runs."""

from dataclasses import replace
from typing import TYPE_CHECKING

from memtui.core.deliveries import receipts
from memtui.subconscious import conversations, overview, places, runs, whispers
from memtui.subconscious.block_versions import BlockVersion, VersionLog
from memtui.subconscious.blocks import Blocks
from memtui.subconscious.conversations import Remark
from memtui.subconscious.overview import Overview
from memtui.tui.screens.subconscious.rows import BLOCK, OVER, RUN, WAITING, WAITS, WHISPER, SubconsciousRow

if TYPE_CHECKING:
    from memtui.core.deliveries.notes import Note
    from memtui.tui.model.data import Data

# Whispers and runs that are shown, the newest.
WHISPERS, RUNS = 50, 100


def read(data: "Data") -> tuple[Overview, list[SubconsciousRow]]:
    """Return the state in this project, and all rows: questions, blocks, whispers, runs."""
    found = overview.look(data.env, data.root, data.project_root, data.now())
    rows = [
        SubconsciousRow(WAITS, f"waits {each.session} {at}", each.time, mention=each)
        for at, each in enumerate(found.mentions)
    ]
    blocks = Blocks(data.root, data.slug, data.now)
    for name in places.BLOCKS:
        versions = tuple(blocks.versions(name))
        when = versions[0].time if versions else None
        rows.append(SubconsciousRow(BLOCK, f"block {name}", when, name, blocks.text(name), versions))
    changes: dict[str, list[tuple[BlockVersion, str]]] = {}
    for version, old in VersionLog(data.root).changes():
        changes.setdefault(version.run, []).append((version, old))
    rows += [_whisper(data, each) for each in whispers.newest_first(data.root, WHISPERS)]
    for run in runs.newest_first(data.root, RUNS):
        made = tuple(changes.get(run.id, ()))
        rows.append(SubconsciousRow(RUN, f"run {run.id}", run.time, run=run, changes=made))
    others = {row.slug for row in rows} - {"", data.slug}
    called = overview.names(data.env, others) if others else {}
    return found, [replace(row, project=called[row.slug]) if row.slug in called else row for row in rows]


def _whisper(data: "Data", each: whispers.Whisper) -> SubconsciousRow:
    note = _delivered(data, each)
    if note is not None:
        outcome = data.outcomes([note.delivery.record]).get(note.delivery.id, receipts.UNKNOWN)
    else:
        outcome = WAITING if whispers.waits(data.root, each) else OVER
    delivery = note.delivery.id if note is not None else ""
    return SubconsciousRow(WHISPER, f"whisper {each.id}", each.time, whisper=each, outcome=outcome, delivery=delivery)


def _delivered(data: "Data", each: whispers.Whisper) -> "Note | None":
    try:
        return whispers.delivered(data.root, each)
    except OSError:
        return None


def conversation(data: "Data", session: str) -> list[Remark]:
    """Return all remarks about a session, oldest first."""
    return conversations.last(data.root, session)
