"""Hooks as Copilot CLI runs them: its payloads and answers, and what comes with a prompt instead of a start."""

import json

import pytest
from launching import run_in_fork

MARK = {"COPILOT_CLI": "1"}
OWN = {**MARK, "COPILOT_HOOK_DIR": "/home/ada/.copilot/hooks"}
MORE = {
    "UserPromptSubmit": {"prompt": "please do it"},
    "PreToolUse": {"tool_name": "Bash", "tool_input": {"command": "ls"}},
    "PostToolUse": {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_result": {"result_type": "success"}},
    "PreCompact": {"trigger": "manual", "custom_instructions": ""},
    "SessionStart": {"source": "new", "initial_prompt": "please do it"},
}


def run(home, event, env=OWN, agent="copilot", **more):
    """What a hook printed, as JSON; {} for nothing."""
    argv = [event, "--root", str(home.root), "--config", str(home.config), *(["--agent", agent] if agent else [])]
    payload = {"hook_event_name": event, "session_id": "s1", "cwd": str(home.project), **MORE[event], **more}
    done = run_in_fork(argv, json.dumps(payload).encode(), {**home.env, **env}, str(home.base))
    assert (done.returncode, done.stderr) == (0, b"")
    return json.loads(done.stdout) if done.stdout else {}


def text(home, event="UserPromptSubmit", **how):
    answer = run(home, event, **how)
    assert answer.keys() <= {"additionalContext"}
    return answer.get("additionalContext", "")


def test_the_first_prompt_brings_the_index_and_later_ones_changes(home):
    home.remember("tabs")
    home.guide("a note")
    assert run(home, "SessionStart") == {}
    first = text(home)
    assert "a note" in first
    assert "tabs: What it says" in first
    assert text(home) == ""
    home.remember("spaces")
    assert "+ - [feedback] spaces" in text(home)
    assert "tabs: What it says" in text(home, session_id="s2")


def test_a_compaction_has_the_next_prompt_bring_the_index_again(home):
    home.remember("tabs")
    home.leave("updates", "A draft", title="A draft")
    assert "A draft" in text(home)
    run(home, "PreCompact")
    again = text(home)
    assert "tabs: What it says" in again
    assert "A draft" in again
    assert text(home) == ""


def test_a_compaction_in_a_turn_repeats_that_turns_notes(home):
    home.guide("a note")
    assert "a note" in text(home)
    run(home, "PreCompact", trigger="auto")
    assert "a note" in text(home)
    assert text(home) == ""


def test_a_note_that_did_not_arrive_comes_once_after_a_compaction(home):
    home.guide("a note")
    text(home)
    (claim,) = home.root.glob("**/claimed/*.md")
    claim.rename(claim.parents[1] / "guidance.md")
    run(home, "PreCompact", trigger="auto")
    assert text(home).count("a note") == 1


def test_a_fork_knows_what_its_parent_was_told(home):
    home.remember("tabs")
    home.leave("updates", "A draft", title="A draft")
    assert "A draft" in text(home)
    fork = home.base / "home" / ".copilot" / "session-state" / "s2" / "events.jsonl"
    fork.parent.mkdir(parents=True)
    start = {"sessionId": "s2", "version": 1, "copilotVersion": "1.0.102", "context": {"cwd": str(home.project)}}
    copied = {"hookType": "userPromptSubmitted", "input": {"sessionId": "s1", "cwd": str(home.project)}}
    message = {"content": "please do it", "transformedContent": home.log()[0]["text"]}
    events = [("session.start", start), ("hook.start", copied), ("user.message", message)]
    rows = [
        {"type": kind, "data": data, "id": str(number), "parentId": None} for number, (kind, data) in enumerate(events)
    ]
    fork.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert text(home, session_id="s2") == ""


@pytest.mark.parametrize("more", [{"agent_id": "a1", "parent_agent_id": "s1"}, {"prompt": ""}])
def test_subagents_and_empty_prompts_get_no_note(home, more):
    home.guide("a note")
    assert (text(home, **more), home.waiting()) == ("", ["a note"])
    assert "a note" in text(home)


def test_claude_codes_hooks_of_a_project_answer_in_copilots_form(home):
    home.guide("a note")
    assert "a note" in text(home, env=MARK, agent="")
    assert home.log()[0]["agent"] == "copilot"


def test_claude_codes_hooks_stand_down_beside_copilots_own(home):
    own = home.base / "home" / ".copilot" / "hooks" / "memtui.json"
    own.parent.mkdir(parents=True)
    own.write_text("{}")
    home.guide("a note")
    assert (text(home, env=MARK, agent=""), home.waiting()) == ("", ["a note"])
    assert "a note" in text(home)


def test_an_urgent_note_comes_with_a_tools_result(home):
    text(home)
    home.guide("a note", urgent="yes")
    assert run(home, "PreToolUse") == {}
    assert "a note" in text(home, "PostToolUse")


def test_a_memory_that_the_agent_wrote_is_logged_by_its_path(home):
    path = home.remember("tabs")
    run(home, "PostToolUse", tool_name="Write", tool_input={"path": str(path), "file_text": path.read_text()})
    home.settle()
    assert [(item["action"], item["id"]) for row in home.log() for item in row["items"] if item["kind"] == "use"] == [
        ("wrote", "tabs")
    ]


def test_a_refused_write_says_so_in_copilots_form(home):
    home.settings('gate = "ask"\n')
    path = home.remember("tabs")
    answer = run(home, "PreToolUse", tool_name="Write", tool_input={"path": str(path), "file_text": "new"})
    assert answer.keys() == {"permissionDecision", "permissionDecisionReason"}
    assert answer["permissionDecision"] in {"deny", "ask"}


def test_the_log_names_the_sessions_file(home):
    home.guide("a note")
    text(home)
    assert home.log()[0]["transcript"].endswith("/.copilot/session-state/s1/events.jsonl")
