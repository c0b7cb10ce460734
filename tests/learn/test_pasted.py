"""What a person wrote in a message is told apart from what they pasted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.learn import message

OWN = [
    "debug: I am seeing the old page, please clear the cache first",
    "error: you should never swallow it",
    "at the moment we deploy by hand; don't change that",
    "use src/api/client.py instead of fetch (see docs/api.md:12)",
    "1. no emojis\n2. short commits\n    - of one thing each\n    - with the reason in the body",
    "run src/check.py first",
    "ok with me: pnpm/npm",
    "-no emojis\n-short commits",
    "FYI: WARN is what we use here, not ERROR;",
    "... and never do that again",
    "the cache is    too big",
    "今后请用 pnpm：npm 太慢了。",
    "🙈 so ideally we want it in the metadata",
    "I want `npm run lint && npm test` before each commit",
]
LOG = "2026-11-21T09:00:01Z INFO starting worker 17\n2026-11-21T09:00:07Z ERROR charge failed"


@pytest.mark.parametrize("around", ["{}", "{}\n\n" + LOG, LOG + "\n\n{}", LOG + "\n\n{}\n\n" + LOG])
def test_what_a_person_wrote_is_theirs_also_beside_a_log(around):
    assert [message.written(around.format(text)).text.strip() for text in OWN] == OWN


@pytest.mark.parametrize(
    "text",
    [
        f"I still see this: {LOG}",
        "I still see this: --- FAIL: TestCart (0.05s)\n    cart_test.go:65: no cart\nFAIL",
        'I still see this: {"time":"2026-02-15","level":"INFO","msg":"start"}\n{"time":"2026-02-16","level":"INFO"}',
        "I still see this:\n```\nthe build\nis red",
        "I still see this:   Running [/home/kim/lint config] in [/home/kim/shop] ...\n  Error: cart.go:8:1: returns interface",
        "I still see this:\nkim@box:~/shop$ npm test\nSession count: 2\nPush failed (attempt 1/3). Rebasing on remote...\nok  example.org/shop 2.1s",
        "I still see this:\nkim@box:~/shop$ npm start\nthe worker is up and it listens to the port\n$ exit",
        "I still see this:\n❯ make it good\n  ⎿  hook says: a review is available\n\n     Read it and address each point.",
    ],
)
def test_a_paste_may_begin_in_the_persons_line_and_have_lines_like_talk(text):
    assert message.written(text).text.strip() == "I still see this:"


def test_few_lines_that_are_announced_as_code_belong_to_the_message():
    assert message.written("run this:\n```sh\nmake lint\n```").code == {0: "make lint"}
    assert message.written("run this:\n\n    make lint\n    make test\n\nthanks").code == {0: "make lint\nmake test"}
    assert message.written("run this:\n```\n" + "make lint\n" * 20 + "```").code == {}
    assert message.written("run this:\n```\n" + "make " * 80 + "\n```").code == {}
    assert message.written("I ran this\n```\nmake lint\n```").code == {}


def test_a_sentence_over_two_lines_is_one_line():
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
