"""A session of another coding agent gets what is for every agent, and the log says whose it was."""

import json


def run(home, event, agent="codex", **more):
    argv = [event, "--root", str(home.root), "--config", str(home.config), "--agent", agent]
    return home.run(event, json.dumps(home.payload(event, **more)).encode(), argv=argv)


def remember_native(home, name):
    path = home.own_directory / "memory" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: {name}\ndescription: What {name} says\n---\nBody.\n")


def test_a_note_for_an_agent_reaches_its_sessions_alone(home):
    home.guide("for this one", for_="agent:codex")
    assert home.prompt(session="claude").context == ""
    assert "for this one" in run(home, "UserPromptSubmit").context
    assert run(home, "UserPromptSubmit").context == ""
    (row,) = home.log()
    assert row["agent"] == "codex"


def test_global_memories_go_to_every_agent_and_claudes_own_on_demand(home):
    home.remember("shared")
    remember_native(home, "native")
    context = run(home, "SessionStart").context
    assert "shared" in context
    assert "native" not in context
    home.settings("share_auto = true\n")
    context = run(home, "SessionStart", session="s2").context
    assert "shared" in context
    assert "native" in context
    assert "native" not in home.start(session="s3").context  # Claude Code loads it itself


def test_an_unknown_agent_is_served_as_claude_code_is(home):
    home.guide("for anyone")
    assert "for anyone" in run(home, "UserPromptSubmit", agent="newer").context


def prompt_of_qwen(home, text="hello", **more):
    return run(home, "UserPromptSubmit", agent="qwen", **{"prompt": text, "submitted_prompt": text, **more})


def test_what_an_agent_drops_at_a_start_comes_with_the_first_prompt(home):
    home.remember("shared")
    home.guide("a note")
    assert run(home, "SessionStart", agent="qwen", source="startup").context == ""
    context = prompt_of_qwen(home).context
    assert context.index("shared") < context.index("a note")
    assert prompt_of_qwen(home).context == ""
    home.remember("newer")
    assert "newer" in prompt_of_qwen(home).context
    assert prompt_of_qwen(home, "the text of a command", submitted_prompt="/review").context == " "
    assert [item["kind"] for row in home.log() for item in row["items"]] == ["index", "guidance", "index"]


def test_it_comes_again_after_a_compaction_and_not_after_a_resume(home):
    home.remember("shared")
    assert "shared" in prompt_of_qwen(home).context
    run(home, "SessionStart", agent="qwen", source="resume")
    assert prompt_of_qwen(home).context == ""
    run(home, "SessionStart", agent="qwen", source="compact")
    assert "shared" in prompt_of_qwen(home).context
    assert prompt_of_qwen(home).context == ""
    assert "shared" in prompt_of_qwen(home, session="cleared").context


def test_a_start_that_a_broken_disk_did_not_note_is_no_compaction(home):
    home.guide("a note")
    assert "a note" in prompt_of_qwen(home).context
    (path,) = home.root.glob("sessions/s1.json")
    path.write_text(json.dumps({key: value for key, value in json.loads(path.read_text()).items() if key != "started"}))
    assert "a note" not in prompt_of_qwen(home).context


def test_what_an_agent_drops_before_a_tool_comes_after_it(home):
    home.guide("stop now", urgent="yes")
    tool = {"agent": "qwen", "tool_name": "run_shell_command", "tool_input": {"command": "ls"}}
    assert run(home, "PreToolUse", **tool).context == ""
    assert run(home, "PostToolUse", agent_id="helper", **tool).context == ""
    assert "stop now" in run(home, "PostToolUse", **tool).context
    assert run(home, "PostToolUse", **tool).context == ""
