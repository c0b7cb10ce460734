"""A delivery: a record of the log, parsed once."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from memtui.core.base import clock
from memtui.core.client import process

if TYPE_CHECKING:
    from memtui.core.deliveries.log import Place

Record = dict[str, object]
# Where an item of a delivery is about a memory; `use`: the agent opened or wrote it.
MEMORY_KINDS = frozenset({"index", "memory"})
USE = "use"
# A hook says by this that a memory which it had told of is there no more.
GONE = "gone in this session"


def _text(found: Mapping[str, object], key: str) -> str:
    value = found.get(key)
    return value if isinstance(value, str) else ""


def _number(found: Mapping[str, object], key: str) -> float | None:
    value = found.get(key)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _scores(found: Mapping[str, object]) -> tuple[tuple[str, float], ...]:
    parts = found.get("scores")
    scores = {"": _number(found, "score")}
    scores |= {key: _number(parts, key) for key in parts} if isinstance(parts, dict) else {}
    return tuple((key, value) for key, value in scores.items() if value is not None)


# Not frozen: a frozen one takes three times as long to make, and a log holds hundreds of thousands.
@dataclass(slots=True)
class Item:
    """One thing that a delivery brought, or that it had no room for: `left_out` says why, and `count` how many such an
    item stands for. `scores`: its score, under "", and the parts of it."""

    kind: str
    id: str
    scope: str
    path: str
    reason: str
    action: str
    left_out: str
    count: int | None
    chars: int | None
    scores: tuple[tuple[str, float], ...]

    @classmethod
    def of(cls, found: Mapping[str, object]) -> "Item":
        """An item as the log has it."""
        count, chars = _number(found, "count"), _number(found, "chars")
        return cls(
            _text(found, "kind") or "?",
            _text(found, "id"),
            _text(found, "scope"),
            _text(found, "path"),
            _text(found, "reason"),
            _text(found, "action"),
            str(found.get("left_out") or ""),
            None if count is None else int(count),
            None if chars is None else int(chars),
            _scores(found) if "score" in found or "scores" in found else (),
        )

    @property
    def names_memory(self) -> bool:
        """Whether it brought a memory, or a use of one."""
        return not self.left_out and (self.kind == USE or self.kind in MEMORY_KINDS)


class Contents(NamedTuple):
    """How many of each kind a delivery brought, how many were left out; of a use what was done to which memory."""

    counts: tuple[tuple[str, int], ...]
    left_out: int
    used: tuple[str, str] = ("", "")


@dataclass(slots=True)
class Delivery:
    """A record of the delivery log: what was put before the model, or a use of a memory.

    `record` is as the log has it, `place` where. `time`: seconds since the epoch, 0.0 for none; `logged`: the same as
    written. `session` and `project` are an id and a slug; `chars` are UTF-16 code units, also of a text that is not
    kept any more (`folded`, folding.py); `ms` is how long the hook took. `recovered`: a worker logged it.
    """

    record: Record
    place: "Place | None"
    id: str
    time: float
    logged: str
    event: str
    tool: str
    session: str
    agent: str
    agent_id: str
    project: str
    project_root: str
    cwd: str
    mode: str
    entrypoint: str
    text: str
    chars: int
    ms: float | None
    folded: bool
    recovered: bool
    items: tuple[Item, ...]

    @classmethod
    def of(cls, record: Record, place: "Place | None" = None) -> "Delivery":
        """The delivery of a record."""
        items, text, chars = record.get("items"), _text(record, "text"), _number(record, "chars")
        return cls(
            record,
            place,
            _text(record, "id"),
            clock.parse(record.get("time")) or 0.0,
            _text(record, "time"),
            sys.intern(_text(record, "event")),
            _text(record, "tool"),
            sys.intern(_text(record, "session_id")),
            _text(record, "agent"),
            _text(record, "agent_id"),
            _text(record, "project"),
            _text(record, "project_root"),
            _text(record, "cwd"),
            _text(record, "mode"),
            _text(record, "entrypoint"),
            text,
            int(chars or 0) or len(text),
            _number(record, "ms"),
            record.get("folded") is True and not text,
            bool(record.get("recovered")),
            tuple(Item.of(item) for item in items if isinstance(item, dict)) if isinstance(items, list) else (),
        )

    @property
    def injected(self) -> bool:
        """Whether anything was put before the model."""
        return self.chars > 0

    @property
    def where(self) -> str:
        """The project's name: the last part of its root's path, else the end of its slug."""
        return sys.intern(self.project_root.rstrip("/").rpartition("/")[2] or self.project[-20:])

    @property
    def contents(self) -> Contents:
        """What it brought, counted."""
        counts: dict[str, int] = {}
        left = 0
        for item in self.items:
            if item.left_out:
                left += 1 if item.count is None else item.count
            else:
                counts[item.kind] = counts.get(item.kind, 0) + 1
        used = next(((item.action, item.id) for item in self.items if item.kind == USE), ("", ""))
        return Contents(tuple(counts.items()), left, used)


def session_kind(entrypoint: str) -> str:
    """Whose session an entry point stands for: `person`, `script` (`claude -p`, the SDK), or as the client calls it;
    empty where a record does not tell."""
    return "person" if entrypoint == process.PERSONAL else "script" if entrypoint.startswith("sdk") else entrypoint
