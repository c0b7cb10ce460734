"""What is found for a prompt, and in which order."""

import os
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recorded
from memtui.recall import best_scores_hot, everyday, judge_hot, query_hot, segment_hot
from tables import rows


def test_the_memory_that_has_the_words_of_the_prompt_comes_first(store):
    store.remember("release-checklist", "What to do before a release goes live", "Run the smoke tests.")
    store.remember("database-migrations", "How to write migrations", "Never edit an old migration.")
    store.remember("coffee", "Where the coffee is", "In the kitchen.")
    store.index()
    assert store.names("how do I write a new database migration?")[0] == "database-migrations"
    assert store.names("we are releasing tomorrow") == ["release-checklist"]
    assert (store.names("something else"), store.names("")) == ([], [])


@pytest.mark.parametrize("talk", ["how's it going?", "hey, how are you doing today?", "thanks, that is very nice"])
def test_small_talk_and_common_words_of_a_trigger_find_nothing(store, talk):
    store.remember("prefer-pnpm", "Use pnpm", "Never npm.", triggers=talk)
    store.remember("deploys", "Deploys", "On Tuesdays.", triggers="how do I put it live now?")
    store.index()
    assert (store.names("how is it going today"), store.names("so what do you do now with it?")) == ([], [])
    assert store.names("we put that live")[:1] == ["deploys"]


def test_a_hit_says_what_speaks_for_it_and_headings_count_more(store):
    store.remember("release-checklist", "Before a release", "Smoke tests.", type="feedback", pinned="true")
    store.remember("coffee", "Where it is", "In the kitchen.")
    store.index()
    (hit,) = store.search("release it unicorn checklist")[:1]
    assert (hit.scope, hit.file, hit.type, hit.pinned) == ("global", "release-checklist.md", "feedback", True)
    assert hit.rank == 1
    assert 0 < hit.share < 1
    assert 0 < hit.overlap < 1
    assert hit.lexical > 0
    assert hit.score == pytest.approx(hit.lexical + query_hot.MEANING * hit.cosine)
    store.remember("one", "First", "## Canary\n\nWatch it.")
    store.remember("two", "Second", "Watch the canary.")
    store.remember("three", "Third", "See [[canary-board]].")
    store.remember("four", "Fourth", "See canary-board.")
    store.index()
    points = {hit.name: hit.lexical for hit in store.search("canary")}
    assert points["one"] > points["two"]
    assert points["three"] > points["four"]


def test_a_memory_in_other_words_than_the_prompt_is_found_by_its_vectors(store):
    store.remember("coffee", "Where the espresso machine is", "In the kitchen.")
    store.remember("billing", "How invoices are numbered", "Never reuse a number.")
    store.remember("forest", "Which trees we planted", "Oaks and beeches.")
    store.index(table=...)
    hit = store.search("payment receipts of customers")[0]
    assert (hit.name, hit.lexical) == ("billing", 0)
    assert 0 < hit.cosine <= 1
    assert store.index(table=...).read == 0
    store.remember("wine", "Grapes and bottles", "In the cellar.")
    assert (store.index(table=...).read, store.names("drink alcohol, vineyard")[0]) == (1, "wine")
    assert {hit.cosine for hit in store.search("The")} == {0.0}  # its vector has a length of 0


def test_words_of_everyday_prompts_count_less_and_such_prompts_show(store):
    weights = query_hot.weighted_terms("fix the canary tests", everyday.word_weights())
    assert weights["canary"] == 1.0
    assert weights["fix"] < 0.6
    assert weights["test"] < 0.6
    store.remember("canary", "When tests of the canary run", "Fix the canary first.")
    store.remember("coffee", "Where the espresso machine is", "In the kitchen.")
    store.index(table=...)
    usual, telling = (
        store.search(text)[0] for text in ("please fix the tests of this", "where is the espresso machine")
    )
    assert usual.everyday > telling.everyday + 0.1


def test_prompts_find_what_they_found(store):
    for name, description, body, more in rows(__file__, "memories"):
        store.remember(name, description, body, **more)
    store.index(table=...)
    facts = "name type pinned expires paths lexical share cosine overlap named everyday topic score rank margin length"

    read = lambda prompt: [[getattr(hit, fact) for fact in facts.split()] for hit in store.search(prompt)[:4]]
    recorded.check(__file__, "found", read)


def test_neither_a_prompt_nor_an_index_leaves_a_file_open(store):
    # A screen that runs each prompt as it is typed would have none left.
    store.remember("billing", "How invoices are numbered", "Never reuse a number.")
    store.index(table=...)
    store.search("payment receipts of customers")
    before = len(os.listdir("/dev/fd"))
    for number in range(3):
        store.remember("wine", "Grapes and bottles", f"In cellar {number}.")
        store.index(table=...)
        store.search(f"payment receipts of {number} customers")
    assert len(os.listdir("/dev/fd")) == before


# --- what is left out of a search early would not have been among the best


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_what_is_left_out_early_would_not_have_been_among_the_best(data):
    number = data.draw(st.integers(60, 300))
    postings = {}
    for term in range(data.draw(st.integers(1, 6))):
        impacts = data.draw(st.lists(st.integers(1, segment_hot.FULL), min_size=1, max_size=number))
        docs = sorted(data.draw(st.randoms()).sample(range(number), len(impacts)))
        postings[f"term{term}"] = (docs, impacts)
    idf = {term: data.draw(st.floats(0.05, 9)) for term in postings}
    part = query_hot.IndexPart("", "", Stub(number), b"")
    exact = dict.fromkeys(range(number), 0.0)
    for term, (docs, impacts) in postings.items():
        part.postings[term] = packed(docs, impacts, number)
        for doc, impact in zip(docs, impacts, strict=True):
            exact[doc] += idf[term] * best_scores_hot.SCALE * impact
    best = sorted((score for score in exact.values() if score), reverse=True)[: query_hot.CANDIDATES]
    found = sorted(
        (score for score, _ in best_scores_hot.highest(part.postings, part.segment, idf, query_hot.CANDIDATES)),
        reverse=True,
    )[: query_hot.CANDIDATES]
    assert [score for score in found if score] == pytest.approx(best)


class Stub:
    def __init__(self, number):
        self.number = number
        self.dead = frozenset()


def packed(docs, impacts, number):
    """A posting as a segment has it."""
    if len(docs) * segment_hot.DENSE > number:
        every = bytearray(number)
        for doc, impact in zip(docs, impacts, strict=True):
            every[doc] = impact
        return segment_hot.Posting(bytes(every), False, len(docs), max(impacts))
    body = b"".join(doc.to_bytes(2, sys.byteorder) for doc in docs) + bytes(impacts)
    return segment_hot.Posting(body, False, 0, segment_hot.FULL)


def test_an_everyday_prompt_needs_more_than_a_word_of_a_trigger(store):
    store.remember("assets", "Meshes come from Blender", triggers="[importing from Blender, the model looks outdated]")
    store.fill(40)
    store.index(table=...)
    (everyday,) = [hit for hit in store.search("clean up the imports in this file") if hit.name == "assets"]
    (telling,) = [hit for hit in store.search("import the meshes from Blender") if hit.name == "assets"]
    assert judge_hot.CHANCE * everyday.chance < -1.0 < -0.1 < judge_hot.CHANCE * telling.chance
