"""One change for several memories: a failure stops none of the others, and all that was done is one step of undo."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from memtui.cli.output import Output, Result, line, safe
from memtui.core.errors import EXIT_FAILED, MemtuiError
from memtui.core.store import Store
from memtui.core.words import many

Done = TypeVar("Done")


class Bulk:
    """What became of each name: `failed` as --json tells it."""

    def __init__(self) -> None:
        self.failed: list[dict[str, str]] = []

    def run(self, store: Store, names: Sequence[str], act: Callable[[str], Done]) -> list[Done]:
        """Do it to each; what was done. Raises MemtuiError where nothing was."""
        done: list[Done] = []
        with store.together():
            for name in names:
                try:
                    done.append(act(name))
                except MemtuiError as error:
                    if len(names) == 1:
                        raise
                    self.failed.append({"name": name, "message": error.message, "hint": error.hint})
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
                out.say(many(len(self.failed), "memory was", "memories were") + " left alone.")

        return Result({**data, "failed": self.failed}, whole, EXIT_FAILED if self.failed else 0)
