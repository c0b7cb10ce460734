"""The start of every hook: read the payload, run the event's module, fail open.

Whatever happens, the exit code is 0 and stdout has nothing or one whole JSON object: exit 2 would block the person's
prompt, and context from Stop would make the model go on (docs/hooks.md)."""

import posix
import sys
import time

from memtui.base import fastjson_hot, paths_hot
from memtui.client.agents import agents_hot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from memtui.client.agents.agent_hot import Agent

    Source = TypeVar("Source")

# Seconds after which the work of a hook is interrupted, each time they pass, and after which the hook ends: well inside
# the client's time-out (Program.events), after which it drops all that was printed.
PATIENCE, LONGER = (1.5, 3.5), (3.0, 7.0)
# The module and the function that serve an event, and the time that they have.
EVENTS = {
    "SessionStart": ("session_start_hot", "handle", LONGER),
    "UserPromptSubmit": ("user_prompt_submit_hot", "handle", PATIENCE),
    "PreToolUse": ("tools_hot", "before_tool", PATIENCE),
    "PostToolUse": ("tools_hot", "after_tool", PATIENCE),
    "PreCompact": ("worker_start_hot", "compact", LONGER),
    "Stop": ("worker_start_hot", "end_turn", LONGER),
    "SessionEnd": ("worker_start_hot", "end_session", LONGER),
    "StatusLine": ("status_line_hot", "handle", PATIENCE),  # no event, but with a payload like theirs
}
# What serves the prompts of an agent that drops what is said at a start.
LATE_START = "late_start_hot"
# Set for what memtui starts itself, so that the hooks of a client started by a hook stay silent.
INSIDE = "MEMTUI_INSIDE"
STDIN_LIMIT = 64 << 20  # bytes


class LateError(Exception):
    """The hook or worker has worked on something for too long."""


class Deadline:
    """A time limit: raises LateError in the running code every `patience` seconds, and ends the process after `most`
    seconds, calling `ends` first. A process can have one: it uses the timer and its signal. Interrupted code leaves
    files as a kill would, from which everything is recovered. `lift` ends the limit."""

    def __init__(self, patience: float, most: float, ends: "Callable[[], object]") -> None:
        import _signal  # type: ignore[import-not-found]

        self.lifted = False
        self._end = time.monotonic() + most
        self._ends = ends
        self._patience = patience
        _signal.signal(_signal.SIGALRM, self._ring)
        self.again()

    def again(self) -> None:
        """Start the `patience` seconds again, for another piece of work."""
        import _signal

        _signal.setitimer(_signal.ITIMER_REAL, self._patience, self._patience)

    def _ring(self, _number: int, _frame: "object") -> None:
        if self.lifted:
            return
        if time.monotonic() >= self._end:
            self.lifted = True
            try:
                self._ends()
            finally:
                posix._exit(0)  # noqa: SLF001
        raise LateError("it took too long")

    def lift(self) -> None:
        """Interrupt nothing from now on."""
        import _signal

        self.lifted = True
        _signal.setitimer(_signal.ITIMER_REAL, 0.0)


class Hook:
    """One run of a hook: its payload, and the session, project and settings that it is for."""

    __slots__ = (
        *("_inboxes", "agent_name", "answers", "deadline", "env", "event", "mode", "payload", "project_root", "root"),
        *("session_id", "settings", "slug", "started", "started_in"),
    )

    def __init__(self, event: str, env: "dict[str, str]", payload: "dict[str, object]", started: float) -> None:
        self.event = event
        self.env = env
        self.payload = payload
        self.started = started
        self.root = paths_hot.root(env)
        self.session_id = self.text("session_id")
        self.enter(paths_hot.started_in(env, self.text("cwd")))
        self.settings: dict[str, object] = {}
        self.mode = "full"
        self.agent_name = ""
        self.deadline: Deadline | None = None
        # The answers so far, (context, message), of a hook whose parts answer together.
        self.answers: list[tuple[str, str]] | None = None

    @property
    def agent(self) -> "Agent":
        return agents_hot.load(self.agent_name)

    def is_silent(self) -> bool:
        """Tell whether the agent lets nothing through that is said at this event (`Agent.silent`)."""
        return bool(self.agent_name) and self.event in self.agent.silent

    def enter(self, directory: str) -> None:
        """Take the project from the directory that the session was started in."""
        self.started_in = directory
        self.project_root = paths_hot.project_root(directory)
        self.slug = paths_hot.project_key(self.project_root)
        self._inboxes: list[tuple[str, str]] = []

    def text(self, key: str) -> str:
        """Return a text of the payload; empty if it is missing or of another type."""
        return fastjson_hot.text(self.payload, key)

    def inboxes(self) -> "list[tuple[str, str]]":
        """List the inboxes that this session reads, as (scope, directory)."""
        if not self._inboxes:
            own = paths_hot.inbox_dir(self.root, self.slug)
            self._inboxes = [("project", own), ("global", paths_hot.inbox_dir(self.root, None))]
        return self._inboxes

    def setting(self, key: str) -> "object":
        """Return a setting that is in force for this project; without a config.toml only the defaults are read."""
        if not self.settings:
            from memtui.settings.defaults_hot import DEFAULTS

            return DEFAULTS[key]
        from memtui.settings import config_hot

        return config_hot.value(self.settings, self.project_root, key)

    def number(self, key: str) -> float:
        """Return a setting that is a number; 0 if it is none."""
        value = self.setting(key)
        return value if isinstance(value, (int, float)) else 0

    def attempt(self, other: "Source", source: "Callable[..., Source]", *words: "object", **more: "object") -> "Source":
        """Return what a source gives for these words; `other`, with an error in the log, if it fails."""
        try:
            return source(*words, **more)
        except Exception as error:
            fail(self.env, self.event, error)
            return other

    @property
    def gets_native(self) -> bool:
        """Whether the session gets the memories that Claude Code keeps: its own do, others' if a person says so."""
        return not self.agent_name or (bool(self.settings) and self.setting("share_auto") is True)

    def load_settings(self) -> None:
        """Read the settings; without a file the defaults stay and nothing is imported."""
        if not paths_hot.exists(self.root + "/config.toml"):
            return
        from memtui.settings import config_hot

        self.settings = config_hot.load(self.root, self.project_root)
        self.mode = str(config_hot.value(self.settings, self.project_root, "mode"))


def environment() -> "dict[str, str]":
    """Return the environment as text, without importing `os`."""
    how = ("utf-8", "surrogateescape")
    return {name.decode(*how): value.decode(*how) for name, value in posix.environ.items()}


def read_stdin() -> bytes:
    """Read standard input up to STDIN_LIMIT; nothing if a person started the hook in a terminal."""
    if posix.isatty(0):
        return b""
    chunks = []
    size = 0
    while size < STDIN_LIMIT:
        # More room than most payloads need, and less than what the system maps anew for each read.
        chunk = posix.read(0, 1 << 16 if size < 1 << 16 else 1 << 20)
        if not chunk:
            break
        chunks.append(chunk)
        size += len(chunk)
    return b"".join(chunks)


def main(argv: "list[str]") -> None:
    """Run the hook of the event that `argv` names first; `plugin` behind it: the plugin's launcher; `--root DIR
    --config DIR`: where memtui's files and Claude Code's were at the installation; `--agent NAME` behind it: the agent,
    if it is not Claude Code. Never raises."""
    started = time.monotonic()
    if not argv or argv[0] not in EVENTS:
        return
    module, function, patience = EVENTS[argv[0]]
    env = environment()
    deadline = None
    try:
        env, doubt = _believed(env, argv)
        if env.get(INSIDE) or env.get("CLAUDE_HEADLESS") == "1":
            return
        late = LateError("it took too long altogether")
        deadline = Deadline(*patience, lambda: fail(env, argv[0], late))
        payload = fastjson_hot.loads_dict(read_stdin())
        agent_name = agents_hot.of_hook(argv, env)
        if agent_name:
            translated = agents_hot.load(agent_name).read(argv[0], payload, env)
            if translated is None:
                return
            payload = translated
        hook = Hook(argv[0], env, payload, started)
        hook.agent_name, hook.deadline = agent_name, deadline
        if not hook.session_id or paths_hot.strangers(hook.root, hook.slug):
            return
        if "plugin" in argv[1:] and paths_hot.exists(hook.root + "/installs.json"):
            from memtui.hooks import environment_hot

            if environment_hot.settings_install_active(hook.root, hook.env, hook.started_in, hook.event):
                return
        hook.load_settings()
        if hook.mode == "off":
            return
        if doubt is not None and hook.event == "SessionStart":
            fail(env, hook.event, doubt)
        if agent_name and module == "user_prompt_submit_hot" and "SessionStart" in hook.agent.silent:
            module = LATE_START
        name = "memtui.hooks." + module
        __import__(name)
        getattr(sys.modules[name], function)(hook)
    except Exception as error:
        fail(env, argv[0], error)
    finally:
        if deadline is not None:
            deadline.lift()


def _believed(env: "dict[str, str]", argv: "list[str]") -> "tuple[dict[str, str], Exception | None]":
    """Return the environment without what a repository may have set, and an error for the log that names it."""
    root, config = (argv[2], argv[4]) if argv[1:4:2] == ["--root", "--config"] and len(argv) > 4 else ("", "")
    set_aside = INSIDE in env or "CLAUDE_HEADLESS" in env or any(map(env.__contains__, paths_hot.MOVING))
    moved = paths_hot.root(env) != paths_hot.followed(root) or paths_hot.config_dir(env) != paths_hot.followed(config)
    if not set_aside and not (moved if root else "MEMTUI_HOME" in env or "CLAUDE_CONFIG_DIR" in env):
        return env, None
    from memtui.hooks.environment_hot import believed

    return believed(env, root, config)


def fail(env: "dict[str, str]", where: str, error: BaseException) -> None:
    """Log an error if that is possible. Never raises."""
    try:
        from memtui.deliver import error_log_hot

        error_log_hot.add(paths_hot.root(env), where, error)
    except Exception:
        return


def reply(hook: Hook, context: str, message: str = "", refusal: str = "", decision: str = "deny") -> None:
    """Print context for the model, a message for the person, and why the tool must not run, or, with the `decision`
    ask, why the client asks. Lifts the deadline: what was printed has to be logged, in all the time that the client
    gives. A hook that holds its answers only notes it. Raises OSError."""
    if hook.answers is not None:
        hook.answers.append((context, message))
        return
    answer = hook.agent.answer(hook.event, context, message, refusal, decision)
    if not answer:
        return
    from memtui.base import fs_hot

    if hook.deadline is not None:
        hook.deadline.lift()
    fs_hot.write_all(1, answer.encode())
