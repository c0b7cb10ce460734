"""Each code of lint on two stores: one in which it is right, and one that only looks like it."""

import pytest

from memtui.base import clock_hot
from memtui.tidy.checks import lint

NOW = clock_hot.parse("2026-11-22T12:00:00Z")


def text(name, body, description="", more=""):
    described = f"description: {description}\n" if description else ""
    return f"---\nname: {name}\n{described}metadata:\n  type: project\n{more}---\n\n{body}\n"


TILL = text("till", "It counts in whole cents.", "The till of the shop")
SHELF = text("shelf", "Boxes stand left of the door.", "Where goods are kept")
LINES = "- [Till](till.md) — money\n- [Shelf](shelf.md) — goods\n"
# By code: the files with the fault, and those without; the others are TILL, SHELF and LINES.
WRITTEN = "  modified: 2026-11-05T10:00:00Z\n"
CASES = {
    "alike": (
        {"till.md": text("till", "Count all money of the till in whole cents, never in euros.", "The till of the shop")}
        | {"shelf.md": text("shelf", "All money of the till: count in whole cents, never euros.", "Till of the shop")},
        {"shelf.md": text("shelf", "Money for the door comes from the bank on Mondays.", "The door of the shop")},
    ),
    "cut": ({"MEMORY.md": "Words.\n" * 250 + LINES}, {"MEMORY.md": "Words.\n" * 150 + LINES}),
    "cut_head": (
        {"till.md": text("till", "A fact.", "Phase 1 --- phase 2")},
        {"till.md": text("till", "A fact --- and one more.", "Phase 1 and 2")},
    ),
    "dangling": (
        {"MEMORY.md": LINES + "- [Gone](gone.md) — x y\n"},
        {"MEMORY.md": LINES + "- [Web](https://x.md) — x\n"},
    ),
    "date": (
        {"till.md": text("till", "It broke yesterday.", "The till", WRITTEN)},
        {"till.md": text("till", 'It printed "yesterday", and `tomorrow` is a field.', "The till", WRITTEN)},
    ),
    "empty": (
        {"till.md": text("till", "# Till\n\nTODO", "The till")},
        {"till.md": text("till", "TODO lists end.", "The till")},
    ),
    "empty_section": (
        {"MEMORY.md": LINES + "\n## Later\n\n## Never\n\nNothing.\n"},
        {"MEMORY.md": "# Shop\n\n## Here\n\n### Money\n\n" + LINES},
    ),
    "text": (
        {"MEMORY.md": LINES + "\n" * 220 + "Count money in whole cents, never in floats.\n"},
        {"MEMORY.md": "Count money in whole cents, never in floats.\n\n" + LINES},
    ),
    "link": (
        {"till.md": text("till", "See [[door]].", "The till")},
        {"till.md": text("till", "See `[[door]]`.", "The till")},
    ),
    "long_hook": (
        {"MEMORY.md": LINES.replace("money", "money " * 40)},
        {"MEMORY.md": LINES + "\n" + "A paragraph about the shop. " * 20 + "\n"},
    ),
    "no_description": ({"till.md": text("till", "In cents.")}, {"till.md": text("till", "In cents.", "x")}),
    "no_frontmatter": ({"till.md": "In cents.\n"}, {"till.md": TILL}),
    "no_index": ({"MEMORY.md": None}, {"MEMORY.md": None, "till.md": None, "shelf.md": None}),
    "no_line": ({"MEMORY.md": "- [Till](till.md) — money\n"}, {"MEMORY.md": LINES.replace("(", "(./")}),
    "same_line": (
        {"MEMORY.md": LINES + "- [Again](till.md) — cents\n"},
        {"MEMORY.md": "- [Top](till.md#top) — money\n- [End](till.md#end) — cents\n- [Shelf](shelf.md) — goods\n"},
    ),
    "same_name": (
        {"shelf.md": SHELF.replace("name: shelf", "name: till")},
        {
            "shelf.md": SHELF.replace("name: shelf", "name: A title"),
            "till.md": TILL.replace("name: till", "name: A title"),
        },
    ),
    "type": ({"till.md": TILL.replace("project", "lesson")}, {"till.md": TILL.replace("project", "feedback")}),
}


def codes(place, files):
    for name, data in ({"till.md": TILL, "shelf.md": SHELF, "MEMORY.md": LINES} | files).items():
        if data is not None:
            (place / name).write_text(data)
    return {each.code.partition(".")[2] for each in lint.check(lint.at(str(place), "/", NOW))}


@pytest.mark.parametrize("code", CASES)
def test_a_code_is_found_where_it_is_right_and_not_where_it_only_looks_so(tmp_path_factory, code):
    right, alike = (codes(tmp_path_factory.mktemp("store"), files) for files in CASES[code])
    assert (code in right, code in alike) == (True, False)
