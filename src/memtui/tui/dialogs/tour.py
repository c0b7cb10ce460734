"""The tour: a few steps, each in a box over the real screen that it describes. It changes and remembers nothing."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from memtui import actions
from memtui.tui.dialogs.dialog import Dialog, Keys

if TYPE_CHECKING:
    from memtui.tui.services import Services

# The screen below may still be reading its files: it is drawn again so often, in seconds.
DRAW_SECONDS = 0.25


class TourStep(NamedTuple):
    """A step: the `screen` to show, a `title`, what to know, and the key to press there. `{…}` is the key of an
    action."""

    screen: str
    title: str
    words: str
    key: str


STEPS: Sequence[TourStep] = (
    TourStep(
        "memories",
        "Memories: what Claude Code remembers",
        "Each has a scope: all projects (global), one project, or Claude Code's own memory (auto). A"
        " letter under ! says that something is wrong with it.",
        "enter reads a memory, {memories.edit} edits it, {memories.new} creates a new one.",
    ),
    TourStep(
        "inbox",
        "Inbox: what waits for your decision",
        "When you correct Claude (“no, use pnpm”), a draft is saved here with the words that led to it. It becomes a"
        " memory only if you approve it.",
        "{inbox.approve} approves the draft under the cursor, {inbox.reject} rejects it.",
    ),
    TourStep(
        "activity",
        "Activity: what sessions get",
        "Notes that wait stand on top, then the sessions with each text that a hook gave them, and whether it arrived."
        " A note is delivered once; what did not arrive comes back.",
        "{app.note} writes a note, from any screen; enter unfolds a session, and shows a text and why it was chosen.",
    ),
    TourStep(
        "setup",
        "Setup: does everything work?",
        "The hooks, every problem with its fix, and all settings.",
        "{setup.accept} fixes the problem under the cursor; on the hooks it installs them.",
    ),
    TourStep(
        "consolidate",
        "Consolidate: fewer, truer memories",
        "Memories pile up, overlap and go stale. What can be merged, fixed or removed is proposed here, with every"
        " statement that would be lost.",
        "{consolidate.accept} makes the change, {consolidate.reject} drops it for good.",
    ),
    TourStep(
        "memories",
        "Recall: what would a prompt bring?",
        "Before each prompt the few memories that will help with it are delivered. Here you see which, for any prompt,"
        " what is left out, and why.",
        "{memories.recall} in Memories types a prompt; there, {memories.retype} adds words to find a memory by.",
    ),
    TourStep(
        "memories",
        "Undo: change your mind",
        "What you change here can be undone, also tomorrow. A trashed memory can be restored; one that you delete for"
        " good can't.",
        "{app.undo} undoes, {app.redo} redoes, {app.changes} lists all changes.",
    ),
    TourStep(
        "memories",
        "Find your way",
        "memtui follows what your sessions do: keep it open beside them.",
        "{app.help} lists all keys of a screen, {app.palette} finds an action by name, {app.quit} quits.",
    ),
)


async def show(services: "Services") -> None:
    """Lead through the steps, and leave the person on the screen of the last one that was shown."""
    at: int | None = 0
    while at is not None and at < len(STEPS):
        services.go(STEPS[at].screen)
        at = await services.ask(Tour(at))


class Tour(Dialog[int]):
    """A step of the tour. The answer is the number of the step to show next, None to leave."""

    DEFAULT_CSS = """
    Tour { align: center bottom; background: transparent; }
    Tour:ansi { background: transparent; }
    Tour > Vertical { height: auto; padding: 0 2; background: $panel; border-top: solid $accent; }
    Tour Static { width: 1fr; height: auto; }
    """
    across: ClassVar[int] = 80
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "leave"),
        Binding("n,enter,space,right,j,down", "go(1)", "next"),
        Binding("p,left,k,up", "go(-1)", "back"),
    ]

    def __init__(self, at: int) -> None:
        super().__init__()
        self.at = at

    def body(self) -> ComposeResult:
        """Compose the words of the step."""
        step = STEPS[self.at]
        with Vertical():
            yield Static(
                Text(step.title, style="bold").append(f"  {self.at + 1} of {len(STEPS)}", style="not bold dim")
            )
            yield Static(Text(step.words))
            yield Static(Text(f"After the tour: {actions.keyed(step.key)}"))

    def keys(self) -> Keys:
        """Return the keys."""
        last = self.at == len(STEPS) - 1
        return (("n", "end the tour" if last else "next"), ("p", "back"), ("escape", "leave the tour"))

    def on_mount(self) -> None:
        """Show the screen below as it fills."""
        self.set_interval(DRAW_SECONDS, self.refresh)

    def action_go(self, by: int) -> None:
        """Answer with the step after (1) or before (-1) this one."""
        self.dismiss(max(0, self.at + by))
