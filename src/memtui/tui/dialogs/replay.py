"""The dialog that shows which of the last prompts would recall a memory as it is typed in a form, before saving."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Static

from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import age, share
from memtui.core.base.storage import file_error
from memtui.present import recall as present
from memtui.present import safe_text
from memtui.recall.replaying import ReplayedPrompt, StoreChange
from memtui.recalling import Recalling
from memtui.tui.dialogs.dialog import Dialog, Keys
from memtui.tui.widgets.rows import Column, RowList

if TYPE_CHECKING:
    from memtui.tui.services import Services

# Prompts that are replayed.
PROMPTS = 50
NONE = "None of these prompts would get it. {} lists them all."
NOT_HERE = "No prompt in this project recalls memories of {}."
NO_PROMPTS = "No prompt that you typed in this project is in a transcript on this machine."


@dataclass
class Replayed(Message):
    """The prompts were replayed; `problem`: why they could not be."""

    found: list[ReplayedPrompt]
    problem: str = ""


class ReplayDialog(Dialog[None]):
    """The dialog. It changes nothing, and the form below it keeps what is typed. `changes`: what saving would do to the
    memory; one that gets another name is gone under its old one."""

    DEFAULT_CSS = "ReplayDialog .about { max-height: 8; margin-top: 1; color: $text-muted; }"
    high: ClassVar[bool] = True
    heading = "Which last prompts would recall it, as typed"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "back"),
        Binding("exclamation_mark", "every", "all prompts"),
    ]

    def __init__(self, services: "Services", changes: Sequence[StoreChange]) -> None:
        super().__init__()
        self.services, self.changes = services, changes
        self.paths = [each.path for each in changes]
        self.found: list[ReplayedPrompt] | None = None
        self.every = False

    def body(self) -> ComposeResult:
        """Compose the prompts, and what is said about the one under the cursor."""
        yield Static(id="sums")
        yield RowList[ReplayedPrompt](
            [Column("", 1), Column("age", 4, right=True), Column("prompt"), Column("likely", 6, right=True)],
            self._draw,
            lambda each: f"{each.prompt.session} {each.prompt.time} {each.prompt.text}",
            id="prompts",
        )
        yield Static(classes="about")

    def keys(self) -> Keys:
        """Return the keys of the dialog."""
        return (("escape", "back"), ("!", "only those that get it" if self.every else "all prompts"))

    def on_mount(self) -> None:
        """Replay the prompts in a worker."""
        self.table.focus()
        self._tell()
        self._replay()

    @property
    def table(self) -> RowList[ReplayedPrompt]:
        """The list of prompts."""
        return self.query_one("#prompts", RowList)

    @work(thread=True, exclusive=True)
    def _replay(self) -> None:
        recalling = Recalling(self.services.data, writes=not self.services.read_only)
        if self.changes[-1].directory not in {directory for _, directory in recalling.places()}:
            self.post_message(Replayed([], NOT_HERE.format(self.changes[-1].scope)))
            return
        try:
            recalling.bring_up_to_date()
            prompts = recalling.prompts(PROMPTS)
            self.post_message(Replayed(recalling.replay(prompts, self.changes, lambda _: self.is_attached)))
        except (OSError, MemtuiError) as error:
            problem = error.message if isinstance(error, MemtuiError) else file_error(error).message
            self.post_message(Replayed([], problem))

    def on_replayed(self, message: Replayed) -> None:
        """Show the prompts that get the memory, or no longer do."""
        self.found = message.found
        self.table.empty = message.problem or (NONE.format("!") if message.found else NO_PROMPTS)
        self._fill()

    def _fill(self) -> None:
        found = self.found or []
        self.table.show(found if self.every else [each for each in found if present.mark_of(each, self.paths)])
        self._tell()
        self.describe()
        self.name_keys()

    def _tell(self) -> None:
        words = "looking …" if self.found is None else present.sums_of(self.found, self.paths) if self.found else ""
        self.query_one("#sums", Static).update(Text(words, style="dim"))

    def _draw(self, each: ReplayedPrompt) -> list[Text]:
        mark, style = present.mark_of(each, self.paths) or (" ", "dim")
        memory = next((side[path] for side in (each.changed, each.now) for path in self.paths if path in side), None)
        likely = "" if memory is None or memory.probability is None else share(memory.probability)
        return [
            Text(mark, style=style),
            Text(age(each.prompt.time or None, self.services.data.now()), style="dim"),
            Text(safe_text.line(each.prompt.text, 300), style="" if mark.strip() else "dim"),
            Text(likely, style="dim"),
        ]

    @on(RowList.Moved, "#prompts")
    def describe(self) -> None:
        """Say which memories the prompt under the cursor would get."""
        row = self.table.row
        text = Text()
        if row is not None:
            text.append(safe_text.line(row.prompt.text, 400) + "\n")
            for mark, style, words in present.replayed(row, changed=True):
                text.append(f"{mark} ", style=style).append(safe_text.line(words, 200) + "\n")
            if not row.changed and not row.now:
                text.append(present.got_nothing(row), style="dim")
        self.query_one(".about", Static).update(text)

    def action_every(self) -> None:
        """List all prompts, or only those that get it or no longer do."""
        self.every = not self.every
        self._fill()
