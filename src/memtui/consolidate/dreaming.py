"""What a dream asks a model, and what it makes of the answer.

The model sees memories as data, by short names of this one request, and answers with actions of a schema. It can name
no file: an action that names something else than one cluster's memories is dropped, and said to be.
"""

import json
import os
from collections.abc import Iterable, Sequence
from itertools import chain, count
from typing import Any, Literal, NamedTuple, get_args

from memtui.consolidate import changeset, coverage, duplicates
from memtui.consolidate.changeset import FileOutput, Proposal, ProposalEvidence
from memtui.consolidate.clusters import ALIKE, Cluster, written_on
from memtui.core.base import visible
from memtui.core.base.errors import MemtuiError
from memtui.core.memories import memory
from memtui.core.memories.memory import Memory
from memtui.llm.fence import RULE, fenced
from memtui.llm.schema import Schema
from memtui.llm.usage import tokens_in

Action = Literal["merge", "contradict", "prune", "dates", "describe"]
# Why an action is dropped: it names what is not of its cluster (stranger), the same memory twice or one that another
# action changed (twice), has not what its kind needs (incomplete), would remove more than the run may (budget), says
# nothing new (same), would lose what was taken out of the text (redacted), or is not possible (impossible).
Why = Literal["stranger", "twice", "incomplete", "budget", "same", "redacted", "impossible"]
# Estimated tokens of the memories in one request, at most, and of an answer.
BATCH_TOKENS, ANSWER_TOKENS = 12_000, 16_000
# So many statements that a model wrote and no memory says are told, at most.
MOST_ADDED = 10
MOST_ACTIONS, MOST_BODY, MOST_DESCRIPTION, MOST_REASON = 60, 8000, 300, 400
SYSTEM = f"""\
You tidy the memory of a coding agent: small notes in files, each about one fact, with a description by which it is
found. You propose; a person decides on every proposal.

{RULE}

You get clusters of notes. For each cluster, propose what makes it fewer, truer notes, and nothing if it is good as it
is. Never lose a fact: numbers, names, paths, commands, conditions and reasons stay, word for word where you can. Never
add what the notes do not say. Use the language of the notes.

Actions, each within one cluster, each note in at most one action:
- merge: notes that say the same, or parts of one thing. `keep`: the note that stays; `memories`: all of them;
  `description` and `body`: the note that results, with every fact of all of them.
- contradict: notes that can't both hold. `keep`: the one that holds, as the notes or their dates show; `memories`: all
  of them. If you can't tell which one holds, propose nothing.
- prune: a note without any use later, such as one on a task that is long done. `memories`: only this note.
- dates: a note that says “yesterday”, “next week” and the like. `memories`: only this note; `body`: its text with
  absolute dates, worked out from the day it was written, and nothing else changed.
- describe: a note whose description does not say what it is about. `memories`: only this note; `description`: one
  line by which it is found.
`reason`: one sentence for the person."""

ITEM: Schema = {
    "type": "object",
    "properties": {
        "action": {"enum": list(get_args(Action))},
        "memories": {"type": "array", "items": {"type": "string", "maxLength": 20}, "minItems": 1, "maxItems": 12},
        "keep": {"type": "string", "maxLength": 20},
        "description": {"type": "string", "maxLength": MOST_DESCRIPTION},
        "body": {"type": "string", "maxLength": MOST_BODY},
        "reason": {"type": "string", "maxLength": MOST_REASON},
    },
    "required": ["action", "memories", "reason"],
}
SCHEMA: Schema = {
    "type": "object",
    "properties": {"actions": {"type": "array", "items": ITEM, "maxItems": MOST_ACTIONS}},
    "required": ["actions"],
}


class Dropped(NamedTuple):
    """An action of a model that became no proposal: its kind, the names of its memories as the model gave them, and
    why."""

    action: str
    memories: tuple[str, ...]
    why: Why


class Batch(NamedTuple):
    """Clusters that one request is about. The names in it are of this request only: `m1`, `m2`, …"""

    clusters: tuple[Cluster, ...]

    def named(self) -> dict[str, Memory]:
        """Return the memories by name."""
        every = [each for cluster in self.clusters for each in cluster.memories]
        return {f"m{number}": each for number, each in enumerate(every, 1)}

    def prompt(self) -> str:
        """Return the request: the clusters, fenced as data."""
        names = {each.path: name for name, each in self.named().items()}
        parts = []
        for number, cluster in enumerate(self.clusters, 1):
            told = [_told(names[each.path], each) for each in cluster.memories]
            parts.append(f"Cluster {number}:\n" + "\n".join(told))
        return "\n\n".join(parts)


def _told(name: str, found: Memory) -> str:
    day = written_on(found).isoformat()
    text = f"description: {found.description}\n\n{found.body.strip()}"
    return fenced("note", text, id=name, title=found.name, type=found.type, written=day)


def batches(clusters: Iterable[Cluster]) -> list[Batch]:
    """Put clusters together so that each request fits; a cluster is never parted."""
    found: list[list[Cluster]] = []
    room = 0
    for cluster in clusters:
        size = sum(tokens_in(each.raw.decode("utf-8", "replace")) + 60 for each in cluster.memories)
        if not found or size > room:
            found.append([])
            room = BATCH_TOKENS
        found[-1].append(cluster)
        room -= size
    return [Batch(tuple(each)) for each in found]


class Proposing:
    """Makes proposals of the answers of one run. `removable`: how many files all of them may remove; `by`: the model.

    `dropped` lists the actions that were not fit.
    """

    def __init__(self, removable: int, by: str) -> None:
        self.dropped: list[Dropped] = []
        self._left, self._by = removable, by
        self._used: set[str] = set()

    def proposals(self, batch: Batch, answer: dict[str, Any]) -> list[Proposal]:
        """Return the proposals in an answer of the schema."""
        named = batch.named()
        found = []
        for action in answer["actions"]:
            made = self._proposal(batch, named, action)
            if isinstance(made, Proposal):
                found.append(made)
                self._used |= {each.path for each in made.inputs}
                self._left -= len(made.gone)
            else:
                self.dropped.append(Dropped(action["action"], tuple(action["memories"]), made))
        return found

    def _proposal(self, batch: Batch, named: dict[str, Memory], action: dict[str, Any]) -> Proposal | Why:
        names = [*action["memories"], *([action["keep"]] if action.get("keep") else [])]
        if any(name not in named for name in names):
            return "stranger"
        memories = [named[name] for name in dict.fromkeys(names)]
        own = {each.path for each in memories}
        home = next((each for each in batch.clusters if own <= {one.path for one in each.memories}), None)
        if home is None:
            return "stranger"
        if len(set(action["memories"])) < len(action["memories"]) or own & self._used:
            return "twice"
        found = _Made(action, memories, named.get(action.get("keep") or ""), home, self._by)
        outputs = found.outputs()
        if isinstance(outputs, str):
            return outputs
        if sum(each.data is None for each in outputs) > self._left:
            return "budget"
        try:
            return found.proposal(outputs)
        except MemtuiError:
            return "impossible"


class _Made(NamedTuple):
    """An action on memories of one cluster, on its way to a proposal."""

    action: dict[str, Any]
    memories: list[Memory]
    keep: Memory | None
    cluster: Cluster
    by: str

    @property
    def kind(self) -> str:
        return str(self.action["action"])

    def outputs(self) -> list[FileOutput] | Why:
        """Return the files as the action leaves them."""
        if self.kind in {"merge", "contradict"}:
            if self.keep is None or len(self.memories) < 2:
                return "incomplete"
            others = [each for each in self.memories if each is not self.keep]
            if self.kind == "contradict":
                return _archived(self.cluster.directory, others)
            kept = self._rewritten(self.keep, "description", "body")
            return kept if isinstance(kept, str) else [*kept, *(FileOutput(each.path, None) for each in others)]
        if len(self.memories) != 1:
            return "incomplete"
        if self.kind == "prune":
            return _archived(self.cluster.directory, self.memories)
        return self._rewritten(self.memories[0], "body" if self.kind == "dates" else "description")

    def _rewritten(self, found: Memory, *fields: str) -> list[FileOutput] | Why:
        """Return a file with what the model wrote in some fields."""
        written = {key: visible.clean(str(self.action.get(key) or "")).strip() for key in fields}
        if not all(written.values()):
            return "incomplete"
        if any("[redacted: " in text for text in written.values()):
            return "redacted"
        if "description" in written:
            written["description"] = visible.one_line(written["description"])
        if "body" in written:
            lead = "\n" if found.body.startswith("\n") or not found.body else ""
            written["body"] = f"{lead}{written['body']}\n"
        try:
            data = memory.with_fields(found, written)
        except MemtuiError:
            return "impossible"
        return "same" if data == found.raw and self.kind != "merge" else [FileOutput(found.path, data)]

    def proposal(self, outputs: list[FileOutput]) -> Proposal:
        """Return the proposal. Raises UsageError if it contradicts itself."""
        kind: changeset.Kind = (
            "merge" if self.kind == "merge" else "archive" if self.kind in {"contradict", "prune"} else "rewrite"
        )
        told = {"action": self.kind, "model": self.by}
        if self.keep is not None:
            told["keep"] = self.keep.path
        said = ProposalEvidence("dream", data=told)
        added = self._added(outputs) if self.kind in {"merge", "dates"} else []
        new = (ProposalEvidence(changeset.ADDED, texts=tuple(added)),) if added else ()
        alike = tuple(each for each in self.cluster.evidence if len(self.memories) > 1 or each.code != ALIKE)
        return changeset.propose(
            kind,
            [changeset.read_from(each.path, each.raw) for each in self.memories],
            outputs,
            (said, *new, *alike),
            visible.one_line(visible.clean(self.action["reason"])),
        )

    def _added(self, outputs: list[FileOutput]) -> list[str]:
        """List the statements of a text that none of the memories has, as far as words tell. One that got another date
        has half of its words or more from the one that it replaces."""
        known = [each for found in self.memories for each in coverage.of_file(found.path, found.raw)]
        made = [each for out in outputs for each in coverage.of_file(out.path, out.data or b"") if each.kind != "field"]
        new = [each.statement.text for each in coverage.cover(made, known).dropped]
        if self.kind == "dates":
            replaced = [duplicates.words(each.statement.text) for each in coverage.cover(known, made).dropped]
            new = [each for each in new if not any(_is_mostly(duplicates.words(each), old) for old in replaced)]
        return [each[:MOST_REASON] for each in new][:MOST_ADDED]


def _is_mostly(words: frozenset[str], old: frozenset[str]) -> bool:
    return 2 * len(words & old) >= len(words)


def _archived(directory: str, memories: Sequence[Memory]) -> list[FileOutput]:
    """Return memories as moved to the archive of their scope, each under a name that is free there."""
    found = []
    for each in memories:
        stem = f"{directory}/{changeset.ARCHIVE}/{each.path.removeprefix(directory + '/').removesuffix('.md')}"
        free = (f"{stem}{end}.md" for end in chain([""], (f"-{number}" for number in count(2))))
        found += [FileOutput(each.path, None), FileOutput(next(p for p in free if not os.path.lexists(p)), each.raw)]
    return found


def request_key(model: str, batch: Batch) -> str:
    """Return a name for a request: the same memories asked of the same model have the same."""
    return changeset.sha256(json.dumps([model, SYSTEM, SCHEMA, batch.prompt()]).encode())
