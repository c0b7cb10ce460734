"""`Services`: the application as screens, dialogs and widgets use it: notes, questions, commands, keys typed ahead."""

import asyncio
import inspect
import math
import os
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from textual import events
from textual.app import App
from textual.binding import Binding
from textual.message import Message
from textual.notifications import Notify
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

from memtui import keymap
from memtui.base.errors import MemtuiError
from memtui.base.phrasing_hot import many
from memtui.base.storage import file_error
from memtui.tui.files import COMMAND
from memtui.views import safe_text

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.screen import ModalScreen

    from memtui.keymap import Action
    from memtui.tui.files import FileReader
    from memtui.tui.model.data import Data
    from memtui.tui.safety_net import SafetyNet

Result = TypeVar("Result")
# Why an action that writes can't be run.
READ_ONLY = "Nothing was changed: memtui runs with --read-only."
BUSY = "Changes are being made. Wait, or press escape on the screen that started them."
UNDO_GROUP = "undo"  # the group of the workers that undo and redo
# A note stays as long as it takes to read; an error until a key is pressed.
NOTE_SECONDS, CHARACTERS_A_SECOND, FOR_EVER = 2.5, 25, 86400.0
# How often it is looked whether the widget that has a key is gone, and the longest that the next key waits for it.
LOOK_SECONDS, MOST_LOOKS = 1.0, 10
UNBOUND = "none"  # a name that no key has, for actions without a key: a key map can give them one
AT_ONCE, REPORT_SECONDS = 20, 0.1  # changes that are made without a thread; between two reports of progress


def bound(keys: str) -> str:
    """Return `keys` (separated by commas) without ctrl+q: Textual binds that itself, and it works in forms as well."""
    return ",".join(key for key in keys.split(",") if key != "ctrl+q")


def bindings(group: str) -> list[Binding]:
    """Return bindings for the actions of a group. Each has the action's id, for the key map of the application."""
    return [
        Binding(bound(a.keys) or UNBOUND, f"app.run('{a.id}')", a.footer or a.verb, show=False, id=a.id, tooltip=a.help)
        for a in keymap.of(group)
    ]


class Command(NamedTuple):
    """What an action does, and why it can't be done now; errors that `run` raises are shown to the person."""

    run: Callable[[], object]  # may be a coroutine function, which awaits its questions (`Services.ask`)
    why_not: Callable[[], str] = lambda: ""  # in words; empty if it can be run
    title: str = ""  # and `help`: of the action while it does something else than usual
    help: str = ""

    def named(self, action: "Action") -> "Action":
        return replace(action, name=self.title, help=self.help) if self.title else action


def first_of(*reasons: Callable[[], str]) -> Callable[[], str]:
    """Combine several `why_not` functions: the first reason that is not empty counts."""
    return lambda: next(filter(None, (reason() for reason in reasons)), "")


@dataclass
class HowFar(Message):
    """The progress of many changes, in words for the foot of the screen or dialog that is on top."""

    words: str


class Progress:
    """The changes that are being made; `services.at_work` while there are many."""

    def __init__(self, services: "Services") -> None:
        self.services, self._stop, self._reported_at = services, False, 0.0

    async def run(self, work: Callable[[], Result], total: int | None = None) -> Result:
        """Return what `work` does with `total` changes, None for a number that only `go_on` gets. Raises its errors."""
        self._stop = False
        if total is not None and total <= AT_ONCE:
            return work()
        if total is not None:
            self.begin(f"making {many(total, 'change')} …")
            self._reported_at = 0.0  # the first number that `go_on` gets is shown at once
        try:
            return await asyncio.to_thread(work)
        except asyncio.CancelledError:  # the application ends: stop the thread too
            self._stop = True
            raise
        finally:
            self.services.at_work = False

    def go_on(self, count: int, total: int, done: str = "done") -> bool:
        """Report how many changes are `done`; return False to stop. Called by the work."""
        if total > AT_ONCE:
            self.services.at_work = True
        return self.tell(f"{count:,} of {total:,} {done}")

    def tell(self, words: str) -> bool:
        """Report in words how far the work is, from time to time; return False to stop."""
        if self.services.at_work and time.monotonic() - self._reported_at > REPORT_SECONDS:
            self.begin(f"{words}, escape stops")
        return not self._stop

    def stop(self) -> bool:
        """Stop after the present change. Return False if many are not being made."""
        self._stop = self.services.at_work
        return self._stop

    def begin(self, words: str) -> None:
        """Let no other changes be made until `run` ends, and show these words."""
        self.services.at_work, self._reported_at = True, time.monotonic()
        if self.services.screen_stack:
            self.services.screen.post_message(HowFar(words))


class Handled(Message):
    """Follows a key from widget to widget, until it was handled; `again`: and what the widget said about it."""

    def __init__(self, screen: Screen[object], *, again: bool = False) -> None:
        super().__init__()
        self.screen, self.again = screen, again


class TypedAhead:
    """The keys and pasted texts that wait. `handle` is what the application does with one."""

    def __init__(self, app: App[None], handle: Callable[[events.Event], Awaitable[None]]) -> None:
        self._app, self._handle = app, handle
        self._waiting: deque[events.Event] = deque()
        self._is_under_way = False
        self._has_typed = False  # the widget in focus has letters in its queue, which a key with priority must not pass
        self._is_held = False  # a command has begun, or goes on after an answer, and has opened nothing yet
        self._timer: Timer | None = None
        self._holder: Widget | Screen[object] | None = None  # what has the key before
        self._sent: Handled | None = None  # what follows it
        self._looks = 0

    async def take(self, event: events.Event) -> None:
        """Handle a key or pasted text, at once unless the key before it is not handled yet."""
        self._waiting.append(event)
        if not self._is_under_way:
            await self._go_on()
        elif self._timer is None:
            self._timer = self._app.set_interval(LOOK_SECONDS, self._look)

    async def _look(self) -> None:
        """Go on if the widget that has the key before is gone: what is only slow must not have it after this one."""
        self._looks += 1
        if self._holder is None or not self._holder.is_running or self._looks > MOST_LOOKS:
            await self._go_on()

    def hold(self) -> None:
        self._is_held = self._is_under_way = True

    def release(self) -> None:
        """Let the command go on until it waits, then let the keys go to what it opened."""
        if self._is_held:
            self._app.call_later(self._follow)

    def arrived(self, message: Handled) -> None:
        """Go on after a key: once the screen that it opened is there, and has its focus."""
        if message is self._sent and self._app.screen is not message.screen:
            self._follow()
        elif message is self._sent and not self._is_held:
            self._sent, holder = Handled(message.screen, again=True), self._holder
            if message.again or holder is None or not holder.post_message(self._sent):
                self._app.call_later(self._go_on)

    async def _go_on(self) -> None:
        self._is_under_way, self._is_held, self._holder, self._looks = False, False, None, 0
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        while self._waiting and not self._is_under_way:
            is_for_focused = _is_for(self._app.focused, self._waiting[0])
            if self._has_typed and not is_for_focused:
                self._follow()
                return
            await self._handle(self._waiting.popleft())
            if is_for_focused:
                self._has_typed = True
            else:
                self._follow()

    def _follow(self) -> None:
        self._is_under_way, self._is_held, self._has_typed = True, False, False
        self._holder = self._app.focused or self._app.screen
        self._sent = Handled(self._app.screen)
        self._holder.post_message(self._sent)


def _is_for(focused: Widget | None, event: events.Event) -> bool:
    """Whether the widget in focus takes a key or pasted text for itself, so that nothing opens behind it."""
    if isinstance(event, events.Key) and event.key in getattr(focused, "MOVES", ()):
        return True
    key, character = (event.key, event.character) if isinstance(event, events.Key) else ("v", "v")
    return focused is not None and focused.check_consume_key(key, character)


class Services(App[None]):
    """The application, as the modules below it know it."""

    data: "Data"
    net: "SafetyNet"
    files: "FileReader"
    typed_ahead: TypedAhead
    progress: "Progress"
    read_only: bool
    at_work = False  # many changes are being made in a worker, and no others can be made meanwhile
    last_note = ""  # what was last said
    dialog_cancelled = False  # whether the last question was, and nothing was said since
    undone_at = -math.inf  # when the last undo began, on the monotonic clock
    turn: Callable[..., None]  # undoes or redoes the last change, or the one with a key
    choose_theme: Callable[[str], None]  # shows a theme by its name in the settings, and saves it
    action_run: Callable[[str], None]  # runs an action on its screen, or shows why it can't be run

    @property
    def all_projects(self) -> bool:
        return self.data.every

    @all_projects.setter
    def all_projects(self, chosen: bool) -> None:
        self.data.every, self.files.count_at_once = chosen, True

    # notes: one at a time, an error until a key is pressed

    def notify(self, message: str, **more: Any) -> None:
        self.last_note, self.dialog_cancelled = message, False
        is_error = more.get("severity") == "error"
        more["timeout"] = FOR_EVER if is_error else NOTE_SECONDS + len(message) / CHARACTERS_A_SECOND
        super().notify(message, **more)

    def say(self, text: str) -> None:
        self.notify(safe_text.clean(text), markup=False)

    def warn(self, text: str) -> None:
        """Show a note of what can't be done, or is done and has no effect."""
        self.notify(safe_text.clean(text), severity="warning", markup=False)

    def fail(self, error: MemtuiError | OSError) -> None:
        error = file_error(error) if isinstance(error, OSError) else error
        self.notify(safe_text.clean(f"{error.message}\n{error.hint}".strip()), severity="error", markup=False)

    def copy(self, text: str) -> None:
        self.copy_to_clipboard(text)
        self.say(f"Copied {len(text):,} characters.")

    def clear_notifications(self) -> None:
        self._remove_notes("ToastHolder")
        super().clear_notifications()

    def on_notify(self, event: Notify) -> None:
        """Remove the notes that the new one replaces: all but errors, and these too if it is an error."""
        self.drop_notes(errors=event.notification.severity == "error")

    def drop_notes(self, *, errors: bool = False) -> None:
        """Remove all notes, with `errors` also those of errors: they are about what is no longer shown."""
        for note in list(self._notifications):
            if note.severity != "error" or errors:
                self._unnotify(note, refresh=False)
                self._remove_notes(f"#--textual-toast-{note.identity}")

    def _remove_notes(self, holders: str) -> None:
        # Textual would remove the text alone, only on the screen on top, and leave an empty line in its place.
        for screen in self.screen_stack:
            screen.query(holders).remove()

    def drop_errors(self) -> None:
        """Remove all notes if one is an error or a warning: a key was pressed, so it was seen."""
        if any(note.severity != "information" for note in self._notifications):
            self.clear_notifications()

    async def ask(self, dialog: "ModalScreen[Result]") -> Result | None:
        answer: asyncio.Future[Result | None] = asyncio.get_running_loop().create_future()

        def answered(result: Result | None) -> None:
            # What asked may have ended before the dialog closes: both end when the application does.
            if not answer.done():
                answer.set_result(result)

        self.push_screen(dialog, answered)
        self.typed_ahead.release()
        try:
            result = await answer
            self.dialog_cancelled = not result
            return result
        finally:
            self.typed_ahead.release()

    def start(self, node: Screen[Any], command: Coroutine[Any, Any, object], what: str, back: str = "") -> None:
        """Run a coroutine in a worker; keys wait for its dialog or end. Errors name `what`; where left, go `back`."""

        async def run() -> None:
            self.dialog_cancelled = False
            with self._showing_errors(what):
                await command
            if back and self.dialog_cancelled and self.screen is node:
                self.go(back)
            self.typed_ahead.release()

        node.run_worker(run(), group=COMMAND)
        if self.screen is node and not self.at_work:
            self.typed_ahead.hold()

    def run_command(self, screen: Screen[Any], command: Command, what: str, back: str = "") -> None:
        with self._showing_errors(what):
            result = command.run()
            if inspect.iscoroutine(result):
                self.start(screen, result, what, back)

    @contextmanager
    def _showing_errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except (MemtuiError, OSError) as error:
            self.fail(error)
        except Exception as error:
            self.net.report(f"action {what}", error)

    def make(self, change: Callable[[], Result], words: str, parts: frozenset[str] | None = None) -> Result:
        """Make a change, say so, with the key that takes it back, and read `parts` of the files. Raises its errors."""
        try:
            result = change()
            self.say(f"{words} {keymap.takes_back()}")
        finally:
            self.read(parts)
        return result

    def read(self, parts: frozenset[str] | None = None) -> None:
        """Read the files again, then what the screen on top shows: these parts as `Watch` names them, None for all."""
        self.files.read(parts)

    def go(self, name: str) -> Any:
        """Show the screen of this name, and return it, with its list; what was opened over it may still cover it."""
        screen: Any = self.screen_stack[0]
        if name != self.current_mode:
            self.drop_notes()
        else:
            screen.leave_detail()
        self.switch_mode(name)
        return self.screen_stack[0]

    def go_to_memory(self, path: str) -> None:
        if os.path.exists(path):
            self.data.approved = ""  # it goes before what was approved last
            self.go("memories").go_to(path)
        else:
            where = keymap.keyed("It may be in the trash: {app.memories}, {memories.restore}.")
            self.fail(MemtuiError(f"{os.path.basename(path)} does not exist any more.", where))


def services_of(node: "DOMNode") -> Services:
    return cast("Services", node.app)
