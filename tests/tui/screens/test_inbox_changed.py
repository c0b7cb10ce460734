"""What others wrote, in the inbox: listed apart with its difference, kept, edited, taken back."""

import os
import time
from pathlib import Path

import pytest

from memtui.store.versions.writers import Occasions
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.screens.inbox.row import cells
from memtui.worker import gate_drafts
from memtui.workspace import Workspace
from tui.conftest import NOW, burst, press, running, settle
from tui.hands import notes, to_row

WIDE, SMALL = (160, 40), (80, 24)


@pytest.fixture
def place(world, all_seen):
    """The memories of the repository, which were looked at once, and of which none waits to be seen."""
    return Path(world.shop) / ".claude" / "memory"


@pytest.fixture
def app(world, place):
    return MemtuiApp(dict(world.env), world.shop, screen="inbox", now=NOW)


def write(world, path, text, at=100):
    """Write a file as somebody else, and take it in."""
    path.write_text(text)
    os.utime(path, (NOW - 5000 + at, NOW - 5000 + at))
    Workspace(dict(world.env), world.shop, by="cli", now=NOW).take_in()


def change(world, path, words="Somebody's words."):
    before = path.read_text()
    write(world, path, before + words + "\n")
    return before


def waiting(world):
    return {item.name for item in Workspace(dict(world.env), world.shop, by="cli", now=NOW).changed()}


async def to(pilot, name):
    """Put the cursor on a memory that somebody else wrote."""
    await to_row(pilot, lambda row: row.changed is not None and row.changed.name == name)


async def test_it_is_listed_with_its_difference_and_counted_apart(world, app, place):
    change(world, place / "prefer-pnpm.md")
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "prefer-pnpm")
        screen = app.screen
        assert int(screen.summary().plain.partition(" ")[0]) == app.data.facts.waiting["inbox"]
        small = screen.describe(screen.table.row).text.plain
        await pilot.resize_terminal(*WIDE)
        await settle(pilot)
        for text in (small, screen.detail.plain):
            assert "changed outside memtui" in text
            assert "+ Somebody's words." in text
    assert waiting(world) == {"prefer-pnpm"}, "reading it is not seeing it"


@pytest.mark.every(step=1)
async def test_a_keeps_it_and_x_takes_it_back(world, app, place):
    path, other = place / "prefer-pnpm.md", place / "made.md"
    before = change(world, path)
    write(world, other, "---\nname: made\n---\nNew.\n", 200)
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "made")
        await press(pilot, "a")
        assert waiting(world) == {"prefer-pnpm"}
        assert other.exists()
        await press(pilot, "z")
        assert waiting(world) == {"prefer-pnpm", "made"}
        await to(pilot, "made")
        await press(pilot, "a")
        await to(pilot, "prefer-pnpm")
        await press(pilot, "x")
        assert path.read_text() == before
        assert waiting(world) == set()
        await press(pilot, "z")
        assert "Undone: reject the change to project:prefer-pnpm" in app.last_note
        assert "Somebody's words." in path.read_text()
        assert waiting(world) == {"prefer-pnpm"}, "what the undo brought back is still theirs"
        row = app.screen.table.row
        assert (row.changed is not None and row.changed.name) == "prefer-pnpm"  # shown at once, with the cursor on it


async def test_marked_ones_are_taken_back_as_one_step(world, app, place):
    before = change(world, place / "prefer-pnpm.md")
    write(world, place / "made.md", "---\nname: made\n---\nNew.\n", 200)
    write(world, place / "more.md", "---\nname: more\n---\nNew.\n", 300)
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "made")
        await press(pilot, "A")
        assert len(app.screen.table.marks) == 3
        await press(pilot, "x")
        assert (place / "made.md").exists(), "what is not on the screen is shown first, as before keeping it"
        assert "what you saw last is restored:" in app.screen.plain
        assert "- Somebody's words." in app.screen.plain, "what will happen, not what has happened"
        await press(pilot, "enter")
        assert (place / "prefer-pnpm.md").read_text() == before
        assert not (place / "made.md").exists()
        assert app.screen.table.marks == set()
        await press(pilot, "z")
        assert (place / "made.md").exists()
        assert (place / "more.md").exists()
        assert app.last_note.startswith("Undone: reject the change to 3 memories")


async def test_an_unsaved_edit_has_its_mark_and_what_is_saved_counts_as_seen(world, app, place):
    change(world, place / "prefer-pnpm.md")
    async with running(app, WIDE) as pilot:
        await to(pilot, "prefer-pnpm")
        await press(pilot, "e", "end", *"mine", "escape")
        await to(pilot, "prefer-pnpm")
        assert "you have unsaved text for this" in app.screen.detail.plain
        assert cells(app.screen.table.row, app.screen.view)[1].plain.startswith("D ")
        await press(pilot, "a")
        assert isinstance(app.screen, DraftForm)
        assert waiting(world) == {"prefer-pnpm"}
        await press(pilot, "ctrl+s")
        assert app.current_mode == "inbox"
        assert not any(row.changed for row in app.screen.table.rows)
    Workspace(dict(world.env), world.shop, by="cli", now=NOW).take_in()
    assert waiting(world) == set()


async def test_one_that_changed_again_is_not_taken_back_and_is_gone_to(world, app, place):
    path = place / "prefer-pnpm.md"
    change(world, path)
    async with running(app, WIDE) as pilot:
        table = app.screen.table
        table.move_to(next(at for at, row in enumerate(table.rows) if row.kind.word == "draft"))
        await settle(pilot)
        await press(pilot, "a")
        assert app.last_note.startswith("Approved: ")
        await to(pilot, "prefer-pnpm")
        path.write_text("changed again")
        await press(pilot, "x")
        assert path.read_text() == "changed again"
        assert any("changed again meanwhile" in words for words in notes(app))
        await to(pilot, "prefer-pnpm")
        await press(pilot, "f")
        await settle(pilot)
        assert app.screen.table.row[1].memory.name == "prefer-pnpm"


async def test_a_draft_of_a_refused_edit_shows_its_change_and_replaces_the_text(world, app, place):
    path = place / "prefer-pnpm.md"
    given = {"file_path": str(path), "old_string": "Use pnpm for every", "new_string": "Use corepack pnpm for every"}
    assert gate_drafts.keep(dict(world.env), world.shop, "s1", str(path), "Edit", {"tool_input": given})
    async with running(app, WIDE) as pilot:
        table = app.screen.table
        drafts = [row for row in app.screen.all_rows if row.item and row.item.entry.fields.get("kind") == "rewrite"]
        table.move_to(table.rows.index(drafts[0]))
        await settle(pilot)
        assert "+ Use corepack pnpm for every" in app.screen.detail.plain
        await press(pilot, "a")
        while isinstance(app.screen, Preview):
            await press(pilot, "enter")
        assert "Use corepack pnpm for every" in path.read_text()
        assert "metadata:" in path.read_text()
    assert waiting(world) == set()


async def test_a_first_start_only_looks(tmp_path):
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    app = MemtuiApp({"HOME": str(tmp_path)}, str(tmp_path / "shop"), now=NOW)
    async with running(app, SMALL):
        app.files._take_in(frozenset())
        assert not (tmp_path / ".claude" / "memtui").exists()
        (tmp_path / ".claude" / "memtui").mkdir(parents=True)
        app.files._take_in(frozenset())
        assert (tmp_path / ".claude" / "memtui" / "versions.jsonl").exists()


TITLES = {"a": "Keep and trust 1 memory: this is what was changed", "x": "Reject 1 memory: this is what changes"}


@pytest.mark.parametrize("key", TITLES)
async def test_keys_wait_for_the_question_that_the_first_of_them_opens(world, app, place, monkeypatch, key):
    of = Occasions.of
    monkeypatch.setattr(Occasions, "of", lambda *about: time.sleep(0.2) or of(*about))
    change(world, place / "prefer-pnpm.md", "Words.\n\n" * 40)
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "prefer-pnpm")
        await burst(pilot, *key * 4)
        await settle(pilot)
        assert str(app.screen.heading) == TITLES[key]
        await press(pilot, "escape")
        assert app.on_top is not None
        assert waiting(world) == {"prefer-pnpm"}
