"""Indexes of directories that are gone go after a while, and no others."""

import os
from pathlib import Path

from memtui.worker import tidying

DAY = 86_400.0
NOW = 1.8e9


def left(store):
    return sorted(each.name for each in Path(store.root, "recall").rglob("*") if each.is_file())


def test_the_index_of_a_directory_that_is_gone_goes_after_a_month(store):
    store.fill(5)
    store.index()
    sentences = Path(store.root, "recall", "sentences")
    sentences.mkdir()
    (name,) = [each for each in left(store) if each.endswith(".segment")]
    (sentences / f"{name}.key").write_bytes(b"x")
    before = left(store)
    assert tidying.clear(store.root, NOW) == 0
    assert left(store) == before
    os.rename(store.base, f"{store.base}~")
    assert tidying.clear(store.root, NOW) == 0
    assert tidying.clear(store.root, NOW + 29 * DAY) == 0
    assert tidying.clear(store.root, NOW + 31 * DAY) > 3
    assert left(store) == []


def test_a_directory_that_came_back_keeps_its_index(store):
    store.fill(5)
    store.index()
    os.rename(store.base, f"{store.base}~")
    tidying.clear(store.root, NOW)
    os.rename(f"{store.base}~", store.base)
    tidying.clear(store.root, NOW + 20 * DAY)
    os.rename(store.base, f"{store.base}~")
    assert tidying.clear(store.root, NOW + 40 * DAY) == 0, "it was there in between"
    os.rename(f"{store.base}~", store.base)
    assert len(store.names("matter", most=50)) == 5


def test_an_index_that_nobody_can_read_goes_too_unless_it_is_made_anew(store):
    store.fill(5)
    store.index()
    (index,) = store.files(".index")
    Path(store.root, "recall", os.path.basename(index)).write_bytes(b"of another version")
    tidying.clear(store.root, NOW)
    store.index()
    tidying.clear(store.root, NOW + 20 * DAY)
    assert tidying.clear(store.root, NOW + 60 * DAY) == 0
    Path(store.root, "recall", os.path.basename(index)).write_bytes(b"of another version")
    tidying.clear(store.root, NOW + 61 * DAY)
    assert tidying.clear(store.root, NOW + 92 * DAY) > 1
    assert left(store) == []
