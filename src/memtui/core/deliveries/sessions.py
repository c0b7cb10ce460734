"""The sessions that memtui served, by their state files and by the delivery log."""

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from memtui.core.base import clock, fastjson, fs, paths, session_state
from memtui.core.client import serving, titles, transcript
from memtui.core.client.transcript import text_of
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries.memory_counts import RecallCounter, RecallCounts, ReceiptCounts
from memtui.core.deliveries.reading import KEPT, Proof, Receipts, proof, read
from memtui.core.deliveries.record import CHARS_A_TOKEN, Delivery, Record, project_of, session_kind

if TYPE_CHECKING:
    from memtui.core.deliveries.log import Place

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
    for name in paths.names_in(root + "/sessions"):
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


# Sessions that are listed; the newest if there are more.
MOST = 5000
# Lines of the log that are read between two looks at whether to go on.
LINES_AT_ONCE = 500


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

    def looked_at(self, path: str) -> "SessionRow":
        """Return the row as one that is looked up; `path`: of its transcript, empty if it is gone."""
        return replace(self, looked_up=True, transcript=path)

    @property
    def counts(self) -> ReceiptCounts:
        """How many of its deliveries arrived, were lost, wait …"""
        return ReceiptCounts.of(self.outcomes)

    @property
    def data(self) -> dict[str, object]:
        """Return the fields for JSON; times as the log writes them."""
        return {
            "id": self.id,
            "project": self.project,
            "cwd": self.cwd,
            "mode": self.mode,
            "kind": self.kind,
            "live": self.live,
            "title": self.title,
            "branch": self.branch,
            "transcript": self.transcript,
            "started": None if self.started is None else clock.iso(self.started),
            "last": None if self.last is None else clock.iso(self.last),
            "deliveries": self.deliveries,
            "uses": self.uses,
            "characters": self.characters,
            "receipts": self.counts.data(),
            "recalls": self.recalls.data(),
        }


class Told(NamedTuple):
    """A delivery to a session, as its detail shows it: the whole of it, and its outcome (empty if not looked up)."""

    delivery: Delivery
    outcome: str


class _Held:
    """What the list holds of a session beside its sums: its newest deliveries, newest first."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.rows: list[Proof] = []
        self.about = titles.About()
        self.read_at: tuple[int, int] | None = None  # the stamp of the transcript that `about` was read from
        self.transcript = ""
        self.looked_up = False


class SessionList:
    """The list. One thread at a time may call its methods. With `most`, only so many bytes of the newest log are
    counted; `older` says that there were more. At most KEPT deliveries are held; older ones are only counted."""

    def __init__(self, env: dict[str, str], now: Callable[[], float], proofs: Receipts, *, most: int = 0) -> None:
        self.env, self.now, self.proofs, self.most = env, now, proofs, most
        self.root = paths.root(env)
        self.older = self.counted = False
        self._held: dict[str, _Held] = {}
        self._rows = 0
        self._ends: dict[str, int] = {}
        self._finder = transcript.Finder(paths.config_dir(env))
        self._lock = threading.RLock()
        self._noted: dict[str, str] = {}

    # counting

    def count(self, go: Callable[[int], bool] = lambda _: True) -> None:
        """Count everything the first time, then only what was appended. Counting stops when `go(lines read)` returns
        False; the next call begins anew then."""
        with self._lock:
            if self.counted and (got := delivery_log.appended(self.root, self._ends)) is not None:
                lines, self._ends = got
                self._note_states()
                for place, line in lines:
                    self._add(place, line, newest=True)
                return
            kept, self._held, self._rows = self._held, {}, 0
            self.counted = self.older = False
            self._note_states()
            self._count_all(go)
            for name, held in self._held.items():
                if name in kept:
                    held.about, held.read_at = kept[name].about, kept[name].read_at
                    held.transcript = kept[name].transcript

    def _note_states(self) -> None:
        for name, session in states(self.root).items():
            held = self._held.get(name)
            if held is None:
                self._held[name] = _Held(session)
            else:
                held.session.state = session.state

    def _count_all(self, go: Callable[[int], bool]) -> None:
        self._ends = delivery_log.ends(self.root)
        size = 0
        self._noted = {}
        for number, (place, line) in enumerate(delivery_log.lines(self.root, self._ends, noted=self._noted), 1):
            if self.most and size >= self.most:
                self.older = True
                break
            size += len(line) + 1
            self._add(place, line)
            if number % LINES_AT_ONCE == 0 and not go(number):
                return
        self.counted = True

    def _add(self, place: "Place", line: bytes, *, newest: bool = False) -> None:
        record = delivery_log.parse(line, self._noted)
        found = Delivery.of(record, place) if record is not None else None
        if found is None or not found.session:
            return
        held = self._held.get(found.session)
        if held is None:
            held = self._held[found.session] = _Held(Session(found.session))
        held.session.note(found, newest=newest)
        if found.injected and (newest or self._rows < KEPT):
            held.rows.insert(0 if newest else len(held.rows), Proof(found.id, place, proof(found)))
            held.looked_up = False
            self._rows += 1

    # the rows

    def rows(self, wanted: Callable[[Session], bool] = lambda _: True) -> list[SessionRow]:
        """Return the sessions that are `wanted`: first those that are live, each group by last activity."""
        with self._lock:
            clients = serving.served(self.root)
            found = [self._row(held, clients) for held in self._held.values() if wanted(held.session)]
        found.sort(key=lambda row: (row.live, row.last or 0.0), reverse=True)
        return found[:MOST]

    def _row(self, held: _Held, clients: Mapping[int, str]) -> SessionRow:
        known = self.proofs.known
        found = [known[row.id] for row in held.rows if row.id in known]
        row = row_of(held.session, held.about, Counter(found), clients, self.now())
        return replace(row, looked_up=held.looked_up, transcript=held.transcript)

    # looking up

    def look_up(self, names: Iterable[str]) -> bool:
        """Look up what these sessions are about, and the receipts of their deliveries; return whether anything is
        new."""
        with self._lock:
            found = [self._look_up(held) for name in names if (held := self._held.get(name)) is not None]
            return any(found)

    def _look_up(self, held: _Held) -> bool:
        path = held.session.transcript
        stamp = _stamp(path)
        if stamp is None:
            path = self._finder.find(held.session.id) or ""
            stamp = _stamp(path) or (0, 0)
        fresh = not held.looked_up
        held.looked_up, held.transcript = True, path if stamp[1] else ""
        if stamp != held.read_at:
            before, held.about, held.read_at = held.about, titles.about(path), stamp
            fresh = fresh or held.about != before
        return self.proofs.look(held.rows) or fresh

    def told(self, name: str, most: int = 0) -> list[Told]:
        """Return the newest deliveries to a session, newest first; `most`: so many, 0 for all that are held."""
        with self._lock:
            held = self._held.get(name)
            rows = list(held.rows[: most or None]) if held is not None else []
        found = [(read(row), self.proofs.known.get(row.id, "")) for row in rows]
        return [Told(delivery, outcome) for delivery, outcome in found if delivery is not None]


def row_of(
    each: Session, about: titles.About, outcomes: Mapping[str, int], clients: Mapping[int, str], now: float
) -> SessionRow:
    """Return the row of a session. `clients`: as `serving.served` returns them."""
    return SessionRow(
        each.id,
        each.project,
        each.slug,
        each.cwd,
        each.mode,
        session_kind(each.entrypoint),
        serving.live(each.id, each.client, clients),
        *about,
        clock.parse(each.started),
        _last(each, now),
        each.deliveries,
        each.uses,
        each.chars,
        round(each.ms),
        outcomes,
        recalls=each.recalls,
    )


def _last(session: Session, now: float) -> float | None:
    """Return when a session was active last: its transcript may have grown since its newest delivery."""
    logged = clock.parse(session.last)
    stamp = _stamp(session.transcript)
    changed = None if stamp is None else min(stamp[0] / 1e9, now)
    return max(filter(None, (logged, changed)), default=None)


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
