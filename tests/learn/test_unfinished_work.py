"""Unfinished work: the todo list's last state, else what the agent listed itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.client.transcripts.conversation import Conversation
from memtui.learn import unfinished_work


def todo_write(*pairs, **more):
    todos = [{"content": text, "status": status} for text, status in pairs]
    block = {"type": "tool_use", "id": "t", "name": "TodoWrite", "input": {"todos": todos}}
    return {"type": "assistant", "message": {"id": "t", "content": [block]}, **more}


def said(text):
    return {"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": text}]}}


def found(*records):
    conversation = Conversation()
    for record in records:
        conversation.feed(record)
    return unfinished_work.open_items(conversation)


def test_the_last_state_of_the_todo_list_counts():
    first = todo_write(("Fix parser", "in_progress"), ("Write docs", "pending"))
    last = todo_write(("Fix parser", "completed"), ("Write docs", "pending"), ("write docs.", "pending"))
    assert found(first, last) == ["Write docs"]
    assert found(first, todo_write(("Fix parser", "completed"))) == []


def test_a_list_in_the_last_message_counts_where_there_is_no_todo_list():
    text = "Done so far: the parser.\n\n**Remaining:**\n- Write the docs\n  - a detail\n- ✅ Tests\n2. Ship **it**\n\nShall I go on?"
    assert found(said("Remaining:\n- Write the docs\nLet me know how to go on.")) == ["Write the docs"]
    assert found(said(text)) == ["Write the docs", "Ship it"]
    assert found(said("## Next steps\n\n1. Rebase\n2. You could also celebrate\n3. Push?")) == ["Rebase"]
    assert found(said("- [x] one\n- [ ] two\n* [ ] three")) == ["two", "three"]


def test_a_heading_says_that_it_is_left_to_do():
    for heading in (
        *("What remains:", "## Follow-ups", "Here is what is left to do:", "Here’s what’s left:", "**Deferred:**"),
        *("Left to do", "Still open:"),
    ):
        assert found(said(f"I did the rest.\n\n{heading}\n- Write the docs")) == ["Write the docs"], heading


@pytest.mark.parametrize(
    "message",
    [
        "Remaining:\n- Write docs\n- Ship it\n\nI did both just now.",
        "Remaining:\n- Write docs\n\nDone:\n- Ship it",
        "The README has:\n\n````\n```\nx\n```\n- [ ] sample box\n````\n\nThat is all.",
        "- [ ] a box\n- [x] another\n\nBoth are done now.",
        "Here's what I did:\n- Wrote docs",
        "What's left is easy to see:\n- nothing to see",
    ],
)
def test_only_an_explicit_list_at_the_end_counts(message):
    assert found(said(message)) == []


def test_a_list_that_is_newer_than_the_todo_list_wins():
    todo = todo_write(("Fix parser", "pending"))
    asked = {"type": "user", "uuid": "u", "message": {"content": "What about the docs?"}}
    answer = said("Remaining:\n- Write the docs")
    assert found(todo, answer) == ["Fix parser"]
    assert found(todo, asked, answer) == ["Write the docs"]
    assert found(todo, asked, said("I wrote them.")) == ["Fix parser"]


@pytest.mark.slow
@given(st.text(max_size=500))
def test_no_message_breaks_it(text):
    for item in unfinished_work.listed("Remaining:\n" + text):
        assert item.strip()


def launch(number, tool="Bash", task="b1", **given):
    """A call that goes on in the background, and its result."""
    name = f"t{number}"
    block = {"type": "tool_use", "id": name, "name": tool, "input": {"run_in_background": True, **given}}
    text = f"Command running in background with ID: {task}. Out"
    result = {"type": "tool_result", "tool_use_id": name, "content": text}
    beside = {"stdout": "", "backgroundTaskId": task}
    if tool == "Agent":
        beside = {"isAsync": True, "status": "async_launched", "agentId": task}
    return [
        {"type": "assistant", "message": {"content": [block]}},
        {"type": "user", "toolUseResult": beside, "message": {"content": [result]}},
    ]


BUILD = launch(1, command="npm run build", description="Build the site")
LINT = launch(2, "Agent", "a1", description="Fix lint", prompt="Fix all of it")


def notification(task, status="completed"):
    return f"<task-notification>\n<task-id>{task}</task-id>\n<status>{status}</status>\n<summary>x</summary>"


QUEUED = {"type": "queued_command", "commandMode": "task-notification"}


def reported(tool, text, failed=False, beside=None, **given):
    block = {"type": "tool_use", "id": "q", "name": tool, "input": given}
    result = {"type": "tool_result", "tool_use_id": "q", "content": text, "is_error": failed}
    return [
        {"type": "assistant", "message": {"content": [block]}},
        {"type": "user", "toolUseResult": beside or text, "message": {"content": [result]}},
    ]


def test_what_still_runs_when_the_turn_ends_is_open():
    assert found(*BUILD, *LINT) == ["still running: Build the site", "still running: Fix lint"]
    assert found(*launch(1, command="npm test"))[:1] == ["still running: npm test"]
    older = [{key: value for key, value in row.items() if key != "toolUseResult"} for row in BUILD]
    assert found(*older) == ["still running: Build the site"]
    todo = todo_write(("Fix parser", "pending"))
    assert found(todo, *BUILD) == ["Fix parser", "still running: Build the site"]


@pytest.mark.parametrize(
    "records",
    [
        [{"type": "user", "message": {"content": notification("b1")}, "origin": {"kind": "task-notification"}}],
        [{"type": "queue-operation", "operation": "enqueue", "content": notification("b1", "killed")}],
        [{"type": "attachment", "attachment": {**QUEUED, "prompt": notification("b1", "failed")}}],
        reported("KillShell", '{"message":"Successfully killed shell: b1"}', shell_id="b1"),
        reported("TaskStop", "Successfully stopped task: b1 (npm run build)", task_id="b1"),
        reported("TaskOutput", "out", beside={"task": {"task_id": "b1", "status": "completed"}}, task_id="b1"),
        reported("BashOutput", "<status>completed</status>\n<exit_code>0</exit_code>", bash_id="b1"),
        reported("TaskOutput", "<tool_use_error>No task found with ID: b1</tool_use_error>", failed=True, task_id="b1"),
    ],
)
def test_what_has_ended_is_open_no_more(records):
    assert found(*BUILD, *LINT, *records) == ["still running: Fix lint"]


@pytest.mark.parametrize(
    "records",
    [
        [{"type": "user", "message": {"content": "<task-notification>\n<task-id>b1</task-id>\n<event>line 3</event>"}}],
        reported("BashOutput", "<status>running</status>", bash_id="b1"),
        reported("TaskOutput", "out", beside={"task": {"task_id": "b1", "status": "running"}}, task_id="b1"),
        reported("TaskStop", "Error: not yours", failed=True, task_id="b1"),
        reported("Bash", notification("b1"), command="cat log"),
    ],
)
def test_what_says_no_end_leaves_it_open(records):
    assert found(*BUILD, *records) == ["still running: Build the site"]


def test_a_later_reading_knows_what_runs_and_with_the_client_commands_end():
    first = Conversation()
    for record in [*BUILD, *LINT]:
        first.feed(record)
    later = Conversation(first.to_state())
    assert unfinished_work.open_items(later) == ["still running: Build the site", "still running: Fix lint"]
    assert unfinished_work.open_items(later, ended=True) == ["not finished: Fix lint"]
