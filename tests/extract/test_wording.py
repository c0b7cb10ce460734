"""Descriptions say what to do, in one line and without inverting anything; names are short and stable."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.extract import naming, wording

RULES = [
    "use pnpm for packages",
    "never push to main",
    "not mock the database",
    "keep the lock file as it is",
    "write no comments in tests",
    "ask before you delete anything that isn't yours",
    "run the linter without fixing",
]
LEADS = [
    "",
    "No, ",
    "no wait, ",
    "Perfect, ",
    "ok so ",
    "actually ",
    "I told you to ",
    "I want you to ",
    "you should ",
    "we should ",
    "could we ",
    "can you please ",
    "why not ",
    "I think we should ",
    "I think it's better to ",
    "maybe we could ",
    "Given the size of the app, ",
    "I would ",
    "let's ",
    "we don't want to ",
    "I'd prefer to ",
    "also, ",
]
NEGATION = re.compile(r"\\b(?:no|not|never|without|don't|isn't|avoid)\\b".replace("\\\\", "\\"), re.IGNORECASE)


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("why not keep things consistent with the others?", "Keep things consistent with the others"),
        ("why don't we cache the token?", "Cache the token"),
        ("Can you please use type hints?", "Use type hints"),
        ("could we move the helpers into one file?", "Move the helpers into one file"),
        ("I want you to ask first", "Ask first"),
        ("you should sort the imports", "Sort the imports"),
        ("and maybe we should do the logging as a separate PR", "Do the logging as a separate PR"),
        ("we should not log tokens", "Don't log tokens"),
        ("you shouldn't mock the database", "Don't mock the database"),
        ("I don't want to have tokens in the repository", "Don't have tokens in the repository"),
        ("we don't want any new dependencies", "Avoid new dependencies"),
        ("I told you not to edit the lock file", "Don't edit the lock file"),
        ("I think it's better not to guess", "Don't guess"),
        ("I would call it a session", "Call it a session"),
        ("Given the size of the app, I think we should better ask first", "Ask first"),
        ("Perfect, now also add a test", "Add a test"),
        ("no wait, use the staging database", "Use the staging database"),
        ("we never push to main directly", "Never push to main directly"),
    ],
)
def test_a_wish_becomes_an_order(text, description):
    assert wording.describe(text) == description


@pytest.mark.parametrize(
    "text",
    [
        "No comments in generated files",
        "We should not only test but ship",
        "You don't need to run it",
        "I don't think we should do that",
        "You should have asked me",
        "Should we test it?",
        "Can we use redis or do we need something else?",
        "I don't want it to log",
        "Why did you delete the folder?",
    ],
)
def test_what_would_change_its_meaning_stays_as_it_is(text):
    assert wording.describe(text) == text


@given(st.sampled_from(LEADS), st.sampled_from(RULES), st.sampled_from(["", ".", "!", "?", ", please", " - thanks!"]))
def test_no_word_of_negation_is_lost_and_none_comes_in(lead, rule, end):
    found = wording.describe(lead + rule + end)
    said = len(NEGATION.findall(rule)) + ("don't" in lead)
    kept = len(NEGATION.findall(found))
    assert kept == said or (lead in ("why not ", "No, ", "no wait, ") and kept == said + 1), found
    assert set(re.findall(r"[a-z']+", rule)) - {"not", "also"} <= set(re.findall(r"[a-z']+", found.lower()))


@given(st.text(max_size=500))
def test_a_description_is_one_line_and_not_too_long(text):
    found = wording.describe(text)
    assert "\n" not in found
    assert len(found) <= wording.MAX_DESCRIPTION
    assert found or not re.search(r"\w", text)
    assert len(wording.negations(found)) or "…" in found or not re.search(r"\w not \w", text.lower()) or "?" in text


def test_a_whole_clause_is_better_than_a_cut():
    text = "Put the helpers of the parser into one module, so that the tests can import them in one line, and so on and on and on and on"
    assert (
        wording.describe(text)
        == "Put the helpers of the parser into one module, so that the tests can import them in one line"
    )
    ends_with_not = "Put the helpers of the parser of all the languages that we know into one module of their own right now, but not the lexer"
    assert wording.describe(ends_with_not).endswith("…")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Use pnpm instead of npm", "use-pnpm-instead-npm"),
        ("Do not run the tests every time, only on the main branch", "do-not-run-tests-every-time"),
        ("Don't edit the lock file", "do-not-edit-lock-file"),
        ("Do not edit the lock file", "do-not-edit-lock-file"),
        ("Never push to main directly", "never-push-main-directly"),
        ("The cache isn't relevant, store it in a file", "store-file"),
        ("It won't work and it can't work", "not-work"),
        ("The build doesn't work", "build-not-work"),
        ("We explicitly said why one would want that, given the new", "explicitly-said-why-one-want"),
        ("Write the plan to a temporary plan file, don't commit", "write-plan-temporary-file"),
        ("Call the new module and the old one before", "call-new-module-old"),
        ("Künftig die Umlaute nicht mehr ändern", "kunftig-die-umlaute-nicht-mehr"),
    ],
)
def test_a_name_is_short_and_says_what_to_do(text, name):
    assert naming.slug(text) == name


def test_texts_in_other_scripts_have_names_of_their_own():
    names = {
        naming.slug(text)
        for text in ("以后请用中文回答", "以后请用英文回答", "Всегда запускай pnpm", "Никогда не запускай pnpm")
    }
    assert len(names) == 4
    assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)


@given(st.text(max_size=300))
def test_a_name_is_stable_and_sound(text):
    name = naming.slug(text)
    assert name == naming.slug(text)
    assert re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", name), name
    assert len(name) <= naming.MAX_NAME + 14


@given(
    st.lists(
        st.sampled_from("use never the file before new not and main instead cache of don't".split()),
        min_size=3,
        max_size=12,
    )
)
def test_a_name_does_not_end_on_a_word_that_something_must_follow(words):
    name = naming.slug(" ".join(words))
    assert len(name.split("-")) <= 2 * naming.MAX_NAME_WORDS
    assert name.split("-")[-1] not in {"before", "not", "and", "instead", "the", "of"} or len(name.split("-")) == 1


@pytest.mark.parametrize("piece", [". ", "?! ", "a, ", "really ", "we should really ", "😀 ", "(", "- "])
def test_long_texts_are_no_trap(piece):
    begun = time.process_time()
    naming.slug(wording.describe((piece * 10_000)[:20_000] + "use pnpm"))
    naming.slug((piece * 10_000)[:20_000] + "use pnpm")
    assert time.process_time() - begun < 0.5
