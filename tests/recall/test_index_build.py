"""An index is brought up to date at the cost of what changed, and whatever happens to its files, it comes back."""

import multiprocessing
import os
import shutil
from pathlib import Path

import pytest

from hooks.killing import Child, every_point
from memtui.base import fs_hot, paths_hot
from memtui.recall import index_build, segment_hot
from memtui.worker import main


def test_only_what_changed_is_read(store):
    store.fill(40)
    assert store.index().rebuilt
    assert len(store.files(".segment")) == 1
    assert store.index() == index_build.BuildReport(40)
    store.remember("memory-7", "About matter 7", "It is orange.")
    (store.base / "memory-8.md").unlink()
    store.remember("new", "Brand new")
    assert store.index() == index_build.BuildReport(40, read=2, gone=1)
    assert (len(store.files(".segment")), store.names("orange")) == (2, ["memory-7"])
    assert store.names("brand") == ["new"]
    assert "memory-8" not in store.names("matter 8", most=50)
    assert (store.names("matter 7")[0], len(store.names("matter", most=50))) == ("memory-7", 39)
    store.remember("memory-7", "About matter 7", "It is green.")
    assert store.index() == index_build.BuildReport(40, read=1)
    assert (len(store.files(".segment")), store.names("orange")) == (2, [])
    assert (store.names("green"), store.names("brand")) == (["memory-7"], ["new"])


def test_an_index_is_the_same_whether_built_at_once_or_bit_by_bit(store):
    store.fill(300)
    store.index()
    for number in range(0, 300, 20):
        store.remember(f"memory-{number}", f"About matter {number}", "It is purple, and known to all.")
        store.index()
    texts = ["purple matter", "known matter 40", "unknown", "about 7"]
    bit_by_bit = [{hit.name: hit.lexical for hit in store.search(text, most=400)} for text in texts]
    assert len(store.files(".segment")) == 2
    os.unlink(paths_hot.index_base(store.root, store.directory) + ".index")
    store.index()
    assert len(store.files(".segment")) == 1
    for text, expected in zip(texts, bit_by_bit, strict=True):
        found = {hit.name: hit.lexical for hit in store.search(text, most=400)}
        assert found == pytest.approx(expected, rel=0.1), text


DAMAGE = {
    "cut": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "zeros": lambda data: bytes(len(data)),
    "foreign": lambda data: b"something else entirely" * 40,
    "flipped": lambda data: data[:-9] + bytes([data[-9] ^ 0xFF]) + data[-8:],
    "older": lambda data: data.replace(segment_hot.MAGIC, b"memtui recall 0.0 little\n"),
    "missing": None,
}


@pytest.mark.parametrize("ending", [".index", ".segment"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_costs_no_search_and_is_replaced(store, ending, damage):
    store.fill(20)
    store.index()
    path = Path(store.root, "recall", store.files(ending)[0])
    data = path.read_bytes()
    path.unlink()
    if DAMAGE[damage]:
        path.write_bytes(DAMAGE[damage](data))
    assert len(store.names("matter", most=50)) <= 20
    store.index()
    assert (len(store.names("matter", most=50)), len(store.files(".segment"))) == (20, 1)


def test_a_reader_whose_segment_was_replaced_reads_the_manifest_again(store, monkeypatch):
    store.fill(3)
    store.index()
    real = segment_hot.read_manifest
    calls = []

    def slow(root, directory):
        found = real(root, directory)
        if not calls:
            store.fill(4)
            store.index()
        calls.append(found)
        return found

    monkeypatch.setattr(segment_hot, "read_manifest", slow)
    monkeypatch.setattr(index_build.segment_hot, "read_manifest", real)
    monkeypatch.setattr("memtui.recall.query_hot.segment_hot.read_manifest", slow)
    assert len(store.names("matter")) in {3, 4}


def test_another_one_at_work_looks_again(store):
    store.fill(3)
    base = paths_hot.index_base(store.root, store.directory)
    os.makedirs(store.root + "/recall")
    with fs_hot.Lock(base + ".lock", 0.0):
        assert store.index().busy
    assert os.path.exists(base + ".again")
    store.index()
    assert not os.path.exists(base + ".again")
    assert len(store.names("matter")) == 3


@pytest.mark.slow
def test_builders_at_once_leave_one_whole_index(store):
    store.fill(60)
    many = multiprocessing.get_context("fork")
    builders = [many.Process(target=store.index) for _ in range(6)]
    for number, builder in enumerate(builders):
        builder.start()
        store.remember(f"late-{number}", f"Late matter {number}")
    for builder in builders:
        builder.join()
    store.index()
    assert len(store.names("matter", most=100)) == 66
    assert not [each for each in os.listdir(store.root + "/recall") if each.endswith((".tmp", ".again"))]


# --- indexes of directories that are gone go after a while, and no others


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


# --- a builder that is killed at any of its changes leaves a whole index, the old one or the new one, and the next one


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_builder_killed_anywhere_leaves_the_old_index_or_the_new_one(store, tmp_path):
    store.fill(20)
    store.index()
    store.remember("memory-3", "About matter 3", "It is orange.")
    shutil.copytree(store.root, tmp_path / "copy")

    def run(point):
        shutil.rmtree(store.root)
        shutil.copytree(tmp_path / "copy", store.root)
        child = Child(store.index, point=point).wait()
        assert len(store.names("matter", most=50)) == 20
        assert store.names("orange") in ([], ["memory-3"])
        store.index()
        assert (store.names("orange"), len(store.names("matter", most=50))) == (["memory-3"], 20)
        assert len(store.files(".segment")) == 2
        return not child.killed

    assert every_point(run) > 5
