"""The memories: what is shown of them, where the cursor goes, what is remembered."""

import glob
import json
import os

from memtui.base import paths_hot
from memtui.tui.app import MemtuiApp
from tui.conftest import NOW, press, running, settle, until
from tui.hands import exists, names, read, stand_on, write


async def test_scopes_are_a_tree_with_counts_and_groups(app):
    async with running(app, (120, 40)) as pilot:
        tree = {place.label: place for place in app.screen.places.rows}
        assert tree["all here"].count == 13
        assert (tree["global"].count, tree["project shop"].count, tree["auto shop"].count) == (3, 4, 4)
        assert (tree["other projects"].count, tree["other projects"].fold) == (3, False)
        assert "blog" not in tree
        app.screen.places.go_to("others")
        app.screen.places.focus()
        await settle(pilot)
        assert ("enter", "unfold") in app.screen.key_words()
        await pilot.press("right", "j")
        assert app.screen.places.row.label == "blog"
        assert sorted(names(app)) == ["image-sizes", "newsletter", "writing-style"]
        await pilot.press("left", "left")
        assert app.screen.places.row.label == "other projects"
        assert app.screen.places.row.fold is False
        await pilot.press("right")
        assert app.screen.places.row.fold


async def test_the_order_goes_by_key_and_is_remembered(app, world):
    async with running(app, (120, 40)) as pilot:
        await pilot.press("s")
        assert names(app)[:2] == ["flaky-upload-test", "skip-code-review"]
        assert any(column.title == "age▴" for column in app.screen.table.columns)
        await pilot.press("slash", *"type:feedback", "enter")
    assert json.loads(read(world.root + "/run/tui.json"))["memories"] == {"sort": "age"}
    again = MemtuiApp(dict(world.env), world.shop, now=NOW)
    async with running(again, (120, 40)):
        assert again.screen.table.order == "age"
        assert again.screen.typed == again.screen.filter_line.value == ""  # the filter was for what was sought then


async def test_an_empty_scope_says_what_fills_it(app, world):
    for path in glob.glob(f"{world.config}/projects/{paths_hot.slug(world.shop)}/memory/*.md"):
        os.unlink(path)
    async with running(app, (120, 40)) as pilot:
        app.screen.places.go_to("auto")
        await settle(pilot)
        assert not app.screen.table.rows
        assert app.screen.table.empty.startswith("No memories in auto shop.\nClaude Code writes its own memories here")


async def test_a_query_has_terms(app):
    async with running(app, (120, 40), "slash", *"type:feedback scope:global") as pilot:
        assert names(app) == ["conventional-commits"]
        await pilot.press("enter")
        for text, found in (
            ("is:untrusted", ["skip-code-review"]),
            ("writing project:blog", ["writing-style"]),
            ("pnpm is:never", []),
        ):
            app.screen.show_query(text)
            assert names(app) == found, text
        app.screen.show_query("scope:global is:never")
        assert app.screen.counted().startswith("0 of 13 "), "instructions are no memories"
        app.screen.show_query("scope:instr")
        assert {scope.kind for scope, _ in app.screen.table.rows} == {"instructions"}
        await pilot.press("escape")
        assert len(names(app)) == 13


async def test_while_one_is_read_no_key_is_about_the_list_behind_it(app):
    async with running(app, (80, 24)) as pilot:
        table = app.screen.table
        await press(pilot, "enter")
        before = (table.row_id, app.screen.table.order, app.screen.typed, len(table.rows))
        for other in ("s", "A", "v", "space", "exclamation_mark", "p"):
            await pilot.press(other)
            assert [note.message for note in app._notifications] == [
                "The list is hidden while you read: escape goes back to it."
            ], other
            app.clear_notifications()
        assert table.marks == set()
        assert (table.row_id, app.screen.table.order, app.screen.typed, len(table.rows)) == before
        await pilot.press("escape", "s")
        assert app.screen.table.order != before[1]


async def test_the_cursor_goes_to_the_memory_that_an_undo_brings_back(app):
    async with running(app, (80, 24)) as pilot:
        await stand_on(pilot, "prefer-pnpm")
        gone = app.screen.table.row_id
        await press(pilot, "x")
        await press(pilot, "k", "k", "z")
        assert app.screen.table.row_id == gone


async def test_a_change_while_reading_is_of_the_memory_read_not_of_the_marked(app, world):
    async with running(app, (80, 24)) as pilot:
        await pilot.press("A")
        marked = len(app.screen.table.marks)
        assert marked > 2
        await stand_on(pilot, "prefer-pnpm")
        await press(pilot, "enter", "x")
        assert not exists(world.shop + "/.claude/memory/prefer-pnpm.md")
        await pilot.press("escape")
        assert len(app.screen.table.marks) == marked - 1


async def test_a_change_from_outside_shows_by_itself_and_keeps_the_cursor(app, world):
    async with running(app, (120, 40)) as pilot:
        await stand_on(pilot, "release-steps")
        new = "---\nname: a-first-one\ndescription: new\ntype: tool\n---\nx\n"
        write(world.shop + "/.claude/memory/a-first-one.md", new)
        await until(pilot, lambda: "a-first-one" in names(app))
        assert app.screen.table.row[1].memory.stem == "release-steps"


def titled(app, name):
    """Whether a rule with the name of a memory is on the screen."""
    return any(strip.text.startswith(f"── {name} ──") for strip in app.screen._compositor.render_strips())


async def test_one_reads_on_to_the_next_memory_and_follows_links(app):
    async with running(app, (80, 24)) as pilot:
        await stand_on(pilot, "release-steps")
        await pilot.press("enter", "K")
        await pilot.pause()
        assert titled(app, "prefer-pnpm")
        assert app.screen.query_one("#detail").has_focus
        await pilot.press("J")
        await pilot.pause()
        assert titled(app, "release-steps")
        await pilot.press("f")  # its one link
        await pilot.pause()
        assert titled(app, "prefer-pnpm")
        assert app.screen.query_one("#detail").has_focus
        await pilot.press("escape")
        await pilot.pause()
        assert titled(app, "release-steps")
        await pilot.press("escape")
        assert app.screen.table.has_focus
        await stand_on(pilot, "editor")
        await pilot.press("f")  # told, as it has none
        assert app.screen.group == "memories"
