"""What is drawn can be read: every run of cells stands out from its ground, in dark and in light; on the screens, as the
snapshots have them, and in the dialogs over them."""

import asyncio
import re

import pytest
from textual.app import App
from textual.color import Color
from textual.screen import ModalScreen, Screen
from textual.theme import BUILTIN_THEMES

import turns
from memtui.settings import config
from memtui.store import memory
from memtui.tui import terminal
from memtui.views import colours

from . import snapshot, stage
from .test_snapshots import ANSI, LOOKS, SCREENS, SNAPSHOTS, press, sample

# WCAG's bound for large letters and for signs; words have more, dimmed ones on the cursor's row a little less.
LEAST = 3.0
# The names of a terminal's colours.
STANDARD = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
RUN = re.compile(
    r"(?P<look>\w[\w ]*?) (?:(?:bold|dim|italic|underline|reverse|strike) )*(?P<ink>\S+) on (?P<ground>\S+)$"
)
# Behind a dialog the screen is dimmed: it is not to be read. What stands in the dialog is looked at below.
OVER = {"compose", "first-start", "help", "memory-form", "palette", "trash"}
OVER |= {"backfill-asked", "backfill-offered", "backfill-running", "import-offered"}
OWN = {f"ansi-{name}" for name in SCREENS}
NAMES = sorted(path.stem for path in SNAPSHOTS.glob("*.txt") if path.stem not in OVER | OWN)
# What textual draws around its palette.
EDGES = {"▔", "▁"}
NAMED = re.compile(r"default|color\(\d\d?\)|[a-z_]+")
# What is opened on which screen, from which row.
DIALOGS = {
    "a draft's form": ("2", stage.draft("no-snapshot-tests"), press("e")),
    "a draft's form with a mistake": ("2", stage.draft("prefer-pnpm"), press("e", "ctrl+s")),
    "a memory to merge into": ("2", stage.draft("prefer-pnpm"), press("m")),
    "a choice": ("1", stage.memory("prefer-pnpm"), press("t")),
    "a choice, narrowed": ("1", stage.memory("prefer-pnpm"), press("t", "f", "e")),
    "a choice, narrowed to nothing": ("1", stage.memory("prefer-pnpm"), press("t", "x", "x")),
    "a question": ("1", stage.memory("prefer-pnpm"), stage.act("memories.purge")),
    "a line": ("1", stage.recalled, press("t")),
    "a memory's form": ("1", stage.memory("prefer-pnpm"), press("e")),
    "the trash": ("1", stage.act("memories.restore")),
    "the changes": ("1", press("U")),
    "the help": ("1", press("question_mark")),
    "the palette": ("1", press("ctrl+p")),
    "a note": ("3", stage.compose),
    "an empty note": ("3", press("c")),
    "hooks to take out": ("4", stage.stand_on(lambda row: row.key == "head hooks"), press("x")),
    "a setting": ("4", stage.stand_on(lambda row: row.key == "setting budget"), press("e")),
    "a setting that can't hold": ("4", stage.stand_on(lambda row: row.key == "setting budget"), press("e", "x")),
    "drafts to approve": ("2", press("A", "a")),
    "the outcome of a change": ("2", press("escape"), stage.merge, press("e")),  # nothing is marked any more
    "safe fixes": ("2", stage.fix, press("A", "a")),
    "earlier sessions": ("2", stage.past_sessions),
    "the best of earlier sessions": ("2", stage.past_sessions, press("enter")),
    "what is imported": ("1", stage.act("memories.import"), press(*".claude/memory", "enter")),
}


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


def covers(widget):
    """Whether it hides what is behind it, itself or with what it stands in."""
    inside = [each for each in widget.ancestors_with_self if not isinstance(each, Screen | App)]
    return bool(inside) and (not widget.children or any(each.styles.background.a == 1 for each in inside))


def dialogs(look):
    """(ink, ground) of what stands in each dialog and in the line of its keys."""

    async def run(env, cwd):
        app = stage.application(env, cwd)
        app.theme = LOOKS[look][0]
        found = {}
        async with app.run_test(size=(120, 40)) as pilot:
            await stage.settled(pilot)
            for name, (key, *steps) in DIALOGS.items():
                for step in (press(key), *steps):
                    await step(pilot)
                    await stage.settled(pilot)
                assert isinstance(app.screen, ModalScreen), name
                over = [(widget, *place) for widget, place in app.screen._compositor.visible_widgets.items()]
                places = {region.intersection(clip) for widget, region, clip in over if covers(widget)}
                drawn = snapshot.drawn(app)
                cells = [
                    cell
                    for y, row in enumerate(drawn.cells)
                    for at, cell in enumerate(row)
                    if any((at, y) in each for each in places) and drawn.lines[y][at : at + 1] not in EDGES
                ]
                found[name] = {(ink.split()[-1], ground) for ink, ground in cells if ink}
                while isinstance(app.screen, ModalScreen):
                    await pilot.press("escape")
                    await stage.settled(pilot)
        return found

    with stage.environment(**LOOKS[look][1]), stage.place() as top:
        return asyncio.run(run(*sample(top)))


@pytest.mark.picture
@pytest.mark.parametrize("look", turns.share(LOOKS))
def test_what_stands_in_a_dialog_stands_out_from_its_ground(look):
    """All dialogs in one test: they are opened one after the other in one application. The looks take turns."""
    found = dialogs(look)
    assert found.keys() == DIALOGS.keys()
    assert all(found.values())
    weak = {(name, *each): round(contrast(*each), 1) for name in found for each in found[name]}
    assert not {each: told for each, told in weak.items() if told < LEAST}


@pytest.mark.parametrize("name", [name for name in config.CHOICES["theme"] if not name.startswith("ansi")])
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


def test_no_kind_of_memory_entry_or_delivery_has_the_colour_of_a_state():
    states = {colours.GOOD, colours.UNDER_WAY, colours.WARNING, colours.PROBLEM}
    kinds = colours.TYPES | colours.KINDS | colours.DELIVERIES
    told = {"problem", "trust", "on the way"}  # the words of states
    assert {kind for kind, style in kinds.items() if style in states} == told
    assert set(colours.TYPES) == set(memory.TYPES)


def test_contrast_is_told_as_wcag_tells_it():
    assert round(contrast("#ffffff", "#000000")) == 21
    assert round(contrast("#777777", "#ffffff"), 2) == 4.48
