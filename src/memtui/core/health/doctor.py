"""What a person could have wrong with memtui's files, and how to mend it. Looks only; nothing is changed.

The hooks and the client are looked at by the command line (cli/commands/doctor.py), which may import them.
"""

import os
from collections.abc import Iterator, Mapping, Sequence

from memtui.core.base import backwards, clock, fastjson, fs, paths
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import ago, many, size
from memtui.core.deliveries import log as delivery_log
from memtui.core.health import content_checks, retention, settings_checks
from memtui.core.health.content_checks import Fits
from memtui.core.health.findings import NOTE, OK, PROBLEM, Finding, some
from memtui.core.journal import compaction
from memtui.core.journal.journal import Journal
from memtui.core.memories.memory import Memory

DAY = 86400.0
ERRORS_DAYS = 7
TRASH_BYTES = 100_000_000
FILES_LOOKED_AT = 20_000


def check(
    env: dict[str, str],
    cwd: str,
    now: float,
    fits: Fits,
    actions: Mapping[str, str] | None = None,
    known: dict[str, Memory] | None = None,
) -> list[Finding]:
    """Everything but hooks and client. `fits` tells of guidance (entry, scope, inbox) whether a delivery has room;
    `actions` are those of the control room, id to keys, that `[keys]` may name; `known` as for `survey.survey`.

    A check that fails itself is a finding; the others go on.
    """
    root = paths.root(env)
    found: list[Finding] = []
    journal = Journal(root)
    checks: dict[str, Iterator[Finding]] = {
        "root": _root(root),
        "config": settings_checks.check(env, root, paths.project_root(cwd), actions),
        "errors": _errors(root, now),
        "inbox": content_checks.inboxes(root, now, fits),
        "memories": content_checks.memories(env, cwd, known),
        "trust": content_checks.trust(env, root, cwd),
        "journal": _journal(journal),
        "log": _log(root),
        "kept": _kept(journal, now),
    }
    for area, findings in checks.items():
        try:
            got = list(findings)
        except (OSError, MemtuiError, ValueError, RecursionError) as error:
            why = f"{error.strerror}: {error.filename}" if isinstance(error, OSError) and error.filename else error
            words = "Check owner and mode of the files it names."
            got = [Finding(area, PROBLEM, f"can't be looked at: {why}", words)]
        found += got or [Finding(area, OK, "")]
    return found


def strangers(found: Sequence[tuple[str, int]]) -> Iterator[Finding]:
    """What is to be said of directories that belong to others, (path, user)."""
    for path, owner in found:
        whose = f"{path} belongs to another user (number {owner}): nothing there is read or written"
        yield Finding("root", PROBLEM, whose, f'Make it yours: sudo chown -R "$USER" {path}, or move it away.')


def _root(root: str) -> Iterator[Finding]:
    if not os.path.lexists(root):
        above = root
        while not os.path.isdir(above):
            above = os.path.dirname(above)
        if not os.access(above, os.W_OK | os.X_OK):
            yield Finding(
                "root",
                PROBLEM,
                f"{root} can't be made: {above} is not writable",
                f"chmod u+rwx {above}, or set MEMTUI_HOME.",
            )
        else:
            yield Finding("root", OK, f"{root} is not there yet; the first thing that is written makes it")
        return
    if not os.path.isdir(root):
        yield Finding("root", PROBLEM, f"{root} is no directory", "Move it away.")
        return
    if not os.access(root, os.R_OK | os.W_OK | os.X_OK):
        remedy = f"memtui doctor --fix files, or: chmod -R u+rwX {root}"
        yield Finding("root", PROBLEM, f"{root} is not writable: hooks log nothing", remedy)
        return
    if os.path.isdir(root + "/projects"):
        for name in sorted(os.listdir(root + "/projects")):
            yield from strangers(paths.inbox_strangers(root, name))
    open_to_others, locked = [], []
    # In a directory that is closed, a note left by `echo >>` is as safe as any.
    closed = not os.stat(root).st_mode & 0o077
    for number, (path, mode) in enumerate(modes(root)):
        if number >= FILES_LOOKED_AT:
            break
        if mode & 0o077 and not closed:
            open_to_others.append(os.path.relpath(path, root))
        if mode & 0o600 != 0o600:
            locked.append(os.path.relpath(path, root))
    if open_to_others:
        yield Finding(
            "root",
            PROBLEM,
            f"{len(open_to_others)} of memtui's files are open to other users: {some(open_to_others)}",
            f"memtui doctor --fix files, or: chmod -R go-rwx {root}",
        )
    if locked:
        yield Finding(
            "root",
            PROBLEM,
            f"not readable and writable for you: {some(locked)}",
            f"memtui doctor --fix files, or: chmod -R u+rwX {root}",
        )
    trash = sum(os.lstat(path).st_size for path, _ in modes(root + "/trash"))
    if trash > TRASH_BYTES:
        yield Finding(
            "root", NOTE, f"the trash holds {trash // 1_000_000} MB", "memtui restore lists it; memtui rm --purge ID."
        )


def modes(top: str) -> Iterator[tuple[str, int]]:
    """Every file and directory from `top` on, with its permission bits; no symlinks."""
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


def _errors(root: str, now: float) -> Iterator[Finding]:
    path = root + "/log/errors.jsonl"
    if not os.path.exists(path):
        return
    recent = []
    for _, line in backwards.lines(path, longest=-1):
        row = fastjson.loads_dict(line)
        seconds = clock.parse(row.get("time"))
        if seconds is None:
            continue
        if seconds < now - ERRORS_DAYS * DAY:
            break
        recent.append(row)
    if recent:
        last = recent[0]
        what = f"{last.get('where')}: {last.get('error')}: {last.get('message')}"
        yield Finding(
            "errors",
            PROBLEM,
            f"{many(len(recent), 'error')} within {ERRORS_DAYS} days; the last at {last.get('time')}: {what}",
            f"Look into {path}. Once that is mended, set it aside: memtui doctor --fix errors",
        )


def _journal(journal: Journal) -> Iterator[Finding]:
    ledger = journal.ledger()
    if journal.unfinished() is not None:
        yield Finding("journal", NOTE, "a change was cut off; the next one finishes it or takes it back")
    if ledger.skipped:
        yield Finding("journal", NOTE, f"{ledger.skipped} lines of {journal.path} can't be read: those can't be undone")


def _log(root: str) -> Iterator[Finding]:
    for path in delivery_log.months(root)[:1]:
        bad = 0
        for number, (_, line) in enumerate(backwards.lines(path, longest=-1)):
            if number >= 1000:
                break
            bad += fastjson.loads_dict(line).get("v") != delivery_log.VERSION
        if bad:
            yield Finding("log", NOTE, f"{bad} of the newest lines of {path} can't be read and are passed over")


def _kept(journal: Journal, now: float) -> Iterator[Finding]:
    """How much is kept, and what is due to go."""
    ledger = journal.ledger()
    keep = retention.limits(journal.root)
    due = retention.due(journal.root, now, ledger, trusted=False)
    changes = sum(map(compaction.counts, ledger.all()))
    oldest = next((clock.parse(each.time) for each in ledger.all()), None)
    since = f" since {ago(oldest, now)}" if oldest is not None else ""
    log = sum(delivery_log.sizes(journal.root).values())
    texts = f"their texts for {many(keep.texts_days, 'day')}" if keep.texts_days else "with all texts"
    words = f"{many(changes, 'change')} for undo{since}, {size(log)} of deliveries, {texts}"
    if due.anything:
        yield Finding("kept", NOTE, f"{words}; some of it is due to go with the end of a turn", "memtui gc --dry-run")
    else:
        yield Finding("kept", OK, words)
