"""Fact coverage: a statement that is there, in whatever place or form, is found; one that changed in a number, a path, a
name or a negation is listed as dropped, before all others."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.store.plan import FileDiff
from memtui.tidy import changeset, coverage
from memtui.views import changesets
from tables import rows


def how(before, after):
    found = coverage.cover(coverage.of_text("/a.md", before), coverage.of_text("/b.md", after))
    return [each.how for each in found.statements]


THERE = rows(__file__, "there")


@pytest.mark.parametrize("name", THERE)
def test_what_is_there_is_found(name):
    assert "dropped" not in how(*THERE[name])


def test_a_statement_counts_once_and_a_field_that_differs_is_named():
    texts = [
        f"---\nname: {each}\ndescription: Start it with {each}\nmetadata:\n  type: project\n---\n\nThe port is 8080.\n"
        for each in ("one", "two")
    ]
    both = [each for number, text in enumerate(texts) for each in coverage.of_file(f"/{number}.md", text.encode())]
    found = coverage.cover(both, both)
    assert found.count("kept") == 3
    assert changesets.covered(found) == "Nothing is lost: 3 statements stay word for word."
    lost = coverage.cover(both, coverage.of_text("/c.md", "Start it with one."))
    # The sentence of each input and the description of one; the types are no statements.
    assert changesets.covered(lost) == "3 statements are dropped; 1 stays."
    one = b"---\nname: one\nmetadata:\n  type: feedback\n  owner: anna\n---\n\nThe port is 8080.\n"
    two = b"---\nname: two\nmetadata:\n  type: project\n---\n\nThe port is 8080.\n"
    after = coverage.of_file("/two.md", two)
    before = [*coverage.of_file("/one.md", one), *after]
    found = coverage.cover(before, after)
    assert changesets.fields(found) == ["keeps “type: project”, not “feedback” (one)", "drops “owner: anna” (one)"]
    assert changesets.covered(found) == "No statement is lost: 1 statement stays word for word."
    assert changesets.covered(coverage.cover(before, [])) == "2 statements are dropped."


def test_dropped_ones_come_first_and_a_merge_names_what_it_drops():
    before = "Keep this sentence.\n\nThe port is 80.\n\nOne is dropped."
    assert how(before, "Keep this sentence. Port: 80.") == ["dropped", "reworded", "kept"]
    lossy = memory("one", "Use pnpm in this repository", "The lock file is pnpm's. It broke CI twice.")
    found = changeset.propose("merge", [FileDiff("/a/one.md", ONE, lossy), FileDiff("/a/two.md", TWO, None)])
    assert dropped(found) == ["Never npm", "It broke CI twice, on 2026-05-03 and 2026-06-01.", "expires: 2027-01-01"]
    assert {each.statement.path for each in changeset.covered(found).dropped} == {"/a/two.md"}


def memory(name, description, body, more=""):
    return f"---\nname: {name}\ndescription: {description}\nmetadata:\n  type: user\n{more}---\n\n{body}\n".encode()


ONE = memory("one", "Use pnpm in this repository", "The lock file is pnpm's.")
TWO = memory("two", "Never npm", "It broke CI twice, on 2026-05-03 and 2026-06-01.", "  expires: 2027-01-01\n")


def dropped(found):
    return [each.statement.text for each in changeset.covered(found).dropped]


SWAPPABLE = [
    "Copy the dump from host alpha to host beta before the nightly job starts.",
    "Map port 8080 to port 9090 in staging.",
    "Die Daten gehen von Berlin nach Hamburg, nie umgekehrt.",
    "Siempre usar tabulaciones, nunca espacios, en el código.",
    "テストは必ず pytest で実行し、 unittest は 使わない。",
    "安装 使用 pnpm 不 使用 npm 。",
]


@given(st.sampled_from(SWAPPABLE), st.data())
def test_a_sentence_with_two_telling_words_swapped_is_never_there(sentence, data):
    spans = [m.span() for m in re.finditer(r"[^\W_]{2,}", sentence) if m[0].casefold() not in coverage.JOINING]
    one, other = sorted(data.draw(st.lists(st.sampled_from(spans), min_size=2, max_size=2, unique=True)))
    first, second = sentence[slice(*one)], sentence[slice(*other)]
    swapped = sentence[: one[0]] + second + sentence[one[1] : other[0]] + first + sentence[other[1] :]
    expected = "kept" if first == second else "dropped"
    assert how(sentence, f"Before.\n\n{swapped}\n\nAfter.") == [expected]
    assert how(sentence, f"Before.\n\n{sentence}\n\nAfter.") == ["kept"]


TEXTS = ["Use pnpm.", "The port is 80.", "- an item", "```\ncode here\n```", "# Heading", "Never npm, ever."]
SENTENCES = st.lists(st.sampled_from(TEXTS), min_size=1, max_size=8)


@given(SENTENCES, st.randoms(use_true_random=False))
def test_in_whatever_order_nothing_is_dropped(found, chance):
    shuffled = list(found)
    chance.shuffle(shuffled)
    assert "dropped" not in how("\n\n".join(found), "\n\n".join(shuffled))


@given(SENTENCES, SENTENCES)
def test_a_planted_fact_that_is_left_out_is_always_found(before, after):
    text = "\n\n".join([*before, "The planted token is zq-4711."])
    assert how(text, "\n\n".join(after))[0] == "dropped"
