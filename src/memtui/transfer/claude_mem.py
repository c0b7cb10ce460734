"""claude-mem databases (`~/.claude-mem/claude-mem.db`): observations of sessions and their summaries, in SQLite.

The schema grew over its versions: only columns that are there are read. Nothing is written to the database or beside
it: it is opened alone and as one that nobody changes. A write-ahead log, which holds pages only, is read in a private
copy. A rollback journal can name files that SQLite then deletes, so it is never opened.
"""

import contextlib
import json
import os
import shutil
import sqlite3
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from memtui.core.base import clock
from memtui.core.base.phrasing import size, some
from memtui.core.memories import memory
from memtui.transfer.incoming import Incoming, SourceContent, UnreadableSourceError, first_words, words_of

KIND = "claude-mem"
MAGIC = b"SQLite format 3\0"
TABLES = ("observations", "session_summaries")
SESSIONS = "sdk_sessions"
# The newest rows of each table that are read, the characters of a value, and the seconds that a query may take.
MAX_ROWS, MAX_VALUE, SECONDS = 20_000, 120_000, 30.0
MAX_COPY = 2 << 30
# The first bytes of what stands beside a database and holds something (https://www.sqlite.org/fileformat2.html): of a
# write-ahead log, and of a rollback journal that is not over.
WAL_MAGIC, JOURNAL_MAGIC = b"\x37\x7f\x06", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
PARTS = (
    ("learned", "Learned"),
    ("completed", "Completed"),
    ("investigated", "Investigated"),
    ("next_steps", "Next steps"),
    ("notes", "Notes"),
)
Row = Mapping[str, object]


def read(path: str, project: str) -> SourceContent:
    """Return the rows of a database. With `project`, the name of a directory, only those of it; those of other projects
    are told in `notes`. Raises UnreadableSourceError."""
    found = SourceContent(KIND, "a claude-mem database")
    try:
        with contextlib.ExitStack() as stack:
            database = _open(path, stack)
            tables = {
                str(name)
                for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            }
            if not tables & set(TABLES):
                raise UnreadableSourceError(
                    f"{path} is an SQLite database, but not of claude-mem: it has no table {' or '.join(TABLES)}.",
                    "claude-mem keeps its own in ~/.claude-mem/claude-mem.db.",
                )
            sessions = _sessions(database) if SESSIONS in tables else {}
            others: dict[str, int] = {}
            for table in TABLES:
                for row in _rows(database, table) if table in tables else ():
                    name = _project(row)
                    if project and name and name.casefold() != project.casefold():
                        others[name] = others.get(name, 0) + 1
                        continue
                    where = f"{os.path.basename(path)}: {table} {row.get('id')}"
                    found.add((_observation if table == TABLES[0] else _summary)(row, where, sessions))
    except sqlite3.Error as error:
        raise UnreadableSourceError(
            f"{path} is a damaged database: {error}.",
            "Stop claude-mem and try again; `sqlite3 FILE .recover` may save what is in it.",
        ) from error
    except OSError as error:
        raise UnreadableSourceError(
            f"{path} can't be read: {error.strerror or error}.", "Look at its owner and mode."
        ) from error
    if others:
        told = some([f"{name} ({count})" for name, count in sorted(others.items(), key=lambda each: -each[1])])
        found.notes.append(f"Left out, of other projects: {told}. Import them there, or all with --scope global.")
    return found


def _open(path: str, stack: contextlib.ExitStack) -> sqlite3.Connection:
    """Open a database for reading. Raises sqlite3.Error, OSError, UnreadableSourceError."""
    if _begins(path + "-journal", JOURNAL_MAGIC):
        raise UnreadableSourceError(
            f"{path} is being written, or was when its program stopped: {os.path.basename(path)}-journal is beside it.",
            "Let claude-mem finish that: start it once, stop it, and try again.",
        )
    if not _begins(path + "-wal", WAL_MAGIC):
        return _connected(path, "mode=ro&immutable=1", stack)
    bytes_ = sum(os.stat(path + ending).st_size for ending in ("", "-wal"))
    if bytes_ > MAX_COPY:
        raise UnreadableSourceError(
            f"{path} is in use, and with {size(bytes_)} too large to be copied.", "Stop claude-mem, and try again."
        )
    directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="memtui-import-"))
    for ending in ("", "-wal"):
        shutil.copyfile(path + ending, f"{directory}/copy.db{ending}")
    return _connected(f"{directory}/copy.db", "mode=rw", stack)


def _begins(path: str, magic: bytes) -> bool:
    """Return whether a file is there and begins so. Raises OSError if it is no regular file, or can't be read."""
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            raise OSError(f"{os.path.basename(path)} beside it is no regular file")
        with open(path, "rb") as file:
            return file.read(len(magic)) == magic
    except FileNotFoundError:
        return False


def _connected(path: str, how: str, stack: contextlib.ExitStack) -> sqlite3.Connection:
    found = sqlite3.connect(f"file:{quote(os.path.abspath(path))}?{how}", uri=True)
    stack.callback(found.close)
    found.row_factory = sqlite3.Row
    found.text_factory = lambda data: data.decode("utf-8", "replace")
    end = time.monotonic() + SECONDS
    # A damaged or hostile database must not keep a person waiting.
    found.set_progress_handler(lambda: time.monotonic() > end, 100_000)
    found.execute("PRAGMA trusted_schema = OFF")
    found.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return found


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    return [str(row["name"]) for row in database.execute(f"PRAGMA table_info({table})")]


def _rows(database: sqlite3.Connection, table: str) -> Iterator[Row]:
    """Yield the newest rows of a table, newest first, values cut."""
    columns = [each for each in _columns(database, table) if each.isidentifier()]
    parts = ", ".join(f'substr("{each}", 1, {MAX_VALUE}) AS "{each}"' for each in columns)
    order = next((each for each in ("created_at_epoch", "created_at", "id") if each in columns), "rowid")
    query = f'SELECT {parts} FROM "{table}" ORDER BY "{order}" DESC LIMIT {MAX_ROWS}'  # noqa: S608  our own names
    for row in database.execute(query):
        yield {key: row[key] for key in row.keys()}  # noqa: SIM118  a Row iterates over its values


def _sessions(database: sqlite3.Connection) -> dict[str, str]:
    """Return the client's ids of sessions, by claude-mem's own."""
    columns = _columns(database, SESSIONS)
    own = next((each for each in ("memory_session_id", "sdk_session_id") if each in columns), "")
    theirs = next((each for each in ("content_session_id", "claude_session_id") if each in columns), "")
    if not own or not theirs:
        return {}
    query = f'SELECT "{own}", "{theirs}" FROM "{SESSIONS}" WHERE "{own}" IS NOT NULL'  # noqa: S608  our own names
    return {str(one): str(other) for one, other in database.execute(query)}


def _text(row: Row, *keys: str) -> str:
    found = next((row[key] for key in keys if row.get(key)), "")
    if isinstance(found, bytes):
        return found.decode("utf-8", "replace")
    return found if isinstance(found, str) else str(found)


def _project(row: Row) -> str:
    """Return the name of the project that a row is of. claude-mem calls a worktree `project/worktree`, and notes in
    `merged_into_project` what it became part of; older versions have the path of a directory."""
    name = _text(row, "merged_into_project", "project").rstrip("/")
    return os.path.basename(name) if os.path.isabs(name) else name.partition("/")[0]


def _list(row: Row, key: str) -> tuple[str, ...]:
    """Return a column with a JSON list; of older versions, with words and commas."""
    given = _text(row, key)
    try:
        found = json.loads(given) if given else []
    except (ValueError, RecursionError):
        found = given
    return words_of(found) if isinstance(found, (list, str)) else ()


def _time(row: Row) -> str:
    epoch = _text(row, "created_at_epoch")
    if epoch.isdigit() and 0 < int(epoch) < 1 << 53:
        return clock.iso_seconds(int(epoch) / (1000 if len(epoch) > 11 else 1))
    return _text(row, "created_at")


def _session(row: Row, sessions: Mapping[str, str]) -> str:
    return sessions.get(_text(row, "memory_session_id", "sdk_session_id"), "")


def _observation(row: Row, where: str, sessions: Mapping[str, str]) -> Incoming:
    title, kind = _text(row, "title"), _text(row, "type")
    facts = _facts(row)
    told = _text(row, "narrative", "text")
    body = "\n\n".join(filter(None, (told, "\n".join(f"- {each}" for each in facts))))
    files = _list(row, "files_modified")
    if files:
        body += "\n\n**Files:** " + ", ".join(files)
    about = ": ".join(filter(None, (title, " ".join(_text(row, "subtitle").split())))) or first_words(body)
    return Incoming(
        where,
        title or memory.slugify(about),
        " ".join(about.split()),
        body.strip(),
        type="project",
        created=_time(row),
        modified=_time(row),
        tags=tuple(dict.fromkeys(filter(None, (kind, *_list(row, "concepts"))))),
        session=_session(row, sessions),
    )


def _facts(row: Row) -> list[str]:
    """Return the facts of an observation, which may have commas in them."""
    given = _text(row, "facts")
    try:
        found = json.loads(given) if given else []
    except (ValueError, RecursionError):
        found = given.split("\n")
    return [" ".join(str(each).split()) for each in found if str(each).strip()] if isinstance(found, list) else []


def _summary(row: Row, where: str, sessions: Mapping[str, str]) -> Incoming:
    request = " ".join(_text(row, "request").split())
    parts = [f"**{title}:** {text}" for key, title in PARTS if (text := _text(row, key).strip())]
    body = "\n\n".join(parts)
    about = f"What a session did: {request}" if request else first_words(body)
    return Incoming(
        where,
        memory.slugify(request or about)[:60].strip("-"),
        about[:200],
        body,
        type="project",
        created=_time(row),
        modified=_time(row),
        tags=("session-summary",),
        triggers=(request,) if request else (),
        session=_session(row, sessions),
    )
