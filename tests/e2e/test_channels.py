"""What a person says becomes a draft, wherever they say it."""

import pytest

from waiting import eventually

from . import channels
from .channels import CHANNELS, QUESTION

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


@pytest.mark.every(of=4)
@pytest.mark.parametrize("channel", CHANNELS)
def test_what_is_said_becomes_a_draft(on, model, channel):
    with CHANNELS[channel](on, model, SAID):
        (draft,) = eventually(on.drafts)
    assert "pnpm" in draft.text.splitlines()[0]
    assert f"> you: {SAID}" in draft.text
    assert BEFORE.get(channel, "") in draft.text
    assert (draft.fields.get("request", channels.TASK), on.errors()) == (channels.TASK, [])


def test_an_option_that_is_picked_becomes_none(on, model):
    with channels.begun(on, model, channels.nobody, channels.question(SAID, "yarn")) as terminal:
        terminal.see("Which package manager")
        terminal.press(channels.ENTER)
        terminal.see("Answer one")
        assert eventually(lambda: list(on.root.glob("sessions/*.cursor.json")))
    assert (on.drafts(), on.errors()) == ([], [])
