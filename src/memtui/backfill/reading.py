"""Read the transcripts of all projects that are on disk, where an earlier backfill stopped, and keep what was found.

What live sessions have read of their transcripts is kept apart (worker/extraction.py): the two meet in the file
`extracted.jsonl` beside an inbox, which lists the records that became drafts.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field

from memtui.backfill import candidates, session
from memtui.backfill.candidates import Candidates
from memtui.core.base import fastjson, fs, paths, session_state
from memtui.core.base.errors import ConflictError
from memtui.core.client.projects import CWD, HEAD_BYTES
from memtui.core.deliveries import error_log
from memtui.core.settings import config
from memtui.extract import classifier

VERSION = 1
# Below the data root. It can be deleted: then everything is read again.
STATE, LOCK = "run/backfill.json", "run/backfill.lock"
OFF, NO_DIRECTORY = "extract is off there", "names no directory"


@dataclass(frozen=True)
class SkippedSource:
    """What was not read, and why: a project, or a transcript."""

    where: str
    why: str


@dataclass
class ReadingProgress:
    """How far the reading is. Bytes and files: of those that are new or have grown."""

    files: int = 0
    all_files: int = 0
    bytes: int = 0
    all_bytes: int = 0
    found: int = 0
    stopped: bool = False


@dataclass
class BackfillReading:
    """What a reading brought: all candidates, also of earlier ones, and what was skipped."""

    found: Candidates
    progress: ReadingProgress
    skipped: list[SkippedSource] = field(default_factory=list)


@dataclass(frozen=True)
class _File:
    path: str
    size: int
    time: float


def transcripts(config_dir: str) -> list[_File]:
    """List the transcripts of all projects, those that changed last first; not those of subagents."""
    top, found = config_dir + "/projects", []
    for directory in _entries(top):
        if not directory.is_dir():
            continue
        for each in _entries(directory.path):
            try:
                if each.name.endswith(".jsonl") and not each.name.startswith("agent-") and each.is_file():
                    status = each.stat()
                    found.append(_File(each.path, status.st_size, status.st_mtime))
            except OSError:
                continue
    return sorted(found, key=lambda each: (-each.time, each.path))


def _entries(directory: str) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(directory) as entries:
            return list(entries)
    except OSError:
        return []


def was_done(root: str) -> bool:
    """Return whether transcripts were read before."""
    return os.path.lexists(f"{root}/{STATE}")


def read(
    env: dict[str, str],
    *,
    now: float,
    since: float = 0.0,
    project: str = "",
    dry: bool = False,
    go_on: Callable[[ReadingProgress], bool] = lambda _: True,
) -> BackfillReading:
    """Read what is new in the transcripts. `since`: only those that changed after it (seconds of the epoch); `project`:
    only those of this project root; `dry`: write nothing; `go_on` is told the progress and asked often, False ends the
    reading. What was read by then is kept, also if it raises. Raises ConflictError if another backfill is reading."""
    root = paths.root(env)
    if dry:
        return _Reader(env, root, now, since, project).run(go_on)
    try:
        with fs.Lock(f"{root}/{LOCK}", 0.0):
            reader = _Reader(env, root, now, since, project)
            try:
                return reader.run(go_on)
            finally:
                reader.save()
    except fs.LockTimeoutError:
        raise ConflictError(
            "Another backfill is reading the transcripts.", "Wait for it, then run this again."
        ) from None


class _Reader:
    """One reading, with the state that it begins from and leaves."""

    def __init__(self, env: dict[str, str], root: str, now: float, since: float, project: str) -> None:
        self.env, self.root, self.now, self.since, self.project = env, root, now, since, project
        try:
            kept = fastjson.loads_dict(fs.read_bytes(f"{root}/{STATE}"))
        except OSError:
            kept = {}
        if kept.get("v") != VERSION:
            kept = {}
        self.files = session_state.table(kept, "files")
        rows = kept.get("candidates")
        self.found = Candidates(filter(None, map(candidates.of_row, rows if isinstance(rows, list) else [])))
        self.settings = config.load(root)
        self.roots: dict[str, str] = {}
        self.progress = ReadingProgress()
        self.skipped: dict[str, SkippedSource] = {}

    def run(self, go_on: Callable[[ReadingProgress], bool]) -> BackfillReading:
        """Read the files, newest first."""
        judge = self._judge()
        threshold = config.value(self.settings, None, "extract_confidence")
        least = float(threshold) if isinstance(threshold, (int, float)) else 0.5
        wanted = [each for each in transcripts(paths.config_dir(self.env)) if each.time >= self.since]
        wanted = [each for each in wanted if each.size > self._start(each) and self._is_wanted(each.path)]
        progress = self.progress
        progress.all_files, progress.all_bytes = len(wanted), sum(each.size - self._start(each) for each in wanted)
        for each in wanted:
            start, before = self._start(each), progress.bytes

            def told(offset: int, start: int = start, before: int = before) -> bool:
                progress.bytes = before + max(0, offset - start)
                return go_on(progress)

            try:
                read = session.read(each.path, session_state.table(self.files, each.path), judge, least, told)
            except OSError as error:
                self.skipped[each.path] = SkippedSource(each.path, error.strerror or "can't be read")
                continue
            if read is None:
                progress.bytes, progress.stopped = before, True
                break
            root = self._root_of(each.path)
            for draft in read.drafts:
                self.found.add(draft, root)
            self.files[each.path] = read.cursor
            progress.files, progress.bytes, progress.found = (
                progress.files + 1,
                before + each.size - start,
                len(self.found),
            )
            if not go_on(progress):
                progress.stopped = True
                break
        return BackfillReading(self.found, progress, list(self.skipped.values()))

    def save(self) -> None:
        """Write the state. Raises OSError."""
        files = {path: row for path, row in self.files.items() if os.path.lexists(path)}
        rows = [each.to_row() for each in self.found.kept(self.now)]
        data = fastjson.dumps({"v": VERSION, "files": files, "candidates": rows}).encode("utf-8", "replace")
        fs.write_atomic(f"{self.root}/{STATE}", data, durable=False)

    def _start(self, file: _File) -> int:
        """Return where reading goes on; 0 for a file that is shorter than what was read of it: it is another one."""
        offset = session_state.table(self.files, file.path).get("offset")
        return offset if isinstance(offset, int) and 0 <= offset <= file.size else 0

    def _root_of(self, path: str) -> str:
        """Return the root of a transcript's project; empty if nothing names it."""
        if path not in self.roots:
            cwd = first_cwd(path)
            self.roots[path] = paths.project_root(paths.started_in(self.env, cwd)) if cwd else ""
        return self.roots[path]

    def _is_wanted(self, path: str) -> bool:
        """Tell whether a transcript's project is wanted, and may be read."""
        root = self._root_of(path)
        if not root or (self.project and root != self.project):
            if not root:
                self.skipped[path] = SkippedSource(path, NO_DIRECTORY)
            return False
        if (
            config.value(self.settings, root, "extract") is not True
            or config.value(self.settings, root, "mode") == "off"
        ):
            self.skipped[root] = SkippedSource(root, OFF)
            return False
        return True

    def _judge(self) -> classifier.Classifier | None:
        try:
            return classifier.shipped()
        except (OSError, ValueError) as problem:
            error_log.add(self.root, "backfill", problem)
            return None


def first_cwd(path: str) -> str:
    """Return the first working directory that a transcript names in its head; empty if it names none."""
    try:
        head = fs.read_bytes(path, HEAD_BYTES)
    except OSError:
        return ""
    for match in CWD.finditer(head):
        try:
            cwd = fastjson.loads(match[1])
        except ValueError:
            continue
        if isinstance(cwd, str) and cwd.startswith("/"):
            return cwd
    return ""
