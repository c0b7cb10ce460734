"""Drafts that a model proposes, end to end: after a turn of the real client, over both backends."""

import re

import pytest

from .model import call, say, structured, use
from .terminal import Terminal

pytestmark = pytest.mark.client

SAID = "The staging database is shared with the sales team, so tell them in #sales before you reset it."


NOTE = {
    "turn": "t1",
    "quote": "tell them in #sales before you reset it",
    "kind": "preference",
    "type": "project",
    "name": "Tell sales before a reset",
    "rule": "Tell #sales before resetting the staging database",
    "everywhere": False,
    "confidence": 1,
}
ESCAPE = "\x1b"


def drafting(on, backend):
    """Have drafts made by a model, or without a backend by the rules."""
    on.asks(backend)
    if backend != "off":
        on.memtui("config", "set", "extract_ask", "true")
        on.memtui("config", "set", "extract_confidence", "1")  # the model is asked where the rules are less sure


def proposing(words, asked, until=lambda: True):
    """How a model answers that is asked for drafts, else None: with a note if these are words of the person. What it is
    asked about goes to `asked`; `until`: it takes so long."""

    def aside(request):
        if "<memtui-person" not in request.text():
            return None
        turns = re.findall(r'<memtui-person turn="(t\d+)">\n(.*?)\n</memtui-person>', request.text(), re.DOTALL)
        asked.append("\n".join(said for _, said in turns))
        notes = [{**NOTE, "turn": name, "quote": words} for name, said in turns if words in said]
        return call(
            structured(request, notes=[*({**each, "quote": "delete it all"} for each in notes), *notes]), until=until
        )

    return aside


@pytest.mark.parametrize("backend", ["api", "claude"])
def test_what_a_model_finds_in_a_turn_waits_in_the_inbox(on, model, backend):
    drafting(on, backend)
    aside = proposing(SAID, [])
    model.script = lambda request: aside(request) or "Done."
    run = on.claude(SAID)
    assert on.eventually(on.drafts, 30), on.errors()
    (draft,) = on.drafts()
    assert draft.text.splitlines()[0] == NOTE["rule"]
    assert (draft.fields["session"], draft.fields["type"]) == (run.session_id, "project")
    assert [(each["purpose"], each["outcome"]) for each in on.memtui_json("model", "log")["calls"]] == [
        ("extract", "ok")
    ]
    assert on.errors() == []


@pytest.mark.parametrize("backend", ["off", "api", "claude"])
def test_a_turn_that_was_stopped_is_read_before_a_compaction_which_does_not_wait(on, model, backend):
    """No hook tells of the end of such a turn."""
    words = "Never use npm here, from now on always use pnpm." if backend == "off" else SAID
    drafting(on, backend)
    on.allow("Bash")

    def compacted():
        return "compact" in [each.kind for each in model.requests]

    aside = proposing(words, [], compacted)
    turn = [say("Answer one."), call(use("Bash", command="echo 1")), say("Answer two.", until=compacted)]
    model.script = lambda request: aside(request) or turn.pop(0)
    with Terminal(on) as terminal:
        terminal.say("hello")
        terminal.see("Answer one")
        assert on.eventually(lambda: list(on.root.glob("sessions/*.cursor.json")))  # that turn has been read
        terminal.say(words)
        on.eventually(lambda: not turn)
        terminal.press(ESCAPE)
        terminal.see("Interrupted")
        assert on.drafts() == []
        terminal.say("/compact")
        terminal.see("Compacted")
        assert on.eventually(on.drafts, 20), on.errors()
    (draft,) = on.drafts()
    assert draft.fields.get("by") == ("model" if backend != "off" else None)
    assert on.errors() == []


@pytest.mark.parametrize("backend", ["api", "claude"])
def test_a_compaction_in_mid_turn_has_the_turn_read(on, model, backend):
    on.env["CLAUDE_CODE_AUTO_COMPACT_WINDOW"] = "200000"
    drafting(on, backend)
    seen = []

    def drafted():
        seen[:] = [each.text.splitlines()[0] for each in on.drafts()]
        return seen

    aside = proposing(SAID, [], lambda: "compact" in [each.kind for each in model.requests])
    turn = [
        call(use("Bash", command="echo 1")),
        call(use("Bash", command="echo 2"), input_tokens=190_000),
        say("bye", until=drafted),  # so it can't be of the turn's end
    ]
    model.script = lambda request: aside(request) or turn.pop(0)
    on.claude(SAID, "--allowedTools", "Bash")
    assert seen == [NOTE["rule"]], on.errors()
    assert drafted() == [NOTE["rule"]]
    assert on.errors() == []
