"""The delivery log as the screens hold it: a short row a delivery, its text left in the log until it is looked at.

A log of any length opens at once: rows are read backwards a page at a time, and no more than `KEPT` of them are held.
"""

import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from memtui.core.base import clock
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries import receipts
from memtui.core.deliveries.record import Record, items_of, text_of, what

if TYPE_CHECKING:
    from memtui.core.deliveries.log import Place

PAGE = 200
KEPT = 20_000
VIEWS = 64
# A transcript that is not there yet may still come.
YOUNG_SECONDS = 300.0
PROOF = ("id", "time", "event", "session_id", "transcript", "agent_id", "tool_use_id", "recovered")
PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_. ")


@dataclass(frozen=True, slots=True)
class Told:
    """A delivery, or a use of a memory, without its text. `names` are the ids, `files` the paths of its items."""

    id: str
    place: "Place"
    time: float
    event: str
    session: str
    project: str
    kinds: tuple[str, ...]
    names: tuple[str, ...]
    files: tuple[str, ...]
    what: str
    chars: int
    ms: float | None
    proof: Record

    @property
    def injected(self) -> bool:
        """Whether anything was put before the model."""
        return self.chars > 0


def told(record: Record, place: "Place") -> Told:
    """The row of a record."""
    items = items_of(record)
    text = text_of(record, "text")
    chars, ms = record.get("chars"), record.get("ms")
    count = chars if isinstance(chars, int) and not isinstance(chars, bool) else len(text)
    proof: Record = {key: record[key] for key in PROOF if key in record}
    proof["chars"] = count or len(text)
    for key in ("event", "session_id", "transcript"):
        proof[key] = sys.intern(text_of(record, key))
    return Told(
        text_of(record, "id"),
        place,
        clock.parse(record.get("time")) or 0.0,
        sys.intern(text_of(record, "event")),
        sys.intern(text_of(record, "session_id")),
        sys.intern(project_of(record)),
        tuple(dict.fromkeys(sys.intern(str(item.get("kind"))) for item in items)),
        tuple(sys.intern(str(item.get("id"))) for item in items),
        tuple(sys.intern(str(item["path"])) for item in items if isinstance(item.get("path"), str)),
        sys.intern(what(record)),
        count or len(text),
        float(ms) if isinstance(ms, (int, float)) else None,
        proof,
    )


def project_of(record: Record) -> str:
    """A project's name: the last part of its root's path, else the end of its slug."""
    return text_of(record, "project_root").rstrip("/").rpartition("/")[2] or text_of(record, "project")[-20:]


FIELDS = ("session", "project", "kind", "memory", "outcome", "text")


@dataclass(frozen=True)
class Filter:
    """What is wanted; empty fields want everything. `memory` is a path or an id, `text` some words in any order;
    `order` names the fields as they were set."""

    session: str = ""
    project: str = ""
    kind: str = ""
    memory: str = ""
    outcome: str = ""
    text: str = ""
    order: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, words: Mapping[str, object]) -> "Filter":
        """A filter from (field, what is wanted), in that order; what is no such field is passed over."""
        return cls().but(**{name: value for name, value in words.items() if name in FIELDS and isinstance(value, str)})

    def words(self) -> list[tuple[str, str]]:
        """(field, what is wanted) of the fields that are set, the one that was set last at the end."""
        named = sorted(FIELDS, key=lambda name: self.order.index(name) if name in self.order else -1)
        pairs = [(name, str(getattr(self, name))) for name in named]
        return [(name, value) for name, value in pairs if value]

    def but(self, **fields: str) -> "Filter":
        """The same with other fields."""
        kept = [name for name in self.order if name not in fields]
        given: dict[str, Any] = {**fields, "order": (*kept, *(name for name, value in fields.items() if value))}
        return replace(self, **given)

    def may_fit(self, line: bytes) -> bool:
        """Whether a line is worth parsing."""
        for wanted in (self.session, self.memory.rpartition("/")[2]):
            data = wanted.encode("utf-8", "replace")
            if data and PLAIN.issuperset(data) and data not in line:
                return False
        if self.text:
            low = line.lower()
            for word in self.text.lower().split():
                data = word.encode("utf-8", "replace")
                if PLAIN.issuperset(data) and data not in low:
                    return False
        return True

    def fits(self, row: Told, record: Record) -> bool:
        """Whether a row is wanted, as far as it can be told without its receipt."""
        asked = self.kind or self.memory or self.outcome == receipts.NOTHING
        if not asked and row.kinds == ("use",):
            return False
        if self.text:
            text = text_of(record, "text").casefold()
            if not all(word in text for word in self.text.casefold().split()):
                return False
        return (
            (not self.session or row.session == self.session)
            and (not self.project or row.project == self.project)
            and (not self.kind or self.kind in row.kinds)
            and (not self.memory or self.memory in row.files or self.memory in row.names)
        )


class Receipts:
    """What became of deliveries: looked up once, again while it may still change. Thread-safe."""

    def __init__(self, env: dict[str, str], now: Callable[[], float]) -> None:
        self.env = env
        self.now = now
        self.known: dict[str, str] = {}
        self._views: dict[str, receipts.TranscriptView] = {}
        self._lock = threading.Lock()

    def open(self, row: Told) -> bool:
        """Whether a row's outcome is not known for good."""
        found = self.known.get(row.id)
        if found is None or found == receipts.WAITING:
            return True
        return found == receipts.UNKNOWN and self.now() - row.time < YOUNG_SECONDS

    def look(self, rows: Iterable[Told]) -> bool:
        """Look up those that are open; whether anything is told differently now."""
        with self._lock:
            asked = [row.proof for row in rows if self.open(row)]
            found = receipts.outcomes(asked, self.env, self.now(), self._views)
            changed = any(self.known.get(name) != outcome for name, outcome in found.items())
            self.known.update(found)
            while len(self._views) > VIEWS:
                del self._views[next(iter(self._views))]
            return changed


class Reading:
    """The rows that fit a filter, newest first, as far as they have been read. Called from one worker at a time."""

    def __init__(self, root: str, wanted: Filter, proofs: Receipts) -> None:
        self.root = root
        self.wanted = wanted
        self.proofs = proofs
        self.rows: list[Told] = []
        self.done = False
        self.skipped = 0
        self._ends = self._below = delivery_log.ends(
            root
        )  # what was read lies between: below is older, behind it newer
        self._lock = threading.Lock()

    @property
    def full(self) -> bool:
        """Whether no more rows are held than these."""
        return len(self.rows) >= KEPT

    def _row(self, place: "Place", line: bytes) -> Told | None:
        if not self.wanted.may_fit(line):
            return None
        record = delivery_log.parse(line)
        if record is None:
            self.skipped += 1
            return None
        row = told(record, place)
        if not self.wanted.fits(row, record):
            return None
        if self.wanted.outcome:
            self.proofs.look([row])
            if self.proofs.known.get(row.id) != self.wanted.outcome:
                return None
        return row

    def more(self, count: int, go: Callable[[int], bool]) -> None:
        """Read on until `count` more rows fit. `go(lines read)` is asked now and then whether to go on."""
        with self._lock:
            found: list[Told] = []
            wanted = min(count, KEPT - len(self.rows))
            last: Place | None = None
            for number, (place, line) in enumerate(delivery_log.lines(self.root, self._below), 1):
                if len(found) >= wanted:
                    break
                last = place
                row = self._row(place, line)
                if row is not None:
                    found.append(row)
                if number % 500 == 0 and not go(number):
                    break
            else:
                self.done = True
            if last is not None:
                self._below = delivery_log.before(self._below, last)
            self.rows = [*self.rows, *found]

    def fresh(self) -> list[Told] | None:
        """The rows that were appended since, put on top; None if the log was cut and must be read anew."""
        with self._lock:
            got = delivery_log.appended(self.root, self._ends)
            if got is None:
                return None
            lines, self._ends = got
            found = [row for place, line in lines if (row := self._row(place, line)) is not None]
            found.reverse()
            if found:
                self.rows = [*found, *self.rows]
            return found
