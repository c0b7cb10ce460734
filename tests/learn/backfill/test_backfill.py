"""Earlier sessions become drafts: ranked, once, without what is known, and as one step of undo."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memtui.base import paths_hot
from memtui.client.transcripts import transcript_hot
from memtui.client.transcripts.conversation import Conversation
from memtui.inbox import file_hot
from memtui.learn import classifier, inbox_writer
from memtui.learn.backfill import past_sessions, progress, ranking, session
from memtui.review import waiting_entries
from memtui.store.journal import undo
from memtui.store.store import Store
from tables import rows

NOW = 1_795_000_000.0
RULE = "Never use npm here, always use pnpm for packages."
OTHER = "From now on, always run the linter before each commit."
LONG = "From now on, always write the tests of a change before the change itself."
ASKED = "No, use the shorter form of the option instead of writing it out each time"


class Past:
    """A person with transcripts of earlier sessions in two projects."""

    def __init__(self, tmp):
        self.tmp = tmp
        self.config = tmp / "home/.claude"
        self.config.mkdir(parents=True)
        self.root = self.config / "memtui"
        home = {"HOME": str(tmp / "home"), "CLAUDE_CONFIG_DIR": str(self.config)}
        self.env = {**home, "MEMTUI_HOME": str(self.root)}
        self.count = 0
        for name in ("shop", "blog"):
            (tmp / name / ".git").mkdir(parents=True)

    @property
    def store(self):
        return Store(self.env, str(self.tmp / "shop"), now=lambda: NOW)

    def path(self, name, project="shop"):
        return self.config / "projects" / paths_hot.slug(str(self.tmp / project)) / f"{name}.jsonl"

    def say(self, name, *texts, project="shop", records=(), agent="I ran npm install."):
        """Append what the person says in a session, after what the agent said."""
        path = self.path(name, project)
        path.parent.mkdir(parents=True, exist_ok=True)
        cwd = str(self.tmp / project)
        with path.open("a") as file:
            for record in records:
                file.write(json.dumps(record, separators=(",", ":")) + "\n")
            for text in texts:
                self.count += 1
                time = f"2026-11-01T10:{self.count // 60:02}:{self.count % 60:02}Z"
                common = {"sessionId": name, "cwd": cwd, "timestamp": time}
                said = [{"type": "text", "text": agent}]
                message = {"role": "assistant", "id": f"m{self.count}", "content": said}
                row = {"type": "assistant", "uuid": f"a{self.count}", **common, "message": message}
                file.write(json.dumps(row) + "\n")
                person = {"role": "user", "content": text}
                file.write(json.dumps({"type": "user", "uuid": f"u{self.count}", **common, "message": person}) + "\n")

    def read(self, **how):
        return past_sessions.read(self.env, **how)

    def fill(self, **how):
        """Run a backfill, and return what it offers."""
        offer = ranking.plan(self.store, self.read().candidates, **how)
        offer.write(self.store)
        return offer

    def heard(self, name):
        """The turns of a session."""
        return conversation_of(transcript_hot.Reader(str(self.path(name)))).turns

    def drafts(self):
        slugs = [*(paths_hot.project_key(str(self.tmp / name)) for name in ("shop", "blog")), None]
        return waiting_entries.waiting_in(str(self.root), slugs, ("updates",))


def conversation_of(records, *settings):
    """The conversation that records make."""
    conversation = Conversation(*settings)
    for record in records:
        conversation.feed(record)
    return conversation


@pytest.fixture
def past(tmp_path):
    return Past(tmp_path)


def test_a_rule_reworded_in_three_sessions_is_one_draft_seen_three_times(past):
    past.say("one", RULE, "thanks, what is in this file?")
    past.say("two", "Never use npm here, always use pnpm for the packages!")
    past.say("three", "never use npm here; always use pnpm for packages, please")
    past.say("three", OTHER)
    past.fill()
    seen = {"pnpm" in each.text: each.entry.fields.get("seen") for each in past.drafts()}
    assert seen == {True: "3", False: None}
    past.say("four", RULE)
    assert past.fill().drafts == []


def test_the_best_come_first_and_the_next_ones_the_next_time(past):
    places = {"fixtures": "tests", "logos": "assets", "migrations": "database", "scripts": "tools"}
    past.say("one", *(f"From now on, always put the {each} into the {place} folder." for each, place in places.items()))
    first = past.fill(most=3)
    assert (len(first.drafts), first.left) == (3, 1)
    worths = [draft.candidate.worth for draft in first.drafts]
    assert worths == sorted(worths, reverse=True)
    assert (len(past.fill(most=3).drafts), past.fill(most=3).drafts, len(past.drafts())) == (1, [], 4)


@pytest.mark.parametrize("said", rows(__file__, "what is always so is no rule for anybody"))
def test_what_is_always_so_is_no_rule_for_anybody(past, said):
    past.say("one", said, RULE)
    drafts = {each.candidate.draft.person: each.candidate for each in past.fill().drafts}
    assert said not in drafts or drafts[said].worth < drafts[RULE].worth


def test_what_the_agent_or_instructions_say_in_any_script_is_left_out(past):
    past.say("one", OTHER, agent=f"Your guide says: “{OTHER}” Shall I?")
    past.say("one", RULE)
    assert [each.candidate.draft.person for each in past.fill().drafts] == [RULE]
    (past.tmp / "shop/CLAUDE.md").write_text("- 以后请用中文回答。代码注释还是用英文。\n")
    past.say("one", "以后请用中文回答。")
    (past.tmp / "blog/CLAUDE.md").write_text("- 代码注释还是用英文。\n")
    past.say("two", "以后请用中文回答。", project="blog")
    assert [each.candidate.project for each in past.fill().drafts] == [str(past.tmp / "blog")]


def test_a_rule_of_several_projects_is_one_draft_for_all_of_them(past):
    past.say("one", RULE)
    past.say("two", RULE, project="blog")
    past.fill()
    (draft,) = past.drafts()
    assert draft.entry.fields["scope"] == "global"
    assert "blog, shop" in draft.text
    assert past.fill().drafts == []


def test_a_second_run_reads_only_what_is_new_or_was_replaced(past):
    past.say("one", RULE)
    size = past.path("one").stat().st_size
    assert (past.read().bytes, past.read().bytes) == (size, 0)
    past.say("one", OTHER)
    assert past.read().bytes == past.path("one").stat().st_size - size
    assert len(past.fill().drafts) == 2
    with past.path("one").open("ab") as file:
        file.write(b'{"type":"user","message":{"content":"' + b"x" * 1000)
    assert past.read().files == 1
    assert past.read().files == 0, "a torn last line is not read again until there is more"
    with past.path("one").open("ab") as file:
        file.write(b'"}}\n')
    past.say("one", LONG)
    assert (past.read().files, len(past.fill().drafts)) == (1, 1)
    past.path("one").unlink()
    past.say("one", OTHER)
    assert past.read().files == 1


def test_one_undo_takes_back_a_backfills_drafts_which_can_be_offered_again(past):
    past.say("one", RULE)
    past.say("two", OTHER, project="blog")
    past.fill()
    assert len(past.drafts()) == 2
    undo.run(past.store.journal, "undo")
    assert (past.drafts(), len(past.fill().drafts)) == ([], 2)


def test_backfill_and_a_live_session_do_not_draft_the_same_turn_twice(past):
    def write_live(name):
        drafts = classifier.drafts(past.heard(name), classifier.shipped())
        return inbox_writer.write_drafts(past.env, str(past.tmp / "shop"), drafts, 0.1)

    past.say("one", RULE)
    assert write_live("one")
    assert (past.fill().drafts, len(past.drafts())) == ([], 1)
    past.say("two", OTHER)
    past.fill()
    assert (write_live("two"), len(past.drafts())) == ([], 2)


def test_what_a_memory_or_a_rejected_draft_says_is_left_out(past):
    past.say("one", RULE, OTHER)
    first = past.read(dry=True).candidates.ranked()
    store = past.store
    store.create(store.scope("global"), "known", first[0].draft.description, "feedback", first[0].draft.description)
    project = None if first[1].draft.scope == "global" else paths_hot.project_key(first[1].project)
    where = paths_hot.inbox_dir(str(past.root), project)
    os.makedirs(where, exist_ok=True)
    Path(where, "rejected.jsonl").write_text(json.dumps({"v": 1, "text": first[1].draft.description}) + "\n")
    offer = past.fill()
    assert (offer.drafts, offer.known) == ([], 2)


def test_a_sentence_whose_reworded_draft_waits_is_left_out_and_counted(past):
    """So do drafts that a model wrote, or a person edited, of which no record tells the place."""
    past.say("one", f"{RULE} {OTHER}")
    box = paths_hot.inbox_dir(str(past.root), paths_hot.project_key(str(past.tmp / "shop")))
    quoted = past.read(dry=True).candidates.ranked()[0].draft
    text = f"Packages come with pnpm\n\n> you: {quoted.person}"
    file_hot.add_entry(box, "updates", {"from": "subconscious", "session": "one"}, text, now=NOW)
    offer = past.fill()
    assert (len(offer.drafts), offer.known) == (1, 1)
    assert offer.drafts[0].candidate.draft.description != quoted.description


@pytest.mark.parametrize("where", ["shop/CLAUDE.md", "shop/.claude/rules/style.md", "home/.claude/CLAUDE.md"])
def test_what_instructions_say_is_left_out_even_in_broken_or_joined_lines(past, where):
    path = past.tmp / where
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "# How we work\n\n- Never use npm here, always use pnpm for packages. It is faster, and it keeps one copy.\n"
        "- From now on, always write the tests of a change before\n  the change itself.\n"
    )
    past.say("one", RULE, OTHER, LONG)
    offer = past.fill()
    assert [each.candidate.draft.person for each in offer.drafts] == [OTHER]
    assert offer.known == 2


@pytest.mark.parametrize("length", [0, 700, 1500, 1990, 2400])
def test_secrets_of_the_agent_and_the_request_are_in_no_file_wherever_cut(past, length):
    token, block = "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "\n".join(["MIIEow" + "kQ7z9aB2" * 7] * 26)
    key = f"-----BEGIN RSA PRIVATE KEY-----\n{block}\n-----END RSA PRIVATE KEY-----\n"
    said = "Some plain words. " * (length // 18)
    past.say("one", f"Please log in with the token {token} and look around there.", agent=f"{token} {said}")
    past.say("one", f"{RULE} The token is {token}.", agent=f"{key}{said}")
    past.say("one", "and now?", agent=f"The header is authorization: Bearer {token} {said}")
    past.fill()
    assert past.drafts()
    for path in past.root.rglob("*"):
        data = path.read_bytes() if path.is_file() else b""
        assert not any(each in data for each in (token[-20:].encode(), b"kQ7z9aB2"))


def test_a_project_without_extraction_is_skipped_and_named(past):
    past.say("one", RULE)
    past.say("two", OTHER, project="blog")
    past.root.mkdir()
    (past.root / "config.toml").write_text(f'[projects."{past.tmp}/blog"]\nextract = false\n')
    found = past.read()
    assert [each.where for each in found.skipped] == [str(past.tmp / "blog")]
    assert {each.project for each in found.candidates.ranked()} == {str(past.tmp / "shop")}


def test_stopped_it_keeps_what_it_has_read_and_goes_on_from_there(past):
    past.say("one", RULE)
    past.say("two", OTHER)
    assert past.read(go_on=lambda at: at.files < 1).stopped
    rest = past.read()
    assert (rest.files, len(rest.candidates)) == (1, 2)


def test_stopped_within_a_transcript_it_goes_on_there(past, monkeypatch):
    monkeypatch.setattr(session, "PIECE", 2000)
    past.say("one", RULE, *["and what is in that file?"] * 40, OTHER)
    assert past.read(go_on=lambda _: False).stopped
    size = past.path("one").stat().st_size
    rest = past.read()
    assert 0 < rest.bytes < size
    assert len(past.fill().drafts) == 2


KILLED = """
import json, os, signal, sys
from memtui.learn.backfill import past_sessions, session
session.PIECE, past_sessions.SAVE_SECONDS = 2000, 0.0
number = getattr(signal, sys.argv[2])
if number != signal.SIGKILL:
    signal.signal(number, signal.SIG_DFL)  # nohup leaves SIGHUP ignored
def go_on(at):
    if at.bytes > 6000:
        os.kill(os.getpid(), number)
    return True
past_sessions.read(json.loads(sys.argv[1]), go_on=go_on)
"""


@pytest.mark.kill
@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGHUP"])
def test_killed_within_a_transcript_it_goes_on_there(past, name):
    past.say("one", RULE, *["and what is in that file?"] * 40, OTHER)
    done = subprocess.run([sys.executable, "-c", KILLED, json.dumps(past.env), name], capture_output=True, text=True)
    assert done.returncode < 0, done.stderr
    rest = past.read()
    assert 0 < rest.bytes <= past.path("one").stat().st_size - 6000
    assert len(past.fill().drafts) == 2


def queued(words):
    return {"type": "queue-operation", "operation": "enqueue", "content": words, "sessionId": "one"}


def test_what_a_clock_or_hook_says_is_no_draft(past):
    meta = {"isMeta": True, "promptSource": "system", "turnOrigin": "scheduled"}
    fired = {"type": "user", "message": {"role": "user", "content": RULE}, "sessionId": "one", **meta}
    past.say("one", "wait for the build", records=[queued(RULE), fired])
    assert past.fill().drafts == []
    hook = {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": [f"- {RULE}", RULE]}}
    past.say("one", "hello", records=[hook])
    past.read()
    past.say("one", RULE)
    assert past.fill().drafts == []


def test_damaged_files_and_a_damaged_state_are_survived(past):
    past.say("one", RULE)
    with past.path("one").open("ab") as file:
        file.write(b'{"type":"user","mess\n\0\0\n[]\n{"type":7}\n')
    past.path("gone").symlink_to("nowhere")
    os.mkfifo(past.path("pipe"))
    assert len(past.read().candidates) == 1
    for state in (b"", b"[]", b'{"v":1,"files":7,"candidates":[1,{"draft":{}},{"draft":{"kind":1},"project":"/x"}]}'):
        (past.root / progress.STATE).write_bytes(state)
        assert len(past.read().candidates) == 1


def test_sessions_of_other_agents_are_read_too(past):
    sample = Path(__file__).parents[2] / "data" / "agents" / "copilot" / "events.jsonl"
    path = past.tmp / "home" / ".copilot" / "session-state" / "5f0e6c1a" / "events.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(sample.read_text().replace("/home/ada/shop", str(past.tmp / "shop")))
    assert progress.unread(str(past.root), past.env) == 1
    reading = past.read()
    assert reading.files == 1
    said = [candidate.draft.description for candidate in reading.candidates.best()]
    assert any("uv" in text for text in said)
    assert not any("migrations" in text for text in said)
    assert past.read().files == 0
