"""The application: it shows the screens, runs the actions, and tells the screen on top when files have changed."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import RenderableType
from textual import events
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.errors import NoWidget
from textual.filter import LineFilter
from textual.reactive import Reactive
from textual.screen import Screen

from memtui import keymap
from memtui.base import fs_hot
from memtui.base.errors import MemtuiError
from memtui.base.phrasing_hot import series
from memtui.settings import config_hot
from memtui.tui import terminal, textual_gaps
from memtui.tui.dialogs.dialog import Dialog, of_screen
from memtui.tui.files import FileReader, FilesChanged, FilesRead
from memtui.tui.model.data import Data
from memtui.tui.safety_net import SafetyNet
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import BUSY, READ_ONLY, Command, Handled, Progress, Services, TypedAhead, bindings, bound
from memtui.tui.widgets.lines import TABS

if TYPE_CHECKING:
    from memtui.store.journal.undo import Op
    from memtui.tui.dialogs.changes import Undo

WATCH_SECONDS = 0.7
AGED_SECONDS = 60.0  # screens show ages to the minute


class MemtuiApp(Services):
    """The application. `now` stops the clock, in seconds since the epoch; `tour` begins with the tour."""

    TITLE = "memtui"
    CSS_PATH = "memtui.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+z", "suspend_process", show=False), *bindings(keymap.GLOBAL)]
    ansi_theme_dark = Reactive(terminal.ON_DARK, init=False)
    ansi_theme_light = Reactive(terminal.ON_LIGHT, init=False)

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
        self.typed_ahead = TypedAhead(self, super().on_event)
        self.stylesheet = terminal.KeptStylesheet(self.get_css_variables())
        self.register_theme(terminal.LIGHT)
        for name in TABS:
            self.add_mode(name, partial(self._new_screen, name))
        self.first, self.tour, self.read_only = screen, tour, read_only
        self._offered, self.progress = False, Progress(self)
        remapped = self.data.keys()
        keymap.use(remapped)
        self.set_keymap({name: bound(keys) for name, keys in remapped.items()})
        self.files = FileReader(self, self.data, writes=not read_only, inbox_shown=lambda: self.current_mode == "inbox")
        self._theme_setting: object = None
        self._show_theme()
        self.commands = self._commands()
        self.glyphs_setting = self.data.setting("glyphs")

    def _new_screen(self, name: str) -> Screen[Any]:
        """Return a new screen by its name; its module is imported when it is first shown."""
        screen: Screen[Any] = getattr(import_module(f"memtui.tui.screens.{name}.screen"), name.capitalize())(self)
        return screen

    def on_mount(self) -> None:
        self._aged = self.files.began
        self.net.watch_loop()
        self.set_interval(WATCH_SECONDS, self._look)
        # After ctrl+z and fg the terminal is empty, which Textual does not know.
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))
        # Only once the application runs: what is drawn while it mounts is not shown.
        self.call_later(self._begin)

    def _begin(self) -> None:
        try:
            self.go(self.first)
        except Exception as error:
            self.net.give_up(error)

    def exit(self, result: None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        """End the application, as Textual does. From here on errors are logged and not shown."""
        self.net.leaving = True
        super().exit(result, return_code, message)

    def _handle_exception(self, error: Exception) -> None:
        self.net.handle(error)

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
        self.say(keymap.keyed("{app.quit} quits. ctrl+c copies what the mouse selected, {app.copy} what is shown."))

    def panic(self, *_: object) -> None:
        """Leave because the terminal is gone: the thread that reads it has ended."""
        terminal.end_soon()  # leaving may hang
        self.leave(1)
        self.net.give_up(OSError("the terminal is gone"), "terminal")

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

    def get_driver_class(self) -> type[Driver]:
        """Return Textual's driver for this terminal; on POSIX systems ours."""
        driver = super().get_driver_class()
        return textual_gaps.TerminalDriver if issubclass(textual_gaps.TerminalDriver, driver) else driver

    def get_css_variables(self) -> dict[str, str]:
        self.theme_variables = super().get_css_variables() | terminal.theme_variables(self.current_theme)
        return self.theme_variables

    def delay_update(self, delay: float = 0.05) -> None:
        """Do nothing, so that another screen is painted at once: Textual would wait `delay` seconds."""

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return our filters, then Textual's, which replace the named colours that ours look for."""
        return [*self.own_line_filters, *super().get_line_filters()]

    @cached_property
    def own_line_filters(self) -> Sequence[LineFilter]:
        """The filters for a terminal without UTF-8, and for a person who wants no colours."""
        return terminal.filters(self.data.env, self.glyphs_setting, no_color=self.no_color)

    def _show_theme(self) -> None:
        """Show the theme of the settings, if it is another than before: the person may have chosen one since."""
        setting = self.data.setting("theme")
        if setting != self._theme_setting:
            self._theme_setting = setting
            self.theme = terminal.theme_named(setting)

    def choose_theme(self, theme: str) -> None:
        """Show a theme by its name in the settings, and save it."""
        from memtui.settings import setting as settings

        self.theme, self._theme_setting = terminal.theme_named(theme), theme
        self.say(f"Theme: {theme}")
        if not self.read_only and theme != self.data.setting("theme"):
            new = None if theme == config_hot.DEFAULTS["theme"] else theme
            settings.assign(self.data.root, self.data.journal(), "theme", new)

    @property
    def on_top(self) -> ListScreen[Any] | None:
        """The screen that is shown, None while something else covers it."""
        screen = self.screen if self.screen_stack else None
        return screen if isinstance(screen, ListScreen) else None

    def _look(self) -> None:
        if not self.at_work and self.files.has_read:  # many changes are read once they are all made
            self.files.look()
            now, here = self.data.now(), self.on_top
            if here is not None and here.is_attached and now - self._aged >= AGED_SECONDS:
                self._aged = now
                here.refresh_ages()

    def on_files_changed(self, message: FilesChanged) -> None:
        self.read(message.parts)

    def on_findings_counted(self) -> None:
        for screen in self.screen_stack:  # also below a question
            if isinstance(screen, ListScreen):
                screen.frame_top()

    def on_files_read(self, message: FilesRead) -> None:
        """Show what was read. After the first reading begin the tour, or a first start."""
        glyphs_setting = self.data.setting("glyphs")
        if glyphs_setting != self.glyphs_setting:
            self.glyphs_setting = glyphs_setting
            del self.own_line_filters
            self.refresh_css(animate=False)
        self._show_theme()
        self.on_findings_counted()
        here = self.on_top
        if here is not None:
            here.follow(message.parts)
        if not self._offered and self.screen_stack:
            self._offered = True
            from memtui.tui.dialogs import first_start

            self.start(self.screen, (first_start.lead if self.tour else first_start.begin)(self), "the first start")

    async def on_event(self, event: events.Event) -> None:
        """Handle what comes before all screens: errors shown, an undo of many changes, clicks on what is gone."""
        if isinstance(event, events.Key) and not event.is_forwarded:  # else it has come back from a widget
            self.files.key_pressed()
            self.net.shown_since_key.clear()  # the key may cause the same errors
            self.drop_errors()
            if event.key == "escape" and self.progress.stop():
                return
        if isinstance(event, events.MouseDown):
            with suppress(NoWidget):  # a widget may be removed and only not painted over yet, as an old note
                if not self.screen.get_widget_at(int(event.x), int(event.y))[0].is_attached:
                    return
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            await self.typed_ahead.take(event)
        else:
            await super().on_event(event)

    def on_handled(self, message: Handled) -> None:
        if self.screen_stack:  # else the application has ended meanwhile
            self.typed_ahead.arrived(message)

    async def _check_bindings(self, key: str, priority: bool = False) -> bool:
        """Run what a key is bound to, as Textual does; of one that works only in other places say where."""
        is_bound = await super()._check_bindings(key, priority)
        if not (is_bound or priority or self.on_top is None):
            bound = [a for a in keymap.ACTIONS if key in keymap.keys_of(a).split(",")]
            places = list(dict.fromkeys(a.group.capitalize() for a in bound if a.section != keymap.SECTIONS["M"]))
            if len(key) == 1 and not bound:
                self.warn(keymap.keyed(f"{key} does nothing here. {{app.help}} lists the keys."))
            elif places:
                self.warn(f"{keymap.key_word(key)} works in {series(places)}.")
        return is_bound

    def action_run(self, action_id: str) -> None:
        """Run an action by its id; one of another screen there, once that has read its files and shows its rows."""
        here = self.on_top
        if here is None:
            return
        group = keymap.get(action_id).group
        if group in {here.group, keymap.LIST, keymap.GLOBAL} or action_id in self.commands:
            self._run_on(here, action_id)
        else:
            other: ListScreen[Any] = self.go(group)
            unseen = keymap.get(action_id).of_row
            other.then = lambda: self._run_on(other, action_id, unseen=unseen, back=here.group)

    def _run_on(self, screen: ListScreen[Any], action_id: str, *, unseen: bool = False, back: str = "") -> None:
        """Run the command of an action on a screen, or show why it can't be run: also where its row is `unseen`."""
        # Screen first: Activity has a command of its own for app.note.
        command = screen.commands.get(action_id) or self.commands.get(action_id)
        if command is None:  # not every list has all that lists can do
            self.warn(f"{keymap.key_of(action_id)} works in other places, not in {screen.group.capitalize()}.")
            return
        action = keymap.get(action_id)
        if action.writes and self.at_work:
            reason = BUSY
        elif action.writes and self.read_only:
            reason = READ_ONLY
        elif action.listed and screen.detail_covers_list:
            reason = "The list is hidden while you read: escape goes back to it."
        else:
            reason = command.why_not() or f"Choose a {screen.row_word}, then {keymap.key_of(action_id)}." * unseen
        if reason:
            self.warn(reason)
        else:
            self.run_command(screen, command, action_id, back)

    @cached_property
    def undo(self) -> "Undo":
        from memtui.tui.dialogs.changes import Undo

        return Undo(self)

    def turn(self, op: "Op", key: str | None = None) -> None:
        self.undone_at = time.monotonic() if op == "undo" else self.undone_at
        self.undo.want(op, key)

    # the commands that work on every screen

    def _commands(self) -> dict[str, Command]:
        return {f"app.{name}": Command(partial(self.go, name)) for name in TABS} | {
            "app.note": Command(self._note),
            "app.undo": Command(partial(self.turn, "undo")),
            "app.redo": Command(partial(self.turn, "redo")),
            "app.changes": Command(self._changes),
            "app.palette": Command(self._palette),
            "app.help": Command(self._help),
            "app.copy": Command(self._copy),
            "app.refresh": Command(self._refresh),
            "app.tour": Command(self._tour),
            "app.quit": Command(self.action_quit),
        }

    async def _note(self) -> None:
        from memtui.tui.dialogs.draft_form import DraftForm
        from memtui.tui.dialogs.guidance_subject import GuidanceSubject

        if await self.ask(DraftForm(GuidanceSubject(self.data), self)):
            self.read()

    async def _changes(self) -> None:
        from memtui.tui.dialogs import changes

        await changes.show_changes(self)

    async def _palette(self) -> None:
        from memtui.tui.dialogs import ask

        if (here := self.on_top) is not None:
            await ask.choose_action(self, here.group, here.commands)

    async def _help(self) -> None:
        if (here := self.on_top) is not None:
            await self.ask(of_screen(here.group, here.commands, here.legend, read_only=self.read_only))

    async def _tour(self) -> None:
        from memtui.tui.dialogs import first_start

        await first_start.lead(self)

    def _copy(self) -> None:
        text = self.on_top.copied() if self.on_top is not None else ""
        if text:
            self.copy(text)
        else:
            self.warn("There is nothing to copy here.")

    def _refresh(self) -> None:
        self.data.forget()
        self.read()


def main(env: dict[str, str], cwd: str, *, read_only: bool = False, **more: Any) -> int:
    """Run the application here, `more` as for `MemtuiApp`; return its exit code. Raises MemtuiError if it stops."""
    if read_only:
        fs_hot.keep_no_caches()
    app = MemtuiApp(env, cwd, read_only=read_only, **more)
    with terminal.guarded(app.leave):
        app.run()
    broken = app.net.broken
    if broken is not None or app.return_code is None:
        what = type(broken).__name__ if broken is not None else "no reason is known"
        raise MemtuiError(f"The TUI ended because of an error: {what}.", "`memtui doctor --errors` has the details.")
    return app.return_code
