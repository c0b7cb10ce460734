"""What is read of a transcript alone: the prompts of a project, newest first, and what a session is about."""

import json
import os

from memtui.base import clock_hot
from memtui.client.transcripts import prompts


def said(text, minute=0, **more):
    stamp = f"2026-11-20T10:{minute:02}:00.000Z"
    return {"type": "user", "timestamp": stamp, "promptId": f"p{minute}", "message": {"content": text}, **more}


def write(tmp_path, name, *records, slug="-p"):
    path = tmp_path / "projects" / slug / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records) + '{"type":"us')
    newest = clock_hot.parse(max(record["timestamp"] for record in records))
    os.utime(path, (newest, newest))
    return str(path)


def texts(tmp_path, most=10, slugs=("-p",)):
    return [each.text for each in prompts.recent(str(tmp_path), slugs, most)]


def test_prompts_are_in_the_order_of_time_and_titles_the_newest(tmp_path):
    write(tmp_path, "a", said("first", 1), said("third", 3))
    write(tmp_path, "b", said("second", 2), said("fourth", 4))
    write(tmp_path, "c", said("of another project", 9), slug="-q")
    assert (texts(tmp_path), texts(tmp_path, 2)) == (["fourth", "third", "second", "first"], ["fourth", "third"])
    newest = prompts.recent(str(tmp_path), ["-p"], 1)[0]
    assert (newest.session, newest.id) == ("b", "p4")
    assert newest.time > 1_700_000_000
    records = [said("fix the flaky test")]
    assert prompts.about(session(tmp_path, *records)).title == "fix the flaky test"
    records += [{"type": "ai-title", "aiTitle": "Flaky test"}]
    assert prompts.about(session(tmp_path, *records)).title == "Flaky test"
    records += [{"type": "custom-title", "customTitle": "the upload test"}, {"type": "ai-title", "aiTitle": "Upload"}]
    assert prompts.about(session(tmp_path, *records)).title == "the upload test"
    records += [{"type": "custom-title", "customTitle": "renamed"}]
    assert prompts.about(session(tmp_path, *records)).title == "renamed"
    filler = {"type": "assistant", "message": {"content": "x" * (prompts.HEAD_BYTES + prompts.TITLE_TAIL)}}
    last = [said("now on another branch", gitBranch="wip"), {"type": "custom-title", "customTitle": "at the end"}]
    assert prompts.about(session(tmp_path, said("begin"), filler, *last)) == ("at the end", "wip")
    quoted = said('look: {"type":"custom-title","customTitle":"mine"}')
    odd = [{"type": "custom-title", "customTitle": 7}, {"type": "ai-title"}]
    assert prompts.about(session(tmp_path, quoted, *odd)).title.startswith("look: ")
    assert prompts.about(str(tmp_path / "none.jsonl")) == ("", "")
    assert prompts.about(None) == ("", "")


def test_what_is_under_way_is_the_last_prompt_that_asks_for_something(tmp_path):
    path = session(tmp_path, said("add an index to orders"), said("thanks", 1))
    assert prompts.under_way(path, str.upper, lambda text: text != "thanks") == "ADD AN INDEX TO ORDERS"
    assert prompts.under_way(path, str, lambda text: False) == ""
    assert prompts.under_way("relative.jsonl", str) == prompts.under_way(path + "x", str) == ""


def test_only_what_a_person_typed_is_a_prompt(tmp_path):
    result = [{"type": "tool_result", "tool_use_id": "t", "content": "output"}]
    write(
        tmp_path,
        "a",
        said("mine <system-reminder>not mine</system-reminder>", 1),
        said("/compact", 2),
        said(result, 3),
        said("said by the client", 4, isMeta=True),
        said("of a subagent", 5, isSidechain=True),
        said("summary", 6, isCompactSummary=True),
        said("by a channel", 7, origin={"kind": "channel"}),
        said("by a clock", 7, turnOrigin="scheduled"),
        said("by an agent", 7, handedOff=True),
        {"type": "assistant", "timestamp": "2026-11-20T10:08:00Z", "message": {"content": "answer"}},
    )
    assert texts(tmp_path) == ["mine"]


def session(tmp_path, *records):
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)
