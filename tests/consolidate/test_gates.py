"""The gates before an unattended dream, each by itself, and as Setup tells them."""

import os

import pytest

from memtui.consolidate import gates
from memtui.core.base import fs
from memtui.core.base.errors import ConflictError
from memtui.core.health import findings

NOW = 1_795_000_000.0
HOUR = 3600.0


@pytest.fixture
def root(tmp_path):
    fs.write_atomic(f"{tmp_path}/config.toml", b"dream = true\n")
    return str(tmp_path)


def seen(root, count, at):
    for number in range(count):
        for name in (f"s{number}.json", f"s{number}.cursor.json"):
            path = f"{root}/sessions/{name}"
            fs.write_atomic(path, b"{}")
            os.utime(path, (at, at))


def state(root, now=NOW):
    return {name: name not in gates.closed(root, now) for name in ("time", "throttle", "sessions", "lock")}


def dreamt(root, at):
    with gates.held(root, at):
        pass


def test_at_first_only_sessions_are_missing(root):
    assert state(root) == {"time": True, "throttle": True, "sessions": False, "lock": True}
    seen(root, 4, NOW)
    assert not gates.open_now(root, NOW)
    seen(root, 5, NOW)
    assert gates.open_now(root, NOW + 601)


def test_a_day_passes_between_two(root):
    dreamt(root, NOW)
    assert gates.last(root) == NOW
    seen(root, 9, NOW + HOUR)
    assert state(root, NOW + 23 * HOUR) == {"time": False, "throttle": True, "sessions": True, "lock": True}
    assert not gates.open_now(root, NOW + 23 * HOUR)
    assert gates.open_now(root, NOW + 24 * HOUR)


def test_sessions_before_the_last_do_not_count(root):
    seen(root, 9, NOW - HOUR)
    dreamt(root, NOW)
    assert not state(root, NOW + 48 * HOUR)["sessions"]


def test_sessions_are_looked_at_every_ten_minutes(root):
    assert not gates.open_now(root, NOW)
    seen(root, 5, NOW)
    assert not gates.open_now(root, NOW + 599)
    assert gates.open_now(root, NOW + 600)


def test_the_lock_is_that_of_a_living_process_and_expires(root):
    with gates.held(root, NOW):
        assert not state(root, NOW + 59 * 60)["lock"]
        assert state(root, NOW + 61 * 60)["lock"]
    assert state(root, NOW)["lock"]
    fs.write_atomic(gates.lock_path(root), b"999999999 %d" % (NOW - 30 * HOUR))
    os.utime(gates.lock_path(root), (NOW, NOW))
    assert state(root, NOW)["lock"]
    assert gates.last(root) == NOW - 30 * HOUR  # that of one that was killed is none


def test_after_an_hour_another_may_begin_although_the_first_still_lives(root):
    with gates.held(root, NOW):
        with pytest.raises(ConflictError), gates.held(root, NOW + 59 * 60):
            pass
        with gates.held(root, NOW + 61 * 60):
            pass
        assert gates.last(root) == NOW + 61 * 60


def test_the_end_of_the_first_leaves_the_lock_to_the_other(root):
    with gates.held(root, NOW):
        fs.write_atomic(gates.lock_path(root), b"1 0.0")
        os.utime(gates.lock_path(root), (NOW + 61 * 60, NOW + 61 * 60))
    assert not state(root, NOW + 62 * 60)["lock"]


def test_one_that_fails_does_not_count(root):
    with pytest.raises(ValueError, match="x"), gates.held(root, NOW):
        raise ValueError("x")
    assert gates.last(root) == 0
    dreamt(root, NOW)
    with pytest.raises(ValueError, match="x"), gates.held(root, NOW + 48 * HOUR):
        raise ValueError("x")
    assert gates.last(root) == NOW


def told(root, now):
    return [findings.message(each) for each in gates.check(root, now)]


def test_health_says_what_each_waits_for(root):
    assert told(root, NOW) == ["5 sessions more to wait for"]
    seen(root, 5, NOW + 1)
    assert told(root, NOW) == ["after the next turn (none so far)"]
    dreamt(root, NOW)
    assert told(root, NOW + 2 * HOUR) == ["at most once a day: in 22h at the soonest (the last 2h ago)"]
    gates.open_now(root, NOW + 25 * HOUR)
    assert told(root, NOW + 25 * HOUR) == ["the next look for new sessions in 10m"]
    with gates.held(root, NOW + 30 * HOUR):
        assert f"process {os.getpid()} is at it" in told(root, NOW + 30 * HOUR)
    fs.write_atomic(f"{root}/config.toml", b"dream = false\n")
    assert told(root, NOW + 32 * HOUR) == ["only when you ask (the last 2h ago)"]
