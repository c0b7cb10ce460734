"""In a long session, too, the subconscious knows what it noted, said and changed, and how much of it is left out."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2e.model import use
from memtui.subconscious import conversations, earlier, places
from memtui.subconscious.conversations import Remark

SAID = "We deploy on Tuesdays only, never on a Friday."
KINDS = [*sorted(earlier.KINDS), conversations.LOOKED, conversations.REFUSED]
REMARKS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(1, 900)), max_size=60)


def remarks(sizes):
    return [Remark(float(n), f"r{n}", kind, f"text {n} " + "x" * size) for n, (kind, size) in enumerate(sizes)]


def numbers(text, tag):
    inside = text.split(f"<memtui-{tag}>\n")[1].split(f"\n</memtui-{tag}>")[0] if f"<memtui-{tag}>" in text else ""
    return [int(each) for each in re.findall(r"^- \w+: text (\d+)", inside, re.MULTILINE)]


@pytest.mark.slow
def test_a_long_session_is_told_within_limits_with_what_is_left_out(read, api):
    many = [Remark(float(n), f"r{n}", "noted", f"text {n} " + "word " * 105) for n in range(100)]
    conversations.add(read.root, read.session, many)
    read.says(SAID)
    read.run(use("answer"))
    text = api.requests[0].text()
    newest, older = numbers(text, "earlier"), numbers(text, "older")
    assert newest == list(range(86, 100))
    assert older == list(range(85, 85 - len(older), -1))
    left = 100 - len(newest) - len(older)
    assert left > 0
    assert f"{left} earlier remarks are left out." in text
    lines = text.split("<memtui-older>\n")[1].split("\n</memtui-older>")[0].split("\n")
    assert all(line.endswith("…") and len(line) <= earlier.OLDER + 12 for line in lines)


@pytest.mark.slow
def test_a_change_of_a_block_whisper_and_reply_are_remembered_in_the_next_run(read, api):
    read.block("pending_items", "ship it")
    read.says(f"@memtui when? {SAID}")
    quote = "deploy on Tuesdays only"
    edits = [
        {"block": "project_context", "old": "", "new": "Deploys: Tuesdays.", "quote": quote},
        {"block": "pending_items", "old": "ship it", "new": "", "quote": quote},
        {"block": "guidance", "old": "not there", "new": "x", "quote": quote},
    ]
    whispers = [{"text": "Not on Friday.", "quote": quote}]
    read.run(
        use("answer", edits=edits, whispers=whispers, replies=[{"to": "m1", "text": "On Tuesdays."}], note="Told.")
    )
    read.says("Go on with the tests.")
    read.run(use("answer"))
    told = api.requests[1].text().split("<memtui-earlier>\n")[1].split("\n</memtui-earlier>")[0]
    assert told.split("\n") == [
        "- changed: project_context: added “Deploys: Tuesdays.”",
        "- changed: pending_items: removed “ship it”",
        "- noted: Told.",
        "- refused: a change of guidance: The old text stands 0 times in guidance; it must stand there once.",
        "- whispered: Not on Friday.",
        f"- asked: when? {SAID}",
        "- replied: On Tuesdays.",
    ]


@pytest.mark.slow
def test_a_conversation_is_kept_whole_on_disk(read):
    for number in range(300):
        note = Remark(float(number), f"r{number}", "noted", f"text {number} " + "word " * 800)
        conversations.add(read.root, read.session, [note])
    found = conversations.last(read.root, read.session)
    assert [each.run for each in found] == [f"r{number}" for number in range(300)]


def test_a_short_session_is_told_whole():
    (part,) = earlier.told(remarks([("noted", 100), ("looked", 5), ("whispered", 20)]))
    assert numbers(part, "earlier") == [0, 2]
    assert "left out" not in part
    assert earlier.told([]) == []


def test_what_was_refused_long_ago_is_not_told_again():
    told = earlier.told(remarks([("noted", 600), ("refused", 600), *[("noted", 600)] * 20]))
    older = numbers("\n".join(told), "older")
    assert older[-1] == 0
    assert 1 not in older
    assert "left out" not in told[0]


@given(REMARKS)
def test_no_remark_is_left_out_in_silence_and_the_limits_hold(sizes):
    parts = earlier.told(remarks(sizes))
    text = "\n\n".join(parts)
    newest, older = numbers(text, "earlier"), numbers(text, "older")
    spoken = [n for n, (kind, _) in enumerate(sizes) if kind != conversations.LOOKED]
    assert newest == spoken[len(spoken) - len(newest) :]
    before = [n for n in spoken[: len(spoken) - len(newest)] if sizes[n][0] in earlier.KINDS]
    assert older == before[::-1][: len(older)]
    left = len(before) - len(older)
    assert ("left out" in text) == bool(left)
    assert not left or re.search(rf"\b{left} earlier remarks? (is|are) left out", text)
    assert len(text) <= earlier.NEWEST_ALL + earlier.OLDER_ALL + 2 * len(sizes) + 300


def test_the_last_entries_are_read_and_lines_of_a_later_memtui_are_skipped(tmp_path):
    root = str(tmp_path)
    every = [Remark(float(number), "r", conversations.NOTED, f"Turn {number}.") for number in range(3)]
    conversations.add(root, "s", every)
    with open(places.session(root, "s", "jsonl"), "a") as file:
        file.write(json.dumps({**every[0].data(), "v": 2}) + "\n")
    assert conversations.last(root, "s") == every
    assert conversations.last(root, "s", 1) == every[2:]
