"""Which columns the list of memories has room for."""

import pytest

from memtui.tui.app import MemtuiApp
from tui.conftest import NOW, settle
from tui.snapshot import drawn


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "shown"), [((80, 24), False), ((120, 40), False), ((160, 48), True), ((200, 50), True)]
)
async def test_a_wide_terminal_shows_how_often_a_memory_was_recalled_and_used(world, size, shown):
    app = MemtuiApp(dict(world.env), world.shop, now=NOW, screen="memories")
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        head = next(line for line in drawn(app).lines if "name▴" in line)
        assert ("recalled" in head and "used" in head) == shown
        assert "description" in head
