"""What the subconscious is doing and what it waits for, as both user interfaces show it."""

import os
from collections.abc import Iterable
from dataclasses import dataclass

from memtui.core.base import clock
from memtui.core.client import projects
from memtui.llm import log
from memtui.llm.errors import BudgetError
from memtui.llm.usage import ModelUsage
from memtui.subconscious import agent, control, conversations, lines, places, runs

# Sessions that are looked through for what waits, the newest.
SESSIONS = 50


@dataclass(frozen=True)
class WaitingMention:
    """Words that addressed the subconscious in a session of a `project` (slug) and have no reply yet. `who`: person or
    agent; `time`: seconds since the epoch."""

    session: str
    project: str
    who: str
    words: str
    time: float

    def data(self) -> dict[str, object]:
        """Return it for --json."""
        return lines.data_of(self)


@dataclass(frozen=True)
class Overview:
    """The state of the subconscious in a project. `today`: what its calls used since midnight; `calls`: how many;
    `budget`: why the budget of the day lets it ask no more, empty if it does; `under_way`: runs that read now."""

    powers: control.Powers
    stopped: float | None
    today: ModelUsage
    calls: int
    budget: str
    mentions: tuple[WaitingMention, ...]
    under_way: tuple[runs.Run, ...]
    last: runs.Run | None


def look(env: dict[str, str], root: str, project_root: str, now: float) -> Overview:
    """Look at the state of the subconscious in a project."""
    found = runs.newest_first(root)
    today = [call for call in log.today(root, now) if call.purpose == agent.PURPOSE]
    is_spent = bool(today) and today[0].outcome == BudgetError.outcome
    return Overview(
        control.powers(env, root, project_root),
        control.stopped_at(root),
        log.sum_of(today),
        sum(call.outcome != BudgetError.outcome for call in today),
        "The budget of the day is used up." if is_spent else "",
        tuple(mentions(root, now)),
        tuple(run for run in found if run.outcome == runs.BEGUN and not run.killed(now)),
        found[0] if found else None,
    )


def mentions(root: str, now: float) -> list[WaitingMention]:
    """Return what waits for a reply, in the sessions that were read last, oldest first."""
    directory = places.home(root) + "/sessions"
    try:
        with os.scandir(directory) as entries:
            states = [(each.stat().st_mtime, each.name) for each in entries if each.name.endswith(".json")]
    except OSError:
        return []
    found = []
    for _, name in sorted(states, reverse=True)[:SESSIONS]:
        session = name.removesuffix(".json")
        state = conversations.load(root, session)
        for each in conversations.mentions(state):
            if conversations.waits(each, now):
                when = clock.parse(each.get("time")) or 0.0
                project = str(state.get("project") or "")
                found.append(WaitingMention(session, project, each["who"], each["words"], when))
    return sorted(found, key=lambda each: each.time)


def names(env: dict[str, str], slugs: Iterable[str]) -> dict[str, str]:
    """Return what a person calls projects, by slug."""
    return projects.names(env, projects.paths_of(env, {slug for slug in slugs if slug}))
