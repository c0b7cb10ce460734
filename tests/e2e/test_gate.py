"""The agent of the real client writes a memory: what becomes of it behind each of the three gates."""

import pytest

from memtui.base import paths_hot
from waiting import eventually

from .model import use

pytestmark = pytest.mark.client

MEMORY = """---
name: use-uv
description: Tools are installed with uv
metadata:
  type: project
---
Install tools with uv, never with pip.
"""


def write(on, model, path, text):
    """Have the agent write a file; what the model is told of it, in the transcript's words."""
    model.will(use("Write", file_path=str(path), content=text), "Done.")
    run = on.claude("remember that tools are installed with uv", "--allowedTools", "Write,Edit")
    return run, run.main[-1].tool_results()[-1]


@pytest.fixture
def path(on):
    return on.root.parent / "projects" / paths_hot.slug(str(on.project)) / "memory" / "use-uv.md"


def changed(on):
    return on.memtui_json("inbox", "--kind", "changed")["entries"]


def test_shown_it_is_written_and_waits_to_be_seen_with_session_and_prompt(on, model, path):
    first, _ = write(on, model, path, MEMORY)
    assert "uv" in path.read_text()
    (row,) = eventually(lambda: changed(on))
    assert (row["name"], row["change"], row["by"]) == ("use-uv", "new", "agent")
    assert (row["session"], row["prompt_text"]) == (first.session_id, "remember that tools are installed with uv")
    assert "+Install tools with uv, never with pip." in row["diff"]
    on.memtui("approve", "use-uv")
    assert changed(on) == []
    model.will(
        use("Read", file_path=str(path)),
        use("Edit", file_path=str(path), old_string="never with pip", new_string="never with npm"),
        "Done.",
    )
    on.claude("not with npm either", "--allowedTools", "Read,Write,Edit", resume=first.session_id)
    assert "never with npm" in path.read_text()
    (row,) = eventually(lambda: changed(on))
    assert (row["change"], row["by"], row["prompt_text"]) == ("edited", "agent", "not with npm either")
    on.memtui("reject", "use-uv")
    assert "never with pip" in path.read_text()
    assert (changed(on), on.errors()) == ([], [])


@pytest.mark.client(always=True)
def test_asked_it_is_refused_becomes_a_draft_and_the_agent_goes_on(on, model, path):
    on.memtui("config", "set", "gate", "ask")
    run, told = write(on, model, path, MEMORY)
    assert "draft" in told
    assert not path.exists()
    assert (run.returncode, run.stdout.strip()) == (0, "Done.")
    assert any("Not written: memtui keeps" in str(row) for row in run.transcript())
    (entry,) = [e for e in on.memtui_json("inbox")["entries"] if e["kind"] == "draft"]
    assert entry["fields"]["session"] == run.session_id
    on.memtui("approve", entry["id"])
    assert "Install tools with uv, never with pip." in path.read_text()
    assert (changed(on), on.errors()) == ([], [])
