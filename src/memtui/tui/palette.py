"""The palette: every action as `group: verb`, with its key beside it; those of the screen that is shown first."""

from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import ComposeResult
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from memtui import actions
from memtui.tui.services import services_of

if TYPE_CHECKING:
    from memtui.actions import Action

PLACEHOLDER = "An action, a theme, a memory, a project or a session"
NAME_WIDTH, KEY_WIDTH = 34, 10
# Scores: all words found in the name; the share of them that begin a word of it; found in the name or the explanation.
IN_NAME, AT_WORD_START, IN_HELP = 3.0, 1.0, 1.0
# Added for an action that works on the screen that is shown, and is found by its name: a theme or a memory whose name
# is typed comes before an action whose explanation has the word.
HERE = 10.0


def line(name: Content, keys: str, words: str) -> Content:
    """Return a line of the palette: a name, the keys for it, and words about it."""
    gap = " " * max(2, NAME_WIDTH - name.cell_length)
    return Content.assemble(name, gap, (keys, "$accent"), (words, "dim"))


class Verbs(Provider):
    """The actions, found by words of their names and explanations."""

    def _actions(self) -> "list[Action]":
        """Return the actions that can be run: this screen's, then those that work everywhere, then the others."""
        order = {getattr(self.screen, "group", ""): 0, actions.GLOBAL: 1}
        offered = actions.offered(read_only=services_of(self.screen).read_only)
        return sorted(offered, key=lambda action: order.get(action.group, len(order)))

    def _here(self, action: "Action") -> float:
        return HERE if action.group in {getattr(self.screen, "group", ""), actions.GLOBAL} else 0.0

    def _line(self, action: "Action", name: Content) -> Content:
        keys = actions.key_word(actions.keys_of(action, services_of(self.screen).remapped))
        return line(name, f"{keys:<{KEY_WIDTH}}", action.help)

    async def discover(self) -> Hits:
        """List all actions, before anything is typed."""
        for number, action in enumerate(self._actions()):
            # Textual sorts by the text: numbers keep the order.
            yield DiscoveryHit(
                self._line(action, Content(action.name)), lambda a=action: self._run(a), text=f"{number:03}"
            )

    async def search(self, query: str) -> Hits:
        """Find actions, best first: by name, then by explanation; only if there are none, by letters in order."""
        words = query.casefold().split()
        found = []
        for action in self._actions():
            name, text = action.name.casefold(), action.help.casefold()
            if all(word in name for word in words):
                begun = sum(any(part.startswith(word) for part in name.split()) for word in words)
                found.append((IN_NAME + AT_WORD_START * begun / max(1, len(words)), action))
            elif all(word in text or word in name for word in words):
                found.append((IN_HELP, action))
        matcher = self.matcher(query)
        if not found:
            found = [(score, a) for a in self._actions() if (score := matcher.match(a.name)) > 0]
        for score, action in found:
            shown = self._line(action, matcher.highlight(action.name))
            bonus = self._here(action) if score >= IN_NAME else 0.0
            yield Hit(score + bonus, shown, lambda a=action: self._run(a), text=action.name)

    def _run(self, action: "Action") -> None:
        services_of(self.screen).action_run(action.id)


class Commands(CommandList):
    """Textual's list of commands, except that a click on a row that is gone, but not painted over yet, does nothing."""

    def on_click(self, event: events.Click) -> None:
        """Ignore a click on a row that is gone."""
        if event.style.meta.get("option", 0) >= self.option_count:
            event.prevent_default()


class Palette(CommandPalette):
    """Textual's palette, except that its list can be paged before it is drawn or where there is no room for it, and
    that it may be closed before it is mounted, and starts no search afterwards (keys may come in one burst)."""

    def __init__(self) -> None:
        super().__init__(placeholder=PLACEHOLDER)

    def compose(self) -> ComposeResult:
        """Compose Textual's palette with our list in it."""
        for widget in super().compose():
            yield Commands() if type(widget) is CommandList else widget

    def on_mount(self, event: events.Mount) -> None:
        """Leave out Textual's start of the search if the palette was closed meanwhile."""
        if not self.is_current:
            event.prevent_default()

    def _gather_commands(self, search_value: str) -> Any:
        return super()._gather_commands(search_value) if self.is_current else None

    def _action_command_list(self, action: str) -> None:
        try:
            super()._action_command_list(action)
        except (KeyError, IndexError):  # Textual looks up lines of a page that is not there
            pass
