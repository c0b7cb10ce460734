"""Small dialogs: a line of text, a choice, and the questions that several screens ask."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input, Static

from memtui import actions
from memtui.core.base.errors import UsageError
from memtui.core.base.phrasing import ago
from memtui.present import safe_text
from memtui.tui.dialogs.dialog import Dialog, Keys
from memtui.tui.model import fuzzy, line_diff
from memtui.tui.model.autosave import Autosave
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.field import Field
from memtui.tui.widgets.rows import Column, RowList

BACK, MINE, THEIRS, PROPOSED = "", "mine", "theirs", "proposed"
CONFLICT = (
    (BACK, "Save nothing now; keep mine unsaved"),
    (MINE, "Save mine over it ({app.undo} brings the other back)"),
    (THEIRS, "Keep what is on the disk, drop mine"),
)
UNSAVED = (
    (MINE, "My text: go on with it in the form"),
    (PROPOSED, "The text as it was proposed; mine comes back if I undo that"),
)
# Columns of the box beside the words of its list: its padding, and the mark and the blanks of a row.
AROUND = 8
# Lines of the screen above and below the list: the question, the filter line, the padding, the keys.
OVER = 7
# The width of a box in columns: the least, the most that a long question alone takes, and that with an `about`.
LEAST, MOST, ABOUT_WIDTH = 40, 80, 110
# The part of the height that a list with an `about` takes.
SHARE = 0.4
# Printable keys that move or leave while the filter line is closed.
KEPT = {"j", "k", "q", "space", "slash", "question_mark"}


class Line(Dialog[str]):
    """A question answered by a line of text; the answer is None if the person left. `about` and `below` are texts above
    and below the line. `check` raises UsageError for text that is not accepted; its message is shown while typing."""

    DEFAULT_CSS = "Line #wrong, Line #below { margin-top: 1; }"
    across: ClassVar[int] = 72
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "back")]

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
        self.heading, self.lead, self.value, self.below, self.check = question, about, value, below, check

    def body(self) -> ComposeResult:
        """Compose the line, and the place for what is wrong with it."""
        yield Field(self.value)
        if self.check is not None:
            yield Static(id="wrong")
        if self.below:
            yield Static(safe_text.styled(self.below, "dim"), id="below")

    def keys(self) -> Keys:
        """Return the keys."""
        return (("enter", "accept"), ("escape", "back"))

    @on(Input.Changed)
    def show_problem(self, event: Input.Changed) -> None:
        """Show what is wrong with the line."""
        if self.check is not None:
            self.query_one("#wrong", Static).update(Text().append(self._problem(event.value), style="yellow"))

    def _problem(self, typed: str) -> str:
        try:
            if self.check is not None:
                self.check(typed.strip())
        except UsageError as error:
            return f"! {error.message}"
        return ""

    @on(Input.Submitted)
    def answer(self, event: Input.Submitted) -> None:
        """Answer with the line, if nothing is wrong with it."""
        if not self._problem(event.value):
            self.dismiss(event.value)


class Options(RowList[tuple[int, str]]):
    """The list of a choice: rows of (number, words). A click chooses one; matches of `typed` are highlighted."""

    typed = ""
    narrowing = False  # whether the filter line is open: j and k are letters then

    def __init__(self) -> None:
        super().__init__([Column("")], self._words, lambda row: str(row[0]), header=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave g to the filter line, and j and k, typed in one burst with the letter that opened it, too."""
        taken = action == "top" or (action == "move" and self.narrowing)
        return False if taken else super().check_action(action, parameters)

    def _words(self, row: tuple[int, str]) -> list[Text]:
        text = Text(safe_text.line(row[1]))
        fuzzy.mark([text], self.typed)
        return [text]

    def on_click(self, event: events.Click) -> None:
        """Choose the row that is clicked."""
        event.prevent_default()
        at = event.y + int(self.scroll_offset.y)
        if 0 <= at < len(self.rows):
            self.move_to(at)
            self.action_open()


class Choice(Dialog[str | None]):
    """A question answered by one of `options`, pairs of (value, words); the answer is None if the person left. Typing
    narrows the list if `narrows`. `about(value)` is the text below the list for the option under the cursor, `below` a
    text that is the same for all options, `lead` one above them, `marks` words for the help, `verb` the word for enter.
    """

    DEFAULT_CSS = """
    Choice.about > Vertical { height: 94%; }
    Choice.about.filled > Vertical { height: 100%; }
    Choice Field { display: none; margin-bottom: 1; }
    Choice Field.shown { display: block; }
    Choice #below { margin-top: 1; }
    Choice Detail { height: 1fr; margin-top: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back"),
        Binding("q", "dismiss(None)", "back"),
        Binding("slash", "narrow", "narrow"),
    ]

    def __init__(
        self,
        question: str,
        options: Sequence[tuple[str, str]],
        current: str = "",
        *,
        about: Callable[[str], Text] | None = None,
        lead: str = "",
        below: str = "",
        marks: str = "",
        verb: str = "choose",
        narrows: bool = True,
    ) -> None:
        super().__init__()
        self.heading, self.lead, self.marks = question, lead, marks
        self.narrows, self.below, self.verb, self.current, self.about = narrows, below, verb, current, about
        self.values = [value for value, _ in options]
        self.rows = [(at, words) for at, (_, words) in enumerate(options)]
        self.haystack = fuzzy.Haystack(self.rows, lambda row: row[1])

    def body(self) -> ComposeResult:
        """Compose the filter line, the options, and the place for `about`."""
        yield Field(placeholder="narrow the list")
        yield Options()
        if self.about is not None:
            yield Detail()
        if self.below:
            yield Static(safe_text.styled(self.below, "dim"), id="below")

    def keys(self) -> Keys:
        """Return the keys that work: others while the filter line is open."""
        if self.query_one(Field).has_class("shown"):
            return (("enter", self.verb), ("escape", "all again"), ("↓ ↑", "move"))
        typing = [("type", "to narrow")] * self.narrows
        read = [("tab", "read on")] * (self.about is not None)
        return (("enter", self.verb), ("escape", "back"), *typing, *read, ("↓ ↑", "move"), ("home end", "first, last"))

    @property
    def table(self) -> Options:
        """Return the list."""
        return self.query_one(Options)

    def on_mount(self) -> None:
        """Show the options, with the cursor on the current one."""
        self.table.empty = "No matches. escape shows all again."
        self.set_class(self.about is not None, "about")
        self.query_one(Field).select_on_focus = False
        self.table.show(self.rows)
        self.table.move_to(self.values.index(self.current) if self.current in self.values else 0)
        self.table.focus()
        self._show_about()

    def on_resize(self) -> None:
        """Make the list as high as it has rows, within the screen."""
        room = max(3, self.size.height - OVER - (2 if self.below else 0) - len(self.query(".lead")) * 3)
        if self.about is not None:
            room = max(3, int(room * SHARE))
        self.table.styles.height = min(len(self.rows), room)

    def wanted(self) -> int:
        """Return the width that the longest option needs."""
        words = max((cell_len(text) for _, text in self.rows), default=0)
        wanted = max(words + AROUND, min(cell_len(self.heading) + AROUND, MOST), LEAST)
        return wanted if self.about is None else max(wanted, ABOUT_WIDTH)

    # narrowing

    def action_narrow(self, letter: str = "") -> None:
        """Open the filter line, with the letter that was typed in the list."""
        if not self.narrows:
            return
        field = self.query_one(Field)
        field.add_class("shown")
        self.table.narrowing = True
        field.focus()
        field.insert_text_at_cursor(letter)
        self.name_keys()

    def on_key(self, event: events.Key) -> None:
        """Narrow by letters typed in the list; move the cursor by arrows typed in the filter line."""
        field = self.query_one(Field)
        if not field.has_focus:
            is_text = event.is_printable and (self.table.narrowing or event.key not in KEPT)
            if self.narrows and is_text and event.character:
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
        self.table.show(self.haystack.select(event.value))
        self.table.move_to(0)
        self.table.redraw()
        self._show_about()

    def action_leave(self) -> None:
        """Close the filter line and show all options; if it is closed, leave."""
        field = self.query_one(Field)
        if field.has_focus:
            field.value = ""
            field.remove_class("shown")
            self.table.narrowing = False
            self.table.focus()
            self.name_keys()
        else:
            self.dismiss(None)

    @on(RowList.Moved)
    def _show_about(self) -> None:
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
        """Answer with the option that was opened."""
        self.dismiss(self.values[int(event.rows.row_id)])


def sure(question: str, yes: str) -> Choice:
    """Return a dialog that confirms what can't be undone, with the cursor on cancel. The answer is empty or None for
    no."""
    return Choice(question, [("", "Cancel"), ("yes", yes)], narrows=False)


def conflict(name: str, theirs: bytes, mine: bytes) -> Choice:
    """Return the question what becomes of a file that somebody else has changed while it was edited, with both versions
    below it. The answer is MINE, THEIRS, or BACK or None: then nothing is saved, and what was typed is kept."""
    text = difference(theirs, mine)
    ways = [(way, actions.keyed(words)) for way, words in CONFLICT]
    lead = "- is on the disk now   + is yours"
    return Choice(
        f"{name} was changed by somebody else meanwhile.", ways, about=lambda _: text, lead=lead, narrows=False
    )


def difference(theirs: bytes, mine: bytes, whose: tuple[str, str] = ("the disk", "yours")) -> Text:
    """Draw the lines of two versions, with `-` and `+` before those that only one has. `whose` names the versions."""
    old, new = (data.decode("utf-8", "replace").replace("\r\n", "\n").rstrip("\n") for data in (theirs, mine))
    return line_diff.drawn(old, new, whose)


def which(kept: Autosave, now: float) -> Choice:
    """Return the question whether what was edited in a form and kept is meant, or the text as it was proposed: the
    answer is MINE, PROPOSED, or None."""
    when = f", {ago(kept.time, now)}" if kept.time else ""
    return Choice(f"You edited this and did not save it{when}. Which text?", UNSAVED, narrows=False)


def ignored(count: int, action_id: str) -> str:
    """Return the line of a preview of several: so many of them have unsaved text, which is not taken."""
    has = "has" if count == 1 else "have"
    key = actions.key_of(action_id)
    return f"{count} of them {has} unsaved text of yours, which is not written: {key} goes on with it."
