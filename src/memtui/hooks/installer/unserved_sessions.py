"""Sessions in which no hook of memtui's ran, although hooks are installed: whatever kept them from it."""

import os
import re
from typing import NamedTuple

from memtui.core.base import clock, fastjson, fs, paths, session_state
from memtui.core.base.finding import Finding, note, problem
from memtui.core.base.phrasing import ago
from memtui.core.client.process import PERSONAL
from memtui.hooks.installer import installs

# The newest transcripts that are looked at, the part of each, and how old they may be, in seconds.
TRANSCRIPTS = 20
HEAD_BYTES = 1 << 18
OLDEST = 7 * 86400
FIELDS = {
    name: re.compile(rb'"%s"\s*:\s*("(?:[^"\\]|\\.)*")' % name.encode()) for name in ("cwd", "timestamp", "entrypoint")
}


class _Session(NamedTuple):
    id: str
    cwd: str
    started: float
    by_person: bool
    answered: bool


def check(env: dict[str, str], cwd: str, now: float) -> list[Finding]:
    """Find that no hook ran in the newest sessions of a project, and when the last one did.

    Every hook of a session's start leaves the session's state behind. Sessions from before the installation don't
    count; scripts can silence the hooks, so that their sessions alone are no problem.
    """
    root = paths.root(env)
    try:
        since = max(os.stat(installs.installs_path(root)).st_mtime, now - OLDEST)
    except OSError:
        since = now - OLDEST
    unserved: list[_Session] = []
    last = 0.0
    for session in _newest(env, paths.project_root(cwd), since):
        try:
            last = os.stat(session_state.path(root, session.id)).st_mtime
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
    """List the sessions that were started in a project since a time, newest first."""
    top, slug = paths.config_dir(env) + "/projects", paths.slug(root)
    names = {slug, env.get("CLAUDE_CODE_PROJECT_DIR_NAME") or slug}
    files = []
    try:
        listed = os.listdir(top)
    except OSError:
        return []
    for name in listed:
        if name not in names and not name.startswith(slug + "-"):
            continue
        try:
            with os.scandir(f"{top}/{name}") as entries:
                transcripts = [(each.stat().st_mtime, each.path) for each in entries if each.name.endswith(".jsonl")]
        except OSError:
            continue
        files += [each for each in transcripts if each[0] >= since]
    sessions = [_read(path) for _, path in sorted(files, reverse=True)[:TRANSCRIPTS]]
    here = [each for each in sessions if each and each.started >= since and (each.cwd + "/").startswith(root + "/")]
    return sorted(here, key=lambda session: session.started, reverse=True)


def _read(path: str) -> _Session | None:
    """Read how a transcript begins; None for one that says too little."""
    try:
        head = fs.read_bytes(path, HEAD_BYTES)
    except OSError:
        return None
    fields = {name: match[1] for name, pattern in FIELDS.items() if (match := pattern.search(head))}
    try:
        cwd, started = (str(fastjson.loads(fields[name])) for name in ("cwd", "timestamp"))
        entrypoint = fastjson.loads(fields.get("entrypoint", b'"cli"'))
    except (KeyError, ValueError):
        return None
    at = clock.parse(started)
    if at is None:
        return None
    answered = b'"type":"assistant"' in head.replace(b'": "', b'":"')
    return _Session(os.path.basename(path).removesuffix(".jsonl"), cwd, at, entrypoint in PERSONAL, answered)
