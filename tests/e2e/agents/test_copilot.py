"""What only Copilot CLI has: of several prompt hooks the last one speaks, and hooks of a project for Claude Code run, too."""

import json

import pytest

from e2e.model import say
from waiting import eventually

from .test_agents import CORRECTIONS, MEMORY
from .world import count

pytestmark = pytest.mark.client


@pytest.fixture
def agent():
    return "copilot"


def test_a_text_that_another_hook_replaced_is_told_again(on, model):
    speaks = on.base / "speaks"
    on.hook("aa", "UserPromptSubmit", f"[ ! -e '{speaks}' ] || echo '{{\"additionalContext\": \"another text\"}}'")
    with on.session() as session:
        session.say("hello")
        speaks.touch()
        on.leave("CI is red on master.")
        assert count(session.say("go on")[-1], "CI is red", "another text") == [0, 1]
        speaks.unlink()
        assert count(session.say("and on")[-1], "CI is red") == [1]
    assert on.receipts() == ["failed", "arrived"]


def test_escape_fork_and_clear_in_a_terminal_lose_and_repeat_nothing(on, model):
    texts = (MEMORY, "The build is broken.", "It is green again.")
    on.remember("tabs", MEMORY)
    with on.terminal() as session:
        on.leave("The build is broken.")
        assert count(session.say("hello")[-1], *texts) == [1, 1, 0]
        on.leave("It is green again.")
        model.script = lambda _: say("Late.", delay=30)
        session.begin("go on")
        assert eventually(lambda: count(model.requests[-1], "It is green again.")[0])
        session.stop()
        model.script = None
        session.say("two")
        assert count(session.say("three")[-1], *texts) == [1, 1, 1]
        session.fork()
        assert [count(session.say(text)[-1], *texts) for text in ("four", "five")] == [[1, 1, 1]] * 2
        on.remember("spaces", "Indent with four spaces")
        assert count(session.say("six")[-1], MEMORY, "Indent with four spaces") == [1, 1]
        session.clear()
        assert [count(session.say(text)[-1], *texts) for text in ("seven", "eight")] == [[1, 0, 0]] * 2
    assert on.receipts() == ["arrived", "arrived", "failed", *["arrived"] * 3]
    assert on.errors() == []


def test_what_keeps_the_agent_from_stopping_is_no_correction(on):
    on.memtui("config", "set", "extract_confidence", "0")
    block = json.dumps({"decision": "block", "reason": CORRECTIONS[1]}).replace("'", "'\\''")
    on.hook("zz", "Stop", f"grep -q '\"stop_hook_active\":true' || echo '{block}'")
    with on.session() as session:
        requests = session.say(CORRECTIONS[0])
    assert count(requests[-1], CORRECTIONS[1]) == [1]
    heard = on.heard()
    assert (CORRECTIONS[0] in heard, CORRECTIONS[1] in heard) == (True, False)


@pytest.mark.parametrize("both", [False, True])
def test_a_projects_hooks_for_claude_code_deliver_here_too(world, both):
    place = world.project / ".claude" / "settings.json"
    world.memtui("setup", "hooks", "--scope", "project", "--yes")
    if both:
        world.install()
    world.leave("CI is red on master.")
    assert count(world.run("hello", "--trust-folder").main[-1], "CI is red on master.") == [1]
    assert world.receipts() == ["arrived"]
    world.memtui("setup", "hooks", "--agent", "copilot", "--remove", "--yes")
    assert place.exists()
    assert not (world.copilot / "hooks").exists() or not both
