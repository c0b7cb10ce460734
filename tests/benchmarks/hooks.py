"""What a hook costs, as a whole process, in multiples of a bare interpreter measured in the same run.

    python tests/benchmarks/hooks.py [--runs 60] [--large] [--small] [--only WORD] [--check] [--beside REVISION]

Hooks are started as the client does it: `sh -c` with the command line that `memtui setup hooks` writes. Every case is
run in turn, round after round, so that a machine that slows down slows all of them. Printed: the median of each, the
median of the ratios to the bare interpreter (`python -I -S -c pass`, without a shell) of the same round, and the bar.
`--large` puts 10,000 memories and a 100 MB delivery log on disk first. `--small` leaves out the cases with thousands of
memories. `--only` runs the cases with a word in their name. `--check` exits 1 where a bar is missed. `--beside` runs
each case with the sources of another revision as well, in the same rounds, and prints the median of the ratios of these
to those.
"""

import argparse
import functools
import json
import os
import random
import runpy
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from memtui.client.agents import agents_hot
from memtui.hooks.install import entries

sys.path.insert(0, str(Path(__file__).parent))
from revision import compared, sources

SOURCE = Path(__file__).resolve().parents[2] / "src"
PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))

# What the worker that Stop leaves behind waits to see in the transcript.
ANSWER = '{"type": "assistant", "message": {"content": [{"type": "text", "text": "Done."}]}}\n'

# Starts its arguments as a process and writes that process's peak in kilobytes to descriptor 3.
WEIGH = """import posix, sys
pid = posix.posix_spawn(sys.argv[1], sys.argv[1:], posix.environ)
status, usage = posix.wait4(pid, 0)[1:]
posix.write(3, b"%d" % usage.ru_maxrss)
posix._exit(1 if status else 0)
"""

BARS = {
    "nothing to deliver": 1.25,
    "guidance delivered": 1.6,
    "stop": 1.6,
    "settling prompt": 1.8,
    "status line": 1.6,
    "1 of 1,000 changed": 1.6,
    "1 of 10,000 changed": 1.6,
    "1 new beside 10,000": 1.6,
    "first start, 10,000": 4.0,
    "recall of 1,000": 1.6,
    "recall of 10,000": 2.1,
}
# Cases in multiples of another one, with the bar.
OF_OTHERS: dict[str, tuple[str, float | None]] = {
    "tool, 50 rules": ("tool, nothing urgent", 1.15),
    "session start, 5 pinned": ("session start, index", None),
    **{f"{name}, nothing": ("nothing to deliver", 1.1) for name in agents_hot.NAMES[1:]},
    **{f"{name}, guidance": ("guidance delivered", 1.1) for name in agents_hot.NAMES[1:]},
}
MEMORY_BAR_MB = 20
# Seconds that a worker may take where the machine has other work: it keeps 10,000 versions after a first start.
PATIENCE = 120
FLOOR = "bare interpreter"
BESIDE = "beside: "


class World:
    """A home with a project, an inbox, and what a prompt hook would be given."""

    def __init__(self, base: Path, memories: int = 20, log: bool = False, source: Path = SOURCE) -> None:
        base.mkdir()
        self.base = base
        self.launcher = source / "memtui" / "hooks" / "launch.py"
        self.project = base / "shop"
        (self.project / ".git").mkdir(parents=True)
        self.config = base / ".claude"
        self.root = self.config / "memtui"
        slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(self.project))
        (module,) = source.glob("memtui/base/paths*.py")  # without the suffix in older revisions
        names = runpy.run_path(str(module))
        self.inbox = self.root / "projects" / names["project_key"](str(self.project))
        self.inbox.mkdir(parents=True)
        # Its records are of now, or no claim would be settled by them.
        self.transcript = self.config / "projects" / slug / "bench.jsonl"
        self.transcript.parent.mkdir(parents=True)
        self.transcript.write_text("")
        self.memories = self.config / "memory"
        self.memories.mkdir()
        for number in range(memories):
            self.remember(number)
        if log:
            self.fill_log()
        self.env = {"HOME": str(base), "PATH": "/usr/bin:/bin"}
        self.input = base / "input.json"
        self.weigh = False

    def remember(self, number: int, words: str = "What is known of matter") -> None:
        """Write a memory, or write it anew in its place."""
        (self.memories / f"memory-{number:05}.md").write_text(
            f"---\nname: memory-{number:05}\ndescription: {words} {number}\n"
            "metadata:\n  type: reference\n---\nThe whole of it.\n"
        )

    def fill_log(self) -> None:
        """100 MB of deliveries in this month's log."""
        line = json.dumps({"v": 1, "id": "0" * 26, "text": "x" * 900, "items": [{"kind": "index"}]}) + "\n"
        log = self.root / "log" / time.strftime("deliveries-%Y-%m.jsonl", time.gmtime())
        log.parent.mkdir(parents=True)
        with log.open("w") as file:
            for _ in range(100 * 1024 * 1024 // len(line) // 1000 + 1):
                file.write(line * 1000)

    def payload(self, event: str, session: str = "bench", **more: object) -> None:
        """Write the input of the next run."""
        given = {
            "session_id": session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.project),
            "hook_event_name": event,
            "prompt_id": "p",
            **more,
        }
        self.input.write_text(json.dumps(given))

    def run(self, argv: list[str]) -> tuple[float, float, bytes]:
        """Seconds, peak resident megabytes, and standard output of one process.

        A process inherits the peak of the one that started it, so memory is measured, when `weigh` is set, below a bare
        interpreter, whose own peak is the least that can be seen.
        """
        out, weight = self.base / "out", self.base / "weight"
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, str(self.input), os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(out), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
            (os.POSIX_SPAWN_OPEN, 3, str(weight), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
        ]
        if self.weigh:
            argv = [PYTHON, "-I", "-S", "-c", WEIGH, *argv]
        start = time.perf_counter()
        _, status = os.waitpid(os.posix_spawn(argv[0], argv, self.env, file_actions=actions), 0)
        seconds = time.perf_counter() - start
        if status:
            raise SystemExit(f"{argv} ended with {status}")
        return seconds, int(weight.read_bytes() or 0) / 1024, out.read_bytes()

    def hook(self, event: str, agent: str = "") -> list[str]:
        """How an agent starts a hook."""
        command = entries.command(event, PYTHON, str(self.launcher), str(self.root), str(self.config), agent)
        return ["/bin/sh", "-c", command]

    def say(self, event: str, session: str = "bench", **more: object) -> tuple[float, float, bytes]:
        """Run a hook; any worker it leaves behind has ended when this returns, and is not in the time."""
        self.payload(event, session, **more)
        found = self.run(self.hook(event))
        wait_for_workers(self)
        return found


def cases(world: World) -> dict[str, Callable[[], tuple[float, float]]]:
    """Name -> function that runs the case once and returns (seconds, MB)."""

    def bare() -> tuple[float, float]:
        world.payload("UserPromptSubmit", prompt="hi")
        return world.run([PYTHON, "-I", "-S", "-c", "pass"])[:2]

    def nothing(agent: str = "") -> tuple[float, float]:
        if agent:  # takes in what other cases changed, and the index where that comes with the first prompt
            world.payload("UserPromptSubmit", agent, prompt="hi", submitted_prompt="hi", sessionId=agent)
            world.run(world.hook("UserPromptSubmit", agent))
        world.payload("UserPromptSubmit", agent or "bench", prompt="hi", submitted_prompt="hi", sessionId=agent)
        seconds, memory, out = world.run(world.hook("UserPromptSubmit", agent))
        assert out == b"", out
        return seconds, memory

    def guidance(agent: str = "") -> tuple[float, float]:
        guide(world)
        more = {"transcript_size": 1} if agent == "opencode" else {}  # as its plugin says
        world.payload("UserPromptSubmit", agent or "bench", prompt="hi", submitted_prompt="hi", sessionId=agent, **more)
        log = next((world.root / "log").glob("deliveries-*.jsonl"), None)
        before = log.stat().st_size if log else 0
        seconds, memory, out = world.run(world.hook("UserPromptSubmit", agent))
        log = next((world.root / "log").glob("deliveries-*.jsonl"))
        assert b"CI is red" in out, (agent, out)
        assert log.stat().st_size > before, "delivered but not logged"
        shutil.rmtree(world.inbox / "claimed")
        return seconds, memory

    def stop() -> tuple[float, float]:
        world.payload("Stop", stop_hook_active=False, last_assistant_message="Done.")
        world.transcript.write_text(ANSWER)
        seconds, memory, out = world.run(world.hook("Stop"))
        assert out == b""
        # The worker it left behind must not run into the next case's time.
        wait_for_workers(world)
        world.transcript.write_text("")
        return seconds, memory

    def tool() -> tuple[float, float]:
        world.payload("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t")
        return world.run(world.hook("PreToolUse"))[:2]

    def start() -> tuple[float, float]:
        world.payload("SessionStart", source="startup")
        seconds, memory, out = world.run(world.hook("SessionStart"))
        assert b"memtui-index" in out
        wait_for_workers(world)
        return seconds, memory

    def status_line() -> tuple[float, float]:
        guide(world)
        world.payload("StatusLine", workspace={"project_dir": str(world.project)})
        seconds, memory, out = world.run(world.hook("StatusLine"))
        assert b"memtui 1 note" in out
        (world.inbox / "guidance.md").unlink()
        return seconds, memory

    return {
        "bare interpreter": bare,
        "nothing to deliver": nothing,
        "guidance delivered": guidance,
        "stop": stop,
        "tool, nothing urgent": tool,
        "tool, 50 rules": enforced(world),
        "session start, index": start,
        "session start, 5 pinned": pinned(world),
        "settling prompt": settling(world),
        "status line": status_line,
        **{f"{name}, nothing": functools.partial(nothing, name) for name in agents_hot.NAMES[1:]},
        **{f"{name}, guidance": functools.partial(guidance, name) for name in agents_hot.NAMES[1:]},
    }


def enforced(world: World) -> Callable[[], tuple[float, float]]:
    """A command beside 50 enforced rules that it does not break, of commands and texts, with bundles that are current."""
    commands = [{"never": {"command": f"tool{n} run *"}, "instead": {"command": f"new{n} *"}} for n in range(25)]
    texts = [{"never": {"text": f"legacy{n}(", "path": f"lib{n}/**"}} for n in range(25)]
    rows = [{**rule, "enforce": "refuse"} for rule in (*commands, *texts)]
    listed = {"v": 1, "dirs": {str(world.memories): {"memory-00000.md": rows}}}
    file = world.root / "rules" / "enforced"

    def case() -> tuple[float, float]:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(listed))
        world.payload("PreToolUse", tool_name="Bash", tool_input={"command": "ls -la | wc -l"}, tool_use_id="t")
        seconds, memory, out = world.run(world.hook("PreToolUse"))
        file.unlink()
        assert out == b"", out
        return seconds, memory

    return case


def pinned(world: World) -> Callable[[], tuple[float, float]]:
    """The start of a session beside five pinned memories, whose texts it brings: of sixty words each."""
    names = [f"pinned-{number}.md" for number in range(5)]
    file, text = world.root / "recall" / "pinned", " ".join(["Words of the memory"] * 15)
    listed = {"v": 1, "dirs": {str(world.memories): {name: ["pinned"] for name in names}}}
    rounds = 0

    def case() -> tuple[float, float]:
        nonlocal rounds
        rounds += 1
        for name in names:
            head = f"name: {name[:-3]}\ndescription: Pinned\npinned: true\nmetadata:\n  type: feedback\n"
            (world.memories / name).write_text(f"---\n{head}---\n{text}.\n")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(listed))
        seconds, memory, out = world.say("SessionStart", f"pinned{rounds}", source="startup")
        assert out.count(b"Words of the memory Words") >= len(names), out
        for name in names:
            (world.memories / name).unlink()
        file.unlink(missing_ok=True)
        return seconds, memory

    return case


def guide(world: World) -> None:
    """Leave a note for the next prompt."""
    shutil.rmtree(world.inbox / "claimed", ignore_errors=True)
    (world.inbox / "guidance.md").write_text(
        "<!-- memtui id=01K8ZC5N8W3M1T9Q6V2R4B7XAD time=2026-11-21T09:00:00Z from=ci-watch -->\n"
        "CI is red on master: the lockfile job fails.\n<!-- /memtui -->\n"
    )


def settling(world: World) -> Callable[[], tuple[float, float]]:
    """A prompt that finds out that the guidance of the prompt before arrived."""

    def case() -> tuple[float, float]:
        guide(world)
        _, _, out = world.say("UserPromptSubmit", prompt="hi")
        (claimed,) = (world.inbox / "claimed").iterdir()
        now = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(time.time() + 2)) + ".000Z"
        context = json.loads(out)["hookSpecificOutput"]["additionalContext"]
        attachment = {"type": "hook_additional_context", "content": [context]}
        records: list[dict[str, object]] = [
            {"type": "user", "uuid": "u1", "parentUuid": None, "message": {"content": "hi"}, "timestamp": now},
            {"type": "attachment", "uuid": "u2", "parentUuid": "u1", "attachment": attachment, "timestamp": now},
            {
                "type": "assistant",
                "uuid": "u3",
                "parentUuid": "u2",
                "message": {"id": "m", "content": [{"type": "text", "text": "Done."}]},
                "timestamp": now,
            },
        ]
        world.transcript.write_text("".join(json.dumps(record) + "\n" for record in records))
        seconds, memory, _ = world.say("UserPromptSubmit", prompt="on")
        assert not claimed.exists(), "not settled"
        world.transcript.write_text("")
        return seconds, memory

    return case


def changed(world: World, new: bool) -> Callable[[], tuple[float, float]]:
    """A prompt after one memory that the session was told of was written anew, or the agent wrote a new one."""
    count = len(list(world.memories.iterdir()))
    world.say("SessionStart", source="startup")
    world.say("UserPromptSubmit", prompt="hi")
    world.say("UserPromptSubmit", prompt="hi")
    rounds = 0

    def case() -> tuple[float, float]:
        nonlocal rounds
        rounds += 1
        number = count + rounds if new else count - 1
        world.remember(number, f"Seen {rounds} times, matter")
        if new:
            given = {"file_path": str(world.memories / f"memory-{number:05}.md")}
            world.say("PostToolUse", tool_name="Write", tool_input=given, tool_use_id="t", tool_response={})
        seconds, memory, out = world.say("UserPromptSubmit", prompt="hi")
        assert f"Seen {rounds} times".encode() in out, out
        return seconds, memory

    return case


def first_start(world: World) -> Callable[[], tuple[float, float]]:
    """The start of a session where nothing is known yet of the memories."""

    def case() -> tuple[float, float]:
        shutil.rmtree(world.root / "run", ignore_errors=True)
        seconds, memory, out = world.say("SessionStart", source="startup")
        assert b"memtui-index" in out
        return seconds, memory

    return case


def recalled(world: World) -> Callable[[], tuple[float, float]]:
    """A prompt that is given one of the memories, of about a hundred words each. The bundles of modules are current."""
    chosen = random.Random(3)
    syllables = [a + b for a in "bcdfghklmnprstvw" for b in "aeiou"]
    words = ["".join(chosen.choices(syllables, k=chosen.randint(2, 4))) for _ in range(30_000)]
    often = [1 / (rank + 5) for rank in range(len(words))]
    for path in world.memories.iterdir():
        text = chosen.choices(words, often, k=100)
        path.write_text(
            f"---\nname: {path.stem}\ndescription: {' '.join(text[:10])}\nmetadata:\n  type: reference\n---\n"
            f"{' '.join(text[10:50])}.\n\n{' '.join(text[50:])}.\n"
        )
    (world.memories / "release.md").write_text(
        "---\nname: release\ndescription: How a release of the shop goes live\nmetadata:\n  type: feedback\n---\n"
        f"Run the release pipeline, and watch the canary. {' '.join(chosen.choices(words, often, k=80))}.\n"
    )
    world.say("SessionStart", source="startup")
    world.say("Stop", stop_hook_active=False, last_assistant_message="Done.")
    world.say("UserPromptSubmit", prompt="hi")
    common = " ".join(words[rank] for rank in (3, 10, 40, 300))
    given = world.root / "sessions" / "bench.recall.json"

    def case() -> tuple[float, float]:
        given.unlink(missing_ok=True)
        world.payload("UserPromptSubmit", prompt=f"how do we put a release of the shop live when {common} is not done?")
        seconds, memory, out = world.run(world.hook("UserPromptSubmit"))
        assert b"How a release of the shop goes live" in out, out
        return seconds, memory

    return case


def wait_for_workers(world: World) -> None:
    """Until no detached worker of this world is left."""
    needle = f"HOME={world.base}".encode()
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        alive = False
        for process in Path("/proc").glob("[0-9]*"):
            try:
                alive = alive or needle in (process / "environ").read_bytes()
            except OSError:
                continue
        if not alive:
            return
        time.sleep(0.005)
    raise SystemExit(f"a worker is still running after {PATIENCE} s")


def prepared(
    base: Path, source: Path, options: argparse.Namespace
) -> tuple[dict[str, Callable[[], tuple[float, float]]], list[World]]:
    """The cases for some sources, in worlds of their own; a world of thousands of memories takes long to write."""
    base.mkdir()
    world = World(base / "one", 10_000 if options.large else 20, options.large, source)
    chosen, worlds = cases(world), [world]
    stores: dict[str, tuple[int, Callable[[World], Callable[[], tuple[float, float]]]]] = {
        "1 of 1,000 changed": (1_000, lambda store: changed(store, new=False)),
        "1 of 10,000 changed": (10_000, lambda store: changed(store, new=False)),
        "1 new beside 10,000": (10_000, lambda store: changed(store, new=True)),
        "first start, 10,000": (10_000, first_start),
        "recall of 1,000": (1_000, recalled),
        "recall of 10,000": (10_000, recalled),
    }
    for name, (count, case) in {} if options.small else stores.items():
        if options.only in name:
            worlds.append(World(base / str(len(worlds)), count, source=source))
            chosen[name] = case(worlds[-1])
    return chosen, worlds


def main() -> int:
    """Run all cases, print the table, compare with the bars if asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--beside", metavar="REVISION")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        base = Path(directory)
        found, every = prepared(base / "here", SOURCE, options)
        if options.beside:
            others, more = prepared(base / "beside", sources(options.beside, base / "sources"), options)
            found |= {BESIDE + name: case for name, case in others.items() if name != FLOOR}
            every += more
        found = {name: case for name, case in found.items() if options.only in name or name == FLOOR}
        times: dict[str, list[float]] = {name: [] for name in found}
        memory: dict[str, float] = dict.fromkeys(found, 0.0)
        for _ in range(3):
            for name, case in found.items():
                for each in every:
                    each.weigh = True
                memory[name] = max(memory[name], case()[1])
        for each in every:
            each.weigh = False
        for _ in range(options.runs):
            for name, case in found.items():
                times[name].append(case()[0])
    print(f"Python {sys.version.split()[0]}, {options.runs} rounds" + (", 10,000 memories, 100 MB log" * options.large))
    print(f"{'case':24} {'ms':>7} {'ratio':>6} {'bar':>5} {'MB':>6}")
    bare = times[FLOOR]
    missed = []
    for name, seconds in times.items():
        ratio = compared(seconds, bare)
        if name.startswith(BESIDE):
            continue
        bar = BARS.get(name)
        if name in OF_OTHERS and OF_OTHERS[name][0] in times:
            other, bar = OF_OTHERS[name]
            ratio = compared(seconds, times[other])
        beside = times.get(BESIDE + name)
        print(
            f"{name:24} {statistics.median(seconds) * 1000:7.2f} {ratio:6.2f} {bar or '':>5} {memory[name]:6.1f}"
            + (f" {compared(seconds, beside):6.2f} beside" if beside else "")
            + (" over the bar" if bar and ratio > bar else "")
        )
        if (bar and ratio > bar) or memory[name] > MEMORY_BAR_MB:
            missed.append(name)
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
