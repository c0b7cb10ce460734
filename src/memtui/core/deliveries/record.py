"""A delivery and its items, as parsed from a record of the log."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from memtui.core.base import clock, paths
from memtui.core.client import process
from memtui.core.deliveries.titles import titles

if TYPE_CHECKING:
    from memtui.core.deliveries.log import Place

Record = dict[str, object]
# The kinds of items that bring a memory's line or text. Two bring nothing: `use`, the agent opened or wrote the memory;
# `corrected`, a person corrected the agent in what a memory says that the session had been given.
RECALL = "recall"
MEMORY_KINDS = frozenset({"index", "memory", RECALL})
USE, CORRECTED = "use", "corrected"
BRING_NOTHING = frozenset({USE, CORRECTED})
# A model's token is about four characters of English.
CHARS_A_TOKEN = 4
# So many items of a delivery are named where there is one line for all.
TITLES = 4
# The keys of an item that has a score.
SCORED = frozenset({"score", "scores", "probability"})
# The reason of an item that tells the session that a memory has gone.
GONE = "gone in this session"


def _text(found: Mapping[str, object], key: str) -> str:
    value = found.get(key)
    return value if isinstance(value, str) else ""


def _number(found: Mapping[str, object], key: str) -> float | None:
    value = found.get(key)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def project_of(found: Mapping[str, object]) -> str:
    """Return the key of the project of a record, or of the state of a session: by its root, since older versions wrote
    the slug; what is written, where no root is."""
    root, project = _text(found, "project_root"), _text(found, "project")
    return project if "." in project or not root else _key(root)


_key = lru_cache(256)(paths.project_key)


def _scores(found: Mapping[str, object]) -> tuple[tuple[str, float], ...]:
    parts = found.get("scores")
    scores = {"": _number(found, "probability" if "probability" in found else "score")}
    scores |= {key: _number(parts, key) for key in parts} if isinstance(parts, dict) else {}
    return tuple((key, value) for key, value in scores.items() if value is not None)


# Not frozen: a frozen one takes three times as long to make, and a log holds hundreds of thousands.
@dataclass(slots=True)
class Item:
    """One thing that a delivery brought or left out. `left_out`: why, or empty; `count`: how many things left out the
    item represents. `scores`: its score, or its probability, under "", and the parts of the score."""

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
        """Parse an item of the log."""
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
            _scores(found) if not SCORED.isdisjoint(found) else (),
        )

    @property
    def names_memory(self) -> bool:
        """Whether it brought a memory, or tells what came of one."""
        return not self.left_out and (self.kind in MEMORY_KINDS or self.kind in BRING_NOTHING)


class ItemCounts(NamedTuple):
    """The numbers of a delivery's items, by kind and left out. `used`: of a use, what was done to which memory.
    `titles`: those of its first items (titles.py)."""

    counts: tuple[tuple[str, int], ...]
    left_out: int
    used: tuple[str, str] = ("", "")
    titles: tuple[str, ...] = ()


@dataclass(slots=True)
class Delivery:
    """A record of the delivery log: a text put before the model, or a use of a memory.

    `record`: as the log has it; `place`: where. `logged`: the time as written. `session`: an id; `project`: the key of
    the project (`project_of`); `chars`: UTF-16 code units, also of a text that the log no longer keeps (`folded`,
    folding.py); `ms`: how long the hook took; `recovered`: whether a worker logged it.
    """

    record: Record
    place: "Place | None"
    id: str
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
    _items: tuple[Item, ...] | None = None
    _time: float | None = None

    @classmethod
    def of(cls, record: Record, place: "Place | None" = None) -> "Delivery":
        """Parse a record."""
        text, chars = _text(record, "text"), _number(record, "chars")
        return cls(
            record,
            place,
            _text(record, "id"),
            _text(record, "time"),
            sys.intern(_text(record, "event")),
            _text(record, "tool"),
            sys.intern(_text(record, "session_id")),
            _text(record, "agent"),
            _text(record, "agent_id"),
            project_of(record),
            _text(record, "project_root"),
            _text(record, "cwd"),
            _text(record, "mode"),
            _text(record, "entrypoint"),
            text,
            int(chars or 0) or len(text),
            _number(record, "ms"),
            record.get("folded") is True and not text,
            bool(record.get("recovered")),
        )

    @property
    def items(self) -> tuple[Item, ...]:
        """What it brought or left out, parsed when it is asked for first: sums of a long log do without."""
        if self._items is None:
            self._items = tuple(Item.of(item) for item in _dicts(self.record))
        return self._items

    @property
    def time(self) -> float:
        """When it was logged, in seconds since the epoch, 0.0 for no time; parsed as `items` is."""
        if self._time is None:
            self._time = clock.parse(self.record.get("time")) or 0.0
        return self._time

    @property
    def uses(self) -> int:
        """How many uses of memories it records."""
        return sum(item.get("kind") == USE for item in _dicts(self.record))

    @property
    def tells_recall(self) -> bool:
        """Whether any item tells that a memory was recalled, or what came of one."""
        kinds = {item.get("kind") for item in _dicts(self.record)}
        return RECALL in kinds or not kinds.isdisjoint(BRING_NOTHING)

    @property
    def injected(self) -> bool:
        """Whether anything was put before the model."""
        return self.chars > 0

    @property
    def root(self) -> str:
        """The path of its project's root, else the project's key."""
        return sys.intern(self.project_root or self.project)

    @property
    def contents(self) -> ItemCounts:
        """The numbers of its items, and the titles of the first."""
        counts: dict[str, int] = {}
        left_out = 0
        first = [item for item in self.items[:TITLES] if not item.left_out]
        for item in self.items:
            if item.left_out:
                left_out += 1 if item.count is None else item.count
            else:
                counts[item.kind] = counts.get(item.kind, 0) + 1
        used = next(((item.action, item.id) for item in self.items if item.kind == USE), ("", ""))
        return ItemCounts(tuple(counts.items()), left_out, used, tuple(filter(None, titles(self.text, first))))


def _dicts(record: Record) -> list[Record]:
    found = record.get("items")
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def session_kind(entrypoint: str) -> str:
    """Return who holds a session, by its entry point: `person`, `script` (`claude -p`, the SDK), else that itself."""
    return "person" if entrypoint in process.PERSONAL else "script" if entrypoint.startswith("sdk") else entrypoint
