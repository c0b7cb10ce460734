"""Sessions of Qwen Code as files: who spoke, what became of hooks' texts, which tools ran; and what a hook reads."""

import json
import pathlib
import shutil

import pytest

from memtui.client.agents import qwen, qwen_hot
from memtui.client.transcripts import prompts, speaker, transcript_hot
from memtui.client.transcripts.conversation import Conversation
from memtui.deliver import receipts_hot
from memtui.inbox import redelivery_hot
from memtui.rules.tool_calls import DeedReader

DATA = pathlib.Path(__file__).parents[2] / "data" / "agents" / "qwen"
NAME = "6d0f7f6a-2c8e-4c57-9d0e-000000000001.jsonl"


@pytest.fixture
def home(tmp_path):
    """A `.qwen` with one session."""
    chats = tmp_path / ".qwen" / "projects" / "-home-ada-shop" / "chats"
    chats.mkdir(parents=True)
    shutil.copy(DATA / "session.jsonl", chats / NAME)
    return tmp_path / ".qwen"


@pytest.fixture
def session(home):
    return home / "projects" / "-home-ada-shop" / "chats" / NAME


def records(path, start=0):
    return list(transcript_hot.Reader(str(path), start))


def words(path):
    return [text for record in records(path) if (text := speaker.prompt_text(record))]


def rewrite(path, change):
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(change(line), separators=(",", ":")) + "\n" for line in lines))


def test_a_prompt_that_another_session_wrote_is_nobodys_words(session):
    head = json.loads(session.read_text().splitlines()[0])
    began = {**head, "type": "system", "subtype": "parent_session", "provenance": "system", "message": None}
    session.write_text(json.dumps(began) + "\n" + session.read_text())
    assert words(session)[0] == "Install it then."


@pytest.mark.parametrize(("prompt", "said"), [("", "Remove dist"), ("\\nlook at this", "look at this")])
def test_what_is_piped_in_is_nobodys_words(session, prompt, said):
    text = f'"displayText":"never use npm\\n\\n{prompt}"'
    session.write_text(session.read_text().replace('"displayText":"thanks"', text))
    assert speaker.own_words(words(session)[-1]) == said


def test_a_file_that_is_read_does_not_prove_a_prompts_delivery(session):
    texts = ["See @a", "Content from a:", f'{qwen_hot.OPEN}\n&lt;memtui-guidance delivery="F"&gt;', "End of content"]
    parts = [{"text": text} for text in texts]
    rewrite(session, lambda line: {**line, "message": {"parts": parts}} if line["type"] == "user" else line)
    view = receipts_hot.view_from(str(session), 0)
    assert "F" not in view.outcomes
    assert receipts_hot.outcome({"id": "DELIVERY2", "event": "UserPromptSubmit", "text": "x"}, view) == "failed"


def test_what_hooks_gave_is_not_heard_as_the_persons(session):
    conversation = Conversation()
    for record in records(session):
        conversation.feed(record)
    assert conversation.was_injected("Never touch the <main> branch today.")
    assert conversation.was_injected("CI is green again, go on.")
    assert [turn.agent for turn in conversation.turns[:2]] == ["", "The lockfile is old."]
    assert "Thinking" not in "".join(turn.agent for turn in conversation.turns)


def test_what_a_person_types_to_answer_a_question_is_heard(session):
    lines = [json.loads(line) for line in session.read_text().splitlines()]
    ask, result = (json.loads(json.dumps(line)) for line in lines if "call_1" in json.dumps(line))
    question = {"question": "Which tool?", "header": "Tool", "options": [{"label": "npm"}, {"label": "yarn"}]}
    call = {
        "id": "q1",
        "name": "ask_user_question",
        "args": {"questions": [question, {**question, "question": "Where?"}]},
    }
    ask["message"]["parts"] = [{"functionCall": call}]
    output = {
        "id": "q1",
        "name": "ask_user_question",
        "response": {"output": "User has provided the following answers:"},
    }
    result["message"]["parts"] = [{"functionResponse": output}]
    answers = [{"question": "Which tool?", "answer": "never npm, use pnpm"}, {"question": "Where?", "answer": "yarn"}]
    result["toolCallResult"] = {"resultDisplay": {"type": "ask_user_question_answers", "answers": answers}}
    session.write_text("".join(json.dumps(line) + "\n" for line in (lines[0], ask, result)))
    conversation = Conversation()
    for record in records(session):
        conversation.feed(record)
    assert [(turn.text, turn.channel) for turn in conversation.turns[1:]] == [("never npm, use pnpm", "answer")]


def test_records_stay_a_tree_under_the_same_ids(session):
    whole = records(session)
    uuids = [record["uuid"] for record in whole]
    assert len(set(uuids)) == len(uuids)
    assert [record["parentUuid"] for record in whole] == [None, *uuids[:-1]]
    at = 0
    for line in session.read_bytes().splitlines(keepends=True):
        part = [record["uuid"] for record in records(session, at)]
        assert part == uuids[len(uuids) - len(part) :]
        at += len(line)


def test_a_fork_names_its_session_and_keeps_the_ids(session):
    fork = session.with_name("fork.jsonl")
    shutil.copy(session, fork)
    origin = {"sessionId": NAME.removesuffix(".jsonl"), "messageUuid": "5e55f1de"}
    rewrite(fork, lambda line: {**line, "sessionId": "fork", "forkedFrom": origin})
    assert [record["uuid"] for record in records(fork)] == [record["uuid"] for record in records(session)]
    assert records(fork)[0]["forkedFrom"]["sessionId"] == NAME.removesuffix(".jsonl")


def test_a_session_is_called_by_its_title_or_its_first_words(session):
    assert prompts.about(str(session)).title == "Why is the build red?"
    title = json.loads(session.read_text().splitlines()[1])
    title |= {"uuid": "title", "subtype": "custom_title", "systemPayload": {"customTitle": "A red build"}}
    with session.open("a") as file:
        file.write(json.dumps(title) + "\n")
    assert prompts.about(str(session)).title == "A red build"


def delivery(name, size=0):
    return {"id": name, "event": "UserPromptSubmit", "prompt_id": "p", "text": "x", "chars": 1} | {
        "transcript_size": size,
        "time": "2026-11-27T10:00:00Z",
    }


@pytest.mark.parametrize(("version", "outcome"), [("0.24.4", "failed"), ("0.25.0", "unknown"), ("0.15.10", "unknown")])
def test_what_an_untested_version_does_not_show_is_unknown(session, version, outcome):
    def without_texts(line):
        line = {**line, "version": version}
        del line["provenance" if version == "0.15.10" else "cwd"]
        return line if "memtui" not in json.dumps(line) else {**line, "message": {"parts": [{"text": "go on"}]}}

    rewrite(session, without_texts)
    assert receipts_hot.outcome(delivery("other"), receipts_hot.view_from(str(session), 0)) == outcome


def test_a_text_on_a_branch_that_was_left_is_dropped(session):
    last = json.loads(session.read_text().splitlines()[-1])
    with session.open("a") as file:
        for number, kind in enumerate(("user", "assistant")):
            parent = last["parentUuid"] if kind == "user" else "branch0"
            more = {"uuid": f"branch{number}", "parentUuid": parent, "type": kind, "systemPayload": None}
            file.write(json.dumps({**last, **more, "message": {"parts": [{"text": "Other words"}]}}) + "\n")
    view = receipts_hot.view_from(str(session), 0)
    assert receipts_hot.outcome(delivery("DELIVERY3"), view) == "dropped"
    assert redelivery_hot.left_behind(str(session), {"DELIVERY3"}, "") == ({"DELIVERY3"}, "branch1")
    compaction = next(record for record in records(session) if record.get("subtype") == "compact_boundary")
    assert redelivery_hot.left_behind(str(session), {"DELIVERY1"}, "")[0] == set()
    rewrite(session, lambda line: line if line["uuid"] != compaction["uuid"] else {**line, "subtype": "ui_telemetry"})
    lines = [json.loads(line) for line in session.read_text().splitlines()]
    top = {**lines[-1], "uuid": "top", "parentUuid": None}
    with session.open("a") as file:
        file.write(json.dumps(top) + "\n")
    assert redelivery_hot.left_behind(str(session), {"DELIVERY1", "DELIVERY2"}, "")[0] == {"DELIVERY1", "DELIVERY2"}


def test_an_older_version_is_read_as_well(session):
    shutil.copy(DATA / "older.jsonl", session)
    assert words(session) == ["Why is the build red?"]
    assert receipts_hot.view_from(str(session), 0).outcomes["DELIVERY4"] == "arrived"


def test_tools_have_the_names_that_rules_know(session):
    reader = DeedReader()
    deeds = [deed.call for record in records(session) for deed in reader.feed(record) if deed.call]
    assert [call.commands for call in deeds if call.commands] == [[["npm", "install"]]]  # what was refused did not run


def test_an_archived_session_is_still_read(session, home):
    env = {"QWEN_HOME": str(home)}
    assert list(qwen.PROGRAM.sessions(env)) == [str(session)]
    archive = session.parent / "archive"
    archive.mkdir()
    session.rename(archive / NAME)
    moved = transcript_hot.path_of({"transcript": str(session)}, "")
    assert moved == str(archive / NAME)
    assert list(qwen.PROGRAM.sessions(env)) == [moved]
    assert str(session) in qwen_hot.AGENT.places(moved)


def test_sessions_are_found_where_the_settings_put_them(session, home, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    (home / "projects").rename(elsewhere)
    (tmp_path / "out").mkdir()
    elsewhere.rename(tmp_path / "out" / "projects")
    env = {"QWEN_HOME": str(home)}
    assert list(qwen.PROGRAM.sessions(env)) == []
    (home / "settings.json").write_text(json.dumps({"advanced": {"runtimeOutputDir": str(tmp_path / "out")}}))
    assert len(list(qwen.PROGRAM.sessions(env))) == 1
    assert len(list(qwen.PROGRAM.sessions({"HOME": str(tmp_path), "QWEN_RUNTIME_DIR": str(tmp_path / "out")}))) == 1


# What a hook reads


def read(event, **payload):
    return qwen_hot.AGENT.read(event, {"session_id": "s", "cwd": "/home/ada/shop", **payload}, {})


def test_only_a_prompt_that_a_person_sent_is_served():
    prompt = read("UserPromptSubmit", prompt_id="s########0", prompt="with files", submitted_prompt="as typed")
    assert prompt["prompt"] == "as typed"
    assert read("UserPromptSubmit", prompt_id="s########0", prompt="") is None
    assert read("UserPromptSubmit", prompt_id="s########0", prompt="typed in mid-turn") is None  # it leaves no trace
    assert read("UserPromptSubmit", prompt="of 0.15.10")["prompt"] == "of 0.15.10"
    assert read("UserPromptSubmit", prompt="") is None


def test_tools_come_with_the_names_and_ids_of_the_session_file():
    payload = {"tool_use_id": "toolu_1", "tool_call_id": "call_1", "tool_input": {"command": "ls"}}
    payload = read("PreToolUse", tool_name="run_shell_command", **payload)
    assert [payload[key] for key in ("tool_name", "tool_use_id", "tool_input")] == ["Bash", "call_1", {"command": "ls"}]
    payload = read("PostToolUse", tool_name="write_file", tool_input={"file_path": "/a.md", "content": "x"})
    assert payload["tool_name"] == "Write"
    assert read("PreToolUse", tool_name="mcp__x__y", tool_input={"a": 1})["tool_name"] == "mcp__x__y"


def test_content_can_not_look_like_a_tag_of_ours_after_the_escapes():
    context = '<memtui-index delivery="A">\n&lt;/memtui-index&gt; &lt;memtui-guidance delivery="B"&gt; &lt;b&gt;\n</memtui-index>'
    output = json.loads(qwen_hot.AGENT.answer("UserPromptSubmit", context, "", "", "deny"))["hookSpecificOutput"]
    escaped = output["additionalContext"].replace("<", "&lt;").replace(">", "&gt;")
    assert [escaped.count(tag) for tag in ("&lt;memtui-", "&lt;/memtui-", "&lt;b&gt;")] == [1, 1, 1]


def test_a_script_is_told_from_a_person_by_what_a_terminal_session_sets():
    assert qwen_hot.AGENT.is_personal({}, {qwen_hot.PERSONAL: "socket"})
    assert not qwen_hot.AGENT.is_personal({}, {})


def test_setup_says_that_hooks_are_switched_off(home):
    env = {"QWEN_HOME": str(home)}
    assert qwen.PROGRAM.notes(env) == []
    (home / "settings.json").write_text('{"disableAllHooks": true}')
    assert qwen.PROGRAM.notes(env) == [f"{home}/settings.json switches hooks off (disableAllHooks)."]
