"""What the commands cost in large worlds, each as a whole process: time, multiples of `memtui --version`, peak memory.

    python tests/benchmarks/commands.py [--worlds memories,projects,inbox,log,journal] [--scale 1] [--only WORD] [--check]

The worlds, at scale 1: 10,000 memories in one project with its index; 10,000 projects, each with an inbox and a directory
of the client; one inbox of 100,000 entries; a delivery log of 1 GB in this month; a journal of 20,000 changes. A world is
made once, under a temporary directory; changing commands stand at its end. `--keep DIR` leaves the worlds there for the
next run. `--check` exits 1 where a command is over the bar. On a busy machine look at the processor time.
"""

import argparse
import hashlib
import json
import os
import shlex
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from memtui.base import clock, paths
from memtui.demo.content import ulid

SOURCE = Path(__file__).resolve().parents[2] / "src"
COMMAND = [sys.executable, "-c", "import sys; from memtui.cli.main import main; sys.exit(main())"]
BAR_SECONDS, BAR_MB = 2.0, 200
TIMEOUT = 150
WORDS = "pnpm lock file cache build retry branch deploy schema index token queue worker review release tests".split()

# Starts its arguments as a process below a bare interpreter: a process inherits the peak of the one that started it.
WEIGH = """import posix, sys
pid = posix.posix_spawn(sys.argv[1], sys.argv[1:], posix.environ)
status, usage = posix.wait4(pid, 0)[1:]
cpu = int((usage.ru_utime + usage.ru_stime) * 1e6)
posix.write(3, b"%d %d %d" % (usage.ru_maxrss, posix.waitstatus_to_exitcode(status), cpu))
"""


def memory_text(number: int, size: int = 700) -> str:
    word, other = WORDS[number % len(WORDS)], WORDS[number * 7 % len(WORDS)]
    body = f"Matter {number}: use the {word} of the {other}. [[{word}-{(number * 13) % 9973:05}]]\n"
    return (
        f"---\nname: {word}-{number:05}\ndescription: What is known of the {word} of matter {number}\n"
        "metadata:\n  type: reference\n---\n\n" + body * max(1, size // len(body))
    )


class World:
    """A home with one project. `n` is what stands for 10,000."""

    def __init__(self, base: Path, n: int) -> None:
        self.base = base
        self.n = n
        self.project = base / "shop"
        self.config = base / ".claude"
        self.root = self.config / "memtui"
        self.inbox = self.root / "projects" / paths.project_key(str(self.project))
        self.client = self.config / "projects" / paths.slug(str(self.project))
        self.env = {"HOME": str(base), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(SOURCE), "LC_ALL": "C.UTF-8"}
        self.now = time.time()

    def make(self, fill: Callable[[], None]) -> None:
        made = self.base / "made"
        if made.exists():
            self.now = float(made.read_text())
            return
        for path in (self.project / ".git", self.inbox, self.client, self.root / "run"):
            path.mkdir(parents=True)
        fill()
        made.write_text(str(self.now))
        os.sync()

    def memories(self) -> None:
        """Memories that came with the repository; half of them are trusted."""
        directory = self.project / ".claude" / "memory"
        directory.mkdir(parents=True)
        lines, hashes = [], {}
        for number in range(self.n):
            text = memory_text(number)
            name = f"{WORDS[number % len(WORDS)]}-{number:05}.md"
            (directory / name).write_text(text)
            lines.append(f"- [{name[:-3]}]({name}) — what is known of matter {number}")
            if number % 2:
                hashes[hashlib.blake2b(text.encode(), digest_size=32).hexdigest()] = name
        (directory / "MEMORY.md").write_text("\n".join(lines) + "\n")
        dirs = {str(directory): {"always": False, "hashes": hashes}}
        (self.root / "trust.json").write_text(json.dumps({"v": 1, "dirs": dirs}))

    def projects(self) -> None:
        """Projects with an inbox of one note and one draft, native memory, and a transcript that tells their path."""
        for number in range(self.n):
            path = self.base / "work" / f"p{number:05}"
            path.mkdir(parents=True)
            box = self.root / "projects" / paths.project_key(str(path))
            box.mkdir()
            (box / "guidance.md").write_text(self.entry(number, "Mind the queue."))
            if number % 2:
                (box / "pending-updates.md").write_text(
                    self.entry(number, "Use pnpm here.", f"kind=correction name=p{number} type=feedback scope=project")
                )
            client = self.config / "projects" / paths.slug(str(path))
            (client / "memory").mkdir(parents=True)
            (client / "memory" / f"m-{number}.md").write_text(memory_text(number, 100))
            (client / f"{number:08}.jsonl").write_text(json.dumps({"type": "user", "cwd": str(path)}) + "\n")

    def entry(self, number: int, text: str, more: str = "") -> str:
        at = self.now - 86400 + number * 0.01
        head = f"<!-- memtui id={ulid(at, number)} time={clock.iso(at)} from=ci-watch {more}".rstrip()
        return f"{head} -->\n{text} ({number})\n<!-- /memtui -->\n"

    def entries(self) -> None:
        """One inbox with ten times as many entries: half drafts, half items."""
        count = self.n * 5
        draft = "kind=correction type=feedback scope=project"
        updates = "".join(self.entry(n, "Use pnpm, never npm.", f"{draft} name=n{n}") for n in range(count))
        (self.inbox / "pending-updates.md").write_text(updates)
        (self.inbox / "pending-items.md").write_text("".join(f"- [ ] look at matter {n}\n" for n in range(count)))

    def log(self) -> None:
        """A log of 100 KB for each of `n`, of many sessions: 1,024 records that differ, repeated under other ids."""
        size = self.n * 107_374
        begin = self.now - 20 * 86400
        records = []
        for number in range(1024):
            kind = "index" if number % 16 == 0 else "guidance"
            items = [
                {"kind": kind, "id": f"m-{number % 40}-{i}", "scope": "global", "chars": 80, "reason": "newest",
                 "path": str(self.config / "memory" / f"m-{number % 40}-{i}.md"), "hash": "0" * 16}
                for i in range(60 if kind == "index" else 1)
            ]  # fmt: skip
            text = f'<memtui-{kind} delivery="@ID@">\n' + "words of matter " * (500 if kind == "index" else 60)
            record = {
                "v": 1, "id": "@ID@", "time": "@TIME@", "event": "SessionStart" if kind == "index" else "UserPromptSubmit",
                "session_id": "@SESSION@", "prompt_id": "p", "transcript": f"{self.client}/@SESSION@.jsonl",
                "cwd": str(self.project), "project": paths.project_key(str(self.project)), "project_root": str(self.project),
                "mode": "full", "chars": len(text), "text": text, "items": items, "ms": 11.0 + number % 9,
            }  # fmt: skip
            records.append(json.dumps(record).encode() + b"\n")
        whole = sum(map(len, records))
        total = max(1, size // whole) * len(records)
        (self.root / "log").mkdir()
        path = self.root / "log" / time.strftime("deliveries-%Y-%m.jsonl", time.gmtime(self.now))
        with path.open("wb") as file:
            for number in range(total):
                at = begin + (self.now - begin) * number / total
                session = b"%08x-0000-4000-8000-000000000000" % (number // 16)  # sixteen records are a session
                record = records[number % len(records)].replace(b"@SESSION@", session)
                file.write(
                    record.replace(b"@ID@", ulid(at, number).encode()).replace(b"@TIME@", clock.iso(at).encode())
                )
        (self.root / "sessions").mkdir()
        for number in range(min(self.n, 500)):
            state = {
                "started": clock.iso(self.now - number * 3600),
                "project": paths.project_key(str(self.project)),
                "mode": "full",
            }
            (self.root / "sessions" / f"{number:08x}-0000-4000-8000-000000000000.json").write_text(json.dumps(state))
        memories = self.config / "memory"
        memories.mkdir()
        for number in range(40):
            (memories / f"m-{number}-0.md").write_text(memory_text(number))

    def journal(self) -> None:
        """Twice as many changes as `n`, half of them older than half a year, each with its image."""
        trash = self.root / "trash"
        trash.mkdir()
        memories = self.config / "memory"
        memories.mkdir()
        rows = []
        for number in range(self.n * 2):
            at = self.now - 360 * 86400 * (1 - number / (self.n * 2))
            text = memory_text(number).encode()
            digest = hashlib.blake2b(text, digest_size=32).hexdigest()
            (trash / digest).write_bytes(text)
            path = f"{memories}/m-{number}.md"
            change = {"path": path, "before": None, "after": digest, "mode": None, "times": [None, None]}
            op = "create"
            if number % 4 == 3:
                op, change = "delete", {**change, "before": digest, "after": None}
            key = ulid(at, number)
            head = {"v": 1, "id": key, "time": clock.iso(at)}
            more = {"scope": "global", "directory": str(memories)} if op == "delete" else {}
            rows.append(
                {
                    **head,
                    "state": "intent",
                    "by": "cli",
                    "op": op,
                    "summary": f"{op} m-{number}",
                    **more,
                    "changes": [change],
                }
            )
            rows.append({**head, "state": "done"})
        (self.root / "journal.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def run(self, argv: list[str]) -> tuple[float, float, float, int, bytes]:
        """Seconds, seconds of processor time, peak resident megabytes, exit code (-1: killed after TIMEOUT) and standard
        output of one process."""
        out, weight, inp = self.base / "out", self.base / "weight", self.base / "in"
        inp.write_bytes(b"")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, str(inp), os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(out), flags, 0o600),
            (os.POSIX_SPAWN_OPEN, 2, str(self.base / "err"), flags, 0o600),
            (os.POSIX_SPAWN_OPEN, 3, str(weight), flags, 0o600),
        ]
        os.chdir(self.project)
        start = time.perf_counter()
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-S", "-c", WEIGH, *argv],
            self.env,
            file_actions=actions,
            setpgroup=0,
        )
        while not os.waitpid(pid, os.WNOHANG)[0]:
            if time.perf_counter() - start > TIMEOUT:
                os.killpg(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                return time.perf_counter() - start, 0.0, 0.0, -1, b""
            time.sleep(0.002)
        seconds = time.perf_counter() - start
        kilobytes, code, cpu = map(int, weight.read_bytes().split())
        return seconds, cpu / 1e6, kilobytes / 1024, code, out.read_bytes()


COMMON: list[str] = [
    "status",
    "list",
    "search pnpm cache",
    "check",
    "inbox",
    "note --list",
    "inbox --kind todos",
    "activity",
    "activity --sessions",
    "activity --outcome lost",
    "activity --sessions --live",
    "undo --list",
    "history",
    "trust --list",
    "doctor",
    "status --paths",
    "config",
    "setup",
    "doctor --clean --dry-run",
]
NAMES = "list --names"
NEW = "new a-new-one --type feedback --description 'Something new' --body New."
GUIDE = "note 'Mind the lock file.'"
UNDO = "undo --yes"


def cases(world: World, name: str) -> list[str]:
    """The commands to run in a world, those that change something last."""
    if name == "memories":
        one = f"{WORDS[3]}-{3 + 16 * 5:05}"
        return [
            *COMMON,
            "list --json",
            "list --sort age",
            "list is:problem",
            "list is:never",
            "search zzyzx",
            "search pnmp",
            NAMES,
            f"show {one}",
            "show no-such-thing",
            "check --fix --dry-run",
            "trust pnpm-00000 --yes",
            "trust --yes",
            UNDO,
            "trust --always --yes",
            "trust --remove",
            "undo --yes",
            NEW,
            f"edit {one} --description Another",
            f"mv {one} renamed",
            "rm renamed",
            "history",
            "doctor",
            GUIDE,
        ]
    if name == "projects":
        last = ulid(world.now - 86400 + (world.n - 1) * 0.01, world.n - 1)
        return [
            *COMMON,
            "list --all-projects",
            "list --all-projects",
            "search cache --all-projects",
            "inbox --all-projects",
            "inbox --all-projects --json",
            f"inbox {last}",
            "config list --all-projects",
            f"show {world.config}/projects/{paths.slug(str(world.base / 'work' / 'p00007'))}/memory/m-7.md",
            f"note --withdraw {last}",
            f"approve {last}",
            UNDO,
            NEW,
            GUIDE,
        ]
    if name == "inbox":
        last = ulid(world.now - 86400 + 0.01, 1)
        return [
            *COMMON,
            "inbox --kind todos",
            "inbox --json",
            f"inbox {last}",
            f"approve {last}",
            f"reject {ulid(world.now - 86400 + 0.02, 2)}",
            UNDO,
            GUIDE,
        ]
    if name == "log":
        return [
            *COMMON,
            "activity --limit 200",
            "activity --since 2d",
            "activity --text zzyzx",
            "activity --session 00000fff",
            "activity --kind use",
            "activity --memory m-3-0",
            "activity --outcome failed",
            "activity --sessions --all-projects",
            "activity ZZZZZZ",
            f"activity {ulid(world.now - 20 * 86400, 0)}",
            "activity --sessions --json",
            "activity 000000ff",
            "list --names",
            "show m-3-0",
            GUIDE,
        ]
    return [
        *COMMON,
        "show m-1",
        NEW,
        "edit a-new-one --description Another",
        "rm a-new-one",
        UNDO,
        "doctor --clean",
        "undo --list",
    ]


def main() -> int:
    """Make the worlds, run all commands, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", default="memories,projects,inbox,log,journal")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only", default="", help="only commands with this word in their name")
    parser.add_argument("--keep", default="", help="where to make the worlds, and leave them")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    over = 0
    with tempfile.TemporaryDirectory() as directory:
        top = Path(options.keep or directory).resolve()
        top.mkdir(parents=True, exist_ok=True)
        for name in options.worlds.split(","):
            world = World(top / f"{name}-{options.scale:g}", max(10, int(10_000 * options.scale)))
            start = time.perf_counter()
            world.make({"inbox": world.entries}.get(name) or getattr(world, name))
            made = time.perf_counter() - start
            base = sorted(world.run([*COMMAND, "--version"])[0] for _ in range(5))[2]
            print(f"\n{name}, scale {options.scale:g} (made in {made:.1f} s; memtui --version: {base * 1000:.0f} ms)")
            print(f"{'command':32} {'s':>7} {'cpu s':>6} {'×':>6} {'MB':>6} {'exit':>5} {'KB out':>7}")
            for words in cases(world, name):
                if options.only not in words:
                    continue
                seconds, cpu, memory, code, out = world.run([*COMMAND, *shlex.split(words)])
                bad = seconds > BAR_SECONDS or memory > BAR_MB or code in {-1, 1}
                over += bad
                print(
                    f"{words[:32]:32} {seconds:7.2f} {cpu:6.2f} {seconds / base:6.1f} {memory:6.0f} {code:5} {len(out) / 1024:7.0f}"
                    + ("  over" if bad else ""),
                    flush=True,
                )
    print(f"\n{over} over {BAR_SECONDS:g} s or {BAR_MB} MB" if over else "\nall within the bar")
    return 1 if options.check and over else 0


if __name__ == "__main__":
    sys.exit(main())
