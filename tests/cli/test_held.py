"""How often the agent kept the rules of memories, on the command line."""

import pytest

from kept_rules import COMMAND, hold

NUMBERS = {"opportunities": 32, "kept": 31, "opportunities_before": 20, "kept_before": 6}


@pytest.fixture
def path(world, monkeypatch):
    return hold(monkeypatch, world)


@pytest.mark.usefixtures("path")
def test_list_and_show_count_how_a_memory_is_held(memtui):
    assert "31/32" in memtui("list").out
    rows = memtui.json("list", "is:unkept")["memories"]
    assert [row["name"] for row in rows] == ["prefer-pnpm"]
    assert rows[0].items() >= NUMBERS.items()
    assert rows[0]["rules"] == ["never npm *, instead pnpm *"]
    assert memtui.json("list", "--sort", "held")["memories"]
    (counts,) = memtui.json("show", "prefer-pnpm")["held"]
    assert counts.items() >= NUMBERS.items()
    assert counts["breaks"][0]["line"] == COMMAND
    assert "kept 31 of 32 since 9 days" in memtui("show", "prefer-pnpm").out
    assert "rules: 1 memory, kept 97% since written, 30% before" in memtui("status").out


def test_activity_lists_what_was_broken(memtui, world, path):
    assert COMMAND in memtui("activity", "--broken").out
    (row,) = memtui.json("activity", "--broken", "--text", "pnpm")["broken"]
    assert (row["memory"], row["path"], row["session"]) == ("prefer-pnpm", path, world.sessions["monday"])
    assert memtui.json("activity", "--broken", "--project", world.blog)["broken"] == []
    assert memtui("activity", "--broken", "--since", "1h").out == "No rule was broken.\n"
    refused = memtui("activity", "--broken", "--kind", "notes", check=False)
    assert refused.code == 2
    assert "--broken goes without --kind" in refused.err


def test_check_takes_codes(memtui):
    every = {row["code"] for row in memtui.json("check", check=False)["findings"]}
    chosen = {row["code"] for row in memtui.json("check", "--codes", "memories.link", check=False)["findings"]}
    assert chosen == {"memories.link"} < every
    refused = memtui("check", "--codes", "memories.lnk", check=False)
    assert refused.code == 2
    assert "No finding has the code “memories.lnk”" in refused.err
