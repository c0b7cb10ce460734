"""What will be written is shown whole, on a page that scrolls, before it is agreed to; enter ends it from anywhere."""

import pytest

from memtui.base import clock_hot, fs_hot, paths_hot
from memtui.demo.content import ulid
from memtui.inbox import format_hot
from memtui.review.waiting_entries import waiting_in
from memtui.tui.app import MemtuiApp
from memtui.tui.dialogs.dialog import Preview
from tui.conftest import NOW, press, settle
from tui.hands import exists, lines, to_row

LAST = "- and nothing else"
DRAWN = "• and nothing else"  # as Markdown is drawn
SMALL, WIDE = (80, 24), (160, 48)


def leave(world, rules):
    fields = {"id": ulid(NOW - 60, 9000), "time": clock_hot.iso_seconds(NOW - 60), "kind": "correction"}
    fields |= {"confidence": "0.99", "name": "be-kind", "description": "Be kind", "scope": "project"}
    text = "\n".join(["Always be kind.", "", *(f"- rule {number}" for number in range(rules)), LAST])
    with open(
        f"{paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop))}/{format_hot.FILES['updates']}", "a"
    ) as file:
        file.write(format_hot.render(fields, text))


async def asked(pilot, *keys):
    await to_row(pilot, lambda row: row.item is not None and row.item.entry.fields.get("name") == "be-kind")
    await pilot.press(*keys)
    await settle(pilot)
    assert isinstance(pilot.app.screen, Preview)


@pytest.mark.slow
@pytest.mark.every(step=4)
@pytest.mark.parametrize("size", [SMALL, WIDE], ids=["small", "wide"])
async def test_a_long_draft_is_shown_whole_and_written_from_anywhere_in_it(world, size):
    leave(world, 100)
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen="inbox")
    async with app.run_test(size=size) as pilot:
        await asked(pilot, "a")
        assert "enter write 1 memory" in lines(app)[-1]
        assert DRAWN in app.screen.plain
        await press(pilot, "G")
        assert DRAWN in "\n".join(lines(app))
        await press(pilot, "home", "enter")
        assert app.screen.group == "inbox"
        assert LAST.encode() in fs_hot.read_bytes(f"{world.shop}/.claude/memory/be-kind.md")


async def test_a_key_pressed_twice_writes_nothing_that_was_not_read(world):
    leave(world, 100)
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen="inbox")
    async with app.run_test(size=SMALL) as pilot:
        await asked(pilot, "a", "a")
        assert not exists(f"{world.shop}/.claude/memory/be-kind.md")
        await press(pilot, "enter")
        assert exists(f"{world.shop}/.claude/memory/be-kind.md")


@pytest.mark.large
async def test_what_is_cut_of_a_draft_of_a_megabyte_is_told_before_agreeing(world):
    leave(world, 80_000)
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen="inbox")
    async with app.run_test(size=WIDE) as pilot:
        await asked(pilot, "a")
        text = app.screen.plain
        assert len(text) < 20_000
        assert LAST not in text
        assert DRAWN not in text
        assert "more characters are not shown here: they are in" in text
        assert format_hot.FILES["updates"] in text
        await press(pilot, "G")
        assert "more characters are not shown here" in "\n".join(lines(app))
        await press(pilot, "enter")
        left = [each.text for each in waiting_in(world.root, [paths_hot.project_key(world.shop)], ("updates",))]
        assert not any(LAST in text for text in left)
