"""Versions of memories: what is new is taken in, of directories and of memtui's own changes, and a way back to each."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from memtui.base import clock_hot, fs_hot, ids_hot
from memtui.base.errors import MemtuiError, NotFoundError
from memtui.base.storage import storage_error, storing
from memtui.client import locate_hot
from memtui.store import references, scopes
from memtui.store.journal import ledger as journal_ledger
from memtui.store.journal.journal import takes_back
from memtui.store.journal.ledger import MemoryWrite, Transaction
from memtui.store.journal.own_files import FORMAT
from memtui.store.memory import Memory, read_memory
from memtui.store.scopes import Scope
from memtui.store.store import Store
from memtui.store.versions import versions as version_log
from memtui.store.versions.versions import Version, Versions, Writer, newest_seen
from memtui.store.versions.writers import Writers

# Who wrote what memtui did not write, until it is known.
SOMEBODY = Writer(version_log.OTHER)
# Seconds. A file that somebody wrote less than this ago is left for the next look: a hook may still log that the agent
# did, and the client writes its own fields into a memory right after the agent.
SETTLED = 2.0
# A look notes how far it read the journal if that had more changes than this.
MANY = 100
# A change that memtui made, and the memories that it wrote, without those that were deleted for good later.
OwnChange = tuple[Transaction, list[MemoryWrite]]


def taken_in(versions: Versions, places: Sequence[Scope]) -> Versions:
    """Take in what is new in these scopes. If that fails, `problem` has the error; what was known stays."""
    intake = Intake(versions, Writers(versions.root).of)
    versions.problem, versions.unsettled = None, False
    for scope in places:
        if with_versions(scope):
            try:
                intake.take_in(scope.directory)
            except MemtuiError as error:
                versions.problem = error
            except fs_hot.LockTimeoutError:
                break  # another process takes them in
            except OSError as error:
                versions.problem = storage_error(error, versions.path)
    try:
        versions.follow()
    except MemtuiError as error:
        versions.problem = error
    return versions


def peeked(versions: Versions, places: Sequence[Scope]) -> None:
    """Know what is new in these scopes, without writing anything. Raises MemtuiError."""
    intake = Intake(versions, Writers(versions.root).of)
    for scope in filter(with_versions, places):
        intake.peek(scope.directory)


def looked(versions: Versions, places: Sequence[Scope]) -> Versions:
    """Take in what is new in these scopes, and know what was written just now too, which the next look takes in."""
    taken_in(versions, places)
    if versions.unsettled and versions.problem is None:
        peeked(versions, places)
    return versions


def with_versions(scope: Scope) -> bool:
    """Tell whether versions of a scope's memories are kept: not of instructions, nor of what must not be read."""
    return not scope.problem and not scope.files


def of_memory(versions: Versions, scope: Scope, memory: Memory) -> list[Version]:
    """List the versions of a memory, oldest first, also those under the names that it had before."""
    return versions.line(scope.directory, references.relative(scope, memory.path))


RENAMED = frozenset({"rename", "move", "undo"})


def of_deleted(versions: Versions, places: Sequence[Scope], name: str) -> list[Version]:
    """List the versions of the file of this name or `scope:name` that was deleted last; empty if there is none."""
    gone: list[Version] = []
    for scope in places:
        for file in versions.files(scope.directory):
            stem, newest = references.stem(file), versions.of(scope.directory, file)[-1]
            names = {file, stem, f"{scope.shown}:{stem}", f"{scope.label}:{stem}"}
            if name in names and newest.digest == version_log.GONE:
                gone.append(newest)
    newest_gone = max(gone, key=lambda version: (version.op not in RENAMED, version.time), default=None)
    return versions.line(newest_gone.directory, newest_gone.file) if newest_gone else []


def became(versions: Versions, version: Version) -> Version | None:
    """Return the newest version of what a version became that is gone because memtui renamed it; None for others."""
    newest, after = None, versions.became(version)
    while after is not None:
        newest = versions.of(after.directory, after.file)[-1]
        after = versions.became(newest)
    return newest


class HistoryRow(NamedTuple):
    """A version, and when it came to be there (seconds since the epoch)."""

    version: Version
    time: float


def rows(versions: Sequence[Version]) -> list[HistoryRow]:
    """Return versions as rows of a history. One that got an older time, as from a backup, came when it was noticed."""
    history: list[HistoryRow] = []
    last = 0.0
    for version in versions:
        at = version.written or 0.0
        last = at if at >= last else max(last, clock_hot.parse(version.time) or 0.0)
        history.append(HistoryRow(version, last))
    return history


def scopes_of(env: dict[str, str], cwd: str, line: Sequence[Version]) -> list[Scope]:
    every = scopes.discover(env, cwd)
    directories = {version.directory for version in line}
    here = {scope.directory for scope in every}
    return every if directories <= here else scopes.discover(env, cwd, all_projects=True)


def waits(versions: Sequence[Version], version: Version) -> bool:
    """Tell whether a person has yet to see a version: not if a later one is seen, as after it was taken back."""
    return not any(state.seen for state in versions[versions.index(version) :])


def numbered(versions: Sequence[Version], number: int) -> Version:
    """Return a version by its number, from 1 for the oldest. Raises NotFoundError."""
    if not 1 <= number <= len(versions):
        raise NotFoundError(f"There is no version {number}.", f"Versions are numbered 1 to {len(versions)}.")
    return versions[number - 1]


def text(versions: Versions, version: Version, file: str) -> bytes:
    """Return a version's bytes with the `name` that its memory has now. Raises NotFoundError if they are not kept."""
    data, stem = versions.content(version), references.stem(file)
    return data if references.stem(version.file) == stem else references.set_name(data, stem)


def restore(
    store: Store, versions: Versions, scope: Scope, memory: Memory | None, version: Version, file: str = ""
) -> Memory:
    """Make a version the present text of its memory, or of `file`. Raises NotFoundError, ConflictError."""
    if version.digest == version_log.GONE:
        raise NotFoundError("That version is the deletion: there is no text to restore.", "Choose the one before it.")
    file = file or version.file
    if memory is None:
        path = f"{scope.directory}/{file}"
        store.write(scope, path, None, text(versions, version, file), "restore")
        return read_memory(path, scope.label)
    return store.edit(memory, text(versions, version, memory.path), seen=True, op="restore")


class Since(NamedTuple):
    """Changes since the last that was read, oldest first; the files of an unfinished one; the id of the newest."""

    steps: list[OwnChange]
    unfinished: set[str]
    newest: str


def read_since(root: str, last: str, oldest: float = 0.0) -> Since:
    """Read the changes after the one with the id `last`, and later than `oldest` (seconds). Raises MemtuiError."""
    steps: list[OwnChange] = []
    unfinished: set[str] = set()
    dropped: set[str] = set()  # the texts of memories that were deleted for good later
    newest = ""
    path = root + "/journal.jsonl"
    with storing(path):
        every = journal_ledger.shared(path).follow().all()
    for transaction in reversed(every):
        if transaction.id == last or (clock_hot.parse(transaction.time) or 0.0) <= oldest:
            break
        if transaction.state == "intent":
            unfinished |= {file.path for file in transaction.writes}
            continue
        newest = newest or transaction.id
        if transaction.state != "back":
            dropped.update(transaction.record.get("drop", ()))
            files = [file for file in transaction.writes if not dropped & {file.before, file.after}]
            if files:
                steps.append((transaction, files))
    return Since(steps[::-1], unfinished, newest or last)


class Intake:
    """What takes new versions into the log `log`; `writer` says who wrote a version that memtui did not write."""

    def __init__(self, log: Versions, writer: Callable[[Version], Writer]) -> None:
        self.log, self.writer = log, writer

    def take_in(self, directory: str) -> list[Version]:
        """Take in what is new of the memories of a directory, and return it. Raises MemtuiError, LockTimeoutError."""
        with self.log.locked():
            if self.log.has_peeked:
                self.log.reread()
            steps, versions, journal = self._look(directory, keep=True)
            rows = [version.row() for version in steps]
            if steps or self.log.journal is None or len(journal.steps) > MANY:
                rows.append({"v": FORMAT, "time": clock_hot.iso(self.log.now()), "journal": journal.newest})
            if versions and read_since(self.log.root, journal.newest).newest != journal.newest:
                versions = []  # memtui writes at the moment: the next look tells which of these are its own
                self.log.unsettled = True
            now = self.log.now()
            settled = [new for new in versions if new.writer != SOMEBODY or not 0 <= now - new.stamp / 1e9 < SETTLED]
            self.log.unsettled = self.log.unsettled or len(settled) < len(versions)
            rows += [version.row() for version in settled]
            if directory not in self.log.directories and not settled:
                rows.append({"v": FORMAT, "time": clock_hot.iso(now), "dir": directory})
            self.log.append(rows)
            if steps:
                self.log.reread()  # they are in the log now
            self.log.count(directory, [version for version in versions if version not in settled and not version.seen])
        return [*(version for version in steps if version.directory == directory), *settled]

    def peek(self, directory: str) -> None:
        """Know a directory's newest versions in this object only, until `take_in`. Raises MemtuiError."""
        with self.log.guard:
            self.log.follow()
            if not self.log.directories:
                return  # at the first look of all everything counts as seen
            self.log.has_peeked = True
            _, versions, journal = self._look(directory, keep=False)
            self.log.journal = journal.newest
            self.log.directories.setdefault(directory, {})
            for version in versions:
                self.log.add(version)

    def _look(self, directory: str, *, keep: bool) -> tuple[list[Version], list[Version], Since]:
        """Return the new versions that memtui made, those of others, oldest first, and the changes."""
        self.log.follow()
        self.log.looked.add(directory)
        first = directory not in self.log.directories
        steps, journal = self._take_steps(directory, keep=keep)
        files = self.log.directories.get(directory, {})
        # Oldest first: the writer reads the log back to each.
        fresh = sorted(self._fresh(directory, files, keep=keep), key=lambda version: version.stamp)
        busy = journal.unfinished
        idle = [version for version in fresh if not busy or os.path.realpath(version.path) not in busy]
        return steps, [self._named(version, first=first) for version in idle], journal

    def _take_steps(self, directory: str, *, keep: bool) -> tuple[list[Version], Since]:
        """Add the versions that memtui's changes made and replaced since the last look, all at a first one."""
        oldest = self.log.newest if self.log.journal is None and self.log.directories else 0.0
        journal = read_since(self.log.root, self.log.journal or "", oldest)
        places = {os.path.realpath(other): other for other in self.log.directories} if journal.steps else {}
        versions = [version for step in journal.steps for version in self._take_step(step, places, first=False)]
        if directory not in self.log.directories:
            places = {os.path.realpath(directory): directory}
            steps = read_since(self.log.root, "").steps
            versions += [version for step in steps for version in self._take_step(step, places, first=True)]
        return [self._kept(version) if keep else version for version in versions], journal

    def _take_step(self, step: OwnChange, places: dict[str, str], *, first: bool) -> list[Version]:
        """Add what one change of memtui's replaced, if nobody had taken it in, and what it wrote; return both."""
        versions: list[Version] = []
        transaction, files = step
        origins, was_shown = transaction.origins, transaction.record.get("seen") is True
        time = int((clock_hot.parse(transaction.time) or 0.0) * 1e9)
        mine = [(place, file) for file in files if (place := _place(places, file.path)) is not None]
        for (directory, name), file in mine:
            line = self.log.of(directory, name)
            if file.before != (line[-1].digest if line else version_log.GONE):
                unknown = self._version(directory, name, file.before, (file.times[0] or time) if file.before else 0)
                versions.append(self._named(unknown, first=first and not line))
                self.log.add(versions[-1])
        removed = [line[-1].seen for place, file in mine if not file.after and (line := self.log.of(*place))]
        for place, file in mine:
            seen = was_shown or self._is_seen(place, file, moved=not file.whole or all(removed))
            version = self._version(*place, file.after, (file.times[1] or time) if file.after else 0)
            origin = origins.get(file.path)
            was = None if origin is None else _place(places, origin)
            # A text that memtui only put back is still of the one who wrote it.
            same = [old.writer for old in self.log.of(*place) if old.digest == file.after and not seen]
            by = same[-1] if same else Writer(version_log.PERSON)
            op = version_log.TAKE_BACK if takes_back(transaction.record) else transaction.op
            op = version_log.LINKS if op == "rename" and not file.whole else op  # only links followed it
            versions.append(replace(version, writer=by, seen=seen, change=transaction.id, was=was, op=op))
            self.log.add(versions[-1])
        return versions

    def _is_seen(self, place: tuple[str, str], file: MemoryWrite, *, moved: bool) -> bool:
        """Tell whether a person has seen what memtui wrote to a file, as they had (`moved`) what it moved there."""
        versions = self.log.of(*place)
        if (f"{place[0]}/{place[1]}", file.after) in self.log.put_back_unseen:
            return False
        if not file.after:
            return True
        same = [version for version in versions if version.digest == file.after]
        if same:
            return same[-1].seen
        return file.after in self.log.seen_digests or (moved and (not file.before or not versions or versions[-1].seen))

    def _version(self, directory: str, file: str, digest: str, stamp: int) -> Version:
        """Return a version that the journal names, with the file's own time if it still has that text."""
        path, size = f"{directory}/{file}", 0
        with contextlib.suppress(OSError):
            size = os.stat(self.log.contents.path(digest)).st_size if digest else 0
        with contextlib.suppress(OSError):
            status = os.stat(path)
            if digest and (not size or status.st_size == size) and ids_hot.digest(fs_hot.read_bytes(path)) == digest:
                size, stamp = status.st_size, status.st_mtime_ns
        seen = digest in self.log.seen_digests if digest else False
        return Version(directory, file, clock_hot.iso(self.log.now()), digest, size, stamp, SOMEBODY, seen)

    def _kept(self, version: Version) -> Version:
        """Keep the content of a version that the file has and the journal has not, and return the version."""
        is_missing = version.digest and not os.path.exists(self.log.contents.path(version.digest))
        if is_missing and version.is_of(data := fs_hot.read_or_empty(version.path, version_log.MAX_BYTES)):
            self.log.contents.keep(data, durable=False)
        return version

    def _fresh(self, directory: str, files: dict[str, list[Version]], *, keep: bool) -> Iterator[Version]:
        try:
            present = [file for file, problem in locate_hot.walk(directory) if not problem]
        except OSError:
            return  # closed to us: nothing is known of it
        for file in present:
            version = self._changed(directory, file, files.get(file, []), keep=keep)
            if version is not None:
                yield version
        names = set(present)
        for file, versions in files.items():
            if file not in names and versions[-1].digest != version_log.GONE:
                unseen = newest_seen(versions) is None  # nobody knew it, so nobody misses it
                yield Version(directory, file, clock_hot.iso(self.log.now()), version_log.GONE, 0, 0, SOMEBODY, unseen)

    def _changed(self, directory: str, file: str, versions: list[Version], *, keep: bool) -> Version | None:
        """Return the version of a file as it is now, and keep its content if wanted; None if it is the newest known."""
        path = f"{directory}/{file}"
        try:
            status = os.stat(path)
            if versions and (versions[-1].stamp, versions[-1].size) == (status.st_mtime_ns, status.st_size):
                return None
            data = fs_hot.read_bytes(path, version_log.MAX_BYTES + 1)
        except OSError:
            return None  # gone meanwhile, or closed to us: the next look tells
        digest = ids_hot.digest(data)
        if versions and versions[-1].digest == digest:
            return None
        if keep and len(data) <= version_log.MAX_BYTES:
            self.log.contents.keep(data, durable=False)
        time, seen = clock_hot.iso(self.log.now()), digest in self.log.seen_digests
        return Version(directory, file, time, digest, status.st_size, status.st_mtime_ns, SOMEBODY, seen)

    def _named(self, version: Version, *, first: bool) -> Version:
        """Return a version with its writer; `first`: found at the first look at its directory."""
        if (version.path, version.digest) in self.log.put_back_unseen:
            versions = self.log.directories.get(version.directory, {}).get(version.file, [])
            same = [state.writer for state in versions if state.digest == version.digest]
            return replace(version, writer=same[-1] if same else SOMEBODY, seen=False)
        writer = self.writer(version)
        writer = writer if not first or writer.by == version_log.AGENT else Writer(version_log.FIRST)
        is_seen = version.seen or writer.by in {version_log.FIRST, version_log.PERSON}
        return replace(version, writer=writer, seen=is_seen)


def _place(places: dict[str, str], path: str) -> tuple[str, str] | None:
    """Return the directory of memories that a real path is in, and the file there; None if it is in none."""
    above = path
    while above := above.rpartition("/")[0]:
        if above in places:
            return places[above], path[len(above) + 1 :]
    return None
