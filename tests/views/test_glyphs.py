"""Characters beyond ASCII, what stands for them, and bars drawn of them."""

import ast
import pathlib

import pytest
from rich.cells import cell_len
from textual._border import BORDER_CHARS

import memtui
from memtui.views import glyphs
from tables import rows

SOURCES = pathlib.Path(memtui.__file__).parent
# What these hold is no drawing: words of other languages, the text of the sample world.
ELSEWHERE = {"demo", "learn", "recall", "rules"}
# What is looked for in texts.
TABLES = {"DENSE", "LOOK_ALIKES", "OPENERS", "SENTENCE_END", "_ENDS", "_QUOTES"}


def is_drawing(char):
    return not char.isascii() and char.isprintable() and not char.isalpha() and cell_len(char) > 0


def drawn():
    """The characters beyond ASCII in the texts of the sources; regular expressions and docstrings are none."""
    for path in (SOURCES / "views/words.txt", SOURCES / "tui/texts.txt"):
        yield from ((char, path.name) for char in path.read_text("utf-8") if is_drawing(char))
    for path in SOURCES.rglob("*.py"):
        if path.relative_to(SOURCES).parts[0] in ELSEWHERE:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        passed = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for table in (node for node in ast.walk(tree) if isinstance(node, ast.Assign)):
            if {getattr(target, "id", "") for target in table.targets} & TABLES:
                passed |= {id(node) for node in ast.walk(table)}
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            if getattr(call.func, "attr", "") == "compile":
                passed |= {id(node) for node in ast.walk(call)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in passed:
                yield from ((char, path.name) for char in node.value if is_drawing(char))


@pytest.mark.slow
def test_everything_that_is_drawn_has_a_stand_in_of_its_width():
    assert {(char, name) for char, name in drawn() if char not in glyphs.PLAIN} == set()
    for char, plain in glyphs.PLAIN.items():
        assert plain.isascii()
        assert cell_len(plain) == cell_len(char), char


def test_the_borders_of_textual_have_stand_ins():
    used = {
        char
        for name in ("solid", "tall", "round", "heavy", "panel")
        for row in BORDER_CHARS[name]
        for char in "".join(row)
    }
    assert {char for char in used if not char.isascii() and char not in glyphs.PLAIN} == set()


@pytest.mark.parametrize(("env", "ascii"), rows(__file__, "test_the_locale_decides_unless_the_setting_does"))
def test_the_locale_decides_unless_the_setting_does(env, ascii):  # noqa: A002
    assert glyphs.plain(env, "auto") is ascii
    assert glyphs.plain(env, "ascii") is True
    assert glyphs.plain(env, "unicode") is False


def test_a_stream_without_these_characters_gets_the_stand_ins():
    assert "✓ 14 · “né” 住".encode("ascii", glyphs.ERRORS) == rb'y 14 . "n\xe9" \u4f4f'
    assert "✓ 14 · né".encode("latin-1", glyphs.ERRORS) == b"y 14 \xb7 n\xe9"


@pytest.mark.parametrize(
    ("value", "drawn"),
    [
        *((-1, "    "), (0, "    "), (0.001, "▏   "), (1, "▌   "), (2, "█   "), (4, "██  "), (7.75, "███▉")),
        *((8, "████"), (9, "████")),
    ],
)
def test_a_bar_fills_its_cells_in_eighths(value, drawn):
    assert glyphs.bar(value, 8, 4) == drawn
