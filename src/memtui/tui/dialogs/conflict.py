"""The dialog for saving over a file that somebody else has changed: it shows both versions, and the person decides."""

from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from memtui import actions
from memtui.present import safe_text
from memtui.tui.dialogs.ask import Options
from memtui.tui.dialogs.dialog import Dialog, Keys
from memtui.tui.model import line_diff
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.rows import RowList

BACK, MINE, THEIRS = "", "mine", "theirs"
WORDS = (
    (BACK, "Save nothing now; keep mine unsaved"),
    (MINE, "Save mine over it ({app.undo} brings the other back)"),
    (THEIRS, "Keep what is on the disk, drop mine"),
)


def difference(theirs: bytes, mine: bytes, whose: tuple[str, str] = ("the disk", "yours")) -> Text:
    """Draw the lines of two versions, with `-` and `+` before those that only one has. `whose` names the versions."""
    old, new = (data.decode("utf-8", "replace").replace("\r\n", "\n").rstrip("\n") for data in (theirs, mine))
    return line_diff.drawn(old, new, whose)


class Conflict(Dialog[str]):
    """The dialog. The answer is `MINE`, `THEIRS`, or `BACK` (None if it was closed): then nothing is saved, and what
    was typed is kept. `name` is what the question calls the file."""

    DEFAULT_CSS = """
    Conflict > Vertical { height: 96%; padding: 1 2; background: $panel; }
    Conflict.filled > Vertical { height: 100%; }
    Conflict Static { width: 1fr; height: auto; }
    Conflict Detail { height: 1fr; margin: 1 0; }
    Conflict Options { height: 3; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss('')", "keep mine unsaved"),
    ]

    def __init__(self, name: str, theirs: bytes, mine: bytes) -> None:
        super().__init__()
        self.about, self.theirs, self.mine = name, theirs, mine

    def body(self) -> ComposeResult:
        """Compose the difference and the three options."""
        with Vertical():
            yield Static(safe_text.styled(f"{self.about} was changed by somebody else meanwhile.", "bold"))
            yield Static(Text("- is on the disk now   + is yours", style="dim"))
            yield Detail()
            yield Options()

    def keys(self) -> Keys:
        """Return the keys."""
        return (("enter", "choose"), ("escape", "keep mine unsaved"), ("j k", "move"))

    def on_mount(self) -> None:
        """Show both versions, with the cursor on the option that saves nothing."""
        self.query_one(Detail).show("", difference(self.theirs, self.mine))
        self.query_one(Options).show([(at, actions.keyed(words)) for at, (_, words) in enumerate(WORDS)])
        self.query_one(Options).focus()

    @on(RowList.Opened)
    def answer(self, event: RowList.Opened) -> None:
        """Answer with the option that was opened."""
        self.dismiss(WORDS[int(event.row_id)][0])
