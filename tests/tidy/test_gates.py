"""The gates before an unattended dream, each by itself."""

import os

import pytest

from memtui.base import fs_hot
from memtui.base.errors import ConflictError
from memtui.tidy import gates

NOW = 1_795_000_000.0
HOUR = 3600.0


@pytest.fixture
def root(tmp_path):
    fs_hot.write_atomic(f"{tmp_path}/config.toml", b"dream = true\n")
    return str(tmp_path)


def seen(root, count, at):
    for number in range(count):
        for name in (f"s{number}.json", f"s{number}.cursor.json"):
            path = f"{root}/sessions/{name}"
            fs_hot.write_atomic(path, b"{}")
            os.utime(path, (at, at))


def dreamt(root, at):
    with gates.held(root, at):
        pass


def test_at_first_only_sessions_are_missing(root):
    assert gates.sessions_missing(root) == 5
    seen(root, 4, NOW)
    assert not gates.begin(root, NOW)
    seen(root, 5, NOW)
    assert gates.begin(root, NOW)


def test_a_day_passes_between_two(root):
    dreamt(root, NOW)
    assert gates.last(root) == NOW
    seen(root, 9, NOW + HOUR)
    assert not gates.begin(root, NOW + 23 * HOUR)
    assert gates.begin(root, NOW + 24 * HOUR)


def test_one_that_fails_is_begun_again_after_ten_minutes(root):
    seen(root, 5, NOW)
    assert gates.begin(root, NOW)
    assert not gates.begin(root, NOW + 599)
    assert gates.begin(root, NOW + 600)


def test_one_is_at_it_at_a_time(root):
    with gates.held(root, NOW), pytest.raises(ConflictError), gates.held(root, NOW + 1):
        pass
    dreamt(root, NOW + 2)
    assert gates.last(root) == NOW + 2
