"""Drafts and items reach the inbox once, without secrets, and never at the cost of a person's words."""

import functools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memtui.base import fastjson_hot, fs_hot, ids_hot, paths_hot
from memtui.client.transcripts.conversation import Turn, normalised
from memtui.inbox import drafts as inbox_drafts
from memtui.inbox import format_hot
from memtui.learn import inbox_writer, signals
from memtui.review.entries import Review
from memtui.review.waiting_entries import waiting_in
from memtui.views import drafts
from waiting import at_once


@pytest.fixture
def env(tmp_path):
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    return {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "config"), "MEMTUI_HOME": str(tmp_path / "root")}


@pytest.fixture
def repo(tmp_path):
    return str(tmp_path / "repo")


def box(env, repo):
    return paths_hot.inbox_dir(env["MEMTUI_HOME"], paths_hot.project_key(repo) if repo else None)


def say(text, uuid="u1", session="s1", agent="I ran npm install."):
    return signals.signal_of(Turn(text, "prompt", uuid=uuid, session=session, agent=agent, time="2026-01-01T00:00:00Z"))


def updates(env, repo):
    return format_hot.read(box(env, repo) + "/pending-updates.md")


def items(env, repo):
    return format_hot.read(box(env, repo) + "/pending-items.md", items=True)


def put(env, repo, *drafts, threshold=0.5):
    return inbox_writer.write_drafts(env, repo, drafts, threshold)


RULE = "From now on use pnpm instead of npm"


def test_a_draft_is_an_entry_with_its_fields_and_evidence(env, repo):
    (entry_id,) = put(env, repo, say(RULE + ".\nnpm broke CI."))
    (entry,) = updates(env, repo)
    assert (entry.id, entry.text.split("\n")[0]) == (entry_id, "Use pnpm instead of npm")
    assert entry.text.endswith("> agent: I ran npm install.\n> you: From now on use pnpm instead of npm. npm broke CI.")
    wanted = {"kind": "preference", "name": "use-pnpm-instead-npm", "type": "feedback", "scope": "project"}
    assert {key: entry.fields[key] for key in wanted} == wanted
    assert entry.fields["session"] == "s1"
    assert (entry.fields["evidence"], entry.fields["project"], entry.fields["from"]) == ("u1", repo, "session:s1")
    assert 0.5 <= float(entry.fields["confidence"]) <= 1


def test_a_rule_for_what_a_person_asks_about_has_that_as_its_trigger(env, repo):
    put(env, repo, say("From now on always answer with a table when I ask about prices."))
    assert [entry.fields["request"] for entry in updates(env, repo)] == ["prices"]


def test_the_same_record_is_drafted_once_whatever_the_session(env, repo):
    put(env, repo, say(RULE))
    assert put(env, repo, say(RULE, session="a-fork")) == []
    assert [e.fields.get("seen") for e in updates(env, repo)] == [None]


def test_all_rules_of_a_record_are_drafted_and_one_lost_by_a_kill_is_found(env, repo):
    text = RULE + ". Never push to main directly! And always ask before you delete a file."
    rules = signals.signals_of(Turn(text, "prompt", uuid="u1", session="s1", agent="I ran npm install."))
    put(env, repo, *rules[:2])
    put(env, repo, *rules)
    assert [e.fields["name"] for e in updates(env, repo)] == [each.name for each in rules]
    assert [e.fields["evidence"] for e in updates(env, repo)] == ["u1"] * 3
    assert put(env, repo, *rules) == []
    assert [e.fields.get("seen") for e in updates(env, repo)] == [None] * 3


def test_saying_it_again_makes_it_surer(env, repo):
    put(env, repo, say(RULE))
    sure = [float(updates(env, repo)[0].fields["confidence"])]
    for number in range(2, 30):
        put(env, repo, say(RULE, uuid=f"u{number}", session=f"s{number}"))
        sure.append(float(updates(env, repo)[0].fields["confidence"]))
    assert put(env, repo, say("from now on: use pnpm instead of npm.", uuid="other", session="other")) == []
    assert sure[0] < sure[1] < sure[2] < sure[-1] < 1
    assert updates(env, repo)[0].fields["seen"] == "30"


def test_paraphrases_are_one_draft_while_it_waits_and_the_opposite_another(env, repo):
    put(env, repo, say(RULE))
    put(env, repo, say("No, always use pnpm and not npm!", uuid="u2", session="s2"))
    put(env, repo, say("Please use pnpm rather than npm for installs from now on.", uuid="u3", session="s3"))
    (entry,) = updates(env, repo)
    assert entry.fields["seen"] == "3"
    put(env, repo, say("From now on use npm instead of pnpm", uuid="u4", session="s4"))
    assert len(updates(env, repo)) == 2


def test_what_is_said_thrice_in_one_reading_is_seen_thrice_and_once_only(env, repo):
    def reading():
        return signals.once([say(RULE, uuid="u1"), say(RULE, uuid="u2"), say(RULE, uuid="u3"), say(RULE, uuid="u1")])

    put(env, repo, *reading())
    put(env, repo, *reading())
    (entry,) = updates(env, repo)
    assert entry.fields["seen"] == "3"
    assert float(entry.fields["confidence"]) > say(RULE).confidence
    put(env, repo, say(RULE, uuid="u3", session="a-fork"))
    assert updates(env, repo)[0].fields["seen"] == "3"


def test_a_worker_killed_before_it_noted_a_draft_does_not_count_it_twice(env, repo):
    found = signals.once([say(RULE, uuid="u1"), say(RULE, uuid="u2")])
    put(env, repo, *found)
    fs_hot.unlink(box(env, repo) + "/extracted.jsonl")
    put(env, repo, *found)
    assert [entry.fields["seen"] for entry in updates(env, repo)] == ["2"]


def test_what_was_rejected_for_good_is_not_drafted_even_without_the_ledger(env, repo):
    row = {"v": 1, "hash": "x", "text": "Use pnpm instead of npm", "never": True}
    fs_hot.append(box(env, repo) + "/rejected.jsonl", fastjson_hot.dumps(row).encode() + b"\n{torn")
    assert put(env, repo, say(RULE)) == []


def test_only_what_must_never_come_again_is_kept_out_in_other_words_too(env, repo):
    never = inbox_drafts.rejected_line("x", "Use pnpm instead of npm", 1.0, never=True)
    plain = inbox_drafts.rejected_line("y", "Never push to main without asking me", 1.0, never=False)
    fs_hot.append(box(env, repo) + "/rejected.jsonl", (never + plain).encode())
    assert put(env, repo, say("No, always use pnpm and not npm!")) == []
    assert put(env, repo, say("From now on use npm instead of pnpm", uuid="u2")) != []
    assert put(env, repo, say("Please don't push to main without asking me first, from now on", uuid="u3")) != []


def test_what_another_machine_rejected_for_good_is_not_drafted(env, repo):
    row = {"v": 1, "hash": ids_hot.content_hash(normalised("Use pnpm instead of npm")), "never": True}
    fs_hot.append(box(env, repo) + "/rejected.jsonl", fastjson_hot.dumps(row).encode() + b"\n")
    assert put(env, repo, say(RULE)) == []


def test_what_was_rejected_comes_once_in_a_later_session_that_says_it(env, repo):
    root, slugs = env["MEMTUI_HOME"], [paths_hot.project_key(repo)]
    put(env, repo, say(RULE))
    review = Review(root, now=lambda: 86_400.0)
    review.reject(waiting_in(root, slugs))
    assert put(env, repo, say(RULE, uuid="u2")) == []
    put(env, repo, say(RULE, uuid="u3", session="s2"))
    (item,) = waiting_in(root, slugs)
    assert any("rejected on Fri 2 Jan" in str(part) for part in drafts.facts(item, None, 2 * 86_400.0))
    review.reject([item])
    assert put(env, repo, say(RULE, uuid="u4", session="s2")) == []


def test_secrets_are_nowhere_on_disk(env, repo, tmp_path):
    key = "sk-ant-" + "api03-" + "Zx9k" * 12
    put(env, repo, say(f"From now on use {key} for the staging api", agent=f"I used {key}."))
    inbox_writer.write_items(env, repo, "s1", [f"rotate {key}"])
    assert "[redacted: Anthropic key]" in updates(env, repo)[0].text
    for path in (tmp_path / "root").rglob("*"):
        assert path.is_dir() or key.encode() not in path.read_bytes()


def test_hand_written_text_and_entries_of_others_stay(env, repo):
    path = box(env, repo) + "/pending-updates.md"
    fs_hot.append(path, b"written by hand\n")
    put(env, repo, say(RULE))
    put(env, repo, say(RULE, uuid="u2"))
    assert [e.text.split("\n")[0] for e in updates(env, repo)] == ["written by hand", "Use pnpm instead of npm"]


def test_two_workers_at_once_write_one_draft(env, repo):
    at_once(*(functools.partial(put, env, repo, say(RULE, session=str(number))) for number in range(8)))
    assert len(updates(env, repo)) == 1


@pytest.mark.slow
def test_the_ledger_stays_small(env, repo):
    path = box(env, repo) + "/extracted.jsonl"
    rows = (fastjson_hot.dumps({"hash": ids_hot.content_hash(str(number))}) + "\n" for number in range(40_000))
    fs_hot.append(path, "".join(rows).encode())
    put(env, repo, say(RULE))
    assert len(fs_hot.read_bytes(path)) < 300_000
    assert put(env, repo, say(RULE)) == []


def test_an_item_keeps_its_id_while_it_is_open(env, repo):
    inbox_writer.write_items(env, repo, "s1", ["one", "two"])
    before = {e.text: e.id for e in items(env, repo)}
    assert not inbox_writer.write_items(env, repo, "s1", ["one", "two"])
    inbox_writer.write_items(env, repo, "s1", ["two"])
    inbox_writer.write_items(env, repo, "s2", ["two"])
    assert {e.text: e.id for e in items(env, repo)} == {"two": before["two"]}


def test_a_session_with_nothing_open_removes_its_own_and_no_others(env, repo):
    inbox_writer.write_items(env, repo, "s1", ["one"])
    assert not inbox_writer.write_items(env, repo, "s2", [])
    assert inbox_writer.write_items(env, repo, "s1", [])
    assert items(env, repo) == []


def test_kept_and_hand_written_items_stay(env, repo):
    path = box(env, repo) + "/pending-items.md"
    kept = format_hot.render({"id": "k", "session": "s0", "state": "kept"}, "kept one")
    fs_hot.append(path, f"- [ ] by hand\n{kept}{format_hot.render({'id': 'c', 'from': 'cli'}, 'by cli')}".encode())
    inbox_writer.write_items(env, repo, "s1", ["mine", "Kept one."])
    inbox_writer.write_items(env, repo, "s2", ["yours"])
    assert [e.text for e in items(env, repo)] == ["by hand", "kept one", "by cli", "yours"]
    inbox_writer.write_items(env, repo, "s2", [])
    assert [e.text for e in items(env, repo)] == ["by hand", "kept one", "by cli"]


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=120), st.lists(st.text(max_size=60), max_size=5), st.text(max_size=80))
def test_what_stood_in_the_file_stays_and_what_is_written_is_read_back(env, repo, hand, texts, body):
    path = box(env, repo) + "/pending-items.md"
    fs_hot.unlink(path)
    fs_hot.append(path, format_hot.encode(hand + "\n"))
    before = [e.text for e in items(env, repo) if not e.fields]
    inbox_writer.write_items(env, repo, "s1", texts)
    after = items(env, repo)
    assert [e.text for e in after if not e.fields] == before
    mine = {normalised(e.text) for e in after if e.fields.get("session") == "s1"}
    assert mine <= {normalised(t) for t in texts} | {""}
