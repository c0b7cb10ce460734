"""The passage of a transcript around what a draft came from."""

import json

from memtui.review import evidence


def line(kind, text, uuid="", **more):
    content = [{"type": "text", "text": text}] if isinstance(text, str) else text
    return json.dumps({"type": kind, "uuid": uuid, "message": {"role": kind, "content": content}, **more})


def write(tmp_path, *lines):
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_it_stands_between_what_was_said_also_in_a_refusal_or_the_queue(tmp_path):
    path = write(
        tmp_path,
        *[line("user", f"before {n}") for n in range(9)],
        line("assistant", "I will use npm"),
        line("user", "no, pnpm", "u-1"),
        line("assistant", [{"type": "tool_use", "name": "Bash", "input": {"command": "pnpm i"}}]),
        line("assistant", "Done"),
        *[line("user", f"after {n}") for n in range(9)],
    )
    found = evidence.around(path, "u-1")
    assert [(s.who, s.text) for s in found] == [
        *(("you", "before 7"), ("you", "before 8"), ("agent", "I will use npm"), ("you", "no, pnpm")),
        *(("tool", "Bash pnpm i"), ("agent", "Done"), ("you", "after 0")),
    ]
    assert [s.hit for s in found] == [False, False, False, True, False, False, False]
    said = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse uv"
    sent = {"type": "queued_command", "prompt": "and be quick"}
    path = write(
        tmp_path,
        line("user", [{"type": "tool_result", "tool_use_id": "t", "is_error": True, "content": said}], "u-1"),
        json.dumps({"type": "queue-operation", "operation": "enqueue", "content": "and be quick"}),
        json.dumps({"type": "attachment", "attachment": {**sent, "prompt": "psst", "commandMode": "task"}}),
        json.dumps({"type": "attachment", "attachment": sent, "uuid": "u-2"}),
        json.dumps({"type": "queue-operation", "operation": "enqueue", "content": "I will wait"}),
        line("user", "I will wait", "u-3", isMeta=True, turnOrigin="scheduled"),
    )
    assert [s.text for s in evidence.around(path, "u-1")] == ["use uv", "and be quick"]
    assert evidence.around(path, "", "and be quick")[-1].hit


def test_words_are_found_by_their_record_or_looked_for_in_conversation(tmp_path):
    path = write(tmp_path, line("assistant", "npm it is"), line("user", "No, use pnpm  please, always."))
    found = evidence.around(path, "", "no, use pnpm please")
    assert [s.hit for s in found] == [False, True]
    others = (line("user", "meta", isMeta=True), line("user", "side", isSidechain=True))
    path = write(tmp_path, "not json", *others, line("user", "real", "u-1"))
    assert evidence.around(path, "u-9", "never said") == []
    assert [s.text for s in evidence.around(path, "u-1")] == ["real"]
    asked = [{"question": "Which?", "options": [{"label": "A"}]}]
    answered = {"questions": asked, "answers": {"Which?": "none of these"}}
    plan = "Implement the following plan:\n\n# Plan\n\nUser feedback on this plan: no mocks"
    report = 'The user answered: "Which?"="none of these". Read the answers carefully'
    path = write(
        tmp_path,
        line("assistant", [{"type": "tool_use", "id": "t", "name": "AskUserQuestion", "input": {"questions": asked}}]),
        line("user", [{"type": "tool_result", "tool_use_id": "t", "content": report}], "u-1", toolUseResult=answered),
        line("user", plan, "u-2", planContent="# Plan", origin={"kind": "auto-continuation"}),
    )
    assert [s.text for s in evidence.around(path, "u-1") if s.hit] == ["none of these"]
    assert [s.text for s in evidence.around(path, "u-2") if s.hit] == ["no mocks"]
