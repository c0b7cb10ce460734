"""A world without the client, for what only needs memtui."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import memtui
from memtui.base import clock_hot
from memtui.demo import world as demo_world
from memtui.hooks.install import installation as install

SOURCES = Path(memtui.__file__).resolve().parents[1]
# An editor that writes, an editor that fails: which of both it is goes by the file's size.
EDITOR = """#!/bin/sh
[ $(($(wc -c < "$1") % 5)) -eq 0 ] && exit 3
[ $(($(wc -c < "$1") % 5)) -eq 1 ] && exit 0
echo "A line from the editor." >> "$1"
"""
CLIENT = """#!/bin/sh
echo '2.1.197 (Claude Code)'
"""


class DemoWorld:
    """The sample world with its hooks installed, an editor that ends by itself, and a client that tells its version."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.world = demo_world.build(str(base / "world"), clock_hot.now())
        self.project = Path(self.world.shop)
        self.config, self.root = Path(self.world.config), Path(self.world.root)
        self.bin = base / "bin"
        self.bin.mkdir()
        for name, script in (("editor", EDITOR), ("claude", CLIENT)):
            (self.bin / name).write_text(script)
            (self.bin / name).chmod(0o700)
        settings = install.settings_path(self.environment(), str(self.project), "user")
        install.apply(install.plan(settings, "install", env=self.environment()))
        self.hooks = {
            event: entry["hooks"][0]["command"]
            for event, (entry, *_) in json.loads(Path(settings).read_text())["hooks"].items()
        }

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """The whole environment of what runs here."""
        return {
            **self.world.env,
            "PATH": f"{self.bin}:{os.environ.get('PATH', '/usr/bin:/bin')}",
            "EDITOR": str(self.bin / "editor"),
            "TERM": "xterm-256color",
            "PAGER": "cat",
            "COLORTERM": "truecolor",
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(SOURCES),
            **(extra or {}),
        }

    def errors(self) -> list[dict[str, object]]:
        """What memtui logged that went wrong."""
        try:
            text = (self.root / "log" / "errors.jsonl").read_text("utf-8", "replace")
        except OSError:
            return []
        return [json.loads(line) for line in text.splitlines() if line.startswith("{") and line.endswith("}")]
