"""Triggers: `memtui show` shows them, `memtui edit` adds and removes them; each change is undone."""

import re

from memtui.base import clock

NOW = clock.parse("2026-11-21T09:00:00Z")


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


def test_what_is_wrong_is_said_and_nothing_is_written(memtui):
    before = memtui.json("show", "payment-provider")
    for words, code in (
        (("--trigger", "x"), 2),
        (("payment-provider", "release-steps", "--trigger", "x"), 2),
        (("payment-provider", "--type", "user", "--trigger", "x"), 2),
        (("payment-provider", "--trigger", " "), 2),
        (("payment-provider", "--no-trigger", "7"), 3),
        (("nothing-of-that-name", "--trigger", "x"), 3),
    ):
        assert memtui("edit", *words, check=False).code == code, words
    assert memtui.json("show", "payment-provider") == before


def test_a_secret_is_taken_out_of_a_line(memtui):
    done = memtui("edit", "payment-provider", "--trigger", "the token ghp_" + "a1B2" * 9)
    assert "taken out" in done.err
    assert "redacted" in lines(memtui)[0]
