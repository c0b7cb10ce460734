"""The list of sessions: counted once, then followed; titles and receipts looked up apart; bounded in what it holds."""

import json
import os

import pytest

from memtui.core.base import clock, ids, session_state
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries import sessions as session_module
from memtui.core.deliveries.reading import Receipts
from memtui.core.deliveries.sessions import SessionList

NOW = clock.parse("2026-11-21T12:00:00Z")


@pytest.fixture
def env(tmp_path):
    return {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": f"{tmp_path}/claude", "MEMTUI_HOME": f"{tmp_path}/memtui"}


@pytest.fixture
def sessions(env):
    return SessionList(env, lambda: NOW, Receipts(env, lambda: NOW))


def add(env, session, number, **more):
    seconds = NOW - 10_000 + number
    items = [{"kind": "guidance", "id": f"n{number}"}]
    record = {"v": 1, "id": ids.new_id(seconds), "time": clock.iso(seconds), "session_id": session, "items": items}
    record |= {"event": "UserPromptSubmit", "text": f"words {number}", "chars": 8, "project": "-p", **more}
    delivery_log.append(env["MEMTUI_HOME"], record, seconds)


def counts(sessions):
    return {row.id: row.deliveries for row in sessions.rows()}


def test_what_is_appended_is_added_without_reading_the_log_again(env, sessions, monkeypatch):
    for number in range(5):
        add(env, f"s{number % 2}", number)
    sessions.count()
    assert list(counts(sessions).items()) == [("s0", 3), ("s1", 2)]
    monkeypatch.setattr(delivery_log, "lines", lambda *_: pytest.fail("the log is read again"))
    add(env, "s1", 6)
    add(env, "s2", 7)
    sessions.count()
    assert list(counts(sessions).items()) == [("s2", 1), ("s1", 3), ("s0", 3)]
    assert [told.delivery.text for told in sessions.told("s1")] == ["words 6", "words 3", "words 1"]


def test_a_log_that_was_replaced_is_counted_anew(env, sessions):
    for number in range(5):
        add(env, "s", number)
    sessions.count()
    (path,) = delivery_log.months(env["MEMTUI_HOME"])
    os.unlink(path)
    add(env, "t", 9)
    sessions.count()
    assert counts(sessions) == {"t": 1}


def test_counting_that_was_stopped_begins_again(env, sessions, monkeypatch):
    monkeypatch.setattr(session_module, "LINES_AT_ONCE", 2)
    for number in range(5):
        add(env, "s", number)
    sessions.count(lambda _: False)
    assert counts(sessions) == {"s": 2}
    sessions.count()
    assert counts(sessions) == {"s": 5}


def test_of_a_long_log_the_newest_deliveries_are_held_and_all_are_counted(env, sessions, monkeypatch):
    monkeypatch.setattr(session_module, "KEPT", 3)
    for number in range(5):
        add(env, "s", number)
    sessions.count()
    assert counts(sessions) == {"s": 5}
    assert [told.delivery.text for told in sessions.told("s")] == ["words 4", "words 3", "words 2"]


def test_only_so_much_of_the_log_is_counted_and_that_is_told(env):
    for number in range(50):
        add(env, "s", number)
    sessions = SessionList(env, lambda: NOW, Receipts(env, lambda: NOW), most=2000)
    sessions.count()
    assert sessions.older
    assert 0 < counts(sessions)["s"] < 50


def test_a_session_that_was_told_nothing_is_listed_by_its_state(env, sessions):
    path = f"{env['CLAUDE_CONFIG_DIR']}/projects/-p/idle.jsonl"
    os.makedirs(os.path.dirname(path))
    with open(path, "w") as file:
        file.write(json.dumps({"type": "user", "gitBranch": "wip", "message": {"content": "hello there"}}) + "\n")
    os.utime(path, (NOW - 60, NOW - 60))
    state = {"started": clock.iso(NOW - 3600), "project": "-p", "project_root": "/p", "transcript": path}
    session_state.save(env["MEMTUI_HOME"], "idle", state)
    sessions.count()
    sessions.look_up(["idle", "nobody"])
    (row,) = sessions.rows()
    assert (row.title, row.branch, row.deliveries, row.transcript) == ("hello there", "wip", 0, path)
    assert (row.started, row.last) == (NOW - 3600, NOW - 60), "its transcript has grown since"


def test_receipts_are_counted_once_looked_up(env, sessions):
    add(env, "s", 1)
    sessions.count()
    (row,) = sessions.rows()
    assert not row.looked_up
    assert row.counts.total == 0
    assert sessions.look_up(["s"])
    (row,) = sessions.rows()
    assert row.counts.unknown == 1
    assert not sessions.look_up(["s"]), "nothing is new"


def test_torn_and_foreign_lines_are_passed_over(env, sessions):
    add(env, "s", 1)
    add(env, "", 2)
    (path,) = delivery_log.months(env["MEMTUI_HOME"])
    with open(path, "a") as file:
        file.write('{"v": 1, "torn\n[]\n{"v": 99}\n')
    sessions.count()
    assert counts(sessions) == {"s": 1}
