"""In a long session, too, the subconscious knows what it noted, said and changed last."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2e.model import use
from memtui.subconscious import agent, conversations, places
from memtui.subconscious.conversations import Remark

SAID = "We deploy on Tuesdays only, never on a Friday."
KINDS = ["noted", "changed", "whispered", "asked", "replied", "looked", "refused"]
REMARKS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(1, 900)), max_size=60)


def remarks(sizes):
    return [Remark(float(n), f"r{n}", kind, f"text {n} " + "x" * size) for n, (kind, size) in enumerate(sizes)]


def numbers(text):
    return [int(each) for each in re.findall(r"^- \w+: text (\d+)", text, re.MULTILINE)]


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


def test_what_was_looked_at_is_not_told_again():
    text = agent.told_again(remarks([("noted", 100), ("looked", 5), ("whispered", 20)]))
    assert numbers(text) == [0, 2]


@given(REMARKS)
def test_the_newest_remarks_that_fit_are_told_again(sizes):
    text = agent.told_again(remarks(sizes))
    spoken = [n for n, (kind, _) in enumerate(sizes) if kind != conversations.LOOKED]
    told = numbers(text)
    assert told == spoken[len(spoken) - len(told) :]
    assert len(told) == len(spoken) or len(text) > agent.EARLIER_ALL - agent.EARLIER - 100
    assert len(text) <= agent.EARLIER_ALL + len(sizes) + 100


def test_the_last_entries_are_read_and_lines_of_a_later_memtui_are_skipped(tmp_path):
    root = str(tmp_path)
    every = [Remark(float(number), "r", conversations.NOTED, f"Turn {number}.") for number in range(3)]
    conversations.add(root, "s", every)
    with open(places.session(root, "s", "jsonl"), "a") as file:
        file.write(json.dumps({**every[0].data(), "v": 2}) + "\n")
    assert conversations.last(root, "s") == every
    assert conversations.last(root, "s", 1) == every[2:]
