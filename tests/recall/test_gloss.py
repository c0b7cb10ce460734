"""English words for those of other languages, by which prompts and memories of two languages meet."""

import pytest

from memtui.recall import fields, gloss_hot, query_hot
from tables import rows


@pytest.mark.parametrize(("text", "found"), rows(__file__, "the language of a prompt shows"))
def test_the_language_of_a_prompt_shows(text, found):
    assert gloss_hot.language(text) == found


@pytest.mark.parametrize(("text", "found"), rows(__file__, "words become english also within compounds"))
def test_words_become_english_also_within_compounds(text, found):
    assert gloss_hot.english(text) == found


def test_words_of_other_languages_count_by_english_ones_but_less():
    assert gloss_hot.in_english("lösch bitte den zweig feature_x") == "delete remove branch feature_x"
    assert gloss_hot.in_english("Redisを削除") == "Redisを delete remove"
    assert gloss_hot.in_english("delete the branch") == "delete the branch"
    weights = fields.read("---\nname: 删除分支\n---\n先问再删除。\n".encode(), "a.md").weights()
    assert weights["delet"] > weights["ask"] > 0
    assert weights["branch"] == fields.WEIGHTS["name"]
    asked = query_hot.weighted_terms("lösch bitte den zweig", {})
    assert asked["zweig"] == 1.0 > asked["branch"] == query_hot.GLOSS_WEIGHT
    with open(gloss_hot._PATH, encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert {line.count("|") for line in lines} == {len(gloss_hot.LANGUAGES)}
    assert all(line == line.lower() for line in lines)
