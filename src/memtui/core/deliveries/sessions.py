"""The sessions that memtui served, by their state files and by the delivery log."""

import os
from collections.abc import Iterable, Iterator

from memtui.core.base import fastjson, fs, session_state
from memtui.core.client.transcript import text_of
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries.memory_counts import RecallCounter, RecallCounts
from memtui.core.deliveries.record import CHARS_A_TOKEN, Delivery, Record, project_of

# How the names of a session's other files end (session_state.path).
PARTS = (".cursor.json", ".index.json", ".missed.json", ".recall.json", ".select.json", ".stopped.json", ".tip.json")
STATE_BYTES = 1 << 20


class Session:
    """A session: what its state file says, and the sums of its deliveries, which are added newest first."""

    def __init__(self, session_id: str, state: Record | None = None) -> None:
        self.id = session_id
        self.state = state or {}
        self.last = self._of_state("started")  # the time of its newest record, as the log writes times
        self.deliveries = 0
        self.uses = 0
        self.chars = 0
        self.ms = 0.0
        self._newest: Delivery | None = None
        self._recalls: RecallCounter | None = None

    def note(self, found: Delivery, *, newest: bool = False) -> None:
        """Add a delivery, or a use of a memory. `newest`: it is newer than all that were added before."""
        self._newest = found if newest or self._newest is None else self._newest
        self.last = max(self.last, found.logged)
        self.uses += found.uses
        if found.tells_recall:
            self._recalls = self._recalls or RecallCounter()
            self._recalls.count(found, newest=newest)
        if found.injected:
            self.deliveries += 1
            self.chars += found.chars
            self.ms += found.ms or 0.0

    @property
    def sums(self) -> dict[str, int]:
        """The sums of its deliveries."""
        tokens = self.chars // CHARS_A_TOKEN
        return {"deliveries": self.deliveries, "characters": self.chars, "tokens": tokens, "ms": round(self.ms)}

    @property
    def recalls(self) -> RecallCounts:
        """What came of the memories that it recalled."""
        return self._recalls.total() if self._recalls is not None else RecallCounts()

    @property
    def project(self) -> str:
        """The root of its project, or the project's key."""
        logged = self._newest.project_root or self._newest.project if self._newest else ""
        return self._of_state("project_root") or self._of_state("project") or logged

    @property
    def slug(self) -> str:
        """The key of its project."""
        return project_of(self.state) or (self._newest.project if self._newest else "")

    @property
    def cwd(self) -> str:
        """The session's directory."""
        return self._of_state("cwd") or (self._newest.cwd if self._newest else "")

    @property
    def mode(self) -> str:
        """The mode of memtui in this session."""
        return self._of_state("mode") or (self._newest.mode if self._newest else "")

    @property
    def entrypoint(self) -> str:
        """The entry point of its client; empty if not known."""
        return self._newest.entrypoint if self._newest else ""

    @property
    def client(self) -> object:
        """The process of its client, as `process.client` identifies it; None if not known."""
        return self._newest.record.get("client") if self._newest else None

    @property
    def transcript(self) -> str:
        """The path of its transcript, as its hooks were told last; empty if not known."""
        return self._of_state("transcript") or (text_of(self._newest.record.get("transcript")) if self._newest else "")

    @property
    def started(self) -> str:
        """When it began, as the log writes times; empty if not known."""
        return self._of_state("started")

    def _of_state(self, key: str) -> str:
        found = self.state.get(key)
        return found if isinstance(found, str) else ""


def states(root: str) -> dict[str, Session]:
    """Return the sessions that have a state file, by id."""
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
        session_id = name.removesuffix(".json")
        found[session_id] = Session(session_id, state)
    return found


def find(root: str, session_id: str) -> Session:
    """Return the session with an id, with its state and its newest delivery only."""
    found = Session(session_id, session_state.load(root, session_id))
    for delivery in map(Delivery.of, delivery_log.newest_first(root, needle=session_id.encode("utf-8", "replace"))):
        if delivery.session == session_id:
            found.note(delivery)
            break
    return found


def collect(root: str, records: Iterable[Record]) -> list[Session]:
    """Return all sessions, the one with the newest record first. `records`: the delivery log, newest first."""
    found = states(root)
    for delivery in map(Delivery.of, records):
        if delivery.session:
            found.setdefault(delivery.session, Session(delivery.session)).note(delivery)
    return sorted(found.values(), key=lambda each: each.last, reverse=True)


def meant(session_id: str, ref: str) -> bool:
    """Whether a reference is a session's id, or a beginning or end of it, in any case."""
    return session_id.lower().startswith(ref.lower()) or session_id.lower().endswith(ref.lower())


def deliveries(root: str, ref: str) -> Iterator[Delivery]:
    """Yield the deliveries to the sessions that a reference may mean, newest first; in any case if none matches."""
    for fold in (False, True):
        found = False
        needle = (ref.lower() if fold else ref).encode("utf-8", "replace")
        for delivery in map(Delivery.of, delivery_log.newest_first(root, needle=needle, fold=fold)):
            if meant(delivery.session, ref):
                found = True
                yield delivery
        if found or not ref.isascii() or ref == ref.swapcase():
            return
