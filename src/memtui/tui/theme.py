"""Colours: what the named ones are on dark and on light ground, and those that textual's themes lack."""

import dataclasses

from rich.terminal_theme import TerminalTheme
from textual.theme import BUILTIN_THEMES, Theme

BLACK, WHITE = (0, 0, 0), (255, 255, 255)
# Textual's own, with a red that is read on the cursor's row, too.
DARK_NAMED = [(26, 26, 26), (255, 107, 133), (152, 224, 36), (253, 151, 31), (173, 140, 255), (244, 0, 95)]
ON_DARK = TerminalTheme((12, 12, 12), (217, 217, 217), [*DARK_NAMED, (88, 209, 235), (196, 197, 181)])
# Textual's yellow and green can't be read on light ground.
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


def variables(theme: Theme) -> dict[str, str]:
    """The rule between panes and in dialogs, the cursor's row, the bar that scrolls: visible but quiet in any theme."""
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
        "cursor-row": f"{theme.primary} {35 if theme.dark else 20}%",
        "cursor-text": ink,
        "cursor-left": f"{ink} {12 if theme.dark else 6}%",
        "scrollbar": f"{ink} 55%",
        "scrollbar-hover": f"{ink} 65%",
        "scrollbar-active": f"{ink} 75%",
        "scrollbar-background": f"{ink} 8%",
        "scrollbar-background-hover": f"{ink} 8%",
        "scrollbar-background-active": f"{ink} 8%",
    }
