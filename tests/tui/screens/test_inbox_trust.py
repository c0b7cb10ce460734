"""Memories that came with a repository, in the inbox: trusted byte for byte as shown, or not asked about again."""

import os
from pathlib import Path

import pytest

from memtui.store import trust_hot
from memtui.tui.app import MemtuiApp
from tui.conftest import NOW, press
from tui.hands import lines, to_kind

put = lambda path, data: Path(path).write_bytes(data)
untrusted = lambda app: [row for row in app.screen.table.rows if row.kind.word == "trust"]


@pytest.fixture
def app(world):
    return MemtuiApp(dict(world.env), world.shop, screen="inbox", now=NOW)


async def test_a_trusts_z_takes_it_back_and_x_asks_again_only_after_a_change(world, app):
    directory = f"{world.shop}/.claude/memory"
    async with app.run_test(size=(60, 15)) as pilot:
        row = await to_kind(pilot, "trust")
        data = row.untrusted.memory.raw
        await press(pilot, "a")
        assert app.screen.plain, "on a small screen it is shown whole first"
        await press(pilot, "escape")
        await pilot.resize_terminal(160, 48)
        await to_kind(pilot, "trust")
        assert "came with the repository, not trusted" in app.screen.detail.plain
        await press(pilot, "a")
        assert trust_hot.load(world.root, directory).allows(data)
        assert untrusted(app) == []
        await press(pilot, "z")
        assert not trust_hot.load(world.root, directory).allows(data)
        assert len(untrusted(app)) == 1
        await to_kind(pilot, "trust")
        await press(pilot, "x")
        assert untrusted(app) == []
        assert not trust_hot.load(world.root, directory).allows(data)
        put(row.untrusted.memory.path, data + b"Other words.\n")
        await press(pilot, "app.refresh")
        assert len(untrusted(app)) == 1


async def test_a_text_whose_lines_end_with_carriage_returns_is_shown(app):
    async with app.run_test(size=(160, 48)) as pilot:
        memory = (await to_kind(pilot, "trust")).untrusted.memory
        put(memory.path, memory.raw.replace(b"\n", b"\r\n") + b"Last\r\nwords\r\n")
        os.rename(memory.path, memory.path.replace(".md", "\x1b[2J.md"))
        await press(pilot, "app.refresh")
        await to_kind(pilot, "trust")
        assert all(words in app.screen.detail.plain for words in (memory.description, "Last", "words"))
        assert "\x1b" not in "".join(lines(app)), "nor is what the name of its file says obeyed"
