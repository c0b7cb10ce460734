"""The tour: three things that one does, each in a box over the real screen: approve a draft, see that a session gets
it, undo it."""

import asyncio
import os
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from memtui import actions
from memtui.tui.dialogs.dialog import Dialog, Keys
from memtui.tui.files import COMMAND

if TYPE_CHECKING:
    from memtui.tui.services import Services

# The screen below may still be reading its files: it is drawn again so often, in seconds.
DRAW_SECONDS = 0.25
# The answers of a step.
DO, NEXT = "do", "next"
APPROVE, UNDO = "inbox.approve", "app.undo"
# The action of a step that is none of the table: a session starts in the sample world.
START = "start"
# The keys that move the cursor of the list below, and how many rows.
MOVES = {"j": 1, "down": 1, "k": -1, "up": -1}
UNDONE = "Undone"
NOT_APPROVED = "Step 3 undoes what you approved, and you approved nothing. "
LAST_WORDS = "That was all. {app.help} lists the keys of a screen, {app.quit} quits."


class TourStep(NamedTuple):
    """A step: the `screen` to show, a `title`, what to know, the `action` that is done, and what its key does. `{…}` is
    the key of an action. `real`: what to do in a world that is no sample, where no session can be started. `seen`: what
    one sees then, if the step stays; `new` is added to it if a draft was approved."""

    screen: str
    title: str
    words: str
    action: str
    does: str
    real: str = ""
    seen: str = ""
    new: str = ""


STEPS: Sequence[TourStep] = (
    TourStep(
        "inbox",
        "Approve a draft",
        "When you correct Claude, a draft waits here with the words that led to it.",
        APPROVE,
        "approve the draft under the cursor: then Claude remembers it",
    ),
    TourStep(
        "activity",
        "See it arrive",
        "Sessions get what you approved as they start, and what a prompt needs. Each delivery is listed here, with its"
        " exact text: ✓ says that it arrived.",
        START,
        "start a session in this sample world",
        "Start `claude` in this project: its session comes first in this list.",
        "There it is: the session began with the index of your memories{new}. Notes that waited came with its first"
        " prompt.",
        ", and the new one is in it",
    ),
    TourStep(
        "activity",
        "Undo it",
        "Everything that you change can be undone, also tomorrow. The memory goes, and the draft waits again.",
        UNDO,
        "undo it",
    ),
)


async def show(services: "Services") -> None:
    """Lead through the steps, and leave the person on the screen of the last one that was shown."""
    approved = words = ""  # `approved`: the id of the draft's row
    answer: str | None = ""
    for at, step in enumerate(STEPS):
        if step.action == UNDO and not approved:
            words = NOT_APPROVED
            break
        screen = services.go(step.screen)
        if step.action == APPROVE:
            screen.go_to_draft()
        can_do = not services.read_only and (_is_sample(services) or not step.real)
        tour = partial(Tour, at, can_undo=bool(approved) and step.action != UNDO)
        if answer == UNDO:
            answer = DO
        else:
            answer = await services.ask(tour(step.words, can_do=can_do))
        while answer == DO and step.action == APPROVE and not approved:
            row = screen.table.row_id
            if screen.is_on_draft:
                await _do(services, screen, step)
                approved = row if screen.table.index_of(row, screen.table.rows) is None else ""
            else:
                services.warn("There is no draft here: enter goes on.")
            if not approved:
                answer = await services.ask(tour(step.words, can_do=can_do))
        if answer == DO:
            if step.action != APPROVE:
                await _do(services, screen, step)
            if step.seen:
                text = step.seen.replace("{new}", step.new if approved else "")
                answer = await services.ask(tour(text, can_do=False))
        if answer is None:
            return
    turns = [worker for worker in screen.workers if worker.group == "turn" and not worker.is_finished]
    await asyncio.gather(*(worker.wait() for worker in turns))
    if approved and services.last_note.startswith(UNDONE):
        words = f"{UNDONE}: the memory is gone, and the draft waits here again.\n"
        inbox = services.go("inbox")
        inbox.wanted = lambda rows: inbox.table.index_of(approved, rows)
        inbox.fill()
    services.say(words + actions.keyed(LAST_WORDS))


async def _do(services: "Services", screen: Any, step: TourStep) -> None:
    if step.action == START:
        from memtui.demo import next_session

        data = services.data
        session = await asyncio.to_thread(next_session.start, _home(services), data.project_root, data.now())
        screen.listing.fold(session, unfold=True)
        screen.wanted = lambda rows: screen.table.index_of(f"session {session}", rows)
        screen.reload()  # a note that the session took waits no longer
        return
    running = _commands(screen)
    services.action_run(step.action)
    others = [worker for worker in screen.workers if id(worker) in _commands(screen) - running]
    await asyncio.gather(*(other.wait() for other in others))


def _commands(screen: Any) -> set[int]:
    return {id(worker) for worker in screen.workers if worker.group == COMMAND and not worker.is_finished}


def _home(services: "Services") -> str:
    return os.path.dirname(services.data.env.get("HOME", ""))


def _is_sample(services: "Services") -> bool:
    from memtui.demo import world

    return world.is_world(_home(services))


class Tour(Dialog[str]):
    """A step of the tour. The answer is DO, NEXT, or UNDO to do the last step at once; None to leave."""

    has_help = False
    DEFAULT_CSS = """
    Tour { align: center bottom; background: transparent; }
    Tour:ansi { background: transparent; }
    """
    across: ClassVar[int] = 80
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "leave"),
        Binding("enter,space", "dismiss('next')", "next"),
    ]

    def __init__(self, at: int, words: str, *, can_do: bool, can_undo: bool) -> None:
        super().__init__()
        self.at, self.step, self.words, self.can_do = at, STEPS[at], words, can_do
        self.can_undo = can_undo
        self.heading = f"{self.step.title} · {at + 1} of {len(STEPS)}"

    def body(self) -> ComposeResult:
        yield Static(Text(self.words))
        if self.can_do:
            yield Static(Text(f"Press {self._key} to {self.step.does}.", style="bold"))
        elif self.step.real and self.words == self.step.words:
            yield Static(Text(self.step.real))

    @property
    def _key(self) -> str:
        return actions.key_of(APPROVE if self.step.action == START else self.step.action)

    def keys(self) -> Keys:
        does = [(self._key, self.step.does.partition(" ")[0])] * self.can_do
        ends = self.at == len(STEPS) - 1
        enter = "end the tour" if ends else "skip this step" if self.can_do else "next"
        moves = [("j k", "another draft")] * self.moves
        undo = [(actions.key_of(UNDO), "undo")] * self.can_undo
        return (*does, *undo, ("enter", enter), *moves, ("escape", "leave the tour"))

    @property
    def moves(self) -> bool:
        """Whether the cursor of the list can be moved: to the draft that is to be approved."""
        return self.can_do and self.step.action == APPROVE

    def on_key(self, event: events.Key) -> None:
        if self.can_do and event.character == self._key:
            event.stop()
            self.dismiss(DO)
        elif self.can_undo and event.character == actions.key_of(UNDO):
            event.stop()
            self.dismiss(UNDO)
        elif self.moves and event.key in MOVES:
            screen: Any = self.app.screen_stack[0]
            screen.table.action_move(MOVES[event.key])

    def on_mount(self) -> None:
        self.set_interval(DRAW_SECONDS, self.refresh)
        self.below: Any = self.app.screen_stack[0]
        self.call_after_refresh(self._make_room)

    def _make_room(self) -> None:
        """Let the screen below end above the box: what the step is about can be read."""
        self.below.query_one("#panes").styles.margin = (0, 0, self.box.outer_size.height, 0)

    def on_unmount(self) -> None:
        self.below.query_one("#panes").styles.margin = 0
