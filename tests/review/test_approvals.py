"""Approving and merging drafts: each outcome told, all of it one step of undo."""

import pytest

from memtui.base import fs_hot, paths_hot
from memtui.base.errors import ConflictError, MemtuiError, UsageError
from memtui.inbox import file_hot
from memtui.review import approvals
from memtui.review.approvals import Choices, approve_all, content, label_of
from memtui.review.evidence import evidence_of
from memtui.review.waiting_entries import waiting_in
from memtui.rules import counts
from memtui.rules.counting import Moment
from memtui.settings import config_hot
from memtui.store import triggers
from memtui.store.journal import undo
from memtui.store.store import Store
from memtui.views import rules as views
from tables import rows


@pytest.fixture
def store(tmp_path):
    (tmp_path / "shop/.git").mkdir(parents=True)
    return Store({"HOME": str(tmp_path / "home")}, str(tmp_path / "shop"))


def slug(store):
    return paths_hot.project_key(store.cwd)


def leave(store, *texts, **fields):
    for text in texts:
        file_hot.add_entry(paths_hot.inbox_dir(store.root, slug(store)), "updates", fields, text)
    return due(store)


def due(store):
    return waiting_in(store.root, [slug(store)], ["updates"])


def test_what_fails_stops_none_of_the_others_and_undo_takes_all_of_it_back(store):
    items = leave(store, "Use pnpm", "Use pnpm", "Tests run in CI", scope="global")
    outcomes = approve_all(store.journal, [approvals.propose(store, item) for item in items])
    assert [each.item for each in outcomes] == items
    assert sorted(each.memory.stem for each in outcomes if each.memory) == ["tests-run-in-ci", "use-pnpm"]
    (failed,) = [each for each in outcomes if each.error]
    assert isinstance(failed.error, ConflictError)
    assert [item.id for item in due(store)] == [failed.item.id]
    undo.run(store.journal, "undo").first()
    assert [item.text for item in due(store)] == ["Use pnpm", "Use pnpm", "Tests run in CI"]


@pytest.mark.parametrize(
    ("old", "new", "is_approved"), rows(__file__, "a draft said again meanwhile is approved and a changed one is not")
)
def test_a_draft_said_again_meanwhile_is_approved_and_a_changed_one_is_not(store, old, new, is_approved):
    (item,) = leave(store, "Use pnpm", scope="global", seen="1", confidence="0.7")
    proposal = approvals.propose(store, item)
    file_hot.rewrite(item.path, lambda source: source.replace(old, new))
    (outcome,) = approve_all(store.journal, [proposal])
    assert (outcome.error is None, len(due(store))) == (is_approved, not is_approved)
    if is_approved:
        undo.run(store.journal, "undo").first()
        assert [each.text for each in due(store)] == ["Use pnpm"]


def test_what_is_proposed_is_what_is_written(store):
    (item,) = leave(store, "Use pnpm\n\nAlways.\n\n> you: no, pnpm", name="pnpm", scope="global")
    found = approvals.propose(store, item, Choices(type="tool", description="The package manager"))
    assert (found.memory.name, found.memory.type, found.memory.description) == ("pnpm", "tool", "The package manager")
    assert not found.taken
    (outcome,) = approve_all(store.journal, [found])
    assert (outcome.memory.path, outcome.memory.raw) == (found.path, found.data)
    assert found.taken


def test_what_a_draft_says_of_the_project_goes_where_memories_are_already(store, tmp_path):
    (item,) = leave(store, "Use pnpm", scope="project")
    assert approvals.propose(store, item).scope.label == "auto"
    assert approvals.propose(store, item, Choices(scope="project")).scope.label == "project"
    (tmp_path / "shop/.claude/memory").mkdir(parents=True)
    assert approvals.propose(store, item).scope.label == "project"


@pytest.mark.parametrize(("agent", "scope"), [("codex", "project"), ("claude", "auto")])
def test_a_draft_goes_where_the_agent_that_was_told_reads_it(store, tmp_path, agent, scope):
    sessions = {
        "codex": "home/.codex/sessions/2026/11/30/rollout-{}.jsonl",
        "claude": "home/.claude/projects/shop/{}.jsonl",
    }
    path = tmp_path / sessions[agent].format("s1")
    path.parent.mkdir(parents=True)
    path.write_text("{}\n")
    (item,) = leave(store, "Use pnpm", scope="project", session="s1")
    assert approvals.propose(store, item).scope.label == scope
    fs_hot.append(store.root + "/config.toml", b"share_auto = true\n")
    assert (approvals.propose(store, item).scope.label, evidence_of(store.env, item).problem) == ("auto", "")


def test_drafts_are_put_at_the_end_of_a_memory_in_one_step(store):
    there = store.create(store.scope("global"), "pnpm", "Use pnpm", "tool", "Use pnpm.")
    items = leave(store, "Never npm.", "Nor yarn.")
    becomes = approvals.merged(store, items, there)
    assert approvals.merge(store, items, there).raw == becomes.raw == store.find("pnpm").raw
    assert becomes.body.endswith("Use pnpm.\n\nNever npm.\n\nNor yarn.\n")
    assert due(store) == []
    undo.run(store.journal, "undo").first()
    assert store.find("pnpm").raw == there.raw
    assert [item.text for item in due(store)] == ["Never npm.", "Nor yarn."]


def test_nothing_is_merged_into_a_memory_that_came_with_the_repository(store, tmp_path):
    directory = tmp_path / "shop/.claude/memory"
    directory.mkdir(parents=True)
    (directory / "pnpm.md").write_text("---\nname: pnpm\ndescription: Use pnpm\n---\n\nUse pnpm.\n")
    there = store.find("pnpm")
    (item,) = leave(store, "Never npm.")
    for attempt in (approvals.merged, approvals.merge):
        with pytest.raises(MemtuiError, match="pnpm is not trusted"):
            attempt(store, [item], there)
    assert store.find("pnpm").raw == there.raw
    assert not store.is_trusted(store.find("pnpm"))
    assert [each.text for each in due(store)] == ["Never npm."]


def test_a_memory_that_changed_meanwhile_is_not_merged_into(store):
    there = store.create(store.scope("global"), "pnpm", "Use pnpm", "tool", "Use pnpm.")
    (item,) = leave(store, "Never npm.")
    store.edit(there, {"body": "Use pnpm 9."})
    with pytest.raises(MemtuiError):
        approvals.merge(store, [item], there)
    assert [each.text for each in due(store)] == ["Never npm."]


def lines(store, scope="global"):
    found = triggers.lines_of(store.root, store.scope(scope).directory)
    return {file: [(each.text, each.origin) for each in rows] for file, rows in found.items()}


def test_the_request_behind_a_draft_becomes_a_trigger_also_after_a_merge(store):
    first, second = leave(store, "Use pnpm", "Never npm", scope="global", request="add a date picker")
    (done,) = approve_all(store.journal, [approvals.propose(store, first)])
    assert lines(store) == {"use-pnpm.md": [("add a date picker", "draft")]}
    undo.run(store.journal, "undo").first()
    assert lines(store) == {}
    there = store.create(store.scope("global"), "other", "Other", "tool", "Text.")
    approvals.merge(store, [item for item in due(store) if item.id == second.id], there)
    assert lines(store) == {"other.md": [("add a date picker", "draft")]}
    undo.run(store.journal, "undo").first()
    assert lines(store) == {}
    assert done.error is None


def test_a_trigger_is_worded_anew_or_dropped_when_its_draft_is_approved(store):
    first, second = leave(store, "Use pnpm", "Never npm", scope="global", request="add a date picker")
    chosen = [approvals.Choices(trigger=""), approvals.Choices(trigger="add a package")]
    drafts = [approvals.propose(store, item, each) for item, each in zip((first, second), chosen, strict=True)]
    approve_all(store.journal, drafts)
    assert lines(store) == {"never-npm.md": [("add a package", "draft")]}


def test_a_trigger_of_most_prompts_is_left_out_and_a_typed_one_is_refused(store):
    (item,) = leave(store, "Use pnpm", scope="global", request="run", triggers='["test", "add a package", "thanks"]')
    with pytest.raises(UsageError, match="“tests” alone would fire with most prompts"):
        approvals.propose(store, item, Choices(trigger=" tests "))
    approve_all(store.journal, [approvals.propose(store, item)])
    assert lines(store) == {"use-pnpm.md": [("add a package", "draft")]}


# --- a draft: what approving a pending update would write, and for which scope


SLUG = "-srv-shop"


@pytest.fixture
def root(tmp_path):
    return str(tmp_path / "memtui")


def test_a_draft_is_what_the_person_says_and_a_bare_one_has_name_and_body(root):
    fields = {"name": "pnpm", "type": "tool", "scope": "global", "session": "abc-1"}
    file_hot.add_entry(f"{root}/global", "updates", fields, "Use pnpm\n\nAlways.\n\n> you: no")
    (item,) = waiting_in(root, [None], ["updates"])
    name, data = content(item)
    assert (name, label_of(item)) == ("pnpm", "global")
    assert b"description: Use pnpm" in data
    assert b"type: tool" in data
    assert b"originSessionId: abc-1" in data
    assert data.endswith(b"\nAlways.\n")
    choices = Choices("other", "user", "auto", "About")
    name, data = content(item, choices)
    assert (name, label_of(item, choices)) == ("other", "auto")
    assert b"description: About" in data
    assert b"type: user" in data
    directory = f"{root}/projects/{SLUG}"
    fs_hot.write_atomic(f"{directory}/pending-updates.md", "Grüße auf Deutsch\n".encode())
    (item,) = waiting_in(root, [SLUG], ["updates"])
    name, data = content(item)
    assert (name, label_of(item)) == ("grüße-auf-deutsch", "project")
    assert data.decode().endswith("\nGrüße auf Deutsch\n")


@pytest.mark.parametrize(
    ("given", "written"),
    [('never: {command: "npm *"}', b'rules:\n  - never: {command: "npm *"}\n---\n'), ("", b"feedback\n---\n")],
)
def test_rules_are_written_with_the_memory_in_one_step_of_undo(store, given, written):
    (item,) = leave(store, "Use pnpm, not npm", scope="global")
    (outcome,) = approve_all(store.journal, [approvals.propose(store, item, Choices(rules=given))])
    assert written in fs_hot.read_bytes(outcome.memory.path)
    undo.run(store.journal, "undo").first()
    assert [item.text for item in due(store)] == ["Use pnpm, not npm"]


def test_the_rules_of_a_draft_come_with_what_past_sessions_did(store, monkeypatch):
    (item,) = leave(store, "Use pnpm, not npm", scope="global")
    rule = "never npm *, instead pnpm *"
    kept = [Moment(0.0, "s", str(at), rule, at < 6) for at in range(20)]
    monkeypatch.setattr(counts, "count_in", lambda paths, rules, since: {rule: kept})
    (proposed,) = approvals.proposed_rules(store, item, Choices(), 1.0)
    assert views.proposed(proposed) == f"{rule}   broken 14 of 20 times in the last 30 days"
    monkeypatch.setattr(counts, "count_in", lambda paths, rules, since: {})
    (proposed,) = approvals.proposed_rules(store, item, Choices(), 1.0)
    assert views.proposed(proposed) == f"{rule}   not saved yet: no session of 30 days ran such a command or edit"
    assert approvals.proposed_rules(store, item, Choices(body="Use pnpm"), 1.0) == []
    fs_hot.write_atomic(config_hot.file_path(store.root), b'rules = "off"\n')
    assert approvals.proposed_rules(store, item, Choices(), 1.0) == []
