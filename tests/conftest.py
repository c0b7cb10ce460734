"""How all tests are run: which of them, where they write, in which order, and in how many processes.

`pytest` alone leaves out what takes long: every test with a marker of pyproject.toml. `pytest --all` runs everything but for
cases that take turns, and `-m` or the name of a file runs what they name.
"""

import collections
import contextlib
import gc
import os
import random
import re
import shutil
import sys
import tempfile
import tomllib

import pytest
from hypothesis import settings

import turns
from rootless import rootless

sys.dont_write_bytecode = False  # else each process of each run compiles all tests anew
# The same in all processes of a run.
os.environ.setdefault("MEMTUI_WALK_SEED", str(random.randrange(1 << 32)))
turns.turn()
DISK = os.environ.setdefault("MEMTUI_TEST_DISK", tempfile.gettempdir())
MEMORY = "/dev/shm"
ROOM = 1 << 30  # bytes; containers often have less
if "CI" not in os.environ:  # there Hypothesis takes its own profile: 100 examples, the same each time
    settings.register_profile("dev", max_examples=25, deadline=None)
    settings.load_profile("dev")


def memory():
    """The memory file system, where there is one with room that runs programs: else None."""
    if not os.access(MEMORY, os.W_OK):
        return None
    found = os.statvfs(MEMORY)
    return MEMORY if found.f_bavail * found.f_frsize > ROOM and not found.f_flag & os.ST_NOEXEC else None


# Most of what a test writes is synced to the disk, which takes longer than the test.
tempfile.tempdir = os.environ["TMPDIR"] = os.environ.get("TMPDIR") or memory() or DISK


def pytest_addoption(parser):
    """`--all`."""
    parser.addoption("--all", action="store_true", help="run the tests that `pytest` alone leaves out, too")


def pytest_configure(config):
    """Collect less garbage: a run of the TUI makes millions of small objects that live long."""
    gc.set_threshold(50_000, 20, 50)
    config.stash[LONG] = marked(config)


LONG = pytest.StashKey()


def marked(config):
    """The markers of tests that take long."""
    with open(config.inipath, "rb") as file:
        told = tomllib.load(file)["tool"]["pytest"]["ini_options"]["markers"]
    return [re.match(r"\w+", line)[0] for line in told]


def asked_for(config):
    """Whether somebody asked for certain tests."""
    return bool(config.option.markexpr) or any(".py" in os.path.basename(each) for each in config.args)


def leaves_out(config):
    """Whether nobody asked for certain tests or for all."""
    return not (config.option.all or asked_for(config))


def pytest_report_header(config):
    """The seed of the walk and the turn, which are new each time, and what is left out."""
    lines = [f"random walk: MEMTUI_WALK_SEED={os.environ['MEMTUI_WALK_SEED']}"]
    lines.append(f"cases that take turns: {turns.NAME}={os.environ[turns.NAME]}; {turns.NAME}=all tries each")
    if leaves_out(config):
        lines.append(f"left out: tests marked {', '.join(config.stash[LONG])}; `pytest --all` runs them, too")
    return lines


def pytest_collection_modifyitems(config, items):
    """Leave out what takes long, or whose turn it is not; kill tests go first, in every process: they fork at every step, and
    a fork costs the more, the more the process has in memory."""
    cases, taking_turns = collections.Counter(), collections.Counter()
    with_clients = collections.defaultdict(dict)
    waiting = set()
    for item in items:
        kinds = [name for name in config.stash[LONG] if item.get_closest_marker(name)]
        every = item.get_closest_marker("every")
        test, _, case = item.nodeid.partition("[")
        if every and "step" in every.kwargs and cases[test] % every.kwargs["step"] == 0:
            kinds.remove("every")
        cases[test] += 1
        if case and "every" in kinds:
            taking_turns[test] += 1
            if not turns.due(taking_turns[test], family=test):
                waiting.add(item)
        if for_another_client(item, with_clients[test]):
            waiting.add(item)
        item.user_properties.append(("kinds", kinds or ["quick"]))
    if leaves_out(config):
        leave(config, items, lambda item: kinds_of(item) != ["quick"])
    elif not asked_for(config):
        leave(config, items, waiting.__contains__)
    kill = [item for item in items if item.get_closest_marker("kill")]
    others = [item for item in items if not item.get_closest_marker("kill")]
    items[:] = dealt(kill, others, getattr(config, "workerinput", {}).get("workercount", 1))


def for_another_client(item, cases):
    """Whether the other version of the client takes its turn with this case: each tries every other one, and in the next
    turns the rest. What the client itself does (`client(both=True)`) both are asked. `cases`: the test's numbered cases."""
    client = item.get_closest_marker("client")
    test, _, case = item.nodeid.partition("[")
    if not (client and case) or client.kwargs.get("both"):
        return False
    from e2e.client import VERSIONS  # few runs need it

    version = next((each for each in item.callspec.params.values() if each in VERSIONS), None)
    if version is None:
        return False
    number = cases.setdefault(case.replace(version, ""), len(cases))
    return not turns.due(number + VERSIONS.index(version), len(VERSIONS), test)


def leave(config, items, fits):
    """Leave out the tests that fit."""
    config.hook.pytest_deselected(items=[item for item in items if fits(item)])
    items[:] = [item for item in items if not fits(item)]


def dealt(first, others, count):
    """All tests, in the order in which `count` processes, each of which gets a piece of the same length, begin with their
    share of `first`."""
    found, left = [], len(first) + len(others)
    for number in range(count):
        mine = first[number::count]
        length = (left - len(found)) // (count - number)
        found += mine + others[: max(length - len(mine), 0)]
        others = others[max(length - len(mine), 0) :]
    return found + others


def kinds_of(test):
    """The markers of an item or a report that say why it takes long, or that it is quick."""
    return dict(test.user_properties)["kinds"]


def pytest_terminal_summary(terminalreporter):
    """What ran, by marker."""
    ran = collections.Counter()
    for outcome in ("passed", "failed", "skipped", "xfailed"):
        for report in terminalreporter.stats.get(outcome, []):
            ran.update(kinds_of(report) if report.when == "call" or outcome == "skipped" else [])
    if ran:
        terminalreporter.write_line("ran: " + ", ".join(f"{count} {kind}" for kind, count in ran.most_common()))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config):
    """Only this process for a few files: others would take longer to start than the tests. Else more than there are cores,
    since tests wait: three a core where many wait for a client or a terminal, or three for two cores."""
    if all(".py" in os.path.basename(each) for each in config.args):
        return 0
    return (os.cpu_count() or 1) * (3 if leaves_out(config) else 6) // 2


@pytest.fixture
def on_disk():
    """A directory on the disk, for what is about waiting for it."""
    top = tempfile.mkdtemp(prefix="memtui-", dir=DISK)
    yield os.path.realpath(top)
    shutil.rmtree(top)


class SampleWorlds:
    """Sample worlds that a process built once: a test gets a copy in the place where it was built, as its files name their
    paths. Four places take turns, since a thread of the test before may still look at its own."""

    def __init__(self, top):
        self.top, self.used = top, collections.Counter()

    def at(self, now):
        """A sample world as of a time in seconds."""
        from memtui.demo import layout, world  # most tests need none

        number = self.used[now] % 4
        self.used[now] += 1
        place = os.path.join(self.top, f"{int(now)}-{number}", "world")
        original = f"{os.path.dirname(place)}/original"
        if not os.path.exists(original):
            built = world.build(place, now)
            shutil.copytree(place, original, symlinks=True)
            return built
        shutil.rmtree(place)
        shutil.copytree(original, place, symlinks=True)
        return layout.layout(place, now)


@pytest.fixture(scope="session")
def sample_worlds(tmp_path_factory):
    """Copies of the sample world."""
    return SampleWorlds(os.path.realpath(tmp_path_factory.mktemp("worlds")))


@pytest.fixture
def api():
    """A loopback model: it answers as its `script` says, and keeps the `requests`."""
    from e2e.model import Model  # most tests need none

    server = Model()
    yield server
    server.close()


@pytest.fixture
def as_a_user():
    """Files are closed to the test as to any user, also where it is run by root."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(rootless())
        except OSError as problem:
            if "CI" in os.environ:
                raise
            pytest.skip(f"root can't give up its powers over files here: {problem}")
        yield
