"""The log is read by a filter: a page at a time, no further than asked, and as it grows."""

import os

import pytest

from memtui.base import clock, fastjson, fs
from memtui.deliver import log as delivery_log
from memtui.deliver import log_queries
from memtui.deliver.filter import Filter
from memtui.deliver.log_queries import Reading, Receipts
from recalls import deliver

NOW = clock.parse("2026-11-21T12:00:00Z")


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


def test_it_goes_on_where_it_stopped(root, proofs):
    made = [add(root, number) for number in range(20)]
    found = Reading(root, Filter(kind="guidance"), proofs)
    for count in (3, 6, 9):
        found.more(3, lambda _: True)
        assert names(found.rows) == made[::-2][:count]
    found.more(100, lambda _: True)
    assert names(found.rows) == made[::-2]
    assert found.done


def test_what_comes_is_put_on_top_and_a_shorter_log_is_to_be_read_anew(root, proofs):
    add(root, 0)
    found = Reading(root, Filter(kind="guidance"), proofs)
    found.more(10, lambda _: True)
    add(root, 2)
    new = add(root, 3)
    assert names(found.fresh()) == [new]
    assert names(found.rows) == [new]
    assert found.fresh() == []
    fs.write_atomic(delivery_log.months(root)[0], b"")
    assert found.fresh() is None


def test_no_more_of_the_log_is_read_than_asked_and_that_is_told(root, proofs):
    made = [add(root, number) for number in range(20)]
    size = len(fastjson.dumps(delivery_log.parse(fs.read_bytes(delivery_log.months(root)[0]).split(b"\n")[0]))) + 1
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


def test_a_receipt_is_looked_up_until_it_is_known_for_good(root, proofs, tmp_path):
    add(root, 1, event="UserPromptSubmit", transcript=str(tmp_path / "t.jsonl"), transcript_size=0)
    (found,) = Reading(root, Filter(), proofs).read()
    prompt = {"type": "user", "timestamp": clock.iso(NOW), "message": {"content": "hi"}}
    (tmp_path / "t.jsonl").write_text(fastjson.dumps(prompt) + "\n")
    os.utime(tmp_path / "t.jsonl", (NOW, NOW))
    assert proofs.of(found) == "waiting"
    assert not proofs.look_again()
    line = {"type": "attachment", "timestamp": clock.iso(NOW), "attachment": {
        "type": "hook_additional_context", "hookEvent": "UserPromptSubmit",
        "content": [f'<memtui-guidance delivery="{found.id}">\nwords\n</memtui-guidance>'],
    }}  # fmt: skip
    with open(tmp_path / "t.jsonl", "a") as file:
        file.write(fastjson.dumps(line) + "\n")
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


def test_no_more_rows_are_held_than_that(root, proofs, monkeypatch):
    monkeypatch.setattr(log_queries, "KEPT", 5)
    for number in range(9):
        add(root, number)
    found = Reading(root, Filter(), proofs)
    found.more(100, lambda _: True)
    assert len(found.rows) == 5
    assert found.full
