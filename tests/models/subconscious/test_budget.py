"""What the subconscious may cost: nothing is sent again and again, and what was paid for is told of."""

import time

import pytest

from e2e.model import say
from memtui.models import log
from memtui.models.subconscious import control

from .test_run_process import SAID, answer, edit, whisper


@pytest.mark.slow
def test_a_call_that_takes_too_long_counts_as_what_it_may_have_used(read):
    read.client("sleep 30")
    read.settings('llm_backend = "claude"', 'subconscious = "full"', "llm_timeout = 5")
    read.says(SAID)
    run = read.run()
    assert (run.outcome, run.calls) == ("late", 1)
    assert run.tokens > 6000
    assert log.used_today(read.root, time.time()).tokens == run.tokens


def test_a_client_with_tools_gets_limits_and_no_words_in_its_arguments(read):
    read.client(f'echo "$@" > {read.base}/args\nexit 1')
    on = ('llm_backend = "claude"', 'subconscious = "full"', 'subconscious_tools = "full"')
    read.settings(*on, "llm_daily_dollars = 0.25")
    read.block("core_directives", "PRIVATE directive")
    read.says(SAID)
    read.run()
    words = (read.base / "args").read_text().split()
    assert words[words.index("--max-turns") + 1] == "20"
    assert 0 < float(words[words.index("--max-budget-usd") + 1]) <= 0.25
    assert not {"PRIVATE", "Tuesdays"} & set(words)


@pytest.mark.slow
def test_a_part_of_an_answer_that_is_not_as_asked_for_is_left_out(read, api):
    read.says(SAID, "I have built the release and will deploy it on Friday afternoon.")
    edits = [
        {**edit(new="Deploys: Tuesdays."), "reason": "it was said"},
        edit("secrets"),
        {"block": "guidance", "old": "", "new": "x"},
        edit("guidance", new="x" * 2001),
    ]
    whispers = [whisper(), whisper("Another one."), whisper("A third one.")]
    run = read.answered(edits=edits, whispers=whispers, note="word " * 500, delete="all")
    assert (run.outcome, run.blocks, len(run.whispers)) == ("done", ("project_context",), 2)
    assert len(run.note) == 2000
    reasons = ("key, “reason”", "key, “delete”", "is none of core", "no “quote”", "too many char", "1 items too many")
    for reason in reasons:
        assert any(reason in each for each in run.refused), reason
    form = api.requests[0].body["tools"][0]["input_schema"]
    assert form["additionalProperties"] is form["properties"]["edits"]["items"]["additionalProperties"] is False


def test_words_that_were_sent_three_times_in_vain_are_skipped(read, api):
    read.says("Words that no model can bear.")
    for _ in range(2):
        assert "skipped" not in read.run(say("I would rather talk.")).why
    assert "It was sent 3 times, and is skipped now." in read.run(say("I would rather talk.")).why
    assert read.run() is None
    read.says(SAID)
    assert read.run(answer(edits=[edit()])).blocks == ("project_context",)
    assert "no model can bear" not in api.requests[-1].text()


def test_an_unanswered_mention_alone_costs_no_call_and_waits_three_runs(read, api):
    read.says("@memtui what about deploys?", "ok")
    read.run(answer())
    for _ in range(4):
        assert read.run() is None
    for told in (True, True, False):
        read.says("Go on with the next thing.")
        read.run(answer())
        assert ("memtui-mention" in api.requests[-1].text()) is told
        waiting = control.look(read.env, read.root, read.project, time.time()).mentions
        assert len(waiting) == (len(api.requests) < 3)
    assert len(api.requests) == 4


def test_a_run_names_the_model_of_a_service_of_ones_own(read, api):
    api.offered = ["qwen3-70b"]
    read.says(SAID)
    assert read.run(answer()).model == "qwen3-70b" == api.requests[-1].body["model"]
    assert control.powers(read.env, read.root, read.project).backend == "api"
