"""What a person said in a turn that no hook saw the end of becomes a draft: with the real client."""

import pytest

from waiting import eventually

from .model import call, say, use
from .terminal import Terminal

pytestmark = pytest.mark.client

SAID = "Never use npm here, from now on always use pnpm."
ESCAPE = "\x1b"


def test_a_stopped_turn_is_read_before_a_compaction_which_does_not_wait(on, model):
    """No hook tells of the end of such a turn."""
    on.allow("Bash")

    def compacted():
        return "compact" in [each.kind for each in model.requests]

    turn = [say("Answer one."), call(use("Bash", command="echo 1")), say("Answer two.", until=compacted)]
    model.script = lambda _: turn.pop(0)
    with Terminal(on) as terminal:
        terminal.say("hello")
        terminal.see("Answer one")
        assert eventually(lambda: list(on.root.glob("sessions/*.cursor.json")))  # that turn has been read
        terminal.say(SAID)
        assert eventually(lambda: not turn)
        terminal.press(ESCAPE)
        terminal.see("Interrupted")
        assert on.drafts() == []
        terminal.say("/compact")
        terminal.see("Compacted")
        assert eventually(on.drafts), on.errors()
    assert len(on.drafts()) == 1
    assert on.errors() == []


def test_a_compaction_in_mid_turn_has_the_turn_read(on, model):
    on.env["CLAUDE_CODE_AUTO_COMPACT_WINDOW"] = "200000"
    seen = []

    def drafted():
        seen[:] = [each.text.splitlines()[0] for each in on.drafts()]
        return seen

    turn = [
        call(use("Bash", command="echo 1")),
        call(use("Bash", command="echo 2"), input_tokens=190_000),
        say("bye", until=drafted),  # so it can't be of the turn's end
    ]
    model.script = lambda _: turn.pop(0)
    on.claude(SAID, "--allowedTools", "Bash")
    assert len(seen) == 1, on.errors()
    assert len(drafted()) == 1
    assert on.errors() == []
