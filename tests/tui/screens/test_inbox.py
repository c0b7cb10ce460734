"""The inbox: what is decided there is found in the files, and undone from there."""

import asyncio
import inspect
import json
import os
import re
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from textual.screen import ModalScreen
from textual.widgets import Input, TextArea

import memtui
from memtui.base import paths
from memtui.base.errors import MemtuiError
from memtui.hooks.install import installation as install
from memtui.inbox import file as inbox_file
from memtui.review.waiting_entries import later_path, load_hidden, waiting_in
from memtui.store.journal import undo
from memtui.store.store import Store
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.screens.inbox import entries
from memtui.tui.screens.inbox import screen as inbox_screen
from tui.conftest import NOW, burst, press, running, settle, until

WIDE, SMALL = (120, 40), (80, 24)


@pytest.fixture
def app(world):
    return MemtuiApp(dict(world.env), world.shop, screen="inbox", now=NOW)


def updates(world, slug=...):
    where = paths.project_key(world.shop) if slug is ... else slug
    found = waiting_in(world.root, [where], ("updates",))
    return {each.entry.fields.get("name", each.text): each for each in found}


def items(world):
    return [each.text for each in waiting_in(world.root, [paths.project_key(world.shop)], ("items",))]


def memory(world, name):
    path = f"{world.shop}/.claude/memory/{name}.md"
    return Path(path).read_text() if os.path.exists(path) else None


def read(path):
    return Path(path).read_text()


def put(path, text):
    Path(path).write_text(text)


def there(path):
    return os.path.exists(path)


def listed(path):
    return os.listdir(path) if os.path.isdir(path) else []


def foot(app):
    return app.screen.frame.foot.render().plain


async def to(pilot, name):
    """Put the cursor on a draft, or on an item by its first words."""
    await settle(pilot)
    table = pilot.app.screen.table
    for at, line in enumerate(table.rows):
        if line.item and (line.item.entry.fields.get("name") == name or line.item.text.startswith(name)):
            table.move_to(at)
            await settle(pilot)
            return
    raise AssertionError(name)


async def agree(pilot):
    """Read what will be written to its end, and go on."""
    for _ in range(20):
        await settle(pilot)
        if not isinstance(pilot.app.screen, Preview):
            return
        await pilot.press("enter")
    raise AssertionError("it has no end")


def leave(world, text, **fields):
    """A draft as the extractor leaves it."""
    return inbox_file.add_entry(
        paths.inbox_dir(world.root, paths.project_key(world.shop)), "updates", {"project": world.shop, **fields}, text
    )


@pytest.mark.slow
async def test_drafts_stand_surest_first_then_changes_then_todos_and_one_offs_last(app):
    async with running(app, WIDE):
        names = [
            line.item.entry.fields.get("name", line.item.text[:8]) if line.item else ""
            for line in app.screen.table.rows
        ]
        assert names[:4] == ["ask-before-migrations", "no-snapshot-tests", "metric-units", "prefer-pnpm"]
        families = [row.kind.family for row in app.screen.table.rows]
        assert families[4] == "changed"
        assert families.index("change") < families.index("trust") < families.index("todo")
        assert app.screen.table.rows[-1].key == "one-offs"


@pytest.mark.slow
async def test_the_setting_shows_what_the_agent_and_the_person_had_said(app):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "no-snapshot-tests")
        await pilot.pause(0.4)
        await settle(pilot)
        shown = app.screen.query_one("#detail").plain
        assert "evidence" in shown
        assert "› you   no, no snapshots please" in shown
        assert "Replaced by assertions" in shown  # what came after, too
        assert "add tests for the new components" in shown  # the session, by its first words


@pytest.mark.slow
async def test_approving_what_is_on_the_screen_writes_it_and_undo_takes_it_back(world, app):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "no-snapshot-tests")
        await press(pilot, "a")
        assert "Assert on what the user sees instead." in memory(world, "no-snapshot-tests")
        assert "no-snapshot-tests" not in updates(world)
        assert "no-snapshot-tests.md" in read(f"{world.shop}/.claude/memory/MEMORY.md")
        await press(pilot, "z")
        assert memory(world, "no-snapshot-tests") is None
        assert "no-snapshot-tests" in updates(world)
        await press(pilot, "Z")
        assert memory(world, "no-snapshot-tests") is not None


@pytest.mark.slow
async def test_an_approval_says_who_delivers_the_memory_in_one_plain_sentence(world, app):
    install.apply(install.plan(install.settings_path(world.env, world.shop, "user"), "install", env=world.env))
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "no-snapshot-tests")
        await press(pilot, "a")
        said = app.last_note
        assert said == "Approved: no-snapshot-tests. The next session gets it. z undoes."


@pytest.mark.slow
@pytest.mark.parametrize("key", ["a", "x"])
async def test_what_a_key_did_is_said_on_one_line_of_80_columns(world, app, key):
    install.apply(install.plan(install.settings_path(world.env, world.shop, "user"), "install", env=world.env))
    async with running(app, WIDE) as pilot:
        inbox = app.screen
        said = []
        for row_id in [inbox.table.key(row) for row in inbox.table.rows]:
            at = inbox.table.index_of(row_id)
            if at is None:
                continue
            inbox.table.move_to(at)
            await settle(pilot)
            await press(pilot, key)
            for answer in ("enter", "enter", "escape", "escape", "escape"):
                if app.screen is not inbox:
                    await press(pilot, answer)
            said += [note.message for note in app._notifications if note.severity == "information"]
        assert len(said) >= 8
        assert [message for message in said if len(message) > 77] == []


@pytest.mark.slow
async def test_the_memories_open_on_what_was_just_approved(app):
    async with app.run_test(size=WIDE) as pilot:
        app.go("memories")
        await settle(pilot)
        app.go("inbox")
        await to(pilot, "no-snapshot-tests")
        await press(pilot, "a")
        await press(pilot, "1")
        assert app.screen.table.row[1].memory.name == "no-snapshot-tests"
        await press(pilot, "j", "2", "1")
        assert app.screen.table.row[1].memory.name != "no-snapshot-tests"  # once is enough


@pytest.mark.slow
async def test_a_draft_of_a_taken_name_is_not_accepted_and_says_which_keys_merge_or_rename_it(world, app):
    before = memory(world, "prefer-pnpm")
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "prefer-pnpm")
        await press(pilot, "a")
        said = app.last_note
        assert "project shop has a memory called prefer-pnpm already." in said
        assert "m merges into it, e gives another name" in said
    assert memory(world, "prefer-pnpm") == before
    assert "prefer-pnpm" in updates(world)


@pytest.mark.slow
async def test_a_bulk_approval_is_shown_whole_and_is_one_undo_step(world, app):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "ask-before-migrations")
        await pilot.press("space", "space", "a")
        await pilot.pause()
        assert isinstance(app.screen, Preview)
        assert "ask-before-migrations" in app.screen.plain
        assert "no-snapshot-tests" in app.screen.plain
        await agree(pilot)
        assert memory(world, "no-snapshot-tests")
        assert memory(world, "ask-before-migrations")
        await press(pilot, "z")
        assert memory(world, "no-snapshot-tests") is None
        assert memory(world, "ask-before-migrations") is None
        assert {"no-snapshot-tests", "ask-before-migrations"} <= set(updates(world))


@pytest.mark.slow
async def test_approving_all_leaves_out_what_is_there_already(world, app):
    before = memory(world, "prefer-pnpm")
    async with running(app, WIDE) as pilot:
        await pilot.press("A", "a")
        await pilot.pause()
        assert "prefer-pnpm" not in app.screen.plain
        await pilot.press("G", "enter")  # it is longer than the screen
        await settle(pilot)
    assert memory(world, "prefer-pnpm") == before
    assert set(updates(world)) == {"prefer-pnpm", "short-changelog"}  # what is folded is not in the list
    assert there(world.config + "/memory/metric-units.md")


@pytest.mark.slow
async def test_a_draft_is_rewritten_in_a_form_before_it_is_approved(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "no-snapshot-tests")
        await press(pilot, "e")
        assert isinstance(app.screen, DraftForm)
        app.screen.query_one("#name", Input).value = "assert-what-is-seen"
        app.screen.query_one("#body", TextArea).text = "Assert on what is seen.\nAlways."
        await press(pilot, "ctrl+s")
    assert "Assert on what is seen.\nAlways." in memory(world, "assert-what-is-seen")
    assert "description: No snapshot tests for components" in memory(world, "assert-what-is-seen")
    assert "no-snapshot-tests" not in updates(world)
    assert listed(world.root + "/drafts") == []


@pytest.mark.slow
async def test_a_text_that_is_emptied_in_the_form_does_not_come_back(world, app):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "no-snapshot-tests")
        await press(pilot, "e")
        app.screen.query_one("#body", TextArea).text = ""
        app.screen.query_one("#description", Input).value = "Assert on words"
        await press(pilot, "ctrl+s")
    assert memory(world, "no-snapshot-tests").endswith("---\n\nAssert on words\n")


@pytest.mark.slow
async def test_the_form_refuses_a_name_that_is_taken_and_keeps_what_was_typed(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "no-snapshot-tests")
        await press(pilot, "e")
        app.screen.query_one("#name", Input).value = "prefer-pnpm"
        app.screen.query_one("#body", TextArea).text = "typed at length"
        await settle(pilot)
        for _ in range(2):  # as it is typed, and as it is refused: said once each
            assert "\n".join(drawn(app)).count("project shop has a prefer-pnpm already. Give another name.") == 1
            await press(pilot, "ctrl+s")
        assert isinstance(app.screen, DraftForm)
        await press(pilot, "escape")
        await press(pilot, "e")
        assert app.screen.query_one("#body", TextArea).text == "typed at length"
        await press(pilot, "ctrl+g")
        await press(pilot, "e")
        assert app.screen.query_one("#body", TextArea).text == "Assert on what the user sees instead."


@pytest.mark.slow
async def test_an_approval_that_fails_leaves_the_form_open_with_what_was_typed(world, app, monkeypatch):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "no-snapshot-tests")
        await press(pilot, "e")
        form = app.screen
        form.query_one("#body", TextArea).text = "typed at length"
        with monkeypatch.context() as patch:
            patch.setattr(Store, "add", fails)
            await press(pilot, "ctrl+s")
        assert app.screen is form
        assert "no-snapshot-tests: The disk is full. Make room." in str(form.query_one(".told").render())
        await press(pilot, "ctrl+s")
    assert "typed at length" in memory(world, "no-snapshot-tests")


def fails(*_, **__):
    raise MemtuiError("The disk is full.", "Make room.")


@pytest.mark.slow
async def test_what_is_alike_is_shown_and_merged_into_after_being_seen(world, app):
    before = memory(world, "prefer-pnpm")
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "prefer-pnpm")
        await pilot.pause(0.4)
        await settle(pilot)
        shown = app.screen.query_one("#detail").plain
        assert "project shop: prefer-pnpm" in shown
        assert "97%" in shown
        assert "never npm" in shown.replace("\n", " ")  # the memory itself
        await press(pilot, "m", "enter")
        assert isinstance(app.screen, Preview)
        assert "+ pnpm with a frozen lock file in CI" in app.screen.plain
        assert memory(world, "prefer-pnpm") == before
        await agree(pilot)
        assert memory(world, "prefer-pnpm").startswith(before.rstrip("\n"))
        assert "pnpm with a frozen lock file" in memory(world, "prefer-pnpm")
        assert "prefer-pnpm" not in updates(world)
        await press(pilot, "z")
    assert memory(world, "prefer-pnpm") == before
    assert "prefer-pnpm" in updates(world)


def drawn(app):
    return [strip.text for strip in app.screen._compositor.render_strips()]


async def rest(pilot):
    """The cursor rests until what is alike is known."""
    await pilot.pause(0.4)
    await settle(pilot)


async def back_and_forth(pilot, state, before):
    """Undo gives the files as they were, redo as they became, and undo once more."""
    after = state()
    assert after != before
    for key, wanted in (("z", before), ("Z", after), ("z", before)):
        await press(pilot, key)
        assert state() == wanted, key


def everything(world):
    """The files that the inbox writes: its own, the memories, their indexes, guidance."""
    found = {}
    for top in (world.root + "/projects", world.root + "/global", world.shop + "/.claude", world.config):
        for place in Path(top).rglob("*.md"):
            found[str(place)] = place.read_text()
    rejected = Path(paths.inbox_dir(world.root, paths.project_key(world.shop)) + "/rejected.jsonl")
    found["rejected"] = rejected.read_text() if rejected.exists() else ""
    return found


@pytest.mark.slow
async def test_the_memory_to_merge_into_is_found_by_typing_and_shown_before_it_is_written(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "prefer-pnpm")
        await rest(pilot)
        before = everything(world)
        await press(pilot, "m")
        assert "never npm" in app.screen.query_one("Detail").plain
        # It came with the repository: whoever chooses it is only refused.
        assert not any("skip-code-review" in words for _, words in app.screen.table.rows)
        assert "Not listed, as not trusted: skip-code-review." in "\n".join(drawn(app))
        await press(pilot, *"relea")
        assert [words.strip().partition("  ")[0] for _, words in app.screen.table.rows] == [
            "project shop: release-steps"
        ]
        assert "git tag" in app.screen.query_one("Detail").plain
        await press(pilot, "enter")
        assert isinstance(app.screen, Preview)
        assert "+ pnpm with a frozen lock file in CI" in app.screen.plain
        assert everything(world) == before
        await agree(pilot)
        assert "frozen lock file" in memory(world, "release-steps")
        await back_and_forth(pilot, lambda: everything(world), before)


@pytest.mark.slow
async def test_a_draft_longer_than_the_screen_is_shown_first_unless_it_was_read_to_its_end(world, app):
    leave(world, "Long\n" + "line\n" * 60 + "the end", name="long", confidence="0.99", scope="project")
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "long")
        await press(pilot, "a")
        assert isinstance(app.screen, Preview)
        assert "the end" in app.screen.plain
        await press(pilot, "escape", "enter", "G")
        await press(pilot, "a")
        assert app.screen.group == "inbox"
    assert memory(world, "long") is not None


@pytest.mark.slow
async def test_the_foot_names_what_can_be_done_with_the_row(app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "no-snapshot-tests")
        assert drawn(app)[-1].startswith(" enter read  a approve  e edit  x reject  w later")
        await to(pilot, "Fix the flaky")
        assert drawn(app)[-1].startswith(" enter read  a done  e edit  x reject  w later")
        await press(pilot, "slash")
        assert drawn(app)[-1].startswith(" enter to the list  escape clear")


@pytest.mark.slow
async def test_all_drafts_are_marked_and_rejected_as_one_step(world, app):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "ask-before-migrations")
        before = everything(world)
        await press(pilot, "A", "x")
        assert set(updates(world)) == {"prefer-pnpm", "short-changelog"}  # its name is taken; folded
        assert len(items(world)) == 4
        await back_and_forth(pilot, lambda: everything(world), before)
        await pilot.press("A", "A")
        assert app.screen.table.marks == set()


@pytest.mark.slow
@pytest.mark.parametrize("key", ["a", "x"])
async def test_all_todos_are_done_or_dropped_as_one_step(world, app, key):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "Fix the flaky")
        before = everything(world)
        await press(pilot, "A", key)
        assert isinstance(app.screen, Preview) == (key == "a")  # those that are not on the screen are shown once
        await agree(pilot)
        assert len(updates(world)) >= 3
        assert items(world) == []
        await back_and_forth(pilot, lambda: everything(world), before)


@pytest.mark.slow
async def test_editing_is_about_the_one_that_is_marked_and_refuses_several(world, app):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "ask-before-migrations")
        before = everything(world)
        await press(pilot, "space", "space", "e")
        said = app.last_note
        assert said == "2 are marked, but this works on one: escape unmarks."
        await pilot.press("escape")
        await to(pilot, "no-snapshot-tests")
        await pilot.press("space", "e")  # the cursor went on to the next
        await settle(pilot)
        assert isinstance(app.screen, DraftForm)
        assert app.screen.query_one("#name", Input).value == "no-snapshot-tests"
        app.screen.query_one("#name", Input).value = "seen-not-snapped"
        await press(pilot, "ctrl+s")
        assert memory(world, "seen-not-snapped")
        await back_and_forth(pilot, lambda: everything(world), before)


@pytest.mark.slow
async def test_fast_rejections_are_about_one_row_after_the_other_and_none_is_for_good(world, app):
    rejected = paths.inbox_dir(world.root, paths.project_key(world.shop)) + "/rejected.jsonl"
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "ask-before-migrations")
        before = set(updates(world))
        await burst(pilot, "x", "x")
        assert set(updates(world)) == before - {"ask-before-migrations", "no-snapshot-tests"}
        assert [json.loads(line)["never"] for line in read(rejected).splitlines()] == [False, False]


@pytest.mark.slow
@pytest.mark.parametrize("keys", ["xa", "aa", "xx"])
async def test_the_second_of_two_fast_keys_is_about_the_next_todo(world, app, keys):
    async with running(app, WIDE) as pilot:
        rows = app.screen.table.rows
        at = next(at for at, row in enumerate(rows) if row.kind.word == "todo")
        app.screen.table.move_to(at)
        await settle(pilot)
        await burst(pilot, *keys)
        items = read(paths.inbox_dir(world.root, paths.project_key(world.shop)) + "/pending-items.md")
        assert not [note.message for note in app._notifications if note.severity == "error"]
        assert [row.item.entry.raw in items for row in rows[at : at + 3]] == [False, False, True]


@pytest.mark.slow
async def test_a_key_behind_a_rejection_is_about_the_row_below_the_grey_one(world, app):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "ask-before-migrations")
        below = app.screen.table.rows[app.screen.table.cursor + 1]
        await burst(pilot, "x", "a")
        assert not [note.message for note in app._notifications if note.severity == "error"]
        assert not {"ask-before-migrations", below.item.entry.fields["name"]} & set(updates(world))
        assert "ghost" not in "".join(row.key for row in app.screen.table.rows)


@pytest.mark.slow
async def test_rejecting_and_on_the_grey_row_never_again(world, app):
    rejected = paths.inbox_dir(world.root, paths.project_key(world.shop)) + "/rejected.jsonl"
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "no-snapshot-tests")
        await press(pilot, "x")
        said = app.last_note
        assert said == "Rejected: “No snapshot tests for components”. z undoes."
        assert "no-snapshot-tests" not in updates(world)
        assert json.loads(read(rejected))["never"] is False
        before = set(updates(world))
        await press(pilot, "k", "x")
        said = app.last_note
        assert said == "Never again: “No snapshot tests for components”. z undoes."
        await press(pilot, "z")
        assert (
            app.last_note == "Undone: never draft “No snapshot tests for components” again; it is rejected as before."
        )
        await press(pilot, "Z")
        assert json.loads(read(rejected))["never"] is True
        assert json.loads(read(rejected))["text"] == "No snapshot tests for components"
        assert set(updates(world)) == before
        await press(pilot, "z")
        assert json.loads(read(rejected))["never"] is False
        await press(pilot, "z")
        assert "no-snapshot-tests" in updates(world)
        assert not there(rejected)


@pytest.mark.slow
async def test_all_like_the_row_under_the_cursor_are_marked_whatever_is_marked(app):
    async with running(app, WIDE) as pilot:
        await to_kind(pilot, "draft")
        await pilot.press("space")
        await to_kind(pilot, "fix")
        await press(pilot, "A")
        table = app.screen.table
        marked = [row.kind.word for row in table.rows if row.key in table.marks]
        assert marked.count("fix") == [row.kind.word for row in table.rows].count("fix") > 1
        assert marked.count("draft") == 1


@pytest.mark.slow
async def test_a_fold_can_not_be_marked_beside_a_marked_row(app):
    async with running(app, SMALL, "space", "G", "space"):
        assert app.last_note == "This row folds 1 draft: enter shows or hides it."
        assert len(app.screen.table.marks) == 1


@pytest.mark.slow
async def test_a_rejection_under_a_filter_has_its_grey_row_once_the_filter_is_cleared(app):
    async with running(app, WIDE, "slash", *"snapshot", "enter", "x", "escape"):
        assert [row.says for row in app.screen.table.rows if row.kind.word == "rejected"] == [
            "No snapshot tests for components"
        ]


@pytest.mark.slow
async def test_a_grey_row_can_not_be_marked(app):
    async with running(app, SMALL) as pilot:
        await to(pilot, "no-snapshot-tests")
        await press(pilot, "x", "k")
        rows = len(app.screen.table.rows)
        for key in ("space", "A"):
            await press(pilot, key)
            assert app.last_note == "This row was rejected: it can't be marked."
        assert (app.screen.table.marks, len(app.screen.table.rows)) == (set(), rows)
        assert "mark" not in drawn(app)[-1]


@pytest.mark.slow
async def test_keys_on_a_grey_row_are_not_for_the_next_row(world, app):
    async with running(app, SMALL) as pilot:
        await to(pilot, "no-snapshot-tests")
        await press(pilot, "x", "k")
        before = updates(world)
        for key in "aewm":
            await press(pilot, key)
            assert app.last_note == "You rejected this. x: never again. z: it waits again."
        assert app.screen.table.row.key.startswith("ghost ")
        assert updates(world).keys() == before.keys()


@pytest.mark.parametrize("kind", ["todo", "changed", "problem", "trust"])
async def test_what_has_no_never_again_is_rejected_without_a_word_of_it(app, kind):
    async with running(app, (160, 48)) as pilot:
        table = app.screen.table
        at = next(at for at, row in enumerate(table.rows) if row.kind.word == kind)
        table.move_to(at)
        await settle(pilot)
        below = table.rows[at + 1]
        await press(pilot, "x")
        said = app.last_note
        assert re.fullmatch("Rejected: “.+”. z undoes.", said)
        assert table.row_id == below.key
        assert "rejected" not in [row.kind.word for row in table.rows]


@pytest.mark.slow
async def test_a_fast_second_x_on_a_grey_row_alone_in_the_list_asks_first(empty):
    env, project = empty
    directory = paths.inbox_dir(env["MEMTUI_HOME"], paths.project_key(project))
    inbox_file.add_entry(directory, "updates", {"project": project, "confidence": "0.95"}, "Use pnpm, never npm")
    app = MemtuiApp(env, project, screen="inbox", now=NOW)
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "Use pnpm")
        await press(pilot, "x")
        assert [note.message for note in app._notifications] == ["Rejected: “Use pnpm, never npm”. z undoes."]
        await pilot.press("z")
        await to(pilot, "Use pnpm")
        await burst(pilot, "x", "x", "x")
        await settle(pilot)
        assert isinstance(app.screen, Preview)
        assert json.loads(read(f"{directory}/rejected.jsonl"))["never"] is False
        await press(pilot, "enter")
        assert json.loads(read(f"{directory}/rejected.jsonl"))["never"] is True


def has_grey_row(app):
    return "rejected" in [row.kind.word for row in app.screen.table.rows]


@pytest.mark.slow
async def test_the_grey_row_stays_until_something_is_marked_or_another_place_is_open(world, app):
    async with running(app, WIDE) as pilot:
        await to(pilot, "ask-before-migrations")
        await press(pilot, "x", "G", "question_mark", "escape", "g", "j")
        assert has_grey_row(app)
        await press(pilot, "space")
        assert not has_grey_row(app)
        await press(pilot, "escape", "g", "x", "1")
        await press(pilot, "2")
        assert not has_grey_row(app)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "seconds"),
    [(["x", "z"], 0), (["x", "", "z"], 0), (["x", "", "1", "z", "2"], 0), (["x", "", "1", "z", "2"], 0.5)],
)
async def test_undo_takes_the_grey_row_away(world, app, monkeypatch, keys, seconds):
    attempt = undo.attempt
    monkeypatch.setattr(undo, "attempt", lambda *args, **options: (time.sleep(seconds), attempt(*args, **options))[1])
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "ask-before-migrations")
        before = [row.key for row in app.screen.table.rows]
        for key in keys:
            await (pilot.press(key) if key else settle(pilot))
        await settle(pilot)
        assert [row.key for row in app.screen.table.rows] == before
        assert app.screen.table.row.item.entry.fields["name"] == "ask-before-migrations"


@pytest.mark.slow
async def test_a_rejection_in_a_filtered_list_names_no_grey_row(app):
    async with running(app, WIDE, "slash", *"snapshot", "enter", "x"):
        assert "again" not in app.last_note
        assert "Rejected" in app.last_note


@pytest.mark.slow
async def test_the_inbox_says_that_it_is_reading(app, monkeypatch):
    may_read, read = threading.Event(), entries.read
    monkeypatch.setattr(entries, "read", lambda *of, **how: may_read.wait(5) and read(*of, **how))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause(0.1)
        inbox = app.screen
        inbox.summarize()
        assert inbox.summary().plain == "Reading …"
        assert inbox.table.rows or inbox.table.empty == "Reading …"  # fixes may be there first
        may_read.set()
        await settle(pilot)
        assert "to decide" in inbox.summary().plain


@pytest.mark.slow
async def test_mark_all_leaves_out_what_cannot_be_accepted_and_one_offs(world, app):
    put(f"{world.shop}/.claude/memory/no-snapshot-tests.md", "Taken.\n")
    async with running(app, WIDE) as pilot:
        app.screen.table.move_to(len(app.screen.table.rows) - 1)
        await pilot.press("enter")
        await to(pilot, "no-snapshot-tests")
        assert (
            next(action for _, _, action in app.screen.frame.foot.pieces if action.startswith("inbox."))
            == "inbox.merge"
        )
        await to(pilot, "ask-before-migrations")
        await press(pilot, "A")
        marked = {row.item.entry.fields["name"] for row in app.screen.table.chosen()}
        assert "ask-before-migrations" in marked
        assert not {"no-snapshot-tests", "short-changelog"} & marked


@pytest.mark.slow
async def test_what_a_decision_leaves_aside_is_counted_and_stays_marked(world, app):
    def title():
        return app.screen.summary_line.render().plain

    left = items(world)
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "metric-units")
        await pilot.press("space")
        await to(pilot, "Fix the flaky")
        await press(pilot, "space", "space")
        assert title().endswith(" · 3 marked")
        assert foot(app).startswith(" 1 draft marked:  a approve  ")
        assert "x reject  w later" in foot(app)
        shown = app.screen.describe(app.screen.table.row).text.plain
        assert shown.startswith("3 rows are marked: the keys act on 1 draft first.")
        assert "mark it done" not in shown
        await press(pilot, "x")
        said = [note.message for note in app._notifications]
        assert said[-1] == "Rejected: “Metric units, 24-hour clock”. z undoes."
        assert "metric-units" not in updates(world, None)
        assert items(world) == left
        assert title().endswith(" · 2 marked")
        await pilot.press("a")
        await agree(pilot)
        assert len(items(world)) == len(left) - 2
        assert "marked" not in title()
        await to(pilot, "ask-before-migrations")
        await pilot.press("space")
        await to(pilot, "Ask Jo")
        await pilot.press("space")
        await to(pilot, "ask-before-migrations")
        await press(pilot, "a")
        await press(pilot, "escape", "escape")
        assert "marked" not in title()


@pytest.mark.slow
async def test_marked_ones_that_a_filter_hides_are_not_decided_on(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "metric-units")
        await press(pilot, "space", "slash", *"snap", "enter", "x")
        assert "The filter hides the marked ones" in app.last_note
    assert "metric-units" in updates(world, None)
    assert "no-snapshot-tests" in updates(world)


@pytest.mark.slow
async def test_an_empty_inbox_without_hooks_says_so_and_which_keys(empty):
    env, cwd = empty
    app = MemtuiApp(dict(env), cwd, screen="inbox", now=NOW)
    async with running(app, (40, 20)) as pilot:
        if isinstance(app.screen, ModalScreen):
            await pilot.press("escape")  # the offer to install them
            await settle(pilot)
        drawn = " ".join("".join(s.text for s in app.screen.table.render_line(y)).strip() for y in range(8))
        assert "No hooks are installed (" in drawn
        assert "Sessions save drafts" not in drawn


@pytest.mark.slow
async def test_todos_are_done_changed_hidden_and_made_notes(world, app):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "Fix the flaky")
        assert app.screen.detail.plain.rstrip().split("\n")[-1].startswith("~/.claude/memtui/")
        await press(pilot, "a")
        assert not any(text.startswith("Fix the flaky") for text in items(world))
        await press(pilot, "z")
        assert any(text.startswith("Fix the flaky") for text in items(world))
        await to(pilot, "Update the API")
        await press(pilot, "w", "enter")
        hidden = [w for w in waiting_in(world.root, [paths.project_key(world.shop)], ("items",)) if "API" in w.text]
        assert hidden[0].entry.fields["state"] == "kept"  # the next session does not replace it
        assert hidden[0].until(NOW) is not None
        await to(pilot, "Ask Jo")
        await press(pilot, "e")
        app.screen.query_one(TextArea).text = "Ask Mara about the invoice layout"
        await press(pilot, "ctrl+s")
        assert "Ask Mara about the invoice layout" in items(world)


@pytest.mark.slow
async def test_no_line_and_no_letter_of_an_item_is_lost_in_its_form(world, app):
    long = "Move the uploads\n\n- first [the] old ones\n- \x1b[31mthen the rest\n\n" + "all of them, " * 500
    inbox_file.add_entry(paths.inbox_dir(world.root, paths.project_key(world.shop)), "items", {}, long)
    path = paths.inbox_dir(world.root, paths.project_key(world.shop)) + "/pending-items.md"
    before = read(path)
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "Move the uploads")
        for keys in (["ctrl+s"], ["enter", "ctrl+s"], ["escape"]):
            await press(pilot, "e")
            assert "\x1b" not in "".join(strip.text for strip in app.screen._compositor.render_strips())
            await press(pilot, *keys)
            assert read(path) == before
        await press(pilot, "e")
        await press(pilot, "x", "ctrl+s")
        changed = next(each for each in items(world) if each.startswith("xMove"))
        assert changed.split("\n")[1:3] == long.split("\n")[1:3]
        assert changed.strip().endswith("all of them, " * 499 + "all of them,")
        await press(pilot, "z")
    assert read(path) == before


@pytest.mark.slow
async def test_an_item_that_no_form_can_hold_says_where_it_stands(world, app):
    directory = paths.inbox_dir(world.root, paths.project_key(world.shop))
    inbox_file.add_entry(directory, "items", {}, "Endless " + "x" * 30_000)
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "Endless")
        await press(pilot, "e")
        assert app.screen.group == "inbox"
        assert f"{directory}/pending-items.md" in app.last_note


@pytest.mark.slow
@pytest.mark.usefixtures("all_seen")
async def test_the_tab_and_the_list_say_one_number_before_and_after_the_plan(app):
    async with running(app, SMALL) as pilot:
        count = app.data.facts.waiting["inbox"]
        assert count == 9 + 1 + 5  # drafts and todos, a memory to trust, what to tidy
        assert drawn(app)[1].strip().startswith(f"{count} to decide")
        assert f"2 Inbox {count} " in drawn(app)[0]
        await press(pilot, "a")
        assert f"2 Inbox {count - 1} " in drawn(app)[0]
        assert drawn(app)[1].strip().startswith(f"{count - 1} to decide")


@pytest.mark.slow
async def test_a_draft_waits_until_a_day_of_the_picker_folded_and_not_counted(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "no-snapshot-tests")
        before = read(updates(world)["no-snapshot-tests"].path)
        await press(pilot, "w")
        assert "Hide “No snapshot tests for components” until" in "\n".join(drawn(app))
        assert "f1 keys" in drawn(app)[-1]
        await press(pilot, *"gestern", "enter")
        assert "No matches" in "\n".join(drawn(app))
        assert "enter" not in drawn(app)[-1]
        assert updates(world)["no-snapshot-tests"].until(NOW) is None
        await press(pilot, "escape", "enter")
        assert updates(world)["no-snapshot-tests"].until(NOW) is not None
        assert "15 to decide" in drawn(app)[1]
        assert app.screen.table.rows[-1].says.startswith("1 for later, until")
        names = [line.item.entry.fields.get("name") for line in app.screen.table.rows if line.item]
        assert "no-snapshot-tests" not in names
        assert "Later, until" in app.last_note
        app.screen.table.move_to(len(app.screen.table.rows) - 1)
        await settle(pilot)
        assert "No snapshot tests for components" in "\n".join(drawn(app)[14:])  # what is in the fold
        await press(pilot, "enter")
        assert app.screen.table.rows[-1].item.entry.fields["name"] == "no-snapshot-tests"  # below its fold
        await press(pilot, "z")
    assert read(updates(world)["no-snapshot-tests"].path) == before


@pytest.mark.slow
async def test_what_looks_one_off_is_folded(world, app):
    leave(world, "Use blue here", name="blue-here", kind="preference", confidence="0.52", scope="project")
    leave(world, "Said twice", name="said-twice", kind="preference", confidence="0.52", seen="2", scope="project")
    async with running(app, SMALL) as pilot:
        keys = [line.item.entry.fields.get("name") if line.item else line.key for line in app.screen.table.rows]
        assert "blue-here" not in keys
        assert "said-twice" in keys
        app.screen.table.move_to(keys.index("one-offs"))
        await press(pilot, "space", "e", "a")
        said = [note.message for note in app._notifications]
        assert set(said) == {"This row folds 2 drafts: enter shows or hides them."}
        await press(pilot, "enter")
        await press(pilot, "a")
        assert app.last_note.startswith("This row folds 2 drafts")
        assert "blue-here" in [line.item.entry.fields.get("name") for line in app.screen.table.rows if line.item]


@pytest.mark.slow
async def test_a_key_that_does_not_fit_says_what_can_be_done(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "no-snapshot-tests")
        await pilot.press("space")
        await to(pilot, "Fix the flaky")
        await press(pilot, "enter", "m")
        assert app.screen.detail_covers_list  # what is read is meant alone
        words = "m is for drafts; of a todo: a done, e edit, x reject, w later."
        assert [note.message for note in app._notifications] == [words]


@pytest.mark.slow
async def test_an_item_saved_unchanged_is_not_said_to_be_changed(world, app):
    before = everything(world)
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, items(world)[0])
        await press(pilot, "e")
        await press(pilot, "ctrl+s")
        assert not isinstance(app.screen, DraftForm)
        assert [n.message for n in app._notifications] == ["Nothing changed."]
    assert everything(world) == before


@pytest.mark.slow
async def test_read_only_changes_nothing(world):
    app = MemtuiApp(dict(world.env), world.shop, screen="inbox", now=NOW, read_only=True)
    before = set(updates(world)), items(world)
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "no-snapshot-tests")
        await press(pilot, "a", "x", "w", "e", "m", "c", "A", "z", "g")
        assert app.screen.group == "inbox"
    assert (set(updates(world)), items(world)) == before


@pytest.mark.slow
async def test_a_draft_that_arrives_leaves_the_cursor_where_it_is(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "prefer-pnpm")
        leave(
            world, "Brand new", name="brand-new", kind="correction", confidence="0.99", durable="0.90", scope="project"
        )
        for _ in range(40):
            await pilot.pause(0.1)
            if any(line.item and line.item.text == "Brand new" for line in app.screen.table.rows):
                break
        assert app.screen.table.row.item.entry.fields["name"] == "prefer-pnpm"
        assert app.screen.table.rows[0].item.text == "Brand new"


@pytest.mark.slow
async def test_a_draft_that_changed_meanwhile_is_not_written(world, app):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "no-snapshot-tests")
        path = updates(world)["no-snapshot-tests"].path
        text = read(path).replace("Assert on what the user sees", "Assert on nothing")
        put(path, text)
        await press(pilot, "a")
    assert memory(world, "no-snapshot-tests") is None
    assert read(path) == text


@pytest.mark.slow
async def test_undo_puts_the_cursor_on_what_came_back(world, app):
    async with app.run_test(size=SMALL) as pilot:
        for name, keys in (
            ("metric-units", ("x",)),
            ("metric-units", ("w", "enter")),
            ("no-snapshot-tests", ("enter", "G", "a", "escape")),
            ("Fix the flaky", ("enter", "a", "escape")),
        ):
            await to(pilot, name)
            key = app.screen.table.row_id
            for each in keys:
                await press(pilot, each)
            assert app.screen.table.row_id != key, name
            app.screen.table.move_to(0)
            await pilot.press("z")
            await rest(pilot)
            assert app.screen.table.row_id == key, name


@pytest.mark.slow
async def test_other_projects_are_counted_and_shown_on_request(world, app):
    async with running(app, WIDE) as pilot:
        assert not any(line.item and "alt text" in line.item.text for line in app.screen.table.rows)
        await press(pilot, "p")
        await to(pilot, "alt-texts")
        await press(pilot, "a")
    auto = f"{world.config}/projects/{paths.slug(world.blog)}/memory/alt-texts.md"
    assert there(auto)
    assert not there(world.blog + "/.claude/memory")  # nothing is written into a repository unasked
    assert not there(world.shop + "/.claude/memory/alt-texts.md")


@pytest.mark.slow
async def test_the_filter_narrows_and_escape_clears_it(world, app):
    async with running(app, SMALL, "slash", *"snap", "enter") as pilot:
        assert [line.item.entry.fields["name"] for line in app.screen.table.rows] == ["no-snapshot-tests"]
        await press(pilot, "escape")
        assert len(app.screen.table.rows) > 9  # and the one that stands for the folded


@pytest.mark.slow
@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("kind:frob", "There is no kind:frob. kind: takes changed, draft, fix, merge, problem, rule, todo, trust."),
        ("knd:fix", "There is no knd: here. Did you mean kind:? The query takes kind:, type:, scope:, is:, project:."),
        ("scope:agnt", "There is no scope:agnt. Did you mean scope:agent?"),
        ("is:pinned", "There is no is:pinned. is: takes problem, untrusted."),
        (
            "project:reviewer",
            "There is no project:reviewer. project: takes all, blog, shop.\nescape clears the filter.",
        ),
        ("project:blgo", "There is no project:blgo. Did you mean project:blog? project: takes all, blog, shop."),
    ],
)
async def test_a_term_that_means_nothing_is_named(app, typed, words):
    async with running(app, WIDE, "slash", *typed, "enter"):
        assert words in app.screen.table.empty


@pytest.mark.slow
@pytest.mark.every(step=4)
@pytest.mark.parametrize(
    ("typed", "kinds"),
    [
        ("kind:draft pnpm", {"draft"}),
        ("scope:auto", {"changed", "merge", "problem"}),
        ("project:shop kind:todo", {"todo"}),
        ("type:feedback", {"draft", "trust"}),
        ("type:user", {"draft"}),
        ("is:problem", {"fix", "problem"}),
        ("is:untrusted", {"trust"}),
    ],
)
async def test_the_filter_takes_kind_type_scope_state_and_project(app, typed, kinds):
    async with running(app, WIDE, "slash", *typed, "enter"):
        assert {row.kind.word for row in app.screen.table.rows} == kinds


def remember_the_same(world, item):
    """Write what an entry says as a memory of the client's own, in both projects."""
    head = f"---\nname: pictures\ndescription: {item.text.splitlines()[0]}\ntype: feedback\n---\n\n"
    for project in (world.shop, world.blog):
        Path(world.config, "projects", paths.slug(project), "memory", "pictures.md").write_text(f"{head}{item.text}\n")


async def test_a_draft_is_compared_with_the_memories_of_its_own_project(app, world):
    item = updates(world, paths.project_key(world.blog))["alt-texts"]
    remember_the_same(world, item)
    async with running(app, SMALL):
        similar = app.screen.view.similar(item)
        assert similar
        assert {paths.slug(world.blog) in near.memory.path for near in similar} == {True}


def project_of_top(app):
    return app.screen.frame.top.render().plain.removeprefix(" memtui").split()[0]


@pytest.mark.slow
async def test_a_query_that_names_another_project_shows_what_waits_there_while_it_stands(app):
    async with running(app, SMALL, "slash", *"project:blog", "enter") as pilot:
        await until(pilot, lambda: [row.place for row in app.screen.table.rows] == ["project blog"])
        await settle(pilot)
        assert app.screen.summary().plain == "1 of 17 to decide (1 in other projects)"
        assert project_of_top(app) == "all"
        assert " 2 Inbox 16 " in drawn(app)[0], "the tab counts what the key chose"
        await press(pilot, "escape")
        assert app.screen.summary().plain == "16 to decide · 1 in other projects (p)"
        assert project_of_top(app) == "shop"
        assert not [row.place for row in app.screen.table.rows if "blog" in row.place]


@pytest.mark.slow
@pytest.mark.every(step=2)
@pytest.mark.parametrize("typed", ["alt text", "kind:draft alt text"])
async def test_a_query_without_matches_says_which_key_shows_all_projects(app, typed):
    async with running(app, SMALL, "slash", *typed, "enter") as pilot:
        await settle(pilot)
        words = f"No matches for “{typed}”.\nescape clears the filter."
        assert app.screen.table.empty == f"{words}\np shows all projects."
        await pilot.press("p")
        await until(pilot, lambda: [row.place for row in app.screen.table.rows] == ["project blog"])


@pytest.mark.slow
async def test_a_draft_whose_name_is_taken_has_a_mark_in_its_row(app):
    async with running(app, WIDE):
        screen = app.screen
        signs = {row.item.entry.fields.get("name"): row.sign[0] for row in screen.all_rows if row.item}
        assert {name for name, sign in signs.items() if sign} == {"prefer-pnpm"}


async def test_a_draft_whose_name_is_taken_is_rejected_like_others(world, app):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "prefer-pnpm")
        await press(pilot, "x")
        assert "rejected" in [row.kind.word for row in app.screen.table.rows]
        assert "prefer-pnpm" not in updates(world)


@pytest.mark.slow
async def test_a_row_leads_with_the_sentence_and_has_its_scope_once(app):
    async with running(app, WIDE) as pilot:
        rows = {row.kind.word: row for row in app.screen.all_rows}
        assert rows["problem"].says.startswith("meeting-notes is broken: ")
        assert rows["problem"].place == "auto shop"
        assert all(row.place for row in app.screen.all_rows)
        assert not [row.says for row in app.screen.all_rows if "of project" in row.says or "agent:" in row.says]
        await to(pilot, "no-snapshot-tests")
        assert "draft · feedback for project shop" in app.screen.frame._titles[app.screen.detail].plain
        assert app.screen.detail.plain.startswith("No snapshot tests for components")
        assert "no-snapshot-tests   " not in app.screen.detail.plain


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "count"), [("kind:todo", 0), ("kind:draft", 1)])
async def test_of_other_projects_what_the_filter_wants_is_counted(app, typed, count):
    async with running(app, WIDE, "slash", *typed) as pilot:
        await settle(pilot)
        title = app.screen.summary_line.render().plain
        assert " of " in title
        assert ("1 in other projects" in title) == bool(count)


async def test_a_number_of_a_draft_that_is_none_is_drawn_as_not_known(world, app):
    leave(world, "Odd", name="odd", kind="preference", confidence="\x1bc", durable="nan", seen="\x1bc", scope="project")
    leave(world, "Odder", name="odder", kind="preference", confidence="nan", durable="7", scope="project")
    async with running(app, WIDE):
        names = [line.item.entry.fields.get("name") for line in app.screen.table.rows if line.item]
        assert names.index("prefer-pnpm") < names.index("odd")
        assert names.index("prefer-pnpm") < names.index("odder")
        drawn = "".join(strip.text for strip in app.screen._compositor.render_strips())
        assert "\x1b" not in drawn
        assert "nan" not in drawn


@pytest.mark.slow
async def test_a_draft_that_was_edited_and_kept_for_later_is_neither_hidden_nor_passed_over(app, world):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "no-snapshot-tests")
        await press(pilot, "e")
        app.screen.query_one(TextArea).text = "Mine.\n"
        await press(pilot, "escape")
        assert app.last_note == "Your text is kept: e goes on with it."
        assert any("D No snapshot tests" in line for line in drawn(app))
        assert "you have unsaved text for this" in app.screen.detail.plain
        await press(pilot, "a")
        assert app.screen.query_one(TextArea).text == "Mine.\n"
        await press(pilot, "ctrl+s")
        assert memory(world, "no-snapshot-tests").endswith("Mine.\n")


async def test_a_problem_that_is_hidden_hides_nothing_else_also_after_a_restart(app, world):
    def keys(app):
        return [row.key for row in app.screen.table.rows]

    async with running(app, WIDE) as pilot:
        table = app.screen.table
        before = keys(app)
        at = next(at for at, row in enumerate(table.rows) if row.kind.word == "problem")
        table.move_to(at)
        await settle(pilot)
        await press(pilot, "x")
        assert keys(app) == before[:at] + before[at + 1 :]
        assert list(load_hidden(world.root)) == [before[at]]
    again = MemtuiApp(dict(world.env), world.shop, screen="inbox", now=NOW)
    async with running(again, WIDE) as pilot:
        assert keys(again) == before[:at] + before[at + 1 :]


def put_empty_key(world):
    Path(later_path(world.root)).write_text('{"v":1,"until":{"":"never"}}\n', encoding="utf-8")


@pytest.mark.slow
async def test_an_empty_key_that_an_older_version_hid_hides_no_drafts(app, world):
    put_empty_key(world)
    async with running(app, WIDE):
        assert {"draft", "todo"} <= {row.kind.word for row in app.screen.table.rows}


async def to_kind(pilot, word):
    """Put the cursor on the first row of a kind."""
    await settle(pilot)
    table = pilot.app.screen.table
    table.move_to(next(at for at, row in enumerate(table.rows) if row.kind.word == word))
    await settle(pilot)


@pytest.mark.slow
async def test_the_detail_says_what_the_marked_rows_are_for_as_long_as_they_are_marked(app):
    lead = "2 rows are marked: the keys act on 1 draft first."

    async def mark_two_kinds(pilot):
        await to_kind(pilot, "merge")
        await pilot.press("space")
        await to(pilot, "metric-units")
        await pilot.press("space")
        await to_kind(pilot, "todo")
        assert app.screen.detail.plain.startswith(lead)

    async with app.run_test(size=SMALL) as pilot:
        await mark_two_kinds(pilot)
        await press(pilot, "escape")
        assert "are marked" not in app.screen.detail.plain
        await mark_two_kinds(pilot)
        await press(pilot, "v")
        assert app.screen.detail.plain.startswith("3 rows are marked: the keys act on 1 todo first.")
        await press(pilot, "A")
        assert re.match(r"\d rows are marked: the keys act on [2-9] todos first\.", app.screen.detail.plain)


@pytest.mark.slow
async def test_marking_all_says_why_the_row_under_the_cursor_is_not_marked(app):
    async with running(app, SMALL) as pilot:
        await to(pilot, "prefer-pnpm")
        await press(pilot, "A")
        assert re.fullmatch(r"\d marked; this one needs a look: its name is taken\.", app.last_note)
        await pilot.press("escape")
        await to(pilot, "no-snapshot-tests")
        app.last_note = ""
        await press(pilot, "A")
        assert app.screen.table.row_id in app.screen.table.marks
        assert not app.last_note


@pytest.mark.slow
async def test_the_detail_that_covers_the_list_is_about_the_row_that_its_keys_are_for(app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "ask-before-migrations")
        await pilot.press("space")
        await to_kind(pilot, "todo")
        await press(pilot, "space", "k", "enter")
        assert app.screen.detail_covers_list
        assert "are marked" not in app.screen.detail.plain
        assert "marked:" not in foot(app)
        await press(pilot, "escape")
        assert "2 rows are marked" in app.screen.detail.plain
        assert "marked:" in foot(app)


@pytest.mark.slow
async def test_away_from_the_row_that_is_marked_the_detail_says_what_the_keys_are_about(app):
    async with running(app, (120, 36), "space") as pilot:
        first = app.screen.chosen.leader
        await press(pilot, "G")
        assert app.screen.table.row is not first
        lead = f"1 {first.kind.singular} is marked: the keys act on it."
        assert app.screen.detail.plain.startswith(lead)
        assert f" 1 {first.kind.singular} marked:  a {first.kind.verbs['approve']}  " in foot(app)
        await press(pilot, "escape")
        assert not app.screen.detail.plain.startswith(lead)
        assert "marked:" not in foot(app)


@pytest.mark.slow
async def test_of_a_marked_draft_that_can_not_be_accepted_every_line_says_that_it_can_be_merged(world, app):
    async with app.run_test(size=WIDE) as pilot:
        await to_kind(pilot, "merge")
        await pilot.press("space")
        await to(pilot, "prefer-pnpm")
        await press(pilot, "space", "k")
        assert app.screen.detail.plain.startswith("2 rows are marked: the keys act on 1 draft first.")
        assert " 1 draft marked:  m merge  " in foot(app)
        await press(pilot, "a")
        message = app.last_note
        assert message.startswith("Not approved: project shop has a memory called prefer-pnpm already.")
        assert len(app.screen.table.marks) == 2


async def test_the_memory_that_has_the_name_of_a_draft_is_the_first_to_merge_into_as_soon_as_m_works(world, app):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "prefer-pnpm")
        app.screen.view.evidence.clear()
        await press(pilot, "m")
        assert app.screen.heading == "Merge the draft into"
        assert app.screen.rows[0][1].startswith("97%  project shop: prefer-pnpm")
        await press(pilot, "enter")
        assert app.screen.heading == "project shop: prefer-pnpm becomes"


@pytest.mark.slow
async def test_an_approval_reads_again_only_what_it_touched(app, every_frame, monkeypatch):
    """At most a quarter of the 13,851 calls that it once took, counted from the key until no worker runs. What is read
    while the keys rest is not counted, however long that takes on a busy machine."""
    monkeypatch.setattr(inbox_screen, "SETTLE_SECONDS", 600)
    monkeypatch.setattr(inbox_screen, "REST_SECONDS", 600)
    calls, sources = [], os.path.dirname(inspect.getfile(memtui))

    def note_call(frame, event, _value):
        if event == "call" and frame.f_code.co_filename.startswith(sources):
            calls.append(frame.f_code.co_qualname)

    async with running(app, (120, 36)) as pilot:
        await until(pilot, lambda: app.screen.planned and not app.screen.planning)
        await settle(pilot)
        before = len(app.screen.all_rows)
        app.files.looking = True  # no poll
        # The threads of workers are new ones.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor())
        threading.setprofile(note_call)
        sys.setprofile(note_call)
        try:
            await press(pilot, "a")
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        assert len(app.screen.all_rows) == before - 1
        assert "Workspace.waiting" in calls  # the worker's thread is counted
    assert len(calls) < 13_851 / 4
