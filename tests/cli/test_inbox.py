"""What waits is listed, approved, rejected, ticked off, and each step can be taken back."""

import json
from pathlib import Path

import pytest

from memtui.base import paths_hot
from memtui.inbox import file_hot

from .conftest import NOW


def shop_inbox(world, name="pending-updates.md"):
    return Path(paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop))) / name


def ids(memtui, kind):
    return [entry["id"] for entry in memtui.json("inbox", "--kind", kind)["entries"]]


def test_everything_that_waits_for_a_decision_is_listed_worst_first(memtui):
    found = memtui.json("inbox")
    kinds = [entry["kind"] for entry in found["entries"]]
    assert list(dict.fromkeys(kinds)) == ["draft", "changed", "merge", "fix", "problem", "rule", "trust", "todo"]
    assert (kinds.count("draft"), kinds.count("todo"), found["one_offs"]) == (4, 4, 1)
    assert found["elsewhere"] == 1
    assert found["entries"][kinds.index("trust")]["time"], "that of its file"
    states = {entry["text"]: entry["state"] for entry in memtui.json("note", "--list")["entries"]}
    assert states["The staging database is down until noon."] == ["expired"]
    assert states["The error rate doubled after the last deploy."] == ["returned 3×"]
    assert "! expired" in memtui("note", "--list").out


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
def test_a_name_means_what_waits_about_it_and_problems_need_a_hand(memtui, world):
    assert memtui("inbox", "ask-before-migrations").out.startswith("Draft ")
    assert memtui("inbox", "meeting-notes").out.startswith("meeting-notes is broken")
    assert memtui("inbox", "flaky-upload-test").out.startswith("auto shop: flaky-upload-test\nchanged by Claude")
    assert memtui("show", "ask-before-migrations", check=False).code == 3, "no memory has that name yet"
    memtui("approve", "ask-before-migrations")
    assert memtui("show", "ask-before-migrations").out.startswith("ask-before-migrations")
    problem = next(each for each in memtui.json("inbox")["entries"] if each["kind"] == "problem")
    done = memtui("approve", problem["id"], check=False)
    assert (done.code, "in an editor" in done.err) == (1, True)
    done = memtui("approve", problem["id"], "J5VMX3", check=False)
    assert (done.code, "1 of these was left alone." in done.err) == (1, True)
    assert "J5VMX3" not in memtui("inbox").out


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


def test_approving_makes_the_memory_as_the_person_decides_until_undone(memtui, world):
    before = shop_inbox(world).read_bytes()
    done = memtui("approve", "J5VMX3")
    path = Path(world.shop, ".claude/memory/no-snapshot-tests.md")
    written = path.read_text()
    assert "originSessionId: d2f7b8c9-1e64-4d53-9f70-3a8c5b6e2f04" in written
    assert "> you:" not in written
    assert "Assert on what the user sees instead." in done.out
    line = "- [no-snapshot-tests](no-snapshot-tests.md) — No snapshot tests for components"
    assert line in Path(world.shop, ".claude/memory/MEMORY.md").read_text().splitlines()
    assert not any(name.endswith("J5VMX3") for name in ids(memtui, "drafts"))
    (memory,) = [m for m in memtui.json("list")["memories"] if m["name"] == "no-snapshot-tests"]
    said = (memory["type"], memory["description"], memory["flags"])
    assert said == ("feedback", "No snapshot tests for components", [])
    memtui("undo")
    assert shop_inbox(world).read_bytes() == before
    assert not path.exists()
    memtui(
        "approve", "J5VMX3", "--name", "tests", "--type", "user", "--scope", "global", "--description", "How to test"
    )
    text = Path(world.config, "memory/tests.md").read_text()
    assert "name: tests\ndescription: How to test\n" in text
    assert "type: user" in text
    memtui("undo")
    memtui("approve", "J5VMX3", "--body", "Assert on roles and words.")
    path = Path(world.shop, ".claude/memory/no-snapshot-tests.md")
    assert path.read_text().endswith("---\n\nAssert on roles and words.\n")
    assert "originSessionId" in path.read_text()
    memtui("undo")
    memtui("approve", "J5VMX3", "--body", "-", stdin="From a file.\n\n> quoted\n")
    assert "From a file.\n\n> quoted\n" in path.read_text()


def test_the_prompt_that_will_find_a_memory_is_shown_and_can_be_left_out(memtui, world):
    path, asked = shop_inbox(world), "add a date picker"
    path.write_text(path.read_text().replace("J5VMX3", f'J5VMX3 request="{asked}"'))
    assert f"trigger: “{asked}”" in " ".join(memtui("inbox", "J5VMX3").out.split())
    done = memtui("approve", "J5VMX3", "--no-trigger")
    assert asked not in done.out + memtui("show", "no-snapshot-tests").out
    memtui("undo")
    assert f"trigger  “{asked}”" in memtui("approve", "J5VMX3").out
    assert asked in memtui("show", "no-snapshot-tests").out


def test_a_taken_name_is_a_conflict_that_names_the_ways_out(memtui):
    assert "Approve: memtui approve --name NAME VGHARY " in memtui("inbox", "VGHARY").err
    assert "Approve: memtui approve BV8W63 " in memtui("inbox", "BV8W63").err
    done = memtui("approve", "VGHARY", check=False)
    assert done.code == 4
    assert "--name" in done.err
    assert len(ids(memtui, "drafts")) == 5


@pytest.mark.parametrize(
    "words",
    [["reject", "J5VMX3", "VGHARY"], ["reject", "J5VMX3", "VGHARY", "--later", "3d"], ["approve", "J5VMX3", "{other}"]],
    ids=["reject", "snooze", "approve"],
)
def test_one_wrong_id_among_several_is_named_and_the_others_are_done(memtui, words):
    other = next(each for each in ids(memtui, "drafts") if each[-6:] not in {"J5VMX3", "VGHARY"})
    words = [word.format(other=other) for word in words]
    before = set(ids(memtui, "drafts"))
    answer = memtui(words[0], "nope", *words[1:], "--json", check=False)
    assert (answer.code, len(answer.data["decided"])) == (1, 2)
    assert [row["name"] for row in answer.data["failed"]] == ["nope"]
    assert len(before - set(ids(memtui, "drafts"))) == 2
    memtui("undo")
    assert set(ids(memtui, "drafts")) == before
    answer = memtui(words[0], "nope", *words[1:], check=False)
    assert "nope: Nothing that waits is called “nope”." in answer.err
    assert "1 of these was left alone." in answer.err


def test_a_draft_of_another_project_goes_there(memtui, world):
    (entry,) = [e for e in memtui.json("inbox", "--all-projects")["entries"] if "alt text" in e["says"]]
    memtui("approve", entry["id"])
    assert list(Path(world.config, "projects").glob("*-blog/memory/alt-texts.md"))
    assert not Path(world.blog, ".claude/memory").exists()  # nothing is written into a repository unasked
    assert not Path(world.shop, ".claude/memory/alt-texts.md").exists()


def test_rejecting_drops_entries_and_notes_their_words_without_secrets(memtui, world):
    key = "sk-ant-" + "api03-" + "Zx9k" * 12
    fields = {"kind": "correction", "name": "staging", "confidence": "0.90"}
    entry = file_hot.add_entry(str(shop_inbox(world).parent), "updates", fields, f"Use it with {key}", now=NOW)
    before, rejected = shop_inbox(world).read_bytes(), shop_inbox(world, "rejected.jsonl")
    memtui("reject", "J5VMX3", "BV8W63")
    assert len(ids(memtui, "drafts")) == 4
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


@pytest.mark.slow
def test_a_snoozed_draft_is_in_no_list_and_no_count_until_then_or_now(memtui):
    before = ids(memtui, "drafts")
    count = memtui.json("status")["waiting"]["updates"]
    done = memtui("reject", "J5VMX3", "--later", "3d")
    assert done.out.endswith("  J5VMX3  No snapshot tests for components\n")
    assert "memtui undo" in done.err
    assert len(ids(memtui, "drafts")) == len(before) - 1
    assert memtui.json("status")["waiting"]["updates"] == count - 1
    listing = memtui("inbox").out
    assert "No snapshot tests" not in listing
    assert "1 for later, until" in listing
    assert "memtui inbox --later" in listing
    (entry,) = memtui.json("inbox", "--later")["entries"]
    assert (entry["id"][-6:], bool(entry["until"])) == ("J5VMX3", True)
    later = memtui("inbox", "--later").out
    assert later.splitlines()[1].split() == ["KIND", "ID", "UNTIL", "WHERE", "WHAT"]
    assert "No snapshot tests" in later
    assert "memtui reject ID --later now" in later
    memtui("undo")
    assert ids(memtui, "drafts") == before
    data = memtui.json("reject", "J5VMX3", "--later", "2099-01-01 14:00")
    assert [each[-6:] for each in data["decided"]] == ["J5VMX3"]
    assert data["until"].startswith("209")
    memtui("reject", "--all", "--one-offs")  # but for what is for later
    data = memtui.json("reject", "--all", "--later", "now")
    assert (len(data["decided"]), data["until"]) == (1, None)
    assert [each[-6:] for each in ids(memtui, "drafts")] == ["J5VMX3"]
    assert memtui("reject", "--all", "--later", "now", check=False).code == 3
    assert "Nothing is for later" in memtui("inbox", "--later").out


def test_a_draft_is_shown_in_its_setting_with_the_memories_alike(memtui, world):
    data = memtui.json("inbox", "J5VMX3")
    said = data["setting"]["said"]
    assert [each["hit"] for each in said[:4]] == [False, False, True, False]
    assert said[2]["text"] in data["evidence"][-1]
    assert data["becomes"]["path"] == world.shop + "/.claude/memory/no-snapshot-tests.md"
    text = memtui("inbox", "J5VMX3").out
    assert "› you   no, no snapshots please" in text
    assert "  agent Replaced by assertions" in text
    (path,) = Path(world.env["HOME"], ".claude/projects").rglob(f"{world.sessions['today']}.jsonl")
    path.unlink()
    data = memtui.json("inbox", "J5VMX3")
    assert (data["setting"]["said"], "gone" in data["setting"]["problem"]) == ([], True)
    text = memtui("inbox", "J5VMX3").out
    assert "no, no snapshots please" in text
    assert "transcript is gone" in text
    directory = paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop))
    fields = {"name": "prefer-pnpm", "type": "feedback", "scope": "project"}
    entry_id = file_hot.add_entry(directory, "updates", fields, "Use pnpm in this repository, never npm or yarn")
    data = memtui.json("inbox", entry_id)
    first = data["alike"][0]
    assert (first["name"], first["scope"], first["score"] > 0.9) == ("prefer-pnpm", "project", True)
    assert data["becomes"]["taken"]
    text = memtui("inbox", entry_id).out
    assert f"{first['score']:.0%} alike  project:prefer-pnpm" in text


OTHER_KINDS = [
    ("note --withdraw J5VMX3", "J5VMX3 is a draft.", "memtui inbox J5VMX3"),
    ("note --withdraw 1R7A0A", "1R7A0A is a todo.", "memtui inbox 1R7A0A"),
    ("approve A09Q6F", "A09Q6F is a note.", "memtui inbox A09Q6F"),
    ("activity J5VMX3", "J5VMX3", "memtui inbox J5VMX3"),
    ("inbox 2CF53G", "2CF53G is a delivery.", "memtui activity 2CF53G"),
    ("inbox 1QYN3C", "1QYN3C was delivered 1m ago.", "memtui activity"),
    ("approve J5VMX3 1R7A0A --name x", "--name is not for todos.", "Nothing was changed."),
    ("approve 1R7A0A --name x", "--name is not for todos.", ""),
    ("reject 1R7A0A --never", "--never is not for todos.", ""),
    ("config lst", "has no “lst”", "Did you mean `memtui config list`?"),
]


@pytest.mark.slow
def test_ids_of_another_kind_are_named_and_one_or_more_or_all_taken(memtui):
    for words, says, hint in OTHER_KINDS:
        refused = memtui(*words.split(), check=False)
        assert refused.code in {2, 3}, words
        assert says in refused.err
        assert hint in refused.err
    assert memtui("reject", check=False).code == 2
    assert memtui("reject", "J5VMX3", "--all", check=False).code == 2
    memtui("reject", "--all", "--one-offs")
    assert ids(memtui, "drafts") == []
    assert memtui("reject", "--all", check=False).code == 3


@pytest.mark.parametrize("command", ["approve", "reject"])
def test_all_leaves_what_looks_like_a_one_off(memtui, world, command):
    directory = paths_hot.inbox_dir(world.root, paths_hot.project_key(world.shop))
    file_hot.add_entry(directory, "updates", {"durable": "0.05", "name": "now"}, "Do it now and only now")
    done = memtui(command, "--all", check=False)
    assert "2 probably one-offs: left in the inbox" in done.err
    if command == "reject":
        assert done.out.count("rejected  ") == 4
        assert "memtui: There are no other drafts.\n" in memtui(command, "--all", check=False).err
    assert "Do it now and only now" in memtui("inbox", "--kind", "drafts").out
    memtui(command, "--all", "--one-offs", check=False)
    assert "Do it now and only now" not in memtui("inbox", "--kind", "drafts").out
