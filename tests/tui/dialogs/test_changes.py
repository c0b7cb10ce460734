"""The list of changes: those made together are one row of it."""

from memtui.store import scopes
from memtui.store.store import Store
from memtui.tui.widgets.detail import Detail
from tui.conftest import NOW, press, running
from tui.hands import exists


def trash(world, name, by, seconds):
    """Move a memory of the project to the trash, as another program does."""
    store = Store(dict(world.env), world.shop, by=by, now=lambda: seconds)
    places = [store.scope(label) for label in ("project", "auto", "global")]
    found = next(each for place in places for each in scopes.memories(place) if each.stem == name)
    store.delete(found)
    return found.path


async def test_changes_made_together_are_one_row_that_is_undone_whole(app, world):
    trash(world, "test-database", "cli", NOW - 3600)
    store = Store(dict(world.env), world.shop, by="tui", now=lambda: NOW - 60)
    wanted = [each for each in scopes.memories(store.scope("project")) if each.stem in {"prefer-pnpm", "release-steps"}]
    store.each(wanted, store.delete)
    first, second = (each.path for each in wanted)
    async with running(app, (160, 40), "U") as pilot:
        names = [f"project:{each.stem}" for each in reversed(wanted)]
        rows = [words for _, words in app.screen.rows]
        assert rows[0].endswith(f"✓ remove 2 memories: {', '.join(names)}")
        assert "test-database" in rows[1]
        assert all(f"  remove {name}\n" in app.screen.query_one(Detail).plain for name in names)
        await press(pilot, "enter")
        assert (exists(first), exists(second)) == (True, True)
        await press(pilot, "U")
        assert "◂ remove 2 memories" in app.screen.rows[0][1]
        assert ("enter", "redo it") in app.screen.keys()
        await press(pilot, "enter")
        assert (exists(first), exists(second)) == (False, False)
