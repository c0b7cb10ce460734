"""The sessions that memtui served, by their state files and by the delivery log."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from memtui.base import clock, fastjson, fs, paths, session_state
from memtui.client import live_sessions
from memtui.client.transcripts import titles, transcript
from memtui.client.transcripts.transcript import text_of
from memtui.deliver import log as delivery_log
from memtui.deliver.log_queries import Proof, proof
from memtui.deliver.memory_counts import RecallCounter, RecallCounts, ReceiptCounts
from memtui.deliver.record import CHARS_A_TOKEN, Delivery, Record, project_of, session_kind

# How the names of a session's other files end (session_state.path).
PARTS = (".cursor.json", ".index.json", ".missed.json", ".recall.json", ".select.json", ".stopped.json", ".tip.json")
STATE_BYTES = 1 << 20
# How many of its newest deliveries a session has the receipts of.
PROOFS = 2000


class Session:
    """A session: what its state file says, and the sums of its deliveries, which are added newest first. `proofs`: of
    its newest deliveries, by which their receipts are looked up."""

    def __init__(self, session_id: str, state: Record | None = None) -> None:
        self.id = session_id
        self.state = state or {}
        self.last = self._of_state("started")  # the time of its newest record, as the log writes times
        self.deliveries = 0
        self.uses = 0
        self.chars = 0
        self.ms = 0.0
        self.proofs: list[Proof] = []
        self._newest: Delivery | None = None
        self._recalls: RecallCounter | None = None

    def note(self, delivery: Delivery) -> None:
        """Add a delivery, or a use of a memory."""
        self._newest = self._newest or delivery
        self.last = max(self.last, delivery.logged)
        self.uses += delivery.uses
        if delivery.tells_recall:
            self._recalls = self._recalls or RecallCounter()
            self._recalls.count(delivery)
        if delivery.injected:
            self.deliveries += 1
            self.chars += delivery.chars
            self.ms += delivery.ms or 0.0
            if len(self.proofs) < PROOFS:
                self.proofs.append(Proof(delivery.id, delivery.time, proof(delivery)))

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
        value = self.state.get(key)
        return value if isinstance(value, str) else ""


def states(root: str) -> dict[str, Session]:
    """Return the sessions that have a state file, by id."""
    sessions_by_id: dict[str, Session] = {}
    for name in paths.names_in(root + "/sessions"):
        if not name.endswith(".json") or name.endswith(PARTS):
            continue
        try:
            state = fastjson.loads_dict(fs.read_bytes(f"{root}/sessions/{name}", STATE_BYTES))
        except OSError:
            continue
        session_id = name.removesuffix(".json")
        sessions_by_id[session_id] = Session(session_id, state)
    return sessions_by_id


def find(root: str, session_id: str) -> Session:
    """Return the session with an id, with its state and its newest delivery only."""
    session = Session(session_id, session_state.load(root, session_id).values())
    for delivery in map(Delivery.of, delivery_log.newest_first(root, needle=session_id.encode("utf-8", "replace"))):
        if delivery.session == session_id:
            session.note(delivery)
            break
    return session


def collect(root: str, records: Iterable[Record]) -> list[Session]:
    """Return all sessions, the one with the newest record first. `records`: the delivery log, newest first."""
    sessions_by_id = states(root)
    for delivery in map(Delivery.of, records):
        if delivery.session:
            sessions_by_id.setdefault(delivery.session, Session(delivery.session)).note(delivery)
    return sorted(sessions_by_id.values(), key=lambda session: session.last, reverse=True)


def meant(session_id: str, ref: str) -> bool:
    """Whether a reference is a session's id, or a beginning or end of it, in any case."""
    return session_id.lower().startswith(ref.lower()) or session_id.lower().endswith(ref.lower())


def deliveries(root: str, ref: str) -> Iterator[Delivery]:
    """Yield the deliveries to the sessions that a reference may mean, newest first; in any case if none matches."""
    for fold in (False, True):
        any_delivery = False
        needle = (ref.lower() if fold else ref).encode("utf-8", "replace")
        for delivery in map(Delivery.of, delivery_log.newest_first(root, needle=needle, fold=fold)):
            if meant(delivery.session, ref):
                any_delivery = True
                yield delivery
        if any_delivery or not ref.isascii() or ref == ref.swapcase():
            return


@dataclass(frozen=True)
class SessionRow:
    """A session of the list. `project`: the root of its project, or the slug; `kind`: as `session_kind` returns it;
    `live`: a client serves it now. `title` and `branch`: as `titles.About`. `started` and `last`: seconds since the
    epoch, None if not known. `uses`: how often its agent opened or wrote a memory. `outcomes`: how many of its
    deliveries had which outcome, of those that were looked up: all of them once `looked_up` is set. `transcript`: its
    path, empty if it is gone. `recalls`: what came of the memories that it recalled."""

    id: str
    project: str
    slug: str
    cwd: str
    mode: str = ""
    kind: str = ""
    live: bool = False
    title: str = ""
    branch: str = ""
    started: float | None = None
    last: float | None = None
    deliveries: int = 0
    uses: int = 0
    characters: int = 0
    ms: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    looked_up: bool = False
    transcript: str = ""
    recalls: RecallCounts = field(default_factory=RecallCounts)

    @property
    def tokens(self) -> int:
        """About how many of the model's tokens it was told."""
        return self.characters // CHARS_A_TOKEN

    @property
    def counts(self) -> ReceiptCounts:
        """How many of its deliveries arrived, were lost, wait …"""
        return ReceiptCounts.of(self.outcomes)


def row_of(session: Session, clients: Mapping[int, str], now: float) -> SessionRow:
    """Return the row of a session, without what its transcript and receipts tell. `clients`: as `serving.served`
    returns them."""
    return SessionRow(
        session.id,
        session.project,
        session.slug,
        session.cwd,
        session.mode,
        session_kind(session.entrypoint),
        live_sessions.live(session.id, session.client, clients),
        started=clock.parse(session.started),
        last=_last(session, now),
        deliveries=session.deliveries,
        uses=session.uses,
        characters=session.chars,
        ms=round(session.ms),
        recalls=session.recalls,
    )


def look_up(
    row: SessionRow, session: Session, finder: transcript.Finder, outcomes: Mapping[str, int] | None = None
) -> SessionRow:
    """Return the row with what its session is about, by its transcript, and with the outcomes of its deliveries."""
    path = session.transcript
    if not os.path.isfile(path):
        path = (finder.find(session.id) if session.id else None) or ""
    title, branch = titles.about(path)
    return replace(row, title=title, branch=branch, outcomes=outcomes or {}, looked_up=True, transcript=path)


def _last(session: Session, now: float) -> float | None:
    """Return when a session was active last: its transcript may have grown since its newest delivery."""
    try:
        changed = min(os.stat(session.transcript).st_mtime, now)
    except OSError:
        changed = None
    return max(filter(None, (clock.parse(session.last), changed)), default=None)
