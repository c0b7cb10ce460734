"""Several memories at once: what fails is told, the rest is done, and one undo undoes it."""

from pathlib import Path

import pytest

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


def test_purging_goes_on_after_a_failure(memtui):
    done = memtui("rm", "--purge", "--yes", "prefer-pnpm", "no-such", "release-steps", "--json", check=False)
    assert (done.code, len(done.data["purged"]), len(done.data["failed"])) == (1, 2, 1)


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
