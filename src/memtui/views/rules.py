"""Words for the rules of memories: how often the agent kept them since they were written, and when it broke them."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memtui.base import clock_hot
from memtui.base.phrasing_hot import ago, many
from memtui.rules.problems import problems_of
from memtui.rules.proposal_evidence import DAYS
from memtui.rules.rule_hot import parse_all

if TYPE_CHECKING:
    from memtui.rules.counting import Moment
    from memtui.rules.counts import Held
    from memtui.rules.proposal_evidence import ProposedRule
    from memtui.rules.rule_hot import Rule
    from memtui.store.memory import Memory
    from memtui.store.status import Row

    HeldByPath = Mapping[str, Sequence[Held]]

FIELDS = ("rules", "forbids")  # fields of a memory with rules
# What is summed up of a memory's rules, as --json has it.
SUMS = ("kept", "opportunities", "kept_before", "opportunities_before")
BREAKS_SHOWN = 5  # the newest breaks of a rule that a detail lists


def rules_of(memory: "Memory") -> "Sequence[Rule]":
    return parse_all(memory.fields)[0]


def fraction(row: "Row") -> str:
    """Return how often the rules of a memory were kept since they were written: `31/32`; empty if never asked for."""
    return "" if row.held_share is None else f"{row.sum_held('kept')}/{row.sum_held('opportunities')}"


def held(counts: "Held", now: float) -> str:
    """Say how often a rule was kept since it was written and before, and whether that differs."""
    days = int((now - counts.since) // clock_hot.DAY)
    since = f"in {many(days, 'day')}" if days > 0 else "today"
    before = counts.opportunities_before
    words = [f"before: {counts.kept_before:,} of {before:,}"] if before else []
    if not counts.opportunities:
        return " · ".join([f"no opportunity {since}", *words])
    interval = f"90% interval {counts.low * 100:.0f}–{counts.high:.0%}"
    words.insert(0, f"kept {counts.kept:,} of {counts.opportunities:,} {since} ({interval})")
    if before:
        differs = f"kept {'more' if counts.kept_before / before < counts.low else 'less'} often since"
        words.append(differs if counts.is_clear else "no clear change yet")
    return " · ".join(words)


def proposed(rule: "ProposedRule") -> str:
    """Say a proposed rule with its evidence: `never npm *   broken 14 of 20 times in the last 30 days`."""
    if not rule.opportunities:
        return f"{rule.rule}   not saved yet: no session of {DAYS} days ran such a command or edit"
    return f"{rule.rule}   broken {rule.broken} of {many(rule.opportunities, 'time')} in the last {DAYS} days"


def broken(moment: "Moment", now: float) -> str:
    """Say when a rule was broken, in which session and by what: `2h ago in session 3e8f61c4: npm install`."""
    return f"{ago(moment.time, now)} in session {moment.session[:8]}: {moment.line}"


def facts(row: "Row", now: float) -> list[tuple[str, str]]:
    """Return the rules of a memory, each with what came of it below, as labels and lines; the label stands once."""
    counts = {of_rule.rule.key(): of_rule for of_rule in row.held}
    lines = []
    for rule in rules_of(row.memory):
        lines.append(f"{rule} (enforce: {rule.enforce})" if rule.enforce else str(rule))
        if (own := counts.get(rule.key())) is not None:
            lines.append(held(own, now))
            lines += [f"broken {broken(moment, now)}" for moment in own.breaks[:BREAKS_SHOWN]]
            more = len(own.breaks) - BREAKS_SHOWN
            lines += [f"broken {many(more, 'more time')}: Activity has them"] * (more > 0)
    lines += [f"line {line} is no rule: {why}" for line, why in problems_of(row.memory)]
    return [("" if number else "rules", line) for number, line in enumerate(lines)]


class Break(NamedTuple):
    """A moment at which a session broke a rule of the memory at `path`; `rule`: its words."""

    path: str
    rule: str
    moment: "Moment"

    @property
    def memory(self) -> str:
        return os.path.basename(self.path).removesuffix(".md")

    @property
    def key(self) -> str:
        """Its id among the rows of a list."""
        return f"broke {self.moment.uuid} {self.path} {self.rule}"

    @property
    def searched(self) -> str:
        return f"broke {self.memory} {self.rule} {self.moment.line}"

    def data(self) -> dict[str, object]:
        facts = {"memory": self.memory, "path": self.path, "rule": self.rule}
        return {**facts, **moment_data(self.moment), "record": self.moment.uuid}


def breaks(held_by_path: "HeldByPath") -> list[Break]:
    """Return the breaks of all rules since these were written, newest first."""
    every = [(path, counts) for path, of_memory in held_by_path.items() for counts in of_memory]
    rows = [Break(path, str(counts.rule), moment) for path, counts in every for moment in counts.breaks]
    return sorted(rows, key=lambda row: -row.moment.time)


def moment_data(moment: "Moment") -> dict[str, object]:
    return {"time": clock_hot.iso_seconds(moment.time), "session": moment.session, "line": moment.line}


def proposed_data(rule: "ProposedRule") -> dict[str, object]:
    return {"rule": str(rule.rule), "opportunities": rule.opportunities, "broken": rule.broken}


def data(counts: "Held") -> dict[str, object]:
    """Return how a rule was kept, for --json."""
    numbers = {name: getattr(counts, name) for name in (*SUMS, "low", "high")}
    facts = {"rule": str(counts.rule), "since": clock_hot.iso_seconds(counts.since)}
    return {**facts, **numbers, "breaks": list(map(moment_data, counts.breaks))}


def total(held_by_path: "HeldByPath") -> str:
    """Sum up how all rules were kept: `14 memories, kept 93% since written, 61% before`; empty without any."""
    if not held_by_path:
        return ""
    counts = [of_rule for of_memory in held_by_path.values() for of_rule in of_memory]
    sums = [sum(getattr(of_rule, name) for of_rule in counts) for name in SUMS]
    kept, opportunities, kept_before, opportunities_before = sums
    words = [many(len(held_by_path), "memory", "memories")]
    if opportunities:
        words.append(f"kept {kept / opportunities:.0%} since written")
        words += [f"{kept_before / opportunities_before:.0%} before"] if opportunities_before else []
    else:
        before = f"since written, kept {kept_before:,} of {many(opportunities_before, 'time')} before"
        words.append(f"no opportunity {before if opportunities_before else 'yet'}")
    return ", ".join(words)
