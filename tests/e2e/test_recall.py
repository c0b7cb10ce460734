"""Recall, end to end: the memory that fits reaches the model, once, and only if it may; the transcript proves it."""

import os
import time

import pytest

from recalls import bring
from waiting import eventually

from .client import injected
from .model import use

pytestmark = pytest.mark.client

PROMPT = "please put the new version of the shop live for everybody"
TRIGGER = "when somebody wants to put a new version of the shop live"
BODY = "Tag the commit, wait until the pipeline is green, then approve the production job."


def write(directory, name, description, body, *more):
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{name}.md"
    path.write_text("\n".join(["---", f"name: {name}", f"description: {description}", *more, "---", "", body, ""]))
    return path


def others(directory):
    for name, body in (
        ("coffee", "The machine on the second floor needs descaling."),
        ("colours", "Charts use the palette of the brand guide."),
        ("timezones", "Store all times in UTC, and convert them when they are shown."),
    ):
        write(directory, name, f"About {name}", body)


def memories(request):
    return [(b.event, b.attributes["name"]) for b in injected(request) if b.kind == "memory"]


def indexed(on):
    """Ask for anything, until the worker of a session has built the index."""
    on.claude("hi")
    assert eventually(lambda: list((on.root / "recall").glob("*.index")))
    on.memtui("recall", PROMPT)


@pytest.mark.client(always=True)
def test_a_prompt_receives_the_memory_by_its_trigger_once_until_it_changes(on):
    directory = on.config / "memory"
    others(directory)
    path = write(directory, "cicd", "CI/CD considerations", BODY, "triggers:", f"  - {TRIGGER}")
    indexed(on)
    first = on.claude(PROMPT)
    assert memories(first.main[0]) == [("UserPromptSubmit", "cicd")]
    assert BODY in first.main[0].text()
    assert on.claude(PROMPT, resume=first.session_id).main[-1].count(BODY) == 1
    path.write_text(path.read_text() + "Then tell the support.\n")
    assert on.claude(PROMPT, resume=first.session_id).main[-1].count("Then tell the support.") == 1
    records = [r for r in on.deliveries() if any(i["kind"] == "recall" for i in r["items"])]
    assert [(r["session_id"], r["items"][0]["path"]) for r in records] == [(first.session_id, str(path))] * 2
    assert all(r["items"][0]["probability"] >= 0.4 for r in records)
    shown = on.memtui_json("activity")
    outcomes = {each["id"]: each["outcome"] for each in shown["deliveries"]}
    assert [outcomes[r["id"]] for r in records] == ["arrived", "arrived"]
    assert on.errors() == []


def test_a_command_that_a_memory_forbids_is_refused_once_with_it_as_reason(on, model):
    others(on.config / "memory")
    write(on.config / "memory", "prefer-pnpm", "Use pnpm", "The lock file is pnpm's.", "forbids: npm install")
    indexed(on)
    model.will(*[use("Bash", command="npm install left-pad || echo RAN")] * 3, "bye")
    run = on.claude("hi", "--allowedTools", "Bash")
    first, again, passed_through = (request.tool_results()[-1] for request in run.main[1:])
    assert "breaks a rule of the user's memory “prefer-pnpm”: Use pnpm." in first
    assert "breaks a rule" in again
    assert "breaks a rule" not in passed_through
    assert memories(run.main[1]) == [("PreToolUse", "prefer-pnpm")]
    assert run.main[3].count("The lock file is pnpm's.") == 2
    record, _, passed = [each for each in on.deliveries() if each["event"] == "PreToolUse"]
    assert record["items"][0]["reason"] == "never npm * install *: refused"
    assert passed["items"][0]["action"] == "broke"
    (receipt,) = [each for each in on.memtui_json("activity")["deliveries"] if each["id"] == record["id"]]
    assert receipt["outcome"] == "arrived"
    # Nobody but the hook refused it.
    assert (on.waiting("updates"), on.errors()) == ("", [])


def test_what_fails_its_own_check_is_marked_and_a_rule_not_given(on):
    directory, lock = on.project / ".claude/memory", on.project / "yarn.lock"
    lock.write_text("")
    for name, kind in (("cicd", "feedback"), ("launch", "project")):
        fields = (f"type: {kind}", "verify: glob yarn.lock", "triggers:", f"  - {TRIGGER}")
        write(directory, name, f"Notes on {name}", f"{BODY} So says {name}.", *fields)
    others(directory)
    on.memtui("trust", "--yes")

    def recalled(state):
        def states():
            return {m["check"]["state"] for m in on.memtui_json("list")["memories"] if m["check"]}

        assert eventually(lambda: states() == {state})
        request = on.claude(PROMPT).main[0]
        return sorted(name for _, name in memories(request)), "Its own check has failed since" in request.text()

    indexed(on)
    assert recalled("holds") == (["cicd", "launch"], False)
    lock.unlink()
    on.claude("hi")
    assert recalled("fails") == (["launch"], True)
    assert "2 memories whose own check fails" in on.memtui("status").stdout
    lock.write_text("")
    on.memtui("check")
    assert recalled("holds") == (["cicd", "launch"], False)
    assert on.errors() == []


@pytest.mark.every
def test_a_memory_that_prompts_bring_in_vain_is_muted_and_unmuted(on):
    directory, turns = on.config / "memory", on.base / "turns"
    others(directory)
    path, days_ago = (
        write(directory, "cicd", "CI/CD considerations", BODY, "triggers:", f"  - {TRIGGER}"),
        time.time() - 9e5,
    )
    os.utime(path, (days_ago, days_ago))
    indexed(on)
    turns.mkdir()
    bring(str(on.root), turns, path, days_ago + 9e4, range(11))
    proposed = lambda: [each for each in on.memtui_json("consolidate")["changes"] if each["kind"] == "mute"]
    brought = lambda: [name for _, name in memories(on.claude(PROMPT).main[0])]
    assert (proposed(), brought()) == ([], ["cicd"])
    (mute,) = proposed()
    assert "12 prompts in 7 sessions" in mute["reason"]
    on.memtui("approve", mute["id"], "--yes")
    assert (proposed(), brought()) == ([], [])
    on.memtui("undo")
    assert (len(proposed()), brought(), on.errors()) == (1, ["cicd"], [])
