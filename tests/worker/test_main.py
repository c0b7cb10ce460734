"""The worker reads what is new in a transcript, once, and whatever goes wrong it ends quietly."""

import json
import os
import threading
import time

import pytest

from memtui.base import fs_hot, paths_hot
from memtui.client.transcripts.conversation import Turn
from memtui.deliver import log_hot
from memtui.inbox import file_hot, format_hot
from memtui.learn import inbox_writer, signals
from memtui.recall import places_hot
from memtui.store.versions.versions import Versions
from memtui.worker import extraction, main, processes
from recalls import deliver
from tables import rows
from waiting import at_once

RULE = "No, use pnpm. From now on always use pnpm."


class World:
    def __init__(self, home):
        self.home = home
        self.repo = str(home / "repo")
        (home / "repo" / ".git").mkdir(parents=True)
        self.root = str(home / "root")
        self.env = {"HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / "config"), "MEMTUI_HOME": self.root}
        self.path = str(home / "s1.jsonl")
        self.count = 0

    def write(self, *rows, path=None):
        with open(path or self.path, "ab") as out:
            for row in rows:
                out.write(row if isinstance(row, bytes) else json.dumps(row).encode() + b"\n")

    def user(self, text, **more):
        self.count += 1
        return {"type": "user", "uuid": f"u{self.count}", "sessionId": "s1", "message": {"content": text}, **more}

    def agent(self, text, command=""):
        self.count += 1
        call = {"type": "tool_use", "id": f"t{self.count}", "name": "Bash", "input": {"command": command}}
        content = [*[call] * bool(command), {"type": "text", "text": text}]
        return {"type": "assistant", "message": {"id": f"m{self.count}", "content": content}}

    def is_corrected(self):
        self.write(self.agent("I ran npm."), self.user(RULE), self.agent("ok"))

    def run(self, last="", event="Stop", session="s1", path=None, **more):
        payload = {"session_id": session, "transcript_path": path or self.path, "cwd": self.repo, **more}
        if last:
            payload["last_assistant_message"] = last
        main.run(self.env, payload, event)

    def texts(self, name):
        path = paths_hot.inbox_dir(self.root, paths_hot.project_key(self.repo)) + "/" + name
        return [e.text.split("\n")[0] for e in format_hot.read(path, items=name == "pending-items.md")]

    @property
    def updates(self):
        return self.texts("pending-updates.md")

    @property
    def items(self):
        return self.texts("pending-items.md")

    @property
    def offset(self):
        return json.loads(fs_hot.read_bytes(self.root + "/sessions/s1.cursor.json"))["offset"]

    @property
    def errors(self):
        return fs_hot.read_or_empty(self.root + "/log/errors.jsonl").decode().splitlines()


def hook_gave(text):
    return {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": [text]}}


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.setattr(extraction, "TURN_SECONDS", 0.2)
    monkeypatch.setattr(extraction, "QUIET_SECONDS", 0.15)
    return World(tmp_path)


def test_a_turn_leaves_drafts_and_open_items(world):
    world.write(world.agent("I ran npm."), world.user(RULE), world.agent("Remaining:\n- Write docs"))
    world.run("Remaining:\n- Write docs")
    assert (world.updates, world.items, world.errors) == (["Always use pnpm"], ["Write docs"], [])


def test_what_one_worker_has_no_time_for_the_next_reads(world, monkeypatch):
    monkeypatch.setattr(extraction, "READ_SECONDS", -1.0)  # one record
    world.is_corrected()
    offsets = []
    for _ in range(4):
        world.run("ok")
        offsets.append(world.offset)
    assert offsets == [*sorted(set(offsets[:3])), os.path.getsize(world.path)]
    assert (world.updates, world.errors) == (["Always use pnpm"], [])


def test_a_rewritten_transcript_is_read_anew(world):
    world.write(world.agent("x" * 500), world.user("hello"))
    world.run(event="SessionEnd")
    with open(world.path, "wb"):
        pass
    world.write(world.agent("I ran npm."), world.user(RULE))
    world.run(event="SessionEnd")
    assert world.updates == ["Always use pnpm"]


@pytest.mark.parametrize("left", [0, 1, 2])
def test_a_transcript_that_lost_its_beginning_after_compaction_is_read_on(world, left):
    earlier = [world.agent("I ran npm."), world.user(RULE), world.agent("ok")]
    world.write(*earlier)
    world.run("ok")
    fs_hot.unlink(
        paths_hot.inbox_dir(world.root, paths_hot.slug(world.repo)) + "/extracted.jsonl"
    )  # what else keeps it from twice
    os.truncate(world.path, 0)
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b1", "parentUuid": None}
    world.write(*earlier[3 - left :] if left else (), {"type": "history-suppression"}, boundary)
    world.write(world.user("Also, never push to main without asking me"), world.agent("fine"))
    world.run("fine")
    assert world.updates == ["Always use pnpm", "Never push to main without asking me"]
    world.run("fine")
    assert (len(world.updates), world.errors) == (2, [])


@pytest.mark.parametrize(
    ("flags", "more", "there"), rows(__file__, "it is noted for hooks whether the client recalls itself")
)
def test_it_is_noted_for_hooks_whether_the_client_recalls_itself(world, flags, more, there):
    settings = world.env["CLAUDE_CONFIG_DIR"] + "/.claude.json"
    fs_hot.write_atomic(settings, json.dumps({"cachedGrowthBookFeatures": flags}).encode())
    world.env |= more
    world.write(world.user("hello"))
    world.run()
    assert os.path.exists(world.root + places_hot.BY_CLIENT) is there
    fs_hot.write_atomic(settings, b"{}")
    world.env.pop("CLAUDE_MEMORY_STORES", None)
    world.run()
    assert not os.path.exists(world.root + places_hot.BY_CLIENT)


def test_a_torn_last_line_is_come_back_for(world):
    whole = json.dumps(world.user(RULE)).encode() + b"\n"
    world.write(world.agent("I ran npm."), whole[:60])
    world.run(event="PreCompact")
    assert world.updates == []
    world.write(whole[60:])
    world.run(event="SessionEnd")
    assert world.updates == ["Always use pnpm"]


def test_a_turn_that_is_in_the_transcript_is_not_waited_for(world, monkeypatch):
    world.is_corrected()
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail(f"{seconds} seconds were waited"))
    assert extraction.wait_for_turn(world.path, "ok")


@pytest.mark.slow
def test_it_waits_for_a_transcript_that_lags(world, monkeypatch):
    monkeypatch.setattr(extraction, "TURN_SECONDS", 3.0)
    world.write(world.agent("I ran npm."))
    threading.Timer(0.3, lambda: world.write(world.user(RULE), world.agent("Understood."))).start()
    world.run("Understood.")
    assert world.updates == ["Always use pnpm"]


def test_what_a_hook_injected_is_not_extracted_nor_anything_if_off(world):
    injected = '<memtui-guidance id="1" delivery="2">\nFrom now on always use yarn for installs\n</memtui-guidance>'
    world.write(
        world.agent("I ran npm."),
        hook_gave(injected),
        world.user(injected),
        world.user("From now on always use yarn for installs"),
        world.agent("Remaining:\n- From now on always use yarn for installs"),
    )
    world.run(event="SessionEnd")
    assert (world.updates, world.items) == ([], [])
    fs_hot.append(world.root + "/config.toml", f'[projects."{world.repo}"]\nextract = false\n'.encode())
    world.write(world.agent("I ran npm."), world.user(RULE))
    world.run(event="SessionEnd")
    assert world.updates == []


def test_who_has_to_repeat_what_a_memory_says_marks_it_as_violated(world):
    memory = world.home / "repo" / ".claude" / "memory" / "pnpm.md"
    memory.parent.mkdir(parents=True)
    rule = "Always use pnpm for packages"
    memory.write_text(f"---\nname: pnpm\ndescription: {rule}\n---\n{rule}\n")
    os.utime(memory, (time.time() - 60,) * 2)
    item = {"kind": "memory", "id": "pnpm", "scope": "project", "path": str(memory), "chars": 30}
    deliver(world.root, time.time() - 30, item, session_id="s1")
    world.write(hook_gave(rule), world.agent("I ran npm."), world.user(f"No! {rule}."))
    world.run(event="SessionEnd")
    assert world.updates == []
    corrected = next(item for row in log_hot.newest_first(world.root) for item in row["items"])
    assert (corrected["kind"], corrected["path"]) == ("corrected", str(memory))


def test_an_item_that_the_agent_repeats_from_the_inbox_stays_open(world):
    world.write(world.agent("Remaining:\n- Write the missing docs"))
    world.run(event="SessionEnd")
    block = '<memtui-pending-items delivery="2">\n- Write the missing docs\n</memtui-pending-items>'
    other = world.path.replace("s1", "s2")
    world.write(hook_gave(block), world.agent("Remaining:\n- Write the missing docs\n- Ship it"), path=other)
    world.run(event="SessionEnd", session="s2", path=other)
    assert world.items == ["Write the missing docs", "Ship it"]


@pytest.mark.slow
def test_items_go_when_they_are_done(world):
    todos = [{"content": "Fix it", "status": "pending"}]
    block = {"type": "tool_use", "id": "t", "name": "TodoWrite", "input": {"todos": todos}}
    world.write({"type": "assistant", "message": {"content": [block]}})
    world.run(event="SessionEnd")
    assert world.items == ["Fix it"]
    world.run(event="SessionEnd")
    assert world.items == ["Fix it"]
    done = {**block, "input": {"todos": [{"content": "Fix it", "status": "completed"}]}}
    world.write({"type": "assistant", "message": {"content": [done]}})
    world.run(event="SessionEnd")
    assert world.items == []


OTHER = b'{"v":1,"agent":"x","type":"user","content":"From now on use pnpm"}\n{\n  "messages": [\n'


@pytest.mark.parametrize(
    ("make", "logged"),
    [
        (lambda path: None, False),
        (os.mkfifo, True),
        (os.mkdir, True),
        (lambda path: fs_hot.append(path, os.urandom(5000)), False),
        (lambda path: fs_hot.append(path, OTHER), False),
    ],
    ids=["missing", "fifo", "directory", "binary", "other"],
)
def test_a_transcript_that_can_not_be_read_is_no_trouble_for_anyone(world, make, logged):
    make(world.path)
    world.run("bye")
    assert (world.updates, len(world.errors)) == ([], logged)
    world.run("bye", path="relative.jsonl")
    assert len(world.errors) == logged


@pytest.mark.parametrize("payload", [{}, {"session_id": 3}, {"session_id": "s", "transcript_path": None}, {"cwd": []}])
def test_odd_payloads_are_survived(world, payload):
    main.run(world.env, payload, "Stop")
    assert world.errors == []


def test_a_broken_cursor_is_started_over(world):
    fs_hot.append(world.root + "/sessions/s1.cursor.json", b'{"v": 1, "offset": "x", "state": [3]')
    world.write(world.agent("I ran npm."), world.user(RULE))
    world.run(event="SessionEnd")
    assert world.updates == ["Always use pnpm"]


def test_only_the_new_part_is_read_and_nothing_comes_twice_even_at_once(world, tmp_path):
    world.is_corrected()
    at_once(*[lambda: world.run("ok")] * 4)
    assert (world.updates, world.errors) == (["Always use pnpm"], [])
    world.run("ok")
    fork = str(tmp_path / "s2.jsonl")
    with open(world.path, "rb") as file:
        rows = [json.loads(line) for line in file]
    world.write(*[{**row, "sessionId": "s2"} for row in reversed(rows)], path=fork)
    world.run("ok", session="s2", path=fork)
    assert world.updates == ["Always use pnpm"]
    world.run("ok")
    assert world.offset == os.path.getsize(world.path)
    world.run("ok")
    world.write(world.user("Also, never push to main without asking me"), world.agent("fine"))
    world.run("fine")
    assert world.updates == ["Always use pnpm", "Never push to main without asking me"]
    fs_hot.unlink(world.root + "/sessions/s1.cursor.json")
    world.run("fine")
    assert len(world.updates) == 2


@pytest.mark.slow
@pytest.mark.parametrize("off", [b'mode = "off"\n', b'gate = "off"\n'])
def test_versions_of_memories_are_kept_unless_memtui_or_its_gate_is_off(world, off):
    memory = world.home / "repo" / ".claude" / "memory"
    memory.mkdir(parents=True)
    (memory / "a.md").write_text("one")
    fs_hot.write_atomic(world.root + "/config.toml", off)
    world.run()
    assert not os.path.exists(world.root + "/versions.jsonl")
    fs_hot.write_atomic(world.root + "/config.toml", b"")
    world.run()
    (memory / "a.md").write_text("two")
    os.utime(memory / "a.md", (time.time() - 10,) * 2)
    world.run()
    versions = Versions(world.root)
    versions.follow()
    assert [versions.content(each) for each in versions.of(str(memory), "a.md")] == [b"one", b"two"]
    assert world.errors == []


def test_tidying_removes_what_is_old_once_a_day(world):
    old = time.time() - 40 * 86_400
    names = [
        *("sessions/a.json", "sessions/a.cursor.json", "run/worker-a.lock", "run/subconscious-a.next.lock"),
        *("subconscious/sessions/a.json", "subconscious/sessions/a.jsonl", "global/guidance.md.12-ab.tmp"),
        "global/guidance.md",
    ]
    for name in [*names, "sessions/new.json"]:
        fs_hot.append(f"{world.root}/{name}", b"{}")
        if name in names:
            os.utime(f"{world.root}/{name}", (old, old))
    with fs_hot.Lock(f"{world.root}/run/worker-held.lock", 0):
        os.utime(f"{world.root}/run/worker-held.lock", (old, old))
        assert main.tidy(world.root) == 7
        assert os.path.exists(f"{world.root}/run/worker-held.lock")
    assert os.path.exists(f"{world.root}/global/guidance.md")
    assert os.path.exists(f"{world.root}/sessions/new.json")
    os.utime(f"{world.root}/sessions/new.json", (old, old))
    assert main.tidy(world.root) == 0


def test_whispers_that_expired_go_and_notes_stay(world):
    box = f"{world.root}/projects/shop"
    old = {"kind": "whisper", "from": "subconscious", "for": "session:5e55", "expires": "2020-01-01T00:00:00Z"}
    file_hot.add_entry(box, "guidance", {**old, "kind": ""}, "An old note of the person.")
    file_hot.add_entry(box, "guidance", old, "An old whisper.")
    file_hot.add_entry(box, "guidance", {**old, "expires": "2999-01-01T00:00:00Z"}, "A new whisper.")
    main.tidy(world.root)
    texts = [entry.text for entry in format_hot.read(f"{box}/guidance.md")]
    assert texts == ["An old note of the person.", "A new whisper."]


def test_a_dream_starts_with_no_project_settings_in_its_environment(world, monkeypatch):
    started = []
    monkeypatch.setattr("subprocess.Popen", lambda words, **more: started.append((words, more)))
    fs_hot.write_atomic(f"{world.root}/config.toml", b'dream = true\nllm_backend = "api"\n')
    settings = {"env": {"ANTHROPIC_BASE_URL": "http://evil.example", "PYTHONPATH": "/evil", "HTTPS_PROXY": "x"}}
    fs_hot.write_atomic(f"{world.repo}/.claude/settings.json", json.dumps(settings).encode())
    world.env |= {"ANTHROPIC_BASE_URL": "http://evil.example", "ANTHROPIC_API_KEY": "k", "HTTPS_PROXY": "x"}
    main.run(world.env, {"cwd": world.repo}, "Stop", ("dream",))
    assert started == []  # no session was seen yet
    for number in range(5):
        fs_hot.write_atomic(f"{world.root}/sessions/s{number}.json", b"{}")
    main.run(world.env, {"cwd": world.repo}, "Stop", ("dream",))
    ((words, more),) = started
    assert (words[1:5], words[-1]) == (["-m", "memtui", "consolidate", "--ask-model"], world.repo)
    assert more["start_new_session"]
    assert more["env"]["ANTHROPIC_API_KEY"] == "k"
    assert "evil" not in str(more["env"])
    assert "HTTPS_PROXY" not in more["env"]
    main.run(world.env, {"cwd": world.repo}, "Stop", ("dream",))
    assert len(started) == 1  # the next one begins in ten minutes at the soonest


def requests(world):
    path = paths_hot.inbox_dir(world.root, paths_hot.project_key(world.repo)) + "/pending-updates.md"
    return [each.fields.get("request") for each in format_hot.read(path)]


def test_a_draft_keeps_what_was_asked_when_corrected_also_in_earlier_turns(world):
    secret = "ghp_" + "a1B2" * 9
    asking = world.user(f"Add a date picker\nto the form, the token is {secret}")
    world.write(asking, world.agent("It is there.", "npm remove pnpm"))
    world.run("It is there.")
    world.write(world.user("ok"), world.agent("Done."), world.user(RULE), world.agent("OK."))
    world.run("OK.")
    (asked,) = requests(world)
    assert asked.startswith("Add a date picker to the form, the token is [redacted")


def test_the_request_under_way_outlasts_an_interruption_and_a_correction(world):
    stop = world.user([{"type": "text", "text": "[Request interrupted by user]"}])
    other = world.user("No, never push to main without asking me first.")
    world.write(world.user("Add a date picker to the form"), world.agent("OK", "pnpm publish --branch main"), stop)
    world.write(world.user(RULE), world.agent("I pushed."), other)
    world.run(event="SessionEnd")
    assert requests(world) == ["Add a date picker to the form"] * 2


@pytest.mark.parametrize("given", rows(__file__, "what a hook gave in an earlier turn is no correction"))
@pytest.mark.parametrize("turns", [1, 2])
def test_what_a_hook_gave_in_an_earlier_turn_is_no_correction(world, given, turns):
    line = "From now on always use pnpm for installs, never npm."
    world.write(world.user("hello there my friend"), world.agent("ok"), hook_gave(given))
    for _ in range(turns):
        world.run("ok")
        world.write(world.user("And now something else, please."), world.agent("ok"))
    world.run("ok")
    world.write(world.user(line), world.agent("ok"))
    world.run("ok")
    assert (world.updates, world.errors) == ([], [])


SUBCONSCIOUS = 'llm_backend = "api"\nsubconscious = "full"\n'


@pytest.mark.parametrize("event", ["Stop", "SessionEnd", "PreCompact"])
def test_the_subconscious_is_started_after_a_turn_and_before_a_compaction(world, monkeypatch, event):
    fs_hot.write_atomic(world.root + "/config.toml", SUBCONSCIOUS.encode())
    started = []
    monkeypatch.setattr(processes, "start", lambda *words, payload: started.append((words[3], json.loads(payload))))
    world.write(world.user("hello"), world.agent("Understood."))
    world.run(event=event)
    ((module, given),) = started
    assert (module, given["hook_event_name"]) == ("memtui.models.subconscious.run_process", event)


@pytest.mark.slow
def test_without_a_transcript_the_last_message_tells_what_is_open(world):
    world.run(last="Remaining:\n- write the release notes")
    world.run(event="SessionEnd")
    assert world.items == ["write the release notes"]
    assert not os.path.exists(world.root + "/log/errors.jsonl")
    world.write(world.user(RULE))
    world.run(last="Done.")
    os.remove(world.path)
    world.run(last="Done.")
    assert len(world.updates) == 1
    assert not os.path.exists(world.root + "/log/errors.jsonl")


# --- two workers at once: each waits where the other one is just about to write, which no lock would let happen


PNPM = "From now on use pnpm instead of npm"
# Seconds for the other one to come to the same place, which it does at once if nothing keeps it out.
PATIENCE = 0.3


@pytest.fixture
def env(tmp_path):
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    return {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "config"), "MEMTUI_HOME": str(tmp_path / "root")}


def meeting(monkeypatch, module, name):
    """Let whoever calls a function wait for another one who calls it."""
    barrier, function = threading.Barrier(2), getattr(module, name)

    def called(*given, **named):
        try:
            barrier.wait(PATIENCE)
        except threading.BrokenBarrierError:
            pass
        return function(*given, **named)

    monkeypatch.setattr(module, name, called)


@pytest.mark.slow
def test_what_two_sessions_say_at_once_is_one_draft_that_was_seen_twice(env, tmp_path, monkeypatch):
    meeting(monkeypatch, inbox_writer.file_hot, "add_entry")
    shop = str(tmp_path / "shop")

    def put(session):
        turn = Turn(PNPM, "prompt", uuid=session, session=session, agent="I ran npm.", time="2026-01-01T00:00:00Z")
        inbox_writer.write_drafts(env, shop, [signals.signal_of(turn)], 0.5)

    at_once(lambda: put("s1"), lambda: put("s2"))
    box = paths_hot.inbox_dir(env["MEMTUI_HOME"], paths_hot.project_key(shop))
    (entry,) = format_hot.read(f"{box}/pending-updates.md")
    assert entry.fields["seen"] == "2"
    rows = [json.loads(line) for line in fs_hot.read_bytes(f"{box}/extracted.jsonl").splitlines()]
    assert {row["evidence"] for row in rows} == {"s1", "s2"}


def test_a_catalog_of_a_repository_has_only_what_is_trusted(tmp_path, monkeypatch):
    world, built = World(tmp_path), {}
    for place in (f"{world.repo}/.claude/memory", f"{tmp_path}/config/memory"):
        os.makedirs(place)
    monkeypatch.setattr(main.catalog_hot, "build", lambda _, directory, project: built.update({directory: project}))
    main.run(world.env, {"session_id": "s1", "cwd": world.repo}, "Stop", ("catalog",))
    assert built[f"{world.repo}/.claude/memory"] is True
    assert built[f"{tmp_path}/config/memory"] is False
