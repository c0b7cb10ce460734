"""Memories from the command line: seen with what is wrong with them, changed, moved, deleted, brought back."""

from pathlib import Path

import pytest


def memory(memtui, name):
    return next((m for m in memtui.json("list")["memories"] if m["file"] == name + ".md"), None)


def test_list_and_search_take_the_query_and_no_text_acts_on_the_terminal(memtui, world):
    for words, name in ((("pnpm", "type:feedback"), "prefer-pnpm"), (("project:blog", "exclamation"), "writing-style")):
        assert [row["name"] for row in memtui.json("list", *words)["memories"]] == [name]
    assert {hit["name"] for hit in memtui.json("search", "pnpm", "type:feedback")["hits"]} == {"prefer-pnpm"}
    assert memtui.json("search", "pnpm is:untrusted")["hits"] == []
    refused = memtui("list", "is:lost", check=False)
    assert refused.code == 2
    assert "is: takes never, problem, untrusted, pinned, muted, unkept." in refused.err
    assert "Did you mean type:? The query takes type:, scope:" in memtui("list", "typ:tool", check=False).err
    assert "Did you mean scope:global?" in memtui("list", "scope:globl", check=False).err
    evil = "\x1b]0;owned\x07 \x1b[2J \u202egnp.exe \x9b31m"
    data = f"---\nname: evil\ndescription: 'x {evil}'\n---\n\n{evil}\n"
    Path(world.config, "memory/evil.md").write_text(data)
    for words in (["list"], ["show", "evil"], ["search", "owned"], ["doctor"], ["check"], ["show", "evil", "--raw"]):
        out = memtui(*words, check=False).out if "--raw" not in words else ""
        assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set(out)
    assert memtui.json("show", "evil")["body"].strip() == evil


def test_a_memory_is_shown_with_its_links_and_edited_line_by_line(memtui, world):
    found = memtui.json("show", "prefer-pnpm")
    assert (found["links"], found["backlinks"]) == (["release-steps"], ["release-steps"])
    assert found["fields"]["metadata"] == {"type": "feedback"}
    facts = dict(line.split(maxsplit=1) for line in memtui("show", "prefer-pnpm").out.splitlines()[1:5])
    assert (facts["type"], facts["description"]) == ("feedback", "Use pnpm in this repository, never npm")
    path = Path(world.shop, ".claude/memory/payment-provider.md")
    assert memtui("show", "payment-provider", "--raw").out == path.read_text()
    for words in ("mv editor --scope mars", "approve J5VMX3 --scope mars"):
        done = memtui(*words.split(), check=False)
        assert "There are: global, project, auto, agent:reviewer, agent:migrator@project.\n" in done.err
    path = Path(world.shop, ".claude/memory/payment-provider.md")
    before = path.read_text()
    memtui("edit", "payment-provider", "--type", "tool", "--set", "metadata.owner=")
    assert path.read_text() == before.replace("type: reference", "type: tool").replace("  owner: checkout team\n", "")
    again = memtui("edit", "payment-provider", "--type", "tool")
    assert "Nothing changed" in again.out
    assert "undo" not in again.err


def test_a_new_memory_goes_into_the_repository_only_where_it_has_a_scope(memtui, bare):
    assert memtui.json("new", "use-zod", "--body", "Use zod.")["scope"] == "project"
    assert memtui.json("new", "metric", "--type", "user", "--description", "Metric units")["scope"] == "global"
    assert memtui.json("new", "miles", "--type", "user", "--scope", "project", "--body", "Miles")["scope"] == "project"
    made = bare.json("new", "use-zod", "--type", "tool", "--body", "-", stdin="Use zod.\n\nFor all input.\n")
    assert (made["scope"], made["description"], made["type"]) == ("auto", "Use zod.", "tool")
    assert list(Path(bare.cwd).iterdir()) == [Path(bare.cwd, ".git")]


def test_renaming_moving_copying_deleting_and_restoring(memtui, world):
    memtui("mv", "prefer-pnpm", "use-pnpm")
    directory = Path(world.shop, ".claude/memory")
    assert "[[use-pnpm]]" in (directory / "release-steps.md").read_text()
    assert "](use-pnpm.md)" in (directory / "MEMORY.md").read_text()
    memtui("undo")
    assert "[[prefer-pnpm]]" in (directory / "release-steps.md").read_text()
    memtui("mv", "test-database", "--scope", "global")
    assert memory(memtui, "test-database")["scope"] == "global"
    memtui("mv", "--copy", "test-database", "db")
    assert memory(memtui, "db")["scope"] == "global"
    memtui("rm", "db", "test-database")
    assert memory(memtui, "db") is None
    assert {item["name"] for item in memtui.json("history")["trash"]} == {"db", "prefer-tabs", "test-database"}
    memtui("history", "test-database", "--restore")
    assert memory(memtui, "test-database")["scope"] == "global"
    first, rest = memtui("rm", "auto:blog:newsletter").out.split("newsletter", 1)
    assert first.endswith(f"auto:{world.blog}:"), "named without the client's slug"
    assert "newsletter.md" in rest
    assert "auto:blog" in memtui("history").out
    assert "auto:blog" in memtui("search", "exclamation", "--all-projects").out


def test_a_memory_is_trashed_and_deleted_for_good_only_after_a_yes(memtui):
    done = memtui("rm", "prefer-pnpm")
    assert (done.out.startswith("removed  project:prefer-pnpm"), done.err) == (True, "To undo it: memtui undo\n")
    missing = memtui("history", "zzzz", "--restore", check=False)
    assert missing.err == "memtui: There is no removed memory “zzzz”.\n  `memtui history` lists the trash.\n"
    memtui("undo")
    assert memory(memtui, "prefer-pnpm")
    memtui("undo", "--redo")
    assert memory(memtui, "prefer-pnpm") is None
    rows = memtui.json("undo", "--list")["history"]
    assert (rows[0]["summary"], rows[0]["state"]) == ("remove project:prefer-pnpm", "done")
    memtui("undo", rows[0]["id"][-6:])
    assert memtui("rm", "prefer-pnpm", "--purge", check=False).code == 1
    assert memory(memtui, "prefer-pnpm")
    memtui("rm", "prefer-pnpm")
    memtui("rm", "--purge", "prefer-pnpm", "--yes")
    table = memtui("undo", "--list").out.splitlines()
    assert "done           delete project:prefer-pnpm for good" in table[1]
    assert "gone for good  remove project:prefer-pnpm" in table[2]
    assert memtui("history", "prefer-pnpm", "--restore", check=False).code == 3
    memtui("rm", "prefer-tabs", "--purge", "--yes")
    assert memtui.json("history")["trash"] == []


def test_the_index_is_mended_after_showing_how(memtui, world):
    path = Path(world.shop, ".claude/memory/MEMORY.md")
    before = path.read_text()
    assert "-- [old-wiki]" in memtui("check", "--scope", "project", "--fix", "--dry-run", check=False).out
    assert path.read_text() == before
    memtui("check", "--scope", "project", "--fix", "--yes", check=False)
    after = path.read_text()
    assert "old-wiki" not in after
    assert "](payment-provider.md)" in after
    assert set(before.splitlines()) - set(after.splitlines()) == {
        "- [old-wiki](old-wiki.md) — The wiki, until we moved"
    }
    memtui("undo")
    assert path.read_text() == before


def test_every_memory_says_where_it_comes_from(memtui):
    assert memtui.json("show", "prefer-pnpm")["origin"] == "came with the repository"
    assert memtui.json("show", "concise-answers")["origin"] == "not known"
    assert memtui.json("show", "flaky-upload-test")["origin"] == "session 7c1e55a0"
    memtui("new", "no-mocks", "--body", "No mocks.")
    memtui("mv", "no-mocks", "never-mock")
    assert memtui.json("show", "never-mock")["origin"].startswith("made with memtui")
    memtui("mv", "prefer-pnpm", "--scope", "global")
    assert memtui.json("show", "prefer-pnpm")["origin"].startswith("moved here with memtui")
    memtui("mv", "concise-answers", "--scope", "project")
    assert memtui.json("show", "concise-answers")["origin"].startswith("moved here with memtui")
    memtui("mv", "never-mock", "--scope", "global")
    assert memtui.json("show", "never-mock")["origin"].startswith("made with memtui")


def test_trust_is_given_and_taken_back_and_only_what_is_trusted_leaves(memtui):
    assert memtui.json("trust", "--list")["new"] == ["skip-code-review.md"]
    text = memtui.json("show", "skip-code-review")["body"].strip()
    assert text in memtui("trust", check=False).out  # nobody is there to say yes
    assert memtui.json("trust", "--list")["new"] == ["skip-code-review.md"]
    assert text in memtui("trust", "--yes").out
    assert memory(memtui, "skip-code-review")["flags"] == ["no line in MEMORY.md"]
    memtui("trust", "--remove")
    assert memtui.json("trust", "--list")["trusted"] == []
    for command in (["mv"], ["mv", "--copy"]):
        refused = memtui(*command, "skip-code-review", "--scope", "global", check=False)
        assert refused.code == 1
        assert "memtui trust skip-code-review" in refused.err
    memtui("trust", "skip-code-review", "--yes")
    memtui("mv", "--copy", "skip-code-review", "--scope", "global")
    assert memtui.json("show", "global:skip-code-review")["name"] == "skip-code-review"


def test_some_memories_are_trusted_by_name_and_undo_takes_back_just_that(memtui, world):
    path = Path(world.shop, ".claude/memory/prefer-pnpm.md")
    before = path.read_text()
    path.write_text(before.replace("broke CI twice", "broke CI thrice"))
    assert memtui.json("trust", "--list")["changed"] == ["prefer-pnpm.md"]
    done = memtui.json("trust", "prefer-pnpm", "--yes")
    assert (done["newly"], done["new"]) == (["prefer-pnpm.md"], ["skip-code-review.md"])
    path.write_text(before.replace("broke CI twice", "broke CI always"))
    shown = memtui("trust", "prefer-pnpm", "--yes").out
    assert "broke CI thrice" in shown.partition("as trusted")[2]  # against what was trusted
    assert "broke CI always" in shown
    shown = memtui("trust", "skip-code-review", check=False)  # nobody is there to say yes
    assert "review" in shown.out
    assert memtui.json("trust", "--list")["new"] == ["skip-code-review.md"]
    memtui("trust", "--remove", "prefer-pnpm")
    listed = memtui.json("trust", "--list")
    assert "prefer-pnpm.md" not in listed["trusted"]
    assert "release-steps.md" in listed["trusted"]
    memtui("undo")
    assert "prefer-pnpm.md" in memtui.json("trust", "--list")["trusted"]
    memtui("undo")
    assert memtui.json("trust", "--list")["changed"] == ["prefer-pnpm.md"]
    assert "always" in path.read_text()
    assert memtui("trust", "concise-answers", check=False).code == 3
    assert memtui("trust", "prefer-pnpm", "--always", check=False).code == 2


def test_an_empty_machine_says_what_to_do_next(bare):
    for words in ("list", "activity", "inbox --kind todos", "inbox", ""):
        out = bare(*words.split()).out
        assert "memtui" in out or "pending-items.md" in out, words
    assert bare("check").out.strip()
    assert bare("trust", check=False).code == 3
    assert "no memories" in bare("trust", "--list").out


@pytest.mark.parametrize("words", [("new", "empty", "--body", ""), ("edit", "prefer-pnpm", "--body=")])
def test_a_memory_without_a_text_is_refused(memtui, words):
    before = memtui.json("list")
    assert (memtui(*words, check=False).code, memtui.json("list")) == (2, before)


def test_a_memory_whose_own_check_fails_is_marked_until_it_holds_again(bare):
    top = Path(bare.cwd)
    (top / ".git").rmdir()
    directory = Path(bare.json("status", "--paths")["auto_memory"])
    directory.mkdir(parents=True)
    (directory / "lock.md").write_text("---\nname: lock\ndescription: A\nverify: glob bun.lock\n---\n\nUse bun.\n")

    def said():
        return [" ".join(bare(*words).out.split()) for words in (("list",), ("show", "lock"), ("status",))]

    assert ["its check `glob bun.lock` was not made yet" in out for out in said()[:2]] == [True, True]
    words = "its check `glob bun.lock` fails (since 2026-11-21)"
    assert words in " ".join(bare("check", check=False).out.split())
    assert bare.json("inbox")["entries"][-1]["says"] == f"lock may no longer be true: {words}."
    assert [words in out for out in said()] == [True, True, False]
    assert "! 1 memory whose own check fails" in said()[2]
    assert bare.json("status")["failing"] == ["lock"]
    assert memory(bare, "lock")["check"]["state"] == bare.json("show", "lock")["check"]["state"] == "fails"
    assert memory(bare, "lock")["flags"][0] == words
    (top / "bun.lock").write_text("")
    bare("check", check=False)
    assert ["its check" in out or "own check" in out for out in said()] == [False, False, False]
    assert "check holds since 2026-11-21" in said()[1]
    bare("edit", "lock", "--set", "verify=glob yarn.lock")
    assert "was not made yet" in said()[0]
    bare("check", check=False)
    bare("undo")
    assert "was not made yet" in said()[0], "nothing is said of what the other text had"


def test_a_memory_is_shown_with_its_triggers(bare):
    bare("new", "ports", "--scope", "global", "--description", "Ports", "--body", "The API runs on port 8081.")
    bare("edit", "ports", "--trigger", "which port")
    assert [trigger["text"] for trigger in bare.json("show", "ports")["triggers"]] == ["which port"]
