"""How well a name answers what was typed into the palette."""

import pytest

from memtui.tui.model import ranking


@pytest.mark.parametrize(
    ("name", "typed", "rank"),
    [
        ("theme: nord", "nord", ranking.EXACT),
        ("theme: nord", "Theme: Nord", ranking.EXACT),
        ("theme: nord", "theme nord", ranking.WHOLE),
        ("theme: ansi-dark", "dark", ranking.WHOLE),
        ("memory: use_uv", "uv", ranking.WHOLE),
        ("memory: prefer-pnpm", "pref", ranking.AT_START),
        ("memory: prefer-pnpm", "npm", ranking.WITHIN),
        ("memory: prefer-pnpm", "pnpm npm", ranking.WITHIN),
        ("memories: new", "create", ranking.EXPLAINED),
        ("inbox: mark done", "nord", ranking.NONE),
        ("memory: a.b", "a.b", ranking.EXACT),
        ("memory: axb", "a.b", ranking.NONE),
        ("theme: nord", " ", ranking.NONE),
    ],
)
def test_a_name_is_ranked_by_the_typed_word_that_it_answers_worst(name, typed, rank):
    assert ranking.rank(name, typed, "Create a memory") == rank
