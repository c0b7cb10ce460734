"""Replay: what the last prompts would recall with other memories than there are."""

import os

import pytest

from memtui.client.transcripts.prompts import Prompt
from memtui.recall import prompt_replay
from memtui.recall.prompt_replay import StoreChange

from .test_judge import RELEASE, TEXTS, Store

COFFEE = "the coffee machine on the second floor needs descaling again?"
NOW = 1_795_000_000.0


@pytest.fixture
def store(tmp_path):
    found = Store(tmp_path)
    found.run()
    return found


def replayed(store, *texts, changes=()):
    prompts = [Prompt(text, "s1", NOW, f"p{number}") for number, text in enumerate(texts)]
    return prompt_replay.replay(store.root, prompts, [(store.scope, str(store.directory))], changes)


def change(store, name, text):
    data = None if text is None else f"---\nname: {name}\ndescription: About {name}\n---\n{text}\n".encode()
    return StoreChange(store.scope, str(store.directory), f"{name}.md", data)


def names(verdicts):
    return [each.hit.name for each in verdicts]


def gained(replayed):
    return names(each for path, each in replayed.changed.items() if path not in replayed.now)


def lost(replayed):
    return names(each for path, each in replayed.now.items() if path not in replayed.changed)


def test_only_a_change_of_a_memory_changes_what_its_prompts_would_get(store):
    release, coffee, command = replayed(store, RELEASE, COFFEE, "/clear")
    assert names(release.now.values()) == names(release.changed.values()) == ["release-pipeline"]
    assert names(coffee.now.values()) == ["coffee"]
    assert (command.now, command.silent) == ({}, "command")
    same = change(store, "release-pipeline", TEXTS["release-pipeline"])
    (release,) = replayed(store, RELEASE, changes=[same])
    assert list(release.changed) == [str(store.directory / "release-pipeline.md")]
    new = change(store, "canary", "Watch the canary of the shop when you put a release live with the pipeline.")
    (release,) = replayed(store, RELEASE, changes=[new, change(store, "release-pipeline", None)])
    assert (gained(release), lost(release)) == (["canary"], ["release-pipeline"])
    ended = StoreChange(store.scope, str(store.directory), "release-pipeline.md", ENDED)
    release, coffee = replayed(store, RELEASE, COFFEE, changes=[ended])
    assert (gained(release), lost(release)) == ([], ["release-pipeline"])
    assert (gained(coffee), lost(coffee)) == ([], [])
    assert store.outcomes()["release-pipeline"] == "inject"  # nothing was written


ENDED = b"---\nname: release-pipeline\nexpires: 2020-01-01\n---\nNothing to see.\n"


def test_what_a_person_saves_in_a_repository_is_trusted_and_the_rest_stays(tmp_path):
    store = Store(tmp_path, "project")
    store.run()
    assert [each.now for each in replayed(store, RELEASE)] == [{}]
    edited = change(store, "release-pipeline", TEXTS["release-pipeline"])
    release, coffee = replayed(store, RELEASE, COFFEE, changes=[edited])
    assert (gained(release), coffee.changed) == (["release-pipeline"], {})


def test_nothing_is_left_behind_and_the_index_is_as_it_was(store):
    before = sorted(os.listdir(f"{store.root}/recall"))
    with prompt_replay.changed_places(store.root, [change(store, "canary", "A canary.")]) as own:
        assert os.path.exists(f"{next(iter(own))}/canary.md")
    assert not os.path.exists(next(iter(own)))
    assert sorted(os.listdir(f"{store.root}/recall")) == before
