"""Before a tool: what must not wait. After it: which memories were used. And what the other events leave alone."""

import itertools
import json

import pytest
from launching import EVENTS

from memtui.base import paths_hot
from tables import rows
from tree import link_worktree


def test_urgent_guidance_comes_before_the_next_tool_and_other_does_not(home):
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
    ("glob", "tool", "given", "comes"), rows(__file__, "test_guidance_for_a_path_comes_when_a_tool_touches_it")
)
def test_guidance_for_a_path_comes_when_a_tool_touches_it(home, glob, tool, given, comes):
    home.guide("mind the encoding", for_=f"path:{glob}")
    given = {key: v.replace("PROJECT", str(home.project)) if isinstance(v, str) else v for key, v in given.items()}
    assert ("mind the encoding" in home.tool(name=tool, **given).context) is comes
    assert home.waiting() == ([] if comes else ["mind the encoding"])


def test_in_a_linked_worktree_a_path_is_taken_from_its_top(home, tmp_path):
    for fix in (tmp_path / "fix", home.project / ".claude" / "worktrees" / "inner"):
        link_worktree(home.project, fix)
        home.guide("mind the encoding", for_="path:src/*.py")
        given = {"tool_name": "Edit", "tool_input": {"file_path": f"{fix}/src/app.py"}}
        assert "mind the encoding" in home.hook("PreToolUse", cwd=str(fix), **given).context


def uses(home):
    return [(i["action"], i["scope"], i["id"]) for r in home.log() for i in r["items"] if i["kind"] == "use"]


def test_a_memory_that_the_agent_opened_or_wrote_is_noted(home):
    places = {
        "global": home.config / "memory" / "one.md",
        "project": home.project / ".claude" / "memory" / "sub" / "two.md",
        "auto": home.config / "projects" / "-w-other" / "memory" / "three.md",
        "agent:bob": home.config / "agent-memory" / "bob" / "four.md",
    }
    tools = ("Read", "Write", "Edit", "MultiEdit")
    for tool, path in zip(tools, places.values(), strict=True):
        assert home.hook("PostToolUse", tool_name=tool, tool_input={"file_path": str(path)}).raw == b""
    actions = ("read", "wrote", "wrote", "wrote")
    assert uses(home) == [(action, scope, places[scope].stem) for scope, action in zip(places, actions, strict=True)]
    assert home.log()[0]["items"][0]["path"] == str(places["global"])


MEMORY = {"store": "personal", "path": "/sub/five.md"}


def test_what_the_clients_memory_tools_open_or_write_is_noted(home):
    for tool, more in (
        ("memory_read", {}),
        ("memory_write", {"content": "x", "if_version": "new"}),
        ("memory_read", {"path": "sub//five.md"}),
    ):
        home.hook("PostToolUse", tool_name=tool, tool_input=MEMORY | more, tool_response={"outcome": "ok"})
    assert uses(home) == [(action, "auto", "five") for action in ("read", "wrote", "read")]
    own = home.config / "projects" / paths_hot.slug(str(home.project)) / "memory"
    assert home.log()[0]["items"][0]["path"] == str(own / "sub" / "five.md")


def test_their_memories_are_where_the_setting_moves_them(home, tmp_path):
    home.config.mkdir(parents=True)
    (home.config / "settings.json").write_text(json.dumps({"autoMemoryDirectory": str(tmp_path / "moved")}))
    home.hook("PostToolUse", tool_name="memory_read", tool_input=MEMORY, tool_response={"outcome": "ok"})
    assert home.log()[0]["items"][0]["path"] == str(tmp_path / "moved" / "sub" / "five.md")


def test_other_files_and_tools_and_what_was_refused_are_no_use(home):
    given = [
        *(("Read", {"file_path": f"{home.config}/{path}"}, "ok") for path in ("memory/MEMORY.md", "memory/notes.txt")),
        *(("Read", {"file_path": path}, "ok") for path in (f"{home.config}/elsewhere/a.md", "README.md")),
        ("Read", {"file_path": f"{home.config}/memory/../a.md"}, "ok"),
        *((tool, {"file_path": f"{home.config}/memory/a.md"}, "ok") for tool in ("Bash", "Glob")),
        ("memory_write", MEMORY | {"content": "x"}, "conflict"),
        ("memory_write", MEMORY | {"content": "x"}, "refused"),
        ("memory_read", MEMORY, "not_found"),
        ("memory_read", {"store": "project-x", "path": "/five.md"}, "ok"),
        ("memory_read", {"store": "personal", "path": "/../../../../five.md"}, "ok"),
        ("memory_read", {"store": "personal", "path": "/MEMORY.md"}, "ok"),
        ("memory_read", {"store": "personal", "path": 5}, "ok"),
        ("memory_list", {"store": "personal"}, "ok"),
        ("memory_list", {"store": "personal", "path_prefix": "/sub/five.md"}, "ok"),
    ]
    for tool, words, outcome in given:
        home.hook("PostToolUse", tool_name=tool, tool_input=words, tool_response={"outcome": outcome})
        assert (home.log(), home.errors()) == ([], []), (tool, words)


def test_a_subagent_gets_nothing_and_takes_nothing(home):
    home.guide("for the main agent", urgent="yes")
    home.leave("updates", "draft")
    home.remember("memory")
    for event in EVENTS:
        assert home.hook(event, agent_id="a1", agent_type="Explore").raw == b""
    assert home.waiting() == ["for the main agent"]
    assert "for the main agent" in home.prompt().context


@pytest.mark.every(step=1)
def test_within_memtuis_own_work_and_headless_runs_the_hooks_are_silent(home):
    home.guide("said", urgent="yes")
    home.remember("memory")
    for event, marker in itertools.product(EVENTS, ("MEMTUI_INSIDE", "CLAUDE_HEADLESS")):
        assert home.hook(event, env={marker: "1"}).raw == b""
    assert home.waiting() == ["said"]
    assert not (home.root / "sessions").exists()
    assert not (home.root / "log").exists()
    # Headless means 1, and a session within another is no reason.
    env = {"CLAUDE_HEADLESS": "0", "CLAUDE_CODE_CHILD_SESSION": "1", "CLAUDECODE": "1"}
    assert "said" in home.prompt(env=env).context


def test_events_that_may_not_speak_do_not(home):
    home.guide("said", urgent="yes")
    home.leave("updates", "draft")
    home.remember("memory")
    for event in ("PostToolUse", "PreCompact", "Stop", "SessionEnd"):
        assert home.hook(event).raw == b""
    assert home.waiting() == ["said"]
