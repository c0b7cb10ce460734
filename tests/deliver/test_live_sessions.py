"""Which sessions are live: those that a running client serves, by what hooks noted of it."""

import os
import posix

import pytest

from memtui.base import fastjson, fs
from memtui.client import process
from memtui.deliver import sessions

GONE = 2**22 + 1  # above the largest process id of Linux


@pytest.fixture
def root(tmp_path):
    return str(tmp_path / "memtui")


def note(root, pid, session, **more):
    fs.write_atomic(f"{root}/run/client-{pid}", fastjson.dumps({"session_id": session, **more}).encode(), durable=False)


def own():
    """This process, as the client of a hook that it starts."""
    return [os.getpid(), process._stat(os.getpid())[2], process._here()]


def test_a_session_is_live_while_its_client_runs(root):
    note(root, os.getpid(), "here", client=own())
    note(root, GONE, "gone")
    assert sessions.served(root) == {os.getpid(): "here"}
    clients = sessions.served(root)
    assert sessions.live("here", None, clients)
    assert not sessions.live("gone", None, clients)


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="only /proc tells when a process began")
def test_another_process_with_the_same_id_is_not_its_client(root):
    pid, started, machine = own()
    note(root, pid, "before", client=[pid, started + "0", machine])
    assert sessions.served(root) == {}
    note(root, pid, "elsewhere", client=[pid, started, "another machine"])
    assert sessions.served(root) == {}


def test_a_session_without_a_note_is_live_by_its_newest_delivery_unless_its_client_went_on(root):
    assert sessions.live("told", own(), {})
    assert not sessions.live("told", own(), {os.getpid(): "another"})
    assert not sessions.live("told", [GONE, "", process._here()], {})
    assert not sessions.live("told", "whatever", {})


def test_what_is_no_note_is_passed_over(root):
    os.makedirs(root + "/run/client-1")
    posix.mkfifo(f"{root}/run/client-{os.getpid()}")
    fs.write_atomic(f"{root}/run/client-x", b"{}", durable=False)
    assert sessions.served(root) == {}
    assert sessions.served(root + "/nowhere") == {}
