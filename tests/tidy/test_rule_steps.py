"""Steps about rules of memories: pin what was broken, refuse what was broken although pinned, relax what held for long."""

import os
from pathlib import Path

import pytest

from memtui.base import clock_hot, paths_hot
from memtui.rules import counts, rule_hot
from memtui.rules.counts import SessionCount
from memtui.store.journal import undo
from memtui.store.status import Usage
from memtui.store.store import Store
from memtui.tidy import changeset, waiting_proposals
from memtui.tidy.checks import lint
from recalls import deliver

NOW = clock_hot.parse("2026-11-22T12:00:00Z")
DAY = 86_400
RULES = """rules:
  - never: {command: "npm *"}  # by hand
    instead: {command: "pnpm *"}
  - always: {path: "CHANGELOG.md", with: {path: "src/**"}}
"""
NPM, LOG = (str(rule) for rule in rule_hot.parse_all({"rules": [
    {"never": {"command": "npm *"}, "instead": {"command": "pnpm *"}},
    {"always": {"path": "CHANGELOG.md", "with": {"path": "src/**"}}},
]})[0])  # fmt: skip


class Home:
    """A home with a memory that has rules, a log of deliveries, and counts of sessions; what is proposed, and made."""

    def __init__(self, top, monkeypatch):
        self.env = {"HOME": str(top / "home"), "CLAUDE_CONFIG_DIR": str(top / "home/.claude")}
        self.root = paths_hot.root(self.env)
        self.cwd = str(top / "repo")
        os.makedirs(self.cwd + "/.git")
        self.rows: dict[str, dict[str, list[SessionCount]]] = {}
        monkeypatch.setattr(counts, "by_session", lambda _, path: self.rows.get(path, {}))
        self.path = self.write()

    def write(self, more="", rules=RULES, place=None, age=200.0):
        path = Path(place or f"{self.env['CLAUDE_CONFIG_DIR']}/memory", "pnpm.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            f"---\nname: pnpm\ndescription: Use pnpm, never npm\n{more}{rules}---\n\nUse pnpm, never npm.\n"
        )
        os.utime(path, (NOW - age * DAY, NOW - age * DAY))
        return str(path)

    def session(self, days, *, broken=False, given="recall", rule=NPM, times=1, gives_at=-60.0, outcome="", path=None):
        """Note a session of so many days ago with opportunities for a rule, which it got by `given` a minute before."""
        at, name, path = NOW - days * DAY, f"5e55-{days}-{len(self.rows)}", path or self.path
        row = SessionCount(name, at, times, times - broken, at + 5 if broken else 0.0)
        rows = self.rows.setdefault(path, {}).setdefault(rule, [])
        rows.append(row)
        rows.sort(key=lambda row: -row.time)
        if given:
            item = {"kind": "memory" if given == "pinned" else given, "path": path, "reason": given}
            more = {"outcome": outcome} if outcome else {}
            deliver(self.root, at + gives_at, item, event="SessionStart", session_id=name, **more)

    @property
    def store(self):
        return Store(self.env, self.cwd, by="cli", now=lambda: NOW)

    def proposed(self):
        subject = lint.here(self.env, self.cwd, self.root, NOW, Usage(self.root), set())
        return [each for each in waiting_proposals.undecided(self.store, subject).proposals if each.word == "rule"]

    def steps(self):
        return [each.evidence[0].code for each in self.proposed()]

    def undo(self):
        undo.run(self.store.journal, "undo").first()


@pytest.fixture
def home(tmp_path, monkeypatch):
    return Home(tmp_path, monkeypatch)


def test_a_memory_broken_in_two_of_five_sessions_is_to_be_pinned(home):
    before = Path(home.path).read_bytes()
    for days in (1, 3, 5):
        home.session(days)
    home.session(2, broken=True)
    assert home.proposed() == []
    home.session(4, broken=True)
    (pin,) = home.proposed()
    assert (
        pin.reason
        == f"global:pnpm was lately broken in 2 of 5 sessions that had it: {NPM}. Pinned, every session begins with it."
    )
    assert changeset.apply(home.store, [pin]).refused == ()
    assert Path(home.path).read_bytes() == before.replace(b"---\n\n", b'pinned: "true"\n---\n\n')
    assert home.proposed() == []
    home.undo()
    assert (home.steps(), Path(home.path).read_bytes()) == (["rules.pin"], before)
    for days in (0.1, 0.2, 0.3, 0.4):  # newer sessions kept it
        home.session(days)
    assert home.proposed() == []


@pytest.mark.parametrize(
    "how",
    [{"given": ""}, {"given": "use"}, {"gives_at": 60.0}, {"outcome": "timed out"}],
    ids=["never", "opened", "late", "lost"],
)
def test_a_break_without_the_memory_says_nothing_about_it(home, how):
    for days in (1, 2, 3):
        home.session(days, broken=True, **how)
    assert home.proposed() == []


def test_a_rule_broken_although_pinned_is_to_be_refused(home):
    home.write("pinned: true\n")
    home.session(3, broken=True)
    home.session(2, broken=True)
    home.session(1, given="pinned")
    assert home.proposed() == []
    home.session(0.5, given="pinned", broken=True)
    home.session(0.4, given="pinned", broken=True, rule=LOG)
    refusals = {
        str(each.evidence[0].data["rule"]): each for each in home.proposed() if each.evidence[0].code == "rules.refuse"
    }
    refuse = refusals[NPM]
    assert "lately broken in 1 of 2 sessions that began with it" in refuse.reason
    assert changeset.apply(home.store, [refuse]).refused == ()
    text = Path(home.path).read_text()
    assert '    instead: {command: "pnpm *"}\n    enforce: refuse\n  - always' in text
    assert [each.enforce for each in rule_hot.parse_all(Store(home.env, home.cwd).find("pnpm").fields)[0]] == [
        "refuse",
        "",
    ]
    assert NPM not in {each.evidence[0].data["rule"] for each in home.proposed()}


def test_what_held_for_long_is_to_be_unpinned_then_archived(home):
    home.write("pinned: true\n")
    for rule in (NPM, LOG):
        for days in (5, 30, 62):
            home.session(days, rule=rule, times=25)
    (unpin,) = home.proposed()
    assert "held 75 times in 62 days, without a break" in unpin.reason
    assert "about 5 tokens a session" in unpin.reason
    assert changeset.apply(home.store, [unpin]).refused == ()
    assert "pinned" not in Path(home.path).read_text()
    assert home.proposed() == []  # its days without a pin begin now
    os.utime(home.path, (NOW - 70 * DAY, NOW - 70 * DAY))
    (archive,) = home.proposed()
    assert (archive.kind, archive.word) == ("archive", "rule")
    home.write(rules=RULES.replace("  - always", "    enforce: refuse\n  - always"))
    assert home.proposed() == []  # a hook refuses it: the habit is not shown


@pytest.mark.parametrize("short", ["times", "days", "break", "other rule"])
def test_what_held_too_shortly_is_not_relaxed(home, short):
    for rule in (NPM, LOG)[: 1 if short == "other rule" else 2]:
        for days in (5, 59 if short == "days" else 62):
            home.session(days, rule=rule, times=29 if short == "times" else 40, broken=short == "break", given="")
    assert home.proposed() == []


def test_a_rejected_step_comes_again_only_with_new_evidence(home):
    for days in (4, 3):
        home.session(days, broken=True)
    waiting_proposals.reject(home.store, home.proposed())
    assert home.proposed() == []
    home.write("x: 1\n")
    assert home.proposed() == []  # another text alone is no evidence
    home.session(2, broken=True)
    home.session(1, broken=True)
    (again,) = home.proposed()
    waiting_proposals.reject(home.store, [again], never=True)
    for days in (0.4, 0.3, 0.2, 0.1):
        home.session(days, broken=True)
    assert home.proposed() == []


def test_a_memory_that_is_not_trusted_gets_no_step(home):
    path = home.write(place=f"{home.cwd}/.claude/memory")
    home.rows = {path: {}}
    for days in (2, 1):
        home.session(days, broken=True, path=path)
    assert home.proposed() == []


def test_without_rules_three_corrections_propose_a_pin(home):
    def corrected(path, times):
        for number in range(times):
            for kind, ago in (("recall", 30 - 2 * number), ("corrected", 29 - 2 * number)):
                deliver(home.root, NOW - ago * DAY, {"kind": kind, "path": path}, event="Stop", session_id="5e55")

    home.write(rules="")
    corrected(home.path, 2)
    assert home.proposed() == []
    corrected(home.path, 1)
    (pin,) = home.proposed()
    assert b"\npinned: " in pin.outputs[0].after
    assert "3 corrections" in pin.reason
    home.write()  # with rules, their counts decide
    assert home.proposed() == []
