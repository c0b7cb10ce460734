"""Unfinished work: the todo list's last state, else what the agent listed itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recorded
from memtui.client.transcripts.conversation import Conversation
from memtui.learn import unfinished_work
from tables import rows


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


def test_the_last_todo_list_or_the_newest_list_under_a_heading_counts():
    first = todo_write(("Fix parser", "in_progress"), ("Write docs", "pending"))
    last = todo_write(("Fix parser", "completed"), ("Write docs", "pending"), ("write docs.", "pending"))
    assert (found(first, last), found(first, todo_write(("Fix parser", "completed")))) == (["Write docs"], [])
    text = "Done so far: the parser.\n\n**Remaining:**\n- Write the docs\n  - a detail\n- ✅ Tests\n2. Ship **it**\n\nShall I go on?"
    assert found(said("Remaining:\n- Write the docs\nLet me know how to go on.")) == ["Write the docs"]
    assert found(said(text)) == ["Write the docs", "Ship it"]
    assert found(said("## Next steps\n\n1. Rebase\n2. You could also celebrate\n3. Push?")) == ["Rebase"]
    assert found(said("- [x] one\n- [ ] two\n* [ ] three")) == ["two", "three"]
    for heading in (
        *("What remains:", "## Follow-ups", "Here is what is left to do:", "Here’s what’s left:", "**Deferred:**"),
        *("Left to do", "Still open:"),
    ):
        assert found(said(f"I did the rest.\n\n{heading}\n- Write the docs")) == ["Write the docs"], heading
    todo = todo_write(("Fix parser", "pending"))
    asked = {"type": "user", "uuid": "u", "message": {"content": "What about the docs?"}}
    answer = said("Remaining:\n- Write the docs")
    assert (found(todo, answer), found(todo, asked, answer)) == (["Fix parser"], ["Write the docs"])
    assert found(todo, asked, said("I wrote them.")) == ["Fix parser"]


@pytest.mark.parametrize("message", rows(__file__, "only an explicit list at the end counts"))
def test_only_an_explicit_list_at_the_end_counts(message):
    assert found(said(message)) == []


@pytest.mark.slow
@given(st.text(max_size=500))
def test_no_message_breaks_it(text):
    for item in unfinished_work.listed("Remaining:\n" + text):
        assert item.strip()


def test_endings_leave_what_they_left():
    recorded.check(
        __file__, "endings", unfinished_work.listed, lambda text: unfinished_work.listed(text, next_steps=False)
    )
