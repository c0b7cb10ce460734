"""What every command starts from: the environment, the directory it is about, the clock."""

import os

from memtui.core.base import clock, paths
from memtui.core.base.errors import MemtuiError, UsageError
from memtui.core.settings import config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from memtui.cli.output import Output
    from memtui.core.journal.journal import Journal
    from memtui.core.memories.store import Store

PLACES = ("CLAUDE_CONFIG_DIR", "MEMTUI_HOME")


class Context:
    """The environment, checked: places are absolute, and something names them.

    `cwd` is the directory whose project a command is about, with symlinks followed as the client does; `given` tells
    that it came from --project.
    """

    def __init__(self, env: "Mapping[str, str]", out: "Output", project: "str | None" = None) -> None:
        self.env = dict(env)
        self.out = out
        self.given = project is not None
        self.kept: dict[str, object] = {}  # what is read once a run
        _check(self.env)
        try:
            self.cwd = os.path.realpath(project if project is not None else os.getcwd())
        except FileNotFoundError as error:
            raise UsageError(
                "The directory you are in does not exist any more.", "Go elsewhere, or use --project."
            ) from error
        if project is not None and not os.path.isdir(self.cwd):
            raise UsageError(f"--project: {project} is no directory.")
        self.project_root = paths.project_root(self.cwd)
        self.slug = paths.slug(self.project_root)
        fixed = clock.parse(self.env.get("MEMTUI_NOW"))
        self._fixed = fixed

    def now(self) -> float:
        """Seconds since the epoch; MEMTUI_NOW holds it still, for demonstrations and tests."""
        return clock.now() if self._fixed is None else self._fixed

    @property
    def root(self) -> str:
        """memtui's own directory. Raises UsageError where nothing names it."""
        try:
            return paths.root(self.env)
        except KeyError:
            raise _homeless() from None

    def must_own(self) -> None:
        """Raise MemtuiError where memtui's directories belong to somebody else: nothing there is read or written."""
        try:
            found = paths.strangers(self.root, self.slug)
        except UsageError:
            return  # there are none
        if found:
            raise MemtuiError(strange(*found[0]) + ".", "`memtui doctor` lists all, and says what to do.")

    @property
    def config_dir(self) -> str:
        """Claude's configuration directory. Raises UsageError where nothing names it."""
        try:
            return paths.config_dir(self.env)
        except KeyError:
            raise _homeless() from None

    def must_have_home(self) -> None:
        """Raise UsageError unless both memtui's and Claude's directory are known."""
        for place in (paths.root, paths.config_dir):
            try:
                place(self.env)
            except KeyError:
                raise _homeless() from None

    def settings(self) -> "dict[str, object]":
        """The settings as written."""
        return config.load(self.root)

    def setting(self, key: str) -> "object":
        """One setting, of this project where it has its own."""
        return config.value(self.settings(), self.project_root, key)

    def inbox(self, everywhere: bool) -> "str":
        """The directory of the inbox of this project, or of the global one."""
        return paths.inbox_dir(self.root, None if everywhere else self.slug)

    def store(self) -> "Store":
        """The store, for changes and their undo."""
        from memtui.core.memories.store import Store

        self.must_have_home()
        return Store(self.env, self.cwd, by="cli", now=self.now)

    def journal(self) -> "Journal":
        """The journal, for changes to files that are no memories."""
        from memtui.core.journal.journal import Journal

        return Journal(self.root, by="cli", now=self.now)

    @property
    def can_ask(self) -> bool:
        """Whether a person is there to answer."""
        import sys

        return sys.stdin.isatty() and sys.stderr.isatty()

    def confirm(self, question: str, otherwise: str) -> None:
        """Ask a person yes or no. Raises MemtuiError, saying `otherwise`, for no and where nobody can answer."""
        import sys

        if not self.can_ask:
            raise MemtuiError(otherwise, "There is no terminal to ask at; --yes says yes.")
        self.out.flush()
        sys.stderr.write(question + " [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
            raise MemtuiError(otherwise)


def strange(path: str, owner: int) -> str:
    """What is wrong with a directory of somebody else's."""
    return f"{path} belongs to another user (number {owner}): nothing there is read or written"


def _homeless() -> UsageError:
    return UsageError(
        "Neither HOME nor CLAUDE_CONFIG_DIR nor MEMTUI_HOME is set, so there is nowhere to look.",
        "Set one, for example in the crontab: CLAUDE_CONFIG_DIR=/home/you/.claude",
    )


def _check(env: "dict[str, str]") -> None:
    for name in (*PLACES, "HOME"):
        value = env.get(name)
        if not value:
            env.pop(name, None)
        elif not value.startswith("/"):
            raise UsageError(f"{name} is {value!r}, which is no absolute path.", "Write it out from the root: /…")
