"""The gates before an unattended dream, for each part: the memories of a project, and those of all projects. A day,
sessions and ten minutes since the last one, and nobody at it."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from memtui.base import clock_hot, fs_hot, paths_hot
from memtui.base.errors import ConflictError
from memtui.base.finding import Finding, note
from memtui.deliver import sessions
from memtui.models.call import ModelError
from memtui.store.scopes import Scope

APART, THROTTLE, ENOUGH_SESSIONS = clock_hot.DAY, 600.0, 5
LOCK_SECONDS = 0.1
# The part of the memories that are for all projects; others are called by the key of their project.
GLOBAL = "global"
LAST, BEGUN = "dream-last", "dream-begun"


def part_of(scope: Scope) -> str:
    return paths_hot.project_key(scope.root_path) if scope.root_path else scope.slug or GLOBAL


def last(root: str, part: str, name: str = LAST) -> float:
    """Return when the last whole dream of a part was, in seconds since the epoch; 0 if there was none."""
    return _written(f"{root}/run/{name}-{part}")


def _written(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _note(root: str, name: str, part: str, now: float, failure: str = "") -> None:
    path = f"{root}/run/{name}-{part}"
    fs_hot.write_atomic(path, failure.encode("utf-8", "replace"), durable=False)
    os.utime(path, (now, now))


def sessions_missing(root: str, part: str) -> int:
    """Count the sessions that hooks have yet to see in a part before its next dream."""
    since = last(root, part)
    names = [name for name, session in sessions.states(root).items() if part in {GLOBAL, session.slug}]
    return max(0, ENOUGH_SESSIONS - sum(_written(f"{root}/sessions/{name}.json") > since for name in names))


def begin(root: str, parts: Iterable[str], now: float) -> list[str]:
    """Return the parts of which an unattended dream may begin, and note that one does. Raises OSError."""
    due = []
    for part in parts:
        too_soon = now - last(root, part) < APART or now - last(root, part, BEGUN) < THROTTLE
        if not too_soon and not sessions_missing(root, part):
            _note(root, BEGUN, part, now)
            due.append(part)
    return due


def check(root: str, parts: Iterable[str]) -> Iterator[Finding]:
    """Find why the model gave the last dream of some parts no answer."""
    for part in parts:
        if why := fs_hot.head(f"{root}/run/{BEGUN}-{part}").decode("utf-8", "replace"):
            yield note("llm.dream", why=why)
            return


@contextmanager
def held(root: str, parts: Iterable[str], now: float) -> Iterator[Callable[[Sequence[ModelError]], None]]:
    """Dream alone of some parts; what it gives notes how the dream ended. Raises ConflictError, OSError."""
    names = sorted(set(parts))
    with ExitStack() as stack:
        try:
            for part in names:
                stack.enter_context(fs_hot.Lock(f"{root}/run/dream-{part}.lock", LOCK_SECONDS))
        except fs_hot.LockTimeoutError as error:
            raise ConflictError("Another process is dreaming at the moment.", "Try again when it is done.") from error

        def note_end(errors: Sequence[ModelError]) -> None:
            for part in names:
                if all(error.futile for error in errors):  # else it may succeed in ten minutes
                    _note(root, LAST, part, now)
                _note(root, BEGUN, part, now, f"{errors[-1].message} {errors[-1].hint}" if errors else "")

        yield note_end
