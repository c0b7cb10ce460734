"""The list of sessions of command line and TUI: live or past, what each is about, what it was told and whether that
arrived. The log is counted once and then followed; titles and receipts are looked up a few sessions at a time."""

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from memtui.core.base import clock, paths
from memtui.core.client import serving, titles, transcript
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries.memory_counts import RecallCounts
from memtui.core.deliveries.reading import KEPT, Proof, Receipts, proof, read
from memtui.core.deliveries.receipt_counts import ReceiptCounts
from memtui.core.deliveries.record import CHARS_A_TOKEN, Delivery, session_kind
from memtui.core.deliveries.sessions import Session, states

if TYPE_CHECKING:
    from memtui.core.deliveries.log import Place

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
