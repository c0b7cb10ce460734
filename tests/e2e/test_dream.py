"""A dream with the real client: `claude -p` asked by memtui, with no hook of ours inside; and the worker that starts one
at the end of a turn, once its gates are open."""

import json

import pytest

from memtui.base import paths_hot
from memtui.tidy import gates
from waiting import eventually

from .model import Reply, say, structured
from .test_recall import indexed
from .test_selection import FAULTS, is_answered, is_selection

pytestmark = pytest.mark.client


@pytest.fixture
def dreamy(on):
    """A world with hooks, two memories that say the same, and the client on the PATH."""
    on.remember("use-pnpm", "The web repository uses pnpm 9")
    on.remember("no-npm", "The web repository uses pnpm 9, not npm")
    on.asks("claude")
    return on


def merged(request):
    """The model's answer to a dream: merge what it is asked about."""
    names = list(request.notes())
    text = {"description": "The web repository uses pnpm 9", "body": "Use pnpm 9 in the web repository."}
    return structured(
        request,
        actions=[{"action": "merge", "memories": names, "keep": names[0], "reason": "They say the same.", **text}],
    )


def had_sessions(world, project):
    """Let the project have had enough sessions for a dream."""
    sessions = world.root / "sessions"
    sessions.mkdir(exist_ok=True)
    state = {"v": 1, "project": paths_hot.project_key(str(project)), "project_root": str(project)}
    for number in range(gates.ENOUGH_SESSIONS):
        (sessions / f"{project.name.replace(' ', '-')}-{number}.json").write_text(json.dumps(state))


def memories(world):
    return {each.name: each.read_text() for each in (world.config / "memory").glob("*.md")}


@pytest.mark.every(of=4)
@pytest.mark.parametrize("backend", ["api", "claude"])
def test_after_enough_sessions_a_worker_dreams_and_leaves_proposals_only(dreamy, model, backend):
    dreamy.asks(backend)
    dreamy.memtui("config", "set", "dream", "true")
    had_sessions(dreamy, dreamy.project)
    model.script = lambda request: merged(request) if "<memtui-note" in request.text() else "Done."
    before = memories(dreamy)
    dreamy.claude("hello")
    proposals = dreamy.root / "proposals"
    assert eventually(lambda: list(proposals.glob("*.json"))), dreamy.errors()
    assert "merge" in {each["kind"] for each in dreamy.memtui_json("inbox")["entries"]}
    (change,) = json.loads(next(proposals.glob("*.json")).read_text())["changes"]
    assert (change["kind"], memories(dreamy), dreamy.errors()) == ("merge", before, [])
    # The session's own deliveries, and none of a headless client's.
    assert len({each["session_id"] for each in dreamy.deliveries()}) == 1
    dreams = [each for each in dreamy.memtui_json("model", "log")["calls"] if each["purpose"] == "dream"]
    assert [(each["backend"], each["outcome"]) for each in dreams] == [(backend, "ok")]
    # The next turn starts no other.
    dreamy.claude("hello again")
    calls = dreamy.memtui_json("model", "log")["calls"]
    assert [each["purpose"] for each in calls].count("dream") == 1


@pytest.mark.every
@pytest.mark.parametrize("backend", ["api", "claude"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_dream_without_an_answer_is_told_and_leaves_memories_alone(dreamy, model, backend, fault):
    dreamy.asks(backend)
    dreamy.memtui("config", "set", "dream", "true")
    dreamy.memtui("config", "set", "llm_timeout", "5" if fault == "late" else "60")
    had_sessions(dreamy, dreamy.project)
    model.script = lambda request: FAULTS[fault](request) if "<memtui-note" in request.text() else "Done."
    before = memories(dreamy)
    dreamy.claude("hello")
    told = lambda: " ".join(dreamy.memtui("doctor", check=False).stdout.split())
    assert eventually(lambda: "The last dream had no answer:" in told(), 40), dreamy.errors()
    print(backend, fault, told().partition("had no answer: ")[2].partition("·")[0])
    assert any(words in told() for words in ("memtui config set llm_", "Try again later", "Check the network"))
    assert memories(dreamy) == before
    model.script = merged
    dreamy.memtui("config", "set", "llm_timeout", "120")
    dreamy.memtui("consolidate", "--ask-model", "--yes")
    assert "The last dream had no answer:" not in told()
    assert dreamy.errors() == []


@pytest.mark.every
@pytest.mark.parametrize("backend", ["api", "claude"])
def test_for_a_model_that_is_gone_the_best_one_selects_and_dreams(dreamy, model, backend):
    indexed(dreamy)
    dreamy.asks(backend)
    model.offered = ["llama-9"]
    for key, value in {"llm_model": "gone-1", "recall_select": "true", "dream": "true"}.items():
        dreamy.memtui("config", "set", key, value)
    had_sessions(dreamy, dreamy.project)

    def script(request):
        if "<memtui-note" not in request.text():
            return say("Done.", until=lambda: is_answered(dreamy))
        if request.body["model"] not in model.offered:
            return Reply([], status=404, error="not_found_error")
        return structured(request, notes=["m1"]) if is_selection(request) else merged(request)

    model.script = script
    dreamy.claude("tell the whole crew that everything is ready for tomorrow")
    assert eventually(lambda: list((dreamy.root / "proposals").glob("*.json")) and dreamy.workers_ended())
    calls = dreamy.memtui_json("model", "log")["calls"]
    assert {(each["purpose"], each["model"], each["outcome"]) for each in calls} == {
        ("recall", "llama-9", "ok"),
        ("dream", "llama-9", "ok"),
    }
    assert dreamy.errors() == []


@pytest.mark.every(of=4)
@pytest.mark.parametrize("backend", ["api", "claude"])
def test_a_second_project_is_dreamed_of_the_same_day(on, model, backend):
    other = on.base / "other"
    other.mkdir()
    on.git("init", "-q", cwd=other)
    for project in (on.project, other):
        for name in ("use-pnpm", "no-npm"):
            path = on.config / "projects" / paths_hot.slug(str(project)) / "memory" / f"{name}-{project.name[:2]}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"---\nname: {path.stem}\ndescription: {project.name} uses pnpm 9\n---\nUse pnpm 9 here.\n")
        had_sessions(on, project)
    on.asks(backend)
    on.memtui("config", "set", "dream", "true")
    model.script = lambda request: merged(request) if "<memtui-note" in request.text() else "Done."
    for project, count in ((on.project, 1), (other, 2)):
        on.claude("hello", cwd=project)
        assert eventually(lambda count=count: len([*on.root.glob("proposals/*.json")]) == count), on.errors()
        entries = on.memtui_json("inbox", "--project", str(project))["entries"]
        changes = [json.dumps(entry) for entry in entries if "haiku" in str(entry.get("by"))]
        assert [f"npm-{project.name[:2]}" in change for change in changes].count(True) == 1
        assert "haiku" in on.memtui("consolidate", "--project", str(project)).stdout
    on.claude("hello again", cwd=other)
    assert eventually(on.workers_ended)
    calls = on.memtui_json("model", "log")["calls"]
    assert [call["outcome"] for call in calls if call["purpose"] == "dream"] == ["ok", "ok"]
    assert on.errors() == []
