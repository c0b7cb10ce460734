"""Rules with the real client: an edit is refused, a command is asked about, and a session is told of what it broke."""

import pytest

from waiting import eventually

from .model import use

pytestmark = pytest.mark.client

WORDS = "Files of the shop are made by its generator."


@pytest.fixture
def ruled(on):
    on.enforce(on.claude)
    assert eventually(on.workers_ended)
    return on


def test_an_edit_is_refused_and_a_command_is_asked_about(ruled, model):
    made, asked = ruled.project / "made" / "a.txt", use("Bash", command="touch asked")
    model.will(use("Write", file_path=str(made), content="x"), asked, asked, asked, "Done.")
    run = ruled.claude("go", "--allowedTools", "Bash,Write")
    refused, *answers = (request.tool_results()[-1] for request in run.main[1:])
    assert "Not written: " in refused
    assert "breaks a rule of the user's memory “shop-rules”: How files of the shop are made." in refused
    assert not made.exists()
    assert WORDS in run.main[1].text()
    print("ANSWERS", answers)
    reasons = [each["items"][0]["reason"] for each in ruled.deliveries() if each["event"] == "PreToolUse"]
    asks = ["never touch asked*: asked"] * 2 + ["never touch asked*: broke, as the call came again"]
    assert reasons == ["never made/**: refused", *asks]
    assert (run.returncode, run.stdout.strip()) == (0, "Done.")
    assert (ruled.project / "asked").exists(), "nobody is there to ask, so the third goes through"
    assert ruled.errors() == []


def test_what_a_turn_broke_is_told_with_the_next_prompt_once(ruled, model):
    model.will(use("Bash", command="touch told"), "Done.")
    first = ruled.claude("go", "--allowedTools", "Bash")
    assert (ruled.project / "told").exists()
    assert eventually(ruled.workers_ended)
    again = ruled.claude("and now?", resume=first.session_id)
    assert "A rule of it was just broken in this session, by `touch told`" in again.main[-1].text()
    assert WORDS in again.main[-1].text()
    model.will(use("Bash", command="touch told2"), "Done.")
    ruled.claude("go", "--allowedTools", "Bash", resume=first.session_id)
    assert eventually(ruled.workers_ended)
    assert ruled.claude("and now?", resume=first.session_id).main[-1].text().count("was just broken") == 1
    assert ruled.errors() == []
