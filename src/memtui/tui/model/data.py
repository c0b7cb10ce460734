"""The data of the screens, read from the engine in workers, which decides all rules; a screen draws what was read."""

import os
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from memtui.base import fastjson_hot, fs_hot
from memtui.base.errors import MemtuiError
from memtui.deliver import sessions
from memtui.store import scopes
from memtui.workspace import SAMPLE_MARKER, Workspace

# Modules that the first paint does not need are imported in functions: start-up is what a person waits for most.
if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable

    from memtui.base.finding import Finding
    from memtui.deliver.log_queries import Receipts
    from memtui.deliver.record import Record
    from memtui.deliver.statistics import Statistics
    from memtui.store.scopes import Scope
    from memtui.tidy.waiting_proposals import UndecidedSet

STATE_VERSION = 1
MOST_PLANNED = 10_000  # memories that are compared beside the screens: to compare 10,000 takes some 200 MB


class State:
    """The state of the screens from one start to the next, a table each, in `run/tui.json`: a cache."""

    def __init__(self, root: str, *, read_only: bool = False) -> None:
        self.path, self.read_only = root + "/run/tui.json", read_only

    def get(self, screen: str) -> dict[str, object]:
        value = self._read().get(screen)
        return value if isinstance(value, dict) else {}

    def put(self, screen: str, table: dict[str, object]) -> None:
        """Write a screen's table. A failure is ignored."""
        whole = self._read()
        if self.read_only or whole.get(screen) == table:
            return
        with suppress(OSError):
            data = fastjson_hot.dumps({**whole, "v": STATE_VERSION, screen: table}).encode() + b"\n"
            fs_hot.write_atomic(self.path, data, durable=False)

    def _read(self) -> dict[str, object]:
        try:
            table = fastjson_hot.loads_dict(fs_hot.read_or_empty(self.path))
        except (OSError, ValueError):
            return {}
        return table if table.get("v") == STATE_VERSION else {}


@dataclass
class BarFacts:
    """What the bars show: project, mode, hooks, how much waits on each screen, and the `live` sessions."""

    project: str = ""
    mode: str = "full"
    hooks: bool | None = None  # whether they are installed; None until that is known
    waiting: dict[str, int] = field(default_factory=dict)
    live: frozenset[str] = frozenset()


class Data(Workspace):
    """The workspace of the TUI, with what was read last. `now` stops the clock, for snapshots and tests."""

    def __init__(self, env: dict[str, str], cwd: str, *, now: float | None = None) -> None:
        super().__init__(env, cwd, by="tui", now=now)
        self.approved = ""  # the path of the memory approved last, until the screen of memories has shown it
        self.facts = BarFacts(self.project)
        self._hooked = (True, False, False)  # as `hooked` returns it
        # The findings about the client; None until they are looked up, which starts a process.
        self.client: list[Finding] | None = None
        self.entries = {}
        self._entries = 0  # drafts and todos that wait here
        # What waits for a decision besides entries, by what the Inbox calls it; None until it is counted.
        self.decisions: Counter[str] | None = None

    @cached_property
    def is_sample(self) -> bool:
        """Whether this is a sample world, whose home is one of its directories."""
        return os.path.isfile(f"{os.path.dirname(self.env.get('HOME', ''))}/{SAMPLE_MARKER}")

    @cached_property
    def statistics(self) -> "Statistics":
        from memtui.deliver.statistics import Statistics

        return Statistics(self.root, self.now)

    def keys(self) -> dict[str, str]:
        settings = self.settings()
        if "keys" not in settings:
            return {}
        from memtui.settings import setting

        return setting.remapped(settings)

    def refresh(self, parts: "frozenset[str] | None" = None) -> None:
        """Read what the bars show: all of it, or what depends on these parts of the files, as `Watch` names them."""
        waiting, facts = self.counts(), self.facts
        if parts is None or parts - {"inbox"}:
            self.count_live()
        self._entries = waiting["updates"] + waiting["items"]
        self.note_decisions(self.decisions)
        if parts is None or "settings" in parts:
            self._hooked = super().hooked()
            self.facts = replace(facts, mode=str(self.setting("mode")), hooks=self._hooked[0])

    def note_decisions(self, counts: "Counter[str] | None") -> None:
        """Show on the tab of the Inbox how many entries and other decisions wait; nothing while that is not known."""
        self.decisions = counts
        if counts is not None:
            self.facts.waiting["inbox"] = self._entries + counts.total()

    def count_live(self) -> bool:
        """Look which sessions clients serve now; return whether these are others than before."""
        before, self.facts.live = self.facts.live, frozenset(sessions.served(self.root).values())
        return self.facts.live != before

    def hooked(self) -> tuple[bool, bool, bool]:
        return self._hooked

    def count_findings(self) -> None:
        """Count the problems for the Setup tab: those that files show, and those of the client if known."""
        from memtui.base import findings
        from memtui.hooks.install import checkup

        reads = not self.is_vast  # of memories only what can't be read at all is for Setup
        reports = checkup.check(self.env, self.cwd, self.now(), self.client or [], self.known, reads=reads)
        self.facts.waiting["setup"] = findings.problems(findings.of_setup(reports))

    @property
    def is_vast(self) -> bool:
        """Whether there are so many memories that to compare them would take too much memory beside the screens."""
        return sum(len(scopes.files(scope)) for scope in self.scopes()) > MOST_PLANNED

    def undecided(self, go_on: "Callable[[], bool]" = lambda: True) -> "UndecidedSet":
        if self.is_vast:
            hint = "`memtui consolidate` plans changes, and `memtui check` lists problems."
            raise MemtuiError(f"Over {MOST_PLANNED:,} memories are not compared here.", hint)
        return super().undecided(go_on)

    def forget(self) -> None:
        if "receipts" in vars(self):
            self.receipts.forget()
        self.known.clear()
        self.entries = {}

    def scopes(self, *, every: bool = False) -> "list[Scope]":
        """Return the scopes of the working directory; `every` adds those of other projects."""
        return scopes.discover(self.env, self.cwd, all_projects=every)

    @property
    def has_model(self) -> bool:
        return self.setting("llm_backend") != "off"

    def library(self) -> "list[Scope]":
        """Return the scopes of the working directory, and once a model is set that of its blocks."""
        places = self.scopes()
        if self.has_model:
            from memtui.models.subconscious import blocks

            places += blocks.scopes_of(self.root, self.slug)
        return places

    def records(self, limit: int) -> "list[Record]":
        from memtui.deliver import log_hot

        return list(islice(log_hot.newest_first(self.root), limit))

    @cached_property
    def receipts(self) -> "Receipts":
        from memtui.deliver.log_queries import Receipts

        return Receipts(self.env, self.now)

    def settled(self) -> bool:
        """Look again at open deliveries; return whether the outcome of one has changed."""
        return "receipts" in vars(self) and self.receipts.look_again()  # else its module is not imported yet

    def outcomes(self, records: "list[Record]") -> dict[str, str]:
        """Return outcome by delivery id, for these records of the log and all that were looked up before."""
        from memtui.deliver.record import Delivery

        self.receipts.look(map(Delivery, records))
        return dict(self.receipts.known)
