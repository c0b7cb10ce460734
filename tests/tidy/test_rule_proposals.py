"""Rules that the words of memories say are proposed where past sessions could keep them, and a person decides."""

import os

import pytest

from memtui.base import clock_hot
from memtui.rules import counts, proposal_evidence
from memtui.rules.counting import Moment
from memtui.rules.proposal_evidence import with_evidence
from memtui.rules.rule_hot import Pattern, Rule, parse_all
from memtui.store import memory
from memtui.store.journal import undo
from memtui.tidy import changeset, rule_proposals, waiting_proposals
from memtui.views import changesets

from .stores import World, text_of

NOW = clock_hot.parse("2026-11-21T09:00:00Z")
NPM = Rule("never", Pattern(command="npm *"), "instead", Pattern(command="pnpm *"))


def moments(rule, kept, broken, time=0.0):
    return [Moment(time, "s", str(at), rule.key(), at < kept) for at in range(kept + broken)]


@pytest.fixture
def sessions(monkeypatch):
    """Past sessions in which each rule was kept six times and broken as often as `sessions` has it, else never due."""
    broken = {}
    counted = lambda _, rules, __: {
        rule.key(): moments(rule, 6, broken[str(rule)]) for rule in rules if str(rule) in broken
    }
    monkeypatch.setattr(counts, "count_in", counted)
    return broken


@pytest.mark.parametrize(
    ("before", "since", "is_proposed"),
    [((6, 14), (0, 0), True), ((0, 0), (0, 0), False), ((0, 9), (2, 3), False), ((0, 0), (3, 3), True)],
)
def test_a_rule_is_proposed_by_what_sessions_did(before, since, is_proposed):
    rows = [*moments(NPM, *before, time=1.0), *moments(NPM, *since, time=3.0)]
    (*proposed,) = with_evidence([NPM], {NPM.key(): rows}, written=2.0)
    assert bool(proposed) == is_proposed
    assert all((each.opportunities, each.broken) == (len(rows), before[1] + since[1]) for each in proposed)


def test_transcripts_are_read_newest_first_as_long_as_there_is_time(tmp_path):
    env = {"HOME": str(tmp_path)}
    for slug, name, days in [("-a", "one", 1), ("-b", "two", 2), ("-a", "old", 31), ("-b", "three", 3)]:
        path = tmp_path / ".claude" / "projects" / slug / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.utime(path, (NOW - days * clock_hot.DAY,) * 2)
    names = lambda place, seconds: [
        os.path.basename(path) for path in proposal_evidence.recent_transcripts(env, place, NOW, seconds)
    ]
    assert names("", 9.0) == ["one.jsonl", "two.jsonl", "three.jsonl"]
    assert (names("/b", 9.0), names("", -1.0)) == (["two.jsonl", "three.jsonl"], [])
    path = (
        tmp_path / ".codex/sessions/2026/11/30/rollout-2026-11-30T14-03-11-01a22cc4-4962-7a20-954f-865468865e0c.jsonl"
    )
    path.parent.mkdir(parents=True)
    path.write_text('{"type": "session_meta", "payload": {"id": "01a22cc4", "cwd": "/b"}}\n')
    assert (path.name in names("/b", 9.0), path.name in names("/a", 9.0)) == (True, False)


def test_a_memory_gets_its_rules_once_and_undo_takes_them_away(tmp_path, sessions):
    world = World(tmp_path, {"pnpm.md": text_of("pnpm", "Use pnpm, not npm."), "other.md": text_of("other")})
    assert rule_proposals.propose(world.env, world.repo, NOW) == []
    sessions[str(NPM)] = 14
    before = world.files()
    (proposal,) = rule_proposals.propose(world.env, world.repo, NOW)
    assert (proposal.word, proposal.kind) == ("rule", "rewrite")
    words = "Check pnpm: never npm *, instead pnpm * (broken 14 of 20 times) in the last 30 days."
    assert changesets.gist(proposal).startswith(words)
    assert rule_proposals.propose(world.env, world.repo, NOW) == [], "it waits"
    assert waiting_proposals.waiting(world.root) == 1
    changeset.apply(world.store, [proposal])
    (rule,) = parse_all(memory.read_memory(world.path("pnpm.md")).fields)[0]
    assert str(rule) == str(NPM)
    assert rule_proposals.propose(world.env, world.repo, NOW) == []
    undo.run(world.store.journal, "undo").first()
    assert world.files() == before


def test_rejected_rules_do_not_come_again_when_the_memory_changes(tmp_path, sessions):
    world = World(tmp_path, {"pnpm.md": text_of("pnpm", "Use pnpm, not npm.")})
    sessions[str(NPM)] = 14
    waiting_proposals.reject(world.store, rule_proposals.propose(world.env, world.repo, NOW))
    world.write("pnpm.md", text_of("pnpm", "Use pnpm, not npm.", "The lockfile is pnpm's."))
    assert rule_proposals.propose(world.env, world.repo, NOW) == []
    sessions["never git push * --force *"] = 2
    world.write("pnpm.md", text_of("pnpm", "Use pnpm, not npm.", "Never run `git push --force`."))
    (other,) = rule_proposals.propose(world.env, world.repo, NOW)
    assert len(other.evidence[0].texts) == 2


def test_at_most_ten_wait_and_the_most_broken_come_first(tmp_path, sessions):
    names = [f"tool{number}" for number in range(14)]
    sessions.update({f"never run-{name} x *": number for number, name in enumerate(names)})
    world = World(tmp_path, {f"{name}.md": text_of(name, f"Never run `run-{name} x`.") for name in names})
    proposed = rule_proposals.propose(world.env, world.repo, NOW)
    assert [changeset.name(each.files[0].path) for each in proposed] == names[:3:-1]
    assert rule_proposals.propose(world.env, world.repo, NOW) == []


def test_untrusted_memories_and_those_with_rules_get_no_proposal(tmp_path, sessions):
    sessions[str(NPM)] = 14
    world = World(
        tmp_path, {"mine.md": text_of("mine", "Use pnpm, not npm.").replace("\n---", "\nforbids: npm\n---", 1)}
    )
    world.write(f"{world.project}/theirs.md", text_of("theirs", "Use pnpm, not npm."))
    assert rule_proposals.propose(world.env, world.repo, NOW) == []
