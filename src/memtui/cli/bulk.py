"""One change for several memories, named on the command line: what is told of it."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from memtui.cli.output import Output, Result, line, safe
from memtui.core.base.errors import EXIT_FAILED, MemtuiError
from memtui.core.memories.store import Store
from memtui.present.memories import left_alone

Done = TypeVar("Done")


class Bulk:
    """What became of each name: `failed` as --json tells it."""

    def __init__(self) -> None:
        self.failed: list[dict[str, str]] = []

    def run(self, store: Store, names: Sequence[str], act: Callable[[str], Done]) -> list[Done]:
        """Do it to each; what was done. Raises MemtuiError where nothing was."""
        outcome = store.each(names, act)
        if len(names) == 1 and outcome.failed:
            raise outcome.failed[0][1]
        self.failed = [{"name": name, "message": e.message, "hint": e.hint} for name, e in outcome.failed]
        done = [made for _, made in outcome.done]
        if not done and self.failed:
            told = "\n".join(f"{row['name']}: {row['message']}" for row in self.failed)
            raise MemtuiError(f"None of these {len(names)} could be changed.\n{told}", self.failed[0]["hint"])
        return done

    def result(self, data: "dict[str, object]", text: "Callable[[Output], None]") -> Result:
        """The answer; exit code 1 if any failed."""

        def whole(out: Output) -> None:
            text(out)
            for row in self.failed:
                out.say(f"memtui: {line(row['name'])}: {safe(row['message'])}")
                if row["hint"]:
                    out.say(f"  {safe(row['hint'])}")
            if self.failed:
                out.say(left_alone(len(self.failed)) + ".")

        return Result({**data, "failed": self.failed}, whole, EXIT_FAILED if self.failed else 0)
