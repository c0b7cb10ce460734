"""Every hook starts here: read the payload, find the event's module, fail open.

Whatever happens the exit code is 0 and stdout holds nothing or one whole JSON object: exit 2 would block the
person's prompt, and context from Stop would make the model go on (docs/hooks.md).
"""

import posix
import sys
import time

# Each package that a hook would look for, only to find its empty `__init__`, costs it half a percent: in a process of
# its own, which has no site, they are made instead.
if sys.flags.no_site:
    for _name in ("", ".base", ".client", ".deliveries", ".frontmatter", ".inbox", ".places", ".settings"):
        _package = sys.modules.setdefault("memtui.core" + _name, type(sys)("memtui.core" + _name))
        _package.__path__ = [sys.modules["memtui"].__path__[0] + "/core" + _name.replace(".", "/")]

from memtui.core.base import fastjson, paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

MODULES = {
    "SessionStart": "session_start",
    "UserPromptSubmit": "user_prompt_submit",
    "PreToolUse": "pre_tool_use",
    "PostToolUse": "post_tool_use",
    "PreCompact": "pre_compact",
    "Stop": "stop",
    "SessionEnd": "session_end",
}
# What memtui starts itself runs with this set, so that the hooks of a client started by a hook stay silent.
INSIDE = "MEMTUI_INSIDE"
STDIN_LIMIT = 64 << 20
# Seconds after which a hook breaks off what it is at, again each time they have passed, and after which it ends: well
# inside the client's time-out of 5 or 10 s (entries.EVENTS), past which all that it printed is dropped.
PATIENCE, LONGER = (1.5, 3.5), (3.0, 7.0)
SECONDS = {
    "SessionStart": LONGER,
    "UserPromptSubmit": PATIENCE,
    "PreToolUse": PATIENCE,
    "PostToolUse": PATIENCE,
    "PreCompact": LONGER,
    "Stop": LONGER,
    "SessionEnd": LONGER,
}


class LateError(Exception):
    """The hook or worker has worked on something for too long."""


class Deadline:
    """Breaks off with LateError what takes longer than `patience` seconds, once and again, and ends the process after
    `most` seconds. A process has one: it uses the timer and its signal.

    What is broken off has to leave things as a kill would, from which all is recovered; `lift` is for what comes after.
    """

    def __init__(self, patience: float, most: float, ends: "Callable[[], object]") -> None:
        import _signal  # type: ignore[import-not-found]

        self.lifted = False
        self._end = time.monotonic() + most
        self._ends = ends
        self._patience = patience
        _signal.signal(_signal.SIGALRM, self._ring)
        self.again()

    def again(self) -> None:
        """Something else begins: it has all of the patience."""
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
        """From now on nothing is broken off."""
        import _signal

        self.lifted = True
        _signal.setitimer(_signal.ITIMER_REAL, 0.0)


class Hook:
    """One run of a hook: the payload, and what follows from it and the environment."""

    __slots__ = (
        "deadline",
        "env",
        "event",
        "mode",
        "payload",
        "project_root",
        "root",
        "session_id",
        "settings",
        "slug",
        "started",
        "started_in",
    )

    def __init__(self, event: str, env: "dict[str, str]", payload: "dict[str, object]", started: float) -> None:
        self.event = event
        self.env = env
        self.payload = payload
        self.started = started
        self.root = paths.root(env)
        self.session_id = self.text("session_id")
        # The directory the session was started in, not where a `cd` has led since.
        self.started_in = paths.normal(env.get("CLAUDE_PROJECT_DIR") or self.text("cwd") or "/")
        self.project_root = paths.project_root(self.started_in)
        self.slug = paths.slug(self.project_root)
        self.settings: dict[str, object] = {}
        self.mode = "full"
        self.deadline: Deadline | None = None

    def text(self, key: str) -> str:
        """A text of the payload; empty if it is missing or something else."""
        found = self.payload.get(key)
        return found if isinstance(found, str) else ""

    def inboxes(self) -> "list[tuple[str, str]]":
        """(scope, directory) of the inboxes that this session reads."""
        return [("project", paths.inbox_dir(self.root, self.slug)), ("global", paths.inbox_dir(self.root, None))]

    def load_settings(self) -> None:
        """Read the settings, if there are any: without a file the defaults hold and nothing is imported."""
        try:
            posix.stat(self.root + "/config.toml")
        except OSError:
            return
        from memtui.core.settings import config

        self.settings = config.load(self.root, self.project_root)
        self.mode = str(config.value(self.settings, self.project_root, "mode"))


def environment() -> "dict[str, str]":
    """The environment as text, without importing `os`."""
    return {
        k.decode("utf-8", "surrogateescape"): v.decode("utf-8", "surrogateescape") for k, v in posix.environ.items()
    }


def read_stdin() -> bytes:
    """All of standard input up to a limit; nothing when a person started the hook in a terminal."""
    if posix.isatty(0):
        return b""
    chunks = []
    size = 0
    while size < STDIN_LIMIT:
        chunk = posix.read(0, 1 << 20)
        if not chunk:
            break
        chunks.append(chunk)
        size += len(chunk)
    return b"".join(chunks)


def main(argv: "list[str]") -> None:
    """Run the hook of the event named first. Then `plugin` says that the plugin's launcher did it; `--root DIR --config
    DIR`, where memtui's files and Claude Code's were when the hooks were installed."""
    started = time.monotonic()
    if not argv or argv[0] not in MODULES:
        return
    env = environment()
    deadline = None
    try:
        env, doubt = _believed(env, argv)
        if env.get(INSIDE) or env.get("CLAUDE_HEADLESS") == "1":
            return
        late = LateError("it took too long altogether")
        deadline = Deadline(*SECONDS[argv[0]], lambda: fail(env, argv[0], late))
        payload = fastjson.loads_dict(read_stdin())
        hook = Hook(argv[0], env, payload, started)
        hook.deadline = deadline
        if not hook.session_id or paths.strangers(hook.root, hook.slug):
            return
        if "plugin" in argv[1:] and _stands_down(hook):
            return
        hook.load_settings()
        if hook.mode == "off":
            return
        if doubt is not None and hook.event == "SessionStart":
            fail(env, hook.event, doubt)
        name = "memtui.hooks." + MODULES[argv[0]]
        __import__(name)
        import sys

        sys.modules[name].handle(hook)
    except Exception as error:
        fail(env, argv[0], error)
    finally:
        if deadline is not None:
            deadline.lift()


def _believed(env: "dict[str, str]", argv: "list[str]") -> "tuple[dict[str, str], Exception | None]":
    """The environment without what a repository may have set, and what was passed over, to be logged; nothing is looked
    at where there is no doubt."""
    root, config = (argv[2], argv[4]) if argv[1:4:2] == ["--root", "--config"] and len(argv) > 4 else ("", "")
    muted = INSIDE in env or "CLAUDE_HEADLESS" in env
    moved = paths.root(env) != root or paths.config_dir(env) != config
    if not muted and not (moved if root else "MEMTUI_HOME" in env or "CLAUDE_CONFIG_DIR" in env):
        return env, None
    from memtui.hooks.environment import believed

    return believed(env, root, config)


def _stands_down(hook: Hook) -> bool:
    from memtui.hooks import precedence

    return precedence.settings_install_active(hook.root, hook.env, hook.started_in, hook.event)


def fail(env: "dict[str, str]", where: str, error: BaseException) -> None:
    """Log an error if that is possible, and never raise."""
    try:
        from memtui.core.deliveries import error_log

        error_log.add(paths.root(env), where, error)
    except Exception:
        return


def reply(hook: Hook, context: str, message: str = "") -> None:
    """Print the hook's answer: context for the model, a line for the person. Raises OSError if nobody reads it.

    From here on the hook has all the time that the client gives it: what was said has to be logged.
    """
    answer: dict[str, object] = {}
    if context:
        answer["hookSpecificOutput"] = {"hookEventName": hook.event, "additionalContext": context}
    if message:
        answer["systemMessage"] = message
    if answer:
        from memtui.core.base import fs

        if hook.deadline is not None:
            hook.deadline.lift()
        fs.write_all(1, fastjson.dumps(answer).encode())
