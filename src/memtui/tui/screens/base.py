"""The frame around every screen: where you are on top, what you can press at the bottom, one way to run actions."""

from typing import TYPE_CHECKING, ClassVar, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget

from memtui.tui import actions
from memtui.tui.widgets.line import OneLine

if TYPE_CHECKING:
    from memtui.tui.app import MemtuiApp

TABS = ("memories", "inbox", "guidance", "deliveries", "health")


class TopBar(OneLine):
    """memtui, the project, its mode, the hooks, and the screens with what waits on each."""

    DEFAULT_CSS = "TopBar { background: $panel; color: $text; }"

    def show(self, current: str, app: "MemtuiApp") -> None:
        """Draw the line for a screen."""
        facts = app.data.facts
        wide, tight = self.size.width >= 100, self.size.width < 60
        text = Text(" memtui ", style="bold", no_wrap=True, overflow="ellipsis", end="")
        if wide:
            hooks = "hooks ✓" if facts.hooks else "hooks ✗"
            text.append(f" {facts.project}  {facts.mode}  ", style="dim")
            text.append(f"{hooks}  ", style="dim" if facts.hooks else "bold red")
        for number, name in enumerate(TABS, 1):
            count = facts.waiting.get(name, 0)
            whole = wide or name == current
            word = f" {number} {name.capitalize() if whole else '' if tight else name[:3].capitalize()}".rstrip()
            text.append(word + (f" {count}" if count else "") + " ", style="reverse" if name == current else "")
        if app.read_only:
            text.append(" read-only ", style="bold")
        self.put(text)


class FootBar(OneLine):
    """The keys of the screen, as many as there is room for, and a count or a message on the right."""

    DEFAULT_CSS = "FootBar { background: $panel; color: $text; }"

    def show(self, group: str, status: str, app: "MemtuiApp") -> None:
        """Draw the line for a screen."""
        width = self.size.width or 80
        text = Text(" ", no_wrap=True, end="")
        room = width - len(status) - 3
        last = [a for a in actions.ACTIONS if a.footer and a.id in {"app.undo", "app.guide", "app.help", "app.quit"}]
        always = sum(len(a.footer) + len(actions.key_word(actions.keys_of(a, app.remapped))) + 3 for a in last)
        if always > room:
            last.sort(key=lambda a: a.id != "app.help")  # which tells all the others
        for action in [*[a for a in actions.of(group) if a.footer], *last]:
            word = actions.key_word(actions.keys_of(action, app.remapped))
            need = len(word) + len(action.footer) + 3
            if action not in last and len(text.plain) + need + always > room:
                continue
            if len(text.plain) + need > room:
                break
            text.append(word, style="bold")
            text.append(f" {action.footer}  ", style="dim")
        text.append(status.rjust(width - len(text.plain) - 1), style="dim")
        self.put(text)


class Base(Screen[None]):
    """A screen of the TUI: subclasses name their `group`, compose their `body`, and have a `do_…` method an action."""

    group: ClassVar[str] = ""
    DEFAULT_CSS = "Base { layout: vertical; }"
    status = ""

    @property
    def main(self) -> "MemtuiApp":
        """The application."""
        return cast("MemtuiApp", self.app)

    def compose(self) -> ComposeResult:
        """Top line, body, bottom line."""
        yield TopBar(id="top")
        yield from self.body()
        yield FootBar(id="foot")

    def body(self) -> ComposeResult:
        """The widgets of the screen."""
        raise NotImplementedError

    def on_mount(self) -> None:
        """Bind the screen's keys, as the person has them."""
        for binding in actions.bindings(self.group, self.main.remapped):
            self._bindings.bind(binding.key, binding.action, binding.description, show=False)
        self.frame()

    def on_screen_resume(self) -> None:
        """Show what has changed while another screen was on."""
        self.frame()
        # The picture comes first: reading takes time from painting.
        self.call_after_refresh(self._reload_if_there)

    def _reload_if_there(self) -> None:
        # Between the paint and this call the person may have left.
        if self.is_running and self.query("#foot"):
            if self.main.has_read:
                self.reload()
            else:
                self.main.read()

    def on_resize(self) -> None:
        """The bars depend on the width."""
        self.call_after_refresh(self.frame)

    def frame(self) -> None:
        """Draw the bars."""
        if self.is_mounted and self.query("#foot"):  # a screen that is closing has lost them already
            self.query_one("#top", TopBar).show(self.group, self.main)
            self.query_one("#foot", FootBar).show(self.group, self.status, self.main)

    def tell(self, status: str) -> None:
        """Put a count on the right of the bottom line."""
        self.status = status
        self.frame()

    def reload(self) -> None:
        """Show the data as it is now: called when files changed, and when the screen comes up."""

    def panes(self) -> list[Widget]:
        """The widgets that tab goes through."""
        return [widget for widget in self.focus_chain if widget.display]

    # actions

    def why_not(self, action_id: str) -> str:  # noqa: ARG002
        """Why an action can't be done now, in words; empty if it can."""
        return ""

    def action_run(self, action_id: str) -> None:
        """Run an action of the table, or tell why not."""
        self.main.run_action_of(self, action_id)
