"""The rules that memories state, brought up to date in the file of counts: only memories that changed are read.

Rules of global memories count in all sessions, those of a project's and its native memory in the project's. What came
with a repository is counted before it is trusted, too: counting tells the session nothing, and refuses nothing."""

import os
import sqlite3
from contextlib import suppress

from memtui.base import clock_hot, fastjson_hot, fs_hot, paths_hot
from memtui.base.errors import MemtuiError
from memtui.client import locate_hot
from memtui.rules import counts_file, rule_hot
from memtui.rules.rule_hot import Rule
from memtui.store import memory, scopes
from memtui.store.memory import Memory
from memtui.store.versions.versions import Versions

KINDS = {"global", "project", "auto", locate_hot.TEAM}
MOST, MOST_IN_PLACE = 32, 1000  # rules of one memory that count, and of one place
MARKS = (b"rules:", b"forbids:")  # what stands in a memory that has rules


def refresh(database: sqlite3.Connection, env: dict[str, str], place: str, now: float) -> None:
    """Bring the rules of a project, empty for none, and of all projects up to date. Raises OSError, sqlite3.Error."""
    versions: Versions | None = None
    for scope in scopes.discover(env, place or "/"):
        if scope.kind not in (KINDS if place else {"global"}):
            continue
        where = "" if scope.kind == "global" else place
        query = "SELECT path, stamp FROM memories WHERE directory = ? AND gone IS NULL"
        stamps = dict(database.execute(query, (scope.directory,)))
        for name, problem in scopes.files(scope):
            path = f"{scope.directory}/{name}"
            stamp = "" if problem else _stamp(path)
            if not stamp or stamps.pop(path, None) == stamp:
                continue
            data = fs_hot.read_bytes(path, memory.MAX_BYTES)
            rules: list[Rule] = []
            if any(mark in data for mark in MARKS):
                mem = memory.from_bytes(path, scope.label, data, mtime=os.stat(path).st_mtime)
                rules = rule_hot.parse_all(mem.fields)[0][:MOST]
                versions = versions or _versions(paths_hot.root(env))
                since = _written(mem, versions, scope.directory, name)
            _state(database, path, where, rules)
            database.execute(
                "INSERT INTO memories VALUES (?, ?, ?, ?, ?, NULL) ON CONFLICT (path) DO UPDATE SET"
                " place = excluded.place, directory = excluded.directory, stamp = excluded.stamp, gone = NULL,"
                " since = min(ifnull(since, excluded.since), excluded.since)",
                (path, scope.directory, where, stamp, since if rules else None),
            )
        for path in stamps:
            database.execute("UPDATE memories SET gone = ? WHERE path = ?", (now, path))


def _stamp(path: str) -> str:
    with suppress(OSError):
        status = os.stat(path)
        return f"{status.st_mtime_ns} {status.st_size} {status.st_ino}"
    return ""


def _versions(root: str) -> Versions:
    versions = Versions(root)
    with suppress(MemtuiError):  # the times of files and their own fields remain
        versions.follow()
    return versions


def _written(mem: Memory, versions: Versions, directory: str, name: str) -> float:
    """Return when a memory was written first: by its own fields, its versions, else the time of its file."""
    times = [clock_hot.parse(memory.text_of(mem.fields, key)) for key in ("created", "date", "modified", "updated")]
    times += [version.written for version in versions.line(directory, name)[:1]]
    return min(time for time in (*times, mem.mtime) if time is not None)


def _state(database: sqlite3.Connection, path: str, place: str, rules: list[Rule]) -> None:
    """Replace what is known of the rules of a memory."""
    database.execute("DELETE FROM statements WHERE path = ?", (path,))
    for rule in rules:
        key = (place, rule.key())
        database.execute("INSERT OR IGNORE INTO rules (place, key) VALUES (?, ?)", key)
        (number,) = database.execute("SELECT id FROM rules WHERE place = ? AND key = ?", key).fetchone()
        entry = fastjson_hot.dumps(rule.as_row())
        database.execute("INSERT OR REPLACE INTO statements VALUES (?, ?, ?)", (path, number, entry))


def rules_at(database: sqlite3.Connection, place: str) -> dict[int, Rule]:
    """Return the rules that count in the sessions of a project, by their number."""
    query = "SELECT rule, entry FROM stated WHERE place IN ('', ?) ORDER BY rule LIMIT ?"
    rows = database.execute(query, (place, MOST_IN_PLACE))
    return {number: rule for number, entry in rows if (rule := counts_file.rule_of(entry)) is not None}


def forget(database: sqlite3.Connection, before: float) -> None:
    """Forget memories that are gone since before a time, and what was counted of rules that no memory has."""
    database.execute("DELETE FROM memories WHERE gone < ?", (before,))
    database.execute("DELETE FROM statements WHERE path NOT IN (SELECT path FROM memories)")
    database.execute("DELETE FROM rules WHERE id NOT IN (SELECT rule FROM statements)")
    database.execute("DELETE FROM moments WHERE rule NOT IN (SELECT id FROM rules)")
