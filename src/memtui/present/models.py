"""Words for calls of models: what became of them, what they used."""

from memtui.llm.log import ANSWERED, BEGUN
from memtui.llm.usage import ModelUsage

# What leaves the machine, and where to.
SENT = (
    "While llm_backend is off, nothing is sent. Else `memtui consolidate --ask-model` and `memtui model triggers`"
    " send the names, types, descriptions, dates and texts of the memories that they may propose something about; with"
    " recall_select each prompt sends itself and the names, descriptions and triggers of memories;"
    " with subconscious each turn sends what was said in it, the beginnings of what tools printed, the blocks, the"
    " names and descriptions of memories, and the files of the project that it looks at: by `api` to Anthropic, or to"
    " ANTHROPIC_BASE_URL if that is set; by `claude` to whatever model service your client uses. Memories that seem to"
    " contain a secret, or that are not trusted, are not sent; whatever else looks like a secret is replaced."
)
BACKENDS = {"api": "the API", "claude": "the client, claude -p", "": "nothing"}
OUTCOMES = {
    ANSWERED: "answered",
    BEGUN: "no end known",
    "budget": "over the budget",
    "busy": "busy",
    "unreachable": "no connection",
    "cut": "broken off",
    "rejected": "not accepted",
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


def of_budget(used: ModelUsage, daily_tokens: int, daily_dollars: float) -> str:
    """Say how much of the budget of the day is used."""
    tokens = f"{used.tokens:,} of {daily_tokens:,} tokens" if daily_tokens else f"{used.tokens:,} tokens"
    money = f"{dollars(used.cost)} of ${daily_dollars:.2f}" if daily_dollars else dollars(used.cost)
    return f"{tokens}, {money}"
