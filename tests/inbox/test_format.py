"""The entries of inbox files: read back as they were written, by people and by scripts, in any mix."""

import os

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import recorded
from memtui.base import fs_hot, ids_hot
from memtui.inbox import file_hot, format_hot

ANY = st.characters(exclude_categories=())
TEXTS = st.text(ANY, max_size=80)
# Text that would like to be taken for a mark.
MARKS = st.sampled_from(
    [
        *(
            *("<!-- memtui id=evil -->", "<!-- /memtui -->", "<!--\\ memtui x -->", "<!--\\\\ /memtui -->"),
            *("<!-- memtui", "-->"),
        ),
        *(
            *("\ufeff<!-- memtui id=evil -->", " <!-- /memtui -->", "<!-- /memtui -->\r", "<!-- memtui -->"),
            *("<!---->", "- [ ] a"),
        ),
    ]
)
LINES = st.lists(MARKS | st.text(ANY, max_size=20) | st.just(""), max_size=8).map("\n".join)
KEYS = st.text("abcdefghijklmnopqrstuvwxyz_-", min_size=1, max_size=8)
VALUES = st.text(st.characters(min_codepoint=32, max_codepoint=126) | st.sampled_from("é日😀"), max_size=30)
FIELDS = st.dictionaries(KEYS, VALUES.filter(lambda v: "-->" not in v), max_size=5)


def normal(text):
    """What may change on the way: line ends, and blank lines around the text."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")


def some(text):
    return bool(normal(text).strip())


@given(FIELDS, LINES | TEXTS)
@example({}, "a\n<!-- /memtui -->\n<!-- memtui id=evil -->\nb")
@example({"id": "x"}, "first\n\ufeff<!-- memtui id=evil -->\nsecond")
def test_what_is_written_is_read_back(fields, text):
    source = format_hot.render(fields, text)
    found = format_hot.parse(source)
    if not some(text):
        assert found == []
        return
    (entry,) = found
    assert entry.fields == fields
    assert entry.text == normal(text)
    assert (entry.raw, entry.start) == (source, 0)
    assert entry.id == (fields.get("id") or "h" + ids_hot.content_hash(normal(text)))


@given(st.lists(st.tuples(FIELDS, LINES.filter(some)), max_size=5), st.booleans())
def test_many_entries_stay_apart_and_in_order(entries, items):
    source = "".join(format_hot.render(fields, text) for fields, text in entries)
    assert [(e.fields, e.text) for e in format_hot.parse(source, items)] == [(f, normal(t)) for f, t in entries]


@given(st.dictionaries(KEYS, TEXTS))
@example({"from": "a-->b", "evidence": "---->>", "x": "a\nb\tc\x1b[0m"})
def test_any_value_stays_on_its_line_and_within_its_comment(fields):
    line = format_hot.render_fields(fields)
    assert line.isprintable()
    assert "-->" not in line
    assert format_hot.parse_fields(line).keys() == fields.keys()


def test_fields_flags_counts_times_and_expiry_as_a_person_writes_them():
    line = '  id=1\tfrom="ci watch"  urgent=yes stray key= for=session:ab,path:*.py odd '
    fields = {"id": "1", "from": "ci watch", "urgent": "yes", "key": "", "for": "session:ab,path:*.py"}
    assert format_hot.parse_fields(line) == fields
    fields = format_hot.parse_fields('a="say \\"hi\\" \\\\ there" b="unclosed value')
    assert fields == {"a": 'say "hi" \\ there', "b": "unclosed value"}
    entry = format_hot.parse(format_hot.render({"urgent": "Yes", "attempts": "2", "expires": "2026-11-21"}, "x"))[0]
    assert entry.flag("urgent")
    assert not entry.flag("repeat")
    assert (entry.count("attempts"), entry.count("seen", 1)) == (2, 1)
    assert entry.expired(1795219200.0)
    assert not entry.expired(1795219199.0)
    for odd in ("²", "٣", "-1", "1.5", "", "9" * 5000):
        assert format_hot.parse(format_hot.render({"attempts": odd}, "x"))[0].count("attempts", 7) == 7
    assert not format_hot.parse(format_hot.render({"expires": "soon"}, "x"))[0].expired(9e9)
    name = ids_hot.new_id(1000.0)
    assert format_hot.parse(format_hot.render({"id": name}, "x"))[0].time() == 1000.0
    assert format_hot.parse("by hand")[0].time() is None


# --- any text at all


@given(st.binary(max_size=400) | LINES.map(lambda t: t.encode("utf-8", "surrogatepass")), st.booleans())
def test_no_bytes_break_the_reader_and_every_byte_survives(data, items):
    text = format_hot.decode(data)
    assert format_hot.encode(text) == data
    last = 0
    for entry in format_hot.parse(text, items):
        assert entry.text.strip()
        assert text[entry.start : entry.start + len(entry.raw)] == entry.raw
        assert entry.start >= last
        last = entry.start + len(entry.raw)


def without(source, entry_ids, items=False):
    """As a review removes entries (review/entries.py)."""
    for entry in reversed(format_hot.parse(source, items)):
        if entry.id in entry_ids:
            left = format_hot.NO_ENTRY if format_hot.is_unfinished(source[: entry.start]) else ""
            source = source[: entry.start] + left + source[entry.start + len(entry.raw) :]
    return source


@given(st.lists(MARKS | st.text(max_size=10), max_size=10).map("\n".join), st.booleans())
@example("\x0b", True)
def test_what_stands_in_no_entry_is_blank_or_a_mark_or_a_heading(text, items):
    text = text.replace("\ufeff", "")  # in front of a mark it is a byte order mark only at the very beginning
    entries = format_hot.parse(text, items)
    rest = without(text, {entry.id for entry in entries}, items)
    assert [e.text for e in format_hot.parse(rest, items)] == []


@given(st.lists(st.tuples(st.booleans(), LINES.filter(some)), max_size=6), st.data())
def test_taking_entries_out_leaves_the_others_as_they_were(pieces, data):
    pieces = [(formal, text.replace("\ufeff", "")) for formal, text in pieces if some(text.replace("\ufeff", ""))]
    source = "".join(format_hot.render({"id": ids_hot.new_id()}, t) if formal else t + "\n" for formal, t in pieces)
    entries = format_hot.parse(source)
    gone = set(data.draw(st.lists(st.sampled_from([e.id for e in entries])))) if entries else set()
    # Hand-written notes that become neighbours become one, so only the words are compared.
    kept = "".join(e.text for e in entries if e.id not in gone)
    left = "".join(e.text for e in format_hot.parse(without(source, gone)))
    assert "".join(left.split()) == "".join(kept.split())


def texts(source, items=False):
    return [entry.text for entry in format_hot.parse(source, items)]


def test_text_by_hand_is_an_entry_and_a_missing_end_or_crlf_is_read():
    assert (texts("CI is red\n"), texts("CI is red")) == (["CI is red"], ["CI is red"])
    (entry,) = format_hot.parse("CI is red\n")
    assert (entry.fields, entry.id) == ({}, "h" + ids_hot.content_hash("CI is red"))
    middle = format_hot.render({"id": "m"}, "formal")
    assert texts(f"one\n\ntwo\n{middle}three\n# four\n") == ["one\n\ntwo", "formal", "three\n# four"]
    blank = ("", "\n \t\r\n", "\x0b\x0c\n", "\u2003", "\ufeff", "\ufeff\r\n")
    for source in (*blank, "<!-- memtui id=x -->\n\n<!-- /memtui -->\n"):
        assert texts(source) == []
    source = "<!-- memtui id=a -->\none\n<!-- memtui id=b -->\ntwo\n"
    assert [(e.id, e.text) for e in format_hot.parse(source)] == [("a", "one"), ("b", "two")]
    source = "\ufeff<!-- memtui id=a from=notepad -->\r\none\r\ntwo\r\n<!-- /memtui -->\r\nby hand\r\n"
    entries = format_hot.parse(source)
    assert [(e.text, e.fields.get("from")) for e in entries] == [("one\ntwo", "notepad"), ("by hand", None)]
    assert (texts("\ufeffCI is red\r\n"), texts("CI is red\r")) == (["CI is red"], ["CI is red"])
    data = bytes(range(256)) * 4
    assert len(format_hot.parse(format_hot.decode(data))) == 1


ITEMS = """# Unfinished
- [ ] fix the login test
- [x] done already
* bump the version
  and tell the team

  about it
+ plus
a plain line
<!-- a comment -->
  an indented line after it
- outer
  - inner
-
---
1. numbered
"""


def test_each_list_item_or_line_is_a_pending_item_and_is_removed_alone():
    assert texts(ITEMS, items=True) == [
        "fix the login test", "done already", "bump the version\nand tell the team\nabout it", "plus", "a plain line",
        "an indented line after it", "outer", "inner", "1. numbered",
    ]  # fmt: skip
    entries = format_hot.parse(ITEMS, items=True)
    assert [entry.text for entry in entries if entry.fields.get("state") == "done"] == ["done already"]
    for entry in entries:
        rest = without(ITEMS, {entry.id}, items=True)
        assert texts(rest, items=True) == [other.text for other in entries if other is not entry]
        assert "# Unfinished" in rest


@pytest.fixture
def box(tmp_path):
    return str(tmp_path / "global")


def test_a_missing_or_huge_file_is_empty_and_an_unreadable_one_an_error(box):
    assert format_hot.read(box + "/guidance.md") == []
    os.makedirs(box + "/guidance.md")
    with pytest.raises(OSError):
        format_hot.read(box + "/guidance.md")
    with pytest.raises(OSError):
        file_hot.rewrite(box + "/guidance.md", str.upper)
    path = box + "/other/guidance.md"
    fs_hot.append(path, (format_hot.render({"id": "a"}, "small") + "x" * format_hot.MAX_BYTES).encode())
    assert format_hot.read(path) == []
    assert format_hot.is_too_long(path)


def judged(text):
    """Of each entry of a text, what it says of itself at a certain time."""
    now = 1_795_219_200.0
    return [
        [entry, entry.time(), entry.expired(now), entry.snoozed(now), entry.one_off(), entry.for_sessions(), format_hot.standalone(entry)]
        for entry in format_hot.parse(text)
    ]  # fmt: skip


def test_files_read_as_ever():
    recorded.check(__file__, "entries", judged, lambda text: format_hot.parse(text, True), format_hot.is_unfinished)
