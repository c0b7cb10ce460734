"""Ask a model for the triggers of memories, several in one request: lines on when one would need each, in other words
than its own. What it answers is kept by whoever asked, after a look or with undo.

No model sees what a dream would not look at (`dreaming.sorted_out`), and secrets are taken out of the rest.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memtui.consolidate.dreaming import WhyNot, sorted_out
from memtui.core.base import fastjson
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import many
from memtui.core.journal.own_files import BesideRow
from memtui.core.memories import beside, triggers
from memtui.core.memories.memory import Memory
from memtui.core.memories.store import Store
from memtui.core.redaction.redact import kinds_in
from memtui.llm.errors import ModelError
from memtui.llm.fence import RULE, fenced
from memtui.llm.model import LanguageModel, Progress, ask_each, batched
from memtui.llm.schema import Schema
from memtui.llm.usage import NOTHING, ModelUsage, tokens_in

PURPOSE = "triggers"
# Estimated tokens of the memories in one request, their number, the characters of each that are sent, and the tokens
# that the lines of one take.
BATCH_TOKENS, BATCH_MEMORIES, MOST_CHARACTERS, ANSWER_TOKENS = 12_000, 20, 3000, 160
# Lines of one memory, and characters of each.
MOST_LINES, MOST_LINE = 6, 160
# Memories of one run that nobody watches.
UNATTENDED = 40
SYSTEM = f"""\
You write triggers for the notes of a coding agent: lines by which a note is found at the moment when it is needed.

{RULE}

For each note write 4 or 5 lines. Each line is what a developer might type to the agent, or be about to do, at such a
moment: short, concrete, and in other words than the note's own, since its own words are found anyway. Take each line
from another angle: a task, a question, an error or a symptom, a synonym, what it is called elsewhere. Never give the
note's answer away. Use the language of the note; if that is not English, make one of the lines English."""

SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "notes": {
            "type": "array",
            "maxItems": 2 * BATCH_MEMORIES,
            "items": {
                "type": "object",
                "properties": {
                    "note": {"type": "string", "maxLength": 20},
                    "lines": {"type": "array", "items": {"type": "string", "maxLength": 400}, "maxItems": 12},
                },
                "required": ["note", "lines"],
            },
        }
    },
    "required": ["notes"],
}


@dataclass
class WrittenTriggers:
    """What came of a run: the `lines` of each memory that got some; `failed`: requests without an answer; `stopped`:
    why it ended early, None if it is whole."""

    lines: list[tuple[Memory, list[str]]] = field(default_factory=list)
    failed: list[ModelError] = field(default_factory=list)
    stopped: MemtuiError | None = None
    used: ModelUsage = NOTHING


def sendable(store: Store, found: Iterable[Memory]) -> tuple[list[Memory], list[tuple[Memory, WhyNot]]]:
    """Split memories into those that a model may see, and the others with the reason."""
    by_scope: dict[str, list[Memory]] = {}
    for each in found:
        by_scope.setdefault(each.scope_label, []).append(each)
    rows = [row for label, some in by_scope.items() for row in sorted_out(store.root, store.scope(label), some)]
    return [each for each, why in rows if not why], [(each, why) for each, why in rows if why]


def without(store: Store, found: Iterable[Memory]) -> list[Memory]:
    """List those of some memories for which no model wrote lines yet and that have none in their files, the newest
    first."""
    written: dict[str, set[str]] = {}
    missing = []
    for each in found:
        scope, file = triggers.place_of(store, each)
        if scope.directory not in written:
            rows = beside.rows(store.root, beside.TRIGGERS, scope.directory)
            written[scope.directory] = {file for file, lines in rows.items() if any(map(_by_model, lines))}
        if file not in written[scope.directory] and not triggers.in_frontmatter(each.fields):
            missing.append(each)
    return sorted(missing, key=lambda each: -each.changed_at)


def _by_model(row: BesideRow) -> bool:
    fields = fastjson.loads_dict(row)
    return "model" in {fields.get("origin"), fields.get("was") if fields.get("origin") == triggers.REMOVED else None}


class TriggerWriting:
    """One run of a model over memories that it may see."""

    def __init__(self, model: LanguageModel, found: Sequence[Memory]) -> None:
        self.model = model
        self.batches = batched(found, lambda each: tokens_in(_told("m00", each)), BATCH_TOKENS, BATCH_MEMORIES)

    def estimate(self) -> ModelUsage:
        """Estimate what the requests use."""
        total = NOTHING
        for batch in self.batches:
            total = total.plus(self.model.estimate(SYSTEM, _prompt(batch), ANSWER_TOKENS * len(batch)))
        return total

    def run(self, progress: Progress = lambda *_: None) -> WrittenTriggers:
        """Ask. Raises MemtuiError if the log of calls can't be written."""
        done = WrittenTriggers()

        def ask(batch: Sequence[Memory]) -> None:
            done.lines += _lines(batch, self.model.ask(PURPOSE, SYSTEM, _prompt(batch), SCHEMA)["notes"])

        done.failed, done.stopped = ask_each(self.batches, ask, progress)
        done.used = self.model.spent
        return done


def _prompt(batch: Sequence[Memory]) -> str:
    return "\n\n".join(_told(f"m{number}", each) for number, each in enumerate(batch, 1))


def _told(name: str, found: Memory) -> str:
    text = f"description: {found.description}\n\n{found.body.strip()[:MOST_CHARACTERS]}"
    return fenced("note", text, id=name, title=found.name, type=found.type)


def _lines(batch: Sequence[Memory], notes: Sequence[Mapping[str, object]]) -> list[tuple[Memory, list[str]]]:
    """Return the lines of an answer by the memories of its request. Names of others, lines that only repeat what the
    memory is called, and those that seem to hold a secret are left out."""
    names = {f"m{number}": each for number, each in enumerate(batch, 1)}
    lines: dict[str, list[str]] = {}
    for row in notes:
        memory, texts = names.get(str(row["note"])), row["lines"]
        if memory is not None and isinstance(texts, list):
            own = {memory.name.casefold(), memory.stem.casefold(), memory.description.casefold(), ""}
            for line in (triggers.one_line(str(each)[:MOST_LINE]).lstrip("-*• ") for each in texts):
                if line.casefold() not in own and "[redacted" not in line and not kinds_in(line):
                    own.add(line.casefold())
                    lines.setdefault(str(row["note"]), []).append(line)
    return [(names[name], texts[:MOST_LINES]) for name, texts in lines.items()]


def keep(store: Store, found: Iterable[tuple[Memory, Sequence[str]]]) -> list[tuple[Memory, list[str]]]:
    """Keep lines of a model beside their memories, in place of those that one wrote before, as one step of undo. Return
    those that are new. Raises MemtuiError."""
    now, kept, edits = store.journal.now(), [], []
    for memory, lines in found:
        scope, file = triggers.place_of(store, memory)
        rows = beside.rows(store.root, beside.TRIGGERS, scope.directory).get(file, [])
        others = [row for row in rows if fastjson.loads_dict(row).get("origin") != "model"]
        room = max(0, triggers.MOST - len(triggers.alive(others, now)))
        made = triggers.after_adding(others, lines[:room], "model", now)
        new = [each.text for each in triggers.alive(made, now) if each.origin == "model"]
        if new:
            kept.append((memory, new))
            edits += beside.edit(store.root, beside.TRIGGERS, scope.directory, file, made)
    if edits:
        what = kept[0][0].ref if len(kept) == 1 else many(len(kept), "memory", "memories")
        store.journal.run("triggers", edits, f"write triggers of {what}")
    return kept
