"""What can go wrong with a call of a model, a class each. `outcome` is the word for it in the log of calls."""

from memtui.core.base import visible
from memtui.core.base.errors import MemtuiError
from memtui.llm.usage import NOTHING, ModelUsage

# Characters of what a service said.
MESSAGE_MOST = 300


class ModelError(MemtuiError):
    """A call gave no answer. `usage`: what it used all the same; `unmetered`: if that is nothing, nobody said what it
    used; `retryable`: the same call may succeed later, `after` so many seconds at the soonest; `futile`: it may fail
    again and again, and cost each time."""

    outcome = "failed"
    retryable = unmetered = futile = False

    def __init__(self, message: str, hint: str = "", usage: ModelUsage = NOTHING, after: float = 0.0) -> None:
        super().__init__(message, hint)
        self.usage, self.after = usage, after


class OffError(ModelError):
    """No model may be asked, or none is there."""

    outcome = "off"


class BudgetError(ModelError):
    """The call could exceed the budget of the day: it was not made."""

    outcome = "budget"


class BusyError(ModelError):
    """The service has too much to do, or an error of its own; or too many clients of ours run."""

    outcome = "busy"
    retryable = True


class UnreachableError(ModelError):
    """There was no connection."""

    outcome = "unreachable"
    retryable = True


class CutError(ModelError):
    """The answer ended before it was whole."""

    outcome = "cut"
    retryable = unmetered = True


class RejectedError(ModelError):
    """The service did not take the request: a wrong key or model, or a request that is not valid."""

    outcome = "rejected"


class RefusedError(ModelError):
    """The model refused to answer."""

    outcome = "refused"
    futile = True


class InvalidAnswerError(ModelError):
    """The answer is not of the schema."""

    outcome = "invalid"
    futile = True


class TimeLimitError(ModelError):
    """The call took longer than the settings allow."""

    outcome = "late"
    futile = unmetered = True


class CancelledCallError(ModelError):
    """The person cancelled the call."""

    outcome = "cancelled"
    unmetered = True


def shortened(words: str) -> str:
    """Return what a service or a program said as the end of a sentence: on one line, short, with a full stop."""
    return visible.one_line(visible.clean(words))[:MESSAGE_MOST].rstrip(" .") + "."
