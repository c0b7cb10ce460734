"""What a model selects for a prompt, with the real client: before the next tool, or with a later prompt, and only once."""

import pytest

from tables import rows
from waiting import eventually

from .model import Reply, call, say, structured, use
from .talk import Talk
from .test_recall import BODY, indexed, memories, others, write

pytestmark = pytest.mark.client

PROMPT = "tell the whole crew that everything is ready for tomorrow"


def is_selection(request):
    return "<memtui-notes>" in request.text()


def of_session(model):
    return [request for request in model.main if not is_selection(request)]


def choice(request, **how):
    """The answer that selects the memory “launch”, and one that is invented."""
    listed = [line[2:].partition(":")[0] for line in request.text().splitlines() if line.startswith("- m")]
    names = [name for name in listed if "launch" in name]
    return call(structured(request, notes=["poem.md", *names]), **how)


def outcomes(on):
    return [each["outcome"] for each in on.memtui_json("model", "log")["calls"]][::-1]


def is_answered(on):
    return any((on.root / "sessions").glob("*.selected.json"))


@pytest.fixture
def selecting(on):
    """A world in which a model selects memories, by the API until a test says otherwise."""
    others(on.config / "memory")
    write(on.config / "memory", "launch", "Checklist of Friday", BODY)
    indexed(on)
    on.memtui("config", "set", "recall_select", "true")
    on.asks("api")
    return on


@pytest.mark.client(always=True)
@pytest.mark.parametrize("backend", ["api", "claude"])
def test_an_answer_after_the_first_tool_comes_before_the_second(selecting, model, backend):
    on = selecting
    on.asks(backend)
    steps = [
        call(use("Bash", command="true"), delay=2),
        call(use("Bash", command="true"), until=lambda: is_answered(on) or memories(of_session(model)[-1])),
        "Done.",
    ]
    model.script = lambda request: choice(request, delay=1) if is_selection(request) else steps.pop(0)
    on.claude(PROMPT, "--allowedTools", "Bash")
    assert memories(of_session(model)[-1]) == [("PreToolUse", "launch")]
    (record,) = [each for each in on.deliveries() if each["event"] == "PreToolUse" and each["items"]]
    assert (record["items"][0]["reason"], outcomes(on), on.errors()) == ("selected by a model", ["ok"], [])


@pytest.mark.every
@pytest.mark.parametrize("backend", ["api", "claude"])
@pytest.mark.parametrize(("then", "arrives"), rows(__file__, "without a tool it comes with a prompt that goes on"))
def test_without_a_tool_it_comes_with_a_prompt_that_goes_on(selecting, model, backend, then, arrives):
    on = selecting
    on.asks(backend)
    asked = []

    def script(request):
        if not is_selection(request):
            return "It is Anna, or Ben."
        asked.append(request.text())
        return choice(request) if len(asked) == 1 else structured(request, notes=[])

    model.script = script
    with Talk(on) as talk:
        talk.say(PROMPT)
        assert eventually(lambda: is_answered(on))
        talk.say(then)
        assert then == "yes" or eventually(lambda: len(asked) == 2)
        talk.say("yes")
    assert memories(of_session(model)[-1]) == [("UserPromptSubmit", "launch")] * arrives
    reasons = [item["reason"] for each in on.deliveries() for item in each["items"] if item["kind"] == "recall"]
    assert reasons == ["selected by the model for the prompt before"] * arrives
    if then != "yes":
        before, _, after = asked[1].partition("<memtui-prompt>")
        assert f"<memtui-person>\n{PROMPT}" in before
        assert "<memtui-agent>\nIt is Anna, or Ben." in before
        assert then in after
    assert on.errors() == []


def test_an_answer_after_the_end_of_the_session_is_dropped(selecting, model):
    on = selecting
    model.script = lambda request: (
        choice(request, until=lambda: outcomes(on) == ["cancelled"])
        if is_selection(request)
        else say("Done.", until=lambda: any(map(is_selection, model.requests)))
    )
    run = on.claude(PROMPT)
    assert eventually(lambda: outcomes(on) == ["cancelled"])
    on.claude("yes", resume=run.session_id)
    assert not any(map(memories, of_session(model)))
    assert not is_answered(on)
    assert on.errors() == []


FAULTS = {
    "late": lambda request: choice(request, delay=8),
    "cut": lambda request: choice(request, cut=40),
    "refused": lambda _: say("I can't.", stop="refusal"),
    "invalid": lambda request: structured(request, notes="launch"),
    "rejected": lambda _: Reply([], status=404, error="not_found_error"),
}


@pytest.mark.every
@pytest.mark.parametrize("backend", ["api", "claude"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_model_that_fails_costs_a_session_nothing(selecting, model, backend, fault):
    on = selecting
    on.asks(backend)
    on.memtui("config", "set", "llm_timeout", "5" if fault == "late" else "60")
    working = []
    model.script = lambda request: (
        (choice(request) if working else FAULTS[fault](request)) if is_selection(request) else "Done."
    )
    with Talk(on) as talk:
        assert talk.say(PROMPT) == "Done."
        assert eventually(lambda: [each for each in outcomes(on) if each != "begun"], 30)
        (outcome,) = outcomes(on)
        assert outcome != "ok"
        on.memtui("config", "set", "llm_timeout", "120")
        working.append(fault)
        assert talk.say("does the crew know it by now?") == "Done."
        assert eventually(lambda: is_answered(on), 40), outcomes(on)
        assert talk.say("yes") == "Done."
    assert (memories(of_session(model)[-1]), on.errors()) == ([("UserPromptSubmit", "launch")], [])
    print(backend, fault, outcome)
