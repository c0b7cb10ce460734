"""Keep the journal short: remove changes too old or too many, which can't be undone then, and their contents."""

import itertools
import os
import re
import time
from collections.abc import Callable, Iterator

from memtui.core.base import clock, fastjson, fs
from memtui.core.base.storage import storage_error
from memtui.core.journal.journal import Journal
from memtui.core.journal.ledger import Ledger, Transaction

DIGEST = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
# Contents are removed for this long under the lock, which is then free for this long so that others can take it.
HELD_SECONDS, FREE_SECONDS = 0.5, 4 * fs.LOCK_POLL_SECONDS


def too_old(ledger: Ledger, now: float, days: int, most: int) -> list[Transaction]:
    """Return the transactions older than `days`, and those beyond the newest `most` (0: any), oldest first."""
    every = ledger.all()
    if every and every[-1].state == "intent":
        every.pop()  # in progress
    remaining = sum(each.is_change for each in every)
    old_ones: list[Transaction] = []
    for _, run in itertools.groupby(every, lambda each: each.group or each.id):  # one step goes as a whole
        family = list(run)
        size = sum(each.is_change for each in family)
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
            gone = {each.id for each in old_ones}
            fs.write_atomic(journal.path, b"".join(_kept(fs.read_bytes(journal.path), gone)))
        return old_ones


def _kept(data: bytes, gone: set[str]) -> Iterator[bytes]:
    """Yield the lines to keep: all but those of the removed transactions, and unreadable ones at the beginning."""
    started = False
    for line in data.split(b"\n"):
        record = fastjson.loads_dict(line)
        if not line.strip() or record.get("id") in gone or not (record or started):
            continue
        started = True
        yield line + b"\n"


def unreferenced(journal: Journal, gone: set[str] | None = None) -> list[tuple[str, int]]:
    """List the contents that nothing would refer to without the changes `gone`: (path, bytes). Raises OSError."""
    if not os.path.exists(journal.path):
        return []
    try:
        with os.scandir(journal.contents.directory) as entries:
            files = [(each.name, each.path) for each in entries if DIGEST.fullmatch(each.name.encode())]
    except FileNotFoundError:
        return []
    # By trust.json, or the journal without the changes `gone`.
    data = fs.read_or_empty(journal.path)
    lines = b"".join(_kept(data, gone)) if gone else data
    digests = DIGEST.findall(lines) + DIGEST.findall(fs.read_or_empty(journal.root + "/trust.json"))
    used = {digest.decode() for digest in digests}
    return [(path, os.lstat(path).st_size) for name, path in files if name not in used and os.path.lexists(path)]


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


def deleted(found: list[Transaction], ledger: Ledger) -> list[str]:
    """Name the memories in the trash that can't be restored once these transactions are removed, as `scope:name`."""
    names = []
    for each in found:
        if each.id in ledger.trashed and each.paths:
            stem = os.path.basename(each.paths[0]).removesuffix(".md")
            names.append(f"{each.record.get('scope', '')}:{stem}".lstrip(":"))
    return names
