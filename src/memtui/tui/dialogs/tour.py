"""The tour: three things that one does over the real screen: approve a draft, see it arrive, undo it."""

import asyncio
import os
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static
from textual.worker import Worker

from memtui import keymap
from memtui.tui.dialogs.dialog import Dialog, Keys
from memtui.tui.files import COMMAND
from memtui.tui.services import UNDO_GROUP, Services, services_of

# The screen below may still be reading its files: it is drawn again so often, in seconds.
DRAW_SECONDS = 0.25
# The answers of a step are its action, that of the last step, or this.
NEXT = "next"
APPROVE, UNDO = "inbox.approve", "app.undo"
# The action of a step that is none of the table: a session starts in the sample world.
START = "start"
# The keys that move the cursor of the list below, and how many rows.
MOVES = {"j": 1, "down": 1, "k": -1, "up": -1}
UNDONE = "Undone"
NO_DRAFT = "This row is no draft: j and k move to one."
NOT_APPROVED = "Step 3 undoes what you approved, and you approved nothing. "
LAST_WORDS = "{app.help} lists the keys of a screen, {app.quit} quits."
LEFT = "You ended the tour, not memtui: {app.palette} has it again. "
OTHER_KEY = "This key does nothing in the tour: the last line names those that do."


class TourStep(NamedTuple):
    """A step of the tour; `{…}` in its words is the key of an action."""

    screen: str  # that is shown
    title: str
    words: str
    action: str  # that is done
    does: str  # what its key does
    real: str = ""  # what to do in a world that is no sample, where no session can be started
    seen: str = ""  # what one sees then, if the step stays
    new: str = ""  # is added to it if a draft was approved


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


async def show(services: Services) -> None:
    """Lead through the steps, and leave the person on the screen of the last one that was shown."""
    approved, undone = "", False  # the id of the draft's row, and whether it waits again
    for at, step in enumerate(STEPS):
        if step.action == UNDO and not approved:
            break
        screen = services.go(step.screen)
        if step.action == APPROVE:
            screen.wanted = lambda rows: next((at for at, row in enumerate(rows) if row.kind.singular == "draft"), None)
            screen.fill()
        can_do = not services.read_only and (services.data.is_sample or not step.real)
        words, hint = step.words, "" if can_do else step.real
        answer: str | None = ""
        while answer != NEXT:
            is_last = at == len(STEPS) - 1 or (STEPS[at + 1].action == UNDO and not approved)
            answer = await services.ask(Tour(at, screen, words, hint, can_do=can_do, is_last=is_last))
            if answer is None:
                services.say(keymap.keyed(LEFT + LAST_WORDS))
                return
            if answer == APPROVE:
                approved = await _approve(services, screen)
                answer = NEXT if approved else ""
            elif answer == START:
                await _start_session(services, screen)
                words, can_do = step.seen.replace("{new}", step.new if approved else ""), False
            elif answer == UNDO:
                undone, answer = await _undo(services), NEXT
    words = "" if approved else NOT_APPROVED
    if undone:
        words = f"{UNDONE}: the memory is gone, and the draft waits here again.\n"
        inbox = services.go("inbox")
        inbox.wanted = lambda rows: inbox.table.index_of(approved, rows)
        inbox.fill()
    services.say(keymap.keyed(f"{words}That was all. {LAST_WORDS}"))


async def _approve(services: Services, screen: Any) -> str:
    """Approve the draft under the cursor. Return the id of its row; empty if it still waits."""
    row, others = screen.table.row_id, set(screen.workers)
    services.action_run(APPROVE)
    await _settle(worker for worker in screen.workers if worker.group == COMMAND and worker not in others)
    return row if screen.table.index_of(row) is None else ""


async def _start_session(services: Services, screen: Any) -> None:
    from memtui.demo import sessions

    data = services.data
    world = os.path.dirname(data.env["HOME"])
    session = await asyncio.to_thread(sessions.start, world, data.project_root, data.now())
    screen.listing.fold(session, unfold=True)
    screen.wanted = lambda rows: screen.table.index_of(f"session {session}", rows)
    screen.reload()  # a note that the session took waits no longer


async def _undo(services: Services) -> bool:
    services.action_run(UNDO)
    await _settle(worker for worker in services.workers if worker.group == UNDO_GROUP)
    return services.last_note.startswith(UNDONE)


async def _settle(workers: Iterable[Worker[Any]]) -> None:
    await asyncio.gather(*(worker.wait() for worker in list(workers) if not worker.is_finished))


class Tour(Dialog[str]):
    """A step of the tour, with a `hint` for what can't be done. The answer: an action, NEXT, or None to end it."""

    has_help = False
    DEFAULT_CSS = """
    Tour { align: center bottom; background: transparent; }
    Tour:ansi { background: transparent; }
    """
    across = 80
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "end", "end the tour"),
        Binding("enter,space", "dismiss('next')", "next"),
    ]

    def __init__(self, at: int, below: Any, words: str, hint: str, *, can_do: bool, is_last: bool) -> None:
        super().__init__()
        self.step, self.below, self.words, self.hint = STEPS[at], below, words, hint
        self.may_do, self.is_last, self.lists_drafts = can_do, is_last, self.step.action == APPROVE
        self.heading = f"{self.step.title} · {at + 1} of {len(STEPS)}"
        self.lowest, self.line = Static(), Text("…")

    def body(self) -> ComposeResult:
        yield Static(Text(self.words))
        yield self.lowest

    @property
    def can_do(self) -> bool:
        """Whether the action of the step can be done now."""
        return self.may_do and not (self.lists_drafts and self._without_draft())

    def _without_draft(self) -> str:
        """Say that the Inbox lists no draft; return nothing while it is read."""
        lists_one = any(row.kind.singular == "draft" and row.until is None for row in self.below.all_rows)
        return "" if lists_one or self.below.table.empty.endswith("…") else "No draft waits yet."

    @property
    def _key(self) -> str:
        return keymap.key_of(APPROVE if self.step.action == START else self.step.action)

    def keys(self) -> Keys:
        does = [(self._key, self.step.does.partition(" ")[0])] * self.can_do
        go_on = [("enter", "skip this step" if self.can_do else "next")] * (not self.is_last)
        moves = [("j k", "another draft")] * (self.lists_drafts and self.can_do)
        return (*does, *go_on, *moves, ("escape", "end the tour"))

    def action_end(self) -> None:
        self.dismiss(NEXT if self.is_last else None)

    def on_key(self, event: events.Key) -> None:
        if self.can_do and event.character == self._key:
            event.stop()
            row = self.below.table.row
            if self.lists_drafts and (row is None or row.kind.singular != "draft"):
                services_of(self).warn(NO_DRAFT)
            else:
                self.dismiss(self.step.action)
        elif self.lists_drafts and self.can_do and event.key in MOVES:
            self.below.table.action_move(MOVES[event.key])
        elif event.is_printable and event.character not in {"q", " ", "?"}:
            services_of(self).warn(OTHER_KEY)

    def on_mount(self) -> None:
        self.draw()
        self.set_interval(DRAW_SECONDS, self.draw)

    def draw(self) -> None:
        """Draw the screen below, and what can be done on it now."""
        self.refresh()
        words = self.hint or (self._without_draft() if self.lists_drafts else "")
        line = Text(f"Press {self._key} to {self.step.does}.", "bold") if self.can_do else Text(words)
        if line != self.line:
            self.line = line
            self.lowest.update(line)
            self.lowest.display = bool(line)
            self.name_keys()
            self.call_after_refresh(self._make_room)

    def _make_room(self) -> None:
        """Let the screen below end above the box: what the step is about can be read."""
        self.below.query_one("#panes").styles.margin = (0, 0, self.box.outer_size.height, 0)

    def on_unmount(self) -> None:
        self.below.query_one("#panes").styles.margin = 0
