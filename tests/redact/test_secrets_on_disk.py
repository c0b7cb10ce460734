"""No secret that came up in a session stands in any file that memtui writes about it."""

import json
from pathlib import Path

import pytest

from memtui.base import paths_hot
from memtui.client.transcripts import conversation
from memtui.deliver import error_log_hot
from memtui.learn import inbox_writer, unfinished_work
from memtui.review.entries import Review
from memtui.worker import extraction, main

from .secretkinds import NAMES, PLACED_KINDS, SHAPED_KINDS, leaks, planted, texts_below

KINDS = [*SHAPED_KINDS, *PLACED_KINDS, *((name, f"{name} <<{{P12}}>>") for name in NAMES)]


class Session:
    """A transcript, and the worker that reads it."""

    def __init__(self, home):
        (home / "repo" / ".git").mkdir(parents=True)
        self.repo, self.root, self.path = str(home / "repo"), str(home / "root"), str(home / "s1.jsonl")
        self.env = {"HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / "config"), "MEMTUI_HOME": self.root}
        self.rows = []

    def user(self, content, **more):
        uuid = f"u{len(self.rows)}"
        self.rows.append({"type": "user", "uuid": uuid, "sessionId": "s1", "message": {"content": content}, **more})

    def agent(self, *blocks):
        message = {"id": f"m{len(self.rows)}", "content": list(blocks)}
        self.rows.append({"type": "assistant", "timestamp": "2026-11-22T10:00:00Z", "message": message})

    def says(self, text):
        self.agent({"type": "text", "text": text})

    def run(self, last=""):
        with open(self.path, "w", encoding="utf-8") as out:
            out.writelines(json.dumps(row) + "\n" for row in self.rows)
        payload = {"session_id": "s1", "transcript_path": self.path, "cwd": self.repo, "last_assistant_message": last}
        main.run(self.env, payload, "Stop")

    def files(self):
        return {path.name: text for path, text in texts_below(Path(self.root))}


@pytest.fixture
def session(tmp_path, monkeypatch):
    monkeypatch.setattr(extraction, "TURN_SECONDS", 0.2)
    monkeypatch.setattr(extraction, "READ_SECONDS", 600.0)
    monkeypatch.setattr(inbox_writer, "MAX_DRAFTS", 10_000)
    monkeypatch.setattr(
        inbox_writer.inbox_drafts, "first_same", lambda *_: None
    )  # the texts differ in their secrets only
    monkeypatch.setattr(unfinished_work, "MAX_ITEMS", 10_000)
    return Session(tmp_path)


def rules(session, texts):
    """Each text in a wish that becomes a draft."""
    for text in texts:
        session.says("I deployed it by hand.")
        session.user(f"No, that is wrong. From now on always deploy with this: {text} and never by hand.")


@pytest.mark.every
def test_of_no_kind_planted_in_prompts_anything_is_kept(session):
    planted_in = [(name, *planted(template, "prompt")) for name, template in KINDS]
    rules(session, [text for _, text, _ in planted_in])
    session.says("ok")
    session.run("ok")
    files = session.files()
    assert files["pending-updates.md"].count("[redacted: ") > len(KINDS)
    assert leaks(files.items(), [(name, secret) for name, _, secret in planted_in]) == []
    assert "errors.jsonl" not in files


@pytest.mark.slow
def test_of_no_kind_planted_in_agent_messages_anything_is_kept(session):
    planted_in = [(name, *planted(template, "agent")) for name, template in KINDS]
    for _, text, _ in planted_in:
        session.says(f"I ran this: {text}")
        session.user("No, that is wrong. From now on always ask me first before you run such a thing.")
    # A key takes what stands below it along, and no list is left.
    listed = [" ".join(text.split()) for _, text, _ in planted_in if "BEGIN" not in text]
    last = "Remaining:\n" + "\n".join(f"- try {text}" for text in listed)
    session.says(last)
    session.run(last)
    files = session.files()
    assert "[redacted: " in files["pending-items.md"]
    assert "[redacted: " in files["s1.cursor.json"]
    assert leaks(files.items(), [(name, secret) for name, _, secret in planted_in]) == []


@pytest.mark.every
def test_of_no_kind_planted_in_todos_and_refusals_anything_is_kept(session):
    todos = [(name, *planted(template, "todo")) for name, template in KINDS]
    refusals = [(name, *planted(template, "refusal")) for name, template in KINDS[::3]]
    listed = [{"content": f"Use {text} there", "status": "pending"} for _, text, _ in todos]
    session.agent({"type": "tool_use", "id": "t0", "name": "TodoWrite", "input": {"todos": listed}})
    for number, (_, text, _) in enumerate(refusals):
        given = {"command": f"deploy {text}", "subject": f"Deploy with {text}"}
        session.agent({"type": "tool_use", "id": f"t{number + 1}", "name": "TaskCreate", "input": given})
        said = f"The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nNo, from now on always deploy with {text} instead"
        session.user([{"type": "tool_result", "tool_use_id": f"t{number + 1}", "content": said, "is_error": True}])
    session.agent({"type": "tool_use", "id": "open", "name": "TaskCreate", "input": {"subject": refusals[0][1]}})
    session.run("ok")
    files = session.files()
    for name in ("pending-items.md", "pending-updates.md", "s1.cursor.json"):
        assert "[redacted: " in files[name]
    assert leaks(files.items(), [(name, secret) for name, _, secret in [*todos, *refusals]]) == []


@pytest.mark.parametrize("over", [2, 10, 30])
def test_half_a_key_is_not_left_where_a_text_is_cut(session, over):
    _, key = planted(dict(SHAPED_KINDS)["github classic"])
    line = "word " * 1000
    inside = len(key) - over
    listed = [{"content": line[: unfinished_work.MAX_ITEM - inside] + key + " there", "status": "pending"}]
    session.agent({"type": "tool_use", "id": "t0", "name": "TodoWrite", "input": {"todos": listed}})
    session.says(key + " " + line[: conversation.AGENT_TAIL - inside])
    session.user("No, from now on always " + ("word " * 10_000)[: conversation.MAX_TEXT - 23 - inside] + key)
    session.run("Remaining:\n- " + ("word " * 10_000)[: conversation.MAX_TEXT - 13 - inside] + key)
    assert leaks(session.files().items(), [("key", key)]) == []


def test_errors_and_the_journal_hold_no_secret(session):
    _, key = planted(dict(SHAPED_KINDS)["github classic"])
    for size in (0, error_log_hot.MESSAGE_LIMIT - 20):
        error_log_hot.add(session.root, "test", ValueError(("word " * 400)[:size] + " " + key))
    assert leaks(session.files().items(), [("key", key)]) == []
    directory = paths_hot.inbox_dir(session.root, None)
    Review(session.root).guide(directory, {}, f"Use the new key now please {key} for it")
    assert leaks([("journal", session.files()["journal.jsonl"])], [("key", key)]) == []
