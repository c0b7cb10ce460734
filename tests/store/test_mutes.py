"""Never for prompts like this: muted prompts are kept beside the memory, found again, listed, and follow it."""

import os
from pathlib import Path

import pytest

from memtui.base.errors import UsageError
from memtui.recall import words
from memtui.store import mutes, triggers
from memtui.store.journal import undo
from memtui.store.store import Store

NOW = 1_790_000_000.0
PROMPT = "how do I run the tests of the billing service?"


@pytest.fixture
def store(tmp_path):
    repo = tmp_path / "repo"
    (repo / ".git").mkdir(parents=True)
    found = Store({"HOME": str(tmp_path)}, str(repo), now=lambda: NOW)
    os.makedirs(directory(found))
    Path(directory(found), "a.md").write_text("---\nname: a\n---\n\nText.\n")
    return found


def directory(store):
    return store.scope("auto").directory


def mute(store, text=PROMPT):
    return triggers.mute(store, store.find("a"), text, words.terms)


def muted(store, text, file="a.md"):
    return mutes.Mutes(store.root, words.COMMON).muted(directory(store), file, words.terms(text))


def test_a_memory_is_muted_for_prompts_like_one(store):
    assert not muted(store, PROMPT)
    mute(store)
    for prompt in (PROMPT, "run the billing service tests", "Please run tests of billing service now"):
        assert muted(store, prompt)
        assert not muted(store, prompt, "b.md")
    others = (
        "how do I run the linter of the web client?",
        "how do I run the dev server?",
        "what is the billing period?",
    )
    for prompt in (*others, ""):
        assert not muted(store, prompt)


def test_each_is_listed_removed_and_undone_and_follows_a_rename(store):
    assert mute(store)
    assert not mute(store)
    assert triggers.muted_prompts(store.root, directory(store), "a.md") == [(PROMPT, NOW)]
    store.rename(store.find("a"), "b")
    assert muted(store, PROMPT, "b.md")
    triggers.unmute(store, store.find("b"), [PROMPT])
    assert not muted(store, PROMPT, "b.md")
    for _ in range(3):
        undo.run(store.journal, "undo").first()
    assert triggers.muted_prompts(store.root, directory(store), "a.md") == []


def test_secrets_are_not_kept_and_an_empty_prompt_is_refused(store):
    secret = "ghp_" + "a1B2" * 9
    mute(store, f"deploy with {secret} please")
    assert not any(
        secret.lower().encode() in path.read_bytes().lower() for path in Path(store.root).rglob("*") if path.is_file()
    )
    with pytest.raises(UsageError):
        mute(store, " ")


def test_a_damaged_file_mutes_nothing_that_it_does_not_say(store):
    mute(store)
    path = next(Path(store.root, "mutes").iterdir())
    path.write_bytes(path.read_bytes() + b'{"file": "a.md", "terms": 7}\n[]\n{"file": "a.md", "te')
    assert muted(store, PROMPT)
    assert not muted(store, "te")
