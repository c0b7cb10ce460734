"""The form: new, edit with the frontmatter kept, conflicts, drafts that outlive a crash."""

import os

import pytest
from textual.widgets import Input

from memtui.store import memory, triggers
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.draft_form import Body, DraftForm
from memtui.tui.dialogs.memory_subject import MemorySubject, NewMemorySubject
from memtui.tui.dialogs.subject import Typed
from memtui.tui.model import autosave
from memtui.tui.model.data import Data
from memtui.views import memories
from tui.hands import choose, detail, exists, project, read, stand_on, write

from .conftest import NOW, press, running, settle, until


async def begin(pilot, kind):
    """Begin a new memory of a kind, or go on with one."""
    await pilot.press("n")
    await choose(pilot, kind)


async def open_form(pilot, name):
    await settle(pilot)
    await stand_on(pilot, name)
    await press(pilot, "e")
    assert isinstance(pilot.app.screen, DraftForm)
    return pilot.app.screen


def field(form, name):
    return next(line for line in form.query(Input) if line.name == name)


def told(form):
    return str(form.query_one(".told").render())


async def test_a_memory_on_the_person_is_global_and_an_empty_form_is_not_kept(app, world):
    async with running(app, (80, 24)) as pilot:
        for kind, scope in (("user", "global"), ("feedback", "project")):
            await begin(pilot, kind)
            assert str(app.screen.widgets["scope"].value) == scope
            app.screen.query_one("Select").value = "tool"
            await press(pilot, "escape")
            assert autosave.of_memories(world.root) == []


async def test_an_edit_changes_its_field_and_nothing_else(app, world):
    odd, provider = project(world, "odd.md"), project(world, "payment-provider.md")
    text = "\ufeff---\r\nname: odd\r\ntype: tool # mine\r\n---\r\n\r\n\ttab\r\nend"
    write(odd, text)
    before = read(provider)
    async with app.run_test(size=(120, 40)) as pilot:
        await open_form(pilot, "odd")
        await press(pilot, "ctrl+s")
        assert read(odd) == text
        form = await open_form(pilot, "payment-provider")
        assert field(form, "metadata.owner").value == "checkout team"
        field(form, "metadata.owner").value = "payments team"
        await press(pilot, "ctrl+s")
        after = before.replace("checkout team", "payments team")
        assert read(provider) == after
        form = await open_form(pilot, "payment-provider")
        form.query_one(Body).insert("Use it.\n")
        await press(pilot, "ctrl+s")
        assert read(provider) == after.replace("\n\nSandbox", "\n\nUse it.\nSandbox")
        form = await open_form(pilot, "meeting-notes")  # broken: mended as a whole file
        body = form.query_one(Body)
        body.text = body.text.replace('"Notes: what we said about "soft launch"', "what we said")
        await press(pilot, "ctrl+s")
        row = next(row for _, row in app.screen.table.rows if row.memory.stem == "meeting-notes")
        assert row.memory.broken is None
        assert row.memory.description == "what we said"


async def test_a_save_over_a_changed_file_shows_both_and_asks_at_each_change(app, world):
    path = project(world, "prefer-pnpm.md")
    async with app.run_test(size=(120, 40)) as pilot:
        form = await open_form(pilot, "prefer-pnpm")
        form.query_one(Body).insert("My line.\n")
        theirs = read(path).replace("broke CI twice", "broke CI thrice")
        write(path, theirs)
        await until(pilot, lambda: "changed by somebody else" in told(form))
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, Choice)
        await press(pilot, "enter")  # the first answer saves nothing
        assert read(path) == theirs
        assert app.screen is form
        await press(pilot, "ctrl+s")
        theirs += "Theirs again.\n"
        write(path, theirs)
        await press(pilot, "down", "enter")
        assert read(path) == theirs
        assert isinstance(app.screen, Choice)
        assert "Theirs again." in app.screen.about("").plain
        await press(pilot, "down", "enter")
        assert "My line." in read(path)
        await press(pilot, "z")
        assert read(path) == theirs


async def test_a_draft_outlives_escape_and_a_crash(app, world):
    before = read(project(world, "prefer-pnpm.md"))
    async with app.run_test(size=(120, 40)) as pilot:
        form = await open_form(pilot, "prefer-pnpm")
        form.query_one(Body).insert("Half a thought")
        name = autosave.name_of(project(world, "prefer-pnpm.md"))
        await until(pilot, lambda: autosave.kept(world.root, name) is not None)  # as a crash would leave it
        await press(pilot, "escape")
        assert read(project(world, "prefer-pnpm.md")) == before
        assert "you have unsaved text for this" in detail(app)
    again = MemtuiApp(dict(world.env), world.shop, now=NOW)
    async with again.run_test(size=(120, 40)) as pilot:
        form = await open_form(pilot, "prefer-pnpm")
        assert form.query_one(Body).text.startswith("Half a thought")
        assert "is here again" in str(form.query_one(".told").render())
        await press(pilot, "ctrl+g")
        assert autosave.of_memories(world.root) == []
        form = await open_form(pilot, "prefer-pnpm")
        assert not form.query_one(Body).text.startswith("Half a thought")


async def test_a_file_that_is_gone_is_asked_about_and_written_anew(app, world):
    path = project(world, "prefer-pnpm.md")
    before = read(path)
    async with app.run_test(size=(80, 24)) as pilot:
        form = await open_form(pilot, "prefer-pnpm")
        form.query_one(Body).insert("NEW ")
        os.unlink(path)
        await until(pilot, lambda: "The file was deleted or renamed" in told(form))
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, Choice)
        assert "prefer-pnpm is gone" in app.screen.heading
        await press(pilot, "escape")  # nothing happens yet
        assert app.screen is form
        await press(pilot, "ctrl+s", "down", "enter")
        assert read(path) == before.replace("\n---\n\n", "\n---\n\nNEW ")
        assert autosave.of_memories(world.root) == []
        await press(pilot, "z")
        assert not exists(path)


async def test_a_memory_made_with_triggers_is_one_change_with_its_id(app, world):
    async with running(app, (120, 36)) as pilot:
        await begin(pilot, "feedback")
        form = app.screen
        field(form, "triggers").value = "x" * 301
        await press(pilot, *"no-npm", "tab", *"Never npm", "ctrl+s")
        assert "A trigger can have 300 characters at most" in told(form)
        field(form, "triggers").value = "install something"
        await press(pilot, "ctrl+s")
        assert triggers_of(world, "no-npm.md") == ["install something"]
        await press(pilot, "U")
        assert app.screen.rows[0][1].endswith("✓ create project:no-npm")
        await press(pilot, "escape", "z")
        assert app.last_note.startswith("Undone: create ")
        assert not exists(project(world, "no-npm.md"))
        assert triggers_of(world, "no-npm.md") == []


def test_a_save_changes_the_line_of_the_changed_field_alone(tmp_path):
    path = tmp_path / ".claude" / "memory" / "editor.md"
    path.parent.mkdir(parents=True)
    write(path, "---\nname: editor\ndescription: vi # mine\n---\nBody.\n")
    data = Data({"HOME": str(tmp_path)}, str(tmp_path))
    subject = MemorySubject(data, memory.read_memory(str(path), "global"), None)
    before, after = subject.compared(Typed({}, {"description": "emacs"}))
    assert after == before.replace(b"vi", b"emacs")
    anew = NewMemorySubject(data, subject.data.store().scope("global"), [], "user", None)
    values = {field.key: field.value for field in anew.fields} | {"name": "no tabs", "body": "Use spaces."}
    (change,) = anew.changes(Typed(values, values))
    assert (change.path, change.data[:18]) == (f"{change.directory}/no-tabs.md", b"---\nname: no-tabs\n")


def triggers_of(world, file):
    found = triggers.lines_of(world.root, f"{world.shop}/.claude/memory").get(file, [])
    return [each.text for each in found]


@pytest.mark.parametrize(
    ("text", "known", "found"),
    [
        ("", (), []),
        (" ; ;", (), []),
        ("a;b ; c; a", (), ["a", "b", "c"]),
        ("one; two; three", ("one; two", "three"), ["one; two", "three"]),
        ("one; two more", ("one; two",), ["one; two more"]),
    ],
)
def test_a_line_is_read_as_triggers(text, known, found):
    assert memories.triggers_from_text(text, known) == found
