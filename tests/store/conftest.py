"""What the tests of versions share: a directory of memories, their log, and a look at them."""

import os

import pytest

from memtui.store.history import Intake
from memtui.store.versions.versions import Versions, Writer

AGENT = Writer("agent", "7c1e55a0", "p1")


@pytest.fixture
def store(tmp_path):
    directory = tmp_path / "memory"
    directory.mkdir()
    versions = Versions(str(tmp_path / "root"), lambda: 1_700_000_000.0)

    def look(writer=None):
        """The log names no agent before the first look, and one for all that is written later, or the writer given."""
        by = writer or (AGENT if versions.directories else Writer("other"))
        return Intake(versions, lambda version: by).take_in(str(directory))

    return directory, versions, look


def write(path, text):
    path.write_text(text)
    os.utime(path, ns=(0, write.clock))
    write.clock += 1_000_000_000


write.clock = 1_700_000_001_000_000_000  # later than a look
