"""Unfinished work: the todo list's last state, else what the agent listed itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.core.client.conversation import Conversation
from memtui.extract import items


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
    return items.open_items(conversation)


def test_the_last_state_of_the_todo_list_counts():
    first = todo_write(("Fix parser", "in_progress"), ("Write docs", "pending"))
    last = todo_write(("Fix parser", "completed"), ("Write docs", "pending"), ("write docs.", "pending"))
    assert found(first, last) == ["Write docs"]
    assert found(first, todo_write(("Fix parser", "completed"))) == []


def test_tasks_count_as_well():
    create = {"type": "tool_use", "id": "c", "name": "TaskCreate", "input": {"subject": "Ship it"}}
    done = {"type": "tool_result", "tool_use_id": "c", "content": "Task #7 created successfully: Ship it"}
    records = [
        {"type": "assistant", "message": {"content": [create]}},
        {"type": "user", "toolUseResult": {"task": {"id": "7", "subject": "Ship it"}}, "message": {"content": [done]}},
    ]
    assert found(*records) == ["Ship it"]


def test_an_explicit_list_in_the_last_message_counts_where_there_is_no_todo_list():
    text = "Done so far: the parser.\n\n**Remaining:**\n- Write the docs\n  - a detail\n- ✅ Tests\n2. Ship **it**\n\nBye.\n- no"
    assert found(said(text)) == ["Write the docs", "Ship it"]
    assert found(said("## Next steps\n\n1. Rebase\n2. You could also celebrate\n3. Push?")) == ["Rebase"]
    assert found(said("- [x] one\n- [ ] two\n* [ ] three")) == ["two", "three"]


def test_advice_after_a_finished_todo_list_does_not():
    assert found(todo_write(("Fix", "completed")), said("Next steps:\n- Rebase")) == []
    assert found(todo_write(("Fix", "completed")), said("Remaining:\n- Rebase")) == ["Rebase"]


def test_prose_does_not_count():
    assert found(said("What remains is to write the docs. Next steps are clear:\nwrite them.")) == []
    assert found(said("```\nRemaining:\n- x y z\n```")) == []
    assert found(said("I checked the remaining files:\n- a.py\n- b.py")) == []


@pytest.mark.slow
@given(st.text(max_size=500))
def test_no_message_breaks_it(text):
    for item in items.listed("Remaining:\n" + text):
        assert item.strip()
