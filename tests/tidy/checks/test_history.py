"""What a repository's history is asked once: the same as `git log -S` says name by name."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.tidy.checks import history, repository
from memtui.tidy.checks.project_files import ProjectFiles
from memtui.tidy.checks.repository import CODE, Repository

from .repositories import commit, fast_import, git

WORDS = ("open_till", "open_till_now", "closeTill", "price_2024", "tillDrawer9")
PATHS = ("a.py", "src/b.ts", "src/deep/c.go", "notes.md")
TEXT = st.lists(st.lists(st.sampled_from([*WORDS, "=", "x"]), max_size=4), max_size=6).map(
    lambda lines: "\n".join(" ".join(line) for line in lines)
)
CHANGES = st.dictionaries(st.sampled_from(PATHS), st.none() | TEXT, min_size=1, max_size=3)
STEPS = st.lists(st.tuples(st.lists(st.integers(0, 99), min_size=1, max_size=2, unique=True), CHANGES), max_size=9)


def names_of(top, cache="", names=None):
    one = history.read(Repository(str(top)), str(cache), names=names)
    return {name: one.commits_of(name) for name in one.names}


def asked(top, word):
    """The commits that git names for a word, asked for that word alone."""
    words = ("log", "--full-history", "--format=%H", "--pickaxe-regex", rf"-S\b{word}\b", *CODE)
    return git(top, *words).split()


def linked(steps):
    """Steps with parents that are there: the newest before each, or others."""
    return [
        (sorted({parent % number for parent in parents}, reverse=True) if number else [], files)
        for number, (parents, files) in enumerate(steps)
    ]


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(STEPS.filter(bool), st.integers(0, 8))
def test_names_have_the_commits_that_git_log_says_for_each(steps, early):
    with tempfile.TemporaryDirectory() as directory:
        top = Path(directory, "r")
        ids = fast_import(top, linked(steps))
        answers = {word: asked(top, word) for word in WORDS}
        assert names_of(top) == {word: commits for word, commits in answers.items() if commits}
        assert answers["closeTill"] == git(top, "log", "--full-history", "--format=%H", "-ScloseTill", *CODE).split()
        few = WORDS[:2]  # asked for alone
        assert names_of(top, "", few) == {word: answers[word] for word in few if answers[word]}
        # The same where an earlier commit was known before.
        for names in (None, few):
            cache = top / f"cache-{names}"
            git(top, "reset", "-q", "--soft", ids[min(early, len(ids) - 1)])
            names_of(top, cache, names)
            git(top, "reset", "-q", "--soft", ids[-1])
            continued = {word: set(commits) for word, commits in names_of(top, cache, names).items()}
            assert continued == {word: set(answers[word]) for word in names or WORDS if answers[word]}


def test_a_name_has_its_newest_commit_first_and_a_cache_is_continued(tmp_path):
    top, cache = tmp_path / "r", tmp_path / "cache"
    first = commit(top, {"a.py": "def open_till(): pass\n"})
    second = commit(top, {"a.py": "x = 1\n"})
    assert names_of(top, cache)["open_till"] == [second, first] == asked(top, "open_till")
    before = cache.read_bytes()
    assert (names_of(top, cache)["open_till"], cache.read_bytes()) == ([second, first], before)
    third = commit(top, {"b.py": "open_till()\n"})
    assert names_of(top, cache)["open_till"] == [third, second, first]


def test_a_history_is_the_same_in_pieces_of_any_size(tmp_path, monkeypatch):
    top = tmp_path / "r"
    steps = [{"a.py": "open_till\n", "b.py": "closeTill\n"}, {"a.py": None, "b.py": "open_till\ncloseTill\n"}]
    fast_import(top, [([number - 1] * bool(number), files) for number, files in enumerate(steps)])
    whole = names_of(top)
    assert whole.keys() == {"open_till", "closeTill"}
    for size in (1, 7, 64):
        monkeypatch.setattr(repository, "BYTES", size)
        assert names_of(top) == whole


def test_a_rewritten_history_is_read_anew(tmp_path):
    top, cache = tmp_path / "r", tmp_path / "cache"
    commit(top, {"a.py": "x = 1\n"})
    commit(top, {"a.py": "open_till = 1\n", "old/b.py": "y = 2\n"})
    assert "open_till" in names_of(top, cache)
    (top / "old/b.py").unlink()
    commit(top, {"a.py": "closeTill = 1\n"}, "--amend")
    assert set(names_of(top, cache)) == {"closeTill"}


@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: b"{}", lambda data: data[:-9], lambda data: b"\xff\n[]"]
)
def test_a_damaged_cache_is_made_anew(tmp_path, damage):
    top, cache = tmp_path / "r", tmp_path / "cache"
    commit(top, {"a.py": "open_till = 1\n"})
    whole = names_of(top, cache)
    good = cache.read_bytes()
    cache.write_bytes(damage(good))
    assert (names_of(top, cache), cache.read_bytes()) == (whole, good)


def test_documents_binaries_and_odd_paths_are_no_code(tmp_path):
    top = tmp_path / "r"
    commit(
        top,
        {
            "README.md": "open_till",
            "x.bin": b"\0 closeTill",
            b"caf\xe9.py": "price_2024 = 1\n",
            "l.lock": "tillDrawer9",
        },
    )
    commit(top, {b"caf\xe9.py": None, "a.py": "x = 1\n"})
    assert set(names_of(top)) == {"price_2024"}
    assert list(history.read_removed(Repository(str(top)))) == ["caf\ufffd.py"]


def test_a_work_tree_and_a_submodule_are_read_like_any_other(tmp_path):
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    commit(inner, {"a.py": "open_till = 1\n"})
    commit(outer, {"b.py": "closeTill = 1\n"})
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "inner")
    git(outer, "config", "diff.submodule", "log")
    git(outer, "commit", "-qm", "inner")
    git(outer, "worktree", "add", "-q", str(tmp_path / "tree"))
    for top in (outer, tmp_path / "tree"):  # of .gitmodules come others
        assert set(names_of(top)) & {*WORDS} == {"closeTill"}
    assert set(names_of(outer / "inner")) == {"open_till"}


def test_settings_of_a_person_change_no_answer(tmp_path):
    top = tmp_path / "r"
    commit(top, {"a.py": "def open_till(): pass\n", "b.py": "def closeTill(): pass\n"})
    commit(top, {"a.py": None, "c.py": "x = 1\n"})
    for setting in (
        "color.ui=always",
        "grep.lineNumber=true",
        "diff.noprefix=true",
        "diff.context=9",
        "log.showRoot=false",
    ):
        git(top, "config", *setting.split("="))
    git(top, "config", "diff.external", "false")
    assert ProjectFiles(str(top)).lost(["open_till", "closeTill"]).keys() == {"open_till"}


@pytest.mark.parametrize("world", ["no git", "git hangs", "no repository", "no commit", "shallow", "a lost object"])
def test_where_git_has_no_answer_nothing_is_gone(tmp_path, monkeypatch, world):
    top, newest = tmp_path / "r", ""
    if world == "no repository":
        top.mkdir()
    elif world == "no commit":
        top.mkdir()
        git(top, "init", "-q")
    else:
        commit(top, {"a.py": "def open_till(): pass\n", "old/b.py": "y = 2\n"})
        commit(top, {"a.py": "x = 1\n", "old/b.py": None})
    if world == "shallow":
        git(tmp_path, "clone", "-q", "--depth", "1", f"file://{top}", "s")
        top = tmp_path / "s"
    elif world == "no git":
        monkeypatch.setenv("PATH", str(tmp_path))
    elif world == "git hangs":
        (tmp_path / "git").write_text("#!/bin/sh\nexec sleep 60\n")
        (tmp_path / "git").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        monkeypatch.setattr(repository, "LONGEST_SECONDS", 0.05)
    elif world == "a lost object":
        newest = git(top, "rev-parse", "HEAD").strip()
        blob = git(top, "rev-parse", "HEAD~1:a.py").strip()
        os.unlink(top / ".git/objects" / blob[:2] / blob[2:])
    project = ProjectFiles(str(top), str(tmp_path / "home"))
    # Which files went is known without the lost one; what git could not say, it may say next time.
    assert (project.lost(["open_till"]), project.removed("old/b.py")) == ({}, (newest, ""))
    assert project.is_sure == (world != "a lost object")


def test_a_pass_that_is_stopped_leaves_nothing_behind(tmp_path):
    top, cache = tmp_path / "r", tmp_path / "cache"
    commit(top, {"a.py": "open_till = 1\n"})
    git_of = Repository(str(top))
    assert git_of.head
    git_of.go_on = lambda: False
    with pytest.raises(OSError, match="was ended"):
        history.read(git_of, str(cache))
    assert not cache.exists()


def test_a_name_is_lost_with_its_last_use_and_back_where_it_is_found(tmp_path):
    top, root = tmp_path / "r", str(tmp_path / "home")
    commit(top, {"a.py": "def open_till():\n    pass\n", "b.py": "open_till()\nuse_effect()\n"})
    lost = lambda: set(ProjectFiles(str(top), root).lost(["open_till", "use_effect", "never_there"]))
    assert lost() == set()
    commit(top, {"a.py": "x = 1\n", "docs/a.md": "`open_till`"})
    assert lost() == set()  # b.py still has it
    commit(top, {"b.py": "y = 2\n"})
    assert lost() == {"open_till"} == lost()  # use_effect was never defined here
    (top / "new.py").write_text("def open_till(): ...\n")
    assert lost() == set()
