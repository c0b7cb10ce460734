"""How well a name answers what was typed into the palette."""

import pytest

from memtui.tui import palette


@pytest.mark.parametrize(
    ("name", "typed", "rank"),
    [
        ("theme: nord", "nord", palette.EXACT),
        ("theme: nord", "Theme: Nord", palette.EXACT),
        ("theme: nord", "theme nord", palette.WHOLE),
        ("theme: ansi-dark", "dark", palette.WHOLE),
        ("memory: use_uv", "uv", palette.WHOLE),
        ("memory: prefer-pnpm", "pref", palette.AT_START),
        ("memory: prefer-pnpm", "npm", palette.WITHIN),
        ("memory: prefer-pnpm", "pnpm npm", palette.WITHIN),
        ("memories: new", "create", palette.EXPLAINED),
        ("inbox: mark done", "nord", palette.NONE),
        ("memory: a.b", "a.b", palette.EXACT),
        ("memory: axb", "a.b", palette.NONE),
        ("theme: nord", " ", palette.NONE),
    ],
)
def test_a_name_is_ranked_by_the_typed_word_that_it_answers_worst(name, typed, rank):
    assert palette.rank_of(name, typed, "Create a memory") == rank
