"""Every hook starts here: read the payload, find the event's module, fail open.

Whatever happens the exit code is 0 and stdout holds nothing or one whole JSON object: exit 2 would block the
person's prompt, and context from Stop would make the model go on (docs/hooks.md).
"""

import posix
import time

from memtui.core import fastjson, paths

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


class Hook:
    """One run of a hook: the payload, and what follows from it and the environment."""

    __slots__ = (
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
        from memtui.core import config

        self.settings = config.load(self.root)
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
    """Run the hook of the event named first; a second word `plugin` says that the plugin's launcher did it."""
    started = time.monotonic()
    env = environment()
    if env.get(INSIDE) or env.get("CLAUDE_HEADLESS") == "1" or not argv or argv[0] not in MODULES:
        return
    try:
        payload = fastjson.loads_dict(read_stdin())
        hook = Hook(argv[0], env, payload, started)
        if not hook.session_id:
            return
        if "plugin" in argv[1:] and _stands_down(hook):
            return
        hook.load_settings()
        if hook.mode == "off":
            return
        name = "memtui.hooks." + MODULES[argv[0]]
        __import__(name)
        import sys

        sys.modules[name].handle(hook)
    except Exception as error:
        fail(env, argv[0], error)


def _stands_down(hook: Hook) -> bool:
    from memtui.hooks import standdown

    return standdown.settings_install_active(hook.root, hook.env, hook.started_in, hook.event)


def fail(env: "dict[str, str]", where: str, error: BaseException) -> None:
    """Log an error if that is possible, and never raise."""
    try:
        from memtui.core import delivery

        delivery.log_error(paths.root(env), where, error)
    except Exception:
        return


def reply(event: str, context: str, message: str = "") -> None:
    """Print the hook's answer: context for the model, a line for the person. Raises OSError if nobody reads it."""
    answer: dict[str, object] = {}
    if context:
        answer["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": context}
    if message:
        answer["systemMessage"] = message
    if answer:
        from memtui.core import fs

        fs.write_all(1, fastjson.dumps(answer).encode())
