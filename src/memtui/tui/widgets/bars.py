"""The bars above and below every screen: where you are, and which keys work. Both can be clicked."""

from typing import TYPE_CHECKING

from rich.text import Text

from memtui import actions
from memtui.present import safe_text
from memtui.tui.widgets.line import OneLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memtui.tui.services import Services

TABS = ("memories", "inbox", "guidance", "deliveries", "health")
# Screens without a tab of their own.
MORE_SCREENS = ("sessions",)
# From WIDE cells on everything is shown; below TIGHT only what matters most.
WIDE, TIGHT = 100, 60
# Characters of the project's name.
PROJECT_MOST, PROJECT_LEAST = 16, 4
# The order in which tabs lose their words where there is no room for all.
SHORTENED = ("memories", "deliveries", "health", "guidance", "inbox")


class TopBar(OneLine):
    """The top bar: the project, its mode, whether hooks run, and a tab for each screen with what waits there."""

    DEFAULT_CSS = "TopBar { background: $panel; color: $text; }"

    def show(self, current: str, app: "Services") -> None:
        """Draw the line for a screen."""
        width = self.size.width or 80
        tabs = {name: self._tab(number, name, app) for number, name in enumerate(TABS, 1)}
        parts = self._left_parts(app, width)
        needed = sum(text.cell_len for text, _ in parts)
        short = set(TABS) - {current} if width < TIGHT else set()
        for name in SHORTENED:
            if needed + _cells_of_tabs(tabs, short) > width and name != current:
                short.add(name)
        text = Text(no_wrap=True, overflow="ellipsis", end="")
        left = width - _cells_of_tabs(tabs, short)
        for part, least in parts:
            if part.cell_len > left:
                part.truncate(max(left - 1, 0), overflow="ellipsis")
                part.pad_right(1)
            if left < least:
                continue
            text.append_text(part)
            left = max(0, left - part.cell_len)
        text.append(" " * (left if width < WIDE else 1))
        pieces = []
        for name, words in tabs.items():
            start = text.cell_len
            text.append(words[name in short], style="reverse" if name == current else "")
            pieces.append((start, text.cell_len, f"app.{name}"))
        self.pieces = pieces
        self.put(text)

    def _tab(self, number: int, name: str, app: "Services") -> tuple[str, str]:
        count = app.data.facts.waiting.get(name, 0)
        badge = f" {'!' if name == 'health' else ''}{count}" if count else ""
        return f" {number} {name.capitalize()}{badge} ", f" {number}{badge} "

    def _left_parts(self, app: "Services", width: int) -> list[tuple[Text, int]]:
        """Return the parts left of the tabs, each with the cells below which it is left out. A narrow screen shows mode
        and hooks only where they are not as usual."""
        facts = app.data.facts
        name = [(Text(" " + safe_text.line(facts.project, PROJECT_MOST) + " ", style="bold"), PROJECT_LEAST + 3)]
        mode, hooks = f" {facts.mode} ", " hooks ✓ " if facts.hooks else " hooks ✗ "
        modes = [(Text(mode, style="dim" if facts.mode == "full" else "bold yellow"), 5)]
        state = [(Text(hooks, style="dim" if facts.hooks else "bold red"), 9)]
        read_only = [(Text(" read-only ", style="bold"), 5)] if app.read_only else []
        if width >= WIDE:
            return [(Text(" memtui ", style="dim"), 8), *name, *modes, *state, *read_only]
        modes, state = modes if facts.mode != "full" else [], [] if facts.hooks else state
        # With little room, what is wrong comes first: the person knows the project.
        return [*state, *modes, *read_only, *name] if width < TIGHT else [*name, *modes, *state, *read_only]


def _cells_of_tabs(tabs: dict[str, tuple[str, str]], short: set[str]) -> int:
    return sum(len(words[name in short]) for name, words in tabs.items())


class FootBar(OneLine):
    """The bottom bar: as many keys of the screen as there is room for, and a count or a message on the right."""

    DEFAULT_CSS = "FootBar { background: $panel; color: $text; }"

    def typing(self, status: str) -> None:
        """Draw the bar while a person types: the keys of the screen are letters then."""
        text = Text(" ", no_wrap=True, end="")
        for key, word in (("enter", "to the list"), ("escape", "clear, back")):
            text.append(key, style="bold").append(f" {word}  ", style="dim")
        self.pieces = ()
        text.append(status.rjust((self.size.width or 80) - text.cell_len - 1), style="dim")
        self.put(text)

    def show(self, wanted: "Sequence[actions.Action]", status: str, app: "Services", *, over: bool = False) -> None:
        """Draw the bar for a screen; `wanted` are its own actions, the most useful first. `over`: a detail covers the
        list, and escape goes back to it."""
        width = self.size.width or 80
        text = Text(" ", no_wrap=True, end="")
        room = width - len(status) - 3
        if over:
            text.append("escape", style="bold").append(" back  ", style="dim")
            room -= text.cell_len - 1
        everywhere = {"app.help"} if width < TIGHT else {"app.undo", "app.guide", "app.help"}
        if width >= WIDE:
            everywhere.add("app.quit")
        last = [a for a in actions.ACTIONS if a.id in everywhere and not (a.writes and app.read_only)]
        always = sum(_cells_of(a, app) for a in last)
        if always > room:
            last.sort(key=lambda a: a.id != "app.help")  # which lists all the others
        own: list[actions.Action] = []
        for action in wanted:
            if sum(_cells_of(a, app) for a in own) + _cells_of(action, app) + always > room:
                break
            own.append(action)
        pieces = []
        for action in [*own, *last]:
            start = text.cell_len
            if start + _cells_of(action, app) > width - len(status) - 2:
                break
            text.append(actions.key_word(actions.keys_of(action, app.remapped)), style="bold")
            text.append(f" {action.footer}  ", style="dim")
            pieces.append((start, text.cell_len - 1, action.id))
        self.pieces = pieces
        text.append(status.rjust(width - text.cell_len - 1), style="dim")
        self.put(text)


def _cells_of(action: actions.Action, app: "Services") -> int:
    return len(actions.key_word(actions.keys_of(action, app.remapped))) + len(action.footer) + 3
