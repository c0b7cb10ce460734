"""What a session leaves behind when a turn or the session ends, in steps: what was said is extracted, claims are
reconciled, the catalogs of memories brought up to date, what nothing needs any more is tidied away.

Runs in a process of its own that nobody waits for. Every step is guarded: what fails is logged, and the next one runs.
"""

from collections.abc import Callable

from memtui.core.base import fs, paths
from memtui.core.client import transcript
from memtui.core.deliveries import error_log
from memtui.core.settings import config
from memtui.worker.extraction import extract
from memtui.worker.tidying import tidy


def run(
    env: dict[str, str],
    payload: dict[str, object],
    event: str,
    task: str = "",
    begin: Callable[[], None] = lambda: None,
) -> None:
    """Do what is due after `event` (Stop, PreCompact, SessionEnd), or one `task` of it: `catalog`. Never raises; errors
    are in log/errors.jsonl. `begin` is called before each step.

    One worker a session at a time: a second waits for the first, then reads on from where that one ended.
    """
    root = paths.root(env)
    session_id = transcript.text_of(payload.get("session_id"))

    def reconciling() -> None:
        from memtui.core.inbox import reconcile, resend

        reconcile.reconcile(env, root, session_id=session_id)
        if event == "SessionEnd":
            reconcile.finish(env, root, session_id)
        resend.note(env, root, session_id)

    steps: dict[str, Callable[[], object]] = {
        "extract": lambda: extract(env, root, payload, session_id),
        "reconcile": reconciling,
        "catalog": lambda: build_catalogs(env, payload),
        "tidy": lambda: tidy(root),
    }
    for name, step in steps.items():
        if task in {"", name}:
            begin()
            _guarded(root, f"{event}: {name}", step)


def build_catalogs(env: dict[str, str], payload: dict[str, object]) -> None:
    """Bring up to date what is kept of the session's memories, so that no hook has to look (core/places/catalog.py)."""
    from memtui.core.places import catalog

    root = paths.root(env)
    cwd = paths.normal(env.get("CLAUDE_PROJECT_DIR") or transcript.text_of(payload.get("cwd")) or "/")
    if config.value(config.load(root), paths.project_root(cwd), "mode") != "full":
        return
    try:
        with fs.Lock(root + "/run/worker-catalog.lock", 0.0):
            for scope, directory in catalog.served(env, cwd):
                catalog.build(root, directory, scope == "project")
    except fs.LockTimeoutError:
        pass  # another one is at it


def _guarded(root: str, where: str, step: Callable[[], object]) -> None:
    try:
        step()
    except Exception as error:
        error_log.add(root, where, error)
