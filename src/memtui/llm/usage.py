"""What a call of a model used and cost: tokens, and dollars by list price."""

from typing import NamedTuple

MILLION = 1_000_000
# Dollars for a million tokens: input, output, input read from the cache. By the part of a model's id that names it; of
# two that fit, the longer one counts. Source: the vendor's price list of November 2026.
PRICES = {
    "fable": (10.0, 50.0, 1.0),
    "fable-5-1": (10.0, 50.0, 0.25),
    "haiku": (1.0, 5.0, 0.1),
    "haiku-3-5": (0.8, 4.0, 0.08),
    "haiku-5-5": (0.1, 0.5, 0.01),
    "mythos": (10.0, 50.0, 1.0),
    "opus": (15.0, 75.0, 1.5),
    "opus-4-5": (5.0, 25.0, 0.5),
    "opus-4-6": (5.0, 25.0, 0.5),
    "opus-4-7": (5.0, 25.0, 0.5),
    "opus-4-8": (5.0, 25.0, 0.5),
    "opus-5": (5.0, 25.0, 0.5),
    "opus-5-5": (4.0, 20.0, 0.2),
    "sonnet": (3.0, 15.0, 0.3),
    "sonnet-5": (2.0, 10.0, 0.2),
    "sonnet-5-5": (2.0, 10.0, 0.1),
}
# Input that is written to the cache costs so much more than other input.
CACHE_WRITE = 1.25
# From so many tokens of input on, "haiku-5-5" costs LONG_TIMES as much.
LONG_INPUT, LONG_MODEL, LONG_TIMES = 100_000, "haiku-5-5", 5.0
# Bytes of UTF-8 that a token has at least, in nearly every text: an estimate is rather too high.
BYTES_PER_TOKEN = 3


class ModelUsage(NamedTuple):
    """Tokens of a call, or of several: `input` read at the full price, `cached` read from the cache, `written` to it,
    and `output`; `cost` in dollars, None if the price is not known."""

    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0
    cost: float | None = 0.0

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.input + self.output + self.cached + self.written

    def plus(self, other: "ModelUsage") -> "ModelUsage":
        """Return the sum; its cost is unknown if one of both is."""
        cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        counts = {key: getattr(self, key) + getattr(other, key) for key in ("input", "output", "cached", "written")}
        return ModelUsage(**counts, cost=cost)


NOTHING = ModelUsage()


def priced(model: str, used: ModelUsage) -> ModelUsage:
    """Return the usage with its cost by list price; None for a model whose price is not known."""
    named = [name for name in PRICES if name in model]
    if not named:
        return used._replace(cost=None)
    name = max(named, key=len)
    read, wrote, cached = PRICES[name]
    long = name == LONG_MODEL and used.input + used.cached + used.written > LONG_INPUT
    whole = (used.input + CACHE_WRITE * used.written) * read + used.output * wrote + used.cached * cached
    return used._replace(cost=whole * (LONG_TIMES if long else 1.0) / MILLION)


def tokens_in(text: str) -> int:
    """Estimate the tokens of a text, rather too high."""
    return len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN + 1
