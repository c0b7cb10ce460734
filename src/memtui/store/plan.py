"""One step of changes to memories: the files that are said, and the links, lines and trust that follow."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from memtui.base import paths_hot
from memtui.base.errors import MemtuiError, NotFoundError
from memtui.base.storage import read_or_none, storing
from memtui.client import locate_hot
from memtui.store import memory, references, scopes, sidecars, trust_grants
from memtui.store.index import index, index_lines
from memtui.store.journal.changes import Change, FileChange
from memtui.store.journal.journal import Journal
from memtui.store.journal.text_edit import text_edits
from memtui.store.memory import Memory
from memtui.store.scopes import Scope

# The directory in a scope's where archived memories go: its name is hidden, so that nobody lists or delivers them.
ARCHIVE = ".archive"
Contents = Mapping[str, bytes | None]
# Changes a MEMORY.md; gets its content, and what stands before the files of the scope there.
LineChange = Callable[[bytes, str], bytes]


def is_index(path: str) -> bool:
    return os.path.basename(path) == locate_hot.INDEX_NAME


def is_archived(path: str) -> bool:
    """Return whether a file is in the archive of its scope. A scope may itself be below a directory of that name."""
    _, mark, file = path.rpartition(f"/{ARCHIVE}/")
    return bool(mark) and "/." not in f"/{file}"


class ScopedFile(NamedTuple):
    """Where a file is: its scope, and its path relative to the scope's directory."""

    scope: Scope
    file: str


class FileDiff(NamedTuple):
    """A file before and after; None for no file. `repaired`: nobody named it, but its links or lines follow."""

    path: str
    before: bytes | None
    after: bytes | None
    repaired: bool = False


class ScopeFiles:
    """The files of some scopes, each read once; `contents`, by path, are as a person saw them or as first read."""

    def __init__(
        self, env: dict[str, str], places: Sequence[Scope], contents: Contents | None = None, *, shared: bool = False
    ) -> None:
        self.env, self.root, self.shared = env, paths_hot.root(env), shared
        self.contents: dict[str, bytes | None] = dict(contents or {})
        self._scopes = list(places)
        self._stems: dict[str, set[str]] = {}
        self._linking: dict[str, dict[str, bytes]] = {}

    def scope_of(self, path: str) -> ScopedFile:
        """Return where a file is. Raises NotFoundError for one that is in no scope."""
        place = self._within(path)
        if place is None and path.startswith(f"{paths_hot.config_dir(self.env)}/projects/"):
            # Maybe the auto memory of another project.
            self._scopes += scopes.others(self.env, {scope.directory for scope in self._scopes})
            place = self._within(path)
        if place is None:
            raise NotFoundError(f"{path} is in none of the scopes here.", "`memtui status --paths` lists them.")
        return place

    def _within(self, path: str) -> ScopedFile | None:
        places = []
        for scope in self._scopes:
            top = scope.directory.rstrip("/") + "/"
            file = path[len(top) :]
            # Instructions stand beside, above and below memories.
            if path.startswith(top) and (scope.kind != "instructions" or file in scope.files):
                places.append(ScopedFile(scope, file))
        return max(places, key=lambda scoped_file: len(scoped_file.scope.directory), default=None)

    def readable(self, path: str) -> ScopedFile:
        """Return where a file is that a change may read. Raises MemtuiError for one that it must not read."""
        place = self.scope_of(path)
        if place.scope.kind == "instructions":
            return place
        if place.scope.problem:
            raise MemtuiError(f"{place.scope.directory} {place.scope.problem}.", "memtui reads nothing there.")
        # A memory, an archived one, or the index.
        *above, name = place.file.split("/")
        odd = "\0" in path or os.path.normpath(path) != path or len(above) > locate_hot.MAX_DEPTH
        hidden = any(part.startswith(".") for part in (above[1:] if above[:1] == [ARCHIVE] else above))
        if odd or hidden or not (not above if is_index(path) else locate_hot.is_memory_name(name)):
            hint = "A change may only read and write memories, and MEMORY.md beside them."
            raise MemtuiError(f"{path} is no memory.", hint)
        return place

    def writable(self, path: str, *, through_link: bool = False) -> ScopedFile:
        """Return where a change may write a file. Raises MemtuiError for what is read-only, no memory, or links out."""
        place = self.readable(path)
        references.writable(place.scope, shared=self.shared)
        real, top = references.real_path(place.scope, path), paths_hot.resolve(place.scope.directory)
        if not through_link and real != f"{top}/{place.file}":
            raise MemtuiError(f"{path} is, or is behind, a symlink.", "Change the file that it leads to instead.")
        return place

    def data(self, path: str) -> bytes | None:
        """Return a file's content as it was when first asked for; None if there is none. Raises MemtuiError."""
        if path not in self.contents:
            with storing(path):
                self.contents[path] = read_or_none(path)
        return self.contents[path]

    def memory(self, path: str, data: bytes | None) -> Memory:
        return memory.from_bytes(path, self.scope_of(path).scope.label, data or b"")

    def link_names(self, scope: Scope, mem: Memory) -> list[str]:
        """Return the names by which links refer to a memory: its stem, and its name unless another file has that."""
        if scope.directory not in self._stems:
            self._stems[scope.directory] = {references.stem(name) for name, _ in scopes.files(scope)}
        return [mem.stem] + ([mem.name] if mem.name not in self._stems[scope.directory] else [])

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

    def is_trusted(self, path: str) -> bool:
        """Return whether the content of a file is trusted, or needs no trust."""
        scope, data = self.scope_of(path).scope, self.data(path)
        return is_index(path) or data is None or scopes.trust_of(self.root, scope).allows(data)


class Plan:
    """One step of changes: a caller says files, their links, lines and trust follow.

    `heirs` are the files that stand for those that go, `lines` the titles and hooks of new ones in MEMORY.md."""

    def __init__(self, files: ScopeFiles, *, unlinks: bool = False) -> None:
        self.files, self.unlinks = files, unlinks
        self.after: dict[str, bytes | None] = {}
        self.heirs: dict[str, str] = {}
        self.lines: dict[str, tuple[str, str]] = {}
        self._moved: dict[str, str] = {}
        self._named: dict[str, bool] = {}  # what was said, and whether it is trusted
        self._metadata: dict[str, tuple[int | None, int | None]] = {}
        self._indexes: dict[str, Scope] = {}
        self._followed = False

    def write(
        self, path: str, data: bytes | None, *, trusted: bool = False, mode: int | None = None, mtime: int | None = None
    ) -> None:
        """Say a file's content, None for no file; `mode` and time of a new one. Raises MemtuiError."""
        self.files.writable(path, through_link=data is not None and self.files.data(path) is not None)
        self.after[path] = data
        self._named[path] = trusted
        self._metadata[path] = mode, mtime

    def move(self, old: str, new: str) -> None:
        """Let the memory at `new`, which was written already, be the one at `old` under another name."""
        self._moved[old] = self.heirs[old] = new
        if old != new:
            self.write(old, None)

    def now(self, path: str) -> bytes | None:
        """Return a file's content as far as it is planned."""
        return self.after[path] if path in self.after else self.files.data(path)

    def preview(self) -> list[FileDiff]:
        """List the files that change: first those that were said, then those that follow, each by path."""
        if not self._followed:
            self._followed, files = True, dict(self.after)
            self._follow_links(files)
            self._follow_lines(files)
        rows = self.after.items()
        diffs = [FileDiff(path, self.files.data(path), after, path not in self._named) for path, after in rows]
        return sorted(diffs, key=lambda diff: (diff.repaired, is_index(diff.path), diff.path))

    def changes(self) -> list[Change]:
        """Return the changes: trust, what is new, what changes, what goes, what follows. Raises MemtuiError."""
        contents: list[tuple[Scope, str, bytes]] = []
        new, changed, changes, following = (list[Change]() for _ in range(4))
        for path, before, after, repaired in self.preview():
            scope = self._indexes.get(path) or self.files.scope_of(path).scope
            real = references.real_path(scope, path)
            mode, mtime = self._metadata.get(path, (None, None))
            if is_index(path) and before != b"":  # an empty one would be gone after an undo of lines
                mode = None if before else references.file_mode(scope)
                following += text_edits(real, before or b"", after or b"", mode)
                continue
            is_trusted = self.files.is_trusted(path) if repaired else self._named[path]
            if after is not None and is_trusted and not is_index(path) and not is_archived(path):
                contents.append((scope, references.relative(scope, path), after))
            if before is None:
                new.append(FileChange(real, None, after, references.file_mode(scope) if mode is None else mode))
            elif after is None:
                changes.append(FileChange(real, before, None))
            elif before and repaired:
                following += text_edits(real, before, after)
            else:
                changed.append(FileChange(real, before, after, times=(None, mtime)))
        trusted = trust_grants.edits(self.files.root, contents)
        return [*trusted, *new, *changed, *changes, *self._beside(), *following]

    def _beside(self) -> list[Change]:
        """Return the edits of what is kept beside memories: it goes to their heirs, or with them."""
        places: dict[sidecars.Place, sidecars.Place | None] = {}
        for path, after in self.after.items():
            if after is None:
                (scope, file), heir = self.files.scope_of(path), self.heirs.get(path)
                new = self.files.scope_of(heir) if heir is not None else None
                places[scope.directory, file] = (new.scope.directory, new.file) if new is not None else None
        moved = {old: new for old, new in self._moved.items() if old != new}
        return [*sidecars.moved_pairs(self.files.root, moved), *sidecars.moved_edits(self.files.root, places)]

    def apply(self, journal: Journal, op: str, summary: str, extra: Sequence[Change] = (), **more: Any) -> str:
        """Make the changes, with `extra` ones, as one step of undo; return its id. Raises as `Journal.run`."""
        return journal.run(op, [*self.changes(), *extra], summary, **more)

    def _heir(self, path: str) -> ScopedFile | None:
        """Return the memory of the same scope that stands for one that goes; links and lines lead to no other."""
        heir = self.heirs.get(path)
        place = self.files.scope_of(heir) if heir is not None and not is_archived(heir) else None
        return place if place is not None and place.scope == self.files.scope_of(path).scope else None

    def _follow_links(self, files: dict[str, bytes | None]) -> None:
        """Let links to memories with another name lead to them, in all memories of their scopes."""
        # By the scope's directory: where links to a memory, by its name and path, lead from now on, None: to nothing.
        renamed: dict[str, dict[tuple[str, str], str | None]] = {}
        for path, data in files.items():
            was, heir = self.files.data(path), self._heir(path)
            if was is None or is_index(path):
                continue
            before, scope = self.files.memory(path, was), self.files.scope_of(path).scope
            names: dict[str, str | None] = {}
            if data is None and (heir is not None or self.unlinks):
                stem = references.stem(heir.file) if heir is not None else None
                names = dict.fromkeys(self.files.link_names(scope, before), stem)
            # Links by a `name` that another one replaces lead to the file by its stem.
            elif data is not None and self.files.memory(path, data).name != before.name != before.stem:
                names = {name: before.stem for name in self.files.link_names(scope, before) if name == before.name}
            for name, stem in names.items():
                renamed.setdefault(scope.directory, {})[name, path] = stem
        for leads in renamed.values():
            scope = self.files.scope_of(next(path for _, path in leads)).scope
            inside = {path: data for path, data in files.items() if self.files.scope_of(path).scope == scope}
            for path, data in {**self.files.linking(scope), **inside}.items():
                if data is None or is_index(path) or is_archived(path):
                    continue
                after = data
                for (name, old_name), stem in leads.items():
                    if stem != name:
                        itself = self.unlinks and stem == references.stem(path)
                        after = references.relink(after, path, old_name, (name,), None if itself else stem)
                if after != data:
                    self.after[path] = after

    def _follow_lines(self, files: dict[str, bytes | None]) -> None:
        """Change lines of memories: first those that lead elsewhere, then new ones, then those that go."""
        elsewhere, new, lines_removed = (list[tuple[Scope, LineChange]]() for _ in range(3))
        pointed = set()
        for path in [path for path, data in files.items() if data is None or path in self.heirs]:
            (scope, file), heir = self.files.scope_of(path), self._heir(path)
            if heir is None:
                lines_removed.append((scope, partial(_without_line, file)))
                continue
            old = self.files.memory(path, self.files.data(path))
            elsewhere.append((scope, partial(_pointed, file, heir.file, old)))
            lines = index.parse_index(self.now(scope.index_path) or b"").entries
            if path in self._moved or any(entry.is_for(file) for entry in lines):
                pointed.add(self.heirs[path])
        for path, data in files.items():
            if data is None or is_index(path) or is_archived(path):
                continue
            (scope, file), was = self.files.scope_of(path), self.files.data(path)
            now, hook = self.files.memory(path, data), self.files.memory(path, was).description
            if was is None and path not in pointed:
                new.append((scope, partial(self._with_line, ScopedFile(scope, file), now)))
            elif hook and hook != now.description:
                new.append((scope, partial(_with_hook, file, now.description, hook)))
        for scope, change in (*elsewhere, *new, *lines_removed):
            for own, top in _indexes(scope):
                before = self.now(own.index_path) or b""
                after = change(before, top)
                if after != before:
                    self.after[own.index_path], self._indexes[own.index_path] = after, own

    def _with_line(self, place: ScopedFile, new: Memory, data: bytes, top: str) -> bytes:
        root = self.files.root
        # An index that only has the new memory would hide all others from the client.
        if top or (not data and len(scopes.indexed(root, place.scope)) >= index.MAX_LINES):
            return data
        title, hook = self.lines.get(new.path, (new.name, new.description))
        return references.with_line(root, place.scope, data, place.file, title, hook, new.type)


def _indexes(scope: Scope) -> list[tuple[Scope, str]]:
    """List the scopes whose MEMORY.md may have lines of a scope, with what stands before its files there."""
    if scope.kind != locate_hot.TEAM:
        return [(scope, "")]
    above = replace(scope, kind="auto", directory=os.path.dirname(scope.directory), writable=True)
    # Nobody need have made one for the team.
    return [*([(scope, "")] if os.path.exists(scope.index_path) else []), (above, f"{locate_hot.TEAM}/")]


def _without_line(file: str, data: bytes, top: str) -> bytes:
    return index_lines.remove_line(data, top + file)


def _with_hook(file: str, hook: str, was: str, data: bytes, top: str) -> bytes:
    return index_lines.set_hook(data, top + file, hook, was)


def _pointed(file: str, other: str, old: Memory, data: bytes, top: str) -> bytes:
    """Return an index in which the lines of one file lead to another, which may have its own."""
    file, other = top + file, top + other
    entries = index.parse_index(data).entries
    if file != other and any(entry.is_for(other) for entry in entries):
        data = index_lines.remove_line(data, file)
    title = next((entry.title for entry in entries if entry.is_for(file)), "")
    own = title if title in {old.name, old.stem} else ""
    return index_lines.replace_target(data, file, other, old_title=own, new_title=own and references.stem(other))
