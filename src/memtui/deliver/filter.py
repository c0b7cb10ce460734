"""The filter of deliveries, for the command line and the TUI."""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from memtui.base import paths_hot
from memtui.deliver import log_hot, receipts_hot
from memtui.deliver.record import BRING_NOTHING, USE, Delivery, stem

# The word for all outcomes of deliveries that did not arrive.
LOST = "lost"
# Ids in a delivered text, which nobody reads; and how many of its first characters find one.
ID, ID_LEAST = re.compile(r"\b(?:[0-9A-HJKMNP-TV-Z]{26}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b"), 6
# The characters that JSON does not escape, so that a line of the log can be searched for them before it is parsed.
PLAIN = "a-zA-Z0-9_. -"


@dataclass(frozen=True)
class Filter:
    """What a delivery must match; an empty field matches everything. `session` is the beginning of an id, `project` a
    key, a slug, a name or the path of its root, `memory` a path or a name, `text` some words in any order and case;
    `outcome` is one of receipts_hot.py, or LOST for all that did not arrive; `since` is in seconds since the epoch.
    `labels`: the words that a list has for events and kinds. With them `text` is sought in all that a row says: also
    the name of the project, the event, what was brought, and LOST; and ids by their beginning."""

    session: str = ""
    project: str = ""
    kind: str = ""
    memory: str = ""
    outcome: str = ""
    text: str = ""
    since: float | None = None
    labels: Mapping[str, str] | None = field(default=None, compare=False)

    @property
    def outcomes(self) -> tuple[str, ...]:
        """The outcomes that it lets through; empty for all."""
        return receipts_hot.LOST if self.outcome == LOST else (self.outcome,) if self.outcome else ()

    def __bool__(self) -> bool:
        return self != Filter()

    def but(self, **fields: Any) -> "Filter":
        return replace(self, **fields)

    def needle(self) -> tuple[bytes, bool]:
        """Return the longest word that the line of each matching delivery holds, and whether case is ignored."""
        words = [self.session, f'"{self.kind}"' if self.kind else "", paths_hot.slug_of(self.project)]
        stems = set(map(stem, _names(self.memory)))
        words += stems if len(stems) == 1 else []
        # Split before case is folded, which makes two letters of “ß”. A word of our labels need not be in the log.
        labels = " ".join((self.labels or {}).values())
        logged = [word for word in self.text.split() if word.casefold() not in labels]
        words += re.split(rf"[^{PLAIN}]+|\s+", " ".join(logged))
        fit = [word for word in words if re.fullmatch(rf'"?[{PLAIN}]*"?', word)]
        longest = max(fit, key=len, default="").encode()
        return (longest.lower(), True) if self.text else (longest, False)

    def matches(self, delivery: Delivery, outcome: Callable[[Delivery], str] = lambda _: "") -> bool:
        """Tell whether a delivery matches all but the outcome; uses of memories only if a kind or memory is named."""
        kinds = {item.kind for item in delivery.items}
        with_uses = self.kind or self.memory or self.outcome == receipts_hot.NOTHING
        if not with_uses and kinds and kinds <= BRING_NOTHING:
            return False
        if self.text and not self._has_words(delivery, outcome):
            return False
        return (
            delivery.session.startswith(self.session)
            and (not self.project or self.project in _names_of_project(delivery))
            and (not self.kind or self.kind in kinds)
            and (not self.memory or self._names_memory(delivery))
            and (self.since is None or delivery.time >= self.since)
        )

    def _has_words(self, delivery: Delivery, outcome: Callable[[Delivery], str]) -> bool:
        words = {*self.text.casefold().split()}
        if self.labels is None:
            return all(word in delivery.text.casefold() for word in words)
        text = ID.sub("", self._searched(delivery, self.labels)).casefold()
        ids = (delivery.session, delivery.id, *(item.id for item in delivery.items))
        starts = {name[:end].casefold() for name in ids for end in range(ID_LEAST, len(name) + 1)}
        unsaid = {word for word in words if word not in text} - starts
        return not unsaid or (unsaid == {LOST} and outcome(delivery) in receipts_hot.LOST)

    def _searched(self, delivery: Delivery, words: Mapping[str, str]) -> str:
        brought = [item for item in delivery.items if not item.left_out]
        labels = {words.get(label, label) for label in (delivery.event, *(item.kind for item in brought))}
        uses = [f"{item.action} {item.id}" for item in brought if item.kind == USE]
        return " ".join((delivery.text, _last(delivery.root), *labels, *uses))

    def _names_memory(self, delivery: Delivery) -> bool:
        names, items = _names(self.memory), [item for item in delivery.items if item.names_memory]
        if "/" in self.memory:
            return any(item.path in names for item in items)
        return any(not names.isdisjoint({item.id, stem(item.path)}) for item in items)

    def ended(self, delivery: Delivery) -> bool:
        """Whether all deliveries before this one in the log are older than `since`, even if a clock was put back."""
        return self.since is not None and delivery.time < self.since - log_hot.CLOCK_SECONDS


def _names_of_project(delivery: Delivery) -> set[str]:
    return {delivery.project, paths_hot.slug_of(delivery.project), delivery.project_root, _last(delivery.project_root)}


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


@lru_cache(64)
def _names(memory: str) -> frozenset[str]:
    """Return the paths or the name by which the log may name a memory."""
    return frozenset({memory, os.path.realpath(memory)} if "/" in memory else {memory} - {""})
