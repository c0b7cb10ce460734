"""How often the agent kept the rules of memories, on the command line."""

COMMAND = "npm install --registry https://mirror.shop.example"
NUMBERS = {"opportunities": 32, "kept": 31, "opportunities_before": 20, "kept_before": 6}


def test_list_and_show_count_how_memories_are_held(memtui):
    rows = {row["name"]: row for row in memtui.json("list", "is:unkept")["memories"]}
    assert rows.keys() == {"conventional-commits", "prefer-pnpm"}
    assert rows["prefer-pnpm"].items() >= NUMBERS.items()
    assert rows["prefer-pnpm"]["rules"] == ["never npm *, instead pnpm *"]
    every = memtui.json("list", "--scope", "project", "--sort", "held")["memories"]
    assert [row["name"] for row in every][:2] == ["prefer-pnpm", "release-steps"]
    (counts,) = memtui.json("show", "prefer-pnpm")["held"]
    assert counts.items() >= NUMBERS.items()
    assert [moment["line"] for moment in counts["breaks"]] == [COMMAND]


def test_activity_lists_what_was_broken(memtui, world):
    rows = memtui.json("activity", "--broken")["broken"]
    assert [row["memory"] for row in rows].count("conventional-commits") == 5
    (row,) = memtui.json("activity", "--broken", "--text", "MIRROR pnpm")["broken"]
    assert (row["memory"], row["session"], row["line"]) == ("prefer-pnpm", world.sessions["monday"], COMMAND)
    assert COMMAND[:20] in memtui("activity", world.sessions["monday"][:8], "--broken").out
    assert len(memtui.json("activity", "--broken", "--limit", "2")["broken"]) == 2
    assert memtui.json("activity", "--broken", "--project", world.blog)["broken"] == []
    assert len(memtui.json("activity", "--broken", "--project", world.blog, "--all-projects")["broken"]) == 6
    assert memtui("activity", "--broken", "--since", "1m").out == "No rule was broken.\n"
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
