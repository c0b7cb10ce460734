"""All checks in order: of the hooks and the client, then of memtui's own files (tidy/checks/doctor.py)."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from memtui.base import clock_hot, fastjson_hot, fs_hot, paths_hot, session_state_hot
from memtui.base.errors import MemtuiError
from memtui.base.finding import Finding, good, note, problem
from memtui.base.phrasing_hot import ago
from memtui.client import applied_settings, locate_hot
from memtui.client.process_hot import PERSONAL
from memtui.client.transcripts import transcript_hot
from memtui.hooks.install import agents, status
from memtui.hooks.install import installation as install
from memtui.models import choice
from memtui.settings import config_hot
from memtui.store.memory import Memory
from memtui.tidy import gates
from memtui.tidy.checks import doctor
from memtui.worker import sentence_vectors

CLIENT_SECONDS = 10
OLDEST_CLIENT = (2, 0)


def check(
    env: dict[str, str],
    cwd: str,
    now: float,
    client: list[Finding] | None = None,
    memories: dict[str, Memory] | None = None,
    *,
    reads: bool = True,
) -> list[Finding]:
    """Run all checks; `client`: of an earlier run; `memories`: see `status.of_scope`, `reads`: `doctor.check`."""
    root = paths_hot.root(env)
    project_root = paths_hot.project_root(cwd)
    project = paths_hot.project_key(project_root)
    if foreign := paths_hot.strangers(root, project):
        return list(doctor.strangers(foreign))
    of_client = client_check(env) if client is None else client
    dreams = config_hot.value(config_hot.load(root), project_root, "dream") is True
    of_models = chain(choice.check(env, root, now), gates.check(root, (project, gates.GLOBAL) if dreams else ()))
    more = {"semantic": sentence_vectors.check(root), "llm": of_models}
    own = doctor.check(env, cwd, now, memories, more, reads=reads)
    return [*hooks(env, cwd, now), *_other_agents(env), *of_client, *_own_memory(env, cwd), *own]


def _other_agents(env: dict[str, str]) -> Iterator[Finding]:
    """Yield for each other agent with memtui's hooks what keeps them from running, and what a person should know."""
    for agent in agents.other_agents(env):
        if agent.has_hooks:
            if agent.state != agents.READY:
                yield problem("hooks.agent", agent=agent.program.title, state=agent.state, remedy=agent.remedy)
            yield from (note("hooks.agent_note", words=words) for words in agent.program.notes(env))


def hooks(env: dict[str, str], cwd: str, now: float | None = None) -> list[Finding]:
    """Check that hooks are installed and can run; with `now` also that they ran in the newest sessions."""
    try:
        state = status.status(env, cwd)
    except (MemtuiError, OSError) as error:
        return [problem("hooks.failed", why=str(error))]
    # A file that is skipped may install them.
    unknown = any(finding.code in {"hooks.file", "hooks.above"} for finding in state.problems)
    absent: list[Finding] = []
    if not state.installed and not unknown:
        others = agents.hooked(paths_hot.root(env))
        absent = [note("hooks.others", agents=", ".join(others)) if others else problem("hooks.absent")]
    places = sorted({entry.source for entry in state.entries})
    project = paths_hot.project_root(cwd)
    is_off = config_hot.value(config_hot.load(paths_hot.root(env), project), project, "mode") == "off"
    unserved = [] if absent or now is None or is_off else unserved_sessions(env, cwd, now)
    findings = [*state.problems, *absent, *unserved, *state.notes]
    return findings or [good("hooks.ok", hooks=len(state.hooks), places=places)]


def _own_memory(env: dict[str, str], cwd: str) -> list[Finding]:
    """Check that Claude Code loads its own memory of this project, into which approved drafts go."""
    by = applied_settings.auto_memory_off(env, cwd)
    if not by:
        return []
    try:
        count = len(locate_hot.walk(locate_hot.auto_dir(env, cwd)))
    except OSError:
        count = 0
    return [(problem if count else note)("client.memory_off", by=by, memories=count)]


def client_check(env: dict[str, str]) -> list[Finding]:
    path = shutil.which("claude", path=env.get("PATH"))
    if path is None:
        return [note("client.absent")]
    try:
        none = subprocess.DEVNULL
        output = subprocess.check_output([path, "--version"], stdin=none, stderr=none, timeout=CLIENT_SECONDS, env=env)
        word = output.decode("utf-8", "replace").split()[0]
        version = tuple(int(part) for part in word.split(".")[:2])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        return [problem("client.no_version", path=path)]
    if version < OLDEST_CLIENT:
        return [problem("client.old", path=path, version=word)]
    return [good("client.ok", path=path, version=word)]


# The newest transcripts that are looked at, the part of each, and how old they may be, in seconds.
TRANSCRIPTS = 20
HEAD_BYTES = 1 << 18
OLDEST = 7 * 86400
_FIELD = rb'"%s"\s*:\s*("(?:[^"\\]|\\.)*")'
FIELDS = {name: re.compile(_FIELD % name.encode()) for name in ("cwd", "timestamp", "entrypoint")}


class _Session(NamedTuple):
    id: str
    cwd: str
    started: float
    by_person: bool
    answered: bool


def unserved_sessions(env: dict[str, str], cwd: str, now: float) -> list[Finding]:
    """Find that no hook ran in a project's newest sessions since the installation, and when the last one did."""
    root = paths_hot.root(env)
    try:
        since = max(os.stat(install.installs_path(root)).st_mtime, now - OLDEST)
    except OSError:
        since = now - OLDEST
    unserved: list[_Session] = []
    last = 0.0
    for session in _newest(env, paths_hot.project_root(cwd), since):
        try:
            last = os.stat(session_state_hot.path(root, session.id)).st_mtime
            break
        except OSError:
            unserved += [session] if session.answered else []
    if not unserved:
        return []
    level = problem if any(session.by_person for session in unserved) else note
    directories = sorted({session.cwd for session in unserved})
    when = f"The last one ran {ago(last, now)}" if last else "None ran in the days before"
    first = ago(min(session.started for session in unserved), now)
    return [level("hooks.unserved", sessions=len(unserved), directories=", ".join(directories), first=first, last=when)]


def _newest(env: dict[str, str], root: str, since: float) -> list[_Session]:
    top, slug = paths_hot.config_dir(env) + "/projects", paths_hot.slug(root)
    names = {slug, env.get("CLAUDE_CODE_PROJECT_DIR_NAME") or slug}
    files = []
    for name in paths_hot.names_in(top):
        if name not in names and not name.startswith(slug + "-"):
            continue
        files += [(time, path) for time, path in transcript_hot.in_directory(f"{top}/{name}") if time >= since]
    sessions = [_read(path) for _, path in sorted(files, reverse=True)[:TRANSCRIPTS]]
    here = [each for each in sessions if each and each.started >= since and (each.cwd + "/").startswith(root + "/")]
    return sorted(here, key=lambda session: session.started, reverse=True)


def _read(path: str) -> _Session | None:
    head = fs_hot.head(path, HEAD_BYTES)
    fields = {name: match[1] for name, pattern in FIELDS.items() if (match := pattern.search(head))}
    try:
        cwd, started = (str(fastjson_hot.loads(fields[name])) for name in ("cwd", "timestamp"))
        entrypoint = fastjson_hot.loads(fields.get("entrypoint", b'"cli"'))
    except (KeyError, ValueError):
        return None
    at = clock_hot.parse(started)
    if at is None:
        return None
    answered = b'"type":"assistant"' in head.replace(b'": "', b'":"')
    return _Session(os.path.basename(path).removesuffix(".jsonl"), cwd, at, entrypoint in PERSONAL, answered)
