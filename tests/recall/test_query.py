"""What is found for a prompt, and in which order."""

import os

import pytest

from memtui.recall import query


def test_the_memory_that_has_the_words_of_the_prompt_comes_first(store):
    store.remember("release-checklist", "What to do before a release goes live", "Run the smoke tests.")
    store.remember("database-migrations", "How to write migrations", "Never edit an old migration.")
    store.remember("coffee", "Where the coffee is", "In the kitchen.")
    store.index()
    assert store.names("how do I write a new database migration?")[0] == "database-migrations"
    assert store.names("we are releasing tomorrow") == ["release-checklist"]
    assert store.names("something else") == []
    assert store.names("") == []


@pytest.mark.parametrize("talk", ["how's it going?", "hey, how are you doing today?", "thanks, that is very nice"])
def test_small_talk_and_common_words_of_a_trigger_find_nothing(store, talk):
    store.remember("prefer-pnpm", "Use pnpm", "Never npm.", triggers=talk)
    store.remember("deploys", "Deploys", "On Tuesdays.", triggers="how do I put it live now?")
    store.index()
    assert store.names("how is it going today") == []
    assert store.names("so what do you do now with it?") == []
    assert store.names("we put that live")[:1] == ["deploys"]


def test_a_hit_says_what_speaks_for_it(store):
    store.remember("release-checklist", "Before a release", "Smoke tests.", type="feedback", pinned="true")
    store.remember("coffee", "Where it is", "In the kitchen.")
    store.index()
    (hit,) = store.search("release it unicorn checklist")[:1]
    assert (hit.scope, hit.file, hit.type, hit.pinned) == ("global", "release-checklist.md", "feedback", True)
    assert hit.rank == 1
    assert 0 < hit.share < 1
    assert 0 < hit.overlap < 1
    assert hit.lexical > 0
    assert hit.score == pytest.approx(hit.lexical + query.MEANING * hit.cosine)


def test_a_memory_in_other_words_than_the_prompt_is_found_by_its_vectors(store):
    store.remember("coffee", "Where the espresso machine is", "In the kitchen.")
    store.remember("billing", "How invoices are numbered", "Never reuse a number.")
    store.remember("forest", "Which trees we planted", "Oaks and beeches.")
    store.index(table=...)
    hit = store.search("payment receipts of customers")[0]
    assert hit.name == "billing"
    assert hit.lexical == 0
    assert 0 < hit.cosine <= 1
    assert store.index(table=...).read == 0
    store.remember("wine", "Grapes and bottles", "In the cellar.")
    assert store.index(table=...).read == 1
    assert store.names("drink alcohol, vineyard")[0] == "wine"


def test_what_headings_and_links_say_counts_more_than_other_text(store):
    store.remember("one", "First", "## Canary\n\nWatch it.")
    store.remember("two", "Second", "Watch the canary.")
    store.remember("three", "Third", "See [[canary-board]].")
    store.remember("four", "Fourth", "See canary-board.")
    store.index()
    points = {hit.name: hit.lexical for hit in store.search("canary")}
    assert points["one"] > points["two"]
    assert points["three"] > points["four"]


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
