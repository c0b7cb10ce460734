"""The store: changes to memories, each one undoable step, made only if the file is as it was read (ConflictError)."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from memtui.base import clock_hot, paths_hot
from memtui.base.errors import MemtuiError
from memtui.base.shell import shell_word
from memtui.base.storage import read_or_none, storage_error
from memtui.store import memory, references, scopes
from memtui.store.journal import acts
from memtui.store.journal.changes import Change, conflict
from memtui.store.journal.journal import Journal, Now
from memtui.store.journal.ledger import Ledger
from memtui.store.journal.own_files import BesideEdit
from memtui.store.memory import Memory, read_memory
from memtui.store.plan import Plan, ScopeFiles, is_index
from memtui.store.scopes import Scope
from memtui.store.versions import trash
from memtui.store.versions.trash import TrashItem
from memtui.store.versions.versions import Versions

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
        return len(self.done) + len(self.failed) < self.total


class Store:
    """Changes to the memories of a working directory. Recovers from a killed process, or `problem` has the error."""

    def __init__(
        self, env: dict[str, str], cwd: str, *, by: str = "cli", now: Now = clock_hot.now, ledger: Ledger | None = None
    ) -> None:
        self.env = env
        self.cwd = cwd
        self.root = paths_hot.root(env)
        self.journal = Journal(self.root, by, now, ledger)
        # Whether a person agreed that others get what changes in a scope that a team shares.
        self.shared = False
        self.problem: MemtuiError | None = None
        try:
            self.journal.recover()
        except MemtuiError as error:
            self.problem = error

    def scopes(self) -> list[Scope]:
        return scopes.discover(self.env, self.cwd)

    def scope(self, label: str) -> Scope:
        """Return the scope with a label. Raises NotFoundError."""
        return scopes.named(self.env, self.cwd, label)

    def files(self) -> ScopeFiles:
        return ScopeFiles(self.env, self.scopes())

    def find(self, ref: str) -> Memory:
        """Return the memory for a reference, as `scopes.find`."""
        return scopes.find(self.env, self.cwd, ref)

    def create(self, scope: Scope, name: str, description: str, kind: str, body: str) -> Memory:
        """Create a memory of a type, and its line in the index. Raises ConflictError if the name is taken."""
        stem = references.check_name(name)
        return self.add(scope, stem, memory.new_memory_bytes(stem, description, kind, body))

    def add(self, scope: Scope, name: str, data: bytes, *, op: str = "create", extra: Sequence[Change] = ()) -> Memory:
        """Create a memory from a whole file's bytes, with `extra` changes in the same step. Raises as `create`."""
        path = f"{scope.directory}/{references.check_name(name)}.md"
        self.write(scope, path, None, data, op, extra=extra)
        return read_memory(path, scope.label)

    def lines_added(self, scope: Scope, path: str, data: bytes) -> list[str]:
        """Return the lines that MEMORY.md gets with a new memory. Raises MemtuiError."""
        plan = self._plan([scope], {path: None})
        plan.write(path, data)
        diffs = [diff for diff in plan.preview() if is_index(diff.path)]
        lines = [(set((diff.before or b"").splitlines()), (diff.after or b"").splitlines()) for diff in diffs]
        return [line.decode("utf-8", "replace") for before, after in lines for line in after if line not in before]

    def edit(
        self,
        mem: Memory,
        change: bytes | Mapping[str, str],
        *,
        seen: bool = False,
        op: str = "edit",
        verb: str = "",
        extra: Sequence[Change] = (),
        keep_time: bool = False,
    ) -> Memory:
        """Replace a memory's content, or fields by dotted path; `seen` ones are trusted. Raises MemtuiError."""
        scope = self.scope(mem.scope_label)
        data = change if isinstance(change, bytes) else memory.with_fields(mem, change)
        if data == mem.raw and not extra:
            return mem
        trusted, mtime = seen or self.is_trusted(mem, scope), round(mem.mtime * 1e9) if keep_time else None
        more = {"seen": True} if seen else {}
        self.write(scope, mem.path, mem.raw, data, op, verb=verb, extra=extra, trusted=trusted, mtime=mtime, **more)
        return read_memory(mem.path, scope.label)

    def _plan(self, places: Sequence[Scope], contents: Mapping[str, bytes | None]) -> Plan:
        return Plan(ScopeFiles(self.env, places, contents, shared=self.shared))

    def write(
        self,
        scope: Scope,
        path: str,
        before: bytes | None,
        after: bytes | None,
        op: str,
        /,
        *,
        verb: str = "",
        extra: Sequence[Change] = (),
        trusted: bool = True,
        mtime: int | None = None,
        **more: Any,
    ) -> str:
        """Write one memory, `before` as a person saw it; return the change's id. Raises MemtuiError, ConflictError."""
        references.writable(scope, shared=self.shared)
        plan = self._plan([scope], {path: before})
        plan.write(path, after, trusted=trusted, mtime=mtime)
        summary = acts.summary(verb or op, f"{_name(scope)}:{references.stem(path)}")
        return plan.apply(self.journal, op, summary, extra, **more)

    def rename(self, mem: Memory, name: str, *, seen: bool = False) -> Memory:
        """Rename a memory: its file, `name`, the links of the scope's others, index line. Raises ConflictError."""
        return self._place("rename", mem, self.scope(mem.scope_label), name, seen=seen)

    def move(self, mem: Memory, scope: Scope) -> Memory:
        """Move a memory, and its index line, to another scope. Raises as `rename`."""
        if os.path.realpath(self.scope(mem.scope_label).directory) == os.path.realpath(scope.directory):
            hint = f"To rename it: memtui mv {shell_word(mem.ref)} NEWNAME"
            raise MemtuiError(f"{mem.stem} is in the scope “{scope.label}” already.", hint)
        return self._place("move", mem, scope, None)

    def copy(self, mem: Memory, scope: Scope, name: str | None = None) -> Memory:
        """Copy a memory, and its index line, to another scope or under another name. Raises as `rename`."""
        return self._place("copy", mem, scope, name)

    def _place(self, op: str, mem: Memory, scope: Scope, name: str | None, *, seen: bool = False) -> Memory:
        source, before, renames = self.scope(mem.scope_label), references.content(mem), op == "rename"
        references.writable(scope, shared=self.shared)
        stem = mem.stem if name is None else references.check_name(name)
        old = references.relative(source, mem.path)
        new = os.path.join(os.path.dirname(old) if renames else "", stem + ".md")
        if renames and new == old and mem.name == stem:
            raise MemtuiError(f"{mem.stem} has that name already.")
        path = mem.path if renames and new == old else f"{scope.directory}/{new}"
        # A copy of a memory over itself is a conflict, a rename that only changes its `name` is none.
        contents = {path: None, mem.path: before} if renames else {mem.path: before, path: None}
        plan = self._plan([source, scope], contents)
        if op == "copy" and read_or_none(references.real_path(source, mem.path)) != before:
            raise conflict(mem.path)
        data = before if name is None else references.set_name(before, stem)
        mode = None if renames else references.file_mode(scope)
        mode = _mode(mem.path) if mode is None else mode
        plan.write(path, data, trusted=seen or self.is_trusted(mem, source), mode=mode)
        if op != "copy":
            plan.move(mem.path, path)
        if not renames:
            entry = references.index_entry(source, old)
            title = entry.title if entry is not None and name is None else plan.files.memory(path, data).name
            plan.lines[path] = title, entry.hook if entry is not None else mem.description
        what = f"{_name(source)}:{mem.stem} to {stem if renames else _name(scope)}"
        plan.apply(self.journal, op, acts.summary(op, what))
        return read_memory(path, scope.label)

    def delete(self, mem: Memory, *, verb: str = "delete", extra: Sequence[Change] = ()) -> str:
        """Move a memory to the trash with its index line; return the id for `restore`. Raises ConflictError."""
        scope = self.scope(mem.scope_label)
        about: dict[str, Any] = {"scope": scope.label, "directory": scope.directory}
        return self.write(scope, mem.path, references.content(mem), None, "delete", verb=verb, extra=extra, **about)

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
            if not isinstance(change, BesideEdit) and not paths_hot.inside(item.directory, change.path):
                raise MemtuiError(f"{change.path} is outside of its scope now.", "Fix that, then restore it again.")
        self.journal.run("restore", planned, acts.summary("restore", self._shown(item.memory)), of=trash_id)
        return read_memory(item.path, item.scope_label)

    def erase(self, mem: Memory) -> int:
        """Delete a memory for good: `delete`, then `purge`. If the second fails, the memory is in the trash."""
        trash_id = self.delete(mem)
        try:
            return self.purge(trash_id)
        except MemtuiError as error:
            error.hint = f"{error.hint} It was removed first: memtui history lists the trash.".strip()
            raise

    def purge(self, trash_id: str) -> int:
        """Remove a trashed memory for good; return how many changes keep a line of it. Raises NotFoundError."""
        ledger = self.journal.ledger()
        item = trash.item(self.journal, ledger, trash_id)
        versions = Versions(self.journal.root, self.journal.now)
        purge = trash.to_purge(self.journal, versions, ledger, trash_id)
        trash.remove_words(self.root, purge.words, purge.words.paths)
        versions.purge(purge.words.paths, purge.drop)  # killed here, it is in the trash
        trash.sweep(self.journal, versions)
        words = acts.summary("purge", self._shown(item.memory))
        needed = versions.digests  # of other memories with the same text
        self.journal.purge(words, [key for key in purge.drop if key not in needed], of=trash_id, gone=purge.gone)
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

    def _shown(self, mem: Memory) -> str:
        """Return what the journal calls a memory whose scope may have gone: its reference, with the project's name."""
        scope = scopes.of_memory(self.env, self.cwd, mem)
        return f"{_name(scope)}:{mem.stem}" if scope is not None else mem.ref

    def is_trusted(self, mem: Memory, scope: Scope | None = None) -> bool:
        """Return whether a memory is trusted, or needs no trust; only such a one stays trusted when changed."""
        return scopes.trust_of(self.root, scope or self.scope(mem.scope_label)).allows(mem.raw)


def _name(scope: Scope) -> str:
    """Return what the journal calls a scope: its label, with the name of another project for its slug."""
    return f"{scope.kind}:{scope.project}" if scope.project else scope.label


def _mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode & 0o7777
    except OSError:
        return None
