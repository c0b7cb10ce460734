"""What the screens show, read from the engine. Reading happens in workers; a screen draws what was read last.

Nothing here decides anything: every rule is the engine's, and the command line can do all of it as well.
"""

import os
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from memtui.core.memories import scopes
from memtui.workspace import Workspace

# What the first picture does not need is imported where it is used: start-up is most of what a person waits for.
if TYPE_CHECKING:
    from memtui.core.base.finding import Finding
    from memtui.core.deliveries.reading import Receipts
    from memtui.core.deliveries.record import Record
    from memtui.core.deliveries.statistics import Statistics
    from memtui.core.journal.ledger import Ledger, Transaction
    from memtui.core.memories.memory import Memory
    from memtui.core.memories.scopes import Scope


@dataclass
class Facts:
    """What the frame shows: the project's name, its mode, whether hooks are installed, whether Claude Code runs none,
    and what waits on each screen."""

    project: str = ""
    mode: str = "full"
    hooks: bool = True
    disabled: bool = False
    waiting: dict[str, int] = field(default_factory=dict)


class Data(Workspace):
    """The workspace of the TUI, and what was read of it. `now` holds the clock still, for pictures and tests."""

    def __init__(self, env: dict[str, str], cwd: str, *, now: float | None = None) -> None:
        super().__init__(env, cwd, by="tui", now=now)
        self.facts = Facts(os.path.basename(self.project_root) or "/")
        # What is known of the client, where anybody looked: that starts a process.
        self.client: list[Finding] | None = None
        # Memories by path, as they were read last.
        self.known: dict[str, Memory] = {}

    @cached_property
    def statistics(self) -> "Statistics":
        """What the delivery log adds up to."""
        from memtui.core.deliveries.statistics import Statistics

        return Statistics(self.root, self.now)

    # settings

    def keys(self) -> dict[str, str]:
        """The person's key map: action id to keys."""
        settings = self.settings()
        if "keys" not in settings:
            return {}
        from memtui.core.settings import keymap

        return keymap.remapped(settings)

    # the frame

    def refresh(self) -> None:
        """Read what the frame shows."""
        from memtui.hooks.installer import status

        waiting = self.counts()
        counts = {"guidance": waiting["guidance"], "inbox": waiting["updates"] + waiting["items"]}
        counts["health"] = self.facts.waiting.get("health", 0)
        mode = str(self.setting("mode"))
        found = status.status(self.env, self.cwd)
        self.facts = Facts(self.facts.project, mode, found.installed, found.disabled_by is not None, counts)

    def hooked(self) -> tuple[bool, bool]:
        """As it was read last."""
        return self.facts.hooks, self.facts.disabled

    def count_findings(self) -> None:
        """Put into the facts how many problems there are, as far as files tell."""
        from memtui.core.health import findings
        from memtui.hooks.installer import checkup

        found = checkup.check(self.env, self.cwd, self.now(), self.client or [], self.known)
        self.facts.waiting["health"] = findings.problems(found)

    def forget(self) -> None:
        """Read everything anew from now on."""
        if self._asked:
            self.receipts.forget()
        self.known.clear()

    # memories

    def scopes(self, *, every: bool = False) -> "list[Scope]":
        """The scopes of the working directory; `every` adds those of other projects."""
        return scopes.discover(self.env, self.cwd, all_projects=every)

    # changes

    def changes(self) -> "tuple[Ledger, list[Transaction]]":
        """What was changed, newest first."""
        ledger = self.ledger.follow()
        return ledger, ledger.changes()

    # deliveries

    def records(self, limit: int) -> "list[Record]":
        """The newest records of the delivery log, newest first."""
        from memtui.core.deliveries import log as delivery_log

        return list(islice(delivery_log.newest_first(self.root), limit))

    @cached_property
    def receipts(self) -> "Receipts":
        """What became of deliveries, for all screens."""
        from memtui.core.deliveries.reading import Receipts

        return Receipts(self.env, self.now)

    @property
    def _asked(self) -> bool:
        """Whether a receipt was asked for: until then what looks them up is not imported."""
        return "receipts" in vars(self)

    def settled(self) -> bool:
        """Whether something else is told now of a delivery that was asked for."""
        return self._asked and self.receipts.look_again()

    def outcomes(self, records: "list[Record]") -> dict[str, str]:
        """Delivery id to outcome, of these records of the log and of all that was asked for before."""
        from memtui.core.deliveries.record import Delivery

        self.receipts.look(map(Delivery.of, records))
        return dict(self.receipts.known)
