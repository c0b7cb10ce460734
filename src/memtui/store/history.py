"""The history of one memory: its versions, and a way back to each of them."""

from collections.abc import Sequence
from typing import NamedTuple

from memtui.base import clock, fs
from memtui.base.errors import MemtuiError, NotFoundError
from memtui.base.storage import storage_error
from memtui.store import references, scopes
from memtui.store.memory import Memory, read_memory
from memtui.store.scopes import Scope
from memtui.store.store import Store
from memtui.store.versions.intake import Intake
from memtui.store.versions.versions import GONE, Version, Versions
from memtui.store.versions.writers import Writers


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
            except fs.LockTimeoutError:
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


def of_deleted(versions: Versions, places: Sequence[Scope], name: str) -> list[Version]:
    """List the versions of the deleted file of this name or `scope:name`, before renamed ones; empty if none."""
    renamed: list[Version] = []
    for scope in places:
        for file in versions.files(scope.directory):
            versions_of_file = versions.of(scope.directory, file)
            stem = references.stem(file)
            if versions_of_file[-1].digest == GONE and name in {
                file,
                stem,
                f"{scope.shown}:{stem}",
                f"{scope.label}:{stem}",
            }:
                line = versions.line(scope.directory, file)
                if versions.became(versions_of_file[-1]) is None:
                    return line
                renamed = renamed or line
    return renamed


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
        last = at if at >= last else max(last, clock.parse(version.time) or 0.0)
        history.append(HistoryRow(version, last))
    return history


def scopes_of(env: dict[str, str], cwd: str, line: Sequence[Version]) -> list[Scope]:
    """List the scopes here, with those of other projects where a memory was in one."""
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
    if version.digest == GONE:
        raise NotFoundError("That version is the deletion: there is no text to restore.", "Choose the one before it.")
    file = file or version.file
    if memory is None:
        path = f"{scope.directory}/{file}"
        store.write(scope, path, None, text(versions, version, file), "restore")
        return read_memory(path, scope.label)
    return store.edit(memory, text(versions, version, memory.path), seen=True, op="restore")
