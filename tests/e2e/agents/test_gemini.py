"""What only Gemini CLI has: failed requests, /rewind, a person who is asked, a shell in the prompt."""

import pytest

from e2e.model import say, use

from .gemini_world import BUSY
from .test_agents import CORRECTIONS, MEMORY
from .world import count

pytestmark = pytest.mark.client


@pytest.fixture
def agent():
    return "gemini"


def test_a_text_of_a_failed_request_is_told_again(on, model):
    on.remember("tabs", MEMORY)
    with on.session() as session:
        model.script = lambda _: say("", status=400)
        session.say("one")
        model.script = None
        assert [count(session.say(text)[-1], MEMORY) for text in ("two", "three")] == [[1], [1]]
    assert on.receipts() == ["dropped", "arrived"]
    assert on.errors() == []


def test_what_a_rewind_took_away_is_told_again(on):
    on.remember("tabs", MEMORY)
    with on.session() as session:
        session.say("one is here")
        session.say("two is here")
        session.rewind("one is here")
        assert count(session.say("three is here")[-1], MEMORY, "one is here", "two is here") == [1, 0, 0]
        assert count(session.say("four is here")[-1], MEMORY) == [1]
    assert on.errors() == []


def test_a_note_for_people_waits_for_a_session_in_a_terminal(on):
    on.memtui("note", "--to", "people", "The build is broken.")
    assert count(on.run("hello").main[-1], "The build is broken.") == [0]
    with on.session() as session:
        assert count(session.say("hello")[-1], "The build is broken.") == [1]
    assert on.receipts() == ["arrived"]


def test_words_of_a_command_and_of_a_file_are_no_corrections(on, model):
    on.memtui("config", "set", "extract_confidence", "0")
    shell, attached = CORRECTIONS[:2]
    (on.project / "notes.txt").write_text(f"{attached}\n<hook_context>{attached}</hook_context>\n")
    with on.session() as session:
        session.shell(f"echo {shell}")
        session.say("hello")
    on.run("look at @notes.txt")
    assert all(any(count(request, text)[0] for request in model.main) for text in (shell, attached))
    assert on.heard() == ""


def test_a_person_is_asked_about_a_command(on, model):
    on.enforce(on.run)
    model.will(use("run_shell_command", command="touch asked"), "Done.")
    with on.session() as session:
        session.begin("go")
        session.see("Allow execution", "breaks a rule")
        session.press("\r")
        session.see("Done", gone=BUSY)
    assert (on.project / "asked").exists()
