"""claude-mem databases: observations and summaries, only read: a write-ahead log in a copy, a journal never."""

import contextlib
import json
import os
import shutil
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from urllib.parse import quote

from memtui.base import clock_hot, fs_hot
from memtui.base.phrasing_hot import size, some
from memtui.store import memory
from memtui.transfer.markdown import Incoming, SourceContent, UnreadableSourceError, described, unreadable, words_of

KIND = "claude-mem"
FILE = "claude-mem.db"  # in claude-mem's own directory
MAGIC = b"SQLite format 3\0"
TABLES = ("observations", "session_summaries")
# The newest rows of each table that are read, the characters of a value, and the seconds that a query may take.
MAX_ROWS, MAX_VALUE, SECONDS = 20_000, 120_000, 30.0
MAX_COPY = 2 << 30
# The first bytes of what stands beside a database and holds something (https://www.sqlite.org/fileformat2.html): of a
# write-ahead log, and of a rollback journal that is not over.
WAL_MAGIC, JOURNAL_MAGIC = b"\x37\x7f\x06", b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
PARTS = ("learned", "completed", "investigated", "next_steps", "notes")  # of a summary
Row = Mapping[str, object]


def read(path: str, project: str) -> SourceContent:
    """Return a database's rows, with `project` only that directory's. Raises UnreadableSourceError."""
    content = SourceContent(path, KIND, "a claude-mem database")
    others: Counter[str] = Counter()
    try:
        with contextlib.ExitStack() as stack:
            database = _open(path, stack)
            tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not tables & set(TABLES):
                why = f"{path} is an SQLite database, but not of claude-mem: it has no table {' or '.join(TABLES)}."
                raise UnreadableSourceError(why, f"claude-mem keeps its own in ~/.claude-mem/{FILE}.")
            for table in TABLES:
                for row in _rows(database, table) if table in tables else ():
                    name = _project(row)
                    if project and name and name.casefold() != project.casefold():
                        others[name] += 1
                        continue
                    where = f"{os.path.basename(path)}: {table} {row.get('id')}"
                    content.add(_observation(row, where) if table == TABLES[0] else _summary(row, where))
    except sqlite3.Error as error:
        hint = "Stop claude-mem and try again; `sqlite3 FILE .recover` may save what is in it."
        raise UnreadableSourceError(f"{path} is a damaged database: {error}.", hint) from error
    except OSError as error:
        raise unreadable(path, error) from error
    if others:
        names = some([f"{name} ({count})" for name, count in others.most_common()])
        content.notes.append(f"Left out, of other projects: {names}. Import them there, or all with --scope global.")
    return content


def _open(path: str, stack: contextlib.ExitStack) -> sqlite3.Connection:
    """Open a database, or a copy with its write-ahead log. Raises sqlite3.Error, OSError, UnreadableSourceError."""
    if fs_hot.read_or_empty(path + "-journal", len(JOURNAL_MAGIC)) == JOURNAL_MAGIC:
        hint, journal = "Let claude-mem finish that: start it once, stop it, and try again.", os.path.basename(path)
        why = f"{path} is being written, or was when its program stopped: {journal}-journal is beside it."
        raise UnreadableSourceError(why, hint)
    how = "mode=ro&immutable=1"
    if fs_hot.read_or_empty(path + "-wal", len(WAL_MAGIC)) == WAL_MAGIC:
        bytes_ = sum(os.stat(path + ending).st_size for ending in ("", "-wal"))
        if bytes_ > MAX_COPY:
            what = f"{path} is in use, and with {size(bytes_)} too large to be copied."
            raise UnreadableSourceError(what, "Stop claude-mem, and try again.")
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="memtui-import-"))
        for ending in ("", "-wal"):
            shutil.copyfile(path + ending, f"{directory}/copy.db{ending}")
        path, how = f"{directory}/copy.db", "mode=rw"
    connection = sqlite3.connect(f"file:{quote(os.path.abspath(path))}?{how}", uri=True)
    stack.callback(connection.close)
    connection.row_factory = sqlite3.Row
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    end = time.monotonic() + SECONDS
    # A damaged or hostile database must not keep a person waiting.
    connection.set_progress_handler(lambda: time.monotonic() > end, 100_000)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return connection


def _rows(database: sqlite3.Connection, table: str) -> Iterator[Row]:
    names = [str(row["name"]) for row in database.execute(f"PRAGMA table_info({table})")]
    columns = [column for column in names if column.isidentifier()]
    parts = ", ".join(f'substr("{column}", 1, {MAX_VALUE}) AS "{column}"' for column in columns)
    order = next((column for column in ("created_at_epoch", "created_at", "id") if column in columns), "rowid")
    query = f'SELECT {parts} FROM "{table}" ORDER BY "{order}" DESC LIMIT {MAX_ROWS}'  # noqa: S608  our own names
    for row in database.execute(query):
        yield {key: row[key] for key in row.keys()}  # noqa: SIM118  a Row iterates over its values


def _text(row: Row, *keys: str) -> str:
    value = next((row[key] for key in keys if row.get(key)), "")
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _project(row: Row) -> str:
    """Return the project of a row: of a worktree the first part, in older versions a directory's name."""
    name = _text(row, "merged_into_project", "project").rstrip("/")
    return os.path.basename(name) if os.path.isabs(name) else name.partition("/")[0]


def _list(row: Row, key: str) -> list[object]:
    """Return a column with a JSON list; older versions have lines."""
    text = _text(row, key)
    try:
        values = json.loads(text) if text else []
    except (ValueError, RecursionError):
        values = text.split("\n")
    return values if isinstance(values, list) else []


def _time(row: Row) -> str:
    epoch = _text(row, "created_at_epoch")
    if epoch.isdigit() and 0 < int(epoch) < 1 << 53:
        return clock_hot.iso_seconds(int(epoch) / (1000 if len(epoch) > 11 else 1))
    return _text(row, "created_at")


def _observation(row: Row, where: str) -> Incoming:
    title, time = _text(row, "title"), _time(row)
    facts = [f"- {fact}" for fact_text in _list(row, "facts") if (fact := " ".join(str(fact_text).split()))]
    files = ", ".join(words_of(_list(row, "files_modified")))
    parts = (_text(row, "narrative", "text"), "\n".join(facts), f"**Files:** {files}" if files else "")
    body = "\n\n".join(filter(None, parts))
    about = " ".join(": ".join(filter(None, (title, _text(row, "subtitle")))).split()) or described("", body)
    tags = dict.fromkeys(filter(None, (_text(row, "type"), *words_of(_list(row, "concepts")))))
    name = title or memory.slugify(about)
    return Incoming(where, name, about, body.strip(), "project", created=time, modified=time, tags=tuple(tags))


def _summary(row: Row, where: str) -> Incoming:
    request, time = " ".join(_text(row, "request").split()), _time(row)
    parts = [(key.replace("_", " ").capitalize(), _text(row, key).strip()) for key in PARTS]
    body = "\n\n".join(f"**{title}:** {text}" for title, text in parts if text)
    about = f"What a session did: {request}" if request else described("", body)
    name, triggers = memory.slugify(request or about)[:60].strip("-"), (request,) if request else ()
    times = {"created": time, "modified": time}
    return Incoming(where, name, about[:200], body, "project", **times, tags=("session-summary",), triggers=triggers)
