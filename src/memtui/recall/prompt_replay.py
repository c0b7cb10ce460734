"""Replay: what real prompts of the past would recall now, and with some memories changed. Nothing is delivered. Each
prompt is replayed as in a new session, so that nothing that fits is hidden by what a session has."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from memtui.base import clock, fs, ids, paths
from memtui.client.transcripts.prompts import Prompt
from memtui.deliver import session_memories
from memtui.recall import index_build, judge, own_words, query
from memtui.store import sidecars
from memtui.store.journal import own_files

Places = Sequence[tuple[str, str]]


class StoreChange(NamedTuple):
    """A memory as it would be: its scope's label, its directory and its file there, and its bytes; None: without it."""

    scope: str
    directory: str
    file: str
    data: bytes | None

    @property
    def path(self) -> str:
        """The path of its file."""
        return f"{self.directory}/{self.file}"


class ReplayedMemory(NamedTuple):
    """A memory that a prompt gets: its name, scope, and how likely it helps."""

    path: str
    name: str
    scope: str
    probability: float


class ReplayedPrompt(NamedTuple):
    """A prompt with the memories that it would get `now` and with the changed ones (`changed`), by path; `silent`: why
    it gets none, a code of `own_words.counted`."""

    prompt: Prompt
    now: Mapping[str, ReplayedMemory] = {}
    changed: Mapping[str, ReplayedMemory] = {}
    silent: str = ""


def replay(
    root: str,
    prompts: Sequence[Prompt],
    where: Places,
    changes: Sequence[StoreChange],
    limits: judge.RecallLimits | None = None,
    now: float = 0.0,
) -> list[ReplayedPrompt]:
    """Replay prompts against the memories of the places `where`, (scope, directory) each, and the same with `changes`.
    The indexes must be up to date; `limits` and `now` as for `judge.dry_run`. Raises OSError."""
    # Copies of indexes have no vectors of sentences: what is compared is without them.
    limits = judge.RecallLimits(limits.most, limits.threshold) if limits else judge.RecallLimits()
    now = now or clock.now()
    replayed: list[ReplayedPrompt] = []
    with changed_store(root, where, changes) as store:
        for prompt in prompts:
            words, silent = own_words.counted(prompt.text)
            if silent:
                replayed.append(ReplayedPrompt(prompt, silent=silent))
                continue
            present = _injected(judge.dry_run(root, prompt.text, where, None, now, limits, everything=False).verdicts)
            replayed.append(ReplayedPrompt(prompt, present, _injected(store.verdicts(words, now, limits))))
    return replayed


def _injected(verdicts: Sequence[judge.Verdict]) -> dict[str, ReplayedMemory]:
    return {
        verdict.hit.path: ReplayedMemory(verdict.hit.path, verdict.hit.name, verdict.hit.scope, verdict.probability)
        for verdict in verdicts
        if verdict.outcome == judge.INJECT
    }


class ChangedStore:
    """Memories with some of them changed: an index of the changed ones is searched beside copies of the present
    indexes, in which the old ones are passed over."""

    def __init__(self, root: str, top: str, where: Places, changes: Sequence[StoreChange]) -> None:
        self.root, self.top = root, top
        self._trusted = judge.Allowed(root)
        self._old = set()
        for store_change in changes:
            with suppress(OSError):
                self._old.add((store_change.directory, ids.digest(fs.read_bytes(store_change.path))))
        self._own: dict[str, str] = {}  # the directories of the changed memories, by where these are written
        os.mkdir(f"{top}/recall")
        for _, directory in where:
            _copy_index(root, top, directory)
        self._where = [*where, *self._index(changes)]

    def _index(self, changes: Sequence[StoreChange]) -> list[tuple[str, str]]:
        """Write the changed memories, with what is beside them, and index them; return their places."""
        texts: dict[tuple[str, str], str] = {}
        rows: own_files.BesideRows = {}
        for store_change in changes:
            if store_change.data is None:
                continue
            own = texts.setdefault((store_change.scope, store_change.directory), f"{self.top}/{len(texts)}")
            self._own[own] = store_change.directory
            fs.write_atomic(f"{own}/{store_change.file}", store_change.data, durable=False)
            lines = sidecars.rows(self.root, sidecars.TRIGGERS, store_change.directory).get(store_change.file)
            if lines:
                rows.setdefault(own, {})[store_change.file] = lines
        for own in texts.values():
            own_files.write_beside(own_files.beside_path(self.top, sidecars.TRIGGERS, own), own, rows.get(own, {}))
            index_build.bring_up_to_date(self.top, own)
        return [(scope, own) for (scope, _), own in texts.items()]

    def _allowed(self, scope: str, directory: str, digest: str) -> bool:
        """Whether a memory may be delivered: what memtui saves is trusted, and the old ones are not there any more."""
        is_old = (directory, digest) in self._old
        return directory in self._own or (not is_old and self._trusted(scope, directory, digest))

    def verdicts(self, words: str, now: float, limits: judge.RecallLimits) -> list[judge.Verdict]:
        """Return what becomes of each memory that is found for the words of a prompt that counted, likeliest first."""
        hits = query.search(self.top, self._where, words, judge.FOUND, self._allowed)
        verdicts = judge.judged(self.root, hits, words.count(" ") + 1, now)
        muted = judge.muting(self.root, words)
        judge.decide(
            verdicts,
            session_memories.SessionMemories(),
            now,
            limits,
            self._allowed,
            lambda at, file: muted(self._own.get(at, at), file),
        )
        for verdict in verdicts:
            verdict.hit.directory = self._own.get(verdict.hit.directory, verdict.hit.directory)
        return verdicts


@contextmanager
def changed_store(root: str, where: Places, changes: Sequence[StoreChange]) -> Iterator[ChangedStore]:
    """Keep what a changed store needs in a private directory of its own, until it is done. Raises OSError."""
    top = tempfile.mkdtemp(prefix="memtui-replay-")
    try:
        yield ChangedStore(root, top, where, changes)
    finally:
        shutil.rmtree(top, ignore_errors=True)


def _copy_index(root: str, top: str, directory: str) -> None:
    """Copy the index of a directory, so that a worker that writes it anew takes nothing away."""
    base = os.path.basename(paths.index_base(root, directory))
    for name in [name for name in paths.names_in(f"{root}/recall") if name.startswith(base)]:
        try:
            shutil.copyfile(f"{root}/recall/{name}", f"{top}/recall/{name}")
        except OSError:
            continue
