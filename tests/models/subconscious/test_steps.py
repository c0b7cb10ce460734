"""The steps of a run: on disk before a tool runs, and undone as one."""

import json
import os
import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from e2e.model import Reply, call, use
from memtui.base import fs_hot
from memtui.base.errors import MemtuiError
from memtui.models.subconscious import runs, trace
from memtui.models.subconscious.trace import Trace
from memtui.store.journal import undo
from memtui.store.journal.journal import Journal

TOKEN = "ghp_" + "a1B2c3D4e5" * 4


@pytest.fixture
def traced(read):
    run = runs.Run("01RUN", 1_795_000_000.0, read.session, read.slug, read.project, "Stop")
    return Trace(read.root, run, read.project)


def asks(traced, name, tool, **values):
    block = {"type": "tool_use", "id": name, "name": tool, "input": values}
    traced.hear({"type": "assistant", "message": {"content": [block]}})
    hook(traced, "PreToolUse", name, tool, tool_input=values)


def hook(traced, event, name, tool, **more):
    values = {"hook_event_name": event, "tool_use_id": name, "tool_name": tool, **more}
    traced.hear({"type": "control_request", "request": {"subtype": "hook_callback", "input": values}})


def ends(traced, name, text, failed=False):
    block = {"type": "tool_result", "tool_use_id": name, "content": text, "is_error": failed}
    traced.hear({"type": "user", "message": {"content": [block]}})


def steps(traced):
    return trace.read(traced.root, traced.run.id)


def test_a_step_is_on_disk_before_the_tool_runs_without_its_secrets(traced):
    asks(traced, "t1", "Bash", command=f"curl -H 'token: {TOKEN}' \x1b[2J x.test")
    (step,) = steps(traced)
    assert (step.tool, step.ended, step.code) == ("Bash", None, None)
    assert "curl" in step.what
    assert TOKEN not in json.dumps(step.data())
    ends(traced, "t1", f"Exit code 22\n\x1b]0;title\x07 {TOKEN}", failed=True)
    (step,) = steps(traced)
    assert (step.code, step.failed) == (22, True)
    assert "\x1b" not in step.output
    assert TOKEN.encode() not in fs_hot.read_bytes(trace.path_of(traced.root, traced.run.id), 1 << 20)
    asks(traced, "t2", "Bash", command="printf '\x1b[2J'")
    assert steps(traced)[1].what == "printf '\\x1b[2J'"


def test_all_that_a_run_changed_is_undone_as_one_step_and_nothing_else(traced, read):
    paths = {name: f"{read.project}/{name}" for name in ("a.txt", "run.sh", "mine.txt")}
    for name, path in paths.items():
        fs_hot.write_atomic(path, name.encode())
    os.chmod(paths["run.sh"], 0o755)
    asks(traced, "t1", "Bash", command="rm run.sh; echo x > a.txt")
    os.unlink(paths["run.sh"])
    fs_hot.write_atomic(paths["a.txt"], b"changed")
    hook(traced, "PostToolUse", "t1", "Bash", tool_response={})
    ends(traced, "t1", "")
    fs_hot.write_atomic(paths["mine.txt"], b"by the person")
    asks(traced, "t2", "Bash", command="true")
    hook(traced, "PostToolUse", "t2", "Bash", tool_response={})
    assert [step.files for step in steps(traced)] == [("a.txt", "run.sh"), ()]
    assert runs.newest_first(read.root)[0].files == ("a.txt", "run.sh")
    undo.run(Journal(read.root), "undo", traced.run.id)
    assert [fs_hot.read_bytes(path) for path in paths.values()] == [b"a.txt", b"run.sh", b"by the person"]
    assert stat.S_IMODE(os.stat(paths["run.sh"]).st_mode) == 0o755


@pytest.mark.parametrize("tool", sorted(trace.EDITING))
def test_what_others_change_beside_an_edit_is_not_of_it(traced, read, tool):
    path, mine = f"{read.project}/a.txt", f"{read.project}/mine.txt"
    values = {"notebook_path" if tool == "NotebookEdit" else "file_path": path}
    asks(traced, "t1", tool, **values)
    fs_hot.write_atomic(path, b"theirs")
    fs_hot.write_atomic(mine, b"mine")
    hook(traced, "PostToolUse", "t1", tool, tool_input=values)
    ends(traced, "t1", "")
    assert [step.files for step in steps(traced)] == [("a.txt",)]
    undo.run(Journal(read.root), "undo", traced.run.id)
    assert (os.path.exists(path), fs_hot.read_bytes(mine)) == (False, b"mine")


def test_what_a_command_changes_beside_an_edit_is_of_the_run(traced, read):
    values = {"file_path": f"{read.project}/a.txt"}
    asks(traced, "t1", "Bash", command="echo x > b.txt")
    asks(traced, "t2", "Write", **values)
    for name in ("a.txt", "b.txt"):
        fs_hot.write_atomic(f"{read.project}/{name}", b"theirs")
    hook(traced, "PostToolUse", "t2", "Write", tool_input=values)
    hook(traced, "PostToolUse", "t1", "Bash", tool_response={})
    assert runs.newest_first(read.root)[0].files == ("a.txt", "b.txt")


def test_a_file_that_changed_since_is_left_alone_by_the_undo(traced, read):
    asks(traced, "t1", "Bash", command="echo x > a.txt")
    fs_hot.write_atomic(f"{read.project}/a.txt", b"theirs")
    hook(traced, "PostToolUse", "t1", "Bash", tool_response={})
    fs_hot.write_atomic(f"{read.project}/a.txt", b"mine since")
    assert undo.run(Journal(read.root), "undo", traced.run.id).failed
    assert fs_hot.read_bytes(f"{read.project}/a.txt") == b"mine since"


def test_what_goes_on_in_the_background_counts_for_the_command(traced, read):
    asks(traced, "t1", "Bash", command="sleep 1; echo x > late.txt", run_in_background=True)
    hook(traced, "PostToolUse", "t1", "Bash", tool_response={"backgroundTaskId": "b1"})
    ends(traced, "t1", "It runs.")
    fs_hot.write_atomic(f"{read.project}/late.txt", b"x")
    traced.close()
    assert steps(traced)[0].files == ("late.txt",)


def test_a_file_that_a_tool_names_has_a_version_outside_of_the_project_too(traced, read, tmp_path):
    outside = tmp_path / "elsewhere.txt"
    outside.write_text("before")
    asks(traced, "t1", "Edit", file_path=str(outside), old_string="before", new_string="after")
    outside.write_text("after")
    hook(traced, "PostToolUse", "t1", "Edit", tool_response={})
    undo.run(Journal(read.root), "undo", traced.run.id)
    assert outside.read_text() == "before"


def test_a_file_with_a_secret_has_no_version(traced, read):
    asks(traced, "t1", "Bash", command="env > a.txt")
    fs_hot.write_atomic(f"{read.project}/a.txt", f"token = {TOKEN}\n".encode())
    hook(traced, "PostToolUse", "t1", "Bash", tool_response={})
    assert steps(traced)[0].files == ("a.txt: it holds a secret, no version",)
    assert traced.run.unversioned == ("a.txt: it holds a secret",)


def test_where_a_step_cannot_be_noted_the_tool_does_not_run(traced, read):
    fs_hot.write_atomic(f"{read.root}/subconscious/steps", b"in the way")
    with pytest.raises(MemtuiError, match="steps"):
        asks(traced, "t1", "Bash", command="touch a.txt")


def test_a_service_without_web_search_is_named_with_the_way_out(read, api):
    read.settings('llm_backend = "api"', 'subconscious = "full"', 'subconscious_tools = "read + web"')
    read.says("We deploy on Tuesdays only, never on a Friday.")
    run = read.run(Reply([], status=400))
    assert (run.outcome, run.tools) == ("rejected", "read + web")
    assert "memtui config set subconscious_tools read-only" in run.why
    assert [tool["name"] for tool in api.requests[0].body["tools"]] == ["answer", "web_search"]


def test_a_search_of_the_web_is_a_step_and_is_repeated_nowhere(read, api):
    read.settings('llm_backend = "api"', 'subconscious = "full"', 'subconscious_tools = "read + web"')
    read.says("We deploy on Tuesdays only, never on a Friday.")
    found = [{"type": "web_search_result", "title": "Of pages", "url": "https://x.test", "encrypted_content": "e"}]
    run = read.run(
        call(
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "what is new"}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": found},
            use("answer", note="Of pages https://x.test"),
        )
    )
    (step,) = trace.read(read.root, run.id)
    assert (step.what, step.output, step.failed) == ("what is new", "Of pages https://x.test", False)
    assert run.note == "", "what the web says is not repeated"
    read.settings('llm_backend = "api"', 'subconscious = "full"')
    read.says("And never before nine.")
    read.run(use("answer", note="Noted."))
    assert [tool["name"] for tool in api.requests[-1].body["tools"]] == ["answer"]


@given(st.lists(st.binary(max_size=60) | st.sampled_from([b'{"v":1,"id":"t"}', b'{"v":1,"id":3}', b"[]"]), max_size=5))
def test_damaged_lines_of_steps_are_passed_over(tmp_path_factory, lines):
    root = str(tmp_path_factory.mktemp("root"))
    good = b'{"v":1,"id":"t1","time":"2026-11-30T08:00:00Z","tool":"Bash","what":"true"}'
    fs_hot.write_atomic(trace.path_of(root, "r"), b"\n".join([*lines, b"", good, b'{"v":1,"id":"t2","wh']))
    assert "true" in [step.what for step in trace.read(root, "r")]
