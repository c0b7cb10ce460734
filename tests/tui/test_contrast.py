"""What is drawn can be read: every run of cells of the snapshots stands out from its ground, in dark and in light."""

import re

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from memtui.settings import config_hot
from memtui.tui import terminal
from memtui.views import colours

from .test_snapshots import ANSI, LOOKS, SCREENS, SNAPSHOTS

# WCAG's bound for large letters and for signs; words have more, dimmed ones on the cursor's row a little less.
LEAST = 3.0
# The names of a terminal's colours.
STANDARD = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
RUN = re.compile(
    r"(?P<look>\w[\w ]*?) (?:(?:bold|dim|italic|underline|reverse|strike) )*(?P<ink>\S+) on (?P<ground>\S+)$"
)
# Behind a dialog the screen is dimmed: it is not to be read.
OVER = {"compose", "first-start", "help", "memory-form", "palette", "trash"}
OVER |= {"backfill-asked", "backfill-offered", "import-offered"}
OWN = {f"ansi-{name}" for name in SCREENS}
NAMES = sorted(path.stem for path in SNAPSHOTS.glob("*.txt") if path.stem not in OVER | OWN)
NAMED = re.compile(r"default|color\(\d\d?\)|[a-z_]+")


def luminance(colour):
    """The relative luminance of `#rrggbb`."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    """WCAG's contrast of two colours, 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def runs(name):
    """(look, ink, ground) of the letters that a snapshot explains; a blank has no ink."""
    legend = (SNAPSHOTS / f"{name}.txt").read_text(encoding="utf-8").partition("-- letters --\n")[2]
    for line in legend.splitlines():
        for words in line[3:].split(" | "):
            found = RUN.match(words)
            if found and found["look"] in LOOKS:
                yield found["look"], found["ink"], found["ground"]


@pytest.mark.parametrize("name", NAMES)
def test_everything_drawn_stands_out_from_its_ground(name):
    found = list(runs(name))
    assert found
    faint = {each: round(contrast(*each[1:]), 1) for each in found if contrast(*each[1:]) < LEAST}
    assert not faint


@pytest.mark.parametrize("name", sorted(OWN))
def test_in_the_terminal_s_own_colours_nothing_has_that_of_its_ground(name):
    legend = (SNAPSHOTS / f"{name}.txt").read_text(encoding="utf-8").partition("-- letters --\n")[2]
    for line in legend.splitlines():
        for words in line[3:].split(" | "):
            look = next(look for look in ANSI if words.startswith(look))
            *on, ground = words.removeprefix(look).replace(" on ", " ").split()
            assert NAMED.fullmatch(ground), line
            if on:
                assert NAMED.fullmatch(on[-1]), line
                assert on[-1] != ground or ground == "default", line


@pytest.mark.parametrize("name", [name for name in config_hot.CHOICES["theme"] if not name.startswith("ansi")])
def test_type_and_outcome_colours_are_read_in_every_theme_and_cursor_row(name):
    shown = terminal.theme_named(name)
    found = terminal.LIGHT if shown == terminal.LIGHT.name else BUILTIN_THEMES[shown]
    ground = Color.parse(found.to_color_system().generate()["background"])
    primary, percent = terminal.theme_variables(found)["cursor-row"].split()
    row = ground.blend(Color.parse(primary), int(percent.rstrip("%")) / 100)
    inks = (terminal.ON_DARK if found.dark else terminal.ON_LIGHT).ansi_colors
    for style in STANDARD[1:7]:
        ink = inks[STANDARD.index(style)]
        assert contrast(Color(*ink).hex, ground.hex) >= LEAST, style
        assert contrast(Color(*ink).hex, row.hex) >= LEAST, style


def test_no_kind_of_entry_or_delivery_has_the_colour_of_a_state():
    states = {colours.GOOD, colours.UNDER_WAY, colours.WARNING, colours.PROBLEM}
    kinds = colours.KINDS | colours.DELIVERIES
    told = {"problem", "trust", "on the way"}  # the words of states
    assert {kind for kind, style in kinds.items() if style in states} == told


def test_contrast_is_told_as_wcag_tells_it():
    assert (round(contrast("#ffffff", "#000000")), round(contrast("#777777", "#ffffff"), 2)) == (21, 4.48)
