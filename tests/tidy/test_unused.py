"""A memory that prompts bring again and again in vain is proposed to be muted, once, and for every prompt."""

import os

import pytest

from memtui.base import clock_hot, paths_hot
from memtui.recall import judge_hot
from memtui.store import memory, mutes_hot, triggers
from memtui.store.journal import undo
from memtui.store.status import Usage
from memtui.store.store import Store
from memtui.tidy import changeset, waiting_proposals
from memtui.tidy.checks import lint, unused
from memtui.tidy.checks.unused import PromptedTurn
from memtui.views import changesets
from recalls import bring, deliver
from tables import rows

NOW = clock_hot.parse("2026-11-22T12:00:00Z")
DAY = 86_400


class Home:
    """A home whose prompts brought a global memory; `bring` logs one, with what the agent then said in its session."""

    def __init__(self, top):
        self.env = {"HOME": str(top / "home"), "CLAUDE_CONFIG_DIR": str(top / "home/.claude")}
        self.root = paths_hot.root(self.env)
        self.cwd, self.sessions = str(top / "repo"), top / "home/.claude/projects/repo"
        self.sessions.mkdir(parents=True)
        os.makedirs(self.cwd + "/.git")
        self.directory = top / "home/.claude/memory"
        self.directory.mkdir()
        self.path = self.directory / "ferries.md"
        self.write()
        self.brought = 0

    def write(self, more="", age=40 * DAY):
        self.path.write_text(
            f"---\nname: ferries\ndescription: The ferry timetable is in winter.csv\n{more}---\n\nBody.\n"
        )
        os.utime(self.path, (NOW - age, NOW - age))

    def bring(self, times=1, **more):
        numbers = range(self.brought, self.brought + times)
        bring(self.root, self.sessions, self.path, NOW - 10 * DAY, numbers, **more)
        self.brought += times

    def log(self, kind, **more):
        item = {"kind": kind, "path": str(self.path), **more}
        deliver(self.root, NOW - DAY, item, session_id="5e550aaa-1")

    def memory(self):
        return memory.read_memory(str(self.path), "global")

    @property
    def store(self):
        return Store(self.env, self.cwd, by="cli", now=lambda: NOW)

    def proposed(self):
        subject = lint.here(self.env, self.cwd, self.root, NOW, Usage(self.root), set())
        return [each for each in waiting_proposals.undecided(self.store, subject).proposals if each.kind == "mute"]

    def is_muted(self, words="any words"):
        return judge_hot.muting(self.root, words)(str(self.directory), "ferries.md")


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def test_it_is_proposed_from_twelve_times_in_five_sessions_on(home):
    home.bring(11)
    assert home.proposed() == []
    home.bring()
    (proposal,) = home.proposed()
    assert changeset.title(proposal) == "mute ferries"
    assert "came with 12 prompts in 6 sessions, and Claude neither opened it nor took up its words" in proposal.reason
    texts = [part.text for part in changesets.describe(proposal, None, "") if hasattr(part, "text")]
    assert any("2026-11-12, session 5e550aaa: “change the button 6”" in text for text in texts)


def test_few_sessions_are_no_reason_however_often_it_came(home):
    home.bring(20, sessions=4)
    assert home.proposed() == []


@pytest.mark.parametrize("action", ["read", "wrote"])
def test_a_memory_that_is_used_again_loses_its_proposal(home, action):
    home.bring(12)
    assert len(home.proposed()) == 1
    home.log("use", action=action)
    assert home.proposed() == []


def test_a_memory_whose_words_the_agent_took_up_is_not_proposed(home):
    home.bring(12)
    home.bring(said="I looked the departure up in the ferry timetable, winter.csv.")
    assert home.proposed() == []


def test_what_came_before_a_change_does_not_count_and_a_correction_ends_it(home):
    home.bring(12)
    home.write(age=DAY)
    assert home.proposed() == [], "it is another text since"
    home.write()
    assert len(home.proposed()) == 1
    home.log("corrected")
    assert home.proposed() == []


def test_lost_deliveries_and_gone_transcripts_do_not_count(home):
    home.bring(11)
    home.bring(outcome="dropped")
    home.bring(transcript="/gone.jsonl")
    home.bring(event="PreToolUse")
    assert home.proposed() == []
    home.bring()
    assert len(home.proposed()) == 1


def test_what_a_person_keeps_by_a_pin_or_a_trigger_is_not_proposed(home):
    home.bring(12)
    home.write(more="pinned: true\n")
    assert home.proposed() == []
    home.write()
    triggers.change(home.store, home.memory(), add=["when a boat leaves"])
    assert home.proposed() == []


def test_approving_it_mutes_it_for_every_prompt_until_it_is_undone(home):
    home.bring(12)
    (proposal,) = home.proposed()
    assert not home.is_muted()
    assert waiting_proposals.is_open(home.root, proposal)
    before = home.path.read_bytes()
    assert changeset.apply(home.store, [proposal]).made == (proposal,)
    assert home.path.read_bytes() == before
    assert (home.is_muted(), home.proposed()) == (True, [])
    assert not waiting_proposals.is_open(home.root, proposal)
    assert [each.text for each in triggers.muted_prompts(home.root, str(home.directory), "ferries.md")] == [
        mutes_hot.EVERY
    ]
    liked = triggers.muted_like(home.root, str(home.directory), "ferries.md", ["boat"], frozenset())
    assert liked == [mutes_hot.EVERY], "the key that unmutes a prompt takes it back, too"
    undo.run(home.store.journal, "undo")
    assert (home.is_muted(), len(home.proposed())) == (False, 1)


def test_a_rejected_one_stays_so_until_its_memory_changes_or_for_good(home):
    home.bring(12)
    waiting_proposals.reject(home.store, home.proposed())
    home.bring(12)
    assert home.proposed() == []
    home.write(more="tags: [boats]\n")
    (proposal,) = home.proposed()
    waiting_proposals.reject(home.store, [proposal], never=True)
    home.write(more="tags: [ships]\n")
    assert home.proposed() == []


PNPM = "---\nname: pnpm\ndescription: Use pnpm, never npm\n---\n\nThe lock is `pnpm-lock.yaml`, on `main`.\n"


@pytest.mark.parametrize(
    ("prompt", "said", "followed"), rows(__file__, "a memory is followed where its own words are taken up")
)
def test_a_memory_is_followed_where_its_own_words_are_taken_up(home, prompt, said, followed):
    home.path.write_text(PNPM)
    assert unused.is_followed(home.memory(), PromptedTurn(prompt, said)) is followed
