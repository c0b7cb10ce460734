"""The help: all keys of a screen, made from the table of actions."""

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from memtui import actions
from memtui.present import legend
from memtui.tui.dialogs.dialog import DIALOGS, Dialog, Keys, keyed
from memtui.tui.widgets.detail import Detail

if TYPE_CHECKING:
    from collections.abc import Container

    from memtui.tui.services import Services

LISTS = (
    ("j k ↓ ↑", "move"),
    ("g G home end", "first, last"),
    ("^d ^u", "half a page down, up"),
    ("^f ^b pgdn pgup", "a page down, up"),
    ("tab", "the next pane"),
    ("enter", "open, go deeper"),
    ("escape", "come back, clear the filter or the marks"),
)
TOUR = "tour"


class Help(Dialog[str]):
    """The keys of a group of actions, then the global ones, those in lists and those in dialogs. `words` explain the
    marks of the screen; `possible`: the ids of what its list can do. The answer is TOUR if the person wants that."""

    DEFAULT_CSS = """
    Help > Detail { height: auto; max-height: 96%; padding: 1 2; background: $panel; scrollbar-size-vertical: 2; }
    Help.filled > Detail { max-height: 100%; }
    Help.filled > Detail { max-height: 100%; }
    """
    across: ClassVar[int] = 76
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "close"),
        Binding("question_mark", f"dismiss('{TOUR}')", "the tour"),
    ]

    def __init__(self, group: str, services: "Services", words: str, possible: "Container[str]") -> None:
        super().__init__()
        self.group, self.services, self.words, self.possible = group, services, words, possible

    def body(self) -> ComposeResult:
        """Compose the text, which scrolls."""
        yield Detail()

    def keys(self) -> Keys:
        """Return the keys: scroll, and close."""
        return (("j k", "scroll"), ("g G", "top, bottom"), ("escape", "close"), ("?", "the tour"))

    def on_mount(self) -> None:
        """Show the text, and focus it."""
        pane = self.query_one(Detail)
        pane.show("help", self._text())
        pane.focus()

    def _text(self) -> Text:
        text = Text()
        groups = ((self.group.capitalize(), self.group), ("In lists", actions.LIST), ("Everywhere", actions.GLOBAL))
        for title, group in groups:
            text.append(f"{title}\n", style="bold")
            offered = actions.offered(group, read_only=self.services.read_only)
            offered = tuple(each for each in offered if group != actions.LIST or each.id in self.possible)
            keyless = [each for each in offered if not actions.keys_of(each, self.services.remapped)]
            for action in offered:
                if action in keyless:
                    continue
                keys = " ".join(map(actions.key_word, actions.keys_of(action, self.services.remapped).split(",")))
                text.append(f"  {keys:<12}", style="bold")
                text.append(f"{action.help}\n")
            if keyless:
                names = ", ".join(action.name.partition(": ")[2] for action in keyless)
                text.append(f"  {actions.key_of('app.palette'):<12}", style="bold").append(f"has more: {names}\n")
            text.append("\n")
        for title, marks in (("Marks in lists", legend.LISTS), ("In the top line", legend.TOP)):
            text.append(legend.section(title, marks) + "\n")
        text.append(self.words.rstrip() + "\n\n" if self.words else "")
        text.append("To move\n", style="bold")
        for keys, words in LISTS:
            text.append(f"  {keys:<16}", style="bold")
            text.append(f"{words}\n")
        for title, ways in DIALOGS:
            text.append(f"\n{title}\n", style="bold")
            for keys, words in keyed(ways):
                text.append(f"  {keys:<16}", style="bold")
                text.append(f"{words}\n")
        text.append("\nKeys can be remapped: [keys] in config.toml.", style="dim")
        return text
