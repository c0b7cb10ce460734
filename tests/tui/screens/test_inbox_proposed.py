"""Changes in the inbox: what is proposed, what accepting, editing and rejecting do to the files, and undo."""

import os
import re
from dataclasses import replace

import pytest
from textual.widgets import TextArea

from memtui.base import ids_hot, paths_hot
from memtui.base.errors import ConflictError
from memtui.rules import counts
from memtui.rules.counts import SessionCount
from memtui.store import mutes_hot
from memtui.store.plan import FileDiff
from memtui.store.store import Store
from memtui.tidy import plan, waiting_proposals
from memtui.tidy.changeset import Refused, Savings, Weighed, propose
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.views.decisions import ProposedRow
from recalls import bring, deliver
from tui.conftest import NOW, press, running, settle, until
from tui.hands import agree, exists, lines, notes, read, to_kind, to_row, tree, write

WIDE = (160, 48)


def memory(name, description, kind, body):
    return f"---\nname: {name}\ndescription: {description}\ntype: {kind}\n---\n\n{body}\n"


PNPM = memory(
    "prefer-pnpm",
    "Use pnpm in this repository, never npm",
    "feedback",
    "Use pnpm for every install and script in this repository, never npm.\n\n"
    "**Why:** the lock file is pnpm's; `npm install` broke CI twice.",
)
PACKAGES = memory(
    "package-manager",
    "Use pnpm in this repository, never npm",
    "feedback",
    "Use pnpm for every install and script in this repository.\n\n"
    "**Why:** the lock file is pnpm's. Yarn was tried in March and given up.",
)
FREEZE = memory(
    "merge-freeze",
    "No merges on the release branch before the fair",
    "project\nexpires: 2026-03-05",
    "Nothing is merged before the fair, except fixes of the checkout.",
)
WORDS = "Commit messages say why, in the imperative"
STYLE = memory("commit-style", WORDS, "Feedback", f"{WORDS}, in at most 72 characters.")
INDEX = """# Memory Index

- [prefer-pnpm](prefer-pnpm.md) — Use pnpm in this repository, never npm
- [package-manager](package-manager.md) — Use pnpm, never npm
- [merge-freeze](merge-freeze.md) — No merges before the fair
- [old-wiki](old-wiki.md) — The wiki, until we moved
"""
FILES = {
    "prefer-pnpm.md": PNPM,
    "package-manager.md": PACKAGES,
    "merge-freeze.md": FREEZE,
    "commit-style.md": STYLE,
    "MEMORY.md": INDEX,
}


@pytest.fixture
def place(empty):
    """The directory with Claude Code's own memories of a project, which are to be consolidated."""
    env, cwd = empty
    directory = f"{env['CLAUDE_CONFIG_DIR']}/projects/{paths_hot.slug(cwd)}/memory"
    os.makedirs(directory)
    for name, text in FILES.items():
        write(f"{directory}/{name}", text)
        os.utime(f"{directory}/{name}", (NOW - 90_000, NOW - 90_000))
    return directory


@pytest.fixture
def app(empty, place):
    return started(empty)


def started(empty, **more):
    env, cwd = empty
    return MemtuiApp(dict(env), cwd, now=NOW, screen="inbox", **more)


def kinds(app):
    return [row.proposal.kind for row in app.screen.table.rows if isinstance(row, ProposedRow)]


def summary(app):
    return app.screen.summary().plain


async def to(pilot, kind):
    """Put the cursor on the first change of a kind."""
    await to_row(pilot, lambda row: isinstance(row, ProposedRow) and row.proposal.kind == kind)


async def test_what_can_be_done_is_listed_with_what_it_drops_accepted_and_undone(app, place):
    before = tree(place)
    async with running(app, WIDE) as pilot:
        assert (set(kinds(app)), summary(app)) == ({"merge", "archive", "rewrite", "relink"}, "4 to decide")
        assert app.data.facts.waiting["inbox"] == 4
        await to(pilot, "merge")
        text = app.screen.detail.plain
        assert "merge package-manager into prefer-pnpm" in text
        assert re.search(r"are similar: \d\d%\.", text)
        assert "Nothing is lost" in text
        assert "Yarn was tried in March and given up." in text
        await press(pilot, "a")
        await agree(pilot)
        assert "Yarn was tried" in read(f"{place}/prefer-pnpm.md")
        assert not exists(f"{place}/package-manager.md")
        assert "package-manager" not in read(f"{place}/MEMORY.md")
        assert "merge" not in kinds(app)
        assert any("Approved: merge package-manager into prefer-pnpm." in each for each in notes(app))
        await press(pilot, "z")
        assert (tree(place), app.screen.table.row.proposal.kind) == (before, "merge")
        await to(pilot, "rewrite")
        await press(pilot, "f")
        assert (app.screen.group, app.screen.table.row[1].memory.stem) == ("memories", "commit-style")


async def test_a_memory_brought_in_vain_is_muted_unmuted_and_left_with_one_key(app, place):
    root, path = app.data.root, f"{place}/merge-freeze.md"
    write(path, FREEZE.replace("expires: 2026-03-05\n", ""))
    os.utime(path, (NOW - 900_000, NOW - 900_000))
    os.makedirs(f"{root}/turns")
    bring(root, f"{root}/turns", path, NOW - 80_000, range(14))
    is_muted = lambda: mutes_hot.is_muted(root, place, "merge-freeze.md")
    async with running(app, WIDE) as pilot:
        row = await to_kind(pilot, "mute")
        assert row.says.startswith("merge-freeze came with 14 prompts in 6 sessions, and Claude neither opened it")
        assert "session 5e550aaa: “change the button 6”" in app.screen.detail.plain
        await press(pilot, "e")
        assert "It writes no single text." in notes(app)[-1]
        await press(pilot, "a")
        await agree(pilot)
        assert "Approved: mute merge-freeze." in notes(app)[-1]
        assert (is_muted(), "mute" in kinds(app)) == (True, False)
        await press(pilot, "z")
        assert (is_muted(), app.screen.table.row.kind.word) == (False, "mute")
        await press(pilot, "x")
        assert "mute" not in kinds(app)
        await press(pilot, "z")
        app.action_run("inbox.never")
        await settle(pilot)
        assert notes(app)[-1].startswith("Rejected, and nothing like it comes again: “merge-freeze came with")
        write(path, read(path) + "More.\n")
        os.utime(path, (NOW - 900_000, NOW - 900_000))
        app.screen.reload()
        await settle(pilot)
        assert "mute" not in kinds(app)


async def test_all_safe_fixes_are_shown_then_made(app, place):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "relink")
        await press(pilot, "A")
        assert app.screen.table.marks == {app.screen.table.row_id}  # of the fixes, the one that needs no decision
        app.screen.table.move_to(0)
        await press(pilot, "a")
        assert "1 safe fix: this will be written" in app.screen.heading
        assert "old-wiki" in app.screen.plain
        await agree(pilot)
        assert "old-wiki" not in read(f"{place}/MEMORY.md")
        assert "commit-style" in read(f"{place}/MEMORY.md")
        assert read(f"{place}/prefer-pnpm.md") == PNPM


async def test_what_is_rejected_is_not_proposed_again_until_that_is_undone(app, empty, place):
    before = tree(place)
    async with app.run_test(size=WIDE) as pilot:
        for kind in ("merge", "rewrite"):
            await to(pilot, kind)
            await press(pilot, "x")
        assert set(kinds(app)) == {"archive", "relink"}
        pilot.app.action_run("app.refresh")
        await settle(pilot)
        assert (set(kinds(app)), tree(place)) == ({"archive", "relink"}, before)
    again = started(empty)
    async with running(again, WIDE) as pilot:
        assert set(kinds(again)) == {"archive", "relink"}
        await press(pilot, "z", "z")  # asked first: it was made in another TUI
        await until(pilot, lambda: "rewrite" in kinds(again))


async def test_the_outcome_can_be_edited_beside_the_texts_that_it_is_made_of(app, place):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "merge")
        await press(pilot, "e")
        form = app.screen
        assert isinstance(form, DraftForm)
        panes = [pane.plain for pane in form.query(".read")]
        assert len(panes) == 2
        assert any("writes prefer-pnpm; package-manager is deleted" in each for each in lines(app))
        assert "prefer-pnpm  is kept" in panes[0]
        assert "Yarn was tried" in panes[1]
        body = form.query_one("#body", TextArea)
        assert body.region.x > form.query(".read").first().region.right  # a blank column parts them
        body.text = "Use pnpm, always.\n"
        await press(pilot, "ctrl+s")
        assert read(f"{place}/prefer-pnpm.md") == PNPM
        await agree(pilot)
        assert app.screen.group == "inbox"
        assert read(f"{place}/prefer-pnpm.md").endswith("---\n\nUse pnpm, always.\n")
        assert not exists(f"{place}/package-manager.md")
        await press(pilot, "z")
        assert read(f"{place}/prefer-pnpm.md") == PNPM


async def test_what_is_undone_is_proposed_again_and_a_changed_file_is_kept(app, place):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "rewrite")
        every = kinds(app)
        await press(pilot, "a")
        await agree(pilot)
        assert "rewrite" not in kinds(app)
        await press(pilot, "U", "enter")
        assert kinds(app) == every
        assert "4 to decide" in summary(app)
        await to(pilot, "rewrite")
        write(f"{place}/commit-style.md", STYLE + "\nNew.\n")
        await press(pilot, "a")
        assert read(f"{place}/commit-style.md") == STYLE + "\nNew.\n"
        assert "changed since this was planned" in notes(app)[-1]


@pytest.mark.every(step=1)
async def test_no_key_that_approves_is_offered_for_a_change_that_can_not_be_made(app):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "rewrite")
        row = app.screen.table.row
        refused = Refused(row.proposal, "changed", "/m/a.md", ConflictError("It changed since.", "Look again."))
        for refusal, is_offered in ((None, True), (refused, False)):
            weighed = Weighed(row.proposal, (), Savings(0, 0, 0, 0), None, refusal)
            app.screen.table.show([replace(row, weighed=weighed)])
            assert ("approve" in [action.verb for action in app.screen.footer_actions()]) is is_offered


@pytest.mark.every(step=1)
async def test_an_error_of_planning_is_said(app, place, monkeypatch):
    def fail(*_):
        raise PermissionError(13, "Permission denied", f"{place}/MEMORY.md")

    monkeypatch.setattr(plan, "plan", fail)
    async with running(app, WIDE) as pilot:
        assert "Permission denied" in summary(app)
        monkeypatch.undo()
        pilot.app.action_run("app.refresh")
        await settle(pilot)
        assert len(kinds(app)) == 4


def saved(empty, place, words=b""):
    """A proposal that waits, such as a dream leaves: it shortens a memory, or puts other words into it."""
    env, cwd = empty
    path, data = f"{place}/commit-style.md", STYLE.encode()
    shorter = data.replace(b", in at most 72 characters", words)
    found = propose("rewrite", [FileDiff(path, data, shorter)], reason="It is too long.", by="a model")
    return waiting_proposals.save(Store(env, cwd, by="tui").root, [found], NOW - 3600)


@pytest.mark.every(step=1)
async def test_what_a_dream_proposed_is_listed_and_accepted_or_rejected_exists(empty, place):
    root = os.path.dirname(os.path.dirname(saved(empty, place)))
    app = started(empty)
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "rewrite")
        assert "proposed by a model" in app.screen.detail.plain
        assert "It is too long." in app.screen.detail.plain
        number = kinds(app).count("rewrite")
        await press(pilot, "x")
        assert kinds(app).count("rewrite") == number - 1
        assert not waiting_proposals.waiting(root)
        await press(pilot, "z")
        assert (kinds(app).count("rewrite"), waiting_proposals.waiting(root)) == (number, 1)
        await to(pilot, "rewrite")
        if "proposed by a model" not in app.screen.detail.plain:
            await press(pilot, "down")
        await press(pilot, "a")
        await agree(pilot)
        assert "72 characters" not in read(f"{place}/commit-style.md")
        assert not waiting_proposals.waiting(root)


@pytest.mark.every(step=1)
async def test_many_fixes_of_one_cause_are_one_row_until_it_is_opened(app, place):
    for number in range(20):
        words = " ".join(ids_hot.digest(f"{number} {word}")[:7] for word in range(12))
        text = f"---\nname: rule-{number:02}\ntype: feedback\n---\n\n{words}.\n"
        write(f"{place}/rule-{number:02}.md", text)
    async with running(app, WIDE) as pilot:
        table = app.screen.table
        folds = [row for row in table.rows if row.folds and row.folds[0].kind.word == "fix"]
        assert [" such as “" in row.says for row in folds] == [True], [row.says for row in table.rows]
        rest = [row for row in table.rows if isinstance(row, ProposedRow) and row.kind.word == "fix"]
        assert len(rest) < 5
        table.move_to(table.rows.index(folds[0]))
        await press(pilot, "enter")
        assert len([row for row in table.rows if row.kind.word == "fix"]) == len(rest) + len(folds[0].folds)


async def test_what_only_a_person_can_mend_is_a_row_that_opens_the_memory(app, empty, place):
    write(f"{place}/notes.md", '---\nname: "notes" more\n---\n\nBroken, and only a person can tell what was meant.\n')
    async with running(app, WIDE) as pilot:
        table = app.screen.table
        at = next(at for at, row in enumerate(table.rows) if row.kind.word == "problem")
        table.move_to(at)
        await settle(pilot)
        assert "notes" in app.screen.detail.plain
        await press(pilot, "a")
        assert isinstance(app.screen, DraftForm)
        await press(pilot, "escape", "x")
        assert re.fullmatch("Hidden: “.*notes.*”. z undoes.", notes(app)[-1])
        assert not any(row.kind.word == "problem" for row in table.rows)
        pilot.app.action_run("app.refresh")
        await settle(pilot)
        assert not any(row.kind.word == "problem" for row in table.rows)
        await press(pilot, "z")
        assert any(row.kind.word == "problem" for row in table.rows)


async def test_a_memory_whose_own_check_fails_is_edited_or_archived_and_undone(app, empty, place):
    os.rmdir(f"{empty[1]}/.git")
    write(f"{place}/lock.md", memory("lock", "Installs", "project\nverify: glob bun.lock", "The lock file is bun's."))
    async with running(app, WIDE) as pilot:
        failing = lambda row: row.kind.word == "problem" and "lock" in row.says
        await to_row(pilot, failing)
        assert "its check `glob bun.lock` fails (since " in app.screen.detail.plain
        await press(pilot, "a", "enter")
        assert isinstance(app.screen, DraftForm)
        await press(pilot, "escape", "a", "down", "enter")
        await settle(pilot)
        assert not exists(f"{place}/lock.md")
        assert exists(f"{place}/.archive/lock.md")
        assert not any(map(failing, app.screen.table.rows))
        assert notes(app)[-1].startswith("Archived: “")
        await press(pilot, "z")
        await settle(pilot)
        assert exists(f"{place}/lock.md")
        assert any(map(failing, app.screen.table.rows))
        await press(pilot, "1")
        await to_row(pilot, lambda pair: pair[1].memory.stem == "lock")
        assert "! its check `glob bun.lock` fails (since " in app.screen.detail.plain


@pytest.mark.every(step=1)
async def test_a_step_about_a_rule_says_what_it_does_and_can_be_edited_whole(empty, monkeypatch):
    path = f"{empty[0]['CLAUDE_CONFIG_DIR']}/memory/prefer-pnpm.md"
    rule = '---\nrules:\n  - never: {command: "npm *"}\n    instead: {command: "pnpm *"}\npinned: true\n'
    os.makedirs(os.path.dirname(path))
    write(path, PNPM.replace("---\n", rule, 1))
    row = SessionCount("5e55", NOW - 60, 3, 2, NOW - 30)
    item = {"kind": "memory", "path": path, "reason": "pinned"}
    deliver(paths_hot.root(empty[0]), NOW - 90, item, event="SessionStart", session_id="5e55")
    rows = []
    monkeypatch.setattr(counts, "by_session", lambda *_: {"never npm *, instead pnpm *": rows})
    monkeypatch.setattr(counts, "breaks", lambda _: len(rows))
    app = started(empty)
    async with app.run_test(size=WIDE) as pilot:
        await settle(pilot)
        rows.append(row)
        app.screen.follow(frozenset({"rules"}))  # a turn was counted
        await to(pilot, "rewrite")
        assert app.screen.table.row.says.startswith("Enforce prefer-pnpm: lately broken in 1 of 1 session that")
        assert "+     enforce: refuse" in app.screen.detail.plain
        await press(pilot, "e")
        area = app.screen.query_one(TextArea)
        area.text = area.text.replace("enforce: refuse", "enforce: ask")
        await press(pilot, "ctrl+s")
        await agree(pilot)
        assert read(path) == PNPM.replace("---\n", rule.replace("pinned", "    enforce: ask\npinned"), 1)
        await press(pilot, "z")
        assert read(path) == PNPM.replace("---\n", rule, 1)
