"""Checks of models, for doctor and Setup: which is asked, what it used today, and what became of the last call."""

from collections.abc import Iterator

from memtui.core.base.finding import Finding, good, note
from memtui.core.base.phrasing import ago
from memtui.core.settings import config
from memtui.llm import log
from memtui.llm.choice import choose
from memtui.llm.errors import BudgetError, CancelledCallError


def check(env: dict[str, str], root: str, now: float) -> Iterator[Finding]:
    """Find what keeps models from being asked. Starts nothing, and imports no backend."""
    choice = choose(env, config.load(root))
    if not choice.backend:
        yield choice.finding()
        return
    begin, calls, unmade, tokens, cost, last = log.midnight(now), 0, 0, 0, 0.0, None
    for call in log.newest_first(root):
        last = last or call
        if call.time < begin:
            break
        unmade += call.outcome == BudgetError.outcome
        calls += call.outcome != BudgetError.outcome
        tokens += call.usage.tokens
        cost += call.usage.cost or 0.0
    yield good(
        "llm.ok", backend=choice.backend, model=choice.model, calls=calls, tokens=f"{tokens:,}", cost=f"{cost:.2f}"
    )
    if unmade:
        yield note("llm.budget", count=unmade)
    elif last is not None and last.outcome not in {log.ANSWERED, log.BEGUN, CancelledCallError.outcome}:
        yield note("llm.last_failed", outcome=last.outcome, when=ago(last.time, now))
