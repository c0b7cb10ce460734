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
