"""An agent with habits, on loopback: in each session it keeps or breaks rules, by chance and by what it was told.

The agent of a rule decides by what is in its request: whether the memory's text is there. What it runs are programs that
only note their call, so that `reached` knows what was really done.
"""

import contextlib
import json
import random
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtui.base import ids_hot

from .model import Block, Reply, Request, say, use

# How often each kind of agent keeps a rule: without the memory before it, and with it.
KEEPS = {"told": (0.15, 0.92), "anyway": (0.95, 0.95), "ignores": (0.12, 0.12)}
KINDS = tuple(KEEPS)
FORMS = ("instead", "option", "text", "path", "before", "with")
STUBBORN = 0.05  # how often it tries the same once more after a refusal, which then goes through
ROUNDS = 4  # after so many answers it ends its turn
STUB = '#!/bin/sh\necho "$(basename "$0") $*" >> "{log}"\n'


@dataclass(frozen=True)
class Habit:
    """One memory with its rule, and how an agent of a kind keeps it. Names end in its number, so that no two meet."""

    number: int
    kind: str
    form: str

    @property
    def name(self) -> str:
        return f"rule-{self.number:02}"

    @property
    def statement(self) -> str:
        """The memory's text, by which the agent knows that it was told; no two are alike."""
        words = " ".join(ids_hot.digest(f"{self.number} {word}".encode())[:7] for word in range(6))
        return f"Rule {self.number:02} says {words}."

    @property
    def rule(self) -> dict[str, dict[str, str]]:
        n = f"{self.number:02}"
        return {
            "instead": {"never": {"command": f"old{n} *"}, "instead": {"command": f"new{n} *"}},
            "option": {"never": {"command": f"ship{n} * --force"}},
            "text": {"never": {"text": f"legacy{n}(", "path": f"lib{n}/**"}},
            "path": {"never": {"path": f"made{n}/**"}, "instead": {"path": f"hand{n}/**"}},
            "before": {"always": {"command": f"check{n} *"}, "before": {"command": f"push{n} *"}},
            "with": {"always": {"path": f"news{n}/**"}, "with": {"path": f"app{n}/**"}},
        }[self.form]

    @property
    def programs(self) -> list[str]:
        n = f"{self.number:02}"
        return {"instead": [f"old{n}", f"new{n}"], "option": [f"ship{n}"], "before": [f"check{n}", f"push{n}"]}.get(
            self.form, []
        )

    def memory(self) -> str:
        """Its file."""
        (kind, subject), *beside = self.rule.items()
        lines = [f"  - {kind}: {json.dumps(subject)}", *(f"    {key}: {json.dumps(part)}" for key, part in beside)]
        head = [
            "---",
            f"name: {self.name}",
            f"description: {self.statement}",
            "type: feedback",
            "rules:",
            *lines,
            "---",
        ]
        return "\n".join([*head, "", self.statement, ""])

    def chance(self, *, told: bool) -> float:
        return KEEPS[self.kind][told]

    def calls(self, project: Path, unique: str, *, keeps: bool) -> list[Block]:
        """The calls by which the agent keeps or breaks the rule once; each of them is an opportunity of this rule."""
        n, run = f"{self.number:02}", lambda command: use("Bash", command=command)
        write = lambda place, text="x = 1\n": use("Write", file_path=f"{project}/{place}/{unique}.py", content=text)
        return {
            "instead": lambda: [run(f"new{n} {unique}" if keeps else f"cd . && old{n} {unique}")],
            "option": lambda: [run(f"ship{n} {unique}" if keeps else f"ship{n} {unique} --force")],
            "text": lambda: [write(f"lib{n}", f"modern{n}()\n" if keeps else f"x = 1\nlegacy{n}()\n")],
            "path": lambda: [write(f"hand{n}" if keeps else f"made{n}")],
            "before": lambda: [*([run(f"check{n} {unique}")] if keeps else []), run(f"push{n} {unique}")],
            "with": lambda: [write(f"app{n}"), *([write(f"news{n}")] if keeps else [])],
        }[self.form]()

    def reached(self, project: Path, calls: Sequence[str]) -> int:
        """How many breaks reached the disk: forbidden calls that ran, files that were written so."""
        n = f"{self.number:02}"
        files = lambda place: {path.name for path in (project / place).glob("*.py")}
        if self.form == "before":
            unchecked, breaks = True, 0
            for call in calls:
                unchecked = unchecked and not call.startswith(f"check{n} ")
                if call.startswith(f"push{n} "):
                    breaks, unchecked = breaks + unchecked, True
            return breaks
        return {
            "instead": lambda: sum(call.startswith(f"old{n} ") for call in calls),
            "option": lambda: sum(call.startswith(f"ship{n} ") and call.endswith("--force") for call in calls),
            "text": lambda: sum("legacy" in path.read_text() for path in (project / f"lib{n}").glob("*.py")),
            "path": lambda: len(files(f"made{n}")),
            "with": lambda: len(files(f"app{n}") - files(f"news{n}")),
        }[self.form]()


@dataclass(frozen=True)
class Chosen:
    """What the agent did at one opportunity: in which session, for which habit, whether it was told, whether it kept."""

    session: int
    habit: Habit
    told: bool
    keeps: bool


class HabitualAgent:
    """The script of a `Model`: `plan` has the habits of the next session, each with an opportunity. `chosen`: what it
    did; `refused`: how often it was refused; `repeated`: how often it tried the same once more. `in_one`: it runs all
    programs in one command line, which takes less time, where nothing is refused."""

    def __init__(self, project: Path, seed: int) -> None:
        self.project, self.seed = project, seed
        self.session, self.plan, self.in_one = 0, list[Habit](), False
        self.chosen: list[Chosen] = []
        self.refused = self.repeated = 0
        self._made: dict[str, tuple[Habit, list[Block]]] = {}
        self._rounds, self._number = 0, 0
        self._lock = threading.Lock()

    def begin(self, session: int, plan: Sequence[Habit]) -> None:
        """Take the habits that the next session has an opportunity for."""
        self.session, self.plan, self._rounds = session, list(plan), 0

    def __call__(self, request: Request) -> Reply:
        with self._lock:
            self._rounds += 1
            if self._rounds == 1:
                return self._first(request)
            return self._further(request)

    def _first(self, request: Request) -> Reply:
        text, blocks = request.text(), list[Block]()
        for habit in self.plan:
            told = habit.statement in text
            keeps = self._random(habit, "keeps") < habit.chance(told=told)
            self.chosen.append(Chosen(self.session, habit, told, keeps))
            blocks += self._calls(habit, keeps=keeps)
        commands = [block["input"]["command"] for block in blocks if block["name"] == "Bash"]
        if self.in_one and commands:
            blocks = [block for block in blocks if block["name"] != "Bash"]
            blocks += [{**use("Bash", command="; ".join(commands)), "id": self._next_id()}]
        return Reply(blocks) if blocks else say("Nothing to do.")

    def _further(self, request: Request) -> Reply:
        """Answer refusals: now and then by the same call, else by what the rule wants."""
        blocks = []
        for habit in dict.fromkeys(self._refused(request)):
            self.refused += 1
            again = self._random(habit, f"again {self._rounds}") < STUBBORN
            self.repeated += again
            same = [calls for other, calls in self._made.values() if other is habit]
            blocks += self._named(habit, same[-1]) if again else self._calls(habit, keeps=True)
        return Reply(blocks) if blocks and self._rounds < ROUNDS else say("Done.")

    def _refused(self, request: Request) -> list[Habit]:
        results = [block for _, blocks in request.messages()[-2:] for block in blocks if block["type"] == "tool_result"]
        return [self._made[block["tool_use_id"]][0] for block in results if block.get("is_error")]

    def _calls(self, habit: Habit, *, keeps: bool) -> list[Block]:
        unique = f"s{self.session:03}r{self._rounds}"
        return self._named(habit, habit.calls(self.project, unique, keeps=keeps))

    def _named(self, habit: Habit, calls: list[Block]) -> list[Block]:
        named = []
        for call in calls:
            named.append({**call, "id": self._next_id()})
            self._made[named[-1]["id"]] = habit, calls
        return named

    def _next_id(self) -> str:
        self._number += 1
        return f"toolu_{self._number:024}"

    def _random(self, habit: Habit, what: str) -> float:
        return random.Random(f"{self.seed} {self.session} {habit.number} {what}").random()


class Plant:
    """A world in which agents work: `run` makes one session, `reached` counts the breaks on the disk since the last
    time."""

    def __init__(self, world: Any, habits: Sequence[Habit], seed: int) -> None:
        self.world, self.habits = world, habits
        self.agent = HabitualAgent(world.project, seed)
        world.model.script = self.agent
        self.log = world.base / "calls.log"
        programs = world.base / "stubs"
        programs.mkdir()
        for name in {name for habit in habits for name in habit.programs}:
            (programs / name).write_text(STUB.format(log=self.log))
            (programs / name).chmod(0o700)
        world.env["PATH"] = f"{programs}:{world.environment()['PATH']}"
        self._before = dict.fromkeys(habits, 0)

    def remember(self) -> None:
        """Write the memories."""
        directory = self.world.config / "memory"
        directory.mkdir(parents=True, exist_ok=True)
        for habit in self.habits:
            (directory / f"{habit.name}.md").write_text(habit.memory())

    def run(self, session: int, plan: Sequence[Habit]) -> Any:
        """Run a session with one opportunity for each habit of the plan; what the client says of it."""
        self.agent.begin(session, plan)
        return self.world.claude(f"work on the plant {session}", "--allowedTools", "Bash", "Write")

    def reached(self) -> dict[Habit, int]:
        """The breaks that reached the disk since the last time, by habit."""
        calls = []
        with contextlib.suppress(FileNotFoundError):
            calls = self.log.read_text().splitlines()
        now = {habit: habit.reached(self.world.project, calls) for habit in self.habits}
        new = {habit: count - self._before[habit] for habit, count in now.items()}
        self._before = now
        return new


def habits(count: int) -> list[Habit]:
    """Habits of all kinds and forms in turn."""
    return [Habit(number, KINDS[number % 3], FORMS[number // 3 % len(FORMS)]) for number in range(count)]
