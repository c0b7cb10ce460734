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
