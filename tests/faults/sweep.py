"""Every changing call of every hook, worker and command, killed before and after it, failing once or for good; then life
goes on, and nothing may be lost, told twice or left half done.

    python tests/faults/sweep.py              one error number for each call and kind
    MEMTUI_TEST_TURN=4 python tests/faults/sweep.py
                                              what the gate runs: one in 24 of these, in turn
    python tests/faults/sweep.py --all        all of them
    python tests/faults/sweep.py --only note-tok-n1-note
    python tests/faults/sweep.py --case 'note-tok-n1-note main:7:once:EIO'

Needs Linux (memfd); uses the memory file system where there is one. Exit code 1 where something does not hold.
"""

import argparse
import functools
import gc
import importlib
import os
import pkgutil
import subprocess
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

import commandlife  # noqa: E402
import hooklife  # noqa: E402
import running  # noqa: E402
from faulty import Fault  # noqa: E402
from world import ULID, World  # noqa: E402

import tree  # noqa: E402
import turns  # noqa: E402

# What a call can fail with; a turn is taken among them where not all are tried.
FAILS = {
    "open": ("ENOSPC", "EIO", "EACCES", "EMFILE"),
    "write": ("ENOSPC", "EIO"),
    "fsync": ("EIO", "ENOSPC"),
    "unlink": ("EACCES", "EIO"),
    "rmdir": ("EACCES", "EIO"),
    "ftruncate": ("EIO",),
    "truncate": ("EIO",),
    "flock": ("EIO",),
    "fork": ("EIO",),
}
OTHERS = ("ENOSPC", "EIO", "EACCES")
SCENARIOS = {each.name: each for each in [*hooklife.SCENARIOS, *commandlife.SCENARIOS]}
assert len(SCENARIOS) == len(hooklife.SCENARIOS) + len(commandlife.SCENARIOS)


def warm() -> None:
    """Import all that a hook or a command will, and find what they would ask another process for."""
    import memtui

    for found in pkgutil.walk_packages(memtui.__path__, "memtui."):
        if not found.name.startswith(("memtui.tui", "memtui.hooks.launch", "memtui.__main__", "memtui.demo")):
            importlib.import_module(found.name)
    for name in ("tomllib", "yaml", "traceback", "difflib"):
        importlib.import_module(name)
    from memtui.cli import main as cli
    from memtui.cli import parser
    from memtui.hooks.install import entries
    from memtui.hooks.install import installation as install
    from memtui.inbox import reconciliation_hot
    from memtui.store import index_requests
    from memtui.worker import extraction

    parser.build = functools.cache(parser.build)
    entries.choose_interpreter()
    install.compileall.compile_dir = lambda *_, **__: None  # it would write beside the sources
    index_requests.start = lambda root, directories: (
        None
    )  # its process outlives a command, and writes into the next case
    told = cli._log
    cli._log = lambda name, error: told(name, error) if isinstance(error, OSError) else traceback.format_exc()
    # What is ever in the transcript is there before the event, and no client stays after its end.
    extraction.TURN_SECONDS = extraction.QUIET_SECONDS = 0.0
    reconciliation_hot.END_SECONDS, reconciliation_hot.POLL_SECONDS = 0.1, 0.01
    gc.collect()
    gc.freeze()


class Stage:
    """One scenario in a world of its own, ready to be run again and again."""

    def __init__(self, name: str, top: str) -> None:
        self.scenario = SCENARIOS[name]
        self.is_hook = isinstance(self.scenario, hooklife.HookScenario)
        tree.clear(top)
        self.world = World(top)
        self.world.build()
        if not self.is_hook:
            self.scenario.prepare_outside(self.world)
        self.session = running.asked(lambda: self.scenario.prepare(self.world), self.world.env)
        self.tree = tree.Tree(top)
        self.world.made = time.time_ns()
        self.known: dict[int, list[str]] = {}
        self.calls = self._traced()
        self.none = None
        if not self.is_hook:
            self.tree.restore()
            self.none = running.asked(lambda: commandlife.live(self.world, None), self.world.env)
        self.plain = self._plain()

    def _traced(self) -> "list[tuple[str, int, str, str]]":
        self.tree.restore()
        trace = running.scratch()
        self._run(None, trace)
        rows = [line.split("\t") for line in os.pread(trace, 1 << 24, 0).decode(errors="replace").splitlines()]
        os.close(trace)
        return sorted((role, int(number), name, place) for role, number, name, place in rows)

    def _run(self, fault, trace: int = -1):
        if self.is_hook:
            return self.scenario.run(self.world, self.session, fault, trace)
        return self.scenario.run(self.world, fault, trace)

    def _plain(self) -> dict:
        self.tree.restore()
        if self.is_hook:
            one, ended = self._run(None)
            found = running.asked(lambda: hooklife.live(self.world, one), self.world.env)
        else:
            ended = self._run(None)
            found = running.asked(lambda: commandlife.live(self.world, None), self.world.env)
        found["code"] = ended.code
        found["text"] = (ended.out + ended.err).decode(errors="replace")
        return found

    def faults(self, every: bool) -> "list[tuple[Fault, str]]":
        """The cases: the fault, and the call it hits."""
        found = []
        for role, number, name, place in self.calls:
            call = f"{name} {place}"
            out = name == "write" and place.startswith("/memfd:")
            # Killed before a call is killed after the one before it, and what only waits leaves all as it was.
            kinds = ["before"] if every or number == 1 else []
            kinds += ["after"] if every or name not in {"fsync", "flock"} else []
            # Of a file that gets its name when it is whole, a part is as little as nothing.
            parts = name == "write" and not out and (every or not place.endswith(".tmp"))
            if parts:
                kinds.append("torn")
            found += [(Fault(role, number, kind), call) for kind in kinds]
            errors = FAILS.get(name, OTHERS)
            for kind in ("once", "good"):
                turn = number + (kind == "good")
                for error in errors if every else [errors[turn % len(errors)]]:
                    found.append((Fault(role, number, kind, error), call))
            if parts:
                found.append((Fault(role, number, "short", "ENOSPC"), call))
        return found

    def judge(self, fault) -> "list[str]":
        """What does not hold after this fault."""
        self.tree.restore()
        one = ended = None
        if self.is_hook:
            one, ended = self._run(fault)
        else:
            ended = self._run(fault)
        # Where it comes to the same as after another fault, so does life.
        text = ULID.sub("ULID", repr((ended.code, ended.out, ended.err, ended.hangs)))
        key = hash((fault and fault.kind == "torn", text, self.world.state(one)))
        if key not in self.known:
            self.known[key] = self._judged(fault, one, ended)
        return self.known[key]

    def _judged(self, fault, one, ended) -> "list[str]":
        life = hooklife if self.is_hook else commandlife
        try:
            found = running.asked(lambda: life.live(self.world, one), self.world.env)
        except Exception:
            return ["life goes not on: " + traceback.format_exc()]
        if self.is_hook:
            return hooklife.wrong(self.scenario, ended, found, self.plain)
        return commandlife.wrong(self.scenario, fault, ended, found, self.plain, self.none)


def sweep(names: "list[str]", every: bool, top: str, case: "Fault | None" = None):
    """Run scenarios; (findings as (scenario, fault, call, what), calls, cases)."""
    findings, calls, cases = [], 0, 0
    for name in names:
        stage = Stage(name, top)
        unhurt = stage.judge(None)
        if unhurt:
            findings.append((name, "-", "no fault at all", unhurt))
        calls += len(stage.calls)
        if not stage.is_hook and not stage.scenario.reads and stage.plain["code"] not in {0, 5}:
            findings.append((name, "-", "no fault at all", [stage.plain["text"]]))
        todo = [(case, "")] if case else stage.faults(every)
        for number, (fault, call) in enumerate(todo):
            if not case and not turns.due(number, turns.TURNS, name):
                continue
            cases += 1
            said = stage.judge(fault)
            if said:
                findings.append((name, str(fault), call.replace(top, ""), [each.replace(top, "") for each in said]))
    return findings, calls, cases


def shared(jobs: int) -> int:
    """The same in several processes, each of which prints what it found; 1 where something does not hold."""
    parts = [[sys.executable, *sys.argv, "-j", "1", "--part", f"{number}/{jobs}"] for number in range(jobs)]
    return max([each.wait() for each in [subprocess.Popen(part) for part in parts]])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="every error number at every call")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only scenarios that begin so")
    parser.add_argument("--part", metavar="I/N", default="0/1", help="one of N parts, the first is 0/N")
    parser.add_argument("--case", metavar="'NAME FAULT'", help="one case, as it is printed")
    parser.add_argument("--commands", action="store_true", help="list the commands that are tried")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, metavar="N", help="processes")
    args = parser.parse_args()
    os.environ.setdefault(turns.NAME, "all")
    turns.turn()  # what is tried clears the environment
    names = [n for n in SCENARIOS if not args.only or any(n == each or n.startswith(each) for each in args.only)]
    part, parts = map(int, args.part.split("/"))
    names, case = names[part::parts], None
    if args.commands:
        print("\n".join(sorted({each.words[0] for each in commandlife.SCENARIOS})))
        return 0
    if args.case:
        names, case = [args.case.partition(" ")[0]], Fault.parse(args.case.partition(" ")[2])
    elif args.j > 1:
        return shared(args.j)
    place = tempfile.mkdtemp(prefix="memtui-faults-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    started = time.monotonic()
    try:
        warm()
        findings, calls, cases = sweep(names, args.all, place, case)
    finally:
        tree.clear(place)
        os.rmdir(place)
    for name, fault, call, said in findings:
        print(f"{name} {fault}\n    at {call}")
        for each in said:
            print("    " + each.replace("\n", "\n    "))
    used = os.times()
    seconds = used.children_user + used.children_system + used.user + used.system
    print(
        f"{len(names)} scenarios, {calls} changing calls, {cases} cases: {len(findings)} do not hold;"
        f" {seconds:.0f} s of processor time, {time.monotonic() - started:.0f} s"
    )
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
