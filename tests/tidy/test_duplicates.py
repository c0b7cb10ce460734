"""Near-duplicates: what says much the same is paired, best first; what only shares common words is not."""

import os
import subprocess
import sys

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


def test_two_that_say_the_same_in_other_words_are_a_pair_with_the_words_they_share():
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
def test_any_texts_are_compared_and_the_order_of_the_memories_makes_no_difference(texts):
    memories = [made(f"m{number}", text) for number, text in enumerate(texts)]
    found = similarity.pairs(memories)
    assert all(0 <= pair.share <= 1 for pair in found)
    assert sorted(map(sorted, names(found))) == sorted(map(sorted, names(similarity.pairs(memories[::-1]))))


ORDER = """
import random
from memtui.tidy import similarity
number = random.Random(1)
bags = [frozenset(f"word{number.randrange(60)}" for _ in range(25)) for _ in range(30)]
weights = {f"word{number}": 1 / (number + 3) for number in range(60)}
print([similarity._share(one, other, weights).hex() for one in bags for other in bags])
"""


def test_a_score_is_the_same_in_each_process():
    told = {
        subprocess.run(
            [sys.executable, "-c", ORDER], check=True, capture_output=True, env={**os.environ, "PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1
