"""The application: screens, global actions, and one watcher that tells the screens when files change."""

import gc
import os
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, ClassVar

from textual import work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.filter import LineFilter
from textual.message import Message
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES

from memtui.core import glyphs
from memtui.core.errors import MemtuiError
from memtui.tui import actions, safe
from memtui.tui.data import Data
from memtui.tui.screens import make
from memtui.tui.screens.base import TABS, Base

WATCH_SECONDS = 0.7
# Those that this version of textual has; a theme's name is no promise of its.
THEMES = tuple(n for n in ("textual-dark", "textual-light", "ansi-dark", "ansi-light") if n in BUILTIN_THEMES)


class Changed(Message):
    """Files that the screens show have changed."""


class Verbs(Provider):
    """The palette: every action as `group: verb`."""

    def _commands(self) -> list[tuple[str, str, str]]:
        app = self.app
        assert isinstance(app, MemtuiApp)
        groups = {actions.GLOBAL, getattr(self.screen, "group", "")}
        return [(f"{a.group}: {a.verb}", a.help, a.id) for a in actions.table() if a.group in groups]

    async def discover(self) -> Hits:
        """Everything, before anything is typed."""
        for name, text, action_id in self._commands():
            yield DiscoveryHit(name, lambda i=action_id: self._run(i), help=text)

    async def search(self, query: str) -> Hits:
        """What fits."""
        matcher = self.matcher(query)
        for name, text, action_id in self._commands():
            score = max(matcher.match(name), matcher.match(text) * 0.8)
            if score > 0:
                yield Hit(score, matcher.highlight(name), lambda i=action_id: self._run(i), help=text)

    def _run(self, action_id: str) -> None:
        app = self.app
        if isinstance(app, MemtuiApp) and isinstance(app.screen, Base):
            app.run_action_of(app.screen, action_id)


class MemtuiApp(App[None]):
    """`read_only` forbids every action that writes."""

    TITLE = "memtui"
    CSS_PATH = "memtui.tcss"
    COMMANDS: ClassVar[set[type[Provider] | Any]] = {Verbs}
    ENABLE_COMMAND_PALETTE = True
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {name: partial(make, name) for name in TABS}
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+z", "suspend_process", show=False)]

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
        self.first = screen
        self.data = Data(env, cwd, now=now)
        self.read_only = read_only
        self._offered = False
        self.has_read = False
        self.remapped: dict[str, str] = self.data.keys()
        self.drawn_with = self.data.setting("glyphs")
        theme = self.data.setting("theme")
        self.theme = theme if theme in BUILTIN_THEMES else THEMES[0]

    def on_mount(self) -> None:
        """Bind the global keys, and watch the files."""
        for binding in actions.bindings(actions.GLOBAL, self.remapped):
            self._bindings.bind(binding.key, binding.action, binding.description, show=False)
        self._looking = False
        self._stamp: tuple[object, ...] = ()
        self.set_interval(WATCH_SECONDS, self._look)
        # Not before the application runs: what is drawn while it mounts is drawn in vain.
        self.call_later(self._go, self.first)

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
        from memtui.tui import filters

        return filters.needed(self.data.env, self.drawn_with, no_color=self.no_color)

    # data

    @work(thread=True, exclusive=True, group="look")
    def _look(self) -> None:
        # Asking after thousands of files takes longer than a key may wait.
        if self._looking or not self._stamp:
            return
        self._looking = True
        try:
            stamp = self.data.stamp()
        finally:
            self._looking = False
        if stamp != self._stamp and self.is_running:
            self._stamp = stamp
            self.call_from_thread(self.read)

    def read(self) -> None:
        """Read what the frame shows, then let the screen on top read what it shows."""
        if not gc.isenabled():
            gc.freeze()  # modules and styles stay
            gc.enable()
        self.has_read = True
        self._read_in_worker()

    @work(thread=True, exclusive=True, group="read")
    def _read_in_worker(self) -> None:
        self._stamp = self._stamp or self.data.stamp()
        self.data.refresh()
        self.call_from_thread(self._read)

    def _read(self) -> None:
        if not self.screen_stack:
            return  # on the way out
        drawn_with = self.data.setting("glyphs")
        if drawn_with != self.drawn_with:
            self.drawn_with = drawn_with
            del self.lines_through
            self.refresh_css(animate=False)
        if isinstance(self.screen, Base):
            self.screen.frame()
            self.screen.reload()
        if not self._offered:
            self._offered = True
            from memtui.tui import offer

            offer.on_first_start(self)

    # actions

    def run_action_of(self, screen: Base, action_id: str) -> None:
        """Run an action on a screen, or tell why not. What went wrong is told, never raised."""
        action = actions.get(action_id)
        reason = "memtui runs with --read-only." if action.writes and self.read_only else ""
        if not reason and action.group == screen.group:  # app.guide works wherever inbox.guide does not
            reason = screen.why_not(action_id)
        if reason:
            self.notify(safe.clean(reason), severity="warning", markup=False)
            return
        handler = getattr(screen, action.method, None) or getattr(self, action.method)
        try:
            handler()
        except MemtuiError as error:
            self.fail(error)
        except OSError as error:
            self.fail(MemtuiError(f"{error.filename or 'A file'}: {error.strerror}", "Mend that and try again."))

    def fail(self, error: MemtuiError) -> None:
        """Tell what went wrong and what to do."""
        self.notify(safe.clean(f"{error.message}\n{error.hint}".strip()), severity="error", timeout=10, markup=False)

    def say(self, text: str) -> None:
        """Tell what happened."""
        self.notify(safe.clean(text), markup=False)

    def action_run(self, action_id: str) -> None:
        """A global key."""
        if isinstance(self.screen, Base):
            self.run_action_of(self.screen, action_id)

    def _go(self, name: str) -> None:
        self.switch_mode(name)

    def do_app_memories(self) -> None:
        """To the memories."""
        self._go("memories")

    def do_app_inbox(self) -> None:
        """To the inbox."""
        self._go("inbox")

    def do_app_guidance(self) -> None:
        """To the guidance."""
        self._go("guidance")

    def do_app_deliveries(self) -> None:
        """To the deliveries."""
        self._go("deliveries")

    def do_app_health(self) -> None:
        """To the health."""
        self._go("health")

    def go_to_memory(self, path: str) -> None:
        """To a memory on its screen, wherever it is."""
        if not os.path.exists(path):
            self.fail(MemtuiError(f"{os.path.basename(path)} is not there any more.", "It may be in the trash: 1, b."))
            return
        self._go("memories")
        screen: Any = self.screen
        screen.go_to(path)

    def show_deliveries(self, **wanted: str) -> None:
        """To the deliveries that fit, such as `memory=path`."""
        self._go("deliveries")
        screen: Any = self.screen
        screen.want(**wanted)

    def do_app_undo(self) -> None:
        """Take back the last change."""
        self.say("Undone: " + self.data.undo())
        self.read()

    def do_app_redo(self) -> None:
        """Do it again."""
        self.say("Done again: " + self.data.redo())
        self.read()

    def do_app_guide(self) -> None:
        """Leave guidance."""
        from memtui.tui.widgets.compose import Compose

        def then(sent: bool | None) -> None:
            if sent:
                self.read()

        self.push_screen(Compose(self.data), then)

    def do_app_palette(self) -> None:
        """The palette."""
        self.action_command_palette()

    def do_app_help(self) -> None:
        """The keys of this screen."""
        from memtui.tui.widgets.help import Help

        if isinstance(self.screen, Base):
            self.push_screen(Help(self.screen.group, self.remapped, getattr(self.screen, "legend", "")))

    def do_app_next_pane(self) -> None:
        """The next pane."""
        self.screen.focus_next()

    def do_app_previous_pane(self) -> None:
        """The pane before."""
        self.screen.focus_previous()

    def do_app_copy(self) -> None:
        """Copy what the screen shows."""
        text = getattr(self.screen, "copied", lambda: "")()
        if text:
            self.copy_to_clipboard(text)
            self.say(f"Copied {len(text)} characters.")
        else:
            self.notify("There is nothing to copy here.", severity="warning")

    def do_app_refresh(self) -> None:
        """Read everything again."""
        self.data.forget()
        self.read()

    def do_app_theme(self) -> None:
        """The next theme."""
        at = THEMES.index(self.theme) if self.theme in THEMES else 0
        self.theme = THEMES[(at + 1) % len(THEMES)]

    def do_app_quit(self) -> None:
        """Leave."""
        self.exit()


def main(
    env: dict[str, str], cwd: str, *, read_only: bool = False, screen: str = "memories", now: float | None = None
) -> int:
    """Run the application in this terminal; its exit code."""
    app = MemtuiApp(env, cwd, read_only=read_only, screen=screen, now=now)
    app.run()
    return app.return_code or 0


__all__ = ["TABS", "Changed", "MemtuiApp", "main"]
