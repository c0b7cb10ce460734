"""A line to type in: never with a border, which would leave no room for the text; what is pasted draws harmlessly."""

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.geometry import Size
from textual.reactive import Reactive
from textual.widget import Widget
from textual.widgets import Input, Static

from memtui.present import safe_text


class Field(Input):
    """One row, whatever the theme and the focus. A character that a terminal would obey becomes a picture of it."""

    DEFAULT_CSS = """
    Field { height: 1; width: 1fr; padding: 0 1; background: $surface; }
    Field.-textual-compact { padding: 0 1; }
    Field:focus { background: $boost; }
    """
    # Its own size is that of the room it has: with a letter more nothing is to be laid out anew.
    virtual_size = Reactive(Size(0, 0))

    def __init__(
        self,
        value: str = "",
        *,
        placeholder: str = "",
        id: str | None = None,  # noqa: A002  textual's name
        name: str | None = None,
    ) -> None:
        super().__init__(value, placeholder, id=id, name=name, compact=True)

    def validate_value(self, value: str) -> str:
        """What was pasted, letter for letter harmless; it is one line."""
        return safe_text.same_length(value).replace("\t", " ")

    def on_paste(self, event: events.Paste) -> None:
        """A line beyond all measure is refused: every key after it would take a second."""
        line = (event.text.splitlines() or [""])[0]
        if len(self.value) + len(line) > safe_text.MAX_LINE:
            event.prevent_default()
            event.stop()
            self.notify(f"{len(line):,} characters are too many for one line: nothing was pasted.", severity="warning")


class Labelled(Horizontal):
    """A field, or several, after a label; the label of the one in focus stands out, without colours too."""

    DEFAULT_CSS = """
    Labelled { height: 1; }
    Labelled > .mark { width: 1; color: $accent; visibility: hidden; }
    Labelled > .label { width: 13; color: $text-muted; }
    Labelled.-focus > .mark { visibility: visible; }
    Labelled.-focus > .label { color: $text; text-style: bold; }
    """

    def __init__(self, label: str, *fields: Widget) -> None:
        super().__init__()
        self.label, self.fields = label, fields

    def compose(self) -> ComposeResult:
        """A mark for the focus, the label, the fields."""
        yield Static("›", classes="mark")
        yield Static(safe_text.styled(self.label), classes="label")
        yield from self.fields

    def on_descendant_focus(self) -> None:
        """The label of the one in focus."""
        self.add_class("-focus")

    def on_descendant_blur(self) -> None:
        """Another one is."""
        self.remove_class("-focus")
