"""The classifier finds what no rule matches, scores what the rules find, and its table is small and sound."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fitted_tables
from memtui.client.transcripts.conversation import Turn
from memtui.inbox.format import DELIVERED, LASTING
from memtui.learn import classifier, signals

AGENT = "I ran npm install and added a comment to every function. All tests pass."
JUDGE = classifier.shipped()


def draft(text, agent=AGENT, channel="prompt", judge=JUDGE):
    return next(iter(classifier.drafts_of(Turn(text, channel, uuid="u1", agent=agent), judge)), None)


@pytest.mark.parametrize(
    "text",
    [
        "but the button is still hidden behind the menu, you did not fix it",
        "you didn't run the tests, I still see three failures in the parser",
    ],
)
def test_an_objection_that_no_rule_matches_becomes_a_draft(text):
    turn = Turn(text, "prompt", agent=AGENT)
    rules = signals.signal_of(turn)
    assert rules is None or rules.confidence < 0.5
    found = draft(text)
    assert found.kind == "correction"
    assert found.confidence >= 0.5
    assert found.durable is not None


def test_ordinary_talk_stays_below_the_set_confidence():
    for text in (
        *("implement the login page", "hi, what is in this repository?", "thanks", "yes", "no", "nope, still broken"),
        *("You are a helpful agent. Always answer in JSON.", "oops, my mistake, I never pushed the branch"),
    ):
        draft_of = draft(text)
        assert draft_of is None or draft_of.confidence < 0.5, text


def test_a_rule_for_the_future_lasts_and_a_complaint_of_the_moment_passes():
    lasting = draft("No, don't use npm here, always use pnpm.")
    passing = draft("but the button is still hidden behind the menu, you did not fix it")
    assert lasting.durable >= DELIVERED
    assert passing.durable < 0.2
    assert lasting.durable > passing.durable


def test_what_is_said_for_the_future_is_delivered_and_what_sounds_so_waits():
    said = draft("From now on use pnpm for packages, please.")
    sounds = draft("use redis instead of memcached for the store")
    assert said.durable >= DELIVERED
    assert sounds.confidence >= 0.5
    assert LASTING <= sounds.durable


def test_drafts_of_a_few_words_are_judged_too():
    found = draft("no, stop")
    assert found is None or found.durable is not None
    found = draft("use tabs instead", channel="tool_reject")
    assert found.durable is not None


def test_what_rules_are_sure_of_stays_in_languages_the_classifier_lacks():
    found = draft("以后请用中文回答")
    assert found.confidence >= 0.5
    assert found.durable >= 0.2


def test_without_a_classifier_there_are_the_rules():
    found = draft("From now on use pnpm instead of npm", judge=None)
    assert (found.kind, found.durable) == ("preference", None)
    assert classifier.drafts([Turn("implement the login page", "prompt", agent=AGENT)], None) == []


def test_the_agent_s_words_and_the_channel_count():
    text = "the page is still blank when I open it"
    assert draft(text).confidence > draft(text, agent="").confidence
    assert draft(text, channel="tool_reject").confidence > draft(text).confidence


def test_the_table_is_small_and_another_format_is_told():
    data = classifier.TABLE.read_bytes()
    assert len(data) < 400_000
    assert fitted_tables.feedback(classifier.unpacked(data)) == data
    for broken in (b"", data[:-1], data + b"x", b"x" + data[1:]):
        with pytest.raises(ValueError, match="format"):
            classifier.Classifier(broken)


@given(st.text(max_size=400), st.text(max_size=200), st.sampled_from(["prompt", "queued", "tool_reject", "answer"]))
def test_any_text_gives_probabilities(text, agent, channel):
    turn = Turn(text, channel, agent=agent, tools=("Bash",))
    feedback, durable = JUDGE.judged(turn, signals.signal_of(turn))[:2]
    assert 0 <= feedback <= 1
    assert 0 <= durable <= 1
    assert all(0 <= key < classifier.BUCKETS for _, keys in classifier.rows(turn, None) for key in keys)
    found = next(iter(classifier.drafts_of(turn, JUDGE)), None)
    assert found is None or (found.description and 0 <= found.confidence <= 1)
