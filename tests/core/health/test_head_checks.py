"""Heads that the client reads otherwise than they are meant are found, and fixed without losing a key or a word."""

import pytest

from memtui.core.frontmatter import document
from memtui.core.health import head_checks
from memtui.core.memories import memory

EXPORT = "---\nname: x\ndescription: The export runs at 02:00\nmetadata:\n  type: reference\n---\n\nText.\n"


def codes(data):
    return {
        each.code: each.data["certain"]
        for each in head_checks.of_memory(memory.from_bytes("/m/x.md", "auto", data), {})
    }


@pytest.mark.parametrize(
    ("code", "text", "result"),
    [
        ("two_heads", "---\npermalink: p/x\n---\n\n" + EXPORT, EXPORT.replace("---\n", "---\npermalink: p/x\n", 1)),
        (
            "two_heads",
            "---\nname: x\nmetadata:\n  node_type: memory\n---\n---\ndescription: d\nmetadata:\n  type: user\n---\nText.\n",
            "---\nname: x\ndescription: d\nmetadata:\n  node_type: memory\n  type: user\n---\nText.\n",
        ),
        (
            "two_heads",
            "---\r\na: b\r\n---\r\n---\r\nname: x\r\n---\r\nText.\r\n",
            "---\r\na: b\r\nname: x\r\n---\r\nText.\r\n",
        ),
        (
            "cut_head",
            "---\nname: x\ndescription: phase 1 --- phase 2\n# -----\ntype: user\n---\n\nText --- more.\n",
            "---\nname: x\ndescription: phase 1 — phase 2\n# —\ntype: user\n---\n\nText --- more.\n",
        ),
        (
            "cut_head",
            "---\ndescription: >\n  one\n  two --- three\n---\nx\n",
            "---\ndescription: >\n  one\n  two — three\n---\nx\n",
        ),
        ("rule_head", "---\nA text below a rule.\n\n---\nMore.\n", "***\nA text below a rule.\n\n---\nMore.\n"),
        ("rule_head", "---\n\nA table:\n\n| a |\n|---|\n", "***\n\nA table:\n\n| a |\n|---|\n"),
    ],
)
def test_a_head_that_the_client_reads_otherwise_is_a_problem_and_is_fixed_without_loss(code, text, result):
    data = text.encode()
    assert codes(data) == {f"memories.{code}": True}
    made = head_checks.fixed(data, {f"memories.{code}"})
    assert made.decode() == result
    assert codes(made) == {}
    assert document.parse(made).broken is None


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("two_heads", "---\nname: x\n---\n---\nname: y\n---\nText.\n"),
        ("cut_head", "---\nname: x\nverify: grep a---b in *.md\n---\nText.\n"),
    ],
)
def test_what_only_a_person_can_decide_is_a_problem_and_stays_as_it_is(code, text):
    assert codes(text.encode()) == {f"memories.{code}": False}
    assert head_checks.fixed(text.encode(), {f"memories.{code}"}) == text.encode()


@pytest.mark.parametrize(
    "text",
    [
        EXPORT,
        EXPORT + "\n---\n\nMore below a rule.\n",
        "---\nname: x\n---\n\n---\nA line between rules: nothing else\n---\nText.\n",
        "Text.\n\n---\n\nMore.\n\n---\n",
        "---\nA rule at the top alone.\n",
        "---\n---\nText.\n",
    ],
)
def test_rules_in_a_text_are_no_heads(text):
    assert codes(text.encode()) == {}
