"""One request to a model and its answer, checked; what it used and cost; what can go wrong; when to stop waiting."""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from memtui.base import visible_hot, word_lists
from memtui.base.errors import MemtuiError

Schema = dict[str, Any]
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}
KEYWORDS = {
    *("type", "properties", "required", "additionalProperties", "items", "enum", "description"),
    *("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum"),
}
# Seconds between two looks at whether to stop.
POLL_SECONDS = 0.05
MILLION = 1_000_000
# Dollars for a million tokens by the part of a model's id that names it: input, output, input read from the cache.
_ROWS = word_lists.read(__file__.removesuffix("call.py") + "prices.txt")["prices"].split("\n")
PRICES = {name: tuple(map(float, dollars)) for name, *dollars in map(str.split, _ROWS)}
CACHE_WRITE = 1.25  # input that is written to the cache costs so much more than other input
# From so many tokens of input on, "haiku-5-5" costs LONG_TIMES as much.
LONG_INPUT, LONG_MODEL, LONG_TIMES = 100_000, "haiku-5-5", 5.0
BYTES_PER_TOKEN = 3  # bytes of UTF-8 that a token has at least, in nearly every text: an estimate is rather too high


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
        input_tokens, output_tokens = self.input + other.input, self.output + other.output
        return ModelUsage(input_tokens, output_tokens, self.cached + other.cached, self.written + other.written, cost)


NOTHING = ModelUsage()
# What the service calls the kinds of tokens.
COUNTS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cached": "cache_read_input_tokens",
    "written": "cache_creation_input_tokens",
}


def counted(count: Callable[[str], object]) -> ModelUsage:
    """Return the tokens that a service counted, each by the service's name for its kind."""
    counts = {kind: count(name) for kind, name in COUNTS.items()}
    return ModelUsage(**{kind: number for kind, number in counts.items() if isinstance(number, int)})


def priced(model: str, usage: ModelUsage) -> ModelUsage:
    """Return the usage with its cost by list price; None for a model whose price is not known."""
    name = max((name for name in PRICES if name in model), key=len, default="")
    if not name:
        return usage._replace(cost=None)
    input_price, output_price, cached = PRICES[name]
    long = name == LONG_MODEL and usage.input + usage.cached + usage.written > LONG_INPUT
    at_full_price = usage.input + CACHE_WRITE * usage.written
    whole = at_full_price * input_price + usage.output * output_price + usage.cached * cached
    return usage._replace(cost=whole * (LONG_TIMES if long else 1.0) / MILLION)


def tokens_in(text: str) -> int:
    """Estimate the tokens of a text, rather too high."""
    return len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN + 1


# What can go wrong with a call, in the words of the log: no model may be asked; the day's budget does not suffice; the
# service is busy; there was no connection; the answer ended too early; the service did not take the request; it lacks
# the model; the model refused; the answer is not of the schema; it took too long; the person cancelled.
Outcome = Literal[
    "off", "budget", "busy", "unreachable", "cut", "rejected", "absent", "refused", "invalid", "late", "cancelled"
]  # fmt: skip
# How services with other statuses than 404 say that they lack a model.
LACKING = re.compile(
    r"(?:invalid|unknown|unsupported|no such|not a valid) model|model\b.{0,80}(?:not found|(?:does not|doesn't) exist)",
    re.IGNORECASE | re.DOTALL,
)
FUTILE = {"refused", "invalid", "late"}
# What to do where an error does not say it itself.
_ANOTHER = "If it stays so, choose another model: memtui config set llm_model NAME"
HINTS = dict.fromkeys(("rejected", "refused", "invalid"), _ANOTHER)
HINTS["unreachable"] = "Check the network, and ANTHROPIC_BASE_URL."
HINTS["cut"] = "Try again later; if it stays so, check the service at ANTHROPIC_BASE_URL."
MESSAGE_MOST = 300  # characters of what a service said


class ModelError(MemtuiError):
    """A call gave no answer: the `outcome`, what it used all the same, and after how many seconds to try again."""

    def __init__(
        self, outcome: Outcome, message: str, hint: str = "", usage: ModelUsage = NOTHING, after: float = 0.0
    ) -> None:
        super().__init__(message, hint or HINTS.get(outcome, ""))
        self.outcome, self.usage, self.after = outcome, usage, after

    @property
    def futile(self) -> bool:
        """Whether the same call may fail again and again, and cost each time; others may succeed."""
        return self.outcome in FUTILE


def shortened(words: str) -> str:
    """Return what a service or a program said as the end of a sentence: on one line, short, with a full stop."""
    return visible_hot.one_line(visible_hot.clean(words))[:MESSAGE_MOST].rstrip(" .") + "."


def of_status(status: int, is_passing: bool, words: str, hint: str, usage: ModelUsage, after: float = 0) -> ModelError:
    """Return the error for a status with which a service answered. `is_passing`: the same request may succeed later."""
    if is_passing:
        return ModelError("busy", f"The model is busy ({status}): {words}", "Try again later.", usage, after)
    if status == 404 or (status in {400, 422} and LACKING.search(words)):
        return ModelError("absent", f"The service does not have the model ({status}): {words}", hint, usage)
    return ModelError("rejected", f"The service did not take the request ({status}): {words}", hint, usage)


class Request(NamedTuple):
    """A request: `system` rules without text of others, the `head` that a batch shares, `most` tokens of the answer."""

    system: str
    head: str
    prompt: str
    schema: Schema
    most: int

    def tokens(self) -> int:
        """Estimate the tokens of the request."""
        return sum(map(tokens_in, (self.system, self.head, self.prompt, str(self.schema))))


class OwnTools(NamedTuple):
    """What a backend may do by itself in a call: search the web or, in a `workplace`, use all tools of the client.
    `hear` gets each message of it, content blocks as the Messages API has them, and raises what is to end the call;
    `dollars_left`: what the call of a client may cost, None for no limit."""

    hear: Callable[[Mapping[str, Any]], object]
    workplace: str = ""
    dollars_left: Callable[[], float | None] = lambda: None


class Answer(NamedTuple):
    """What a model answered, not checked yet; `model` as the service names it."""

    data: Any
    model: str
    usage: ModelUsage


@dataclass
class Stop:
    """When to stop waiting: after `seconds` from now, or if `cancelled` returns True."""

    seconds: float
    cancelled: Callable[[], bool]

    def __post_init__(self) -> None:
        self.end = time.monotonic() + self.seconds

    @property
    def left(self) -> float:
        """Seconds left."""
        return self.end - time.monotonic()

    def check(self, usage: ModelUsage = NOTHING) -> None:
        """Raise ModelError, with what was used, if it is time."""
        if self.cancelled():
            raise ModelError("cancelled", "Cancelled.", usage=usage)
        if self.left <= 0:
            words = f"The model did not answer within {self.seconds:g} s."
            raise ModelError("late", words, "Allow more: memtui config set llm_timeout 300", usage)

    def pause(self, seconds: float) -> None:
        """Wait, checking all the time."""
        until = time.monotonic() + seconds
        while (rest := until - time.monotonic()) > 0:
            self.check()
            time.sleep(min(POLL_SECONDS, rest))


# Answers are checked against a JSON schema, of which only KEYWORDS are used; an object has no key that it doesn't name.


def problem(value: object, schema: Schema, place: str = "") -> str:
    """Say what is wrong with a value, and where; empty if nothing is. Raises ValueError for an unknown keyword."""
    if unknown := schema.keys() - KEYWORDS:
        raise ValueError(f"a schema with {', '.join(sorted(unknown))}")
    at = place or "the answer"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    # True is an int of Python.
    possible = set(kinds) - ({"integer", "number"} if isinstance(value, bool) else set())
    if kinds and not any(isinstance(value, TYPES[kind]) for kind in possible):
        return f"{at} is not of type {' or '.join(kinds)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{at} is none of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, str):
        return _range(len(value), schema, at, "Length", "characters")
    if isinstance(value, list):
        items = (problem(item, schema.get("items", {}), f"{place}[{number}]") for number, item in enumerate(value))
        return _range(len(value), schema, at, "Items", "items") or next(filter(None, items), "")
    if isinstance(value, dict):
        properties: Schema = schema.get("properties", {})
        missing = [f"{at} has no “{key}”" for key in schema.get("required", []) if key not in value]
        if wrong := missing or _named(value, schema, place)[1]:
            return wrong[0]
        items = (problem(item, properties[key], f"{place}.{key}" if place else key) for key, item in value.items())
        return next(filter(None, items), "")
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        low, high = schema.get("minimum"), schema.get("maximum")
        # Told so, what is no number (NaN), as JSON of Python may have it, is out of each range.
        if not (low is None or value >= low) or not (high is None or value <= high):
            return f"{at} is out of range"
    return ""


def fitting(value: dict[str, Any], schema: Schema) -> tuple[dict[str, Any], list[str]]:
    """Return what of an object is of its schema, and what is wrong with the keys and items that are left out."""
    properties, wrong = _named(value, schema, "")
    for key, given in properties.items():
        of_items = schema["properties"][key].get("items")
        if not isinstance(given, list) or of_items is None:
            continue
        most, fits = schema["properties"][key].get("maxItems", len(given)), []
        for number, part in enumerate(given):
            place = f"{key}[{number}]"
            item, unknown = _named(part, of_items, place) if isinstance(part, dict) else (part, [])
            wrong += unknown
            if bad := problem(item, of_items, place):
                wrong.append(bad)
            else:
                fits.append(item)
        wrong += [f"{key} has {len(fits) - most} items too many"] if len(fits) > most else []
        properties[key] = fits[:most]
    return properties, wrong


def _named(value: dict[str, Any], schema: Schema, place: str) -> tuple[dict[str, Any], list[str]]:
    """Return an object without the keys that its schema does not name, and these in words."""
    names = schema.get("properties", {})
    unknown = [f"{place or 'the answer'} has an unknown key, “{str(key)[:40]}”" for key in value if key not in names]
    return {key: item for key, item in value.items() if key in names}, unknown


def _range(size: int, schema: Schema, at: str, what: str, unit: str) -> str:
    if size < schema.get("min" + what, 0):
        return f"{at} has too few {unit}"
    most = schema.get("max" + what)
    return f"{at} has too many {unit}" if most is not None and size > most else ""
