"""Other projects are listed under their true path, and thousands of them cost next to nothing."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base import paths_hot
from memtui.client import projects


@pytest.fixture
def env(tmp_path):
    return {"HOME": str(tmp_path / "home")}


def transcript(env, cwd, *, slug=None, session="s1", before=()):
    directory = f"{env['HOME']}/.claude/projects/{slug or paths_hot.slug(cwd)}"
    os.makedirs(directory, exist_ok=True)
    path = f"{directory}/{session}.jsonl"
    with open(path, "w") as file:
        for record in [*before, {"type": "user", "cwd": cwd, "message": {"role": "user", "content": "hi"}}]:
            file.write(json.dumps(record) + "\n")
    return path


def memory(env, path):
    directory = f"{env['HOME']}/.claude/projects/{paths_hot.slug(path)}/memory"
    os.makedirs(directory, exist_ok=True)
    with open(directory + "/a.md", "w") as file:
        file.write("a\n")
    return directory


def found(env):
    return {p.slug: p.path for p in projects.with_memory(env)}


def called(*roots):
    names = projects.names({"HOME": "/home/you"}, {paths_hot.slug(root): root for root in roots})
    return [names[paths_hot.slug(root)] for root in roots]


def test_projects_are_called_by_directory_and_namesakes_by_more_of_a_path():
    roots = ("/home/you/crm", "/srv/api", "/home/you/jobs/api", "/home/you/home/api", "/")
    assert called(*roots) == ["crm", "srv/api", "jobs/api", "home/api", "/"]
    assert called("/a/b/c", "/x/b/c", "/b/c") == ["a/b/c", "x/b/c", "b/c"]
    env, roots = {"HOME": "/home/you"}, ["-home-you-gone", "/me/shop", "/home/you/shop"]
    assert projects.names_of_roots(env, roots) == {
        "-home-you-gone": "gone",
        "/me/shop": "me/shop",
        "/home/you/shop": "you/shop",
    }


@given(st.sets(st.lists(st.sampled_from("ab"), min_size=1, max_size=4).map(lambda parts: "/" + "/".join(parts))))
def test_no_two_have_the_same_name_and_each_is_the_end_of_its_path(roots):
    names = projects.names_of_roots({"HOME": "/home/you"}, roots)
    assert set(names) == roots
    assert len(set(names.values())) == len(roots)
    assert all(("/" + root).endswith("/" + name) for root, name in names.items())


@pytest.mark.parametrize("kept", [True, False])
def test_the_true_path_comes_from_a_transcript_that_is_not_of_elsewhere(env, tmp_path, kept):
    cwd = str(tmp_path / "my.app-two" / "über")
    memory(env, cwd)
    if not kept:  # a root that can't be written costs only what is kept
        with open(f"{env['HOME']}/.claude/memtui", "w"):
            pass
    assert found(env) == {paths_hot.slug(cwd): None}
    os.utime(transcript(env, "/somewhere/else", slug=paths_hot.slug(cwd)), (2, 2))
    assert found(env) == {paths_hot.slug(cwd): None}
    before = [{"type": "summary"}, {"cwd": 3}]
    os.utime(transcript(env, cwd + "/src/deep", slug=paths_hot.slug(cwd), session="s2", before=before), (1, 1))
    assert found(env) == {paths_hot.slug(cwd): cwd}


def test_memory_of_a_repository_used_only_from_subdirectories(env, tmp_path):
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "packages" / "web").mkdir(parents=True)
    path = transcript(env, str(tmp_path / "repo" / "packages" / "web"))
    os.symlink("gone", path.replace("s1", "s2"))
    memory(env, str(tmp_path / "repo"))
    assert found(env) == {paths_hot.slug(str(tmp_path / "repo")): str(tmp_path / "repo")}


@pytest.mark.parametrize(
    "content", [b"", b"\0\xff\n", b'{"cwd": "relative"}\n', b'{"cwd":"\\ud800"}\n', b'"cwd":"/x\\']
)
def test_damaged_transcripts_and_caches_are_survived(env, tmp_path, content):
    cwd = str(tmp_path / "app")
    memory(env, cwd)
    with open(transcript(env, cwd), "wb") as file:
        file.write(content)
    assert found(env) == {paths_hot.slug(cwd): None}
    with open(paths_hot.root(env) + "/run/projects.json", "wb") as file:
        file.write(content)
    assert found(env) == {paths_hot.slug(cwd): None}
