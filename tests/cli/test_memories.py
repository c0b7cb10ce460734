"""Memories from the command line: seen with what is wrong with them, changed, moved, deleted, brought back."""

import os
import re
from pathlib import Path

import pytest

import recalls

from .conftest import NOW


def memory(memtui, name):
    return next((m for m in memtui.json("list")["memories"] if m["file"] == name + ".md"), None)


def test_the_list_says_what_is_wrong_with_each(memtui):
    assert memory(memtui, "prefer-pnpm")["flags"] == []
    # It shall have no line in MEMORY.md, for nobody trusts it.
    assert memory(memtui, "skip-code-review")["flags"] == ["not trusted, not delivered: memtui trust"]
    assert memory(memtui, "release-steps")["flags"] == ["broken link [[deploy-dashboard]]"]
    assert memory(memtui, "meeting-notes")["flags"][0].startswith("broken: line 3")
    text = memtui("list").out
    assert "· broken link [[deploy-dashboard]]" in text  # as doctor marks it: only worth knowing
    assert "! no line in MEMORY.md" in text
    assert max(map(len, text.splitlines())) <= 80


def test_what_falls_below_the_cut_is_named(memtui, world):
    found = memtui.json("list", "--project", world.blog, "--scope", "auto")["memories"]
    flags = {m["name"]: m["flags"] for m in found}
    assert flags["writing-style"] == []
    assert "over its limit" in flags["newsletter"][0]
    (index,) = memtui.json("check", "--project", world.blog, "--scope", "auto", check=False)["indexes"]
    assert [entry["target"] for entry in index["below"]] == ["newsletter.md"]
    assert index["cut_line"] == 201


def test_deliveries_and_uses_are_counted(memtui):
    found = memory(memtui, "prefer-pnpm")
    assert (found["deliveries"], found["uses"]) == (4, 1)
    assert memory(memtui, "skip-code-review")["deliveries"] == 0


def test_what_came_of_recalling_memories_is_told(memtui, world):
    recalls.log(world, memory(memtui, "prefer-pnpm")["path"])
    found = memory(memtui, "prefer-pnpm")
    assert {key: found[key] for key in ("recalled", "opened", "corrected", "tokens")} == recalls.COUNTS
    assert (
        next(m["name"] for m in memtui.json("list", "--scope", "project", "--sort", "recalled")["memories"])
        == "prefer-pnpm"
    )
    assert (
        next(m["name"] for m in memtui.json("list", "--scope", "project", "--sort", "used")["memories"])
        == "prefer-pnpm"
    )
    words = "recalled 2×, opened 1×, corrected again 1×, about 200 tokens"
    assert " ".join(words.split()[1:]) in " ".join(memtui("show", "prefer-pnpm").out.split())
    assert words in memtui("activity", recalls.LAST).out
    assert words.removeprefix("recalled ") in " ".join(memtui("activity", recalls.SESSION).out.split())


def test_a_narrow_list_has_names_that_can_be_typed(memtui):
    memtui.env["COLUMNS"] = "40"
    out = memtui("list").out
    for name in ("concise-answers", "prefer-pnpm", "release-steps", "meeting-notes"):
        assert name in out


def test_a_wide_list_has_columns_for_recalls_and_a_narrow_one_does_without(memtui, world):
    recalls.log(world, memory(memtui, "prefer-pnpm")["path"])
    narrow = memtui("list", "--scope", "project").out
    assert "RECALLED" not in narrow
    memtui.env["COLUMNS"] = "160"
    wide = memtui("list", "--scope", "project").out
    head, row = (next(line for line in wide.splitlines() if word in line) for word in ("RECALLED", "prefer-pnpm"))
    assert row[head.index("RECALLED") : head.index("DESCRIPTION")].split() == ["2×", "4×"]
    assert "Use pnpm in this repository, never npm" in row


def test_filters_and_orders(memtui):
    assert {m["type"] for m in memtui.json("list", "type:tool")["memories"]} == {"tool"}
    assert {m["scope"] for m in memtui.json("list", "--scope", "agent")["memories"]} == {
        "agent:reviewer",
        "agent:migrator@project",
    }
    by_age = [m["name"] for m in memtui.json("list", "--scope", "project", "--sort", "age")["memories"]]
    assert by_age == ["skip-code-review", "release-steps", "prefer-pnpm", "payment-provider"]
    assert "writing-style" in {m["name"] for m in memtui.json("list", "--all-projects")["memories"]}


def test_list_and_search_take_the_query_of_the_screen(memtui):
    assert memtui("list", "pnpm", "type:feedback", "--names").out.split() == ["prefer-pnpm"]
    assert memtui("list", "project:blog", "exclamation", "--names").out.split() == ["writing-style"]
    assert {hit["name"] for hit in memtui.json("search", "pnpm", "type:feedback")["hits"]} == {"prefer-pnpm"}
    assert memtui.json("search", "pnpm is:untrusted")["hits"] == []
    refused = memtui("list", "is:lost", check=False)
    assert refused.code == 2
    assert "is: takes never, problem, untrusted, pinned, muted." in refused.err
    assert "Did you mean type:? The query takes type:, scope:" in memtui("list", "typ:tool", check=False).err
    assert "Did you mean scope:global?" in memtui("list", "scope:globl", check=False).err


def test_search_lists_what_terms_alone_mean_and_names_a_value_that_there_is_not(memtui):
    hits = {hit["name"] for hit in memtui.json("search", "type:feedback")["hits"]}
    assert hits == {"conventional-commits", "prefer-pnpm", "review-checklist", "skip-code-review"}
    assert [hit["name"] for hit in memtui.json("search", "is:never")["hits"]] == ["skip-code-review"]
    assert "There is no type:frob. type: takes user," in memtui("search", "type:frob", "database", check=False).err
    assert memtui("search", "type:", check=False).code == 2


@pytest.mark.parametrize("command", ["show", "edit", "rm", "history", "mv"])
def test_a_part_of_a_name_is_answered_with_the_memories_that_have_it(memtui, command):
    new = ["new-name"] if command == "mv" else []
    done = memtui(command, "pnpm", *new, check=False)
    assert (done.code, done.err) == (3, "memtui: There is no memory “pnpm”.\n  Did you mean project:prefer-pnpm?\n")
    if command != "show":
        assert "J5VMX3 is a draft." in memtui(command, "J5VMX3", *new, check=False).err


def test_show_offers_what_waits_where_no_memory_is_called_alike(memtui):
    done = memtui("show", "ask before", check=False)
    assert "There is no memory “ask before”.\n  Did you mean BV8W63 (“Ask before writing" in done.err


@pytest.mark.parametrize("words", ["mv editor --scope mars", "approve J5VMX3 --scope mars"])
def test_a_scope_that_there_is_not_is_answered_with_those_that_can_be_written(memtui, words):
    done = memtui(*words.split(), check=False)
    assert "There are: global, project, auto, agent:reviewer, agent:migrator@project.\n" in done.err


def test_a_filter_that_nothing_fits_does_not_say_that_there_are_no_memories(memtui):
    told = memtui("list", "type:tool is:untrusted").out
    assert "No memories" not in told
    assert "No matches." in told
    assert "Types here: feedback, project, reference, tool, untyped, user" in told
    assert "Did you mean type:tool?" in memtui("list", "type:tol", check=False).err


def test_a_memory_is_shown_with_its_links_both_ways(memtui):
    found = memtui.json("show", "prefer-pnpm")
    assert (found["links"], found["backlinks"]) == (["release-steps"], ["release-steps"])
    assert found["fields"]["metadata"] == {"type": "feedback"}


def test_raw_is_the_files_bytes(memtui, world):
    path = Path(world.shop, ".claude/memory/payment-provider.md")
    assert memtui("show", "payment-provider", "--raw").out == path.read_text()


def test_text_of_others_can_not_act_on_the_terminal(memtui, world):
    evil = "\x1b]0;owned\x07 \x1b[2J \u202egnp.exe \x9b31m"
    data = f"---\nname: evil\ndescription: 'x {evil}'\n---\n\n{evil}\n"
    Path(world.config, "memory/evil.md").write_text(data)
    for words in (["list"], ["show", "evil"], ["search", "owned"], ["doctor"], ["check"], ["show", "evil", "--raw"]):
        out = memtui(*words, check=False).out if "--raw" not in words else ""
        assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set(out)
    assert memtui.json("show", "evil")["body"].strip() == evil


def test_search_forgives_a_typing_error_and_ranks_names_first(memtui):
    hits = memtui.json("search", "pnpm")["hits"]
    assert hits[0]["name"] == "prefer-pnpm"
    assert memtui.json("search", "concsie")["hits"][0]["name"] == "concise-answers"
    assert memtui.json("search", "pnpm", "giraffe")["hits"] == []
    assert "--all-projects" in memtui("search", "giraffe").out


def test_a_limit_of_0_is_for_all_and_none_is_less(memtui):
    every = memtui.json("search", "pnpm")["hits"]
    assert memtui.json("search", "pnpm", "--limit", "0")["hits"] == every
    assert len(every) > len(memtui.json("search", "pnpm", "--limit", "1")["hits"])
    assert "give a number, 0 or more, not -1" in memtui("activity", "--sessions", "--limit", "-1", check=False).err


def test_a_pipe_that_brings_nothing_empties_no_memory(memtui):
    refused = memtui("edit", "editor", "--body", "-", stdin=b"", check=False)
    assert refused.code == 2
    assert "Standard input is empty." in refused.err
    assert "Helix" in memtui("show", "editor").out


def test_search_lists_the_very_word_before_parts_of_words_and_those_before_what_is_alike(memtui):
    for name, description, body in (
        ("look-and-feel", "How it should look", "Plain."),
        ("blocklist", "Whom to refuse", "Ask first."),
        ("locksmith", "Who opens doors", "Ask first."),
        ("package-manager", "Which one", "Never delete the lock file."),
        ("aa-lock", "What is held", "A file."),
    ):
        memtui("new", name, "--description", description, "--body", body)
    hits = [hit["name"] for hit in memtui.json("search", "lock")["hits"]]
    assert [name for name in hits if name in ("aa-lock", "package-manager")] == hits[:2]
    names = ("locksmith", "blocklist", "look-and-feel")
    assert tuple(name for name in hits if name in names) == names
    hit = next(hit for hit in memtui.json("search", "lock")["hits"] if hit["name"] == "package-manager")
    assert hit["line"] == "Never delete the lock file."


def test_a_new_memory_goes_into_the_repository_only_where_it_has_a_scope(memtui):
    assert memtui.json("new", "use-zod", "--body", "Use zod.")["scope"] == "project"


def test_what_is_about_the_person_goes_to_the_global_scope(memtui):
    assert memtui.json("new", "metric", "--type", "user", "--description", "Metric units")["scope"] == "global"
    assert memtui.json("new", "miles", "--type", "user", "--scope", "project", "--body", "Miles")["scope"] == "project"


def test_elsewhere_it_goes_to_the_clients_own_memory(bare):
    made = bare.json("new", "use-zod", "--type", "tool", "--body", "-", stdin="Use zod.\n\nFor all input.\n")
    assert (made["scope"], made["description"], made["type"]) == ("auto", "Use zod.", "tool")
    assert list(Path(bare.cwd).iterdir()) == [Path(bare.cwd, ".git")]


def test_without_a_body_and_a_terminal_there_is_nothing_to_write(memtui):
    done = memtui("new", "use-zod", check=False)
    assert (done.code, "--body" in done.err) == (2, True)


def test_editing_fields_changes_their_lines_only(memtui, world):
    path = Path(world.shop, ".claude/memory/payment-provider.md")
    before = path.read_text()
    memtui("edit", "payment-provider", "--type", "tool", "--set", "metadata.owner=")
    assert path.read_text() == before.replace("type: reference", "type: tool").replace("  owner: checkout team\n", "")
    assert "Nothing changed" in memtui("edit", "payment-provider", "--type", "tool").out


def test_the_editor_gets_the_file(memtui, world, editor):
    memtui.env["VISUAL"] = editor("path.write_text(path.read_text().replace('every install', 'each install'))")
    memtui("edit", "prefer-pnpm")
    path = Path(world.shop, ".claude/memory/prefer-pnpm.md")
    assert "each install" in path.read_text()
    os.utime(path, (NOW, NOW))  # not the clock's time, which may be before the sample world's
    assert memory(memtui, "prefer-pnpm")["flags"] == ["changed since it was delivered"]


def test_an_editor_that_fails_discards_the_edit(memtui, world, editor):
    path = Path(world.shop, ".claude/memory/prefer-pnpm.md")
    before = path.read_bytes()
    memtui.env["EDITOR"] = editor("path.write_text('gone'); sys.exit(1)")
    assert memtui("edit", "prefer-pnpm", check=False).code == 1
    assert path.read_bytes() == before


def test_a_type_for_a_file_without_frontmatter_gives_it_some(memtui, world):
    path = Path(world.shop, ".claude/memory/ports.md")
    path.write_text("# Ports\n\n8080\n")
    memtui("edit", "ports", "--type", "reference")
    head = "---\nname: ports\ndescription: Ports\nmetadata:\n  type: reference\n---\n\n"
    assert path.read_text() == head + "# Ports\n\n8080\n"


def test_a_conflict_keeps_what_was_typed_and_says_where(memtui, world, editor):
    path = Path(world.shop, ".claude/memory/prefer-pnpm.md")
    other = path.read_text() + "\nSomebody else was faster.\n"
    memtui.env["EDITOR"] = editor(
        f"path.write_text(path.read_text() + 'MINE')\npathlib.Path({str(path)!r}).write_text({other!r})"
    )
    done = memtui("edit", "prefer-pnpm", check=False)
    assert done.code == 4
    assert path.read_text() == other
    draft = Path(done.err.split("kept in ")[1].split(";")[0])
    assert draft.read_text().endswith("MINE")
    draft.unlink()
    draft.parent.rmdir()


def test_a_broken_memory_can_be_mended_in_the_editor_only(memtui, editor):
    assert memtui("edit", "meeting-notes", "--type", "user", check=False).code == 1
    memtui.env["EDITOR"] = editor("path.write_text(path.read_text().replace('about \"soft', 'about soft'))")
    memtui("edit", "meeting-notes")
    assert not any("broken" in flag for flag in memory(memtui, "meeting-notes")["flags"])


def test_renaming_repairs_links_and_index(memtui, world):
    memtui("mv", "prefer-pnpm", "use-pnpm")
    directory = Path(world.shop, ".claude/memory")
    assert "[[use-pnpm]]" in (directory / "release-steps.md").read_text()
    assert "](use-pnpm.md)" in (directory / "MEMORY.md").read_text()
    memtui("undo")
    assert "[[prefer-pnpm]]" in (directory / "release-steps.md").read_text()


def test_moving_copying_deleting_and_restoring(memtui, world):
    memtui("mv", "test-database", "--scope", "global")
    assert memory(memtui, "test-database")["scope"] == "global"
    memtui("mv", "--copy", "test-database", "agent:reviewer:db")
    assert memory(memtui, "db")["scope"] == "agent:reviewer"
    memtui("rm", "db", "test-database")
    assert memory(memtui, "db") is None
    assert {item["name"] for item in memtui.json("history")["trash"]} == {"db", "prefer-tabs", "test-database"}
    memtui("history", "test-database", "--restore")
    assert memory(memtui, "test-database")["scope"] == "global"


@pytest.mark.parametrize("verb", ["mv", "mv --copy"])
@pytest.mark.parametrize(("word", "scope"), [("global", "global"), ("Global", "global")])
def test_a_scope_in_the_place_of_the_new_name_is_no_name_and_the_right_command_is_told(memtui, verb, word, scope):
    done = memtui(*verb.split(), "test-database", word, check=False)
    assert done.code == 2
    assert f"memtui {verb} --scope {scope} test-database" in done.err
    assert memory(memtui, "test-database")["scope"] == "auto"
    assert memory(memtui, word) is None


def test_a_scope_behind_several_memories_is_told_as_well(memtui):
    done = memtui("mv", "prefer-pnpm", "release-steps", "global", check=False)
    assert (done.code, "memtui mv --scope global prefer-pnpm release-steps" in done.err) == (2, True)
    done = memtui("mv", "prefer-pnpm", "agent:nobody", check=False)
    assert (done.code, "“agent:nobody” is a scope" in done.err, "memtui list" in done.err) == (2, True, True)


@pytest.mark.parametrize(("target", "scope"), [("auto:test-db", "auto"), ("Global:test-db", "global")])
def test_a_new_name_may_be_given_as_lists_name_a_memory(memtui, target, scope):
    memtui("mv", "--copy", "test-database", target)
    assert (memory(memtui, "test-db")["scope"], memory(memtui, "test-database")["scope"]) == (scope, "auto")
    memtui("rm", "test-db", "--yes")
    memtui("mv", "auto:test-database", target)
    assert (memory(memtui, "test-db")["scope"], memory(memtui, "test-database")) == (scope, None)


def test_a_scope_and_a_name_are_not_called_a_scope(memtui):
    nope = memtui("mv", "nope", "auto:x", check=False)
    assert (nope.code, "nope" in nope.err, "is a scope" in nope.err) == (3, True, False)
    several = memtui("mv", "prefer-pnpm", "release-steps", "auto:x", check=False)
    assert (several.code, "--scope SCOPE" in several.err, "is a scope" in several.err) == (2, True, False)
    refused = memtui("mv", "skip-code-review", "global:reviews", check=False)
    assert (refused.code, "is not trusted" in refused.err) == (1, True)


def test_moving_into_the_scope_where_it_is_names_the_command_that_renames(memtui):
    done = memtui("mv", "prefer-pnpm", "--scope", "project", check=False)
    assert (done.code, "memtui mv project:prefer-pnpm NEWNAME" in done.err) == (1, True)
    memtui("mv", "prefer-pnpm", "NEWNAME")


def test_a_name_that_can_mean_several_is_told_with_references_as_everywhere(memtui):
    memtui("mv", "--copy", "prefer-pnpm", "--scope", "global")
    said = memtui("show", "prefer-pnpm", check=False).err
    assert "global:prefer-pnpm, project:prefer-pnpm" in said


def test_moving_takes_the_option_of_the_other_commands(memtui):
    memtui("mv", "prefer-pnpm", "release-steps", "--scope", "global")
    assert memory(memtui, "prefer-pnpm")["scope"] == memory(memtui, "release-steps")["scope"] == "global"


def test_undo_and_redo_go_through_the_history(memtui):
    memtui("rm", "prefer-pnpm")
    memtui("undo")
    assert memory(memtui, "prefer-pnpm")
    memtui("undo", "--redo")
    assert memory(memtui, "prefer-pnpm") is None
    rows = memtui.json("undo", "--list")["history"]
    assert (rows[0]["summary"], rows[0]["state"]) == ("remove project:prefer-pnpm", "done")
    memtui("undo", rows[0]["id"][-6:])
    assert memory(memtui, "prefer-pnpm")


def test_a_memory_is_trashed_and_only_deleted_when_it_is_for_good(memtui):
    done = memtui("rm", "prefer-pnpm")
    assert (done.out.startswith("removed  project:prefer-pnpm"), done.err) == (True, "To undo it: memtui undo\n")
    missing = memtui("history", "zzzz", "--restore", check=False)
    assert missing.err == "memtui: There is no removed memory “zzzz”.\n  `memtui history` lists the trash.\n"
    memtui("rm", "--purge", "prefer-pnpm", "--yes")
    table = memtui("undo", "--list").out.splitlines()
    assert "done           delete project:prefer-pnpm for good" in table[1]
    assert "gone for good  remove project:prefer-pnpm" in table[2]


def test_for_good_needs_a_yes(memtui):
    assert memtui("rm", "prefer-pnpm", "--purge", check=False).code == 1
    assert memory(memtui, "prefer-pnpm")
    memtui("rm", "prefer-pnpm", "--purge", "--yes")
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
        "- [old-wiki](old-wiki.md) — The wiki, until we moved",
    }
    memtui("undo")
    assert path.read_text() == before


def test_the_list_shows_what_wants_attention_or_was_never_delivered_and_the_worst_first(memtui):
    assert set(memtui("list", "is:problem", "--names").out.split()) >= {"meeting-notes", "skip-code-review"}
    assert "prefer-pnpm" not in memtui("list", "is:problem", "--names").out
    assert not memtui("list", "is:pinned", "--names").out
    memtui("edit", "prefer-pnpm", "--set", "pinned=true")
    assert memtui("list", "is:pinned", "--names").out.split() == ["prefer-pnpm"]
    assert memtui("list", "is:never", "--names").out.split() == ["skip-code-review"]
    assert "delivered never" in " ".join(memtui("show", "skip-code-review").out.split())
    assert "delivered loaded by Claude Code itself" in " ".join(memtui("show", "test-database").out.split())
    assert memtui("list", "--scope", "project", "--sort", "flags", "--names").out.split()[0] == "skip-code-review"


def test_a_memory_that_was_delivered_before_it_was_renamed_or_moved_was_not_never_delivered(memtui):
    def shown(name):
        return " ".join(memtui("show", name).out.split())

    times = re.search(r"delivered \d+×", shown("prefer-pnpm"))[0]
    memtui("mv", "prefer-pnpm", "use-pnpm")
    assert times in shown("use-pnpm")
    memtui("mv", "use-pnpm", "--scope", "global")
    assert times in shown("use-pnpm")
    memtui("rm", "use-pnpm")
    memtui("history", "use-pnpm", "--restore")
    assert times in shown("use-pnpm")
    memtui("rm", "use-pnpm")
    memtui("new", "use-pnpm", "--scope", "global", "--body", "Another one.")
    assert "delivered never" in shown("use-pnpm")
    for _ in range(6):
        memtui("undo")
    assert times in shown("prefer-pnpm")


def test_a_renamed_memory_keeps_its_deliveries_in_lists_sums_and_filters(memtui):
    sent = len(memtui.json("activity", "--memory", "conventional-commits")["deliveries"])
    memtui("mv", "conventional-commits", "cc")
    assert memtui("list", "is:never", "--names").out.split() == ["skip-code-review"]
    found = memtui.json("activity", "--memory", "cc")["deliveries"]
    assert len(found) == sent > 0
    # What was delivered stays what it was.
    assert "conventional-commits" in {item.get("id") for each in found for item in each["items"]}
    assert len(memtui.json("activity", "--memory", "conventional-commits")["deliveries"]) == sent


def test_a_memory_that_takes_the_name_of_a_renamed_one_has_none_of_its_deliveries(memtui):
    before = memtui.json("show", "conventional-commits")["deliveries"]
    memtui("mv", "conventional-commits", "cc")
    memtui("mv", "skip-code-review", "conventional-commits")
    assert memtui.json("show", "cc")["deliveries"] == before > 0
    assert memtui.json("show", "conventional-commits")["deliveries"] == 0
    assert memtui("list", "is:never", "--names").out.split() == ["conventional-commits"]
    assert memtui.json("activity", "--memory", "conventional-commits")["deliveries"] == []


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


def test_trust_is_given_shown_and_taken_back(memtui):
    assert memtui.json("trust", "--list")["new"] == ["skip-code-review.md"]
    text = memtui.json("show", "skip-code-review")["body"].strip()
    assert text in memtui("trust", check=False).out  # nobody is there to say yes
    assert memtui.json("trust", "--list")["new"] == ["skip-code-review.md"]
    assert text in memtui("trust", "--yes").out
    assert memory(memtui, "skip-code-review")["flags"] == ["no line in MEMORY.md"]
    memtui("trust", "--remove")
    assert memtui.json("trust", "--list")["trusted"] == []


@pytest.mark.parametrize("command", ["mv", "mv --copy"])
def test_an_untrusted_memory_leaves_the_repository_only_once_it_is_trusted(memtui, command):
    refused = memtui(*command.split(), "skip-code-review", "--scope", "global", check=False)
    assert refused.code == 1
    assert "memtui trust skip-code-review" in refused.err
    memtui("trust", "skip-code-review", "--yes")
    memtui(*command.split(), "skip-code-review", "--scope", "global")
    assert memtui.json("show", "global:skip-code-review")["name"] == "skip-code-review"


def test_trust_warns_of_a_secret_and_says_that_undo_takes_it_back(memtui, world):
    path = Path(world.shop, ".claude/memory/skip-code-review.md")
    path.write_text(path.read_text() + "\nThe key is AKIAQ3EGZVKX7LMW4RTB.\n")
    done = memtui("trust", "skip-code-review", "--yes")
    assert "! This looks like it holds an AWS" in done.out
    assert "To undo it: memtui undo" in done.err
    assert "To undo it: memtui undo" in memtui("trust", "--remove", "skip-code-review").err
    assert "memtui undo" not in memtui("trust", "--remove", "skip-code-review").err


def test_trust_counts_what_it_trusted_now(memtui):
    assert "trusted: 1 memory\n" in memtui("trust", "--yes").out
    assert "All are trusted already." in memtui("trust", "--yes").out
    again = memtui("trust", "skip-code-review", "--yes")
    assert "All are trusted already." in again.out
    assert "memtui undo" not in again.err


def test_some_memories_are_trusted_by_name_and_undo_takes_back_just_that(memtui, world):
    path = Path(world.shop, ".claude/memory/prefer-pnpm.md")
    before = path.read_text()
    path.write_text(before.replace("broke CI twice", "broke CI thrice"))
    assert memtui.json("trust", "--list")["changed"] == ["prefer-pnpm.md"]
    done = memtui.json("trust", "prefer-pnpm", "--yes")
    assert done["newly"] == ["prefer-pnpm.md"]
    assert done["new"] == ["skip-code-review.md"]
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


def test_a_project_without_memories_has_nothing_to_trust(bare):
    assert bare("trust", check=False).code == 3
    assert "no memories" in bare("trust", "--list").out


@pytest.mark.parametrize(
    "words",
    [
        ["list"],
        ["activity"],
        ["activity", "--sessions"],
        ["inbox", "--kind", "todos"],
        ["inbox"],
        ["check"],
        [],
    ],
)
def test_an_empty_machine_says_what_to_do_next(bare, words):
    out = bare(*words).out
    assert out.strip()
    if words != ["check"]:
        assert "memtui" in out or "pending-items.md" in out


def test_long_names_of_fields_leave_a_gap(memtui):
    memtui("approve", "J5VMX3")
    memtui("edit", "no-snapshot-tests", "--set", "metadata.reviewedByThePersonAndMore=yes")
    text = memtui("show", "no-snapshot-tests").out
    assert "metadata.reviewedByThePersonAndMore yes" in text
    assert "origin" in text


def test_what_one_rm_deleted_comes_back_with_one_undo(memtui):
    memtui.json("rm", "prefer-pnpm", "release-steps")
    assert memory(memtui, "prefer-pnpm") is None
    memtui.json("undo")
    assert memory(memtui, "prefer-pnpm") is not None
    assert memory(memtui, "release-steps") is not None


def test_a_memory_of_another_project_is_named_without_the_client_s_slug(memtui, world):
    first, rest = memtui("rm", "auto:blog:newsletter").out.split("newsletter", 1)
    assert first.endswith(f"auto:{world.blog}:")
    assert "newsletter.md" in rest
    assert "auto:blog" in memtui("history").out
    assert "auto:blog" in memtui("search", "exclamation", "--all-projects").out


@pytest.mark.parametrize("words", [("",), (" ", "")])
def test_a_search_for_nothing_says_what_to_give(memtui, words):
    refused = memtui("search", *words, check=False)
    assert refused.code == 2
    assert "There is nothing to search for." in refused.err
    assert "Give a word: memtui search pnpm." in refused.err


def test_an_empty_type_is_wrong_usage(memtui):
    refused = memtui("edit", "prefer-pnpm", "--type", "", check=False)
    assert (refused.code, "A type can't be empty." in refused.err) == (2, True)


def test_a_search_shows_this_project_s_memories_before_others_that_match_as_well(memtui):
    memtui.json("new", "zebra-here", "--description", "What zebras are", "--body", "It has stripes.")
    memtui.json(
        "new", "zebra-away", "--scope", "auto:blog", "--description", "What a zebra is", "--body", "It has stripes."
    )
    hits = memtui.json("search", "zebra", "--all-projects")["hits"]
    assert [hit["name"] for hit in hits] == ["zebra-here", "zebra-away"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["new", "fresh", "--body", "Fresh."], "To undo it: memtui undo"),
        (["edit", "prefer-pnpm", "--description", "pnpm, always"], "To undo it: memtui undo"),
        (["edit", "prefer-pnpm", "editor", "--type", "project"], "To undo them: memtui undo"),
        (["mv", "prefer-pnpm", "pnpm-always"], "To undo it: memtui undo"),
        (["mv", "--copy", "prefer-pnpm", "pnpm-copy"], "To undo it: memtui undo"),
        (["mv", "prefer-pnpm", "editor", "--scope", "auto"], "To undo them: memtui undo"),
    ],
)
def test_what_changes_a_memory_says_that_undo_takes_it_back(memtui, words, said):
    assert said in memtui(*words).err
    memtui("undo")


def test_an_edit_that_changes_nothing_does_not_speak_of_undo(memtui):
    memtui("edit", "prefer-pnpm", "--description", "pnpm, always")
    assert "undo" not in memtui("edit", "prefer-pnpm", "--description", "pnpm, always").err


def test_after_a_move_the_finding_says_where_the_memory_is(memtui):
    memtui("mv", "prefer-pnpm", "--scope", "global")
    assert "broken link [[prefer-pnpm]]: it is in global" in memory(memtui, "release-steps")["flags"]
    for command in ("doctor", "check"):
        found = memtui.json(command, check=False)["findings"]
        (one,) = [
            each for each in found if each["code"] == "memories.elsewhere" and "[[prefer-pnpm]]" in each["message"]
        ]
        assert one["message"].endswith("It is in global, and a link leads within its scope only.")
        # Another memory of that name would be a duplicate.
        assert one["remedy"].startswith("memtui mv global:prefer-pnpm --scope project, or ")
        assert "memtui new" not in one["remedy"]


def full_index(world):
    """Fill the global MEMORY.md to its last line; the memory to come belongs into its first section."""
    directory = Path(world.env["HOME"], ".claude/memory")
    lines = "".join(f"- [m{n}](m{n}.md) — Memory {n}\n" for n in range(196))
    for n in range(196):
        (directory / f"m{n}.md").write_text(f"---\nname: m{n}\ndescription: Memory {n}\ntype: user\n---\nText {n}.\n")
    index = directory / "MEMORY.md"
    index.write_text(f"## Reference\n\n- [m0](m0.md) — Memory 0\n\n## User\n{lines.partition(chr(10))[2]}")
    for path in directory.glob("*.md"):
        if path != index and not re.fullmatch(r"m\d+\.md", path.name):
            path.unlink()
    for name in ("new-one", "new-two"):
        (directory / f"{name}.md").write_text(f"---\nname: {name}\ndescription: New\ntype: reference\n---\nText.\n")
    return index


@pytest.mark.parametrize("command", [["check", "--scope", "global", "--fix", "--yes"], ["check", "--fix", "--yes"]])
def test_filling_in_lines_pushes_none_below_the_cut(memtui, world, command):
    index = full_index(world)
    before = index.read_text().splitlines()
    assert len(before) == 200
    memtui(*command, check=False)
    after = index.read_text().splitlines()
    assert after[:200] == before
    assert after[202:] == ["- [new-one](new-one.md) — New", "- [new-two](new-two.md) — New", "-->"]
    found = memtui.json("check", "--scope", "global", check=False)
    assert (found["indexes"][0]["below"], found["indexes"][0]["missing"]) == ([], [])
    memtui("undo", "--yes")
    assert index.read_text().splitlines() == before


def test_a_line_that_finds_room_goes_to_its_section(memtui, world):
    index = full_index(world)
    index.write_text(index.read_text().replace("- [m195](m195.md) — Memory 195\n", "- [gone](gone.md) — Gone\n"))
    Path(index.parent, "m195.md").unlink()
    memtui("check", "--scope", "global", "--fix", "--yes", check=False)
    text = index.read_text()
    assert text.splitlines()[3] == "- [new-one](new-one.md) — New"  # in the place of the line that went
    assert text.endswith("- [new-two](new-two.md) — New\n-->\n")


def test_a_name_that_is_in_the_trash_says_so(memtui):
    memtui("rm", "prefer-pnpm")
    for words in (("show", "prefer-pnpm"), ("rm", "project:prefer-pnpm"), ("mv", "prefer-pnpm", "pp")):
        done = memtui(*words, check=False)
        assert done.code == 3
        assert "It is in the trash: memtui history" in done.err
    memtui("history", *done.err.split()[-2:])
    memtui("show", "prefer-pnpm")


def test_every_form_of_a_link_follows_a_rename_and_lint_names_what_leads_nowhere(memtui, world):
    directory = Path(world.shop, ".claude/memory")
    forms = '[[{n}.md]] [[ {n} ]] [[./{n}]] [md]({n}.md) [x](./{n}.md#h "t")\n\n| [[{n}\\|cell]] |\n\n    {n} [[{n}]]\n'
    body = forms.format(n="prefer-pnpm").replace("    prefer-pnpm", "    old")
    path = directory / "links.md"
    path.write_text(
        "---\nname: links\ndescription: Links\n---\n\n" + body + "\n[x](gone.md) [[global:x]] a[[0]] [[p.png]]\n"
    )
    memtui("trust", "links", "--yes")
    before = path.read_bytes()
    assert memory(memtui, "links")["flags"][-2:] == ["broken link gone.md", "broken link [[global:x]]"]
    rows = [
        each
        for each in memtui.json("check", check=False)["findings"]
        if "links" in str(each["message"]).rpartition(":")[2]
    ]
    told = {each["code"]: (each["message"], each["remedy"]) for each in rows}
    assert told["memories.link"][0].startswith("project has no gone.md, but 1 memory links to it")
    assert told["memories.link"][1].startswith("memtui new ")
    assert told["memories.odd_link"][1] == "Correct or remove the link: memtui edit project:links"
    memtui("mv", "prefer-pnpm", "use-pnpm")
    changed = body.replace("prefer-pnpm", "use-pnpm").replace("    old [[use-pnpm]]", "    old [[prefer-pnpm]]")
    assert changed in path.read_text()
    assert "links" in memtui.json("show", "use-pnpm")["backlinks"]
    memtui("mv", "use-pnpm", "prefer-pnpm")
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("search", "pnpm"), "No memories here."),
        (("recall", "pnpm"), "Nothing would be delivered: there are no memories yet"),
        (("inbox",), "No hooks are installed: memtui setup hooks"),
        (("doctor",), "models: off"),
    ],
)
def test_on_a_fresh_machine_a_command_says_what_is_missing(bare, words, said):
    out = bare(*words, check=False).out
    assert said in out
    assert "dream" not in out
    assert "correct Claude" not in out, "without hooks no session saves a draft"
    assert "memtui new use-pnpm" in out or words[0] in {"inbox", "doctor"}


@pytest.mark.parametrize("term", ["foo:bar", "type:foo", "is:foo", "scope:foo", "project:foo"])
@pytest.mark.parametrize("command", ["list", "search"])
def test_a_term_that_there_is_not_is_wrong_usage(memtui, command, term):
    done = memtui(command, term, check=False)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("memtui: There is no ")
    assert memtui(command, "type:reference", "is:untrusted").code == 0


def test_search_says_that_a_match_is_only_similar(memtui):
    similar = "No memory has these words; those that have similar ones:"
    assert similar in memtui("search", "pnmp").err
    assert similar not in memtui("search", "pnpm").err


def test_a_memory_that_has_the_new_name_already_is_no_step_of_undo(memtui):
    before = memtui.json("undo", "--list")
    done = memtui("mv", "prefer-pnpm", "prefer-pnpm", check=False)
    assert done.code == 1
    assert "prefer-pnpm has that name already." in done.err
    assert "undo" not in done.out + done.err
    assert memtui.json("undo", "--list") == before


def test_memories_whose_links_follow_a_rename_and_its_undo_keep_their_age(memtui):
    path = memtui.json("show", "release-steps")["path"]
    before = os.stat(path).st_mtime
    for words, name in (("mv", "prefer-pnpm", "use-pnpm"), "use-pnpm"), (("undo",), "prefer-pnpm"):
        memtui(*words)
        assert f"[[{name}]]" in Path(path).read_text()
        assert os.stat(path).st_mtime == before


@pytest.mark.parametrize("words", [("new", "empty", "--body", ""), ("edit", "prefer-pnpm", "--body=")])
def test_a_memory_without_a_text_is_refused(memtui, words):
    before = memtui.json("list")
    assert memtui(*words, check=False).code == 2
    assert memtui.json("list") == before


def test_a_memory_is_used_as_often_as_the_tui_says(memtui, world):
    path = memory(memtui, "prefer-pnpm")["path"]
    before = memory(memtui, "prefer-pnpm")["uses"]
    recalls.log(world, path)
    after = memory(memtui, "prefer-pnpm")
    assert after["uses"] > before
    assert (
        f"{after['uses']}×: brought by a prompt, or opened or written by the agent" in memtui("show", "prefer-pnpm").out
    )
