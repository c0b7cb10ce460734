"""How often past sessions kept and broke a rule that is proposed."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from memtui.base import clock_hot, paths_hot
from memtui.client import projects
from memtui.client.agents import agents_hot, programs
from memtui.rules.counting import Moment
from memtui.rules.rule_hot import Rule

DAYS = 30  # of past sessions


class ProposedRule(NamedTuple):
    """A rule that words say, how often past sessions could keep it, and how often they broke it."""

    rule: Rule
    opportunities: int = 0
    broken: int = 0


def recent_transcripts(env: dict[str, str], place: str, now: float, seconds: float) -> Iterator[str]:
    """Yield the transcripts of the last DAYS, newest first, as long as there is time, of one project or all."""
    end = time.monotonic() + seconds
    for file in programs.session_files(env, now - DAYS * clock_hot.DAY):
        if time.monotonic() > end:
            return
        if not place or _is_at(file.path, place):
            yield file.path


def _is_at(path: str, place: str) -> bool:
    """Tell whether a session is of a project: Claude Code's by its directory's name, others by what they say."""
    if agents_hot.of_session(path) is None:
        return os.path.basename(os.path.dirname(path)) == paths_hot.slug(place)
    with suppress(OSError):
        return paths_hot.project_root(projects.session_cwd(path)) == place
    return False


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
