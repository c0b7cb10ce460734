"""What the subconscious reads of a transcript: whose words they are, and what goes where not all has room."""

import pytest

from memtui.client.transcripts.conversation import Conversation
from memtui.models.subconscious.transcript_view import AGENT, ALL, PERSON, SUMMARY, THOUGHT, TOOL, Sources, listen


def record(who, *blocks, **more):
    return {"type": who, "message": {"role": who, "content": list(blocks)}, **more}


def text(words):
    return {"type": "text", "text": words}


def tool(number):
    called = {
        "type": "tool_use",
        "id": f"t{number}",
        "name": "Bash",
        "input": {"command": f"run {number} " + "x" * 600},
    }
    answer = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"out {number} " + "y" * 600}
    return [record("assistant", called), record("user", answer, toolUseResult={})]


def hear(*records):
    return listen(iter(records), Conversation())


def test_thoughts_and_summaries_are_heard_as_such_and_are_no_evidence():
    thought = "Perhaps the staging keys live in the blue folder."
    summed = "This session is being continued from a previous conversation. They moved the wiki to Ghent."
    heard = hear(
        record("user", text(summed), isCompactSummary=True, isVisibleInTranscriptOnly=True),
        record("user", text("Deploy on Tuesdays only.")),
        record("assistant", {"type": "thinking", "thinking": thought}, {"type": "thinking", "thinking": ""}),
        record("assistant", {"type": "thinking", "thinking": "A subagent's."}, isSidechain=True),
        {"type": "system", "subtype": "away_summary", "content": "Two builds passed meanwhile."},
        record("assistant", text("I will.")),
    )
    assert heard.lines == [
        (SUMMARY, summed), (PERSON, "Deploy on Tuesdays only."), (THOUGHT, thought),
        (SUMMARY, "Two builds passed meanwhile."), (AGENT, "I will."),
    ]  # fmt: skip
    sources = Sources(heard.said(PERSON), heard.said(AGENT), printed=heard.printed())
    assert [sources.quoted(words) for words in ("Deploy on Tuesdays only.", thought, "moved the wiki to Ghent")] == [
        True,
        False,
        False,
    ]
    assert sources.repeats("Note: the staging keys live in the blue folder.")
    assert not sources.repeats("Deploy on Tuesdays only.")


def test_a_long_message_is_whole():
    words = "word " * 3000
    assert hear(record("user", text(words)), record("assistant", text(words))).lines == [
        (PERSON, words.strip()),
        (AGENT, words.strip()),
    ]


@pytest.mark.parametrize("calls", [100, 400])
def test_what_tools_said_goes_before_words_and_old_words_before_new(calls):
    tools = [line for number in range(calls) for line in tool(number)]
    heard = hear(record("user", text("Begin with the rota.")), *tools, record("assistant", text("It is done.")))
    assert heard.lines[0] == (PERSON, "Begin with the rota.")
    assert heard.lines[-1] == (AGENT, "It is done.")
    assert f"out {calls - 1} " in heard.lines[-2][1]
    assert {who for who, _ in heard.lines[1:-1]} == {TOOL}
    assert heard.left_out == 2 * calls - (len(heard.lines) - 2)
    assert ALL - 1000 < sum(len(words) for _, words in heard.lines) <= ALL
    told = [record("assistant", text(f"Step {number} " + "word " * 2000)) for number in range(9)]
    steps = [words.split()[1] for _, words in hear(*tools[:20], *told).lines]
    assert steps == ["4", "5", "6", "7", "8"]
