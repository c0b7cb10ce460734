"""What the delivery log tells of memories: never delivered, never opened, corrected again."""

import json
import os
from pathlib import Path

import pytest

from memtui.consolidate import checks, lint
from memtui.core.base import clock, fs, ids, paths
from memtui.core.deliveries import log as delivery_log
from memtui.core.memories.status import Usage

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

    def found(self) -> list[tuple[str, str]]:
        subject = lint.here(self.env, self.cwd, self.root, NOW, Usage(self.root), set())
        wanted = {"memories.never", "memories.unused", "memories.violated"}
        return [
            (each.code.partition(".")[2], each.data["memory"]) for each in lint.check(subject) if each.code in wanted
        ]


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def test_a_memory_that_is_never_delivered_while_another_is_all_the_time(home):
    known, _ = home.memory("known", "The till counts in cents."), home.memory("unknown", "Invoices go out on Mondays.")
    for number in range(9):
        home.record(known, (30 - number) * DAY)
    assert home.found() == []
    home.record(known, DAY)
    assert home.found() == [("never", "unknown")]


def test_a_memory_that_is_newer_than_the_deliveries_is_not_told_to_be_unknown(home):
    known, _ = home.memory("known", "The till counts in cents."), home.memory("new", "Invoices go out on Mondays.", DAY)
    for number in range(20):
        home.record(known, (30 - number) * DAY)
    assert home.found() == []


def test_a_memory_that_is_delivered_often_and_never_opened_while_others_are(home):
    one, other = home.memory("one", "The till counts in cents."), home.memory("other", "Invoices go out on Mondays.")
    for number in range(30):
        home.record(one, (39 - number) * DAY)
        home.record(other, (39 - number) * DAY)
    assert home.found() == []  # nothing is opened: perhaps nobody logs it
    home.record(other, DAY, "use")
    assert home.found() == [("unused", "one")]


def test_a_memory_that_was_violated_is_told_of(home):
    path = home.memory("tabs", "Indent with tabs.")
    home.record(path, 9 * DAY, "recall")
    assert home.found() == []
    home.record(path, 8 * DAY, "corrected")
    assert home.found() == [("violated", "tabs")]


@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
def test_a_check_that_is_stopped_counts_the_deliveries_of_no_further_memory(home, part):
    known = {}
    for number in range(30):
        home.record(home.memory(f"m{number}", f"Rule {number}"), ago=60)
    subject = lint.here(home.env, home.cwd, home.root, NOW, Usage(home.root), set())
    scope = next(each for each in subject.scopes if each.label == "global")

    def asked(limit):
        count = []

        def go_on():
            count.append(1)
            return len(count) <= limit

        asked_of = checks.Checked(home.root, scope, (), known, usage=subject.usage, go_on=go_on)
        list(checks.use(asked_of))
        return len(count)

    every = asked(10**6)
    assert every > 3 * 30
    assert asked(int(part * every)) <= part * every + 6  # each loop that is left asks once
