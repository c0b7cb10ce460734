"""Stronger forms of a memory that is violated: a pin, then a line of CLAUDE.md or a rule, and commands that a hook refuses."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.consolidate import changeset, composing, lint, plan, proposed
from memtui.consolidate.changeset import ChangeSet, FileOutput
from memtui.consolidate.composing import savings
from memtui.consolidate.files import MemoryFiles
from memtui.consolidate.strengthening import forbidden_commands
from memtui.core.base.errors import MemtuiError
from memtui.core.journal import undo
from memtui.core.memories import trusting
from memtui.core.memories.status import Usage
from memtui.core.memories.store import Store
from memtui.present import changesets

from .test_usage_checks import DAY, NOW, Home


class Violated(Home):
    """A home in which a memory was given and corrected again; what is then proposed, and made."""

    def __init__(self, top):
        super().__init__(top)
        self.config = top / "home/.claude"
        self.claude_md = self.config / "CLAUDE.md"

    def violate(self, path, times):
        os.utime(path, (NOW - 40 * DAY, NOW - 40 * DAY))
        for number in range(times):
            self.record(path, (30 - 2 * number) * DAY, "recall")
            self.record(path, (29 - 2 * number) * DAY, "corrected")

    @property
    def store(self):
        return Store(self.env, self.cwd, by="cli", now=lambda: NOW)

    def planned(self):
        subject = lint.here(self.env, self.cwd, self.root, NOW, Usage(self.root), set())
        found = plan.plan(self.store, subject).proposals
        return [each for each in found if any(e.code == "memories.violated" for e in each.evidence)]

    def titles(self):
        return [changeset.title(each) for each in self.planned()]

    def make(self, *proposals):
        return composing.apply(self.store, proposals)

    def undo(self):
        undo.run(self.store.journal, "undo").first()


@pytest.fixture
def home(tmp_path):
    return Violated(tmp_path)


NPM = "---\nname: pnpm\ndescription: Use pnpm, never npm\n{more}---\n\nUse pnpm, never npm.\n"


def violated(home, times, name="pnpm", more="pinned: true\n"):
    path = home.memory(name, "")
    with open(path, "w") as file:
        file.write(NPM.format(more=more))
    home.violate(path, times)
    return path


def test_a_memory_that_is_violated_three_times_is_to_be_pinned(home):
    path = violated(home, 2, more="")
    assert home.planned() == []
    home.record(path, DAY, "corrected")
    (proposal,) = home.planned()
    assert b"\npinned: " in proposal.outputs[0].data
    assert "3 corrections" in proposal.reason
    home.violate(path, 5)
    (proposal,) = home.planned()
    assert home.make(proposal).refused == ()
    os.utime(path, (NOW - DAY / 2, NOW - DAY / 2))
    assert home.planned() == []  # it was not violated since
    home.record(path, DAY / 4, "corrected")
    assert [each.kind for each in home.planned()] == ["rule", "rewrite"]


def test_one_that_is_violated_although_it_is_pinned_goes_into_claude_md_or_forbids_its_command(home):
    path = violated(home, 2)
    assert home.planned() == []
    home.record(path, DAY, "corrected")
    assert home.titles() == ["add pnpm to CLAUDE.md", "rewrite pnpm"]
    instruct, forbid = home.planned()
    assert (instruct.kind, instruct.outputs[0].path) == ("rule", str(home.claude_md))
    assert b"\nforbids: npm\n" in forbid.outputs[0].data
    assert "`npm`" in forbid.reason
    done = home.make(instruct, forbid)
    assert done.refused == ()
    assert home.claude_md.read_text() == "- Use pnpm, never npm\n"
    assert "CLAUDE.md" not in (home.memories / "MEMORY.md").read_text()
    assert home.planned() == []
    home.undo()
    assert not home.claude_md.exists()
    assert Path(path).read_text() == NPM.format(more="pinned: true\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# Mine\n\n- one\n", "# Mine\n\n- one\n- Use pnpm, never npm\n"),
        ("# Mine", "# Mine\n\n- Use pnpm, never npm\n"),
        ("# Mine\r\n\r\n* one\r\n", "# Mine\r\n\r\n* one\r\n- Use pnpm, never npm\r\n"),
        ("Text.\n\n", "Text.\n\n- Use pnpm, never npm\n"),
        ("", "- Use pnpm, never npm\n"),
    ],
)
def test_a_line_comes_below_what_the_person_wrote_and_goes_again_to_the_byte(home, before, after):
    violated(home, 4)
    home.claude_md.write_bytes(before.encode())
    home.make(home.planned()[0])
    assert home.claude_md.read_bytes() == after.encode()
    more = b"# New\n\n" if before else b""
    home.claude_md.write_bytes(more + home.claude_md.read_bytes())  # the person goes on writing
    home.undo()
    assert home.claude_md.read_bytes() == more + before.encode()


def test_what_stands_in_claude_md_already_or_is_a_link_is_not_proposed(home):
    violated(home, 4)
    home.claude_md.write_text("- Use pnpm, never npm.\n")
    assert home.titles() == ["rewrite pnpm"]
    home.claude_md.unlink()
    (home.config / "elsewhere.md").write_text("")
    home.claude_md.symlink_to(home.config / "elsewhere.md")
    assert home.titles() == ["rewrite pnpm"]


def test_a_memory_with_more_to_say_or_of_some_paths_becomes_a_rule(home):
    path = home.memory("api", "")
    with open(path, "w") as file:
        file.write(
            "---\nname: api\ndescription: The API is frozen\npinned: true\npaths: src/api/**, a b\n---\n\nAsk Kim.\n"
        )
    home.violate(path, 4)
    (proposal,) = home.planned()
    assert changeset.title(proposal) == "add api to rules/api.md"
    assert changesets.about(proposal) == "api → rules/api.md"
    assert "with the files that it is about" in proposal.reason
    assert changesets.saved(savings(home.make(proposal).diffs)) == "Adds 73 B."
    rule = home.config / "rules" / "api.md"
    assert rule.read_text() == '---\npaths:\n  - "src/api/**"\n  - "a b"\n---\n\n# The API is frozen\n\nAsk Kim.\n'
    assert home.planned() == []


def test_a_memory_of_a_repository_goes_into_its_instructions_once_it_is_trusted(home):
    directory = f"{home.cwd}/.claude/memory"
    os.makedirs(directory)
    path = f"{directory}/pnpm.md"
    with open(path, "w") as file:
        file.write(NPM.format(more="pinned: true\n"))
    home.violate(path, 4)
    assert home.planned() == []
    trusting.grant(home.root, directory)
    (instruct, _) = home.planned()
    assert instruct.outputs[0].path == f"{home.cwd}/CLAUDE.md"
    mask = os.umask(0o022)
    try:
        home.make(instruct)
    finally:
        os.umask(mask)
    assert os.stat(f"{home.cwd}/CLAUDE.md").st_mode & 0o777 == 0o644


def test_what_forbids_a_command_is_not_to_go_because_claude_md_says_the_same(home):
    violated(home, 4, more="pinned: true\nforbids: npm\n")
    home.claude_md.write_text("- Use pnpm, never npm\n")
    assert home.planned() == []


# --- what a ChangeSet of somebody else may do


def instruct(home, path, after, before=None):
    memory = home.memory("one", "Text.")
    with open(memory, "rb") as file:
        read = [changeset.read_from(memory, file.read()), changeset.read_from(path, before)]
    return changeset.propose("rule", read, [FileOutput(path, after)])


@pytest.mark.parametrize(
    "path", ["settings.json", "memory/two.md", "rules/../../x.md", "rules/a/b.md", "projects/CLAUDE.md", "agents/x.md"]
)
def test_instructions_are_written_nowhere_else(home, path):
    found = instruct(home, f"{home.config}/{path}", b"Text.\n")
    assert [each.reason for each in home.make(found).refused] == ["forbidden"]
    saved = proposed.save(home.store.root, ChangeSet("", "test", (found,)), 1_795_000_000.0)
    with pytest.raises(MemtuiError):
        proposed.read(saved, MemoryFiles(home.store))


def test_instructions_keep_what_is_in_them(home):
    home.claude_md.write_bytes(b"# Mine\n")
    found = instruct(home, str(home.claude_md), b"# Yours\n", b"# Mine\n")
    assert [each.reason for each in home.make(found).refused] == ["forbidden"]
    assert home.claude_md.read_bytes() == b"# Mine\n"


def test_no_other_change_may_write_instructions(home):
    home.claude_md.write_bytes(b"# Mine\n")
    read, made = changeset.read_from(str(home.claude_md), b"# Mine\n"), FileOutput(str(home.claude_md), b"# Mine\nx\n")
    found = changeset.propose("rewrite", [read], [made])
    assert [each.reason for each in home.make(found).refused] == ["forbidden"]


def test_a_plan_with_instructions_is_written_and_read(home):
    violated(home, 4)
    found = ChangeSet("2026-11-22T12:00:00Z", "test", tuple(home.planned()))
    saved = proposed.save(home.store.root, found, 1_795_000_000.0)
    assert proposed.read(saved, MemoryFiles(home.store)) == found


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
