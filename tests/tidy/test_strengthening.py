"""Stronger forms of a memory that is violated: a pin, then a line of CLAUDE.md or a rule, and commands that a hook refuses."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.base import clock_hot, paths_hot
from memtui.store.journal import undo
from memtui.store.plan import FileDiff
from memtui.store.status import Usage
from memtui.store.store import Store
from memtui.tidy import changeset, plan
from memtui.tidy.checks import lint
from memtui.tidy.plan import forbidden_commands
from recalls import deliver

NOW = clock_hot.parse("2026-11-22T12:00:00Z")
DAY = 86_400
SESSION = "5e551011-0000-4000-8000-000000000001"


class Home:
    """A home with global memories and a log of deliveries: what is proposed of a memory that is corrected again, and made."""

    def __init__(self, top):
        self.env = {"HOME": str(top / "home"), "CLAUDE_CONFIG_DIR": str(top / "home/.claude")}
        self.root = paths_hot.root(self.env)
        self.memories = top / "home/.claude/memory"
        self.memories.mkdir(parents=True)
        self.cwd = str(top / "repo")
        os.makedirs(self.cwd + "/.git")
        self.claude_md = top / "home/.claude/CLAUDE.md"

    def memory(self, name, text, age=40 * DAY):
        path = self.memories / f"{name}.md"
        path.write_text(f"---\nname: {name}\ndescription: About {name}\n---\n\n{text}\n")
        os.utime(path, (NOW - age, NOW - age))
        with (self.memories / "MEMORY.md").open("a") as file:
            file.write(f"- [{name}]({name}.md) — read it first\n")
        return str(path)

    def record(self, path, ago, kind="index"):
        deliver(self.root, NOW - ago, {"kind": kind, "path": path}, event="SessionStart", session_id=SESSION)

    def found(self) -> list[str]:
        subject = lint.here(self.env, self.cwd, self.root, NOW, Usage(self.root), set())
        return [each.data["memory"] for each in lint.check(subject) if each.code == "memories.violated"]

    def violate(self, path, times):
        os.utime(path, (NOW - 40 * DAY, NOW - 40 * DAY))
        for number in range(times):
            self.record(path, (30 - 2 * number) * DAY, "recall")
            self.record(path, (29 - 2 * number) * DAY, "corrected")

    @property
    def store(self):
        return Store(self.env, self.cwd, by="cli", now=lambda: NOW)

    @property
    def subject(self):
        return lint.here(self.env, self.cwd, self.root, NOW, Usage(self.root), set())

    def planned(self):
        found = plan.plan(self.store, self.subject).proposals
        return [each for each in found if any(e.code == "memories.violated" for e in each.evidence)]

    def titles(self):
        return [changeset.title(each) for each in self.planned()]

    def make(self, *proposals):
        return changeset.apply(self.store, proposals)

    def undo(self):
        undo.run(self.store.journal, "undo").first()


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


NPM = "---\nname: pnpm\ndescription: Use pnpm, never npm\n{more}---\n\nUse pnpm, never npm.\n"


def violated(home, times, name="pnpm", more="pinned: true\n"):
    path = home.memory(name, "")
    with open(path, "w") as file:
        file.write(NPM.format(more=more))
    home.violate(path, times)
    return path


def test_a_memory_that_is_violated_three_times_is_to_be_pinned(home):
    path = violated(home, 0, more="")
    home.record(path, 31 * DAY, "recall")
    problems = lambda: [each.data["memory"] for each in lint.check(home.subject) if each.code == "memories.violated"]
    assert problems() == []
    home.violate(path, 2)
    assert problems() == ["pnpm"]
    assert home.planned() == []
    home.record(path, DAY, "corrected")
    (proposal,) = home.planned()
    assert b"\npinned: " in proposal.outputs[0].after
    assert "3 corrections" in proposal.reason
    home.violate(path, 5)
    (proposal,) = home.planned()
    assert home.make(proposal).refused == ()
    os.utime(path, (NOW - DAY / 2, NOW - DAY / 2))
    assert home.planned() == []  # it was not violated since
    home.record(path, DAY / 4, "corrected")
    assert [b"forbids: npm" in each.outputs[0].after for each in home.planned()] == [True]


def test_one_that_is_violated_although_it_is_pinned_forbids_its_command(home):
    path = violated(home, 2)
    assert home.planned() == []
    home.record(path, DAY, "corrected")
    assert home.titles() == ["rewrite pnpm"]
    (forbid,) = home.planned()
    assert b"\nforbids: npm\n" in forbid.outputs[0].after
    assert "`npm`" in forbid.reason
    assert home.make(forbid).refused == ()
    assert home.planned() == []
    home.undo()
    assert Path(path).read_text() == NPM.format(more="pinned: true\n")


def test_instructions_neither_replace_what_forbids_nor_are_written(home):
    violated(home, 4, more="pinned: true\nforbids: npm\n")
    home.claude_md.write_text("- Use pnpm, never npm\n")
    assert home.planned() == []
    home.claude_md.write_bytes(b"# Mine\n")
    found = changeset.propose("rewrite", [FileDiff(str(home.claude_md), b"# Mine\n", b"# Mine\nx\n")])
    assert [each.reason for each in home.make(found).refused] == ["forbidden"]


# --- which commands


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("Use pnpm, never npm", ["npm"]),
        ("Never run `npm install` or `npm i`; use `pnpm`", ["npm install", "npm i"]),
        ("Don’t git push --force to main", ["git push --force"]),
        ("Use uv, not pip, for Python tools", ["pip"]),
        ("Use `rg` instead of `grep`", ["grep"]),
        ("Never `make deploy`", ["make deploy"]),
        ("Do not call `./deploy.sh prod` by yourself", ["./deploy.sh prod"]),
        # nothing that a shell runs, or only under a condition, or too much of it
        ("Do not push to main", []),
        ("Don't use git at all", []),
        ("Never use `any` in TypeScript", []),
        ("Don't find excuses, don't make noise", []),
        ("Don't run `make test` before the linter", []),
        ("Never use rm -rf without asking", []),
        ("Use npm", []),
        ("", []),
    ],
)
def test_which_commands_a_memory_forbids(text, commands):
    assert forbidden_commands(text) == commands


@given(st.text())
def test_any_text_forbids_whole_commands_or_none(text):
    for each in forbidden_commands(f"never {text}, never `{text}`"):
        assert each == " ".join(each.split())
        assert "," not in each
