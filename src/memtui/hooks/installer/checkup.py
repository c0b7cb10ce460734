"""Everything that `memtui doctor` looks at: hooks and client first, then memtui's own files (core/health/doctor.py)."""

import shutil
import subprocess
from collections.abc import Mapping

from memtui.core.base import paths
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import many
from memtui.core.health import doctor
from memtui.core.health.findings import NOTE, OK, PROBLEM, Finding
from memtui.core.inbox import format as inbox_format
from memtui.core.memories.memory import Memory
from memtui.core.places import loading, locate
from memtui.core.settings import config
from memtui.hooks import deliverable
from memtui.hooks.installer import status

CLIENT_SECONDS = 10
OLDEST_CLIENT = (2, 0)
TITLES = {
    "hooks": "hooks in Claude Code's settings",
    "client": "Claude Code",
    "root": "memtui's own files",
    "config": "settings",
    "errors": "errors of hooks and workers",
    "inbox": "inboxes",
    "memories": "memories and their index",
    "trust": "trust in the project's memories",
    "journal": "the journal of changes",
    "log": "the delivery log",
    "kept": "what is kept",
}


def check(
    env: dict[str, str],
    cwd: str,
    now: float,
    client: list[Finding] | None = None,
    actions: Mapping[str, str] | None = None,
    known: dict[str, Memory] | None = None,
) -> list[Finding]:
    """All findings; changes nothing. `client`: what `client_check` told before, as that starts a process. `actions`:
    those of the control room, id to keys; None leaves `[keys]` in config.toml unlooked at. `known` as for
    `survey.survey`."""
    foreign = paths.strangers(paths.root(env), paths.slug(paths.project_root(cwd)))
    if foreign:
        return list(doctor.strangers(foreign))
    settings = config.load(paths.root(env))

    def fits(entry: inbox_format.Entry, scope: str, directory: str) -> bool:
        return deliverable.over(settings, now, entry, scope, directory) <= 0

    told = client_check(env) if client is None else client
    return [*_hooks(env, cwd), *told, *_own_memory(env, cwd), *doctor.check(env, cwd, now, fits, actions, known)]


def _hooks(env: dict[str, str], cwd: str) -> list[Finding]:
    try:
        found = status.status(env, cwd)
    except (MemtuiError, OSError) as error:
        return [Finding("hooks", PROBLEM, f"can't be looked at: {error}", "memtui hooks status")]
    problems = [Finding("hooks", PROBLEM, problem, "memtui hooks status") for problem in found.problems]
    if not found.installed:
        problems.append(Finding("hooks", PROBLEM, "not installed: no session is served", "memtui hooks install"))
    if problems:
        return problems
    places = sorted({entry.source for entry in found.entries})
    return [Finding("hooks", OK, f"{many(len(found.entries), 'hook')} ({', '.join(places)})")]


def _own_memory(env: dict[str, str], cwd: str) -> list[Finding]:
    """Whether Claude Code loads its own memory of this project, into which approved drafts go."""
    by = loading.auto_memory_off(env, cwd)
    if not by:
        return []
    try:
        there = len(locate.walk(locate.auto_dir(env, cwd)))
    except OSError:
        there = 0
    those = many(there, "memory", "memories")
    words = f"its own memory is switched off by {by}: nobody loads the {those} of the scope auto"
    remedy = "Approve drafts with --scope global or --scope project, or switch it on there (`autoMemoryEnabled`)."
    return [Finding("client", PROBLEM if there else NOTE, words, remedy)]


def client_check(env: dict[str, str]) -> list[Finding]:
    """Whether there is a client, and one that is new enough."""
    path = shutil.which("claude", path=env.get("PATH"))
    if path is None:
        return [Finding("client", NOTE, "`claude` is not on the PATH, so its version is not known")]
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
        return [
            Finding(
                "client", PROBLEM, f"{path} does not tell its version", "Run `claude --version` and mend what it says."
            )
        ]
    if version < OLDEST_CLIENT:
        return [Finding("client", PROBLEM, f"{path} is {word}: too old for these hooks", "Update Claude Code.")]
    return [Finding("client", OK, f"{word} at {path}")]
