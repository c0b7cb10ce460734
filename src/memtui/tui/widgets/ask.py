"""Small questions over the screen: a line of text, a choice, a yes or no that can't be undone."""

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from memtui.tui import safe

CSS = """
{name} {{ align: center middle; background: $background 60%; }}
{name} > Vertical {{ width: 72; max-width: 96%; height: auto; max-height: 90%; padding: 1 2; background: $panel; }}
{name} Static {{ width: 1fr; }}
{name} Input {{ margin-top: 1; }}
{name} OptionList {{ height: auto; max-height: 55vh; margin-top: 1; background: $panel; }}
{name} .hint {{ color: $text-muted; margin-top: 1; }}
"""


class Line(ModalScreen[str | None]):
    """Ask for a line of text; None if the person thought better of it."""

    DEFAULT_CSS = CSS.format(name="Line")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "cancel")]

    def __init__(self, question: str, value: str = "", hint: str = "enter accepts, escape cancels") -> None:
        super().__init__()
        self.question, self.value, self.hint = question, value, hint

    def compose(self) -> ComposeResult:
        """A question, a line, a hint."""
        with Vertical():
            yield Static(safe.styled(self.question, "bold"))
            yield Input(self.value)
            yield Static(Text(self.hint), classes="hint")

    @on(Input.Submitted)
    def answer(self, event: Input.Submitted) -> None:
        """Enter accepts."""
        self.dismiss(event.value)


class Choice(ModalScreen[str | None]):
    """Ask for one of some (value, words); None if the person thought better of it."""

    DEFAULT_CSS = CSS.format(name="Choice")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "cancel"),
        Binding("j", "down", show=False),
        Binding("k", "up", show=False),
    ]

    def __init__(self, question: str, options: Sequence[tuple[str, str]], current: str = "") -> None:
        super().__init__()
        self.question, self.options, self.current = question, list(options), current

    def compose(self) -> ComposeResult:
        """A question and the options, the current one under the cursor."""
        with Vertical():
            yield Static(safe.styled(self.question, "bold"))
            yield OptionList(*[Option(safe.styled(words)) for _, words in self.options])
            yield Static(Text("enter takes, escape cancels"), classes="hint")

    def on_mount(self) -> None:
        """Stand on the current one."""
        values = [value for value, _ in self.options]
        self.query_one(OptionList).highlighted = values.index(self.current) if self.current in values else 0
        self.query_one(OptionList).focus()

    def action_down(self) -> None:
        """The next option."""
        self.query_one(OptionList).action_cursor_down()

    def action_up(self) -> None:
        """The option before."""
        self.query_one(OptionList).action_cursor_up()

    @on(OptionList.OptionSelected)
    def answer(self, event: OptionList.OptionSelected) -> None:
        """Enter takes."""
        self.dismiss(self.options[event.option_index][0])


class Sure(Choice):
    """Ask before something that can't be undone; cancel is in focus."""

    DEFAULT_CSS = CSS.format(name="Sure")

    def __init__(self, question: str, yes: str) -> None:
        super().__init__(question, [("", "Cancel"), ("yes", yes)])
