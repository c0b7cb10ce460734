"""One request to a model and its answer, as the backends take and give them; and when to stop waiting."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from memtui.llm.errors import CancelledCallError, TimeLimitError
from memtui.llm.schema import Schema
from memtui.llm.usage import NOTHING, ModelUsage, tokens_in

# Seconds between two looks at whether to stop.
POLL_SECONDS = 0.05


class Call(NamedTuple):
    """A request. `system` holds rules and no text of others. `head` is the part of the prompt that the calls of a batch
    share, which the service may cache. `most`: tokens of the answer, at most. `schema`: other users of the machine may
    see it."""

    system: str
    head: str
    prompt: str
    schema: Schema
    most: int

    def tokens(self) -> int:
        """Estimate the tokens of the request."""
        return sum(map(tokens_in, (self.system, self.head, self.prompt, str(self.schema))))


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

    def check(self, used: ModelUsage = NOTHING) -> None:
        """Raise CancelledCallError or TimeLimitError, with what was used, if it is time."""
        if self.cancelled():
            raise CancelledCallError("Cancelled.", usage=used)
        if self.left <= 0:
            raise TimeLimitError(
                f"The model did not answer within {self.seconds:g} s.",
                "Allow more: memtui config set llm_timeout 300",
                usage=used,
            )

    def pause(self, seconds: float) -> None:
        """Wait, checking all the time."""
        until = time.monotonic() + seconds
        while (rest := until - time.monotonic()) > 0:
            self.check()
            time.sleep(min(POLL_SECONDS, rest))


class Backend(Protocol):
    """A way to a model. `name` as in the settings; `model` as it is asked for."""

    name: str
    model: str

    def call(self, call: Call, stop: Stop) -> Answer:
        """Make one attempt. Raises ModelError."""
