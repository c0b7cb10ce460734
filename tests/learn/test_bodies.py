"""The body of a draft holds the sentences that carry its rule, in the person's words; all else stays in the evidence."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.client.transcripts.conversation import Turn
from memtui.learn import classifier, message, signals
from tables import rows

AGENT = "I ran npm install and added a comment to every function."
PASTES = rows(__file__, "pastes")
MESSAGES = rows(__file__, "messages")


def words_of(text, agent=AGENT):
    turn = Turn(text, "prompt", uuid="u1", session="s1", agent=agent, time="2026-11-18T12:00:00Z")
    found = signals.signal_of(turn) or signals.unruled(turn, 0.6)
    return found and (found.name, found.description, found.body)


def body_of(text, agent=AGENT):
    return words_of(text, agent)[2]


@given(st.sampled_from(MESSAGES), st.lists(st.sampled_from(list(PASTES.values())), max_size=3), st.integers(0, 3))
def test_a_draft_says_the_same_among_any_pastes(message, pastes, at):
    assert words_of("\n\n".join([*pastes[:at], message, *pastes[at:]])) == words_of(message)


SENTENCES = [
    *("From now on use pnpm.", "Don't do that, it breaks CI.", "That is slow because it installs twice."),
    *("Can you fix the build?", "When you change the schema, run make gen.", "thanks!"),
    "I'd prefer `make lint` (not ruff) here",
    "Only in tests, e.g. of the cart, is that fine.",
    *("Wir nutzen pnpm.", "请用中文。", "the rules are:", "- short commits", "- never force-push"),
    "```\nmake lint\n```",
]


PARTS = st.tuples(st.sampled_from([*SENTENCES, *PASTES.values()]), st.sampled_from([" ", "\n", "\n\n"]))


@given(st.lists(PARTS, min_size=1))
def test_a_body_has_no_word_that_the_person_did_not_write(parts):
    text = "".join(part + joint for part, joint in parts)
    turn = Turn(text, "prompt", uuid="u1", agent=AGENT)
    for found in [*signals.signals_of(turn), *filter(None, [signals.unruled(turn, 0.6)])]:
        told = re.sub(r"\*\*(?:Why|How to apply):\*\*", "", found.body)
        assert set(re.findall(r"\w+", told.lower())) <= set(re.findall(r"\w+", text.lower()))


@pytest.mark.parametrize(
    ("text", "kept", "left"), rows(__file__, "what a rule needs stays and what was said beside it does not")
)
def test_what_a_rule_needs_stays_and_what_was_said_beside_it_does_not(text, kept, left):
    _, description, body = words_of(text)
    for each in kept:
        assert each in f"{description}\n{body}"
    for each in left:
        assert each not in f"{description}\n{body}"


def test_what_explains_a_rule_is_left_out_where_all_would_be_too_long():
    reasons = [f"It {verb} {'the whole team ' * 16}for days." for verb in ("blocks", "stops")]
    body = body_of(f"Never retry on 403. {reasons[0]} {reasons[1]}")
    assert body == f"Never retry on 403. {reasons[0]}"


def test_a_rule_has_what_it_announces_or_refers_to_and_no_other_code():
    _, description, body = words_of("Always run this before you commit:\n```\nmake lint\nmake test\n```\nthanks!")
    assert description == "Always run this before you commit: `make lint`; `make test`"
    assert "```\nmake lint\nmake test\n```" in body
    assert "thanks" not in body
    assert "make lint" not in body_of("No, don't retry on 403! That locks us out.\n\n```\nmake lint\n```")
    assert words_of("always run `make lint` before you commit")[1] == "Always run `make lint` before you commit"
    # What failed is no rule.
    failed = "```\nmain.go:3: undefined\n```"
    text = f"No, this is not what I had asked for:\n{failed}\nyou should always run go vet first"
    assert "main.go" not in body_of(text)
    lines = "use British spelling in the docs and in names\nno emojis\nask me first"
    body = body_of(f"From now on:\n{lines}\n\nfix the page")
    assert lines in body
    assert "fix the page" not in body
    body = body_of("Never retry on 403. It locks our account.\n\nThis is only so in production.\n\nThe page is done.")
    assert body == "Never retry on 403. It locks our account.\n\nThis is only so in production."
    body = body_of("The amend has broken all checkpoints.\n\nCan we amend again and add the trailer? Ticket: 42")
    assert "The amend has broken all checkpoints." in body
    assert "代码注释还是用英文。测试文件除外。" in body_of("以后请用中文回答。代码注释还是用英文。测试文件除外。")


@pytest.mark.parametrize(
    "head", ["From now on:", "Always follow these rules:", "please always keep to the following rules."]
)
def test_the_points_of_a_list_of_rules_stay_together(head):
    points = "- no emojis in commits\n- commits of one thing each, with the reason in the body\n- never force-push to a branch that somebody else has"
    text = f"{head}\n{points}\n\nnow fix the login page please"
    assert points in body_of(text)
    assert "login" not in body_of(text)


def test_a_question_above_a_list_of_rules_is_no_part_of_it():
    points = "- never use mocks in tests\n- always run the linter"
    assert body_of(f"Did you see my rules (the new ones?)\n{points}") == points


@pytest.mark.parametrize("paste", PASTES.values(), ids=PASTES)
def test_a_message_that_is_nothing_but_a_paste_makes_no_draft(paste):
    turn = Turn(paste, "prompt", uuid="u1", agent="All tests pass, done.")
    assert classifier.drafts([turn], classifier.shipped()) == []


def test_evidence_is_short_and_a_cut_description_has_its_rule_below():
    text = "2026-11-21T09:00:01Z INFO starting\n" * 50 + "\nDon't retry on 403!"
    found = signals.signal_of(Turn(text, "prompt", uuid="u1", agent=AGENT))
    assert " ".join(found.person.split()) == "2026-11-21T09:00:01Z INFO starting … Don't retry on 403!"
    text = "Always write " + "the long name of the module that a test belongs to and " * 2 + "of the file that it is in"
    _, description, body = words_of(text)
    assert description.endswith("…")
    assert body == text


@pytest.mark.parametrize(("text", "description"), rows(__file__, "a description is whole and has no mark too many"))
def test_a_description_is_whole_and_has_no_mark_too_many(text, description):
    assert words_of(text)[1] == description


WHOLE = rows(__file__, "WHOLE")
NEEDLESS = [
    "I'd like that to be short. Thanks a lot for trying.",
    "Always check if the server is up.",
    "Always ask me first, or else we lose data.",
]


@pytest.mark.parametrize("text", WHOLE + NEEDLESS)
def test_a_body_holds_all_that_a_rule_needs_as_written_and_no_thanks(text):
    assert body_of(text) == ("" if text in NEEDLESS else text)


# --- what a person wrote in a message is told apart from what they pasted


OWN = rows(__file__, "own")
LOG = "2026-11-21T09:00:01Z INFO starting worker 17\n2026-11-21T09:00:07Z ERROR charge failed"


@pytest.mark.parametrize("around", ["{}", "{}\n\n" + LOG, LOG + "\n\n{}", LOG + "\n\n{}\n\n" + LOG])
def test_what_a_person_wrote_is_theirs_also_beside_a_log(around):
    assert [message.written(around.format(text)).text.strip() for text in OWN] == OWN


@pytest.mark.parametrize("text", rows(__file__, "a paste may begin in the persons line and have lines like talk"))
def test_a_paste_may_begin_in_the_persons_line_and_have_lines_like_talk(text):
    assert message.written(text).text.strip() == "I still see this:"


def test_announced_code_belongs_to_the_message_and_wrapped_lines_are_one():
    assert message.written("run this:\n```sh\nmake lint\n```").code == {0: "make lint"}
    assert message.written("run this:\n\n    make lint\n    make test\n\nthanks").code == {0: "make lint\nmake test"}
    assert message.written("run this:\n```\n" + "make lint\n" * 20 + "```").code == {}
    assert message.written("run this:\n```\n" + "make " * 80 + "\n```").code == {}
    assert message.written("I ran this\n```\nmake lint\n```").code == {}
    text = "always run the whole suite of the package that you have changed before you\npush, and\nsay so. then\ngo on"
    one = "always run the whole suite of the package that you have changed before you push, and say so. then"
    assert message.written(text).text.splitlines() == [one, "go on"]
    # A line goes on with `and` or `before`, but not with an order or behind a full stop.
    for text, lines in (
        ("run `make lint`\nand `make test`\nbefore pushing", 1),
        ("the header is wrong\nand never push to main", 2),
        ("run it again.\nbefore that, ask me", 2),
    ):
        assert len(message.written(text).text.splitlines()) == lines


@given(st.text(max_size=500), st.lists(st.sampled_from([*OWN, LOG, "```", "    x = 1;", "a:   b"]), max_size=6))
def test_nothing_is_written_that_the_message_does_not_have(text, parts):
    text = "\n".join([text, *parts])
    said = "".join(text.replace("’", "'").replace("‘", "'").split())
    for line in message.written(text).text.splitlines():
        assert "".join(line.split()) in said
    for piece in message.shortened(text).split("…"):
        assert all("".join(line.split()) in said for line in piece.splitlines())
