"""Guidance: what a note must be, leaving and changing it in one step each, what is under way, what was told."""

import os
import time

import pytest

from memtui.base import clock_hot, paths_hot
from memtui.base.errors import ConflictError, UsageError
from memtui.base.phrasing_hot import until
from memtui.inbox import format_hot, guidance, undelivered
from memtui.review.entries import Review
from memtui.review.waiting_entries import waiting_in
from memtui.store.journal import undo
from tables import rows

NOW = 1_795_000_000.0


@pytest.fixture
def root(tmp_path):
    return str(tmp_path / "memtui")


def waiting(root, slug="-p"):
    return waiting_in(root, [slug], ("guidance",))


def test_a_note_says_what_was_said_to_whom_and_when_or_is_refused():
    for bad in ("", " \n", "a\0b", "a\ud800b"):
        with pytest.raises(UsageError):
            guidance.text(bad)
    for bad in (["you"], ["session:ab"], ["path:"], ["path:src/[ab.py"], ["agent:a,b"], ["agent:a", "agent:b"]):
        with pytest.raises(UsageError):
            guidance.addresses(bad)
    found = guidance.fields(" ci  watch ", ["path: src/**", "agent:x"], urgent=True, expires="2h", now=NOW)
    said = {"from": "ci watch", "for": "path:src/**,agent:x", "urgent": "yes"}
    assert found == {**said, "expires": clock_hot.iso_seconds(NOW + 7200)}
    said = {7200: "in 2h", 7195: "in 2h", 5400: "in 1h 30m", 59: "in 1m", 3 * 86400: "in 3d", 3 * 86400 - 5: "in 3d"}
    said |= {90_000: "in 1d 1h", 1800: "in 30m", 86_399: "in 1d", 3599: "in 1h"}
    assert {seconds: until(NOW + seconds, NOW) for seconds in said} == said


def test_a_note_is_left_reworded_and_moved_in_steps_that_can_be_undone(root):
    acts = Review(root, now=lambda: NOW)
    directory = paths_hot.inbox_dir(root, "-p")
    first, _ = acts.guide(directory, {"from": "tui"}, "one")
    acts.guide(directory, {"from": "tui"}, "two")
    assert [each.text for each in waiting(root)] == ["one", "two"]
    assert waiting(root)[0].id == first
    undo.run(acts.journal, "undo").first()
    assert [each.text for each in waiting(root)] == ["one"]
    os.unlink(directory + "/guidance.md")
    with pytest.raises(ConflictError):
        undo.run(acts.journal, "undo").first()
    acts.guide(paths_hot.inbox_dir(root, "-p"), {"from": "ci", "attempts": "3"}, "one")
    item = waiting(root)[0]
    acts.reword(item, paths_hot.inbox_dir(root, None), {"from": "tui", "urgent": "yes"}, "one, really")
    assert waiting(root) == []
    (moved,) = waiting(root, None)
    assert (moved.id, moved.text, moved.entry.fields["from"]) == (item.id, "one, really", "ci")
    assert "attempts" not in moved.entry.fields
    undo.run(acts.journal, "undo").first()
    assert [each.text for each in waiting(root)] == ["one"]
    assert waiting(root, None) == []


def test_what_is_under_way_is_read_from_the_claims(root):
    directory = paths_hot.inbox_dir(root, "-p") + "/claimed"
    os.makedirs(directory)
    name = "01M7Y7NG26BHZ5R8XMHAPG875M"
    with open(f"{directory}/{name}~session-1~123.md", "w", encoding="utf-8") as file:
        file.write(format_hot.render({"id": "A" * 26}, "one") + format_hot.render({"id": "B" * 26}, "two"))
    found = undelivered.under_way(root, ["-p", None])
    notes = [(note.delivery, note.session, note.entry.text) for note in found]
    assert notes == [(name, "session-1", "one"), (name, "session-1", "two")]


@pytest.fixture
def berlin(monkeypatch):
    """A machine two hours before UTC in summer; it is 15:00 there."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield clock_hot.parse("2026-07-01T13:00:00Z")
    monkeypatch.undo()
    time.tzset()


def test_an_end_is_given_as_people_say_it_or_refused_with_examples(berlin):
    for words, ends in rows(__file__, "an end"):
        assert clock_hot.iso_seconds(guidance.expiry(words, berlin)) == f"2026-07-{ends}:00Z"
    assert "expires" not in guidance.fields("ci", [], False, "never", berlin)
    for words in rows(__file__, "no end"):
        with pytest.raises(UsageError) as caught:
            guidance.expiry(words, berlin)
        assert "tomorrow" in caught.value.hint
