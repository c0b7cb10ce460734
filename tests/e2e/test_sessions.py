"""A session over time: resume, fork, compaction, clear, modes, and deliveries that did not arrive."""

import pytest

from .client import injected
from .model import call, say, use

pytestmark = pytest.mark.client


def texts(request, kind=None):
    return [b.text for b in injected(request, kind)]


def count(request, kind, needle):
    return sum(text.count(needle) for text in texts(request, kind))


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


def test_a_resume_delivers_nothing_twice(on):
    furnish(on)
    first = on.claude("hi")
    assert tally(first.main[0]) == dict.fromkeys(NEEDLES, 1)
    again = on.claude("more", resume=first.session_id)
    again = on.claude("and more", resume=again.session_id)
    assert tally(again.main[0]) == dict.fromkeys(NEEDLES, 1)


def test_a_continued_session_delivers_nothing_twice(on):
    furnish(on)
    on.claude("hi")
    assert tally(on.claude("more", "--continue").main[0]) == dict.fromkeys(NEEDLES, 1)


def test_a_fork_has_what_its_parent_had(on):
    furnish(on)
    first = on.claude("hi")
    fork = on.claude("more", "--resume", first.session_id, "--fork-session")
    assert fork.session_id != first.session_id
    assert tally(fork.main[0]) == dict.fromkeys(NEEDLES, 1)
    on.leave("For the fork", from_="script")
    assert count(on.claude("more", resume=fork.session_id).main[0], "guidance", "For the fork") == 1


def test_a_fork_is_told_what_is_new_and_so_is_its_parent(on):
    furnish(on)
    first = on.claude("hi")
    on.leave("Draft: use tabs in make files", kind="updates", kind_="correction", time="2026-11-20T10:00:00Z")
    on.remember("green-ci", "Merge only when it is green")
    fork = on.claude("more", "--resume", first.session_id, "--fork-session")
    parent = on.claude("more", resume=first.session_id)
    for run in (fork, parent, on.claude("and more", resume=fork.session_id)):
        assert count(run.main[0], "pending-updates", "make files") == 1
        assert count(run.main[0], "index", "green-ci") == 1
        assert count(run.main[0], "index", "prefer-pnpm") == 1


def test_a_fork_and_its_parent_have_guidance_that_came_before_a_tool(on, model):
    first = told_before_a_tool(on, model)
    fork = on.claude("more", "--resume", first.session_id, "--fork-session")
    parent = on.claude("more", resume=first.session_id)
    for run in (fork, parent, on.claude("and more", resume=fork.session_id)):
        assert count(run.main[0], "guidance", "Production is down.") == 1


def told_before_a_tool(on, model):
    """A session that was given a note before a tool."""

    def script(request):
        if not request.tool_results():
            on.leave("Production is down.", urgent="yes")
            return use("Bash", command="echo 1")
        return "bye"

    model.script = script
    first = on.claude("hi", "--allowedTools", "Bash")
    assert count(first.main[1], "guidance", "Production is down.") == 1
    model.script = None
    return first


def test_guidance_given_before_a_tool_is_there_after_a_resume_and_once(on, model):
    first = told_before_a_tool(on, model)
    second = on.claude("more", resume=first.session_id)
    assert count(second.main[0], "guidance", "Production is down.") == 1
    third = on.claude("more", resume=first.session_id)
    assert count(third.main[0], "guidance", "Production is down.") == 1


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


def test_a_compaction_between_turns_brings_the_lists_back_but_not_spent_guidance(on):
    furnish(on)
    first = on.claude("hi")
    on.claude("more", resume=first.session_id)
    compacted = on.claude("/compact", resume=first.session_id)
    assert [r.kind for r in compacted.requests if r.kind != "aux"] == ["compact"]
    after = on.claude("go on", resume=first.session_id)
    assert tally(after.main[-1]) == {**dict.fromkeys(NEEDLES, 1), "guidance": 0}
    again = on.claude("go on", resume=first.session_id)
    assert tally(again.main[-1]) == {**dict.fromkeys(NEEDLES, 1), "guidance": 0}


def test_a_clear_starts_afresh(on):
    furnish(on)
    first = on.claude("hi")
    cleared = on.claude("/clear", resume=first.session_id)
    assert cleared.session_id != first.session_id
    after = on.claude("hello", resume=cleared.session_id)
    assert tally(after.main[0]) == {**dict.fromkeys(NEEDLES, 1), "guidance": 0}


@pytest.mark.parametrize("where", ["everywhere", "project"])
@pytest.mark.parametrize("mode", ["notes", "off"])
def test_modes(on, mode, where):
    furnish(on)
    head = "" if where == "everywhere" else f'[projects."{on.project}"]\n'
    (on.root / "config.toml").write_text(f'{head}mode = "{mode}"\n')
    run = on.claude("hi")
    wanted = {"guidance": 1, "pending-items": 1} if mode == "notes" else {}
    assert tally(run.main[0]) == {**dict.fromkeys(NEEDLES, 0), **wanted}
    assert ("lockfile" in on.waiting()) is (mode == "off")
    assert len(run.attachments("hook_system_message")) == (mode == "notes")


@pytest.mark.parametrize("variable", ["CLAUDE_HEADLESS", "MEMTUI_INSIDE"])
def test_a_headless_run_gets_nothing_and_takes_nothing(on, variable):
    furnish(on)
    run = on.claude("hi", env={variable: "1"})
    assert tally(run.main[0]) == dict.fromkeys(NEEDLES, 0)
    assert run.attachments("hook_system_message") == []
    assert on.deliveries() == []
    assert tally(on.claude("hi").main[0]) == dict.fromkeys(NEEDLES, 1)


def slow_down(on, event, seconds=4):
    """Make the client give up on one event's hook, after it has printed and logged."""
    settings = on.settings()
    for group in settings["hooks"][event]:
        for hook in group["hooks"]:
            hook["command"] = hook["command"].replace("|| exec ", "|| ") + f"; sleep {seconds}"
            hook["timeout"] = 1
    return settings


def test_guidance_that_came_too_late_comes_with_the_next_prompt(on):
    good = on.settings()
    on.settings(slow_down(on, "UserPromptSubmit"))
    on.leave("The lockfile job is red.", from_="ci-watch")
    late = on.claude("hi")
    assert late.attachments("hook_cancelled")
    assert late.main[0].count("lockfile job") == 0
    on.settings(good)
    run = on.claude("more", resume=late.session_id)
    assert count(run.main[0], "guidance", "lockfile job") == 1
    assert on.waiting() == ""
    assert on.claude("more", resume=late.session_id).main[0].count("The lockfile job is red.") == 1


def test_guidance_that_came_too_late_comes_to_the_next_session(on):
    good = on.settings()
    on.settings(slow_down(on, "UserPromptSubmit"))
    on.leave("The lockfile job is red.", from_="ci-watch")
    on.claude("hi")
    on.settings(good)
    assert count(on.claude("hello").main[0], "guidance", "lockfile job") == 1


def test_lists_that_came_too_late_come_with_the_next_prompt(on):
    good = on.settings()
    on.settings(slow_down(on, "UserPromptSubmit"))
    on.leave("Draft: use tabs", kind="updates", kind_="correction", time="2026-11-20T10:00:00Z")
    on.leave("- [ ] fix the upload test", kind="items")
    late = on.claude("hi")
    on.settings(good)
    run = on.claude("more", resume=late.session_id)
    assert count(run.main[0], "pending-updates", "use tabs") == 1
    assert count(run.main[0], "pending-items", "upload test") == 1


def test_an_index_that_came_too_late_comes_at_the_next_start(on):
    good = on.settings()
    on.settings(slow_down(on, "SessionStart"))
    on.remember("prefer-pnpm", "Use pnpm, never npm")
    late = on.claude("hi")
    assert late.main[0].count("prefer-pnpm") == 0
    on.settings(good)
    assert count(on.claude("more", resume=late.session_id).main[0], "index", "prefer-pnpm") == 1


def test_receipts_say_what_arrived_and_what_did_not(on):
    on.leave("First note", from_="script")
    good = on.claude("hi")
    on.settings(slow_down(on, "UserPromptSubmit"))
    on.leave("Second note", from_="script")
    late = on.claude("hi")
    found = {}
    for record in on.memtui_json("activity")["deliveries"]:
        if record["event"] == "UserPromptSubmit":
            found[record["session_id"]] = record["outcome"]
    assert found == {good.session_id: "arrived", late.session_id: "timed out"}
