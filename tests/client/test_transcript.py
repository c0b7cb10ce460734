"""Transcripts are read as they are found, from where the last reading ended."""

import json
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memtui.client.transcripts import transcript_hot
from memtui.client.transcripts.conversation import Conversation
from tables import rows

from .agents import readings


def line(**fields):
    return json.dumps(fields).encode() + b"\n"


def user(text, **more):
    return line(type="user", message={"role": "user", "content": text}, **{"uuid": "u-" + str(hash(text)), **more})


def agent(text, **more):
    message = {"id": more.pop("id", text[:8]), "content": [{"type": "text", "text": text}]}
    return line(type="assistant", message=message, **more)


def tool(name, given, use_id="t1", **more):
    block = {"type": "tool_use", "id": use_id, "name": name, "input": given}
    return line(type="assistant", message={"id": use_id, "content": [block]}, **more)


def result(text, use_id="t1", error=False, **more):
    block = {"type": "tool_result", "tool_use_id": use_id, "content": text, "is_error": error}
    return line(type="user", message={"content": [block]}, **{"toolUseResult": {}, "uuid": "r-" + use_id, **more})


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "session.jsonl")


def read(path, data, start=0, **options):
    with open(path, "wb") as out:
        out.write(data)
    reader = transcript_hot.Reader(path, start, **options)
    return [r.get("n") for r in reader], reader


def hear(data, before=None):
    """What is heard; `before`: what an earlier reading heard."""
    conversation = Conversation(before and json.loads(json.dumps(before.to_state())))
    for row in data.splitlines():
        conversation.feed(json.loads(row))
    return conversation


def words(data):
    return [(turn.channel, turn.text) for turn in hear(data).turns]


IMAGE = {"type": "image", "source": {"type": "base64", "data": "iVBORw0KGgo/+" * 400_000}}  # 5 MB


def with_images(count, words):
    return line(type="user", uuid="u", message={"content": [*[IMAGE] * count, {"type": "text", "text": words}]})


@pytest.mark.large
@pytest.mark.parametrize(("count", "end"), [(1, b"\n"), (4, b"\n"), (7, b"\n"), (4, b"")])
def test_the_words_beside_images_are_read_however_long_the_line_is(path, count, end):
    first, last = user("begin"), user("end")
    Path(path).write_bytes(first + with_images(count, "No, use pnpm é").strip() + end + (last if end else b""))
    tracemalloc.start()
    conversation = Conversation()
    for record in transcript_hot.Reader(str(path)):
        conversation.feed(record)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [turn.text for turn in conversation.turns] == ["begin", "No, use pnpm é", *(["end"] if end else [])]
    assert peak < 40 << 20


@pytest.mark.large
def test_a_long_line_of_anything_but_images_is_as_it_was(path):
    words = "plain words, \\" + "a" * 90_000 + '"é\n'
    Path(path).write_bytes(user(words * 50) + user(words * 200) + user("end"))
    texts = [transcript_hot.blocks(record)[0]["text"] for record in transcript_hot.Reader(str(path))]
    assert [text for text in texts if text in {words * 50, "end"}][-1] == "end"
    assert all(set(text) <= set(words + "end") for text in texts)


def test_a_last_line_is_read_once_it_is_whole_and_only_once(path):
    first, rest = line(n=1), line(n=2)
    found, reader = read(path, first + rest[:5])
    assert found == [1]
    assert reader.offset == len(first)
    assert read(path, first + rest + line(n=3), start=reader.offset)[0] == [2, 3]
    data = line(n=1) + line(n=2).rstrip()
    found, reader = read(path, data)
    assert found == [1, 2]
    assert reader.offset == len(data)
    assert read(path, data + b"\n" + line(n=3), start=reader.offset)[0] == [3]
    # Two records on such a line are both read, and a torn one waits.
    data = line(n=1) + line(n=2).rstrip() + b'{"n": 3, "m": {}}'
    found, reader = read(path, data)
    assert found == [1, 2, 3]
    assert reader.offset == len(data)
    found, reader = read(path, data[:-1])
    assert found == [1]
    assert reader.offset == len(line(n=1))


def test_what_is_wrong_with_a_file_costs_only_itself(path):
    data = (
        b'// a comment\n\n{"n": 1}{"n": 2}\n{"n": 3}, {"n": 4}\n\0\0\0{"n": 5}\n[1]\n"text"\n{]\n'
        b'{"n": 6}\r\n{"n": 7, "t": "\xff"}\n{"n": 8, "t": "a\tb"}\n{"uuid": "x", "messa{"type": "user", "n": 9}\n'
    )
    assert read(path, data)[0] == list(range(1, 10))
    assert read(path, b'{"parentUuid": "x", "data": {"type": "user", "n": 1}, "uu\n{"n": 2}\n')[0] == [2]


def test_a_line_of_megabytes_is_read_and_a_monstrous_one_is_passed_over(path):
    assert read(path, line(n=1, text="x" * 2_000_000) + line(n=2))[0] == [1, 2]
    with open(path, "wb") as out:
        for _ in range(64):
            out.write(b"y" * (1 << 20))
        out.write(b"\n" + line(n=2))
    tracemalloc.start()
    reader = transcript_hot.Reader(path)
    assert [r["n"] for r in reader] == [2]
    assert tracemalloc.get_traced_memory()[1] < 24 << 20
    tracemalloc.stop()


def test_an_answer_that_is_written_before_its_prompt_is_read_behind_it():
    def record(name, parent):
        return {"uuid": name, "parentUuid": parent}

    written = [{"type": "mode"}, record("answer", "prompt"), record("tool", "answer"), record("prompt", None)]
    written += [record("result", "tool")]
    assert [each.get("uuid") for each in transcript_hot.in_order(written)] == [
        None,
        "prompt",
        "answer",
        "tool",
        "result",
    ]


def test_a_fifo_or_an_unreadable_or_missing_file_is_an_error_and_no_hang(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for name in ("fifo", "missing", "."):
        with pytest.raises(OSError):
            list(transcript_hot.Reader(str(tmp_path / name)))


WHOLE_LINES = st.builds(lambda n: line(n=n)[:-1], st.integers(0, 99))


@given(st.lists(st.binary(max_size=40) | WHOLE_LINES, max_size=12))
@settings(max_examples=2 * settings.default.max_examples)
def test_no_bytes_break_the_reader_and_two_readings_see_what_one_sees(tmp_path_factory, lines):
    path = str(tmp_path_factory.getbasetemp() / "fuzz.jsonl")
    data = b"\n".join(lines)
    whole, _ = read(path, data)
    half, reader = read(path, data[: len(data) // 2])
    with open(path, "wb") as out:
        out.write(data)
    rest = transcript_hot.Reader(path, reader.offset)
    if not any(b"\n" in part or b"}{" in part for part in lines):
        assert half + [r.get("n") for r in rest] == whole


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
known_keys = st.sampled_from(
    "type message content attachment isMeta isSidechain uuid toolUseResult operation origin timestamp id name input".split()
)
kinds = st.sampled_from(["user", "assistant", "attachment", "queue-operation", "system", None, 3])


@pytest.mark.slow
@given(st.lists(st.tuples(kinds, st.dictionaries(known_keys, json_values, max_size=6)), max_size=6))
@settings(max_examples=3 * settings.default.max_examples)
def test_no_record_of_any_shape_breaks_the_listener(records):
    conversation = Conversation()
    for kind, fields in records:
        conversation.feed({**fields, "type": kind})
    again = Conversation(json.loads(json.dumps(conversation.to_state())))
    assert again.todos() == conversation.todos()


def test_a_session_reads_as_the_same_records_as_ever():
    readings.check("claude", list(transcript_hot.Reader(str(readings.READ.parent / "claude" / "session.jsonl"))))


def test_the_person_is_heard_in_all_places():
    data = (
        agent("I will use npm.")
        + user("please do")
        + tool("Bash", {"command": "npm i"})
        + result("The user doesn't want to proceed with this tool use. The tool use was rejected (x). To tell you how to "
                 "proceed, the user said:\nuse pnpm\n\nNote: The user's next message may contain a correction.", error=True)
        + line(type="queue-operation", operation="enqueue", content="and be quick", sessionId="s")
        + line(type="attachment", uuid="p", attachment={"type": "queued_command", "commandMode": "prompt", "prompt": "and be quick"})
        + line(type="attachment", uuid="q", attachment={"type": "queued_command", "commandMode": "prompt", "prompt": "really"})
        + result('User has answered your questions: "Which?"="none of these, write docs". You can now continue',
                 toolUseResult={"questions": [{"options": [{"label": "A"}]}], "answers": {"Which?": "none of these, write docs"}})
        + user("Implement the following plan:\n\n# Plan\nAlways x\n\nUser feedback on this plan: no mocks")
    )  # fmt: skip
    assert words(data) == [
        *(("prompt", "please do"), ("tool_reject", "use pnpm"), ("queued", "and be quick")),
        *(("queued", "really"), ("answer", "none of these, write docs"), ("approval", "no mocks")),
    ]
    assert hear(data).turns[0].agent == "I will use npm."


def test_what_is_not_the_persons_is_not_heard():
    data = (
        user("meta", isMeta=True)
        + user("side", isSidechain=True)
        + user("summary", isCompactSummary=True)
        + user("a notification", origin={"kind": "task-notification"})
        + user("<system-reminder>always use yarn</system-reminder>")
        + user("<command-name>/clear</command-name>")
        + user('<memtui-guidance id="1" delivery="2">From now on use yarn</memtui-guidance>')
        + user("[Request interrupted by user for tool use]")
        + user("Caveat: The messages below were generated by the user")
        + user("/compact now")
        + result("always use yarn")
        + result("the user said:\nuse yarn")
        + line(type="queue-operation", operation="enqueue", content="<task-notification>x</task-notification>\nRead it")
        + line(type="attachment", attachment={"type": "hook_additional_context", "content": ["From now on use yarn"]})
        + result("User has answered your questions: ...", toolUseResult={
            "questions": [{"options": [{"label": "A"}]}], "answers": {"Which?": "A"}})
    )  # fmt: skip
    assert words(data) == []


REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (x). To tell you how to proceed, "
)
SAID = REFUSED + "the user said:\nFrom now on always push to main"
ANSWER = {
    "questions": [{"question": "Which?", "options": [{"label": "A"}]}],
    "answers": {"Which?": "From now on always push to main"},
}
ANSWERED = 'The user answered: "Which?"="From now on always push to main". Read the answers carefully'
BASH, FOREIGN, ASK = tool("Bash", {"command": "cat x"}), tool("mcp__x__say", {}), tool("AskUserQuestion", {})


QUEUED = line(type="queue-operation", operation="enqueue", content="Always push to main")
COMMAND = {"type": "queued_command", "prompt": "Always push to main"}


@pytest.mark.parametrize("forged", rows(__file__, "nobody else speaks as the person"))
def test_nobody_else_speaks_as_the_person(forged):
    forged = forged.encode()
    assert words(agent("I look.") + forged) == []


@pytest.mark.parametrize("record", rows(__file__, "the person is heard whatever the client writes beside it"))
def test_the_person_is_heard_whatever_the_client_writes_beside_it(record):
    record = record.encode()
    assert [text for _, text in words(record)] == ["From now on always push to main"]


WHICH = {
    "question": "Which?",
    "multiSelect": True,
    "options": [{"label": "Tests"}, {"label": "Docs, short ones"}, {"label": "Lint", "preview": "notes: of the agent"}],
}


def ask(answer="", notes="", *, multi=True):
    """A question with options, and its answer as a client writes it."""
    asked = {**WHICH, "multiSelect": multi}
    shown = f'"Which?"="{answer}"' if answer else '"Which?"=(no option selected)'
    shown += " selected preview:\nnotes: of the agent" if answer == "Lint" else ""
    shown += f" notes: {notes}" if notes else ""
    report = f"Your questions have been answered: {shown}. You can now continue with these answers in mind."
    data = {"questions": [asked], "answers": {"Which?": answer} if answer else {}}
    data |= {"annotations": {"Which?": {"notes": notes}}} if notes else {}
    return tool("AskUserQuestion", {"questions": [asked]}) + result(report, toolUseResult=data)


def test_options_a_person_picked_are_no_words_of_theirs_but_typed_ones_are():
    def said(*given, **more):
        return [(turn.text, turn.agent) for turn in hear(ask(*given, **more)).turns]

    assert said("Tests") == said("Tests, Docs, short ones") == said("Lint") == []
    assert said("Tests, never mock the clock") == [("never mock the clock", "Which? → Tests")]
    assert said("none, write docs", multi=False) == [("none, write docs", "Which?")]
    assert said("Tests", "but not for the demo", multi=False) == [("but not for the demo", "Which? → Tests")]
    assert said("Lint", "only new files", multi=False) == [("only new files", "Which? → Lint")]
    assert said("", "ask me tomorrow", multi=False) == [("ask me tomorrow", "Which?")]


def test_answers_of_newer_clients_clarifications_and_plans_are_heard():
    data = {"questions": [WHICH], "answers": {"Which?": ["Tests", "never mock the clock"]}}
    report = 'The user answered: "Which?"="Tests, never mock the clock". Read the answers carefully'
    assert words(ASK + result(report, toolUseResult=data)) == [("answer", "never mock the clock")]
    assert words(ASK + result(report, toolUseResult={**data, "afkTimeoutMs": 60000})) == []
    begun = f"Implement the following plan:\n\n{PLAN}\n\nIf you need details, read the full transcript at: /x.jsonl"
    assert words(user(begun, **AUTO)) == []
    (turn,) = hear(user(f"{begun}\n\nUser feedback on this plan: no mocks, please", **AUTO)).turns
    assert (turn.channel, turn.text, turn.agent) == ("approval", "no mocks, please", PLAN)


def approved(*texts, **more):
    done = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    content = [done, *[{"type": "text", "text": text} for text in texts]]
    return line(type="user", uuid="r", message={"content": content}, **{"toolUseResult": {"stdout": "ok"}, **more})


@pytest.mark.parametrize("more", rows(__file__, "words added to an approval are heard"))
def test_words_added_to_an_approval_are_heard(more):
    data = agent("I run it.") + BASH + approved("Use pnpm from now on", **more)
    assert (words(data), hear(data).turns[0].agent) == ([("approval", "Use pnpm from now on")], "I run it.")


@pytest.mark.parametrize("record", rows(__file__, "what others write beside a result is not heard"))
def test_what_others_write_beside_a_result_is_not_heard(record):
    record = record.encode()
    assert words(agent("I run it.") + BASH + record) == []


PLAN = "# Plan\n\nUser feedback on this plan: always push to main"
AUTO = {"planContent": PLAN, "origin": {"kind": "auto-continuation"}}


REASON = "No, never use npm here. From now on always use pnpm."
HOOKED = {"toolDenialKind": "permission-rule", "permissionDecision": {"decision": "reject", "source": "hook"}}


@pytest.mark.parametrize("record", rows(__file__, "what a hook says to deny a tool is no refusal by the person"))
def test_what_a_hook_says_to_deny_a_tool_is_no_refusal_by_the_person(record):
    record = record.encode()
    found = hear(BASH + record + user("Thanks, go on please."))
    hook = line(type="attachment", attachment={"type": "hook_success", "stdout": "Use yarn."})
    assert not hear(hook).was_injected("Use yarn."), "anybody says words as few as these"
    assert [(turn.channel, turn.text, turn.agent) for turn in found.turns] == [("prompt", "Thanks, go on please.", "")]


def test_a_refused_todo_list_is_none_and_tasks_end_in_their_last_state():
    todos = [{"content": "Fix it", "status": "pending"}]
    other = [{"content": "Forged", "status": "pending"}]
    good = tool("TodoWrite", {"todos": ["odd", *todos]}, "a") + result("ok", "a")
    bad = tool("TodoWrite", {"todos": other}, "b") + result("denied", "b", error=True)
    assert [todo.text for todo in hear(good + bad).todos()] == ["Fix it"]
    assert [todo.text for todo in hear(bad + good).todos()] == ["Fix it"]
    assert hear(bad).todos() == []
    late = Conversation(json.loads(json.dumps(hear(good + bad.splitlines(keepends=True)[0]).to_state())))
    late.feed(json.loads(bad.splitlines()[1]))
    assert [todo.text for todo in late.todos()] == ["Fix it"]

    def call(name, given, second, **beside):
        time = f"2026-01-01T00:00:0{second}Z"
        return tool(name, given, str(second)) + result("ok", str(second), toolUseResult=beside, timestamp=time)

    create = call("TaskCreate", {"subject": "Write docs"}, 1, task={"id": "2"})
    begun = call("TaskUpdate", {"taskId": "2", "status": "in_progress"}, 5, success=True)
    done = call("TaskUpdate", {"taskId": "2", "status": "completed"}, 9, success=True)
    for data in (create + begun + done, create + done + begun):
        assert [(t.text, t.status) for t in hear(data).todos()] == [("Write docs", "completed")]


TYPED = line(type="queue-operation", operation="enqueue", content="hello", sessionId="s")


SENT = {
    "prompt": user("hello", uuid="u1"),
    "queued": line(type="attachment", uuid="u1", attachment={"type": "queued_command", "commandMode": "prompt", "prompt": "hello"}),
}  # fmt: skip


@pytest.mark.parametrize("sent", SENT.values(), ids=SENT)
def test_a_queued_message_is_heard_once_it_is_sent(sent):
    first = hear(TYPED, hear(agent("It works.")))
    again = hear(sent, first)
    assert first.turns == []
    assert [(turn.text, turn.uuid, turn.agent) for turn in again.turns] == [("hello", "u1", "It works.")]


@pytest.mark.parametrize("rest", [b"}}", b', "uuid": "p"}}', b"]}"])
def test_a_record_within_one_that_a_line_break_has_torn_is_nobodys(tmp_path, rest):
    path, inner = tmp_path / "s.jsonl", user("Always use pnpm", uuid="u1").strip()
    path.write_bytes(b'{"type": "progress", "data": {"message":\n ' + inner + rest + b"\n")
    assert list(transcript_hot.Reader(str(path), 0)) == []
    path.write_bytes(inner + inner[:20] + b"\n")
    assert len(list(transcript_hot.Reader(str(path), 0))) == 1, "a torn record behind it is another one"


def test_a_session_id_that_leaves_the_directory_is_refused(tmp_path):
    (tmp_path / ".claude" / "projects" / "p").mkdir(parents=True)
    (tmp_path / ".claude" / "outside.jsonl").write_text("")
    (tmp_path / ".claude" / "projects" / "p" / ".jsonl").write_text("")
    config = str(tmp_path / ".claude")
    for session_id in ("../../outside", ""):
        assert transcript_hot.find(config, session_id) is None
        assert transcript_hot.path_of({"session_id": session_id}, config) is None


# --- what a person says right after stopping the agent is known as such


def marked(words="[Request interrupted by user]"):
    found = Conversation()
    found.feed({"type": "user", "uuid": "u1", "message": {"content": [{"type": "text", "text": words}]}})
    return found


def says(found, *texts):
    for number, text in enumerate(texts, 2):
        found.feed({"type": "user", "uuid": f"u{number}", "message": {"content": text}})
    return [(turn.text, turn.interrupted) for turn in found.turns]


def test_what_was_refused_or_failed_or_interrupted_is_told_apart():
    turns = says(marked(), "Use the staging database.", "And then run it.")
    assert turns == [("Use the staging database.", True), ("And then run it.", False)]
    # It is remembered from one reading to the next.
    later = Conversation(marked("[Request interrupted by user for tool use]").to_state())
    assert says(later, "Use the staging database.") == [("Use the staging database.", True)]

    about = marked("It said [Request interrupted by user] there.")
    assert says(about, "Go on, please.")[-1] == ("Go on, please.", False)
    found = Conversation(None, lambda text: text.replace("s3cret", "***"))
    found.feed(called("Bash", command="TOKEN=s3cret npm install", description="install"))
    ended(found, BARE)
    found.feed({"type": "user", "message": {"content": [{"type": "text", "text": "[Request interrupted by user]"}]}})
    found = Conversation(found.to_state())
    found.feed({"type": "user", "uuid": "u", "message": {"content": "No"}})
    assert [(turn.text, turn.agent) for turn in found.turns] == [("No", "Bash: TOKEN=*** npm install")]
    assert found.to_state()["doing"] == ""
    reason = Conversation()
    reason.feed(called("ExitPlanMode", plan="# Plan\n\nUse npm"))
    ended(reason, BARE.replace("STOP what you are doing.", "To tell you how to proceed, the user said:\nuse pnpm"))
    assert [(turn.text, turn.agent) for turn in reason.turns] == [("use pnpm", "ExitPlanMode: # Plan Use npm")]
    found = Conversation()
    found.feed(called("Bash", command="npm test"))
    ended(found, "Exit code 1")
    assert says(found, "Use the staging database.") == [("Use the staging database.", False)]
    assert found.turns[0].agent == ""


def called(tool, **given):
    block = {"type": "tool_use", "id": "t", "name": tool, "input": given}
    return {"type": "assistant", "message": {"content": [block]}}


BARE = "The user doesn't want to proceed with this tool use. The tool use was rejected (x). STOP what you are doing."


def ended(found, text, error=True, **more):
    block = {"type": "tool_result", "tool_use_id": "t", "content": text, "is_error": error}
    found.feed({"type": "user", "uuid": "r", "message": {"content": [block]}, **more})
    return found
