"""The context of a command: the environment, its directory, the clock, and where its answers go."""

import os
import sys
from functools import cached_property

from memtui.base import clock_hot, paths_hot
from memtui.base.errors import MemtuiError, UsageError
from memtui.workspace import Workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from memtui.cli.output import Output
    from memtui.rules.counts import Held
    from memtui.store.status import Usage

DIRECTORIES = ("CLAUDE_CONFIG_DIR", "MEMTUI_HOME", "HOME")


class Context(Workspace):
    """A workspace with the output of a command; MEMTUI_NOW stops the clock. Raises UsageError for a wrong directory."""

    def __init__(self, env: "Mapping[str, str]", out: "Output", project: "str | None" = None) -> None:
        directories = {name: env.get(name) for name in DIRECTORIES}
        checked = {name: value for name, value in env.items() if value or name not in directories}
        for name, value in directories.items():
            if value and not value.startswith("/"):
                hint = "Give the full path from the root: /…"
                raise UsageError(f"{name} is {value!r}, which is not an absolute path.", hint)
        self.out, self.project_given = out, project is not None
        try:
            cwd = os.path.realpath(project if project is not None else os.getcwd())
        except FileNotFoundError as error:
            hint = "Change to another directory, or use --project."
            raise UsageError("The current directory does not exist any more.", hint) from error
        if project is not None and not os.path.isdir(cwd):
            raise UsageError(f"--project: {project} is not a directory.")
        super().__init__(checked, cwd, by="cli", now=clock_hot.parse(checked.get("MEMTUI_NOW")))

    def must_own(self) -> None:
        """Raise MemtuiError if memtui's directories belong to another user: nothing there is to be read or written."""
        try:
            directories = paths_hot.strangers(self.root, self.slug)
        except UsageError:
            return  # no directory is known
        if directories:
            from memtui.base import findings
            from memtui.tidy.checks import doctor

            message = findings.message(next(doctor.strangers(directories)))
            raise MemtuiError(message + ".", "`memtui doctor` lists all problems, and says what to do.")

    @cached_property
    def usage(self) -> "Usage":
        """Deliveries and uses of memories, by the delivery log: read once a run."""
        from memtui.store.status import Usage

        return Usage(self.root)

    @cached_property
    def held(self) -> "dict[str, list[Held]]":
        """How the rules of memories were kept, by the memory's path: read once a run."""
        from memtui.rules import counts

        return counts.held_by_path(self.root)

    @property
    def can_ask(self) -> bool:
        """Whether a person can answer a question."""
        return sys.stdin.isatty() and sys.stderr.isatty()

    def confirm(self, question: str, declined: str) -> None:
        """Ask a person yes or no. Raises MemtuiError with the message `declined` for no, and if nobody can answer."""
        if not self.can_ask:
            raise MemtuiError(declined, "There is no terminal to ask on. --yes answers yes.")
        self.out.say(question + " [y/N]", end=" ")
        if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
            raise MemtuiError(declined)

    def checked(self, text: str, *, yes: bool, declined: str, before: str = "") -> "tuple[str, list[str]]":
        """Ask about secrets in a text, or take them out if nobody can be asked; return it with their kinds."""
        if self.can_ask:
            self.confirm_secrets(text, yes=yes, declined=declined, before=before)
            return text, []
        from memtui.redact import redact

        kinds = [] if yes else redact.kinds_in(text, before)
        if not kinds:
            return text, []
        was, them = ("was", "it") if len(kinds) == 1 else ("were", "them")
        self.out.say(f"memtui: {redact.suspicion(kinds)}, which {was} taken out; --yes keeps {them}.")
        return redact.redact(text)[0], kinds

    def checked_bytes(self, data: bytes, *, yes: bool, declined: str, before: bytes = b"") -> bytes:
        """Return a file's content as it may be kept, as `checked` does."""
        text, old = (raw.decode("utf-8", "surrogateescape") for raw in (data, before))
        return self.checked(text, yes=yes, declined=declined, before=old)[0].encode("utf-8", "surrogateescape")

    def confirm_secrets(self, text: str, *, yes: bool, declined: str, before: str = "") -> None:
        """Ask about a secret in a text that can't be changed, unless `before` has it too. Raises MemtuiError for no."""
        from memtui.redact import redact

        if kinds := [] if yes else redact.kinds_in(text, before):
            message = declined if self.can_ask else f"{redact.suspicion(kinds)}. {declined}"
            self.confirm(f"{redact.question(kinds)} Leave it in?", message)
