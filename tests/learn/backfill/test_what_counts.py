"""What a backfill takes for a person's words, what it leaves for nobody, and that two do not read at once."""

import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from learn.backfill.test_backfill import Past
from memtui.base import paths_hot
from memtui.base.errors import ConflictError
from memtui.learn import classifier, inbox_writer
from memtui.learn.backfill import ranking

ANSWER = "Never use npm here, from now on always use pnpm for packages"
UNLIKELY = "No, use the shorter form of the option instead of writing it out each time"
ONCE = "No, that is wrong, the second button is called Send."
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
)
ASKED = {"type": "tool_use", "id": "t1", "name": "AskUserQuestion", "input": {}}
BASH = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "npm install"}}
QUESTION = "Which package manager should I use?"


@pytest.fixture
def past(tmp_path):
    return Past(tmp_path)


def called(past, call, content, result, **more):
    """The records of a call and what came of it, as both clients write them."""
    common = {"sessionId": "one", "cwd": str(past.tmp / "shop"), "timestamp": "2026-11-01T10:00:00Z"}
    text = {"type": "text", "text": "I will run npm install."}
    block = {"type": "tool_result", "tool_use_id": "t1", "content": content, **more}
    asked = {"role": "assistant", "id": "m", "content": [text, call]}
    answered = {"role": "user", "content": [block]}
    return [
        {"type": "assistant", "uuid": "a", **common, "message": asked},
        {"type": "user", "uuid": "r", **common, "message": answered, "toolUseResult": result},
    ]


ANSWERED = f'"{QUESTION}"="{ANSWER}"'
OPTIONS = [{"question": QUESTION, "options": [{"label": "npm"}, {"label": "yarn"}]}]
TYPED = {"questions": OPTIONS, "answers": {QUESTION: ANSWER}}
CASES = {
    "answer": (ASKED, f"User has answered your questions: {ANSWERED}. You can now continue.", TYPED),
    "newer": (ASKED, f"Your questions have been answered: {ANSWERED}.", TYPED),
    "refusal": (BASH, REFUSED + ANSWER, f"Error: {REFUSED}{ANSWER}"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("compact", [True, False])
def test_an_answer_or_a_refusal_in_an_earlier_session_becomes_a_draft(past, case, compact):
    call, content, result = CASES[case]
    more = {"is_error": True} if case == "refusal" else {}
    path = past.path("one")
    path.parent.mkdir(parents=True)
    records = called(past, call, content, result, **more)
    separators = (",", ":") if compact else None
    path.write_text("".join(json.dumps(each, separators=separators) + "\n" for each in records))
    past.fill()
    (draft,) = past.drafts()
    assert draft.text.split("\n")[0].startswith("Never use npm here")
    assert draft.entry.fields["evidence"] == "r"


@pytest.mark.parametrize("case", ["answer", "refusal"])
def test_what_a_tool_printed_in_an_earlier_session_does_not(past, case):
    call, content, _ = CASES[case]
    call = {**call, "name": "Bash"}
    past.say("one", "hello, what is in this file?", records=called(past, call, content, {"stdout": content}))
    past.fill()
    assert past.drafts() == []


def test_orders_for_one_task_are_counted_till_another_session_has_them_too(past):
    past.say("one", ONCE, ANSWER)
    offer = past.fill()
    assert [each.text.split("\n")[0] for each in past.drafts()] == [ANSWER]
    assert offer.one_offs == 1
    past.say("two", ONCE)
    offer = past.fill()
    assert (offer.one_offs, len(past.drafts())) == (0, 2)


def test_a_second_backfill_does_not_read_at_the_same_time(past):
    past.say("one", ANSWER)
    raised = []

    def meanwhile(_):
        with pytest.raises(ConflictError) as problem:
            past.read()
        raised.append(problem.value)
        return True

    past.read(go_on=meanwhile)
    assert raised
    assert len(past.fill().drafts) == 1
    assert paths_hot.root(past.env) == str(past.root)


def test_what_is_unlikely_to_last_comes_last_and_folded_until_said_again(past):
    past.say("one", ANSWER, UNLIKELY)
    found = past.read().candidates
    for each in found._all.values():
        if "Never" not in each.draft.description:
            each.draft = replace(each.draft, confidence=0.9, durable=0.25)
    one = ranking.plan(past.store, found, most=1)
    assert (one.left, one.more_words) == (1, ["1 more waits for the next backfill"])
    both = ranking.plan(past.store, found)
    assert [each.folded for each in both.drafts] == [False, True]
    assert both.more_words == ["1 is probably a one-off"]
    both.write(past.store)
    folded = {each.text[:9]: each.entry.one_off() for each in past.drafts()}
    assert folded == {"Never use": False, "Use the s": True}
    assert not any(each.entry.for_sessions() for each in past.drafts() if each.entry.one_off())
    turns = [replace(turn, uuid=f"{turn.uuid}-again") for turn in past.heard("one")]
    inbox_writer.write_drafts(past.env, str(past.tmp / "shop"), classifier.drafts(turns, None), 0.1)
    assert not any(each.entry.one_off() for each in past.drafts())


def test_how_often_it_was_said_is_by_session_or_within_the_only_one():
    draft = SimpleNamespace(repeats=("u2", "u3"))
    assert [ranking.Candidate(draft, "shop", sessions).said for sessions in (["one"], ["one", "two"])] == [3, 2]
