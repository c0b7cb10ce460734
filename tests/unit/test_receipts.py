"""What became of a delivery, by the records the client writes (shapes as client 2.1.197 wrote them)."""

import json
import os

import pytest

from memtui.core import clock, receipts

NOW = clock.parse("2026-11-21T10:00:00Z")
ID = "01K8ZC5N8W3M1T9Q6V2R4B7XAD"
BLOCK = f'<memtui-guidance id="x" delivery="{ID}" scope="project">\nCI is red\n</memtui-guidance>'
COMMAND = "'/usr/bin/python3' -I -S '/site/memtui/hooks/launch.py' UserPromptSubmit"


def at(seconds):
    return clock.iso(NOW + seconds)


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


@pytest.fixture
def transcript(tmp_path):
    path = tmp_path / "s.jsonl"

    def write(*rows):
        path.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
        return receipts.TranscriptView(str(path)).refresh()

    write.path = path
    return write


def outcome(view, row=None, now=NOW + 5):
    return receipts.outcome(row or record(), view, now)


def test_arrived_when_the_model_got_the_block(transcript):
    assert outcome(transcript(prompt(-1), context(BLOCK))) == "arrived"


def test_several_hooks_share_one_record_and_each_is_told_apart(transcript):
    preview = (
        f"<persisted-output>\nOutput too large (10.8KB). Full output saved to: /x\n\nPreview (first 2KB):\n{BLOCK}"
    )
    other = BLOCK.replace(ID, "01K8ZC5N8W3M1T9Q6V2R4B7XAE")
    view = transcript(context(other, preview, event="SessionStart"))
    assert outcome(view, record("SessionStart")) == "previewed"
    assert outcome(view, {**record("SessionStart"), "id": "01K8ZC5N8W3M1T9Q6V2R4B7XAE"}) == "arrived"


def test_an_id_in_the_text_of_a_block_proves_nothing(transcript):
    quoted = BLOCK.replace(ID, "A").replace("CI is red", f'look at delivery="{ID}"')
    assert outcome(transcript(OTHER, context(quoted), agent(2))) == "failed"


def test_timed_out_and_failed_runs_are_matched_by_event_command_and_time(transcript):
    assert outcome(transcript(trouble("hook_cancelled", timedOut=True, timeoutMs=2000))) == "timed out"
    assert outcome(transcript(trouble("hook_cancelled"))) == "failed"
    assert outcome(transcript(trouble("hook_non_blocking_error", exitCode=137))) == "failed"
    assert outcome(transcript(trouble("hook_non_blocking_error", command="other-plugin run"))) == "waiting"
    assert outcome(transcript(trouble("hook_non_blocking_error", seconds=40))) == "waiting"
    assert outcome(transcript(trouble("hook_non_blocking_error", event="SessionStart"))) == "waiting"


def test_a_block_that_arrived_outweighs_the_exit_code(transcript):
    assert outcome(transcript(context(BLOCK), trouble("hook_non_blocking_error", exitCode=1))) == "arrived"


def test_waiting_until_the_model_is_called_again_then_failed(transcript):
    assert outcome(transcript(OTHER, prompt(-0.1))) == "waiting"
    assert outcome(transcript(OTHER, prompt(-0.1), agent(3))) == "failed"
    assert outcome(transcript(OTHER, prompt(-0.1), prompt(60))) == "failed"


def test_a_message_that_goes_on_while_its_tools_run_is_no_new_call(transcript):
    rows = (OTHER, agent(-1, "m1"), agent(0.5, "m1"))
    assert outcome(transcript(*rows), record("PreToolUse")) == "waiting"
    assert outcome(transcript(*rows, agent(1, "m2")), record("PreToolUse")) == "failed"


def test_a_subagents_records_say_nothing_of_the_main_conversation(transcript):
    assert outcome(transcript(OTHER, agent(3, isSidechain=True))) == "waiting"


def test_nothing_more_is_waited_for_after_an_hour(transcript):
    view = transcript(OTHER, prompt(-0.1))
    os.utime(transcript.path, (NOW, NOW))
    view.refresh()
    assert outcome(view, now=NOW + 7200) == "failed"


def test_a_client_that_records_no_hooks_leaves_it_unknown(transcript):
    assert outcome(transcript(prompt(-1), agent(3))) == "unknown"


def test_no_transcript_is_unknown_but_for_a_session_that_has_only_begun(tmp_path):
    view = receipts.TranscriptView(str(tmp_path / "gone.jsonl")).refresh()
    assert outcome(view) == "unknown"
    assert outcome(view, record("SessionStart")) == "waiting"
    assert outcome(view, record("SessionStart"), now=NOW + 7200) == "unknown"


def test_a_record_without_text_had_nothing_to_arrive(transcript):
    assert outcome(transcript(agent(3)), {**record(), "text": ""}) == "nothing"


def test_refresh_reads_only_what_is_new_and_a_torn_line_later(transcript):
    view = transcript(OTHER)
    whole = json.dumps(context(BLOCK)).encode() + b"\n"
    with open(transcript.path, "ab") as out:
        out.write(whole[:50])
    assert outcome(view.refresh()) == "waiting"
    with open(transcript.path, "ab") as out:
        out.write(whole[50:])
    assert outcome(view.refresh()) == "arrived"


def test_a_long_transcript_need_not_be_read_from_its_beginning(transcript):
    rows = [{"type": "user", "timestamp": at(-9000 + n), "message": {"content": "x" * 2000}} for n in range(2000)]
    view = transcript(OTHER, *rows, context(BLOCK))
    start = receipts.recent_start(view.path, NOW)
    assert start > 3_000_000
    assert outcome(receipts.TranscriptView(view.path, start).refresh()) == "arrived"
    assert receipts.recent_start(view.path, NOW - 9000) == 0
    assert receipts.recent_start(view.path + ".gone", NOW) == 0


def test_unreadable_files_and_odd_records_are_survived(tmp_path, transcript):
    os.mkfifo(tmp_path / "fifo")
    assert not receipts.TranscriptView(str(tmp_path / "fifo")).refresh().exists
    odd = [{"type": "attachment", "attachment": value} for value in (None, 3, {"type": 3}, {"type": "hook_cancelled"})]
    odd += [context(None, 3), {"type": "assistant", "message": 7}, {"type": "user", "timestamp": 9}]
    assert outcome(transcript(*odd)) in {"waiting", "failed"}


@pytest.fixture
def env(tmp_path):
    return {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "config")}


def test_a_moved_transcript_is_found_by_its_session(tmp_path, env):
    place = tmp_path / "config" / "projects" / "-else-where"
    place.mkdir(parents=True)
    (place / "sess.jsonl").write_text(json.dumps(context(BLOCK)) + "\n")
    row = record(transcript=str(tmp_path / "gone.jsonl"), session_id="sess")
    assert receipts.outcomes([row], env, NOW + 5) == {ID: "arrived"}
    assert receipts.outcomes([{**row, "session_id": "../sess"}], env, NOW + 5) == {ID: "unknown"}


def test_what_went_to_a_subagent_can_not_be_proved(tmp_path, env):
    """The client gives such a context to the subagent's model, and writes it nowhere."""
    main = tmp_path / "sess.jsonl"
    main.write_text(json.dumps(OTHER) + "\n" + json.dumps(agent(-2)) + "\n")
    inner = tmp_path / "sess" / "subagents"
    inner.mkdir(parents=True)
    (inner / "agent-abc.jsonl").write_text(json.dumps(agent(3, "m9", isSidechain=True)) + "\n")
    row = record("PreToolUse", transcript=str(main), session_id="sess", agent_id="abc")
    assert receipts.outcomes([row], env, NOW + 5) == {ID: "unknown"}
    (inner / "agent-abc.jsonl").write_text(json.dumps(context(BLOCK, event="PreToolUse")) + "\n")
    assert receipts.outcomes([row], env, NOW + 5) == {ID: "arrived"}


# A prompt typed in mid-turn, as client 2.1.330 wrote it: its context stays with it in the queue.
TYPED = [OTHER, prompt(-2), queue("enqueue", 0.1)]


def test_a_context_waits_with_its_prompt_in_the_queue(transcript):
    assert outcome(transcript(*TYPED, agent(1.5))) == "waiting"
    assert outcome(transcript(*TYPED, agent(1.5), queue("remove", 1.6))) == "waiting"
    assert outcome(transcript(*TYPED, agent(1.5), queue("dequeue", 1.6), prompt(1.7))) == "waiting"
    taken = [*TYPED, agent(1.5), queue("remove", 1.6), context(BLOCK, seconds=0.1), agent(1.9, "m2")]
    assert outcome(transcript(*taken)) == "arrived"


def test_a_context_is_lost_with_a_prompt_that_the_person_takes_back(transcript):
    assert outcome(transcript(*TYPED, queue("popAll", 1.0), agent(1.5))) == "failed"
    assert outcome(transcript(*TYPED, agent(1.5), queue("dequeue", 1.6), agent(1.9, "m2"))) == "failed"


def test_each_queued_prompt_has_its_own_context(transcript):
    view = transcript(*TYPED, queue("enqueue", 0.6), agent(1.5), queue("dequeue", 1.6), agent(1.9, "m2"))
    assert outcome(view) == "failed"
    assert outcome(view, record(seconds=0.5)) == "waiting"


def test_a_prompt_that_left_the_queue_before_its_hooks_is_like_any_other(transcript):
    assert outcome(transcript(OTHER, queue("enqueue", -0.2), queue("dequeue", -0.1), agent(1.5))) == "failed"
