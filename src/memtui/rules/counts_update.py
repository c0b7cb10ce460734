"""Transcripts are counted into the file of counts: what is new of each, and for new rules all of the last weeks.

A piece of a transcript, and how far it was counted, go into the file in one transaction: whoever is stopped goes on
there. What was counted of a transcript that is gone stays; one that was rewritten is counted anew."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memtui.base import clock_hot, fastjson_hot, fs_hot, ids_hot, paths_hot
from memtui.client import locate_hot, projects
from memtui.client.agents import agents_hot, programs
from memtui.client.transcripts import transcript_hot
from memtui.client.transcripts.conversation import note_position, position
from memtui.rules import counts_file, stated_rules
from memtui.rules.counting import Moment, SessionCounter
from memtui.rules.rule_hot import Rule
from memtui.rules.tool_calls import is_wanted
from memtui.settings import config_hot

if TYPE_CHECKING:
    import sqlite3

LOCK = "run/rules.lock"
DAYS = 60  # days of transcripts from which a new rule is counted
PIECE = 4 << 20  # bytes after which a count can be stopped, and goes on another time
# A moment that is there already is replaced, or stays.
REPLACE = """INSERT OR REPLACE INTO moments VALUES
    (?, ?, ?, (SELECT id FROM sessions WHERE name = ?), ?, ?, ?, ?, ?)"""
ADD = REPLACE.replace("REPLACE", "IGNORE")


@dataclass
class CountProgress:
    """How far a count is; bytes and files: of all that were looked at."""

    files: int = 0
    all_files: int = 0
    bytes: int = 0
    all_bytes: int = 0
    is_stopped: bool = False


GoOn = Callable[[CountProgress], bool]


def update(
    env: dict[str, str],
    transcripts: Iterable[str] = (),
    place: str = "",
    go_on: GoOn = lambda _: True,
    *,
    everything: bool = False,
    patience: float = 0.0,
) -> CountProgress:
    """Count what is new in transcripts, and in those of the last DAYS with `everything`, or if these were not counted
    for some rule; `place`: the root of a project whose rules are looked at. `go_on` is asked often; False ends it.
    Raises LockTimeoutError if another process counts for longer than `patience` seconds, OSError, sqlite3.Error."""
    root = paths_hot.root(env)
    with fs_hot.Lock(f"{root}/{LOCK}", patience), counts_file.written(root) as database:
        counting = _Counting(database, env, go_on)
        counting.rules_at(place)
        for path in transcripts:
            counting.count(path)
        counting.catch_up(everything=everything)
        return counting.progress


def forget(root: str, before: float) -> None:
    """Forget what was counted for memories that are gone since before a time. Raises as `update` does."""
    if os.path.exists(f"{root}/{counts_file.FILE}"):
        with fs_hot.Lock(f"{root}/{LOCK}", 0.0), counts_file.written(root) as database, _transaction(database):
            stated_rules.forget(database, before)


class _Counting:
    """One run, with the rules of each project as they are now."""

    def __init__(self, database: "sqlite3.Connection", env: dict[str, str], go_on: GoOn) -> None:
        self.database, self.env, self.go_on = database, env, go_on
        self.progress = CountProgress()
        self.now = clock_hot.now()
        self.settings = config_hot.load(paths_hot.root(env))
        self.rules: dict[str, dict[int, Rule]] = {}  # by project

    def rules_at(self, place: str) -> dict[int, Rule]:
        """Return the rules of a project by number, after a look at its memories."""
        if place not in self.rules:
            with _transaction(self.database):
                stated_rules.refresh(self.database, self.env, place, self.now)
            off = "off" in {config_hot.value(self.settings, place or None, key) for key in ("rules", "mode")}
            self.rules[place] = {} if off else stated_rules.rules_at(self.database, place)
        return self.rules[place]

    def catch_up(self, *, everything: bool) -> None:
        """Count the transcripts of the last DAYS if there are new rules; what was counted is passed over."""
        looked = {number for (number,) in self.database.execute("SELECT rule FROM looks")}
        if self.progress.is_stopped or (self._stated() <= looked and not everything):
            return
        oldest = self.now - DAYS * clock_hot.DAY
        files = programs.session_files(self.env, oldest)
        self.progress.all_files, self.progress.all_bytes = len(files), sum(file.size for file in files)
        done = 0
        for number, file in enumerate(files, 1):
            self.count(file.path)
            if self.progress.is_stopped:
                return
            done += file.size
            self.progress.files, self.progress.bytes = number, done
            if not self.go_on(self.progress):
                self.progress.is_stopped = True
                return
        with _transaction(self.database):
            self.database.execute("DELETE FROM looks")
            self.database.execute("INSERT INTO looks SELECT DISTINCT rule FROM stated")

    def _stated(self) -> set[int]:
        return {number for (number,) in self.database.execute("SELECT rule FROM stated")}

    def count(self, path: str) -> None:
        """Count what is new in a transcript; nothing if it can't be read."""
        try:
            self._count(path)
        except OSError:
            return  # it is gone, or another's: what was counted of it stays

    def _count(self, path: str) -> None:
        query = "SELECT id, place, top, facts FROM transcripts WHERE path = ?"
        number, place, top, text = self.database.execute(query, (path,)).fetchone() or (0, *places(path), "{}")
        rules = self.rules_at(place)
        facts = fastjson_hot.loads_dict(text)
        counted_to = position(facts, path)
        start = counted_to if rules.keys() <= set(fastjson_hot.rows(facts, "rules")) else 0
        if not rules or (start and start == agents_hot.status(path)[0]):
            return
        if not number:
            query = "INSERT INTO transcripts (path, place, top, facts) VALUES (?, ?, ?, '{}') RETURNING id"
            (number,) = self.database.execute(query, (path, place, top)).fetchone()
        elif not counted_to:  # the file is another one than was counted
            self.database.execute("DELETE FROM moments WHERE transcript = ?", (number,))
        counter = SessionCounter(rules.values(), top, fastjson_hot.table(facts, "state") if start else None)
        reader = transcript_hot.Reader(path, start, is_wanted)
        moments: list[Moment] = []
        begun = read_to = start
        before = self.progress.bytes
        for record in reader:
            # The offset is behind all records of a line, of which a killed client leaves several.
            if reader.offset != read_to and read_to - begun >= PIECE:
                self._save(number, path, read_to, counter, moments, rules)
                begun, self.progress.bytes = read_to, before + read_to
                if not self.go_on(self.progress):
                    self.progress.is_stopped = True
                    return
            moments += counter.feed(record)
            read_to = reader.offset
        self._save(number, path, reader.offset, counter, moments, rules)

    def _save(
        self,
        transcript: int,
        path: str,
        offset: int,
        counter: SessionCounter,
        moments: list[Moment],
        rules: dict[int, Rule],
    ) -> None:
        """Write the moments, which are cleared, and where the next count begins, as one transaction."""
        facts = {**note_position(path, offset), "rules": sorted(rules), "state": counter.to_state()}
        data = fastjson_hot.dumps(facts).encode("utf-8", "replace").decode()
        numbers: dict[str, list[int]] = {}  # two memories may say the same, in a project and for all
        for number, rule in rules.items():
            numbers.setdefault(rule.key(), []).append(number)
        with _transaction(self.database):
            self.database.execute("UPDATE transcripts SET facts = ? WHERE id = ?", (data, transcript))
            self.database.execute("DELETE FROM moments WHERE transcript = ? AND is_open", (transcript,))
            for is_open, several in enumerate((moments, counter.open_moments())):
                for moment in several:
                    self.database.execute("INSERT OR IGNORE INTO sessions (name) VALUES (?)", (moment.session,))
                    # A turn may end otherwise in a copy of the session: what its own transcript says holds.
                    is_own = moment.session == agents_hot.session_id(path)
                    fields = (int(ids_hot.digest(moment.id, 7), 16), transcript, moment.session, moment.time)
                    end = (moment.is_kept, is_open, *(("", "") if moment.is_kept else (moment.uuid, moment.line)))
                    rows = [(number, *fields, *end) for number in numbers[moment.key]]
                    self.database.executemany(REPLACE if is_own else ADD, rows)
        moments.clear()


@contextmanager
def _transaction(database: "sqlite3.Connection") -> Iterator[None]:
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def places(path: str) -> tuple[str, str]:
    """Return the roots of the project and of the work tree of a transcript; empty if it names none. Raises OSError."""
    cwd = projects.session_cwd(path)
    return (paths_hot.project_root(cwd), locate_hot.worktree_top(cwd)) if cwd else ("", "")
