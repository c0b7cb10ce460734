"""The log is read by a filter: a page at a time, no further than asked, and as it grows."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base import clock_hot, fastjson_hot, fs_hot
from memtui.deliver import log_hot, log_queries
from memtui.deliver.filter import Filter
from memtui.deliver.log_queries import Reading, Receipts
from memtui.deliver.record import Delivery
from recalls import deliver
from tables import rows

NOW = clock_hot.parse("2026-11-21T12:00:00Z")


@pytest.fixture
def root(tmp_path):
    return str(tmp_path / "memtui")


@pytest.fixture
def proofs(tmp_path):
    return Receipts({"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "claude")}, lambda: NOW)


def add(root, number, **more):
    seconds = NOW - 10_000 + number
    item = {"kind": "guidance" if number % 2 else "index", "id": f"n{number}"}
    text = {"event": "SessionStart", "text": f"words {number}", "chars": 8}
    return deliver(root, seconds, item, **{"session_id": f"s{number}", **text, **more})["id"]


def names(found):
    return [each.id for each in found]


def test_it_goes_on_where_it_stopped_and_puts_what_comes_on_top(root, proofs, monkeypatch):
    made = [add(root, number) for number in range(20)]
    found = Reading(root, Filter(kind="guidance"), proofs)
    for count in (3, 6, 9):
        found.more(3, lambda _: True)
        assert names(found.rows) == made[::-2][:count]
    found.more(100, lambda _: True)
    assert names(found.rows) == made[::-2]
    assert found.done
    add(root, 20)
    new = add(root, 21)
    assert (names(found.fresh()), names(found.rows), found.fresh()) == ([new], [new, *made[::-2]], [])
    monkeypatch.setattr(log_queries, "KEPT", 5)
    found = Reading(root, Filter(), proofs)
    found.more(100, lambda _: True)
    assert len(found.rows) == 5
    assert found.full
    fs_hot.write_atomic(log_hot.months(root)[0], b"")
    assert found.fresh() is None


def test_no_more_of_the_log_is_read_than_asked_and_that_is_told(root, proofs):
    made = [add(root, number) for number in range(20)]
    size = len(fastjson_hot.dumps(log_hot.parse(fs_hot.read_bytes(log_hot.months(root)[0]).split(b"\n")[0]))) + 1
    some = Reading(root, Filter(), proofs, most=5 * size)
    assert 4 <= len(list(some.read())) <= 6
    assert some.cut
    some = Reading(root, Filter(outcome="waiting"), proofs, looked=7)
    assert names(some.read()) == []
    assert some.cut
    some = Reading(root, Filter(outcome="unknown"), proofs, looked=7)
    assert names(some.read()) == made[:-8:-1]
    every = Reading(root, Filter(), proofs)
    assert names(every.read()) == made[::-1]
    assert not every.cut
    log_hot.note_outcomes(root, [], {made[0]: "arrived"})
    assert [*Reading(root, Filter(), proofs).read()][-1].record["outcome"] == "arrived"


def test_a_receipt_is_looked_up_until_it_is_known_for_good(root, proofs, tmp_path):
    add(root, 1, event="UserPromptSubmit", transcript=str(tmp_path / "t.jsonl"), transcript_size=0)
    (found,) = Reading(root, Filter(), proofs).read()
    prompt = {"type": "user", "timestamp": clock_hot.iso(NOW), "message": {"content": "hi"}}
    (tmp_path / "t.jsonl").write_text(fastjson_hot.dumps(prompt) + "\n")
    os.utime(tmp_path / "t.jsonl", (NOW, NOW))
    assert proofs.of(found) == "waiting"
    assert not proofs.look_again()
    line = {"type": "attachment", "timestamp": clock_hot.iso(NOW), "attachment": {
        "type": "hook_additional_context", "hookEvent": "UserPromptSubmit",
        "content": [f'<memtui-guidance delivery="{found.id}">\nwords\n</memtui-guidance>'],
    }}  # fmt: skip
    with open(tmp_path / "t.jsonl", "a") as file:
        file.write(fastjson_hot.dumps(line) + "\n")
    assert proofs.look_again()
    assert proofs.known == {found.id: "arrived"}
    assert not proofs.look_again()


def test_what_could_not_be_told_is_asked_again_once_it_is_doubted(root, proofs):
    add(root, 1, event="UserPromptSubmit")
    (found,) = Reading(root, Filter(), proofs).read()
    assert proofs.of(found) == "unknown"
    assert not proofs.open(found)
    proofs.forget()
    assert proofs.open(found)
    assert proofs.of(found) == "unknown"
    assert not proofs.open(found)


# --- one filter says which deliveries are wanted, and which word a line of the log must hold for that


RECORD = rows(__file__, "RECORD")
FOUND = Delivery(RECORD)
WANTED = [
    *({"session": "5f0c1a2b-0000"}, {"session": "5f0c"}, {"project": "shop"}, {"project": "-home-me-shop"}),
    *({"kind": "guidance"}, {"memory": "prefer-pnpm"}),
    {"memory": "/home/me/shop/.claude/memory/prefer-pnpm.md"},
    *({"text": "npm use"}, {"text": "äpfel pnpm"}, {"since": FOUND.time}),
]


@pytest.mark.parametrize("fields", WANTED)
def test_what_is_wanted_matches_and_its_line_holds_the_needle(fields):
    wanted = Filter(**fields)
    assert wanted.matches(FOUND)
    needle, fold = wanted.needle()
    line = json.dumps(RECORD).encode()
    assert needle in (line.lower() if fold else line)


LABELS = {"SessionStart": "start", "guidance": "note notes", "index": "index", "lost": "lost"}
ROW = {**RECORD, "text": "Use PNPM [01K8ZC5N8W3M1T9Q6V2R4B7ABC]"}


def test_words_of_a_row_ids_and_lost_ones_are_found_and_uses_if_asked_for():
    for text in ("shop", "shop pnpm", "5f0c1a", "start", "note", "notes shop", "index"):
        wanted = Filter(text=text, labels=LABELS)
        assert wanted.matches(Delivery(ROW))
        assert wanted.needle()[0] in json.dumps(ROW).encode().lower()
        assert not Filter(text=text).matches(Delivery(ROW))
    wanted = Filter(text="lost shop", labels=LABELS)
    assert wanted.needle()[0] == b"shop"
    assert wanted.matches(Delivery(ROW), outcome=lambda _: "timed out")
    assert not wanted.matches(Delivery(ROW), outcome=lambda _: "arrived")
    assert wanted.matches(Delivery({**ROW, "text": "it got lost"}), outcome=lambda _: "arrived")
    for text, matches in (("01k8zc", True), ("01k8z", False), ("7abc", False), ("note-1", True)):
        assert Filter(text=text, labels=LABELS).matches(Delivery(ROW)) == matches
    use = Delivery({**RECORD, "items": [{"kind": "use", "id": "prefer-pnpm", "path": "/m/prefer-pnpm.md"}]})
    assert not Filter().matches(use)
    for asked in ({"kind": "use"}, {"memory": "prefer-pnpm"}, {"outcome": "nothing"}):
        assert Filter(**asked).matches(use)


@given(st.text(max_size=20), st.text(max_size=20))
def test_no_line_is_passed_over_for_its_needle_if_its_delivery_matches(text, more):
    record = {**RECORD, "text": f"{more} {text} {more}"}
    wanted = Filter(text=text)
    if wanted.matches(Delivery(record)):
        needle, _ = wanted.needle()
        assert needle in json.dumps(record).encode().lower()


def test_an_item_has_the_numbers_of_its_score_and_no_others():
    item = {
        "kind": "recall",
        "id": "m",
        "probability": 0.7,
        "score": 3,
        "scores": {"words": 2, "topic": None, "on": True},
    }
    (brought,) = Delivery({"items": [item]}).items
    assert brought.scores == (("", 0.7), ("words", 2))
    (unscored,) = Delivery({"items": [{"kind": "recall", "id": "m"}]}).items
    assert unscored.scores == ()
