"""What says much the same is paired or ranked, best first; what only shares common words, or says the opposite, is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base.similarity import SAME_NAME, TOGETHER
from memtui.store import memory
from memtui.tidy import contradictions, similar_memories
from tables import rows


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


def test_what_says_the_same_is_a_pair_in_any_language_best_first():
    found = similar_memories.pairs([RELEASE, PNPM, REVIEW, AGAIN])
    assert names(found) == [{"prefer-pnpm", "pnpm-only"}]
    assert "frozen" in found[0].shared
    assert 0.5 <= found[0].score < 1
    copy = made("prefer-pnpm-2", PNPM.description, PNPM.body)
    found = similar_memories.pairs([PNPM, RELEASE, AGAIN, copy, REVIEW])
    assert names(found)[0] == {"prefer-pnpm", "prefer-pnpm-2"}
    assert [pair.score for pair in found] == sorted((pair.score for pair in found), reverse=True)
    whole = made("deploys", "How deploys go", f"{PNPM.body} {RELEASE.body} {REVIEW.body}")
    found = similar_memories.pairs([whole, RELEASE, *STEPS], least=TOGETHER)
    assert {"deploys", "release-steps"} in names(found)
    one = made("a", "このリポジトリではpnpmを使い、npmは使わない")
    other = made("b", "npmは使わない。このリポジトリではpnpmを使う")
    assert names(similar_memories.pairs([one, RELEASE, REVIEW, other])) == [{"a", "b"}]
    broken = memory.from_bytes("/x/broken.md", "project", b"---\nname: 'x\n---\n" + PNPM.body.encode())
    assert broken.broken
    assert len(similar_memories.pairs([PNPM, AGAIN, made("c", PNPM.description, PNPM.body)], 2, 0.3)) == 2
    assert similar_memories.pairs([PNPM, broken]) == []
    assert similar_memories.pairs([]) == similar_memories.pairs([PNPM]) == []


def test_memories_that_state_one_rule_are_a_pair_in_whatever_words():
    pnpm, yarn, alone, other = (
        memory.from_bytes(f"/x/{name}.md", "project", f"---\nname: {name}\nrules:\n  - {rule}\n---\n{text}\n".encode())
        for name, text, rule in (
            ("a", "Never use npm, use pnpm instead", 'never: {command: "npm *"}\n    instead: {command: "pnpm *"}'),
            ("b", "The team agreed on yarn", 'never: {command: "npm *"}\n    instead: {command: "yarn *"}'),
            ("c", "Don't use npm here, it breaks the build", 'never: {command: "npm *"}'),
            ("d", "Migrations are not to be touched", 'never: {path: "migrations/**"}'),
        )
    )
    assert names(similar_memories.pairs([pnpm, yarn, alone, other, RELEASE])) == [{"a", "c"}, {"b", "c"}]


@given(st.lists(st.text(max_size=60), max_size=6))
def test_any_texts_are_compared_and_the_order_of_memories_does_not_matter(texts):
    memories = [made(f"m{number}", text) for number, text in enumerate(texts)]
    found = similar_memories.pairs(memories)
    assert all(0 <= pair.score <= 1 for pair in found)
    assert sorted(map(sorted, names(found))) == sorted(map(sorted, names(similar_memories.pairs(memories[::-1]))))


# --- a draft, and the memories that there are

SHORT = made("concise-answers", "Answer in a few sentences, code first")


def test_a_draft_is_like_what_has_its_name_or_words_and_no_broken_memory():
    found = similar_memories.to_draft("prefer-pnpm", "A frozen lock file in CI", [RELEASE, SHORT, PNPM])
    assert found[0].memory is PNPM
    assert found[0].score >= SAME_NAME
    found = similar_memories.to_draft("use-pnpm", "Use pnpm, not npm", [RELEASE, SHORT, PNPM])
    assert [each.memory for each in found] == [PNPM]
    found = similar_memories.to_draft("short-answers", "Keep answers short, code first", [PNPM, SHORT])
    assert [each.memory for each in found] == [SHORT]
    assert similar_memories.to_draft("alt-texts", "Every image gets an alt text", [PNPM, SHORT, RELEASE]) == []
    broken = memory.from_bytes("/x/prefer-pnpm.md", "project", b"---\nname: 'x\n---\nx")
    assert broken.broken
    assert similar_memories.to_draft("prefer-pnpm", "Use pnpm", [broken]) == []


def test_differing_words_are_marked_and_a_shared_sentence_is_no_rival():
    def runs(one, other):
        spans = similar_memories.differing(one, other)
        return [[text[start:end] for start, end in found] for text, found in zip((one, other), spans, strict=True)]

    one = "use the frozen lock file in CI for every install"
    assert runs(one, "use the old yarn lock file in CI for every install") == [["frozen"], ["old yarn"]]
    assert runs(one, "answer in a few sentences") == [[], []]
    assert runs("use pnpm", "use pnpm whenever something is built at all") == [[], []]
    assert runs(one, one.upper()) == [[], []]
    assert between("Use port 3000 for dev. Use port 4000 for dev.", "Use port 4000 for dev.") is None


# --- memories of which a sentence differs in one telling word are rivals or siblings, whatever the language


RIVALS = rows(__file__, "rivals")
SIBLINGS = [
    ("Load test of 1 April: 300 requests per second.", "Load test of 1 May: 300 requests per second."),
    ("Load test of 2026-04-01: it passed.", "Load test of 2026-05-01: it passed."),
    ("Seed the shop from a dump in staging.", "Seed the shop from a dump in production."),
]
NEITHER = [
    ("Use pnpm for all installs.", "Use pnpm for all installs."),
    ("Deploy on Friday, never npm.", "The lock file of npm breaks the install."),
    ("Never npm.", "Never yarn."),
]


def between(*texts):
    memories = (memory.from_bytes(f"/{at}.md", "auto", text.encode()) for at, text in enumerate(texts))
    return contradictions.difference(*memories)


@pytest.mark.parametrize("pair", [*RIVALS, *SIBLINGS, *NEITHER])
def test_a_telling_word_makes_rivals_and_a_date_or_a_case_siblings(pair):
    assert between(*pair) == (None if pair in NEITHER else (*pair, pair in SIBLINGS))
