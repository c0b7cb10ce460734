"""What the delivery log tells of memories: corrected again."""

import json
import os
from pathlib import Path

import pytest

from memtui.base import clock, fs, ids, paths
from memtui.deliver import log as delivery_log
from memtui.store.status import Usage
from memtui.tidy import lint

NOW = clock.parse("2026-11-22T12:00:00Z")
DAY = 86_400
SESSION = "5e551011-0000-4000-8000-000000000001"


class Home:
    """A home with global memories, and a log of deliveries."""

    def __init__(self, top: Path) -> None:
        self.env = {"HOME": str(top / "home"), "CLAUDE_CONFIG_DIR": str(top / "home/.claude")}
        self.root = paths.root(self.env)
        self.memories = top / "home/.claude/memory"
        self.memories.mkdir(parents=True)
        self.cwd = str(top / "repo")
        os.makedirs(self.cwd + "/.git")

    def memory(self, name: str, text: str, age: float = 40 * DAY) -> str:
        path = self.memories / f"{name}.md"
        path.write_text(f"---\nname: {name}\ndescription: About {name}\n---\n\n{text}\n")
        os.utime(path, (NOW - age, NOW - age))
        with (self.memories / "MEMORY.md").open("a") as file:
            file.write(f"- [{name}]({name}.md) — read it first\n")
        return str(path)

    def record(self, path: str, ago: float, kind: str = "index", session: str = SESSION) -> None:
        time = NOW - ago
        row = {"v": 1, "id": ids.new_id(time), "time": clock.iso(time), "event": "SessionStart", "session_id": session}
        row["items"] = [{"kind": kind, "path": path}]
        fs.append(delivery_log.log_path(self.root, time), json.dumps(row).encode() + b"\n")

    def found(self) -> list[str]:
        subject = lint.here(self.env, self.cwd, self.root, NOW, Usage(self.root), set())
        return [each.data["memory"] for each in lint.check(subject) if each.code == "memories.violated"]


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def test_a_memory_that_was_violated_is_told_of(home):
    path = home.memory("tabs", "Indent with tabs.")
    home.record(path, 9 * DAY, "recall")
    assert home.found() == []
    home.record(path, 8 * DAY, "corrected")
    assert home.found() == ["tabs"]
