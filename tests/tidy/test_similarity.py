"""What says much the same is paired or ranked, best first; what only shares common words, or says the opposite, is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.store import memory
from memtui.tidy import similarity


def made(name, description, body=""):
    data = memory.new_memory_bytes(name, description, "feedback", body or description)
    return memory.from_bytes(f"/x/{name}.md", "project", data)


PNPM = made("prefer-pnpm", "Use pnpm in this repository, never npm", "The lock file of npm breaks the frozen install.")
AGAIN = made("pnpm-only", "Never npm: this repository uses pnpm", "A frozen install breaks with the lock file of npm.")
RELEASE = made("release-steps", "A release is a tag on main", "CI builds the wheel and publishes what the tag names.")
REVIEW = made("review-checklist", "What to look at first in a review", "Names, tests, then the error paths.")
STEPS = [made(f"step-{n}", f"Step {n} of the list of steps", "Do this, then the next of the steps.") for n in range(20)]


def names(found):
    return [{pair.one.name, pair.other.name} for pair in found]


def test_two_that_say_the_same_in_other_words_are_a_pair_with_shared_words():
    found = similarity.pairs([RELEASE, PNPM, REVIEW, AGAIN])
    assert names(found) == [{"prefer-pnpm", "pnpm-only"}]
    assert "frozen" in found[0].shared
    assert 0.35 <= found[0].share < 1


def test_a_copy_scores_highest():
    copy = made("prefer-pnpm-2", PNPM.description, PNPM.body)
    found = similarity.pairs([PNPM, RELEASE, AGAIN, copy, REVIEW])
    assert names(found)[0] == {"prefer-pnpm", "prefer-pnpm-2"}
    assert [pair.share for pair in found] == sorted((pair.share for pair in found), reverse=True)


def test_a_part_of_another_is_a_pair():
    whole = made("deploys", "How deploys go", f"{PNPM.body} {RELEASE.body} {REVIEW.body}")
    found = similarity.pairs([whole, RELEASE, *STEPS])
    assert {"deploys", "release-steps"} in names(found)


def test_a_language_without_blanks_between_words_is_compared_too():
    one = made("a", "このリポジトリではpnpmを使い、npmは使わない")
    other = made("b", "npmは使わない。このリポジトリではpnpmを使う")
    assert names(similarity.pairs([one, RELEASE, REVIEW, other])) == [{"a", "b"}]


def test_no_more_are_listed_than_asked_for_and_broken_ones_never():
    broken = memory.from_bytes("/x/broken.md", "project", b"---\nname: 'x\n---\n" + PNPM.body.encode())
    assert broken.broken
    assert len(similarity.pairs([PNPM, AGAIN, made("c", PNPM.description, PNPM.body)], most=2)) == 2
    assert similarity.pairs([PNPM, broken]) == []
    assert similarity.pairs([]) == similarity.pairs([PNPM]) == []


@given(st.lists(st.text(max_size=60), max_size=6))
def test_any_texts_are_compared_and_the_order_of_memories_does_not_matter(texts):
    memories = [made(f"m{number}", text) for number, text in enumerate(texts)]
    found = similarity.pairs(memories)
    assert all(0 <= pair.share <= 1 for pair in found)
    assert sorted(map(sorted, names(found))) == sorted(map(sorted, names(similarity.pairs(memories[::-1]))))


# --- a draft, and the memories that there are

SHORT = made("concise-answers", "Answer in a few sentences, code first")


def test_the_same_name_comes_first():
    found = similarity.to_draft("prefer-pnpm", "A frozen lock file in CI", [RELEASE, SHORT, PNPM])
    assert found[0].memory is PNPM
    assert found[0].score >= similarity.SAME_NAME


def test_other_words_for_the_same_are_found_and_unlike_ones_are_not():
    found = similarity.to_draft("use-pnpm", "Use pnpm, not npm", [RELEASE, SHORT, PNPM])
    assert [each.memory for each in found] == [PNPM]
    found = similarity.to_draft("short-answers", "Keep answers short, code first", [PNPM, SHORT])
    assert [each.memory for each in found] == [SHORT]
    assert similarity.to_draft("alt-texts", "Every image gets an alt text", [PNPM, SHORT, RELEASE]) == []


def test_few_differing_words_are_marked_as_runs_and_many_not_at_all():
    def runs(one, other):
        spans = similarity.differing(one, other)
        return [[text[start:end] for start, end in found] for text, found in zip((one, other), spans, strict=True)]

    one = "use the frozen lock file in CI for every install"
    assert runs(one, "use the old yarn lock file in CI for every install") == [["frozen"], ["old yarn"]]
    assert runs(one, "answer in a few sentences") == [[], []]
    assert runs("use pnpm", "use pnpm whenever something is built at all") == [[], []]
    assert runs(one, one.upper()) == [[], []]


def test_a_broken_memory_can_not_be_merged_into():
    broken = memory.from_bytes("/x/prefer-pnpm.md", "project", b"---\nname: 'x\n---\nx")
    assert broken.broken
    assert similarity.to_draft("prefer-pnpm", "Use pnpm", [broken]) == []


# --- known texts


def is_known(one, other):
    texts = similarity.KnownTexts(0.7)
    texts.add(one, "that")
    return texts.find(other) == "that"


@pytest.mark.parametrize(
    ("one", "other", "known"),
    [
        ("Use pnpm, not npm", "use pnpm, not npm.", True),
        ("Ask before writing a database migration", "Ask me before you write a migration", True),
        ("Use pnpm, not npm", "Use npm, not pnpm", False),
        *(("Use pnpm, not npm", text, False) for text in ("", "not", "!", "the")),
    ],
)
def test_the_same_rule_in_other_words_is_known_and_another_is_not(one, other, known):
    assert is_known(one, other) == is_known(other, one) == known
