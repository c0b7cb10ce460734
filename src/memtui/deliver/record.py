"""A delivery and its items, as parsed from a record of the log; and where the memories are now that a record names."""

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from memtui.base import clock_hot, short_ids, visible_hot
from memtui.base.fastjson_hot import text
from memtui.client import process_hot
from memtui.deliver import log_hot
from memtui.deliver.blocks_hot import TAGS, units

if TYPE_CHECKING:
    from memtui.deliver.log_hot import Place

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


def _number(record: Record, key: str) -> float | None:
    value = record.get(key)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _scores(record: Record) -> tuple[tuple[str, float], ...]:
    parts = record.get("scores")
    scores = {"": _number(record, "probability" if "probability" in record else "score")}
    scores |= {key: _number(parts, key) for key in parts} if isinstance(parts, dict) else {}
    return tuple((key, value) for key, value in scores.items() if value is not None)


class Item:
    """One thing that a delivery brought or left out. `left_out`: why, or empty; `count`: how many left out it stands
    for. `scores`: its score or probability under "", and the score's parts; `expires`: of a note, as it was written."""

    __slots__ = ("action", "chars", "count", "expires", "id", "kind", "left_out", "path", "reason", "scope", "scores")

    def __init__(self, record: Record) -> None:
        count, chars = _number(record, "count"), _number(record, "chars")
        self.kind = text(record, "kind") or "?"
        self.id = text(record, "id")
        self.scope = text(record, "scope")
        self.path = text(record, "path")
        self.reason = text(record, "reason")
        self.action = text(record, "action")
        self.left_out = str(record.get("left_out") or "")
        self.count = None if count is None else int(count)
        self.chars = None if chars is None else int(chars)
        self.scores = _scores(record) if not SCORED.isdisjoint(record) else ()
        self.expires = text(record, "expires")

    @property
    def names_memory(self) -> bool:
        return not self.left_out and (self.kind in MEMORY_KINDS or self.kind in BRING_NOTHING)


class ItemCounts(NamedTuple):
    """The numbers of a delivery's items. `used`: what was done to which memory; `titles`: of its first items."""

    counts: tuple[tuple[str, int], ...]
    left_out: int
    used: tuple[str, str] = ("", "")
    titles: tuple[str, ...] = ()


class Delivery:
    """A record of the delivery log: a text put before the model, or a use of a memory. `record`: as the log has it;
    `place`: where. `logged`: the time as written. `session`: an id; `project`: the key of the project (`project_of`);
    `root`: the path of its root, else the key; `chars`: UTF-16 code units, also of a text that the log no longer keeps
    (`folded`); `ms`: how long the hook took; `recovered`: whether a worker logged it."""

    __slots__ = (
        *("_items", "_time", "agent", "agent_id", "chars", "cwd", "entrypoint", "event", "folded", "id", "logged"),
        *("mode", "ms", "place", "project", "project_root", "record", "recovered", "root", "session", "text", "tool"),
    )

    def __init__(self, record: Record, place: "Place | None" = None) -> None:
        self.record, self.place = record, place
        self.id = text(record, "id")
        self.logged = text(record, "time")
        self.event = sys.intern(text(record, "event"))
        self.tool = text(record, "tool")
        self.session = sys.intern(text(record, "session_id"))
        self.agent = text(record, "agent")
        self.agent_id = text(record, "agent_id")
        self.project = text(record, "project")
        self.project_root = text(record, "project_root")
        self.root = self.project_root or self.project
        self.cwd = text(record, "cwd")
        self.mode = text(record, "mode")
        self.entrypoint = text(record, "entrypoint")
        self.text = text(record, "text")
        self.chars = int(_number(record, "chars") or 0) or len(self.text)
        self.ms = _number(record, "ms")
        self.folded = record.get("folded") is True and not self.text
        self.recovered = bool(record.get("recovered"))
        self._items: tuple[Item, ...] | None = None
        self._time: float | None = None

    @property
    def items(self) -> tuple[Item, ...]:
        """What it brought or left out, parsed when it is asked for first: sums of a long log do without."""
        if self._items is None:
            self._items = tuple(map(Item, log_hot.items(self.record)))
        return self._items

    @property
    def time(self) -> float:
        """When it was logged, in seconds since the epoch, 0.0 for no time; parsed as `items` is."""
        if self._time is None:
            self._time = clock_hot.parse(self.record.get("time")) or 0.0
        return self._time

    @property
    def uses(self) -> int:
        return sum(item.get("kind") == USE for item in log_hot.items(self.record))

    @property
    def tells_recall(self) -> bool:
        """Whether any item tells that a memory was recalled, or what came of one."""
        kinds = {item.get("kind") for item in log_hot.items(self.record)}
        return RECALL in kinds or not kinds.isdisjoint(BRING_NOTHING)

    @property
    def injected(self) -> bool:
        """Whether anything was put before the model."""
        return self.chars > 0

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
        last_use = next(((item.action, item.id) for item in self.items if item.kind == USE), ("", ""))
        return ItemCounts(tuple(counts.items()), left_out, last_use, tuple(filter(None, titles(self.text, first))))


def session_kind(entrypoint: str) -> str:
    """Return who holds a session, by its entry point: `person`, `script` (`claude -p`, the SDK), else that itself."""
    return "person" if entrypoint in process_hot.PERSONAL else "script" if entrypoint.startswith("sdk") else entrypoint


# Characters of a title.
LONGEST = 120
# What stands before the words of a draft or an item in a list: signs of a change, a bullet, the kind or the box; and
# behind those of an item: where it comes from.
BEFORE = re.compile(r"(?:[+-] )*(?:- )?(?:\[[^\]\n]*\] )?")
AFTER = re.compile(r" \((?:session [^()\n]*|hand-written|approved, rejected or withdrawn since)\)$")
SCOPE = re.compile(r' scope="([^"]*)"')


def guidance(text: str, note_id: str) -> tuple[str, str]:
    """Return the attributes and the text of a note in a delivered text; both empty if it is not there."""
    tag = TAGS["guidance"]
    head, _, rest = text.partition(f'<{tag} id="{visible_hot.attribute(note_id)}"')[2].partition(">\n")
    return head, rest.partition(f"\n</{tag}>")[0].partition("\n")[2]  # the first line names the sender


def titles(text: str, items: Iterable[Item]) -> list[str]:
    """Return the title of each item that a delivered text brought, in order; empty where the text does not show it."""
    lists = _Lists(text)
    names = []
    for item in items:
        if item.kind == "guidance":
            words = guidance(text, item.id)[1]
        elif item.kind in _Lists.KINDS:
            words = lists.take(item)
        else:
            words = item.id
        line = visible_hot.one_line(words.lstrip().partition("\n")[0])
        names.append(line if len(line) <= LONGEST else line[: LONGEST - 1].rstrip() + "…")
    return names


def _characters(text: str, size: int) -> int:
    count = size
    while (over := units(text[:count]) - size) > 0:
        count -= (over + 1) // 2
    return count


class _Lists:
    """The lists in a delivered text, from which the parts are taken in their order."""

    KINDS = ("pending-update", "pending-item")

    def __init__(self, text: str) -> None:
        self.text = text
        self._rest: dict[tuple[str, str], str] = {}
        self._read = False

    def take(self, item: Item) -> str:
        """Return the words of the next part of an item's list."""
        if not self._read:
            self._read = True
            for kind in self.KINDS:
                self._find(kind)
        rest = self._rest.get((item.kind, item.scope), "")
        size = _characters(rest, item.chars or 0)
        part, self._rest[item.kind, item.scope] = rest[:size], rest[size + 1 :]
        lines = part.split("\n")
        first = next((line for line in lines if line.startswith("+ ")), lines[0])
        return AFTER.sub("", BEFORE.sub("", first, count=1))

    def _find(self, kind: str) -> None:
        tag = TAGS[kind]
        for block in self.text.split(f"<{tag} ")[1:]:
            head, _, rest = block.partition(">\n")
            scope = SCOPE.search(" " + head)
            content = rest.partition(f"</{tag}>")[0].partition("\n")[2]  # the first line says what the list is
            self._rest[kind, scope[1] if scope else ""] = content


# How a reason of a delivered note begins, and the addressee that it names; then reasons that name none.
REASONS = {"for people": "people", "for agent ": "agent:", "a tool touched ": "path:"}
FOR_SESSION, URGENT = "for this session", "urgent"


@dataclass(frozen=True)
class Note:
    """A note that a delivery brought. `scope` is project or global."""

    delivery: Delivery
    id: str
    text: str
    sender: str
    scope: str
    reason: str
    expires: str = ""

    @property
    def fields(self) -> dict[str, str]:
        """For whom it was (`for`), whether it was `urgent`, as its reason tells, and when it `expires`."""
        fields, whom = {"expires": self.expires} if self.expires else {}, []
        for word in self.reason.split(", "):
            for begin, kind in REASONS.items():
                if word.startswith(begin):
                    whom.append(kind + word.removeprefix(begin))
        whom += [f"session:{self.delivery.session}"] if FOR_SESSION in self.reason.split(", ") else []
        if whom:
            fields["for"] = ", ".join(whom)
        if URGENT in self.reason.split(", "):
            fields["urgent"] = "yes"
        return fields


def find_note(root: str, ref: str) -> Note | None:
    """Find the newest delivery of the note that an id means, as `short_ids.match` reads and raises."""
    notes_by_id: dict[str, Note] = {}
    prefix = ref.lower()
    for record in log_hot.newest_first(root, needle=prefix.encode("utf-8", "replace"), fold=True):
        for note in notes_of(Delivery(record)):
            if short_ids.is_short_for(prefix.upper(), note.id):
                notes_by_id.setdefault(note.id, note)
        if any(name.lower() == prefix for name in notes_by_id) or len(notes_by_id) > short_ids.SEVERAL:
            break
    return notes_by_id[short_ids.match(ref, list(notes_by_id), "note")] if notes_by_id else None


def notes_of(delivery: Delivery) -> list[Note]:
    from html import unescape  # its table of entities costs the TUI's start 4 ms

    notes = []
    for item in delivery.items:
        if item.kind != "guidance" or item.left_out or not item.id:
            continue
        head, text = guidance(delivery.text, item.id)
        sender = unescape(head.partition(' from="')[2].partition('"')[0])
        notes.append(Note(delivery, item.id, text, sender, item.scope, item.reason, item.expires))
    return notes


def stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")
