"""The frame: screens by number, help and palette from one table, read-only."""

from memtui.core import settings
from memtui.tui import actions

from .conftest import settle


async def test_the_first_screen_lists_every_memory(app):
    async with app.run_test(size=(120, 40)) as pilot:
        await settle(pilot)
        names = [row.memory.name for _, row in app.screen.table.rows]
        assert "prefer-pnpm" in names
        assert "concise-answers" in names


def test_every_action_has_a_method_and_a_key_of_its_own():
    from memtui.tui.app import MemtuiApp

    for group in {action.group for action in actions.table()}:
        keys = [key for a in actions.of(group) for key in a.keys.split(",")]
        assert len(keys) == len(set(keys)), group
    for action in actions.of(actions.GLOBAL):
        assert hasattr(MemtuiApp, action.method), action.id


async def test_the_themes_go_round(app):
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        seen = []
        while app.theme not in seen:
            seen.append(app.theme)
            await pilot.press("ctrl+t")
            await settle(pilot)
        assert app.theme == seen[0]
        assert any(app.available_themes[name].ansi for name in seen)
        assert not all(app.available_themes[name].dark for name in seen)


async def test_other_screens_lead_to_a_memory_and_from_it_to_its_deliveries(app, world):
    path = f"{world.shop}/.claude/memory/prefer-pnpm.md"
    app.first = "health"
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        app.show_deliveries(memory=path)
        await settle(pilot)
        assert app.screen.group == "deliveries"
        assert app.screen.table.rows
        assert all(path in row.files for row in app.screen.table.rows)
        app.go_to_memory(path)
        await settle(pilot)
        assert app.screen.group == "memories"
        assert app.screen.table.row[1].memory.path == path
        await pilot.press("4", "S")
        await settle(pilot)
        app.go_to_memory(path)
        app.show_deliveries(memory=path)
        await settle(pilot)
        assert not app.screen.has_class("session")
        assert app.focused is app.screen.table
        app.go_to_memory(path + ".gone")
        await pilot.pause()
        assert app.screen.group == "deliveries"
        assert any("not there any more" in note.message for note in app._notifications)


async def test_the_setting_glyphs_changes_what_is_drawn_at_once(app):
    def shown():
        return "\n".join(strip.text for strip in app.screen._compositor.render_strips())

    async with app.run_test(size=(120, 30)) as pilot:
        await settle(pilot)
        assert "hooks ✗" in shown()
        settings.assign(app.data.root, app.data.store().journal, "glyphs", "ascii")
        await pilot.press("ctrl+r")
        await settle(pilot)
        assert "hooks x" in shown()
        assert shown().isascii()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def top(app):
    return app.screen._compositor.render_strips()[0].text


async def test_the_top_line_tells_project_mode_and_hooks_at_80_columns(app, world):
    from memtui.hooks import install

    settings = install.settings_path(world.env, world.shop, "user")
    install.apply(install.plan(settings, "uninstall", env=world.env))
    write(world.root + "/config.toml", 'mode = "whisper"\n')
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for word in ("shop", "whisper", "hooks ✗", "1 Memories", "2 Inbox", "3 Guidance"):
            assert word in top(app), (word, top(app))
        await pilot.resize_terminal(40, 20)
        await settle(pilot)
        for word in ("hooks ✗", "1 Memories", " 2 ", " 5 "):
            assert word in top(app), (word, top(app))


async def test_every_tab_is_a_whole_word_at_80_columns(app):
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        for word in ("shop", "1 Memories", "2 Inbox", "3 Guidance", "4 Deliveries", "5 Health"):
            assert word in top(app), (word, top(app))


async def test_tabs_and_keys_of_the_foot_are_clicked(app):
    async with app.run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.click("#top", offset=(top(app).index("4 Deliveries") + 2, 0))
        await settle(pilot)
        assert app.screen.group == "deliveries"
        assert app.focused is app.screen.table
        foot = app.screen._compositor.render_strips()[-1].text
        await pilot.click("#foot", offset=(foot.index("plots"), 0))
        await settle(pilot)
        assert app.screen.has_class("plots")
