"""Words for calls of models: what became of them, what they used."""

from memtui.models.call import ModelUsage
from memtui.models.log import ANSWERED, BEGUN

BACKENDS = {"api": "the API", "claude": "the client, claude -p", "": "nothing"}
OUTCOMES = {
    ANSWERED: "answered",
    BEGUN: "no end known",
    "budget": "over the budget",
    "busy": "busy",
    "unreachable": "no connection",
    "cut": "broken off",
    "rejected": "not used",
    "refused": "refused",
    "invalid": "wrong answer",
    "late": "too slow",
    "cancelled": "cancelled",
    "off": "off",
}


def outcome(code: str) -> str:
    """Say what became of a call."""
    return OUTCOMES.get(code, "failed")


def style(code: str) -> str:
    """Return the style in which an outcome is shown."""
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
    money = f"{dollars(usage.cost)} of ${daily_dollars:.2f}" if daily_dollars else dollars(usage.cost)
    return f"{tokens}, {money}"
