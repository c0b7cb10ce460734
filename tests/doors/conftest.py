"""Both doors to one world: what a command answers in JSON, and what a screen shows."""

import io
import json
import sys

from memtui.base import clock_hot
from memtui.cli.main import main
from memtui.tui.app import MemtuiApp


class Doors:
    """What both doors say of a world at a time, from a project."""

    def __init__(self, env, project, now, monkeypatch, capsys):
        self.env, self.project, self.now, self.capsys = dict(env), str(project), now, capsys
        for name, value in {**env, "MEMTUI_NOW": clock_hot.iso(now)}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(project)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))

    def told(self, *words):
        """Return what a command answers in JSON."""
        self.capsys.readouterr()
        main([*words, "--json"])
        return json.loads(self.capsys.readouterr().out)["data"]

    async def shown(self, screen, look, first=None):
        """Return what a screen shows, after something is done to it first."""
        app = MemtuiApp(dict(self.env), self.project, now=self.now, screen=screen)
        async with app.run_test(size=(160, 48)) as pilot:
            await rest(pilot)
            if first is not None:
                first(app.screen)
                await rest(pilot)
            return look(app)


async def rest(pilot):
    """Wait until all is read."""
    for _ in range(3000):
        await pilot.pause(0.01)
        if pilot.app.files.has_read and not any(worker.is_running for worker in pilot.app.workers):
            break
    await pilot.pause()
