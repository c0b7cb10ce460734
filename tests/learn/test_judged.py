"""The classifier finds what no rule matches, scores what the rules find, and its table is small and sound."""

import sys
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fitted_tables
import recorded
from memtui.client.transcripts.conversation import Turn
from memtui.inbox.format_hot import DELIVERED
from memtui.learn import classifier, signals

AGENT = "I ran npm install and added a comment to every function. All tests pass."
JUDGE = classifier.shipped()


def draft(text, agent=AGENT, channel="prompt", judge=JUDGE):
    return next(iter(classifier.drafts_of(Turn(text, channel, uuid="u1", agent=agent), judge)), None)


def test_ordinary_talk_is_no_draft_and_the_classifier_beats_the_rules():
    for text in (
        *("implement the login page", "hi, what is in this repository?", "thanks", "yes", "no", "nope, still broken"),
        *("You are a helpful agent. Always answer in JSON.", "oops, my mistake, I never pushed the branch"),
    ):
        draft_of = draft(text)
        assert draft_of is None or draft_of.confidence < 0.5, text
    rows = benchmark.scored("train")
    truths = [row.truths[0] for row in rows]
    for taken in ([row.ruled > 0 for row in rows], [row.matched for row in rows]):
        right = sum(took and true for took, true in zip(taken, truths, strict=True))
        precision, recall = right / sum(taken), right / sum(truths)
        assert benchmark.reached("", 0.0, rows, 0, recall).reached > precision
    shares = {place: sum(truths) / len(truths) for place, truths in benchmark.places().items()}
    assert shares["delivered"] > 1.3 * shares["listed, not delivered"] > 1.3 * 1.3 * shares["folded"]


def test_what_lasts_is_surer_than_what_passes_and_a_claim_before_it_counts():
    lasting = draft("From now on use pnpm for packages, please.")
    passing = draft("but the button is still hidden behind the menu, you did not fix it")
    assert lasting.durable >= DELIVERED > 0.2 > passing.durable
    text = "the page is still blank when I open it"
    assert draft(text).confidence > draft(text, agent="").confidence
    assert draft(text, channel="tool_reject").confidence > draft(text).confidence


def test_the_table_is_small_its_scores_are_shipped_and_rules_do_without():
    data = classifier.TABLE.read_bytes()
    assert len(data) < 400_000
    assert fitted_tables.feedback(classifier.unpacked(data)) == data
    for broken in (b"", data[:-1], data + b"x", b"x" + data[1:]):
        with pytest.raises(ValueError, match="format"):
            classifier.Classifier(broken)
    first = benchmark.SCORES.read_text("utf-8").partition("\n")[0]
    assert f"feedback.table {zlib.crc32(classifier.TABLE.read_bytes()):08x}" in first
    found = draft("From now on use pnpm instead of npm", judge=None)
    assert (found.kind, found.durable) == ("preference", None)
    assert classifier.drafts([Turn("implement the login page", "prompt", agent=AGENT)], None) == []


@given(st.text(max_size=400), st.text(max_size=200), st.sampled_from(["prompt", "queued", "tool_reject", "answer"]))
def test_any_text_gives_probabilities(text, agent, channel):
    turn = Turn(text, channel, agent=agent, tools=("Bash",))
    feedback, durable = JUDGE.judged(turn, signals.signal_of(turn))[:2]
    assert 0 <= feedback <= 1
    assert 0 <= durable <= 1
    assert all(0 <= key < classifier.BUCKETS for _, keys in classifier.rows(turn, None) for key in keys)
    found = next(iter(classifier.drafts_of(turn, JUDGE)), None)
    assert found is None or (found.description and 0 <= found.confidence <= 1)


# --- the classifier reaches the figures that the project asks for, on messages of sessions that its weights had not seen, and


# Only while it is imported: packages of tests have names of benchmarks.
HERE = str(Path(__file__).resolve().parents[1] / "benchmarks")
sys.path.insert(0, HERE)
try:
    import extraction as benchmark
finally:
    sys.path.remove(HERE)


@pytest.mark.parametrize("bar", list(benchmark.all_bars()), ids=lambda bar: bar.what)
def test_a_bar_is_met(bar):
    assert bar.reached >= bar.asked, bar


def test_messages_teach_what_they_taught():
    def taught(text, channel, agent, tools, request, interrupted):
        turn = Turn(text, channel, "u", "s", "2026-11-21T12:00:00Z", agent, tuple(tools), request, "", interrupted)
        return [JUDGE.judged(turn, signals.signal_of(turn)), *classifier.drafts_of(turn, JUDGE), signals.asks(turn)]

    recorded.check(__file__, "messages", taught)
