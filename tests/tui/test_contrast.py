"""What the snapshots show can be read: every run of cells stands out from its ground, in dark and in light."""

import re

import pytest

from .test_snapshots import LOOKS, SNAPSHOTS

# WCAG's bound for large letters and for signs; words have more, dimmed ones on the cursor's row a little less.
LEAST = 3.0
RUN = re.compile(
    r"(?P<look>\w[\w ]*?) (?:(?:bold|dim|italic|underline|reverse|strike) )*(?P<ink>\S+) on (?P<ground>\S+)$"
)
# Behind a dialog the screen is dimmed: it is not to be read.
OVER = {"compose", "first-start", "help", "memory-form", "palette", "trash"}
NAMES = sorted(path.stem for path in SNAPSHOTS.glob("*.txt") if path.stem not in OVER)


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


def test_contrast_is_told_as_wcag_tells_it():
    assert round(contrast("#ffffff", "#000000")) == 21
    assert round(contrast("#777777", "#ffffff"), 2) == 4.48
