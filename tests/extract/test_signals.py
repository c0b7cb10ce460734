"""Corrections, confirmations and preferences become drafts; ordinary talk does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.core.client.conversation import Turn
from memtui.extract import signals

AGENT = "I ran npm install and added a comment to every function."


def draft(text, agent=AGENT, channel="prompt"):
    found = signals.signal_of(Turn(text, channel, uuid="u1", session="s1", agent=agent))
    return found if found and found.confidence >= 0.5 else None


@pytest.mark.parametrize(
    ("text", "kind", "description"),
    [
        ("No, don't use npm here, always use pnpm.", "correction", "Don't use npm here, always use pnpm"),
        ("that's wrong: use tabs in this project", "correction", "Use tabs in this project"),
        ("I told you not to edit the lock file", "correction", "Do not edit the lock file"),
        ("stop adding comments to every function", "correction", "Stop adding comments to every function"),
        ("From now on use pnpm instead of npm", "preference", "Use pnpm instead of npm"),
        ("please remember that the staging db is read-only", "preference", "The staging db is read-only"),
        ("Always run the linter before you commit!", "preference", "Always run the linter before you commit!"),
        ("in future please don't touch generated files", "preference", "Don't touch generated files"),
        ("we never push to main directly", "preference", "We never push to main directly"),
        ("I'd prefer short answers", "preference", "I'd prefer short answers"),
        ("I like how you split the commits", "confirmation", "I like how you split the commits"),
        ("以后请用中文回答", "preference", "以后请用中文回答"),
    ],
)
def test_what_a_person_lays_down_becomes_a_draft(text, kind, description):
    found = draft(text)
    assert found
    assert (found.kind, found.description, found.type, found.evidence) == (kind, description, "feedback", "u1")


@pytest.mark.parametrize(
    "text",
    [
        "fix the bug where the cache never expires",
        "why is it always failing?",
        "do you remember what we did yesterday?",
        "remember to commit after this",
        "yes",
        "go ahead",
        "no",
        "no problem, thanks",
        "nope, still broken",
        "don't commit yet",
        "let's not do that for now",
        "I don't think that's the cause",
        "make the header always visible",
        "The API must never return null",
        "Always show the tooltip when the user hovers",
        "I'd prefer option 2",
        "what do you prefer, A or B?",
        "I don't want to break the tests",
        "stop the server",
        "next time the job runs it should send mail",
        "oops, my mistake, I never pushed the branch",
        "You are a helpful agent. Always answer in JSON.",
        "```\n# from now on always use yarn\n```\nwhat does this comment say",
        "> from now on always use yarn\n\nwho wrote this",
    ],
)
def test_ordinary_talk_gives_none(text):
    assert draft(text) is None


def test_a_rejected_tool_is_an_objection():
    found = draft("is there another way? I don't want to have tokens under my account", channel="tool_reject")
    assert found.kind == "correction"
    assert found.description == "I don't want to have tokens under my account"


def test_a_check_that_fails_after_a_claim_of_success_is_worth_keeping():
    found = draft('"mise run test:ci" fails', agent="All tests pass, done.")
    assert found.description == "Run `mise run test:ci` before saying that the work is done"
    assert draft('"mise run test:ci" fails', agent="Let me look.") is None


def test_scope_and_type_follow_the_words():
    assert draft("From now on use British spelling in all my projects").scope == "global"
    assert draft("From now on use British spelling").scope == "project"
    assert draft("I'm a data scientist, new to Rust").type == "user"


def test_a_draft_shows_what_it_rests_on():
    text = "No, use pnpm instead of npm.\n\nThe lock file is pnpm's, npm broke CI twice."
    found = draft(text)
    assert found.name == "use-pnpm-instead-npm"
    assert "npm broke CI twice" in found.body
    assert "**Why:** said after the agent's “I ran npm install" in found.body
    assert found.agent == AGENT
    assert found.person == text
    long = draft(text + " because" * 500, agent="x " * 900)
    assert len(long.person) <= 600
    assert len(long.agent) <= 300
    assert len(long.description) <= 120


def test_a_task_at_the_start_of_a_session_needs_plain_words():
    assert draft("use redis instead of memcached for the store", agent="") is None
    assert draft("from now on use redis instead of memcached", agent="")


def test_one_name_once():
    turns = [Turn("from now on use pnpm", "prompt", uuid=str(n)) for n in range(3)]
    assert len(signals.once(map(signals.signal_of, turns))) == 1


@given(st.text(max_size=400), st.text(max_size=200), st.sampled_from(["prompt", "queued", "tool_reject", "answer"]))
def test_any_text_gives_a_sound_draft_or_none(text, agent, channel):
    found = signals.signal_of(Turn(text, channel, agent=agent))
    if found:
        assert 0 <= found.confidence <= 1
        assert found.description
        assert "\n" not in found.description
        assert found.name
        assert "/" not in found.name


@given(
    st.sampled_from(["always use ", "no, ", "don't ", "a", "run npm run ", "- ", "from now on "]), st.integers(1, 3000)
)
def test_repeated_words_are_no_trap(piece, times):
    signals.signal_of(Turn((piece * times)[:20_000], "prompt", agent="done ✅ " * 100))


@pytest.mark.parametrize(
    ("text", "description", "why", "how"),
    [
        (
            "From now on use pnpm here, because npm breaks the lock file.",
            "Use pnpm here",
            "Npm breaks the lock file",
            "",
        ),
        (
            "Always run the linter before you commit, since the hook is slow.",
            "Always run the linter before you commit",
            "The hook is slow",
            "",
        ),
        (
            "Never touch the generated files. When you change the schema, run make gen.",
            "Never touch the generated files",
            "",
            "When you change the schema",
        ),
        ("Ab jetzt immer pnpm benutzen, weil npm die Datei zerstört.", "", "Npm die Datei zerstört", ""),
    ],
)
def test_reason_and_occasion_are_what_the_person_said(text, description, why, how):
    found = draft(text)
    assert found
    assert not description or found.description == description
    assert (
        ("**Why:** " + why in found.body)
        if why
        else "**Why:** said after" in found.body or "**Why:**" not in found.body
    )
    assert ("**How to apply:** " + how in found.body) if how else "**How to apply:**" not in found.body


def test_a_day_is_written_as_its_date():
    turn = Turn("Remember that the code freeze begins next Friday.", "prompt", time="2026-11-18T12:00:00Z", agent=AGENT)
    assert signals.signal_of(turn).description == "The code freeze begins 2026-11-20"


def test_an_instruction_right_after_an_interruption_is_a_correction():
    text = "Use the staging database for that, and only read from it."
    calm = signals.signal_of(Turn(text, "prompt", agent=""))
    stopped = signals.signal_of(Turn(text, "prompt", agent="", interrupted=True))
    assert (calm.confidence if calm else 0) < 0.5
    assert stopped.confidence >= 0.5
    assert stopped.kind == "correction"
