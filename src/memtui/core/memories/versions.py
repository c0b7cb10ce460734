"""The versions of memories that memtui has seen: who wrote each, when, and whether a person has seen it.

`versions.jsonl` has a line for each version, oldest first, one for each that a person has seen, and one for each
directory that had no memories at the first look; the contents are in `versions/`, each in a file named by its hash
(docs/file-formats.md). What a directory holds when it is first looked at counts as seen: nobody asked memtui to review
it. Except for what an agent wrote there since memtui keeps versions at all: it may have made the directory.
"""

import contextlib
import os
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memtui.core.base import clock, fastjson, fs, ids
from memtui.core.base.errors import MemtuiError, NotFoundError
from memtui.core.base.storage import storage_error
from memtui.core.journal.changes.seen_edit import FORMAT, LOCK, LOCK_SECONDS, UNSEEN, lines
from memtui.core.places import locate

# The content of a larger file is not kept: nobody reads a memory of that size.
MAX_BYTES = 1 << 20
# Seconds. A file that somebody wrote less than this ago is left for the next look: a hook may still log that the agent
# did, and the client writes its own fields into a memory right after the agent.
SETTLED = 2.0
GONE = ""  # the digest of a file that is not there
FIRST, PERSON, AGENT, OTHER = "first", "person", "agent", "other"


@dataclass(frozen=True)
class Writer:
    """Who wrote a version: FIRST (it was there when its directory was first looked at), PERSON (through memtui), AGENT
    (in `session`, at `prompt`; empty if not known), or OTHER (an editor, a program, the client itself)."""

    by: str
    session: str = ""
    prompt: str = ""


@dataclass(frozen=True)
class Version:
    """One version of the memory `file` (relative) of a directory: `digest` of its bytes (GONE if the file was deleted),
    `size` in bytes, `stamp` (modification time in nanoseconds), when it was taken in, and whether a person has seen
    it."""

    directory: str
    file: str
    time: str
    digest: str
    size: int
    stamp: int
    writer: Writer
    seen: bool

    @property
    def path(self) -> str:
        """The path of the file."""
        return f"{self.directory}/{self.file}"

    @property
    def written(self) -> float | None:
        """When the file was written, in seconds since the epoch; of a deleted one when that was noticed."""
        return self.stamp / 1e9 if self.stamp else clock.parse(self.time)

    def is_of(self, data: bytes) -> bool:
        """Tell whether it has these bytes."""
        return self.digest == ids.digest(data)

    def row(self) -> dict[str, Any]:
        """Return its line."""
        found = {"v": FORMAT, "time": self.time, "dir": self.directory, "file": self.file, "digest": self.digest}
        found |= {"size": self.size, "stamp": self.stamp, "by": self.writer.by, "seen": self.seen}
        more = {"session": self.writer.session, "prompt": self.writer.prompt}
        return found | {key: value for key, value in more.items() if value}


def _version(row: dict[str, Any]) -> Version | None:
    texts = [row.get(key) for key in ("dir", "file", "digest")]
    if not all(isinstance(each, str) for each in texts):
        return None
    directory, file, digest = map(str, texts)
    size, stamp = (found if isinstance(found := row.get(key), int) else 0 for key in ("size", "stamp"))
    writer = Writer(*(str(row.get(key) or "") for key in ("by", "session", "prompt")))
    return Version(directory, file, str(row.get("time") or ""), digest, size, stamp, writer, row.get("seen") is True)


class Versions:
    """The versions of one memtui root. `follow` reads what was appended since it was last called. `problem` is why
    the newest could not be taken in (core/memories/history.py); `unsettled`: a file was written just now, so that it is
    to be looked at again. Threads may share it."""

    def __init__(self, root: str, now: Callable[[], float] = clock.now) -> None:
        self.root = root
        self.now = now
        self.path = root + "/versions.jsonl"
        self.contents = root + "/versions"
        self.problem: MemtuiError | None = None
        self.unsettled = False
        self._guard = threading.RLock()
        self._looked: set[str] = set()  # the directories that were looked at
        self._forget()

    def _forget(self) -> None:
        self._directories: dict[str, dict[str, list[Version]]] = {}
        self._seen: set[str] = set()
        self._unseen: set[tuple[str, str]] = set()  # paths and digests of which an undo took back that they were seen
        self._began = float("inf")  # when the first version was taken in
        self._has_peeked = False  # some versions are not in the log
        self._read = self._file = 0

    # reading

    def follow(self) -> None:
        """Read what was appended since the last call. Raises MemtuiError."""
        with self._guard:
            self._follow()

    def _follow(self) -> None:
        try:
            found = os.stat(self.path)
            if found.st_size < self._read or found.st_ino != self._file:  # shortened by gc
                self._forget()
                self._file = found.st_ino
            data = fs.read_bytes(self.path, -1, self._read)
        except FileNotFoundError:
            self._forget()
            return
        except OSError as error:
            raise storage_error(error, self.path) from error
        whole = data[: data.rfind(b"\n") + 1]
        for line in whole.split(b"\n"):
            row = fastjson.loads_dict(line) if line else {}
            if row.get("v") != FORMAT or not isinstance(row.get("dir"), str):
                continue
            self._began = min(self._began, clock.parse(row.get("time")) or self._began)
            files = self._directories.setdefault(str(row["dir"]), {})
            version = _version(row)
            if version is not None:
                if "stamp" in row:
                    self._add(files, version)
                elif row.get("seen") is False:
                    self._unsee(files, version)
                else:
                    self._see(files, version)
        self._read += len(whole)

    def _add(self, files: dict[str, list[Version]], version: Version) -> None:
        files.setdefault(version.file, []).append(version)
        if version.seen:
            self._seen.add(version.digest)

    def _see(self, files: dict[str, list[Version]], version: Version) -> None:
        for at, each in enumerate(known := files.get(version.file, [])):
            known[at] = replace(each, seen=True) if each.digest == version.digest else each
        self._seen.add(version.digest)
        self._unseen.discard((version.path, version.digest))

    def _unsee(self, files: dict[str, list[Version]], version: Version) -> None:
        """Take back that a person has seen the newest version of a file, as an undo does; also if that text is only put
        there now."""
        known = files.get(version.file, [])
        if known and known[-1].digest == version.digest:
            known[-1] = replace(known[-1], seen=False)
        self._seen.discard(version.digest)
        self._unseen.add((version.path, version.digest))

    def of(self, directory: str, file: str) -> list[Version]:
        """List the versions of a file, oldest first."""
        return list(self._directories.get(directory, {}).get(file, []))

    def files(self, directory: str) -> list[str]:
        """List the files of a directory of which a version is known, also those that are gone."""
        return sorted(self._directories.get(directory, {}))

    def unseen(self, directories: Collection[str]) -> list[tuple[Version | None, Version]]:
        """List the files of these directories whose newest version nobody has seen, each with the newest one before it
        that somebody has; None if there is none."""
        with self._guard:
            files = [known for each in directories for known in self._directories.get(each, {}).values()]
        return [(_newest_seen(known), known[-1]) for known in files if not known[-1].seen]

    @property
    def bytes_kept(self) -> int:
        """The bytes of all contents that the log names."""
        known = [each for files in self._directories.values() for known in files.values() for each in known]
        return sum({each.digest: each.size for each in known if each.size <= MAX_BYTES}.values())

    def content(self, version: Version) -> bytes:
        """Return the bytes of a version. Raises NotFoundError if they are not kept (any more), MemtuiError."""
        if version.digest == GONE:
            return b""
        path = f"{self.contents}/{version.digest}"
        try:
            data = fs.read_bytes(path)
        except FileNotFoundError as error:
            if version.is_of(there := fs.read_or_empty(version.path, MAX_BYTES)):
                return there
            raise NotFoundError("That version is not kept any more.") from error
        except OSError as error:
            raise storage_error(error, path) from error
        if ids.digest(data) != version.digest:
            raise NotFoundError("That version is damaged, so it can't be shown.", f"Remove {path}.")
        return data

    # writing

    def take_in(self, directory: str, writer: Callable[[Version], Writer]) -> list[Version]:
        """Take in what is new of the memories of a directory, and return it.

        `writer` says who wrote a version. Raises MemtuiError; LockTimeoutError if another process takes in at the
        moment.
        """
        with self._guard, fs.Lock(self.root + LOCK, LOCK_SECONDS):
            if self._has_peeked:
                self._forget()
            self.follow()
            self._looked.add(directory)
            known = self._directories.get(directory)
            # Oldest first: `writer` reads the log back to each.
            fresh = sorted(self._fresh(directory, known or {}, keep=True), key=lambda each: each.stamp)
            named = [self._named(each, writer, first=known is None) for each in fresh]
            settled = [each for each in named if not self._is_unsettled(each)]
            self.unsettled = self.unsettled or len(settled) < len(named)
            rows = [each.row() for each in settled]
            if known is None and not rows:
                rows = [{"v": FORMAT, "time": clock.iso(self.now()), "dir": directory}]
            self._append(rows)
            self._count(directory, [each for each in named if each not in settled and not each.seen])
        return settled

    def peek(self, directory: str, writer: Callable[[Version], Writer]) -> None:
        """Know what is new of the memories of a directory, as `take_in` but also if it was written just now, in this
        object only and until the next `take_in`: nothing is written. Raises MemtuiError."""
        with self._guard:
            self.follow()
            if not self._directories:
                return  # at the first look of all everything counts as seen
            self._has_peeked = True
            self._looked.add(directory)
            known = self._directories.get(directory)
            files = self._directories.setdefault(directory, {})
            for each in sorted(self._fresh(directory, known or {}, keep=False), key=lambda each: each.stamp):
                self._add(files, self._named(each, writer, first=known is None))

    def _fresh(self, directory: str, files: dict[str, list[Version]], *, keep: bool) -> Iterator[Version]:
        try:
            present = [file for file, problem in locate.walk(directory) if not problem]
        except OSError:
            return  # closed to us: nothing is known of it
        for file in present:
            found = self._changed(directory, file, files.get(file, []), keep=keep)
            if found is not None:
                yield found
        there = set(present)
        for file, known in files.items():
            if file not in there and known[-1].digest != GONE:
                unseen = _newest_seen(known) is None  # nobody knew it, so nobody misses it
                yield Version(directory, file, clock.iso(self.now()), GONE, 0, 0, Writer(OTHER), unseen)

    def _changed(self, directory: str, file: str, known: list[Version], *, keep: bool) -> Version | None:
        """Return the version of a file as it is now; None if it is the newest one known. Its content is kept if
        wanted."""
        path = f"{directory}/{file}"
        try:
            status = os.stat(path)
            if known and (known[-1].stamp, known[-1].size) == (status.st_mtime_ns, status.st_size):
                return None
            data = fs.read_bytes(path, MAX_BYTES + 1)
        except OSError:
            return None  # gone meanwhile, or closed to us: the next look tells
        digest = ids.digest(data)
        if known and known[-1].digest == digest:
            return None
        if keep and len(data) <= MAX_BYTES:
            self._keep(digest, data)
        time = clock.iso(self.now())
        return Version(
            directory, file, time, digest, status.st_size, status.st_mtime_ns, Writer(OTHER), digest in self._seen
        )

    def _named(self, version: Version, writer: Callable[[Version], Writer], *, first: bool) -> Version:
        """Return a version with its writer; `first`: found at the first look at its directory."""
        if (version.path, version.digest) in self._unseen:
            known = self._directories.get(version.directory, {}).get(version.file, [])
            same = [each.writer for each in known if each.digest == version.digest]
            return replace(version, writer=same[-1] if same else Writer(OTHER), seen=False)
        found = Writer(FIRST)
        if not first or version.stamp > self._began * 1e9:
            found = writer(version)
            found = found if not first or found.by == AGENT else Writer(FIRST)
        return replace(version, writer=found, seen=version.seen or found.by in {FIRST, PERSON})

    def _is_unsettled(self, version: Version) -> bool:
        return version.writer.by == OTHER and 0 <= self.now() - version.stamp / 1e9 < SETTLED

    def see(self, versions: Iterable[Version]) -> None:
        """Record that a person has seen these versions. Raises MemtuiError; LockTimeoutError as `take_in`."""
        seen = [(each.directory, each.file, each.digest) for each in versions]
        with self._guard, fs.Lock(self.root + LOCK, LOCK_SECONDS):
            self._write(lines(seen, seen=True, time=clock.iso(self.now())))
            self._looked |= {place for place, _, _ in seen}
            self._count()

    def note(self) -> None:
        """Note how many files nobody has seen of the directories that were looked at, or of all if nothing is noted.
        No error is raised if that fails: whoever has the lock notes them, too."""
        if os.path.exists(self.path):
            with contextlib.suppress(OSError, MemtuiError), self._guard, fs.Lock(self.root + LOCK, 0):
                self._count()

    def _count(self, directory: str = "", young: Sequence[Version] = ()) -> None:
        """Note how many files of each directory nobody has seen, for the status line: a hook that must not read all.
        Of a directory that was not looked at, what was noted last stays. `young` of `directory` are not taken in
        yet."""
        self.follow()
        noted = noted_unseen(self.root)
        counts = {} if noted is None else {each: n for each, n in noted.items() if each not in self._looked}
        for each in self._directories if noted is None else self._looked:
            files = {now.file for _, now in self.unseen([each])}
            if count := len(files | {new.file for new in young if each == directory}):
                counts[each] = count
        if counts != noted:
            fs.write_cache(self.root + UNSEEN, fastjson.dumps({"v": FORMAT, "unseen": counts}).encode())

    def _keep(self, digest: str, data: bytes) -> None:
        path = f"{self.contents}/{digest}"
        try:
            if not os.path.exists(path):
                fs.write_atomic(path, data, durable=False)
        except OSError as error:
            raise storage_error(error, path) from error

    def _append(self, rows: list[dict[str, Any]]) -> None:
        self._write(b"".join(fastjson.dumps(row).encode() + b"\n" for row in rows))

    def _write(self, data: bytes) -> None:
        try:
            if data:
                fs.append(self.path, data)
        except OSError as error:
            raise storage_error(error, self.path) from error

    def too_old(self, oldest: float, most_bytes: int) -> tuple[list[Version], int]:
        """Return the versions to forget, and how many bytes of contents go with them: those taken in before `oldest`
        (seconds since the epoch; 0: none), then the oldest ones until the contents have at most `most_bytes` (0: any
        number). Never the newest of a file, nor the newest that a person has seen, unless the file is gone and a person
        has seen that."""
        files = [known for files in self._directories.values() for known in files.values()]
        every = sorted((each for known in files for each in known), key=lambda each: each.time)
        needed = {id(each) for known in files for each in _needed(known)}
        users = Counter(each.digest for each in every)
        total = self.bytes_kept
        gone, freed = [], 0
        for each in every:
            too_much = 0 < most_bytes < total - freed
            if id(each) not in needed and (too_much or (clock.parse(each.time) or 0.0) < oldest):
                gone.append(each)
                users[each.digest] -= 1
                freed += 0 if users[each.digest] or each.size > MAX_BYTES else each.size
        return gone, freed

    def forget(self, oldest: float, most_bytes: int) -> tuple[int, int]:
        """Forget what is `too_old`. Return how many versions that were, and how many bytes of contents.

        Raises MemtuiError; LockTimeoutError if another process takes in at the moment.
        """
        with self._guard, fs.Lock(self.root + LOCK, LOCK_SECONDS):
            self.follow()
            gone, freed = self.too_old(oldest, most_bytes)
            if gone:
                self._rewrite({id(each) for each in gone})
        return len(gone), freed

    def _rewrite(self, gone: set[int]) -> None:
        """Write the log without the versions with these identities, then remove the contents that it does not name."""
        known = [each for files in self._directories.values() for known in files.values() for each in known]
        kept = sorted((each for each in known if id(each) not in gone), key=lambda each: each.time)
        looked = [{"v": FORMAT, "time": clock.iso(self._began), "dir": each} for each in self._directories]
        rows = [*looked, *(each.row() for each in kept)]
        data = b"".join(fastjson.dumps(row).encode() + b"\n" for row in rows)
        try:
            fs.write_atomic(self.path, data)
            digests = {each.digest for each in kept}
            for name in os.listdir(self.contents):
                if name not in digests:
                    fs.unlink(f"{self.contents}/{name}")
        except OSError as error:
            raise storage_error(error, self.path) from error
        self._forget()
        self.follow()


def noted_unseen(root: str) -> dict[str, int] | None:
    """Return how many files of each directory nobody has seen, by what was noted last; None if nothing is noted."""
    try:
        found = fastjson.loads_dict(fs.read(root + UNSEEN, "cache")).get("unseen")
    except OSError:
        return None
    return {each: n for each, n in found.items() if isinstance(n, int)} if isinstance(found, dict) else None


def _newest_seen(known: list[Version]) -> Version | None:
    return next((each for each in reversed(known) if each.seen), None)


def _needed(known: list[Version]) -> list[Version]:
    """Return the versions of a file that a review needs: the newest, and the newest that a person has seen; none if the
    file is gone and a person has seen that."""
    seen = _newest_seen(known)
    if known[-1].digest == GONE and known[-1].seen:
        return []
    return [known[-1]] if seen is None else [known[-1], seen]
