"""Words for the model that reads sessions: its state, its runs."""

from typing import TYPE_CHECKING

from memtui.base.phrasing import ago, many
from memtui.models.subconscious import runs
from memtui.views import models

if TYPE_CHECKING:  # what is imported is waited for before the first paint
    from memtui.models.subconscious.control import Overview, Powers

EMPTY = "It has read no session yet."


def state(overview: "Overview", now: float) -> str:
    """Say whether it reads sessions, in which mode and by which model, or why it does not."""
    powers = overview.powers
    if overview.stopped is not None:
        return "off, and " * (powers.mode == "off") + f"stopped by you {ago(overview.stopped, now)}"
    if powers.why:
        why = powers.why.removesuffix(".")
        return "off" if powers.mode == "off" else why[:1].lower() + why[1:]
    return f"{powers.mode}, {powers.model} by {models.BACKENDS[powers.backend]}"


def tools(powers: "Powers") -> str:
    return powers.allowed + (f" ({powers.fewer})" if powers.fewer else "")


def used(overview: "Overview") -> str:
    """Say what its calls of today used; empty if there were none."""
    if not overview.calls:
        return ""
    return f"{many(overview.calls, 'call')}, {overview.today.tokens:,} tokens, {models.dollars(overview.today.cost)}"


def outcome(run: runs.Run, now: float) -> tuple[str, str]:
    """Say how a run ended, and in which style."""
    if run.outcome == runs.DONE:
        return "done", "green"
    if run.outcome == runs.BEGUN:
        return ("was killed", "yellow") if run.killed(now) else ("reading now", "dim")
    return models.outcome(run.outcome), "yellow"


def did(run: runs.Run) -> str:
    """Say what a run changed and said: `2 blocks, 1 note`."""
    words = [many(len(run.blocks), "block")] if run.blocks else []
    words += [many(len(run.whispers), "note")] if run.whispers else []
    words += [f"{len(run.refused)} refused"] if run.refused else []
    if run.outcome not in {runs.DONE, runs.BEGUN}:
        words.append(run.why)
    return ", ".join(words) or ("nothing to change" if run.outcome == runs.DONE else "")
