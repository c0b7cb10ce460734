"""Before a tool: what must not wait. After it: which memories were used. And what the other events leave alone."""

import json

import pytest
from launching import EVENTS, Home

from memtui.base import paths


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def test_urgent_guidance_comes_before_the_next_tool_and_other_guidance_does_not(home):
    home.guide("stop the deploy", urgent="yes")
    home.guide("can wait")
    said = home.tool().context
    assert "stop the deploy" in said
    assert "can wait" not in said
    assert home.tool().raw == b""
    (record,) = home.log()
    assert (record["event"], record["tool"], record["tool_use_id"]) == ("PreToolUse", "Bash", "t1")
    assert [item["reason"] for item in record["items"]] == ["urgent"]
    assert "can wait" in home.prompt().context


@pytest.mark.parametrize(
    ("glob", "tool", "given", "comes"),
    [
        ("src/*.py", "Edit", {"file_path": "PROJECT/src/app.py"}, True),
        ("src/*.py", "Read", {"file_path": "src/app.py"}, True),
        ("src/*.py", "Read", {"file_path": "./x/../src/app.py"}, True),
        ("*.ipynb", "NotebookEdit", {"notebook_path": "PROJECT/a/b.ipynb"}, True),
        ("src", "Grep", {"path": "PROJECT/src", "pattern": "x"}, True),
        ("src/*.py", "Edit", {"file_path": "PROJECT/lib/app.py"}, False),
        ("src/*.py", "Bash", {"command": "cat src/app.py"}, False),
        ("src/*.py", "memory_read", {"store": "personal", "path": "/src/app.py"}, False),
        ("/src/*.py", "memory_read", {"store": "personal", "path": "/src/app.py"}, False),
        ("src/*.py", "Edit", {"file_path": 5}, False),
        ("src/*.py", "Edit", {"file_path": ""}, False),
        ("/etc/*", "Read", {"file_path": "/etc/hosts"}, True),
    ],
)
def test_guidance_for_a_path_comes_when_a_tool_touches_it(home, glob, tool, given, comes):
    home.guide("mind the encoding", for_=f"path:{glob}")
    given = {key: v.replace("PROJECT", str(home.project)) if isinstance(v, str) else v for key, v in given.items()}
    assert ("mind the encoding" in home.tool(name=tool, **given).context) is comes
    assert home.waiting() == ([] if comes else ["mind the encoding"])


def test_in_a_linked_worktree_a_path_is_taken_from_its_top(home, tmp_path):
    for fix in (tmp_path / "fix", home.project / ".claude" / "worktrees" / "inner"):
        fix.mkdir(parents=True)
        git = home.project / ".git" / "worktrees" / fix.name
        git.mkdir(parents=True)
        (git / "commondir").write_text("../..\n")
        (git / "gitdir").write_text(f"{fix}/.git\n")
        (fix / ".git").write_text(f"gitdir: {git}\n")
        home.guide("mind the encoding", for_="path:src/*.py")
        given = {"tool_name": "Edit", "tool_input": {"file_path": f"{fix}/src/app.py"}}
        assert "mind the encoding" in home.hook("PreToolUse", cwd=str(fix), **given).context


# --- use


def uses(home):
    return [(i["action"], i["scope"], i["id"]) for r in home.log() for i in r["items"] if i["kind"] == "use"]


@pytest.mark.parametrize(
    ("tool", "action"), [("Read", "read"), ("Write", "wrote"), ("Edit", "wrote"), ("MultiEdit", "wrote")]
)
def test_a_memory_that_the_agent_opened_or_wrote_is_noted(home, tool, action):
    places = {
        "global": home.config / "memory" / "one.md",
        "project": home.project / ".claude" / "memory" / "sub" / "two.md",
        "auto": home.config / "projects" / "-w-other" / "memory" / "three.md",
        "agent:bob": home.config / "agent-memory" / "bob" / "four.md",
    }
    for path in places.values():
        assert home.hook("PostToolUse", tool_name=tool, tool_input={"file_path": str(path)}).raw == b""
    assert uses(home) == [(action, scope, path.stem) for scope, path in places.items()]
    assert home.log()[0]["items"][0]["path"] == str(places["global"])


@pytest.mark.parametrize(
    ("tool", "path"),
    [
        ("Read", "HOME/memory/MEMORY.md"),
        ("Read", "HOME/memory/notes.txt"),
        ("Read", "HOME/elsewhere/a.md"),
        ("Read", "HOME/memory/../a.md"),
        ("Read", "README.md"),
        ("Bash", "HOME/memory/a.md"),
        ("Glob", "HOME/memory/a.md"),
    ],
)
def test_other_files_and_tools_are_not(home, tool, path):
    home.hook("PostToolUse", tool_name=tool, tool_input={"file_path": path.replace("HOME", str(home.config))})
    assert home.log() == []
    assert home.errors() == []


MEMORY = {"store": "personal", "path": "/sub/five.md"}


@pytest.mark.parametrize(
    ("tool", "more", "action"),
    [
        ("memory_read", {}, "read"),
        ("memory_write", {"content": "x", "if_version": "new"}, "wrote"),
        ("memory_read", {"path": "sub//five.md"}, "read"),
    ],
)
def test_what_the_clients_memory_tools_open_or_write_is_noted(home, tool, more, action):
    home.hook("PostToolUse", tool_name=tool, tool_input=MEMORY | more, tool_response={"outcome": "ok"})
    assert uses(home) == [(action, "auto", "five")]
    assert home.log()[0]["items"][0]["path"] == str(
        home.config / "projects" / paths.slug(str(home.project)) / "memory" / "sub" / "five.md"
    )


def test_their_memories_are_where_the_setting_moves_them(home, tmp_path):
    home.config.mkdir(parents=True)
    (home.config / "settings.json").write_text(json.dumps({"autoMemoryDirectory": str(tmp_path / "moved")}))
    home.hook("PostToolUse", tool_name="memory_read", tool_input=MEMORY, tool_response={"outcome": "ok"})
    assert home.log()[0]["items"][0]["path"] == str(tmp_path / "moved" / "sub" / "five.md")


@pytest.mark.parametrize(
    ("tool", "given", "outcome"),
    [
        ("memory_write", MEMORY | {"content": "x"}, "conflict"),
        ("memory_write", MEMORY | {"content": "x"}, "refused"),
        ("memory_read", MEMORY, "not_found"),
        ("memory_read", {"store": "project-x", "path": "/five.md"}, "ok"),
        ("memory_read", {"store": "personal", "path": "/../../../../five.md"}, "ok"),
        ("memory_read", {"store": "personal", "path": "/MEMORY.md"}, "ok"),
        ("memory_read", {"store": "personal", "path": 5}, "ok"),
        ("memory_list", {"store": "personal"}, "ok"),
        ("memory_list", {"store": "personal", "path_prefix": "/sub/five.md"}, "ok"),
    ],
)
def test_what_they_refuse_list_or_reach_elsewhere_is_not(home, tool, given, outcome):
    home.hook("PostToolUse", tool_name=tool, tool_input=given, tool_response={"outcome": outcome})
    assert home.log() == []
    assert home.errors() == []


# --- who gets nothing


@pytest.mark.parametrize("event", EVENTS)
def test_a_subagent_gets_nothing_and_takes_nothing(home, event):
    home.guide("for the main agent", urgent="yes")
    home.leave("updates", "draft")
    home.remember("memory")
    assert home.hook(event, agent_id="a1", agent_type="Explore").raw == b""
    assert home.waiting() == ["for the main agent"]
    assert "for the main agent" in home.prompt().context


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("marker", [{"MEMTUI_INSIDE": "1"}, {"CLAUDE_HEADLESS": "1"}])
def test_within_memtuis_own_work_and_headless_runs_the_hooks_are_silent(home, event, marker):
    home.guide("said", urgent="yes")
    home.remember("memory")
    assert home.hook(event, env=marker).raw == b""
    assert home.waiting() == ["said"]
    assert not (home.root / "sessions").exists()
    assert not (home.root / "log").exists()


def test_headless_means_1_and_a_child_session_is_no_reason(home):
    home.guide("said")
    env = {"CLAUDE_HEADLESS": "0", "CLAUDE_CODE_CHILD_SESSION": "1", "CLAUDECODE": "1"}
    assert "said" in home.prompt(env=env).context


@pytest.mark.parametrize("event", ["PostToolUse", "PreCompact", "Stop", "SessionEnd"])
def test_events_that_may_not_speak_do_not(home, event):
    home.guide("said", urgent="yes")
    home.leave("updates", "draft")
    home.remember("memory")
    assert home.hook(event).raw == b""
    assert home.waiting() == ["said"]
