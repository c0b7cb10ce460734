"""What the palette finds, and in which order."""

import pytest
from rich.cells import cell_len

from memtui.tui.app import MemtuiApp

from .conftest import NOW, running
from .test_frame import palette


@pytest.mark.slow
async def test_no_line_is_cut_at_80_columns_and_no_words_repeat_the_name(app):
    async with running(app, (80, 24)) as pilot:
        lines = await palette(pilot, "")
        assert any("n      Create a memory" in line for line in lines)
        assert [line for line in lines if cell_len(line.rstrip()) > 75] == []
        texts = [
            (line[:33].partition(": ")[2].strip(" …"), line[40:].strip()) for line in lines if "theme:" not in line
        ]
        assert [each for each in texts if each[1].casefold().startswith(each[0])] == []
        assert [each for each in texts if not each[1]] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("screen", "words", "first"),
    [
        ("memories", "nord", "theme: nord"),
        ("memories", "dark", "theme: dark"),
        ("inbox", "reject", "inbox: reject"),
        ("memories", "mute", "memories: try a prompt"),
    ],
)
async def test_a_name_that_has_the_typed_word_comes_first(world, screen, words, first):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen=screen)
    async with running(app, (100, 30)) as pilot:
        found = await palette(pilot, words)
        assert found[0].startswith(first)
        assert all(words in row.casefold() for row in found)
