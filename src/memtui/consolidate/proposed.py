"""ChangeSets that wait for a person: one file each in `<root>/proposals/`, named by when it was made."""

import os
from collections.abc import Iterator
from typing import NamedTuple

from memtui.consolidate import changeset_json, rejected
from memtui.consolidate.changeset import ChangeSet, sha256
from memtui.core.base import fastjson, fs, ids
from memtui.core.base.storage import storage_error

# A larger file is listed without its counts.
MOST_BYTES = changeset_json.MAX_BYTES
MOST_INPUT = changeset_json.MAX_OUTPUT


class ProposedSet(NamedTuple):
    """A ChangeSet that waits: its file, when it was made (seconds since the epoch), what made it, and how many of its
    proposals nobody decided yet, whose files are as they were then, and which no newer one has."""

    path: str
    time: float
    by: str
    open: int


def directory(root: str) -> str:
    """Return where they are."""
    return root + "/proposals"


def save(root: str, found: ChangeSet, now: float) -> str:
    """Save a ChangeSet for a person, and return its file. Older ones of the same maker go if all that they propose is
    proposed anew. Raises MemtuiError."""
    path = f"{directory(root)}/{ids.new_id(now)}.json"
    try:
        fs.write_atomic(path, changeset_json.dumps(found))
    except OSError as error:
        raise storage_error(error, path) from error
    about = {(each.kind, frozenset((file.path, file.sha256) for file in each.inputs)) for each in found.proposals}
    for older, _, row in [*_every(root)]:
        changes = _changes(row)
        anew = all((each.get("kind"), frozenset(_inputs(each))) in about for each in changes)
        if older != path and row.get("by") == found.by and anew:
            fs.unlink(older)
    return path


def waiting(root: str) -> list[ProposedSet]:
    """List the ChangeSets with proposals that nobody decided yet, newest first, without files that can't be read."""
    found = []
    counted: set[object] = {*rejected.load(root)}
    for path, made, row in _every(root):
        undecided = {each.get("id") for each in _changes(row) if each.get("id") not in counted and _is_current(each)}
        counted |= undecided
        if undecided:
            found.append(ProposedSet(path, made, str(row.get("by") or ""), len(undecided)))
    return found


class Settled(NamedTuple):
    """What needs no new proposal: `ids` of those that wait or were rejected, and the `texts` that they were made from,
    as (path, SHA-256)."""

    ids: frozenset[str]
    texts: frozenset[tuple[str, str]]


def settled(root: str) -> Settled:
    """Return what needs no new proposal, since a person has one to decide, or did not want it."""
    names, texts = set(), set()
    for _, _, row in _every(root):
        for change in _changes(row):
            names.add(str(change.get("id")))
            texts.update(_inputs(change))
    return Settled(frozenset(names), frozenset(texts))


def _every(root: str) -> Iterator[tuple[str, float, dict[str, object]]]:
    """Yield the path, time and content of each file, newest first."""
    try:
        names = sorted(os.listdir(directory(root)), reverse=True)
    except OSError:
        return
    for name in names:
        made = ids.id_time(name.removesuffix(".json"))
        if made is None or not name.endswith(".json"):
            continue
        path = f"{directory(root)}/{name}"
        try:
            yield path, made, fastjson.loads_dict(fs.read_bytes(path, MOST_BYTES))
        except OSError:
            continue


def _changes(row: dict[str, object]) -> list[dict[str, object]]:
    changes = row.get("changes")
    return [each for each in changes if isinstance(each, dict)] if isinstance(changes, list) else []


def _inputs(change: dict[str, object]) -> list[tuple[str, str]]:
    """Return the files that a change was made from, as (path, SHA-256)."""
    rows = change.get("inputs")
    found = [each for each in rows if isinstance(each, dict)] if isinstance(rows, list) else []
    return [(str(each.get("path")), str(each.get("sha256"))) for each in found]


def _is_current(change: dict[str, object]) -> bool:
    """Return whether all files are as they were when the change was proposed."""
    for path, digest in _inputs(change):
        try:
            data = fs.read_bytes(path, MOST_INPUT)
        except (OSError, ValueError):
            return False
        if sha256(data) != digest:
            return False
    return True
