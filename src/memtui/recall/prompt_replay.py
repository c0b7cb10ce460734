"""Replay: what real prompts of the past would recall now, and with some memories changed. Nothing is delivered. Each
prompt is replayed as in a new session, so that nothing that fits is hidden by what a session has."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from memtui.base import clock_hot, fs_hot, ids_hot, paths_hot
from memtui.base.errors import MemtuiError
from memtui.client.transcripts.prompts import Prompt
from memtui.deliver import session_memories_hot
from memtui.recall import index_build, judge_hot, own_words_hot, query_hot
from memtui.store import index_requests, triggers
from memtui.store.frontmatter import document

Places = Sequence[tuple[str, str]]


class StoreChange(NamedTuple):
    """A memory as it would be: its scope's label, its directory and its file there, and its bytes; None: without it."""

    scope: str
    directory: str
    file: str
    data: bytes | None

    @property
    def path(self) -> str:
        return f"{self.directory}/{self.file}"


class ReplayedPrompt(NamedTuple):
    """A prompt with the memories that it would get `now` and with the changed ones (`changed`), by path; `silent`: why
    it gets none, a code of `own_words_hot.counted`."""

    prompt: Prompt
    now: Mapping[str, judge_hot.Verdict] = {}
    changed: Mapping[str, judge_hot.Verdict] = {}
    silent: str = ""


def replay(
    root: str,
    prompts: Sequence[Prompt],
    where: Places,
    changes: Sequence[StoreChange],
    limits: judge_hot.RecallLimits | None = None,
    now: float = 0.0,
) -> list[ReplayedPrompt]:
    """Replay prompts against the memories of the places `where`, and with `changes`. Raises OSError."""
    # Changed memories have no vectors of sentences: what is compared is without them.
    limits = judge_hot.RecallLimits(limits.most, limits.threshold) if limits else judge_hot.RecallLimits()
    now = now or clock_hot.now()
    replayed: list[ReplayedPrompt] = []
    with changed_places(root, changes) as own:
        for prompt in prompts:
            words, silent = own_words_hot.counted(prompt.text)
            if silent:
                replayed.append(ReplayedPrompt(prompt, silent=silent))
                continue
            present = judge_hot.dry_run(root, prompt.text, where, None, now, limits, everything=False).verdicts
            changed = _changed_verdicts(root, words, where, changes, own, limits, now)
            replayed.append(ReplayedPrompt(prompt, _injected(present), _injected(changed)))
    return replayed


def _injected(verdicts: Sequence[judge_hot.Verdict]) -> dict[str, judge_hot.Verdict]:
    return {verdict.hit.path: verdict for verdict in verdicts if verdict.outcome == judge_hot.INJECT}


@contextmanager
def changed_places(root: str, changes: Sequence[StoreChange]) -> Iterator[dict[str, tuple[str, str]]]:
    """Keep the changed memories in private directories with indexes until it is done. Raises OSError."""
    top = tempfile.mkdtemp(prefix="memtui-replay-")
    places: dict[tuple[str, str], str] = {}
    try:
        for change in changes:
            if change.data is not None:
                directory = places.setdefault((change.scope, change.directory), f"{top}/{len(places)}")
                data = _with_triggers(root, change, change.data)
                fs_hot.write_atomic(f"{directory}/{change.file}", data, durable=False)
        for directory in places.values():
            index_build.bring_up_to_date(root, directory)
        yield {directory: place for place, directory in places.items()}
    finally:
        for directory in places.values():
            index_requests.remove(root, directory)
            fs_hot.unlink(paths_hot.index_base(root, directory) + ".lock")
        shutil.rmtree(top, ignore_errors=True)


def _with_triggers(root: str, change: StoreChange, data: bytes) -> bytes:
    """Return a memory with the triggers beside it in its frontmatter; as it is where that can't be changed."""
    beside = [line.text for line in triggers.lines_of(root, change.directory).get(change.file, ())]
    with suppress(MemtuiError):
        doc = document.parse(data)
        return doc.with_field(("triggers",), [*triggers.in_frontmatter(doc.fields), *beside]).raw if beside else data
    return data


def _changed_verdicts(
    root: str,
    words: str,
    where: Places,
    changes: Sequence[StoreChange],
    own: Mapping[str, tuple[str, str]],
    limits: judge_hot.RecallLimits,
    now: float,
) -> list[judge_hot.Verdict]:
    """Return what becomes of each memory that is found for a prompt, likeliest first; `own`: those changed."""
    trusted, muted, replaced = judge_hot.Allowed(root), judge_hot.muting(root, words), set()
    for change in changes:
        with suppress(OSError):
            replaced.add((change.directory, ids_hot.digest(fs_hot.read_bytes(change.path))))

    def allowed(scope: str, directory: str, digest: str) -> bool:
        """Tell whether a memory may be delivered: what memtui saves is trusted."""
        return directory in own or ((directory, digest) not in replaced and trusted(scope, directory, digest))

    def is_muted(directory: str, file: str) -> bool:
        return muted(own[directory][1] if directory in own else directory, file)

    places = [*where, *((scope, directory) for directory, (scope, _) in own.items())]
    hits = query_hot.search(root, places, words, judge_hot.FOUND, allowed)
    verdicts = judge_hot.judged(root, hits, now)
    judge_hot.decide(root, verdicts, session_memories_hot.SessionMemories(), now, limits, allowed, is_muted)
    for verdict in verdicts:
        if verdict.hit.directory in own:
            verdict.hit.directory = own[verdict.hit.directory][1]
    return verdicts
