"""The application: it shows the screens, runs the actions, and tells the screen on top when files have changed."""

import asyncio
import os
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import RenderableType
from textual import events
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.driver import Driver
from textual.errors import NoWidget
from textual.filter import LineFilter
from textual.notifications import Notify
from textual.reactive import Reactive
from textual.screen import ModalScreen, Screen

from memtui import actions
from memtui.core.base import fs
from memtui.core.base.errors import MemtuiError
from memtui.present import glyphs, safe_text
from memtui.tui import commands, key_bindings, terminal, theme, toasts
from memtui.tui.dialogs.dialog import Dialog
from memtui.tui.files import FileReader, FilesChanged, FilesRead
from memtui.tui.model.data import Data
from memtui.tui.running import Runner
from memtui.tui.safety_net import SafetyNet
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import Result, Turned
from memtui.tui.widgets.bars import TABS

if TYPE_CHECKING:
    from memtui.core.journal.undo import Op
    from memtui.tui.undo import Undo

WATCH_SECONDS = 0.7
# Screens show ages to the minute.
AGED_SECONDS = 60.0


def _names() -> type[Provider]:
    from memtui.tui.palette import Names

    return Names


class MemtuiApp(App[None]):
    """The application, which is the `Services` of all modules below it. `read_only` forbids every action that writes;
    `screen` is the first screen; `now` stops the clock at that time, in seconds since the epoch; `tour` begins with the
    tour."""

    TITLE = "memtui"
    CSS_PATH = "memtui.tcss"
    COMMANDS: ClassVar[set[type[Provider] | Any]] = {_names}
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+z", "suspend_process", show=False),
        *key_bindings.bindings(actions.GLOBAL),
    ]
    ansi_theme_dark = Reactive(theme.ON_DARK, init=False)
    ansi_theme_light = Reactive(theme.ON_LIGHT, init=False)

    def __init__(
        self,
        env: dict[str, str],
        cwd: str,
        *,
        read_only: bool = False,
        screen: str = "memories",
        now: float | None = None,
        tour: bool = False,
    ) -> None:
        super().__init__()
        self.data = Data(env, cwd, now=now)
        self.net = SafetyNet(self, self.data.root, self.fail)
        self.runner = Runner(self, self.net)
        self.stylesheet = theme.KeptStylesheet(self.get_css_variables())
        self.register_theme(theme.LIGHT)
        for name in TABS:
            self.add_mode(name, partial(commands.screen, name, self))
        self.first, self.tour = screen, tour
        self.read_only = read_only
        self.at_work = self._offered = False
        self.remapped: dict[str, str] = self.data.keys()
        actions.use(self.remapped)
        self.set_keymap({name: key_bindings.bound(keys) for name, keys in self.remapped.items()})
        self.files = FileReader(self, self.data, writes=not read_only)
        self.toasts = toasts.Toasts(self)
        self.theme_choice = theme.ThemeChoice(self, self)
        self.commands = commands.AppCommands(self, self, self.theme_choice, on_top=lambda: self.on_top).table()
        self.glyphs_setting = self.data.setting("glyphs")

    @property
    def has_read(self) -> bool:
        """Return whether the files were read at least once."""
        return self.files.has_read

    @property
    def began(self) -> float:
        """Return when the application was started, in seconds since the epoch."""
        return self.files.began

    # start and end

    def on_mount(self) -> None:
        """Start watching the files, and show the first screen."""
        self._aged = self.began
        self.net.watch_loop()
        self.set_interval(WATCH_SECONDS, self._look)
        self.app_resume_signal.subscribe(self, self._resumed)
        # Only once the application runs: what is drawn while it mounts is not shown.
        self.call_later(self._begin)

    def _begin(self) -> None:
        try:
            self.go(self.first)
        except Exception as error:
            self.net.give_up(error)

    def _resumed(self, _: object) -> None:
        # After ctrl+z and fg the terminal is empty, which Textual does not know.
        self.refresh(layout=True)

    def exit(self, result: None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """End the application, as Textual does. From here on errors are logged and not shown."""
        self.net.leaving = True
        super().exit(result, return_code, message)

    async def action_quit(self) -> None:
        """Leave on ctrl+q, which works in forms as well."""
        self.leave()

    def leave(self, return_code: int = 0) -> None:
        """Keep what is typed, and end the application even if that fails."""
        for screen in self.screen_stack:
            try:
                if isinstance(screen, Dialog):
                    screen.keep_now()
            except Exception as error:
                self.net.report("keeping what was typed", error)
        self.exit(return_code=return_code)

    def action_help_quit(self) -> None:
        """Explain on ctrl+c, with nothing selected, how to leave: in other programs that ends them."""
        self.say(actions.keyed("{app.quit} quits. ctrl+c copies what the mouse selected, {app.copy} what is shown."))

    def panic(self, *_: object) -> None:
        """Leave because the terminal is gone: the thread that reads it has ended."""
        self.net.terminal_gone()
        self.leave(1)

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """Suspend as Textual does, but take the terminal back also if the block raises an error."""
        failed: BaseException | None = None
        with super().suspend():
            try:
                yield
            except BaseException as error:
                failed = error
        if failed is not None:
            raise failed

    # drawing

    def get_driver_class(self) -> type[Driver]:
        """Return Textual's driver for this terminal; on POSIX systems ours."""
        from memtui.tui.driver import TerminalDriver

        found = super().get_driver_class()
        return TerminalDriver if issubclass(TerminalDriver, found) else found

    def get_css_variables(self) -> dict[str, str]:
        """Return the variables of the theme, and our own."""
        self.theme_variables = super().get_css_variables() | theme.variables(self.current_theme)
        return self.theme_variables

    def delay_update(self, delay: float = 0.05) -> None:
        """Do nothing, so that another screen is painted at once: Textual would wait `delay` seconds."""

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return our filters, then Textual's, which replace the named colours that ours look for."""
        return [*self.own_line_filters, *super().get_line_filters()]

    @cached_property
    def own_line_filters(self) -> Sequence[LineFilter]:
        """Return the filters for a terminal without UTF-8, and for a person who wants no colours."""
        if not self.no_color and not glyphs.plain(self.data.env, self.glyphs_setting):
            return ()
        from memtui.tui import output_filters

        return output_filters.needed(self.data.env, self.glyphs_setting, no_color=self.no_color)

    # the screens

    @property
    def on_top(self) -> ListScreen[Any] | None:
        """Return the screen that is shown, None while something else covers it."""
        screen = self.screen if self.screen_stack else None
        return screen if isinstance(screen, ListScreen) else None

    def go(self, name: str) -> Any:
        """Show the screen of this name, and return it; what was opened over it may still cover it."""
        if name != self.current_mode:
            self.toasts.drop_notes()
        self.switch_mode(name)
        return self.screen_stack[0]

    def go_to_memory(self, path: str) -> None:
        """Show a memory on the screen of memories."""
        if os.path.exists(path):
            self.go("memories").go_to(path)
        else:
            self.fail(commands.no_such_memory(path))

    def show_activity(self, query: str) -> None:
        """Show in Activity what a query finds, such as `session:ID`."""
        self.go("activity").want(query)

    def pop_screen(self) -> AwaitComplete:
        """Close the screen on top, unless it is the last: a burst of enters closes the palette more than once."""
        return super().pop_screen() if len(self.screen_stack) > 1 else AwaitComplete()

    # notes

    def notify(self, message: str, **more: Any) -> None:
        """Show a note, long enough to be read."""
        more["timeout"] = toasts.seconds(message, more.get("severity", "information"))
        super().notify(message, **more)

    def clear_notifications(self) -> None:
        """Remove all notes."""
        self.toasts.remove("ToastHolder")
        super().clear_notifications()

    def on_notify(self, event: Notify) -> None:
        """Remove the notes that the new one replaces."""
        self.toasts.make_room(event.notification)

    def fail(self, error: MemtuiError) -> None:
        """Show a note of what went wrong and what to do."""
        self.notify(safe_text.clean(f"{error.message}\n{error.hint}".strip()), severity="error", markup=False)

    def say(self, text: str) -> None:
        """Show a note of what happened."""
        self.notify(safe_text.clean(text), markup=False)

    def warn(self, text: str) -> None:
        """Show a note of what can't be done, or is done and has no effect."""
        self.notify(safe_text.clean(text), severity="warning", markup=False)

    def copy(self, text: str) -> None:
        """Copy a text to the clipboard, and show how it begins."""
        self.copy_to_clipboard(text)
        self.say(toasts.copied(text))

    # files

    def _look(self) -> None:
        if not self.at_work and self.has_read:  # while many changes are made nothing is read until they are done
            here = self.on_top
            shown = here if here is not None and here.is_attached else None
            self.files.look(shown.files_on_screen() if shown is not None else [])
            now = self.data.now()
            if shown is not None and now - self._aged >= AGED_SECONDS:
                self._aged = now
                shown.refresh_ages()

    def read(self, parts: frozenset[str] | None = None) -> None:
        """Read the files again, then have the screen on top read what it shows; None for all parts."""
        self.files.read(parts)

    def on_files_changed(self, message: FilesChanged) -> None:
        """Read the parts that have changed."""
        self.read(message.parts)

    def on_findings_counted(self) -> None:
        """Draw the top line, which shows the number of findings."""
        if self.on_top is not None:
            self.on_top.frame_top()

    def on_files_read(self, message: FilesRead) -> None:
        """Show what was read. After the first reading begin the tour, or a first start."""
        glyphs_setting = self.data.setting("glyphs")
        if glyphs_setting != self.glyphs_setting:
            self.glyphs_setting = glyphs_setting
            del self.own_line_filters
            self.refresh_css(animate=False)
        self.theme_choice.show()
        here = self.on_top
        if here is not None:
            here.frame_top()
            here.follow(message.parts)
        if not self._offered and self.screen_stack:
            self._offered = True
            from memtui.tui import hooks_offer
            from memtui.tui.dialogs import tour

            if self.tour:
                self.start(self.screen, tour.show(self), "the tour")
            elif hooks_offer.is_due(self):
                self.start(self.screen, hooks_offer.begin(self), "the first start")

    # actions

    async def on_event(self, event: events.Event) -> None:
        """Handle what comes before all screens: any key removes errors that are shown, escape stops an undo of many
        changes, and a click on what is gone is ignored."""
        if isinstance(event, events.Key) and not event.is_forwarded:  # else it has come back from a widget
            self.files.last_key = self.data.now()
            self.net.forget_failures()
            self.toasts.drop_errors()
            if event.key == "escape" and self.at_work and self.undo.stop():
                return
        if isinstance(event, events.MouseDown) and self._is_gone(event):
            return
        await super().on_event(event)

    def _is_gone(self, event: events.MouseDown) -> bool:
        """Return whether the widget that was clicked is removed and only not painted over yet, as an old note."""
        try:
            return not self.screen.get_widget_at(int(event.x), int(event.y))[0].is_attached
        except NoWidget:
            return False

    def action_run(self, action_id: str) -> None:
        """Run an action by its id. An action of another screen runs there, once that screen has read its files; unless
        it only goes somewhere, which can be done from anywhere."""
        here = self.on_top
        if here is None:
            return
        group = actions.get(action_id).group
        if group in {here.group, actions.LIST, actions.GLOBAL} or action_id in self.commands:
            self._run_on(here, action_id)
        else:
            there: ListScreen[Any] = self.go(group)
            there.when_read(lambda: self._run_on(there, action_id))

    def _run_on(self, screen: ListScreen[Any], action_id: str) -> None:
        if "undo" in self.__dict__:
            self.undo.forget_question({"app.undo": "undo", "app.redo": "redo"}.get(action_id, ""))
        # Screen first: Activity has a command of its own for app.note.
        command = screen.commands.get(action_id) or self.commands.get(action_id)
        if command is not None:  # not every list has all that lists can do
            self.runner.run(screen, actions.get(action_id), command)

    def choose_theme(self, name: str) -> None:
        """Show a theme by its name in the settings, and save it."""
        self.theme_choice.choose(name)

    def start(self, node: Screen[Any], command: Coroutine[Any, Any, object], what: str) -> None:
        """Run a coroutine that asks questions: at once up to the first, the rest in a worker of `node`."""
        self.runner.start(node, command, what)

    async def ask(self, dialog: ModalScreen[Result]) -> Result | None:
        """Show a dialog. Return its answer, None if the person left it."""
        answer: asyncio.Future[Result | None] = asyncio.get_running_loop().create_future()

        def answered(result: Result | None) -> None:
            # What asked may have ended before the dialog closes: both end when the application does.
            if not answer.done():
                answer.set_result(result)

        self.push_screen(dialog, answered)
        return await answer

    def action_command_palette(self) -> None:
        """Open the palette, unless it is open."""
        from memtui.tui.palette import Palette

        if not any(isinstance(screen, Palette) for screen in self.screen_stack):
            self.push_screen(Palette())  # without Textual's id: the last palette may not be removed yet

    @cached_property
    def undo(self) -> "Undo":
        """Return undo and redo, made when they are first needed."""
        from memtui.tui.undo import Undo

        return Undo(self, self, self._turned)

    def turn(self, op: "Op", key: str | None = None) -> None:
        """Undo or redo the last change, or undo the one with this key. Ask first about one that was made elsewhere."""
        self.undo.want(op, key)

    def _turned(self) -> None:
        self.read()
        if self.on_top is None and self.screen_stack:
            self.screen.post_message(Turned())


def main(
    env: dict[str, str],
    cwd: str,
    *,
    read_only: bool = False,
    screen: str = "memories",
    now: float | None = None,
    tour: bool = False,
) -> int:
    """Run the application in this terminal. Return its exit code. Raises MemtuiError if it could not go on."""
    if read_only:
        fs.keep_no_caches()
    app = MemtuiApp(env, cwd, read_only=read_only, screen=screen, now=now, tour=tour)
    with terminal.kept(), terminal.signals(app.leave):
        app.run()
    broken = app.net.broken
    if broken is not None or app.return_code is None:
        what = type(broken).__name__ if broken is not None else "no reason is known"
        raise MemtuiError(f"The TUI ended because of an error: {what}.", "`memtui doctor --errors` has the details.")
    return app.return_code
