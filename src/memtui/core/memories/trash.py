"""The trash: trashed memories, as the journal records them, and everything that a purge has to remove."""

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from memtui.core.base.errors import MemtuiError, NotFoundError
from memtui.core.journal.journal import Journal
from memtui.core.journal.ledger import Ledger, Transaction
from memtui.core.memories.memory import Memory, from_bytes
from memtui.core.memories.purging import PurgedWords
from memtui.core.memories.versions import Versions


@dataclass(frozen=True)
class TrashItem:
    """A trashed memory. `id` and `time` are those of the change that trashed it; `path` is where it was, in the scope
    `scope_label` with its `directory`."""

    id: str
    time: str
    path: str
    scope_label: str
    directory: str
    memory: Memory


def items(journal: Journal, ledger: Ledger) -> list[TrashItem]:
    """List the trash, newest first. Memories whose content is lost are left out."""
    found = []
    # In the journal's order: the ids of one millisecond are in no order.
    for each in reversed(ledger.all()):
        if each.id in ledger.trashed:
            with contextlib.suppress(NotFoundError):
                found.append(item(journal, ledger, each.id))
    return found


def item(journal: Journal, ledger: Ledger, key: str) -> TrashItem:
    """Return one item of the trash. Raises NotFoundError, MemtuiError if its content can't be read."""
    each = ledger.transactions.get(key)
    if each is None or key not in ledger.trashed:
        raise NotFoundError(f"{key} is not in the trash", "`memtui history` without an id lists what is.")
    row = deleted_row(each)
    label, directory = str(each.record.get("scope", "")), str(each.record.get("directory", ""))
    memory = from_bytes(row["path"], label, journal.contents.read(row["before"]))
    return TrashItem(key, each.time, row["path"], label, directory, memory)


def deleted_row(each: Transaction) -> dict[str, Any]:
    """Return the row of the change that removed the memory. Raises NotFoundError for a record without one."""
    for row in each.record["changes"]:
        if row.get("before") and row.get("after") is None and "was" not in row:
            found: dict[str, Any] = row
            return found
    raise NotFoundError(f"{each.id} is not a deletion")


class Purged(NamedTuple):
    """What purging a trash item removes: the contents with the digests `drop`; `gone` are the ids of the transactions
    that can no longer be undone, `paths` the real paths that the memory had, `words` what tells its text elsewhere.
    `left`: how many other changes keep a line of it, since their undo needs it."""

    drop: list[str]
    gone: list[str]
    paths: set[str]
    words: PurgedWords
    left: int


def to_purge(journal: Journal, versions: Versions, ledger: Ledger, key: str) -> Purged:
    """Return what purging a trash item removes. That is everything the journal has of the memory up to its deletion,
    under any name and in any scope it had, except for contents that other transactions share; what only tells where
    their lines were put is not spared."""
    group, places = _history(ledger, key)
    others = [t for t in ledger.all() if t.id not in group]
    shared = set(_digests(others))
    own = dict.fromkeys(_digests(ledger.transactions[each] for each in group))
    own |= dict.fromkeys(_digests((ledger.transactions[each] for each in group), ("anchor",)))
    own |= dict.fromkeys(_trusted_digests(ledger, places))
    words = _words(journal, versions, [ledger.transactions[each] for each in group], places)

    def tells(digest: str) -> bool:
        try:
            return words.within(journal.contents.read(digest).decode("utf-8", "replace"))
        except MemtuiError:
            return False

    own |= dict.fromkeys(digest for digest in dict.fromkeys(_digests(others, ("anchor",))) if tells(digest))
    left = sum(any(map(tells, _digests([t], ("removed", "added")))) for t in others if t.op != "purge")
    return Purged([digest for digest in own if digest not in shared], sorted(group), places, words, left)


def _words(journal: Journal, versions: Versions, group: list[Transaction], places: set[str]) -> PurgedWords:
    """Return what tells the words of a memory, by the contents that the journal and the versions have of it."""
    words = PurgedWords(places)
    rows = [row for each in group for row in each.record["changes"]]
    for take, keys, kind in (
        (words.add, ("before", "after"), "before"),
        (words.add_index, ("removed", "added"), "was"),
    ):
        for digest in {row[key] for row in rows if kind in row for key in keys if row.get(key)}:
            with contextlib.suppress(MemtuiError):
                take(digest, journal.contents.read(digest))
    for version in versions.of_files(places):
        with contextlib.suppress(MemtuiError):
            words.add(version.digest, versions.content(version))
    return words


def _history(ledger: Ledger, key: str) -> tuple[set[str], set[str]]:
    """Return the ids of the transactions about a memory up to its deletion, through its moves and renames, with their
    undos; and the paths that it had."""
    every = ledger.all()
    earlier = every[: 1 + [t.id for t in every].index(key)]  # the ids of one millisecond are in no order
    places = {deleted_row(ledger.transactions[key])["path"]}
    group: set[str] = set()
    while True:
        found = {t.id for t in earlier if places & set(_file_paths(t)) and t.is_change and t.op != "purge"}
        for each in found - group:
            if ledger.transactions[each].op in {"move", "rename"}:
                places |= set(_file_paths(ledger.transactions[each]))
        if found == group:
            break
        group = found
    return group | {t.id for t in ledger.all() if t.of in group}, places


def _file_paths(each: Transaction) -> list[str]:
    return [
        "{directory}/{file}".format(**row["beside"]) if "beside" in row else row["path"]
        for row in each.record["changes"]
        if "was" not in row and "trust" not in row
    ]


def _trusted_digests(ledger: Ledger, places: set[str]) -> list[str]:
    """Return the digests of the contents with which a memory was trusted."""
    given = [row["trust"] for t in ledger.all() for row in t.record["changes"] if "trust" in row]
    return [digest for g in given for digest, name in g["added"].items() if f"{g['directory']}/{name}" in places]


CONTENTS = ("before", "after", "removed", "added")


def _digests(transactions: Iterable[Transaction], keys: tuple[str, ...] = CONTENTS) -> list[str]:
    return [row[k] for t in transactions for row in t.record["changes"] for k in keys if row.get(k)]
