"""What every command starts from: the environment, the directory it is about, the clock, and where answers go."""

import os

from memtui.core.base import clock, paths
from memtui.core.base.errors import MemtuiError, UsageError
from memtui.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from memtui.cli.output import Output

PLACES = ("CLAUDE_CONFIG_DIR", "MEMTUI_HOME")


class Context(Workspace):
    """A workspace whose environment was checked: places are absolute.

    `given` tells that the directory came from --project. MEMTUI_NOW holds the clock still, for demonstrations and
    tests.
    """

    def __init__(self, env: "Mapping[str, str]", out: "Output", project: "str | None" = None) -> None:
        checked = _checked(env)
        self.out = out
        self.given = project is not None
        self.kept: dict[str, object] = {}  # what is read once a run
        try:
            cwd = os.path.realpath(project if project is not None else os.getcwd())
        except FileNotFoundError as error:
            raise UsageError(
                "The directory you are in does not exist any more.", "Go elsewhere, or use --project."
            ) from error
        if project is not None and not os.path.isdir(cwd):
            raise UsageError(f"--project: {project} is no directory.")
        super().__init__(checked, cwd, by="cli", now=clock.parse(checked.get("MEMTUI_NOW")))

    def must_own(self) -> None:
        """Raise MemtuiError where memtui's directories belong to somebody else: nothing there is read or written."""
        try:
            found = paths.strangers(self.root, self.slug)
        except UsageError:
            return  # there are none
        if found:
            from memtui.core.health import file_checks, findings

            told = findings.message(next(file_checks.strangers(found)))
            raise MemtuiError(told + ".", "`memtui doctor` lists all, and says what to do.")

    def tilde(self, path: str) -> str:
        """A path with the home directory as `~`."""
        home = self.env.get("HOME", "").rstrip("/")
        return "~" + path[len(home) :] if home and path.startswith(home + "/") else path

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


def _checked(env: "Mapping[str, str]") -> "dict[str, str]":
    found = dict(env)
    for name in (*PLACES, "HOME"):
        value = found.get(name)
        if not value:
            found.pop(name, None)
        elif not value.startswith("/"):
            raise UsageError(f"{name} is {value!r}, which is no absolute path.", "Write it out from the root: /…")
    return found
