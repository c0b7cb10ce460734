"""Colours that Textual's themes lack, the style sheet and the choice of the theme."""

import dataclasses
from typing import TYPE_CHECKING

from rich.terminal_theme import TerminalTheme
from textual.css.stylesheet import Stylesheet
from textual.theme import BUILTIN_THEMES, Theme

from memtui.base.errors import MemtuiError
from memtui.settings import config

if TYPE_CHECKING:
    from memtui.tui.services import Services

BLACK = (0, 0, 0)
# Textual's own, with a red, blue and magenta that can be read on the cursor's row too.
DARK_NAMED = [(26, 26, 26), (255, 107, 133), (152, 224, 36), (253, 151, 31), (150, 185, 255), (255, 140, 210)]
ON_DARK = TerminalTheme((12, 12, 12), (217, 217, 217), [*DARK_NAMED, (88, 209, 235), (196, 197, 181)])
# Textual's yellow and green can't be read on a light background.
LIGHT_NAMED = [BLACK, (143, 20, 20), (15, 81, 34), (107, 65, 0), (31, 63, 153), (107, 31, 122), (0, 74, 102)]
ON_LIGHT = TerminalTheme((247, 247, 247), BLACK, [*LIGHT_NAMED, (90, 90, 90)])
LIGHT = dataclasses.replace(
    BUILTIN_THEMES["textual-light"],
    foreground="#080808",
    accent="#8a4b00",
    warning="#8a4b00",
    error="#a1203f",
    success="#1e6b34",
)


# How much of the primary colour the cursor's row has, in percent: less than usual where a named colour could not be
# read on it, by WCAG's contrast of 3 for large letters and signs.
CURSOR_DARK, CURSOR_LIGHT = 35, 20
CURSORS = {
    **dict.fromkeys(("nord", "catppuccin-frappe"), 20),
    **dict.fromkeys(("catppuccin-mocha", "catppuccin-macchiato", "atom-one-dark"), 25),
    **dict.fromkeys(("gruvbox", "dracula", "rose-pine-moon"), 30),
}


def variables(theme: Theme) -> dict[str, str]:
    """Return the CSS variables for rules, the cursor's row and scroll bars: visible but quiet in any theme."""
    if theme.ansi:
        return {
            "rule": "ansi_bright_black",
            "rule-over": "ansi_bright_black",
            "cursor-row": "ansi_blue",
            "cursor-text": "ansi_bright_white",
            "cursor-left": "ansi_bright_black",
            "scrollbar": "ansi_bright_black",
            "scrollbar-background": "ansi_default",
        }
    ink = theme.foreground or ("#e0e0e0" if theme.dark else "#080808")
    cursor = CURSORS.get(theme.name, CURSOR_DARK if theme.dark else CURSOR_LIGHT)
    return {
        "rule": f"{ink} 45%",
        "rule-over": f"{ink} 55%",
        "cursor-row": f"{theme.primary} {cursor}%",
        "cursor-text": ink,
        "cursor-left": f"{ink} {12 if theme.dark else 6}%",
        **dict.fromkeys(("scrollbar", "scrollbar-hover", "scrollbar-active"), f"{ink} 55%"),
        **dict.fromkeys((f"scrollbar-background{state}" for state in ("", "-hover", "-active")), f"{ink} 8%"),
    }


def theme_named(setting: object) -> str:
    """Return Textual's name of a theme, that of the dark theme if this version of Textual does not have it."""
    name = f"textual-{setting}" if setting in {"dark", "light"} else str(setting)
    return name if name in BUILTIN_THEMES else "textual-dark"


class KeptStylesheet(Stylesheet):
    """Keeps its rules while its variables stay the same: Textual parses all again when a screen is first shown."""

    def __init__(self, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self._current = variables
        self._changed = False

    def set_variables(self, variables: dict[str, str]) -> None:
        if variables != self._current:
            self._current, self._changed = variables, True
            super().set_variables(variables)

    def reparse(self) -> None:
        """Parse all styles again if the variables have changed. What was added else is parsed when it is needed."""
        if self._changed:
            super().reparse()
            self._changed = False


class ThemeChoice:
    """The theme of the application: the one in the settings, or the one that the person has just chosen."""

    def __init__(self, app: "Services") -> None:
        self.app = app
        self.setting: object = None
        self.show()

    def show(self) -> None:
        setting = self.app.data.setting("theme")
        if setting != self.setting:
            self.setting = setting
            self.app.theme = theme_named(setting)

    def choose(self, theme: str) -> None:
        from memtui.settings import setting as settings

        app, data = self.app, self.app.data
        app.theme = theme_named(theme)
        own = ", the terminal's own colours" if theme.startswith("ansi") else ""
        app.say(f"Theme: {theme}{own}")
        if app.read_only or theme == data.setting("theme"):
            return
        self.setting = theme
        try:
            settings.assign(data.root, data.journal(), "theme", None if theme == config.DEFAULTS["theme"] else theme)
        except MemtuiError as error:
            app.fail(error)
        except OSError as error:
            app.fail(MemtuiError(f"The theme can't be kept: {error}"))
