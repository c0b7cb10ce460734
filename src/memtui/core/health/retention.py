"""How long things are kept: changes for undo, the contents they need, the texts of deliveries, trust in deleted texts,
the log of calls of models, the versions of memories, rejected drafts. What is older is removed for good, once a day in
a worker, or by `memtui doctor --clean`; `due` only lists it.

`run/gc.json` records ages that no file shows. Without it they count from now, so that nothing is removed too early.
"""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from memtui.core.base import clock, fastjson, fs, ids, paths, session_state
from memtui.core.base.errors import MemtuiError
from memtui.core.base.storage import storage_error
from memtui.core.deliveries import folding
from memtui.core.health import call_log
from memtui.core.inbox import refused
from memtui.core.journal import compaction
from memtui.core.journal.changes import FileChange
from memtui.core.journal.journal import Journal
from memtui.core.journal.ledger import Ledger, Transaction
from memtui.core.memories import beside
from memtui.core.memories.beside import LeftRows
from memtui.core.memories.versions import Versions
from memtui.core.places import locate, trust
from memtui.core.settings import config

VERSION = 1
# The age from which a temporary file must be a killed writer's.
TEMPORARY_SECONDS = clock.DAY
LOCK_SECONDS = 2.0
# The newest changes that are kept for undo: each undo reads them all.
MOST_CHANGES = 2000
WHOLE = ""  # stands for the directory itself, among the digests of a missing directory

# Directory to digest of a trusted text that is gone, to the time (of the epoch) when that was first seen.
Absent = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Limits:
    """How long things are kept: days (0: for ever), and the megabytes of versions (0: any)."""

    days: int
    mb: int

    @property
    def changes(self) -> int:
        """How many changes are kept for undo (0: any)."""
        return MOST_CHANGES if self.days else 0


# The fields of `Due` that say what is removed.
REMOVED = (
    *("changes", "images", "months", "calls", "proposals", "trusted", "directories"),
    *("versions", "beside", "rejected", "temporary"),
)


@dataclass
class Due:
    """What is due, or was removed. `oldest` is the time of the oldest change that stays, in the journal's form; `busy`
    says what could not be removed at the moment, and why."""

    changes: int = 0
    oldest: str = ""
    deleted: list[str] = field(default_factory=list)
    images: int = 0
    image_bytes: int = 0
    months: list[str] = field(default_factory=list)
    month_bytes: int = 0
    calls: list[str] = field(default_factory=list)
    proposals: int = 0
    trusted: int = 0
    directories: list[str] = field(default_factory=list)
    versions: int = 0
    version_bytes: int = 0
    beside: list[LeftRows] = field(default_factory=list)
    rejected: int = 0
    temporary: list[str] = field(default_factory=list)
    busy: list[str] = field(default_factory=list)

    @property
    def anything(self) -> bool:
        """Tell whether anything is due."""
        return any(getattr(self, name) for name in REMOVED)

    def data(self) -> dict[str, object]:
        """Return the data for --json."""
        return {
            "changes": self.changes,
            "oldest_change": self.oldest or None,
            "deleted_memories": self.deleted,
            "contents": self.images,
            "contents_bytes": self.image_bytes,
            "months": [os.path.basename(path) for path in self.months],
            "months_bytes": self.month_bytes,
            "call_months": [os.path.basename(path) for path in self.calls],
            "proposals": self.proposals,
            "trusted_texts": self.trusted,
            "trusted_directories": self.directories,
            "versions": self.versions,
            "versions_bytes": self.version_bytes,
            "triggers": len(self.beside),
            "triggers_of": sorted({f"{each.directory}/{each.file}" for each in self.beside}),
            "rejected_drafts": self.rejected,
            "temporary_files": len(self.temporary),
            "busy": self.busy,
        }


def limits(root: str) -> Limits:
    """Read the limits from the settings."""
    settings = config.load(root)
    return Limits(config.number(settings, "keep_days"), config.number(settings, "keep_mb"))


def deadline(seconds: float) -> Callable[[], bool]:
    """Return a function that tells whether there is time left of `seconds` from now."""
    end = time.monotonic() + seconds
    return lambda: time.monotonic() < end


# run/gc.json


def _state(root: str) -> dict[str, object]:
    try:
        found = fastjson.loads_dict(fs.read(f"{root}/run/gc.json", "cache"))
    except OSError:
        return {}
    return found if found.get("v") == VERSION else {}


def _absent_before(state: dict[str, object]) -> Absent:
    found: Absent = {}
    for place, rows in session_state.table(state, "absent").items():
        if isinstance(rows, dict):
            found[place] = {key: float(since) for key, since in rows.items() if isinstance(since, (int, float))}
    return found


# Trust


def _places(directory: str) -> list[str]:
    """List where the memories of a trusted directory can be: there, and in the linked worktrees of its repository."""
    root = paths.project_root(directory)
    below = directory.removeprefix(root)
    found = [directory]
    try:
        names = os.listdir(root + "/.git/worktrees")
    except OSError:
        return found
    for name in names:
        try:
            line = fs.read_bytes(f"{root}/.git/worktrees/{name}/gitdir", 4096)
        except OSError:
            continue
        top = line.decode("utf-8", "surrogateescape").strip().removesuffix("/.git")
        found.append(top + below)
    return found


def _absent_of(directory: str, hashes: dict[str, str]) -> set[str]:
    """List the trusted digests that no memory of a directory has any more; of a file that is there its last digest is
    left out, since it shows that the file changed. With WHOLE if the directory is missing. Raises OSError."""
    present: set[str] = set()
    names: set[str] = set()
    there = False
    for place in _places(directory):
        if not os.path.isdir(place):
            continue
        there = True
        for name, problem in locate.walk(place):
            names.add(name)
            if not problem:
                present.add(ids.digest(fs.read_bytes(f"{place}/{name}")))
    if not there:
        return {WHOLE, *hashes}
    last = {name: digest for digest, name in hashes.items() if name in names}
    return set(hashes) - present - set(last.values())


def _absent(root: str, now: float, before: Absent, has_time: Callable[[], bool]) -> Absent:
    """Find the trusted texts that are gone. A directory that can't be read, or for which there is no time, is left as
    `before`."""
    found: Absent = {}
    for directory, known in trust.everything(root).items():
        old = before.get(directory, {})
        try:
            if not has_time():
                raise OSError
            gone = _absent_of(directory, known.hashes)
        except OSError:
            found[directory] = old
            continue
        if gone:
            # A clock that was set back makes nothing older.
            found[directory] = {key: min(old.get(key, now), now) for key in gone}
    return found


def _untrusted(absent: Absent, now: float, days: int) -> Absent:
    """Select the texts that were gone for at least `days` (0: none)."""
    if days <= 0:
        return {}
    due = {place: {k: s for k, s in rows.items() if s <= now - days * clock.DAY} for place, rows in absent.items()}
    return {place: rows for place, rows in due.items() if rows}


def _count_trust(found: Due, due: Absent) -> None:
    found.directories = sorted(place for place, rows in due.items() if WHOLE in rows)
    found.trusted = sum(len(rows) - (WHOLE in rows) for rows in due.values())


# Files


# The directories below memtui's that files are written in, beside those of projects.
WRITTEN_IN = (
    *("global", "sessions", "run", "log", "proposals", "trash", "drafts", "backups", "versions"),
    *("recall", "subconscious", "subconscious/blocks", "subconscious/sessions", *beside.KINDS),
)


def temporary(root: str, now: float) -> list[str]:
    """List the temporary files that killed writers left, older than TEMPORARY_SECONDS."""
    directories = [root, *(f"{root}/{name}" for name in WRITTEN_IN)]
    try:
        directories += [f"{root}/projects/{name}" for name in os.listdir(root + "/projects")]
    except OSError:
        pass
    found = []
    for directory in directories:
        try:
            with os.scandir(directory) as entries:
                names = [each.path for each in entries if each.name.endswith(".tmp") and "-" in each.name]
            found += [path for path in names if os.lstat(path).st_mtime < now - TEMPORARY_SECONDS]
        except OSError:
            continue
    return found


# Everything


def due(root: str, now: float, ledger: Ledger | None = None, *, trusted: bool = True) -> Due:
    """List what is due, and change nothing. Without `trusted` no memory is read. Raises OSError, MemtuiError."""
    found, keep, state = Due(), limits(root), _state(root)
    journal = Journal(root, ledger=ledger)
    read = journal.ledger()
    old = compaction.too_old(read, now, keep.days, keep.changes)
    _count_changes(found, old, read)
    contents = compaction.unreferenced(journal, {each.id for each in old})
    found.images, found.image_bytes = len(contents), sum(size for _, size in contents)
    found.months = folding.old(root, now, keep.days)
    found.month_bytes = sum(os.path.getsize(path) for path in found.months if os.path.exists(path))
    found.calls = call_log.old(root, now, keep.days)
    found.proposals = len(_old_proposals(root, now, keep.days))
    absent = _absent_before(state)
    _count_trust(found, _untrusted(_absent(root, now, absent, lambda: True) if trusted else absent, now, keep.days))
    versions = Versions(root, lambda: now)
    versions.follow()
    gone, found.version_bytes = versions.too_old(*_of_versions(keep, now))
    found.versions = len(gone)
    since = session_state.table(state, "beside")
    old_enough = now - keep.days * clock.DAY if keep.days > 0 else 0.0
    for each in beside.left_rows(root):
        if isinstance(known := since.get(each.key), (int, float)) and known <= old_enough:
            found.beside.append(each)
    found.rejected = sum(count for *_, count in _old_rejected(root, now, keep))
    found.temporary = temporary(root, now)
    return found


def _of_versions(keep: Limits, now: float) -> tuple[float, int]:
    """Return the time before which versions are too old, and how many bytes of them are kept (0: no limit)."""
    return (now - keep.days * clock.DAY if keep.days > 0 else 0.0), keep.mb << 20


def _count_changes(found: Due, old: list[Transaction], ledger: Ledger) -> None:
    found.changes = sum(each.is_change for each in old)
    found.deleted = compaction.deleted(old, ledger)
    gone = {each.id for each in old}
    found.oldest = next((each.time for each in ledger.all() if each.id not in gone), "")


def collect(root: str, now: float, has_time: Callable[[], bool] = lambda: True, wait: float = LOCK_SECONDS) -> Due:
    """Remove for good what is due, one process at a time, and return what was removed. A part that fails, or for which
    `has_time` leaves no time, is named in `busy`; the others still run. Raises OSError if the lock can't be made."""
    found, keep = Due(), limits(root)
    if not os.path.isdir(root):
        return found
    try:
        with fs.Lock(f"{root}/run/gc.lock", wait):
            for name, step in STEPS.items():
                try:
                    if has_time():
                        step(root, now, keep, found, has_time)
                    else:
                        found.busy.append(f"{name}: there was no time left")
                except OSError as error:
                    found.busy.append(f"{name}: {storage_error(error, str(error.filename or root)).message}")
                except (MemtuiError, ValueError, RecursionError) as error:
                    found.busy.append(f"{name}: {error.message if isinstance(error, MemtuiError) else error}")
    except fs.LockTimeoutError:
        found.busy.append("another one is at work")
    return found


def _undo(root: str, now: float, keep: Limits, found: Due, has_time: Callable[[], bool]) -> None:
    journal = Journal(root, now=lambda: now)
    ledger = journal.ledger()
    if compaction.too_old(ledger, now, keep.days, keep.changes):
        old = compaction.compact(journal, now, keep.days, keep.changes)
        _count_changes(found, old, ledger)  # the ledger as read before the journal was shortened
    if compaction.unreferenced(journal):
        found.images, found.image_bytes = compaction.sweep(journal, has_time)


def _deliveries(root: str, now: float, keep: Limits, found: Due, _: Callable[[], bool]) -> None:
    for path in folding.old(root, now, keep.days):
        size = os.path.getsize(path)
        fs.unlink(path)
        found.months.append(path)
        found.month_bytes += size


def _calls(root: str, now: float, keep: Limits, found: Due, _: Callable[[], bool]) -> None:
    for path in call_log.old(root, now, keep.days):
        fs.unlink(path)
        found.calls.append(path)
    for path in _old_proposals(root, now, keep.days):
        fs.unlink(path)
        found.proposals += 1


def _old_proposals(root: str, now: float, days: int) -> list[str]:
    """List the ChangeSets that were proposed more than so many days ago (0: none)."""
    try:
        names = os.listdir(root + "/proposals")
    except OSError:
        return []
    made = [(name, ids.id_time(name.removesuffix(".json"))) for name in names]
    return [
        f"{root}/proposals/{name}" for name, at in made if days > 0 and at is not None and at < now - days * clock.DAY
    ]


def _trust(root: str, now: float, keep: Limits, found: Due, has_time: Callable[[], bool]) -> None:
    state = _state(root)
    before = _absent_before(state)
    absent = _absent(root, now, before, has_time)
    gone = _untrusted(absent, now, keep.days)
    for place, rows in gone.items():
        trust.update(root, place, [key for key in rows if key], {}, False if WHOLE in rows else None)
        absent[place] = {key: since for key, since in absent[place].items() if key not in rows}
    _count_trust(found, gone)
    rest = {place: rows for place, rows in absent.items() if rows}
    if rest != before:
        _save(root, {**state, "absent": rest})


def _beside(root: str, now: float, keep: Limits, found: Due, _: Callable[[], bool]) -> None:
    """Remove what is beside memories, or directories of them, that have been gone for as many days as trust is kept."""
    state = _state(root)
    before = session_state.table(state, "beside")
    absent: dict[str, float] = {}
    for each in beside.left_rows(root):
        since = before.get(each.key)
        first = min(float(since), now) if isinstance(since, (int, float)) else now
        if keep.days > 0 and first <= now - keep.days * clock.DAY:
            beside.drop(root, each)
            found.beside.append(each)
        else:
            absent[each.key] = first
    if absent != before:
        _save(root, {**state, "beside": absent})


def _old_rejected(root: str, now: float, keep: Limits) -> Iterator[tuple[str, bytes, bytes, int]]:
    """Yield the files with rejected drafts that are too old: path, present content, what stays, and how many go."""
    for slug in [None, *paths.inbox_slugs(root)] if keep.days > 0 else []:
        path = refused.path(paths.inbox_dir(root, slug))
        before = fs.read_or_empty(path)
        after, count = refused.too_old(before, now - keep.days * clock.DAY)
        if count:
            yield path, before, after, count


def _rejected(root: str, now: float, keep: Limits, found: Due, _: Callable[[], bool]) -> None:
    for path, before, after, count in _old_rejected(root, now, keep):
        FileChange(path, before, after or None).make()
        found.rejected += count


def _versions(root: str, now: float, keep: Limits, found: Due, _: Callable[[], bool]) -> None:
    if os.path.exists(f"{root}/versions.jsonl"):
        found.versions, found.version_bytes = Versions(root, lambda: now).forget(*_of_versions(keep, now))


def _files(root: str, now: float, _: Limits, found: Due, has_time: Callable[[], bool]) -> None:
    for path in temporary(root, now):
        if not has_time():
            break
        fs.unlink(path)
        found.temporary.append(path)


# What is collected, by the name of it in `busy`.
STEPS: dict[str, Callable[[str, float, Limits, Due, Callable[[], bool]], None]] = {
    "undo": _undo,
    "deliveries": _deliveries,
    "calls": _calls,
    "trust": _trust,
    "beside": _beside,
    "rejected": _rejected,
    "versions": _versions,
    "files": _files,
}


def _save(root: str, state: dict[str, object]) -> None:
    fs.write_atomic(f"{root}/run/gc.json", fastjson.dumps({**state, "v": VERSION}).encode(), durable=False)
