"""What all dialogs have in common: a box over the screen, its keys in the bottom line, and one answer."""

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
# A dialog with less than so many columns left on each side takes the whole width: a list can't be read in them.
BESIDE = 12


# The keys of dialogs, for their bottom line and the help. `{…}` is the key of an action.
SAVE, EDITOR, PROMPTS = "^s", "^o", "^l"
FORM: Keys = (
    (SAVE, "save, send"),
    (EDITOR, "editor"),
    ("escape", "keep for later"),
    ("^g", "discard"),
    ("tab", "next field"),
    (PROMPTS, "which prompts recall it"),
)
TRASH: Keys = (
    ("enter", "restore"),
    ("{list.mark}", "mark"),
    ("{memories.remove}", "delete for good"),
    ("tab", "read on"),
    ("escape", "close"),
)
CHANGES: Keys = (
    ("enter", "undo it"),
    ("l h", "one by one, together"),
    ("{app.redo}", "redo the last undone"),
    ("tab", "read the difference"),
    ("escape", "close"),
)
CHOICE: Keys = (
    ("enter", "choose"),
    ("escape", "cancel"),
    ("type", "to narrow"),
    ("↓ ↑", "move"),
    ("home end", "first, last"),
)
DIALOGS: Sequence[tuple[str, Keys]] = (
    ("In forms", FORM),
    ("In the trash", TRASH),
    ("In the list of changes", CHANGES),
    ("In a list to choose from", CHOICE),
)


def form_keys(verb: str, *, editor: bool = False, prompts: bool = False) -> Keys:
    """Return the keys of a form. `verb` is the word for saving; `editor`: the text can be edited in the person's
    editor; `prompts`: the last prompts can be replayed with it."""
    without = {EDITOR: not editor, PROMPTS: not prompts}
    return [(key, verb if key == SAVE else word) for key, word in FORM if not without.get(key)]


def keyed(keys: Keys) -> Keys:
    """Return `keys` with the keys that the person has for actions."""
    return [(actions.keyed(key), word) for key, word in keys]


class KeyBar(OneLine):
    """The bottom line of a dialog, with its keys. It covers that of the screen, whose keys don't work meanwhile."""

    DEFAULT_CSS = "KeyBar { dock: bottom; background: $panel; color: $text; }"
    keys: Keys = ()

    def on_resize(self) -> None:
        """Draw the keys that have room now."""
        self.show(self.keys)

    def show(self, keys: Keys) -> None:
        """Draw the keys that have room: escape always, the others in their order."""
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
    """A dialog. Subclasses compose their `body` in one container and return their `keys`; `across` is the width of the
    container in columns."""

    DEFAULT_CSS = """
    Dialog { align: center middle; background: $background 75%; }
    Dialog:ansi { background: ansi_default; }
    """
    across: ClassVar[int] = 110

    def compose(self) -> ComposeResult:
        """Compose the box and the line of keys."""
        yield from composed(self, self.body)
        yield KeyBar()

    def body(self) -> ComposeResult:
        """Compose the one widget that is the box."""
        yield Vertical()

    def keys(self) -> Keys:
        """Return the keys as (key, word), the most important first."""
        return (("escape", "close"),)

    def on_mount(self) -> None:
        """Remove the notes, which would cover the keys, and draw the keys."""
        self.app.clear_notifications()
        self.name_keys()

    def name_keys(self) -> None:
        """Draw the keys that work now."""
        self.query_one(KeyBar).show(self.keys())

    def on_resize(self) -> None:
        """Make the box as wide as it wants to be, or as the screen."""
        # The box comes just before the keys; Textual's notes may come before it.
        wanted, styles = self.wanted(), self.children[-2].styles
        styles.max_width = "100%"
        fits = wanted <= self.size.width - 2 * BESIDE
        styles.width = wanted if fits else "100%"
        self.set_class(not fits, "filled")

    def wanted(self) -> int:
        """Return the width that the box wants, in columns."""
        return self.across

    async def on_click(self, event: events.Click) -> None:
        """Treat a click beside the box as escape."""
        if event.widget is self and "escape" in self.active_bindings:
            await self.run_action(self.active_bindings["escape"].binding.action)

    def keep_now(self) -> None:
        """Keep what is typed before memtui ends. Most dialogs have nothing to keep."""

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close the dialog, unless it is closed: a second enter of one burst would close the screen below."""
        if self.app.screen is self:
            return super().dismiss(result)
        return AwaitComplete()
