"""A builder that is killed at any of its changes leaves a whole index, the old one or the new one, and the next one
brings it up to date."""

import shutil

import pytest

from hooks.killing import Child, every_point

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


def test_a_builder_killed_anywhere_leaves_the_old_index_or_the_new_one(store, tmp_path):
    store.fill(20)
    store.index()
    store.remember("memory-3", "About matter 3", "It is orange.")
    shutil.copytree(store.root, tmp_path / "copy")

    def run(point):
        shutil.rmtree(store.root)
        shutil.copytree(tmp_path / "copy", store.root)
        child = Child(store.index, point=point).wait()
        assert len(store.names("matter", most=50)) == 20
        assert store.names("orange") in ([], ["memory-3"])
        store.index()
        assert store.names("orange") == ["memory-3"]
        assert len(store.names("matter", most=50)) == 20
        assert len(store.files(".segment")) == 2
        return not child.killed

    assert every_point(run) > 5
