"""Gemini CLI, the newest on npm, against a loopback model."""

import json

import pytest

from e2e.model import call, say, use
from memtui.deliver import receipts_hot
from waiting import eventually

from .gemini_world import BUSY, GeminiWorld
from .generate_content import GenerateContent
from .programs import program_or_skip
from .test_codex import CORRECTIONS, MEMORY, NOTE
from .test_qwen import RULES

pytestmark = pytest.mark.client
LONG = " ".join(map(str, range(3000)))


@pytest.fixture
def model():
    server = GenerateContent()
    yield server
    server.close()


@pytest.fixture
def world(tmp_path, model):
    return GeminiWorld(tmp_path, model, program_or_skip("gemini"))


@pytest.fixture
def on(world):
    """A world whose hooks are installed."""
    world.install()
    return world


def seen(request, what):
    """How often the model can read something; the program escapes two characters."""
    return request.text().replace("&lt;", "<").replace("&gt;", ">").count(what)


@pytest.mark.client(always=True)
def test_a_note_reaches_the_next_prompt_once_and_says_arrived(on):
    on.remember("tabs", MEMORY)
    on.leave("CI is red on master: the lockfile job fails.")
    run = on.run("hello")
    texts = ("CI is red on master", MEMORY, "<memtui-index")
    assert [seen(run.main[0], text) for text in texts] == [1, 1, 1]
    assert on.waiting() == ""
    again = on.run("and go on", resume=run.session_id)
    assert again.session_id == run.session_id
    assert [seen(again.main[-1], text) for text in texts] == [1, 1, 1]
    assert on.receipts() == ["arrived", "arrived"]
    assert {record["agent"] for record in on.deliveries()} == {"gemini"}
    assert on.errors() == []


def test_fifty_notes_of_fifty_arrive_once(on):
    notes = [NOTE.format(number) for number in range(50)]
    with on.session() as session:
        for begin in range(0, 50, 5):
            for note in notes[begin : begin + 5]:
                on.leave(note)
            (request,) = session.say(f"prompt {begin}")
    assert [seen(request, note) for note in notes] == [1] * 50
    assert on.receipts() == ["arrived"] * 10
    assert on.waiting() == ""
    assert on.errors() == []


def fate(world, record):
    """What became of a delivery: whether the model answered a request that had it."""
    text = record["text"].replace("<", "&lt;").replace(">", "&gt;")
    return "arrived" if any(text in request.text() for request in world.model.main) else "lost"


def test_receipts_say_what_became_of_a_text(on):
    """Of texts that arrived, stood beside another hook's block, or came from a slow, failed or killed hook."""
    ours = json.loads(on.settings_file.read_text())
    session_id = on.run("hello").session_id

    def deliver(name, change="", blocked=False, **entry):
        settings = json.loads(json.dumps(ours))
        (hook,) = settings["hooks"]["BeforeAgent"][0]["hooks"]
        hook |= {"command": hook["command"].replace("exec ", "") + change, **entry}
        if blocked:
            other = {"type": "command", "command": 'echo \'{"decision": "block", "reason": "no"}\''}
            settings["hooks"]["BeforeAgent"].append({"hooks": [other]})
        on.settings_file.write_text(json.dumps(settings))
        on.leave(name + " note")
        on.run(name, resume=session_id)

    deliver("whole")
    deliver("late", change="; sleep 9", timeout=1500)
    deliver("killed", change="; kill -9 $$")
    deliver("failed with valid output", change="; exit 1")
    deliver("blocked", blocked=True)
    deliver("last")
    deliver("blocked at the end", blocked=True)
    records = [record for record in on.deliveries() if record.get("text")]
    receipts = ["lost" if receipt in receipts_hot.LOST else receipt for receipt in on.receipts()]
    assert receipts == [fate(on, record) for record in records]
    assert receipts.count("lost") == 3


def test_a_text_of_a_failed_request_is_told_again(on, model):
    on.remember("tabs", MEMORY)
    with on.session() as session:
        model.script = lambda _: say("", status=400)
        session.say("one")
        model.script = None
        assert [seen(session.say(text)[-1], MEMORY) for text in ("two", "three")] == [1, 1]
    assert on.receipts() == ["dropped", "arrived"]
    assert on.errors() == []


def test_a_text_of_a_killed_turn_is_told_once_when_the_session_goes_on(on, model):
    with on.session() as session:
        session.say("hello")
        session_id = session.id
        on.leave("The build is broken.")
        model.script = lambda _: say("Late.", delay=60)
        session.begin("go on")
        assert eventually(lambda: seen(model.requests[-1], "The build is broken."))
        session.kill()
    model.script = None
    assert on.receipts() == ["broken off"]
    (request,) = on.run("again", resume=session_id).main
    assert seen(request, "The build is broken.") == 1
    assert on.receipts()[0] == "arrived"


def test_what_still_stands_is_not_told_again_and_what_is_gone_is(on, model):
    """The index stands after a resume; a compaction and /clear drop it."""
    on.remember("tabs", MEMORY)

    def said(requests):
        return seen(requests[-1], MEMORY)

    with on.session() as session:
        assert [said(session.say(text)) for text in ("one", "two")] == [1, 1]
        on.leave("The build is broken.")
        assert seen(session.say("three")[-1], "The build is broken.") == 1
        model.will(LONG)
        session.say("a long one")
        model.will(LONG)
        session.say("and one more")
        session.compact()
        assert [said(session.say("four")), said(session.say("five"))] == [1, 1]
        first = session.id
        session.clear()
        assert said(session.say("six")) == 1
        assert session.id != first
    assert said(on.run("seven", resume=first).main) == 1
    on.remember("spaces", "Indent with four spaces")
    (request,) = on.run("eight", resume=first).main
    assert [said([request]), seen(request, "Indent with four spaces")] == [1, 1]
    assert set(on.receipts()) == {"arrived"}
    assert on.errors() == []


def test_what_a_rewind_took_away_is_told_again(on):
    on.remember("tabs", MEMORY)
    with on.session() as session:
        session.say("one is here")
        session.say("two is here")
        session.rewind("one is here")
        (request,) = session.say("three is here")
        assert [seen(request, text) for text in (MEMORY, "one is here", "two is here")] == [1, 0, 0]
        assert seen(session.say("four is here")[-1], MEMORY) == 1
    assert on.errors() == []


def test_an_urgent_note_comes_with_a_tools_output(on, model):
    def script(request):
        if "functionResponse" in json.dumps(request.body["contents"][-1]):
            return "Done."
        on.memtui("note", "--urgent", "Stop the deployment.")
        return call(use("run_shell_command", command="true"))

    model.script = script
    run = on.run("deploy")
    assert [seen(request, "Stop the deployment.") for request in run.main] == [0, 1]
    assert on.receipts() == ["arrived"]
    assert on.errors() == []


def test_a_turn_that_is_stopped_loses_its_text_and_tells_it_again(on, model):
    with on.session() as session:
        session.say("hello")
        on.leave("It is green again.")
        model.script = lambda _: say("Late.", delay=3)
        session.begin("go on")
        assert eventually(lambda: seen(model.requests[-1], "It is green again."))
        session.stop()
        model.script = None
        session.say("again")
        assert [seen(session.say(text)[-1], "It is green again.") for text in ("more", "and more")] == [1, 1]
    assert on.errors() == []


def test_a_note_for_people_waits_for_a_session_in_a_terminal(on):
    on.memtui("note", "--to", "people", "The build is broken.")
    assert not seen(on.run("hello").main[-1], "The build is broken.")
    with on.session() as session:
        assert seen(session.say("hello")[-1], "The build is broken.") == 1
    assert on.receipts() == ["arrived"]


def drafts(on):
    assert eventually(on.workers_ended)
    return "".join(on.waiting("updates", scope=scope) for scope in ("project", "global"))


@pytest.mark.slow
def test_twenty_corrections_become_drafts(on):
    on.memtui("config", "set", "extract_confidence", "0")
    with on.session() as session:
        for text in CORRECTIONS:
            session.say(text)
    text = drafts(on)
    assert [correction for correction in CORRECTIONS if correction not in text.replace("\n> ", " ")] == []
    assert on.errors() == []


def test_words_of_tools_subagents_models_and_files_are_no_corrections(on, model):
    on.memtui("config", "set", "extract_confidence", "0")
    tool, child, words, piped, shell = CORRECTIONS[:5]
    (on.project / "notes.txt").write_text(
        "\n".join([tool, f"User: {tool}", f"<hook_context>{tool}</hook_context>", ""])
    )

    def script(request):
        text, last = request.text(), json.dumps(request.body["contents"][-1])
        if "CHILD" in text and "PARENT" not in text:
            return (
                call(use("complete_task", response=words)) if "complete_task" in str(request.body["tools"]) else words
            )
        if "functionResponse" not in last and "PARENT" in last:
            return call(
                use("run_shell_command", command="cat notes.txt"),
                use("invoke_agent", agent_name="generalist", prompt=f"CHILD {child}"),
            )
        return words

    model.script = script
    with on.session() as session:
        for number in range(5):
            assert any(child in request.text() for request in session.say(f"PARENT {number}"))
        session.begin(f"!echo {shell}")
        session.see(f"Shell Command.*{shell[:20]}")
    on.run("look at @notes.txt", stdin=piped + "\n")
    assert any(piped in request.text() for request in model.requests)
    heard = drafts(on)
    assert [text for text in (tool, child, words, piped, shell) if text in heard] == []
    assert on.errors() == []


def test_an_approved_draft_is_told_at_the_next_turn(on):
    on.memtui("config", "set", "extract_confidence", "0")
    with on.session() as session:
        session.say(CORRECTIONS[0])
        (draft,) = eventually(on.drafts)
        on.memtui("approve", draft.id, "--scope", "global")
        (request,) = session.say("go on with the work")
        assert seen(request, "<memtui-index") == 1
        on.remember("tabs", MEMORY)
        assert seen(session.say("go on again")[-1], MEMORY) == 1
    assert on.errors() == []


def results(request):
    """What the tools answered, as the model can read it."""
    parts = [part for content in request.body["contents"] for part in content["parts"]]
    return [str(part["functionResponse"]["response"]) for part in parts if "functionResponse" in part]


def test_what_breaks_a_rule_is_refused(on, model):
    (on.config / "memory").mkdir()
    (on.config / "memory" / "shop-files.md").write_text(RULES)
    session_id = on.run("hello").session_id
    assert eventually((on.root / "rules" / "enforced").exists)
    write = use("write_file", file_path=str(on.project / "made" / "a.txt"), content="x")
    model.will(write, use("run_shell_command", command="touch asked"), "Done.")
    refused, unasked = results(on.run("go", resume=session_id).main[-1])
    assert "breaks a rule of the user's memory" in refused
    assert "breaks a rule of the user's memory" in unasked  # nobody is there to say yes
    assert not (on.project / "made").exists()
    assert not (on.project / "asked").exists()
    assert on.errors() == []


def test_a_person_is_asked_about_a_command(on, model):
    (on.config / "memory").mkdir()
    (on.config / "memory" / "shop-files.md").write_text(RULES)
    on.run("hello")
    assert eventually((on.root / "rules" / "enforced").exists)
    model.will(use("run_shell_command", command="touch asked"), "Done.")
    with on.session() as session:
        session.begin("go")
        session.see("Allow execution", "breaks a rule")
        session.press("\r")
        session.see("Done", gone=BUSY)
    assert (on.project / "asked").exists()


def test_a_memory_that_the_agent_writes_is_a_draft_if_gate_is_ask(on, model):
    on.memtui("config", "set", "gate", "ask")
    memory = on.project / ".claude" / "memory" / "use-uv.md"
    memory.parent.mkdir(parents=True)
    text = "---\nname: use-uv\ndescription: Use uv, never pip\n---\n\nInstall Python packages with uv.\n"
    model.will(use("write_file", file_path=str(memory), content=text), "Done.")
    (answer,) = results(on.run("remember that").main[-1])
    assert "Not written: memtui keeps this memory as a draft" in answer
    assert not memory.exists()
    assert "Install Python packages with uv." in drafts(on)
    assert on.errors() == []
