"""Whether memtui tells which memories an agent keeps, and whether refusing helps: the real client, a scripted agent.

    python tests/benchmarks/held.py [--sessions 100 100 3 12] [--opportunities 6] [--seed 1] [--client newest]

Thirty memories with a rule each: ten that the agent keeps only when it is told, ten that it keeps anyway, ten that it
ignores (tests/e2e/habits.py has the chances). Sessions of the client run without memtui, then with it and the memories,
each with an opportunity for so many rules; then what `memtui consolidate` proposes about rules is approved, first pins,
then refusals, each followed by sessions with an opportunity for each of these. Programs that are called only note it,
files are really written.

Printed: of each memory what was done, what was counted, and as what the words of Memories sort it; how many are sorted
rightly, and how many intervals have the true chance; the breaks that reached the disk before and after refusals; turns
that did not end. It takes about 4 s a session."""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from e2e import client
from e2e.habits import Habit, Plant, habits
from e2e.model import Model
from waiting import eventually

PHASES = ("without", "with", "pinned", "refused")
HALF = 0.5  # who keeps a rule less often than that, ignores it


def sort(held: dict[str, Any]) -> str:
    """As what a person sorts a memory by the words of its detail."""
    before, opportunities = held["opportunities_before"], held["opportunities"]
    if before and held["kept_before"] / before < held["low"]:
        return "told"  # “kept more often since”
    return "anyway" if opportunities and held["kept"] / opportunities >= HALF else "ignores"


class Simulation:
    """The sessions of all phases in one world. `stuck`: sessions whose turn did not end as it should."""

    def __init__(self, base: Path, options: argparse.Namespace) -> None:
        self.world = client.World(base, Model(), client.ensure_client(options.client))
        self.plant = Plant(self.world, habits(30), options.seed)
        self.random, self.number = random.Random(options.seed), 0
        self.opportunities = options.opportunities
        self.stuck: list[int] = []

    def run(self, sessions: int, habits: Sequence[Habit] = ()) -> tuple[Counter[Habit], dict[Habit, int]]:
        """Run sessions for these habits, or some of all; return opportunities and breaks that reached the disk, by
        habit."""
        chosen = Counter[Habit]()
        self.plant.agent.in_one = not habits
        for _ in range(sessions):
            plan = list(habits) or self.random.sample(self.plant.habits, self.opportunities)
            chosen.update(plan)
            run = self.plant.run(self.number, plan)
            if run.returncode or run.stdout != "Done.":
                self.stuck.append(self.number)
            self.number += 1
            print(".", end="", file=sys.stderr, flush=True)
        assert eventually(self.world.workers_ended)
        return chosen, self.plant.reached()

    def held(self, habit: Habit) -> dict[str, Any]:
        """What the detail of a memory says of its rule."""
        (held,) = self.world.memtui_json("show", habit.name)["held"]
        return held

    def approve(self, code: str) -> set[Habit]:
        """Approve all steps of a kind; the habits that they are about."""
        steps = [each for each in self.world.memtui_json("consolidate")["changes"] if code in each["codes"]]
        if steps:
            self.world.memtui("approve", *(step["id"] for step in steps), "--yes")
        paths = {file["path"] for step in steps for file in step["files"]}
        return {habit for habit in self.plant.habits if any(path.endswith(f"/{habit.name}.md") for path in paths)}


def table(simulation: Simulation, opportunities: Counter[Habit]) -> None:
    """Print how the memories are sorted, and whether the intervals have the true chance."""
    print("memory    agent    form     true   counted with   without    interval    sorted as")
    right = covered = exact = 0
    for habit in simulation.plant.habits:
        held = simulation.held(habit)
        truth, sorted_as = habit.chance(told=True), sort(held)
        right += sorted_as == habit.kind
        covered += held["low"] <= truth <= held["high"]
        exact += held["opportunities"] == opportunities[habit]
        print(
            f"{habit.name}   {habit.kind:8} {habit.form:8} {truth:.2f}   {held['kept']:3} of {held['opportunities']:3}"
            f"   {held['kept_before']:3} of {held['opportunities_before']:3}   {held['low']:.2f}–{held['high']:.2f}"
            f"   {sorted_as}{'' if sorted_as == habit.kind else '  !'}"
        )
    count = len(simulation.plant.habits)
    print(f"sorted rightly {right} of {count} · intervals with the true chance {covered} of {count}")
    print(f"memories with exactly the opportunities that there were {exact} of {count}")


def share(habits: Sequence[Habit], opportunities: Counter[Habit], breaks: dict[Habit, int]) -> float:
    return sum(breaks[habit] for habit in habits) / max(1, sum(opportunities[habit] for habit in habits))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, nargs=4, default=(100, 100, 3, 12), metavar="N")
    parser.add_argument("--opportunities", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--client", default=client.NEWEST)
    options = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as base:
        simulation = Simulation(Path(base), options)
        without, told, pinned, refused = options.sessions
        simulation.run(without)
        simulation.world.install()
        simulation.plant.remember()
        before = simulation.run(told)
        print(f"\nsessions {without + told}, {options.opportunities} opportunities each")
        table(simulation, before[0])
        pins = simulation.approve("rules.pin")
        print(f"pins proposed: {dict(Counter(habit.kind for habit in pins))}")
        simulation.run(pinned, sorted(pins, key=lambda habit: habit.number))
        refusals = sorted(simulation.approve("rules.refuse"), key=lambda habit: habit.number)
        print(f"\nrefusals proposed: {[f'{habit.name} {habit.kind} {habit.form}' for habit in refusals]}")
        agent = simulation.plant.agent
        agent.refused = agent.repeated = 0
        after = simulation.run(refused, refusals)
        first, second = share(refusals, *before), share(refusals, *after)
        print(f"\nbreaks that reached the disk, of these rules: {first:.1%} of opportunities, then {second:.1%}")
        print(f"refused {agent.refused} times; made again all the same {agent.repeated} times, which goes through")
        print(f"turns that did not end: {simulation.stuck or 'none'} · errors: {simulation.world.errors() or 'none'}")
        print(f"{time.monotonic() - started:.0f} s, client {simulation.world.binary}")


if __name__ == "__main__":
    main()
