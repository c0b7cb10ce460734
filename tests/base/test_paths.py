"""Where things live, as the client (2.1.197) decides it: slugs, configuration directory, main repository root."""

import os
import re
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recorded
from memtui.base import paths_hot
from memtui.client import locate_hot


def git(cwd, *words):
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@localhost", "-c", "init.defaultBranch=main"]
    identity += ["-c", "protocol.file.allow=always", "-c", "commit.gpgsign=false"]
    env = {"PATH": os.environ["PATH"], "HOME": str(cwd), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
    subprocess.run(["git", *identity, *words], cwd=cwd, check=True, capture_output=True, env=env)


@pytest.fixture
def repo(tmp_path):
    found = tmp_path / "shop"
    found.mkdir()
    git(found, "init", "-q")
    git(found, "commit", "-q", "--allow-empty", "-m", "one")
    return found


# --- slugs: the expected names were read off the directories that the client made


def test_a_slug_has_dashes_and_paths_are_those_of_posixpath():
    names = {"/srv/znfd/shop": "-srv-znfd-shop", "/home/ann/my_app.v2": "-home-ann-my-app-v2", "/": "-"}
    names |= {"/w/日本 é": "-w-----", "/w/cafe\u0301": "-w-cafe-", "/w/😀": "-w---"}
    assert {path: paths_hot.slug(path) for path in names} == names
    one, other = paths_hot.project_key("/w/my_app"), paths_hot.project_key("/w/my-app")
    assert paths_hot.is_of("-w-my-app", one)
    assert paths_hot.is_of("-w-my-app", other)
    assert paths_hot.is_of(one, one)
    assert not paths_hot.is_of(one, other)
    for path in ("/a", "/a/b", "/", "/a/b/c"):
        assert paths_hot.parent(path) == os.path.dirname(path)
        assert paths_hot.join(path, "x") == os.path.join(path, "x")
        assert paths_hot.join(path, "/x") == "/x"


def javascript_slug(path):
    """The client's rule, written from its description and not from our code."""
    data = path.encode("utf-16-be", "surrogatepass")
    units = [int.from_bytes(data[i : i + 2], "big") for i in range(0, len(data), 2)]
    name = "".join(chr(u) if chr(u).isascii() and chr(u).isalnum() else "-" for u in units)
    if len(name) <= 200:
        return name
    value = 0
    for unit in units:
        value = ((value << 5) - value + unit) % 2**32
    value = abs(value - 2**32 if value >= 2**31 else value)
    digits = ""
    while True:
        value, digit = divmod(value, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
        if not value:
            return name[:200] + "-" + digits


@given(st.text(st.characters(exclude_categories=()), max_size=30), st.integers(1, 30))
def test_long_names_are_cut_and_get_a_hash_over_utf16_units(piece, times):
    path = "/" + piece * times
    assert paths_hot.slug(path) == javascript_slug(path)


@pytest.mark.parametrize(
    "names", [["my-app", "my_app", "my.app", "my app"], ["新聞", "暫存", "🎈"], ["a" * 300 + "-b", "a" * 300 + "_b"]]
)
def test_projects_with_one_slug_have_keys_of_their_own(names):
    keys = [paths_hot.project_key("/home/ann/w/" + name) for name in names]
    assert len(set(keys)) == len(names)
    for key, name in zip(keys, names, strict=True):
        assert paths_hot.slug_of(key) == paths_hot.slug("/home/ann/w/" + name)
        assert len(key) < 255


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_key_is_a_plain_file_name_and_is_never_a_slug(one, other):
    key = paths_hot.project_key("/" + one)
    assert re.fullmatch(r"[A-Za-z0-9-]+\.[0-9a-f]{6}", key)
    assert key != paths_hot.slug("/" + other)


def test_directories_come_from_the_environment():
    assert paths_hot.config_dir({"HOME": "/home/ann"}) == "/home/ann/.claude"
    assert paths_hot.config_dir({"HOME": "/home/ann", "CLAUDE_CONFIG_DIR": "/etc/claude/"}) == "/etc/claude"
    assert paths_hot.config_dir({"HOME": "/home/ann", "CLAUDE_CONFIG_DIR": ""}) == "/home/ann/.claude"
    assert paths_hot.root({"HOME": "/home/ann"}) == "/home/ann/.claude/memtui"
    assert paths_hot.root({"HOME": "/home/ann", "CLAUDE_CONFIG_DIR": "/c"}) == "/c/memtui"
    assert paths_hot.root({"MEMTUI_HOME": "/m/"}) == "/m"
    with pytest.raises(KeyError):
        paths_hot.root({})
    assert paths_hot.inbox_dir("/m", None) == "/m/global"
    assert paths_hot.inbox_dir("/m", "-w-shop") == "/m/projects/-w-shop"


# --- the main repository root


def test_a_directory_belongs_to_its_repository_or_stands_for_itself(repo, tmp_path):
    below = repo / "src" / "deep"
    below.mkdir(parents=True)
    assert paths_hot.project_root(str(below)) == str(repo)
    assert paths_hot.project_root(f"{below}/") == str(repo)
    assert paths_hot.project_root(str(repo)) == str(repo)
    assert paths_hot.project_root(f"{tmp_path}/") == str(tmp_path)
    assert paths_hot.project_root("/") == "/"
    assert paths_hot.project_root(str(tmp_path / "not" / "there")) == str(tmp_path / "not" / "there")


def test_project_memories_above_a_repository_are_not_its_own(repo, tmp_path):
    below = repo / "src"
    for directory in (tmp_path / ".claude/memory", below):
        directory.mkdir(parents=True)
    env = {"HOME": str(tmp_path / "home")}
    assert locate_hot.project_dir(env, str(below)) == (f"{repo}/.claude/memory", False)
    assert locate_hot.project_dir(env, str(tmp_path / "plain")) == (f"{tmp_path}/.claude/memory", True)
    (tmp_path / ".claude/projects").mkdir()
    assert locate_hot.project_dir(env, str(tmp_path / "plain")) == (f"{tmp_path}/plain/.claude/memory", False)
    assert locate_hot.project_dir({"HOME": str(tmp_path)}, str(below)) == (f"{repo}/.claude/memory", False)


def test_worktrees_of_a_bare_repository_share_it_and_a_submodule_does_not(repo, tmp_path):
    git(tmp_path, "clone", "-q", "--bare", str(repo), "shop.git")
    for name in ("one", "two"):
        git(tmp_path / "shop.git", "worktree", "add", "-q", f"../{name}", "-b", name)
        assert paths_hot.project_root(str(tmp_path / name)) == str(tmp_path / "shop.git")
    # A memory directory is made in the work tree: a bare repository is no place for one.
    env = {"HOME": str(tmp_path)}
    assert locate_hot.project_dir(env, str(tmp_path / "one")) == (f"{tmp_path}/one/.claude/memory", False)
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init", "-q")
    git(library, "commit", "-q", "--allow-empty", "-m", "one")
    git(repo, "submodule", "add", "-q", str(library), "vendor/library")
    assert (repo / "vendor" / "library" / ".git").is_file()
    assert paths_hot.project_root(str(repo / "vendor" / "library")) == str(repo / "vendor" / "library")


def test_a_worktree_shares_the_main_work_tree_and_a_forged_one_does_not(repo, tmp_path):
    git(repo, "worktree", "add", "-q", str(tmp_path / "fix"))
    fake = tmp_path / "downloaded"
    fake.mkdir()
    (fake / ".git").write_bytes((tmp_path / "fix" / ".git").read_bytes())
    assert paths_hot.project_root(str(fake)) == str(fake)
    own = fake / "meta" / "worktrees" / "x"
    own.mkdir(parents=True)
    (own / "commondir").write_text(f"{repo}/.git\n")
    (own / "gitdir").write_text(f"{fake}/.git\n")
    (fake / ".git").write_text(f"gitdir: {own}\n")
    assert paths_hot.project_root(str(fake)) == str(fake)
    git(repo, "worktree", "add", "-q", ".claude/worktrees/inner")
    (tmp_path / "fix" / "src").mkdir()
    assert paths_hot.project_root(str(tmp_path / "fix")) == str(repo)
    assert paths_hot.project_root(str(tmp_path / "fix" / "src")) == str(repo)
    assert paths_hot.project_root(str(repo / ".claude" / "worktrees" / "inner")) == str(repo)
    (tmp_path / "link").symlink_to(tmp_path / "fix")
    assert paths_hot.project_root(str(tmp_path / "link")) == str(repo)
    # Files that would block are not waited for.
    common = repo / ".git" / "worktrees" / "fix" / "commondir"
    common.unlink()
    os.mkfifo(common)
    assert paths_hot.project_root(str(tmp_path / "fix")) == str(tmp_path / "fix")


def test_a_git_file_of_another_kind_marks_a_project_of_its_own(tmp_path):
    (tmp_path / "src").mkdir()
    for content in (
        *(b"", b"\n", b"garbage", b"gitdir:", b"gitdir: /nowhere", b"gitdir: a\x00b", b"\xff\xfe\x00", b"gitdir: ."),
        *(b"x" * 9000, b"gitdir: \xff", b"ref: refs/heads/main"),
    ):
        (tmp_path / ".git").write_bytes(content)
        assert paths_hot.project_root(str(tmp_path / "src")) == str(tmp_path), content


def test_what_is_neither_file_nor_directory_is_passed_over(repo):
    below = repo / "src"
    below.mkdir()
    os.mkfifo(below / ".git")
    assert paths_hot.project_root(str(below)) == str(repo)
    (repo / "lib").mkdir()
    (repo / "lib" / ".git").symlink_to(repo / "nowhere")
    assert paths_hot.project_root(str(repo / "lib")) == str(repo)


PARTS = st.lists(st.sampled_from(["a", "b", "..", ".", "", "link", "up", "loop", "gone"]), max_size=8)


def test_resolve_is_realpath(tmp_path_factory):
    base = tmp_path_factory.mktemp("links")
    (base / "a" / "b").mkdir(parents=True)
    (base / "link").symlink_to("a/b")
    (base / "a" / "up").symlink_to("../link")
    (base / "a" / "b" / "up").symlink_to(base)
    (base / "a" / "gone").symlink_to("nowhere/x")
    (base / "up").symlink_to("a/up/")
    real = os.path.realpath(base)

    @given(PARTS)
    def check(parts):
        path = real + "/" + "/".join(part for part in parts if part != "loop")
        assert paths_hot.resolve(path) == os.path.realpath(path)

    check()


def test_inside_follows_symlinks_and_does_not_take_a_prefix_for_a_parent(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "ab").mkdir()
    (tmp_path / "a" / "out").symlink_to("../ab")
    base = str(tmp_path / "a")
    assert paths_hot.inside(base, base + "/x")
    assert not paths_hot.inside(base, base)
    assert not paths_hot.inside(base, str(tmp_path / "ab" / "x"))
    assert not paths_hot.inside(base, base + "/out/x")
    assert paths_hot.inside("/", "/etc")
    (tmp_path / "loop").symlink_to("loop")
    assert paths_hot.resolve(str(tmp_path / "loop")) is None
    assert not paths_hot.inside(str(tmp_path), str(tmp_path / "loop" / "x"))


def test_names_of_paths_are_those_of_ever():
    paths = [paths_hot.slug, paths_hot.project_key, paths_hot.slug_of, paths_hot.normal, paths_hot.parent]
    recorded.check(__file__, "names", *paths)
