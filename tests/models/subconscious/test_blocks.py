"""The blocks of the subconscious: what somebody wrote into their files is never lost."""

import os

import pytest

from e2e.model import use
from memtui.base.errors import MemtuiError
from memtui.models.subconscious import block_files_hot
from memtui.store.journal.journal import Journal

SAID = "We deploy on Tuesdays only, never on a Friday."
LONG = "The first line\n" + "word " * 500 + "\nThe last line"


def edit(block="project_context", old="", new="Deploys happen on Tuesdays."):
    return use("answer", edits=[{"block": block, "old": old, "new": new, "quote": "deploy on Tuesdays only"}])


def content(read, name="project_context"):
    with open(block_files_hot.path(read.root, read.slug, name), "rb") as file:
        return file.read()


def test_a_block_too_long_is_shown_whole_and_not_changed_by_the_model(read, api):
    read.block("project_context", LONG)
    read.says(SAID)
    run = read.run(edit(old="The first line", new="The 1st line"))
    assert content(read) == LONG.encode()
    assert read.blocks.text("project_context") == LONG
    assert run.blocks == ()
    assert "its person has to shorten it first" in run.refused[0]
    told = api.requests[0].text()
    assert "The last line" not in told
    assert block_files_hot.CUT in told


@pytest.mark.parametrize("data", [b"x" * (block_files_hot.WHOLE_BYTES + 1), b"caf\xe9 on Tuesdays\n"])
def test_a_block_that_can_not_be_read_whole_is_not_written_over(read, data):
    read.block("project_context", "")
    with open(block_files_hot.path(read.root, read.slug, "project_context"), "wb") as file:
        file.write(data)
    read.says(SAID)
    assert "can't be changed here" in read.run(edit()).refused[0]
    with pytest.raises(MemtuiError, match="can't be changed here"):
        read.blocks.replace("project_context", "Mine.", Journal(read.root))
    assert content(read) == data


@pytest.mark.parametrize("place", ["memtui/mine.md", "notes.md"], ids=["of memtui", "elsewhere"])
def test_a_linked_block_stays_a_link_and_changes_only_in_memtuis_directory(read, place):
    path, target = block_files_hot.path(read.root, read.slug, "project_context"), read.base / place
    os.makedirs(os.path.dirname(path))
    target.write_text("")
    os.symlink(target, path)
    read.says(SAID)
    run = read.run(edit())
    if place == "notes.md":
        assert "memtui does not change" in run.refused[0]
        with pytest.raises(MemtuiError, match="does not change"):
            read.blocks.replace("project_context", "Mine.", Journal(read.root))
    else:
        assert run.blocks == ("project_context",)
        assert read.blocks.replace("project_context", "Mine.", Journal(read.root))
    assert os.path.islink(path)
    assert target.read_text() == ("" if place == "notes.md" else "Mine.\n")


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        ("Use yarn.", "Use npm.", "Use yarn.", "Use yarn."),
        ("First a.\nThen b.", "First a.", "Then b.", "Then b.\nThen b."),
    ],
)
def test_an_edit_that_was_made_already_is_not_made_again(read, before, old, new, after):
    read.block("project_context", before)
    read.blocks.edit("project_context", old, new, run="r", session=read.session)
    assert read.blocks.text("project_context") == after
