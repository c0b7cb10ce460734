"""What a question to the subconscious costs: it is answered in mid-turn, and what follows is read with something else."""

import pytest

from memtui.models.call import ModelUsage
from memtui.models.subconscious import run_process

QUESTION, REPLY = "@memtui, when do we deploy?", {"to": "m1", "text": "On Tuesdays."}
REMARK, REPORT = "Built. " * 100, "Built. " * 300


class Answering:
    """A model that answers each mention by its id; `prompts`: what it was asked."""

    name, calls, spent, prompts = "stand-in", 1, ModelUsage(), []

    def __init__(self, *_, **__):
        pass

    def ask(self, _purpose, _rules, prompt, *_, **__):
        self.prompts.append(prompt)
        return {"replies": [REPLY] if "memtui-mention" in prompt else []}


@pytest.fixture
def answered(read, monkeypatch):
    """A session whose question was answered in mid-turn; what its hooks then have read, each with how it was asked."""
    monkeypatch.setattr(run_process, "LanguageModel", Answering)
    monkeypatch.setattr(Answering, "prompts", [])
    read.prompts = Answering.prompts
    read.reads = lambda event: run_process.Along(read.env, {**read.payload, "hook_event_name": event}).run() is not None
    assert not read.reads("UserPromptSubmit"), "a first prompt has no transcript yet"
    read.says(QUESTION)
    assert read.reads("UserPromptSubmit")
    assert [note.text for note in read.notes()] == ["On Tuesdays."]
    return read


def test_what_follows_an_answer_is_read_with_the_next_turn(answered):
    answered.says(agent=REMARK)
    assert not answered.reads("Stop")
    assert not answered.reads("SessionEnd"), "what ends with the session costs no request of its own"
    answered.says("Go on.", "It goes on.")
    assert answered.reads("Stop")
    assert [words in answered.prompts[-1] for words in ("Built. Built.", "Go on.", QUESTION)] == [True, True, False]
    answered.says(agent=REMARK)
    assert answered.reads("Stop"), "no question was answered in that turn"


def test_a_long_report_after_an_answer_is_read_as_the_session_ends(answered):
    answered.says(agent=REPORT)
    assert not answered.reads("Stop")
    assert answered.reads("SessionEnd")
    assert not answered.reads("SessionEnd"), "all is read"


@pytest.mark.parametrize("rest", [{"agent": "Built. " * 2000}, {"person": "No."}, {"agent": "@memtui is it right?"}])
def test_what_follows_an_answer_in_mid_turn_is_read_if_it_says_much(answered, rest):
    answered.says(**rest)
    assert answered.reads("Stop")
