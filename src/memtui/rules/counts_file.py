"""`rules/counts.db` under the data root: what was counted (SQLite). One process writes, in short transactions.

It can be deleted: transcripts of the last weeks are counted anew then. A file that is torn, foreign or of another
version is moved aside."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from memtui.base import fastjson_hot, fs_hot
from memtui.rules import rule_hot
from memtui.rules.rule_hot import Rule

if TYPE_CHECKING:  # the import doubles the time of a start
    import sqlite3

VERSION = 1
FILE, DAMAGED = "rules/counts.db", "rules/counts.db.damaged"
DAMAGE = (11, 26)  # what SQLite says of a file that is damaged, or another's: SQLITE_CORRUPT, SQLITE_NOTADB
PATIENCE = 5.0  # seconds for which a writer waits while others read, and these while it writes

# `place`: the root of a project, empty for all. `gone`: since when, in seconds since the epoch. `facts` of a
# transcript: how far it was counted, with what state, for which rules. `call`: a hash of the call's id. `is_open`: the
# turn goes on, and what it decides may still change. `looks`: the rules for which all transcripts were counted.
SCHEMA = """
CREATE TABLE memories (path TEXT PRIMARY KEY, directory TEXT, place TEXT, stamp TEXT, since REAL, gone REAL);
CREATE TABLE rules (id INTEGER PRIMARY KEY AUTOINCREMENT, place TEXT, key TEXT, UNIQUE (place, key));
CREATE TABLE statements (path TEXT, rule INTEGER, entry TEXT, PRIMARY KEY (path, rule)) WITHOUT ROWID;
CREATE TABLE transcripts (id INTEGER PRIMARY KEY, path TEXT UNIQUE, place TEXT, top TEXT, facts TEXT);
CREATE TABLE sessions (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE moments (rule INTEGER, call INTEGER, transcript INTEGER, session INTEGER, time REAL, is_kept INTEGER,
    is_open INTEGER, uuid TEXT, line TEXT, PRIMARY KEY (rule, call)) WITHOUT ROWID;
CREATE INDEX moments_of_session ON moments (session);
CREATE INDEX moments_of_transcript ON moments (transcript);
CREATE TABLE looks (rule INTEGER);
CREATE VIEW stated AS SELECT * FROM statements JOIN memories USING (path) WHERE gone IS NULL;
CREATE VIEW told AS SELECT stated.path, stated.rule, since, time, name AS session, uuid, key, is_kept, line
    FROM stated JOIN moments USING (rule) JOIN rules ON rules.id = stated.rule JOIN sessions ON sessions.id = session;
"""


@contextmanager
def written(root: str) -> "Iterator[sqlite3.Connection]":
    """Open the file for writing, and make it if there is none that can be used. Raises OSError, sqlite3.Error."""
    import sqlite3

    path = f"{root}/{FILE}"
    try:
        database = _open_or_make(path)
    except sqlite3.DatabaseError as error:
        _move_aside(root, error)
        database = _open_or_make(path)
    try:
        with closing(database):
            yield database
    except sqlite3.DatabaseError as error:
        _move_aside(root, error)
        raise


def _move_aside(root: str, error: "sqlite3.DatabaseError") -> None:
    """Move the file aside. Raises the error if that does not say that the file is damaged: a disk is full."""
    if error.sqlite_errorcode & 0xFF not in DAMAGE:
        raise error
    os.replace(f"{root}/{FILE}", f"{root}/{DAMAGED}")
    fs_hot.unlink(f"{root}/{FILE}-journal")


def _open_or_make(path: str) -> "sqlite3.Connection":
    import sqlite3

    fs_hot.makedirs(os.path.dirname(path))
    fs_hot.create(path, b"")  # for nobody else to read; SQLite gives its other files the same mode
    database = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
    try:
        database.execute("PRAGMA journal_mode = DELETE")  # with WAL, who only reads writes files beside it
        database.execute("PRAGMA synchronous = NORMAL")
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
        if not tables:
            database.executescript(f"BEGIN IMMEDIATE; {SCHEMA} PRAGMA user_version = {VERSION}; COMMIT")
        elif "told" not in tables or database.execute("PRAGMA user_version").fetchone()[0] != VERSION:
            error = sqlite3.DatabaseError("it is another program's, or of another version")
            error.sqlite_errorcode = DAMAGE[1]
            raise error
    except BaseException:
        database.close()
        raise
    return database


def query(root: str, *queries: str, **values: str | None) -> list[list[tuple[Any, ...]]]:
    """Return the rows of each query, all of one moment; none if there is no file that can be read."""
    path = f"{root}/{FILE}"
    if not os.path.exists(path):
        return [[] for _ in queries]
    import sqlite3

    try:
        with closing(
            sqlite3.connect(f"file:{quote(path)}?mode=ro", timeout=PATIENCE, uri=True, isolation_level=None)
        ) as database:
            database.execute("BEGIN")
            if database.execute("PRAGMA user_version").fetchone()[0] == VERSION:
                return [database.execute(text, values).fetchall() for text in queries]
    except sqlite3.Error:
        pass
    return [[] for _ in queries]


def rule_of(entry: str) -> Rule | None:
    """Read a rule as it is stored; None for what an earlier version took for one."""
    rules, _ = rule_hot.parse_all({"rules": [fastjson_hot.loads(entry)]})
    return rules[0] if rules else None
