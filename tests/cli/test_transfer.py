"""`memtui import` and `memtui export`: what they say, what they ask, and what they refuse."""

from pathlib import Path

import pytest

from memtui.cli.commands import transfer
from memtui.transfer import recognising


def test_the_command_line_knows_every_kind():
    assert set(transfer.KINDS) == set(recognising.KINDS)


def test_an_import_says_what_it_took_it_for_what_came_and_what_did_not(memtui, tmp_path):
    (tmp_path / "CLAUDE.md").write_text("# Fruit\n\nEat an apple a day.\n\n@more.md\n")
    done = memtui("import", str(tmp_path / "CLAUDE.md"), "--dry-run")
    assert "instructions, a section at a time" in done.out
    assert "Would add 1 draft." in done.out
    assert "@more.md is imported from there" in done.out
    before = memtui.json("inbox", "--kind", "drafts")["entries"]
    found = memtui.json("import", str(tmp_path / "CLAUDE.md"))
    assert [each["name"] for each in found["drafts"]] == ["Fruit"]
    assert found["transaction"]
    drafts = memtui.json("inbox", "--kind", "drafts")["entries"]
    assert len(drafts) == len(before) + 1
    assert "imported from CLAUDE.md:1" in memtui("inbox", "--kind", "drafts").out
    memtui("approve", found["drafts"][0]["id"])
    assert "Fruit" in memtui("list").out


def test_a_restore_needs_an_answer_and_an_export(memtui, tmp_path):
    path = str(tmp_path / "mine.zip")
    memtui("export", "global", "--to", path)
    memtui("rm", "concise-answers")
    done = memtui("import", path, "--restore", check=False)
    assert done.code == 1
    assert "--yes answers yes" in done.err
    assert "+ global:concise-answers.md" in done.err
    found = memtui.json("import", path, "--restore", "--yes")
    assert found["restored"] == ["global:concise-answers.md"]
    assert "concise-answers" in memtui("list").out
    (tmp_path / "note.md").write_text("A note.\n")
    done = memtui("import", str(tmp_path / "note.md"), "--restore", check=False)
    assert done.code == 2
    assert "a Markdown file" in done.err


def test_one_scope_of_an_export_can_be_chosen(memtui, tmp_path):
    path = str(tmp_path / "all.zip")
    memtui("export", "--all", "--to", path)
    memtui("rm", "concise-answers")
    found = memtui.json("import", path, "--restore", "--yes", "--only", "global")
    assert found["restored"] == ["global:concise-answers.md"]
    assert {each["scope"] for each in memtui.json("import", path, "--only", "project", "--dry-run")["drafts"]} <= {
        "project"
    }
    done = memtui("import", ".claude/memory", "--only", "global", check=False)
    assert "--only is for an export of memtui" in done.err


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (["export"], 2, "Give a SCOPE, or --all."),
        (["export", "global", "--all"], 2, "Give a SCOPE, or --all."),
        (["export", "nowhere"], 3, "There is no scope"),
        (["export", "instructions:project"], 2, "but instructions"),
        (["import", "nowhere"], 1, "There is no file or folder"),
        (["import", ".", "--from", "csv"], 2, "--from must be one of"),
        (["import", ".claude/memory", "--scope", "nowhere"], 3, "There is no scope"),
    ],
)
def test_what_can_not_be_done_is_said(memtui, words, code, why):
    done = memtui(*words, check=False)
    assert (done.code, why in done.err) == (code, True)
    assert "Traceback" not in done.err


def test_what_a_restore_leaves_out_is_said_before_it_is_asked(memtui, tmp_path):
    (tmp_path / "other/.git").mkdir(parents=True)
    path = str(tmp_path / "all.zip")
    memtui("export", "--all", "--to", path)
    memtui("rm", "concise-answers")
    done = memtui("import", path, "--restore", "--yes")
    said = [each for each in done.out.splitlines() if each.startswith("Left out:")]
    memtui("rm", "concise-answers")
    assert ("Left out:" in memtui("import", path, "--restore", check=False).err) == bool(said)


def test_a_broken_memory_that_is_there_already_is_not_imported_again(memtui, tmp_path):
    Path(memtui.cwd, ".claude/memory/odd.md").write_text("---\nname: [odd\n---\n\nThe odd one has a body.\n")
    path = str(tmp_path / "all.zip")
    memtui("export", "project", "--to", path)
    found = memtui.json("import", path, "--dry-run")
    assert [each["name"] for each in found["drafts"] if each["name"].startswith("odd")] == []
