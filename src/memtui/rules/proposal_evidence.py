"""How often past sessions kept and broke a rule that is proposed."""

import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from memtui.base import clock_hot, paths_hot
from memtui.rules.counting import Moment
from memtui.rules.rule_hot import Rule

DAYS = 30  # of past sessions


class ProposedRule(NamedTuple):
    """A rule that words say, how often past sessions could keep it, and how often they broke it."""

    rule: Rule
    opportunities: int
    broken: int


def recent_transcripts(config_dir: str, slugs: Collection[str] | None, now: float, seconds: float) -> Iterator[str]:
    """Yield the transcripts of the last DAYS, newest first, as long as there is time; `slugs`: of these projects."""
    end, top = time.monotonic() + seconds, config_dir + "/projects"
    times: dict[str, float] = {}
    for slug in paths_hot.names_in(top) if slugs is None else slugs:
        for name in paths_hot.names_in(f"{top}/{slug}"):
            with suppress(OSError):
                path = f"{top}/{slug}/{name}"
                times[path] = os.stat(path).st_mtime if name.endswith(".jsonl") else 0.0
    for path in sorted(times, key=lambda path: -times[path]):
        if times[path] < now - DAYS * clock_hot.DAY or time.monotonic() > end:
            return
        yield path


def with_evidence(
    rules: Sequence[Rule], moments: Mapping[str, Sequence[Moment]], written: float = float("inf")
) -> list[ProposedRule]:
    """Return the rules that sessions could keep at all, most broken first. `moments`: by the key of a rule; a rule that
    was broken more often than kept after its memory was `written` may say something else, and is left out."""
    proposed = []
    for rule in rules:
        of_rule = moments.get(rule.key(), ())
        later = [moment.is_kept for moment in of_rule if moment.time > written]
        if of_rule and later.count(False) <= later.count(True):
            proposed.append(ProposedRule(rule, len(of_rule), sum(not moment.is_kept for moment in of_rule)))
    return sorted(proposed, key=lambda each: -each.broken)
