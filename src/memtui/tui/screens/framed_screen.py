"""A screen between a bar that shows where you are and a bar with the keys that work."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.screen import Screen
from textual.widgets import Input

from memtui import actions
from memtui.tui.model.remembered import State
from memtui.tui.safety_net import composed
from memtui.tui.services import HowFar, News, Services
from memtui.tui.widgets.bars import FootBar, TopBar

if TYPE_CHECKING:
    from memtui.tui.services import Command


class FramedScreen(Screen[None]):
    """The screen. `group`: its actions; `commands`: what runs them, by id; `status`: the words right of the keys."""

    group: ClassVar[str] = ""

    def __init__(self, services: Services) -> None:
        super().__init__()
        self.services = services
        self.top, self.foot = TopBar(id="top"), FootBar(id="foot")
        self.status = ""
        self.commands: dict[str, Command] = {}
        self._is_framing = False

    def compose(self) -> ComposeResult:
        yield self.top
        yield from composed(self, self.body)
        yield self.foot

    def body(self) -> ComposeResult:
        yield from ()

    @property
    def of_all_projects(self) -> bool:
        """Whether the list has what all projects have, which the top bar says in place of this project."""
        return False

    def tell(self, status: str) -> None:
        if status != self.status:
            self.status = status
            self.frame()

    def show_status(self) -> None:
        """Show `status_words` there, unless many changes are being made: then their progress stays."""
        if not self.services.at_work:
            self.tell(self.status_words())

    def status_words(self) -> str:
        """Return what there is to say beside the keys, such as that files are still being read."""
        return ""

    def on_news(self, message: News) -> None:
        message.show()

    def on_how_far(self, message: HowFar) -> None:
        self.tell(message.words)

    def frame(self) -> None:
        """Draw the bars, once for all that is done meanwhile."""
        if not self._is_framing:
            self._is_framing = True
            self.call_next(self._draw_bars)

    def frame_top(self) -> None:
        if self.is_mounted and self.foot.is_attached:  # a closing screen has no bars any more
            self.top.show(self.group, self.services, of_all_projects=self.of_all_projects)

    def _draw_bars(self) -> None:
        self._is_framing = False
        if not (self.is_mounted and self.foot.is_attached):
            return
        self.frame_top()
        if isinstance(self.focused, Input):
            self.foot.show(None, self.status, self.services, self.typing_keys())
        else:
            usable = [action for action in self.footer_actions() if self.can_run(action)]
            self.foot.show(usable, self.status, self.services, self.key_words())

    def key_words(self) -> list[tuple[str, str]]:
        """Return what escape and enter do now, for the beginning of the bottom bar, where that is not on the screen."""
        return []

    def typing_keys(self) -> Sequence[tuple[str, str]]:
        """Return the keys that work in the line in which a person types, and what each does."""
        return (("enter", "to the list"), ("escape", "clear, back"))

    def can_run(self, action: actions.Action) -> bool:
        """Return whether an action works now."""
        if action.writes and self.services.read_only:
            return False
        command = self.commands.get(action.id)
        return command is None or not command.why_not()

    def footer_actions(self) -> list[actions.Action]:
        """Return the actions of this screen for the bottom bar, the most useful first; they may depend on the row."""
        own = (*actions.of(self.group), *actions.of(actions.LIST))
        return [action for action in own if action.footer and action.id in self.commands]

    # state from one start to the next

    @property
    def left(self) -> dict[str, object]:
        return State(self.services.data.root).get(self.group)

    def keep(self, **state: object) -> None:
        if os.path.isdir(self.services.data.root):
            State(self.services.data.root, read_only=self.services.read_only).put(self.group, state)

    def on_descendant_focus(self) -> None:
        self.frame()
