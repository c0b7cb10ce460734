"""Undo: what it takes back is said, what is older is asked, and any change can be taken back from the list."""

import os

from memtui.store import scopes
from memtui.store.store import Store
from memtui.tui.widgets.detail import Detail
from tui.conftest import NOW, press, running, settle

MONTH_OLD = {"prefer-pnpm": r"\d\d:\d\d:\d\d  shell", "release-steps": r"[ ›]\d{1,2} [A-Z][a-z]{2} +shell"}


def there(path):
    return os.path.exists(path)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def notes(app):
    return [note.message for note in app._notifications]


def trash(world, name, by, seconds):
    """Move a memory of the project to the trash, as another program does."""
    store = Store(dict(world.env), world.shop, by=by, now=lambda: seconds)
    places = [store.scope(label) for label in ("project", "auto", "global")]
    found = next(each for place in places for each in scopes.memories(place) if each.stem == name)
    store.delete(found)
    return found.path


async def test_undo_of_an_older_change_says_first_what_it_would_take_back(app, world):
    async with running(app, (80, 24)) as pilot:
        path = trash(world, "prefer-pnpm", "cli", NOW + 60)
        await press(pilot, "z")
        assert not there(path)
        assert "prefer-pnpm" in app.screen.heading
        assert "from a shell" in app.screen.heading
        await press(pilot, "escape", "z")
        assert not there(path)
        await press(pilot, "j", "enter")
        assert there(path)
        assert "Undone" in notes(app)[0]


async def test_any_change_is_taken_back_from_the_list(app, world):
    first = trash(world, "prefer-pnpm", "tui", NOW - 3600)
    second = trash(world, "test-database", "cli", NOW - 60)
    async with running(app, (80, 24), "U") as pilot:
        dialog = app.screen
        rows = [each.summary for each in dialog.table.rows]
        assert "test-database" in rows[0]
        assert "prefer-pnpm" in rows[1]
        assert len(rows) == len(app.data.changes())
        await press(pilot, "j", "z")
        assert there(first)
        assert not there(second)
        assert dialog.table.rows[1].state == "undone"
        await press(pilot, "z")
        assert notes(app)[0] == "This change was undone: Z redoes it."
        await press(pilot, "Z")
        assert not there(first)
        await press(pilot, "escape")
        assert app.screen.group == "memories"


async def test_what_was_changed_since_is_left_alone_and_said(app, world):
    path = trash(world, "prefer-pnpm", "cli", NOW - 60)
    write(path, "another one\n")
    async with running(app, (80, 24)) as pilot:
        await pilot.press("U")
        await settle(pilot)  # an enter before the list is read has no row to act on
        await press(pilot, "z")
        assert "prefer-pnpm.md exists already." in notes(app)[0]
    assert read(path) == "another one\n"


async def test_the_change_under_the_cursor_shows_its_difference_by_marked_words(app, world):
    path = f"{world.shop}/.claude/memory/prefer-pnpm.md"
    async with running(app, (120, 40)) as pilot:
        store = app.data.store()
        found = next(each for each in scopes.memories(store.scope("project")) if each.stem == "prefer-pnpm")
        store.edit(found, {"description": "Use yarn in this repository, not npm"})
        await press(pilot, "U")
        detail = app.screen.query_one(Detail)
        assert path in detail.plain
        removed, added = (
            next(line for line in detail.plain.split("\n") if line.startswith(f"{sign} description: ")) for sign in "-+"
        )
        assert removed != added
        marked = {detail.plain[span.start : span.end] for span in detail.text.spans if span.style == "underline"}
        assert "yarn" in marked


async def test_changes_made_together_are_one_row_that_is_undone_whole(app, world):
    trash(world, "test-database", "cli", NOW - 3600)
    store = Store(dict(world.env), world.shop, by="tui", now=lambda: NOW - 60)
    wanted = [each for each in scopes.memories(store.scope("project")) if each.stem in MONTH_OLD]
    store.each(wanted, store.delete)
    first, second = (each.path for each in wanted)
    async with running(app, (160, 40), "U") as pilot:
        dialog = app.screen
        names = [f"project:{each.stem}" for each in reversed(wanted)]
        assert dialog.table.rows[0].summary == f"remove 2 memories: {', '.join(names)}"
        assert "test-database" in dialog.table.rows[1].summary
        assert [line[8:] for line in dialog.query_one(Detail).plain.split("\n")] == [f"remove {name}" for name in names]
        await press(pilot, "z")
        assert (there(first), there(second)) == (True, True)
        assert [each.state for each in dialog.table.rows[:2]] == ["undone", "done"]
