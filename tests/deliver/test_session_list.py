"""The sessions by the delivery log and their states; titles are looked up apart."""

import json
import os
import posix

import pytest

from memtui.base import clock_hot, fastjson_hot, fs_hot, session_state_hot
from memtui.client import process_hot
from memtui.client.transcripts import transcript_hot
from memtui.deliver import log_hot, sessions
from recalls import deliver

NOW = clock_hot.parse("2026-11-21T12:00:00Z")


@pytest.fixture
def env(tmp_path):
    return {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": f"{tmp_path}/claude", "MEMTUI_HOME": f"{tmp_path}/memtui"}


def add(env, session, number, **more):
    seconds = NOW - 10_000 + number
    text = {"event": "UserPromptSubmit", "text": f"words {number}", "chars": 8, "project": "-p"}
    item = {"kind": "guidance", "id": f"n{number}"}
    deliver(env["MEMTUI_HOME"], seconds, item, **{"session_id": session, **text, **more})


def collected(env, skipped=None, most=0):
    return sessions.collect(env["MEMTUI_HOME"], log_hot.newest_first(env["MEMTUI_HOME"], skipped, most=most))


def test_the_session_with_the_newest_record_comes_first(env):
    for number in range(5):
        add(env, f"s{number % 2}", number)
    assert [(each.id, each.deliveries) for each in collected(env)] == [("s0", 3), ("s1", 2)]


def test_a_long_session_looks_up_its_newest_deliveries_and_counts_all(env, monkeypatch):
    monkeypatch.setattr(sessions, "PROOFS", 3)
    for number in range(5):
        add(env, "s", number)
    (session,) = collected(env)
    assert session.deliveries == 5
    assert [each.time - NOW + 10_000 for each in session.proofs] == [4, 3, 2]


def test_a_session_that_got_nothing_is_listed_by_its_state(env):
    path = f"{env['CLAUDE_CONFIG_DIR']}/projects/-p/idle.jsonl"
    os.makedirs(os.path.dirname(path))
    with open(path, "w") as file:
        file.write(json.dumps({"type": "user", "gitBranch": "wip", "message": {"content": "hello there"}}) + "\n")
    os.utime(path, (NOW - 60, NOW - 60))
    state = {"started": clock_hot.iso(NOW - 3600), "project": "-p", "project_root": "/p", "transcript": path}
    session_state_hot.SessionState(env["MEMTUI_HOME"], "idle", state).save()
    (session,) = collected(env)
    session.look({}, NOW)
    assert (session.title, session.looked_up) == ("", False)
    assert (session.started, session.last) == (NOW - 3600, NOW - 60), "its transcript has grown since"
    session.look_up(transcript_hot.Finder(env["CLAUDE_CONFIG_DIR"]))
    assert (session.title, session.branch, session.deliveries, session.transcript) == ("hello there", "wip", 0, path)


GONE = 2**22 + 1  # above the largest process id of Linux


@pytest.fixture
def root(tmp_path):
    return str(tmp_path / "memtui")


def note(root, pid, session, **more):
    fs_hot.write_atomic(
        f"{root}/run/client-{pid}", fastjson_hot.dumps({"session_id": session, **more}).encode(), durable=False
    )


def own():
    """This process, as the client of a hook that it starts."""
    return [os.getpid(), process_hot._stat(os.getpid())[2], process_hot._here()]


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="only /proc tells when a process began")
def test_another_process_with_the_same_id_is_not_its_client(root):
    pid, started, machine = own()
    note(root, pid, "before", client=[pid, started + "0", machine])
    assert sessions.served(root) == {}
    note(root, pid, "elsewhere", client=[pid, started, "another machine"])
    assert sessions.served(root) == {}


def test_a_session_is_live_while_its_client_runs_it_and_no_odd_note_counts(root):
    os.makedirs(root + "/run/client-1")
    posix.mkfifo(f"{root}/run/client-{os.getpid()}")
    fs_hot.write_atomic(f"{root}/run/client-x", b"{}", durable=False)
    assert (sessions.served(root), sessions.served(root + "/nowhere")) == ({}, {})
    note(root, os.getpid(), "here", client=own())
    note(root, GONE, "gone")
    assert sessions.served(root) == {os.getpid(): "here"}
    clients = sessions.served(root)
    assert sessions.live("here", None, clients)
    assert not sessions.live("gone", None, clients)
    assert sessions.live("told", own(), {})
    assert not sessions.live("told", own(), {os.getpid(): "another"})
    assert not sessions.live("told", [GONE, "", process_hot._here()], {})
    assert not sessions.live("told", "whatever", {})
