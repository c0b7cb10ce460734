"""What can be done on every screen: going about, undo and redo, themes, copying, telling."""

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from textual import events
from textual.errors import NoWidget
from textual.notifications import Notify
from textual.theme import BUILTIN_THEMES
from textual.timer import Timer

from memtui import actions
from memtui.core.base.errors import MemtuiError
from memtui.core.settings import config
from memtui.present import safe_text
from memtui.tui.dialogs.dialog import Typed
from memtui.tui.model.data import Data
from memtui.tui.safety_net import Netted
from memtui.tui.screens.frame import Base
from memtui.tui.screens.list_screen import ListScreen

if TYPE_CHECKING:
    from textual.screen import ModalScreen

    from memtui.core.review.waiting import Waiting
    from memtui.tui.services import Result
    from memtui.tui.undo import Turning

# A note stays as long as it takes to read; an error until a key.
NOTE_SECONDS, CHARACTERS_A_SECOND, FOR_EVER = 2.5, 25, 86400.0
# Going round the themes is one change of the settings, made when the person has come to rest.
REST_SECONDS = 1.0
COPIED_SHOWN = 30
# Findings are counted when no key was pressed for so long, and no more than this share of the time.
QUIET_SECONDS, COUNT_SHARE = 3.0, 30.0
COUNTED = frozenset({"settings", "inbox", "memories"})


def theme_named(setting: object) -> str:
    """Textual's name of a theme; of one that this version of it has not, the dark one's."""
    name = f"textual-{setting}" if setting in {"dark", "light"} else str(setting)
    return name if name in BUILTIN_THEMES else "textual-dark"


def themes_round() -> dict[str, str]:
    """The themes that ctrl+t goes round: textual's name to ours."""
    named = {theme_named(name): name for name in reversed(config.THEMES)}
    return dict(reversed(named.items()))


class Everywhere(Netted):
    """The global actions of the table."""

    data: Data
    read_only: bool
    remapped: dict[str, str]
    theme_set: object
    began: float  # when this sitting did
    last_key = 0.0
    _count_wanted = True
    _count_at = 0.0
    at_work = False  # many changes are being made in a worker: no others meanwhile
    _theme_timer: Timer | None = None
    _themes = ""  # going round them is one step of undo, until something else is changed

    if TYPE_CHECKING:
        has_read: bool

        def read(self, parts: frozenset[str] | None = None) -> None: ...

        def action_run(self, action_id: str) -> None: ...

    # how many problems there are

    def count_findings(self, parts: frozenset[str]) -> None:
        """Count them for the top line, in a worker, when the person rests: that reads all memories."""
        self._count_wanted = self._count_wanted or bool(parts & COUNTED)
        now = self.data.now()
        if not self._count_wanted or now - max(self.last_key, self.began) < QUIET_SECONDS or now < self._count_at:
            return
        self._count_wanted = False
        before = time.monotonic()
        try:
            self.data.count_findings()
        except (OSError, MemtuiError):
            return  # the health screen tells
        self._count_at = now + COUNT_SHARE * (time.monotonic() - before)
        if self.is_running:
            self.call_from_thread(self._draw_frame)

    @property
    def on_top(self) -> "ListScreen[Any] | None":
        """The screen that is shown, None where something else lies over it."""
        screen = self.screen
        return cast("ListScreen[Any]", screen) if isinstance(screen, (ListScreen, Base)) else None

    def _draw_frame(self) -> None:
        if self.on_top is not None:
            self.on_top.frame()

    # telling

    @property
    def errors_root(self) -> str:
        """memtui's own directory."""
        return self.data.root

    def notify(self, message: str, **more: Any) -> None:
        """One note at a time; long enough to be read."""
        seconds = NOTE_SECONDS + len(message) / CHARACTERS_A_SECOND
        more["timeout"] = FOR_EVER if more.get("severity") == "error" else seconds
        super().notify(message, **more)

    def on_notify(self, event: Notify) -> None:
        """The newest takes the place of those before, but an error stays beside what is said after it."""
        for old in list(self._notifications):
            if old.severity != "error" or event.notification.severity == "error":
                self._unnotify(old, refresh=False)
        self._place_notes()

    def drop_errors(self) -> None:
        """A key was pressed: what went wrong was seen."""
        if any(note.severity == "error" for note in self._notifications):
            self.clear_notifications()

    def _place_notes(self) -> None:
        """At the end of the screen where the cursor is not."""

        focused = self.focused
        row = 0
        if focused is not None:
            cursor = getattr(focused, "cursor_row", None)
            row = focused.region.y + (cursor if isinstance(cursor, int) else focused.region.height // 2)
        for rack in self.screen.query("ToastRack"):
            rack.set_class(row > self.size.height // 2, "above")

    def fail(self, error: MemtuiError) -> None:
        """Tell what went wrong and what to do."""
        self.notify(safe_text.clean(f"{error.message}\n{error.hint}".strip()), severity="error", markup=False)

    def say(self, text: str) -> None:
        """Tell what happened."""
        self.notify(safe_text.clean(text), markup=False)

    # going

    def go(self, name: str) -> Any:
        """To a screen of its own name."""
        self.switch_mode(name)
        return self.screen_stack[0]  # over it may still be what was opened there

    def do_app_memories(self) -> None:
        """To the memories."""
        self.go("memories")

    def do_app_inbox(self) -> None:
        """To the inbox."""
        self.go("inbox")

    def do_app_guidance(self) -> None:
        """To the guidance."""
        self.go("guidance")

    def do_app_deliveries(self) -> None:
        """To the deliveries."""
        self.go("deliveries")

    def do_app_health(self) -> None:
        """To the health."""
        self.go("health")

    def go_to_memory(self, path: str) -> None:
        """To a memory on its screen, wherever it is."""
        if not os.path.exists(path):
            self.fail(
                MemtuiError(
                    f"{os.path.basename(path)} is not there any more.",
                    actions.keyed("It may be in the trash: {app.memories}, {memories.restore}."),
                )
            )
            return
        self.go("memories").go_to(path)

    def show_deliveries(self, **wanted: str) -> None:
        """To the deliveries that fit, such as `memory=path`."""
        self.go("deliveries").want(**wanted)

    def go_to_note(self, item: "Waiting") -> None:
        """To a note that waits, on its screen."""
        self.go("guidance").go_to(item)

    def do_app_settings(self) -> None:
        """To the settings, below the health."""
        self.go("health").to_section("Settings")

    def do_app_next_pane(self) -> None:
        """The next pane."""
        self.screen.focus_next()

    def do_app_previous_pane(self) -> None:
        """The pane before."""
        self.screen.focus_previous()

    # undo

    @cached_property
    def turning(self) -> "Turning":
        """Undo and redo."""
        from memtui.tui.undo import Turning

        return Turning(self, self, self._turned)

    def do_app_undo(self) -> None:
        """Take back the last change. One that was not made here and now is named first."""
        self.turn("undo")

    def do_app_redo(self) -> None:
        """Do it again. What was taken back elsewhere is named first."""
        self.turn("redo")

    def turn(self, op: str, key: str | None = None) -> None:
        """Undo or redo the last change, or the one with this key."""
        if op == "undo" and key is None:
            self._keep_theme()
        self.turning.want(op, key)

    def _turned(self) -> None:
        self.read()
        if self.on_top is None:
            getattr(self.screen, "turned", lambda: None)()

    def do_app_changes(self) -> None:
        """What was changed, to take back one by one."""
        from memtui.tui.dialogs.changes import Changes

        self.push_screen(Changes(self.data, read_only=self.read_only))

    def forget_question(self, action_id: str) -> None:
        """Another action than undo or redo: what that asked is asked anew the next time."""
        if "turning" in self.__dict__:
            self.turning.forget_question({"app.undo": "undo", "app.redo": "redo"}.get(action_id, ""))

    async def on_event(self, event: events.Event) -> None:
        """Escape stops an undo that takes long, wherever one is; what is gone can't be clicked."""
        if isinstance(event, events.Key) and event.key == "escape" and self.at_work and self.turning.stop():
            return
        if isinstance(event, events.MouseDown) and self._is_gone(event):
            return
        await super().on_event(event)

    def _is_gone(self, event: events.MouseDown) -> bool:
        """Whether what was hit is not there any more and only not painted over yet: a note whose time is up."""
        try:
            return not self.screen.get_widget_at(int(event.x), int(event.y))[0].is_attached
        except NoWidget:
            return False

    # over the screen

    def do_app_guide(self) -> None:
        """Leave guidance."""
        from memtui.tui.dialogs.compose import Compose

        def then(sent: str | None) -> None:
            if sent:
                self.read()

        self.push_screen(Compose(self.data), then)

    def do_app_palette(self) -> None:
        """The palette."""
        self.action_command_palette()

    def action_command_palette(self) -> None:
        """As textual does, with our palette."""
        from memtui.tui.palette import Palette

        if not any(isinstance(screen, Palette) for screen in self.screen_stack):
            self.push_screen(Palette())  # without an id: the one before may not be gone yet

    def do_app_help(self) -> None:
        """The keys of this screen."""
        from memtui.tui.dialogs.help import Help

        if self.on_top is not None:
            self.push_screen(Help(self.on_top.group, self.remapped, getattr(self.on_top, "legend", "")))

    # the rest

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """As textual does; only it comes back also where what was run meanwhile failed."""
        failed: BaseException | None = None
        with super().suspend():
            try:
                yield
            except BaseException as error:
                failed = error
        if failed is not None:
            raise failed

    def do_app_copy(self) -> None:
        """Copy what the screen shows."""
        text = getattr(self.screen, "copied", lambda: "")()
        if text:
            self.copy(text)
        else:
            self.notify("There is nothing to copy here.", severity="warning")

    async def ask(self, dialog: "ModalScreen[Result]") -> "Result | None":
        """Show a dialog; its answer, None where it was left."""
        answer: asyncio.Future[Result | None] = asyncio.get_running_loop().create_future()
        self.push_screen(dialog, answer.set_result)
        return await answer

    def copy(self, text: str) -> None:
        """Copy a text, and say which."""
        self.copy_to_clipboard(text)
        start = " ".join(text[: COPIED_SHOWN * 4].split())[:COPIED_SHOWN].rstrip()
        more = " …" if len(text.strip()) > len(start) else ""
        self.say(f"Copied {len(text):,} characters: “{start}{more}”")

    def action_help_quit(self) -> None:
        """ctrl+c with nothing selected: in a terminal a person means to leave."""
        self.say(
            actions.keyed(
                "{app.quit} leaves memtui. ctrl+c copies what is selected with the mouse, {app.copy} what is shown."
            )
        )

    def do_app_refresh(self) -> None:
        """Read everything again."""
        self.data.forget()
        self.read()

    def show_theme(self) -> None:
        """Take the theme that the settings name, if they name another than before."""
        setting = self.data.setting("theme")
        if setting != self.theme_set:
            self.theme_set = setting
            self.theme = theme_named(setting)

    def do_app_theme(self) -> None:
        """The next theme."""
        names = list(themes_round().items())
        here = [name for name, _ in names].index(self.theme) if self.theme in themes_round() else -1
        self.theme, chosen = names[(here + 1) % len(names)]
        own = ", the terminal's own colours" if chosen.startswith("ansi") else ""
        self.say(f"Theme: {chosen}{own}")
        if self._theme_timer is not None:
            self._theme_timer.stop()
        self._theme_timer = None if self.read_only else self.set_timer(REST_SECONDS, lambda: self._keep(chosen))

    def _keep(self, theme: str) -> None:
        from memtui.core.base import ids
        from memtui.core.settings import setting as settings

        self._theme_timer = None
        if theme == self.data.setting("theme"):
            return
        self.theme_set = theme
        self._themes = self._themes or ids.new_id(self.data.now())
        journal = self.data.journal()
        try:
            default = theme == config.DEFAULTS["theme"]
            with journal.together(self._themes):
                settings.assign(self.data.root, journal, "theme", None if default else theme)
        except (MemtuiError, OSError) as error:
            self.fail(error if isinstance(error, MemtuiError) else MemtuiError(f"The theme can't be kept: {error}"))

    def do_app_quit(self) -> None:
        """Leave, whatever fails meanwhile."""
        try:
            self._keep_theme()
        finally:
            self.exit()

    async def action_quit(self) -> None:
        """ctrl+q, which works in forms as well: what is typed there is kept."""
        self.leave()

    def leave(self, return_code: int = 0) -> None:
        """Keep what is typed, and leave, whatever fails meanwhile."""
        for screen in self.screen_stack:
            try:
                if isinstance(screen, Typed):
                    screen.keep_now()
            except Exception as error:
                self.fell("keeping what was typed", error)
        try:
            self._keep_theme()
        finally:
            self.exit(return_code=return_code)

    def _keep_theme(self) -> None:
        """The theme that was chosen just now, without waiting."""
        timer, self._theme_timer = self._theme_timer, None
        if timer is not None:
            timer.stop()
            self._keep(themes_round()[self.theme])
