"""What a screen does in moments that come between others, and what it says of a row, without a terminal."""

from types import SimpleNamespace

import pytest

from memtui.tui.screens.inbox.chosen import Chosen
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.screens.memories.reader import MemoryReader
from memtui.views.decisions import DRAFT, Decision


@pytest.mark.parametrize(
    ("count", "words"), [(1, "1 draft: enter shows or hides it."), (2, "2 drafts: enter shows or hides them.")]
)
def test_a_row_that_folds_others_says_how_they_are_shown(count, words):
    folds = tuple(Decision(key=str(number), kind=DRAFT) for number in range(count))
    chosen = SimpleNamespace(table=SimpleNamespace(row=SimpleNamespace(folds=folds)))
    assert Chosen._why_fold(chosen) == f"This row folds {words}"


@pytest.mark.parametrize(("is_running", "is_attached"), [(False, True), (True, False), (True, True)])
def test_a_screen_closed_before_its_first_paint_reads_nothing(is_running, is_attached):
    calls = []
    screen = SimpleNamespace(
        is_running=is_running, frame=SimpleNamespace(foot=SimpleNamespace(is_attached=is_attached)),
        services=SimpleNamespace(files=SimpleNamespace(has_read=True)), reload=lambda: calls.append("read"), then=None,
    )  # fmt: skip
    ListScreen._reload_if_open(screen)
    assert calls == ["read"] * (is_running and is_attached)


def test_memories_that_change_while_they_are_read_are_read_once_more():
    readings, reader = [], MemoryReader.__new__(MemoryReader)
    vars(reader).update(_worker=None, _again=False, _read=lambda: None)
    reader.screen = SimpleNamespace(
        run_worker=lambda run, **_: readings.append(run) or run, call_later=lambda end: end()
    )
    reader.reload()
    reader.reload()
    assert len(readings) == 1
    readings[0]()
    assert len(readings) == 2
