"""Pairs of memories that a person called different: each mark is a step of undo, and follows its memories."""

import os
from pathlib import Path

import pytest

from memtui.store import scopes, sidecars
from memtui.store.journal import undo
from memtui.store.store import Store


@pytest.fixture
def store(tmp_path):
    repo = tmp_path / "repo"
    (repo / ".git").mkdir(parents=True)
    found = Store({"HOME": str(tmp_path)}, str(repo))
    auto = found.scope("auto").directory
    os.makedirs(auto)
    for name in "abcxz":
        Path(auto, f"{name}.md").write_text(f"---\nname: {name}\ndescription: About {name}\n---\n\nText {name}.\n")
    return found


def named(store, name):
    return next(each for each in scopes.memories(store.scope("auto")) if each.stem == name)


def mark(store, one, other):
    return sidecars.keep_apart(store.journal, named(store, one), named(store, other))


def pairs(store):
    return {"".join(sorted(os.path.basename(each)[0] for each in pair)) for pair in sidecars.kept_apart(store.root)}


def content(store):
    path = sidecars.pairs_path(store.root)
    return Path(path).read_bytes() if os.path.exists(path) else None


def undo_last(store, op):
    """Undo the newest step of that kind, wherever in the list it is."""
    (undone,) = [each for each in store.journal.ledger().changes() if each.op == op][:1]
    undo.run(store.journal, "undo", undone.id).first()


@pytest.mark.parametrize("other", ["ac", "bx", "xz"])  # sorted before, between and behind the one that is renamed
def test_undo_of_a_rename_takes_back_the_mark_also_after_another_was_made(store, other):
    mark(store, "b", "c")
    before = content(store)
    store.rename(named(store, "b"), "y")
    assert pairs(store) == {"cy"}
    new = other.replace("b", "y")
    mark(store, *new)
    undo_last(store, "rename")
    assert pairs(store) == {"bc", "".join(sorted(new))}
    undo_last(store, "apart")
    assert content(store) == before


def test_a_mark_is_taken_back_after_its_memory_was_renamed_back(store):
    mark(store, "b", "c")
    store.rename(named(store, "b"), "y")
    undo.run(store.journal, "undo").first()
    undo.run(store.journal, "undo").first()
    assert content(store) is None
