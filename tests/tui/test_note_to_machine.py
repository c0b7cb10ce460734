"""A note is written in the form for a session on another machine."""

import pytest
from textual.widgets import Select, TextArea

from memtui.base import paths_hot
from memtui.review.waiting_entries import waiting_in
from memtui.sync import state
from memtui.tui.app import MemtuiApp

from .conftest import NOW, press, settle


@pytest.mark.slow
async def test_the_form_offers_other_machines_and_says_when_the_note_goes(world):
    own = state.SyncState("/nowhere.git", "k1", "laptop", machines={"k1": "laptop", "k2": "desktop"})
    state.save(world.root, own)
    app = MemtuiApp(dict(world.env), world.shop, screen="activity", now=NOW)
    async with app.run_test(size=(100, 30)) as pilot:
        await settle(pilot)
        await press(pilot, "c")
        form = app.screen
        form.query_one("#text", TextArea).text = "Pull first."
        await settle(pilot)
        choice = form.query_one("#to")
        assert [to for _, to in getattr(choice, "_options", []) if "machine:" in str(to)] == ["machine:desktop"]
        assert isinstance(choice, Select)
        choice.value = "machine:desktop"
        await settle(pilot)
        assert "on desktop" in " ".join(str(form.query_one(".where").render()).split())
        await press(pilot, "ctrl+s")
        await settle(pilot)
        (note,) = [
            item
            for item in waiting_in(world.root, [paths_hot.project_key(world.shop)], ("guidance",))
            if item.text == "Pull first."
        ]
        assert note.entry.fields["for"] == "machine:desktop"
