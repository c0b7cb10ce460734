"""One change for several things that the command line names: make it for each, and report what failed."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from memtui.base.errors import EXIT_FAILED, MemtuiError
from memtui.base.phrasing import many
from memtui.cli.output import Output, Result, line, safe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.cli.output import Printer
    from memtui.store.store import Store

Done = TypeVar("Done")


class BulkResult:
    """A change for several things; `failed` has what --json shows of each failure, `code` is that of no failure."""

    def __init__(self) -> None:
        self.failed: list[dict[str, str]] = []
        self.code = 0

    def run(self, store: "Store", names: Sequence[str], change: Callable[[str], Done]) -> list[Done]:
        """Make the change for each name, as one step of undo; return the results. Raises MemtuiError if all failed."""
        outcome = store.each(names, change)
        self._note(names, outcome.failed)
        return [result for _, result in outcome.done]

    def find(self, names: Sequence[str], find: Callable[[str], Done]) -> list[Done]:
        """Find what each name means; return what was found. Raises MemtuiError if nothing was."""
        results: list[Done] = []
        failed: list[tuple[str, MemtuiError]] = []
        for name in names:
            try:
                results.append(find(name))
            except MemtuiError as error:
                failed.append((name, error))
        self._note(names, failed)
        return results

    def _note(self, names: Sequence[str], failed: Sequence[tuple[str, MemtuiError]]) -> None:
        """Keep the failures for the answer. Raises the error of a single name, MemtuiError if all of several failed."""
        if len(names) == 1 and failed:
            raise failed[0][1]
        self.failed = [{"name": name, "message": e.message, "hint": e.hint} for name, e in failed]
        if self.failed and len(failed) == len(names):
            hints = {row["hint"] for row in self.failed}
            shared = hints.pop() if len(hints) == 1 else ""
            messages = [
                f"{row['name']}: {row['message']}" + (f"\n  {row['hint']}" if row["hint"] and not shared else "")
                for row in self.failed
            ]
            raise MemtuiError("\n".join([f"None of these {len(names)} could be changed.", *messages]), shared)

    def result(self, data: "dict[str, object]", *text: "str | Printer") -> Result:
        """Return the command's result: its own, then the failures."""
        code = EXIT_FAILED if self.failed else self.code
        return Result({**data, "failed": self.failed}, *text, self._print_failures, code=code)

    def _print_failures(self, out: Output) -> None:
        for row in self.failed:
            out.say(f"memtui: {line(row['name'])}: {safe(row['message'])}")
            if row["hint"]:
                out.say(f"  {safe(row['hint'])}")
        if self.failed:
            out.say(many(len(self.failed), "of these was", "of these were") + " left alone.")
