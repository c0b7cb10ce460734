"""What a prompt would bring, what would be left out, and why: a dry run of the hook, of which nothing is logged."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from memtui.base import fs_hot, paths_hot
from memtui.client import locate_hot
from memtui.deliver import blocks_hot
from memtui.deliver.record import CHARS_A_TOKEN
from memtui.workspace import Workspace

if TYPE_CHECKING:
    from memtui.client.transcripts.prompts import Prompt
    from memtui.recall import judge_hot
    from memtui.recall.prompt_replay import ReplayedPrompt, StoreChange
    from memtui.store.memory import Memory

# Characters of a prompt that are looked at, as of any text that a person gives.
MOST_CHARACTERS = 200_000
# The outcome code of a memory that would be delivered.
DELIVERED = "inject"
# Stands where the id of a delivery would.
NO_DELIVERY = "0" * 26
# What raises or lowers the odds by less is not worth a word.
LEAST_SHIFT = 0.05
# The longest wait for another process that builds an index.
WAIT_SECONDS = 10.0


@dataclass(frozen=True)
class MatchedTerm:
    """A word of the prompt that a memory has."""

    term: str
    fields: tuple[str, ...]  # that have it: name, description, body, triggers


@dataclass(frozen=True)
class RecallCandidate:
    """A memory that the search found for a prompt."""

    path: str
    scope: str
    name: str
    description: str
    type: str
    outcome: str  # DELIVERED, or the code of why not
    probability: float  # that it helps
    pinned: bool = False
    stamp: float = 0.0
    shifts: tuple[tuple[str, float], ...] = ()  # that are in it: code, by how much
    parts: Mapping[str, float] = field(default_factory=dict)  # of the score, by name
    terms: tuple[MatchedTerm, ...] = ()  # the words that matched, without those as common as “to”
    trigger: str = ""
    text: str = ""  # exactly as the model would get it
    units: int = 0  # UTF-16 code units

    @property
    def delivered(self) -> bool:
        return self.outcome == DELIVERED

    @property
    def tokens(self) -> int:
        """About how many of the model's tokens its text takes."""
        return self.units // CHARS_A_TOKEN


@dataclass(frozen=True)
class RecallRun:
    prompt: str
    words: str = ""  # the part of the prompt that counted
    silent: str = ""  # the code of why nothing is delivered; empty if something is
    candidates: tuple[RecallCandidate, ...] = ()  # best first, those that would be delivered before all others
    text: str = ""  # all that the model would get
    units: int = 0
    ms: float = 0.0  # how long the hook would have taken
    memories: int = 0  # how many were searched
    session: str = ""  # whose it would have been, empty for a new one
    threshold: float = 0.0  # the probability from which a memory is delivered
    off: bool = False  # the setting `recall` is off

    @property
    def delivered(self) -> tuple[RecallCandidate, ...]:
        return tuple(candidate for candidate in self.candidates if candidate.delivered)

    @property
    def left_out(self) -> tuple[RecallCandidate, ...]:
        return tuple(candidate for candidate in self.candidates if not candidate.delivered)

    @property
    def tokens(self) -> int:
        """About how many of the model's tokens the whole text takes."""
        return self.units // CHARS_A_TOKEN


class Recalling:
    """Dry runs for a workspace; without `writes`, as with --read-only, indexes stay as old as they are."""

    def __init__(self, space: Workspace, *, writes: bool = True) -> None:
        self.space, self.writes = space, writes
        self._counts: dict[str, int] = {}

    def places(self) -> list[tuple[str, str]]:
        """List (scope, directory) of the memories that a session here may recall."""
        from memtui.recall import places_hot

        return places_hot.of_session(self.space.env, self.space.cwd)

    def searched(self) -> list[tuple[str, str]]:
        """List as `places` what a prompt searches: where Claude Code recalls its own memories itself, not these."""
        from memtui.recall import places_hot

        return places_hot.of_prompt(self.space.env, self.space.root, self.space.cwd)

    def bring_up_to_date(self, say: Callable[[str], object] = lambda _: None) -> int:
        """Bring all indexes up to date; return how many memories were read, and `say` it. Raises OSError."""
        from memtui.recall import index_build
        from memtui.worker import index_updates, sentence_vectors

        read, root = 0, self.space.root
        where = self.places() if self.writes else []
        for scope, directory in where:
            if not self._is_indexed(directory) and (count := self._memories(directory)):
                say(f"Indexing the {count:,} memories of {scope} …")
            build_report = index_build.bring_up_to_date(root, directory, wait=WAIT_SECONDS)
            read += build_report.read
            if not build_report.busy:
                self._counts[directory] = build_report.memories
        directories = [directory for _, directory in where]
        if directories:
            index_updates.list_bound(root, directories)
        if read and sentence_vectors.is_on(root):
            sentence_vectors.fill(root, directories)
        return read

    def _memories(self, directory: str) -> int:
        """Return how many memories a directory has; 0 if it can't be read."""
        if directory not in self._counts:
            try:
                self._counts[directory] = len(locate_hot.recallable(directory))
            except OSError:
                return 0
        return self._counts[directory]

    def run(self, prompt: str, session: str = "") -> RecallRun:
        """Find out what a prompt would bring to a session (its whole id; empty: a new one)."""
        from memtui.deliver import session_memories_hot
        from memtui.recall import judge_hot, memory_block_hot
        from memtui.store import triggers

        prompt, space, root = prompt[:MOST_CHARACTERS], self.space, self.space.root
        where, limits = self.searched(), self._limits()
        began = time.perf_counter()
        recalled = judge_hot.dry_run(
            root, prompt, where, session_memories_hot.SessionMemories(root, session), space.now(), limits
        )
        room = int(str(space.setting("budget")))
        muted, allowed = judge_hot.muting(root, recalled.words), judge_hot.Allowed(root)
        for each in recalled.verdicts:  # what a hook need not know of a memory that is unlikely, a person wants to
            if each.outcome == "unlikely" and muted(each.hit.directory, each.hit.file):
                each.outcome = "muted"
            elif each.outcome == "unlikely" and not allowed(each.hit.scope, each.hit.directory, each.hit.digest):
                each.outcome = "untrusted"
        whole = blocks_hot.compose(memory_block_hot.blocks(recalled.injected(), room, space.now()), room, NO_DELIVERY)[
            0
        ]
        ms = ms_since(began)
        words_by_term = _asked(recalled.words)
        lines = {directory: triggers.lines_of(root, directory) for _, directory in where if recalled.verdicts}
        candidates = []
        for verdict in recalled.verdicts:
            beside = [line.text for line in lines[verdict.hit.directory].get(verdict.hit.file, ())]
            candidates.append(_candidate(verdict, words_by_term, beside, room, space.now()))
        return RecallRun(
            prompt,
            recalled.words,
            self._silent(recalled, where) if prompt.strip() else "empty",
            tuple(sorted(candidates, key=lambda candidate: (not candidate.delivered, -candidate.probability))),
            whole,
            blocks_hot.units(whole),
            ms,
            sum(self._memories(directory) for _, directory in where),
            session,
            limits.threshold,
            off=self.space.setting("recall") == "off",
        )

    def replay(self, prompts: "Sequence[Prompt]", changes: "Sequence[StoreChange]") -> "list[ReplayedPrompt]":
        """Return what prompts would bring now, and with `changes` of the memories. Raises OSError."""
        from memtui.recall import prompt_replay

        return prompt_replay.replay(self.space.root, prompts, self.places(), changes, self._limits(), self.space.now())

    def _silent(self, recalled: "judge_hot.Recalled", where: Sequence[tuple[str, str]]) -> str:
        """Return why a prompt brings nothing: as the hook says it, or that nothing is indexed."""
        from memtui.recall import judge_hot

        if recalled.why_silent == judge_hot.NOTHING and not recalled.verdicts:
            full = [directory for _, directory in where if self._memories(directory)]
            if full and not any(map(self._is_indexed, full)):
                return "no-index"
        return recalled.why_silent

    def _is_indexed(self, directory: str) -> bool:
        return os.path.exists(paths_hot.index_base(self.space.root, directory) + ".index")

    def _limits(self) -> "judge_hot.RecallLimits":
        from memtui.recall import judge_hot

        threshold = judge_hot.THRESHOLDS.get(str(self.space.setting("recall")), judge_hot.THRESHOLD)
        most = int(str(self.space.setting("recall_most")))
        return judge_hot.RecallLimits(most, threshold, self.space.setting("semantic") is True)

    @property
    def unheard(self) -> str:
        """The code of `Workspace.unheard` that tells why no session gets memories here; empty if they do."""
        return self.space.unheard(("project", "global"))

    def prompts(self, most: int) -> "list[Prompt]":
        """Return the newest prompts that a person typed in this project."""
        from memtui.client.transcripts import prompts

        return prompts.recent(self.space.config_dir, [paths_hot.slug(self.space.project_root)], most)

    def add_trigger(self, memory: "Memory", line: str) -> bool:
        """Add a trigger to a memory; return whether it is new. Raises MemtuiError."""
        from memtui.store import triggers

        return triggers.change(self.space.store(), memory, add=[line])

    def mute(self, memories: "Sequence[Memory]", prompt: str, *, back: bool = False) -> None:
        """Never deliver some memories for prompts like this one; `back`: take that back. Raises MemtuiError."""
        from memtui.recall import own_words_hot, words_hot
        from memtui.store import triggers

        counted = own_words_hot.counted(prompt)[0] or prompt
        store = self.space.store()
        with store.journal.together():
            for memory in memories:
                if back:
                    scope, file = triggers.place_of(store, memory)
                    texts = triggers.muted_like(
                        store.root, scope.directory, file, words_hot.terms(counted), words_hot.COMMON
                    )
                    triggers.unmute(store, memory, texts)
                else:
                    triggers.mute(store, memory, counted, words_hot.terms)


def ms_since(began: float) -> float:
    """Return how many milliseconds passed since `began`, of `time.perf_counter`."""
    return (time.perf_counter() - began) * 1000.0


def _candidate(
    verdict: "judge_hot.Verdict", words_by_term: Mapping[str, str], triggers: Sequence[str], room: int, now: float
) -> RecallCandidate:
    """Return what a verdict says, with the words that matched and the text for the model, in `room` units."""
    from memtui.recall import content_hot, fields, memory_block_hot

    hit = verdict.hit
    if not verdict.data:
        verdict.data, verdict.stamp = fs_hot.read_or_empty(hit.path)[: content_hot.READ_BYTES], list(hit.stamp)
    exact = memory_block_hot.blocks([verdict], room, now) if verdict.data else []
    text = blocks_hot.compose(exact, room, NO_DELIVERY)[0] if exact else ""
    texts = fields.read(verdict.data, hit.file, triggers).texts
    return RecallCandidate(
        hit.path,
        hit.scope,
        hit.name,
        hit.description,
        hit.type,
        verdict.outcome,
        verdict.probability,
        pinned=hit.pinned,
        stamp=verdict.stamp[0] / 1e9,
        shifts=tuple(shift for shift in verdict.shifts if abs(shift[1]) >= LEAST_SHIFT),
        parts={"lexical": hit.lexical, "share": hit.share, "cosine": hit.cosine, "overlap": hit.overlap},
        terms=_matched(texts, words_by_term),
        trigger=_by_trigger(texts["triggers"], words_by_term),
        text=text,
        units=blocks_hot.units(text),
    )


def _matched(texts: Mapping[str, str], words_by_term: Mapping[str, str]) -> tuple[MatchedTerm, ...]:
    """Return which telling words of the prompt a memory has, and in which fields, the weightiest first."""
    from memtui.recall import fields, gloss_hot, words_hot

    where: dict[str, dict[str, None]] = {}
    language = gloss_hot.language("\n".join(texts.values()))
    for name, text in texts.items():
        for term in words_hot.terms(f"{text}\n{gloss_hot.english(text, language)}" if language else text):
            if term in words_by_term and term not in words_hot.COMMON:
                where.setdefault(words_by_term[term], {})[name] = None
    order = sorted(where, key=lambda word: -sum(fields.WEIGHTS[name] for name in where[word]))
    return tuple(MatchedTerm(word, tuple(where[word])) for word in order)


def _by_trigger(lines: str, words_by_term: Mapping[str, str]) -> str:
    """Return the trigger that has the most words of the prompt; empty if none has any."""
    from memtui.recall import words_hot

    shared = {line: len(words_by_term.keys() & set(words_hot.terms(line))) for line in lines.split("\n")}
    best = max(shared, key=lambda line: shared[line])
    return best if shared[best] else ""


def _asked(text: str) -> dict[str, str]:
    """Return the words of a prompt by their terms, and by those of what they mean in English, each as it is there."""
    from memtui.recall import gloss_hot, words_hot

    words_by_term: dict[str, str] = {}
    words_shown = {word: word.strip(".,;:!?()[]{}<>\"'`“”„‘’…").lower() for word in text.split()}
    for word, plain in words_shown.items():
        for term in words_hot.terms(word):
            words_by_term.setdefault(term, plain or term)
    language = gloss_hot.language(text)
    for word, plain in words_shown.items() if language else ():
        for term in words_hot.terms(gloss_hot.english(word, language)):
            words_by_term.setdefault(term, plain or term)
    return words_by_term
