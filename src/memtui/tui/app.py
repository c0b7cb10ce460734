"""The application: screens, global actions, and one watcher that tells the screens when files change."""

import gc
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, work
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.driver import Driver
from textual.filter import LineFilter
from textual.message import Message
from textual.message_pump import MessagePump
from textual.reactive import Reactive
from textual.screen import Screen

from memtui import actions
from memtui.core.base import fs
from memtui.core.base.errors import MemtuiError
from memtui.present import glyphs, safe_text
from memtui.tui import key_bindings, running, terminal, theme
from memtui.tui.commands import Everywhere, theme_named
from memtui.tui.model.data import Data
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.screens_by_name import make
from memtui.tui.services import COMMAND, Command
from memtui.tui.widgets.bars import TABS

if TYPE_CHECKING:
    from memtui.tui.watch import Watch

WATCH_SECONDS = 0.7
# Ages are told by the minute.
AGED_SECONDS = 60.0


class Changed(Message):
    """Files that the screens show have changed."""


def _verbs() -> type[Provider]:
    from memtui.tui.palette import Verbs

    return Verbs


class MemtuiApp(Everywhere):
    """`read_only` forbids every action that writes."""

    TITLE = "memtui"
    CSS_PATH = "memtui.tcss"
    COMMANDS: ClassVar[set[type[Provider] | Any]] = {_verbs}
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
    ) -> None:
        super().__init__()
        self.register_theme(theme.LIGHT)
        for name in TABS:
            self.add_mode(name, partial(make, name, self))
        self.first = screen
        self.data = Data(env, cwd, now=now)
        self.read_only = read_only
        self._offered = False
        self.has_read = False
        self.remapped: dict[str, str] = self.data.keys()
        actions.use(self.remapped)
        self.set_keymap({name: key_bindings.bound(keys) for name, keys in self.remapped.items()})
        self.drawn_with = self.data.setting("glyphs")
        self.theme_set = self.data.setting("theme")
        self.theme = theme_named(self.theme_set)
        self.began = self.data.now()

    def get_driver_class(self) -> type[Driver]:
        """Textual's for this terminal; that of POSIX systems is ours."""
        from memtui.tui.driver import TerminalDriver

        found = super().get_driver_class()
        return TerminalDriver if issubclass(TerminalDriver, found) else found

    def on_mount(self) -> None:
        """Watch the files."""
        self._looking = False
        self._aged = self.began
        self.watch_loop()
        self.set_interval(WATCH_SECONDS, self._look)
        self.app_resume_signal.subscribe(self, self._resumed)
        # Not before the application runs: what is drawn while it mounts is drawn in vain.
        self.call_later(self._begin)

    def _begin(self) -> None:
        try:
            self.go(self.first)
        except Exception as error:
            self.give_up(error)

    def call_from_thread(self, callback: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """As textual does; only a worker that ends after the application or its screen has nobody to tell."""

        def unless_gone() -> Any:
            owner = getattr(callback, "__self__", self)
            gone = not self.is_running or (isinstance(owner, MessagePump) and not owner.is_running)
            return None if gone else callback(*args, **kwargs)

        return super().call_from_thread(unless_gone)

    def pop_screen(self) -> AwaitComplete:
        """Leave the screen on top. The last one stays: the palette, too, answers every enter of one burst."""
        return super().pop_screen() if len(self.screen_stack) > 1 else AwaitComplete()

    def _resumed(self, _: object) -> None:
        # After ctrl+z and fg the terminal is empty, which textual does not know.
        self.refresh(layout=True)

    def get_css_variables(self) -> dict[str, str]:
        """The theme's, and ours."""
        self.theme_variables = super().get_css_variables() | theme.variables(self.current_theme)
        return self.theme_variables

    def delay_update(self, delay: float = 0.05) -> None:
        """Paint another screen at once: textual would wait so many seconds."""

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Ours come first: textual's turn named colours into others."""
        return [*self.lines_through, *super().get_line_filters()]

    @cached_property
    def lines_through(self) -> Sequence[LineFilter]:
        """What becomes of lines for a terminal without UTF-8, and for a person who wants no colours."""
        if not self.no_color and not glyphs.plain(self.data.env, self.drawn_with):
            return ()
        from memtui.tui import output_filters

        return output_filters.needed(self.data.env, self.drawn_with, no_color=self.no_color)

    # data

    @cached_property
    def files(self) -> "Watch":
        """What tells when files change."""
        from memtui.tui.watch import Watch

        return Watch(self.data)

    def _look(self) -> None:
        if not self.screen_stack:
            return  # on the way out
        if self.has_read and not self._looking and not self.at_work:  # many changes are read once, after them
            self._looking = True
            screen = self.on_top
            self._look_in_worker(screen.near() if screen is not None and screen.is_attached else [])
            if screen is not None:
                self._age(screen)

    def _age(self, screen: ListScreen[Any]) -> None:
        now = self.data.now()
        if now - self._aged >= AGED_SECONDS and screen.is_attached:
            self._aged = now
            screen.aged()

    @work(thread=True, group="look")
    def _look_in_worker(self, near: list[str]) -> None:
        try:
            parts = self.files.changed(near)
        finally:
            self._looking = False
        if parts and self.is_running:
            self.call_from_thread(self.read, parts)
        self.count_findings(parts)

    def read(self, parts: frozenset[str] | None = None) -> None:
        """Read what the frame shows, then let the screen on top read what it shows; `parts` of the files as `Watch`
        names them, None for all."""
        if not gc.isenabled():
            gc.freeze()  # modules and styles stay
            gc.enable()
        first, self.has_read = not self.has_read, True
        self._looking = self._looking or first
        self._read_in_worker(parts, first)

    @work(thread=True, group="read")
    def _read_in_worker(self, parts: frozenset[str] | None, first: bool) -> None:
        if first:
            try:
                self.files.changed()  # what changes from here on is told
            finally:
                self._looking = False
        self.data.refresh()
        if self.is_running:
            self.call_from_thread(self._read, parts)

    def _read(self, parts: frozenset[str] | None) -> None:
        if not self.screen_stack:
            return  # on the way out
        drawn_with = self.data.setting("glyphs")
        if drawn_with != self.drawn_with:
            self.drawn_with = drawn_with
            del self.lines_through
            self.refresh_css(animate=False)
        self.show_theme()
        here = self.on_top
        if here is not None:
            here.frame()
            here.follow(parts)
        if not self._offered:
            self._offered = True
            from memtui.tui import hooks_offer

            if hooks_offer.is_first_start(self):
                self.carry_on(self.screen, "health.install", hooks_offer.change_hooks(self, "install", offer=True))

    # actions

    async def on_event(self, event: events.Event) -> None:
        """Any key takes away what went wrong before it."""
        if isinstance(event, events.Key):
            self.last_key = self.data.now()
            self.forget_failures()
            self.drop_errors()
        await super().on_event(event)

    def _run_on(self, screen: ListScreen[Any], action_id: str) -> None:
        """Run an action on a screen, or tell why not. What went wrong is told, never raised."""
        action = actions.get(action_id)
        self.forget_question(action_id)
        reason = "memtui runs with --read-only." if action.writes and self.read_only else ""
        if action.writes and self.at_work:
            reason = "Changes are being made: wait, or stop them with escape where they were begun."
        if not reason and action.listed and screen.over:
            reason = "The list is hidden while you read: escape goes back to it."
        # app.guide works wherever inbox.guide does not
        command = screen.commands.get(action_id) or Command(getattr(self, action.method))
        reason = reason or command.why_not()
        if reason:
            self.notify(safe_text.clean(reason), severity="warning", markup=False)
            return
        with self._telling(action_id):
            self.carry_on(screen, action_id, command.run())

    def carry_on(self, screen: Screen[Any], action_id: str, command: object) -> None:
        """Run a command that asks something: at once as far as the first question, the rest in a worker."""
        if not isinstance(command, Coroutine):
            return
        rest = running.begin(command)

        async def to_the_end(rest: Coroutine[Any, Any, None]) -> None:
            with self._telling(action_id):
                await rest

        if rest is not None:
            screen.run_worker(to_the_end(rest), group=COMMAND)

    @contextmanager
    def _telling(self, action_id: str) -> Iterator[None]:
        """What goes wrong is told, never raised."""
        try:
            yield
        except MemtuiError as error:
            self.fail(error)
        except OSError as error:
            self.fail(MemtuiError(f"{error.filename or 'A file'}: {error.strerror}", "Mend that and try again."))
        except Exception as error:
            self.fell(f"action {action_id}", error)

    def action_run(self, action_id: str) -> None:
        """A global key, or any action by its name: one of another screen runs there, once that is read."""
        here = self.on_top
        if here is None:
            return
        group = actions.get(action_id).group
        if group in {here.group, actions.GLOBAL}:
            self._run_on(here, action_id)
        else:
            there: ListScreen[Any] = self.go(group)
            there.when_read(lambda: self._run_on(there, action_id))


def main(
    env: dict[str, str], cwd: str, *, read_only: bool = False, screen: str = "memories", now: float | None = None
) -> int:
    """Run the application in this terminal; its exit code. Raises MemtuiError where it could not go on."""
    if read_only:
        fs.keep_no_caches()
    app = MemtuiApp(env, cwd, read_only=read_only, screen=screen, now=now)
    with terminal.kept(), terminal.signals(app.leave):
        app.run()
    if app.broken is not None or app.return_code is None:
        what = type(app.broken).__name__ if app.broken is not None else "no reason is known"
        raise MemtuiError(f"The control room had to end: {what}.", "`memtui doctor --errors` has the details.")
    return app.return_code


__all__ = ["TABS", "Changed", "MemtuiApp", "main"]
