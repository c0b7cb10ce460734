"""All checks in order: of the hooks and the client, then of memtui's own files (core/health/doctor.py)."""

import shutil
import subprocess

from memtui.consolidate import gates
from memtui.core.base import paths
from memtui.core.base.errors import MemtuiError
from memtui.core.base.finding import Finding, good, note, problem
from memtui.core.health import doctor, file_checks
from memtui.core.memories.memory import Memory
from memtui.core.places import loading, locate
from memtui.core.settings import config
from memtui.hooks.installer import status, unserved_sessions
from memtui.llm import checks
from memtui.worker import warming

CLIENT_SECONDS = 10
OLDEST_CLIENT = (2, 0)


def check(
    env: dict[str, str],
    cwd: str,
    now: float,
    client: list[Finding] | None = None,
    known: dict[str, Memory] | None = None,
) -> list[Finding]:
    """Run all checks; change nothing.

    `client`: findings of an earlier `client_check`, which starts a process. `known` is as for `status.of_scope`.
    """
    foreign = paths.strangers(paths.root(env), paths.project_key(paths.project_root(cwd)))
    if foreign:
        return list(file_checks.strangers(foreign))
    of_client = client_check(env) if client is None else client
    own = doctor.check(env, cwd, now, known)
    return [*hooks(env, cwd, now), *of_client, *_own_memory(env, cwd), *own, *_sentences(env), *_models(env, now)]


def _sentences(env: dict[str, str]) -> list[Finding]:
    try:
        return list(warming.check(paths.root(env)))
    except OSError as error:
        return [problem("semantic.failed", why=str(error))]


def _models(env: dict[str, str], now: float) -> list[Finding]:
    try:
        root = paths.root(env)
        return [*checks.check(env, root, now), *gates.check(root, now)]
    except OSError as error:
        return [problem("llm.failed", why=str(error))]


def hooks(env: dict[str, str], cwd: str, now: float | None = None) -> list[Finding]:
    """Check that the hooks are installed, and that nothing keeps them from running; with `now` also that they ran in
    the newest sessions."""
    try:
        found = status.status(env, cwd)
    except (MemtuiError, OSError) as error:
        return [problem("hooks.failed", why=str(error))]
    # A file that is skipped may install them.
    unknown = any(each.code in {"hooks.file", "hooks.above"} for each in found.problems)
    absent = [] if found.installed or unknown else [problem("hooks.absent")]
    places = sorted({entry.source for entry in found.entries})
    hidden = [note("hooks.status_line_hidden", path=found.hidden_by)] if found.hidden_by else []
    unserved = [] if absent or now is None or _is_off(env, cwd) else unserved_sessions.check(env, cwd, now)
    findings = [*found.problems, *absent, *unserved, *found.notes, *hidden]
    return findings or [good("hooks.ok", hooks=len(found.hooks), places=places)]


def _is_off(env: dict[str, str], cwd: str) -> bool:
    project = paths.project_root(cwd)
    return config.value(config.load(paths.root(env), project), project, "mode") == "off"


def _own_memory(env: dict[str, str], cwd: str) -> list[Finding]:
    """Check that Claude Code loads its own memory of this project, into which approved drafts go."""
    by = loading.auto_memory_off(env, cwd)
    if not by:
        return []
    try:
        there = len(locate.walk(locate.auto_dir(env, cwd)))
    except OSError:
        there = 0
    return [(problem if there else note)("client.memory_off", by=by, memories=there)]


def client_check(env: dict[str, str]) -> list[Finding]:
    """Check that the client is installed and new enough."""
    path = shutil.which("claude", path=env.get("PATH"))
    if path is None:
        return [note("client.absent")]
    try:
        done = subprocess.run(
            [path, "--version"],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=CLIENT_SECONDS,
            check=True,
            env=env,
        )
        word = done.stdout.decode("utf-8", "replace").split()[0]
        version = tuple(int(part) for part in word.split(".")[:2])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return [problem("client.no_version", path=path)]
    if version < OLDEST_CLIENT:
        return [problem("client.old", path=path, version=word)]
    return [good("client.ok", path=path, version=word)]
