"""The history of one memory: its versions, and a way back to each of them."""

import os
from collections.abc import Sequence

from memtui.core.base import fs
from memtui.core.base.errors import MemtuiError, NotFoundError
from memtui.core.base.storage import storage_error
from memtui.core.memories import references
from memtui.core.memories.intake import Intake
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.core.memories.store import Store
from memtui.core.memories.versions import GONE, Version, Versions
from memtui.core.memories.writers import Writers


def taken_in(versions: Versions, scopes: Sequence[Scope]) -> Versions:
    """Take in what is new in these scopes. If that fails, `problem` has the error, and what was known before is still
    there."""
    intake = Intake(versions, Writers(versions.root).of)
    versions.problem, versions.unsettled = None, False
    for scope in scopes:
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


def peeked(versions: Versions, scopes: Sequence[Scope]) -> None:
    """Know what is new in these scopes, without writing anything. Raises MemtuiError."""
    intake = Intake(versions, Writers(versions.root).of)
    for scope in filter(with_versions, scopes):
        intake.peek(scope.directory)


def with_versions(scope: Scope) -> bool:
    """Tell whether versions of a scope's memories are kept: not of instructions, nor of what must not be read."""
    return not scope.problem and not scope.files


def of_memory(versions: Versions, scope: Scope, found: Memory) -> list[Version]:
    """List the versions of a memory, oldest first, also those under the names that it had before."""
    return versions.line(scope.directory, references.relative(scope, found.path))


def of_deleted(versions: Versions, scopes: Sequence[Scope], name: str) -> list[Version]:
    """List the versions of the file of this name that is not there any more, oldest first; empty if there was none."""
    for scope in scopes:
        for file in versions.files(scope.directory):
            known = versions.of(scope.directory, file)
            if known[-1].digest == GONE and name in {file, os.path.basename(file).removesuffix(".md")}:
                return versions.line(scope.directory, file)
    return []


def waits(known: Sequence[Version], version: Version) -> bool:
    """Tell whether a person has yet to see a version: not if a later one is seen, as after it was taken back."""
    return not any(each.seen for each in known[known.index(version) :])


def numbered(known: Sequence[Version], number: int) -> Version:
    """Return a version by its number, from 1 for the oldest. Raises NotFoundError."""
    if not 1 <= number <= len(known):
        raise NotFoundError(f"There is no version {number}.", f"Versions are numbered 1 to {len(known)}.")
    return known[number - 1]


def restore(
    store: Store, versions: Versions, scope: Scope, found: Memory | None, version: Version, file: str = ""
) -> Memory:
    """Make a version the present text of its memory again, as one step of undo; `found` None: its file, or `file`, is
    gone.

    Raises NotFoundError if it is a deletion or its content is not kept, ConflictError if the file changed since it was
    read.
    """
    if version.digest == GONE:
        raise NotFoundError("That version is the deletion: there is no text to restore.", "Choose the one before it.")
    data = versions.content(version)
    if found is None:
        return store.put(scope, file or version.file, data, op="restore")
    return store.edit(found, data, seen=True, op="restore")
