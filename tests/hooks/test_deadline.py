"""A hook is done well before the client gives up on it: what takes too long is broken off, and nothing is lost."""

import json
import os
import shutil
import subprocess
import time

import pytest
from launching import LAUNCHER, PYTHON, Reply

from memtui.client.agents.program import PROGRAM
from memtui.hooks import runner_hot
from waiting import eventually

# Of the copy that the tests slow down: seconds of patience, and altogether.
SHORT = "PATIENCE, LONGER = (1.5, 6.0), (1.5, 6.0)"
SLOW = "\n    __import__('time').sleep(60)\n"


@pytest.fixture
def slow(home, tmp_path):
    """Runs hooks of a copy of memtui in which some functions do not come to an end."""
    package = tmp_path / "copy" / "memtui"
    shutil.copytree(LAUNCHER.parents[1], package)  # compiled, or a busy machine takes its time for that
    source = (package / "hooks" / "runner_hot.py").read_text()
    assert "PATIENCE, LONGER = (1.5, 3.5), (3.0, 7.0)" in source
    (package / "hooks" / "runner_hot.py").write_text(source.replace("PATIENCE, LONGER = (1.5, 3.5), (3.0, 7.0)", SHORT))

    source = (package / "hooks" / "worker_start_hot.py").read_text()
    assert "PATIENCE, MOST = 60.0, 240.0" in source
    (package / "hooks" / "worker_start_hot.py").write_text(source.replace("60.0, 240.0", "4.0, 40.0"))

    def run(event, *places, source=SLOW, **more):
        for file, function in places:
            path = package / file
            lines = path.read_text().split("\n")
            at = next(n for n, line in enumerate(lines) if line.startswith(f"def {function}("))
            while not lines[at].endswith(":"):
                at += 1
            lines.insert(at + 1, source.strip("\n"))
            path.write_text("\n".join(lines))
        launcher = str(package / "hooks" / "launch.py")
        done = subprocess.run(
            [PYTHON, "-I", "-S", launcher, event], input=json.dumps(home.payload(event, **more)).encode(), env=home.env,
            capture_output=True, check=False, timeout=30,
        )  # fmt: skip
        return Reply(event, done)

    return run


def errors(home):
    return [error["error"] for error in home.errors()]


def test_every_deadline_is_well_inside_the_clients():
    for event, _, _, seconds in PROGRAM.events:
        *_, (patience, most) = runner_hot.EVENTS[event]
        assert 2 * patience <= most <= 0.7 * seconds


@pytest.mark.slow
@pytest.mark.parametrize(
    "place",
    [("inbox/reconciliation_hot.py", "reconcile"), ("hooks/lists_hot.py", "updates"), ("hooks/lists_hot.py", "items")],
)
def test_what_is_slow_keeps_no_guidance_from_the_prompt(home, slow, place):
    home.guide("earlier")
    home.prompt()
    home.guide("said")
    home.leave("updates", "draft")
    home.leave("items", "item")
    said = slow("UserPromptSubmit", place, session="s2" if place[1] != "reconcile" else "s1").context
    assert "said" in said
    assert ("draft" in said, set(errors(home))) == (place[1] != "updates", {"LateError"})


@pytest.mark.slow
def test_memory_changes_that_take_too_long_come_with_a_later_prompt(home, slow):
    home.remember("one")
    home.start()
    home.remember("two")
    home.guide("said")
    said = slow("UserPromptSubmit", ("store/catalog_hot.py", "look")).context
    assert "said" in said
    assert "two" not in said
    assert "two" in home.prompt().context


@pytest.mark.slow
def test_an_index_that_takes_too_long_leaves_the_line_for_the_person(home, slow):
    home.remember("one")
    said = slow("SessionStart", ("store/catalog_hot.py", "look"))
    assert said.message.startswith("memtui: ")
    assert said.context == ""


@pytest.mark.slow
@pytest.mark.parametrize("event", ["UserPromptSubmit", "PreToolUse"])
def test_guidance_that_was_taken_and_could_not_be_given_in_time_goes_back(home, slow, event):
    home.guide("said", urgent="yes")
    assert slow(event, ("deliver/blocks_hot.py", "compose")).raw == b""
    assert (home.waiting(), home.log()) == (["said"], [])
    assert "said" in home.prompt().context


@pytest.mark.slow
def test_a_hook_that_can_not_be_broken_off_ends(home, slow):
    home.guide("said")
    stubborn = """
    while True:
        try:
            __import__('time').sleep(60)
        except Exception:
            pass
"""
    assert slow("UserPromptSubmit", ("hooks/prompt_hot.py", "_add_lists"), source=stubborn).raw == b""
    assert errors(home) == ["LateError"]
    assert "altogether" in home.errors()[0]["message"]
    # Its guidance is still there: the claim is settled once its delivery is seen not to have arrived.
    (claimed,) = os.listdir(home.boxes["project"] / "claimed")
    assert "said" in (home.boxes["project"] / "claimed" / claimed).read_text()


@pytest.mark.slow
def test_what_was_printed_is_logged_however_long_that_takes(home, slow):
    home.guide("said")
    source = "\n    __import__('time').sleep(2)\n"
    assert "said" in slow("UserPromptSubmit", ("deliver/log_file_hot.py", "append"), source=source).context
    assert (home.blocks()[0][0], errors(home)) == ("guidance", [])


@pytest.mark.slow
def test_a_worker_step_that_takes_too_long_is_broken_off_and_the_next_run(home, slow):
    home.guide("said")
    home.prompt()
    assert slow("Stop", ("inbox/reconciliation_hot.py", "reconcile"), last_assistant_message="").raw == b""
    assert eventually((home.root / "run" / "tidied").exists)
    assert [(error["error"], error["where"]) for error in home.errors()] == [("LateError", "Stop: reconcile")]


@pytest.mark.slow
def test_input_that_never_ends_is_not_waited_for(home, tmp_path):
    read, write = os.pipe()
    before = time.monotonic()
    try:
        done = subprocess.run(
            [PYTHON, "-I", "-S", str(LAUNCHER), "PreToolUse"], stdin=read, env=home.env, capture_output=True,
            check=False, timeout=30,
        )  # fmt: skip
    finally:
        os.close(write)
        os.close(read)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert time.monotonic() - before >= runner_hot.EVENTS["PreToolUse"][-1][0]
    assert errors(home) == ["LateError"]
