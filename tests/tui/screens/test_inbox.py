"""The inbox: what is decided there is found in the files, and undone from there."""

import json
import os
import re
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.screen import ModalScreen
from textual.widgets import Input, TextArea

from memtui.base import paths_hot
from memtui.base.errors import MemtuiError
from memtui.inbox import file_hot
from memtui.review.evidence import Evidence
from memtui.review.waiting_entries import load_hidden, waiting_in
from memtui.store.store import Store
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.model.data import Data
from memtui.tui.screens.inbox import screen as inbox_screen
from memtui.tui.screens.inbox.row import InboxView
from tui.conftest import NOW, burst, press, running, settle
from tui.hands import agree, exists, foot, lines, notes, read, to_kind, to_row, write

WIDE, SMALL = (120, 40), (80, 24)


@pytest.fixture
def app(world):
    return MemtuiApp(dict(world.env), world.shop, screen="inbox", now=NOW)


def updates(world, slug=...):
    where = paths_hot.project_key(world.shop) if slug is ... else slug
    found = waiting_in(world.root, [where], ("updates",))
    return {each.entry.fields.get("name", each.text): each for each in found}


def items(world):
    return [each.text for each in waiting_in(world.root, [paths_hot.project_key(world.shop)], ("items",))]


def memory(world, name):
    path = f"{world.shop}/.claude/memory/{name}.md"
    return Path(path).read_text() if os.path.exists(path) else None


async def to(pilot, name):
    """Put the cursor on a draft, or on an item by its first words."""
    await to_row(
        pilot, lambda row: row.item and name in {row.item.entry.fields.get("name"), row.item.text[: len(name)]}
    )


def leave(world, text, **fields):
    """A draft as the extractor leaves it."""
    return file_hot.add_entry(
        paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop)),
        "updates",
        {"project": world.shop, **fields},
        text,
    )


async def test_a_draft_of_a_taken_name_is_not_accepted_alone_or_with_all(world, app):
    before = memory(world, "prefer-pnpm")
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "prefer-pnpm")
        await press(pilot, "a")
        await pilot.press("g", "A", "a")
        await pilot.pause()
        assert "prefer-pnpm" not in app.screen.plain
        await pilot.press("G", "enter")  # it is longer than the screen
        await settle(pilot)
    assert memory(world, "prefer-pnpm") == before
    assert set(updates(world)) == {"prefer-pnpm", "short-changelog"}  # what is folded is not in the list
    assert exists(world.config + "/memory/metric-units.md")


async def test_what_is_similar_among_memories_read_anew_meanwhile_is_not_shown(app):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "no-snapshot-tests")
        screen, old, go = app.screen, Evidence(title="old"), threading.Event()
        screen._find(screen.table.row_id, lambda: go.wait(20) and old, screen.view.memories)
        screen._show_memories(screen.view.memories[1:])
        go.set()
        await settle(pilot)
        assert old not in screen.view.evidence.values()


async def test_a_draft_is_rewritten_in_a_form_that_always_keeps_what_was_typed(world, app, monkeypatch):
    def fail(*_, **__):
        raise MemtuiError("The disk is full.", "Make room.")

    def body():
        return app.screen.query_one("#body", TextArea)

    async with app.run_test(size=(120, 30)) as pilot:
        await to(pilot, "no-snapshot-tests")
        await press(pilot, "e")
        form = app.screen
        assert isinstance(form, DraftForm)
        form.query_one("#name", Input).value = "prefer-pnpm"
        body().text = "typed at length"
        await settle(pilot)
        for _ in range(2):  # as it is typed, and as it is refused: said once each
            assert "\n".join(lines(app)).count("project shop has a prefer-pnpm already. Give another name.") == 1
            await press(pilot, "ctrl+s")
        assert app.screen is form
        await press(pilot, "escape")
        assert app.last_note == "Your text is kept: e goes on with it."
        assert any("D No snapshot tests" in line for line in lines(app))
        assert "you have unsaved text for this" in app.screen.detail.plain
        await press(pilot, "a")
        assert body().text == "typed at length"
        await press(pilot, "ctrl+g")
        await press(pilot, "e")
        assert body().text == "Assert on what the user sees instead."
        app.screen.query_one("#name", Input).value = "assert-what-is-seen"
        body().text = "Assert on what is seen.\nAlways."
        with monkeypatch.context() as patch:
            patch.setattr(Store, "add", fail)
            await press(pilot, "ctrl+s")
        assert "The disk is full. Make room." in str(app.screen.query_one(".told").render())
        await press(pilot, "ctrl+s")
    assert "Assert on what is seen.\nAlways." in memory(world, "assert-what-is-seen")
    assert "description: No snapshot tests for components" in memory(world, "assert-what-is-seen")
    assert "no-snapshot-tests" not in updates(world)
    assert os.listdir(world.root + "/drafts") == []


async def test_a_text_that_is_emptied_in_the_form_does_not_come_back(world, app):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "no-snapshot-tests")
        await press(pilot, "e")
        app.screen.query_one("#body", TextArea).text = ""
        app.screen.query_one("#description", Input).value = "Assert on words"
        await press(pilot, "ctrl+s")
    assert memory(world, "no-snapshot-tests").endswith("---\n\nAssert on words\n")


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
    rejected = Path(paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop)) + "/rejected.jsonl")
    found["rejected"] = rejected.read_text() if rejected.exists() else ""
    return found


@pytest.mark.parametrize(
    ("row", "key", "drafts"), [("ask-before-migrations", "x", 2), ("Fix the flaky", "a", 6), ("Fix the flaky", "x", 6)]
)
async def test_all_of_a_kind_are_marked_and_decided_as_one_step(world, app, row, key, drafts):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, row)
        before = everything(world)
        await press(pilot, "A", key)
        assert isinstance(app.screen, Preview) == (key == "a")  # those that are not on the screen are shown once
        await agree(pilot)
        # Those that stay: a name is taken, and one is folded.
        assert set(updates(world)) >= {"prefer-pnpm", "short-changelog"}
        assert (len(updates(world)) == 2, len(items(world))) == (drafts == 2, 4 if drafts == 2 else 0)
        await back_and_forth(pilot, lambda: everything(world), before)
        await pilot.press("A", "A")
        assert app.screen.table.marks == set()


@pytest.mark.parametrize("second", ["x", "a"])
async def test_of_two_fast_keys_the_second_is_for_the_next_draft_none_for_good(world, app, second):
    rejected = paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop)) + "/rejected.jsonl"
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "ask-before-migrations")
        below = app.screen.table.rows[app.screen.table.cursor + 1].item.entry.fields["name"]
        before = set(updates(world))
        await burst(pilot, "x", second)
        assert not [note.message for note in app._notifications if note.severity == "error"]
        assert set(updates(world)) == before - {"ask-before-migrations", below}
        assert not any(json.loads(line)["never"] for line in read(rejected).splitlines())


@pytest.mark.parametrize("keys", ["xa", "aa", "xx"])
async def test_the_second_of_two_fast_keys_is_about_the_next_todo(world, app, keys):
    async with running(app, WIDE) as pilot:
        rows = app.screen.table.rows
        at = next(at for at, row in enumerate(rows) if row.kind.word == "todo")
        app.screen.table.move_to(at)
        await settle(pilot)
        await burst(pilot, *keys)
        items = read(paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop)) + "/pending-items.md")
        assert not [note.message for note in app._notifications if note.severity == "error"]
        assert [row.item.entry.raw in items for row in rows[at : at + 3]] == [False, False, True]


async def test_mark_all_is_of_the_cursors_kind_without_what_cannot_be_accepted(app):
    async with running(app, WIDE) as pilot:
        table = app.screen.table
        await to_kind(pilot, "draft")
        await pilot.press("space")
        await to_kind(pilot, "fix")
        await press(pilot, "A")
        marked = [row.kind.word for row in table.rows if row.key in table.marks]
        assert marked.count("fix") == [row.kind.word for row in table.rows].count("fix") > 1
        assert marked.count("draft") == 1
        await pilot.press("escape")
        await to(pilot, "prefer-pnpm")
        await press(pilot, "A")
        assert table.marks
        assert table.row_id not in table.marks


async def test_what_has_no_never_again_is_rejected_without_a_word_of_it(app):
    async with running(app, (160, 48)) as pilot:
        table = app.screen.table
        done = {"todo": "Dropped", "changed": "Restored as it was", "problem": "Hidden", "trust": "Not trusted"}
        for kind, word in done.items():
            await to_kind(pilot, kind)
            below = table.rows[table.cursor + 1]
            await press(pilot, "x")
            assert re.fullmatch(f"{word}: “.+”. z undoes.", app.last_note)
            assert table.row_id == below.key
            assert "rejected" not in [row.kind.word for row in app.screen.table.rows]


async def test_the_inbox_says_that_it_is_reading(app, monkeypatch):
    may_read, read = threading.Event(), inbox_screen.inbox_row.read
    monkeypatch.setattr(inbox_screen.inbox_row, "read", lambda *of, **how: may_read.wait(5) and read(*of, **how))
    async with app.run_test(size=WIDE) as pilot:
        await pilot.pause(0.1)
        inbox = app.screen
        inbox.summarize()
        assert inbox.summary().plain == "Reading …"
        assert inbox.table.rows or inbox.table.empty == "Reading …"  # fixes may be there first
        may_read.set()
        await settle(pilot)
        assert "to decide" in inbox.summary().plain


async def test_what_a_decision_leaves_aside_is_counted_and_stays_marked(world, app):
    before = items(world)
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "metric-units")
        await pilot.press("space")
        await to(pilot, "Fix the flaky")
        await press(pilot, "space", "space")
        assert foot(app).startswith(" 1 draft marked:  a approve  ")
        assert "x reject  w later" in foot(app)
        await press(pilot, "x")
        assert app.last_note == "Rejected: “Metric units, 24-hour clock”. z undoes."
        assert "metric-units" not in updates(world, None)
        assert items(world) == before
        assert app.screen.summary_line.render().plain.endswith(" · 2 marked")
        await pilot.press("a")
        await agree(pilot)
        assert len(items(world)) == len(before) - 2


async def test_marked_ones_that_a_filter_hides_are_not_decided_on(world, app):
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "metric-units")
        await press(pilot, "space", "slash", *"snap", "enter", "x")
        assert "The filter hides the marked ones" in app.last_note
    assert "metric-units" in updates(world, None)
    assert "no-snapshot-tests" in updates(world)


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
        hidden = [w for w in waiting_in(world.root, [paths_hot.project_key(world.shop)], ("items",)) if "API" in w.text]
        assert hidden[0].entry.fields["state"] == "kept"  # the next session does not replace it
        assert hidden[0].until(NOW) is not None
        await to(pilot, "Ask Jo")
        await press(pilot, "e")
        app.screen.query_one(TextArea).text = "Ask Mara about the invoice layout"
        await press(pilot, "ctrl+s")
        assert "Ask Mara about the invoice layout" in items(world)


async def test_no_line_and_no_letter_of_an_item_is_lost_in_its_form(world, app):
    long = "Move the uploads\n\n- first [the] old ones\n- \x1b[31mthen the rest\n\n" + "all of them, " * 500
    directory = paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop))
    file_hot.add_entry(directory, "items", {}, long)
    file_hot.add_entry(directory, "items", {}, "Endless " + "x" * 30_000)
    path = directory + "/pending-items.md"
    before = read(path)
    async with app.run_test(size=SMALL) as pilot:
        await to(pilot, "Move the uploads")
        for keys in (["ctrl+s"], ["enter", "ctrl+s"], ["escape"]):
            await press(pilot, "e")
            assert "\x1b" not in "".join(lines(app))
            await press(pilot, *keys)
            assert not isinstance(app.screen, DraftForm)
            assert app.last_note == "Nothing changed." or keys != ["ctrl+s"]
            assert read(path) == before
        await press(pilot, "e")
        await press(pilot, "x", "ctrl+s")
        changed = next(each for each in items(world) if each.startswith("xMove"))
        assert changed.split("\n")[1:3] == long.split("\n")[1:3]
        assert changed.strip().endswith("all of them, " * 499 + "all of them,")
        await press(pilot, "z")
        assert read(path) == before
        await to(pilot, "Endless")
        await press(pilot, "e")
        assert app.screen.group == "inbox", "no form can hold it"
        assert path in app.last_note


async def test_what_looks_one_off_is_folded(world, app):
    leave(world, "Use blue here", name="blue-here", kind="preference", confidence="0.52", scope="project")
    leave(world, "Said twice", name="said-twice", kind="preference", confidence="0.52", seen="2", scope="project")
    async with running(app, SMALL) as pilot:
        keys = [line.item.entry.fields.get("name") if line.item else line.key for line in app.screen.table.rows]
        assert "blue-here" not in keys
        assert "said-twice" in keys
        app.screen.table.move_to(keys.index("one-offs"))
        await press(pilot, "space", "e", "a")
        assert set(notes(app)) == {"This row folds 2 drafts: enter shows or hides them."}
        await press(pilot, "enter")
        await press(pilot, "a")
        assert app.last_note.startswith("This row folds 2 drafts")
        assert "blue-here" in [line.item.entry.fields.get("name") for line in app.screen.table.rows if line.item]


async def test_a_draft_that_changed_meanwhile_is_not_written(world, app):
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "no-snapshot-tests")
        path = updates(world)["no-snapshot-tests"].path
        text = read(path).replace("Assert on what the user sees", "Assert on nothing")
        write(path, text)
        await press(pilot, "a")
    assert memory(world, "no-snapshot-tests") is None
    assert read(path) == text


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
        assert (keys(app), list(load_hidden(world.root))) == (before[:at] + before[at + 1 :], [before[at]])
    again = MemtuiApp(dict(world.env), world.shop, screen="inbox", now=NOW)
    async with running(again, WIDE) as pilot:
        assert keys(again) == before[:at] + before[at + 1 :]


async def test_the_foot_says_what_the_keys_act_on_while_rows_are_marked(app):
    async with running(app, SMALL, "space") as pilot:
        screen = app.screen
        first = screen.chosen.leader
        await press(pilot, "G")
        assert screen.table.row is not first
        assert f" 1 {first.kind.singular} marked:  a {first.kind.verbs['approve']}  " in foot(app)
        await press(pilot, "escape")
        assert "marked:" not in foot(app)
        await to_kind(pilot, "merge")
        await pilot.press("space")
        await to(pilot, "metric-units")
        await pilot.press("space")
        await to_kind(pilot, "todo")
        assert " 1 draft marked:" in foot(app)
        await press(pilot, "v")
        assert " 1 todo marked:" in foot(app)
        await press(pilot, "enter")
        assert screen.detail_covers_list
        assert "marked:" not in foot(app)
        await press(pilot, "escape")
        assert "marked:" in foot(app)


async def test_read_only_changes_nothing(world):
    app = MemtuiApp(dict(world.env), world.shop, screen="inbox", now=NOW, read_only=True)
    before = set(updates(world)), items(world)
    async with app.run_test(size=WIDE) as pilot:
        await to(pilot, "no-snapshot-tests")
        await press(pilot, "a", "x", "w", "e", "m", "c", "A", "z", "g")
        assert app.screen.group == "inbox"
    assert (set(updates(world)), items(world)) == before


@pytest.mark.every(step=1)
def test_a_draft_is_compared_with_the_memories_of_its_own_project(world):
    item = updates(world, paths_hot.project_key(world.blog))["alt-texts"]
    text = f"---\nname: pictures\ndescription: {item.text.splitlines()[0]}\ntype: feedback\n---\n\n{item.text}\n"
    for project in (world.shop, world.blog):
        Path(world.config, "projects", paths_hot.slug(project), "memory", "pictures.md").write_text(text)
    view = InboxView(SimpleNamespace(data=Data(dict(world.env), world.shop, now=NOW)))
    view.memories = view.read_memories()
    assert {paths_hot.slug(world.blog) in near.memory.path for near in view.similar(item)} == {True}


async def test_a_key_acts_on_the_row_it_was_pressed_on(world, app):
    async with running(app, WIDE) as pilot:
        await to(pilot, "no-snapshot-tests")
        editing = app.screen.commands["inbox.edit"].run()
        app.screen.table.move_to(next(at for at, row in enumerate(app.screen.table.rows) if row.kind.family != "draft"))
        app.start(app.screen, editing, "edit")
        await settle(pilot)
        assert isinstance(app.screen, DraftForm)
        assert app.screen.subject.item.entry.fields["name"] == "no-snapshot-tests"
