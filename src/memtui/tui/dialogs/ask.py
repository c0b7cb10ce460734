"""Small questions over the screen: a line of text, a choice, a yes or no that can't be undone."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static

from memtui.core.base.errors import UsageError
from memtui.present import safe_text
from memtui.tui.dialogs.dialog import CHOICE, Dialog, Keys
from memtui.tui.model import fuzzy
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.field import Field
from memtui.tui.widgets.rows import Column, RowList

# Cells of the box that are not the list's: its padding, and the mark and the blanks of a row.
AROUND = 8
# Rows of the screen that are not the list's: the question, the line that narrows, the padding, the keys.
OVER = 7
# Cells of a box: of a small one, of one that a long question alone makes wide, of one with an `about`.
LEAST, MOST, ABOUT_WIDTH = 40, 80, 110
# A list with an `about` leaves so much of the height to it.
SHARE = 0.4
# Printable keys that move or leave as long as nothing is typed; after / they are letters as others.
KEPT = {"j", "k", "q", "space", "slash", "less_than_sign", "greater_than_sign"}


class Line(Dialog[str]):
    """Ask for a line of text; None if the person thought better of it. `about` and `below` say more of it. What `check`
    raises UsageError for is told while it is typed, and not taken."""

    DEFAULT_CSS = """
    Line > Vertical { height: auto; padding: 1 2; background: $panel; }
    Line Static { width: 1fr; }
    Line Field { margin-top: 1; }
    Line #wrong { margin-top: 1; }
    """
    across: ClassVar[int] = 72
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "cancel")]

    def __init__(
        self,
        question: str,
        value: str = "",
        *,
        about: str = "",
        below: str = "",
        check: Callable[[str], object] | None = None,
    ) -> None:
        super().__init__()
        self.question, self.value, self.about, self.below, self.check = question, value, about, below, check

    def body(self) -> ComposeResult:
        """A question, a line, what is wrong with it."""
        with Vertical():
            yield Static(safe_text.styled(self.question, "bold"))
            if self.about:
                yield Static(safe_text.styled(self.about))
            yield Field(self.value)
            if self.check is not None:
                yield Static(id="wrong")
            if self.below:
                yield Static(safe_text.styled(self.below, "dim"))

    def keys(self) -> Keys:
        """Enter and escape."""
        return (("enter", "accept"), ("escape", "cancel"))

    @on(Input.Changed)
    def look(self, event: Input.Changed) -> None:
        """Say what is wrong."""
        if self.check is not None:
            self.query_one("#wrong", Static).update(Text().append(self._why_not(event.value), style="yellow"))

    def _why_not(self, typed: str) -> str:
        try:
            if self.check is not None:
                self.check(typed.strip())
        except UsageError as error:
            return f"! {error.message}"
        return ""

    @on(Input.Submitted)
    def answer(self, event: Input.Submitted) -> None:
        """Enter accepts."""
        if not self._why_not(event.value):
            self.dismiss(event.value)


class Options(RowList[tuple[int, str]]):
    """The entries of a choice, a row each; a click takes one. `typed` is highlighted."""

    DEFAULT_CSS = "Options { background: $panel; }"
    typed = ""

    def __init__(self) -> None:
        super().__init__([Column("")], self._words, lambda row: str(row[0]), header=False)

    def _words(self, row: tuple[int, str]) -> list[Text]:
        text = Text(safe_text.line(row[1]))
        fuzzy.mark([text], self.typed)
        return [text]

    def on_click(self, event: events.Click) -> None:
        """Take what is clicked."""
        event.prevent_default()
        at = event.y + int(self.scroll_offset.y)
        if 0 <= at < len(self.rows):
            self.move_to(at)
            self.action_open()


class Choice(Dialog[str | None]):
    """Ask for one of some (value, words); None if the person thought better of it. Typing narrows the list. `about`
    says more of the entry under the cursor, below the list."""

    DEFAULT_CSS = """
    Choice > Vertical { height: auto; padding: 1 2; background: $panel; }
    Choice Static { width: 1fr; }
    Choice Field { display: none; margin-top: 1; }
    Choice Field.shown { display: block; }
    Choice Options { margin-top: 1; }
    Choice Detail { height: 1fr; margin-top: 1; border-top: solid $panel-lighten-2; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "cancel"),
        Binding("q", "dismiss(None)", "cancel"),
        Binding("slash", "narrow", "narrow"),
    ]

    def __init__(
        self,
        question: str,
        options: Sequence[tuple[str, str]],
        current: str = "",
        *,
        about: Callable[[str], Text] | None = None,
        narrows: bool = True,
    ) -> None:
        super().__init__()
        self.narrows = narrows
        self.question, self.current, self.about = question, current, about
        self.values = [value for value, _ in options]
        self.rows = [(at, words) for at, (_, words) in enumerate(options)]
        self.texts = fuzzy.Haystack(self.rows, lambda row: row[1])

    def body(self) -> ComposeResult:
        """A question, the line that narrows once something is typed, the options."""
        with Vertical():
            yield Static(safe_text.styled(self.question, "bold"))
            yield Field(placeholder="narrow the list")
            yield Options()
            if self.about is not None:
                yield Detail()

    def keys(self) -> Keys:
        """What works here."""
        if not self.narrows:
            return CHOICE[:2]
        if self.query_one(Field).has_class("shown"):
            return (("enter", "take"), ("escape", "all again"), ("↓ ↑", "move"))
        return CHOICE

    @property
    def table(self) -> Options:
        """The entries."""
        return self.query_one(Options)

    def on_mount(self) -> None:
        """Stand on the current one."""
        self.table.empty = "No matches. escape shows all again."
        self.query_one(Field).select_on_focus = False
        self.table.show(self.rows)
        self.table.move_to(self.values.index(self.current) if self.current in self.values else 0)
        self.table.focus()
        self._tell()

    def on_resize(self) -> None:
        """As high as there are entries, within the screen."""
        room = max(3, self.size.height - OVER)
        if self.about is not None:
            self.query_one(Vertical).styles.height = "94%"
            room = max(3, int(room * SHARE))
        self.table.styles.height = min(len(self.rows), room)

    def wanted(self) -> int:
        """As wide as the longest entry."""
        words = max((cell_len(text) for _, text in self.rows), default=0)
        wanted = max(words + AROUND, min(cell_len(self.question) + AROUND, MOST), LEAST)
        return wanted if self.about is None else max(wanted, ABOUT_WIDTH)

    # narrowing

    def action_narrow(self, letter: str = "") -> None:
        """Open the line; what is typed in the list goes into it."""
        if not self.narrows:
            return
        field = self.query_one(Field)
        field.add_class("shown")
        field.focus()
        field.insert_text_at_cursor(letter)
        self.name_keys()

    def on_key(self, event: events.Key) -> None:
        """Letters narrow, arrows move while they do."""
        field = self.query_one(Field)
        if not field.has_focus:
            if event.is_printable and event.character and event.key not in KEPT and self.narrows:
                event.stop()
                self.action_narrow(event.character)
        elif event.key in {"up", "down"}:
            event.stop()
            self.table.action_move(1 if event.key == "down" else -1)
        elif event.key in {"pageup", "pagedown"}:
            event.stop()
            self.table.action_page(1 if event.key == "pagedown" else -1)

    @on(Input.Changed)
    def _narrow(self, event: Input.Changed) -> None:
        self.table.typed = event.value
        self.table.show(self.texts.select(event.value))
        self.table.move_to(0)
        self.table.redraw()
        self._tell()

    def action_leave(self) -> None:
        """Show everything again; if that is so, leave."""
        field = self.query_one(Field)
        if field.has_focus:
            field.value = ""
            field.remove_class("shown")
            self.table.focus()
            self.name_keys()
        else:
            self.dismiss(None)

    @on(RowList.Moved)
    def _tell(self) -> None:
        if self.about is not None:
            row = self.table.row
            value = self.values[row[0]] if row else ""
            self.query_one(Detail).show(value, self.about(value) if row else Text(""))

    # answering

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self.table.action_open()

    @on(RowList.Opened)
    def answer(self, event: RowList.Opened) -> None:
        """Enter takes."""
        self.dismiss(self.values[int(event.row_id)])


def sure(question: str, yes: str) -> Choice:
    """Ask before something that can't be undone; cancel is in focus. The answer is empty, or None, for no."""
    return Choice(question, [("", "Cancel"), ("yes", yes)], narrows=False)
