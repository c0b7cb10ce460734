"""The worker: background work after a turn or a session, in steps. It extracts drafts and items, reconciles claims,
brings the catalogs and indexes of memories up to date, keeps their new versions, counts what came of recalled memories,
removes old files, and starts the subconscious and a dream.

It runs in a process of its own that nobody waits for. If a step fails, the error is logged and the next step runs.
"""

import os
import time
from collections.abc import Callable

from memtui.core.base import clock, fastjson, fs, paths
from memtui.core.client import transcript
from memtui.core.deliveries import error_log
from memtui.core.settings import config
from memtui.worker.extraction import extract, wait_for_turn
from memtui.worker.tidying import tidy

# Seconds between two looks at what was approved, for its triggers.
TRIGGERS_APART = 600.0


def run(
    env: dict[str, str],
    payload: dict[str, object],
    event: str,
    tasks: tuple[str, ...] = (),
    begin: Callable[[], None] = lambda: None,
) -> None:
    """Run the steps after `event` (Stop, PreCompact, SessionEnd), or only the steps `tasks`.

    `begin` is called before each step. Never raises; errors go to log/errors.jsonl. A session has one worker at a time:
    a second one waits for the first, then reads on from where that one ended.
    """
    root = paths.root(env)
    session_id = transcript.text_of(payload.get("session_id"))

    def reconciling() -> None:
        from memtui.core.inbox import reconcile, resend, resumed

        reconcile.reconcile(env, root, session_id=session_id)
        if event == "SessionEnd":
            reconcile.finish(env, root, session_id)
        resend.note(env, root, session_id)
        resumed.withdraw(env, root, session_id)

    steps: dict[str, Callable[[], object]] = {
        "projects": lambda: note_project(env, payload),
        "extract": lambda: extract(env, root, payload, session_id, ended=event == "SessionEnd"),
        "reconcile": reconciling,
        "catalog": lambda: build_catalogs(env, payload),
        "recall": lambda: bring_indexes_up_to_date(env, payload),
        "versions": lambda: take_in_versions(env, payload, event),
        "uses": lambda: count_uses(root),
        "learn": lambda: learn(env, root) if event in {"Stop", "SessionEnd"} else None,
        "decisions": lambda: learn_decisions(root),
        "select": lambda: select(env, payload) if tasks else None,
        "tidy": lambda: tidy(root),
        "triggers": lambda: write_triggers(env, payload),
        "subconscious": lambda: think(env, payload, event),
        "dream": lambda: dream(env, payload),
    }
    for name, step in steps.items():
        if not tasks or name in tasks:
            begin()
            _guarded(root, f"{event}: {name}", step)


def note_project(env: dict[str, str], payload: dict[str, object]) -> None:
    """Note whose inbox the session's project has, so that a renamed directory is known again, and move what is in old
    ones (core/inbox/old_inboxes.py)."""
    from memtui.core.inbox import old_inboxes

    root = paths.root(env)
    old_inboxes.note_root(root, paths.project_root(paths.started_in(env, transcript.text_of(payload.get("cwd")))))
    old_inboxes.move_all(env, root)


def build_catalogs(env: dict[str, str], payload: dict[str, object]) -> None:
    """Bring the catalogs of the session's memories up to date, so that no hook has to (core/places/catalog.py)."""
    from memtui.core.places import catalog, locate

    root = paths.root(env)
    cwd = paths.started_in(env, transcript.text_of(payload.get("cwd")))
    if config.value(config.load(root), paths.project_root(cwd), "mode") != "full":
        return
    try:
        with fs.Lock(root + "/run/worker-catalog.lock", 0.0):
            for scope, directory in locate.delivered_dirs(env, cwd):
                catalog.build(root, directory, scope == "project")
    except fs.LockTimeoutError:
        pass  # another worker is building them


def bring_indexes_up_to_date(env: dict[str, str], payload: dict[str, object]) -> None:
    """Bring the indexes of the session's memories up to date, which its prompts are looked up in (recall/build.py)."""
    from memtui.worker import reindexing

    root = paths.root(env)
    cwd = paths.started_in(env, transcript.text_of(payload.get("cwd")))
    if config.value(config.load(root), paths.project_root(cwd), "mode") != "full":
        return
    reindexing.of_session(env, root, cwd)
    reindexing.note_client(env, root, cwd)
    from memtui.worker import warming

    if warming.is_on(root):
        from memtui.recall import places

        warming.keep(env, root, cwd, [directory for _, directory in places.of_session(env, cwd)], clock.now())


def take_in_versions(env: dict[str, str], payload: dict[str, object], event: str) -> None:
    """Keep the versions of the session's memories that are new, and who wrote them (core/memories/versions.py)."""
    from memtui.core.memories import history, intake, scopes
    from memtui.core.memories.versions import Versions

    root = paths.root(env)
    cwd = paths.started_in(env, transcript.text_of(payload.get("cwd")))
    settings, project = config.load(root), paths.project_root(cwd)
    if "off" in {config.value(settings, project, "mode"), config.value(settings, project, "gate")}:
        return
    looked = f"{root}/run/looked-{paths.project_key(project)}"
    versions = Versions(root)
    # A first look may come between an agent's write and the hook that logs it.
    patient = event == "SessionStart" and not os.path.exists(looked)
    if patient and history.taken_in(versions, scopes.discover(env, cwd), patient=True).unsettled:
        time.sleep(intake.SETTLED)
        versions = Versions(root)
    problem = history.taken_in(versions, scopes.discover(env, cwd)).problem
    if problem is not None:
        raise problem
    # The start of a session need not have this project's memories looked at again.
    fs.write_cache(looked, b"\n")


def count_uses(root: str) -> None:
    """Count what came of recalled memories (core/deliveries/uses.py)."""
    from memtui.worker import recall_uses

    recall_uses.update(root)


def learn(env: dict[str, str], root: str) -> None:
    """Learn from which memories the agent opened, and after which prompt (worker/learning.py)."""
    from memtui.worker import learning

    learning.learn(env, root)


def learn_decisions(root: str) -> None:
    """Correct the scores of drafts by what the person decided about earlier ones (worker/decided.py)."""
    from memtui.worker import decided

    decided.learn(root)


def dream(env: dict[str, str], payload: dict[str, object]) -> None:
    """Start `memtui consolidate --ask-model` in a process of its own if the settings want that, and its gates are open
    (consolidate/gates.py). Only that process imports what asks a model."""
    root = paths.root(env)
    settings = config.load(root)
    if config.value(settings, None, "dream") is not True:
        return
    from memtui.consolidate import gates

    cwd = paths.started_in(env, transcript.text_of(payload.get("cwd")))
    if config.value(settings, paths.project_root(cwd), "mode") == "off" or not gates.open_now(root, clock.now()):
        return
    from memtui.worker import starting

    starting.start(env, root, cwd, "memtui", "consolidate", "--ask-model", "--unattended", "--json", "--project", cwd)


def write_triggers(env: dict[str, str], payload: dict[str, object]) -> None:
    """Start `memtui model triggers` in a process of its own where unattended dreams are allowed and memories were
    approved since the last time."""
    root = paths.root(env)
    settings = config.load(root)
    if config.value(settings, None, "dream") is not True or config.value(settings, None, "llm_backend") == "off":
        return
    cwd = paths.started_in(env, transcript.text_of(payload.get("cwd")))
    if config.value(settings, paths.project_root(cwd), "mode") == "off" or not _approved_since(root, clock.now()):
        return
    from memtui.worker import starting

    words = ("model", "triggers", "--all", "--unattended", "--json", "--project", cwd)
    starting.start(env, root, cwd, "memtui", *words)


def think(env: dict[str, str], payload: dict[str, object], event: str) -> None:
    """Have the subconscious read what is new, in a process of its own that nobody waits for, if the settings want that
    (subconscious/running.py): after a turn, and before a compaction leaves only a summary of it."""
    root = paths.root(env)
    settings = config.load(root)
    cwd = paths.started_in(env, transcript.text_of(payload.get("cwd")))
    project = paths.project_root(cwd)
    if "off" in {config.value(settings, project, key) for key in ("subconscious", "mode", "llm_backend")}:
        return
    if payload.get("agent_id") or os.path.lexists(root + "/subconscious/stopped"):
        return
    from memtui.worker import starting

    if config.value(settings, project, "extract") is not True:  # else it was waited for the turn's end already
        path, last = (transcript.text_of(payload.get(key)) for key in ("transcript_path", "last_assistant_message"))
        wait_for_turn(path, last)
    keys = ("session_id", "transcript_path", "cwd")
    given = {key: payload.get(key) for key in keys} | {"hook_event_name": event}
    starting.start(env, root, cwd, "memtui.subconscious.running", given=fastjson.dumps(given).encode())


def _approved_since(root: str, now: float) -> bool:
    """Tell whether drafts were approved since this was asked last, which it is at most every ten minutes."""
    from memtui.core.base import backwards

    stamp = root + "/run/triggers-look"
    try:
        last = os.stat(stamp).st_mtime
    except OSError:
        last = now - clock.DAY
    if 0.0 <= now - last < TRIGGERS_APART:
        return False
    fs.write_atomic(stamp, b"", durable=False)
    os.utime(stamp, (now, now))
    try:
        for _, line in backwards.lines(root + "/journal.jsonl", longest=-1):
            record = fastjson.loads_dict(line)
            if (clock.parse(record.get("time")) or now) < last:
                return False
            if record.get("op") == "approve" and record.get("state") == "intent":
                return True
    except OSError:
        pass
    return False


def select(env: dict[str, str], payload: dict[str, object]) -> None:
    """Have a model asked which memories a prompt needs, in a process of its own (recall/selection.py): only that one
    has what asks a model."""
    from memtui.worker import starting

    root = paths.root(env)
    cwd = paths.started_in(env, transcript.text_of(payload.get("cwd")))
    starting.start(env, root, cwd, "memtui.recall.selection", given=fastjson.dumps(payload).encode())


def _guarded(root: str, where: str, step: Callable[[], object]) -> None:
    try:
        step()
    except Exception as error:
        error_log.add(root, where, error)
