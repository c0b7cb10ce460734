"""Qwen Code, the newest on npm and once the oldest that is served, against a loopback model."""

import json
import subprocess
import sys

import pytest

from e2e.model import call, say, use
from memtui.client.agents import qwen
from memtui.deliver import receipts_hot
from memtui.hooks.install import entries
from waiting import eventually

from .chat import Chat
from .programs import program_or_skip
from .qwen_world import QwenWorld
from .test_codex import CORRECTIONS, MEMORY, NOTE, RULES, drafts

pytestmark = pytest.mark.client
OLDEST = "0.15.10"


@pytest.fixture
def model():
    server = Chat()
    yield server
    server.close()


@pytest.fixture
def world(tmp_path, model, request):
    return QwenWorld(tmp_path, model, program_or_skip("qwen", getattr(request, "param", "")))


@pytest.fixture
def on(world):
    """A world whose hooks are installed."""
    world.install()
    return world


def shell(command):
    return use("run_shell_command", command=command, description="run", is_background=False)


def count(request, *texts):
    """How often texts stand in a request, escaped or not."""
    plain = request.text().replace("&lt;", "<").replace("&gt;", ">")
    return [plain.count(text) for text in texts]


@pytest.mark.client(always=True)
@pytest.mark.parametrize("world", ["", OLDEST], ids=["newest", "oldest"], indirect=True)
def test_a_note_and_the_index_reach_the_prompt_once_and_say_arrived(on):
    on.remember("tabs", MEMORY)
    on.leave("CI is red on master: the lockfile job fails.")
    run = on.run("hello")
    assert count(run.main[0], MEMORY, "CI is red on master") == [1, 1]
    assert on.waiting() == ""
    again = on.run("and go on", resume=run.session_id)
    assert count(again.main[-1], MEMORY, "CI is red on master") == [1, 1]
    assert on.receipts() == ["arrived", "arrived"]
    assert {record["agent"] for record in on.deliveries()} == {"qwen"}
    assert on.errors() == []


def test_fifty_notes_of_fifty_arrive_once(on, model):
    with on.session() as session:
        for number in range(50):
            on.leave(NOTE.format(number))
            model.will(shell("true"), "Done.")  # the prompt hook fires after a tool, too
            request = session.say(f"prompt {number}")[-1]
    assert count(request, *[NOTE.format(number) for number in range(50)]) == [1] * 50
    assert on.receipts() == ["arrived"] * 50
    assert on.waiting() == ""
    assert on.errors() == []


def fate(world, record):
    """What became of a delivery, by what the model was sent."""
    return "arrived" if any(record["id"] in request.text() for request in world.model.requests) else "lost"


def test_receipts_say_what_became_of_a_text(on):
    """Of texts that arrived, stood beside another hook's block, or came from a slow, failed or killed hook."""
    ours = on.read()

    def deliver(name, change="", other="", length=10, **entry):
        settings = json.loads(json.dumps(ours))
        (hook,) = settings["hooks"]["UserPromptSubmit"][0]["hooks"]
        hook |= {"command": hook["command"].replace("exec ", "") + change, **entry}
        if other:
            settings["hooks"]["UserPromptSubmit"].append({"hooks": [{"type": "command", "command": other}]})
        on.write(settings)
        on.leave(name + "<é&>" * length)
        on.run(name, resume=session_id)

    block = 'echo \'{"decision": "block", "reason": "no"}\''
    session_id = on.run("hello").session_id
    deliver("whole", length=2000)
    deliver("late", change="; sleep 9", timeout=1500)
    deliver("killed", change="; kill -9 $$")
    deliver("failed", change="; exit 1")
    deliver("blocked", other=block)
    deliver("beside another", other="echo plain words of another")
    deliver("blocked at the end", other=block)
    on.write(ours)
    on.run("last", resume=session_id)
    records = [record for record in on.deliveries() if record.get("text")]
    receipts = ["lost" if receipt in receipts_hot.LOST else receipt for receipt in on.receipts()]
    assert receipts == [fate(on, record) for record in records]
    assert receipts.count("lost") >= 3
    assert on.waiting() == ""
    assert on.errors() == []


def test_an_urgent_note_comes_behind_the_output_of_a_tool(on, model):
    with on.session() as session:
        session.say("hello")
        model.will(shell("for i in 1 2 3 4; do sleep 0.5; done; echo finished"), "Done.")
        session.begin("work")
        assert eventually(lambda: not model.replies or len(model.main) > 1)
        on.leave("Stop <everything>.", urgent="yes")
        session.end()
        (result,) = model.main[-1].tool_results()
        assert "finished" in result
        assert "Stop &lt;everything&gt;." in result
        session.say("next")
        assert count(model.main[-1], "Stop <everything>.") == [1]
    assert on.receipts() == ["arrived"]
    assert on.errors() == []


def test_a_text_of_a_killed_turn_is_told_once_when_the_session_goes_on(on, model):
    with on.session() as session:
        session.say("hello")
        on.leave("The build is broken.")
        model.script = lambda _: say("Late.", delay=60)
        session.begin("go on")
        assert eventually(lambda: "The build is broken." in model.requests[-1].text())
        session.kill()
    model.script = None
    assert on.receipts() == ["broken off"]
    with on.session("--resume", session.id) as again:
        request = again.say("again")[-1]
    assert count(request, "The build is broken.") == [1]
    assert on.receipts()[0] == "arrived"


def test_a_turn_that_is_stopped_keeps_its_text(on, model):
    with on.session() as session:
        session.say("hello")
        on.leave("It is green again.")
        model.script = lambda _: say("Late.", delay=3)
        session.begin("go on")
        assert eventually(lambda: "It is green again." in model.requests[-1].text())
        session.stop()
        model.script = None
        request = session.say("again")[-1]
    assert count(request, "It is green again.") == [1]
    assert on.receipts() == ["arrived"]


def test_what_still_stands_is_not_told_again_and_what_is_gone_is(on, model):
    """The index stands after a resume and in a copy; a compaction and /clear drop it."""
    on.remember("tabs", MEMORY)
    with on.session() as session:
        assert [count(session.say(text)[-1], MEMORY) for text in ("one", "two")] == [[1], [1]]
        model.will(say("Done.", input_tokens=20_000))
        session.say("three " + "words " * 3000)
        model.will("<state_snapshot>We talked about the project.</state_snapshot>")
        session.say("/compress")
        assert any("chat_compression" in path.read_text() for path in on.files())
        assert [count(session.say(text)[-1], MEMORY) for text in ("four", "five")] == [[1], [1]]
        first = session.id
        session.say("/clear")
        assert session.id != first
        assert [count(session.say(text)[-1], MEMORY) for text in ("six", "seven")] == [[1], [1]]
    with on.session("--resume", first) as session:
        assert count(session.say("eight")[-1], MEMORY) == [1]
    with on.session("--resume", first, "--fork-session") as session:
        assert count(session.say("nine")[-1], MEMORY) == [1]
        assert session.id != first
        on.remember("spaces", "Indent with four spaces")
        assert count(session.say("ten")[-1], MEMORY, "Indent with four spaces") == [1, 1]
    assert set(on.receipts()) == {"arrived"}
    assert len(on.receipts()) == 4
    assert on.errors() == []


@pytest.mark.slow
def test_twenty_corrections_become_drafts(on):
    on.memtui("config", "set", "extract_confidence", "0")
    with on.session() as session:
        for text in CORRECTIONS:
            session.say(text)
    text = drafts(on)
    assert [correction for correction in CORRECTIONS if correction not in text.replace("\n> ", " ")] == []
    assert on.errors() == []


def test_words_of_tools_subagents_files_and_commands_are_no_corrections(on, model):
    on.memtui("config", "set", "extract_confidence", "0")
    tool, child, words, attached, template = CORRECTIONS[:5]
    (on.project / "notes.txt").write_text(f"{tool}\nUser: {tool}\n<user>{tool}</user>\n")
    (on.project / "more.txt").write_text(attached + "\n")
    (on.qwen / "commands").mkdir()
    (on.qwen / "commands" / "review.md").write_text(template + "\n")

    def script(request):
        last = request.messages()[-1]
        text = "".join(part.get("text", "") for part in last[1])
        if "PARENT" in text:
            spawn = use("agent", description="look", prompt=f"CHILD {child}", subagent_type="general-purpose")
            return call(shell("cat notes.txt"), spawn)
        return words

    model.script = script
    with on.session() as session:
        for number in range(4):
            session.say(f"PARENT {number}")
        session.say("look at @more.txt")
        on.leave("A note, so that the words of the command are told from its text.")
        session.say("/review")
    assert all(any(text in request.text() for request in model.requests) for text in (tool, child, attached, template))
    assert drafts(on) == ""
    assert on.errors() == []


def test_what_breaks_a_rule_is_refused(on, model):
    (on.config / "memory").mkdir()
    (on.config / "memory" / "shop-rules.md").write_text(RULES)
    on.run("hello")
    assert eventually((on.root / "rules" / "enforced").exists)
    write = use("write_file", file_path=str(on.project / "made" / "a.txt"), content="x")
    model.will(write, shell("touch asked"), "Done.")
    refused, unasked = on.run("go").main[-1].tool_results()
    assert "breaks a rule of the user's memory" in refused
    assert "breaks a rule of the user's memory" in unasked  # nobody is there to say yes
    assert not (on.project / "made").exists()
    assert not (on.project / "asked").exists()
    assert on.errors() == []


def test_a_memory_that_the_agent_writes_is_a_draft_if_gate_is_ask(on, model):
    on.memtui("config", "set", "gate", "ask")
    memory = on.config / "memory" / "use-uv.md"
    text = "---\nname: use-uv\ndescription: Use uv, never pip\n---\n\nInstall Python packages with uv.\n"
    model.will(use("write_file", file_path=str(memory), content=text), "Done.")
    (answer,) = on.run("remember that").main[-1].tool_results()
    assert "Not written: memtui keeps this memory as a draft" in answer
    assert not memory.exists()
    assert "Install Python packages with uv." in drafts(on)
    assert on.errors() == []


THEIRS = {"type": "command", "command": "echo theirs >> ran"}
MINE = {"hooks": {"UserPromptSubmit": [{"hooks": [THEIRS]}]}}
CONFIGURATIONS = {
    "none": None,
    "empty": "",
    "comments": '// mine\n{\n  "ui": {}, // the look\n  /* nothing */ "hooks": {"Stop": []}\n}\n',
    "braces": "{}",
    "no hooks": '{"hooks": {}}',
    "other settings": json.dumps({"ui": {"theme": "Default"}, "memory": {"enableManagedAutoMemory": False}}, indent=2),
    "one line": json.dumps(MINE),
    "tabs": json.dumps({**MINE, "general": {}}, indent="\t") + "\n\n",
    "windows": json.dumps(MINE, indent=4).replace("\n", "\r\n"),
    "accents": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo \\u00e9 é"}]}]}}',
    "other events": json.dumps({"hooks": {"SubagentStop": [{"hooks": [THEIRS]}], "PostToolUse": []}}, indent=1),
    "every event": json.dumps({"hooks": {event.own: [{"hooks": [THEIRS]}] for event in qwen.PROGRAM.events}}),
}


@pytest.mark.every(of=2)
@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_setup_beside_a_persons_hooks_leaves_no_byte(world, configuration):
    path, before = world.qwen / "settings.json", CONFIGURATIONS[configuration]
    path.unlink()
    if before is not None:
        path.write_bytes(before.encode())
    world.install()
    installed = path.read_bytes()
    assert b"launch.py UserPromptSubmit" in installed
    world.install()
    assert path.read_bytes() == installed
    world.memtui("setup", "hooks", "--agent", "qwen", "--remove", "--yes")
    assert (path.read_bytes().decode() if path.exists() else None) == before


def test_a_persons_hooks_run_beside_ours_and_stay_when_ours_go(world):
    theirs = json.loads(CONFIGURATIONS["every event"])
    world.write(theirs)
    world.install()
    world.leave("The build is broken.")
    run = world.run("hello")
    assert count(run.main[0], "The build is broken.") == [1]
    assert (world.project / "ran").read_text().count("theirs") == 3  # start, prompt, stop
    world.memtui("setup", "hooks", "--agent", "qwen", "--remove", "--yes")
    assert {key: value for key, value in world.read().items() if key != "$version"} == theirs  # Qwen Code adds that


def test_an_approved_draft_is_told_in_other_agents_at_the_next_turn(on):
    """Said to Qwen Code, told by Claude Code's hook; and the other way round."""
    on.memtui("config", "set", "extract_confidence", "0")
    payload = {"session_id": "c1", "cwd": str(on.project), "transcript_path": str(on.base / "c1.jsonl")}

    def claude(event, **more):
        command = entries.command(event, sys.executable, entries.launcher_path())
        stdin = json.dumps({**payload, "hook_event_name": event, **more})
        how = {"cwd": on.project, "env": on.environment(), "capture_output": True, "text": True, "check": True}
        return subprocess.run(["sh", "-c", command], input=stdin, **how).stdout

    claude("SessionStart", source="startup")
    with on.session() as session:
        session.say(CORRECTIONS[0])
        (draft,) = eventually(on.drafts)
        on.memtui("approve", draft.id, "--scope", "global")
        assert "pnpm" in claude("UserPromptSubmit", prompt="go on with the work")
        on.remember("tabs", MEMORY)
        assert count(session.say("go on with the work")[-1], MEMORY) == [1]
    assert on.errors() == []
