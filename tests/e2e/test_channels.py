"""What a person says becomes a draft, wherever they say it."""

import pytest

from waiting import eventually

from . import channels
from .channels import CHANNELS, QUESTION
from .model import use

pytestmark = pytest.mark.client

SAID = "Never use npm here, from now on always use pnpm"
# What the agent had said before, as the draft quotes it.
BEFORE = {
    "answered": QUESTION,
    "noted": QUESTION,
    "refused": "I run npm install.",
    "approved": "Bash: touch made-by-npm",
    "plan_sent_back": "Here is my plan.",
    "plan_approved": "Here is my plan.",
}


@pytest.mark.every(of=2)
@pytest.mark.parametrize("channel", CHANNELS)
def test_what_is_said_becomes_a_draft(on, model, channel):
    with CHANNELS[channel](on, model, SAID):
        (draft,) = eventually(on.drafts)
    assert "pnpm" in draft.text.splitlines()[0]
    assert f"> you: {SAID}" in draft.text
    assert BEFORE.get(channel, "") in draft.text
    assert draft.fields.get("request", channels.TASK) == channels.TASK
    assert on.errors() == []


@pytest.mark.slow  # a clock of the client strikes every minute
def test_what_the_agent_has_a_clock_say_becomes_none(on, model):
    on.allow("CronCreate")
    said = "No, never use yarn, from now on always use npm for installing packages."
    with channels.begun(on, model, channels.nobody, use("CronCreate", cron="* * * * *", prompt=said)) as terminal:
        terminal.see("Answer one")
        terminal.see("scheduled task", 90)
        terminal.see("Answer one")
        terminal.say(SAID)
        terminal.see("Answer one")
        (draft,) = eventually(on.drafts)
    assert draft.text.splitlines()[0].endswith("pnpm")
    assert said in "".join(path.read_text() for path in on.config.glob("projects/*/*.jsonl"))
    assert on.errors() == []


def test_an_option_that_is_picked_becomes_none(on, model):
    with channels.begun(on, model, channels.nobody, channels.question(SAID, "yarn")) as terminal:
        terminal.see("Which package manager")
        terminal.press(channels.ENTER)
        terminal.see("Answer one")
        assert eventually(lambda: list(on.root.glob("sessions/*.cursor.json")))
    assert on.drafts() == []
    assert on.errors() == []
