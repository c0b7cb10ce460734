"""How all tests are run: which of them, where they write, in which order, and in how many processes.

`pytest` alone leaves out what takes long: every test with a marker of pyproject.toml. `pytest --all` runs everything but for
tests and cases that take turns, and `-m` or the name of a file runs what they name.
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
from memtui.recall.vectors_hot import Table
from rootless import rootless
from tree import Tree

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


read_table, tables = Table.everything, {}


def read_once(table):
    """All vectors of a table: a process reads each file once."""
    file = os.fstat(table._fd)
    key = (file.st_dev, file.st_ino, file.st_mtime_ns, file.st_size)
    if key not in tables:
        tables[key] = read_table(table)
    return tables[key]


Table.everything = read_once


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
    lines.append(f"tests and cases that take turns: {turns.NAME}={os.environ[turns.NAME]}; {turns.NAME}=all tries each")
    if leaves_out(config):
        lines.append(f"left out: tests marked {', '.join(config.stash[LONG])}; `pytest --all` runs them, too")
    return lines


def pytest_collection_modifyitems(config, items):
    """Leave out what takes long, or whose turn it is not; kill tests go first, in every process: they fork at every step, and
    a fork costs the more, the more the process has in memory."""
    cases = collections.Counter()
    taking_turns, with_clients = collections.defaultdict(dict), collections.defaultdict(dict)
    waiting = set()
    for item in items:
        markers = {mark.name for mark in item.iter_markers()}
        kinds = [name for name in config.stash[LONG] if name in markers]
        every = item.get_closest_marker("every") if "every" in markers else None
        test, _, case = item.nodeid.partition("[")
        if every and "step" in every.kwargs and cases[test] % every.kwargs["step"] == 0:
            kinds.remove("every")
        cases[test] += 1
        version = client_of(item) if "client" in markers else None
        case = case.replace(version, "") if version else case
        if case and "every" in kinds:
            number = taking_turns[test].setdefault(case, len(taking_turns[test]))
            if not turns.due(number, every.kwargs.get("of", turns.SHARE), test):
                waiting.add(item)
        elif kinds and not in_every_run(item, kinds) and not turns.due(0, family=test):
            waiting.add(item)
        if version:
            number = with_clients[test].setdefault(case, len(with_clients[test]))
            if for_another_client(item, version, number):
                waiting.add(item)
        item.user_properties.append(("kinds", kinds or ["quick"]))
    if leaves_out(config):
        leave(config, items, lambda item: kinds_of(item) != ["quick"])
    elif not asked_for(config):
        leave(config, items, waiting.__contains__)
    kill = [item for item in items if "kill" in kinds_of(item)]
    others = [item for item in items if "kill" not in kinds_of(item)]
    # One process imports the package of the service, which takes long.
    others.sort(key=lambda item: "api" not in item.fixturenames)
    items[:] = dealt(kill, others, getattr(config, "workerinput", {}).get("workercount", 1))


def pytest_collection_finish():
    """Look for no garbage in the tests themselves, nor in what they imported."""
    gc.freeze()


def in_every_run(item, kinds):
    """Whether a long test does not take turns: a picture, what has a share of its cases in each run by itself, facts about the
    newest client, and what memtui promises first (`always`)."""
    if {"kill", "picture", "every"}.intersection(kinds):
        return True
    return any({"facts", "always"} & item.get_closest_marker(kind).kwargs.keys() for kind in kinds)


def client_of(item):
    """The version of the client that an item with one runs with; None where a test starts its own."""
    if not hasattr(item, "callspec"):
        return None
    from e2e.client import VERSIONS  # few runs need it

    return next((each for each in item.callspec.params.values() if each in VERSIONS), None)


def for_another_client(item, version, number):
    """Whether the other version has its turn with the case of that number: each tries every other one, and later the rest.
    `SHARE` runs pass in between, so that a case that has its own turn only then meets both. What is to be found out about a
    client (`client(facts=True)`) the newest is asked each time: the other one does not change any more."""
    from e2e.client import NEWEST, VERSIONS

    test = item.nodeid.partition("[")[0]
    if item.get_closest_marker("client").kwargs.get("facts"):
        return version != NEWEST and not turns.due(number, family=test)
    return not turns.due(number + VERSIONS.index(version), len(VERSIONS), test, runs=turns.SHARE)


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
    since tests wait: two a core where many wait for a client or a terminal, else three for two cores."""
    if all(".py" in os.path.basename(each) for each in config.args):
        return 0
    return (os.cpu_count() or 1) * (3 if leaves_out(config) else 4) // 2


@pytest.fixture
def on_disk():
    """A directory on the disk, for what is about waiting for it."""
    top = tempfile.mkdtemp(prefix="memtui-", dir=DISK)
    yield os.path.realpath(top)
    shutil.rmtree(top)


class SampleWorlds:
    """Sample worlds that a process built once: a test finds one as it was built. Four take turns, since a thread of the test
    before may still look at its own."""

    def __init__(self, top):
        self.top, self.used, self.trees = top, collections.Counter(), {}

    def at(self, now):
        """A sample world as of a time in seconds."""
        from memtui.demo import content, world  # most tests need none

        place = os.path.join(self.top, f"{int(now)}-{self.used[now] % 4}", "world")
        self.used[now] += 1
        if place not in self.trees:
            built = world.build(place, now)
            self.trees[place] = Tree(place)
            return built
        self.trees[place].restore()
        return content.layout(place, now)


@pytest.fixture(scope="session")
def sample_worlds(tmp_path_factory):
    """Sample worlds."""
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
