"""Sessions of Codex as files: who spoke, what became of hooks' texts, which tools ran; and what a hook reads and answers."""

import hashlib
import json
import pathlib
import shutil

import pytest

from memtui.client.agents import codex, codex_hot
from memtui.client.transcripts import speaker, transcript_hot
from memtui.rules.tool_calls import DeedReader
from tables import rows

from . import readings

DATA = pathlib.Path(__file__).parents[2] / "data" / "agents" / "codex"
NAME = "rollout-2026-11-30T14-03-11-01a22cc4-4962-7a20-954f-865468865e0c.jsonl"
FORK = "rollout-2026-11-30T14-03-13-01a22cc4-5390-7a20-954f-865468865e0c.jsonl"


@pytest.fixture
def home(tmp_path):
    """A `.codex` with one session and its fork."""
    day = tmp_path / ".codex" / "sessions" / "2026" / "11" / "30"
    day.mkdir(parents=True)
    shutil.copy(DATA / "session.jsonl", day / NAME)
    shutil.copy(DATA / "fork.jsonl", day / FORK)
    return tmp_path / ".codex"


@pytest.fixture
def session(home):
    return home / "sessions" / "2026" / "11" / "30" / NAME


def records(path, start=0):
    return list(transcript_hot.Reader(str(path), start))


def words(path):
    return [text for record in records(path) if (text := speaker.prompt_text(record))]


def test_a_fork_lacks_what_came_after_the_place_it_began_at(home, session):
    fork, later = next(home.rglob(FORK)), session.with_name("rollout-later.jsonl")
    later.write_text('{"ordinal": 102}\n')
    given = {"before": (session, 113324), "after": (session, 113325), "later": (later, 0)}
    rows = [{"id": name, "transcript": str(path), "transcript_size": size} for name, (path, size) in given.items()]
    assert codex_hot.AGENT.cut_off(str(fork), rows) == {"after", "later"}
    assert codex_hot.AGENT.cut_off(str(session), rows) == set()


def test_a_fork_reads_as_the_same_records_as_ever(home):
    readings.check("codex-fork", records(next(home.rglob(FORK))))


def test_what_is_piped_into_a_run_is_nobodys_words(session):
    text = "look at this\n\n<stdin>\nnever use tabs\n</stdin>"
    session.write_text(session.read_text().replace('"text":"after it"', '"text":' + json.dumps(text)))
    assert speaker.own_words(words(session)[-1]) == "look at this"


def test_what_is_told_a_subagent_is_no_persons_word(session):
    text = session.read_text().replace('"parent_turn_id":null', '"parent_turn_id":"01a2"')
    session.write_text(text)
    assert words(session) == []
    session.write_text(
        (DATA / "session.jsonl").read_text().replace('"cli_version"', '"thread_source":"subagent","cli_version"')
    )
    assert words(session) == []


def test_a_fork_names_its_session_and_repeats_nothing(session):
    fork = session.with_name(FORK)
    assert records(fork)[0]["forkedFrom"] == {"sessionId": NAME[-42:-6]}
    assert words(fork) == ["in the fork"]


def test_sessions_of_older_versions_are_read(session):
    """Versions up to 0.120 give messages no ids; those of the session's instructions have another kind."""
    meta = {"id": "01a2", "cwd": "/home/anna/shop", "cli_version": "0.80.0", "source": "exec"}
    events = [
        {
            "type": "user_message",
            "message": "<user_instructions>Be kind</user_instructions>",
            "kind": "user_instructions",
        },
        {"type": "user_message", "message": "Never use tabs", "images": []},
        {"type": "agent_message", "message": "Done."},
    ]
    rows = [{"type": "session_meta", "payload": meta}, *[{"type": "event_msg", "payload": event} for event in events]]
    lines = [json.dumps({"timestamp": "2026-11-30T14:23:32.910Z", **row}) for row in rows]
    session.write_text("\n".join([*lines, ""]))
    assert words(session) == ["Never use tabs"]
    whole = [record["uuid"] for record in records(session)]
    assert len(set(whole)) == 4
    subagents = lines[0].replace('"exec"', '{"subagent": "review"}')
    session.write_text("\n".join([subagents.replace(": {", ":{").replace('": "', '":"'), *lines[1:], ""]))
    assert words(session) == []
    assert codex_hot.is_subagents(str(session))


def test_what_a_fork_of_an_older_version_copies_is_left_out(session):
    def row(kind, **payload):
        return json.dumps({"timestamp": "2026-11-30T14:48:51.853Z", "type": kind, "payload": payload})

    def turn(text, at):
        started = row("event_msg", type="task_started", turn_id=text, started_at=at)
        return [started, row("event_msg", type="user_message", message=text)]

    fork = row(
        "session_meta", id="02", forked_from_id="01", timestamp="2026-11-30T14:48:51.824Z", cwd="/home/anna/shop"
    )
    parent = row("session_meta", id="01", timestamp="2026-11-30T14:48:50Z", cwd="/home/anna/shop")
    session.write_text("\n".join([fork, parent, *turn("first", 1796050130), *turn("in the fork", 1796050131), ""]))
    assert words(session) == ["in the fork"]


def test_each_reading_gives_a_record_the_same_uuid(session):
    whole = [record["uuid"] for record in records(session)]
    assert len(set(whole)) == len(whole)
    at = 0
    for line in session.read_bytes().splitlines(keepends=True):
        part = [record["uuid"] for record in records(session, at)]
        assert part == whole[len(whole) - len(part) :] or "end-" in whole[len(whole) - len(part)]
        at += len(line)


def test_an_archived_session_is_still_read(session, home):
    (home / "archived_sessions").mkdir()
    session.rename(home / "archived_sessions" / NAME)
    moved = transcript_hot.path_of({"transcript": str(session)}, "")
    assert moved == str(home / "archived_sessions" / NAME)
    assert str(session) in codex_hot.AGENT.places(moved)
    assert sorted(codex.PROGRAM.sessions({"CODEX_HOME": str(home)})) == sorted([moved, str(session.with_name(FORK))])


def test_sessions_of_subagents_are_not_listed(session, home):
    text = session.read_text().replace('"cli_version"', '"thread_source":"subagent","cli_version"')
    session.write_text(text)
    assert list(codex.PROGRAM.sessions({"CODEX_HOME": str(home)})) == [str(session.with_name(FORK))]


def test_commands_and_patches_count_and_refused_ones_do_not(session):
    reader = DeedReader()
    deeds = [deed for record in records(session) for deed in reader.feed(record) if deed.call and not deed.call.replies]
    run, patch = [deed.call for deed in deeds]
    assert run.commands == [["npm", "test"]]
    assert sorted(patch.paths) == ["/home/anna/shop/more.txt", "/home/anna/shop/notes.txt"]
    assert sorted(text.strip() for _, text in patch.added) == ["deux", "hello"]


# What a hook reads and answers


def read(event, **payload):
    return codex_hot.AGENT.read(event, {"session_id": "s", "cwd": "/home/anna/shop", **payload}, {"HOME": "/home/anna"})


def test_the_agent_that_writes_codex_own_memories_is_left_alone():
    assert read("UserPromptSubmit", cwd="/home/anna/.codex/memories") is None
    assert read("UserPromptSubmit", turn_id="t1")["prompt_id"] == "t1"


@pytest.mark.parametrize(
    ("patch", "tool", "tool_input"), rows(__file__, "test_a_patch_of_one_memory_is_a_write_or_an_edit")
)
def test_a_patch_of_one_memory_is_a_write_or_an_edit(patch, tool, tool_input):
    whole = f"*** Begin Patch\n{patch}*** End Patch"
    for name, command in (("apply_patch", whole), ("Bash", f"apply_patch <<'EOF'\n{whole}\nEOF\n")):
        payload = read("PreToolUse", tool_name=name, tool_input={"command": command})
        assert (payload["tool_name"], payload["tool_input"]) == (tool, tool_input)


def test_a_memory_in_a_patch_of_more_files_is_seen():
    memory = "*** Update File: .claude/memory/x.md\n one\n-two\n+deux\n"
    patch = f"*** Begin Patch\n*** Update File: README.md\n@@\n-a\n+b\n{memory}*** End Patch"
    payload = read("PreToolUse", tool_name="apply_patch", tool_input={"command": patch})
    edit = {"old_string": "one\ntwo", "new_string": "one\ndeux"}
    assert payload["tool_input"] == {"file_path": ".claude/memory/x.md", "edits": [edit]}
    moved = "*** Begin Patch\n*** Update File: x.md\n*** Move to: y.md\n@@\n-a\n+b\n*** End Patch"
    assert read("PreToolUse", tool_name="apply_patch", tool_input={"command": moved})["tool_name"] == "apply_patch"


def test_other_patches_stay_patches():
    patch = "*** Begin Patch\n*** Add File: a.py\n+x\n*** Add File: b.py\n+y\n*** End Patch"
    payload = read("PreToolUse", tool_name="apply_patch", tool_input={"command": patch})
    assert (payload["tool_name"], payload["tool_input"]) == ("apply_patch", {"patch": patch, "file_path": "a.py"})
    payload = read("PreToolUse", tool_name="Bash", tool_input={"command": "ls"})
    assert (payload["tool_name"], payload["tool_input"]) == ("Bash", {"command": "ls"})


def test_a_start_of_a_fork_is_one_whatever_the_version_calls_it(session):
    fork = {"transcript_path": str(session.with_name(FORK))}
    assert read("SessionStart", source="startup", **fork)["source"] == "fork"
    assert read("SessionStart", source="compact", **fork)["source"] == "compact"
    assert read("SessionStart", source="startup", transcript_path=str(session))["source"] == "startup"


def test_who_runs_a_session_is_read_from_its_file(session):
    assert codex_hot.AGENT.is_personal({"transcript_path": str(session)}, {})
    session.write_text(session.read_text().replace('"source":"vscode"', '"source":"exec"'))
    assert not codex_hot.AGENT.is_personal({"transcript_path": str(session)}, {})


# Trust


def test_setup_says_what_a_person_has_to_do_until_all_are_trusted(home):
    env = {"CODEX_HOME": str(home)}
    line = "exec python3 /opt/memtui/hooks/launch.py {0} --root /r --config /c --agent codex"
    events = codex.PROGRAM.events
    theirs = {"hooks": [{"type": "command", "command": "true"}]}
    groups = {event.own: [theirs, codex.PROGRAM.group(event, line.format(event.name))] for event in events}
    (home / "hooks.json").write_text(json.dumps({"hooks": groups}))
    assert codex.PROGRAM.trust(env) == codex.REVIEW
    handler = '{"additionalContextLimit":8000,"async":false,"command":"%s","timeout":5,"type":"command"}'
    prompt = '{"event_name":"user_prompt_submit","hooks":[%s]}' % (handler % line.format("UserPromptSubmit"))
    hashes = {event.own: codex._hash(event.own, *_entry(groups, event.own)) for event in events}
    assert hashes["UserPromptSubmit"] == "sha256:" + hashlib.sha256(prompt.encode()).hexdigest()
    _trust(home, hashes)
    assert codex.PROGRAM.trust(env) == ""
    _trust(home, {**hashes, "Stop": "sha256:0"})
    assert codex.PROGRAM.trust(env) == codex.CHANGED
    (home / "hooks.json").write_text(json.dumps({"version": 1, "hooks": groups}))
    assert codex.PROGRAM.trust(env) == codex.SKIPPED.format(what="“version”")
    (home / "hooks.json").write_text(json.dumps({"hooks": {**groups, "Stop": [{"hooks": [{"timeout": "5"}]}]}}))
    assert codex.PROGRAM.trust(env) == codex.SKIPPED.format(what="“timeout”")
    (home / "hooks.json").write_text(json.dumps({"hooks": groups}))
    _trust(home, hashes, 'enabled = false\ntrusted_hash = "sha256:0"')
    assert codex.PROGRAM.trust(env) == codex.DISABLED


def _entry(groups, event):
    return groups[event][1], groups[event][1]["hooks"][0]


def _trust(home, hashes, last=""):
    keys = {event: f"{home}/hooks.json:{codex._snake(event)}:1:0" for event in hashes}
    tables = {key: f'trusted_hash = "{hashes[event]}"' for event, key in keys.items()}
    tables[keys["Stop"]] = last or tables[keys["Stop"]]
    (home / "config.toml").write_text("\n".join(f'[hooks.state."{key}"]\n{text}' for key, text in tables.items()))


def test_hooks_in_the_persons_config_are_named_and_left_alone(home):
    path = home / "config.toml"
    env = {"CODEX_HOME": str(home)}
    assert codex.PROGRAM.notes(env) == []
    path.write_text('[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "true"\n')
    assert codex.PROGRAM.notes(env) == [codex.OTHERS.format(path=path)]
    path.write_text("[features]\nhooks = false\n")
    assert codex.PROGRAM.notes(env) == [codex.OFF.format(path=path)]
    path.write_text("[broken")
    assert codex.PROGRAM.notes(env)[0].startswith(f"{path} can't be read")
