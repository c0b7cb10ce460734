"""What became of a delivery, by the records the client writes (shapes as client 2.1.197 wrote them)."""

import json
import os
import subprocess
from pathlib import Path

import pytest

import recorded
from memtui.base import clock_hot
from memtui.client import process_hot
from memtui.deliver import receipts_hot

NOW = clock_hot.parse("2026-11-21T10:00:00Z")
ID = "01K8ZC5N8W3M1T9Q6V2R4B7XAD"
BLOCK = f'<memtui-guidance id="x" delivery="{ID}" scope="project">\nCI is red\n</memtui-guidance>'
COMMAND = "'/usr/bin/python3' -I -S '/site/memtui/hooks/launch.py' UserPromptSubmit"


def at(seconds):
    return clock_hot.iso(NOW + seconds)


def record(event="UserPromptSubmit", seconds=0.0, **more):
    return {"v": 1, "id": ID, "time": at(seconds), "event": event, "text": BLOCK, "items": [], **more}


def attachment(kind, seconds=0.1, **fields):
    return {"type": "attachment", "timestamp": at(seconds), "attachment": {"type": kind, **fields}}


def context(*texts, seconds=0.1, event="UserPromptSubmit"):
    return attachment("hook_additional_context", seconds, content=list(texts), hookEvent=event, toolUseID="hook-1")


def trouble(kind, seconds=0.1, event="UserPromptSubmit", command=COMMAND, **more):
    return attachment(kind, seconds, hookEvent=event, command=command, toolUseID="t", durationMs=200, **more)


def agent(seconds, message_id="m1", **more):
    return {"type": "assistant", "timestamp": at(seconds), "message": {"id": message_id, "content": []}, **more}


def prompt(seconds):
    return {"type": "user", "timestamp": at(seconds), "message": {"content": "hello"}}


def queue(operation, seconds):
    return {"type": "queue-operation", "operation": operation, "timestamp": at(seconds), "content": "hello"}


OTHER = attachment("skill_listing", -1)


def places(*rows):
    """The sizes of a transcript after each of the rows."""
    sizes, size = [], 0
    for row in rows:
        size += len(json.dumps(row)) + 1
        sizes.append(size)
    return sizes


@pytest.fixture
def transcript(tmp_path):
    path = tmp_path / "s.jsonl"

    def write(*rows):
        path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
        return receipts_hot.TranscriptView(str(path)).refresh()

    write.path = path
    return write


def outcome(view, row=None, now=NOW + 5):
    return receipts_hot.outcome(row or record(), view, now)


def test_each_hook_is_told_apart_and_runs_are_matched_by_event_and_command(transcript):
    preview = f"<persisted-output>\nOutput too large (10.8KB). Full output: /x\n\nPreview (first 2KB):\n{BLOCK}"
    other = BLOCK.replace(ID, "01K8ZC5N8W3M1T9Q6V2R4B7XAE")
    view = transcript(context(other, preview, event="SessionStart"))
    assert outcome(view, record("SessionStart")) == "previewed"
    assert outcome(view, {**record("SessionStart"), "id": "01K8ZC5N8W3M1T9Q6V2R4B7XAE"}) == "arrived"
    assert outcome(transcript(trouble("hook_cancelled", timedOut=True, timeoutMs=2000))) == "timed out"
    assert outcome(transcript(trouble("hook_cancelled"))) == "failed"
    assert outcome(transcript(trouble("hook_non_blocking_error", exitCode=137))) == "failed"
    assert outcome(transcript(trouble("hook_non_blocking_error", command="other-plugin run"))) == "waiting"
    assert outcome(transcript(trouble("hook_non_blocking_error", event="SessionStart"))) == "waiting"
    # A block that arrived outweighs the exit code.
    assert outcome(transcript(context(BLOCK), trouble("hook_non_blocking_error", exitCode=1))) == "arrived"


def test_it_waits_until_the_model_is_called_again_then_it_failed(transcript):
    assert outcome(transcript(OTHER, prompt(-0.1))) == "waiting"
    assert outcome(transcript(OTHER, prompt(-0.1), agent(3))) == "failed"
    assert outcome(transcript(OTHER, prompt(-0.1), prompt(60))) == "failed"
    assert outcome(transcript(OTHER, agent(3, isSidechain=True))) == "waiting", "a subagent's records say nothing of it"
    rows = (OTHER, agent(-1, "m1"), agent(0.5, "m1"))
    row = record("PreToolUse", transcript_size=places(*rows)[1])
    assert outcome(transcript(*rows), row) == "waiting"
    assert outcome(transcript(*rows, agent(1, "m2")), row) == "failed"
    # Nothing more is waited for after an hour.
    view = transcript(OTHER, prompt(-0.1))
    os.utime(transcript.path, (NOW, NOW))
    view.refresh()
    assert outcome(view, now=NOW + 7200) == "failed"


def test_without_hook_records_it_is_unknown_but_for_a_session_just_begun(tmp_path, transcript):
    assert outcome(transcript(prompt(-1), agent(3))) == "unknown"
    view = receipts_hot.TranscriptView(str(tmp_path / "gone.jsonl")).refresh()
    assert (outcome(view), outcome(view, record("SessionStart"))) == ("unknown", "waiting")
    assert outcome(view, record("SessionStart"), now=NOW + 7200) == "unknown"


def test_torn_lines_odd_records_and_unreadable_files_are_survived(transcript, tmp_path):
    view = transcript(OTHER)
    whole = json.dumps(context(BLOCK)).encode() + b"\n"
    with open(transcript.path, "ab") as out:
        out.write(whole[:50])
    assert outcome(view.refresh()) == "waiting"
    with open(transcript.path, "ab") as out:
        out.write(whole[50:])
    assert outcome(view.refresh()) == "arrived"
    os.mkfifo(tmp_path / "fifo")
    assert not receipts_hot.TranscriptView(str(tmp_path / "fifo")).refresh().exists
    odd = [{"type": "attachment", "attachment": value} for value in (None, 3, {"type": 3}, {"type": "hook_cancelled"})]
    odd += [context(None, 3), {"type": "assistant", "message": 7}, {"type": "user", "timestamp": 9}]
    assert outcome(transcript(*odd)) in {"waiting", "failed"}


def test_a_part_is_judged_by_whether_there_are_hook_records_before_it(transcript):
    rows = (OTHER, prompt(-0.1), agent(3))
    path, start = transcript(*rows).path, places(OTHER)[0]
    row = record(transcript_size=start)
    assert outcome(receipts_hot.view_from(path, start, limit=1000), row) == "failed"
    transcript(prompt(-1), *rows[1:])
    assert outcome(receipts_hot.view_from(path, start, limit=1000), row) == "unknown"
    assert receipts_hot.view_from(path, start, limit=10) is None, "that would take too long to find out"


@pytest.fixture
def env(tmp_path):
    return {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "config")}


def test_a_moved_transcript_is_found_and_what_a_subagent_got_unproved(tmp_path, env):
    place = tmp_path / "config" / "projects" / "-else-where"
    place.mkdir(parents=True)
    (place / "sess.jsonl").write_text(json.dumps(context(BLOCK)) + "\n")
    row = record(transcript=str(tmp_path / "gone.jsonl"), session_id="sess")
    assert receipts_hot.outcomes([row], env, NOW + 5) == {ID: "arrived"}
    assert receipts_hot.outcomes([{**row, "session_id": "../sess"}], env, NOW + 5) == {ID: "unknown"}
    main = tmp_path / "sess.jsonl"
    main.write_text(json.dumps(OTHER) + "\n" + json.dumps(agent(-2)) + "\n")
    inner = tmp_path / "sess" / "subagents"
    inner.mkdir(parents=True)
    (inner / "agent-abc.jsonl").write_text(json.dumps(agent(3, "m9", isSidechain=True)) + "\n")
    row = record("PreToolUse", transcript=str(main), session_id="sess", agent_id="abc")
    assert receipts_hot.outcomes([row], env, NOW + 5) == {ID: "unknown"}
    (inner / "agent-abc.jsonl").write_text(json.dumps(context(BLOCK, event="PreToolUse")) + "\n")
    assert receipts_hot.outcomes([row], env, NOW + 5) == {ID: "arrived"}


# A prompt typed in mid-turn, as client 2.1.330 wrote it: its context stays with it in the queue.
TYPED = [OTHER, prompt(-2), queue("enqueue", 0.1)]
DURING = record(transcript_size=places(*TYPED[:2])[-1])


def test_a_context_waits_or_is_lost_with_its_prompt_in_the_queue(transcript):
    assert outcome(transcript(*TYPED, agent(1.5)), DURING) == "waiting"
    assert outcome(transcript(*TYPED, agent(1.5), queue("remove", 1.6)), DURING) == "waiting"
    assert outcome(transcript(*TYPED, agent(1.5), queue("dequeue", 1.6), prompt(1.7)), DURING) == "waiting"
    taken = [*TYPED, agent(1.5), queue("remove", 1.6), context(BLOCK, seconds=0.1), agent(1.9, "m2")]
    assert outcome(transcript(*taken), DURING) == "arrived"
    assert outcome(transcript(*TYPED, queue("popAll", 1.0), agent(1.5)), DURING) == "failed"
    assert outcome(transcript(*TYPED, agent(1.5), queue("dequeue", 1.6), agent(1.9, "m2")), DURING) == "failed"
    view = transcript(*TYPED, queue("enqueue", 0.6), agent(1.5), queue("dequeue", 1.6), agent(1.9, "m2"))
    assert outcome(view, DURING) == "failed"
    assert outcome(view, record(transcript_size=places(*TYPED)[-1])) == "waiting"
    assert outcome(transcript(OTHER, queue("enqueue", -0.2), queue("dequeue", -0.1), agent(1.5)), DURING) == "failed"


# --- branches: the client goes on from an earlier record, as 2.1.197 and 2.1.330 do after Escape and /rewind


def linked(row, name, parent, **more):
    return {"uuid": name, "parentUuid": parent, **row, **more}


def asked(name, parent, prompt_id, seconds=-0.1):
    return linked(prompt(seconds), name, parent, promptId=prompt_id)


def told(name, parent, **more):
    return linked(context(BLOCK, **more), name, parent)


def answered(name, parent, message_id="m1", seconds=3, **message):
    row = linked(agent(seconds, message_id), name, parent)
    row["message"] |= message
    return row


def tool_use(name, parent, tool, message_id="m1"):
    return answered(name, parent, message_id, content=[{"type": "tool_use", "id": tool, "name": "Bash", "input": {}}])


def result(name, parent, tool):
    content = [{"type": "tool_result", "tool_use_id": tool, "content": "ok"}]
    return linked({"type": "user", "timestamp": at(1), "message": {"content": content}}, name, parent)


def last_prompt(leaf):
    return {"type": "last-prompt", "leafUuid": leaf}


GIVEN = [linked(OTHER, "a0", None), asked("p1", "a0", "P1"), told("c1", "p1"), linked(OTHER, "x1", "c1")]
ESCAPED = [*GIVEN, asked("p2", "a0", "P2", 9), answered("r2", "p2", seconds=10)]
DELIVERED = record(prompt_id="P1", transcript_size=1)


def test_what_was_given_waits_for_an_answer_below_it_and_drops_on_a_branch(transcript):
    assert outcome(transcript(*GIVEN), DELIVERED) == "waiting"
    assert outcome(transcript(*GIVEN, answered("r1", "x1")), DELIVERED) == "arrived"
    assert outcome(transcript(*ESCAPED), DELIVERED) == "dropped"
    # The same in pieces, and where somebody goes on from that branch after all.
    view = transcript(*ESCAPED[:3])
    assert outcome(view, DELIVERED) == "waiting"
    with open(view.path, "ab") as file:
        file.write(b"".join(json.dumps(row).encode() + b"\n" for row in ESCAPED[3:]))
    assert outcome(view.refresh(), DELIVERED) == "dropped"
    with open(view.path, "ab") as file:
        file.write(json.dumps(answered("r3", "x1", "m3")).encode() + b"\n")
    assert outcome(view.refresh(), DELIVERED) == "arrived"


def test_a_session_that_ends_without_an_answer_is_broken_off_or_dropped(transcript):
    for leaf, becomes in (("x1", "broken off"), ("a0", "dropped")):
        view = transcript(*GIVEN, last_prompt(leaf))
        assert outcome(view, DELIVERED) == "waiting"
        assert receipts_hot.outcome(DELIVERED, view, NOW + 5, ended=True) == becomes
    # 2.1.330 names the leaf of a turn that has just begun: it may be left yet.
    view = transcript(*GIVEN, last_prompt("x1"), *ESCAPED[4:])
    assert receipts_hot.outcome(DELIVERED, view, NOW + 5, ended=True) == "dropped"
    assert ended(transcript(*GIVEN)) == "broken off"
    # An error of the API, written by the client itself, is no answer.
    failed = answered("e", "x1", "m0", model="<synthetic>")
    assert ended(transcript(*GIVEN, failed)) == "broken off"
    assert ended(transcript(*GIVEN, failed, asked("p2", "e", "P2", 9), answered("r2", "p2"))) == "arrived"
    preview = f"<persisted-output>\nOutput too large\n\nPreview (first 2KB):\n{BLOCK}"
    assert ended(transcript(*GIVEN[:2], linked(context(preview), "c1", "p1"))) == "previewed"


def test_a_client_that_is_gone_writes_no_more(transcript):
    with subprocess.Popen(["sleep", "60"]) as child:
        stat = Path(f"/proc/{child.pid}/stat")
        began = stat.read_text().rpartition(")")[2].split()[19] if stat.exists() else ""
        row = {**DELIVERED, "client": [child.pid, began, process_hot.client()[2]]}
        assert (outcome(transcript(*GIVEN), row), outcome(transcript(GIVEN[0]), row)) == ("waiting", "waiting")
        elsewhere = {**row, "client": [*row["client"][:2], "another machine"]}
        later = {**row, "client": [child.pid, "1", row["client"][2]]}
        child.kill()
    assert (outcome(transcript(*GIVEN), row), outcome(transcript(GIVEN[0]), row)) == ("broken off", "dropped")
    assert outcome(transcript(GIVEN[0]), elsewhere) == "waiting"
    later["client"][0] = os.getpid()
    assert outcome(transcript(GIVEN[0]), later) == ("dropped" if began else "waiting")


def ended(view, row=DELIVERED):
    return receipts_hot.outcome(row, view, NOW + 5, ended=True)


def test_an_early_answer_proves_it_and_a_noted_outcome_holds(transcript):
    turn = GIVEN[:2]
    assert outcome(transcript(*turn, answered("r1", "c1"), told("c1", "p1")), DELIVERED) == "arrived"
    late = [*turn, answered("r1", "p1"), told("c1", "r1")]
    assert outcome(transcript(*late), DELIVERED) == "waiting"
    assert outcome(transcript(*late, linked({"type": "system"}, "s1", "c1")), DELIVERED) == "arrived"
    # What was typed in mid-turn came out of the queue behind that answer.
    typed = [*turn, queue("enqueue", 1), answered("r1", "p1"), queue("remove", 4), told("c1", "r1")]
    assert outcome(transcript(*typed, linked({"type": "system"}, "s1", "c1")), DELIVERED) == "waiting"
    for noted in receipts_hot.LOST:
        assert outcome(transcript(*GIVEN, answered("r1", "x1")), {**DELIVERED, "outcome": noted}) == "arrived"
    assert outcome(transcript(*ESCAPED), {**DELIVERED, "outcome": "broken off"}) == "dropped"
    for noted in ("arrived", "previewed", "timed out", "failed", "dropped", "broken off"):
        row = {**DELIVERED, "outcome": noted}
        assert outcome(transcript(GIVEN[0], asked("p9", "a0", "P9"), answered("r9", "p9")), row) == noted
        transcript.path.unlink()
        assert outcome(receipts_hot.TranscriptView(str(transcript.path)).refresh(), row) == noted


def test_a_cut_transcript_proves_no_loss_and_a_compaction_an_arrival(transcript):
    rows = [linked(OTHER, "b0", None), asked("p2", "b0", "P2", 9), answered("r2", "p2")]
    row = {**DELIVERED, "transcript_size": places(*rows)[-1]}
    assert outcome(transcript(*rows[:2]), row) == "unknown"
    assert outcome(transcript(*rows, asked("p3", "r2", "P3")), row) == "failed"
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": None, "timestamp": at(2)}
    above = {"x1": "arrived", "p1": "arrived", "not to be found": "arrived", "a0": "dropped"}  # a0: Escape, /compact
    for leaf, becomes in above.items():
        view = transcript(*GIVEN, {**boundary, "logicalParentUuid": leaf}, asked("s", "b", "P1"), answered("n", "s"))
        assert outcome(view, DELIVERED) == becomes


@pytest.mark.parametrize("beside", ["r1", "t2"])
def test_what_came_with_one_of_several_tools_follows_their_message(transcript, beside):
    """Client 2.1.197 hangs a context below whichever tool ended first, and goes on below the last."""
    rows = [linked(OTHER, "a0", None), asked("p1", "a0", "P1"), tool_use("t1", "p1", "toolu_1")]
    rows += [tool_use("t2", "t1", "toolu_2"), result("r1", "t1", "toolu_1")]
    given = linked(context(BLOCK, event="PreToolUse"), "c1", beside)
    given["attachment"]["toolUseID"] = "toolu_1"
    row = record("PreToolUse", tool_use_id="toolu_1", prompt_id="P1", transcript_size=1)
    assert outcome(transcript(*rows), row) == "waiting"
    late = [tool_use("t3", "t2", "toolu_3"), result("r2", "t2", "toolu_2")]
    assert outcome(transcript(*rows, given, *late), row) == "waiting"
    assert outcome(transcript(*rows, given, *late, answered("n", "r2", "m2")), row) == "arrived"
    assert outcome(transcript(*rows, *late, answered("n", "r2", "m2")), row) == "failed"
    left = [asked("p2", "a0", "P2"), answered("n", "p2", "m2")]
    assert outcome(transcript(*rows, given, *late, *left), row) == "dropped"


# --- the order of the records, whatever the clock says

BACK = 3600.0


@pytest.mark.parametrize("jump", [-BACK, 0.0, BACK])
def test_what_missed_its_prompt_failed_once_the_model_answers_that_prompt(transcript, jump):
    before = [linked(OTHER, "a0", None), asked("p0", "a0", "P0", -60), answered("r0", "p0", "m0", -50)]
    row = record(prompt_id="P1", transcript_size=places(*before)[-1])
    after = [asked("p1", "r0", "P1", jump), linked(OTHER, "x", "p1"), answered("r1", "x", "m1", jump + 3)]
    assert outcome(transcript(*before), row) == "waiting"
    assert outcome(transcript(*before, *after[:2]), row) == "waiting"
    assert outcome(transcript(*before, *after), row) == "failed"
    # Another prompt has begun.
    assert outcome(transcript(*before, *after[:2], asked("p2", "r0", "P2", jump + 9)), row) == "failed"


def test_a_prompt_blocked_or_typed_in_mid_turn_is_judged_by_itself(transcript):
    words = "UserPromptSubmit operation blocked by hook:\npolicy\n\nOriginal prompt: hi"
    blocked = linked({"type": "system", "subtype": "informational", "content": words, "timestamp": at(-9)}, "b", "a0")
    row = record(prompt_id="P1", transcript_size=places(GIVEN[0])[-1])
    assert outcome(transcript(GIVEN[0]), row) == "waiting"
    assert outcome(transcript(GIVEN[0], blocked), row) == "failed"
    row["transcript_size"] = places(GIVEN[0], blocked)[-1]
    assert outcome(transcript(GIVEN[0], blocked), row) == "waiting"
    turn = [linked(OTHER, "a0", None), asked("p1", "a0", "P1"), tool_use("t1", "p1", "toolu_1")]
    row = record(prompt_id="P1", transcript_size=places(*turn)[-1])
    more = [result("r1", "t1", "toolu_1"), answered("n1", "r1", "m2")]
    assert outcome(transcript(*turn, *more), row) == "waiting"
    queued = [queue("enqueue", 1), *more]
    assert outcome(transcript(*turn, *queued), row) == "waiting"
    assert outcome(transcript(*turn, *queued, queue("remove", 2), answered("n2", "n1", "m3")), row) == "failed"
    taken = [queue("remove", 2), told("c", "n1"), answered("n2", "c", "m3")]
    assert outcome(transcript(*turn, *queued, *taken), row) == "arrived"


def test_the_step_before_a_time_is_found_also_in_a_long_session():
    steps = receipts_hot.Steps()
    steps.note(10, at(-5))
    steps.note(20, at(5))
    assert [steps.at(NOW + seconds) for seconds in (-9, 0, 9)] == [-1, 10, 20]
    for place in range(30, 30 + 3 * receipts_hot.KEPT_STEPS):
        steps.note(place, at(7))
    assert steps.at(NOW + 6) == -1, "the oldest are forgotten"
    assert steps.at(NOW + 9) == place


def test_what_became_of_deliveries_is_what_it_was(transcript):
    def read(transcript_rows, logged, later, ended):
        view = transcript(*transcript_rows)
        os.utime(transcript.path, (NOW + 1, NOW + 1))
        views = [
            view.refresh(),
            receipts_hot.view_from(str(transcript.path), logged.get("transcript_size", 0), limit=900),
        ]
        facts = [[view.outcomes, view.size, view.records_attachments, view.pending] for view in views if view]
        return [facts, [receipts_hot.outcome(logged, view, NOW + later, ended) for view in views if view]]

    recorded.check(__file__, "receipts", read)
