"""What the subconscious of the sample world has noted, said and done. There it is switched off, as it is at first."""

import os

from memtui.base import clock, fs, paths
from memtui.deliver import blocks as delivery_blocks
from memtui.demo import content
from memtui.demo.layout import HOUR, World, ulid
from memtui.inbox import format as inbox_format
from memtui.inbox import note_block
from memtui.models.subconscious import block_files, control, runs

MODEL = "claude-haiku-5-5"
FIRST_ID = 7000


def write(world: World) -> None:
    """Write its blocks, runs and questions."""
    slug = paths.project_key(world.shop)
    for number, (run, block, text) in enumerate(content.SUBCONSCIOUS_NOTES):
        at = world.now - content.SUBCONSCIOUS_RUNS[run][1] * HOUR + number
        path = block_files.path(world.root, slug, block)
        fs.makedirs(os.path.dirname(path))
        fs.write_atomic(path, text.encode() + b"\n", durable=False)
        os.utime(path, (at, at))
    for number in range(len(content.SUBCONSCIOUS_RUNS)):
        _run(world, number, slug)


def delivered(world: World, at: float) -> delivery_blocks.Block:
    """Return the block with which the whisper of a run reaches its session at the time `at`."""
    number, hours, whisper = next((n, row[1], row[3]) for n, row in enumerate(content.SUBCONSCIOUS_RUNS) if row[3])
    when = world.now - hours * HOUR
    fields = {"id": _whisper_id(world, number), "time": clock.iso_seconds(when), "from": runs.SENDER}
    fields |= {"kind": note_block.WHISPER, "for": "session"}
    entry = inbox_format.parse(inbox_format.render(fields, whisper[0]))[0]
    return note_block.note(paths.inbox_dir(world.root, paths.project_key(world.shop)), entry, at, "for this session")


def _whisper_id(world: World, number: int) -> str:
    return ulid(world.now - content.SUBCONSCIOUS_RUNS[number][1] * HOUR, FIRST_ID + 200 + number)


def _run(world: World, number: int, slug: str) -> None:
    name, hours, note, whisper = content.SUBCONSCIOUS_RUNS[number]
    at, session = world.now - hours * HOUR, world.sessions[name]
    run_id = ulid(at, FIRST_ID + 100 + number)
    changes = tuple(f"{block}: added “{text}”" for run, block, text in content.SUBCONSCIOUS_NOTES if run == number)
    job = runs.Run(
        run_id, at, session, slug, world.shop, "Stop", "api", MODEL, "full", "read-only", runs.DONE,
        seconds=4.2 + number, calls=1 + number % 2, tokens=3100 + 700 * number, cost=0.0011 + 0.0004 * number,
        heard=4 + number, note=note, looks=("Grep . migration",) if number % 2 else (), changes=changes,
        whispers=(runs.Whisper(_whisper_id(world, number), *whisper),) if whisper else (),
    )  # fmt: skip
    runs.append(world.root, job)
    mentions = []
    if number == len(content.SUBCONSCIOUS_RUNS) - 1:
        question = {"id": "m1", "who": "person", "words": content.SUBCONSCIOUS_QUESTION, "time": clock.iso(at)}
        mentions.append(question)
    control.save(world.root, session, {"mentions": mentions})
