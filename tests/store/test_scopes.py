"""Which memories a working directory sees, and which one a reference means."""

import json
import os

import pytest

from memtui.base import paths_hot
from memtui.base.errors import ConflictError, NotFoundError
from memtui.client import settings_files_hot
from memtui.store import scopes, trust_grants
from tree import link_worktree

MEMORY = "---\nname: {name}\ndescription: about {name}\nmetadata:\n  type: project\n---\nBody of {name}\n"


class World:
    def __init__(self, top):
        self.top = top
        self.env = {"HOME": str(top / "home")}
        self.config = top / "home" / ".claude"
        self.repo = top / "repo"
        (self.repo / ".git").mkdir(parents=True)
        (self.repo / "src" / "deep").mkdir(parents=True)

    @property
    def auto(self):
        return self.config / "projects" / paths_hot.slug(str(self.repo)) / "memory"

    @property
    def project(self):
        return self.repo / ".claude" / "memory"

    def discover(self, cwd=None, **more):
        return {s.label: s for s in scopes.discover(self.env, str(cwd or self.repo), **more)}

    def find(self, ref, cwd=None):
        return scopes.find(self.env, str(cwd or self.repo), ref)

    def worktree(self, place=None):
        tree = link_worktree(self.repo, place or self.top / "tree")
        (tree / "src").mkdir()
        return tree


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def put(directory, name, text=None):
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(MEMORY.format(name=name) if text is None else text)
    return path


def test_scopes_are_where_config_dir_and_memtui_home_say(world):
    found = world.discover()
    assert list(found) == ["global", "project", "auto"]
    assert found["global"].directory == str(world.config / "memory")
    assert found["project"].directory == str(world.project)
    assert found["auto"].directory == str(world.auto)
    assert not any(s.exists for s in found.values())
    assert all(s.writable for s in found.values())
    world.env["CLAUDE_CONFIG_DIR"] = str(world.top / "conf") + "/"
    world.env["MEMTUI_HOME"] = str(world.top / "mine")
    found = world.discover()
    assert found["global"].directory == str(world.top / "conf" / "memory")
    assert found["auto"].directory.startswith(str(world.top / "conf" / "projects"))
    put(world.project, "a")
    trust_grants.grant(str(world.top / "mine"), str(world.project))
    assert world.discover()["project"].trusted


def test_subdirectories_and_worktrees_see_the_nearest_project_memory(world):
    put(world.project, "a")
    put(world.auto, "b")
    main = world.discover()
    for cwd in (world.repo / "src" / "deep", world.worktree() / "src"):
        found = world.discover(cwd)
        assert found["project"].directory == main["project"].directory
        assert found["auto"].directory == main["auto"].directory
        assert found["auto"].slug == found["project"].slug == paths_hot.slug(str(world.repo))
        assert found["project"].exists
    put(world.top / "other" / ".claude" / "memory", "stranger")
    tree = world.worktree(world.top / "other" / "linked")
    assert world.discover(tree)["project"].directory == str(world.project)
    for cwd, place in ((tree / "src", tree), (world.repo / "src" / "deep", world.repo / "src")):
        put(place / ".claude" / "memory", "b")
        assert world.discover(cwd)["project"].directory == str(place / ".claude" / "memory")


def test_the_global_memory_is_never_taken_for_a_project(world):
    put(world.config / "memory", "a")
    for name in ("notes", "linked"):
        cwd = world.top / "home" / name
        cwd.mkdir()
        if name == "linked":
            (cwd / ".claude").symlink_to(world.config)
        for variables in ({}, {"CLAUDE_CONFIG_DIR": str(world.top / "elsewhere")}):
            assert not {scope.label: scope for scope in scopes.discover(world.env | variables, str(cwd))}[
                "project"
            ].exists


def settings(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"autoMemoryDirectory": value}))


def test_the_auto_memory_is_where_settings_and_variables_say(world, monkeypatch):
    settings(world.config / "settings.json", "~/user-memory")
    assert world.discover()["auto"].directory == str(world.top / "home" / "user-memory")
    settings(world.repo / ".claude" / "settings.json", "/project/memory/")
    assert world.discover()["auto"].directory == "/project/memory"
    settings(world.repo / ".claude" / "settings.local.json", "/local/memory")
    assert world.discover()["auto"].directory == "/local/memory"
    monkeypatch.setattr(settings_files_hot, "MANAGED", str(world.top / "managed"))
    settings(world.repo / ".claude" / "settings.local.json", "/local/memory")
    settings(world.top / "managed" / "managed-settings.json", "/managed/memory")
    assert world.discover()["auto"].directory == "/managed/memory"
    settings(world.top / "managed" / "managed-settings.d" / "10.json", "/managed/10")
    settings(world.top / "managed" / "managed-settings.d" / "20.json", "/managed/20")
    assert world.discover()["auto"].directory == "/managed/20"


def test_variables_that_move_the_memory_are_followed(world):
    settings(world.config / "settings.json", "/user/memory")
    world.env["CLAUDE_COWORK_MEMORY_PATH_OVERRIDE"] = "/cowork/memory/"
    assert world.discover()["auto"].directory == "/cowork/memory"
    world.env["CLAUDE_COWORK_MEMORY_PATH_OVERRIDE"] = "~/memory"
    assert world.discover()["auto"].directory == "/user/memory"
    (world.config / "settings.json").unlink()
    world.env["CLAUDE_CODE_REMOTE_MEMORY_DIR"] = "/remote"
    assert world.discover()["auto"].directory == f"/remote/projects/{paths_hot.slug(str(world.repo))}/memory"


def test_agents_are_found_and_instructions_shown_read_only(world):
    put(world.config / "agent-memory" / "reviewer", "a")
    (world.config / "agent-memory" / "notes.md").write_text("no agent's")
    put(world.repo / ".claude" / "agent-memory" / "reviewer", "b")
    put(world.repo / ".claude" / "agent-memory-local" / "scratch", "c")
    found = {label: s for label, s in world.discover().items() if s.kind == "agent"}
    assert {label: s.source for label, s in found.items()} == {
        "agent:reviewer": "reviewer",
        "agent:reviewer@project": "reviewer",
        "agent:scratch@local": "scratch",
    }
    assert world.find("agent:reviewer@project:b").description == "about b"
    for place in (
        *(world.config / "CLAUDE.md", world.config / "rules" / "style.md", world.repo / "CLAUDE.md"),
        *(world.repo / ".claude" / "CLAUDE.md", world.repo / "CLAUDE.local.md"),
        world.repo / ".claude" / "rules" / "sub" / "api.md",
        world.repo / "src" / "CLAUDE.md",
    ):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("be brief\n")
    found = {label: s for label, s in world.discover(world.repo / "src").items() if s.kind == "instructions"}
    assert not any(s.writable for s in found.values())
    assert found["instructions:user"].files == ("CLAUDE.md", "rules/style.md")
    files = [".claude/CLAUDE.md", ".claude/rules/sub/api.md", "CLAUDE.local.md", "CLAUDE.md", "src/CLAUDE.md"]
    assert sorted(found["instructions:project"].files) == files
    assert [m.body for m in scopes.memories(found["instructions:user"])] == ["be brief\n"] * 2


def test_memories_are_sorted_nested_ones_included_and_the_index_is_none(world):
    for name in ("b", "a", "sub/c", "MEMORY", ".hidden"):
        put(world.auto, name)
    (world.auto / "notes.txt").write_text("x")
    (world.auto / "dir.md").mkdir()
    os.mkfifo(world.auto / "pipe.md")
    put(world.auto, "bad", '---\nname: x\ndescription: "unclosed\n---\nbody\n')
    found = list(scopes.memories(world.discover()["auto"]))
    names = [("a", "auto"), ("b", "auto"), ("bad", "auto"), ("sub/c", "auto")]
    assert [(m.stem if m.broken else m.name, m.scope_label) for m in found] == names
    assert [m.stem for m in found if m.broken] == ["bad"]


def test_symlinks_that_leave_the_scope_are_listed_and_not_read(world):
    secret = put(world.top, "secret", "TOP SECRET")
    put(world.project, "a")
    (world.project / "leak.md").symlink_to(secret)
    (world.project / "up").symlink_to(world.top)
    (world.project / "chain.md").symlink_to("leak.md")
    (world.project / "dangling.md").symlink_to("/nowhere/x")
    (world.project / "inside.md").symlink_to("a.md")
    (world.project / "loop").symlink_to(".")
    found = {m.stem: m for m in scopes.memories(world.discover()["project"])}
    assert set(found) == {"a", "leak", "up", "chain", "dangling", "inside"}
    for name in ("leak", "up", "chain", "dangling"):
        assert "leaves" in found[name].broken
        assert "SECRET" not in found[name].body
        assert found[name].raw == b""
    assert found["inside"].body == found["a"].body
    assert "leaves" in world.find("leak").broken
    assert "leaves" in world.find(str(world.project / "leak.md")).broken


def test_a_link_out_of_the_repository_is_not_read_but_a_persons_own_is(world):
    put(world.top / "private", "a")
    (world.repo / ".claude").mkdir()
    (world.repo / ".claude" / "memory").symlink_to(world.top / "private")
    found = world.discover()["project"]
    assert "leaves" in found.problem
    assert not found.writable
    assert list(scopes.memories(found)) == []
    put(world.top / "dotfiles", "a")
    world.config.mkdir(parents=True)
    (world.config / "memory").symlink_to(world.top / "dotfiles")
    assert [m.name for m in scopes.memories(world.discover()["global"])] == ["a"]


def test_all_projects_are_listed_under_their_true_path_also_of_one_name(world):
    directories = {}
    for place in ("work", "home"):
        other = world.top / place / "api"
        directories[place] = world.config / "projects" / paths_hot.slug(str(other))
        put(directories[place] / "memory", "theirs")
        (directories[place] / "s.jsonl").write_text(json.dumps({"type": "user", "cwd": str(other)}) + "\n")
    shown = [scope.shown for scope in world.discover(all_projects=True).values() if scope.project]
    assert sorted(shown) == ["auto:home/api", "auto:work/api"]
    for place, directory in directories.items():
        assert world.find(f"auto:{place}/api:theirs").path == str(directory / "memory" / "theirs.md")
    other = world.top / "my.other-app"
    directory = world.config / "projects" / paths_hot.slug(str(other))
    put(directory / "memory", "theirs")
    (directory / "s.jsonl").write_text(json.dumps({"type": "user", "cwd": str(other)}) + "\n")
    assert "auto:" + paths_hot.slug(str(other)) not in world.discover()
    found = world.discover(all_projects=True)["auto:" + paths_hot.slug(str(other))]
    assert found.root_path == str(other)
    assert found.kind == "auto"
    for label in (found.label, f"auto:{other}", "auto:my.other-app"):
        assert world.find(f"{label}:theirs").path == str(directory / "memory" / "theirs.md")
    assert world.find(str(directory / "memory" / "theirs.md")).scope_label == found.label
    with pytest.raises(NotFoundError):
        world.find("theirs")


def test_a_reference_is_a_name_a_file_a_scope_and_name_or_a_path(world, monkeypatch):
    path = put(world.project, "use-pnpm", MEMORY.format(name="Use pnpm: always"))
    put(world.project, "sub/nested")
    for ref in ("use-pnpm", "use-pnpm.md", "project:use-pnpm", str(path), ".claude/memory/use-pnpm.md"):
        assert world.find(ref).path == str(path)
    (world.repo / "use-pnpm").write_text("")
    assert world.find("use-pnpm").path == str(path)
    assert (world.find("project:sub/nested").stem, world.find("sub/nested").stem) == ("nested", "nested")
    assert world.find("nested").stem == "nested"
    other = put(world.project, "by_name", MEMORY.format(name="prefer-pnpm"))
    for ref in ("prefer-pnpm", "project:prefer-pnpm"):
        assert world.find(ref).path == str(other)


def test_a_reference_is_never_ambiguous_unknown_or_out_of_the_scopes(world):
    put(world.project, "a")
    put(world.auto, "a")
    with pytest.raises(ConflictError) as caught:
        world.find("a")
    assert "project:a" in caught.value.hint
    assert "auto:a" in caught.value.hint
    assert world.find("auto:a").path == str(world.auto / "a.md")
    put(world.project, "prefer-pnpm")
    with pytest.raises(NotFoundError, match="prefer-pmpn") as caught:
        world.find("prefer-pmpn")
    assert "project:prefer-pnpm" in caught.value.hint
    with pytest.raises(NotFoundError) as caught:
        world.find("nowhere:a")
    assert "project" in caught.value.hint
    (world.top / "secret.md").write_text("x")
    (world.repo / "CLAUDE.md").write_text("x")
    outside = ("../../../secret", "project:../../../secret", "project:../../CLAUDE", str(world.top / "secret.md"))
    for ref in (*outside, "", ":", "a:", "\0"):
        with pytest.raises(NotFoundError):
            world.find(ref)
