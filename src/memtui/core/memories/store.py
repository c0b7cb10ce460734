"""The store: changes to memories, each one undoable step, made only if the file is as it was read (ConflictError)."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from memtui.core.base import clock, paths
from memtui.core.base.errors import MemtuiError
from memtui.core.base.shell import shell_word
from memtui.core.base.storage import read_or_none, storage_error
from memtui.core.journal.changes import Change, FileChange, conflict
from memtui.core.journal.journal import Journal
from memtui.core.journal.ledger import Ledger
from memtui.core.journal.own_files import BesideEdit
from memtui.core.memories import beside, index_lines, memory, references, scopes, trash
from memtui.core.memories import trusting as trust_edits
from memtui.core.memories.memory import Memory, read_memory
from memtui.core.memories.scopes import Scope
from memtui.core.memories.trash import TrashItem
from memtui.core.memories.versions import Versions
from memtui.core.places import locate, trust

Item = TypeVar("Item")
Done = TypeVar("Done")


@dataclass
class Outcome(Generic[Item, Done]):
    """The outcome of `total` changes; those not in `done` or `failed` were not tried."""

    total: int
    done: list[tuple[Item, Done]] = field(default_factory=list)
    failed: list[tuple[Item, MemtuiError]] = field(default_factory=list)

    @property
    def stopped(self) -> bool:
        """Whether a person stopped it before the end."""
        return len(self.done) + len(self.failed) < self.total


class Store:
    """Changes to the memories of a working directory. Recovers from a killed process, or `problem` has the error."""

    def __init__(
        self,
        env: dict[str, str],
        cwd: str,
        *,
        by: str = "cli",
        now: Callable[[], float] = clock.now,
        ledger: Ledger | None = None,
    ) -> None:
        self.env = env
        self.cwd = cwd
        self.root = paths.root(env)
        self.journal = Journal(self.root, by, now, ledger)
        # Whether a person agreed that others get what changes in a scope that a team shares.
        self.shared = False
        self.problem: MemtuiError | None = None
        try:
            self.journal.recover()
        except MemtuiError as error:
            self.problem = error

    def scopes(self) -> list[Scope]:
        """List the scopes, as `scopes.discover`."""
        return scopes.discover(self.env, self.cwd)

    def scope(self, label: str) -> Scope:
        """Return the scope with a label. Raises NotFoundError."""
        return scopes.named(self.env, self.cwd, label)

    def find(self, ref: str) -> Memory:
        """Return the memory for a reference, as `scopes.find`."""
        return scopes.find(self.env, self.cwd, ref)

    def create(self, scope: Scope, name: str, description: str, kind: str, body: str) -> Memory:
        """Create a memory of a type, and its line in the index. Raises ConflictError if the name is taken."""
        stem = references.check_name(name)
        return self.add(scope, stem, memory.new_memory_bytes(stem, description, kind, body))

    def add(self, scope: Scope, name: str, data: bytes, *, op: str = "create", extra: Sequence[Change] = ()) -> Memory:
        """Create a memory from a whole file's bytes, with `extra` changes in the same step. Raises as `create`."""
        return self.put(scope, f"{references.check_name(name)}.md", data, op=op, extra=extra)

    def put(
        self, scope: Scope, file: str, data: bytes, *, op: str, verb: str = "", extra: Sequence[Change] = ()
    ) -> Memory:
        """Create a memory as `add`, also in a subdirectory. `verb` begins the journal's summary in place of `op`."""
        references.writable(scope, shared=self.shared)
        path = self._free(scope, file)
        new = memory.from_bytes(path, scope.label, data)
        edits = references.line_edits(self.root, scope, file, new.name, new.description, new.type)
        new_file = FileChange(path, None, data, references.file_mode(scope))
        planned = [*self.trust_changes(scope, [(file, data)]), new_file, *edits, *extra]
        self.journal.run(op, planned, f"{verb or op} {_name(scope)}:{new.stem}")
        return read_memory(f"{scope.directory}/{file}", scope.label)

    def edit(
        self,
        found: Memory,
        change: bytes | Mapping[str, str],
        *,
        seen: bool = False,
        op: str = "edit",
        verb: str = "",
        extra: Sequence[Change] = (),
        keep_time: bool = False,
    ) -> Memory:
        """Replace a memory's content, or fields by dotted path (empty: removed). `seen`: the person saw it all, so it
        is trusted. `keep_time`: the file keeps its time. Raises ConflictError, MemtuiError."""
        scope = self._scope_of(found)
        data = change if isinstance(change, bytes) else memory.with_fields(found, change)
        if data == found.raw and not extra:
            return found
        path = self._file_of(scope, found)
        file = references.relative(scope, found.path)
        new = memory.from_bytes(found.path, scope.label, data)
        edits: Sequence[Change] = []
        if found.description and found.description != new.description:  # a line with the old one gets the new one
            hooks = new.description, found.description
            edits = references.index_edits(scope, lambda index: index_lines.set_hook(index, file, *hooks))
        known = self.trust_changes(scope, [(file, data)]) if seen or self.is_trusted(found, scope) else []
        times = (None, round(found.mtime * 1e9) if keep_time else None)
        planned = [*known, FileChange(path, found.raw, data, times=times), *edits, *extra]
        shown = f"{verb or op} {_name(scope)}:{found.stem}"
        self.journal.run(op, planned, shown, **({"seen": True} if seen else {}))
        return read_memory(found.path, scope.label)

    def retype(self, found: Memory, kind: str) -> Memory:
        """Give a memory another type, where its file has it (`memory.set_type`). Raises as `edit`."""
        return self.edit(found, {"type": kind}, op="retype")

    def rename(self, found: Memory, name: str, *, seen: bool = False) -> Memory:
        """Rename a memory: its file, `name`, the links of the scope's others, index line. Raises ConflictError."""
        return self._place("rename", found, self.scope(found.scope_label), name, seen=seen)

    def move(self, found: Memory, scope: Scope, name: str | None = None) -> Memory:
        """Move a memory, and its index line, to another scope. Raises as `rename`."""
        if os.path.realpath(self.scope(found.scope_label).directory) == os.path.realpath(scope.directory):
            hint = f"To rename it: memtui mv {shell_word(found.ref)} NEWNAME"
            raise MemtuiError(f"{found.stem} is in the scope “{scope.label}” already.", hint)
        return self._place("move", found, scope, name)

    def copy(self, found: Memory, scope: Scope, name: str | None = None) -> Memory:
        """Copy a memory, and its index line, to another scope or under another name. Raises as `rename`."""
        return self._place("copy", found, scope, name)

    def _place(self, op: str, found: Memory, scope: Scope, name: str | None, *, seen: bool = False) -> Memory:
        """Rename, move or copy a memory."""
        source = self.scope(found.scope_label) if op == "copy" else self._scope_of(found)
        references.writable(scope, shared=self.shared)
        renames = op == "rename"
        path, before = self._file_of(source, found, own=op != "copy"), references.content(found)
        if op == "copy" and read_or_none(path) != before:
            raise conflict(found.path)
        stem = found.stem if name is None else references.check_name(name)
        old = references.relative(source, found.path)
        new = os.path.join(os.path.dirname(old) if renames else "", stem + ".md")
        if renames and new == old and found.name == stem:
            return found
        data = before if name is None else references.set_name(before, stem)
        if renames and found.broken is None:
            data = references.relink(data, found.path, found.path, references.old_names(scope, found), stem)
        linking = references.link_edits(scope, found, stem) if renames else []
        known = trust.load(self.root, scope.directory)
        trusted = [(new, data)] if seen or self.is_trusted(found, source) else []
        trusted += [(file, after) for file, was, after, _ in linking if known.allows(was)]
        planned = self.trust_changes(scope, trusted)
        if renames and new == old:
            planned.append(FileChange(path, before, data))
        else:
            mode = None if renames else references.file_mode(scope)
            planned.append(FileChange(self._free(scope, new), None, data, mode or _mode(path)))
            if op != "copy":
                places = {(source.directory, old): [(scope.directory, new)]}
                planned.append(FileChange(path, before, None))
                planned += beside.moved_pairs(self.root, {found.path: f"{scope.directory}/{new}"})
                planned += beside.moved_edits(self.root, places)
        planned += [edit for _, _, _, edits in linking for edit in edits]
        entry = references.index_entry(source, old)
        if renames:
            titles = (entry.title, stem) if entry is not None and entry.title in {found.name, found.stem} else ("", "")
            planned += _index_edits(
                scope, lambda data, top: index_lines.replace_target(data, top + old, top + new, *titles)
            )
        else:
            title = entry.title if entry is not None and name is None else memory.from_bytes(new, "", data).name
            hook = entry.hook if entry is not None else found.description
            planned += references.line_edits(self.root, scope, new, title, hook, found.type)
        if op == "move":
            planned += _index_edits(source, lambda data, top: index_lines.remove_line(data, top + old))
        self.journal.run(op, planned, f"{op} {_name(source)}:{found.stem} to {stem if renames else _name(scope)}")
        return read_memory(f"{scope.directory}/{new}", scope.label)

    def delete(self, found: Memory, *, verb: str = "remove", extra: Sequence[Change] = ()) -> str:
        """Trash a memory with its index line; return the id for `restore`. Raises ConflictError if it changed."""
        scope = self._scope_of(found)
        path = self._file_of(scope, found, own=True)
        file = references.relative(scope, found.path)
        edits = _index_edits(scope, lambda data, top: index_lines.remove_line(data, top + file))
        beside_it = beside.moved_edits(self.root, {(scope.directory, file): ()})
        planned = [FileChange(path, references.content(found), None), *edits, *beside_it, *extra]
        more = {"scope": scope.label, "directory": scope.directory}
        return self.journal.run("delete", planned, f"{verb} {_name(scope)}:{found.stem}", **more)

    def trash(self) -> list[TrashItem]:
        """List what was trashed and not restored or purged, newest first."""
        return trash.items(self.journal, self.journal.ledger())

    def restore(self, trash_id: str) -> Memory:
        """Restore a memory to where it was. Raises NotFoundError, ConflictError if another file has its name now."""
        ledger = self.journal.ledger()
        item = trash.item(self.journal, ledger, trash_id)
        deleted = self.journal.changes_of(ledger.transactions[trash_id].record)
        planned = [change.inverse() for change in reversed(deleted)]
        for change in planned:
            if not isinstance(change, BesideEdit) and not paths.inside(item.directory, change.path):
                raise MemtuiError(f"{change.path} is outside of its scope now.", "Fix that, then restore it again.")
        self.journal.run("restore", planned, f"restore {self._shown(item.memory)}", of=trash_id)
        return read_memory(item.path, item.scope_label)

    def erase(self, found: Memory) -> int:
        """Delete a memory for good: `delete`, then `purge`. If the second fails, the memory is in the trash."""
        trash_id = self.delete(found)
        try:
            return self.purge(trash_id)
        except MemtuiError as error:
            error.hint = f"{error.hint} It was trashed first: memtui history lists the trash.".strip()
            raise

    def purge(self, trash_id: str) -> int:
        """Remove a trashed memory for good; return how many changes keep a line of it. Raises NotFoundError."""
        ledger = self.journal.ledger()
        item = trash.item(self.journal, ledger, trash_id)
        versions = Versions(self.journal.root, self.journal.now)
        purge = trash.to_purge(self.journal, versions, ledger, trash_id)
        trash.remove_words(self.root, purge.words, purge.words.paths)
        versions.purge(purge.words.paths, purge.drop)  # killed here, it is in the trash
        self.journal.purge(f"delete for good {self._shown(item.memory)}", purge.drop, of=trash_id, gone=purge.gone)
        return purge.left

    def each(
        self, items: Sequence[Item], change: Callable[[Item], Done], go_on: Callable[[int], bool] = lambda _: True
    ) -> Outcome[Item, Done]:
        """Change each item, all as one step of undo, whatever fails. `go_on` gets how many were tried; False stops."""
        outcome: Outcome[Item, Done] = Outcome(len(items))
        with self.journal.together():
            for number, item in enumerate(items):
                if not go_on(number):
                    break
                try:
                    outcome.done.append((item, change(item)))
                except MemtuiError as error:
                    outcome.failed.append((item, error))
                except OSError as error:
                    outcome.failed.append((item, storage_error(error, error.filename or "A file")))
        return outcome

    def _shown(self, found: Memory) -> str:
        """Return what the journal calls a memory whose scope may have gone: its reference, with the project's name."""
        scope = scopes.of_memory(self.env, self.cwd, found)
        return f"{_name(scope)}:{found.stem}" if scope is not None else found.ref

    def _scope_of(self, found: Memory) -> Scope:
        scope = self.scope(found.scope_label)
        references.writable(scope, shared=self.shared)
        return scope

    def _file_of(self, scope: Scope, found: Memory, *, own: bool = False) -> str:
        """Return the real path of a memory's file. Raises MemtuiError, with `own` also for a symlink."""
        references.relative(scope, found.path)
        path = references.real_path(scope, found.path)
        if own and os.path.islink(found.path):
            hint = "Change that memory instead, or remove the link by hand."
            raise MemtuiError(f"{found.path} is a symlink to {path}", hint)
        return path

    def _free(self, scope: Scope, file: str) -> str:
        """Return the real path for a new file of a scope. Raises ConflictError if the name is taken."""
        shown = f"{scope.directory}/{file}"
        if os.path.lexists(shown):
            raise conflict(shown, exists=True)
        return references.real_path(scope, shown)

    def trust_changes(self, scope: Scope, contents: Sequence[tuple[str, bytes]]) -> list[Change]:
        """Return the change that trusts contents (relative path, bytes) in a scope that needs trust, if any is new."""
        if not scope.needs_trust:
            return []
        edit = trust_edits.plan(self.root, scope.directory, contents)
        return [] if edit.idle else [edit]

    def is_trusted(self, found: Memory, scope: Scope | None = None) -> bool:
        """Return whether a memory is trusted, or needs no trust; only such a one stays trusted when changed."""
        scope = scope or self.scope(found.scope_label)
        return not scope.needs_trust or trust.load(self.root, scope.directory).allows(found.raw)


def _name(scope: Scope) -> str:
    """Return what the journal calls a scope: its label, with the name of another project for its slug."""
    return f"{scope.kind}:{scope.project}" if scope.project else scope.label


def _index_edits(scope: Scope, change: Callable[[bytes, str], bytes]) -> list[Change]:
    """Return the edits of a scope's MEMORY.md, and of the one above a team's, whose prefix of files `change` gets."""
    edits = [*references.index_edits(scope, lambda data: change(data, ""))]
    if scope.is_shared:
        own = replace(scope, kind="auto", directory=os.path.dirname(scope.directory), writable=True)
        edits += references.index_edits(own, lambda data: change(data, f"{locate.TEAM}/"))
    return edits


def _mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode & 0o7777
    except OSError:
        return None
