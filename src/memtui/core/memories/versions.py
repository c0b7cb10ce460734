"""The versions of memories that memtui has seen: who wrote each, when, and whether a person has seen it.

`versions.jsonl` has a line for each version, oldest first, one for each that a person has seen, and one for each
directory that had no memories at the first look; the contents are in `versions/`, each in a file named by its hash
(docs/file-formats.md). What a directory holds when it is first looked at counts as seen: nobody asked memtui to review
it. Except for what an agent wrote there since memtui keeps versions at all: it may have made the directory.

What memtui itself wrote is in the journal, with what lay there before: `take_in` reads both from there. So each edit is
a version, and a text of somebody else that memtui replaced is one, too. What memtui writes is seen if what it replaced
was, or if the person had the whole text before them.
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
from memtui.core.journal.contents import ContentStore
from memtui.core.memories import journaled
from memtui.core.memories.journaled import OwnChange, Since, Written
from memtui.core.places import locate

# The content of a larger file is not kept: nobody reads a memory of that size.
MAX_BYTES = 1 << 20
# Seconds. A file that somebody wrote less than this ago is left for the next look: a hook may still log that the agent
# did, and the client writes its own fields into a memory right after the agent.
SETTLED = 2.0
# A look notes how far it read the journal if that had more changes than this.
MANY = 100
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
    it; `change`: the id of memtui's own change that made it; `was`: the directory and the file that it was called
    before that change, if it moved or renamed it."""

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
        more: dict[str, Any] = {"session": self.writer.session, "prompt": self.writer.prompt, "change": self.change}
        more["was"] = list(self.was or ())
        return found | {key: value for key, value in more.items() if value}


def _version(row: dict[str, Any]) -> Version | None:
    texts = [row.get(key) for key in ("dir", "file", "digest")]
    if not all(isinstance(each, str) for each in texts):
        return None
    directory, file, digest = map(str, texts)
    size, stamp = (found if isinstance(found := row.get(key), int) else 0 for key in ("size", "stamp"))
    writer = Writer(*(str(row.get(key) or "") for key in ("by", "session", "prompt")))
    was = row.get("was")
    former = (str(was[0]), str(was[1])) if isinstance(was, list) and len(was) == 2 else None
    time, seen, change = str(row.get("time") or ""), row.get("seen") is True, str(row.get("change") or "")
    return Version(directory, file, time, digest, size, stamp, writer, seen, change, former)


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
        self._journal: str | None = None  # the id of the journal's newest change that is taken in; None: not known
        self._newest = 0.0  # when the newest version was taken in
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
            if row.get("v") != FORMAT:
                continue
            if not isinstance(row.get("dir"), str):
                self._journal = read if isinstance(read := row.get("journal"), str) else self._journal
                continue
            time = clock.parse(row.get("time"))
            self._began, self._newest = min(self._began, time or self._began), max(self._newest, time or 0.0)
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
        self._unseen.discard((version.path, version.digest))
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
            newest = [known[-1] for known in files if not known[-1].seen]
            return [(_newest_seen(self.line(each.directory, each.file)), each) for each in newest]

    def line(self, directory: str, file: str) -> list[Version]:
        """List the versions of a memory, oldest first, also those under the names that it had before."""
        found: list[Version] = []
        known, followed = self.of(directory, file), set[str]()
        while known:
            renamed = next((at for at in reversed(range(len(known))) if known[at].was is not None), 0)
            found = known[renamed:] + found
            first = known[renamed]
            if first.was is None or first.change in followed:
                break
            followed.add(first.change)
            before = self.of(*first.was)
            known = before[: next((at for at, each in enumerate(before) if each.change == first.change), 0)]
        return found

    def other(self, version: Version) -> Writer:
        """Return who else wrote what waits to be seen with a version, also if a person wrote it through memtui over
        what nobody had seen."""
        for each in reversed(self.line(version.directory, version.file)):
            if each.seen:
                break
            if each.writer.by != PERSON:
                return each.writer
        return version.writer

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
            first = directory not in self._directories
            steps, journal = self._take_steps(directory, writer, keep=True)
            rows = [each.row() for each in steps]
            if steps or self._journal is None or len(journal.steps) > MANY:
                rows.append({"v": FORMAT, "time": clock.iso(self.now()), "journal": journal.newest})
            known = self._directories.get(directory)
            # Oldest first: `writer` reads the log back to each.
            fresh = sorted(self._fresh(directory, known or {}, keep=True), key=lambda each: each.stamp)
            named = [self._named(each, writer, first=first) for each in fresh if not self._is_busy(each, journal)]
            if named and self._read_journal(journal.newest).newest != journal.newest:
                named = []  # memtui writes at the moment: the next look tells which of these are its own
                self.unsettled = True
            settled = [each for each in named if not self._is_unsettled(each)]
            self.unsettled = self.unsettled or len(settled) < len(named)
            rows += [each.row() for each in settled]
            if known is None and not settled:
                rows.append({"v": FORMAT, "time": clock.iso(self.now()), "dir": directory})
            self._append(rows)
            if steps:
                self._forget()  # they are in the log now
            self._count(directory, [each for each in named if each not in settled and not each.seen])
        return [*(each for each in steps if each.directory == directory), *settled]

    def peek(self, directory: str, writer: Callable[[Version], Writer]) -> None:
        """Know what is new of the memories of a directory, as `take_in` but also if it was written just now, in this
        object only and until the next `take_in`: nothing is written. Raises MemtuiError."""
        with self._guard:
            self.follow()
            if not self._directories:
                return  # at the first look of all everything counts as seen
            self._has_peeked = True
            self._looked.add(directory)
            first = directory not in self._directories
            _, journal = self._take_steps(directory, writer, keep=False)
            self._journal = journal.newest
            files = self._directories.setdefault(directory, {})
            for each in sorted(self._fresh(directory, files, keep=False), key=lambda each: each.stamp):
                if not self._is_busy(each, journal):
                    self._add(files, self._named(each, writer, first=first))

    # what memtui itself wrote

    def _read_journal(self, last: str, oldest: float = 0.0) -> Since:
        try:
            return journaled.since(self.root, last, oldest)
        except OSError as error:
            raise storage_error(error, self.root + "/journal.jsonl") from error

    def _take_steps(
        self, directory: str, writer: Callable[[Version], Writer], *, keep: bool
    ) -> tuple[list[Version], Since]:
        """Add the versions that memtui's own changes made and replaced since the last look, of all directories that
        were looked at; of `directory`, if this is the first look at it, those of all changes. Contents are kept if
        wanted."""
        oldest = self._newest if self._journal is None and self._directories else 0.0
        journal = self._read_journal(self._journal or "", oldest)
        places = {os.path.realpath(each): each for each in self._directories} if journal.steps else {}
        found = [each for step in journal.steps for each in self._take_step(step, places, writer, first=False)]
        if directory not in self._directories:
            places = {os.path.realpath(directory): directory}
            steps = self._read_journal("").steps
            found += [each for step in steps for each in self._take_step(step, places, writer, first=True)]
        return [self._kept(each) if keep else each for each in found], journal

    def _take_step(
        self, step: OwnChange, places: dict[str, str], writer: Callable[[Version], Writer], *, first: bool
    ) -> list[Version]:
        """Add what one change of memtui's replaced, if nobody had taken it in, and what it wrote; return both."""
        found: list[Version] = []
        mine = [(place, each) for each in step.files if (place := _place(places, each.path)) is not None]
        gone = [(place, each) for place, each in mine if not each.after]
        for (directory, file), each in mine:
            known = self.of(directory, file)
            if each.before != (known[-1].digest if known else GONE):
                stamp = each.stamps[0] or int(step.time * 1e9)
                unknown = self._version(directory, file, each.before, stamp if each.before else 0)
                found.append(self._named(unknown, writer, first=first and not known))
                self._add(self._directories.setdefault(directory, {}), found[-1])
        moved = [known[-1].seen for (directory, file), _ in gone if (known := self.of(directory, file))]
        made = [each for each in step.files if not each.before]
        for place, each in mine:
            seen = step.seen or self._is_seen(place, each, moved=not each.whole or all(moved))
            version = self._version(*place, each.after, (each.stamps[1] or int(step.time * 1e9)) if each.after else 0)
            was = gone[0][0] if len(gone) == len(made) == 1 and made[0] is each else None
            # A text that memtui only put back is still of the one who wrote it.
            same = [old.writer for old in self.of(*place) if old.digest == each.after and not seen]
            by = same[-1] if same else Writer(PERSON)
            found.append(replace(version, writer=by, seen=seen, change=step.id, was=was))
            self._add(self._directories.setdefault(place[0], {}), found[-1])
        return found

    def _is_seen(self, place: tuple[str, str], written: Written, *, moved: bool) -> bool:
        """Tell whether a person has seen what memtui wrote to a file, as they had (`moved`) what it moved there."""
        known = self.of(*place)
        if (f"{place[0]}/{place[1]}", written.after) in self._unseen:
            return False
        if not written.after:
            return True
        same = [each for each in known if each.digest == written.after]
        if same:
            return same[-1].seen
        return written.after in self._seen or (moved and (not written.before or not known or known[-1].seen))

    def _version(self, directory: str, file: str, digest: str, stamp: int) -> Version:
        """Return a version that the journal names, with the file's own time if it still has that text."""
        path, size = f"{directory}/{file}", 0
        with contextlib.suppress(OSError):
            size = os.stat(ContentStore(self.root).path(digest)).st_size if digest else 0
        with contextlib.suppress(OSError):
            status = os.stat(path)
            if digest and (not size or status.st_size == size) and ids.digest(fs.read_bytes(path)) == digest:
                size, stamp = status.st_size, status.st_mtime_ns
        seen = digest in self._seen if digest else False
        return Version(directory, file, clock.iso(self.now()), digest, size, stamp, Writer(OTHER), seen)

    def _kept(self, version: Version) -> Version:
        """Keep the content of a version that the journal or the file has, and return the version."""
        if version.digest and version.size <= MAX_BYTES:
            for path in (ContentStore(self.root).path(version.digest), version.path):
                if version.is_of(data := fs.read_or_empty(path, MAX_BYTES)):
                    self._keep(version.digest, data)
                    break
        return version

    @staticmethod
    def _is_busy(version: Version, journal: Since) -> bool:
        return bool(journal.unfinished) and os.path.realpath(version.path) in journal.unfinished

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
        needed |= {id(each) for pair in self.unseen(self._directories) for each in pair if each is not None}
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

    def purge(self, paths: Collection[str], dropped: Collection[str]) -> None:
        """Forget the versions of deleted files, by their real paths, with their contents; of a file that is there
        again, those up to its deletion, and the texts with a digest of `dropped`. Raises MemtuiError."""
        with self._guard, fs.Lock(self.root + LOCK, LOCK_SECONDS):
            self.follow()
            files = [known for each in self._directories.values() for known in each.values()]
            theirs = [known for known in files if os.path.realpath(known[0].path) in paths]
            gone = {id(each) for known in theirs for each in _deleted(known, dropped)}
            if gone:
                self._rewrite(gone)

    def _rewrite(self, gone: set[int]) -> None:
        """Write the log without the versions with these identities, then remove the contents that it does not name."""
        known = [each for files in self._directories.values() for known in files.values() for each in known]
        kept = sorted((each for each in known if id(each) not in gone), key=lambda each: each.time)
        looked = [{"v": FORMAT, "time": clock.iso(self._began), "dir": each} for each in self._directories]
        journal = [] if self._journal is None else [{"v": FORMAT, "journal": self._journal}]
        rows = [*looked, *(each.row() for each in kept), *journal]
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


def _place(places: dict[str, str], path: str) -> tuple[str, str] | None:
    """Return the directory and the file in it of a real path, by the real paths of directories; None if it is in
    none."""
    above = path
    while above := above.rpartition("/")[0]:
        if above in places:
            return places[above], path[len(above) + 1 :]
    return None


def _newest_seen(known: list[Version]) -> Version | None:
    """Return the newest version that a person has seen; not that memtui removed a file that it put back unseen."""
    after: Version | None = None
    for each in reversed(known):
        put_back = after is not None and after.change and not after.seen and each.digest == GONE and each.change
        if each.seen and not put_back:
            return each
        after = each
    return None


def _deleted(known: list[Version], dropped: Collection[str]) -> list[Version]:
    """Return the versions of a file up to its last deletion, and those after it with a digest of `dropped`; all of them
    if there is no file."""
    if not os.path.lexists(known[0].path):
        return known
    later = 1 + max((at for at, each in enumerate(known) if each.digest == GONE), default=-1)
    return known[:later] + [each for each in known[later:] if each.digest in dropped]


def _needed(known: list[Version]) -> list[Version]:
    """Return the versions of a file that a review needs: the newest, and the newest that a person has seen; none if the
    file is gone and a person has seen that."""
    seen = _newest_seen(known)
    if known[-1].digest == GONE and known[-1].seen:
        return []
    return [known[-1]] if seen is None else [known[-1], seen]
