"""Corrections, confirmations and preferences become drafts; ordinary talk does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.client.transcripts.conversation import Turn
from memtui.learn import signals
from tables import rows

AGENT = "I ran npm install and added a comment to every function."


def draft(text, agent=AGENT, channel="prompt"):
    found = signals.signal_of(Turn(text, channel, uuid="u1", session="s1", agent=agent))
    return found if found and found.confidence >= 0.5 else None


@pytest.mark.parametrize(("text", "kind", "description"), rows(__file__, "what a person lays down becomes a draft"))
def test_what_a_person_lays_down_becomes_a_draft(text, kind, description):
    found = draft(text)
    assert found
    assert (found.kind, found.description, found.type, found.evidence) == (kind, description, "feedback", "u1")


@pytest.mark.parametrize("text", rows(__file__, "ordinary talk gives none"))
def test_ordinary_talk_gives_none(text):
    assert draft(text) is None


@pytest.mark.parametrize(("text", "confidence"), rows(__file__, "first words are a rule if they name nothing at hand"))
def test_first_words_are_a_rule_if_they_name_nothing_at_hand(text, confidence):
    found = draft(text, agent="")
    assert (found.confidence if found else 0.0) == confidence


def test_a_draft_shows_what_it_rests_on():
    text = "No, use pnpm instead of npm.\n\nThe lock file is pnpm's, npm broke CI twice."
    found = draft(text)
    assert found.name == "use-pnpm-instead-npm"
    assert "npm broke CI twice" in found.body
    assert (found.agent, found.person) == (AGENT, text)
    long = draft(text + " because" * 500, agent="x " * 900)
    assert len(long.person) <= 600
    assert len(long.agent) <= 300
    assert len(long.description) <= 120


@given(st.text(max_size=400), st.text(max_size=200), st.sampled_from(["prompt", "queued", "tool_reject", "answer"]))
def test_any_text_gives_a_sound_draft_or_none(text, agent, channel):
    found = signals.signal_of(Turn(text, channel, agent=agent))
    if found:
        assert 0 <= found.confidence <= 1
        assert found.description
        assert "\n" not in found.description
        assert found.name
        assert "/" not in found.name


PIECES = [
    *("always use ", "no, ", "don't ", "a", "run npm run ", "- ", "from now on ", "i prefer a, can "),
    "if i ask to ",
]


@given(st.sampled_from(PIECES), st.integers(1, 3000))
def test_repeated_words_are_no_trap(piece, times):
    signals.signal_of(Turn((piece * times)[:20_000], "prompt", agent="done ✅ " * 100))


def test_a_draft_is_the_sentence_that_says_what_to_do_and_no_quotation():
    agent = "I see. I'll always disable the cache before each test, and then report back."
    text = '"always disable the cache before each test". The cache was never the problem here, look at the clock'
    found = signals.unruled(Turn(text, "prompt", agent=agent), 0.6)
    assert found.description.startswith(("The cache was never", "Look at the clock"))
    found = draft('Always start the subject with "fix: " and the ticket', agent=agent)
    assert found.description == 'Always start the subject with "fix: " and the ticket'
    found = draft('Never write "report back" in a summary, say what you did', agent=agent)
    assert '"report back"' in found.description
    text = "Yesterday I tried to run all of it on my own laptop and it took an hour. Only run the tests of the package. Right?"
    found = signals.unruled(Turn(text, "prompt", agent=AGENT), 0.6)
    assert found.description == "Only run the tests of the package"
    because = "From now on use pnpm, because npm breaks the lock file."
    for text in (because, "No, we should use pnpm instead of npm!", "can you use pnpm?"):
        turn = Turn(text, "prompt", agent=AGENT)
        signal = signals.signal_of(turn) or signals.unruled(turn, 0.6)
        assert ("pnpm" in signal.description, "pnpm" in signal.body) == (True, False)
    assert draft("use redis instead of memcached for the store", agent="") is None
    assert draft("from now on use redis instead of memcached", agent="")


@pytest.mark.parametrize(
    ("text", "command"), rows(__file__, "a check that fails is to be run before work is called done")
)
def test_a_check_that_fails_is_to_be_run_before_work_is_called_done(text, command):
    found = draft(text, agent="All tests pass, the work is done.")
    assert found.description == f"Run `{command}` before saying that the work is done"
    assert draft("nothing to see, `git pull` failed", agent="All tests pass, the work is done.") is None


def test_each_standing_rule_or_order_to_an_interrupted_agent_is_a_draft():
    text = "From now on use pnpm, because npm broke CI. Never push to main directly! And always ask before you delete a file."
    found = signals.signals_of(Turn(text, "prompt", uuid="u1", agent=AGENT))
    rules = ["Use pnpm, because npm broke CI", "Never push to main directly", "Always ask before you delete a file"]
    assert [each.description for each in found] == rules
    assert [each.origin for each in found] == ["u1", "u1#1", "u1#2"]
    assert found[1].person == "Never push to main directly!"
    text = "From now on:\n" + "\n".join(f"- always use the {name} module" for name in ("a1", "b2", "c3", "d4"))
    assert len(signals.signals_of(Turn(text, "prompt", agent=AGENT))) <= 1
    rule = "rom now on use the shared cache"
    texts = [f"F{rule} of the team", f"F{rule}", f"f{rule}!"]
    made = signals.once(signals.signal_of(Turn(text, "prompt", uuid=text)) for text in texts)
    assert len({each.description for each in made}) == len({each.name for each in made}) == len(made) == 2
    told = lambda text, stopped: signals.signal_of(Turn(text, "prompt", agent="Deleting it.", interrupted=stopped))
    found = told("keep the folder and move it to archive", True)
    assert found.confidence >= 0.5
    assert (found.kind, found.description) == ("correction", "Keep the folder and move it to archive")
    assert told("keep the folder and move it to archive", False) is None
    for text in ("continue with the next step please", "go on as before"):
        made = told(text, True)
        assert made is None or made.confidence < 0.5


@pytest.mark.parametrize(("text", "memory_type", "scope"), rows(__file__, "type and scope follow what is said"))
def test_type_and_scope_follow_what_is_said(text, memory_type, scope):
    found = draft(text)
    assert (found.type, found.scope) == (memory_type, scope)


@pytest.mark.parametrize(
    ("request_before", "words", "calls", "is_trigger"),
    rows(__file__, "what was asked is a trigger where it has to do with it"),
)
def test_what_was_asked_is_a_trigger_where_it_has_to_do_with_it(request_before, words, calls, is_trigger):
    found = signals.signal_of(Turn(words, "prompt", agent="Done.", request=request_before, calls=calls))
    assert found.request == (request_before if is_trigger else "")
