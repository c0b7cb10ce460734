"""Of what was delivered, a person sees the first words, not an id."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base import visible
from memtui.deliver import blocks
from memtui.deliver.record import LONGEST, Delivery
from memtui.deliver.record import titles as found_titles

ID = "01M7AQ3DA2333N6G4SCKBMDDSF"
LINES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Co", "Cn"]), min_size=1, max_size=30)


def titles(*given, budget=9000):
    text, items, _ = blocks.compose(list(given), budget, ID)
    return found_titles(text, [each for each in Delivery({"items": items}).items if not each.left_out])


def block(kind, scope, *texts):
    parts = [
        blocks.Part(text, text, {"kind": kind, "id": f"{scope}{number}", "scope": scope})
        for number, text in enumerate(texts)
    ]
    return blocks.Block(blocks.TAGS[kind], {"scope": scope, "source": "/a"}, "What this list is.", parts)


def note(name, text):
    part = blocks.Part(text, text, {"kind": "guidance", "id": name, "scope": "project"})
    return blocks.Block(blocks.TAGS["guidance"], {"id": name}, "Note left by the user.", [part])


def test_notes_are_called_by_first_line_and_drafts_and_items_by_their_text():
    assert titles(
        note("g1", "CI is red:\nfix it first"),
        block(
            "pending-update", "project", "- [preference, 2d ago] Ask before a migration\n  - Show the SQL.", "- [x] Two"
        ),
        block("pending-update", "global", "- [correction, said 3 times, 1d ago] Use uv"),
        block("pending-item", "project", "- [ ] Fix the flaky test (once) (session 7c1e55a0, 2d ago)"),
    ) == ["CI is red:", "Ask before a migration", "Two", "Use uv", "Fix the flaky test (once)"]


def test_of_a_draft_that_has_changed_or_gone_the_words_are_found():
    assert titles(
        block(
            "pending-update",
            "project",
            "+ - [preference, 2d ago] New one",
            "- - [note, 1d ago] Old words\n+ - [note, 1d ago] New words",
            "- - [note, 1d ago] A third (approved, rejected or withdrawn since)",
        )
    ) == ["New one", "New words", "A third"]


@pytest.mark.slow
@given(st.lists(LINES, min_size=1, max_size=5), st.lists(LINES, max_size=3))
def test_each_title_is_that_of_its_own_item_whatever_the_texts_are(drafts, more):
    """Also of characters that are two UTF-16 code units."""
    shown = [f"- [note, 1d ago] {text}\n  - [x] another line" for text in drafts]
    items = [f"- [ ] {text} (hand-written)" for text in more]
    found = titles(block("pending-update", "project", *shown), *([block("pending-item", "a", *items)] if items else []))
    assert len(found) == len(drafts) + len(more)
    for title, text in zip(found, [*drafts, *more], strict=True):
        words = visible.one_line(visible.clean(text))
        # What follows decides whether a bracket is escaped; here nothing does.
        assert title.replace("&lt;", "<") == words.replace("&lt;", "<") or len(words) > LONGEST
