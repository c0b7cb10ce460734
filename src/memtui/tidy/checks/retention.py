"""How long things are kept; what is older goes for good, once a day in a worker."""

import calendar
import itertools
import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from memtui.base import clock_hot, fastjson_hot, fs_hot, ids_hot, paths_hot
from memtui.base.errors import MemtuiError
from memtui.base.storage import storage_error
from memtui.deliver import log_hot
from memtui.inbox import drafts as inbox_drafts
from memtui.settings import config_hot
from memtui.store import trust_hot
from memtui.store.journal.changes import FileChange
from memtui.store.journal.journal import Journal
from memtui.store.journal.ledger import Ledger, Transaction
from memtui.store.journal.own_files import TrustEdit
from memtui.store.versions import trash
from memtui.store.versions.versions import Versions

# The age from which a temporary file must be a killed writer's.
TEMPORARY_SECONDS = clock_hot.DAY
# How files begin that keep what git or a check said.
ANSWERS = ("git-", "lint-")
# The newest changes that are kept for undo: each undo reads them all; and the newest trusted texts of a memory.
MOST_CHANGES, MOST_TEXTS = 2000, 20
# How the logs of calls of models begin (models/log.py).
CALLS = "llm-"
# What a pass looks at, each in the collector's method of that name.
STEPS = ("undo", "deliveries", "proposals", "trust", "rejected", "versions", "rules", "contents", "files")


@dataclass
class Removed:
    """How many things of each kind went for good; `busy`: what failed, and why."""

    changes: int = 0
    images: int = 0
    months: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    proposals: list[str] = field(default_factory=list)
    trusted: int = 0
    versions: int = 0
    rejected: int = 0
    temporary: list[str] = field(default_factory=list)
    busy: list[str] = field(default_factory=list)


class _Collector:
    """One pass over all that is kept, at `now`; `has_time` says whether to go on."""

    def __init__(self, root: str, now: float, has_time: Callable[[], bool]) -> None:
        self.root, self.now, self.has_time = root, now, has_time
        settings = config_hot.load(root)
        self.days, self.most_mb = config_hot.number(settings, "keep_days"), config_hot.number(settings, "keep_mb")
        self.most_changes = MOST_CHANGES if self.days else 0
        # The time before which things are too old; 0 if nothing is.
        self.before = now - self.days * clock_hot.DAY if self.days > 0 else 0.0
        self.removed = Removed()

    def run(self) -> None:
        """Look at each kind of thing. Where one fails, `Removed.busy` names it, and the others are still looked at."""
        for name in STEPS:
            try:
                if self.has_time():
                    getattr(self, f"_{name}")()
                else:
                    self.removed.busy.append(f"{name}: there was no time left")
            except OSError as error:
                self.removed.busy.append(f"{name}: {storage_error(error, str(error.filename or self.root)).message}")
            except (MemtuiError, ValueError, RecursionError) as error:
                self.removed.busy.append(f"{name}: {error.message if isinstance(error, MemtuiError) else error}")

    def _remove(self, files: list[str]) -> list[str]:
        """Remove files, as long as there is time; return those that are gone."""
        removed = []
        for path in itertools.takewhile(lambda _: self.has_time(), files):
            fs_hot.unlink(path)
            removed.append(path)
        return removed

    def _undo(self) -> None:
        journal = Journal(self.root, now=lambda: self.now)
        if too_old(journal.ledger(), self.now, self.days, self.most_changes):
            old = compact(journal, self.now, self.days, self.most_changes)
            self.removed.changes = sum(transaction.is_change for transaction in old)

    def _deliveries(self) -> None:
        self.removed.months = self._remove(old_logs(self.root, self.now, self.days))
        self.removed.calls = self._remove(old_logs(self.root, self.now, self.days, CALLS))

    def _proposals(self) -> None:
        names = paths_hot.names_in(self.root + "/proposals")
        times = {name: ids_hot.id_time(name.removesuffix(".json")) for name in names}
        old = [name for name, time in times.items() if time is not None and time < self.before]
        self.removed.proposals = self._remove([f"{self.root}/proposals/{name}" for name in old])

    def _trust(self) -> None:
        """Forget all but the newest trusted texts of each memory."""
        for directory, trusts in trust_hot.everything(self.root).items() if self.before else ():
            texts: defaultdict[str, list[str]] = defaultdict(list)
            for digest, name in trusts.hashes.items():
                texts[name].append(digest)
            old = [digest for digests in texts.values() for digest in digests[:-MOST_TEXTS]]
            if old:
                names = {digest: trusts.hashes[digest] for digest in old}
                TrustEdit(trust_hot.path(self.root), names, {}, directory).make()
            self.removed.trusted += len(old)

    def _rejected(self) -> None:
        for slug in [None, *paths_hot.inbox_slugs(self.root)] if self.before else []:
            path = inbox_drafts.rejected_path(paths_hot.inbox_dir(self.root, slug))
            data = fs_hot.read_or_empty(path)
            after, count = inbox_drafts.without_old(data, self.before)
            if count:
                FileChange(path, data, after or None).make()
            self.removed.rejected += count

    def _versions(self) -> None:
        if os.path.exists(f"{self.root}/versions.jsonl"):
            versions = Versions(self.root, lambda: self.now)
            self.removed.versions = versions.forget(self.before, self.most_mb << 20)

    def _rules(self) -> None:
        from memtui.rules import counts_update  # a start of the command line reads no database

        if self.before:
            counts_update.forget(self.root, self.before)

    def _contents(self) -> None:
        self.removed.images = trash.sweep(Journal(self.root), Versions(self.root), self.has_time)

    def _files(self) -> None:
        """Remove temporary files that killed writers left, and answers that were not written for long."""
        old = []
        for here, directories, names in os.walk(self.root):
            directories[:] = [directory for directory in directories if here.count("/") - self.root.count("/") < 2]
            for name in names:
                is_temporary, is_answer = name.endswith(".tmp") and "-" in name, name.startswith(ANSWERS)
                if is_temporary or (is_answer and here == f"{self.root}/run"):
                    before = self.now - TEMPORARY_SECONDS if is_temporary else self.before
                    with suppress(FileNotFoundError):
                        old += [f"{here}/{name}"] * (os.lstat(f"{here}/{name}").st_mtime < before)
        self.removed.temporary = self._remove(old)


def collect(root: str, now: float, has_time: Callable[[], bool] = lambda: True) -> Removed:
    """Remove for good what is too old, one process at a time. Raises OSError if the lock can't be made."""
    collector = _Collector(root, now, has_time)
    if os.path.isdir(root):
        try:
            with fs_hot.Lock(f"{root}/run/gc.lock", 0):
                collector.run()
        except fs_hot.LockTimeoutError:
            collector.removed.busy.append("another one is at work")
    return collector.removed


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
        last = clock_hot.parse(family[-1].time)
        old = days > 0 and last is not None and last < now - days * clock_hot.DAY
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
            fs_hot.write_atomic(journal.path, b"".join(_kept(fs_hot.read_bytes(journal.path), removed)))
        return old_ones


def _kept(data: bytes, removed: set[str]) -> Iterator[bytes]:
    """Yield the lines to keep: all but those of the removed transactions, and unreadable ones at the beginning."""
    started = False
    for line in data.split(b"\n"):
        record = fastjson_hot.loads_dict(line)
        if not line.strip() or record.get("id") in removed or not (record or started):
            continue
        started = True
        yield line + b"\n"


def old_logs(root: str, now: float, days: int, prefix: str = log_hot.PREFIX) -> list[str]:
    """Return the logs of the months that ended more than so many days ago, oldest first; none for 0 days."""
    months = [(path, _end(path, prefix)) for path in reversed(log_hot.months(root, prefix))]
    return [path for path, end in months if days > 0 and end is not None and end < now - days * clock_hot.DAY]


def _end(path: str, prefix: str) -> float | None:
    """Return when the month of a log ended, in seconds since the epoch; None if its name holds no month."""
    stem = os.path.basename(path).removeprefix(prefix).removesuffix(log_hot.SUFFIX)
    begin = clock_hot.parse(stem + "-01")
    if begin is None:
        return None
    return begin + calendar.monthrange(int(stem[:4]), int(stem[5:7]))[1] * clock_hot.DAY
