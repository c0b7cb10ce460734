"""Keys typed ahead: each is handled once what the key before it opens is there to take it."""

from collections import deque
from collections.abc import Awaitable, Callable

from textual import events
from textual.app import App
from textual.message import Message
from textual.screen import Screen
from textual.timer import Timer
from textual.widget import Widget

# How often it is looked whether the widget that has a key is gone, and the longest that the next key waits for it.
LOOK_SECONDS, MOST_LOOKS = 1.0, 10


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
        """Let keys wait while something opens that is to take them."""
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
