"""The sessions that memtui served: what their state files say, and what the delivery log tells of them."""

import os
from collections.abc import Iterable, Iterator

from memtui.core.base import fastjson, fs
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries.record import Record, items_of, text_of

# A model's token is about four characters of English.
CHARS_A_TOKEN = 4
PARTS = (".cursor.json", ".index.json", ".missed.json", ".stopped.json", ".tip.json")
STATE_BYTES = 1 << 20


class Session:
    """A session by its id: what its state file says, and what its records of the delivery log add up to, noted newest
    first."""

    def __init__(self, name: str) -> None:
        self.id = name
        self.state: Record = {}
        self.newest: Record = {}
        self.last = ""  # when it was heard of last, as the log writes times
        self.deliveries = 0
        self.uses = 0
        self.sums = {"deliveries": 0, "characters": 0, "tokens": 0, "ms": 0}
        self._ms = 0.0

    def begin(self, state: Record) -> None:
        """Take in what its state file says."""
        self.state = state
        self.last = max(self.last, text_of(state, "started"))

    def note(self, record: Record) -> None:
        """Take in a record of the log."""
        if not self.newest:
            self.newest = {key: record[key] for key in ("project_root", "project", "cwd", "mode") if key in record}
        self.last = max(self.last, text_of(record, "time"))
        count, lasted = record.get("chars"), record.get("ms")
        length = count if isinstance(count, int) else len(text_of(record, "text"))
        self.uses += sum(item.get("kind") == "use" for item in items_of(record))
        if record.get("text") or length:
            self.deliveries += 1
            self._ms += lasted if isinstance(lasted, (int, float)) else 0.0
            chars = self.sums["characters"] + length
            self.sums = {
                "deliveries": self.deliveries,
                "characters": chars,
                "tokens": chars // CHARS_A_TOKEN,
                "ms": round(self._ms),
            }

    @property
    def project(self) -> str:
        """Its project's root, or the project's slug."""
        for found in (self.state, self.newest):
            if text_of(found, "project_root") or text_of(found, "project"):
                return text_of(found, "project_root") or text_of(found, "project")
        return ""

    def slug(self) -> str:
        """Its project's slug."""
        return text_of(self.state, "project") or text_of(self.newest, "project")

    def data(self) -> Record:
        """The session for --json."""
        return {
            "id": self.id,
            "project": self.project,
            "cwd": text_of(self.state, "cwd") or text_of(self.newest, "cwd"),
            "mode": text_of(self.state, "mode") or text_of(self.newest, "mode"),
            "started": text_of(self.state, "started") or None,
            "last": self.last or None,
            "deliveries": self.deliveries,
            "uses": self.uses,
        }


def states(root: str) -> "dict[str, Session]":
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
        found[key] = Session(key)
        found[key].begin(state)
    return found


def collect(root: str, records: "Iterable[Record]") -> "list[Session]":
    """All sessions, the one heard of last first. `records`: of the delivery log, newest first; they are not kept."""
    found = states(root)
    for record in records:
        key = text_of(record, "session_id")
        if key:
            found.setdefault(key, Session(key)).note(record)
    return sorted(found.values(), key=lambda each: each.last, reverse=True)


def fits(name: str, ref: str) -> bool:
    """Whether a reference may mean a session: its id, or a beginning or end of it."""
    return name.lower().startswith(ref.lower()) or name.lower().endswith(ref.lower())


def told(root: str, ref: str) -> "Iterator[Record]":
    """The records of the sessions that a reference may mean, newest first: as it is written, else in whatever case."""
    for fold in (False, True):
        found = False
        needle = (ref.lower() if fold else ref).encode("utf-8", "replace")
        for record in delivery_log.newest_first(root, needle=needle, fold=fold):
            if fits(text_of(record, "session_id"), ref):
                found = True
                yield record
        if found or not ref.isascii() or ref == ref.swapcase():
            return
