"""What survives a SIGKILL: nothing is lost, every file can be read, and guidance comes once, or again and marked.

In turn (tests/turns.py), a writer is killed at each fourth of its calls, and a quarter of the seeds and random kills is tried.
"""

import contextlib
import errno
import itertools
import os
import posix
import sys
import time

import pytest
from killing import NONE, SILENT, TOLD, Child, Session, World, arm, die, every_point, torn

import turns
from memtui.base import clock_hot, fs_hot, paths_hot, session_state_hot
from memtui.deliver import log_file_hot, log_hot
from memtui.hooks import runner_hot
from memtui.inbox import file_hot, format_hot, reconciliation_hot

pytestmark = pytest.mark.kill
RUNS = 500  # of each writer, where everything is tried
SEEDS = range(1, turns.SHARE + 1)  # one in each run
EACH = RUNS // len(SEEDS)
DUE = len(turns.share(range(RUNS)))
MODES = (TOLD, SILENT, NONE)


def maker(top):
    count = itertools.count()

    def make(seed=0):
        place = f"{top}/{next(count)}"
        os.mkdir(place)
        return World(place, seed)

    return make


@pytest.fixture
def worlds(tmp_path):
    """Makes a new world for every run."""
    return maker(tmp_path)


@pytest.fixture
def worlds_on_disk(on_disk):
    """The same for kills at random moments: there are more of them while a writer waits for the disk."""
    return maker(on_disk)


def fill(world):
    """Everything a hook treats in its own way: for all, by hand, urgent, for somebody else, too long, global."""
    project, everywhere = world.inboxes
    world.scribble(project)
    world.guide(project, urgent="yes")
    world.scribble(project)
    world.guide(project)
    world.guide(project, **{"for": "session:somebody-else"})
    world.guide(project, size=9500)
    world.scribble(project)
    world.scribble(everywhere)
    world.guide(everywhere, urgent="yes")


@pytest.mark.parametrize(
    ("action", "mode"),
    [(die, TOLD), (die, SILENT), (die, NONE), (torn, TOLD), (torn, NONE)],
    ids=["between-told", "between-silent", "between-none", "within-told", "within-none"],
)
@pytest.mark.parametrize("event", ["UserPromptSubmit", "PreToolUse"])
def test_a_hook_killed_at_any_call_loses_no_guidance(worlds, action, mode, event):
    def run(point):
        world = worlds()
        killed, next_one = Session(world, mode), Session(world, mode)
        killed.prompt()
        fill(world)
        child = killed.prompt(event, point, action)
        world.scribble(world.inboxes[0])
        world.account(next_one)
        return not child.killed

    assert every_point(run) > 10


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PreToolUse"])
@pytest.mark.parametrize("mode", [TOLD, NONE])
@pytest.mark.parametrize("then_die", [False, True], ids=["lives", "dies"])
def test_text_appended_by_hand_at_any_call_of_a_hook_is_not_lost(worlds, mode, event, then_die):
    def run(point):
        world = worlds()
        one, other = Session(world, mode), Session(world, mode)
        one.prompt()
        fill(world)
        token = world.token()

        def scribble(real, name, args, named):
            world.scribble(world.inboxes[0], token)
            world.mark()
            return die() if then_die else real(*args, **named)

        with world.late_writer(world.inboxes[0]):
            one.prompt(event, point, scribble)
        if not world.marked:
            world.scribble(world.inboxes[0], token)
        world.account(other)
        return not world.marked

    assert every_point(run) > 10


@pytest.mark.parametrize("mode", [TOLD, SILENT, NONE])
@pytest.mark.parametrize("event", ["UserPromptSubmit", "PreToolUse"])
def test_a_hook_whose_disk_is_full_at_any_call_loses_no_guidance(worlds, event, mode):
    def run(point):
        world = worlds()
        one, other = Session(world, mode), Session(world)
        one.prompt()
        fill(world)

        def fail(real, name, args, named):
            world.mark()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        one.prompt(event, point, fail)
        fs_hot.unlink(world.root + "/log/errors.jsonl")  # where the hook said so
        world.account(other)
        return not world.marked

    assert every_point(run) > 10


def before_printing():
    runner_hot.reply = die


def before_logging():
    log_file_hot.append = die


# What happened to the delivery that a settling hook or worker then looks into.
FATES = {
    "killed before printing": {"before": before_printing},
    "killed before logging": {"before": before_logging},
    "too late": {"dropped": "late"},
    "too large": {"dropped": "large"},
    "arrived": {},
}


@pytest.mark.parametrize("fate", FATES)
@pytest.mark.parametrize(
    ("action", "mode"),
    [(die, TOLD), (die, SILENT), (die, NONE), (torn, TOLD)],
    ids=["between-told", "between-silent", "between-none", "within-told"],
)
def test_a_settling_killed_at_any_call_loses_and_repeats_nothing(worlds, fate, action, mode):
    def run(point):
        world = worlds()
        one, other = Session(world, mode), Session(world, mode)
        fill(world)
        with world.late_writer(world.inboxes[0]):
            one.prompt(**FATES[fate])
        child = Child(lambda: world.settle(61), point=point, action=action).wait()
        other.prompt()
        world.account(other, dropped=mode != TOLD and "dropped" in FATES[fate])
        return not child.killed

    assert every_point(run) >= 2


@pytest.mark.parametrize("fate", FATES)
@pytest.mark.parametrize("mode", [TOLD, SILENT, NONE])
def test_a_clock_put_back_by_an_hour_loses_and_repeats_nothing(worlds, monkeypatch, fate, mode):
    world = worlds()
    one, other = Session(world, mode), Session(world, mode)
    one.prompt()
    fill(world)
    one.prompt(**FATES[fate])
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() - 3600.0)
    for _ in range(3):
        world.guide(world.inboxes[1])
        other.prompt()
        one.prompt()
        world.settle(61)
    world.account(other, dropped=mode != TOLD and "dropped" in FATES[fate])
    # What its hook logged is logged once; what it could not, once for each inbox.
    logged = [record["id"] for record in world.log() if not record.get("recovered")]
    recovered = [(record["id"], str(record["claims"])) for record in world.log() if record.get("recovered")]
    assert len(logged) == len(set(logged))
    assert len(recovered) == len(set(recovered))
    assert not {name for name, _ in recovered} & {*logged}


def test_guidance_that_came_back_and_was_retaken_survives_the_second_hook(worlds):
    """The log says that the first delivery had it, but that one failed, and the note had come back since."""
    for mode in MODES:
        world = worlds()
        one, other = Session(world), Session(world, mode)
        world.guide(world.inboxes[0])
        one.prompt(dropped="late")
        world.settle()
        other.prompt(before=before_printing)
        world.account(Session(world))


def test_guidance_that_an_older_claim_passed_on_survives_the_next_hook(worlds):
    """The first claim still holds a copy of what it put back for somebody else."""
    for mode in MODES:
        world = worlds()
        one, other = Session(world), Session(world, mode)
        world.guide(world.inboxes[0])
        world.guide(world.inboxes[0], **{"for": "session:" + other.id})
        one.prompt()
        other.prompt(before=before_printing)
        Child(lambda: reconciliation_hot.reconcile(world.env, world.root, other.id, now=time.time() + 61)).wait()
        world.settle()
        other.mode = TOLD
        world.account(other)
        assert not world.waiting()


def test_guidance_recovered_in_one_inbox_hides_nothing_late_in_the_other(worlds):
    for mode in MODES:
        world = worlds()
        one = Session(world, mode)
        for where in world.inboxes:
            world.guide(where)
        with world.late_writer(world.inboxes[0]), world.late_writer(world.inboxes[1]):
            one.prompt(before=before_logging)
        world.account(Session(world))


def test_a_record_written_late_for_a_dead_hook_hides_no_delivery(worlds, monkeypatch):
    """It stands in the log behind newer ones, under the id of long ago."""
    monkeypatch.setattr(log_hot, "DISORDER_SECONDS", 0.0)
    world = worlds()
    helper, dead, last = Session(world), Session(world, NONE), Session(world)
    world.guide(world.inboxes[1])
    helper.prompt(before=before_logging)
    world.guide(world.inboxes[0], **{"for": "session:" + last.id})
    world.guide(world.inboxes[0])
    dead.prompt(before=before_printing)
    last.prompt()
    reconciliation_hot.reconcile(world.env, world.root, last.id)
    reconciliation_hot.reconcile(world.env, world.root, helper.id, now=time.time() + 61)
    assert world.log()[-1].get("recovered")
    world.account(last)


@pytest.mark.parametrize("logged", [True, False])
def test_a_claim_that_a_shell_still_writes_to_waits_until_it_is_done(worlds, logged):
    world = worlds()
    one = Session(world)
    world.guide(world.inboxes[0])
    slow = os.open(world.inboxes[0] + "/guidance.md", os.O_WRONLY | os.O_APPEND)
    one.prompt(before=(lambda: None) if logged else before_logging)
    for _ in range(3):
        os.write(slow, f"by a monitor {world.token()}\n".encode())
        world.settle()
    os.close(slow)
    world.account(one)


@pytest.mark.parametrize("then", [1, 3, 5, 7, 8, 9, 10])
def test_text_that_a_rewrite_was_to_carry_over_survives_it_once(worlds, then):
    """Written by hand at any call, and the rewrite killed some calls later."""

    def run(point):
        world = worlds()
        gone = world.guide(world.inboxes[0])
        world.guide(world.inboxes[0])
        token = world.token()

        def scribble(real, name, args, named):
            world.scribble(world.inboxes[0], token)
            world.mark()
            arm(then, die)
            return getattr(posix, name)(*args, **named)

        Child(lambda: world.take_out(gone), point=point, action=scribble).wait()
        if not world.marked:
            world.scribble(world.inboxes[0], token)
        world.note_withdrawn(gone)
        world.account(Session(world))
        return not world.marked

    assert every_point(run) > 4


def before_nobody_reads():
    def reply(*_):
        raise BrokenPipeError(32, "Broken pipe")

    runner_hot.reply = reply


def test_text_written_to_guidance_that_could_not_be_printed_is_not_lost(worlds):
    world = worlds()
    fill(world)
    with world.late_writer(world.inboxes[0]):
        Session(world).prompt(before=before_nobody_reads)
    os.unlink(world.root + "/log/errors.jsonl")
    world.account(Session(world))


@pytest.mark.parametrize("others", [True, False], ids=["some stay", "none stays"])
def test_a_prompt_at_any_call_of_a_rewrite_gets_nothing_twice(worlds, others):
    def run(point):
        world = worlds()
        gone = world.guide(world.inboxes[0])
        if others:
            fill(world)

        def pause(real, name, args, named):
            world.mark()
            while world.marked:
                time.sleep(0.001)
            return real(*args, **named)

        child = Child(lambda: world.take_out(gone), point=point, action=pause)
        while not world.marked and os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            time.sleep(0.001)
        through = not world.marked
        Session(world).prompt()
        if not through:
            os.unlink(world.root + "/mark")
        child.wait()
        if gone not in world.shown:
            world.withdrawn.append(gone)
        world.account(Session(world))
        return through

    assert every_point(run) > 4


@pytest.mark.parametrize("others", [True, False], ids=["some stay", "none stays"])
@pytest.mark.parametrize("then", ["live", "die"])
@pytest.mark.parametrize("writer", ["quick", "slow"])
def test_text_appended_by_hand_at_any_call_of_a_rewrite_is_not_lost(worlds, others, then, writer):
    """`quick` opens, writes and closes at that call; `slow` has opened the file before and writes after the rewrite."""

    def run(point):
        world = worlds()
        gone = world.guide(world.inboxes[0])
        if others:
            fill(world)
        token = world.token() if writer == "quick" else ""

        def scribble(real, name, args, named):
            if token:
                world.scribble(world.inboxes[0], token)
            world.mark()
            return die() if then == "die" else real(*args, **named)

        with contextlib.nullcontext() if token else world.late_writer(world.inboxes[0]):
            Child(lambda: world.take_out(gone), point=point, action=scribble).wait()
        if token and not world.marked:
            world.scribble(world.inboxes[0], token)
        world.note_withdrawn(gone)
        Child(lambda: world.take_out("nothing")).wait()
        world.account(Session(world))
        return not world.marked

    assert every_point(run) > 4


@pytest.mark.parametrize("size", [20, 400])
def test_text_by_hand_around_a_recovery_killed_at_any_call_comes_once(worlds, size):
    """A rewrite left text to be carried over; the next one dies over that, and what is written then joins the last text."""

    def run(point):
        world = worlds()
        gone = world.guide(world.inboxes[0])
        world.guide(world.inboxes[0])

        def killed_once_replaced():
            real = posix.rename
            posix.rename = lambda *args, **named: (real(*args, **named), die())
            world.take_out(gone)

        with world.late_writer(world.inboxes[0]):
            assert Child(killed_once_replaced).wait().killed
        world.withdrawn.append(gone)
        world.guide(world.inboxes[0], size=size)
        world.scribble(world.inboxes[0])
        child = Child(lambda: world.take_out("nothing"), point=point).wait()
        world.scribble(world.inboxes[0])
        Child(lambda: world.take_out("nothing")).wait()
        world.account(Session(world))
        return not child.killed

    assert every_point(run) > 4


class Reaper:
    """Kills at random moments. It finds the pace by itself: a writer should not often come to its end before."""

    def __init__(self, world, wanted):
        self.random = world.random
        self.wanted = wanted
        self.kills = 0
        self.seconds = 0.005

    def __call__(self, child):
        time.sleep(self.random.uniform(0, self.seconds))
        child.kill()
        self.kills += child.killed
        self.seconds *= 1.02 if child.killed else 0.95
        return child

    def runs(self):
        """Numbers, until as many were killed as wanted."""
        for run in range(self.wanted * 10):
            if self.kills >= self.wanted:
                return
            yield run
        raise AssertionError(f"{self.kills} of {self.wanted} killed")


@pytest.mark.parametrize("seed", turns.share(SEEDS))
def test_random_kills_of_hooks_and_settlings(worlds_on_disk, seed):
    """Two prompts at once, a writer by hand, a settling; each may be killed at any moment."""
    world = worlds_on_disk(seed)
    chance = world.random
    project, everywhere = world.inboxes
    last = Session(world)
    reap, reap_settling = Reaper(world, EACH), Reaper(world, 0)
    for _ in reap.runs():
        for _ in range(chance.randint(1, 3)):
            where = chance.choice([project, project, everywhere])
            kind = chance.choice(["plain", "urgent", "by hand", "else"])
            if kind == "by hand":
                world.scribble(where)
            else:
                more = {"urgent": {"urgent": "yes"}, "else": {"for": "session:nobody-asks"}}.get(kind, {})
                world.guide(where, chance.choice([20, 20, 20, 3000]), **more)
        one = Session(world, chance.choice([TOLD, TOLD, SILENT, NONE]))
        event = chance.choice(["UserPromptSubmit"] * 3 + ["PreToolUse"])
        first = one.start(event)
        two = second = writer = None
        if chance.random() < 0.3:
            two = Session(world, chance.choice([TOLD, NONE]))
            second = two.start()
        if chance.random() < 0.3:
            tokens = [world.token() for _ in range(3)]
            writer = Child(lambda: [world.scribble(project, token) for token in tokens])
        reap(first)
        if second:
            if chance.random() < 0.5:
                second.kill()
            two.finish(second)
        one.finish(first, event)
        if writer:
            writer.wait()
        if chance.random() < 0.5:
            reap_settling(Child(lambda: world.settle(61)))
        last.prompt()
        if chance.random() < 0.1:
            world.drain(last)
            last = Session(world)
    world.account(last)
    assert reap_settling.kills > 5
    assert not [name for place, _, names in os.walk(world.root) for name in names if name.startswith("replaced~")]


def test_random_kills_of_whole_hook_processes(worlds_on_disk):
    """The same with an interpreter of its own for each hook, as the client starts it."""
    world = worlds_on_disk(20_000)
    words = [sys.executable, "-I", "-S", paths_hot.parent(runner_hot.__file__) + "/launch.py", "UserPromptSubmit"]
    reap = Reaper(world, 50)
    reap.seconds = 0.03  # most of it is the interpreter's start
    last = Session(world)
    for _ in reap.runs():
        world.guide(world.inboxes[0])
        one = Session(world, world.random.choice(MODES))
        one.finish(reap(one.start(before=lambda: os.execve(sys.executable, words, world.env))))
        if world.random.random() < 0.2:
            world.drain(last)
    world.account(last)


@pytest.mark.parametrize("seed", turns.share(SEEDS))
def test_random_kills_of_rewrites_while_others_write_by_hand(worlds_on_disk, seed):
    world = worlds_on_disk(seed)
    where = world.inboxes[0]
    session_ = Session(world)
    reap = Reaper(world, EACH)
    for run in reap.runs():
        gone = world.guide(where)
        world.guide(where)
        tokens = [world.token() for _ in range(3)]
        # The last to be forked: while a second one is, the first would come to its end.
        writer = Child(lambda: [world.scribble(where, token) for token in tokens])
        reap(Child(lambda: world.take_out(gone)))
        writer.wait()
        world.note_withdrawn(gone)
        if run % 10 == 0:
            world.drain(session_)
    world.account(session_)


def test_random_kills_of_appended_guidance(worlds_on_disk):
    """What was reported as written is there, once and whole; what was cut short harms nothing else."""
    world = worlds_on_disk(20_001)
    where = world.inboxes[0]
    reported = os.open(str(world.root) + "-reported", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    reap = Reaper(world, DUE)
    seconds = reap.seconds
    for run in reap.runs():

        def body(run=run):
            for number in range(1000):
                text = f"entry {run}-{number} " + "é" * 3000 + " end"
                name = file_hot.add_entry(where, "guidance", {"from": "cron"}, text)
                os.write(reported, f"{name} {run}-{number}\n".encode())

        size = os.fstat(reported).st_size
        reap.seconds = seconds
        reap(Child(body))
        # However slow the machine is, every second writer should come to its first report.
        seconds *= 0.8 if os.fstat(reported).st_size > size else 1.25
    os.close(reported)
    entries = format_hot.parse(format_hot.decode(fs_hot.read_bytes(where + "/guidance.md")))
    whole = {e.id: e.text.split()[1] for e in entries if e.text.endswith(" end")}
    told = dict(line.split() for line in fs_hot.read_bytes(str(world.root) + "-reported").decode().splitlines())
    assert len(told) >= DUE // 4
    assert told.items() <= whole.items()
    assert len({e.id for e in entries}) == len(entries)


def test_random_kills_of_files_replaced_as_a_whole(worlds_on_disk):
    """A file is as before or as after, and a session's state is always one that was saved."""
    world = worlds_on_disk(20_002)
    path = world.root + "/file"
    fs_hot.write_atomic(path, b"0" * 20_000)
    session_state_hot.SessionState(world.root, "s", {"turn_of": "0"}).save()

    def body():
        for number in range(1, 1000):
            fs_hot.write_atomic(path, b"%d" % (number % 10) * 20_000, durable=number % 2 == 0)
            state = {"turn_of": str(number), "turn": ["x" * 100] * 100}
            session_state_hot.SessionState(world.root, "s", state).save()

    reap = Reaper(world, DUE)
    for _ in reap.runs():
        reap(Child(body))
        reap.seconds = 0.004
        data = fs_hot.read_bytes(path)
        assert (len(data), len(set(data))) == (20_000, 1)
        assert session_state_hot.load(world.root, "s").turn_of.isdigit()


def test_random_kills_of_the_delivery_log(worlds_on_disk):
    """A record cut short costs no other record, and the next one begins on a line of its own."""
    world = worlds_on_disk(20_003)
    reported = os.open(str(world.root) + "-reported", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    now = clock_hot.now()
    reap = Reaper(world, DUE)
    for run in reap.runs():

        def body(run=run):
            for number in range(1000):
                record = {"v": 1, "id": f"{run}-{number}", "text": "ü" * 9000, "items": []}
                log_hot.append(world.root, record, now)
                os.write(reported, f"{run}-{number}\n".encode())

        reap(Child(body))
        reap.seconds = 0.004
    os.close(reported)
    found = [record["id"] for record in log_hot.newest_first(world.root)]
    torn = [line for _, line in log_hot.lines(world.root) if log_hot.parse(line) is None]
    told = fs_hot.read_bytes(str(world.root) + "-reported").decode().split()
    assert len(told) > 20
    assert set(told) <= set(found)
    assert len(found) == len(set(found))
    assert len(torn) <= DUE
