"""Worlds without the client, for what only needs memtui: the sample world, and one after years of work."""

import dataclasses
import json
import os
from collections.abc import Mapping
from pathlib import Path

import memtui
from memtui.base import clock, paths
from memtui.demo import content
from memtui.demo import sessions as demo_sessions
from memtui.demo import world as demo_world
from memtui.hooks.install import installation as install

SOURCES = Path(memtui.__file__).resolve().parents[1]
PROJECTS, MEMORIES, DELIVERIES = 58, 52, 208  # each project's; with those of the sample world 60, 3,000 and 12,000
TYPES = ("feedback", "project", "reference", "user", "tool")
TOPICS = ("deploys", "migrations", "the lint job", "the payment sandbox", "flaky tests", "release notes", "日本語の文")
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
        self.world = demo_world.build(str(base / "world"), clock.now())
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


class LargeWorld(DemoWorld):
    """The sample world, and beside it so many projects, memories and deliveries as after years."""

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        for number in range(PROJECTS):
            self._project(number)
        for log in (self.root / "log").glob("deliveries-*.jsonl"):
            lines = sorted(log.read_text().splitlines(keepends=True))  # ids come first, and they are in order of time
            log.write_text("".join(lines))

    def _project(self, number: int) -> None:
        place = self.base / "world" / "work" / f"project-{number:02}"
        (place / ".git").mkdir(parents=True)
        (place / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        store = self.config / "projects" / paths.slug(str(place)) / "memory"
        store.mkdir(parents=True)
        lines = []
        for each in range(MEMORIES):
            name = f"{TYPES[each % 5]}_{TOPICS[(number + each) % 6].replace(' ', '_')}_{each}"
            about = f"What is known of {TOPICS[(number * each) % 7]} in project {number}"
            head = f"---\nname: {name}\ndescription: {about}\nmetadata:\n  type: {TYPES[each % 5]}\n---\n\n"
            more = "\n\n**Why:** it broke twice.\n**How to apply:** see [[release-steps]].\n" if each % 3 else "\n"
            (store / f"{name}.md").write_text(head + about + "." + more)
            lines.append(f"- [{name}]({name}.md) — {about}\n")
        (store / "MEMORY.md").write_text("".join(lines[: MEMORIES - number % 5]))
        self._deliveries(str(place), number)

    def _deliveries(self, place: str, number: int) -> None:
        sessions = {str(each): f"{number:08x}-{each:04x}-4000-8000-000000000000" for each in range(4)}
        world = dataclasses.replace(self.world, sessions=sessions)
        for name in sessions:
            hours = 3.0 + 11.0 * number + 200.0 * int(name)
            session = demo_sessions.DemoSession(world, name, place, hours)
            session.count += number * 1000
            for each in range(DELIVERIES // len(sessions)):
                session.says(f"go on with {TOPICS[each % 7]}")
                note = demo_sessions.guidance(
                    f"Note {each} on {TOPICS[each % 7]}", content.ulid(session.time, each), "ci-watch"
                )
                outcome = ("arrived", "arrived", "arrived", "timed out", "previewed", "failed")[each % 6]
                session.delivers("UserPromptSubmit", [note], outcome)
                session.answers("Done.")
            session.ends(keep=int(name) < 3)


WORLDS = {"demo": DemoWorld, "large": LargeWorld}
