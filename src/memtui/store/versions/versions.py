"""The log of versions of memories (docs/file-formats.md): who wrote each, when, and whether a person has seen it."""

import contextlib
import itertools
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from memtui.base import clock_hot, fastjson_hot, fs_hot, ids_hot
from memtui.base.errors import MemtuiError, NotFoundError
from memtui.base.storage import storage_error, storing
from memtui.store.journal.journal import ContentStore
from memtui.store.journal.own_files import FORMAT, LOCK_SECONDS, UNSEEN, VERSIONS_LOCK, seen_lines

# The content of a larger file is not kept: nobody reads a memory of that size.
MAX_BYTES = 1 << 20
GONE = ""  # the digest of a file that is not there
FIRST, PERSON, AGENT, OTHER = "first", "person", "agent", "other"
# What memtui did where the journal's operation does not say it: took back what others wrote, followed a rename.
TAKE_BACK, LINKS = "take-back", "links"


@dataclass(frozen=True, slots=True)
class Writer:
    """Who wrote a version: FIRST (there at the first look), PERSON, AGENT (`session`, `prompt`), or OTHER."""

    by: str
    session: str = ""
    prompt: str = ""


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a memory's `file`: `digest` (GONE: deleted), `size`, `stamp` (its time in nanoseconds), when it
    was taken in, whether it is `seen`; `change`, `op`: memtui's that made it; `was`: its directory and file before."""

    directory: str
    file: str
    time: str
    digest: str
    size: int
    stamp: int
    writer: Writer
    seen: bool
    change: str = ""
    was: tuple[str, str] | None = None
    op: str = ""

    @property
    def path(self) -> str:
        return f"{self.directory}/{self.file}"

    @property
    def written(self) -> float | None:
        """When its text was written (seconds since the epoch): by memtui's change, else by the file's time."""
        made_at = ids_hot.id_time(self.change) if self.op != "undo" else None
        if made_at is not None:
            return made_at
        return self.stamp / 1e9 if self.stamp else clock_hot.parse(self.time)

    def is_of(self, data: bytes) -> bool:
        return self.digest == ids_hot.digest(data)

    def row(self) -> dict[str, Any]:
        fields = {"v": FORMAT, "time": self.time, "dir": self.directory, "file": self.file, "digest": self.digest}
        fields |= {"size": self.size, "stamp": self.stamp, "by": self.writer.by, "seen": self.seen}
        more: dict[str, Any] = {"session": self.writer.session, "prompt": self.writer.prompt, "change": self.change}
        more |= {"op": self.op, "was": list(self.was or ())}
        return fields | {key: value for key, value in more.items() if value}


_shared_writer, _shared_size = lru_cache(1024)(Writer), lru_cache(1 << 12)(int)


def _version(row: dict[str, Any]) -> Version | None:
    if not all(isinstance(row.get(key), str) for key in ("dir", "file", "digest")):
        return None
    directory, file, time, digest = (fastjson_hot.text(row, key) for key in ("dir", "file", "time", "digest"))
    size, stamp = _shared_size(fastjson_hot.number(row, "size")), fastjson_hot.number(row, "stamp")
    writer = _shared_writer(*(fastjson_hot.text(row, key) for key in ("by", "session", "prompt")))
    was = fastjson_hot.rows(row, "was")
    former = (str(was[0]), str(was[1])) if len(was) == 2 else None
    change, op = fastjson_hot.text(row, "change"), fastjson_hot.text(row, "op")
    # Of 100,000 versions most have directory and time in common; the lists of memories have the same files.
    directory, time, file = sys.intern(directory), sys.intern(time), sys.intern(file)
    return Version(directory, file, time, digest, size, stamp, writer, row.get("seen") is True, change, former, op)


class Versions:
    """The versions of one memtui root. `problem`: of the last look; `unsettled`: look again. Threads may share it."""

    def __init__(self, root: str, now: Callable[[], float] = clock_hot.now) -> None:
        self.root = root
        self.now = now
        self.path = root + "/versions.jsonl"
        self.contents = ContentStore(root)
        self.problem: MemtuiError | None = None
        self.unsettled = False
        self.guard = threading.RLock()
        self.looked: set[str] = set()  # the directories that were looked at
        self.reread()

    @contextlib.contextmanager
    def locked(self, seconds: float = LOCK_SECONDS) -> Iterator[None]:
        """Keep other threads and processes from writing. Raises LockTimeoutError after so many seconds."""
        with self.guard, fs_hot.Lock(self.root + VERSIONS_LOCK, seconds):
            yield

    def reread(self) -> None:
        """Forget what was read: the next `follow` reads all of the log."""
        self.directories: dict[str, dict[str, list[Version]]] = {}
        self.seen_digests: set[str] = set()
        # Paths and digests of which an undo took back that a person has seen them.
        self.put_back_unseen: set[tuple[str, str]] = set()
        self.journal: str | None = None  # the id of the journal's newest change that is taken in; None: not known
        self.newest = 0.0  # when the newest version was taken in
        self.began = float("inf")  # when the first version was taken in
        self.has_peeked = False  # some versions are not in the log
        self._read = self._file = 0

    def follow(self) -> None:
        """Read what was appended since the last call. Raises MemtuiError."""
        with self.guard, contextlib.ExitStack() as stack:
            try:
                status = os.stat(self.path)
                if status.st_size < self._read or status.st_ino != self._file:  # shortened by gc
                    self.reread()
                    self._file = status.st_ino
                file = stack.enter_context(open(fs_hot.open_regular(self.path), "rb"))
                file.seek(self._read)
            except FileNotFoundError:
                self.reread()
                return
            except OSError as error:
                raise storage_error(error, self.path) from error
            for line in file:  # all at once would be many times as much
                if not line.endswith(b"\n"):
                    break
                self._read += len(line)
                row = fastjson_hot.loads_dict(line)
                if row.get("v") != FORMAT:
                    continue
                if not isinstance(row.get("dir"), str):
                    self.journal = offset if isinstance(offset := row.get("journal"), str) else self.journal
                    continue
                time = clock_hot.parse(row.get("time"))
                self.began, self.newest = min(self.began, time or self.began), max(self.newest, time or 0.0)
                files = self.directories.setdefault(str(row["dir"]), {})
                version = _version(row)
                if version is not None:
                    if "stamp" in row:
                        self.add(version)
                    else:
                        self._mark(files.get(version.file, []), version, seen=row.get("seen") is not False)

    def add(self, version: Version) -> None:
        """Know a version, without writing it."""
        files = self.directories.setdefault(version.directory, {})
        if (versions := files.get(version.file)) is None:
            files[version.file] = [version]  # of one, which most are, without room for more
        else:
            versions.append(version)
        self.put_back_unseen.discard((version.path, version.digest))
        if version.seen:
            self.seen_digests.add(version.digest)

    def _mark(self, versions: list[Version], version: Version, *, seen: bool) -> None:
        """Know that a person has seen this text of a file, or by an undo has not, also if it is put there only now."""
        if seen:
            versions[:] = [replace(state, seen=True) if state.digest == version.digest else state for state in versions]
            self.seen_digests.add(version.digest)
            self.put_back_unseen.discard((version.path, version.digest))
            return
        if versions and versions[-1].digest == version.digest:
            versions[-1] = replace(versions[-1], seen=False)
        self.seen_digests.discard(version.digest)
        self.put_back_unseen.add((version.path, version.digest))

    def of(self, directory: str, file: str) -> list[Version]:
        return list(self.directories.get(directory, {}).get(file, []))

    def files(self, directory: str) -> list[str]:
        return sorted(self.directories.get(directory, {}))

    def _lists(self, directories: Iterable[str] | None = None) -> Iterator[list[Version]]:
        for directory in self.directories if directories is None else directories:
            yield from self.directories.get(directory, {}).values()

    def _every(self) -> Iterator[Version]:
        return itertools.chain.from_iterable(self._lists())

    def unseen(self, directories: Collection[str]) -> list[tuple[Version | None, Version]]:
        """List the files whose newest version nobody has seen, each with the newest before it that somebody has."""
        with self.guard:
            newest = [versions[-1] for versions in self._lists(directories) if not versions[-1].seen]
            return [(newest_seen(self.line(version.directory, version.file)), version) for version in newest]

    def line(self, directory: str, file: str) -> list[Version]:
        """List the versions of a memory, oldest first, also those under the names that it had before."""
        versions: list[Version] = []
        line, followed = self.of(directory, file), set[str]()
        while line:
            renamed = next((at for at in reversed(range(len(line))) if line[at].was is not None), 0)
            versions = line[renamed:] + versions
            first = line[renamed]
            if first.was is None or first.change in followed:
                break
            followed.add(first.change)
            before = self.of(*first.was)
            line = before[: next((at for at, version in enumerate(before) if version.change == first.change), 0)]
        return versions

    def became(self, version: Version) -> Version | None:
        """Return what a version became that is gone because memtui moved or renamed it; None for any other."""
        if version.digest != GONE or not version.change:
            return None
        here = (version.directory, version.file)
        with self.guard:
            heirs = (other for other in self._every() if other.change == version.change and other.was == here)
            return next(heirs, None)

    def other(self, version: Version) -> Writer:
        """Return who else wrote what waits to be seen with a version, also below what a person wrote over it."""
        for state in reversed(self.line(version.directory, version.file)):
            if state.seen:
                break
            if state.writer.by != PERSON:
                return state.writer
        return version.writer

    @property
    def digests(self) -> set[str]:
        return {version.digest for version in self._every()}

    @property
    def bytes_kept(self) -> int:
        """The bytes of all contents that the log names."""
        sizes = {version.digest: version.size for version in self._every() if version.size <= MAX_BYTES}
        return sum(sizes.values())

    def content(self, version: Version) -> bytes:
        """Return the bytes of a version. Raises NotFoundError if they are not kept (any more), MemtuiError."""
        if version.digest == GONE:
            return b""
        try:
            return self.contents.read(version.digest)
        except NotFoundError:
            if version.is_of(present := fs_hot.read_or_empty(version.path, MAX_BYTES)):
                return present
            raise NotFoundError("That version is not kept any more.") from None

    def see(self, versions: Iterable[Version]) -> None:
        """Record that a person has seen these versions. Raises MemtuiError; LockTimeoutError as `take_in`."""
        seen = [(version.directory, version.file, version.digest) for version in versions]
        with self.locked():
            self._write(seen_lines(seen, seen=True, time=clock_hot.iso(self.now())))
            self.looked |= {place for place, _, _ in seen}
            self.count()

    def note(self) -> None:
        """Note how many files nobody has seen, unless that fails: whoever has the lock notes them, too."""
        if os.path.exists(self.path):
            with contextlib.suppress(OSError, MemtuiError), self.locked(0):
                self.count()

    def count(self, directory: str = "", young: Sequence[Version] = ()) -> None:
        """Note each directory's files that nobody has seen, for the status line; `young` are not taken in yet."""
        self.follow()
        noted = noted_unseen(self.root)
        counts = {} if noted is None else {place: n for place, n in noted.items() if place not in self.looked}
        for place in self.directories if noted is None else self.looked:
            files = {now.file for _, now in self.unseen([place])}
            if count := len(files | {new.file for new in young if place == directory}):
                counts[place] = count
        if counts != noted:
            fs_hot.write_cache(self.root + UNSEEN, fastjson_hot.dumps({"v": FORMAT, "unseen": counts}).encode())

    def append(self, rows: list[dict[str, Any]]) -> None:
        """Write lines at the end of the log. Raises MemtuiError."""
        self._write(b"".join(fastjson_hot.dumps(row).encode() + b"\n" for row in rows))

    def _write(self, data: bytes) -> None:
        with storing(self.path):
            if data:
                fs_hot.append(self.path, data)

    def _too_old(self, oldest: float, most_bytes: int) -> list[Version]:
        """Return versions before `oldest` or beyond `most_bytes` (0: any); none that is needed."""
        every = sorted(self._every(), key=lambda version: version.time)
        current = [versions for versions in self._lists() if versions[-1].digest != GONE or not versions[-1].seen]
        needed = {id(version) for versions in current for version in (versions[-1], newest_seen(versions))}
        needed |= {id(version) for pair in self.unseen(self.directories) for version in pair if version is not None}
        users = Counter(version.digest for version in every)
        total = self.bytes_kept
        line = []
        for version in every:
            too_much = 0 < most_bytes < total
            if id(version) not in needed and (too_much or (clock_hot.parse(version.time) or 0.0) < oldest):
                line.append(version)
                users[version.digest] -= 1
                total -= 0 if users[version.digest] or version.size > MAX_BYTES else version.size
        return line

    def forget(self, oldest: float, most_bytes: int) -> int:
        """Forget versions before `oldest` or beyond `most_bytes` (0: any). Raises MemtuiError, LockTimeoutError."""
        with self.locked():
            self.follow()
            versions = self._too_old(oldest, most_bytes)
            if versions:
                self._rewrite({id(version) for version in versions})
        return len(versions)

    def purge(self, paths: Collection[str], dropped: Collection[str]) -> None:
        """Forget deleted files' versions, by real path; of one that is back, those up to its deletion and `dropped`."""
        with self.locked():
            self.follow()
            removed: set[int] = set()
            for versions in self.of_files(paths):
                later = len(versions)
                if os.path.lexists(versions[0].path):
                    later = 1 + max((at for at, version in enumerate(versions) if version.digest == GONE), default=-1)
                removed |= {id(each) for at, each in enumerate(versions) if at < later or each.digest in dropped}
            if removed:
                self._rewrite(removed)

    def of_files(self, paths: Collection[str]) -> list[list[Version]]:
        return [versions for versions in self._lists() if os.path.realpath(versions[0].path) in paths]

    def _rewrite(self, removed: set[int]) -> None:
        """Write the log without the versions with these identities; `trash.sweep` removes what nothing names then."""
        rest = sorted((each for each in self._every() if id(each) not in removed), key=lambda version: version.time)
        looked = [{"v": FORMAT, "time": clock_hot.iso(self.began), "dir": directory} for directory in self.directories]
        journal = [] if self.journal is None else [{"v": FORMAT, "journal": self.journal}]
        rows = [*looked, *(version.row() for version in rest), *journal]
        data = b"".join(fastjson_hot.dumps(row).encode() + b"\n" for row in rows)
        with storing(self.path):
            fs_hot.write_atomic(self.path, data)
        self.reread()
        self.follow()


def noted_unseen(root: str) -> dict[str, int] | None:
    """Return how many files of each directory nobody has seen, by what was noted last; None if nothing is noted."""
    counts = fs_hot.read_table(root + UNSEEN).get("unseen")
    return {directory: n for directory, n in counts.items() if isinstance(n, int)} if isinstance(counts, dict) else None


def newest_seen(versions: list[Version]) -> Version | None:
    """Return the newest version that a person has seen; not that memtui removed a file that it put back unseen."""
    after: Version | None = None
    for version in reversed(versions):
        put_back = after is not None and after.change and not after.seen and version.digest == GONE and version.change
        if version.seen and not put_back:
            return version
        after = version
    return None
