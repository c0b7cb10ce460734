"""What the TUI costs in a terminal, in multiples of the first paint, in the same run, of a bare Textual application that
mounts a DataTable of the same visible rows.

    python tests/benchmarks/tui.py [--runs 7] [--check] [--beside REVISION]

Every case starts the program in a pseudo-terminal of 160x48 and waits until its words stand there. Printed: medians, and
medians of the ratios to the bare application of the same round. The filter's keys are timed one by one, from the key to the
repaint. `--check` exits 1 where a bar is missed. `--beside` runs each case with the sources of another revision as well, in the
same rounds, and prints the median of the ratios of these to those.
"""

import argparse
import fcntl
import json
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from revision import compared, sources

from memtui.base import paths_hot

SOURCE = Path(__file__).resolve().parents[2] / "src"
# When the newest delivery of the log was made.
BEGAN = time.time()
COLUMNS, LINES = 160, 48
FIRST = "memory-00001"  # stands in the list as soon as anything does
PATIENCE = 60.0

BARE = """
from textual.app import App
from textual.widgets import DataTable
class Bare(App):
    def compose(self):
        yield DataTable()
    def on_mount(self):
        table = self.query_one(DataTable)
        table.add_columns("type", "name", "what it says", "used")
        for number in range(44):
            table.add_row("reference", f"memory-{number:05}", f"What is known of matter {number} and its neighbours", "")
Bare().run()
"""

BARS = {"1,000 memories": 1.3, "10,000 memories": 1.3, "100 MB log": 1.6}
KEY_BAR_MS = 50.0
MEMORY_BAR_MB = 120.0
# Words that are typed into the filter, and erased; each once, since what was typed before is found without a search.
TYPED = ("matter 77", "memory 12", "known of 4", "neighb", "refer 5")
BESIDE = "beside: "


class Terminal:
    """A program in a pseudo-terminal."""

    def __init__(self, argv: list[str], env: dict[str, str], cwd: str) -> None:
        self.started = time.perf_counter()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execve(argv[0], argv, env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
        self.seen = b""

    def read(self, seconds: float) -> bytes:
        """What arrives within some time, as soon as anything does."""
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return b""
        try:
            chunk = os.read(self.fd, 1 << 16)
        except OSError:
            return b""
        self.seen += chunk
        return chunk

    def wait_for(self, words: str) -> float:
        """Seconds from the start until the words were painted."""
        needle = words.encode()
        while needle not in self.seen:
            if time.perf_counter() - self.started > PATIENCE:
                raise SystemExit(f"{words!r} did not appear in {PATIENCE} s; last:\n{self.seen[-300:]!r}")
            self.read(0.5)
        return time.perf_counter() - self.started

    def quiet(self, seconds: float = 0.4) -> None:
        """Until nothing more is painted."""
        while self.read(seconds):
            pass

    def key(self, key: str) -> float:
        """Milliseconds from a key to the end of the repaint that it causes."""
        began = time.perf_counter()
        os.write(self.fd, key.encode())
        painted = 0.0
        while self.read(0.25):
            painted = time.perf_counter()
        return ((painted or time.perf_counter()) - began) * 1000

    def peak(self) -> float:
        """Peak resident megabytes."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
        return 0.0

    def end(self) -> None:
        """Stop it."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def world(base: Path, memories: int, log: bool = False, source: Path = SOURCE) -> tuple[dict[str, str], str]:
    """A home with so many memories; the environment and the project."""
    project = base / "shop"
    (project / ".git").mkdir(parents=True)
    store = base / ".claude" / "memory"
    store.mkdir(parents=True)
    index = []
    for number in range(memories):
        (store / f"memory-{number:05}.md").write_text(
            f"---\nname: memory-{number:05}\ndescription: What is known of matter {number} and its neighbours\n"
            f"metadata:\n  type: {('reference', 'feedback', 'project', 'user')[number % 4]}\n---\n\nThe whole of it.\n"
        )
        index.append(f"- [memory-{number:05}](memory-{number:05}.md) - What is known of matter {number}\n")
    (store / "MEMORY.md").write_text("".join(index[:200]))
    if log:
        fill_log(base / ".claude" / "memtui" / "log", str(project))
    env = {"HOME": str(base), "PATH": os.environ["PATH"], "TERM": "xterm-256color", "PYTHONPATH": str(SOURCE)}
    env |= {"COLORTERM": "truecolor", "LANG": "C.UTF-8"}
    # A first start would offer to install the hooks. Today's command does it, also for the sources of another revision.
    install = [sys.executable, "-m", "memtui", "setup", "hooks", "--yes"]
    subprocess.run(install, env=env, cwd=project, check=True, capture_output=True)
    return env | {"PYTHONPATH": str(source)}, str(project)


def fill_log(directory: Path, project: str) -> None:
    """100 MB of deliveries, the newest with words of its own."""
    directory.mkdir(parents=True)
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(BEGAN))
    item = {"kind": "guidance", "id": "01K8ZC5N8W3M1T9Q6V2R4B7XAD", "scope": "project", "chars": 900, "reason": "next"}
    record = {"v": 1, "id": "01K8ZC5N8W3M1T9Q6V2R4B7XAD", "time": stamp, "event": "UserPromptSubmit"}
    record |= {
        "session_id": "0b5d3a52",
        "cwd": project,
        "project": paths_hot.project_key(project),
        "mode": "full",
        "chars": 900,
        "ms": 9.0,
    }
    line = json.dumps(record | {"text": "x" * 900, "items": [item]}) + "\n"
    last = json.dumps(record | {"session_id": "feedc0de", "text": "the newest", "items": [item]}) + "\n"
    with (directory / time.strftime("deliveries-%Y-%m.jsonl", time.gmtime(BEGAN))).open("w") as file:
        for _ in range(100 * 1024 * 1024 // len(line) // 1000 + 1):
            file.write(line * 1000)
        file.write(last)


def paint(words: str, env: dict[str, str], project: str, *argv: str) -> float:
    """Seconds until a program, memtui unless another is given, has painted some words."""
    terminal = Terminal([sys.executable, *(argv or ("-m", "memtui"))], env, project)
    seconds = terminal.wait_for(words)
    terminal.end()
    return seconds


def keys(sides: dict[str, tuple[dict[str, str], str]]) -> dict[str, tuple[list[float], float]]:
    """By side, milliseconds of each key in the filter, and the peak in megabytes after them. Each key goes to all sides
    in turn, since the machine may be slower a minute later."""
    terminals = {}
    for side, (env, project) in sides.items():
        terminals[side] = Terminal([sys.executable, "-m", "memtui"], env, project)
        terminals[side].wait_for(FIRST)
        terminals[side].quiet(2.0)
        terminals[side].key("/")
    typed = [key for words in TYPED for key in [*words, *["\x7f"] * len(words)]]
    rounds = [[terminal.key(key) for terminal in terminals.values()] for key in typed]
    pressed = {}
    for (side, terminal), times in zip(terminals.items(), zip(*rounds, strict=True), strict=True):
        pressed[side] = (list(times), terminal.peak())
        terminal.end()
    return pressed


def main() -> int:
    """Run all cases, print the table, compare with the bars if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--beside", metavar="REVISION")
    options = parser.parse_args()
    missed = []
    with tempfile.TemporaryDirectory() as directory:
        base = Path(directory)
        sides = {"": SOURCE}
        if options.beside:
            sides[BESIDE] = sources(options.beside, base / "sources")
        cases: dict[str, Callable[[], float]] = {}
        large = {}
        for side, source in sides.items():
            top = base / (side.strip(": ") or "here")
            small = world(top / "small", 1000, source=source)
            large[side] = world(top / "large", 10_000, source=source)
            log = world(top / "log", 20, log=True, source=source)
            newest = time.strftime("%H:%M", time.localtime(BEGAN))
            cases[side + "1,000 memories"] = partial(paint, FIRST, *small)
            cases[side + "10,000 memories"] = partial(paint, FIRST, *large[side])
            cases[side + "100 MB log"] = partial(paint, newest, *log, "-m", "memtui", "--screen", "activity")
        for case in cases.values():
            case()  # caches, compiled files
        floors: list[float] = []
        times: dict[str, list[float]] = {name: [] for name in cases}
        for number in range(options.runs):
            floors.append(paint(FIRST, *world(base / f"bare{number}", 0), "-c", BARE))
            for name, case in cases.items():
                times[name].append(case())
        pressed = keys(large)
    print(f"Python {sys.version.split()[0]}, {options.runs} rounds, {COLUMNS}x{LINES}")
    print(f"{'first paint':22} {'ms':>7} {'ratio':>6} {'bar':>5}")
    print(f"{'bare application':22} {statistics.median(floors) * 1000:7.0f} {1.0:6.2f}")
    for name, bar in BARS.items():
        ratio, beside = compared(times[name], floors), times.get(BESIDE + name)
        print(
            f"{name:22} {statistics.median(times[name]) * 1000:7.0f} {ratio:6.2f} {bar:5}"
            + (f" {compared(times[name], beside):6.2f} beside" if beside else "")
        )
        missed += [name] if ratio > bar else []
    for side in reversed(sides):
        times_of, peak = pressed[side]
        late = statistics.quantiles(times_of, n=20)[-1]
        middle = statistics.median(times_of)
        print(f"{side}filter key, 10,000 memories: median {middle:.0f} ms, p95 {late:.0f} ms, bar {KEY_BAR_MS}")
        print(f"{side}peak memory, 10,000 memories: {peak:.0f} MB, bar {MEMORY_BAR_MB}")
    missed += ["filter key"] if late > KEY_BAR_MS else []
    missed += ["memory"] if peak > MEMORY_BAR_MB else []
    print("missed: " + ", ".join(missed) if missed else "all bars met")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
