"""Read the transcripts of all projects on disk, from where an earlier backfill stopped, and keep what was found. Live
sessions are read apart from this (worker/extraction.py): `extracted.jsonl` beside an inbox joins the two."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace

from memtui.base import fastjson_hot, fs_hot, paths_hot
from memtui.base.errors import ConflictError
from memtui.base.storage import storage_error
from memtui.client import projects
from memtui.client.agents import agents_hot, programs
from memtui.client.agents.programs import SessionFile
from memtui.deliver import error_log_hot
from memtui.learn import classifier
from memtui.learn.backfill import progress, ranking, session
from memtui.learn.backfill.ranking import Candidates
from memtui.settings import config_hot

VERSION = 2
# Below the data root. It can be deleted: then everything is read again.
LOCK = "run/backfill.lock"
OFF = "extract is off there"
ELSEWHERE = "names no directory of this machine: only what is for all projects was taken"
# Drafts of at least this confidence are kept, though fewer are offered: the setting may be lowered.
LEAST = 0.35
# Seconds between two savings of what was read.
SAVE_SECONDS = 10.0


@dataclass(frozen=True)
class SkippedSource:
    """What was not read, and why: a project, or a transcript."""

    where: str
    why: str


@dataclass
class BackfillReading:
    """How far a reading is, and what it brought. Bytes and files: of those that are new or have grown; `there`: all
    that was asked for; `part`: whether only some was; `candidates`: also of earlier readings."""

    files: int = 0
    all_files: int = 0
    bytes: int = 0
    all_bytes: int = 0
    drafts: int = 0
    there: int = 0
    stopped: bool = False
    part: bool = False
    candidates: Candidates = field(default_factory=Candidates)
    skipped: list[SkippedSource] = field(default_factory=list)

    def skip(self, path: str, error: OSError) -> None:
        self.skipped.append(SkippedSource(path, f"can't be read: {error.strerror or error}"))


GoOn = Callable[[BackfillReading], bool]


def new(env: dict[str, str]) -> list[SessionFile]:
    """List the transcripts that are new or have grown since the last reading, of those that may be read."""
    reader = _Reader(env)
    return [file for file in programs.session_files(env) if reader.is_new(file) and reader.is_wanted(file.path)]


def read(
    env: dict[str, str], *, since: float = 0.0, project: str = "", dry: bool = False, go_on: GoOn = lambda _: True
) -> BackfillReading:
    """Read what is new in the transcripts changed after `since`, of the project root `project`; `dry`: write nothing.
    After that rules are counted in all of the last weeks. `go_on` is asked often; False ends it. What was read by then
    is kept, whatever happens. Raises ConflictError if another backfill reads, MemtuiError if nothing can be written."""
    if dry:
        return _Reader(env, since, project).run(go_on)
    lock = f"{paths_hot.root(env)}/{LOCK}"
    try:
        with fs_hot.Lock(lock, 0.0):
            reader = _Reader(env, since, project, dry=False)
            try:
                reading = reader.run(go_on)
            finally:
                reader.save()
            if not reading.stopped and config_hot.value(reader.settings, None, "rules") != "off":
                _count_rules(env, reading, go_on)
            return reading
    except fs_hot.LockTimeoutError:
        why = "Another backfill is reading the transcripts."
        raise ConflictError(why, "Wait for it, then run this again.") from None
    except OSError as error:
        raise storage_error(error, lock) from error


def _count_rules(env: dict[str, str], reading: BackfillReading, go_on: GoOn) -> None:
    """Count the rules of memories in the sessions of the last weeks. `go_on` is told how far that is."""
    import sqlite3  # a start of the command line reads no database

    from memtui.rules import counts_update

    def goes_on(at: counts_update.CountProgress) -> bool:
        return go_on(replace(reading, files=at.files, all_files=at.all_files, bytes=at.bytes, all_bytes=at.all_bytes))

    try:
        reading.stopped = counts_update.update(env, go_on=goes_on, everything=True).is_stopped
    except fs_hot.LockTimeoutError:
        pass  # a worker is at it
    except sqlite3.Error as error:
        error_log_hot.add(paths_hot.root(env), "rules", error)


class _Reader:
    """One reading, with the state that it begins from and leaves."""

    def __init__(self, env: dict[str, str], since: float = 0.0, project: str = "", *, dry: bool = True) -> None:
        self.env, self.root, self.since, self.project, self.dry = env, paths_hot.root(env), since, project, dry
        self.settings = config_hot.load(self.root)
        self.roots: dict[str, str] = {}
        self.saved = time.monotonic()
        state = fastjson_hot.loads_dict(fs_hot.head(f"{self.root}/{progress.STATE}"))
        state = state if state.get("v") == VERSION else {}
        self.files = fastjson_hot.table(state, "files")
        rows = fastjson_hot.rows(state, "candidates")
        candidates = Candidates(filter(None, map(ranking.of_row, rows)))
        self.reading = BackfillReading(part=bool(project or since), candidates=candidates)

    def run(self, go_on: GoOn) -> BackfillReading:
        """Read the files, newest first."""
        reading = self.reading
        try:
            judge = classifier.shipped()
        except (OSError, ValueError) as problem:
            error_log_hot.add(self.root, "backfill", problem)
            judge = None
        least = min(LEAST, config_hot.fraction(self.settings, "extract_confidence"))
        files = [file for file in programs.session_files(self.env, self.since) if self.is_wanted(file.path)]
        wanted = list(filter(self.is_new, files))
        reading.there, reading.all_files = len(files), len(wanted)
        reading.all_bytes = sum(transcript.size - self._start(transcript) for transcript in wanted)
        for transcript in wanted:
            try:
                self._read(transcript, judge, least, go_on)
            except OSError as error:
                reading.skip(transcript.path, error)
            if reading.stopped:
                break
        return reading

    def _read(self, file: SessionFile, judge: classifier.Classifier | None, least: float, go_on: GoOn) -> None:
        reading, start, before = self.reading, self._start(file), self.reading.bytes
        root, elsewhere = self._root_of(file.path), False
        for piece in session.read(file.path, fastjson_hot.table(self.files, file.path), judge, least):
            for draft in piece.drafts:
                if root or draft.scope == "global":
                    reading.candidates.add(draft, root)
                else:
                    elsewhere = True
            self.files[file.path] = piece.cursor
            reading.bytes, reading.drafts = before + max(0, piece.offset - start), len(reading.candidates)
            if not self.dry and time.monotonic() - self.saved >= SAVE_SECONDS:
                self.save()
                self.saved = time.monotonic()
            if piece.offset < file.size and not go_on(reading):
                reading.stopped = True
                return
        # What is behind the last whole line is read again when more was written.
        self.files[file.path] = {**piece.cursor, "seen": max(file.size, piece.offset)}
        reading.files, reading.bytes = reading.files + 1, before + file.size - start
        reading.stopped = not go_on(reading)
        if elsewhere:
            reading.skipped.append(SkippedSource(file.path, ELSEWHERE))

    def save(self) -> None:
        """Write the state. Raises MemtuiError."""
        files = {path: row for path, row in self.files.items() if agents_hot.exists(path)}
        rows = [asdict(candidate) for candidate in self.reading.candidates.best()]
        data = fastjson_hot.dumps({"v": VERSION, "files": files, "candidates": rows}).encode("utf-8", "replace")
        path = f"{self.root}/{progress.STATE}"
        try:
            fs_hot.write_atomic(path, data, durable=False)
        except OSError as error:
            raise storage_error(error, path) from error

    def is_new(self, file: SessionFile) -> bool:
        """Tell whether a file was not read to its end as it is now."""
        stamp = fastjson_hot.table(self.files, file.path).get("seen")
        return file.size != stamp if isinstance(stamp, int) else file.size > self._start(file)

    def _start(self, file: SessionFile) -> int:
        """Return where reading goes on; 0 for a file that is shorter than what was read of it: it is another one."""
        offset = fastjson_hot.table(self.files, file.path).get("offset")
        return offset if isinstance(offset, int) and 0 <= offset <= file.size else 0

    def _root_of(self, path: str) -> str:
        """Return the root of a transcript's project; empty if it names none of this machine."""
        if path not in self.roots:
            cwd = projects.session_cwd(path)
            self.roots[path] = paths_hot.project_root(paths_hot.started_in(self.env, cwd)) if cwd else ""
        return self.roots[path]

    def is_wanted(self, path: str) -> bool:
        """Tell whether a transcript's project is wanted, and may be read."""
        try:
            root = self._root_of(path)
        except OSError as error:
            self.reading.skip(path, error)
            return False
        if self.project and root != self.project:
            return False
        values = [config_hot.value(self.settings, root or None, key) for key in ("extract", "mode")]
        if values[0] is True and values[1] != "off":
            return True
        off = SkippedSource(root or self.env.get("HOME", ""), OFF)
        self.reading.skipped += [] if off in self.reading.skipped else [off]
        return False
