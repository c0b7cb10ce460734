"""Wherever the subconscious is killed while it acts on an answer, the next run completes it, and nothing is done twice."""

import contextlib
import shutil

import pytest

from e2e.model import use
from hooks.killing import Child, every_point
from memtui.base.errors import NotFoundError
from memtui.models.subconscious import block_files_hot
from memtui.models.subconscious.run_process import Along
from memtui.store.journal import undo
from memtui.store.journal.journal import Journal

pytestmark = [pytest.mark.kill, pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")]
SAID = "@memtui when do we deploy? I will deploy it on Friday afternoon."
ANSWER = {
    "edits": [
        {"block": "project_context", "old": "", "new": "Deploys: Tuesdays.", "quote": "when do we deploy?"},
        {"block": "pending_items", "old": "ship it", "new": "ship it on Tuesday", "quote": "on Friday afternoon"},
    ],
    "whispers": [{"text": "Not on Friday.", "quote": "deploy it on Friday", "urgent": True}],
    "replies": [{"to": "m1", "text": "On Tuesdays."}],
    "note": "They forgot.",
}


def killed(*_):
    raise KeyboardInterrupt


def test_wherever_it_is_killed_the_next_run_completes_what_was_answered(read, tmp_path, monkeypatch):
    read.block("pending_items", "ship it")
    read.says(SAID)
    monkeypatch.setattr(Along, "_act", killed)
    with pytest.raises(KeyboardInterrupt):
        read.run(use("answer", **ANSWER))
    monkeypatch.undo()
    shutil.copytree(read.root, tmp_path / "kept")

    def seen():
        return (
            sorted(note.text for note in read.notes()),
            {name: read.blocks.text(name) for name in ("project_context", "pending_items")},
            read.talk(),
            read.runs[0].outcome,
        )

    read.run()
    wanted = seen()
    assert wanted[0] == ["Not on Friday.", "On Tuesdays."]
    assert wanted[1] == {"project_context": "Deploys: Tuesdays.", "pending_items": "ship it on Tuesday"}
    assert [kind for kind, _ in wanted[2]] == ["changed", "changed", "noted", "whispered", "asked", "replied"]

    def run(point):
        shutil.rmtree(read.root)
        shutil.copytree(tmp_path / "kept", read.root)
        child = Child(lambda: read.along().run(), point=point).wait()
        read.run()
        assert seen() == wanted
        assert all(len(read.blocks.versions(name)) <= 3 for name in ("project_context", "pending_items"))
        assert len(read.api.requests) == 1, "the model is asked once"
        return not child.killed

    assert every_point(run) > 10


def test_a_person_killed_while_changing_a_block_leaves_the_old_or_new_text(read, tmp_path):
    read.block("guidance", "old\n")
    shutil.copytree(read.root, tmp_path / "kept")

    def change():
        read.blocks.replace("guidance", "new", Journal(read.root))

    def run(point):
        shutil.rmtree(read.root)
        shutil.copytree(tmp_path / "kept", read.root)
        child = Child(change, point=point).wait()
        assert block_files_hot.text(read.root, read.slug, "guidance") in {"old", "new"}
        change()
        assert read.blocks.text("guidance") == "new"
        newest = read.blocks.versions("guidance")[0]
        assert (newest.writer.by, read.blocks.content("guidance", newest)) == ("person", "new")
        return not child.killed

    assert every_point(run) > 5


def test_a_person_killed_undoing_a_run_leaves_blocks_as_before_or_after_it(read, tmp_path):
    read.block("guidance", "mine\n")
    for name in ("guidance", "project_context"):
        read.blocks.edit(name, "", "theirs", run="r1", session="s")
    shutil.copytree(read.root, tmp_path / "kept")

    def run(point):
        shutil.rmtree(read.root)
        shutil.copytree(tmp_path / "kept", read.root)
        child = Child(lambda: undo.run(Journal(read.root), "undo", "r1"), point=point).wait()
        assert read.blocks.text("guidance") in {"mine\ntheirs", "mine"}
        assert read.blocks.text("project_context") in {"theirs", ""}
        if child.killed:
            Journal(read.root).recover()
            with contextlib.suppress(NotFoundError):
                undo.run(Journal(read.root), "undo", "r1")
        assert (read.blocks.text("guidance"), read.blocks.text("project_context")) == ("mine", "")
        for name in ("guidance", "project_context"):
            newest = read.blocks.versions(name)[0]
            assert (newest.writer.by, newest.op) == ("person", "undo")
        return not child.killed

    assert every_point(run) > 10
