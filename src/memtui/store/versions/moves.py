"""Where memories come from, and where those are that were renamed or moved, by the journal."""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from memtui.base import clock
from memtui.deliver.record import NOTHING_MOVED, EarlierPlaces, Span

if TYPE_CHECKING:
    from memtui.store.journal.ledger import Transaction
    from memtui.store.memory import Memory
    from memtui.store.scopes import Scope

# By root: what the journal ended with, and the places then.
_known: dict[str, tuple[tuple[int, str], EarlierPlaces]] = {}
# A place of a memory: its path, or the change that removed it and the path that it had then.
Place = str | tuple[str, str]


def load(root: str) -> EarlierPlaces:
    """Return the earlier places of memories. What was read before is returned again until something changes."""
    path = f"{root}/journal.jsonl"
    if not os.path.exists(path):
        return NOTHING_MOVED
    from memtui.store.journal import ledger as journal_ledger  # not needed for the first paint

    try:
        every = [step for step in journal_ledger.shared(path).follow().all() if step.state not in {"intent", "back"}]
    except OSError:
        return NOTHING_MOVED
    key = (len(every), every[-1].id if every else "")
    if root not in _known or _known[root][0] != key:
        trash: dict[Place, Place] = {}
        _known[root] = (key, EarlierPlaces(_spans([move for step in every for move in moves(step, trash)])))
    return _known[root][1]


def moves(transaction: "Transaction", trash: dict[Place, Place]) -> Iterator[tuple[float, Place | None, Place]]:
    """Yield the moves of a change as (time, old, new place): None for new ones, `trash` for what comes back."""
    time, about = clock.parse(transaction.time) or 0.0, transaction.of or transaction.id
    # What a consolidation removes without an heir, such as a memory that is archived, is gone for deliveries.
    origins = {} if transaction.record.get("became") == {} else transaction.origins
    for path in [file.path for file in transaction.writes if not file.after]:
        if path not in origins.values():
            yield time, path, trash.get((about, path), (about, path))
    for path in [file.path for file in transaction.writes if not file.before]:
        if transaction.of:
            trash[transaction.id, path] = trash.get((about, path), (about, path))
        yield time, origins.get(path, trash.get((transaction.id, path))), path


def _spans(moves: Iterable[tuple[float, Place | None, Place]]) -> dict[str, tuple[Span, ...]]:
    """Return the paths whose memories are not all there now: what they had from when on, and where that is."""
    spans: dict[str, list[Span]] = {}
    places: dict[Place, str] = {}  # where the memory is now that has a place at this moment, going back in time
    places_used: set[Place] = set()

    def now(place: Place) -> str:
        if isinstance(place, str):
            return places.get(place, place)
        return places.get(place, "" if place[1] in places_used else place[1])

    for time, old, new in reversed(list(moves)):
        for path in (old, new):
            if isinstance(path, str):
                spans.setdefault(path, []).append(Span(time, now(path)))
        if old is not None:
            places[old] = now(new)
        places.pop(new, None)
        places_used.add(new)
    return {
        path: (Span(0.0, now(path)), *reversed(after))
        for path, after in spans.items()
        if any(span.now != path for span in (Span(0.0, now(path)), *after))
    }


class Source(NamedTuple):
    """Where a memory is from: session, approve, copy, move, made (at `when`), own, repository, model or unknown."""

    kind: str
    when: float | None = None
    session: str = ""


def creations(root: str) -> dict[str, tuple[str, float | None]]:
    """Map the path of each file that memtui made, by the journal, to (operation, seconds since the epoch)."""
    from memtui.store.journal import ledger as journal_ledger

    try:
        ledger = journal_ledger.shared(f"{root}/journal.jsonl").follow()
    except OSError:
        return {}
    created: dict[str, tuple[str, float | None]] = {}
    for step in ledger.all():
        if step.state != "done" or not step.is_change or step.op == "restore":
            continue
        for time, old, new in moves(step, {}):
            if isinstance(new, str) and (old is None or old in created or step.op == "move"):
                created[new] = created[old] if isinstance(old, str) and old in created else (step.op, time or None)
    return created


def source(scope: "Scope", memory: "Memory", origins: Mapping[str, tuple[str, float | None]]) -> Source:
    """Return where a memory comes from. `origins`: as returned by `creations`."""
    if scope.kind == "model":
        return Source("model")
    if memory.origin_session:
        return Source("session", session=memory.origin_session)
    creation = origins.get(os.path.realpath(memory.path))
    if creation is not None:
        return Source(creation[0] if creation[0] in {"approve", "copy", "move"} else "made", creation[1])
    if scope.kind == "instructions":
        return Source("own" if scope.root_path is None else "repository")
    return Source("repository" if scope.kind == "project" or scope.label.endswith("@project") else "unknown")
