"""A dream: ask a model for proposals about memories that may say the same, or that need a look; without a model, take
those that lint makes. Nothing is changed: the outcome is a ChangeSet for a person.

Each answer is kept in `run/dream.json` until the run is whole: a run that was cancelled or killed goes on where it
stopped, and memories that changed meanwhile are asked about anew.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from memtui.consolidate import lint, plan, proposed
from memtui.consolidate.changeset import ChangeSet, Proposal, sha256
from memtui.consolidate.composing import Composition
from memtui.consolidate.dreaming import (
    ANSWER_TOKENS,
    SCHEMA,
    SYSTEM,
    Batch,
    Cluster,
    Dropped,
    Proposing,
    WhyNot,
    batches,
    clusters,
    request_key,
    sorted_out,
)
from memtui.consolidate.files import MemoryFiles
from memtui.core.base import clock, fastjson, fs
from memtui.core.base.errors import MemtuiError
from memtui.core.memories import apart, scopes
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.core.memories.status import Usage
from memtui.core.memories.store import Store
from memtui.llm import schema
from memtui.llm.errors import ModelError
from memtui.llm.model import LanguageModel, Progress, ask_each
from memtui.llm.usage import NOTHING, ModelUsage, tokens_in

PURPOSE = "dream"
NOTHING_SETTLED = proposed.Settled(frozenset(), frozenset())
VERSION = 1
# The part of all memories that a run may propose to remove, and the number that is allowed in any case.
REMOVABLE_PART, REMOVABLE_LEAST = 0.1, 2


@dataclass
class DreamOutcome:
    """What came of a run. `dropped`: actions of the model that were not fit; `failed`: requests without an answer;
    `stopped`: why the run ended early, None if it is whole; `asked`, `kept`: requests made now, and answered before."""

    found: ChangeSet
    dropped: list[Dropped] = field(default_factory=list)
    failed: list[ModelError] = field(default_factory=list)
    stopped: MemtuiError | None = None
    used: ModelUsage = NOTHING
    asked: int = 0
    kept: int = 0


class Dream:
    """One run over the memories of some scopes. `model`: None for what lint proposes; `removable`: how many files
    the proposals may remove, None for the usual part; `again`: ask also what was answered before,
    and about what has proposals that wait or were rejected."""

    def __init__(
        self,
        store: Store,
        within: Iterable[Scope],
        model: LanguageModel | None,
        removable: int | None = None,
        *,
        again: bool = False,
    ) -> None:
        self.store, self.model, self._scopes = store, model, [*within]
        self._memories: dict[str, list[Memory]] = {}
        self.not_looked_at: list[tuple[Memory, WhyNot]] = []
        for scope in self._scopes:
            every = sorted_out(store.root, scope, scopes.memories(scope))
            self._memories[scope.directory] = [each for each, why in every if not why]
            self.not_looked_at += [(each, why) for each, why in every if why]
        self._apart = apart.load(store.root)
        self._settled = NOTHING_SETTLED if again else proposed.settled(store.root)
        self.count = sum(map(len, self._memories.values()))
        usual = max(REMOVABLE_LEAST, int(self.count * REMOVABLE_PART))
        self.removable = usual if removable is None else removable
        self._path = store.root + "/run/dream.json"
        self._answers = {} if again else self._known()
        self.batches: list[Batch] = []
        if model is not None:
            found = [clusters(place, memories, self._apart) for place, memories in self._memories.items()]
            self.batches = batches(each for some in found for each in some if not self._is_settled(each))

    @property
    def by(self) -> str:
        """What makes the proposals: the model's id, or memtui."""
        return self.model.name if self.model is not None else "memtui"

    def unanswered(self) -> list[Batch]:
        """List the requests that no earlier run got an answer to."""
        return [each for each in self.batches if self._answer(each) is None]

    def estimate(self) -> ModelUsage:
        """Estimate what the requests use that are to be made; an answer as long as the memories that it is about."""
        total = NOTHING
        if self.model is not None:
            for prompt in [batch.prompt() for batch in self.unanswered()]:
                total = total.plus(self.model.estimate(SYSTEM, prompt, min(ANSWER_TOKENS, tokens_in(prompt))))
        return total

    def run(self, progress: Progress = lambda *_: None) -> DreamOutcome:
        """Ask, and return the proposals; after KeyboardInterrupt, too, the answers so far are kept. Raises MemtuiError
        if they can't be."""
        outcome = DreamOutcome(self._set(()))
        proposing = Proposing(self.removable, self.by)
        proposals: list[Proposal] = []
        if self.model is None:
            store = self.store
            now, usage = store.journal.now(), Usage(store.root)
            subject = lint.here(store.env, store.cwd, store.root, now, usage, self._apart)
            proposals += plan.within(plan.plan(self.store, subject.with_scopes(self._scopes)).proposals, self._scopes)

        def ask(batch: Batch) -> None:
            proposals.extend(proposing.proposals(batch, self._answered(batch, outcome)))

        outcome.failed, outcome.stopped = ask_each(self.batches, ask, progress)
        outcome.dropped = proposing.dropped
        outcome.found = self._set(self._makeable(proposals, outcome))
        outcome.used = self.model.spent if self.model is not None else NOTHING
        if outcome.stopped is None and not outcome.failed:
            fs.unlink(self._path)
        return outcome

    def _is_settled(self, cluster: Cluster) -> bool:
        """Return whether proposals from these very texts wait for a person."""
        return all((each.path, sha256(each.raw)) in self._settled.texts for each in cluster.memories)

    def _answered(self, batch: Batch, outcome: DreamOutcome) -> dict[str, Any]:
        """Return the answer to a request: the one that is kept, or a new one, which is kept then."""
        known = self._answer(batch)
        if known is not None:
            outcome.kept += 1
            return known
        assert self.model is not None
        outcome.asked += 1
        answer = self.model.ask(PURPOSE, SYSTEM, batch.prompt(), SCHEMA, most=ANSWER_TOKENS)
        self._answers[request_key(self.by, batch)] = answer
        fs.write_atomic(self._path, fastjson.dumps({"v": VERSION, "answers": self._answers}).encode())
        return answer

    def _answer(self, batch: Batch) -> dict[str, Any] | None:
        found = self._answers.get(request_key(self.by, batch))
        return found if isinstance(found, dict) and not schema.problem(found, SCHEMA) else None

    def _known(self) -> dict[str, object]:
        try:
            kept = fastjson.loads_dict(fs.read(self._path, "cache"))
        except OSError:
            return {}
        answers = kept.get("answers")
        return answers if kept.get("v") == VERSION and isinstance(answers, dict) else {}

    def _makeable(self, found: Sequence[Proposal], outcome: DreamOutcome) -> list[Proposal]:
        """Return the proposals that the store could make now; the others are dropped."""
        known = {*self._settled.ids, *proposed.rejected(self.store.root)}
        composition = Composition(MemoryFiles(self.store), [each for each in found if each.id not in known])
        for refused in composition.refused:
            names = tuple(each.path.rpartition("/")[2] for each in refused.proposal.inputs)
            outcome.dropped.append(Dropped(refused.proposal.kind, names, "impossible"))
        return composition.made

    def _set(self, found: Sequence[Proposal]) -> ChangeSet:
        return ChangeSet(clock.iso_seconds(self.store.journal.now()), self.by, tuple(found))
