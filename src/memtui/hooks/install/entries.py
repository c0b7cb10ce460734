"""The entries that memtui writes into a settings file: their events, groups and commands, and how to recognize them."""

import functools
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from memtui.base.errors import MemtuiError
from memtui.client.agents.program import PROGRAM, Program
from memtui.hooks.environment_hot import LAUNCHER_TAIL

_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
MAIN_TAIL = "/memtui/__main__.py"
STATUS_LINE = "StatusLine"  # in the place of an event, in the command of the status line
Table = dict[str, Any]
Groups = dict[str, Table]
START_SECONDS = 10


@dataclass(frozen=True)
class HookCommand:
    """The parts of a hook's command of ours; `root`, `config`: memtui's and Claude Code's directory, if named; `agent`:
    the agent that runs it, empty for Claude Code."""

    interpreter: str
    launcher: str
    event: str
    root: str = ""
    config: str = ""
    agent: str = ""


def launcher_path() -> str:
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "launch.py")


@functools.cache
def choose_interpreter() -> str:
    """Return the Python for hooks: this one's base, never a version manager's shim. Raises MemtuiError."""
    for candidate in (getattr(sys, "_base_executable", None), sys.executable):
        if candidate and os.path.isabs(candidate) and _fits(candidate):
            return str(candidate)
    hint = "Install memtui into an ordinary Python 3.11 or newer and try again."
    raise MemtuiError("The Python interpreter that runs memtui can't be started by its path.", hint)


def _fits(path: str) -> bool:
    """Tell whether a Python is no script and of this version."""
    command = [path, "-I", "-S", "-c", "import sys; print(*sys.version_info[:2])"]
    try:
        with open(path, "rb") as file:
            is_script = file.read(2) == b"#!"
        none = subprocess.DEVNULL
        output = subprocess.check_output(command, stdin=none, stderr=none, timeout=START_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return False
    return not is_script and output.split() == [b"%d" % part for part in sys.version_info[:2]]


def command(event: str, interpreter: str, launcher: str, root: str = "", config: str = "", agent: str = "") -> str:
    """Return a hook's shell command. The test in front keeps prompts safe when memtui was removed (Python exits with 2,
    which blocks the prompt). Raises MemtuiError for a path that JSON can't represent."""
    rest = f"{event} --root {shlex.quote(root)} --config {shlex.quote(config)}" if root else event
    return _guarded(launcher, interpreter, f"{rest} --agent {agent}" if agent else rest)


def command_after(other: str, interpreter: str, launcher: str, root: str) -> str:
    """Return the command of a status line that shows that of `other`, then memtui's if that can start."""
    main = launcher.removesuffix(LAUNCHER_TAIL) + MAIN_TAIL
    return _guarded(main, interpreter, 'statusline --after="$other"', f"MEMTUI_HOME={shlex.quote(root)}", other)


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def shows_ours(text: str) -> bool:
    """Return whether the command of a person's own status line starts memtui's: by its name, or as `command_after`."""
    pairs = itertools.pairwise(_words(text))
    return "memtui statusline" in text or any(one.endswith(MAIN_TAIL) and two == "statusline" for one, two in pairs)


def other_of(text: str) -> str:
    """Return the other's command of a status line that `command_after` made; empty for any other command."""
    first = _words(text)[:1]
    other = first[0].removeprefix("other=").removesuffix(";") if first else ""
    made = text.startswith(f"other={shlex.quote(other)}; ") and shows_ours(text)
    return other if made else ""


def _guarded(script: str, interpreter: str, rest: str, setting: str = "", other: str | None = None) -> str:
    """Return a shell command that starts a script of memtui's with `rest` and a `setting`; else nothing, or `other`."""
    quoted, python = shlex.quote(script), shlex.quote(interpreter)
    if other is None:
        line = f"[ ! -r {quoted} ] || exec {python} -I -S {quoted} {rest}"
    else:
        line = f'other={shlex.quote(other)}; [ -r {quoted} ] && [ -x {python} ] || exec /bin/sh -c "$other"; '
        line += f"exec env {setting} {python} -I -S {quoted} {rest}"
    try:
        line.encode()
    except UnicodeEncodeError:
        message = f"A path in {os.fsencode(line)!r} is not UTF-8, which JSON does not allow."
        hint = "Use directories with UTF-8 names for memtui, Python and Claude Code's configuration."
        raise MemtuiError(message, hint) from None
    return line


def agent_command(program: Program, event: str, interpreter: str, launcher: str, root: str, config: str) -> str:
    """Return the shell command of an event for an agent; arguments as for `command`."""
    agent = "" if program is PROGRAM else program.name
    return command(event, interpreter, launcher, root, config, agent)


def groups(interpreter: str, launcher: str, root: str = "", config: str = "", program: Program = PROGRAM) -> Groups:
    """Return for each event of an agent, by its own name, the group that the settings' `hooks` shall have."""
    where = (interpreter, launcher, root, config)
    return {event.own: program.group(event, agent_command(program, event.name, *where)) for event in program.events}


def status_line(interpreter: str, launcher: str, root: str = "", config: str = "") -> dict[str, Any]:
    """Return the value that the settings' `statusLine` shall have; arguments as for `command`."""
    return {"type": "command", "command": command(STATUS_LINE, interpreter, launcher, root, config)}


def parse(text: object) -> HookCommand | None:
    """Split a hook's command into its parts if it is one of ours, of any version and place; else None."""
    return _parse(text) if isinstance(text, str) and LAUNCHER_TAIL in text else None


@functools.cache  # the TUI asks after each change
def _parse(text: str) -> HookCommand | None:
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    for before in ("||", "exec"):
        words = words[words.index(before) + 1 :] if before in words else words
    for number, word in enumerate(words):
        if number and word.endswith(LAUNCHER_TAIL):
            rest = [*words[number + 1 :], *[""] * 7]
            root, config = (rest[2], rest[4]) if rest[1:4:2] == ["--root", "--config"] else ("", "")
            return HookCommand(words[0], word, rest[0], root, config, rest[6] if rest[5] == "--agent" else "")
    return None


def commands_in(text: str) -> dict[str, str]:
    """Return our commands by event that stand as JSON strings in a file of another form, such as a plugin."""
    words = (json.loads(match[0]) for match in _STRING.finditer(text) if LAUNCHER_TAIL in match[0])
    return {hook.event: word for word in words if (hook := parse(word))}


def starts_ours(data: bytes | None) -> bool:
    """Return whether a file that is no list of hooks starts memtui's, so that the file is memtui's own."""
    return data is not None and LAUNCHER_TAIL.encode() in data


def is_ours(hook: object) -> bool:
    """Return whether an item of a group's `hooks`, or the value of `statusLine`, is memtui's."""
    return isinstance(hook, dict) and parse(hook.get("command")) is not None
