"""What a person types in the client's own dialogs becomes a draft: the answer to a question, and what they say when they send a
plan back or approve it."""

import os
import re

import pytest

from memtui.core.inbox import format as inbox_format

from .model import call, use
from .terminal import Terminal
from .test_extraction import NOTE as RULE_NOTE
from .test_extraction import SAID as STAGING

pytestmark = pytest.mark.client

SAID = "Never use npm here, from now on always use pnpm"
QUESTION = "Which package manager should I use?"
OPTIONS = [{"label": "npm", "description": "the usual one"}, {"label": "yarn", "description": "the other one"}]
UP, ENTER, SHIFT_TAB = "\x1b[A", "\r", "\x1b[Z"
PLAN_FILE = re.compile(r"(/[^\n`\"'<>]*?/plans/[\w-]+\.md)")


def drafts(on):
    files = on.root.glob("projects/*/pending-updates.md")
    return [entry for each in files for entry in inbox_format.read(str(each))]


def drafted(on, agent):
    """The draft of what was said, after these words of the agent."""
    (draft,) = on.eventually(lambda: drafts(on))
    assert "pnpm" in draft.text.splitlines()[0]
    assert f"> you: {SAID}" in draft.text
    assert agent in draft.text
    assert on.errors() == []


def test_a_typed_answer_to_a_question_becomes_a_draft(on, model):
    asked = {"question": QUESTION, "header": "Manager", "multiSelect": False, "options": OPTIONS}
    model.will(call(use("AskUserQuestion", questions=[asked]), text="I need to know."), "Answer one.")
    with Terminal(on) as terminal:
        terminal.say("install the dependencies")
        terminal.see("Which package manager")
        terminal.press("3", SAID, ENTER)  # behind the two options it is the field for another answer
        terminal.see("Answer one")
    drafted(on, f"> agent: {QUESTION}")


def test_an_option_that_is_chosen_becomes_none(on, model):
    asked = {
        "question": QUESTION,
        "header": "Manager",
        "multiSelect": False,
        "options": [{**OPTIONS[0], "label": SAID}],
    }
    asked["options"].append(OPTIONS[1])
    model.will(call(use("AskUserQuestion", questions=[asked]), text="I need to know."), "Answer one.")
    with Terminal(on) as terminal:
        terminal.say("install the dependencies")
        terminal.see("Which package manager")
        terminal.press(ENTER)
        terminal.see("Answer one")
        on.eventually(lambda: list(on.root.glob("sessions/*.cursor.json")))
    assert drafts(on) == []


@pytest.mark.parametrize(("key", "outcome"), [(ENTER, "want to proceed"), (SHIFT_TAB, "approved your plan")])
def test_what_is_said_to_a_plan_becomes_a_draft(on, model, key, outcome):
    """The plan is sent back with these words, or approved with them."""

    def script(request):
        done = request.tool_results()
        if not done:
            path = PLAN_FILE.search(request.text())[1]
            plan = "# Plan\n\n1. Run npm install\n2. Run the tests\n"
            return call(use("Write", file_path=path, content=plan), text="I will run npm install.")
        return call(use("ExitPlanMode"), text="Here is my plan.") if len(done) == 1 else "Answer one."

    model.script = script
    with Terminal(on, "--permission-mode", "plan") as terminal:
        terminal.say("install the dependencies")
        terminal.see("Would you like to proceed")
        terminal.press(UP, SAID, key)  # the last answer is: tell Claude what to change
        terminal.see("Answer one")
    assert outcome in model.main[-1].tool_results()[-1]
    drafted(on, "Here is my plan.")


NOTE = {**RULE_NOTE, "confidence": 1}


def drafting(on, tmp_path, backend):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "claude").symlink_to(on.binary)
    on.env["PATH"] = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    on.memtui("config", "set", "llm_backend", backend)
    on.memtui("config", "set", "extract_ask", "true")
    on.memtui("config", "set", "extract_confidence", "1")  # of what the rules are not so sure of, the model is asked


def notes(request):
    """What a model answers that is asked for drafts, if what it is asked about has these words; else None."""
    if "<memtui-person" not in request.text() or STAGING not in request.text():
        return None
    turn = re.search(r'<memtui-person turn="(t\d+)">\n' + re.escape(STAGING), request.text())[1]
    names = [each["name"] for each in request.body["tools"]]
    return use(next(n for n in ("answer", "StructuredOutput") if n in names), notes=[{**NOTE, "turn": turn}])


@pytest.mark.parametrize("channel", ["queued", "refused"])
@pytest.mark.parametrize("backend", ["api", "claude"])
def test_a_model_drafts_of_what_is_said_in_a_refusal_or_in_mid_turn(on, model, tmp_path, backend, channel):
    drafting(on, tmp_path, backend)
    if channel == "queued":
        on.settings({**on.settings(), "permissions": {"allow": ["Bash"]}})
    turn = [call(use("Bash", command="touch x"), text="I reset the database.", delay=2 * (channel == "queued"))]
    model.script = lambda request: notes(request) or (turn.pop() if turn else "Answer one.")
    with Terminal(on) as terminal:
        terminal.say("fix the seeds")
        if channel == "queued":
            on.eventually(lambda: model.main)
            terminal.say(STAGING)
        else:
            terminal.see("Do you want to proceed")
            terminal.refuse(STAGING)
        terminal.see("Answer one")
        assert on.eventually(lambda: drafts(on), 20), on.errors()
    (draft,) = drafts(on)
    assert draft.text.splitlines()[0] == NOTE["rule"]
    assert draft.fields["by"] == "model"
    assert on.errors() == []
