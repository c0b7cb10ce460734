"""Headless clients: how many run at once, and how many start in a minute, across all processes."""

import contextlib

import pytest

from memtui.core.base import fs
from memtui.llm import errors, headless


def test_so_many_run_at_once(tmp_path):
    with contextlib.ExitStack() as taken:
        held = [taken.enter_context(headless.slot(str(tmp_path))) for _ in range(headless.AT_ONCE)]
        assert len({each.path for each in held}) == headless.AT_ONCE
        with pytest.raises(errors.BusyError), headless.slot(str(tmp_path)):
            pass
    with headless.slot(str(tmp_path)) as again:
        assert again.path == held[0].path


def test_so_many_start_in_a_minute(tmp_path, monkeypatch):
    now = 1000.0
    monkeypatch.setattr(headless.time, "time", lambda: now)
    for _ in range(headless.A_MINUTE):
        headless.note_spawn(str(tmp_path))
        now += 1
    with pytest.raises(errors.BusyError) as caught:
        headless.note_spawn(str(tmp_path))
    assert caught.value.retryable
    assert caught.value.after == pytest.approx(headless.MINUTE - headless.A_MINUTE)
    now += caught.value.after + 0.1
    headless.note_spawn(str(tmp_path))


def test_a_damaged_count_is_begun_again(tmp_path):
    fs.append(str(tmp_path / "run/llm-spawns.json"), b'{"times": [true, "x"')
    headless.note_spawn(str(tmp_path))
    assert b"times" in (tmp_path / "run/llm-spawns.json").read_bytes()
