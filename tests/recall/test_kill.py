"""A builder that is killed at any of its changes leaves a whole index, the old one or the new one, and the next one
brings it up to date."""

import os

import pytest

from memtui.base import fs

CALLS = ("write_and_close", "unlink")


@pytest.mark.parametrize("at", range(8))
def test_a_killed_builder_leaves_the_old_index_or_the_new_one(store, at):
    store.fill(20)
    store.index()
    store.remember("memory-3", "About matter 3", "It is orange.")
    child = os.fork()
    if not child:
        left = [at]

        def counted(real):
            def call(*args, **more):
                if not left[0]:
                    os._exit(9)
                left[0] -= 1
                return real(*args, **more)

            return call

        for name in CALLS:
            setattr(fs, name, counted(getattr(fs, name)))
        store.index()
        os._exit(0)
    os.waitpid(child, 0)
    assert len(store.names("matter", most=50)) == 20
    assert store.names("orange") in ([], ["memory-3"])
    store.index()
    assert store.names("orange") == ["memory-3"]
    assert len(store.names("matter", most=50)) == 20
    assert len(store.files(".segment")) == 2
