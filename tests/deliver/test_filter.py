"""One filter says which deliveries are wanted, and which word a line of the log must hold for that."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.deliver.filter import Filter
from memtui.deliver.record import Delivery

RECORD = {
    "v": 1,
    "id": "01K8ZC5N8W3M1T9Q6V2R4B7XAD",
    "time": "2026-11-20T10:00:00.000Z",
    "event": "SessionStart",
    "session_id": "5f0c1a2b-0000",
    "project": "-home-me-shop",
    "project_root": "/home/me/shop",
    "text": "Use PNPM, never npm: ÄPFEL",
    "items": [
        {"kind": "index", "id": "prefer-pnpm", "path": "/home/me/shop/.claude/memory/prefer-pnpm.md"},
        {"kind": "index", "id": "left", "path": "/home/me/shop/.claude/memory/left.md", "left_out": "no room"},
        {"kind": "guidance", "id": "note-1"},
    ],
}
FOUND = Delivery(RECORD)
WANTED = [
    {"session": "5f0c1a2b-0000"},
    {"session": "5f0c"},
    {"project": "shop"},
    {"project": "-home-me-shop"},
    {"kind": "guidance"},
    {"memory": "prefer-pnpm"},
    {"memory": "/home/me/shop/.claude/memory/prefer-pnpm.md"},
    {"text": "npm use"},
    {"text": "äpfel pnpm"},
    {"since": FOUND.time},
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


def test_with_labels_text_is_sought_in_what_a_row_shows_and_in_its_line():
    for text in ("shop", "shop pnpm", "5f0c1a", "start", "note", "notes shop", "index"):
        wanted = Filter(text=text, labels=LABELS)
        assert wanted.matches(Delivery(ROW))
        assert wanted.needle()[0] in json.dumps(ROW).encode().lower()
        assert not Filter(text=text).matches(Delivery(ROW))


def test_the_word_lost_finds_what_is_lost_and_the_texts_that_have_it():
    wanted = Filter(text="lost shop", labels=LABELS)
    assert wanted.needle()[0] == b"shop"
    assert wanted.matches(Delivery(ROW), outcome=lambda _: "timed out")
    assert not wanted.matches(Delivery(ROW), outcome=lambda _: "arrived")
    assert wanted.matches(Delivery({**ROW, "text": "it got lost"}), outcome=lambda _: "arrived")


def test_an_id_is_found_by_its_beginning_alone():
    for text, matches in (("01k8zc", True), ("01k8z", False), ("7abc", False), ("note-1", True)):
        assert Filter(text=text, labels=LABELS).matches(Delivery(ROW)) == matches


@pytest.mark.slow
@given(st.text(max_size=20), st.text(max_size=20))
def test_no_line_is_passed_over_for_its_needle_if_its_delivery_matches(text, more):
    record = {**RECORD, "text": f"{more} {text} {more}"}
    wanted = Filter(text=text)
    if wanted.matches(Delivery(record)):
        needle, _ = wanted.needle()
        assert needle in json.dumps(record).encode().lower()


def test_uses_are_told_only_to_who_asks_for_them():
    use = Delivery({**RECORD, "items": [{"kind": "use", "id": "prefer-pnpm", "path": "/m/prefer-pnpm.md"}]})
    assert not Filter().matches(use)
    for asked in ({"kind": "use"}, {"memory": "prefer-pnpm"}, {"outcome": "nothing"}):
        assert Filter(**asked).matches(use)
