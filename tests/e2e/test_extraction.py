"""Drafts that a model proposes, end to end: after a turn of the real client, over both backends."""

import os

import pytest

from memtui.core.inbox import format as inbox_format

from .model import Reply, call, use

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
    "confidence": 0.9,
}
INVENTED = {**NOTE, "quote": "delete the staging database"}


def drafts(on):
    files = on.root.glob("projects/*/pending-updates.md")
    return [entry for each in files for entry in inbox_format.read(str(each))]


def answer(request):
    """What the model answers if it is asked to read turns; None for others."""
    if "<memtui-person" not in request.text():
        return None
    names = [each["name"] for each in request.body["tools"]]
    return use(next(each for each in ("answer", "StructuredOutput") if each in names), notes=[INVENTED, NOTE])


@pytest.mark.parametrize("backend", ["api", "claude"])
def test_what_a_model_finds_in_a_turn_waits_in_the_inbox(on, model, tmp_path, backend):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "claude").symlink_to(on.binary)
    on.env["PATH"] = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    on.memtui("config", "set", "llm_backend", backend)
    on.memtui("config", "set", "extract_ask", "true")
    model.script = lambda request: answer(request) or "Done."
    run = on.claude(SAID)
    assert on.eventually(lambda: drafts(on), 30), on.errors()
    (draft,) = drafts(on)
    assert draft.text.splitlines()[0] == "Tell #sales before resetting the staging database"
    assert (draft.fields["session"], draft.fields["type"]) == (run.session_id, "project")
    assert [(each["purpose"], each["outcome"]) for each in on.memtui_json("llm", "log")["calls"]] == [("extract", "ok")]
    assert on.errors() == []


def test_a_compaction_in_mid_turn_has_the_turn_read_and_does_not_wait_for_it(on, model):
    on.env["CLAUDE_CODE_AUTO_COMPACT_WINDOW"] = "200000"
    on.memtui("config", "set", "llm_backend", "api")
    on.memtui("config", "set", "extract_ask", "true")
    seen = []

    class OnceRead(Reply):
        """The last answer of the turn, which waits for the draft: so that it can't be of the turn's end."""

        @property
        def delay(self):
            seen.append(bool(on.eventually(lambda: drafts(on), 30)))
            return 0.0

        @delay.setter
        def delay(self, _):
            pass

    turn = [
        call(use("Bash", command="echo 1")),
        call(use("Bash", command="echo 2"), input_tokens=190_000),
        OnceRead([{"type": "text", "text": "bye"}]),
    ]
    model.script = lambda request: answer(request) or turn.pop(0)
    run = on.claude(SAID, "--allowedTools", "Bash")
    assert "compact" in [each.kind for each in run.requests]
    assert seen[:1] == [True], on.errors()
    assert [each.text.splitlines()[0] for each in drafts(on)] == [NOTE["rule"]]
    assert on.errors() == []
