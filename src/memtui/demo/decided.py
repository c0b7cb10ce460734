"""Decisions on drafts of the sample world's past, and what they taught."""

from memtui.core.base import clock, fastjson, fs, paths
from memtui.core.client.conversation import Turn
from memtui.core.review import learned, taught
from memtui.demo.layout import HOUR, World, ulid
from memtui.extract import classifier, decisions, personal

# What the person said, after the agent's words, and what became of the draft; hours before the world's now.
DECIDED = (
    ("No, use pnpm. From now on always use pnpm in this repository.", decisions.APPROVED, 220),
    ("Never push to main without asking me first.", decisions.APPROVED, 190),
    ("Always run the linter before you say that it is done.", decisions.APPROVED, 140),
    ("No, that is wrong, the second button is called Send.", decisions.REJECTED, 120),
    ("I told you not to touch the generated files, leave them alone.", decisions.APPROVED, 80),
    ("That is still broken, try it with the other branch.", decisions.REJECTED, 50),
)


def write(world: World) -> None:
    """Write the decisions and what follows from them, as the worker does (worker/decided.py). Raises OSError."""
    shop, judge = paths.project_key(world.shop), classifier.shipped()
    labels: dict[str, str] = {}
    for number, (said, label, hours) in enumerate(DECIDED):
        seconds = world.now - hours * HOUR
        name = ulid(seconds, 7000 + number)
        turn = Turn(said, "prompt", uuid=name, session=name, time=clock.iso(seconds), agent="Done.")
        draft = classifier.draft_of(turn, judge)
        if draft is not None:
            decisions.note(world.root, name, shop, draft)
            labels[name] = label
    made = personal.fit(decisions.decided(world.root, labels), personal.validation())
    row = {"v": taught.VERSION, "labels": labels, "reset": ""}
    fs.write_atomic(learned.weights_path(world.root), fastjson.dumps(personal.data(made)).encode(), durable=False)
    fs.write_atomic(learned.decisions_path(world.root), fastjson.dumps(row).encode(), durable=False)
