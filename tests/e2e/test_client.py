"""What memtui's design takes for granted about the client. A newer client that fails here needs a new look at the hooks."""

import json
import re
import sys

import pytest

from memtui.hooks import session_start_hot
from waiting import eventually

from .model import call, say, use

pytestmark = pytest.mark.client(facts=True)

PRELUDE = "import json, os, sys, time; payload = json.loads(sys.stdin.read()); event = payload['hook_event_name']\n"
ANSWER = "print(json.dumps({'hookSpecificOutput': {'hookEventName': event, 'additionalContext': f'CTX-{event}-{TEXT}'}}), flush=True)\n"


@pytest.fixture
def hook(world):
    """Install a throw-away hook: `hook("Stop", "code")`; a second call adds another. `TEXT` in it is its number."""
    settings = {"hooks": {}}

    def add(event, code=ANSWER, **fields):
        number = sum(len(v) for v in settings["hooks"].values())
        path = world.base / f"hook {number}.py"
        path.write_text(PRELUDE + f"TEXT = {number}\n" + code)
        command = f"exec '{sys.executable}' -I -S '{path}'"
        settings["hooks"].setdefault(event, []).append({"hooks": [{"type": "command", "command": command, **fields}]})
        world.settings(settings)

    return add


def found(request):
    return re.findall(r"CTX-\w+-\d+", request.text())


def test_contexts_of_four_events_reach_the_model_once(world, model, hook):
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"):
        hook(event)
    model.will(use("Bash", command="echo hello"), "bye")
    run = world.claude("hi", "--allowedTools", "Bash")
    assert (run.stdout, found(run.main[0])) == ("bye", ["CTX-SessionStart-0", "CTX-UserPromptSubmit-1"])
    assert found(run.main[1]) == [
        "CTX-SessionStart-0",
        "CTX-UserPromptSubmit-1",
        "CTX-PreToolUse-2",
        "CTX-PostToolUse-3",
    ]
    assert run.main[1].tool_results() == ["hello"]
    texts = [a["content"] for a in run.attachments("hook_additional_context")]
    assert sorted(texts) == sorted([c] for c in found(run.main[1]))


@pytest.mark.parametrize(
    ("ending", "taken"), [("sys.exit(1)", True), ("os.kill(os.getpid(), 9)", True), ("time.sleep(9)", False)]
)
def test_a_context_counts_once_printed_unless_the_hook_is_late(world, hook, ending, taken):
    hook("UserPromptSubmit", ANSWER + ending, timeout=1)
    run = world.claude("hi")
    assert (len(run.main), found(run.main[0])) == (1, ["CTX-UserPromptSubmit-0"] if taken else [])
    assert bool(run.attachments("hook_cancelled")) is not taken


@pytest.mark.parametrize(("size", "whole"), [(10_000, True), (10_001, False)])
def test_the_cap_is_ten_thousand_units_for_each_hook(world, hook, size, whole):
    hook("UserPromptSubmit", ANSWER.replace("f'CTX-{event}-{TEXT}'", f"('CTX-x-1' + 'y' * {size})[:{size}]"))
    hook("UserPromptSubmit", ANSWER.replace("f'CTX-{event}-{TEXT}'", "'CTX-x-2' + 'z' * 9000"))
    body = world.claude("hi").main[0].text()
    assert ("<persisted-output>" not in body) is whole
    assert "z" * 9000 in body


def test_what_is_kept_at_resume(world, model, hook):
    """What came before a tool is kept by those clients that count the context that they restore."""
    log = world.base / "log"
    hook(
        "SessionStart",
        f"open({str(log)!r}, 'w').write(json.dumps(payload))\nif payload['source'] == 'startup': " + ANSWER,
    )
    for event in ("UserPromptSubmit", "PreToolUse", "PostToolUse"):
        hook(event)
    model.will(use("Bash", command="echo hello"), "bye")
    first = world.claude("hi", "--allowedTools", "Bash")
    world.settings({"hooks": {"SessionStart": world.settings()["hooks"]["SessionStart"]}})
    again = world.claude("more", resume=first.session_id)
    assert again.session_id == first.session_id
    tool = ["CTX-PreToolUse-2"] if session_start_hot.KEEPS in json.loads(log.read_text()) else []
    assert found(again.main[0]) == ["CTX-SessionStart-0", "CTX-UserPromptSubmit-1", *tool, "CTX-PostToolUse-3"]


def test_compaction_drops_earlier_contexts_and_starts_the_session_again(world, model, hook):
    world.env["CLAUDE_CODE_AUTO_COMPACT_WINDOW"] = "200000"
    hook("SessionStart", "TEXT = payload['source']\n" + ANSWER)
    hook("UserPromptSubmit")
    model.will(
        call(use("Bash", command="echo 1")), call(use("Bash", command="echo 2"), input_tokens=190_000), say("bye")
    )
    run = world.claude("hi", "--allowedTools", "Bash")
    assert [r.kind for r in run.requests if r.kind != "aux"] == ["main", "main", "compact", "main"]
    assert re.findall(r"CTX-\w+-\w+", run.main[-1].text()) == ["CTX-SessionStart-compact"]
    assert any(r.get("subtype") == "compact_boundary" for r in run.transcript())


def test_a_clear_gives_a_new_session(world, hook):
    hook("SessionStart", f"open({str(world.base / 'log')!r}, 'a').write(json.dumps(payload) + '\\n')")
    first = world.claude("hi")
    world.claude("/clear", resume=first.session_id)
    starts = [json.loads(line) for line in (world.base / "log").read_text().splitlines()]
    assert [s["source"] for s in starts] == ["startup", "resume", "clear"]
    assert starts[2]["session_id"] != first.session_id


def test_a_subagent_is_marked_and_its_prompt_fires_no_prompt_hook(world, model, hook):
    log = str(world.base / "log")
    for event in ("UserPromptSubmit", "PreToolUse", "Stop"):
        hook(
            event,
            f"open({log!r}, 'a').write(f\"{{event}} {{payload.get('tool_name') or payload.get('prompt', '')[:18]}}"
            " {bool(payload.get('agent_id'))}\\n\")",
        )

    def script(request):
        mine = "SUBTASK" in request.text() and "mainprompt" not in request.text()
        if request.tool_results():
            return "done"
        return (
            use("Bash", command="echo x")
            if mine
            else use("Agent", description="d", prompt="SUBTASK", subagent_type="general-purpose")
        )

    model.script = script
    world.claude("mainprompt", "--allowedTools", "Bash,Agent")
    lines = (world.base / "log").read_text().splitlines()
    assert [line for line in lines if line.startswith("PreToolUse")] == [
        "PreToolUse Agent False",
        "PreToolUse Bash True",
    ]
    # Where it runs in the background, what it did comes as a prompt of the client's own.
    prompts = [line for line in lines if line.startswith("UserPromptSubmit")]
    assert prompts[0] == "UserPromptSubmit mainprompt False"
    assert set(prompts[1:]) <= {"UserPromptSubmit <task-notification False"}


def test_a_detached_process_outlives_the_client_which_does_not_wait(world, hook):
    out = str(world.base / "out")
    hook(
        "Stop",
        "if os.fork() == 0:\n    os.setsid(); null = os.open('/dev/null', os.O_RDWR)\n"
        "    for fd in (0, 1, 2): os.dup2(null, fd)\n"
        f"    time.sleep(4); open({out!r}, 'w').write('alive'); os._exit(0)\n",
    )
    assert world.claude("hi").returncode == 0
    assert not (world.base / "out").exists()
    assert eventually((world.base / "out").exists)
    assert eventually((world.base / "out").read_text) == "alive"
