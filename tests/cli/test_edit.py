"""Values of fields that a memory should not have: refused, or warned of, and named by `memtui check`."""

import re
from pathlib import Path

import pytest

REFUSED = "pinned is true or false, not “banana”"


def test_a_switch_is_true_or_false(memtui):
    done = memtui("edit", "prefer-pnpm", "--set", "pinned=banana", check=False)
    assert done.code
    assert REFUSED in done.err
    for value in ("true", "No", ""):
        memtui("edit", "prefer-pnpm", "--set", f"pinned={value}")


def test_a_secret_is_taken_out_of_a_line(memtui):
    done = memtui("edit", "payment-provider", "--trigger", "the token ghp_" + "a1B2" * 9)
    assert "taken out" in done.err
    assert "redacted" in lines(memtui)[0]


# --- triggers: `memtui show` shows them, `memtui edit` adds and removes them; each change is undone


def lines(memtui, name="payment-provider"):
    return [row["text"] for row in memtui.json("show", name)["triggers"]]


def test_lines_are_added_shown_removed_by_number_or_text_and_undone(memtui):
    done = memtui("edit", "payment-provider", "--trigger", "install a package", "--trigger", "which package manager?")
    assert "1 install a package (yours" in done.out
    assert "undo" in done.err
    assert re.search(r"triggers +1 install a package", memtui("show", "payment-provider").out)
    assert [each["origin"] for each in memtui.json("show", "payment-provider")["triggers"]] == ["person", "person"]
    memtui("edit", "payment-provider", "--no-trigger", "1", "--trigger", "add a dependency")
    assert lines(memtui) == ["which package manager?", "add a dependency"]
    done = memtui("edit", "payment-provider", "--no-trigger", "WHICH package manager?")
    assert "removed: which package manager?" in done.err
    assert lines(memtui) == ["add a dependency"]
    assert memtui("edit", "payment-provider", "--trigger", "Add a dependency").err == "Nothing changed.\n"
    memtui("undo")
    memtui("undo")
    memtui("undo", "--yes")
    assert lines(memtui) == []


def test_what_is_wrong_is_said_and_purging_goes_on_after_a_failure(memtui):
    before = memtui.json("show", "payment-provider")
    for words, code in (
        (("--trigger", "x"), 2),
        (("payment-provider", "release-steps", "--trigger", "x"), 2),
        (("payment-provider", "--type", "user", "--trigger", "x"), 2),
        (("payment-provider", "--trigger", " "), 2),
        (("payment-provider", "--trigger", "test"), 2),
        (("payment-provider", "--no-trigger", "7"), 3),
        (("nothing-of-that-name", "--trigger", "x"), 3),
    ):
        assert memtui("edit", *words, check=False).code == code, words
    assert memtui.json("show", "payment-provider") == before
    done = memtui("rm", "--purge", "--yes", "prefer-pnpm", "no-such", "release-steps", "--json", check=False)
    assert (done.code, len(done.data["purged"]), len(done.data["failed"])) == (1, 2, 1)


# --- several memories at once: what fails is told, the rest is done, and one undo undoes it


NAMES = ("prefer-pnpm", "no-such-memory", "release-steps")


def names(memtui, scope):
    return {row["name"] for row in memtui.json("list", "--scope", scope)["memories"]}


def files(world):
    tops = (world.shop + "/.claude/memory", world.env["HOME"] + "/.claude/memory")
    return {str(path): path.read_bytes() for top in tops for path in Path(top).rglob("*.md")}


@pytest.mark.parametrize(
    "words",
    [
        ["rm", *NAMES],
        ["mv", *NAMES, "--scope", "global"],
        ["mv", "--copy", *NAMES, "--scope", "global"],
        ["edit", *NAMES, "--type", "reference"],
    ],
    ids=lambda words: words[0],
)
def test_one_failure_stops_no_other_and_one_undo_takes_all_back(memtui, world, words):
    before = files(world)
    done = memtui(*words, check=False)
    assert done.code == 1
    assert "memtui: no-such-memory: There is no memory" in done.err
    assert "prefer-pnpm" in done.out
    assert "release-steps" in done.out
    memtui("undo")
    assert files(world) == before
    memtui("undo", "--redo")
    assert files(world) != before
    memtui("undo")
    done = memtui(*words, "--json", check=False)
    assert [row["name"] for row in done.data["failed"]] == ["no-such-memory"]
    (rows,) = [value for key, value in done.data.items() if key in {"deleted", "made", "edited"}]
    assert [row["name"] for row in rows] == ["prefer-pnpm", "release-steps"]


@pytest.mark.parametrize("copy", [[], ["--copy"]])
def test_with_a_scope_a_mistyped_memory_is_not_taken_as_a_new_name(memtui, copy):
    done = memtui("mv", *copy, "prefer-pnpm", "relase-steps", "--scope", "global", check=False)
    assert (done.code, "There is no memory “relase-steps”" in done.err) == (1, True)
    assert "prefer-pnpm" in names(memtui, "global")
    assert "relase-steps" not in names(memtui, "global")


def test_a_new_name_with_a_scope_names_the_option_that_moves(memtui):
    done = memtui("mv", "prefer-pnpm", "global:use-pnpm", check=False)
    assert (done.code, done.err.splitlines()[1].strip()) == (2, "To move it: memtui mv prefer-pnpm --scope global")


def test_many_go_to_the_trash_only_after_a_yes(memtui, world):
    many = [f"many-{number}" for number in range(21)]
    for name in many:
        Path(world.shop, f".claude/memory/{name}.md").write_text(f"---\nname: {name}\n---\nText.\n")
    before = files(world)
    done = memtui("rm", *many, check=False)
    assert done.code == 1
    assert "Nothing was removed." in done.err
    assert "--yes" in done.err
    assert files(world) == before
    memtui("rm", *many[:20])
    memtui("undo")
    assert files(world) == before
    memtui("rm", *many, "--yes")
    assert files(world) != before


def test_the_editor_gets_the_file_and_if_it_fails_the_edit_is_discarded(memtui, world, editor):
    path = Path(world.shop, ".claude/memory/prefer-pnpm.md")
    before = path.read_bytes()
    memtui.env["EDITOR"] = editor("path.write_text('gone'); sys.exit(1)")
    assert memtui("edit", "prefer-pnpm", check=False).code == 1
    assert path.read_bytes() == before
    memtui.env["VISUAL"] = editor("path.write_text(path.read_text().replace('every install', 'each install'))")
    memtui("edit", "prefer-pnpm")
    assert "each install" in path.read_text()
    assert memtui("edit", "meeting-notes", "--type", "user", check=False).code == 1, "it is broken"
    memtui.env["VISUAL"] = editor("path.write_text(path.read_text().replace('about \"soft', 'about soft'))")
    memtui("edit", "meeting-notes")
    assert "broken" not in memtui("show", "meeting-notes").out


def test_a_conflict_keeps_what_was_typed_and_says_where(memtui, world, editor):
    path = Path(world.shop, ".claude/memory/prefer-pnpm.md")
    other = path.read_text() + "\nSomebody else was faster.\n"
    memtui.env["EDITOR"] = editor(
        f"path.write_text(path.read_text() + 'MINE')\npathlib.Path({str(path)!r}).write_text({other!r})"
    )
    done = memtui("edit", "prefer-pnpm", check=False)
    assert (done.code, path.read_text()) == (4, other)
    draft = Path(done.err.split("kept in ")[1].split(";")[0])
    assert draft.read_text().endswith("MINE")
    draft.unlink()
    draft.parent.rmdir()
