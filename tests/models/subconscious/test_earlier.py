"""In a long session, too, the subconscious knows what it noted, said and changed last."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2e.model import use
from memtui.models.subconscious import agent, runs

SAID = "We deploy on Tuesdays only, never on a Friday."
RUNS = st.lists(
    st.tuples(st.sampled_from(["noted", "changed", "whispered", "looked", "refused"]), st.integers(1, 900)), max_size=60
)


def run(number, kind, size):
    """A run that did one thing."""
    text = f"text {number} " + "x" * size
    whisper = runs.Whisper(f"w{number}", text)
    did = {
        "noted": {"note": text},
        "changed": {"changes": (text,)},
        "looked": {"looks": (text,)},
        "refused": {"refused": (text,)},
    }.get(kind, {"whispers": (whisper,)})
    return runs.Run(f"r{number}", float(number), "s", "p", "/", "Stop", outcome="done", **did)


def numbers(text):
    return [int(each) for each in re.findall(r"^- \w+: text (\d+)", text, re.MULTILINE)]


@pytest.mark.every(step=1)
def test_a_block_change_whisper_and_reply_are_remembered_in_the_next_run(read, api):
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
        *("- changed: pending_items: removed “ship it”", "- noted: Told."),
        "- refused: a change of guidance: The old text stands 0 times in guidance; it must stand there once.",
        *("- whispered: Not on Friday.", f"- asked: when? {SAID}", "- replied: On Tuesdays."),
    ]


def test_what_was_looked_at_is_not_told_again_and_later_rows_are_skipped(tmp_path):
    assert numbers(agent.told_again([run(2, "whispered", 20), run(1, "looked", 5), run(0, "noted", 100)])) == [0, 2]
    every = [run(number, "noted", 5) for number in range(3)]
    for each in every:
        runs.append(str(tmp_path), each)
    with open(runs.path(str(tmp_path)), "a") as file:
        file.write(json.dumps({**every[0].data(), "id": "later", "v": 2}) + "\n")
    assert runs.newest_first(str(tmp_path), session="s") == every[::-1]
    assert runs.newest_first(str(tmp_path), 1) == every[2:]


@given(RUNS)
def test_the_newest_remarks_that_fit_are_told_again(sizes):
    text = agent.told_again([run(n, kind, size) for n, (kind, size) in enumerate(sizes)][::-1])
    spoken = [n for n, (kind, _) in enumerate(sizes) if kind != "looked"]
    told = numbers(text)
    assert told == spoken[len(spoken) - len(told) :]
    assert len(told) == len(spoken) or len(text) > agent.EARLIER_ALL - agent.EARLIER - 100
    assert len(text) <= agent.EARLIER_ALL + len(sizes) + 100
