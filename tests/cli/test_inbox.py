"""What waits is listed, approved, rejected, ticked off, and each step can be taken back."""

import json
from pathlib import Path

import pytest

from memtui.base import paths_hot
from memtui.inbox import file_hot

from .conftest import NOW


def shop_inbox(world, name="pending-updates.md"):
    return Path(paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop))) / name


def test_a_todo_of_no_project_and_a_draft_for_all_are_global(memtui, world):
    file_hot.add_entry(str(shop_inbox(world).parent), "updates", {"scope": "global", "name": "kim"}, "Kim is in.")
    file_hot.add_entry(paths_hot.inbox_dir(world.root, None), "items", {}, "Call Kim.")
    assert [row["where"] for row in memtui.json("inbox")["entries"] if "Kim" in row["says"]] == ["global"] * 2


@pytest.mark.slow
def test_each_kind_is_shown_put_off_and_decided_in_one_step_of_undo(memtui, world):
    def listed(*more):
        return {each["id"]: each["kind"] for each in memtui.json("inbox", *more)["entries"]}

    before = listed()
    rows = {kind: name for name, kind in before.items() if kind in {"merge", "fix", "problem", "trust"}}
    assert len(rows) == 4
    for kind, name in rows.items():
        shown = memtui.json("inbox", name)
        assert (shown["kind"], shown["says"] != "") == (kind, True)
        assert len(memtui("inbox", name).out.splitlines()) > 1 - (kind == "problem")
        assert "until" in memtui("reject", name, "--later", "friday").out
    assert listed().items() == {name: kind for name, kind in before.items() if name not in rows.values()}.items()
    assert {*listed("--later")} == {*rows.values()}
    assert "4 for later, the first until" in memtui("inbox").out
    for name in rows.values():
        memtui("reject", name, "--later", "now")
    assert listed() == before
    rows = {each["kind"]: each["id"] for each in memtui.json("inbox")["entries"]}
    before = memtui.json("inbox")["entries"]
    done = memtui("approve", rows["merge"], "J5VMX3", rows["trust"], "1R7A0A", "flaky-upload-test", "--yes")
    assert done.err.count("To undo them: memtui undo") == 1
    assert "skip-code-review.md" in memtui.json("trust", "--list")["trusted"]
    left = {each["id"] for each in memtui.json("inbox")["entries"]}
    assert not {rows["merge"], rows["trust"]} & left
    memtui("undo", "--yes")
    assert [each["id"] for each in memtui.json("inbox")["entries"]] == [each["id"] for each in before]
    memtui("reject", rows["problem"], rows["fix"], rows["trust"], "J5VMX3")
    left = {each["id"] for each in memtui.json("inbox")["entries"]}
    assert not {rows["problem"], rows["fix"], rows["trust"]} & left


@pytest.mark.slow
def test_ids_stay_while_other_entries_are_decided(memtui, world):
    """The next one is typed from the list above. The draft and the memory change what a fix and a problem are about."""

    def listed():
        rows = memtui.json("inbox")["entries"]
        return {each["id"]: each["kind"] for each in rows if each["kind"] in {"merge", "fix", "problem", "rule"}}

    memory = Path(world.shop) / ".claude" / "memory" / "prefer-pnpm.md"
    memory.write_text(memory.read_text() + "Not so\u200b visible.\n")
    before = listed()
    assert {*before.values()} == {"merge", "fix", "problem", "rule"}
    memtui("approve", "BV8W63", "--scope", "project", "--yes")
    another = memory.parent / "ask-before-migrations.md"
    another.write_text(another.read_text() + "\nNot so\u200b visible.\n")
    memtui("reject", "J5VMX3")
    assert listed() == before
    merge = next(name for name, kind in before.items() if kind == "merge")
    memtui("approve", merge, "--yes")
    assert listed() == {name: kind for name, kind in before.items() if name != merge}
    assert {each["id"] for each in memtui.json("consolidate")["changes"]} <= before.keys()


def test_rejecting_drops_entries_and_notes_their_words_without_secrets(memtui, world):
    key = "sk-ant-" + "api03-" + "Zx9k" * 12
    fields = {"kind": "correction", "name": "staging", "confidence": "0.90"}
    entry = file_hot.add_entry(str(shop_inbox(world).parent), "updates", fields, f"Use it with {key}", now=NOW)
    before, rejected = shop_inbox(world).read_bytes(), shop_inbox(world, "rejected.jsonl")
    memtui("reject", "J5VMX3", "BV8W63")
    assert len(memtui.json("inbox", "--kind", "drafts")["entries"]) == 4
    memtui("undo")
    assert shop_inbox(world).read_bytes() == before
    assert not rejected.exists()
    memtui("reject", "J5VMX3", "--never")
    memtui("reject", entry)
    never, secret = map(json.loads, rejected.read_text().splitlines())
    assert (never["v"], never["text"], never["never"]) == (1, "No snapshot tests for components", True)
    assert secret["text"] == "Use it with [redacted: Anthropic key]"
    memtui("undo")
    memtui("undo")
    assert not rejected.exists()


@pytest.mark.slow
def test_check_fix_leaves_out_what_was_rejected_and_asks_as_approve_does(memtui, world):
    index = Path(world.shop, ".claude/memory/MEMORY.md")
    before = index.read_bytes()
    done = memtui("check", "--fix", check=False)
    assert (done.code, "There is no terminal to ask on. --yes answers yes." in done.err) == (1, True)
    memtui("reject", next(each["id"] for each in memtui.json("inbox")["entries"] if "old-wiki" in each["says"]))
    done = memtui("check", "--fix", "--yes", check=False)
    assert "1 file left out. You rejected the fix." in done.err
    assert "Fixed 2 files." in done.err
    assert index.read_bytes() == before
    assert "left out" in memtui("check", "--fix", "--yes", "--scope", "project", check=False).err


def test_status_does_not_name_the_inbox_where_nothing_waits(bare):
    assert "memtui inbox" not in bare("status").out
