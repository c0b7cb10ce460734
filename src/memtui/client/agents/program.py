"""A coding agent as a program on this machine: where it keeps its hooks and sessions, and how memtui is set up for it.
Claude Code's ways are the defaults; a class of `client/agents/NAME.py` says where another agent differs."""

import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from memtui.base import paths_hot

Env = dict[str, str]


class Event(NamedTuple):
    """An event that a hook serves. `name`: memtui's; `own`: the agent's; `matcher`: the tools, None for all; `timeout`:
    after which the agent gives up on the hook, in its own unit."""

    name: str
    own: str
    matcher: str | None
    timeout: float


SECONDS = {"SessionStart": 10, "UserPromptSubmit": 5, "PreToolUse": 5, "PostToolUse": 5}
SECONDS |= dict.fromkeys(("PreCompact", "Stop", "SessionEnd"), 10)


def event_table(second: int = 1, without: str = "", names: Env | None = None, **matchers: str) -> tuple[Event, ...]:
    """Return the events of an agent. `second`: one in its own unit; `without`: an event that it has not; `names`: those
    that it calls otherwise than Claude Code; `matchers`: the tools of an event."""
    own, times = names or {}, {name: seconds * second for name, seconds in SECONDS.items() if name != without}
    return tuple(Event(name, own.get(name, name), matchers.get(name), time) for name, time in times.items())


class Program:
    """Claude Code. `allows_comments`: whether its settings may have comments, as JavaScript has them."""

    allows_comments = False
    name = "claude"
    title = "Claude Code"
    command = "claude"
    resumes = "claude --resume {}"  # the shell command that resumes the session of an id
    # Seconds; after them Claude Code drops all that a hook printed.
    events = event_table(PostToolUse="Read|Write|Edit|MultiEdit|memory_read|memory_write")

    def home(self, env: Env) -> str:
        """Return the directory of the agent's settings and sessions."""
        return paths_hot.config_dir(env)

    def is_present(self, env: Env) -> bool:
        """Tell whether the agent is on this machine, by its program or its directory."""
        return bool(shutil.which(self.command, path=env.get("PATH"))) or os.path.isdir(self.home(env))

    def hooks_file(self, env: Env) -> str:
        """Return the file of the user's settings that names hooks."""
        return self.home(env) + "/settings.json"

    def group(self, event: Event, command: str) -> dict[str, Any]:
        """Return the entry of an event in the list of its hooks, for our shell command."""
        hook = {"type": "command", "command": command, "timeout": event.timeout}
        return {**({} if event.matcher is None else {"matcher": event.matcher}), "hooks": [hook]}

    def whole_file(self, command: Callable[[str], str]) -> str | None:
        """Return the text of a hooks file that is memtui's alone, `command` giving the shell command of an event; None
        where ours stand beside the person's."""
        return None

    def trust(self, env: Env) -> str:
        """Return what a person has to do before the agent runs our hooks, in its own words; empty for nothing."""
        return ""

    def notes(self, env: Env) -> list[str]:
        """List what a person should know before the hooks are installed, and of what keeps them from working."""
        return []

    def sessions(self, env: Env) -> Iterator[str]:
        """Yield the paths of the session files of persons, not those of subagents."""
        top = self.home(env) + "/projects"
        for project in paths_hot.names_in(top):
            for name in paths_hot.names_in(f"{top}/{project}"):
                if name.endswith(".jsonl") and not name.startswith("agent-"):
                    yield f"{top}/{project}/{name}"


PROGRAM = Program()
