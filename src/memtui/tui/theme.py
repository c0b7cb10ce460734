"""Colours: the named ones on a dark and on a light background, those that Textual's themes lack, the style sheet and
the choice of the theme."""

import dataclasses
from typing import TYPE_CHECKING

from rich.terminal_theme import TerminalTheme
from textual.color import Color
from textual.css.stylesheet import Stylesheet
from textual.theme import BUILTIN_THEMES, Theme

from memtui.core.base.errors import MemtuiError
from memtui.core.settings import config

if TYPE_CHECKING:
    from textual.app import App

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


# WCAG's bound for large letters and for signs.
LEAST_CONTRAST = 3.0


def contrast(one: Color, other: Color) -> float:
    """Return WCAG's contrast of two colours, 1 to 21."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Color) -> float:
    parts = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts, strict=True))


def cursor_percent(theme: Theme) -> int:
    """Return how much of the primary colour the cursor's row has: less than usual where a named colour could not be
    read on it."""
    usual, step = (35, 5) if theme.dark else (20, 5)
    ground = Color.parse(theme.background or ("#121212" if theme.dark else "#efefef"))
    inks = [Color(*ink) for ink in (DARK_NAMED if theme.dark else LIGHT_NAMED)[1:]]
    for percent in range(usual, step, -step):
        row = ground.blend(Color.parse(theme.primary), percent / 100)
        if all(contrast(ink, row) >= LEAST_CONTRAST for ink in inks):
            return percent
    return step


def variables(theme: Theme) -> dict[str, str]:
    """Return the CSS variables for rules between panes and in dialogs, the cursor's row and scroll bars: visible but
    quiet in any theme."""
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
    return {
        "rule": f"{ink} 45%",
        "rule-over": f"{ink} 55%",
        "cursor-row": f"{theme.primary} {cursor_percent(theme)}%",
        "cursor-text": ink,
        "cursor-left": f"{ink} {12 if theme.dark else 6}%",
        "scrollbar": f"{ink} 55%",
        "scrollbar-hover": f"{ink} 65%",
        "scrollbar-active": f"{ink} 75%",
        "scrollbar-background": f"{ink} 8%",
        "scrollbar-background-hover": f"{ink} 8%",
        "scrollbar-background-active": f"{ink} 8%",
    }


def theme_named(setting: object) -> str:
    """Return Textual's name of a theme, that of the dark theme if this version of Textual does not have it."""
    name = f"textual-{setting}" if setting in {"dark", "light"} else str(setting)
    return name if name in BUILTIN_THEMES else "textual-dark"


def themes_round() -> dict[str, str]:
    """Return the themes in the order of the theme key: Textual's name to the name in the settings."""
    # Of several names that mean the same theme the first one counts.
    named = {theme_named(name): name for name in reversed(config.THEMES)}
    return dict(reversed(named.items()))


class KeptStylesheet(Stylesheet):
    """A style sheet that keeps its rules while its variables stay the same. Textual sets the same variables and parses
    all styles again whenever a screen is shown for the first time: a tenth of the start of memtui."""

    def __init__(self, variables: dict[str, str]) -> None:
        super().__init__(variables=variables)
        self._current = variables
        self._changed = False

    def set_variables(self, variables: dict[str, str]) -> None:
        """Set the variables of the theme, unless they are the same."""
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

    def __init__(self, services: "Services", app: "App[None]") -> None:
        self.services, self.app = services, app
        self.setting = services.data.setting("theme")
        app.theme = theme_named(self.setting)

    def show(self) -> None:
        """Show the theme of the settings, if that has changed."""
        setting = self.services.data.setting("theme")
        if setting != self.setting:
            self.setting = setting
            self.app.theme = theme_named(setting)

    def next(self) -> None:
        """Show the next of the themes of the theme key."""
        names = list(themes_round())
        here = names.index(self.app.theme) if self.app.theme in names else -1
        self.choose(themes_round()[names[(here + 1) % len(names)]])

    def choose(self, chosen: str) -> None:
        """Show a theme by its name in the settings, and save it."""
        self.app.theme = theme_named(chosen)
        own = ", the terminal's own colours" if chosen.startswith("ansi") else ""
        self.services.say(f"Theme: {chosen}{own}")
        if not self.services.read_only:
            self._save(chosen)

    def _save(self, theme: str) -> None:
        from memtui.core.settings import setting as settings

        data = self.services.data
        if theme == data.setting("theme"):
            return
        self.setting = theme
        value = None if theme == config.DEFAULTS["theme"] else theme
        try:
            settings.assign(data.root, data.journal(), "theme", value)
        except (MemtuiError, OSError) as error:
            shown = error if isinstance(error, MemtuiError) else MemtuiError(f"The theme can't be kept: {error}")
            self.services.fail(shown)
