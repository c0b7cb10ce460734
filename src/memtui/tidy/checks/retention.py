"""How long things are kept; what is older goes for good, once a day in a worker, or by `memtui doctor --clean`."""

import calendar
import itertools
import os
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from memtui.base import clock, fastjson, fs, ids, paths
from memtui.base.errors import MemtuiError
from memtui.base.storage import storage_error
from memtui.deliver import log as delivery_log
from memtui.inbox import drafts as inbox_drafts
from memtui.settings import config
from memtui.store import trust
from memtui.store.journal.changes import FileChange
from memtui.store.journal.journal import Journal
from memtui.store.journal.ledger import Ledger, Transaction
from memtui.store.journal.own_files import TrustEdit
from memtui.store.versions.versions import Versions

# The age from which a temporary file must be a killed writer's.
TEMPORARY_SECONDS = clock.DAY
LOCK_SECONDS = 2.0
# The newest changes that are kept for undo: each undo reads them all; and the newest trusted texts of a memory.
MOST_CHANGES, MOST_TEXTS = 2000, 20
# How the logs of calls of models begin (models/log.py).
CALLS = "llm-"
DIGEST = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
# Contents are removed for this long under the lock, which is then free for this long so that others can take it.
HELD_SECONDS, FREE_SECONDS = 0.5, 4 * fs.LOCK_POLL_SECONDS


@dataclass(frozen=True)
class Limits:
    """How long things are kept: days (0: for ever), the megabytes of versions and the changes for undo (0: any)."""

    days: int
    mb: int
    changes: int


@dataclass
class Due:
    """What is due, or was removed. `oldest`: the time of the oldest change that stays; `busy`: what failed, and why."""

    changes: int = 0
    oldest: str = ""
    deleted: list[str] = field(default_factory=list)
    images: int = 0
    image_bytes: int = 0
    months: list[str] = field(default_factory=list)
    month_bytes: int = 0
    calls: list[str] = field(default_factory=list)
    proposals: list[str] = field(default_factory=list)
    trusted: int = 0
    versions: int = 0
    version_bytes: int = 0
    rejected: int = 0
    temporary: list[str] = field(default_factory=list)
    busy: list[str] = field(default_factory=list)

    @property
    def anything(self) -> bool:
        return any(value for name, value in vars(self).items() if name not in {"oldest", "busy"})


def limits(root: str) -> Limits:
    settings = config.load(root)
    days = config.number(settings, "keep_days")
    return Limits(days, config.number(settings, "keep_mb"), MOST_CHANGES if days else 0)


class _Collector:
    """One pass over all that is kept, at `now`. With `dry` it only lists; `has_time` says whether to go on."""

    def __init__(
        self, root: str, now: float, has_time: Callable[[], bool], ledger: Ledger | None, *, dry: bool
    ) -> None:
        self.root, self.now, self.has_time, self.ledger, self.dry = root, now, has_time, ledger, dry
        self.keep = limits(root)
        # The time before which things are too old; 0 if nothing is.
        self.before = now - self.keep.days * clock.DAY if self.keep.days > 0 else 0.0
        self.due = Due()

    def run(self) -> None:
        """Look at each kind of thing. Where one fails, `Due.busy` names it, and the others are still looked at."""
        for name, step in {
            "undo": self._undo,
            "deliveries": self._logs,
            "proposals": self._proposals,
            "trust": self._trust,
            "rejected": self._rejected,
            "versions": self._versions,
            "files": self._temporary,
        }.items():
            try:
                if self.has_time():
                    step()
                else:
                    self.due.busy.append(f"{name}: there was no time left")
            except OSError as error:
                self.due.busy.append(f"{name}: {storage_error(error, str(error.filename or self.root)).message}")
            except (MemtuiError, ValueError, RecursionError) as error:
                self.due.busy.append(f"{name}: {error.message if isinstance(error, MemtuiError) else error}")

    def _remove(self, files: list[str]) -> list[str]:
        """Remove files, as long as there is time; return those that are gone, or due."""
        removed = []
        for path in files:
            if not self.has_time():
                break
            if not self.dry:
                fs.unlink(path)
            removed.append(path)
        return removed

    def _undo(self) -> None:
        journal, keep, due = Journal(self.root, now=lambda: self.now, ledger=self.ledger), self.keep, self.due
        ledger = journal.ledger()  # as read before the journal is shortened
        old = too_old(ledger, self.now, keep.days, keep.changes)
        if old and not self.dry:
            old = compact(journal, self.now, keep.days, keep.changes)
        removed = {transaction.id for transaction in old}
        due.changes, due.deleted = sum(transaction.is_change for transaction in old), deleted(old, ledger)
        due.oldest = next((transaction.time for transaction in ledger.all() if transaction.id not in removed), "")
        contents = unreferenced(journal, removed)
        if contents and not self.dry:
            due.images, due.image_bytes = sweep(journal, self.has_time)
        else:
            due.images, due.image_bytes = len(contents), sum(size for _, size in contents)

    def _logs(self) -> None:
        months = old_logs(self.root, self.now, self.keep.days)
        sizes = {path: os.path.getsize(path) for path in months if os.path.exists(path)}
        self.due.months = self._remove(months)
        self.due.month_bytes = sum(sizes.get(path, 0) for path in self.due.months)
        self.due.calls = self._remove(old_logs(self.root, self.now, self.keep.days, CALLS))

    def _proposals(self) -> None:
        times = {name: ids.id_time(name.removesuffix(".json")) for name in paths.names_in(self.root + "/proposals")}
        old = [name for name, time in times.items() if time is not None and time < self.before]
        self.due.proposals = self._remove([f"{self.root}/proposals/{name}" for name in old])

    def _trust(self) -> None:
        """Forget all but the newest trusted texts of each memory."""
        for directory, trusts in trust.everything(self.root).items() if self.before else ():
            texts: defaultdict[str, list[str]] = defaultdict(list)
            for digest, name in trusts.hashes.items():
                texts[name].append(digest)
            old = [digest for digests in texts.values() for digest in digests[:-MOST_TEXTS]]
            if old and not self.dry:
                names = {digest: trusts.hashes[digest] for digest in old}
                TrustEdit(trust.path(self.root), names, {}, directory).make()
            self.due.trusted += len(old)

    def _rejected(self) -> None:
        for slug in [None, *paths.inbox_slugs(self.root)] if self.before else []:
            path = inbox_drafts.rejected_path(paths.inbox_dir(self.root, slug))
            data = fs.read_or_empty(path)
            after, count = inbox_drafts.without_old(data, self.before)
            self.due.rejected += count
            if count and not self.dry:
                FileChange(path, data, after or None).make()

    def _versions(self) -> None:
        versions, limit = Versions(self.root, lambda: self.now), (self.before, self.keep.mb << 20)
        if self.dry:
            versions.follow()
            line, self.due.version_bytes = versions.too_old(*limit)
            self.due.versions = len(line)
        elif os.path.exists(f"{self.root}/versions.jsonl"):
            self.due.versions, self.due.version_bytes = versions.forget(*limit)

    def _temporary(self) -> None:
        """Remove the temporary files that killed writers left, older than TEMPORARY_SECONDS."""
        old = []
        for here, directories, names in os.walk(self.root):
            directories[:] = [directory for directory in directories if here.count("/") - self.root.count("/") < 2]
            for path in [f"{here}/{name}" for name in names if name.endswith(".tmp") and "-" in name]:
                with suppress(FileNotFoundError):
                    old += [path] * (os.lstat(path).st_mtime < self.now - TEMPORARY_SECONDS)
        self.due.temporary = self._remove(old)


def due(root: str, now: float, ledger: Ledger | None = None) -> Due:
    """List what is due, and change nothing."""
    collector = _Collector(root, now, lambda: True, ledger, dry=True)
    collector.run()
    return collector.due


def collect(root: str, now: float, has_time: Callable[[], bool] = lambda: True, wait: float = LOCK_SECONDS) -> Due:
    """Remove for good what is due, one process at a time. Raises OSError if the lock can't be made."""
    collector = _Collector(root, now, has_time, None, dry=False)
    if os.path.isdir(root):
        try:
            with fs.Lock(f"{root}/run/gc.lock", wait):
                collector.run()
        except fs.LockTimeoutError:
            collector.due.busy.append("another one is at work")
    return collector.due


def too_old(ledger: Ledger, now: float, days: int, most: int) -> list[Transaction]:
    """Return the transactions older than `days`, and those beyond the newest `most` (0: any), oldest first."""
    every = ledger.all()
    if every and every[-1].state == "intent":
        every.pop()  # in progress
    remaining = sum(transaction.is_change for transaction in every)
    old_ones: list[Transaction] = []
    for _, run in itertools.groupby(every, lambda each: each.group or each.id):  # one step goes as a whole
        family = list(run)
        size = sum(transaction.is_change for transaction in family)
        last = clock.parse(family[-1].time)
        old = days > 0 and last is not None and last < now - days * clock.DAY
        if not old and not 0 < most <= remaining - size:
            break
        remaining -= size
        old_ones += family
    return old_ones


def compact(journal: Journal, now: float, days: int, most: int) -> list[Transaction]:
    """Remove what is too old; all other lines keep their bytes. Return it. Raises MemtuiError, OSError."""
    with journal.locked():
        old_ones = too_old(journal.ledger(), now, days, most)
        if old_ones:
            removed = {transaction.id for transaction in old_ones}
            fs.write_atomic(journal.path, b"".join(_kept(fs.read_bytes(journal.path), removed)))
        return old_ones


def _kept(data: bytes, removed: set[str]) -> Iterator[bytes]:
    """Yield the lines to keep: all but those of the removed transactions, and unreadable ones at the beginning."""
    started = False
    for line in data.split(b"\n"):
        record = fastjson.loads_dict(line)
        if not line.strip() or record.get("id") in removed or not (record or started):
            continue
        started = True
        yield line + b"\n"


def unreferenced(journal: Journal, removed: set[str] | None = None) -> list[tuple[str, int]]:
    """List the contents that nothing would refer to without the changes `removed`: (path, bytes). Raises OSError."""
    if not os.path.exists(journal.path):
        return []
    try:
        with os.scandir(journal.contents.directory) as entries:
            files = [(entry.name, entry.path) for entry in entries if DIGEST.fullmatch(entry.name.encode())]
    except FileNotFoundError:
        return []
    # By trust.json, or the journal without the changes `gone`.
    data = fs.read_or_empty(journal.path)
    lines = b"".join(_kept(data, removed)) if removed else data
    digests = DIGEST.findall(lines) + DIGEST.findall(fs.read_or_empty(journal.root + "/trust.json"))
    referenced = {digest.decode() for digest in digests}
    return [(path, os.lstat(path).st_size) for name, path in files if name not in referenced and os.path.lexists(path)]


def sweep(journal: Journal, go: Callable[[], bool]) -> tuple[int, int]:
    """Remove the contents that nothing refers to while `go` returns True; return their count and bytes."""
    count = size = 0
    has_more = True
    while has_more and go():
        with journal.locked():  # a change stores contents and refers to them under one lock
            try:
                contents = unreferenced(journal)
                until = time.monotonic() + HELD_SECONDS
                for path, length in contents:
                    if has_more := time.monotonic() > until:
                        break
                    fs.unlink(path)
                    count, size = count + 1, size + length
                else:
                    has_more = False
            except OSError as error:
                raise storage_error(error, journal.contents.directory) from error
        time.sleep(FREE_SECONDS if has_more else 0)
    return count, size


def deleted(transactions: list[Transaction], ledger: Ledger) -> list[str]:
    """Name the memories in the trash that can't be restored once these transactions are removed, as `scope:name`."""
    names = []
    for transaction in transactions:
        if transaction.id in ledger.trashed and transaction.paths:
            stem = os.path.basename(transaction.paths[0]).removesuffix(".md")
            names.append(f"{transaction.record.get('scope', '')}:{stem}".lstrip(":"))
    return names


def old_logs(root: str, now: float, days: int, prefix: str = delivery_log.PREFIX) -> list[str]:
    """Return the logs of the months that ended more than so many days ago, oldest first; none for 0 days."""
    months = [(path, _end(path, prefix)) for path in reversed(delivery_log.months(root, prefix))]
    return [path for path, end in months if days > 0 and end is not None and end < now - days * clock.DAY]


def _end(path: str, prefix: str) -> float | None:
    """Return when the month of a log ended, in seconds since the epoch; None if its name holds no month."""
    stem = os.path.basename(path).removeprefix(prefix).removesuffix(delivery_log.SUFFIX)
    begin = clock.parse(stem + "-01")
    if begin is None:
        return None
    return begin + calendar.monthrange(int(stem[:4]), int(stem[5:7]))[1] * clock.DAY
