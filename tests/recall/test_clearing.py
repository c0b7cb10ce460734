"""Indexes of directories that are gone go after a while, and no others."""

import os
from pathlib import Path

from memtui.worker import main

DAY = 86_400.0
NOW = 1.8e9


def left(store):
    return sorted(each.name for each in Path(store.root, "recall").rglob("*") if each.is_file())


def index(store):
    store.fill(5)
    store.index()
    (path,) = Path(store.root, "recall").glob("*.index")
    return path


def written(path, when):
    os.utime(path, (when, when))


def test_the_index_of_a_directory_that_is_gone_goes_after_a_month(store):
    path = index(store)
    sentences = Path(store.root, "recall", "sentences")
    sentences.mkdir()
    (name,) = [each for each in left(store) if each.endswith(".segment")]
    (sentences / f"{name}.key").write_bytes(b"x")
    before = left(store)
    written(path, NOW)
    assert main.clear_indexes(store.root, NOW + 60 * DAY) == 0
    os.rename(store.base, f"{store.base}~")
    assert main.clear_indexes(store.root, NOW + 29 * DAY) == 0
    assert left(store) == before
    assert main.clear_indexes(store.root, NOW + 31 * DAY) > 3
    assert left(store) == []


def test_an_index_that_nobody_can_read_goes_too_unless_it_is_made_anew(store):
    path = index(store)
    path.write_bytes(b"of another version")
    written(path, NOW)
    store.index()
    assert main.clear_indexes(store.root, NOW + 60 * DAY) == 0
    path.write_bytes(b"of another version")
    written(path, NOW)
    assert main.clear_indexes(store.root, NOW + 31 * DAY) > 1
    assert left(store) == []
