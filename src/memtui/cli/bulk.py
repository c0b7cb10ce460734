"""One change for several memories that the command line names: run it for each, and report what failed."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from memtui.cli.output import Output, Result, line, safe
from memtui.core.base.errors import EXIT_FAILED, MemtuiError
from memtui.core.memories.store import Store
from memtui.present.memories import left_alone

Done = TypeVar("Done")


class BulkResult:
    """A change for several memories; `failed` has name, message and hint of each failure, as --json shows them."""

    def __init__(self) -> None:
        self.failed: list[dict[str, str]] = []

    def run(self, store: Store, names: Sequence[str], change: Callable[[str], Done]) -> list[Done]:
        """Make the change for each name, as one step of undo; return the results. Raises MemtuiError if all failed."""
        outcome = store.each(names, change)
        if len(names) == 1 and outcome.failed:
            raise outcome.failed[0][1]
        self.failed = [{"name": name, "message": e.message, "hint": e.hint} for name, e in outcome.failed]
        if self.failed and not outcome.done:
            messages = "\n".join(f"{row['name']}: {row['message']}" for row in self.failed)
            raise MemtuiError(f"None of these {len(names)} could be changed.\n{messages}", self.failed[0]["hint"])
        return [result for _, result in outcome.done]

    def result(self, data: "dict[str, object]", text: "Callable[[Output], None]") -> Result:
        """Return the command's result: its own, then the failures. The exit code is 1 if there are any."""

        def text_with_failures(out: Output) -> None:
            text(out)
            for row in self.failed:
                out.say(f"memtui: {line(row['name'])}: {safe(row['message'])}")
                if row["hint"]:
                    out.say(f"  {safe(row['hint'])}")
            if self.failed:
                out.say(left_alone(len(self.failed)) + ".")

        return Result({**data, "failed": self.failed}, text_with_failures, EXIT_FAILED if self.failed else 0)
