"""What screens, dialogs and widgets ask of the application, which stands above them and is imported by none of them."""

from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, cast

from textual.message import Message

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.notifications import SeverityLevel
    from textual.screen import ModalScreen, Screen

    from memtui.core.base.errors import MemtuiError
    from memtui.core.journal.undo import Op
    from memtui.core.review.waiting import Waiting
    from memtui.tui.model.data import Data

Result = TypeVar("Result")
# The workers of commands: they wait for answers of the person.
COMMAND = "command"


def possible() -> str:
    """The `why_not` of a command that can be run at any time."""
    return ""


class Command(NamedTuple):
    """What an action of the table does. `run` may be a coroutine function, which awaits its questions
    (`Services.ask`); the MemtuiError and OSError that it raises are told. `why_not` says in words why it can't be done
    now, empty if it can."""

    run: Callable[[], object]
    why_not: Callable[[], str] = possible


def first_of(*reasons: Callable[[], str]) -> Callable[[], str]:
    """The first of some reasons that holds."""
    return lambda: next(filter(None, (reason() for reason in reasons)), "")


@dataclass
class HowFar(Message):
    """How far a change of many is, in words for the foot of the screen or dialog that is on top."""

    words: str


class Turned(Message):
    """Undo or redo has changed files, for the dialog that is on top."""


class Services(Protocol):
    """The application, as what stands below it knows it."""

    data: "Data"
    read_only: bool
    remapped: dict[str, str]  # the person's key map, action id to keys
    at_work: bool  # many changes are being made in a worker: no others meanwhile

    @property
    def has_read(self) -> bool:
        """Whether the files were read once."""

    @property
    def began(self) -> float:
        """When this sitting did, in seconds since the epoch."""

    # telling

    def say(self, text: str) -> None:
        """Tell what happened."""

    def fail(self, error: "MemtuiError") -> None:
        """Tell what went wrong and what to do."""

    def notify(self, message: str, *, severity: "SeverityLevel" = "information", markup: bool = True) -> None:
        """Show a note, as Textual does."""

    def copy(self, text: str) -> None:
        """Copy a text to the clipboard, and say which."""

    # asking and doing

    async def ask(self, dialog: "ModalScreen[Result]") -> Result | None:
        """Show a dialog; its answer, None where it was left."""

    def start(self, node: "Screen[Any]", command: Coroutine[Any, Any, object], what: str) -> None:
        """Run what asks questions: at once as far as the first, the rest in a worker of the screen or dialog. What goes
        wrong is told; `what` names it in the error log."""

    def action_run(self, action_id: str) -> None:
        """Run an action of the table, on the screen that it belongs to, or tell why not."""

    def turn(self, op: "Op", key: str | None = None) -> None:
        """Undo or redo (`op`) the last change, or the one with this key."""

    def suspend(self) -> AbstractContextManager[None]:
        """Give the terminal to another program meanwhile."""

    def read(self, parts: frozenset[str] | None = None) -> None:
        """Read files again and show them: these parts as `Watch` names them, None for all."""

    # going

    def go(self, name: str) -> Any:
        """Go to a screen by its name; that screen."""

    def go_to_memory(self, path: str) -> None:
        """Go to a memory on its screen, wherever it is."""

    def go_to_note(self, item: "Waiting") -> None:
        """Go to a note that waits, on its screen."""

    def show_deliveries(self, **wanted: str) -> None:
        """Go to the deliveries that fit, such as `memory=path`."""


def services_of(node: "DOMNode") -> Services:
    """The application that a widget or screen is part of."""
    return cast("Services", node.app)
