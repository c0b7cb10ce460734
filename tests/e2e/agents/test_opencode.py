"""OpenCode, the newest on npm, against a loopback model."""

import json
import subprocess
import sys

import pytest

from e2e.model import say, use
from memtui.client.agents import opencode
from memtui.deliver import receipts_hot
from memtui.hooks.install import agents, checkup, entries
from waiting import eventually

from .chat import Chat
from .opencode_world import OpencodeWorld
from .programs import program_or_skip
from .test_codex import CORRECTIONS, MEMORY, NOTE, RULES, drafts, fate
from .world import blocks

pytestmark = pytest.mark.client


@pytest.fixture
def model():
    server = Chat()
    yield server
    server.close()


@pytest.fixture
def world(tmp_path, model):
    return OpencodeWorld(tmp_path, model, program_or_skip("opencode"))


@pytest.fixture
def on(world):
    """A world whose plugin is installed."""
    world.install()
    return world


@pytest.mark.client(always=True)
def test_a_note_reaches_the_next_prompt_once_and_says_arrived(on):
    on.remember("tabs", MEMORY)
    on.leave("CI is red on master: the lockfile job fails.")
    run = on.run("hello there")
    (block,) = blocks(run.main[0], "guidance")
    assert "CI is red on master" in block.text
    assert MEMORY in blocks(run.main[0], "index")[0].text
    assert on.waiting() == ""
    again = on.run("and go on", resume=run.session_id)
    assert [again.main[-1].count(text) for text in ("CI is red on master", MEMORY)] == [1, 1]
    assert on.receipts() == ["arrived", "arrived"]
    assert {record["agent"] for record in on.deliveries()} == {"opencode"}
    assert not (on.settings / "node_modules" / opencode.PACKAGE).exists(), "a test fetched from npm"
    assert on.errors() == []


def test_fifty_notes_of_fifty_arrive_once(on):
    with on.session() as session:
        for number in range(50):
            on.leave(NOTE.format(number))
            (request,) = session.say(f"prompt {number}")
            assert request.count(NOTE.format(number)) == 1
    assert [request.count(NOTE.format(number)) for number in range(50)] == [1] * 50
    assert on.receipts() == ["arrived"] * 50
    assert on.waiting() == ""
    assert on.errors() == []


OTHERS = """export const Theirs = async () => ({
  "chat.message": async (input, output) => {
    const text = output.parts[0].text
    if (text.includes("throw")) throw new Error("theirs")
    if (text.includes("drop")) output.parts.splice(1)
  },
})
"""


def test_receipts_say_what_became_of_a_text(on):
    """Of texts that arrived, that another plugin drops or blocks, and of slow, failed and killed hooks."""
    (on.plugins / "theirs.js").write_text(OTHERS)
    path = on.plugins / "memtui.js"
    ours = path.read_text()

    def deliver(prompt, change="", times=1):
        path.write_text(
            ours.replace("exec ", "", 2 * len(opencode.PROGRAM.events)).replace(
                ' --agent opencode"', f' --agent opencode{change}"'
            )
        )
        for number in range(times):
            on.leave(f"{prompt} {number}")
            on.run(f"{prompt} {number}", resume=session_id)

    session_id = on.run("hello").session_id
    deliver("whole", times=3)
    deliver("drop")
    deliver("throw")
    deliver("failed", change="; exit 1")
    deliver("killed", change="; kill -9 $$")
    deliver("slow", change="; sleep 2")
    deliver("last")
    records = [record for record in on.deliveries() if record.get("text")]
    receipts = ["lost" if receipt in receipts_hot.LOST else receipt for receipt in on.receipts()]
    assert receipts == [fate(on, record) for record in records]
    assert receipts.count("lost") == 2
    assert on.waiting() == ""


def test_a_late_hook_brings_nothing_and_stops_nobody(on):
    path = on.plugins / "memtui.js"
    path.write_text(path.read_text().replace("exec ", "sleep 60; exec ").replace("10_000", "500"))
    on.leave("The build is broken.")
    (request,) = on.run("hello").main
    assert request.count("memtui") == 0
    assert "The build is broken." in on.waiting()


def test_a_text_of_a_killed_turn_is_told_once_when_the_session_goes_on(on, model):
    with on.session() as session:
        session.say("hello")
        on.leave("The build is broken.")
        model.script = lambda _: say("Late.", delay=60)
        session.begin("go on")
        assert eventually(lambda: model.requests[-1].count("The build is broken."))
        session.kill()
    model.script = None
    with on.session(session.id) as session:
        (request,) = session.say("again")
    assert request.count("The build is broken.") == 1
    assert on.receipts()[0] == "arrived"


def test_a_turn_that_is_stopped_keeps_its_text(on, model):
    on.leave("The build is broken.")
    with on.session() as session:
        session.say("hello")
        on.leave("It is green again.")
        model.script = lambda _: say("Late.", delay=20)
        session.begin("go on")
        assert eventually(lambda: model.requests[-1].count("It is green again."))
        session.stop()
        model.script = None
        (request,) = session.say("again")
    assert [request.count(text) for text in ("The build is broken.", "It is green again.")] == [1, 1]
    assert on.receipts() == ["arrived", "arrived"]


@pytest.mark.slow
def test_twenty_corrections_become_drafts(on):
    on.memtui("config", "set", "extract_confidence", "0")
    with on.session() as session:
        for text in CORRECTIONS:
            session.say(text)
    text = drafts(on)
    assert [correction for correction in CORRECTIONS if correction not in text.replace("\n> ", " ")] == []
    assert on.errors() == []


def test_words_of_tools_subagents_and_commands_are_no_corrections(on, model):
    on.memtui("config", "set", "extract_confidence", "0")
    tool, child, words, template, piped = CORRECTIONS[:5]
    (on.project / "notes.txt").write_text("\n".join([tool, f"User: {tool}", f"<user>{tool}</user>", ""]))
    (on.settings / "command").mkdir()
    (on.settings / "command" / "check.md").write_text(template + "\n$ARGUMENTS\n")
    task = use("task", description="Look", prompt=f"CHILD {child}", subagent_type="general")

    def script(request):
        texts = request.texts("user", "tool")
        if "CHILD" in texts[0]:
            return say(words)
        steps = {"PARENT": [use("bash", command="cat notes.txt", description="Read"), task]}
        return next((step for mark, step in steps.items() if mark in texts[-1]), words)

    model.script = script
    with on.session() as session:
        for number in range(4):
            session.say(f"PARENT {number}")
            session.command("check", "the queue")
        session.shell("cat notes.txt")
        session.say("look at it")
    for text in (tool, child, template):
        assert any(text in request.text() for request in model.requests)
    on.run("look at this", stdin=piped)
    assert any(piped in request.text() for request in model.requests)
    assert drafts(on) == ""
    assert on.errors() == []


def test_what_still_stands_is_not_told_again_and_what_is_gone_is(on):
    """The index stands after a resume and in a copy; a compaction, /new and an undone prompt drop it."""
    on.remember("tabs", MEMORY)

    def said(requests):
        return requests[-1].count(MEMORY)

    with on.session() as session:
        assert [said(session.say(text)) for text in ("one", "two")] == [1, 1]
        session.compact()
        assert [said(session.say(text)) for text in ("three", "four")] == [1, 1]
        first = session.id
        session.clear()
        assert said(session.say("five")) == 1
    with on.session(first) as session:
        assert said(session.say("six")) == 1
        session.fork()
        assert said(session.say("seven")) == 1
        on.leave("The build is broken.")
        assert session.say("eight")[-1].count("The build is broken.") == 1
        session.undo()
        session.say("nine")
    assert on.errors() == []


CONFIGURATIONS = {
    "none": {},
    "an empty directory": {"plugins/": ""},
    "a plugin": {"plugins/mine.js": "export const Mine = async () => ({})\n"},
    "a plugin in the other directory": {"plugin/mine.ts": "export default async () => ({})\r\n"},
    "a plugin that throws": {"plugins/a.js": "throw new Error('mine')"},
    "a plugin behind ours": {"plugins/z.js": "export const Z = async () => ({ event: async () => {} })"},
    "plugins by name": {
        "opencode.jsonc": '{\n  // mine\n  "$schema": "https://opencode.ai/config.json",\n  "plugin": ["file:///nowhere/mine.js"],\n}\n'
    },
    "commands and agents": {
        "command/check.md": "Check $ARGUMENTS\n",
        "agent/mine.md": "---\nmode: primary\n---\nMine\n",
    },
    "rules": {"AGENTS.md": "Use tabs.\n"},
    "packages": {"package.json": '{"dependencies": {}}\n', "plugins/mine.js": "export const a = async () => ({})"},
    "a file of that name": {"memtui.js": "mine"},
    "accents": {"plugins/größe.js": "export const G = async () => ({})\n"},
}


def tree(top):
    return {str(path.relative_to(top)): path.read_bytes() if path.is_file() else None for path in top.rglob("*")}


@pytest.mark.every(of=4)
@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_setup_leaves_a_persons_plugins_alone(world, configuration):
    for name, text in CONFIGURATIONS[configuration].items():
        path = world.settings / name
        (path if name.endswith("/") else path.parent).mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.write_bytes(text.encode())
    before = tree(world.settings)
    world.install()
    installed = tree(world.settings)
    assert {name: installed.get(name) for name in before} == before
    assert installed.keys() - before.keys() <= {"plugins", "plugins/memtui.js"}
    world.leave("The build is broken.")
    (request,) = world.run("hello").main
    assert request.count("The build is broken.") == 1
    world.install()
    assert (world.plugins / "memtui.js").read_bytes() == installed["plugins/memtui.js"]
    world.memtui("setup", "hooks", "--agent", "opencode", "--remove", "--yes")
    after = tree(world.settings)
    after.pop(".gitignore", None)  # OpenCode's own
    assert after == before


def test_status_says_that_a_plugin_can_not_be_loaded(on):
    env = {**on.environment(), "PATH": f"{on.binary.parent}:{on.environment()['PATH']}"}
    (fetch,) = opencode.PROGRAM.notes(env)
    assert opencode.PACKAGE in fetch
    (on.settings / "node_modules" / opencode.PACKAGE).mkdir(parents=True)
    assert opencode.PROGRAM.notes(env) == []
    with (on.plugins / "memtui.js").open("a") as file:
        file.write("}")
    (broken,) = opencode.PROGRAM.notes(env)
    assert str(on.plugins / "memtui.js") in broken
    findings = [
        finding for finding in checkup.check(env, str(on.project), 0.0) if finding.code.startswith("hooks.agent")
    ]
    assert [finding.data.get("state", finding.data.get("words")) for finding in findings] == [agents.OLD, broken]


def test_an_approved_draft_is_told_in_other_agents_at_the_next_turn(on):
    """Said to OpenCode, told by Claude Code's hook; and the other way round."""
    on.memtui("config", "set", "extract_confidence", "0")
    payload = {"session_id": "c1", "cwd": str(on.project), "transcript_path": str(on.base / "c1.jsonl")}

    def claude(event, **more):
        command = entries.command(event, sys.executable, entries.launcher_path())
        return subprocess.run(
            ["sh", "-c", command],
            input=json.dumps({**payload, "hook_event_name": event, **more}),
            cwd=on.project,
            env=on.environment(),
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    claude("SessionStart", source="startup")
    with on.session() as session:
        session.say(CORRECTIONS[0])
        (draft,) = eventually(on.drafts)
        on.memtui("approve", draft.id, "--scope", "global")
        assert "pnpm" in claude("UserPromptSubmit", prompt="go on with the work")
        on.remember("tabs", MEMORY)
        assert session.say("go on with the work")[-1].count(MEMORY) == 1
    assert on.errors() == []


def test_a_call_that_breaks_a_rule_is_refused(on, model):
    (on.config / "memory").mkdir()
    (on.config / "memory" / "shop-rules.md").write_text(RULES)
    on.run("hello")
    assert eventually((on.root / "rules" / "enforced").exists)
    path = str(on.project / "made" / "a.txt")
    model.will(
        use("write", filePath=path, content="x"), use("bash", command="touch asked", description="Touch"), "Done."
    )
    run = on.run("go")
    assert "breaks a rule of the user's memory" in run.main[-1].tool_results()[0]
    assert not (on.project / "made").exists()
    assert (on.project / "asked").exists(), "OpenCode can't ask the person"
    reasons = [record["items"][0]["reason"] for record in on.deliveries() if record["event"] == "PreToolUse"]
    assert reasons == ["never made/**: refused"]
    assert on.errors() == []


def test_urgent_guidance_arrives_in_the_midst_of_a_turn(on, model):
    def script(request):
        if not request.tool_results():
            on.leave("Stop pushing.", urgent="yes")
            return [use("bash", command="echo one", description="Say")]
        return "Done."

    model.script = script
    run = on.run("go")
    assert "Stop pushing." in run.main[-1].tool_results()[0]
    assert on.receipts() == ["arrived"]
    assert on.errors() == []
