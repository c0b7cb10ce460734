"""What the client drops: branches that a person leaves, prompts that are blocked, and clients that end too early."""

import signal

import pytest

from waiting import eventually

from .client import injected
from .model import say
from .terminal import Terminal

pytestmark = pytest.mark.client

NEEDLES = {"guidance": "A note.", "pending-updates": "use tabs", "pending-items": "upload test"}
ESCAPE, UP = "\x1b", "\x1b[A"


def furnish(on):
    on.leave("A note.", from_="script")
    on.leave("Draft: use tabs", kind="updates", kind_="correction", time="2026-11-20T10:00:00Z")
    on.leave("- [ ] fix the upload test", kind="items")


def tally(request):
    found = injected(request)
    return {kind: sum(b.text.count(needle) for b in found if b.kind == kind) for kind, needle in NEEDLES.items()}


def repeated(request):
    return [block.attributes.get("repeat") for block in injected(request, "guidance")]


def outcomes(on):
    return [r["outcome"] for r in on.memtui_json("activity")["deliveries"] if r["event"] == "UserPromptSubmit"]


def settled(on):
    return not list(on.root.glob("**/claimed/*"))


def test_what_came_with_a_prompt_taken_back_before_the_answer_comes_again(on, model):
    furnish(on)
    with Terminal(on) as terminal:
        model.will(say("Never read.", delay=8), "Answer one.", "Answer two.", "Answer three.")
        terminal.say("first")
        assert eventually(lambda: model.main)
        assert eventually(lambda: any(b"hook_additional_context" in each.read_bytes() for each in transcripts(on)))
        terminal.press(ESCAPE)
        terminal.see("first")  # back in the editor
        terminal.press("\r")
        terminal.see("Answer one")
        assert tally(model.main[1]) == dict.fromkeys(NEEDLES, 0)
        assert eventually(lambda: settled(on))
        assert eventually(lambda: list(on.root.glob("sessions/*.missed.json")))
        assert outcomes(on) == ["dropped"]
        terminal.say("second")
        terminal.see("Answer two")
        assert tally(model.main[2]) == dict.fromkeys(NEEDLES, 1)
        assert repeated(model.main[2]) == ["yes"]
        terminal.say("third")
        terminal.see("Answer three")
        assert tally(model.main[3]) == dict.fromkeys(NEEDLES, 1)
    assert eventually(lambda: outcomes(on) == ["arrived", "dropped"])
    assert (on.waiting(), on.errors()) == ("", [])


def transcripts(on):
    """That of the session, once the client has begun it."""
    return list(on.config.glob("projects/*/*.jsonl"))


def test_a_rewind_tells_again_what_the_context_lost_but_no_answered_note(on, model):
    with Terminal(on) as terminal:
        model.will("Answer zero.", "Answer one.", "Answer two.", "Answer three.", "Answer four.")
        terminal.say("zeroth")
        terminal.see("Answer zero")
        on.leave("A note.", from_="script")
        on.leave("Draft: use tabs", kind="updates", kind_="correction", time="2026-11-20T10:00:00Z")
        terminal.say("first")
        terminal.see("Answer one")
        assert eventually(lambda: settled(on) and list(on.root.glob("sessions/*.tip.json")))
        terminal.say("/rewind")
        terminal.see("Restore")
        terminal.press(UP, "\r")
        terminal.see("Confirm|1. Restore")
        terminal.press("\r")
        terminal.see("first")
        terminal.press("\x15")
        terminal.say("second")
        terminal.see("Answer two")
        assert tally(model.main[2]) == dict.fromkeys(NEEDLES, 0)
        assert eventually(lambda: list(on.root.glob("sessions/*.missed.json")))
        for number, answer in enumerate(("Answer three", "Answer four"), 3):
            terminal.say(f"prompt {number}")
            terminal.see(answer)
            assert tally(model.main[number]) == {**dict.fromkeys(NEEDLES, 0), "pending-updates": 1}
    assert eventually(lambda: outcomes(on) == ["arrived", "arrived"])
    assert on.errors() == []


def other_hook(on, command, event="UserPromptSubmit"):
    settings = on.settings()
    settings["hooks"][event].append({"hooks": [{"type": "command", "command": command, "timeout": 60}]})
    return on.settings(settings)


@pytest.mark.every(of=4)
@pytest.mark.parametrize("command", ['echo \'{"decision": "block", "reason": "no"}\'', "echo no >&2; exit 2"])
def test_a_note_for_a_prompt_a_hook_blocked_comes_to_the_next_session(on, command):
    good = on.settings()
    on.settings(other_hook(on, f"sleep 0.5; {command}"))
    furnish(on)
    assert on.claude("hi").main == []
    on.settings(good)
    run = on.claude("hello")
    assert tally(run.main[0]) == dict.fromkeys(NEEDLES, 1)
    assert (repeated(run.main[0]), on.errors()) == ([None], [])


def break_off(on, model, sent):
    """A session that ends while its model has the note and has not answered; its id."""
    on.leave("A note.", from_="script")
    model.will(say("Never read.", delay=20))
    process = on.start("more")
    assert eventually(lambda: model.main)
    assert eventually(lambda: any(b"hook_additional_context" in each.read_bytes() for each in transcripts(on)))
    process.send_signal(sent)
    process.communicate(timeout=30)
    return on.deliveries()[-1]["session_id"]


@pytest.mark.every(of=4)
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL])
def test_a_note_whose_answer_broke_off_comes_again_but_not_to_its_session(on, model, sent):
    session = break_off(on, model, sent)
    run = on.claude("hello")
    assert (run.main[0].count("A note."), repeated(run.main[0])) == (1, ["yes"])
    assert on.claude("go on", resume=session).main[0].count("A note.") == 1
    assert eventually(lambda: outcomes(on) == ["arrived", "arrived"])
    assert on.errors() == []


@pytest.mark.every(of=4)
@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("resumed", [False, True])
def test_a_note_for_a_client_that_ended_while_hooks_ran_comes_again(on, sent, resumed):
    good = on.settings()
    first = on.claude("hi") if resumed else None
    on.settings(other_hook(on, "sleep 20"))
    furnish(on)
    process = on.start("more", *(("--resume", first.session_id) if first else ()))
    assert eventually(lambda: any("A note." in r["text"] for r in on.deliveries()))
    process.send_signal(sent)
    process.communicate(timeout=30)
    on.settings(good)
    if sent == signal.SIGTERM:
        assert eventually(lambda: settled(on))
    run = on.claude("hello")
    assert (run.main[0].count("A note."), repeated(run.main[0]), on.errors()) == (1, ["yes"], [])


@pytest.mark.every(of=4)
@pytest.mark.parametrize("env", [{}, {"CLAUDE_CODE_SKIP_PROMPT_HISTORY": "1"}])
def test_a_session_that_leaves_no_transcript_was_told_what_it_was_told(on, model, env):
    furnish(on)
    model.will("Remaining:\n- write the release notes")
    run = on.claude("hi", *([] if env else ["--no-session-persistence"]), env=env)
    assert run.transcript_path is None
    assert tally(run.main[0]) == dict.fromkeys(NEEDLES, 1)
    assert eventually(lambda: settled(on))
    assert eventually(lambda: "write the release notes" in on.waiting("items"))
    assert (on.errors(), on.waiting(), on.claude("hello").main[0].count("A note.")) == ([], "", 0)
