"""Notes to a machine, and the filter of what a machine changed, on the command line."""

import json

import pytest

from memtui.base import paths_hot
from memtui.sync import state


@pytest.fixture
def synced(bare):
    """A machine laptop, which syncs with one called desktop."""
    own = state.SyncState("/nowhere.git", "k1", "laptop", machines={"k1": "laptop", "k2": "Desktop"})
    state.save(paths_hot.root(bare.env), own)
    return bare


def notes(shell):
    return [(row["text"], row["fields"].get("for")) for row in shell.json("note", "--list")["entries"]]


def test_a_note_to_a_machine_waits_here_and_can_be_taken_back(synced):
    synced.json("note", "Pull first", "--to", "machine:desktop", "--to", "people")
    assert notes(synced) == [("Pull first", "machine:desktop,people")]
    synced("undo")
    assert notes(synced) == []
    entry = synced.json("note", "Pull first", "--to", "machine:desktop")
    synced("note", "--withdraw", entry["id"])
    assert notes(synced) == []
    synced.json("note", "For here", "--to", "machine:laptop")  # as any note
    assert notes(synced) == [("For here", None)]


def test_a_machine_that_does_not_sync_is_said_and_no_note_is_left(synced, bare):
    error = synced("note", "Pull", "--to", "machine:tablet", check=False).err
    assert "No machine tablet syncs with this one" in error
    assert "desktop, laptop" in error
    assert notes(synced) == []


def test_a_move_out_of_sync_says_that_other_machines_lose_it(synced, bare):
    for name in ("ship", "other", "third", "fourth"):
        synced("new", name, "--description", "How", "--body", "Text", "--type", "project", "--scope", "global")
    assert "machines lose it with the next sync, until git" in synced("mv", "ship", "--scope", "project").err
    assert "machines lose them with the next" in synced("mv", "third", "fourth", "--scope", "project").err
    assert "lose" not in synced("mv", "other", "--scope", "auto").err
    assert "lose" not in synced("mv", "ship", "--scope", "global").err


def test_what_a_machine_changed_last_is_found(synced):
    synced("new", "ship", "--description", "How", "--body", "Text", "--type", "project", "--scope", "global")
    synced("new", "other", "--description", "How", "--body", "Text", "--type", "project", "--scope", "global")
    path = synced.json("show", "ship")["path"]
    root = paths_hot.root(synced.env)
    with open(state.folder(root) + state.WRITERS, "w") as file:
        json.dump({path: ["", "Desktop", 3]}, file)
    assert [row["name"] for row in synced.json("list", "from:desk")["memories"]] == ["ship"]
    assert "from: takes desktop." in synced("search", "from:tablet", check=False).err
