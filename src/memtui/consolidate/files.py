"""The files that proposals may read and write: the memories and indexes of the scopes of a working directory."""

import os
from itertools import chain, count
from typing import NamedTuple

from memtui.consolidate.changeset import ARCHIVE, FileInput, is_index, sha256
from memtui.core.base import paths
from memtui.core.base.errors import MemtuiError, NotFoundError
from memtui.core.base.storage import read_or_none, storage_error
from memtui.core.memories import memory, references, scopes
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.core.memories.store import Store
from memtui.core.places import locate


class ScopedFile(NamedTuple):
    """Where a file is: its scope, and its path relative to the scope's directory."""

    scope: Scope
    file: str


def in_archive(directory: str, stem: str) -> str:
    """Return a path that is free in the archive of a scope, for a memory called `stem` there."""
    place = f"{directory}/{ARCHIVE}/{stem}"
    names = (f"{place}{end}.md" for end in chain([""], (f"-{number}" for number in count(2))))
    return next(each for each in names if not os.path.lexists(each))


class MemoryFiles:
    """The files of a store's scopes, each read once. `readable` lets only memories, indexes and instructions through,
    `writable` no instructions."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._scopes = store.scopes()
        self._data: dict[str, bytes | None] = {}
        self._stems: dict[str, set[str]] = {}
        self._linking: dict[str, dict[str, bytes]] = {}

    def scope_of(self, path: str) -> ScopedFile:
        """Return where a file is. Raises NotFoundError for one that is in no scope."""
        place = self._within(path)
        if place is None and path.startswith(f"{paths.config_dir(self.store.env)}/projects/"):
            # Maybe the auto memory of another project.
            self._scopes += scopes.others(self.store.env, {scope.directory for scope in self._scopes})
            place = self._within(path)
        if place is None:
            raise NotFoundError(f"{path} is in none of the scopes here.", "`memtui status --paths` lists them.")
        return place

    def _within(self, path: str) -> ScopedFile | None:
        """Return the scope that has a path in its directory, the innermost one."""
        places = []
        for scope in self._scopes:
            top = scope.directory.rstrip("/") + "/"
            file = path[len(top) :]
            # Instructions stand beside, above and below memories.
            if path.startswith(top) and (scope.kind != "instructions" or file in scope.files):
                places.append(ScopedFile(scope, file))
        return max(places, key=lambda each: len(each.scope.directory), default=None)

    def readable(self, path: str) -> ScopedFile:
        """Return where a file is that a proposal may read. Raises MemtuiError for one that it must not read."""
        place = self.scope_of(path)
        if place.scope.kind == "instructions":
            return place
        if place.scope.problem:
            raise MemtuiError(f"{place.scope.directory} {place.scope.problem}.", "memtui reads nothing there.")
        # A memory, an archived one, or the index.
        *above, name = place.file.split("/")
        odd = not path.isprintable() or os.path.normpath(path) != path or len(above) > locate.MAX_DEPTH
        hidden = any(each.startswith(".") for each in (above[1:] if above[:1] == [ARCHIVE] else above))
        if odd or hidden or not (not above if is_index(path) else locate.is_memory_name(name)):
            raise MemtuiError(
                f"{path} is no memory.", "A change may only read and write memories, and MEMORY.md beside them."
            )
        return place

    def writable(self, path: str) -> ScopedFile:
        """Return where a proposal may write a file. Raises MemtuiError for read-only scopes, symlinks, odd names."""
        place = self.readable(path)
        references.writable(place.scope)
        references.real_path(place.scope, place.scope.index_path)
        if not is_index(path):
            references.check_name(os.path.basename(path))
        top = paths.resolve(place.scope.directory)
        if top is None or paths.resolve(path) != f"{top}/{place.file}":
            raise MemtuiError(f"{path} is, or is behind, a symlink.", "Change the file that it leads to instead.")
        return place

    def data(self, path: str) -> bytes | None:
        """Return a file's content as it was when first asked for; None if there is none. Raises MemtuiError."""
        if path not in self._data:
            try:
                self._data[path] = read_or_none(path)
            except OSError as error:
                raise storage_error(error, path) from error
        return self._data[path]

    def is_current(self, read: FileInput) -> bool:
        """Return whether a file is as a proposal read it. Raises MemtuiError."""
        data = self.data(read.path)
        return ("" if data is None else sha256(data)) == read.sha256

    def link_names(self, scope: Scope, found: Memory) -> list[str]:
        """Return the names by which links refer to a memory, as `references.old_names`."""
        if scope.directory not in self._stems:
            self._stems[scope.directory] = references.stems(scope)
        return references.old_names(scope, found, self._stems[scope.directory])

    def linking(self, scope: Scope) -> dict[str, bytes]:
        """Return the memories of a scope that may have links, by path, without unreadable ones and symlinks."""
        if scope.directory not in self._linking:
            linking = self._linking[scope.directory] = {}
            for file, problem in scopes.files(scope):
                path = f"{scope.directory}/{file}"
                if problem or os.path.islink(path):
                    continue
                try:
                    data = self.data(path)
                except MemtuiError:
                    continue
                if data is not None and b"[" in data and len(data) <= memory.MAX_BYTES:
                    linking[path] = data
        return self._linking[scope.directory]
