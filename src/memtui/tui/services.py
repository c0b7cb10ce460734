"""`Services`: the application as screens, dialogs and widgets use it. None of them imports the application itself."""

from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, cast

from textual.message import Message

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.screen import ModalScreen, Screen

    from memtui.actions import Action
    from memtui.core.base.errors import MemtuiError
    from memtui.core.journal.undo import Op
    from memtui.tui.model.data import Data

Result = TypeVar("Result")
# The group of the workers that run commands: they wait for the person's answers.
COMMAND = "command"
# Why an action that writes can't be run.
READ_ONLY = "Nothing was changed: memtui runs with --read-only."
BUSY = "Changes are being made. Wait, or press escape on the screen that started them."


def possible() -> str:
    """Return no reason: the `why_not` of a command that can be run at any time."""
    return ""


class Command(NamedTuple):
    """What an action of the table does. `run` may be a coroutine function, which awaits its questions (`Services.ask`);
    the person is shown the MemtuiError or OSError that it raises. `why_not` returns in words why it can't be run now,
    or an empty string if it can. `title` and `help` are those of the action while it does something else than usual."""

    run: Callable[[], object]
    why_not: Callable[[], str] = possible
    title: str = ""
    help: str = ""

    def named(self, action: "Action") -> "Action":
        """Return the action with the title and the help of what this command does."""
        return replace(action, title=self.title, help=self.help) if self.title else action


def first_of(*reasons: Callable[[], str]) -> Callable[[], str]:
    """Combine several `why_not` functions: the first reason that is not empty counts."""
    return lambda: next(filter(None, (reason() for reason in reasons)), "")


@dataclass
class HowFar(Message):
    """The progress of many changes, in words for the foot of the screen or dialog that is on top."""

    words: str


class Turned(Message):
    """Undo or redo has changed files: sent to the dialog that is on top."""


class Services(Protocol):
    """The application, as the modules below it know it."""

    data: "Data"
    read_only: bool
    remapped: dict[str, str]  # the keys that the person has changed: action id to keys
    at_work: bool  # many changes are being made in a worker: no others can be made meanwhile

    @property
    def has_read(self) -> bool:
        """Return whether the files were read at least once."""

    @property
    def began(self) -> float:
        """Return when the application was started, in seconds since the epoch."""

    # notes

    def say(self, text: str) -> None:
        """Show a note of what happened."""

    def warn(self, text: str) -> None:
        """Show a note of what can't be done, or is done and has no effect."""

    def fail(self, error: "MemtuiError") -> None:
        """Show a note of what went wrong and what to do."""

    def copy(self, text: str) -> None:
        """Copy a text to the clipboard, and show how it begins."""

    # questions and actions

    async def ask(self, dialog: "ModalScreen[Result]") -> Result | None:
        """Show a dialog. Return its answer, None if the person left it."""

    def start(self, node: "Screen[Any]", command: Coroutine[Any, Any, object], what: str) -> None:
        """Run a coroutine that asks questions: at once up to the first, the rest in a worker of the screen or dialog.
        Errors are shown; `what` names the coroutine in the error log."""

    def choose_theme(self, name: str) -> None:
        """Show a theme by its name in the settings, and save it."""

    def action_run(self, action_id: str) -> None:
        """Run an action of the table on the screen that it belongs to, or show why it can't be run."""

    def turn(self, op: "Op", key: str | None = None) -> None:
        """Undo or redo (`op`) the last change, or undo the one with this key."""

    def suspend(self) -> AbstractContextManager[None]:
        """Return a context in which another program has the terminal."""

    def read(self, parts: frozenset[str] | None = None) -> None:
        """Read the files again and show them: these parts as `Watch` names them, None for all."""

    # screens

    def go(self, name: str) -> Any:
        """Show the screen of this name, and return it."""

    def go_to_memory(self, path: str) -> None:
        """Show a memory on the screen of memories."""

    def show_activity(self, query: str) -> None:
        """Show in Activity what a query finds, such as `session:ID`."""


def services_of(node: "DOMNode") -> Services:
    """Return the application that a widget or screen is part of."""
    return cast("Services", node.app)
