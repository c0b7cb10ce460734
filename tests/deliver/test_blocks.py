"""What is put before the model: within its budget, whole entries, in tags that no content can leave."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recorded
from base.test_visible import LENIENT, TEXTS
from memtui.base import visible_hot
from memtui.deliver import blocks_hot, record
from memtui.deliver.record import LONGEST, Delivery
from memtui.deliver.record import titles as found_titles
from tables import rows

TAGS = st.sampled_from(sorted(blocks_hot.TAGS.values()))
PARTS = st.lists(st.tuples(TEXTS | st.integers(0, 900).map("x".__mul__), TEXTS), max_size=8)
ATTRIBUTES = st.dictionaries(st.sampled_from(["scope", "source", "from"]), TEXTS)
BLOCKS = st.lists(st.tuples(TAGS, ATTRIBUTES, TEXTS, PARTS, st.integers(0, 3)), max_size=5)
ID = "01K8ZC5N8W3M1T9Q6V2R4B7XAD"


def utf16(text):
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def build(drawn):
    blocks, number = [], 0
    for tag, attributes, intro, drawn_parts, unlisted in drawn:
        parts = []
        for text, label in drawn_parts[: 1 if tag == blocks_hot.TAGS["guidance"] else None]:
            number += 1
            parts.append(blocks_hot.Part(f"[{number}]{text}[/{number}]", label, {"kind": tag, "id": str(number)}))
        more = 0 if tag == blocks_hot.TAGS["guidance"] else unlisted
        blocks.append(blocks_hot.Block(tag, attributes, intro, parts, more))
    return [block for block in blocks if block.parts]


@given(TEXTS)
def test_length_is_counted_as_the_client_counts_it(text):
    assert blocks_hot.units(text) == utf16(text)


@pytest.mark.slow
@given(BLOCKS, st.integers(500, 9800))
def test_no_blocks_exceed_the_budget_leave_their_tags_or_are_cut(drawn, budget):
    blocks = build(drawn)
    text, items, left_out = blocks_hot.compose(blocks, budget, ID)
    assert utf16(text) <= budget
    # Every part is in the text whole, or among what is left out.
    parts = [part for block in blocks for part in block.parts]
    delivered = {str(item["id"]) for item in items if "left_out" not in item}
    assert delivered | {part.item["id"] for part in left_out} == {part.item["id"] for part in parts}
    assert not delivered & {part.item["id"] for part in left_out}
    for part in parts:
        assert (part.text in text) == (part.item["id"] in delivered) or not part.text
        if part.item["id"] in delivered:
            (item,) = [item for item in items if item.get("id") == part.item["id"]]
            assert item["chars"] == utf16(part.text)
    # Whatever the content, the tags are ours, in pairs, and each names the delivery.
    marks = LENIENT.findall(text)
    opened = re.findall(r"^<(memtui-[a-z-]+)((?: [a-z]+=\"[^\"<>\n]*\")*)>$", text, re.MULTILINE)
    closed = re.findall(r"^</(memtui-[a-z-]+)>$", text, re.MULTILINE)
    assert [tag for tag, _ in opened] == closed
    assert len(marks) == len(opened) + len(closed)
    assert all(f' delivery="{ID}"' in attributes and ' time="20' in attributes for _, attributes in opened)
    # The number of what was left out is told and logged.
    told = sum(int(number) for number in re.findall(r"^\((\d+) more left out for lack of room", text, re.MULTILINE))
    logged = sum(item.get("count", 1) for item in items if "left_out" in item)
    unlisted = sum(block.unlisted for block in blocks)
    assert logged == len(left_out) + unlisted
    assert told <= logged


def lists(*sizes):
    def block(name, size):
        item = {"kind": "index", "scope": name}
        parts = [blocks_hot.Part(f"- {name} {n}", f"{name}{n}", item) for n in range(size)]
        return blocks_hot.Block(blocks_hot.TAGS["index"], {"scope": name}, "Intro.", parts)

    return [block(name, size) for name, size in zip("abc", sizes, strict=False)]


def guidance(size):
    part = blocks_hot.Part("g" * size, "g", {"kind": "guidance", "id": size})
    return blocks_hot.Block(blocks_hot.TAGS["guidance"], {}, "", [part])


def test_guidance_comes_first_then_each_list_up_to_the_budget():
    text, _, left_out = blocks_hot.compose(lists(500, 3, 500), 3000, ID)
    assert 'scope="a"' in text
    assert "- b 0\n- b 1\n- b 2\n" in text
    assert re.search(r'scope="c".*\(\d+ more left out for lack of room: c\d+, ', text, re.DOTALL)
    assert len(left_out) > 500
    assert blocks_hot.units(text) > 2500
    blocks = [guidance(300), guidance(2000), guidance(100), *lists(50)]
    text, items, left_out = blocks_hot.compose(blocks, 1600, ID)
    assert [part.item["id"] for part in left_out if part.item["kind"] == "guidance"] == [2000]
    assert "g" * 300 in text
    assert "g" * 301 not in text
    assert {"kind": "guidance", "id": 2000, "left_out": "no room"} in items
    assert blocks_hot.compose([], 9000, ID) == ("", [], [])
    assert blocks_hot.compose([blocks_hot.Block("memtui-index", {}, "Intro.", [])], 9000, ID)[0] == ""
    for size in range(300, 340):
        text, _, left_out = blocks_hot.compose([guidance(size)], 400, ID)
        assert bool(text) != bool(left_out)
        if text:
            assert blocks_hot.units(text) <= 400


def test_what_was_told_is_read_back_from_a_delivery():
    texts = ["line one\n\nline three </memtui-guidance> <memtui-x>", 'with "quotes" > and <b>']
    blocks, items = [], []
    for number, text in enumerate(texts):
        item = {"kind": "guidance", "id": f"id-{number}", "scope": "project", "reason": "urgent"}
        part = blocks_hot.Part(text, text, item)
        fields = {"id": f"id-{number}", "from": 'ci "watch" <x>'}
        blocks.append(blocks_hot.Block(blocks_hot.TAGS["guidance"], fields, "Note left.", [part]))
        items.append(item)
    whole, logged, _ = blocks_hot.compose(blocks, 9000, "delivery-1")
    found = record.notes_of(Delivery({"text": whole, "items": logged}))
    assert [each.text for each in found] == [visible_hot.clean(text) for text in texts]
    assert (found[0].sender, found[0].reason) == ('ci "watch" <x>', "urgent")


@pytest.mark.parametrize(
    ("reason", "fields"), rows(__file__, "a delivered note tells for whom it was and whether it was urgent")
)
def test_a_delivered_note_tells_for_whom_it_was_and_whether_it_was_urgent(reason, fields):
    delivery = Delivery({"session_id": "5f0c1a2b"})
    assert record.Note(delivery, "id", "text", "cli", "project", reason).fields == fields


# --- of what was delivered, a person sees the first words, not an id


DELIVERED = "01M7AQ3DA2333N6G4SCKBMDDSF"
LINES = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf", "Co", "Cn"]), min_size=1, max_size=30)


def titles(*given, budget=9000):
    text, items, _ = blocks_hot.compose(list(given), budget, DELIVERED)
    return found_titles(text, [each for each in Delivery({"items": items}).items if not each.left_out])


def block(kind, scope, *texts):
    parts = [
        blocks_hot.Part(text, text, {"kind": kind, "id": f"{scope}{number}", "scope": scope})
        for number, text in enumerate(texts)
    ]
    return blocks_hot.Block(blocks_hot.TAGS[kind], {"scope": scope, "source": "/a"}, "What this list is.", parts)


def note(name, text):
    part = blocks_hot.Part(text, text, {"kind": "guidance", "id": name, "scope": "project"})
    return blocks_hot.Block(blocks_hot.TAGS["guidance"], {"id": name}, "Note left by the user.", [part])


def test_notes_drafts_and_items_are_called_by_their_words_changed_or_not():
    assert titles(
        note("g1", "CI is red:\nfix it first"),
        block(
            "pending-update", "project", "- [preference, 2d ago] Ask before a migration\n  - Show the SQL.", "- [x] Two"
        ),
        block("pending-update", "global", "- [correction, said 3 times, 1d ago] Use uv"),
        block("pending-item", "project", "- [ ] Fix the flaky test (once) (session 7c1e55a0, 2d ago)"),
    ) == ["CI is red:", "Ask before a migration", "Two", "Use uv", "Fix the flaky test (once)"]
    assert titles(
        block(
            "pending-update",
            "project",
            "+ - [preference, 2d ago] New one",
            "- - [note, 1d ago] Old words\n+ - [note, 1d ago] New words",
            "- - [note, 1d ago] A third (approved, rejected or withdrawn since)",
        )
    ) == ["New one", "New words", "A third"]


@given(st.lists(LINES, min_size=1, max_size=5), st.lists(LINES, max_size=3))
def test_each_title_is_that_of_its_own_item_whatever_the_texts_are(drafts, more):
    """Also of characters that are two UTF-16 code units."""
    shown = [f"- [note, 1d ago] {text}\n  - [x] another line" for text in drafts]
    items = [f"- [ ] {text} (hand-written)" for text in more]
    found = titles(block("pending-update", "project", *shown), *([block("pending-item", "a", *items)] if items else []))
    assert len(found) == len(drafts) + len(more)
    for title, text in zip(found, [*drafts, *more], strict=True):
        words = visible_hot.one_line(visible_hot.clean(text))
        # What follows decides whether a bracket is escaped; here nothing does.
        assert title.replace("&lt;", "<") == words.replace("&lt;", "<") or len(words) > LONGEST


def test_budgets_are_filled_as_ever():
    def filled(blocks, budget):
        made = [
            blocks_hot.Block(tag, fields, intro, [blocks_hot.Part(*part) for part in parts], unlisted)
            for tag, fields, intro, parts, unlisted in blocks
        ]
        sizes = [block.size("01K8ZC5N8W3M1T9Q6V2R4B7XAD") for block in made]
        composed = blocks_hot.compose(made, budget, "01K8ZC5N8W3M1T9Q6V2R4B7XAD")
        return [sizes, composed, blocks_hot.least(made), [blocks_hot.repeated(block) for block in made][:1]]

    recorded.check(__file__, "budgets", filled)
    recorded.check(__file__, "differences", blocks_hot.difference)
