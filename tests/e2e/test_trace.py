"""What the subconscious does with tools, by the real client and by the API, is told step by step, and can be undone."""

import os
import signal
from pathlib import Path

import pytest

from memtui.base import paths_hot
from waiting import eventually

from .model import call, structured, use
from .test_subconscious import SAID, is_subconscious, on_runs, reads_along

pytestmark = pytest.mark.client
SECRET = "sk-ant-api03-" + "k7Qz9mX2" * 12


def does(model, *steps, note="Done."):
    """Let the subconscious take these steps, then answer."""
    rest = [*steps]
    model.script = lambda request: (
        "I have built the release, as you wanted me to."
        if not is_subconscious(request)
        else rest.pop(0)
        if rest
        else structured(request, note=note)
    )


def allowed(on, *tools):
    reads_along(on, "claude", subconscious_tools="full")
    on.allow(*tools)


def readers(on):
    """The processes that read the session, or wait for their turn."""
    home = f"HOME={on.home}".encode()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words, environment = (Path(f"/proc/{name}/{part}").read_bytes() for part in ("cmdline", "environ"))
        except OSError:
            continue
        if b"run_process" in words and home in environment:
            yield int(name)


@pytest.mark.every(of=4)
def test_commands_of_the_full_tier_are_told_with_exit_code_and_undone(on, model):
    allowed(on, "Bash(sh:*)", "Bash(touch:*)", "Edit", "Write")
    (on.project / "a.txt").write_text("one\n")
    (on.project / "big.bin").write_bytes(b"\0" * 10)
    does(
        model,
        use("Read", file_path=str(on.project / "a.txt")),
        use("Edit", file_path=str(on.project / "a.txt"), old_string="one", new_string="two"),
        use("Bash", command="sh -c 'echo three > c.txt; printf x >> big.bin; echo gone wrong >&2; exit 3'"),
        use("Bash", command=f"touch d.txt && sh -c 'printf \"\\033[31mred {SECRET}\"'"),
        use("Bash", command="git push"),
    )
    on.claude(SAID)
    assert eventually(lambda: on_runs(on)), on.errors()
    (run,) = on_runs(on)
    assert run["outcome"] == "done"
    assert [(step["tool"], step["code"], step["failed"]) for step in run["steps"]] == [
        ("Read", None, False),
        ("Edit", None, False),
        ("Bash", 3, True),
        ("Bash", 0, False),
        ("Bash", None, True),
    ]
    assert [step["files"] for step in run["steps"]] == [
        [],
        ["a.txt"],
        ["c.txt", "big.bin: not text, no version"],
        ["d.txt"],
        [],
    ]
    assert "gone wrong" in run["steps"][2]["output"]
    assert "\\x1b[31mred" in run["steps"][3]["output"] or "[31mred" in run["steps"][3]["output"]
    written = b"".join(path.read_bytes() for path in on.root.rglob("*") if path.is_file())
    assert SECRET.encode() not in written
    assert (run["files"], run["unversioned"]) == (["a.txt", "c.txt", "d.txt"], ["big.bin: not text"])
    assert on.memtui_json("activity")["runs"][0]["steps"] == run["steps"]
    on.memtui("undo", run["id"], "--yes", check=False)
    assert (on.project / "a.txt").read_text() == "one\n"
    assert not (on.project / "c.txt").exists()
    assert on.errors() == []


@pytest.mark.every(of=4)
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_that_is_killed_has_told_what_it_did_until_then(on, model, number):
    allowed(on, "Bash(sh:*)")
    does(
        model,
        use("Bash", command="sh -c 'echo one > a.txt'"),
        use("Bash", command="sh -c 'echo two > b.txt; sleep 60'"),
    )
    on.claude(SAID)
    assert eventually((on.project / "b.txt").exists), on.errors()
    for process in readers(on):
        os.kill(process, number)
    assert eventually(on.workers_ended), "its client, and the command of that, end with it"
    (run,) = on.memtui_json("model", "log", "--runs")["runs"]
    assert [(step["what"], step["code"]) for step in run["steps"]] == [
        ("sh -c 'echo one > a.txt'", 0),
        ("sh -c 'echo two > b.txt; sleep 60'", None),
    ]
    is_told = number == signal.SIGTERM
    assert (run["outcome"], run["files"]) == (("failed", ["a.txt", "b.txt"]) if is_told else ("stopped", ["a.txt"]))
    assert run["steps"][1]["ended"] is None
    on.memtui("undo", run["id"], "--yes", check=False)
    assert not (on.project / "a.txt").exists()


@pytest.mark.every(of=4)
def test_what_others_change_beside_a_command_is_not_undone_with_it(on, model):
    allowed(on, "Bash(sh:*)")
    (on.project / "mine.txt").write_text("mine\n")

    def edits(request):
        (on.project / "mine.txt").write_text("mine, later\n")
        return use("Bash", command="sh -c 'echo theirs > theirs.txt'")

    steps = [use("Bash", command="sh -c true"), edits]

    def script(request):
        if not is_subconscious(request):
            return "I have built the release, as you wanted me to."
        step = steps.pop(0) if steps else structured(request, note="Done.")
        return step(request) if callable(step) else step

    model.script = script
    on.claude(SAID)
    assert eventually(lambda: on_runs(on)), on.errors()
    (run,) = on_runs(on)
    assert (run["files"], (on.project / "mine.txt").read_text()) == (["theirs.txt"], "mine, later\n")


@pytest.mark.every(of=4)
def test_memories_that_it_writes_by_its_tools_wait_in_the_inbox(on, model):
    allowed(on, "Bash(sh:*)", "Read", "Edit", "Write")
    known = on.remember("use-pnpm", "The web repository uses pnpm 9")
    own = on.config / "projects" / paths_hot.slug(str(on.project)) / "memory" / "deploy-days.md"
    own.parent.mkdir(parents=True)
    on.memtui("inbox")
    before = known.read_text()
    text = "---\nname: deploy-days\ndescription: Deploys happen on Tuesdays\n---\n\nDeploys happen on Tuesdays.\n"
    does(
        model,
        use("Write", file_path=str(own), content=text),
        use("Bash", command=f"sh -c 'echo Never npm. >> \"{known}\"'"),
    )
    on.claude(SAID)
    assert eventually(lambda: on_runs(on)), on.errors()
    (run,) = on_runs(on)
    assert [step["failed"] for step in run["steps"]] == [False, False]
    assert [
        path.endswith("deploy-days.md: a memory, which has versions of its own") for path in run["unversioned"]
    ] == [True]
    changed = {each["name"]: each for each in on.memtui_json("inbox")["entries"] if each["kind"] == "changed"}
    told = {name: (each["change"], each["scope"]) for name, each in changed.items()}
    assert told == {"deploy-days": ("new", "auto"), "use-pnpm": ("edited", "global")}
    for each in changed.values():
        on.memtui("reject", each["id"])
    assert (known.read_text(), own.exists()) == (before, False)
    assert [each for each in on.memtui_json("inbox")["entries"] if each["kind"] == "changed"] == []
    assert on.errors() == []


@pytest.mark.every(of=4)
@pytest.mark.parametrize("backend", ["api", "claude"])
def test_looks_and_web_searches_are_steps_of_the_web_tier_alone(on, model, backend):
    reads_along(on, backend, subconscious_tools="read + web")
    (on.project / "a.txt").write_text("one\n")
    asked = []

    def script(request):
        names = [tool["name"] for tool in request.body.get("tools", [])]
        if names == ["web_search"]:  # the client's own request for a search
            return [{"type": "text", "text": "Nothing was found."}]
        if not is_subconscious(request):
            return "I have built the release, as you wanted me to."
        asked.append(names)
        if len(asked) == 1:
            if backend == "api":
                found = [
                    {"type": "web_search_result", "title": "News", "url": "https://x.test", "encrypted_content": "e"}
                ]
                return call(
                    {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "what is new"}},
                    {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": found},
                    structured(request, looks=[{"tool": "Read", "path": "a.txt"}]),
                )
            return use("WebSearch", query="what is new")
        if len(asked) == 2 and backend == "claude":
            return structured(request, looks=[{"tool": "Read", "path": "a.txt"}])
        return structured(request, note="Done.")

    model.script = script
    on.claude(SAID)
    assert eventually(lambda: on_runs(on)), on.errors()
    (run,) = on_runs(on)
    assert (run["outcome"], run["tools"]) == ("done", "read + web"), run
    assert "Bash" not in {name for names in asked for name in names}
    search, look = run["steps"]
    assert (search["tool"], search["what"]) == ("web_search" if backend == "api" else "WebSearch", "what is new")
    assert search["ended"], search
    assert (look["tool"], look["what"], look["output"]) == ("Read", "a.txt", "one")
    assert on.errors() == []
