"""What is typed in a form and not saved, as it lies on the disk."""

import json
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.tui.model import autosave
from memtui.tui.model.autosave import Autosave


@pytest.fixture
def root(tmp_path):
    return str(tmp_path)


def write(root, name, row):
    os.makedirs(f"{root}/drafts")
    with open(autosave.path(root, name), "w") as file:
        json.dump(row, file)


def test_what_is_typed_is_kept_until_it_is_dropped(root):
    assert autosave.kept(root, "guidance") is None
    Autosave("../../x", values={"text": "half a \ud800 word"}).save(root)
    assert autosave.kept(root, "../../x").values["text"].startswith("half a")
    assert os.listdir(root + "/drafts") == ["______x.json"]
    autosave.drop(root, "../../x")
    assert autosave.kept(root, "../../x") is None


def test_it_comes_back_as_it_was(root):
    name = autosave.name_of("/d/x.md")
    made = Autosave(name, "digest", 12.5, {"raw": "mine"}, {"raw": "was"}, "/d/x.md", "global", True, "whole")
    made.save(root)
    assert autosave.kept(root, name) == made
    assert autosave.of_memories(root) == autosave.offered(root) == [made]  # its file is gone


def test_the_time_of_unsaved_text_is_named_where_it_is_known():
    assert ", 1h ago: " in autosave.unsaved(1_000_000.0, 1_003_600.0, "memories.edit")
    assert "for this: " in autosave.unsaved(0, 1_003_600.0, "memories.edit")


@given(st.dictionaries(st.sampled_from(["values", "was", "time", "base", "raw", "path"]), st.none() | st.integers()))
def test_a_file_that_makes_no_sense_is_no_autosave(tmp_path_factory, row):
    root = str(tmp_path_factory.mktemp("root"))
    write(root, "x", {"values": 7, **row})
    assert autosave.kept(root, "x") is None
