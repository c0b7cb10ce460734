"""Rows beside a memory that a worker learns from use, each with how often, which halves with time. No step of undo: a
person did not make them; what a person removes of them is, and is not learned again."""

from collections.abc import Callable, Sequence

from memtui.core.base import clock, fastjson, fs
from memtui.core.base.storage import read_or_none
from memtui.core.journal import own_files
from memtui.core.journal.own_files import BesideRow
from memtui.core.memories import triggers
from memtui.core.memories.triggers import Trigger

# Rows of use that are kept of a memory: more than count, so that one that is used now and then can come up.
STORED = 15


def after_use(rows: Sequence[BesideRow], text: str, time: float) -> list[BesideRow]:
    """Return rows with one use more of a text, at `time` (seconds since the epoch). A text that a person typed, or
    removed, changes nothing, nor does a use that is counted already. What is forgotten goes."""
    found: list[BesideRow] = []
    known = False
    for row in rows:
        fields = fastjson.loads_dict(row)
        if str(fields.get("text")).casefold() == text.casefold():
            known = True
            old = _use(fields)
            if old is not None and old.time < time:
                row = triggers.as_row(Trigger(old.text, "use", time, old.weight(time) + 1.0))  # noqa: PLW2901
        found.append(row)
    if not known:
        found.append(triggers.as_row(Trigger(text, "use", time)))
    return _capped(found, time)


def _use(fields: dict[str, object]) -> Trigger | None:
    uses = fields.get("uses")
    if fields.get("origin") != "use" or not isinstance(uses, (int, float)):
        return None
    return Trigger(str(fields.get("text")), "use", clock.parse(str(fields.get("time"))) or 0.0, float(uses))


def _capped(rows: Sequence[BesideRow], now: float) -> list[BesideRow]:
    weights = {row: each.weight(now) for row in rows if (each := _use(fastjson.loads_dict(row))) is not None}
    most = sorted(weights.values(), reverse=True)[STORED - 1 : STORED]
    least = max([triggers.LEAST, *most])
    return [row for row in rows if weights.get(row, least) >= least]


def note(
    root: str, kind: str, directory: str, change: dict[str, Callable[[list[BesideRow]], list[BesideRow]]]
) -> set[str]:
    """Change the rows of some files of a directory; return those files that have others now. Raises OSError."""
    path = own_files.beside_path(root, kind, directory)
    with fs.Lock(root + own_files.BESIDE_LOCK, own_files.LOCK_SECONDS):
        rows = own_files.beside_rows(read_or_none(path) or b"")
        after = {file: make(rows.get(file, [])) for file, make in change.items()}
        changed = {file for file, found in after.items() if found != rows.get(file, [])}
        if changed:
            own_files.write_beside(path, directory, {**rows, **after})
    return changed
