"""A worker that is killed while it lists what memories are bound to leaves whole lists."""

import shutil

import pytest

from hooks.killing import Child, every_point
from memtui.recall import bindings_hot
from memtui.worker import index_updates

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


def test_a_worker_killed_anywhere_leaves_whole_lists_the_next_completes(tmp_path):
    """Nothing changes between the two: the next worker finds an index that is up to date."""
    root, copy, memories = tmp_path / "root", tmp_path / "copy", tmp_path / "memory"
    memories.mkdir()
    where = [("auto", str(memories))]

    def lists():
        return [bindings_hot.listed(str(root), file) for file in index_updates.COLUMNS]

    def says(words):
        rule = f'rules:\n- never: {{command: "{words}"}}\n  enforce: ask'
        head = f"---\nname: ci\ndescription: About ci\npinned: yes\npaths: [{words}/*]\n{rule}\nverify: glob {words}\n---\n\nText.\n"
        (memories / "ci.md").write_text(head)

    says("old")
    index_updates.update(str(root), where)
    before = lists()
    says("new one")
    shutil.copytree(root, copy)
    index_updates.update(str(root), where)
    after = lists()
    rows = lambda words: [
        {"ci.md": [f"{words}/*"]},
        {"ci.md": ["pinned"]},
        {"ci.md": [{"never": {"command": words}, "enforce": "ask"}]},
        {"ci.md": [f"glob {words}"]},
    ]
    assert [each[str(memories)] for each in before] == rows("old")
    assert [each[str(memories)] for each in after] == rows("new one")

    def run(point):
        shutil.rmtree(root)
        shutil.copytree(copy, root)
        child = Child(lambda: index_updates.update(str(root), where), point=point).wait()
        for listed, *whole in zip(lists(), before, after, strict=True):
            assert listed in whole
        index_updates.update(str(root), where)
        assert lists() == after
        return not child.killed

    assert every_point(run) > 5
