"""A session over time: resume, fork, compaction, clear, modes, and deliveries that did not arrive."""

import pytest

from .client import injected
from .model import call, say, use

pytestmark = pytest.mark.client


def count(request, kind, needle):
    return sum(b.text.count(needle) for b in injected(request, kind))


def furnish(on):
    """One of everything."""
    on.remember("prefer-pnpm", "Use pnpm, never npm")
    on.leave("The lockfile job is red.", from_="ci-watch")
    on.leave("Draft: use tabs", kind="updates", kind_="correction", time="2026-11-20T10:00:00Z")
    on.leave("- [ ] fix the upload test", kind="items")


NEEDLES = {
    "index": "prefer-pnpm",
    "guidance": "lockfile job is red",
    "pending-updates": "use tabs",
    "pending-items": "fix the upload test",
}


def tally(request):
    return {kind: count(request, kind, needle) for kind, needle in NEEDLES.items()}


@pytest.mark.client(always=True)
def test_a_session_that_is_resumed_or_continued_is_given_nothing_twice(on):
    furnish(on)
    first = on.claude("hi")
    assert tally(first.main[0]) == dict.fromkeys(NEEDLES, 1)
    on.claude("more", resume=first.session_id)
    assert tally(on.claude("and more", "--continue").main[0]) == dict.fromkeys(NEEDLES, 1)


def test_a_fork_has_what_its_parent_had_and_both_are_told_what_is_new(on):
    furnish(on)
    first = on.claude("hi")
    fork = on.claude("more", "--resume", first.session_id, "--fork-session")
    assert fork.session_id != first.session_id
    assert tally(fork.main[0]) == dict.fromkeys(NEEDLES, 1)
    on.leave("Draft: use tabs in make files", kind="updates", kind_="correction", time="2026-11-20T10:00:00Z")
    on.remember("green-ci", "Merge only when it is green")
    second = on.claude("more", "--resume", first.session_id, "--fork-session")
    for run in (second, on.claude("more", resume=first.session_id), on.claude("and more", resume=fork.session_id)):
        assert count(run.main[0], "pending-updates", "make files") == 1
        assert (count(run.main[0], "index", "green-ci"), count(run.main[0], "index", "prefer-pnpm")) == (1, 1)


@pytest.mark.client(always=True)
def test_a_compaction_in_mid_turn_redelivers_what_was_lost_at_once(on, model):
    furnish(on)
    on.env["CLAUDE_CODE_AUTO_COMPACT_WINDOW"] = "200000"
    model.will(
        call(use("Bash", command="echo 1")), call(use("Bash", command="echo 2"), input_tokens=190_000), say("bye")
    )
    run = on.claude("hi", "--allowedTools", "Bash")
    assert [r.kind for r in run.requests if r.kind != "aux"] == ["main", "main", "compact", "main"]
    assert tally(run.main[-1]) == dict.fromkeys(NEEDLES, 1)
    assert {b.event for b in injected(run.main[-1])} == {"SessionStart"}


def test_a_compaction_between_turns_brings_back_lists_not_spent_guidance(on):
    furnish(on)
    first = on.claude("hi")
    on.claude("more", resume=first.session_id)
    compacted = on.claude("/compact", resume=first.session_id)
    assert [r.kind for r in compacted.requests if r.kind != "aux"] == ["compact"]
    after = on.claude("go on", resume=first.session_id)
    assert tally(after.main[-1]) == {**dict.fromkeys(NEEDLES, 1), "guidance": 0}
    again = on.claude("go on", resume=first.session_id)
    assert tally(again.main[-1]) == {**dict.fromkeys(NEEDLES, 1), "guidance": 0}


def slow_down(on, seconds=4):
    """Make the client give up on the hooks that speak, after they have printed and logged."""
    settings = on.settings()
    for event in ("SessionStart", "UserPromptSubmit"):
        for group in settings["hooks"][event]:
            for hook in group["hooks"]:
                hook["command"] = hook["command"].replace("|| exec ", "|| ") + f"; sleep {seconds}"
                hook["timeout"] = 1
    return on.settings(settings)


def test_what_came_too_late_comes_next_session_and_receipts_tell_arrivals(on):
    good = on.settings()
    slow_down(on)
    on.leave("The lockfile job is red.", from_="ci-watch")
    late = on.claude("hi")
    on.settings(good)
    next_one = on.claude("hello")
    assert count(next_one.main[0], "guidance", "lockfile job") == 1
    deliveries = on.memtui_json("activity")["deliveries"]
    outcomes = {each["session_id"]: each["outcome"] for each in deliveries if each["event"] == "UserPromptSubmit"}
    assert outcomes == {late.session_id: "timed out", next_one.session_id: "arrived"}


def test_what_came_too_late_comes_with_the_next_prompt_of_the_session_once(on):
    good = on.settings()
    slow_down(on)
    furnish(on)
    late = on.claude("hi")
    assert late.attachments("hook_cancelled")
    assert tally(late.main[0]) == dict.fromkeys(NEEDLES, 0)
    on.settings(good)
    for _ in range(2):
        assert tally(on.claude("more", resume=late.session_id).main[0]) == dict.fromkeys(NEEDLES, 1)
    assert on.waiting() == ""
