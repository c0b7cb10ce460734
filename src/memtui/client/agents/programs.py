"""The coding agents as programs on this machine, by name."""

import importlib
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from memtui.client.agents import agents_hot
from memtui.client.agents.program import Env, Program

ID_LENGTH = 8


class SessionFile(NamedTuple):
    """A session's file: its `size`, in bytes or in what its agent counts, and the `time` of its last change."""

    path: str
    size: int
    time: float


def load(name: str) -> Program:
    """Return the program of an agent; Claude Code's for the first name. Raises KeyError for an unknown one."""
    if name not in agents_hot.NAMES:
        raise KeyError(name)
    module = "program" if name == agents_hot.NAMES[0] else name
    program: Program = importlib.import_module(f"memtui.client.agents.{module}").PROGRAM
    return program


def every() -> list[Program]:
    """List all programs, Claude Code first."""
    return [load(name) for name in agents_hot.NAMES]


def sessions(env: Env) -> Iterator[str]:
    """Yield the session files of all agents."""
    for program in every():
        yield from program.sessions(env)


def session_file(env: Env, session_id: str) -> str | None:
    """Return where another agent than Claude Code has the session of an id; None if it is none of theirs."""
    if not session_id:
        return None
    # A path may have no more than the beginning of an id.
    paths = (path for program in every()[1:] for path in program.sessions(env) if session_id[:ID_LENGTH] in path)
    own = (path for path in paths if session_id in path or agents_hot.session_id(path) == session_id)
    return max(own, default=None)


def session_files(env: Env, oldest: float = 0.0) -> list[SessionFile]:
    """List the session files of all agents that were written since `oldest`, newest first; subagents' are none."""
    files = []
    for path in sessions(env):
        with suppress(OSError):
            files.append(SessionFile(path, *agents_hot.status(path)))
    recent = (file for file in files if file.time >= oldest)
    return sorted(recent, key=lambda file: (-file.time, file.path))
