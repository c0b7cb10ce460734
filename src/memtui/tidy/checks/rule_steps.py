"""What a person may do about a rule of a memory, by how the sessions that had the memory kept it: pin the memory where
they broke the rule, have a hook refuse that where they broke it although it was pinned, relax what held for long."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from memtui.base import clock_hot
from memtui.base.finding import Finding, note
from memtui.deliver import log_hot, receipts_hot
from memtui.deliver.record import CHARS_A_TOKEN, MEMORY_KINDS
from memtui.rules import counts, rule_hot
from memtui.rules.counts import SessionCount
from memtui.settings import config_hot
from memtui.store.memory import Memory, is_pinned
from memtui.tidy.checks.check import Check, Checked, about

PIN, REFUSE, RELAX = CODES = ("rules.pin", "rules.refuse", "rules.relax")
# Of so many of the newest sessions that had a memory and could keep its rule, so many broke it; of pinned ones any.
SESSIONS, BROKEN = 5, 2
# A rule that held so many times in a row, for so many days.
TIMES, DAYS = 60, 60
# The newest sessions with an opportunity that are looked up in the delivery log.
LOOKED_UP = 30
PINNED = "pinned"  # why a session begins with a memory, in the log
# When a session first got a memory, by session and path: at all, and as a pinned one; seconds since the epoch.
Deliveries = Mapping[tuple[str, str], tuple[float, float]]
NEVER = float("inf")


class CountedRule(NamedTuple):
    """A rule; the field that enforces it, empty if none can; and how sessions kept it, newest first."""

    rule: rule_hot.Rule
    field: str
    sessions: Sequence[SessionCount]

    def broken(self, had: Mapping[str, float]) -> tuple[int, int, int]:
        """Count the newest sessions with the memory, those of them that broke the rule, and all that did."""
        rows = [row.broken_at >= had[row.session] for row in self.sessions if had.get(row.session, NEVER) < NEVER]
        return len(rows[:SESSIONS]), sum(rows[:SESSIONS]), sum(rows)


def steps(checked: Checked) -> Iterator[Finding]:
    """Find the next steps for the memories of a scope whose rules were counted."""
    is_on = config_hot.value(config_hot.load(checked.root), checked.scope.root_path, "rules") == "on"
    rules_by_path: dict[str, list[CountedRule]] = {}
    for memory in checked.memories if is_on and checked.usage is not None else ():
        if rules := rule_hot.parse_all(memory.fields)[0]:
            rules_by_path[memory.path] = _counted(checked.root, memory, rules)
    newest = [row for rules in rules_by_path.values() for counted in rules for row in counted.sessions[:LOOKED_UP]]
    deliveries = _deliveries(checked.root, newest) if any(row.broken_at for row in newest) else {}
    for memory in checked.memories if rules_by_path else ():
        counted = rules_by_path.get(memory.path, [])
        for finding in (*_broken(memory, counted, deliveries), *_held(memory, counted, checked.now)):
            yield about(finding, checked.scope, memory)


def _counted(root: str, memory: Memory, rules: Sequence[rule_hot.Rule]) -> list[CountedRule]:
    paths = {memory.path, os.path.realpath(memory.path)}
    rows_by_key = {key: rows for path in paths for key, rows in counts.by_session(root, path).items()}
    fields = {}
    for place, table in (("metadata.rules", memory.fields.get("metadata")), ("rules", memory.fields)):
        entries = table.get("rules") if isinstance(table, dict) else None
        for number, entry in enumerate(entries) if isinstance(entries, list) else [("", entries)]:
            with suppress(rule_hot.RuleError):  # it can't be enforced
                if isinstance(entry, dict):
                    rule = rule_hot.parse({**entry, "enforce": "refuse"})
                    fields[rule.key()] = ".".join(filter(None, (place, str(number), "enforce")))
    return [CountedRule(rule, fields.get(rule.key(), ""), rows_by_key.get(rule.key(), ())) for rule in rules]


def _deliveries(root: str, rows: Iterable[SessionCount]) -> Deliveries:
    """Read when some sessions got which memories, but for deliveries that were lost."""
    sessions, since = {row.session for row in rows}, min(row.time for row in rows)
    pattern = re.compile("|".join(map(re.escape, sessions)).encode())
    times: dict[tuple[str, str], tuple[float, float]] = {}
    noted: dict[str, str] = {}
    for _, line in log_hot.lines(root, since=log_hot.back_to(since - clock_hot.DAY), noted=noted):
        record = log_hot.parse(line, noted) if pattern.search(line) else None
        session = str(record.get("session_id")) if record is not None else ""
        if record is None or session not in sessions or record.get("outcome") in receipts_hot.LOST:
            continue
        at = clock_hot.parse(record.get("time")) or NEVER
        for item in log_hot.brought(record):
            if item.get("kind") in MEMORY_KINDS:
                key = session, str(item.get("path"))
                first, first_pinned = times.get(key, (NEVER, NEVER))
                times[key] = min(at, first), min(at, first_pinned) if item.get("reason") == PINNED else first_pinned
    return times


def _broken(memory: Memory, rules: Sequence[CountedRule], deliveries: Deliveries) -> Iterator[Finding]:
    """Find the rules that were broken in sessions that had the memory, or began with it where it is pinned."""
    pinned, had = is_pinned(memory.fields), dict[str, float]()
    for (session, path), times in deliveries.items():
        if path in {memory.path, os.path.realpath(memory.path)}:
            had[session] = min(had.get(session, NEVER), times[pinned])
    pins: list[tuple[int, Finding]] = []
    for counted in rules:
        sessions, broken, every = counted.broken(had)
        facts = {"rule": str(counted.rule), "broken": broken, "sessions": sessions, "field": counted.field}
        if pinned and broken and counted.field and not counted.rule.enforce:
            yield note(REFUSE, again=every, **facts)
        elif not pinned and broken >= BROKEN:
            pins.append((broken, note(PIN, again=every // BROKEN, **facts)))
    if pins:
        yield max(pins, key=lambda pin: pin[0])[1]


def _held(memory: Memory, rules: Sequence[CountedRule], now: float) -> Iterator[Finding]:
    """Find a memory all of whose rules held for long, as it is now: pinned, or where the habit may hold without it."""
    pinned, spans = is_pinned(memory.fields), []
    for counted in rules:
        since = max([memory.mtime, *(row.broken_at for row in counted.sessions)])
        rows = [row for row in counted.sessions if row.time > since]
        days = int((now - min((row.time for row in rows), default=now)) / clock_hot.DAY)
        spans.append((sum(row.kept for row in rows), days, counted))
    if not spans or any(count < TIMES or days < DAYS for count, days, _ in spans):
        return
    count, days, least = min(spans, key=lambda span: span[0])
    tokens = len(memory.body if pinned else memory.name + memory.description) // CHARS_A_TOKEN
    if pinned or not any(counted.rule.enforce for counted in rules):
        facts = {"rule": str(least.rule), "count": count, "days": days, "tokens": tokens}
        yield note(RELAX, again=count // TIMES, **facts)


CHECKS = (Check(CODES, of_scope=steps),)
