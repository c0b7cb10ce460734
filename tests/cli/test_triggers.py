"""`memtui triggers`: lines are shown, added, removed and edited; each change is undone."""

import re

import pytest

from memtui.core.base import clock
from memtui.core.memories import learned

NOW = clock.parse("2026-11-21T09:00:00Z")


def lines(memtui, name="prefer-pnpm"):
    return [row["text"] for row in memtui.json("triggers", name)["triggers"]]


def test_lines_are_added_shown_removed_by_number_or_text_and_undone(memtui):
    assert "No triggers" in memtui("triggers", "prefer-pnpm").out
    assert "prefer-pnpm" not in memtui("triggers").out
    done = memtui("triggers", "prefer-pnpm", "--add", "install a package", "--add", "which package manager?")
    assert "1  install a package  yours" in done.out
    assert "undo" in done.err
    assert "install a package" in memtui("triggers").out
    assert re.search(r"triggers +install a package", memtui("show", "prefer-pnpm").out)
    rows = {row["name"]: row["triggers"] for row in memtui.json("triggers")["memories"]}
    assert [each["origin"] for each in rows["prefer-pnpm"]] == ["person", "person"]
    memtui("triggers", "prefer-pnpm", "--remove", "1", "--add", "add a dependency")
    assert lines(memtui) == ["which package manager?", "add a dependency"]
    memtui("triggers", "prefer-pnpm", "--remove", "WHICH package manager?")
    assert lines(memtui) == ["add a dependency"]
    assert memtui("triggers", "prefer-pnpm", "--add", "Add a dependency").err == "Nothing changed.\n"
    memtui("undo")
    memtui("undo")
    memtui("undo", "--yes")
    assert lines(memtui) == []


def test_lines_are_edited_in_the_editor(memtui, tmp_path):
    memtui("triggers", "prefer-pnpm", "--add", "first", "--add", "second")
    script = tmp_path / "editor"
    script.write_text('#!/bin/sh\nsed -i "s/second/another/; s/^first$//" "$1"\n')
    script.chmod(0o755)
    memtui.env["EDITOR"] = str(script)
    memtui("triggers", "prefer-pnpm", "--edit")
    assert lines(memtui) == ["another"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--add", "x"), 2),
        (("prefer-pnpm", "release-steps"), 2),
        (("prefer-pnpm", "--edit", "--add", "x"), 2),
        (("prefer-pnpm", "--add", " "), 2),
        (("prefer-pnpm", "--remove", "7"), 3),
        (("nothing-of-that-name",), 3),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(memtui, words, code):
    before = memtui.json("triggers")
    assert memtui("triggers", *words, check=False).code == code
    assert memtui.json("triggers") == before


def test_without_any_it_says_how_to_add_one(bare):
    assert "No memory has triggers" in bare("triggers").out


def test_a_memory_is_muted_for_prompts_like_one_and_unmuted(memtui):
    done = memtui("triggers", "prefer-pnpm", "--mute", "how do I deploy this?", "--add", "install a package")
    assert "Never recalled for prompts like\n  1  how do I deploy this?" in done.out
    assert memtui.json("triggers", "prefer-pnpm")["muted"][0]["prompt"] == "how do I deploy this?"
    memtui("undo")
    assert memtui.json("triggers", "prefer-pnpm")["muted"] == memtui.json("triggers", "prefer-pnpm")["triggers"] == []
    memtui("redo")
    memtui("triggers", "prefer-pnpm", "--unmute", "1")
    assert memtui.json("triggers", "prefer-pnpm")["muted"] == []
    assert memtui("triggers", "prefer-pnpm", "--unmute", "1", check=False).code == 3


def test_a_secret_is_taken_out_of_a_line(memtui):
    done = memtui("triggers", "prefer-pnpm", "--add", "the token ghp_" + "a1B2" * 9)
    assert "taken out" in done.err
    assert "redacted" in lines(memtui)[0]


def test_learned_paths_are_shown_and_forgotten(memtui, world):
    root, directory = (
        world.env.get("MEMTUI_HOME") or f"{world.config}/memtui",
        memtui.json("show", "prefer-pnpm")["path"],
    )
    directory, _, file = directory.rpartition("/")
    learned.note(
        root, "learned-paths", directory, {file: lambda rows: learned.after_use(rows, "web/package.json", NOW)}
    )
    assert "1  web/package.json  1.0×" in memtui("triggers", "prefer-pnpm").out
    memtui("triggers", "prefer-pnpm", "--forget", "web/package.json")
    assert memtui.json("triggers", "prefer-pnpm")["learned_paths"] == []
