"""A dream: a model is asked about clusters of memories, by short names; its answer becomes proposals."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from itertools import combinations
from typing import Any, Literal, NamedTuple, get_args

from memtui.base import visible_hot
from memtui.base.errors import MemtuiError
from memtui.base.similarity import REDATED, TOGETHER, TextWords, similarity, words
from memtui.models.call import NOTHING, ModelError, ModelUsage, Request, Schema, tokens_in
from memtui.models.model import RULE, LanguageModel, fenced
from memtui.redact.redact import kinds_in
from memtui.store import memory, scopes, sidecars
from memtui.store.journal.own_files import Pair
from memtui.store.memory import Memory
from memtui.store.plan import FileDiff
from memtui.store.relative_dates import relative_dates
from memtui.store.scopes import Scope
from memtui.store.store import Store
from memtui.tidy import changeset, contradictions, coverage, similar_memories, waiting_proposals
from memtui.tidy.changeset import Composition, Kind, Proposal, ProposalEvidence, archived
from memtui.tidy.checks import stale

PURPOSE = "dream"
# Memories of a cluster, at most; characters of a memory that a dream looks at, at most.
MOST_TOGETHER, MOST_CHARACTERS = 6, 8000
# The most pairs that are looked at, the most alike first.
MOST_PAIRS = 400
# A description with fewer words says too little.
FEW_WORDS = 3
Action = Literal["merge", "contradict", "prune", "dates", "describe"]
# What becomes of memories by these actions; all others rewrite them.
KINDS: Mapping[Action, Kind] = {"merge": "merge", "contradict": "archive", "prune": "archive"}
# The part of all memories that a run may propose to remove, and the number that is allowed in any case.
REMOVABLE_PART, REMOVABLE_LEAST = 0.1, 2
# Estimated tokens of the memories in one request, at most, and of an answer.
BATCH_TOKENS, ANSWER_TOKENS = 12_000, 16_000
# So many statements that a model wrote and no memory says are told, at most.
MOST_ADDED = 10
MOST_ACTIONS, MOST_BODY, MOST_DESCRIPTION, MOST_REASON = 60, 8000, 300, 400
SYSTEM = coverage.SECTIONS["dream"].replace("«RULE»", RULE)
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


def eligible(root: str, scope: Scope, memories: Iterable[Memory]) -> Iterator[Memory]:
    """Yield the memories of a scope that a dream looks at: sound, trusted, of some length and without a secret."""
    if scope.kind == "instructions" or not scope.writable or scope.problem:
        return
    trusted = scopes.trust_of(root, scope)
    for mem in memories:
        is_fit = mem.broken is None and 0 < len(mem.raw) <= MOST_CHARACTERS and trusted.allows(mem.raw)
        if is_fit and not kinds_in(mem.raw.decode("utf-8", "replace")):
            yield mem


def clusters(directory: str, memories: Sequence[Memory], kept_apart: Collection[Pair] = ()) -> list[Cluster]:
    """List the clusters of a scope's memories, each in at most one: contradicting, alike (most first), single ones."""
    groups: dict[str, list[Memory]] = {}
    reasons: dict[str, list[ProposalEvidence]] = {}
    for one, other, evidence in _pairs(memories):
        mine, theirs = (groups.get(mem.path, [mem]) for mem in (one, other))
        joined = mine if mine is theirs else [*mine, *theirs]
        is_apart = any(frozenset((a.path, b.path)) in kept_apart for a, b in combinations(joined, 2))
        if len(joined) > MOST_TOGETHER or is_apart:
            continue
        reason = reasons.get(mine[0].path, []) + (reasons.get(theirs[0].path, []) if mine is not theirs else [])
        for mem in joined:
            groups[mem.path], reasons[mem.path] = joined, [*reason, evidence]
    together = {id(group): Cluster(directory, tuple(group), tuple(reasons[group[0].path])) for group in groups.values()}
    alone = [Cluster(directory, (mem,), tuple(_why(mem))) for mem in memories if mem.path not in groups]
    return [*together.values(), *(cluster for cluster in alone if cluster.evidence)]


def _pairs(memories: Sequence[Memory]) -> Iterator[tuple[Memory, Memory, ProposalEvidence]]:
    for one, other in contradictions.find(memories):
        yield one.memory, other.memory, ProposalEvidence("memories.contradict", texts=(one.words, other.words))
    for pair in similar_memories.pairs(memories, MOST_PAIRS, TOGETHER):
        apart = contradictions.difference(pair.one, pair.other)
        if apart is None:
            yield pair.one, pair.other, ProposalEvidence("memories.alike", pair.score, pair.shared)
        elif not apart.both_hold:
            yield pair.one, pair.other, ProposalEvidence("memories.contradict", texts=(apart.one, apart.other))


def _why(memory: Memory) -> Iterator[ProposalEvidence]:
    """Yield why a memory needs a look by itself: it names relative dates, or its description says too little."""
    dates = (item for item in relative_dates(memory.body, written_on(memory)) if not item.is_state)
    if words := tuple(item.words for item in dates):
        yield ProposalEvidence("memories.date", texts=words)
    if len(memory.description.split()) < FEW_WORDS:
        yield ProposalEvidence("memories.no_description", texts=tuple(filter(None, [memory.description])))


def written_on(memory: Memory) -> date:
    """Return the day on which a memory was written, by its own fields, else by its file."""
    return stale.written(memory)[0] or datetime.fromtimestamp(memory.mtime, UTC).date()


class Batch(NamedTuple):
    """Clusters that one request is about. The names in it are of this request only: `m1`, `m2`, …"""

    clusters: list[Cluster]

    def named(self) -> dict[str, Memory]:
        every = [mem for cluster in self.clusters for mem in cluster.memories]
        return {f"m{number}": mem for number, mem in enumerate(every, 1)}

    def prompt(self) -> str:
        """Return the request: the clusters, fenced as data."""
        names = {mem.path: name for name, mem in self.named().items()}
        parts = []
        for number, cluster in enumerate(self.clusters, 1):
            notes = []
            for mem in cluster.memories:
                text, day = f"description: {mem.description}\n\n{mem.body.strip()}", written_on(mem).isoformat()
                notes.append(fenced("note", text, id=names[mem.path], title=mem.name, type=mem.type, written=day))
            parts.append(f"Cluster {number}:\n" + "\n".join(notes))
        return "\n\n".join(parts)


class _UnfitError(Exception):
    """An action of a model that becomes no proposal."""


def _outputs(action: dict[str, Any], memories: list[Memory], keep: Memory | None, directory: str) -> list[FileDiff]:
    """Return the files as an action leaves them. Raises _UnfitError, MemtuiError."""
    kind = action["action"]
    if kind in {"merge", "contradict"}:
        if keep is None or len(memories) < 2:
            raise _UnfitError
        others = [mem for mem in memories if mem is not keep]
        if kind == "merge":
            merged = _rewritten(action, keep, "description", "body")
            return [merged, *(FileDiff(mem.path, mem.raw, None) for mem in others)]
    elif len(memories) != 1:
        raise _UnfitError
    elif kind == "prune":
        others = memories
    else:
        return [_rewritten(action, memories[0], "body" if kind == "dates" else "description")]
    return [file for mem in others for file in archived(directory, mem)]


def _rewritten(action: dict[str, Any], mem: Memory, *fields: str) -> FileDiff:
    """Return a file with what the model wrote in some fields. Raises _UnfitError, MemtuiError."""
    fields_after = {key: visible_hot.clean(str(action.get(key) or "")).strip() for key in fields}
    if any(not text or "[redacted: " in text for text in fields_after.values()):
        raise _UnfitError
    if "description" in fields_after:
        fields_after["description"] = visible_hot.one_line(fields_after["description"])
    if "body" in fields_after:
        lead = "\n" if mem.body.startswith("\n") or not mem.body else ""
        fields_after["body"] = f"{lead}{fields_after['body']}\n"
    data = memory.with_fields(mem, fields_after)
    if data == mem.raw and action["action"] != "merge":
        raise _UnfitError
    return FileDiff(mem.path, mem.raw, data)


def _added(action: dict[str, Any], memories: list[Memory], outputs: list[FileDiff]) -> list[str]:
    """List an action's statements that no memory has; one with another date has half of the old one's words."""
    if action["action"] not in {"merge", "dates"}:
        return []
    statements = [text for mem in memories for text in coverage.of_file(mem.path, mem.raw)]
    sentences = [one for out in outputs for one in coverage.of_file(out.path, out.after or b"") if one.kind != "field"]
    added = [text.statement.text for text in coverage.cover(sentences, statements).dropped]
    if action["action"] == "dates":
        replaced = [TextWords(words(text.statement.text)) for text in coverage.cover(statements, sentences).dropped]
        bags = {text: TextWords(words(text)) for text in added}
        added = [text for text in added if not any(similarity(bags[text], old).score >= REDATED for old in replaced)]
    return [text[:MOST_REASON] for text in added[:MOST_ADDED]]


@dataclass
class DreamOutcome:
    """A run's proposals, how many actions were dropped, failed requests, their use, and how many were `asked`."""

    proposals: tuple[Proposal, ...] = ()
    dropped: int = 0
    errors: list[ModelError] = field(default_factory=list)
    used: ModelUsage = NOTHING
    asked: int = 0


class Dream:
    """One run of a model over memories of some scopes, but for those with proposals that wait or were rejected."""

    def __init__(self, store: Store, within: Iterable[Scope], model: LanguageModel) -> None:
        self.store, self.model, self.by = store, model, model.name
        self.count = self.passed_over = 0
        self.batches: list[Batch] = []
        self._waiting = waiting_proposals.saved(store.root)
        self._used: set[str] = set()  # the files of the proposals so far
        apart, room = sidecars.kept_apart(store.root), 0
        # Proposals from these very texts wait for a person.
        texts = {(file.path, file.before) for proposal in self._waiting for file in proposal.files}
        for scope in within:
            every = list(scopes.memories(scope))
            fit = list(eligible(store.root, scope, every))
            self.count += len(fit)
            self.passed_over += len(every) - len(fit)
            for cluster in clusters(scope.directory, fit, apart):
                if all((mem.path, mem.raw) in texts for mem in cluster.memories):
                    continue
                size = sum(tokens_in(mem.raw.decode("utf-8", "replace")) + 60 for mem in cluster.memories)
                if not self.batches or size > room:
                    self.batches.append(Batch([]))
                    room = BATCH_TOKENS
                self.batches[-1].clusters.append(cluster)
                room -= size
        self._removable = max(REMOVABLE_LEAST, int(self.count * REMOVABLE_PART))  # files

    def estimate(self) -> ModelUsage:
        """Estimate what the requests use; an answer as long as the memories that it is about."""
        total = NOTHING
        for prompt in [batch.prompt() for batch in self.batches]:
            call = Request(SYSTEM, "", prompt, {}, min(ANSWER_TOKENS, tokens_in(prompt)))
            total = total.plus(self.model.estimate(call))
        return total

    def run(self, progress: Callable[[int], object] = lambda _: None) -> DreamOutcome:
        """Ask, and return what the store could make now. `progress` gets each request's number. Raises MemtuiError."""
        outcome = DreamOutcome()
        proposals: list[Proposal] = []
        for batch in self.batches:
            outcome.asked += 1
            progress(outcome.asked)
            try:
                answer = self.model.ask(PURPOSE, SYSTEM, batch.prompt(), SCHEMA, most=ANSWER_TOKENS)
            except ModelError as error:
                outcome.errors.append(error)
                if not error.futile:
                    break
            else:
                proposed = self.proposals(batch, answer)
                outcome.dropped += len(answer["actions"]) - len(proposed)
                proposals += proposed
        settled = {*(proposal.id for proposal in self._waiting), *waiting_proposals.rejected(self.store.root)}
        composition = Composition(self.store.files(), [each for each in proposals if each.id not in settled])
        outcome.dropped += len(composition.refused)
        outcome.proposals = tuple(composition.applicable)
        outcome.used = self.model.spent
        return outcome

    def proposals(self, batch: Batch, answer: dict[str, Any]) -> list[Proposal]:
        """Return the proposals in an answer of the schema, without what is not fit."""
        proposals = []
        for action in answer["actions"]:
            try:
                proposal = self._proposal(batch, action)
            except _UnfitError:
                continue
            proposals.append(proposal)
            self._used |= {file.path for file in proposal.files}
            self._removable -= len(proposal.gone)
        return proposals

    def _proposal(self, batch: Batch, action: dict[str, Any]) -> Proposal:
        named = batch.named()
        names = [*action["memories"], *filter(None, [action.get("keep")])]
        memories = [named[name] for name in dict.fromkeys(names) if name in named]
        own = {mem.path for mem in memories}
        home = next((cluster for cluster in batch.clusters if own <= {one.path for one in cluster.memories}), None)
        repeats = len(set(action["memories"])) < len(action["memories"])
        if not named.keys() >= set(names) or home is None or repeats or own & self._used:
            raise _UnfitError
        keep = named.get(action.get("keep") or "")
        try:
            files = _outputs(action, memories, keep, home.directory)
            if sum(file.after is None for file in files) > self._removable:
                raise _UnfitError
            data = {"action": action["action"], "model": self.by, **({} if keep is None else {"keep": keep.path})}
            evidence = [ProposalEvidence("dream", data=data)]
            if added := tuple(_added(action, memories, files)):
                evidence.append(ProposalEvidence(changeset.ADDED, texts=added))
            evidence += [other for other in home.evidence if len(memories) > 1 or other.code != "memories.alike"]
            changed = {file.path for file in files}
            files += [FileDiff(mem.path, mem.raw, mem.raw) for mem in memories if mem.path not in changed]
            reason = visible_hot.one_line(visible_hot.clean(action["reason"]))
            return changeset.propose(KINDS.get(action["action"], "rewrite"), files, evidence, reason, self.by)
        except MemtuiError as error:
            raise _UnfitError from error
