"""What only Codex has: trust in hooks, patches, prompts that are edited, a compaction in the middle of a turn."""

import json

import pytest

from e2e.model import call, use
from memtui.client.agents import codex

from .codex_world import PATCH
from .test_agents import BROKEN, CORRECTIONS, MEMORY
from .world import AgentWorld, count

pytestmark = pytest.mark.client


@pytest.fixture
def agent():
    return "codex"


def test_a_compaction_within_a_turn_brings_its_notes_and_the_index_again(on, model):
    on.remember("tabs", MEMORY)
    on.leave("The build is broken.")
    model.will(call(on.shell("true"), input_tokens=300_000), on.shell("true"), "Done.")
    run = on.run("go", "-c", "model_auto_compact_token_limit=200000")
    assert [request.kind for request in run.requests] == ["main", "compact", "main", "main"]
    assert [count(request, MEMORY, "The build is broken.") for request in run.requests] == [[1, 1]] * 4
    assert set(on.receipts()) == {"arrived"}


def test_what_an_edited_prompt_took_away_is_told_again(on):
    on.remember("tabs", MEMORY)
    with on.session() as session:
        session.say("one")
        on.leave("The build is broken.")
        on.remember("spaces", "Indent with four spaces")
        turn = session.begin("two")
        session.end()
        session.say("three")
        session.go_back(turn)
        (request,) = session.say("another two")
        texts = (MEMORY, "Indent with four spaces", "three")
        assert count(request, *texts) == [1, 1, 0]
        turn = session.begin("four")
        session.end()
        on.remember("lines", "Keep lines short")
        assert count(session.say("five")[-1], "Keep lines short") == [1]
        session.go_back(turn)
        (request,) = session.say("another four")
        assert count(request, *texts[:2], "Keep lines short", "five") == [1, 1, 1, 0]
        session.say(CORRECTIONS[0])
    assert CORRECTIONS[0] in on.heard()
    assert on.errors() == []


THEIRS = {"type": "command", "command": "true"}
CONFIGURATIONS = {
    "none": None,
    "empty": "",
    "blank": "\n",
    "braces": "{}",
    "no hooks": '{"hooks": {}}',
    "described": json.dumps({"description": "Mine", "hooks": {"Stop": [{"hooks": [THEIRS]}]}}, indent=2),
    "one line": json.dumps({"hooks": {"UserPromptSubmit": [{"hooks": [THEIRS, {**THEIRS, "timeout": 3}]}]}}),
    "tabs": json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [THEIRS]}]}}, indent="\t") + "\n\n",
    "windows": json.dumps({"hooks": {"Stop": [{"hooks": [THEIRS]}] * 2}}, indent=4).replace("\n", "\r\n"),
    "accents": '{"hooks": {"SessionStart": [{"matcher": "startup|resume", "hooks": [{"type": "command", "command": "echo \\u00e9 é"}]}]}}',
    "other events": json.dumps({"hooks": {"SubagentStop": [{"hooks": [THEIRS]}], "PostToolUse": []}}, indent=1),
    "every event": json.dumps({"hooks": {event.own: [{"hooks": [THEIRS]}] for event in codex.PROGRAM.events[:4]}}),
}


@pytest.mark.every(of=2)
@pytest.mark.parametrize("configuration", CONFIGURATIONS)
def test_setup_leaves_a_persons_hooks_and_their_trust_alone(world, configuration):
    path, before = world.hooks_file, CONFIGURATIONS[configuration]
    if before is not None:
        path.write_bytes(before.encode())
    world.trust()
    theirs = [(hook["key"], hook["trustStatus"]) for hook in world.hooks()["hooks"]]
    assert {status for _, status in theirs} <= {"trusted"}
    AgentWorld.install(world)
    installed = path.read_bytes()
    listed = world.hooks()
    statuses = [(hook["key"], hook["trustStatus"]) for hook in listed["hooks"]]
    assert set(theirs) <= set(statuses)
    assert len(statuses) == len(theirs) + len(codex.PROGRAM.events)
    assert (listed["warnings"], listed["errors"]) == ([], [])
    assert f"Codex: ! {codex.REVIEW}" in world.memtui("setup", check=False).stdout
    world.trust()
    assert codex.PROGRAM.trust(world.environment()) == ""
    AgentWorld.install(world)
    assert path.read_bytes() == installed
    world.memtui("setup", "hooks", "--agent", "codex", "--remove", "--yes")
    assert (path.read_bytes().decode() if path.exists() else None) == before
    assert [(hook["key"], hook["trustStatus"]) for hook in world.hooks()["hooks"]] == theirs


def test_a_patch_by_a_script_of_the_model_that_breaks_a_rule_is_refused(on, model):
    """A model that Codex gives one tool, which runs JavaScript."""
    on.enforce(on.run)
    patch = json.dumps(PATCH.format("made/a.txt", "+x"))
    script = f"try {{ await tools.apply_patch({patch}) }} catch (error) {{ text(String(error)) }}"
    model.will(use("exec", freeform=script), use("exec", freeform='await tools.exec_command({cmd: "true"})'), "Done.")
    run = on.run("go", "-m", "gpt-6.2-sol")
    assert BROKEN in run.main[-1].tool_results()[0]
    assert not (on.project / "made").exists()
    assert count(run.main[1], "Files of the shop are made by its generator.") == [1]
    assert on.errors() == []
