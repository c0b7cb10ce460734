"""The sessions that memtui served: what their state files say, and what the delivery log tells of them."""

import os
from collections.abc import Iterable, Iterator

from memtui.core.base import fastjson, fs
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries.record import USE, Delivery, Record

# A model's token is about four characters of English.
CHARS_A_TOKEN = 4
PARTS = (".cursor.json", ".index.json", ".missed.json", ".stopped.json", ".tip.json")
STATE_BYTES = 1 << 20


class Session:
    """A session by its id: what its state file says, and what its deliveries add up to, noted newest first."""

    def __init__(self, name: str, state: Record | None = None) -> None:
        self.id = name
        self.state = state or {}
        self.last = self._of_state("started")  # when it was heard of last, as the log writes times
        self.deliveries = 0
        self.uses = 0
        self.chars = 0
        self.ms = 0.0
        self._newest: Delivery | None = None

    def note(self, found: Delivery) -> None:
        """Take in a delivery, or a use of a memory."""
        self._newest = self._newest or found
        self.last = max(self.last, found.logged)
        self.uses += sum(item.kind == USE for item in found.items)
        if found.injected:
            self.deliveries += 1
            self.chars += found.chars
            self.ms += found.ms or 0.0

    @property
    def sums(self) -> dict[str, int]:
        """What it got in all."""
        tokens = self.chars // CHARS_A_TOKEN
        return {"deliveries": self.deliveries, "characters": self.chars, "tokens": tokens, "ms": round(self.ms)}

    @property
    def project(self) -> str:
        """Its project's root, or the project's slug."""
        for root, slug in (
            (self._of_state("project_root"), self._of_state("project")),
            (self._newest.project_root, self._newest.project) if self._newest else ("", ""),
        ):
            if root or slug:
                return root or slug
        return ""

    @property
    def slug(self) -> str:
        """Its project's slug."""
        return self._of_state("project") or (self._newest.project if self._newest else "")

    @property
    def cwd(self) -> str:
        """The directory it was in."""
        return self._of_state("cwd") or (self._newest.cwd if self._newest else "")

    @property
    def mode(self) -> str:
        """memtui's mode in it."""
        return self._of_state("mode") or (self._newest.mode if self._newest else "")

    @property
    def started(self) -> str:
        """When it began, as the log writes times; empty if that is not known."""
        return self._of_state("started")

    def _of_state(self, key: str) -> str:
        found = self.state.get(key)
        return found if isinstance(found, str) else ""


def states(root: str) -> dict[str, Session]:
    """The sessions that have a state file, by id."""
    found: dict[str, Session] = {}
    try:
        names = os.listdir(root + "/sessions")
    except OSError:
        names = []
    for name in names:
        if not name.endswith(".json") or name.endswith(PARTS):
            continue
        try:
            state = fastjson.loads_dict(fs.read_bytes(f"{root}/sessions/{name}", STATE_BYTES))
        except OSError:
            continue
        key = name.removesuffix(".json")
        found[key] = Session(key, state)
    return found


def collect(root: str, records: Iterable[Record]) -> list[Session]:
    """All sessions, the one heard of last first. `records`: of the delivery log, newest first; they are not kept."""
    found = states(root)
    for delivery in map(Delivery.of, records):
        if delivery.session:
            found.setdefault(delivery.session, Session(delivery.session)).note(delivery)
    return sorted(found.values(), key=lambda each: each.last, reverse=True)


def meant(name: str, ref: str) -> bool:
    """Whether a reference may mean a session: its id, or a beginning or end of it."""
    return name.lower().startswith(ref.lower()) or name.lower().endswith(ref.lower())


def deliveries(root: str, ref: str) -> Iterator[Delivery]:
    """The deliveries to the sessions that a reference may mean, newest first: as it is written, else in whatever
    case."""
    for fold in (False, True):
        found = False
        needle = (ref.lower() if fold else ref).encode("utf-8", "replace")
        for delivery in map(Delivery.of, delivery_log.newest_first(root, needle=needle, fold=fold)):
            if meant(delivery.session, ref):
                found = True
                yield delivery
        if found or not ref.isascii() or ref == ref.swapcase():
            return
