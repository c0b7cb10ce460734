"""From what a person says to a memory that the next session knows of."""

import pytest

from waiting import eventually

from .client import injected
from .model import use

pytestmark = pytest.mark.client

CORRECTION = "No, don't use npm here. From now on always use pnpm in this repository."


def drafts(on):
    return on.waiting("updates") + on.waiting("updates", scope="global")


def updates(on):
    return [e for e in on.memtui_json("inbox")["entries"] if e["kind"] == "draft"]


def learn(on, model, *prompts):
    """Say these in one session and wait until a draft is there."""
    model.will("I ran npm install.")
    run = on.claude("please install the dependencies")
    for prompt in prompts:
        model.will("Understood, pnpm it is.")
        run = on.claude(prompt, resume=run.session_id)
    assert eventually(lambda: "pnpm" in drafts(on))
    return run


@pytest.mark.client(always=True)
def test_a_correction_becomes_a_draft_then_a_memory_the_next_session_knows(on, model):
    run = learn(on, model, CORRECTION)
    assert "always use pnpm" in drafts(on)
    (entry,) = updates(on)
    assert entry["fields"]["session"] == run.session_id
    (block,) = injected(on.claude("hello").main[0], "pending-updates")
    assert "pnpm" in block.text
    on.memtui("approve", entry["id"])
    assert "pnpm" not in drafts(on)
    (memory,) = on.memtui_json("list")["memories"]
    assert memory["type"] == "feedback"
    assert "pnpm" in memory["description"]
    assert not (on.project / ".claude").exists()
    after = on.claude("hello again")
    # It is in the client's native memory, which the client loads by itself.
    assert memory["name"] in after.main[0].text()
    assert injected(after.main[0], "pending-updates") == []


def test_an_approved_memory_goes_without_secrets_to_the_project_and_index(on, model):
    key = "sk-ant-" + "api03-" + "Zx9" * 30
    learn(on, model, f"No, from now on always use pnpm with the token {key} in this repository.")
    on.memtui(
        "new", "house-rules", "--scope", "project", "--description", "Ours", "--body", "Ours", "--type", "project"
    )
    (entry,) = updates(on)
    on.memtui("approve", entry["id"])
    name = next(m["name"] for m in on.memtui_json("list")["memories"] if "pnpm" in m["description"])
    path = on.project / ".claude" / "memory" / f"{name}.md"
    for each in (path, *on.root.rglob("*")):
        assert each.is_dir() or key.encode() not in each.read_bytes()
    after = on.claude("hello again")
    assert any(name in b.text for b in injected(after.main[0], "index"))


def test_the_same_correction_is_one_draft_and_stays_away_once_rejected(on, model):
    run = learn(on, model, CORRECTION, "go on", CORRECTION)
    assert eventually(on.workers_ended)
    (entry,) = updates(on)
    on.memtui("reject", entry["id"])
    again = on.claude(CORRECTION, resume=run.session_id)
    assert eventually(on.workers_ended)
    assert again.returncode == 0
    assert "pnpm" not in drafts(on)


def test_what_a_hook_injected_is_never_extracted(on):
    on.leave("From now on always use yarn. Remember: never push to main. No, that's wrong, use yarn.", from_="script")
    on.remember("prefer-yarn", "From now on always use yarn, never npm")
    run = on.claude("hello")
    assert run.main[0].count("always use yarn") >= 1
    on.claude("and now?", resume=run.session_id)
    assert eventually(on.workers_ended)
    assert "yarn" not in drafts(on)


def test_unfinished_work_reaches_the_next_session(on, model):
    """By the list of tasks where the client offers one; else by what the agent itself says is left."""

    def script(request):
        if "TaskCreate" not in [tool["name"] for tool in request.body["tools"]]:
            return "The changelog is written.\n\nRemaining:\n- [ ] Fix the flaky upload test\n- [x] Write the changelog"
        if request.tool_results():
            return "I could not finish everything."
        create = {"description": "as said", "activeForm": "Working"}
        return [
            use("TaskCreate", subject="Fix the flaky upload test", **create),
            use("TaskCreate", subject="Write the changelog", **create),
            use("TaskUpdate", taskId="2", status="completed"),
        ]

    model.script = script
    assert on.claude("please do both").returncode == 0
    assert eventually(lambda: "upload" in on.waiting("items"))
    (block,) = injected(on.claude("hello").main[0], "pending-items")
    assert "Fix the flaky upload test" in block.text
    assert "changelog" not in block.text
