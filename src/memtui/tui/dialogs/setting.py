"""One setting: its value typed, with what is wrong with it told while typing."""

from typing import ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static

from memtui.core.base.errors import UsageError
from memtui.core.settings import edit as config_edit
from memtui.core.settings import setting as settings
from memtui.core.settings.setting import Setting, Value
from memtui.tui.dialogs.dialog import Dialog, Keys
from memtui.tui.widgets.field import Field


class SettingScreen(Dialog[Value | None]):
    """The new value, or None if the person thought better of it. A value that can't hold is not taken."""

    DEFAULT_CSS = """
    SettingScreen > Vertical { height: auto; padding: 1 2; background: $panel; }
    SettingScreen Static { width: 1fr; }
    SettingScreen Field { margin: 1 0; }
    """
    across: ClassVar[int] = 72
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "cancel")]

    def __init__(self, setting: Setting) -> None:
        super().__init__()
        self.setting = setting

    def body(self) -> ComposeResult:
        """The setting, its meaning, the value, what is wrong."""
        with Vertical():
            yield Static(Text(self.setting.key, style="bold"))
            yield Static(Text(settings.MEANINGS.get(self.setting.key, "")))
            yield Field(str(self.setting.value))
            yield Static(id="wrong")
            default = config_edit.written(self.setting.default)
            yield Static(Text(f"default {default}", style="dim"))

    def keys(self) -> Keys:
        """Enter and escape."""
        return (("enter", "accept"), ("escape", "cancel"))

    def _value_of(self, typed: str) -> Value | None:
        wrong = self.query_one("#wrong", Static)
        try:
            value = settings.value_of(self.setting.key, typed.strip())
        except UsageError as error:
            wrong.update(Text().append("! " + error.message, style="yellow"))
            return None
        wrong.update("")
        return value

    @on(Input.Changed)
    def look(self, event: Input.Changed) -> None:
        """Say what is wrong."""
        self._value_of(event.value)

    @on(Input.Submitted)
    def answer(self, event: Input.Submitted) -> None:
        """Take what can hold."""
        value = self._value_of(event.value)
        if value is not None:
            self.dismiss(value)
