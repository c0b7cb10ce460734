"""The commands that work on every screen: going to a screen, undo and redo, notes, themes, copying, leaving."""

import os
from functools import partial
from typing import TYPE_CHECKING, Any

from memtui import actions
from memtui.core.base.errors import MemtuiError
from memtui.tui.services import Command
from memtui.tui.widgets.bars import TABS

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App
    from textual.screen import Screen

    from memtui.tui.screens.list_screen import ListScreen
    from memtui.tui.services import Services
    from memtui.tui.theme import ThemeChoice


class AppCommands:
    """The commands of the application. `on_top` returns the screen that is shown, None while a dialog covers it."""

    def __init__(
        self,
        services: "Services",
        app: "App[None]",
        theme: "ThemeChoice",
        *,
        on_top: "Callable[[], ListScreen[Any] | None]",
    ) -> None:
        self.services, self.app, self.theme, self.on_top = services, app, theme, on_top

    def table(self) -> dict[str, Command]:
        """Return the command of each action, by the action's id."""
        return {f"app.{name}": Command(partial(self.services.go, name)) for name in TABS} | {
            "app.note": Command(self._note),
            "app.undo": Command(partial(self.services.turn, "undo")),
            "app.redo": Command(partial(self.services.turn, "redo")),
            "app.changes": Command(self._changes),
            "app.palette": Command(self.app.action_command_palette),
            "app.help": Command(self._help),
            "app.copy": Command(self._copy),
            "app.refresh": Command(self._refresh),
            "app.theme": Command(self.theme.next),
            "app.tour": Command(self._tour),
            "app.quit": Command(self.app.action_quit),
        }

    async def _note(self) -> None:
        from memtui.tui.dialogs.draft_form import DraftForm
        from memtui.tui.dialogs.guidance_subject import GuidanceSubject

        if await self.services.ask(DraftForm(GuidanceSubject(self.services.data), self.services)):
            self.services.read()

    async def _changes(self) -> None:
        from memtui.tui.dialogs.changes import Changes

        await self.services.ask(Changes(self.services))

    async def _help(self) -> None:
        from memtui.tui.dialogs import dialog

        here = self.on_top()
        if here is None:
            return
        services = self.services
        page = dialog.of_screen(
            here.group, here.commands, here.legend, read_only=services.read_only, remapped=services.remapped
        )
        await services.ask(page)

    async def _tour(self) -> None:
        from memtui.tui.dialogs import tour

        await tour.show(self.services)

    def _copy(self) -> None:
        here = self.on_top()
        text = here.copied() if here is not None else ""
        if text:
            self.services.copy(text)
        else:
            self.services.warn("There is nothing to copy here.")

    def _refresh(self) -> None:
        self.services.data.forget()
        self.services.read()


def screen(name: str, services: "Services") -> "Screen[Any]":
    """Return a new screen by its name, which is one of TABS; its module is imported when it is first shown."""
    if name == "memories":
        from memtui.tui.screens.memories.screen import Memories

        return Memories(services)
    if name == "inbox":
        from memtui.tui.screens.inbox.screen import Inbox

        return Inbox(services)
    if name == "activity":
        from memtui.tui.screens.activity.screen import Activity

        return Activity(services)
    from memtui.tui.screens.setup.screen import Setup

    return Setup(services)


def no_such_memory(path: str) -> MemtuiError:
    """Return the error for a memory that was to be shown and is gone."""
    where = actions.keyed("It may be in the trash: {app.memories}, {memories.restore}.")
    return MemtuiError(f"{os.path.basename(path)} does not exist any more.", where)
