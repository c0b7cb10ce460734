"""Who wrote a version of a memory: a person through memtui, an agent whose write a hook logged, or anybody else."""

import os

from memtui.core.base import clock
from memtui.core.deliveries import log as delivery_log
from memtui.core.journal.contents import ContentStore
from memtui.core.journal.ledger import Ledger
from memtui.core.memories.versions import AGENT, GONE, OTHER, PERSON, Version, Writer

# Seconds between the write of a file and the hook that logs it.
LATE = 60.0


class Writers:
    """The writers of one memtui root: `of` names the one of a version."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._contents = ContentStore(root)
        self._ledger: Ledger | None = None
        self._logged: dict[str, list[tuple[float, Writer]]] = {}
        self._since = float("inf")

    def of(self, version: Version) -> Writer:
        """Name the writer of a version. What memtui wrote or replaced is in its journal, so a person decided on it."""
        if version.digest == GONE:
            return Writer(PERSON if self._was_changed_here(version.path) else OTHER)
        if os.path.exists(self._contents.path(version.digest)):
            return Writer(PERSON)
        at = version.stamp / 1e9
        self._read_back_to(at)
        writes = self._logged.get(os.path.realpath(version.path), [])
        near = [(abs(time - at), writer) for time, writer in writes if abs(time - at) <= LATE]
        return min(near, key=lambda each: each[0])[1] if near else Writer(OTHER)

    def _was_changed_here(self, path: str) -> bool:
        if self._ledger is None:
            self._ledger = Ledger(self.root + "/journal.jsonl")
            self._ledger.follow()
        return any(path in each.paths for each in self._ledger.transactions.values())

    def _read_back_to(self, at: float) -> None:
        """Read the logged writes since `at` (seconds since the epoch), if that was not done yet."""
        if at >= self._since:
            return
        self._logged, self._since = {}, at
        for record in delivery_log.newest_first(self.root, needle=b'"wrote"', since=at):
            time = clock.parse(str(record.get("time"))) or 0.0
            writer = Writer(AGENT, str(record.get("session_id") or ""), str(record.get("prompt_id") or ""))
            for item in delivery_log.brought(record):
                if item.get("action") == "wrote" and isinstance(item.get("path"), str):
                    self._logged.setdefault(os.path.realpath(str(item["path"])), []).append((time, writer))
