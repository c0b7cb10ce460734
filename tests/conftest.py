"""How all tests are run: in which order, and in how many processes."""

import os
import random
import shutil
import tempfile

import pytest

# The same in all processes of a run.
os.environ.setdefault("MEMTUI_WALK_SEED", str(random.randrange(1 << 32)))


def pytest_report_header():
    """The seed of the walk that is new each time."""
    return f"random walk: MEMTUI_WALK_SEED={os.environ['MEMTUI_WALK_SEED']}"


def pytest_collection_modifyitems(items):
    """Kill tests fork at every step, and a fork costs the more, the more the process has in memory: they go first."""
    items.sort(key=lambda item: item.get_closest_marker("kill") is None)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """Only this process for a few files: others would take longer to start than the tests. Else two a core: many tests
    wait for a client or a terminal more than they work."""
    return 0 if all(".py" in os.path.basename(each) for each in config.args) else 2 * (os.cpu_count() or 1)


@pytest.fixture
def in_memory():
    """A directory in the memory file system, where there is one: for what is about order, not about the disk."""
    top = tempfile.mkdtemp(prefix="memtui-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    yield os.path.realpath(top)
    shutil.rmtree(top)
