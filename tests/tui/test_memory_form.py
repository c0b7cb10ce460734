"""The form: new from a template, edit with the frontmatter kept, conflicts, drafts that outlive a crash."""

from textual.widgets import Input, Select

from memtui.tui.app import MemtuiApp
from memtui.tui.drafts import Drafts
from memtui.tui.screens.memory_conflict import Conflict
from memtui.tui.screens.memory_form import Form
from memtui.tui.widgets.body import Body

from .conftest import NOW, settle
from .test_memories import detail, exists, read, stand_on, write
from .test_memory_changes import choose, press, project


async def open_form(pilot, name):
    await settle(pilot)
    await stand_on(pilot, name)
    await press(pilot, "e")
    assert isinstance(pilot.app.screen, Form)
    return pilot.app.screen


def field(form, name):
    return next(line for line in form.query(Input) if line.name == name)


async def test_new_from_the_template_of_a_type(app, world):
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("n")
        await choose(pilot, "project")
        form = app.screen
        assert "**Why:** the reason behind it." in form.query_one(Body).text
        form.query_one("Select").value = "feedback"  # an untouched template follows the type
        await pilot.pause()
        assert "what the user said" in form.query_one(Body).text
        await pilot.press("ctrl+s")
        assert "can't be a memory's name" in str(form.query_one(".told").render())
        await press(pilot, *"no-mocks", "tab", *"Real database", "ctrl+s")
        made = read(project(world, "no-mocks.md"))
        assert made.startswith(
            "---\nname: no-mocks\ndescription: Real database\nmetadata:\n  type: feedback\n---\n\nThe rule"
        )
        assert "[no-mocks](no-mocks.md) — Real database" in read(project(world, "MEMORY.md"))
        assert app.screen.table.row[1].memory.stem == "no-mocks"
        assert "U" not in app.screen.table.row[1].letters  # what memtui makes is trusted
        assert Drafts(world.root).all() == []
        await press(pilot, "z")
        assert not exists(project(world, "no-mocks.md"))


async def test_an_edit_changes_its_field_and_nothing_else(app, world):
    before = read(project(world, "payment-provider.md"))
    async with app.run_test(size=(120, 40)) as pilot:
        form = await open_form(pilot, "payment-provider")
        assert field(form, "metadata.owner").value == "checkout team"
        field(form, "metadata.owner").value = "payments team"
        await press(pilot, "ctrl+s")
        assert read(project(world, "payment-provider.md")) == before.replace("checkout team", "payments team")
        form = await open_form(pilot, "payment-provider")
        form.query_one(Body).insert("Use it.\n")
        await press(pilot, "ctrl+s")
        after = before.replace("checkout team", "payments team").replace("\n\nSandbox", "\n\nUse it.\nSandbox")
        assert read(project(world, "payment-provider.md")) == after


async def test_saving_without_a_change_leaves_every_byte(app, world):
    text = "\ufeff---\r\nname: odd\r\ntype: tool # mine\r\n---\r\n\r\n\ttab\r\nend"
    write(project(world, "odd.md"), text)
    async with app.run_test(size=(120, 40)) as pilot:
        await open_form(pilot, "odd")
        await press(pilot, "ctrl+s")
        assert read(project(world, "odd.md")) == text


async def test_another_name_in_the_form_renames_in_the_same_step(app, world):
    async with app.run_test(size=(120, 40)) as pilot:
        form = await open_form(pilot, "prefer-pnpm")
        field(form, "name").value = "use-pnpm"
        field(form, "description").value = "pnpm only"
        await press(pilot, "ctrl+s")
        assert "description: pnpm only" in read(project(world, "use-pnpm.md"))
        assert "[[use-pnpm]]" in read(project(world, "release-steps.md"))
        await press(pilot, "z")
        assert "description: Use pnpm in this repository" in read(project(world, "prefer-pnpm.md"))
        assert not exists(project(world, "use-pnpm.md"))


async def test_broken_frontmatter_is_mended_as_a_whole_file(app, world):
    async with app.run_test(size=(120, 40)) as pilot:
        form = await open_form(pilot, "meeting-notes")
        body = form.query_one(Body)
        body.text = body.text.replace('"Notes: what we said about "soft launch"', "what we said")
        await press(pilot, "ctrl+s")
        row = next(row for _, row in app.screen.table.rows if row.memory.stem == "meeting-notes")
        assert row.memory.broken is None
        assert row.memory.description == "what we said"


async def test_a_save_over_a_file_that_changed_shows_both_and_asks(app, world):
    path = project(world, "prefer-pnpm.md")
    async with app.run_test(size=(120, 40)) as pilot:
        form = await open_form(pilot, "prefer-pnpm")
        form.query_one(Body).insert("My line.\n")
        theirs = read(path).replace("broke CI twice", "broke CI thrice")
        write(path, theirs)
        await pilot.pause(1.2)
        assert "changed by somebody else" in str(form.query_one(".told").render())
        await press(pilot, "ctrl+s")
        assert isinstance(app.screen, Conflict)
        await press(pilot, "enter")  # the first answer saves nothing
        assert read(path) == theirs
        assert app.screen is form
        await press(pilot, "ctrl+s", "j", "enter")
        assert "My line." in read(path)
        await press(pilot, "z")
        assert read(path) == theirs


async def test_theirs_can_be_kept(app, world):
    path = project(world, "prefer-pnpm.md")
    async with app.run_test(size=(120, 40)) as pilot:
        form = await open_form(pilot, "prefer-pnpm")
        field(form, "description").value = "mine"
        theirs = read(path) + "theirs\n"
        write(path, theirs)
        await press(pilot, "ctrl+s", "j", "j", "enter")
        assert read(path) == theirs
        assert Drafts(world.root).all() == []


async def test_a_draft_outlives_escape_and_a_crash(app, world):
    before = read(project(world, "prefer-pnpm.md"))
    async with app.run_test(size=(120, 40)) as pilot:
        form = await open_form(pilot, "prefer-pnpm")
        form.query_one(Body).insert("Half a thought")
        await pilot.pause(0.6)
        assert Drafts(world.root).of(project(world, "prefer-pnpm.md")) is not None  # as a crash would leave it
        await press(pilot, "escape")
        assert read(project(world, "prefer-pnpm.md")) == before
        assert "you have a draft of this" in detail(app)
    again = MemtuiApp(dict(world.env), world.shop, now=NOW)
    async with again.run_test(size=(120, 40)) as pilot:
        form = await open_form(pilot, "prefer-pnpm")
        assert form.query_one(Body).text.startswith("Half a thought")
        assert "is here again" in str(form.query_one(".told").render())
        await press(pilot, "ctrl+g")
        assert Drafts(world.root).all() == []
        form = await open_form(pilot, "prefer-pnpm")
        assert not form.query_one(Body).text.startswith("Half a thought")


async def test_a_new_memory_half_typed_is_offered_again(app, world):
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        await pilot.press("n")
        await choose(pilot, "tool")
        await press(pilot, *"jq-tricks", "escape")
        await pilot.press("n")
        await choose(pilot, "go on with “jq-tricks”")
        form = app.screen
        assert field(form, "name").value == "jq-tricks"
        assert next(each for each in form.query(Select) if each.name == "type").value == "tool"
        await press(pilot, "ctrl+s")
        assert "type: tool" in read(project(world, "jq-tricks.md"))
