"""The frame around every screen: where you are on top, what you can press at the bottom, one way to run actions."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from memtui import actions
from memtui.tui import key_bindings
from memtui.tui.safety_net import composed
from memtui.tui.services import COMMAND, Command, HowFar, Services, possible, services_of
from memtui.tui.widgets.bars import TABS, FootBar, TopBar
from memtui.tui.widgets.rows import RowList

POLL_SECONDS = 0.02


class Base(Screen[None]):
    """A screen of the TUI: subclasses name their `group`, compose their `body`, and have a `do_…` method an action."""

    group: ClassVar[str] = ""
    # The parts of the files that it shows, as `Watch` names them.
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "inbox", "log", "memories"})
    DEFAULT_CSS = "Base { layout: vertical; }"
    status = legend = ""
    _then: Callable[[], object] | None = None

    @property
    def main(self) -> Services:
        """The application."""
        return services_of(self)

    def compose(self) -> ComposeResult:
        """Top line, body, bottom line."""
        yield TopBar(id="top")
        yield from composed(self, self.body)
        yield FootBar(id="foot")

    def body(self) -> ComposeResult:
        """The widgets of the screen."""
        raise NotImplementedError

    def on_mount(self) -> None:
        """Bind the screen's keys, as the person has them."""
        for binding in key_bindings.bindings(self.group):
            self._bindings.bind(
                self.main.remapped.get(str(binding.id), binding.key), binding.action, binding.description, show=False
            )
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
            then, self._then = self._then, None
            if then is not None:
                self._run_when_read(then)

    def when_read(self, then: Callable[[], object]) -> None:
        """Do something once the screen, which is coming up, shows its files; not if the person has left it by then."""
        self._then = then

    def _run_when_read(self, then: Callable[[], object]) -> None:
        if any(each.node is self and each.group != COMMAND and not each.is_finished for each in self.workers):
            self.set_timer(POLL_SECONDS, lambda: self._run_when_read(then))
        elif self.is_current:
            then()

    def on_resize(self) -> None:
        """The bars depend on the width."""
        self.call_after_refresh(self.frame)

    def frame(self) -> None:
        """Draw the bars."""
        if self.is_mounted and self.query("#foot"):  # a screen that is closing has lost them already
            self.query_one("#top", TopBar).show(self.group, self.main)
            foot = self.query_one("#foot", FootBar)
            if isinstance(self.focused, Input):
                foot.typing(self.status)
            else:
                over, read_only = self.over, self.main.read_only
                can = [a for a in self.footer_actions() if not ((a.listed and over) or (a.writes and read_only))]
                foot.show(can, self.status, self.main, over=over)

    @property
    def over(self) -> bool:
        """Whether one thing is read in the place of the list."""
        return self.has_class("whole") or (self.has_class("narrow") and self.has_class("deep"))

    def footer_actions(self) -> list[actions.Action]:
        """The screen's own actions that the foot names, the most wanted first; they may follow the cursor."""
        return [action for action in actions.of(self.group) if action.footer]

    def on_descendant_focus(self) -> None:
        """Other keys work there."""
        self.frame()

    def tell(self, status: str) -> None:
        """Put a count on the right of the bottom line."""
        self.status = status
        self.frame()

    def on_how_far(self, message: HowFar) -> None:
        """Tell how far a change of many is."""
        self.tell(message.words)

    def reload(self) -> None:
        """Show the data as it is now: called when files changed, and when the screen comes up."""

    def follow(self, parts: frozenset[str] | None) -> None:
        """Some parts of the files changed, as `Watch` names them; None: whatever there is shall be read."""
        if parts is None or parts & self.reads:
            self.reload()

    def aged(self) -> None:
        """Time went on, and what tells an age is drawn anew: also where no file changes, `now` is not now for long."""
        for table in self.query(RowList):
            table.redraw()

    def copied(self) -> str:
        """What is copied."""
        return ""

    def near(self) -> list[str]:
        """The files behind what is on the screen."""
        return []

    def panes(self) -> list[Widget]:
        """The widgets that tab goes through."""
        return [widget for widget in self.focus_chain if widget.display]

    # actions

    @property
    def commands(self) -> dict[str, Command]:
        """The commands of a screen that has a method for each, until it is put on `ListScreen`."""
        found = {action.id: getattr(self, action.method, None) for action in actions.ACTIONS}
        return {
            name: Command(method, partial(self.why_not, name) if name.startswith(self.group + ".") else possible)
            for name, method in found.items()
            if method is not None
        }

    def why_not(self, action_id: str) -> str:  # noqa: ARG002
        """Why an action can't be done now, in words; empty if it can."""
        return ""


__all__ = ["TABS", "Base"]
