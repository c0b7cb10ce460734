"""Whatever is in its files, and however it ends, the subconscious reads on, and leaves nothing behind."""

import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from e2e.model import PATIENCE, Reply
from memtui.deliver import error_log_hot
from memtui.models.subconscious import block_files_hot, control, runs
from memtui.views import models
from tables import rows
from waiting import eventually

from .test_run_process import SAID, answer, edit

WORDS = [sys.executable, "-m", "memtui.models.subconscious.run_process"]
RUN = {"id": "r1", "time": "2026-11-26T12:00:00Z"}


@pytest.mark.parametrize(
    "state",
    [
        {"answer": {}},
        {"answer": 7},
        {"answer": {"run": RUN, "edits": [["guidance"]]}},
        {"answer": {"run": {**RUN, "session": "s", "project": "p", "cwd": "/", "event": "Stop"}, "edits": [7, ["a"]]}},
        {"answer": {"run": {**RUN, "whispers": [7, {}, {"id": "w", "text": 1}]}, "edits": 7}},
        {"mentions": [{}, 7, {"id": "m1"}], "answer": None, "in_vain": "x"},
        {"offset": "x", "conversation": [], "mentions": {}},
    ],
)
def test_a_state_of_another_shape_is_no_obstacle(read, state):
    read.says(SAID)
    os.makedirs(block_files_hot.home(read.root) + "/sessions", exist_ok=True)
    control.save(read.root, read.session, state)
    assert read.run(answer(edits=[edit()])).outcome == "done"
    assert read.blocks.text("project_context")


@pytest.mark.parametrize(("row", "after"), rows(__file__, "a row of the log is read as far as it is one"))
def test_a_row_of_the_log_is_read_as_far_as_it_is_one(row, after):
    run = runs.read({"v": 1, **RUN, **row})
    told = run and [run.data(), run.remarks(), run.settled(1.8e9).outcome, run.blocks, len(run.answers)]
    assert json.loads(json.dumps(told)) == after


def test_an_error_that_nobody_thought_of_is_logged(read):
    os.makedirs(read.root + "/log", exist_ok=True)
    subprocess.run(WORDS, input=json.dumps({**read.payload, "session_id": "x"}).encode() + b"x", env=read.env)
    subprocess.run(WORDS, input=json.dumps({**read.payload, "cwd": "a\0b"}).encode(), env=read.env)
    assert [row["where"] for row in error_log_hot.newest_first(read.root)]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGALRM, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_ended_ends_its_client(read, number):
    read.client(f"sleep 600 &\necho $$ $! > {read.base}/pids.new\nmv {read.base}/pids.new {read.base}/pids\nwait")
    read.settings('llm_backend = "claude"', 'subconscious = "full"')
    read.says(SAID)
    process = subprocess.Popen(WORDS, stdin=subprocess.PIPE, env={**os.environ, **read.env})
    process.stdin.write(json.dumps(read.payload).encode())
    process.stdin.close()
    assert eventually((read.base / "pids").exists)
    process.send_signal(number)
    assert process.wait(10) == (-number if number == signal.SIGKILL else 0)
    for pid in map(int, (read.base / "pids").read_text().split()):
        assert eventually(lambda pid=pid: ended(pid))
    assert read.calls == [("subconscious", "begun" if number == signal.SIGKILL else "cancelled")]


def ended(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@pytest.mark.slow
@pytest.mark.parametrize("line", ['subconscious = "off"', 'llm_backend = "off"', 'mode = "off"'])
@pytest.mark.parametrize("comes", [True, False])
def test_what_is_answered_after_it_was_switched_off_is_dropped(read, line, comes):
    read.says(SAID)
    on = dict(each.split(" = ") for each in ('llm_backend = "api"', 'subconscious = "full"'))
    off = [f"{key} = {value}" for key, value in {**on, **dict([line.split(" = ")])}.items()]
    asked, ended = threading.Event(), threading.Event()

    def until():
        if not asked.is_set():
            asked.set()
            read.settings(*off)
        return comes or ended.is_set()

    run = read.run(Reply([answer(edits=[edit()])], until=until))
    ended.set()
    assert (run.outcome, read.blocks.text("project_context")) == ("cancelled", "")
    assert run.seconds < PATIENCE, "it does not wait for the answer"
    read.settings('llm_backend = "api"', 'subconscious = "full"')
    assert read.run(answer(edits=[edit()])).outcome == "done", "what was said is read again"


@pytest.mark.slow
def test_a_run_is_under_way_while_its_process_is_and_no_longer_than_it_may(read):
    read.settings('llm_backend = "api"', 'subconscious = "full"', "llm_timeout = 600")
    read.says(SAID)
    run = read.run(answer())
    assert run.limit == 6 * 600 + 120
    begun = runs.Run("r", 0.0, "s", "p", "/", "Stop", limit=run.limit, process=run.process)
    assert begun.settled(1000.0) is begun
    assert begun.settled(4000.0).outcome == "stopped"
    pid, start, place = run.process
    for process in ((pid, "1", place), ("4194305", "", place)):
        assert replace(begun, process=process).settled(0.0).outcome == "stopped"
    for process in ((pid, "1", "elsewhere"), (), ("x",), ("7",), (place, pid, start)):
        assert replace(begun, process=process).settled(0.0).outcome == "begun", "nothing is known of its process"


@pytest.mark.slow
def test_a_worker_killed_while_it_asks_is_told_and_the_next_reads_on(read, api):
    read.says(SAID, "Understood.")
    api.will(Reply([answer()], until=lambda: process.poll() is not None))
    process = subprocess.Popen(WORDS, stdin=subprocess.PIPE, env={**os.environ, **read.env})
    process.stdin.write(json.dumps(read.payload).encode())
    process.stdin.close()
    assert eventually(lambda: api.requests)
    assert [run.outcome for run in read.runs] == ["begun"]
    process.kill()
    process.wait(10)
    (run,) = read.runs
    assert (run.outcome, models.ended(run)[0]) == ("stopped", "ended without an answer")
    assert models.did(run) == "memtui's worker was stopped; what it was to read is read after the next turn"
    read.says("Go on.", "It is built.")
    assert read.run(answer(edits=[edit()])).outcome == "done"
    assert [api.requests[-1].text().count(words) for words in (SAID, "Go on.")] == [1, 1]
    assert read.run() is None
    assert ([run.outcome for run in read.runs], len(api.requests)) == (["done", "stopped"], 2)
