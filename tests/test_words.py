"""One idea, one word: what keys, problems and screens say, without words that mean the same as another."""

import re
from pathlib import Path

import pytest

from memtui import keymap
from memtui.base import findings
from memtui.cli import parser
from memtui.settings import setting
from memtui.tui.widgets.lines import TABS
from tables import rows

REPO = Path(__file__).parents[1]
SNAPSHOTS = REPO / "tests" / "tui" / "snapshots"
# A word that nobody reads, and the one that stands for it. Names of files and fields on disk keep theirs.
FORBIDDEN = rows(__file__, "FORBIDDEN")


def action_texts():
    """The keys' words, and the titles of the palette."""
    return {each.id: f"{each.footer} {each.name} {each.help}" for each in keymap.ACTIONS}


def problem_texts():
    """What is wrong, and what to do about it."""
    return {code: " ".join(filter(None, kind[:2])) for code, kind in findings.REGISTRY.items()}


def screens():
    """The screens of the demo, as they are drawn."""
    return {path.name: path.read_text().partition("-- styles --")[0] for path in SNAPSHOTS.glob("*.txt")}


@pytest.mark.parametrize("texts", [action_texts, problem_texts, screens])
def test_nothing_is_called_by_a_word_that_another_one_stands_for(texts):
    collected = texts()
    assert len(collected) > 20
    said = [
        f"{name}: {match[0]!r}, say {better!r}"
        for name, text in collected.items()
        for word, better in FORBIDDEN.items()
        for match in re.finditer(rf"(?i)(?<![\w./-])({word})(?![\w-]|\.md)", text)
    ]
    assert said == []


def test_a_type_never_stands_beside_a_scope_without_a_word_between():
    types = "user|feedback|project|reference|tool"
    beside = re.compile(rf"\b({types}) · (global|project|auto|team|agent)\b")
    assert {name: match[0] for name, text in screens().items() if (match := beside.search(text))} == {}


def test_the_product_is_small_enough_to_hold_in_the_head():
    assert len(parser.COMMANDS) <= 28
    assert len(keymap.ACTIONS) <= 75
    # An action's other keys are names for the same: arrows beside letters, ctrl+q in forms.
    assert len({each.keys.partition(",")[0] for each in keymap.ACTIONS if each.keys}) <= 35
    assert len(TABS) == 4
    assert len(setting.FIRST) <= 12


def test_the_readme_is_short_and_its_pictures_and_pages_exist():
    text = (REPO / "README.md").read_text()
    assert len(re.sub(r"<[^>]+>", "", text).split()) <= 750
    assert len(re.findall(r"^- \*\*", text, re.MULTILINE)) == 6, "what it does, in six points"
    assert len(re.findall(r"`[^`]+`", text.partition("| key |")[2].partition("\n\n")[0])) == 10
    links = re.findall(r"(?:\]\(|src=\"|srcset=\")([^)#\"]+)", text)
    assert len(links) > 8
    assert [link for link in links if not (REPO / link).exists()] == []
