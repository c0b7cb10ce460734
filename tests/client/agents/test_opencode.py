"""Sessions of OpenCode in its database: who spoke, what became of hooks' texts; and what a hook reads and answers."""

import json
import pathlib
import sqlite3
import time
import tracemalloc
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.client import projects
from memtui.client.agents import agents_hot, opencode, opencode_hot
from memtui.client.transcripts import prompts, speaker, transcript_hot
from memtui.client.transcripts.conversation import Conversation, note_position, position
from memtui.deliver import receipts_hot
from memtui.rules.tool_calls import DeedReader
from tables import rows

from . import readings

DATA = pathlib.Path(__file__).parents[2] / "data" / "agents" / "opencode" / "database.jsonl"
MAIN, CHILD, FORK = "ses_dd320e5c0ffeCXojGiM1vSIpAT", "ses_dd320927bffej0kz99uWinuVZO", "ses_dd3207e96ffelH66FEK1mch9ja"
# The tables of 1.18.33, without the columns that nothing here reads.
SCHEMA = """
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text NOT NULL,
    version text NOT NULL, permission text, revert text, time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
PRAGMA journal_mode = WAL;
"""


@pytest.fixture
def database(tmp_path):
    """OpenCode's database with a session, its fork and a subagent's, which its program still has open."""
    path = tmp_path / "home" / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(SCHEMA)
        for line in DATA.read_text().splitlines():
            row = json.loads(line)
            add(connection, row.pop("table"), row)
        connection.path = path
        yield connection


class Connection(sqlite3.Connection):
    path = None


@pytest.fixture(autouse=True)
def connection_with_a_path(monkeypatch):
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **more: connect(*args, **{"factory": Connection, **more}))


def add(connection, table, row):
    marks = ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", [*row.values()])


def say(connection, at, role, *parts, session=MAIN, **data):
    """Write a message at a time in milliseconds, with its parts."""
    name = f"msg_{at}_{role}"
    data = {"role": role, "time": {"created": at, "completed": at}, **data}
    add(
        connection,
        "message",
        {"id": name, "session_id": session, "time_created": at, "time_updated": at, "data": json.dumps(data)},
    )
    for number, part in enumerate(parts):
        row = {"id": f"prt_{at}_{role}_{number}", "message_id": name, "session_id": session, "time_created": at}
        add(connection, "part", {**row, "time_updated": at, "data": json.dumps(part)})
    return name


def text(words, **more):
    return {"type": "text", "text": words, **more}


def path_of(connection, session=MAIN):
    return f"{connection.path}#{session}"


def records(connection, session=MAIN, start=0, limit=None):
    reader = transcript_hot.Reader(path_of(connection, session), start, limit=limit)
    return [(record, reader.offset) for record in reader]


def words(connection, session=MAIN):
    return [said for record, _ in records(connection, session) if (said := speaker.prompt_text(record))]


@pytest.mark.parametrize(("name", "session"), [("opencode", MAIN), ("opencode-child", CHILD), ("opencode-fork", FORK)])
def test_a_session_reads_as_the_same_records_as_ever(database, name, session):
    readings.check(name, [{**record, "cwd": "", "at": at} for record, at in records(database, session)])


SAID = [
    "NOTE1 run the tests, please",
    "run it",
    "push it",
    "ask me",
    "NOTE2 wait for it",
    "[Request interrupted by user]",
    "No, never write French: use plain English in notes.txt",
    "use a subagent",
    "NOTE3 after compaction",
]


def test_the_persons_words_are_those_of_a_person_alone(database):
    assert words(database) == SAID


def test_an_undone_prompt_is_nobodys_words_until_it_is_done_again(database):
    database.execute("UPDATE session SET revert = NULL")
    assert words(database) == [*SAID, "this one is undone"]


def test_a_subagents_prompt_is_no_persons_word(database):
    assert words(database, CHILD) == []
    assert list(opencode.PROGRAM.sessions(env(database))) == [path_of(database), path_of(database, FORK)]


def test_words_on_refusing_a_call_and_typed_answers_are_the_persons(database):
    conversation = Conversation()
    for record, _ in records(database):
        conversation.feed(record)
    turns = {turn.channel: turn.text for turn in conversation.turns}
    assert turns["tool_reject"] == "never push, I do that myself"
    assert turns["answer"] == "always use yarn here"
    assert next(turn for turn in conversation.turns if turn.text.startswith("No, never")).interrupted


def test_what_a_program_prints_on_failing_is_no_refusal(database):
    error = opencode_hot.REJECTED + "always use pnpm"
    part = {
        "type": "tool",
        "tool": "other_tool",
        "callID": "c",
        "state": {"status": "error", "input": {}, "error": error},
    }
    say(database, 1796049178000, "assistant", part)
    database.execute("UPDATE session SET revert = NULL")
    conversation = Conversation()
    for record, _ in records(database):
        conversation.feed(record)
    assert [turn.text for turn in conversation.turns if turn.channel == "tool_reject"] == [
        "never push, I do that myself"
    ]


@pytest.mark.parametrize(
    ("line", "typed"), rows(__file__, "a scripts prompt reads as typed and what is piped as pasted")
)
def test_a_scripts_prompt_reads_as_typed_and_what_is_piped_as_pasted(database, line, typed):
    add(database, "session", {
        "id": "ses_run", "directory": "/home/anna/shop", "title": "New session - 2026-11-30T14:00:00.000Z", "version": "1.18.33",
        "permission": json.dumps([{"permission": "question", "pattern": "*", "action": "deny"}], separators=(",", ":")),
        "time_created": 1, "time_updated": 1,
    })  # fmt: skip
    say(database, 5, "user", text(line + "\nnever use tabs\n"), session="ses_run")
    say(database, 6, "assistant", text("ok"), session="ses_run")
    (said,) = words(database, "ses_run")
    assert said == f"{typed}\n```\nnever use tabs\n\n```"
    assert prompts.about(path_of(database, "ses_run")).title == typed.partition("\n")[0]


def test_a_fork_names_its_session_and_repeats_its_records(database):
    ours, copies = records(database), records(database, FORK)
    assert {record["uuid"] for record, _ in ours[1:]} <= {record["uuid"] for record, _ in copies[1:]}
    origins = [record.get("forkedFrom") for record, _ in copies[1:]]
    assert origins[0] == {"sessionId": MAIN}
    assert origins[-4:] == [None] * 4
    assert not any("forkedFrom" in record for record, _ in ours)


def test_a_reading_goes_on_where_the_last_one_ended(database):
    whole = records(database)
    for _, offset in whole:
        later = [record["uuid"] for record, _ in records(database, start=offset)[1:]]
        assert later == [record["uuid"] for record, at in whole if at > offset]
    size, _ = agents_hot.status(path_of(database))
    noted = note_position(path_of(database), whole[-1][1])
    assert position(noted, path_of(database)) == whole[-1][1] < size
    part = records(database, limit=1)
    assert 0 < len(part) < len(whole)


def test_a_message_that_is_being_written_is_read_when_it_is_whole(database):
    now = int(time.time() * 1000)
    database.execute("UPDATE session SET revert = NULL")
    name = say(database, now, "assistant", text("half"), time={"created": now})
    read = records(database)
    assert "half" not in json.dumps(read[-1][0])
    database.execute("UPDATE part SET data = ? WHERE message_id = ?", [json.dumps(text("whole")), name])
    database.execute(
        "UPDATE message SET data = ? WHERE id = ?", [json.dumps({"role": "assistant", "time": {"completed": 1}}), name]
    )
    (record, _) = records(database, start=read[-1][1])[-1]
    assert speaker.transcript_hot.blocks(record)[0]["text"] == "whole"


def test_of_two_messages_with_one_time_none_is_left_out(database):
    database.execute("UPDATE session SET revert = NULL")
    for number in range(200):
        say(database, 1796049180000 + number // 2, ("user", "assistant")[number % 2], text(f"message {number}"))
    offset, said = -1, []
    reader = transcript_hot.Reader(path_of(database), 0, limit=1)
    while reader.offset != offset:
        offset = reader.offset
        said += [record["uuid"] for record in reader if "message " in json.dumps(record)]
        reader = transcript_hot.Reader(path_of(database), reader.offset, limit=1)
    assert len(set(said)) == 200


@pytest.mark.slow
@given(st.lists(st.integers(0, 400), max_size=12), st.binary(max_size=30))
def test_damaged_rows_are_left_out_and_never_stop_a_reading(places, damage):
    with closing(sqlite3.connect(":memory:")) as memory:
        memory.executescript(SCHEMA)
    rows = [json.loads(line) for line in DATA.read_text().splitlines()]
    for place in places:
        row = rows[place % len(rows)]
        if "data" in row:
            data = row["data"].encode()
            row["data"] = data[: place % (len(data) + 1)].decode("utf-8", "replace") + damage.decode("utf-8", "replace")
    translate = opencode_hot.AGENT.translator()
    session = {**next(row for row in rows if row["id"] == MAIN), "origin": ""}
    translate({"session": session}, 0)
    for row in rows:
        if row["table"] == "message":
            parts = [
                _loads(part["data"]) for part in rows if part["table"] == "part" and part["message_id"] == row["id"]
            ]
            for record in translate({"message": {**_loads(row["data"]), "id": row["id"], "parts": parts}, "at": 5}, 6):
                assert json.dumps(record)


def _loads(data):
    try:
        value = json.loads(data)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def test_receipts_say_arrived_and_lost(database):
    view = receipts_hot.view_from(path_of(database), 0)
    names = ("start-new", "note1", "tool1", "note2", "start-compact", "note3")
    assert {name: view.outcomes.get(name) for name in names} == dict.fromkeys(names, "arrived")
    row = {"event": "UserPromptSubmit", "text": "x", "time": "2026-11-30T14:30:00Z", "prompt_id": "p"}
    assert receipts_hot.outcome({**row, "id": "other", "transcript_size": 1796049150000}, view) == "failed"
    database.execute("UPDATE session SET version = '1.999.0'")
    unknown = receipts_hot.TranscriptView(path_of(database)).refresh()
    assert receipts_hot.outcome({**row, "id": "other"}, unknown) == "unknown"
    assert receipts_hot.outcome({**row, "id": "note1"}, unknown) == "arrived"


def test_a_text_waits_until_the_model_answered_it(database):
    now = time.time()
    database.execute("UPDATE session SET revert = NULL")
    given = text('<memtui-guidance id="n" delivery="late">\nx\n</memtui-guidance>', synthetic=True)
    say(database, int(now * 1000) - 9000, "user", text("go on"), given)
    view = receipts_hot.view_from(path_of(database), 0)
    row = {"id": "late", "event": "UserPromptSubmit", "text": "x", "time": "2026-11-30T14:30:00Z"}
    assert receipts_hot.outcome(row, view, now) == "waiting"
    assert receipts_hot.outcome(row, view, now, ended=True) == "broken off"
    say(database, int(now * 1000) - 8000, "assistant", text("Yes."))
    assert receipts_hot.outcome(row, view.refresh(), now) == "arrived"


def test_tools_are_called_as_claude_code_calls_them(database):
    reader = DeedReader()
    deeds = [deed for record, _ in records(database) for deed in reader.feed(record) if deed.call]
    assert [command for deed in deeds for command in deed.call.commands] == [["echo", "mid"]], (
        "the person ran the other"
    )


def test_title_and_directory_are_those_of_the_session(database):
    assert prompts.about(path_of(database)).title == "A title"
    assert projects.session_cwd(path_of(database)) == "/home/anna/shop"


def env(database):
    return {"HOME": str(database.path.parents[3])}


def hook(database, event, session=MAIN, **more):
    return opencode_hot.AGENT.read(event, {"session_id": session, **more}, env(database))


def test_a_hook_reads_the_plugins_payload_as_claude_codes(database):
    payload = hook(
        database, "PreToolUse", tool_name="edit", tool_input={"filePath": "/a", "oldString": "x", "newString": "y"}
    )
    assert payload["transcript_path"] == path_of(database)
    assert (payload["tool_name"], payload["tool_input"]) == (
        "Edit",
        {"file_path": "/a", "old_string": "x", "new_string": "y"},
    )
    assert opencode_hot.AGENT.is_personal({"personal": True}, {})
    assert not opencode_hot.AGENT.is_personal({"personal": False}, {})


def test_a_start_says_how_the_session_began(database):
    sources = [hook(database, "SessionStart", session)["source"] for session in (MAIN, FORK, "ses_new")]
    assert sources == ["resume", "fork", "startup"]
    database.execute("DELETE FROM part WHERE data LIKE '%start-compact%' OR data LIKE '%note3%'")
    assert hook(database, "SessionStart")["source"] == "compact"
    assert hook(database, "SessionStart", source="compact")["source"] == "compact"


def test_a_compaction_says_who_began_it(database):
    assert hook(database, "PreCompact")["trigger"] == "manual"
    database.execute("UPDATE part SET data = replace(data, '\"auto\":false', '\"auto\":true')")
    assert hook(database, "PreCompact")["trigger"] == "auto"


def test_a_session_that_is_gone_is_no_session(database):
    assert agents_hot.exists(path_of(database))
    assert not agents_hot.exists(path_of(database, "ses_gone"))
    assert not agents_hot.exists(f"{database.path}.other#{MAIN}")
    before = sorted(path.name for path in database.path.parent.iterdir())
    records(database)
    assert sorted(path.name for path in database.path.parent.iterdir()) == before


def test_the_plugin_has_at_most_sixty_lines_and_names_each_event():
    source = pathlib.Path(opencode.SOURCE).read_text()
    assert len(source.splitlines()) <= 60
    whole = opencode.PROGRAM.whole_file(lambda event: f"run {event} --agent 'a \"b\"'")
    assert all(json.dumps(f"run {event.name} --agent 'a \"b\"'") in whole for event in opencode.PROGRAM.events)
    assert all(f'"{event.name}"' in source for event in opencode.PROGRAM.events)


@pytest.mark.large
def test_a_large_session_is_read_fast_and_in_little_memory(database):
    database.execute("UPDATE session SET revert = NULL")
    database.execute("BEGIN")
    output = "line of a log\n" * 3500
    for number in range(2100):
        state = {"status": "completed", "input": {"command": "make"}, "output": output}
        say(
            database,
            1796049180000 + number,
            "assistant",
            {"type": "tool", "tool": "bash", "callID": f"c{number}", "state": state},
        )
    database.execute("COMMIT")
    size = sum(len(output) for _ in range(2100))
    tracemalloc.start()
    begun = time.process_time()
    count = sum(1 for _ in transcript_hot.Reader(path_of(database)))
    seconds, (_, peak) = time.process_time() - begun, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count > 4000
    assert size > 100_000_000
    assert size / seconds > 10_000_000
    assert peak < 16 << 20
