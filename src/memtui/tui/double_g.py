"""The keys `gg`: to the first row or line. The first `g` opens the form for guidance at once, the second closes it."""

from typing import TYPE_CHECKING, Any

from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.rows import RowList

if TYPE_CHECKING:
    from textual.app import App
    from textual.events import Key

KEY = "g"
# Seconds in which the second `g` must follow the first.
WITHIN = 0.35


class DoubleG:
    """The two keys in an application. The form is empty when the second one comes: any other key between would have
    ended the pair."""

    def __init__(self, app: "App[Any]") -> None:
        self.app = app
        self._first: Key | None = None
        self._list: RowList[Any] | Detail | None = None

    def takes(self, event: "Key") -> bool:
        """Go to the first row if this is the second `g` of a pair. Return whether it is, so that no widget gets it."""
        here, first = self._list, self._first
        if (
            event.key == KEY
            and here is not None
            and first is not None
            and event.time - first.time <= WITHIN
            and here.is_attached
        ):
            self._list = None
            self.app.clear_notifications()
            if self.app.screen is not here.screen:
                self._close_form()
            else:  # the first is still on its way through the widgets: it must not open the form after this
                first.stop()
                first.prevent_default()
            here.action_edge(-1)
            return True
        self._first, self._list = event, self._list_in_focus() if event.key == KEY else None
        return False

    def _list_in_focus(self) -> RowList[Any] | Detail | None:
        focused = self.app.focused
        if isinstance(focused, RowList):
            return None if focused.letters_narrow else focused
        return focused if isinstance(focused, Detail) else None

    def _close_form(self) -> None:
        from memtui.tui.dialogs.draft_form import DraftForm

        form = self.app.screen
        if isinstance(form, DraftForm):
            form.dismiss()
