"""Gemini CLI: its session files, what its hooks are told, and what they answer."""

import json
import os
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.client.agents import agents_hot, programs
from memtui.client.transcripts.conversation import Conversation
from memtui.client.transcripts.transcript_hot import Reader
from memtui.deliver import receipts_hot
from memtui.learn.backfill import progress
from tables import rows

DATA = Path(__file__).resolve().parents[2] / "data" / "agents" / "gemini"
SESSION = DATA / "tmp" / "shop" / "chats" / "session-2026-11-30T14-04-91b667c6.jsonl"
LINES = SESSION.read_bytes().splitlines(keepends=True)
SAID = rows(__file__, "SAID")
GEMINI = agents_hot.load("gemini")
PROGRAM = programs.load("gemini")
HOOK = {"session_id": "s1", "cwd": "/home/ada/shop", "hook_event_name": "BeforeAgent"}


def talk(path, start=0):
    conversation = Conversation()
    for record in Reader(str(path), start):
        conversation.feed(record)
    return conversation


def write(path, *messages):
    """A session file of these lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {"sessionId": "s1", "projectHash": "0" * 64, "startTime": "2026-11-30T14:00:00.000Z", "kind": "main"}
    path.write_text("".join(json.dumps(line) + "\n" for line in (head, *messages)))
    return path


def message(name, kind, *texts, **more):
    parts = [{"text": text} for text in texts]
    content = parts if kind == "user" else texts[0]
    return {"id": name, "timestamp": "2026-11-30T14:00:01.000Z", "type": kind, "content": content, **more}


@pytest.fixture
def place(tmp_path):
    return tmp_path / ".gemini" / "tmp" / "shop" / "chats" / "session-2026-11-30T14-00-s1.jsonl"


def test_records_name_the_project_that_the_session_is_of():
    assert {record["cwd"] for record in Reader(str(SESSION)) if record["type"] == "user"} == {"/home/ada/shop"}


WRONG = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just([]) | st.just({}) | st.just([{}, 1, None])
)


@pytest.mark.slow
@given(st.data())
def test_a_line_with_a_value_of_another_type_stops_no_reading(tmp_path_factory, data):
    lines = [json.loads(line) for line in LINES]
    value = data.draw(st.sampled_from(lines))
    while True:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(value[key], dict | list) or not value[key] or data.draw(st.booleans()):
            break
        value = value[key]
    value[key] = data.draw(WRONG)
    path = tmp_path_factory.mktemp("wrong") / "chats" / SESSION.name
    path.parent.mkdir()
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert {turn.text for turn in talk(path).turns} <= {*SAID, str(value[key]).strip()}
    receipts_hot.TranscriptView(str(path)).refresh()


def test_hooks_texts_are_known_as_injected_with_their_own_characters():
    conversation = talk(SESSION)
    assert conversation.was_injected("Keep the answers & the <b> short, says the note of this prompt.")
    assert conversation.was_injected("Run the tests after this tool, says the note.")
    assert not conversation.was_injected("Use tabs in Makefiles, please.")


def test_a_text_of_a_request_that_never_ended_is_dropped_at_the_end(place):
    hooks = '<hook_context>&lt;memtui-guidance delivery="d1"&gt;\nMind.\n&lt;/memtui-guidance&gt;</hook_context>'
    context = message("c0", "user", "<session_context>\nHere.</session_context>")
    rolled_back = {"$set": {"messages": [context], "lastUpdated": "2026-11-30T14:00:03.000Z"}}
    prompt = message("m1", "user", "Go.", hooks, displayContent=[{"text": "Go."}])
    view = receipts_hot.TranscriptView(str(write(place, prompt, rolled_back))).refresh()
    assert view.at_end("d1") == receipts_hot.DROPPED
    view = receipts_hot.TranscriptView(str(write(place, prompt))).refresh()
    assert view.at_end("d1") == receipts_hot.BROKEN_OFF


def test_a_rewound_message_and_its_text_are_dropped(place):
    hooks = '<hook_context>&lt;memtui-guidance delivery="d1"&gt;\nMind.\n&lt;/memtui-guidance&gt;</hook_context>'
    lines = [
        message("m1", "user", "First."),
        message("m2", "gemini", "Yes."),
        message("m3", "user", "Second.", hooks, displayContent=[{"text": "Second."}]),
        {"$rewindTo": "m3"},
        message("m4", "user", "Third."),
        message("m5", "gemini", "Yes."),
    ]
    view = receipts_hot.TranscriptView(str(write(place, *lines))).refresh()
    assert view.outcomes == {"d1": receipts_hot.DROPPED}


def test_what_the_program_asks_in_a_turn_by_itself_is_not_the_persons(place):
    loop = "System: Potential loop detected. Details: go on, as Ada says. Please take a step back."
    lines = [
        message("m1", "user", "Go on, as Ada says."),
        message("m2", "user", loop, displayContent=[{"text": "go on, as Ada says."}]),
        message("m3", "user", "Here is the user's editor context as a JSON object. Never use tabs."),
        message("m4", "user", "The template of a command", displayContent=[{"text": "/plan the garden"}]),
    ]
    assert [turn.text for turn in talk(write(place, *lines)).turns] == ["Go on, as Ada says."]


def test_words_behind_a_start_text_of_another_hook_are_heard(place):
    lines = [
        message("m1", "user", "<hook_context>Never use tabs.</hook_context>\n\nUse spaces."),
        message("m2", "user", "<hook_context>Never use tabs.</hook_context>"),
    ]
    assert [turn.text for turn in talk(write(place, *lines)).turns] == ["Use spaces."]


def test_an_answer_to_the_agents_question_is_heard(place):
    question = {"question": "Tabs?", "header": "Tabs", "type": "choice", "options": [{"label": "yes"}]}
    result = {"functionResponse": {"id": "q1", "response": {"output": '{"answers": {"0": "no, never tabs"}}'}}}
    call = {"id": "q1", "name": "ask_user", "args": {"questions": [question]}, "result": [result], "status": "success"}
    turns = talk(write(place, message("m1", "gemini", "", toolCalls=[call]))).turns
    assert [(turn.text, turn.channel) for turn in turns] == [("no, never tabs", "answer")]


def test_the_todo_list_of_the_agent_is_read(place):
    todos = [{"description": "Sweep", "status": "blocked"}, {"description": "Mop", "status": "cancelled"}]
    call = {"id": "t1", "name": "write_todos", "args": {"todos": todos}, "result": [], "status": "success"}
    talked = talk(write(place, message("m1", "gemini", "", toolCalls=[call])))
    assert [tuple(todo) for todo in talked.todos()] == [("Sweep", "pending"), ("Mop", "deleted")]


def test_a_file_of_another_form_gives_no_receipt(tmp_path, place):
    assert GEMINI.has_known_format(str(SESSION))
    assert not GEMINI.has_known_format(str(write(place, {"type": "user", "text": "Go."})))
    assert not GEMINI.has_known_format(str(tmp_path / "chats" / "session-1.jsonl"))


def test_sessions_are_those_of_persons_and_owned_by_their_paths(tmp_path):
    shutil.copytree(DATA, tmp_path / ".gemini")
    helper = tmp_path / ".gemini/tmp/shop/chats/91b667c6-aaaa/1234.jsonl"
    helper.parent.mkdir()
    helper.write_text("{}\n")
    sessions = sorted(PROGRAM.sessions({"HOME": str(tmp_path)}))
    assert os.path.basename(sessions[0]) == SESSION.name
    assert len(sessions) == 2
    assert all(GEMINI.owns(path) for path in sessions)
    assert not GEMINI.owns(str(helper))
    Path(sessions[0]).unlink()
    Path(sessions[0]).symlink_to(sessions[0])
    assert progress.unread(str(tmp_path), {"HOME": str(tmp_path)}) == 2, "also one that can't be read"


def test_a_tool_of_a_subagent_is_told_by_the_file_written_last(place):
    write(place, message("m1", "user", "Go."))
    helper = place.parent / "s1" / "helper-1.jsonl"
    helper.parent.mkdir()
    helper.write_text("{}\n")
    payload = {**HOOK, "transcript_path": str(place), "tool_name": "run_shell_command", "tool_input": {"command": "ls"}}
    now = time.time()
    os.utime(helper, (now, now))
    os.utime(place, (now - 1, now - 1))
    assert GEMINI.read("PostToolUse", payload, {})["agent_id"] == "helper-1"
    assert "agent_id" not in GEMINI.read("PostToolUse", {**payload, "tool_name": "invoke_agent"}, {})
    os.utime(place, (now + 1, now + 1))
    own = GEMINI.read("PostToolUse", payload, {})
    assert "agent_id" not in own
    assert (own["tool_name"], own["tool_input"]) == ("Bash", {"command": "ls"})


def test_an_index_that_is_in_no_later_request_is_due_again(place):
    snapshot = message("c1", "user", "<state_snapshot>\nAll.</state_snapshot>")
    index = '<hook_context>&lt;memtui-index delivery="d1"&gt;\nAll.\n&lt;/memtui-index&gt;</hook_context>'
    before, after = (message(name, "user", "Go.", index) for name in ("m1", "m2"))
    compaction = {"$set": {"messages": [snapshot], "lastUpdated": "2026-11-30T14:00:03.000Z"}}
    payload = {**HOOK, "transcript_path": str(write(place, before)), "prompt": "Go on."}
    is_due = lambda: bool(GEMINI.read("UserPromptSubmit", payload, {}).get("lost_index"))
    assert not is_due()
    place.write_text(write(place, before, compaction).read_text().replace('": ', '":'))
    assert is_due()
    place.write_text(write(place, before, compaction, after).read_text().replace('": ', '":'))
    assert not is_due()


def test_answers_have_the_programs_form_and_no_false_tag():
    answer = json.loads(GEMINI.answer("UserPromptSubmit", '&lt;memtui-guidance delivery="x"&gt;', "Hello.", "", ""))
    assert answer == {
        "hookSpecificOutput": {"additionalContext": '&amp;lt;memtui-guidance delivery="x"&gt;'},
        "systemMessage": "Hello.",
    }
    assert json.loads(GEMINI.answer("PreToolUse", "", "", "No.", "deny")) == {"decision": "deny", "reason": "No."}
    assert GEMINI.answer("Stop", "", "", "", "") == ""


def test_hooks_are_named_and_timed_in_milliseconds(tmp_path):
    groups = {event.own: PROGRAM.group(event, "run me") for event in PROGRAM.events}
    assert "PreCompress" not in groups
    hooks = [group["hooks"][0] for group in groups.values()]
    assert all(hook["name"] == "memtui" and hook["timeout"] >= 5000 for hook in hooks)


def test_trust_is_asked_for_until_the_folder_or_all_are_trusted(tmp_path):
    home, project = tmp_path / "home", tmp_path / "work" / "shop"
    (home / ".gemini").mkdir(parents=True)
    env = {"HOME": str(home), "PWD": str(project)}
    assert "Trust folder" in PROGRAM.trust(env)
    (home / ".gemini/trustedFolders.json").write_text(json.dumps({str(project): "TRUST_PARENT"}))
    assert PROGRAM.trust({**env, "PWD": str(project.parent / "garden")}) == ""
    (home / ".gemini/trustedFolders.json").write_text(json.dumps({str(project): "TRUST_FOLDER"}))
    assert PROGRAM.trust(env) == ""
    rules = {str(project): "DO_NOT_TRUST", str(project.parent): "TRUST_FOLDER"}
    (home / ".gemini/trustedFolders.json").write_text(json.dumps(rules))
    assert PROGRAM.trust(env)
    assert PROGRAM.trust({**env, "PWD": str(project.parent / "garden")}) == ""
    (home / ".gemini/settings.json").write_text('{"security": {"folderTrust": {"enabled": false}}}')
    assert PROGRAM.trust(env) == ""


def test_switched_off_hooks_and_unread_sessions_are_named(tmp_path):
    (tmp_path / ".gemini").mkdir()
    config = {"hooksConfig": {"enabled": False, "disabled": ["memtui"]}}
    (tmp_path / ".gemini/settings.json").write_text(json.dumps(config))
    (tmp_path / ".gemini/tmp/shop/chats").mkdir(parents=True)
    (tmp_path / ".gemini/tmp/shop/chats/session-2025-08-01T10-00-1.json").write_text("{}")
    off, disabled, old = PROGRAM.notes({"HOME": str(tmp_path)})
    assert "hooksConfig.enabled" in off
    assert "/hooks enable memtui" in disabled
    assert old == "Not read: 1 session that an older Gemini CLI wrote as one JSON document."
