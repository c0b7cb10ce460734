"""A session file of Copilot CLI: who spoke, what became of what hooks gave."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.client.transcripts import transcript_hot
from memtui.client.transcripts.conversation import Conversation
from memtui.deliver import receipts_hot
from tables import rows

SAMPLE = Path(__file__).parents[2] / "data" / "agents" / "copilot" / "events.jsonl"
LINES = SAMPLE.read_bytes().splitlines(keepends=True)
WORDS = [
    ("prompt", "Set up the tests of the shop"),
    ("tool_reject", "no, this is a Python project: always use uv here"),
    ("prompt", "Don't use mocks in these tests, use a real database"),
    ("prompt", "and go on with the cart"),
    ("prompt", "Write the docs"),
]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("home") / ".copilot" / "session-state" / "5f0e6c1a-7d2b-4c3e-9a10-2b6d8e4f1c33"


@pytest.fixture(scope="module")
def session(directory):
    directory.mkdir(parents=True)
    return directory / "events.jsonl"


def turns(path, start=0):
    conversation = Conversation()
    for record in transcript_hot.Reader(str(path), start):
        conversation.feed(record)
    return conversation.turns


def words(path):
    return [(turn.channel, turn.text) for turn in turns(path)]


def change(lines, kind, **fields):
    """The lines, with fields of the data of the last event of a kind changed."""
    at = max(number for number, line in enumerate(lines) if json.loads(line)["type"] == kind)
    event = json.loads(lines[at])
    event["data"].update(fields)
    return [*lines[:at], json.dumps(event).encode() + b"\n", *lines[at + 1 :]]


def outcome(path, name="d1", logged=0, ended=False):
    record = {"id": name, "event": "UserPromptSubmit", "text": "x", "chars": 1, "transcript_size": logged}
    return receipts_hot.outcome(record, receipts_hot.TranscriptView(str(path)).refresh(), 1e9, ended)


def test_only_the_persons_words_are_heard(session):
    session.write_bytes(SAMPLE.read_bytes())
    assert words(session) == WORDS
    assert [turn.interrupted for turn in turns(session)] == [False, False, False, True, False]
    assert {turn.session for turn in turns(session)} == {session.parent.name}


@pytest.mark.parametrize("field", rows(__file__, "words that the agent or a skill put in are nobodys"))
def test_words_that_the_agent_or_a_skill_put_in_are_nobodys(session, field):
    session.write_bytes(b"".join(change(LINES, "user.message", **field)))
    assert words(session) == WORDS[:-1]


def test_a_session_that_the_agent_began_itself_has_nobodys_words(session):
    parent = {"detachedFromSpawningParentSessionId": "0b1c2d3e-0000-4000-8000-00000000f0f0"}
    session.write_bytes(b"".join(change(LINES, "session.start", **parent)))
    assert words(session) == [WORDS[1]]


def test_a_refusal_counts_only_if_a_person_decided(session):
    session.write_bytes(b"".join(change(LINES, "permission.completed", decisionSource="unattended_fallback")))
    assert words(session) == [WORDS[0], *WORDS[2:]]


def test_a_fork_has_its_parents_words_under_their_ids(session, directory):
    fork = directory.with_name("0b1c2d3e-0000-4000-8000-00000000f0f0") / "events.jsonl"
    fork.parent.mkdir()
    fork.write_bytes(b"".join(change(LINES, "session.start", sessionId=fork.parent.name)))
    session.write_bytes(SAMPLE.read_bytes())
    assert [turn.uuid for turn in turns(fork)] == [turn.uuid for turn in turns(session)]
    parents = {
        record["forkedFrom"]["sessionId"] for record in transcript_hot.Reader(str(fork)) if "forkedFrom" in record
    }
    assert parents == {session.parent.name}


def test_tool_calls_have_claude_codes_names_and_fields(session):
    session.write_bytes(SAMPLE.read_bytes())
    calls = [
        (block["name"], block["input"])
        for record in transcript_hot.Reader(str(session))
        if record["type"] == "assistant"
        for block in transcript_hot.blocks(record)
        if block["type"] == "tool_use"
    ]
    assert calls[0] == ("Write", {"file_path": "/home/ada/shop/a.py", "content": "print(1)\n"})
    assert calls[1][0] == "Bash"
    assert calls[1][1]["command"] == "npm install pytest"


def test_a_text_that_another_hook_replaced_did_not_arrive(session):
    lines = [line.replace(b'\\"d1\\"', b'\\"other\\"') for line in LINES]
    session.write_bytes(b"".join(lines))
    assert outcome(session) == receipts_hot.FAILED


@pytest.mark.parametrize(("message", "receipt"), rows(__file__, "a hook that was late or died is named as such"))
def test_a_hook_that_was_late_or_died_is_named_as_such(session, message, receipt):
    lines = [line.replace(b'\\"d1\\"', b'\\"other\\"') for line in LINES[:6]]
    error = {"message": message, "source": "/home/ada/.copilot/hooks/memtui.json"}
    lines = change([line for line in lines if b"user.message" not in line], "hook.end", success=False, error=error)
    session.write_bytes(b"".join([*lines, *LINES[4:]]).replace(b'\\"d1\\"', b'\\"other\\"'))
    assert outcome(session) == receipt


def test_a_prompt_that_a_hook_blocked_took_our_text_along(session):
    lines = change(LINES[:4], "hook.end", output={"decision": "block", "reason": "No."})
    session.write_bytes(b"".join(lines))
    assert outcome(session) == receipts_hot.FAILED


@pytest.mark.slow
@given(st.integers(0, len(LINES)))
def test_receipts_are_the_same_however_a_file_grows(session, at):
    session.write_bytes(b"".join(LINES[:at]))
    view = receipts_hot.TranscriptView(str(session)).refresh()
    session.write_bytes(SAMPLE.read_bytes())
    view.refresh()
    assert view.outcomes == {"d1": "arrived", "d2": "arrived"}
    assert view.pending == {"d3": "arrived"}
