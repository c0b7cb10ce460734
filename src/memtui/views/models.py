"""Words for models: what became of calls and what they used; the one that reads sessions: its state, its runs."""

from typing import TYPE_CHECKING

from memtui.base.phrasing_hot import ago, cut, many
from memtui.models.call import ModelUsage
from memtui.models.log import ANSWERED, BEGUN
from memtui.models.subconscious import runs
from memtui.views.words import TABLES

if TYPE_CHECKING:  # what is imported is waited for before the first paint
    from memtui.models.subconscious.control import Overview
    from memtui.models.subconscious.trace import Step

BACKENDS = {"api": "the API", "claude": "the client, claude -p", "": "nothing"}
OUTCOMES = TABLES["calls"]
QUESTION = 60  # characters of one in front of its answer
EMPTY = "It has read no session yet."


def outcome(code: str) -> str:
    return OUTCOMES.get(code, "failed")


def style(code: str) -> str:
    return "green" if code == ANSWERED else "dim" if code in {BEGUN, "cancelled"} else "yellow"


def dollars(cost: float | None) -> str:
    """Write a cost, small ones to hundredths of a cent; or that it is not known."""
    if cost is None:
        return "–"
    return f"${cost:.4f}" if 0 < cost < 0.1 else f"${cost:.2f}"


def short_name(model: str) -> str:
    """Return a model's id without what all of its maker's have in front."""
    return model.removeprefix("claude-")


def of_budget(usage: ModelUsage, daily_tokens: int, daily_dollars: float) -> str:
    """Say how much of the budget of the day is used."""
    tokens = f"{usage.tokens:,} of {daily_tokens:,} tokens" if daily_tokens else f"{usage.tokens:,} tokens"
    return f"{tokens}, {dollars(usage.cost)}{f' of ${daily_dollars:.2f}' if daily_dollars else ''}"


def state(overview: "Overview", now: float) -> str:
    """Say whether it reads sessions, in which mode and by which model, or why it does not."""
    powers = overview.powers
    if overview.stopped is not None:
        return "off, and " * (powers.mode == "off") + f"stopped by you {ago(overview.stopped, now)}"
    if powers.why:
        why = powers.why.removesuffix(".")
        return "off" if powers.mode == "off" else why[:1].lower() + why[1:]
    return f"{powers.mode}, {powers.model} by {BACKENDS[powers.backend]}"


def facts(overview: "Overview", now: float) -> list[tuple[str, str]]:
    """Return what it may do, what it used, what to do, and how its last run ended: words by their names."""
    run, last = overview.last, ""
    if run is not None:
        last = ", ".join(filter(None, (f"{ago(run.time, now)}: {ended(run)[0]}", did(run))))
    powers = overview.powers
    tools = powers.allowed + (f" ({powers.fewer})" if powers.fewer else "")
    rows = [("tools", tools), ("today", used(overview)), ("budget", overview.budget)]
    rows += [("to do", powers.hint), ("last run", last)]
    return [(name, words) for name, words in rows if words]


def used(overview: "Overview") -> str:
    """Say what its calls of today used; empty if there were none."""
    if not overview.calls:
        return ""
    return f"{many(overview.calls, 'call')}, {overview.today.tokens:,} tokens, {dollars(overview.today.cost)}"


def ended(run: runs.Run) -> tuple[str, str]:
    if run.outcome == runs.DONE:
        return "done", "green"
    return ("reading now", "dim") if run.outcome == runs.BEGUN else (outcome(run.outcome), "yellow")


def answer(question: str, text: str) -> str:
    """Say what was asked and answered: `“when do we deploy?” On Tuesdays.`"""
    return f"“{cut(question, QUESTION)}” {text}"


def came_of(step: "Step") -> tuple[str, str]:
    """Say how a step of a run ended, and in which style."""
    if step.ended is None:
        return "no end known", "yellow"
    if step.code is not None:
        return f"exit {step.code}", "yellow" if step.code else "dim"
    return ("failed", "yellow") if step.failed else ("done", "dim")


def did(run: runs.Run) -> str:
    """Say what a run did, changed and said: `3 steps, 1 file, 2 blocks, 1 answer, 1 note`."""
    answers, files = len(run.answers), len(run.files) + len(run.unversioned)
    counts = ((run.step_count, "step"), (files, "file"), (len(run.blocks), "block"), (answers, "answer"))
    words = [many(count, noun) for count, noun in (*counts, (len(run.whispers) - answers, "note")) if count]
    words += [f"{len(run.refused)} refused"] if run.refused else []
    if run.outcome not in {runs.DONE, runs.BEGUN}:
        words.append(run.why)
    return ", ".join(words) or ("nothing to change" if run.outcome == runs.DONE else "")
