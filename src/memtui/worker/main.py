"""The worker: background work after a turn or a session. It runs in a process of its own that nobody waits for."""

import os
from collections.abc import Callable
from contextlib import nullcontext
from typing import NamedTuple

from memtui.base import clock, fastjson, fs, paths
from memtui.client import auto_memory, locate, repository
from memtui.client.transcripts import transcript
from memtui.deliver import error_log
from memtui.recall import places
from memtui.settings import config
from memtui.store import catalog
from memtui.worker import processes, recall_uses, trigger_learning
from memtui.worker.cleanup import tidy
from memtui.worker.extraction import extract, wait_for_turn


class WorkerRun:
    """The hook's `payload` and `event` that a worker runs for, and the settings of the session's project."""

    def __init__(self, env: dict[str, str], payload: dict[str, object], event: str) -> None:
        self.env, self.payload, self.event = env, payload, event
        self.root = paths.root(env)
        self.session_id = self.text("session_id")
        self.cwd = paths.started_in(env, self.text("cwd"))
        self.project_root = paths.project_root(self.cwd)
        self._settings = config.load(self.root)

    def text(self, key: str) -> str:
        """Return a text of the payload; empty if there is none."""
        return transcript.text_of(self.payload.get(key))

    def setting(self, key: str) -> object:
        """Return a setting as it is in force for the project."""
        return config.value(self._settings, self.project_root, key)

    def asks_models(self, *keys: str) -> bool:
        """Whether models may be asked, and none of the settings `keys` is off."""
        return "off" not in {self.setting(key) for key in (*keys, "mode", "llm_backend")}

    def start(self, module: str, *words: str, payload: object = None) -> None:
        """Start `python -m MODULE WORDS…` in a process of its own, with `payload` as JSON on its standard input: only
        that process imports what asks a model. Raises OSError."""
        data = b"" if payload is None else fastjson.dumps(payload).encode()
        processes.start(self.env, self.root, self.cwd, module, *words, payload=data)


class BackgroundTask(NamedTuple):
    """A piece of background work. Where `locks` is set, one worker at a time does it, and others leave it out."""

    name: str
    run: Callable[[WorkerRun], object]
    due: Callable[[WorkerRun], bool] = lambda _: True
    locks: bool = False


def run(
    env: dict[str, str],
    payload: dict[str, object],
    event: str,
    tasks: tuple[str, ...] = (),
    begin: Callable[[], None] = lambda: None,
) -> None:
    """Do what is due after an event, or only `tasks`; `begin` is called before each task. Never raises: an error goes
    to log/errors.jsonl, and the next task runs. A session has one worker at a time, and a second one waits for it."""
    on = WorkerRun(env, payload, event)
    for task in TASKS:
        if task.name in tasks or (not tasks and task.name != "select"):
            begin()
            try:
                if task.due(on):
                    with fs.Lock(f"{on.root}/run/worker-{task.name}.lock", 0.0) if task.locks else nullcontext():
                        task.run(on)
            except fs.LockTimeoutError as error:
                if not task.locks:  # else another worker is at it
                    error_log.add(on.root, f"{event}: {task.name}", error)
            except Exception as error:
                error_log.add(on.root, f"{event}: {task.name}", error)


def _reconcile(on: WorkerRun) -> None:
    from memtui.inbox import reconciliation, redelivery

    reconciliation.reconcile(on.env, on.root, session_id=on.session_id)
    if on.event == "SessionEnd":
        reconciliation.finish(on.env, on.root, on.session_id)
    redelivery.note(on.env, on.root, on.session_id)
    reconciliation.withdraw(on.env, on.root, on.session_id)


def _build_catalogs(on: WorkerRun) -> None:
    """Bring the catalogs of the session's memories up to date, so that no hook has to."""
    for scope, directory in locate.delivered_dirs(on.env, on.cwd):
        catalog.build(on.root, directory, scope == "project")


def _bring_indexes_up_to_date(on: WorkerRun) -> None:
    """Bring the indexes up to date in which the session's prompts are looked up."""
    from memtui.worker import index_updates, sentence_vectors

    where = places.of_session(on.env, on.cwd)
    index_updates.update(on.root, where)
    # Hooks leave out the client's own memories where it recalls these itself.
    if auto_memory.way(on.env, on.cwd) == auto_memory.RECALLED:
        fs.write_cache(on.root + places.BY_CLIENT, b"\n")
    else:
        fs.unlink(on.root + places.BY_CLIENT)
    if sentence_vectors.is_on(on.root):
        sentence_vectors.keep(on.env, on.root, on.cwd, [directory for _, directory in where], clock.now())


def _take_in_versions(on: WorkerRun) -> None:
    """Keep the versions of the session's memories that are new, and who wrote them."""
    from memtui.store import history, scopes
    from memtui.store.versions.versions import Versions

    looked = f"{on.root}/run/looked-{paths.project_key(on.project_root)}"
    versions = Versions(on.root)
    problem = history.taken_in(versions, scopes.discover(on.env, on.cwd)).problem
    if problem is not None:
        raise problem
    # The start of a session need not have this project's memories looked at again.
    fs.write_cache(looked, b"\n")


def _dream(on: WorkerRun) -> None:
    """Start `memtui consolidate --ask-model` if its gates are open (tidy/gates.py)."""
    from memtui.tidy import gates

    if gates.begin(on.root, clock.now()):
        on.start("memtui", "consolidate", "--ask-model", "--unattended", "--json", "--project", on.cwd)


def _think(on: WorkerRun) -> None:
    """Have the subconscious read what is new: after a turn, and before a compaction leaves only a summary of it."""
    if on.payload.get("agent_id") or os.path.lexists(on.root + "/subconscious/stopped"):
        return
    if on.setting("extract") is not True:  # else it was waited for the turn's end already
        wait_for_turn(on.text("transcript_path"), on.text("last_assistant_message"))
    payload = {key: on.payload.get(key) for key in ("session_id", "transcript_path", "cwd")}
    on.start("memtui.models.subconscious.run_process", payload=payload | {"hook_event_name": on.event})


TASKS = (
    # Whose inbox the session's project has, so that a renamed directory is known again.
    BackgroundTask("projects", lambda on: repository.note_project(on.root, on.project_root)),
    BackgroundTask(
        "extract", lambda on: extract(on.env, on.root, on.payload, on.session_id, ended=on.event == "SessionEnd")
    ),
    BackgroundTask("reconcile", _reconcile),
    BackgroundTask("catalog", _build_catalogs, lambda on: on.setting("mode") == "full", locks=True),
    BackgroundTask("recall", _bring_indexes_up_to_date, lambda on: on.setting("mode") == "full"),
    BackgroundTask("versions", _take_in_versions, lambda on: "off" not in {on.setting("mode"), on.setting("gate")}),
    BackgroundTask("uses", lambda on: recall_uses.update(on.root), locks=True),
    BackgroundTask(
        "learn",
        lambda on: trigger_learning.learn(on.env, on.root),
        lambda on: on.event in {"Stop", "SessionEnd"},
        locks=True,
    ),
    # A model selects memories for a prompt (models/selection.py): only where that is asked for.
    BackgroundTask("select", lambda on: on.start("memtui.models.selection", payload=on.payload)),
    BackgroundTask("tidy", lambda on: tidy(on.root)),
    BackgroundTask("subconscious", _think, lambda on: on.asks_models("subconscious")),
    BackgroundTask("dream", _dream, lambda on: on.setting("dream") is True and on.asks_models()),
)
