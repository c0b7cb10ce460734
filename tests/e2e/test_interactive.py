"""What only a terminal shows: the banner, messages typed in mid-turn, and sessions that are compacted and cleared."""

import pytest

from .client import injected
from .model import call, use
from .terminal import Terminal

pytestmark = pytest.mark.client


def kinds(request):
    return [b.kind for b in injected(request)]


def finished(model, number):
    """The conversation's request of that number has been answered."""
    return lambda: len(model.main) >= number


def test_the_person_sees_the_banner_and_the_model_does_not(on, model):
    on.remember("prefer-pnpm", "Use pnpm, never npm")
    with Terminal(on) as terminal:
        assert "memtui full" in terminal.see(r"SessionStart:startup says: memtui full[^\r\n]*")
        terminal.say("hi")
        terminal.see("Done")
    assert model.main[0].count("memtui full") == 0
    assert kinds(model.main[0]) == ["index"]


def test_a_long_session_gets_each_thing_once(on, model):
    on.remember("prefer-pnpm", "Use pnpm, never npm")
    on.leave("Draft: use tabs", kind="updates", kind_="correction", time="2026-11-20T10:00:00Z")
    with Terminal(on) as terminal:
        model.will("Answer one.", "Answer two.", "Answer three.", "Answer four.")
        terminal.say("first")
        terminal.see("Answer one")
        on.leave("A note.", from_="script")
        terminal.say("second")
        terminal.see("Answer two")
        assert kinds(model.main[-1]) == ["index", "pending-updates", "guidance"]
        terminal.say("/compact")
        terminal.see("Compacted")
        terminal.say("third")
        terminal.see("Answer three")
        assert sorted(kinds(model.main[-1])) == ["index", "pending-updates"]
        terminal.say("/clear")
        terminal.see("says: memtui full")
        terminal.say("fourth")
        terminal.see("Answer four")
        assert sorted(kinds(model.main[-1])) == ["index", "pending-updates"]
    assert on.errors() == []


def test_guidance_that_is_not_urgent_waits_for_the_next_prompt(on, model):
    on.settings({**on.settings(), "permissions": {"allow": ["Bash"]}})
    model.will(call(use("Bash", command="echo 1"), delay=1.5), "Answer one.", "Answer two.")
    with Terminal(on) as terminal:
        terminal.say("first")
        on.eventually(lambda: model.main)
        on.leave("A note.", from_="script")
        terminal.see("Answer one")
        assert [r.count("A note.") for r in model.main] == [0, 0]
        terminal.say("second")
        terminal.see("Answer two")
    assert kinds(model.main[-1]) == ["guidance"]


def test_a_correction_typed_in_mid_turn_becomes_a_draft(on, model):
    on.settings({**on.settings(), "permissions": {"allow": ["Bash"]}})
    model.will(
        call(use("Bash", command="npm install"), text="I run npm install.", delay=2),
        call(use("Bash", command="true"), delay=1),
        "Answer one.",
    )
    with Terminal(on) as terminal:
        terminal.say("install the dependencies")
        on.eventually(lambda: model.main)
        terminal.say("no, from now on always use pnpm instead of npm")
        terminal.see("Answer one")
    on.eventually(lambda: "pnpm" in on.waiting("updates"))
    assert on.waiting("updates").count("always use pnpm") >= 1
