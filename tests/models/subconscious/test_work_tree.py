"""Which files changed between two looks, and of which there is a version."""

import os

import pytest

from memtui.models.subconscious import work_tree
from memtui.models.subconscious.work_tree import WorkTree


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "same.txt").write_text("same\n")
    return WorkTree(str(tmp_path))


def looked(tree):
    return {tree.name(file.path): (file.before, file.after, file.why) for file in tree.look()}


def test_what_is_new_changed_and_gone_is_told_once(tree, tmp_path):
    tree.look()
    (tmp_path / "a.txt").write_text("two\n")
    os.utime(tmp_path / "same.txt")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "new.txt").write_text("new\n")
    assert looked(tree) == {"a.txt": (b"one\n", b"two\n", ""), "deep/new.txt": (None, b"new\n", "")}
    (tmp_path / "a.txt").unlink()
    assert (looked(tree), looked(tree)) == ({"a.txt": (b"two\n", None, "")}, {})


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("big.txt", b"x" * (work_tree.FILE_BYTES + 1), "over 256 KB"),
        ("image.bin", b"\0\1", "not text"),
        (".env", b"KEY=1\n", "it may hold secrets"),
        ("memory/m.md", b"m\n", "a memory, which has versions of its own"),
    ],
)
def test_what_has_no_version_is_told_with_the_reason(tmp_path, name, data, why):
    tree = WorkTree(str(tmp_path), [f"{tmp_path}/memory"])
    (tmp_path / "memory").mkdir()
    tree.look()
    (tmp_path / name).write_bytes(data)
    assert looked(tree) == {name: (None, None, why)}
    (tmp_path / name).unlink()
    assert looked(tree) == {name: (None, None, why)}


def test_links_and_git_s_own_files_are_not_looked_at(tree, tmp_path):
    tree.look()
    os.symlink("a.txt", tmp_path / "link")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "index").write_text("x")
    assert looked(tree) == {}


def test_in_a_project_with_too_many_files_none_is_taken_for_new(tree, tmp_path, monkeypatch):
    monkeypatch.setattr(work_tree, "FILES", 2)
    (tmp_path / "z.txt").write_text("old\n")
    tree.look()
    (tmp_path / "a.txt").unlink()
    assert looked(tree)["z.txt"] == (None, b"old\n", "only 2 files of the project are watched")


def test_beyond_a_size_of_all_files_no_text_is_kept(tree, tmp_path, monkeypatch):
    monkeypatch.setattr(work_tree, "ALL_BYTES", 10)
    tree.look()
    (tmp_path / "b.txt").write_text("long\n")
    assert "of text" in looked(tree)["b.txt"][2]
