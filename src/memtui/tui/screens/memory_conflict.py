"""A save over a file that changed since it was opened: both are shown, and the person decides."""

import difflib
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static

from memtui.core.memory import Memory
from memtui.tui import safe
from memtui.tui.widgets.ask import Options
from memtui.tui.widgets.dialog import Dialog, Keys
from memtui.tui.widgets.rows import RowList

BACK, MINE, THEIRS = "", "mine", "theirs"
WORDS = (
    (BACK, "Save nothing now; keep mine as a draft"),
    (MINE, "Save mine over it (z brings the other back)"),
    (THEIRS, "Keep what is on the disk, drop mine"),
)
LINES = 2000


def difference(theirs: bytes, mine: bytes) -> Text:
    """What is on the disk and what was typed, `-` and `+` before the lines that only one of them has."""
    old, new = (data.decode("utf-8", "replace").splitlines()[:LINES] for data in (theirs, mine))
    text = Text()
    for line in difflib.ndiff(old, new):
        if line.startswith("?"):
            continue
        style = {"-": "red", "+": "green"}.get(line[0], "dim")
        text.append(f"{line[0]} {safe.line(line[2:], 1000)}\n", style)
    return text


class Conflict(Dialog[str]):
    """Answers `mine`, `theirs`, or nothing: then the draft stays."""

    DEFAULT_CSS = """
    Conflict > Vertical { width: 110; max-width: 98%; height: 96%; padding: 1 2; background: $panel; }
    Conflict Static { width: 1fr; height: auto; }
    Conflict VerticalScroll { height: 1fr; margin: 1 0; scrollbar-size-vertical: 1; }
    Conflict Options { height: 3; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss('')", "keep as a draft"),
    ]

    def __init__(self, theirs: Memory, mine: bytes) -> None:
        super().__init__()
        self.theirs, self.mine = theirs, mine

    def body(self) -> ComposeResult:
        """Both, and the three ways on."""
        with Vertical():
            yield Static(safe.styled(f"{self.theirs.stem} was changed by somebody else meanwhile.", "bold"))
            yield Static(Text("- is on the disk now   + is yours", style="dim"))
            with VerticalScroll():
                yield Static(difference(self.theirs.raw, self.mine))
            yield Options()

    def keys(self) -> Keys:
        """The ways on."""
        return (("enter", "choose"), ("escape", "keep mine as a draft"), ("j k", "move"))

    def on_mount(self) -> None:
        """Nothing happens unless it is chosen."""
        self.query_one(Options).show([(at, words) for at, (_, words) in enumerate(WORDS)])
        self.query_one(Options).focus()

    @on(RowList.Opened)
    def answer(self, event: RowList.Opened) -> None:
        """Enter takes."""
        self.dismiss(WORDS[int(event.row_id)][0])
