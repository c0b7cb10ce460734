"""Checks of memtui's own files: owners and modes, the log of errors, the journal, and old data."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from memtui.core.base import backwards, clock, fastjson, fs, paths
from memtui.core.base.finding import Finding, good, note, problem
from memtui.core.base.phrasing import ago
from memtui.core.deliveries import log as delivery_log
from memtui.core.health import retention
from memtui.core.journal.journal import Journal
from memtui.core.memories.versions import Versions

ERRORS_DAYS = 7
# The most files whose modes are checked.
FILES_CHECKED = 20_000


def strangers(found: Sequence[tuple[str, int]]) -> Iterator[Finding]:
    """Report directories that belong to other users, each given as (path, user id)."""
    for path, owner in found:
        yield problem("root.foreign", path=path, owner=owner)


def own(root: str) -> Iterator[Finding]:
    """Check that memtui's directory can be used, and that nobody else can read its files."""
    if not os.path.lexists(root):
        above = root
        while not os.path.isdir(above):
            above = os.path.dirname(above)
        if os.access(above, os.W_OK | os.X_OK):
            yield good("root.absent", root=root)
        else:
            yield problem("root.unmakable", root=root, above=above)
        return
    if not os.path.isdir(root):
        yield problem("root.no_directory", root=root)
        return
    if not os.access(root, os.R_OK | os.W_OK | os.X_OK):
        yield problem("root.unwritable", root=root)
        return
    if os.path.isdir(root + "/projects"):
        for name in sorted(os.listdir(root + "/projects")):
            yield from strangers(paths.inbox_strangers(root, name))
    open_to_others, locked = [], []
    # In a closed directory an open file, such as a note left by `echo >>`, is safe.
    closed = not os.stat(root).st_mode & 0o077
    for number, (path, mode) in enumerate(modes(root)):
        if number >= FILES_CHECKED:
            break
        if mode & 0o077 and not closed:
            open_to_others.append(os.path.relpath(path, root))
        if mode & 0o600 != 0o600:
            locked.append(os.path.relpath(path, root))
    if open_to_others:
        yield problem("root.open", count=len(open_to_others), files=open_to_others, root=root)
    if locked:
        yield problem("root.locked", files=locked, root=root)


def modes(top: str) -> Iterator[tuple[str, int]]:
    """List `top` and every file and directory below it, with its permission bits; no symlinks."""
    try:
        yield top, os.lstat(top).st_mode & 0o777
    except OSError:
        return
    for here, directories, files in os.walk(top):
        for name in [*directories, *files]:
            path = os.path.join(here, name)
            try:
                found = os.lstat(path).st_mode
            except OSError:
                continue
            if found & fs.S_IFMT != fs.S_IFLNK:
                yield path, found & 0o777


def errors(root: str, now: float) -> Iterator[Finding]:
    """Find the errors that hooks and workers logged in the last ERRORS_DAYS days."""
    path = root + "/log/errors.jsonl"
    if not os.path.exists(path):
        return
    recent = []
    for _, line in backwards.lines(path, longest=-1):
        row = fastjson.loads_dict(line)
        seconds = clock.parse(row.get("time"))
        if seconds is None:
            continue
        if seconds < now - ERRORS_DAYS * clock.DAY:
            break
        recent.append(row)
    if recent:
        last = {key: str(recent[0].get(key)) for key in ("time", "where", "error", "message")}
        since = ago(clock.parse(last["time"]), now)
        yield problem("errors.recent", count=len(recent), days=ERRORS_DAYS, path=path, age=since, **last)


def journal(found: Journal) -> Iterator[Finding]:
    """Find changes in the journal that are unfinished, or can't be read and so can't be undone."""
    ledger = found.ledger()
    if found.unfinished() is not None:
        yield note("journal.cut_off")
    if ledger.skipped:
        yield note("journal.skipped", count=ledger.skipped, path=found.path)


def kept(found: Journal, now: float) -> Iterator[Finding]:
    """Report what is kept, and whether some of it is due for removal."""
    ledger = found.ledger()
    due = retention.due(found.root, now, ledger)
    oldest = next((clock.parse(each.time) for each in ledger.all()), None)
    versions = Versions(found.root)
    versions.follow()
    facts: dict[str, Any] = {
        "changes": sum(each.is_change for each in ledger.all()),
        "since": now - oldest if oldest is not None else None,
        "log": sum(delivery_log.sizes(found.root).values()),
        "versions": versions.bytes_kept,
        "keep_days": retention.limits(found.root).days,
    }
    yield note("kept.due", **facts) if due.anything else good("kept.ok", **facts)
