"""The words for deliveries are the same in both doors, and there are some for everything that can be."""

import pytest

from memtui.deliver import receipts_hot
from memtui.deliver.record import Delivery
from memtui.deliver.sessions import Session
from memtui.deliver.statistics import ReceiptCounts
from memtui.views.deliveries import GLYPHS, MEANINGS, in_short, resume, session_sums, session_title, sums, what

OUTCOMES = {
    value for name, value in vars(receipts_hot).items() if name.isupper() and isinstance(value, str) and name in {
        "ARRIVED", "PREVIEWED", "TIMED_OUT", "FAILED", "DROPPED", "BROKEN_OFF", "UNKNOWN", "WAITING", "NOTHING",
    }
}  # fmt: skip


def test_each_outcome_has_a_glyph_and_a_meaning():
    assert set(GLYPHS) == set(MEANINGS) == OUTCOMES
    assert len(OUTCOMES) == 9


@pytest.mark.parametrize(
    ("items", "words"),
    [
        *(([], "nothing"), ([{"kind": "guidance"}] * 2, "2 notes"), ([{"kind": "index"}] * 14, "index of 14")),
        *(([{"kind": "pending-update"}], "1 draft"), ([{"kind": "pending-item"}] * 3, "3 todos")),
        ([{"kind": "memory"}] * 2, "2 memories"),
        ([{"kind": "use", "action": "read", "id": "prefer-pnpm"}], "agent read prefer-pnpm"),
        ([{"kind": "use", "id": "prefer-pnpm"}], "agent used prefer-pnpm"),
        ([{"kind": "guidance"}, {"kind": "index", "left_out": "no room", "count": 7}], "1 note, 7 left out"),
        ([{"kind": "guidance", "left_out": "too long"}], "1 left out"),
    ],
)
def test_what_a_delivery_brought_is_said_in_few_words(items, words):
    assert what(Delivery({"items": items}).contents) == words


NOTE = '<memtui-guidance id="g1" delivery="d">\nNote left by …\nCI is red on main: the lockfile\nSecond line\n</memtui-guidance>'


@pytest.mark.parametrize(
    ("text", "items", "words"),
    [
        (NOTE, [{"kind": "guidance", "id": "g1"}], "CI is red on main: the lockfile"),
        ("", [{"kind": "guidance", "id": "g1"}], "1 note"),
        ("", [{"kind": "index", "id": name} for name in "abcdef"], "index of 6 · a, b, c, d…"),
        ("", [{"kind": "use", "action": "read", "id": "prefer-pnpm"}], "agent read prefer-pnpm"),
        (NOTE, [{"kind": "guidance", "id": "g1"}, {"kind": "index", "id": "a"}],
         "1 note, index of 1 · CI is red on main: the lockfile, a"),
    ],
)  # fmt: skip
def test_a_delivery_is_described_by_the_first_words_of_what_it_brought(text, items, words):
    assert in_short(Delivery({"text": text, "items": items}).contents) == words


def test_what_waits_or_is_unknown_is_counted_apart_from_what_is_settled():
    outcomes = ["arrived"] * 8 + ["failed", "timed out"] + ["waiting"] * 2 + ["unknown", "nothing"]
    counts = ReceiptCounts.of(outcomes)
    assert counts == ReceiptCounts.of({each: outcomes.count(each) for each in outcomes})
    assert (counts.settled, counts.total) == (10, 13)
    assert [words for words, _ in sums(counts)] == [
        "✓ arrived 8 of 10",
        "✗ 2 deliveries lost",
        "… 2 on the way",
        "· 1 not known",
    ]


def session(**more):
    return Session(**({"id": "1f0c", "project": "/srv/shop", "slug": "-srv-shop", "cwd": "/srv/shop"} | more))


def test_an_id_from_a_file_is_no_command_of_the_shell():
    found = session(id="1f0c; rm -rf ~", cwd="/srv/my shop", project="")
    assert resume(found, "/") == "cd '/srv/my shop' && claude --resume '1f0c; rm -rf ~'"


def test_a_session_is_resumed_where_it_ran_while_its_transcript_is_there():
    assert resume(session(), "/srv/shop") == "claude --resume 1f0c"
    assert resume(session(cwd=""), "/") == "cd /srv/shop && claude --resume 1f0c"
    assert resume(session(looked_up=True, transcript="/t.jsonl"), "/srv/shop") == "claude --resume 1f0c"
    assert resume(session(looked_up=True, live=True), "/srv/shop") == "claude --resume 1f0c"
    assert resume(session(looked_up=True), "/srv/shop") == ""


def test_a_session_is_never_without_words():
    assert session_title(session(title="fix it")) == "fix it"
    assert session_title(session()) == "", "not looked up yet"
    assert session_title(session(looked_up=True)) == "its transcript is gone"
    assert session_title(session(looked_up=True, live=True)) == "no prompt yet"
    assert session_sums(session())[0][0] == "got nothing yet"
    assert "8 of 10" in session_sums(session(deliveries=13, outcomes={"arrived": 8, "failed": 2, "waiting": 3}))[0][0]
