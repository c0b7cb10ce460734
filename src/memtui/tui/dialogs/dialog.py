"""What is asked over a screen: it ends once, names its own keys at the bottom, and leaves no half column beside it."""

from collections.abc import Sequence
from typing import ClassVar, TypeVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.containers import Vertical
from textual.screen import ModalScreen

from memtui import actions
from memtui.tui.safety_net import composed
from memtui.tui.widgets.line import OneLine

Result = TypeVar("Result")
Keys = Sequence[tuple[str, str]]
# Where less than this is left on each side, a dialog takes the whole width: scraps of a list tell nothing.
BESIDE = 12


# The keys of dialogs, in one table: the line at their bottom and the help are made of it. `{…}` is an action's key.
SAVE, EDITOR = "^s", "^o"
FORM: Keys = (
    (SAVE, "save, send"),
    (EDITOR, "editor"),
    ("tab", "next field"),
    ("escape", "keep for later"),
    ("^g", "discard"),
)
TRASH: Keys = (
    ("enter", "bring back"),
    ("{memories.mark}", "mark"),
    ("{memories.purge}", "delete for good"),
    ("tab", "read on"),
    ("escape", "close"),
)
CHANGES: Keys = (
    ("enter", "take it back"),
    ("{app.redo}", "do again what was taken back last"),
    ("escape", "close"),
)
CHOICE: Keys = (
    ("enter", "take"),
    ("escape", "cancel"),
    ("type", "to narrow"),
    ("j k", "move"),
    ("< >", "first, last"),
)
SEARCH: Keys = (("enter", "go there"), ("↓ ↑", "move"), ("escape", "stop, close"))
DIALOGS: Sequence[tuple[str, Keys]] = (
    ("In forms", FORM),
    ("In the trash", TRASH),
    ("In the list of changes", CHANGES),
    ("In a list to choose from", CHOICE),
    ("In the search", SEARCH),
)


def form_keys(verb: str, *, editor: bool = False) -> Keys:
    """Those of a form: what saving is called there, and whether it can be gone on with in the person's editor."""
    return [(key, verb if key == SAVE else word) for key, word in FORM if editor or key != EDITOR]


def keyed(keys: Keys) -> Keys:
    """With the keys that actions have."""
    return [(actions.keyed(key), word) for key, word in keys]


class KeyBar(OneLine):
    """The keys of a dialog, where those of the screen stand that do not work now."""

    DEFAULT_CSS = "KeyBar { dock: bottom; background: $panel; color: $text; }"
    keys: Keys = ()

    def on_resize(self) -> None:
        """As many as there is room for; the way out is always there."""
        self.show(self.keys)

    def show(self, keys: Keys) -> None:
        """Draw the keys."""
        self.keys = keys
        room = (self.size.width or 80) - 1
        pieces = [(key, word, len(key) + len(word) + 3) for key, word in keys]
        way_out = next((piece for piece in pieces if piece[0].startswith("escape")), None)
        used = way_out[2] if way_out else 0
        text = Text(" ", no_wrap=True, overflow="ellipsis", end="")
        for piece in pieces:
            if piece is not way_out:
                if used + piece[2] > room:
                    continue
                used += piece[2]
            text.append(piece[0], style="bold").append(f" {piece[1]}  ")
        self.put(text)


class Dialog(ModalScreen[Result]):
    """Subclasses compose their `body` into one container and name their `keys`."""

    DEFAULT_CSS = """
    Dialog { align: center middle; background: $background 75%; }
    Dialog:ansi { background: ansi_default; }
    """
    across: ClassVar[int] = 110

    def compose(self) -> ComposeResult:
        """The box, and the keys under everything."""
        yield from composed(self, self.body)
        yield KeyBar()

    def body(self) -> ComposeResult:
        """The one widget that is the box; an empty one, if nothing else is said."""
        yield Vertical()

    def keys(self) -> Keys:
        """(key, word), the most wanted first."""
        return (("escape", "close"),)

    def on_mount(self) -> None:
        """What was told before would cover the keys."""
        self.app.clear_notifications()
        self.name_keys()

    def name_keys(self) -> None:
        """Draw the keys anew: others work now."""
        self.query_one(KeyBar).show(self.keys())

    def on_resize(self) -> None:
        """As wide as is wanted, or as the screen. Textual's notes may stand before the box, which is above the keys."""
        wanted, styles = self.wanted(), self.children[-2].styles
        styles.max_width = "100%"
        styles.width = wanted if wanted <= self.size.width - 2 * BESIDE else "100%"

    def wanted(self) -> int:
        """Cells across that the box wants."""
        return self.across

    async def on_click(self, event: events.Click) -> None:
        """A click beside it is escape."""
        if event.widget is self and "escape" in self.active_bindings:
            await self.run_action(self.active_bindings["escape"].binding.action)

    def keep_now(self) -> None:
        """Keep what is typed, before memtui is left; most dialogs hold nothing that outlives them."""

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """End, unless that was done already: a second enter of one burst would close what lies below."""
        if self.app.screen is self:
            return super().dismiss(result)
        return AwaitComplete()
