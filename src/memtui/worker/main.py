"""The worker: background work after a turn or a session, and once a day the removal of what nothing needs any more. It
runs in a process of its own that nobody waits for."""

import os
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import NamedTuple

from memtui.base import clock_hot, fastjson_hot, fs_hot, paths_hot
from memtui.client import applied_settings, locate_hot, projects
from memtui.client.transcripts import transcript_hot
from memtui.deliver import error_log_hot
from memtui.inbox import file_hot, format_hot
from memtui.inbox.note_block_hot import WHISPER
from memtui.recall import bindings_hot, places_hot, segment_hot
from memtui.settings import config_hot
from memtui.store import catalog_hot, index_requests
from memtui.worker import processes, recall_uses
from memtui.worker.extraction import extract, wait_for_turn

# The events at which a turn has ended, and the seconds that counting what it kept may take.
TURN_ENDS, COUNT_MOST = {"Stop", "SessionEnd"}, 20.0


class WorkerRun:
    """The hook's `payload` and `event` that a worker runs for, and the settings of the session's project. `begin`
    starts the time limit of a piece of work again."""

    def __init__(self, env: dict[str, str], payload: dict[str, object], event: str, begin: Callable[[], None]) -> None:
        self.env, self.payload, self.event, self.begin = env, payload, event, begin
        self.root = paths_hot.root(env)
        self.session_id = self.text("session_id")
        self.cwd = paths_hot.started_in(env, self.text("cwd"))
        self.project_root = paths_hot.project_root(self.cwd)
        self._settings = config_hot.load(self.root)

    def text(self, key: str) -> str:
        """Return a text of the payload; empty if there is none."""
        return transcript_hot.text_of(self.payload.get(key))

    def setting(self, key: str) -> object:
        return config_hot.value(self._settings, self.project_root, key)

    def asks_models(self, *keys: str) -> bool:
        """Whether models may be asked, and none of the settings `keys` is off."""
        return "off" not in {self.setting(key) for key in (*keys, "mode", "llm_backend")}

    def start(self, module: str, *words: str, payload: object = None) -> None:
        """Start `python -m MODULE WORDS…` in a process of its own, with `payload` as JSON on stdin. Raises OSError."""
        data = b"" if payload is None else fastjson_hot.dumps(payload).encode()
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
    """Do what is due after an event, or only `tasks`; an error is logged, and the next task runs. Never raises."""
    on = WorkerRun(env, payload, event, begin)
    for task in TASKS:
        if task.name in tasks or (not tasks and task.name != "select"):
            begin()
            try:
                if task.due(on):
                    with fs_hot.Lock(f"{on.root}/run/worker-{task.name}.lock", 0.0) if task.locks else nullcontext():
                        task.run(on)
            except fs_hot.LockTimeoutError as error:
                if not task.locks:  # else another worker is at it
                    error_log_hot.add(on.root, f"{event}: {task.name}", error)
            except Exception as error:
                error_log_hot.add(on.root, f"{event}: {task.name}", error)


def _reconcile(on: WorkerRun) -> None:
    from memtui.inbox import reconciliation_hot, redelivery_hot

    reconciliation_hot.reconcile(on.env, on.root, session_id=on.session_id)
    if on.event == "SessionEnd":
        ended = clock_hot.parse(on.text("ended")) or clock_hot.now()
        reconciliation_hot.finish(on.env, on.root, on.session_id, ended)
    redelivery_hot.note(on.env, on.root, on.session_id)
    reconciliation_hot.withdraw(on.env, on.root, on.session_id)


def _build_catalogs(on: WorkerRun) -> None:
    for scope, directory in locate_hot.delivered_dirs(on.env, on.cwd):
        catalog_hot.build(on.root, directory, locate_hot.needs_trust(scope))


def _bring_indexes_up_to_date(on: WorkerRun) -> None:
    from memtui.worker import index_updates, sentence_vectors

    where = places_hot.of_session(on.env, on.cwd)
    index_updates.update(on.root, where, on.begin)
    # Hooks leave out the client's own memories where it recalls these itself.
    if applied_settings.way(on.env, on.cwd) == applied_settings.RECALLED:
        fs_hot.write_cache(on.root + places_hot.BY_CLIENT, b"\n")
    else:
        fs_hot.unlink(on.root + places_hot.BY_CLIENT)
    if listed := bindings_hot.listed(on.root, bindings_hot.CHECKS):
        from memtui.tidy.checks import verification

        verification.make(on.env, on.root, on.cwd, listed)
    if sentence_vectors.is_on(on.root):
        sentence_vectors.keep(on.env, on.root, on.cwd, [directory for _, directory in where], clock_hot.now())


def _take_in_versions(on: WorkerRun) -> None:
    from memtui.store import history, scopes
    from memtui.store.versions.versions import Versions

    looked = f"{on.root}/run/looked-{paths_hot.project_key(on.project_root)}"
    problem = history.taken_in(Versions(on.root), scopes.discover(on.env, on.cwd)).problem
    if problem is not None:
        raise problem
    # The start of a session need not have this project's memories looked at again.
    fs_hot.write_cache(looked, b"\n")


def _dream(on: WorkerRun) -> None:
    """Start `memtui consolidate --ask-model` if its gates are open (tidy/gates.py)."""
    from memtui.tidy import gates

    parts = gates.begin(on.root, (paths_hot.project_key(on.project_root), gates.GLOBAL), clock_hot.now())
    if parts:
        words = (f"--unattended={','.join(parts)}", "--json", "--project", on.cwd)
        on.start("memtui", "consolidate", "--ask-model", *words)


def _tell_breaks(on: WorkerRun) -> None:
    from memtui.rules import counts, tell_hot

    moments = counts.moments_of(on.root, on.session_id)
    breaks = [(path, moment.key, moment.line) for path, moment in moments if not moment.is_kept]
    tell_hot.note(on.root, on.session_id, breaks)


def _may_propose_rules(on: WorkerRun) -> bool:
    return on.event == "SessionEnd" and on.setting("mode") == "full" and on.setting("rules") != "off"


def _propose_rules(on: WorkerRun) -> None:
    """Propose rules that memories' own words say, once a day and project."""
    from memtui.tidy import rule_proposals

    now, stamp = clock_hot.now(), f"{on.root}/run/rules-{paths_hot.project_key(on.project_root)}"
    if not os.path.lexists(stamp) or not 0 <= now - os.stat(stamp).st_mtime < clock_hot.DAY:
        fs_hot.write_atomic(stamp, b"", durable=False)
        rule_proposals.propose(on.env, on.cwd, now)


def _think(on: WorkerRun) -> None:
    """Have the subconscious read what is new: after a turn, and before a compaction leaves only a summary of it."""
    if on.payload.get("agent_id") or os.path.lexists(on.root + "/subconscious/stopped"):
        return
    if (
        on.event != "UserPromptSubmit" and on.setting("extract") is not True
    ):  # else it was waited for the turn's end already
        wait_for_turn(on.text("transcript_path"), on.text("last_assistant_message"))
    payload = {key: on.payload.get(key) for key in ("session_id", "transcript_path", "cwd")}
    on.start("memtui.models.subconscious.run_process", payload=payload | {"hook_event_name": on.event})


def _has_turn_to_count(on: WorkerRun) -> bool:
    is_on = "off" not in {on.setting("mode"), on.setting("rules")}
    return on.event in TURN_ENDS and not on.payload.get("agent_id") and is_on


def _count_rules(on: WorkerRun) -> None:
    """Count which rules of memories the turn kept, and new rules in earlier sessions, as long as there is time."""
    from memtui.rules import counts_update

    if on.setting("extract") is not True:  # else the end of the turn was waited for already
        wait_for_turn(on.text("transcript_path"), on.text("last_assistant_message"))
    until = time.monotonic() + COUNT_MOST
    goes_on = lambda _: time.monotonic() < until
    counts_update.update(on.env, [on.text("transcript_path")], on.project_root, goes_on, patience=COUNT_MOST)


def _may_sync(on: WorkerRun) -> bool:
    has_remote = os.path.lexists(on.root + "/sync/own/state.json") or bool(locate_hot.team_dirs(on.root))
    return on.event in {"SessionStart", "Stop"} and has_remote


def _sync(on: WorkerRun) -> None:
    """Sync with the other machines in a process of its own, unless there is nothing to do."""
    from memtui.base.errors import MemtuiError
    from memtui.sync import quick, state

    env, now = processes.own(on.env, on.cwd), clock_hot.now()
    for team in state.names(on.root):
        with suppress(MemtuiError):  # the state says it, and so does Setup
            if not quick.is_done(env, now, quick.PAUSE, team):
                on.start("memtui", "sync")
                return


TASKS = (
    # Whose inbox the session's project has, so that a renamed directory is known again.
    BackgroundTask("projects", lambda on: projects.note_project(on.root, on.project_root)),
    BackgroundTask("extract", lambda on: extract(on.env, on.root, on.payload, on.session_id)),
    BackgroundTask("rules", _count_rules, _has_turn_to_count),
    BackgroundTask("reconcile", _reconcile),
    BackgroundTask("rules-told", _tell_breaks, lambda on: on.event == "Stop" and on.setting("rules") == "on", True),
    BackgroundTask("catalog", _build_catalogs, lambda on: on.setting("mode") == "full", locks=True),
    BackgroundTask("recall", _bring_indexes_up_to_date, lambda on: on.setting("mode") == "full"),
    BackgroundTask("versions", _take_in_versions, lambda on: "off" not in {on.setting("mode"), on.setting("gate")}),
    BackgroundTask("uses", lambda on: recall_uses.update(on.root), locks=True),
    # A model selects memories for a prompt (models/selection.py): only where that is asked for.
    BackgroundTask("select", lambda on: on.start("memtui.models.selection", payload=on.payload)),
    BackgroundTask("rules-proposed", _propose_rules, _may_propose_rules, locks=True),
    BackgroundTask("tidy", lambda on: tidy(on.root)),
    BackgroundTask("subconscious", _think, lambda on: on.asks_models("subconscious")),
    BackgroundTask("dream", _dream, lambda on: on.setting("dream") is True and on.asks_models()),
    # The last one: it waits for a remote.
    BackgroundTask("sync", _sync, _may_sync),
)


KEPT_DAYS = 30
WORKERS = ("worker-", "subconscious-")  # how the locks of processes that read a session begin
TIDY_MOST = 30.0  # seconds that collecting what the settings no longer keep may take


def tidy(root: str) -> int:
    """Remove what nothing needs any more, at most once a day; return the number of files. Raises OSError."""
    now = clock_hot.now()
    stamp = root + "/run/tidied"
    try:
        if 0 <= now - os.stat(stamp).st_mtime < clock_hot.DAY:
            return 0
    except OSError:
        pass
    fs_hot.write_atomic(stamp, b"", durable=False)
    month = now - KEPT_DAYS * clock_hot.DAY
    removed = _remove_old(root + "/sessions", month, ending=".json")
    removed += _remove_old(root + "/run", now - clock_hot.DAY, WORKERS, ".lock")
    removed += _remove_old(root + "/run", month, ("client-",))
    removed += sum(_remove_old(f"{root}/subconscious/{name}", month) for name in ("sessions", "steps"))
    removed += clear_indexes(root, now)
    _forget_whispers(root, now)
    from memtui.tidy.checks import retention

    end = time.monotonic() + TIDY_MOST
    due = retention.collect(root, now, lambda: time.monotonic() < end)
    return removed + len(due.temporary) + due.images


def _forget_whispers(root: str, now: float) -> None:
    """Remove whispers that expired from the inboxes: their sessions have ended."""

    def is_over(entry: format_hot.Entry) -> bool:
        return entry.fields.get("kind") == WHISPER and entry.expired(now)

    def without(source: str) -> str:
        for entry in filter(is_over, reversed(format_hot.parse(source))):
            source = source[: entry.start] + source[entry.start + len(entry.raw) :]
        return source

    for slug in paths_hot.inbox_slugs(root):
        path = f"{paths_hot.inbox_dir(root, slug)}/{format_hot.FILES['guidance']}"
        try:
            if any(map(is_over, format_hot.read(path))):
                file_hot.rewrite(path, without)
        except OSError:
            continue


def _remove_old(directory: str, before: float, begins: tuple[str, ...] = ("",), ending: str = "") -> int:
    """Remove the files of a directory that were not changed since; return how many. Locks that are held stay."""
    removed = 0
    for name in paths_hot.names_in(directory):
        path = f"{directory}/{name}"
        try:
            if (
                not (name.startswith(begins) and name.endswith(ending))
                or os.path.islink(path)
                or not os.path.isfile(path)
                or os.stat(path).st_mtime >= before
            ):
                continue
            if ending == ".lock":
                with fs_hot.Lock(path, 0.0):
                    os.unlink(path)
            else:
                os.unlink(path)
            removed += 1
        except OSError:
            continue
    return removed


def clear_indexes(root: str, now: float) -> int:
    """Remove indexes not written for KEPT_DAYS whose directory is gone or unreadable; return the number of files."""
    removed = 0
    for name in paths_hot.names_in(root + "/recall"):
        base = f"{root}/recall/{name.removesuffix('.index')}"
        try:
            if name.endswith(".index") and _is_gone(base + ".index", now - KEPT_DAYS * clock_hot.DAY):
                with fs_hot.Lock(base + ".lock", 0.0):
                    files = [*index_requests.files_of(root, base), base + ".lock"]
                    for path in files:
                        fs_hot.unlink(path)
                    removed += len(files)
        except OSError:
            continue
    return removed


def _is_gone(path: str, before: float) -> bool:
    """Tell whether an index was not written since, and its directory is gone or unknown. Raises OSError."""
    if os.stat(path).st_mtime > before:
        return False
    try:
        manifest, _ = segment_hot.parse_manifest(fs_hot.read_bytes(path))
    except segment_hot.DAMAGED:
        manifest = None
    try:
        return manifest is None or not os.lstat(manifest.directory)
    except (FileNotFoundError, NotADirectoryError):
        return True
