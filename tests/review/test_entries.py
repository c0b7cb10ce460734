"""Reviewing what waits: each step whole, undoable, and nothing lost that others write meanwhile."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.base import fs_hot
from memtui.base.errors import ConflictError, UsageError
from memtui.inbox import file_hot, format_hot
from memtui.review.entries import Review
from memtui.review.waiting_entries import hidden_until, later_path, load_hidden, waiting_in
from memtui.store.journal import undo
from memtui.store.journal.journal import Journal

SLUG = "-srv-shop"


@pytest.fixture
def root(tmp_path):
    return str(tmp_path / "memtui")


def leave(root, kind, *texts, slug=SLUG):
    directory = f"{root}/projects/{slug}" if slug else f"{root}/global"
    return [file_hot.add_entry(directory, kind, {"from": "test"}, text) for text in texts]


def source(root, kind):
    return fs_hot.read_or_empty(f"{root}/projects/{SLUG}/{format_hot.FILES[kind]}").decode()


def texts(root, kind):
    return [item.text for item in waiting_in(root, [SLUG, None], [kind])]


UNCLOSED = "<!-- memtui id=a for=agent:bob -->\none\n"


@pytest.mark.parametrize("rest", ["by hand\n", ""])
def test_an_entry_without_an_end_takes_nothing_from_behind_a_removed_one(root, rest):
    path = f"{root}/projects/{SLUG}/guidance.md"
    before = UNCLOSED + format_hot.render({"id": "b"}, "two") + rest
    fs_hot.append(path, before.encode())
    a, b = waiting_in(root, [SLUG], ["guidance"])[:2]
    review = Review(root)
    review.withdraw([b])
    left = format_hot.read(path)
    assert [(e.fields.get("for"), e.text) for e in left] == [("agent:bob", "one"), (None, "by hand")][: len(rest) or 1]
    undo.run(Journal(root), "undo").first()
    assert source(root, "guidance") == before
    review.withdraw([a, b])
    assert texts(root, "guidance") == ([rest.strip()] if rest else [])
    undo.run(Journal(root), "undo").first()
    assert source(root, "guidance") == before


def test_what_others_append_stays_and_what_they_changed_is_a_conflict(root):
    leave(root, "updates", "one", "two")
    items = waiting_in(root, [SLUG], ["updates"])
    leave(root, "updates", "three")
    Review(root).reject(items[:1])
    assert texts(root, "updates") == ["two", "three"]
    undo.run(Journal(root), "undo").first()
    assert sorted(texts(root, "updates")) == ["one", "three", "two"]
    items = waiting_in(root, [SLUG], ["updates"])
    path = f"{root}/projects/{SLUG}/pending-updates.md"
    changed = Path(path).read_text().replace("one", "one and a half")
    Path(path).write_text(changed)
    with pytest.raises(ConflictError):
        Review(root).reject(items)
    assert Path(path).read_text() == changed
    Path(path).unlink()
    with pytest.raises(ConflictError):
        Review(root).reject(items)


def test_editing_keeps_evidence_and_fields(root):
    leave(root, "updates", "Use pnpm\n\nAlways.\n\n> you: no, pnpm")
    (item,) = waiting_in(root, [SLUG], ["updates"])
    Review(root).edit(item, "Use pnpm\n\n> quoted\nNever npm.")
    (after,) = waiting_in(root, [SLUG], ["updates"])
    assert (after.id, after.text) == (item.id, "Use pnpm\n\n> quoted\nNever npm.")
    assert after.evidence == ["> you: no, pnpm"]
    with pytest.raises(UsageError):
        Review(root).edit(after, "  \n")


def test_a_snoozed_draft_says_until_when_and_undo_restores_every_byte(root):
    leave(root, "updates", "one", "two")
    before = source(root, "updates")
    review = Review(root, now=lambda: 1000.0)
    review.snooze(waiting_in(root, [SLUG], ["updates"])[:1], 5000.0)
    one, two = waiting_in(root, [SLUG], ["updates"])
    assert (one.text, one.until(4999.0), one.until(5000.0), two.until(0.0)) == ("one", 5000.0, None, None)
    review.snooze([one], None)
    assert source(root, "updates") == before
    undo.run(Journal(root), "undo").first()
    assert waiting_in(root, [SLUG], ["updates"])[0].until(0.0) == 5000.0
    undo.run(Journal(root), "undo").first()
    assert source(root, "updates") == before


def test_a_snooze_ends_with_its_day_and_odd_files_hide_nothing(root):
    now = 1_795_000_000.0
    assert hidden_until("now", now) is None
    assert hidden_until("2h", now) == now + 7200
    assert time.localtime(hidden_until("tomorrow", now))[3:6] == (0, 0, 0)
    assert time.localtime(hidden_until("monday", now)).tm_wday == 0
    for words in ("never", "yesterday", "soon", "", "2020-01-01"):
        with pytest.raises(UsageError) as error:
            hidden_until(words, now)
        assert "tomorrow" in error.value.hint or "such as 30m or tomorrow" in error.value.message
    odd = b'{"until": {"one": 3, "two": null, "three": "soon"}}'
    for data in (b"", b"\xff", b"[]", b"{", b'{"until": 3}', odd, b"[" * 5000):
        fs_hot.write_atomic(later_path(root), data)
        assert load_hidden(root) == {}


ENTRY = st.tuples(st.sampled_from(["entry", "loose"]), st.text("ab -*>[]x\n", min_size=1, max_size=12))


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(ENTRY, min_size=1, max_size=6), st.data())
def test_taking_some_out_leaves_the_others_and_undo_restores_every_byte(tmp_path_factory, parts, data):
    root = str(tmp_path_factory.mktemp("root"))
    whole = ""
    for number, (kind, text) in enumerate(parts):
        whole += format_hot.render({"id": f"{number:026d}"}, text) if kind == "entry" else text + "\n"
    path = f"{root}/projects/{SLUG}/pending-updates.md"
    fs_hot.write_atomic(path, whole.encode())
    items = waiting_in(root, [SLUG], ["updates"])
    if not items:
        return
    chosen = data.draw(st.lists(st.sampled_from(items), min_size=1, unique_by=lambda item: item.entry.start))
    Review(root).reject(chosen)
    gone = {item.entry.start for item in chosen}
    left = waiting_in(root, [SLUG], ["updates"])
    words = [" ".join(item.entry.text.split()) for item in items if item.entry.start not in gone]
    assert " ".join(" ".join(item.entry.text.split()) for item in left) == " ".join(words)
    undo.run(Journal(root), "undo").first()
    assert Path(path).read_bytes() == whole.encode()
