"""Which deliveries the conversation has gone on without, by the tree of the transcript's records."""

import json

import pytest

from memtui.inbox import redelivery

ONE, TWO, THREE = (f"01K8ZC5N8W3M1T9Q6V2R4B7XA{letter}" for letter in "DEF")


def row(kind, name, parent, **more):
    return {"type": kind, "uuid": name, "parentUuid": parent, "isSidechain": False, **more}


def given(name, parent, *deliveries):
    text = "".join(f'<memtui-pending-updates delivery="{each}">x</memtui-pending-updates>' for each in deliveries)
    found = {"type": "hook_additional_context", "content": [text], "hookEvent": "UserPromptSubmit"}
    return row("attachment", name, parent, attachment=found)


BEGIN = [row("user", "p1", None), given("c1", "p1", ONE), row("assistant", "r1", "c1")]
GOES_ON = [*BEGIN, row("user", "p2", "r1"), given("c2", "p2", TWO), row("assistant", "r2", "c2")]
REWOUND = [*GOES_ON, row("user", "p3", "r1"), given("c3", "p3", THREE), row("assistant", "r3", "c3")]


@pytest.fixture
def look(tmp_path):
    path = tmp_path / "s.jsonl"

    def write(*rows, known="", names=(ONE, TWO, THREE)):
        path.write_bytes(b"".join(json.dumps(each).encode() + b"\n" for each in rows))
        return redelivery.left_behind(str(path), set(names), known)

    return write


def test_what_is_above_the_last_record_is_in_context_and_beside_it_is_not(look):
    assert look(*GOES_ON) == (set(), "r2")
    assert look(*REWOUND) == ({TWO}, "r3")
    # The very first prompt was taken back.
    assert look(*BEGIN, row("user", "p9", None), row("assistant", "r9", "p9")) == ({ONE}, "r9")


def test_a_conversation_that_went_on_is_read_back_to_where_it_was(look):
    assert look(*REWOUND, row("user", "p4", "r3"), row("assistant", "r4", "p4"), known="r3") == (set(), "r4")
    assert look(*REWOUND, row("user", "p4", "r2"), row("assistant", "r4", "p4"), known="r3") == ({THREE}, "r4")


def test_what_a_compaction_summed_up_was_not_left(look):
    boundary = row("system", "b", None, subtype="compact_boundary", logicalParentUuid="not there")
    assert look(*REWOUND, boundary, row("user", "s", "b"), row("assistant", "r4", "s")) == (set(), "r4")


def test_a_subagent_s_records_and_those_without_a_place_are_no_part_of_it(look):
    inner = row("assistant", "x", None, isSidechain=True)
    assert look(*REWOUND, inner, {"type": "last-prompt", "leafUuid": "r3"}) == ({TWO}, "r3")
    assert look({"type": "user", "uuid": "u"}, {"type": "summary"}) == (set(), "")
    assert redelivery.left_behind("/no/such/file", {ONE}, "") == (set(), "")
