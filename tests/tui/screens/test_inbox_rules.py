"""The rules that a draft's words say: shown with their evidence, and dropped or changed before they are written."""

import glob

import pytest
from textual.widgets import Input

from memtui.base import paths_hot
from memtui.inbox import file_hot
from memtui.rules import counts
from memtui.rules.counting import Moment
from memtui.tui.app import MemtuiApp
from tui.conftest import NOW, press, running, settle
from tui.hands import read, to_row

RULE = "never npm *, instead pnpm *"


@pytest.fixture
def app(world, monkeypatch):
    """The Inbox with a draft that says a rule, which past sessions broke 14 of 20 times."""
    rows = [Moment(0.0, "s", str(at), RULE, at < 6) for at in range(20)]
    monkeypatch.setattr(counts, "count_in", lambda paths, rules, since: {RULE: rows})
    inbox = paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop))
    file_hot.add_entry(inbox, "updates", {"project": world.shop, "name": "only-pnpm"}, "Use pnpm, not npm")
    return MemtuiApp(dict(world.env), world.shop, screen="inbox", now=NOW)


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        (None, '  - never: {command: "npm *"}\n    instead: {command: "pnpm *"}\n'),
        ("", ""),
        ("never: {command: npm ci}", '  - never: {command: "npm ci"}\n'),
    ],
    ids=["as shown", "dropped", "changed"],
)
@pytest.mark.every(step=3)
async def test_a_draft_is_approved_with_the_rules_that_a_person_saw(world, app, typed, written):
    async with running(app, (120, 40)) as pilot:
        await to_row(pilot, lambda row: row.item and row.item.entry.fields.get("name") == "only-pnpm")
        await pilot.pause(0.5)
        await settle(pilot)
        assert f"rules  {RULE}   broken 14 of 20 times in the last 30 days" in app.screen.detail.plain
        if typed is None:
            await press(pilot, "a")
        else:
            await press(pilot, "e")
            app.screen.query_one("#rules", Input).value = typed
            await press(pilot, "ctrl+s")
        (path,) = glob.glob(f"{world.shop}/.claude/memory/only-pnpm.md")
        assert read(path).partition("rules:\n")[2].partition("---")[0] == written
        await press(pilot, "z")
        assert glob.glob(path) == []
