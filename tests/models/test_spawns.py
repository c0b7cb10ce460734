"""Headless clients: how many run at once, and how many start in a minute, across all processes."""

import contextlib
import os
import sys

import pytest

from memtui.models import backends, log
from memtui.models.call import ModelError, OwnTools, Request, Stop
from memtui.models.model import LanguageModel
from memtui.models.tool_client import ToolClient


def test_so_many_run_at_once_and_start_in_a_minute(tmp_path, monkeypatch):
    with contextlib.ExitStack() as taken:
        held = [taken.enter_context(backends.slot(str(tmp_path))) for _ in range(backends.AT_ONCE)]
        assert len({each.path for each in held}) == backends.AT_ONCE
        with pytest.raises(ModelError, check=lambda error: error.outcome == "busy"), backends.slot(str(tmp_path)):
            pass
    with backends.slot(str(tmp_path)) as again:
        assert again.path == held[0].path
    now = 1000.0
    monkeypatch.setattr(backends.time, "time", lambda: now)
    for _ in range(backends.A_MINUTE):
        backends.note_spawn(str(tmp_path))
        now += 1
    with pytest.raises(ModelError, check=lambda error: error.outcome == "busy") as caught:
        backends.note_spawn(str(tmp_path))
    assert caught.value.after == pytest.approx(backends.MINUTE - backends.A_MINUTE)
    now += caught.value.after + 0.1
    backends.note_spawn(str(tmp_path))


CLIENT = """#!{python}
import json, os, sys
files = [os.path.realpath(f"/proc/self/fd/{{each}}") for each in os.listdir("/proc/self/fd")]
print(json.dumps({{"type": "result", "structured_output": {{"words": sys.argv, "files": files, "names": sorted(os.environ)}}}}))
"""


@pytest.fixture
def asked(tmp_path):
    """What a client that stands in for the real one was started with."""
    program = tmp_path / "claude"
    program.write_text(CLIENT.format(python=sys.executable))
    program.chmod(0o700)
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s"}

    def ask(own=None):
        words = (env, str(tmp_path / "memtui"), str(program), "haiku")
        client = ToolClient(*words, own) if own else backends.Headless(*words)
        return client.call(Request("Rules.", "", "Words.", {}, 100), Stop(30.0, lambda: False)).data

    return ask


def test_a_client_is_no_part_of_the_session_that_started_it(asked):
    names = asked()["names"]
    assert "CLAUDECODE" not in names
    assert "CLAUDE_CODE_SESSION_ID" not in names
    assert {"MEMTUI_INSIDE", "CLAUDE_HEADLESS"} <= {*names}


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="the files of a process are not listed here")
def test_a_client_holds_its_place_as_long_as_it_lives(asked, tmp_path):
    assert str(tmp_path / "memtui/run/llm-client-0.lock") in asked()["files"]


@pytest.mark.parametrize(("left", "most"), [(None, "0.5000"), (7.0, "0.5000"), (0.1234, "0.1234"), (0.0, "0.0001")])
def test_a_client_with_tools_may_cost_what_is_left_of_the_day_at_most(asked, tmp_path, left, most):
    words = asked(OwnTools(print, str(tmp_path), lambda: left))["words"]
    assert words[words.index("--max-budget-usd") + 1] == most


def test_a_client_that_is_killed_counts_as_what_it_may_have_used(tmp_path):
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\nkill -9 $$\n")
    program.chmod(0o700)
    root = tmp_path / "memtui"
    root.mkdir()
    (root / "config.toml").write_text('llm_backend = "claude"\n')
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin", "HOME": str(tmp_path)}
    model = LanguageModel(env, str(root), str(root), first_wait=0.01)
    with pytest.raises(ModelError, check=lambda error: error.outcome == "cut"):
        model.ask("test", "Rules.", "Words.", {"type": "object"}, most=1000)
    (entry,) = log.newest_first(str(root))
    assert (entry.outcome, entry.usage.output) == ("cut", 1000 * entry.attempts)
    assert entry.attempts > 1
