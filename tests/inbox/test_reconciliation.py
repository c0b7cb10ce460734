"""What became of guidance that a hook took: done, or back in its inbox, by the evidence there is."""

import json
import os
import subprocess

import pytest

import recorded
from memtui.base import clock_hot, fs_hot, ids_hot, session_state_hot
from memtui.client import process_hot
from memtui.deliver import log_hot, receipts_hot
from memtui.inbox import claims_hot, file_hot, format_hot, reconciliation_hot, redelivery_hot
from recalls import deliver

NOW = clock_hot.parse("2026-11-21T10:00:00Z")
SESSION = "2581a30a-f827-46a4-a54f-1c2be567828b"
COMMAND = "'/usr/bin/python3' -I -S '/site/memtui/hooks/launch.py' UserPromptSubmit"
DEAD = 2**22 + 1  # above the largest pid there can be


class World:
    """One session of one project, with guidance that its hook took at NOW."""

    def __init__(self, base):
        self.env = {"CLAUDE_CONFIG_DIR": str(base / "config")}
        self.root = str(base / "config" / "memtui")
        self.box = self.root + "/projects/-w-shop"
        self.transcript = base / "config" / "projects" / "-w-shop" / f"{SESSION}.jsonl"
        self.id = ids_hot.new_id(NOW)
        self.log_id = self.id

    def take(self, *texts, pid=DEAD, **fields):
        for text in texts:
            file_hot.add_entry(self.box, "guidance", {"id": f"id-{text}", **fields}, text, now=NOW)
        claim = claims_hot.take(
            self.box, claims_hot.Recipient(SESSION, "", "/w/shop", NOW), self.id, lambda entry: True
        )
        name = f"{self.id}~{SESSION}~{pid}.md"
        os.rename(claim.path, f"{self.box}/claimed/{name}")
        claim.name = name
        return claim

    def log(self, claim, *, left_out=(), **more):
        printed = [entry for entry, _ in claim.entries if entry.id not in left_out]
        items = [{"kind": "guidance", "id": entry.id, "hash": ids_hot.content_hash(entry.text)} for entry in printed]
        items += [{"kind": "guidance", "id": name, "left_out": "no room"} for name in left_out]
        record = {
            "v": 1, "id": self.id, "time": clock_hot.iso(NOW), "event": "UserPromptSubmit", "session_id": SESSION,
            "transcript": str(self.transcript), "text": self.block(), "chars": 9, "items": items,
            "claims": [["projects/-w-shop", claim.name, claim.size]], **more,
        }  # fmt: skip
        log_hot.append(self.root, record, NOW)

    def block(self, *texts):
        block = '<memtui-guidance id="id-{0}" delivery="{1}">\n{0}\n</memtui-guidance>'
        return "".join(block.format(text, self.id) for text in texts or "x")

    def tell(self, *rows):
        """Write the transcript: an attachment of another hook, then these rows."""
        rows = [attachment("skill_listing", -1), *rows]
        self.transcript.parent.mkdir(parents=True, exist_ok=True)
        self.transcript.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
        os.utime(self.transcript, (NOW + 5, NOW + 5))

    def settle(self, after=5.0, **more):
        return [
            (s.outcome, s.returned) for s in reconciliation_hot.reconcile(self.env, self.root, now=NOW + after, **more)
        ]

    def waiting(self):
        return format_hot.read(self.box + "/guidance.md")

    def texts(self):
        return [entry.text for entry in self.waiting()]

    def claimed(self):
        return os.listdir(self.box + "/claimed")


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def at(seconds):
    return clock_hot.iso(NOW + seconds)


def attachment(kind, seconds=0.1, **fields):
    return {"type": "attachment", "timestamp": at(seconds), "attachment": {"type": kind, **fields}}


def context(text, seconds=0.1):
    more = {"hookEvent": "UserPromptSubmit", "toolUseID": "hook-1"}
    return attachment("hook_additional_context", seconds, content=[text], **more)


def trouble(kind, **more):
    more |= {"hookEvent": "UserPromptSubmit", "command": COMMAND, "toolUseID": "t", "durationMs": 300}
    return attachment(kind, 0.3, **more)


def agent(seconds=3):
    return {"type": "assistant", "timestamp": at(seconds), "message": {"id": "m1", "content": []}}


# --- a delivery that its hook logged


def test_what_arrived_is_done_and_what_can_not_be_said_stays_claimed(world):
    world.log(world.take("a", "b"))
    world.tell()
    assert world.settle() == []
    assert (world.texts(), len(world.claimed())) == ([], 1)
    world.tell(context(world.block("a", "b")), agent())
    assert world.settle() == [("arrived", [])]
    assert (world.texts(), world.claimed()) == ([], [])
    assert world.settle() == []


@pytest.mark.parametrize(
    ("evidence", "outcome"),
    [
        (lambda w: [context("<persisted-output>\nOutput too large" + w.block("a")), agent()], "previewed"),
        (lambda w: [trouble("hook_cancelled", timedOut=True, timeoutMs=300), agent()], "timed out"),
        (lambda w: [trouble("hook_non_blocking_error", exitCode=1), agent()], "failed"),
        (lambda w: [agent()], "failed"),
    ],
)
def test_what_did_not_arrive_is_back_with_the_attempt_counted(world, evidence, outcome):
    world.log(world.take("a", "b", urgent="yes"))
    world.tell(*evidence(world))
    assert (world.settle(), world.claimed()) == ([(outcome, ["id-a", "id-b"])], [])
    for entry, text in zip(world.waiting(), "ab", strict=True):
        assert (entry.id, entry.text) == (f"id-{text}", text)
        assert (entry.fields["attempts"], entry.fields["urgent"]) == ("1", "yes")
        # It can't have been delivered: nobody is told that it is a repeat.
        assert "repeat" not in entry.fields


@pytest.mark.parametrize("known", [False, True], ids=["no transcript yet", "a client that records no hooks"])
def test_where_no_transcript_tells_the_log_is_believed(world, known):
    world.log(world.take("a"))
    if known:
        world.transcript.parent.mkdir(parents=True)
        world.transcript.write_text(json.dumps(agent()) + "\n")
    else:
        assert world.settle(after=5) == []
    assert world.settle(after=5 if known else 61) == [("unknown", [])]
    assert (world.texts(), world.claimed()) == ([], [])


def test_guidance_a_cut_transcript_can_not_tell_of_comes_back_as_a_repeat(world):
    world.log(world.take("a"), transcript_size=10_000)
    world.tell(agent())
    assert world.settle() == [("unknown", ["id-a"])]
    assert [(entry.text, entry.fields["repeat"]) for entry in world.waiting()] == [("a", "yes")]
    assert world.claimed() == []


@pytest.mark.parametrize("known", [False, True], ids=["what is left tells it", "it was known before"])
def test_where_a_cut_transcript_or_the_log_tells_it_is_believed(world, known):
    world.log(world.take("a"), transcript_size=10_000, **({"outcome": "arrived"} if known else {}))
    world.tell(*([] if known else [context(world.block("a"))]), agent())
    assert (world.settle(), world.texts()) == ([("arrived", [])], [])


@pytest.mark.parametrize("logged", [True, False])
def test_only_what_was_printed_goes_back_the_rest_is_there_already(world, logged):
    claim = world.take("a", "b")
    if logged:  # else the hook was killed
        world.log(claim, left_out=["id-b"])
    claims_hot.put_back(world.box, [claim.entries[1][0]])
    world.tell(agent())
    assert (world.settle(), sorted(world.texts())) == ([("failed", ["id-a"])], ["a", "b"])


@pytest.mark.parametrize("told", [True, False])
def test_a_delivery_out_of_another_inbox_settles_no_claim(world, told):
    """The hook could not put back what it did not give, and went on with the global inbox under the same id."""
    world.take("a", "b")
    file_hot.add_entry(world.root + "/global", "guidance", {"id": "id-g"}, "g", now=NOW)
    recipient = claims_hot.Recipient(SESSION, "", "/w/shop", NOW)
    other = claims_hot.take(world.root + "/global", recipient, world.id, lambda entry: True)
    world.log(other, claims=[["global", other.name, other.size]])
    if told:
        world.tell(context(world.block("g")), agent())
    assert ("failed", ["id-a", "id-b"]) in world.settle(after=61)
    assert [sorted(e.fields) for e in world.waiting()] == [["id", "time"]] * 2
    assert (world.texts(), world.claimed()) == (["a", "b"], [])
    assert format_hot.read(world.root + "/global/guidance.md") == []


def test_the_same_note_in_two_inboxes_is_two_notes(world):
    claim = world.take("a", "b")
    items = [
        {"kind": "guidance", "id": "id-a", "scope": "global"},
        {"kind": "guidance", "id": "id-a", "scope": "project", "left_out": "no room"},
        {"kind": "guidance", "id": "id-b", "scope": "project"},
    ]
    world.log(claim, items=items)
    claims_hot.put_back(world.box, [claim.entries[0][0]])
    world.tell(agent())
    assert (world.settle(), sorted(world.texts())) == ([("failed", ["id-b"])], ["a", "b"])


def test_a_third_failure_is_the_last(world):
    world.log(world.take("a", attempts="2"))
    world.tell(agent())
    world.settle()
    (entry,) = world.waiting()
    assert claims_hot.addressed(entry, claims_hot.Recipient(SESSION, "", "/w", NOW)) is None


# --- a hook that was killed


@pytest.mark.parametrize("pid", [os.getpid(), DEAD], ids=["living", "dead"])
def test_a_hook_that_may_still_be_at_work_is_left_alone(world, pid):
    world.take("a", pid=pid)
    world.tell(agent())
    # A living process has the file; a dead one has nothing more to say.
    assert world.settle() == ([] if pid != DEAD else [("failed", ["id-a"])])
    assert world.settle(after=31) == ([("failed", ["id-a"])] if pid != DEAD else [])
    (entry,) = world.waiting()
    assert "repeat" not in entry.fields, "it was killed before it printed"


def test_killed_and_no_transcript_tells_it_comes_back_marked_as_a_repeat(world):
    world.take("a")
    assert (world.settle(after=5), world.settle(after=61)) == ([], [("unknown", ["id-a"])])
    (entry,) = world.waiting()
    assert entry.flag("repeat")
    assert entry.fields["attempts"] == "1"


@pytest.mark.parametrize("since", [False, True])
def test_what_a_killed_hook_had_taken_comes_back_but_what_came_elsewhere(world, since):
    world.take("a", "b", "c")
    if since:
        deliver(world.root, NOW + 2, {"kind": "guidance", "id": "id-b"}, text="x")
    world.tell(context(world.block("a")), agent())
    assert world.settle() == [("arrived", ["id-c"] if since else ["id-b", "id-c"])]
    assert [(each.text, "attempts" in each.fields) for each in world.waiting()][-1] == ("c", False)


def test_what_a_dead_hook_could_not_log_is_recovered_whole(world):
    world.take("a", "b")
    state = {"project": "-w-shop", "project_root": "/w/shop", "cwd": "/w/shop", "mode": "full"}
    session_state_hot.SessionState(world.root, SESSION, state).save()
    prompt = {"type": "user", "timestamp": at(0), "promptId": "P1", "message": {"content": "hello"}}
    world.tell(prompt, context(world.block("a", "b")), agent())
    assert world.settle() == [("arrived", [])]
    assert (world.texts(), world.claimed()) == ([], [])
    (record,) = log_hot.newest_first(world.root)
    assert (record["id"], record["recovered"], record["session_id"]) == (world.id, True, SESSION)
    assert [(item["id"], item["kind"]) for item in record["items"]] == [("id-a", "guidance"), ("id-b", "guidance")]
    assert (record["text"], record["chars"]) == (world.block("a", "b"), len(world.block("a", "b")))
    place = ("UserPromptSubmit", "P1", str(world.transcript))
    assert (record["event"], record["prompt_id"], record["transcript"]) == place
    assert (record["project"], record["project_root"], record["mode"]) == ("-w-shop", "/w/shop", "full")


# --- a client that drops what it was given, or ends


def linked(row, name, parent):
    return {"uuid": name, "parentUuid": parent, **row}


def dropped(world, *texts):
    """The client went on from before the prompt that this came with."""
    first = {"type": "user", "timestamp": at(0), "promptId": "P1", "message": {"content": "hello"}}
    rows = [linked(first, "p1", None), linked(context(world.block(*texts)), "c1", "p1")]
    return [*rows, linked({**first, "promptId": "P2"}, "p2", None), linked(agent(9), "r2", "p2")]


@pytest.mark.parametrize("logged", [True, False])
def test_what_the_client_dropped_is_back_marked_as_a_repeat(world, logged):
    claim = world.take("a", attempts="2")
    if logged:
        world.log(claim, transcript_size=0, prompt_id="P1")
    world.tell(*dropped(world, "a"))
    assert world.settle() == [("dropped", ["id-a"])]
    (entry,) = world.waiting()
    # The person took the prompt back: that speaks not against the note.
    assert (entry.flag("repeat"), entry.fields["attempts"]) == (True, "2")
    assert [r["id"] for r in log_hot.newest_first(world.root)] == [world.id]


@pytest.fixture
def clients():
    """(a client that lives, one that is gone), as the log names them."""
    with subprocess.Popen(["true"]) as gone:
        pass
    here = process_hot.client()[2]
    return [os.getpid(), "", here], [gone.pid, "1", here]


def test_guidance_of_a_client_that_ended_before_its_transcript_is_a_repeat(world, clients):
    for client in clients:
        world.log(world.take("a"), client=client)
        assert world.settle() == ([] if client is clients[0] else [("dropped", ["id-a"])])
        if client is clients[0]:
            # However long its other hooks take.
            assert world.settle(after=600) == []
            os.unlink(f"{world.box}/claimed/{world.claimed()[0]}")
    (entry,) = world.waiting()
    assert entry.flag("repeat")


def test_a_session_that_has_ended_needs_no_client_that_is_gone(world, clients):
    """What it was given since its end belongs to its resume."""
    world.log(world.take("a"), client=clients[0])
    assert world.settle(session_id=SESSION, ended=NOW - 0.1) == []
    assert world.settle(session_id=SESSION, ended=NOW) == [("dropped", ["id-a"])]


def test_where_the_turn_ended_and_there_is_no_transcript_it_was_given(world, clients):
    claim = world.take("a")
    world.log(claim, client=clients[1])
    session_state_hot.save_part(world.root, SESSION, "stopped", {"claims": [claim.name]})
    assert world.settle() == [("unknown", [])]
    assert (world.texts(), world.claimed()) == ([], [])


def test_a_delivery_without_a_log_is_sought_in_the_sessions_own_file(world):
    world.take("a")
    world.transcript = world.transcript.parents[2] / "elsewhere.jsonl"
    session_state_hot.SessionState(world.root, SESSION, {"transcript": str(world.transcript)}).save()
    world.tell(context(world.block("a")), agent())
    assert world.settle() == [("arrived", [])]


def test_a_prompt_that_another_hook_blocked_gives_its_note_back_at_once(world):
    world.log(world.take("a"), transcript_size=0, prompt_id="P1")
    words = "UserPromptSubmit operation blocked by hook:\nno"
    world.tell({"type": "system", "subtype": "informational", "timestamp": at(1), "content": words})
    assert world.settle() == [("failed", ["id-a"])]
    assert "repeat" not in world.waiting()[0].fields


# --- text that was appended after the claim


@pytest.mark.parametrize("logged", [True, False], ids=["logged", "died before it could log how much it read"])
@pytest.mark.parametrize("arrived", [True, False])
def test_what_was_appended_after_the_hook_had_read_is_not_lost(world, arrived, logged):
    claim = world.take("a")
    if logged:
        world.log(claim)
    with open(claim.path, "ab") as late:
        late.write(b"said late\n")
    world.tell(*([context(world.block("a"))] if arrived else []), agent())
    world.settle()
    assert world.texts() == (["said late"] if arrived else ["a", "said late"])


def test_one_session_or_some_inboxes_can_be_settled_alone(world):
    world.log(world.take("a"))
    world.tell(agent())
    assert (world.settle(session_id="another"), world.settle(directories=[world.root + "/global"])) == ([], [])
    assert world.settle(session_id=SESSION, directories=[world.box]) == [("failed", ["id-a"])]


def test_a_claim_that_can_not_be_settled_keeps_no_other_from_it(world):
    world.take("a")
    world.tell(agent())
    broken = world.root + "/global"
    os.makedirs(f"{broken}/claimed/{ids_hot.new_id(NOW)}~{SESSION}~{DEAD}.md")
    fs_hot.append(f"{broken}/claimed/{ids_hot.new_id(NOW)}~{session_state_hot.safe('s')}~{DEAD}.md", b"x\n")
    os.makedirs(broken + "/guidance.md")
    assert ("failed", ["id-a"]) in world.settle(after=61)
    assert b"settle" in fs_hot.read_bytes(world.root + "/log/errors.jsonl")


def old(seconds):
    return {"type": "user", "timestamp": at(seconds), "message": {"content": "x" * 2000}}


def test_a_quiet_end_of_a_long_transcript_does_not_stand_for_the_whole(world):
    world.log(world.take("a"))
    world.tell(*[old(n - 9000) for n in range(2000)], agent())
    assert world.settle() == [("failed", ["id-a"])]


def test_a_hook_reads_no_more_of_a_transcript_than_it_has_time_for(world):
    long = [old(9) for _ in range(1000)]
    world.log(world.take("a"), transcript_size=0)
    world.tell(*long, agent())
    assert (world.settle(limit=1 << 20), world.settle()) == ([], [("failed", ["id-a"])])


def test_an_inbox_that_is_locked_is_left_for_later(world):
    assert world.settle() == [], "nothing was ever claimed"
    world.log(world.take("a"))
    world.tell(agent())
    with fs_hot.Lock(world.box + "/.lock", 0):
        assert world.settle(wait=0.01) == []
    assert world.settle() == [("failed", ["id-a"])]


# --- broken off: the client was killed between the text and the answer

OTHER_SESSION = "51111111-f827-46a4-a54f-1c2be567828b"


def break_off(world, client):
    """A note that a client wrote down before it was killed, and what is back in the inbox."""
    world.log(world.take("a"), client=client, prompt_id="P", transcript_size=1)
    rows = [linked({"type": "user", "message": {"content": "hi"}, "promptId": "P"}, "p", None)]
    rows.append(linked(context(world.block("a")), "c", "p"))
    world.tell(*rows)
    assert world.settle() == [("broken off", ["id-a"])]
    return rows


def asks(world, session):
    return [e.text for e, _ in claims_hot.peek(world.box, claims_hot.Recipient(session, "", "/w/shop", NOW))]


def test_a_note_that_was_broken_off_is_back_but_not_for_its_session(world, clients):
    break_off(world, clients[1])
    (entry,) = world.waiting()
    assert (entry.flag("repeat"), entry.count("attempts"), entry.fields["told"]) == (True, 0, SESSION)
    assert (asks(world, SESSION), asks(world, OTHER_SESSION)) == ([], ["a"])
    # A copy of that session has its text too.
    recipient = claims_hot.Recipient(OTHER_SESSION, "", "/w/shop", NOW)
    recipient.root = world.root
    session_state_hot.SessionState(world.root, OTHER_SESSION, {"copy_of": [SESSION]}).save()
    assert claims_hot.peek(world.box, recipient) == []


def test_a_note_that_was_broken_off_is_withdrawn_once_its_session_answered(world, clients):
    rows = break_off(world, clients[1])
    reconciliation_hot.withdraw(world.env, world.root, SESSION)
    assert world.texts() == ["a"]
    file_hot.add_entry(world.box, "guidance", {"id": "id-b"}, "b", now=NOW)
    world.tell(*rows, linked(agent(), "r", "c"))
    reconciliation_hot.withdraw(world.env, world.root, OTHER_SESSION)
    assert world.texts() == ["a", "b"]
    reconciliation_hot.withdraw(world.env, world.root, SESSION)
    assert world.texts() == ["b"]


def test_a_note_that_its_session_went_on_without_may_come_to_it_again(world, clients):
    world.tell(*break_off(world, clients[1]), linked(agent(), "r", "p"))
    reconciliation_hot.withdraw(world.env, world.root, SESSION)
    assert asks(world, SESSION) == ["a"]


def test_a_note_that_was_edited_since_is_another_one(world, clients):
    rows = break_off(world, clients[1])
    file_hot.rewrite(world.box + "/guidance.md", lambda source: source.replace("\na\n", "\nanother\n"))
    world.tell(*rows, linked(agent(), "r", "c"))
    reconciliation_hot.withdraw(world.env, world.root, SESSION)
    assert world.texts() == ["another"]


def test_the_outcome_of_a_claim_stays_in_the_log(world):
    world.log(world.take("a"))
    world.tell(context(world.block("a")), agent())
    world.settle()
    world.transcript.unlink()
    (record,) = log_hot.newest_first(world.root, needle=b'"guidance"')
    assert record["outcome"] == "arrived"
    assert list(receipts_hot.outcomes([record], world.env).values()) == ["arrived"]


# --- which deliveries the conversation has gone on without, by the tree of the transcript's records


ONE, TWO, THREE = (f"01K8ZC5N8W3M1T9Q6V2R4B7XA{letter}" for letter in "DEF")


def row(kind, name, parent, **more):
    return {"type": kind, "uuid": name, "parentUuid": parent, "isSidechain": False, **more}


def given(name, parent, *deliveries):
    text = "".join(f'<memtui-pending-updates delivery="{each}">x</memtui-pending-updates>' for each in deliveries)
    found = {"type": "hook_additional_context", "content": [text], "hookEvent": "UserPromptSubmit"}
    return row("attachment", name, parent, attachment=found)


BEGIN = [row("user", "p1", None), given("c1", "p1", ONE), row("assistant", "r1", "c1")]
GOES_ON = [*BEGIN, row("user", "p2", "r1"), given("c2", "p2", TWO), row("assistant", "r2", "c2")]
REWOUND = [*GOES_ON, row("user", "p3", "r1"), given("c3", "p3", THREE), row("assistant", "r3", "c3")]


@pytest.fixture
def look(tmp_path):
    path = tmp_path / "s.jsonl"

    def write(*rows, known="", names=(ONE, TWO, THREE), torn=""):
        path.write_text("".join(f"{torn}{json.dumps(each)}\n" for each in rows))
        return redelivery_hot.left_behind(str(path), set(names), known)

    return write


def test_which_deliveries_the_conversation_went_on_without(look):
    assert look(*GOES_ON) == (set(), "r2")
    assert look(*REWOUND) == look(*REWOUND, torn='{"type":"user","mess') == ({TWO}, "r3")
    # The very first prompt was taken back.
    assert look(*BEGIN, row("user", "p9", None), row("assistant", "r9", "p9")) == ({ONE}, "r9")
    assert look(*REWOUND, row("user", "p4", "r3"), row("assistant", "r4", "p4"), known="r3") == (set(), "r4")
    assert look(*REWOUND, row("user", "p4", "r2"), row("assistant", "r4", "p4"), known="r3") == ({THREE}, "r4")
    boundary = row("system", "b", None, subtype="compact_boundary", logicalParentUuid="not there")
    assert look(*REWOUND, boundary, row("user", "s", "b"), row("assistant", "r4", "s")) == (set(), "r4")
    inner = row("assistant", "x", None, isSidechain=True)
    assert look(*REWOUND, inner, {"type": "last-prompt", "leafUuid": "r3"}) == ({TWO}, "r3")
    assert look({"type": "user", "uuid": "u"}, {"type": "summary"}) == (set(), "")
    assert redelivery_hot.left_behind("/no/such/file", {ONE}, "") == (set(), "")


def test_what_is_off_the_branch_is_what_it_was(tmp_path):
    def read(rows, names, earlier):
        (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return redelivery_hot.left_behind(str(tmp_path / "t.jsonl"), set(names), earlier)

    recorded.check(__file__, "branches", read)
