"""The files that proposals may read and write: the memories and indexes of the scopes of a working directory."""

import os
from dataclasses import replace
from typing import NamedTuple

from memtui.consolidate.changeset import ARCHIVE, Kind, Proposal, is_index, sha256
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


class MemoryFiles:
    """The files of a store's scopes. What was read is kept: make a new one to read again.

    Proposals name any files, and may come from anywhere: `readable` and `writable` let only memories and indexes
    through, and for a proposal of instructions CLAUDE.md and rules.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._scopes = store.scopes()
        self._instructions = scopes.instruction_places(store.env, store.cwd)
        self._data: dict[str, bytes | None] = {}
        self._stems: dict[str, set[str]] = {}
        self._linking: dict[str, dict[str, bytes]] = {}

    def scope_of(self, path: str) -> ScopedFile:
        """Return where a file is. Raises NotFoundError for one that is in no scope."""
        place = self._within(path)
        if place is None:  # maybe the auto memory of another project
            known = {scope.directory for scope in self._scopes}
            top = paths.config_dir(self.store.env) + "/projects/"
            self._scopes += scopes.others(self.store.env, known) if path.startswith(top) else []
            place = self._within(path)
        if place is None:
            raise NotFoundError(f"{path} is in none of the scopes here.", "`memtui status --paths` lists them.")
        return place

    def _within(self, path: str) -> ScopedFile | None:
        """Return the scope that has a path in its directory, the innermost one."""
        found = []
        for scope in (*self._scopes, *self._instructions):
            top = scope.directory.rstrip("/") + "/"
            file = path[len(top) :]
            # Instructions stand beside, above and below memories.
            if path.startswith(top) and (scope.kind != "instructions" or scopes.may_instruct(scope, file)):
                found.append(ScopedFile(scope, file))
        return max(found, key=lambda each: len(each.scope.directory), default=None)

    def readable(self, path: str) -> ScopedFile:
        """Return where a file is that a proposal may read. Raises MemtuiError for one that it must not read."""
        place = self.scope_of(path)
        if place.scope.kind == "instructions":
            return place
        if place.scope.problem:
            raise MemtuiError(f"{place.scope.directory} {place.scope.problem}.", "memtui reads nothing there.")
        _check_file(path, place)
        return place

    def writable(self, path: str, kind: Kind) -> ScopedFile:
        """Return where a file is that a proposal of this kind may write or remove. Raises MemtuiError for one in a
        read-only scope, behind a symlink, or with a name that no memory can have."""
        place = self.scope_of(path) if kind == "rule" else self.readable(path)
        if kind == "rule":
            if place.scope.kind != "instructions" or os.path.normpath(path) != path or not path.isprintable():
                raise MemtuiError(
                    f"{path} is no file of instructions.", "Claude Code reads CLAUDE.md and .claude/rules."
                )
        else:
            references.writable(place.scope)
            references.real_path(place.scope, place.scope.index_path)
        if not is_index(path):
            references.check_name(os.path.basename(path))
        top = paths.resolve(place.scope.directory)
        if top is None or paths.resolve(path) != f"{top}/{place.file}":
            raise MemtuiError(f"{path} is, or is behind, a symlink.", "Change the file that it leads to instead.")
        return place

    def data(self, path: str) -> bytes | None:
        """Return the content of a file as it was when it was first asked for; None if there is none. Raises
        MemtuiError."""
        if path not in self._data:
            try:
                self._data[path] = read_or_none(path)
            except OSError as error:
                raise storage_error(error, path) from error
        return self._data[path]

    def filled(self, found: Proposal) -> Proposal:
        """Return a proposal with the contents of its inputs, as far as they are still as it read them."""
        inputs = []
        for each in found.inputs:
            data = self.data(each.path) if each.data is None and each.sha256 else each.data
            inputs.append(replace(each, data=data if data is not None and sha256(data) == each.sha256 else None))
        return replace(found, inputs=tuple(inputs))

    def link_names(self, scope: Scope, found: Memory) -> list[str]:
        """Return the names by which links refer to a memory, as `references.old_names`."""
        if scope.directory not in self._stems:
            self._stems[scope.directory] = references.stems(scope)
        return references.old_names(scope, found, self._stems[scope.directory])

    def linking(self, scope: Scope) -> dict[str, bytes]:
        """Return the memories of a scope that may have links in them, by path. Those that must not or can't be read,
        are too large, or are symlinks, are left out."""
        if scope.directory not in self._linking:
            found = {}
            for file, problem in scopes.files(scope):
                path = f"{scope.directory}/{file}"
                if problem or os.path.islink(path):
                    continue
                try:
                    data = self.data(path)
                except MemtuiError:
                    continue
                if data is not None and b"[" in data and len(data) <= memory.MAX_BYTES:
                    found[path] = data
            self._linking[scope.directory] = found
        return self._linking[scope.directory]


def _check_file(path: str, place: ScopedFile) -> None:
    """Raise MemtuiError unless a path can be that of a memory, of an archived one, or of an index."""
    *directories, name = place.file.split("/")
    odd = not path.isprintable() or os.path.normpath(path) != path or len(directories) > locate.MAX_DEPTH
    hidden = any(each.startswith(".") for each in (directories[1:] if directories[:1] == [ARCHIVE] else directories))
    index = is_index(path) and not directories
    if odd or hidden or not (index or locate.is_memory_name(name)) or (is_index(path) and directories):
        raise _outside(path)


def _outside(path: str) -> MemtuiError:
    return MemtuiError(f"{path} is no memory.", "A change may only read and write memories, and MEMORY.md beside them.")
