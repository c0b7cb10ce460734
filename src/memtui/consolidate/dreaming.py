"""What a dream asks a model, and what it makes of the answer.

It looks at clusters: memories of one scope that may say the same, or that need a look by themselves. Left out is what
must not reach a model or could not be changed: memories that are broken, long, not trusted, in a read-only scope, or
that seem to contain a secret. The model sees the others as data, by short names of this one request, and answers with
actions of a schema. It can name no file: an action that names something else than one cluster's memories is dropped,
and said to be.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from itertools import combinations
from typing import Any, Literal, NamedTuple, get_args

from memtui.consolidate import changeset, checks, contradictions, coverage, similarity
from memtui.consolidate.changeset import FileOutput, Kind, Proposal, ProposalEvidence
from memtui.consolidate.files import in_archive
from memtui.core.base import visible
from memtui.core.base.errors import MemtuiError
from memtui.core.journal.own_files import Pair
from memtui.core.memories import memory
from memtui.core.memories.memory import Memory
from memtui.core.memories.relative_dates import relative_dates
from memtui.core.memories.scopes import Scope
from memtui.core.places import trust
from memtui.core.redaction.redact import kinds_in
from memtui.llm.fence import RULE, fenced
from memtui.llm.model import batched
from memtui.llm.schema import Schema
from memtui.llm.usage import tokens_in

# Memories of a cluster, at most; characters of a memory that a dream looks at, at most.
MOST_TOGETHER, MOST_CHARACTERS = 6, 8000
# The code of what two memories that are alike are found by.
ALIKE = "memories.alike"
# The most pairs that are looked at, the most alike first.
MOST_PAIRS = 400
# A description with fewer words says too little.
FEW_WORDS = 3
# Why a dream does not look at a memory.
WhyNot = Literal["", "read_only", "broken", "empty", "long", "untrusted", "secret"]
Action = Literal["merge", "contradict", "prune", "dates", "describe"]
KINDS: Mapping[Action, Kind] = {
    "merge": "merge",
    "contradict": "archive",
    "prune": "archive",
    "dates": "rewrite",
    "describe": "rewrite",
}
Json = dict[str, Any]
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


class Cluster(NamedTuple):
    """Memories of one scope, its directory, and why they are looked at."""

    directory: str
    memories: tuple[Memory, ...]
    evidence: tuple[ProposalEvidence, ...]


def sorted_out(root: str, scope: Scope, memories: Iterable[Memory]) -> list[tuple[Memory, WhyNot]]:
    """Return the memories of a scope, each with the reason why a dream does not look at it, empty if it does."""
    if scope.kind == "instructions" or not scope.writable or scope.problem:
        return [(each, "read_only") for each in memories]
    trusted = trust.load(root, scope.directory) if scope.needs_trust else None
    return [(each, _why_not(each, trusted)) for each in memories]


def _why_not(found: Memory, trusted: "trust.Trust | None") -> WhyNot:
    if found.broken is not None:
        return "broken"
    if not found.raw:
        return "empty"
    if len(found.raw) > MOST_CHARACTERS:
        return "long"
    if trusted is not None and not trusted.allows(found.raw):
        return "untrusted"
    return "secret" if kinds_in(found.raw.decode("utf-8", "replace")) else ""


def clusters(directory: str, memories: Sequence[Memory], kept_apart: Collection[Pair] = ()) -> list[Cluster]:
    """List the clusters among the memories of one scope: those that contradict each other, then those alike, the most
    alike first, then single ones. Each memory is in at most one; two that are kept apart are never in the same."""
    groups: dict[str, list[Memory]] = {}
    reasons: dict[str, list[ProposalEvidence]] = {}
    for one, other, evidence in _pairs(memories):
        mine, theirs = (groups.get(each.path, [each]) for each in (one, other))
        joined = mine if mine is theirs else [*mine, *theirs]
        apart = any(frozenset((a.path, b.path)) in kept_apart for a, b in combinations(joined, 2))
        if len(joined) > MOST_TOGETHER or apart:
            continue
        known = reasons.get(mine[0].path, []) + (reasons.get(theirs[0].path, []) if mine is not theirs else [])
        for each in joined:
            groups[each.path], reasons[each.path] = joined, [*known, evidence]
    together = {id(group): Cluster(directory, tuple(group), tuple(reasons[group[0].path])) for group in groups.values()}
    alone = [Cluster(directory, (each,), tuple(_why(each))) for each in memories if each.path not in groups]
    return [*together.values(), *(each for each in alone if each.evidence)]


def _pairs(memories: Sequence[Memory]) -> Iterator[tuple[Memory, Memory, ProposalEvidence]]:
    for one, other in contradictions.find(memories):
        yield one.memory, other.memory, ProposalEvidence("memories.contradict", texts=(one.words, other.words))
    for pair in similarity.pairs(memories, MOST_PAIRS):
        apart = contradictions.difference(pair.one, pair.other)
        if apart is None:
            yield pair.one, pair.other, ProposalEvidence(ALIKE, similarity.of_two(pair.one, pair.other), pair.shared)
        elif not apart.is_date:
            yield pair.one, pair.other, ProposalEvidence("memories.contradict", texts=(apart.one, apart.other))


def _why(found: Memory) -> Iterator[ProposalEvidence]:
    """Yield why a memory needs a look by itself: it names relative dates, or its description says too little."""
    if words := tuple(each.words for each in relative_dates(found.body, written_on(found))):
        yield ProposalEvidence("memories.date", texts=words)
    if len(found.description.split()) < FEW_WORDS:
        yield ProposalEvidence("memories.no_description", texts=tuple(filter(None, [found.description])))


def written_on(found: Memory) -> date:
    """Return the day on which a memory was written, by its own fields, else by its file."""
    return checks.written(found)[0] or datetime.fromtimestamp(found.mtime, UTC).date()


class _UnfitError(Exception):
    """An action is not fit to become a proposal."""

    def __init__(self, why: Why) -> None:
        super().__init__(why)
        self.why: Why = why


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
            notes = []
            for each in cluster.memories:
                text, day = f"description: {each.description}\n\n{each.body.strip()}", written_on(each).isoformat()
                notes.append(fenced("note", text, id=names[each.path], title=each.name, type=each.type, written=day))
            parts.append(f"Cluster {number}:\n" + "\n".join(notes))
        return "\n\n".join(parts)


def batches(clusters: Iterable[Cluster]) -> list[Batch]:
    """Put clusters together so that each request fits; a cluster is never parted."""
    size: Callable[[Cluster], int] = lambda cluster: sum(
        tokens_in(each.raw.decode("utf-8", "replace")) + 60 for each in cluster.memories
    )
    return [Batch(tuple(each)) for each in batched(clusters, size, BATCH_TOKENS)]


class Proposing:
    """Makes proposals of the answers of one run. `removable`: how many files all of them may remove; `by`: the model.

    `dropped` lists the actions that were not fit.
    """

    def __init__(self, removable: int, by: str) -> None:
        self.dropped: list[Dropped] = []
        self._left, self._by = removable, by
        self._used: set[str] = set()

    def proposals(self, batch: Batch, answer: Json) -> list[Proposal]:
        """Return the proposals in an answer of the schema."""
        named = batch.named()
        proposals = []
        for action in answer["actions"]:
            try:
                proposal = self._proposal(batch, named, action)
            except _UnfitError as error:
                self.dropped.append(Dropped(action["action"], tuple(action["memories"]), error.why))
                continue
            proposals.append(proposal)
            self._used |= {each.path for each in proposal.inputs}
            self._left -= len(proposal.gone)
        return proposals

    def _proposal(self, batch: Batch, named: dict[str, Memory], action: Json) -> Proposal:
        """Return the proposal of an action. Raises _UnfitError."""
        names = [*action["memories"], *filter(None, [action.get("keep")])]
        memories = [named[name] for name in dict.fromkeys(names) if name in named]
        own = {each.path for each in memories}
        home = next((each for each in batch.clusters if own <= {one.path for one in each.memories}), None)
        if not named.keys() >= set(names) or home is None:
            raise _UnfitError("stranger")
        if len(set(action["memories"])) < len(action["memories"]) or own & self._used:
            raise _UnfitError("twice")
        keep = named.get(action.get("keep") or "")
        try:
            outputs = _outputs(action, memories, keep, home.directory)
            if sum(each.data is None for each in outputs) > self._left:
                raise _UnfitError("budget")
            return changeset.propose(
                KINDS[action["action"]],
                [changeset.read_from(each.path, each.raw) for each in memories],
                outputs,
                self._evidence(action, memories, keep, home, outputs),
                visible.one_line(visible.clean(action["reason"])),
            )
        except MemtuiError as error:
            raise _UnfitError("impossible") from error

    def _evidence(
        self, action: Json, memories: list[Memory], keep: Memory | None, home: Cluster, outputs: list[FileOutput]
    ) -> list[ProposalEvidence]:
        """Return what speaks for an action, and which statements of its texts none of the memories has, as far as words
        tell. One that got another date has half of its words or more from the one that it replaces."""
        data = {"action": action["action"], "model": self._by, **({} if keep is None else {"keep": keep.path})}
        known = [each for found in memories for each in coverage.of_file(found.path, found.raw)]
        made = [each for out in outputs for each in coverage.of_file(out.path, out.data or b"") if each.kind != "field"]
        added = []
        if action["action"] in {"merge", "dates"}:
            added = [each.statement.text for each in coverage.cover(made, known).dropped]
        if action["action"] == "dates":
            replaced = [similarity.words(each.statement.text) for each in coverage.cover(known, made).dropped]
            bags = {each: similarity.words(each) for each in added}
            added = [
                each for each in added if not any(2 * len(bags[each] & old) >= len(bags[each]) for old in replaced)
            ]
        texts = tuple(each[:MOST_REASON] for each in added[:MOST_ADDED])
        alike = [each for each in home.evidence if len(memories) > 1 or each.code != ALIKE]
        new = [ProposalEvidence(changeset.ADDED, texts=texts)] if texts else []
        return [ProposalEvidence("dream", data=data), *new, *alike]


def _outputs(action: Json, memories: list[Memory], keep: Memory | None, directory: str) -> list[FileOutput]:
    """Return the files as an action leaves them. Raises _UnfitError."""
    kind = action["action"]
    if kind in {"merge", "contradict"}:
        if keep is None or len(memories) < 2:
            raise _UnfitError("incomplete")
        others = [each for each in memories if each is not keep]
        if kind == "contradict":
            return _archived(directory, others)
        return [_rewritten(action, keep, "description", "body"), *(FileOutput(each.path, None) for each in others)]
    if len(memories) != 1:
        raise _UnfitError("incomplete")
    if kind == "prune":
        return _archived(directory, memories)
    return [_rewritten(action, memories[0], "body" if kind == "dates" else "description")]


def _rewritten(action: Json, found: Memory, *fields: str) -> FileOutput:
    """Return a file with what the model wrote in some fields. Raises _UnfitError, MemtuiError."""
    written = {key: visible.clean(str(action.get(key) or "")).strip() for key in fields}
    if not all(written.values()):
        raise _UnfitError("incomplete")
    if any("[redacted: " in text for text in written.values()):
        raise _UnfitError("redacted")
    if "description" in written:
        written["description"] = visible.one_line(written["description"])
    if "body" in written:
        lead = "\n" if found.body.startswith("\n") or not found.body else ""
        written["body"] = f"{lead}{written['body']}\n"
    data = memory.with_fields(found, written)
    if data == found.raw and action["action"] != "merge":
        raise _UnfitError("same")
    return FileOutput(found.path, data)


def _archived(directory: str, memories: Sequence[Memory]) -> list[FileOutput]:
    """Return memories as moved to the archive of their scope, each under a name that is free there."""
    outputs = []
    for each in memories:
        place = in_archive(directory, each.path.removeprefix(directory + "/").removesuffix(".md"))
        outputs += [FileOutput(each.path, None), FileOutput(place, each.raw)]
    return outputs


def request_key(model: str, batch: Batch) -> str:
    """Return a name for a request: the same memories asked of the same model have the same."""
    return changeset.sha256(json.dumps([model, SYSTEM, SCHEMA, batch.prompt()]).encode())
