"""Drafts that a model proposes, end to end: after a turn of the real client, over both backends."""

import os

import pytest

from memtui.core.inbox import format as inbox_format

from .model import use

pytestmark = pytest.mark.client

SAID = "The staging database is shared with the sales team, so tell them in #sales before you reset it."


@pytest.mark.parametrize("backend", ["api", "claude"])
def test_what_a_model_finds_in_a_turn_waits_in_the_inbox(on, model, tmp_path, backend):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "claude").symlink_to(on.binary)
    on.env["PATH"] = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    on.memtui("config", "set", "llm_backend", backend)
    on.memtui("config", "set", "extract_ask", "true")
    note = {
        "turn": "t1",
        "quote": "tell them in #sales before you reset it",
        "kind": "preference",
        "type": "project",
        "name": "Tell sales before a reset",
        "rule": "Tell #sales before resetting the staging database",
        "everywhere": False,
        "confidence": 0.9,
    }
    invented = {**note, "turn": "t1", "quote": "delete the staging database"}

    def script(request):
        if "<memtui-person" not in request.text():
            return "Done."
        names = [each["name"] for each in request.body["tools"]]
        return use(next(each for each in ("answer", "StructuredOutput") if each in names), notes=[invented, note])

    model.script = script

    def drafts():
        files = on.root.glob("projects/*/pending-updates.md")
        return [entry for each in files for entry in inbox_format.read(str(each))]

    run = on.claude(SAID)
    assert on.eventually(drafts, 30), on.errors()
    (draft,) = drafts()
    assert draft.text.splitlines()[0] == "Tell #sales before resetting the staging database"
    assert (draft.fields["session"], draft.fields["type"]) == (run.session_id, "project")
    assert [(each["purpose"], each["outcome"]) for each in on.memtui_json("llm", "log")["calls"]] == [("extract", "ok")]
    assert on.errors() == []
