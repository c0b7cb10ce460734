"""Decisions on drafts move the scores of later ones, and undone ones do not; what was learned is forgotten on demand."""

import json
import os
import shutil
import subprocess
import sys

import pytest

from hooks.killing import Child, every_point
from memtui.base import findings, fs, paths
from memtui.client.transcripts.conversation import Turn
from memtui.learn import classifier, personal, signals
from memtui.review import approve, draft, taught
from memtui.review.entries import Review
from memtui.review.waiting import waiting_in
from memtui.store.journal.journal import Journal
from memtui.store.store import Store
from memtui.worker import decided, main

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
RULES = [
    "From now on always use pnpm for packages in this repository.",
    "From now on always write the tests before the code, please.",
    "From now on always ask me before you write a migration.",
    "From now on always use tabs in the Makefile, never blanks.",
]


class World:
    def __init__(self, base):
        self.root, self.project = str(base / "memtui"), str(base / "shop")
        (base / "shop" / ".git").mkdir(parents=True)
        self.env = {"HOME": str(base), "MEMTUI_HOME": self.root, "CLAUDE_CONFIG_DIR": str(base / "config")}
        self.transcript = base / "s1.jsonl"
        self.payload = {"session_id": "s1", "transcript_path": str(self.transcript), "cwd": self.project}

    def says(self, *texts):
        rows = []
        for number, text in enumerate(texts):
            rows += [
                {"type": "user", "uuid": f"u{number}", "sessionId": "s1", "message": {"content": text}},
                {"type": "assistant", "message": {"id": f"m{number}", "content": [{"type": "text", "text": "Done."}]}},
            ]
        self.transcript.write_text("".join(json.dumps(row) + "\n" for row in rows))
        main.run(self.env, self.payload, "Stop", ("extract",))
        return self.drafts()

    def drafts(self):
        return waiting_in(self.root, [paths.project_key(self.project)], ("updates",))

    def taught(self):
        return taught.look(self.root, Journal(self.root))


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def test_a_draft_leaves_numbers_for_its_decision_and_no_words(world):
    drafts = world.says(*RULES)
    assert len(drafts) == len(RULES)
    content = fs.read_bytes(taught.drafts_path(world.root))
    assert b"pnpm" not in content
    assert {json.loads(line)["id"] for line in content.splitlines()} == {draft.id for draft in drafts}


def test_what_is_rejected_lowers_later_drafts_like_it_and_undo_takes_that_back(world):
    drafts = world.says(*RULES)
    review = Review(world.root)
    review.reject(drafts[:2])
    review.reject(drafts[2:3], never=True)
    assert (world.taught().total, world.taught().waiting) == (0, 3)
    assert decided.learn(world.root) is not None
    assert world.taught().waiting == 0
    assert world.taught().counts == {"rejected": 2, "never": 1}
    slug = paths.project_key(world.project)
    made = personal.load(world.root)
    (row,) = personal.decided(world.root, {drafts[3].id: "approved"})
    assert made.of(row.values, slug)[1] < 0
    assert decided.learn(world.root) is None, "nothing was decided since"
    for _ in range(2):
        assert cli_undo(world) == 0
    assert world.taught().waiting == 3, "what was undone waits, too"
    assert decided.learn(world.root) is not None
    assert world.taught().total == 0
    assert personal.load(world.root).of(row.values, slug) == (0.0, 0.0)


def test_what_one_project_taught_does_not_move_the_drafts_of_one_whose_path_has_the_same_slug(world):
    drafts = world.says(*RULES)
    Review(world.root).reject(drafts[:3])
    decided.learn(world.root)
    made, neighbour = personal.load(world.root), world.project.replace("/shop", "-shop")
    assert paths.slug(neighbour) == paths.slug(world.project)
    assert made.projects.keys() == {paths.project_key(world.project)}
    (row,) = personal.decided(world.root, {drafts[3].id: "approved"})
    for_all = made.of(row.values, "")
    assert made.of(row.values, paths.project_key(neighbour)) == for_all
    assert made.of(row.values, paths.project_key(world.project)) != for_all


def cli_undo(world):
    done = subprocess.run(
        [sys.executable, "-m", "memtui", "undo", "--yes"],
        env={**os.environ, **world.env},
        cwd=world.project,
        capture_output=True,
    )
    return done.returncode


def approved(world, item, **choices):
    store = Store(world.env, world.project)
    (outcome,) = approve.approve_all(store.journal, [draft.propose(store, item, draft.Choices(**choices))])
    assert outcome.error is None


def test_a_draft_that_was_rewritten_before_it_was_approved_counts_less(world):
    drafts = world.says(*RULES)
    review = Review(world.root)
    approved(world, drafts[0])
    review.edit(drafts[1], drafts[1].text.replace("code", "code itself"))
    approved(world, next(each for each in world.drafts() if each.id == drafts[1].id))
    approved(world, drafts[2], description="Deploys go out on Mondays", body="Nobody wants to be called on a weekend.")
    decided.learn(world.root)
    labels = taught.labels_of(taught.load(taught.decisions_path(world.root)))
    kinds = [taught.parts(labels[each.id]) for each in drafts[:3]]
    assert [kind for kind, _ in kinds] == ["approved", "edited", "edited"]
    assert kinds[2][1] < 0.3
    assert 0.7 < kinds[1][1] < 1
    assert world.taught().counts == {"approved": 1, "edited": 2}
    rows = {each.counts for each in personal.decided(world.root, labels)}
    assert len(rows) == 3
    weights = [personal.target(labels[each.id])[1][1] for each in drafts[:3]]
    assert weights[0] == 1 > weights[1] > 0.7 > weights[2] > 0
    (finding,) = taught.check(world.root, Journal(world.root))
    assert "3 decisions on drafts, 2 of them approved after an edit" in findings.message(finding)
    assert cli_undo(world) == 0
    decided.learn(world.root)
    assert world.taught().counts == {"approved": 1, "edited": 1}


def test_the_next_session_is_judged_with_what_was_learned(world):
    drafts = world.says(*RULES)
    before = classifier.shipped()
    Review(world.root).reject(drafts)
    main.run(world.env, world.payload, "Stop", ("decisions",))
    after = classifier.learned(world.root, paths.project_key(world.project))
    turn = Turn("From now on always run the linter before you commit.", "prompt", session="s2", agent="Done.")
    draft = signals.signal_of(turn)
    assert after.judged(turn, draft).durable < before.judged(turn, draft).durable
    assert after.judged(turn, draft).shipped == before.judged(turn, draft).shipped


def test_it_is_forgotten_and_that_can_be_undone(world):
    drafts = world.says(*RULES)
    Review(world.root).reject(drafts)
    decided.learn(world.root)
    kept = fs.read_bytes(taught.weights_path(world.root))
    journal = Journal(world.root, by="cli")
    assert taught.forget(world.root, journal)
    assert world.taught().total == 0
    decided.learn(world.root)
    assert world.taught().total == 0, "what was decided before does not count any more"
    assert cli_undo(world) == 0
    assert fs.read_bytes(taught.weights_path(world.root)) == kept
    assert world.taught().total == len(RULES)


def test_where_it_is_switched_off_nothing_is_learned(world):
    drafts = world.says(*RULES)
    Review(world.root).reject(drafts)
    fs.write_atomic(world.root + "/config.toml", b"extract_learn = false\n")
    main.run(world.env, world.payload, "Stop", ("decisions",))
    assert world.taught().total == 0


def test_decisions_that_the_journal_has_forgotten_stay(world):
    drafts = world.says(*RULES)
    Review(world.root).reject(drafts[:1])
    decided.learn(world.root)
    fs.write_atomic(world.root + "/journal.jsonl", b"")
    Review(world.root).reject(world.drafts()[:1])
    decided.learn(world.root)
    assert world.taught().counts == {"rejected": 2}


@pytest.mark.parametrize("name", ["drafts.jsonl", "decisions.json", "weights.json"])
def test_files_that_somebody_spoilt_are_survived(world, name):
    drafts = world.says(*RULES)
    fs.write_atomic(f"{world.root}/feedback/{name}", b'\xff\x00{"v": 1, "labels": 7, "id": "x", "features": [1]}\n')
    Review(world.root).reject(drafts)
    decided.learn(world.root)
    assert world.taught().total == len(RULES)


@pytest.mark.kill
def test_wherever_it_is_killed_the_next_one_learns_the_same(world, tmp_path):
    drafts = world.says(*RULES)
    Review(world.root).reject(drafts)
    shutil.copytree(world.root, tmp_path / "kept")
    decided.learn(world.root)
    wanted = (personal.load(world.root), world.taught())

    def run(point):
        shutil.rmtree(world.root)
        shutil.copytree(tmp_path / "kept", world.root)
        child = Child(lambda: decided.learn(world.root), point=point).wait()
        decided.learn(world.root)
        assert (personal.load(world.root), world.taught()) == wanted
        return not child.killed

    assert every_point(run) >= 2
