"""The sessions that memtui served: what their state files say, and what the delivery log tells of them."""

import os
from collections.abc import Iterable

from memtui.core import delivery, fastjson, fs
from memtui.core.told import Record, items_of, text_of

# A model's token is about four characters of English.
CHARS_A_TOKEN = 4
PARTS = (".cursor.json", ".index.json")


class Session:
    """A session by its id: what its state file says, and its records of the delivery log, newest first."""

    def __init__(self, name: str) -> None:
        self.id = name
        self.state: Record = {}
        self.records: list[Record] = []

    @property
    def last(self) -> str:
        """When it was heard of last, as the log writes times."""
        times = [text_of(record, "time") for record in self.records] + [text_of(self.state, "started")]
        return max(times)

    @property
    def project(self) -> str:
        """Its project's root, or the project's slug."""
        newest = self.records[0] if self.records else {}
        for found in (self.state, newest):
            if text_of(found, "project_root") or text_of(found, "project"):
                return text_of(found, "project_root") or text_of(found, "project")
        return ""

    def slug(self) -> str:
        """Its project's slug."""
        return text_of(self.state, "project") or (text_of(self.records[0], "project") if self.records else "")

    def data(self) -> Record:
        """The session for --json."""
        newest = self.records[0] if self.records else {}
        return {
            "id": self.id,
            "project": self.project,
            "cwd": text_of(self.state, "cwd") or text_of(newest, "cwd"),
            "mode": text_of(self.state, "mode") or text_of(newest, "mode"),
            "started": text_of(self.state, "started") or None,
            "last": self.last or None,
            "deliveries": sum(bool(record.get("text")) for record in self.records),
            "uses": sum(item.get("kind") == "use" for record in self.records for item in items_of(record)),
        }


def cost(records: "Iterable[Record]") -> "dict[str, int]":
    """What some records add up to: deliveries, characters, about how many tokens that is, and the milliseconds
    that the hooks took for them."""
    deliveries, chars, ms = 0, 0, 0.0
    for record in records:
        count, lasted = record.get("chars"), record.get("ms")
        length = count if isinstance(count, int) else len(text_of(record, "text"))
        if record.get("text") or length:
            deliveries += 1
            chars += length
            ms += lasted if isinstance(lasted, (int, float)) else 0.0
    return {"deliveries": deliveries, "characters": chars, "tokens": chars // CHARS_A_TOKEN, "ms": round(ms)}


def collect(root: str, records: "Iterable[Record] | None" = None) -> "list[Session]":
    """All sessions, the one heard of last first. `records`: of the delivery log, newest first, instead of all."""
    found: dict[str, Session] = {}
    try:
        names = os.listdir(root + "/sessions")
    except OSError:
        names = []
    for name in names:
        if not name.endswith(".json") or name.endswith(PARTS):
            continue
        try:
            state = fastjson.loads_dict(fs.read_bytes(f"{root}/sessions/{name}"))
        except OSError:
            continue
        key = name.removesuffix(".json")
        found.setdefault(key, Session(key)).state = state
    for record in delivery.newest_first(root) if records is None else records:
        key = text_of(record, "session_id")
        if key:
            found.setdefault(key, Session(key)).records.append(record)
    return sorted(found.values(), key=lambda each: each.last, reverse=True)
