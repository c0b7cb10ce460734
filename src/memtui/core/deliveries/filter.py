"""The filter of deliveries, for the command line and the TUI."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

from memtui.core.base import paths
from memtui.core.deliveries import log as delivery_log
from memtui.core.deliveries import receipts
from memtui.core.deliveries.earlier import NOTHING_MOVED, EarlierPlaces, stem
from memtui.core.deliveries.record import BRING_NOTHING, USE, Delivery

# The word for all outcomes of deliveries that did not arrive.
LOST = "lost"
FIELDS = ("session", "project", "kind", "memory", "outcome", "text")
# So much of a session's id stands in a row.
SESSION_SHOWN = 4
# The characters that JSON does not escape, so that a line of the log can be searched for them before it is parsed.
PLAIN = "a-zA-Z0-9_. -"


@dataclass(frozen=True)
class Filter:
    """What a delivery must match; an empty field matches everything. `session` is the beginning of an id, `project` a
    key, a slug, a name or the path of its root, `memory` a path or a name, `text` some words in any order and case;
    `outcome` is one of receipts.py, or LOST for all that did not arrive; `since` and `until` are seconds since the
    epoch. `order` names the fields in the order of setting. `labels`: the words that a list has for events and kinds.
    With them `text` is sought in all that a row says: also the name of the project, the beginning of the session, the
    event, and what was brought."""

    session: str = ""
    project: str = ""
    kind: str = ""
    memory: str = ""
    outcome: str = ""
    text: str = ""
    since: float | None = None
    until: float | None = None
    order: tuple[str, ...] = field(default=(), compare=False)
    labels: Mapping[str, str] | None = field(default=None, compare=False)

    @property
    def outcomes(self) -> tuple[str, ...]:
        """The outcomes that it lets through; empty for all."""
        return receipts.LOST if self.outcome == LOST else (self.outcome,) if self.outcome else ()

    @classmethod
    def of(cls, words: Mapping[str, object]) -> "Filter":
        """Return the filter of some fields and their values, in that order; names of no field are ignored."""
        return cls().but(**{name: value for name, value in words.items() if name in FIELDS and isinstance(value, str)})

    def __bool__(self) -> bool:
        """Whether any field is set."""
        return any(getattr(self, other.name) not in {"", None} for other in fields(self) if other.compare)

    def words(self) -> list[tuple[str, str]]:
        """Return (field, value) of the text fields that are set, the one that was set last at the end."""
        names = sorted(FIELDS, key=lambda name: self.order.index(name) if name in self.order else -1)
        pairs = [(name, str(getattr(self, name))) for name in names]
        return [(name, value) for name, value in pairs if value]

    def but(self, **fields: str) -> "Filter":
        """Return the filter with other values of some fields."""
        order = [name for name in self.order if name not in fields]
        values: dict[str, Any] = {**fields, "order": (*order, *(name for name, value in fields.items() if value))}
        return replace(self, **values)

    def needle(self, earlier: EarlierPlaces = NOTHING_MOVED) -> tuple[bytes, bool]:
        """Return the longest word that the log's line of each matching delivery holds, and whether case is ignored.
        `earlier` as for `matches`."""
        words = [self.session, f'"{self.kind}"' if self.kind else "", paths.slug_of(self.project)]
        stems = {name for other in _names(self.memory) for name in earlier.names(earlier.latest(other))}
        words += stems if len(stems) == 1 else []
        # Split before case is folded: of “ß” that would make two plain letters, which the line may not have.
        # A word that is part of a label of ours need not be in the log.
        labels = " ".join((self.labels or {}).values())
        logged = [word for word in self.text.split() if word.casefold() not in labels]
        words += re.split(rf"[^{PLAIN}]+|\s+", " ".join(logged))
        fit = [word for word in words if re.fullmatch(rf'"?[{PLAIN}]*"?', word)]
        longest = max(fit, key=len, default="").encode()
        return (longest.lower(), True) if self.text else (longest, False)

    def matches(self, delivery: Delivery, earlier: EarlierPlaces = NOTHING_MOVED) -> bool:
        """Whether a delivery matches all fields but `outcome`, which takes its receipt. Uses of memories match only if
        the filter names a kind or a memory. A path of `memory` stands for the memory that is there now, or was there
        last, also for what it got under another name (`earlier`)."""
        kinds = {item.kind for item in delivery.items}
        with_uses = self.kind or self.memory or self.outcome == receipts.NOTHING
        if not with_uses and kinds and kinds <= BRING_NOTHING:
            return False
        if self.text:
            text = self._searched(delivery).casefold()
            if not all(word in text for word in self.text.casefold().split()):
                return False
        return (
            delivery.session.startswith(self.session)
            and (not self.project or self.project in _names_of_project(delivery))
            and (not self.kind or self.kind in kinds)
            and (not self.memory or self._names_memory(delivery, earlier))
            and (self.since is None or delivery.time >= self.since)
            and (self.until is None or delivery.time < self.until)
        )

    def _searched(self, delivery: Delivery) -> str:
        if self.labels is None:
            return delivery.text
        brought = [item for item in delivery.items if not item.left_out]
        labels = {self.labels.get(label, label) for label in (delivery.event, *(item.kind for item in brought))}
        uses = [f"{item.action} {item.id}" for item in brought if item.kind == USE]
        return " ".join((delivery.text, delivery.session[:SESSION_SHOWN], _last(delivery.root), *labels, *uses))

    def _names_memory(self, delivery: Delivery, earlier: EarlierPlaces) -> bool:
        names = _names(self.memory)
        if "/" in self.memory:
            names = frozenset(map(earlier.latest, names))
            return any(earlier.now(item.path, delivery.time) in names for item in delivery.items if item.names_memory)
        return any(
            not names.isdisjoint({item.id, stem(item.path), stem(earlier.now(item.path, delivery.time))})
            for item in delivery.items
            if item.names_memory
        )

    def ended(self, delivery: Delivery) -> bool:
        """Whether all deliveries before this one in the log are older than `since`, even if a clock was put back."""
        return self.since is not None and delivery.time < self.since - delivery_log.CLOCK_SECONDS


def _names_of_project(delivery: Delivery) -> set[str]:
    return {delivery.project, paths.slug_of(delivery.project), delivery.project_root, _last(delivery.project_root)}


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


@lru_cache(64)
def _names(memory: str) -> frozenset[str]:
    """Return the paths or the name by which the log may name a memory."""
    return frozenset({memory, os.path.realpath(memory)} if "/" in memory else {memory} - {""})
