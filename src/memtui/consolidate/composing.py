"""Compose proposals: what they make of the files together, with the links and the lines of MEMORY.md that follow.

Nothing is written. A proposal that can't be made any more is refused as a whole; the others are composed without it.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from memtui.consolidate.changeset import FileOutput, Kind, Proposal, is_archived, is_index, sha256
from memtui.consolidate.files import MemoryFiles, ScopedFile
from memtui.core.base.errors import ConflictError, MemtuiError
from memtui.core.frontmatter import document
from memtui.core.inbox import format as inbox_format
from memtui.core.journal.changes import conflict
from memtui.core.journal.text_edit import text_edits
from memtui.core.memories import index, index_lines, memory, references, scopes
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.core.places import trust

# Why a proposal is refused: its files are as it would leave them (made), a file that it read changed since (stale),
# another proposal changes the same lines (overlap), it would spread a memory that came with a repository and that
# nobody trusted (untrusted), or a file can't be written (forbidden).
Reason = Literal["made", "stale", "overlap", "untrusted", "forbidden"]


class Refused(NamedTuple):
    """A proposal that can't be made: why, the path of the file it is about, and the error for a person."""

    proposal: Proposal
    reason: Reason
    path: str
    error: MemtuiError


class FileDiff(NamedTuple):
    """A file before and after; None for no file. `repaired`: no proposal names it, but its links or lines follow;
    `instructions`: it is no memory."""

    path: str
    before: bytes | None
    after: bytes | None
    repaired: bool
    instructions: bool = False


class Savings(NamedTuple):
    """What less there is: memories, bytes of them, lines of MEMORY.md and bytes of it; negative for more."""

    memories: int
    bytes: int
    index_lines: int
    index_bytes: int

    @property
    def index_tokens(self) -> int:
        """About how many tokens of each session's context the index saves: one for four bytes."""
        return round(self.index_bytes / 4)


def savings(found: Iterable[FileDiff]) -> Savings:
    """Return what changes of files save. An archived memory is saved, too."""
    sums = [0, 0, 0, 0]
    for each in found:
        for data, sign in ((each.before, 1), (each.after, -1)):
            if data is None or is_archived(each.path):
                continue
            at = 2 if is_index(each.path) else 0
            lines = index.budget(data).lines if at else 0  # as the TUI's bar has them
            sums[at] += sign * (lines if at else not each.instructions)
            sums[at + 1] += sign * len(data)
    return Savings(*sums)


class _RefusedError(Exception):
    def __init__(self, reason: Reason, path: str, error: MemtuiError) -> None:
        super().__init__(error.message)
        self.reason: Reason = reason
        self.path = path
        self.error = error


class Composition:
    """What some proposals make of the files. `made`: those that can be made, in their order; `refused`: the others."""

    def __init__(self, files: MemoryFiles, proposals: Iterable[Proposal]) -> None:
        self.files = files
        self.made: list[Proposal] = []
        self.refused: list[Refused] = []
        self._after: dict[str, bytes | None] = {}
        self._writer: dict[str, Proposal] = {}
        for each in proposals:
            try:
                self._after |= self._outputs(each)
            except _RefusedError as refusal:
                self.refused.append(Refused(each, refusal.reason, refusal.path, refusal.error))
            else:
                self.made.append(each)
                self._writer |= {output.path: each for output in each.outputs}
        self._named = set(self._after)
        # By the scope's directory: where links to a memory, by its name and path, lead from now on, None: to nothing.
        self._renamed: dict[str, dict[tuple[str, str], str | None]] = {}
        self._scopes: dict[str, Scope] = {}
        self._follow_links()
        self._follow_lines()

    def diffs(self) -> list[FileDiff]:
        """List the files that change: first those that proposals name, then those that follow, each by path."""
        found = [
            FileDiff(path, self.files.data(path), after, path not in self._named, self._instructs(path))
            for path, after in self._after.items()
        ]
        found = [each for each in found if each.before != each.after]
        return sorted(found, key=lambda each: (each.repaired, is_index(each.path), each.path))

    def _instructs(self, path: str) -> bool:
        return self.place(path).scope.kind == "instructions"

    def place(self, path: str) -> ScopedFile:
        """Return where a file is."""
        return self.files.scope_of(path)

    def trusted(self, scope: Scope, path: str) -> bool:
        """Return whether the new content of a file may count as trusted: a proposal wrote it from trusted files only,
        or it was trusted and its links follow."""
        writer = self._writer.get(path)
        read = [path] if writer is None else [each.path for each in writer.inputs if each.sha256]
        return all(self._is_trusted(each) for each in read) and not is_index(path) and scope.needs_trust

    def _is_trusted(self, path: str) -> bool:
        scope = self.files.scope_of(path).scope
        data = self.files.data(path)
        if not scope.needs_trust or is_index(path) or data is None:
            return True
        return trust.load(self.files.store.root, scope.directory).allows(data)

    # The files that the proposals name

    def _now(self, path: str) -> bytes | None:
        return self._after[path] if path in self._after else self.files.data(path)

    def _outputs(self, proposal: Proposal) -> dict[str, bytes | None]:
        """Return what a proposal makes of its files, after the proposals before it."""
        before: dict[str, bytes | None] = {}
        for each in proposal.inputs:
            with _Refusing("forbidden", each.path):
                self.files.readable(each.path)
                before[each.path] = data = self.files.data(each.path)
            if (sha256(data) if data is not None else "") != each.sha256:
                stale = _stale(each.path, data, bool(each.sha256))
                raise _RefusedError("made" if self._is_made(proposal) else "stale", each.path, stale)
            if data is not None and self._now(each.path) is None:
                raise self._overlap(each.path)
        found = {each.path: self._output(each, proposal.kind, before) for each in proposal.outputs}
        self._refuse_spreading(proposal)
        return found

    def _is_made(self, proposal: Proposal) -> bool:
        """Return whether the files are as a proposal would leave them: somebody made it already."""
        for each in proposal.outputs:
            with _Refusing("forbidden", each.path):
                self.files.writable(each.path, proposal.kind)
                if self.files.data(each.path) != each.data:
                    return False
        return True

    def _output(self, output: FileOutput, kind: Kind, before: dict[str, bytes | None]) -> bytes | None:
        path = output.path
        with _Refusing("forbidden", path):
            self.files.writable(path, kind)
            was, now = before.get(path), self._now(path)
            if kind == "rule":
                _must_only_add(path, was or b"", output.data or b"")
            else:
                _must_be_sound(path, output.data)
        if was is None and now is not None:
            if path in self._after:
                raise self._overlap(path)
            raise _RefusedError("stale", path, conflict(path, exists=True))
        if now in {was, output.data}:
            return output.data
        if output.data is None or was is None or now is None:
            raise self._overlap(path)
        # Another proposal changed the file: both are made where they change other lines.
        text = inbox_format.decode(now)
        for edit in text_edits(path, was, output.data):
            try:
                if not edit.removed and edit.anchor and edit.anchor not in text:
                    raise self._overlap(path)
                text = edit.apply(text)
            except ConflictError as error:
                raise self._overlap(path) from error
        return inbox_format.encode(text)

    def _overlap(self, path: str) -> _RefusedError:
        other = self._writer[path].id
        error = ConflictError(f"{path}: change {other} changes the same lines.", "Plan again after that one.")
        return _RefusedError("overlap", path, error)

    def _refuse_spreading(self, proposal: Proposal) -> None:
        """Refuse to mix an untrusted memory into another one, or to put it where no trust is needed."""
        read = [each.path for each in proposal.inputs if each.sha256 and not is_index(each.path)]
        scope = {self.files.scope_of(each.path).scope.directory for each in proposal.outputs}
        for path in read:
            alone = len(read) == 1 and scope == {self.files.scope_of(path).scope.directory}
            if proposal.written and not alone and not self._is_trusted(path) and not _is_kept(proposal, path):
                raise _RefusedError("untrusted", path, references.not_trusted(_stem(path)))

    # What follows: links, and the lines of MEMORY.md

    def _memory(self, path: str, data: bytes) -> Memory:
        return memory.from_bytes(path, self.place(path).scope.label, data)

    def _scope(self, path: str) -> ScopedFile:
        place = self.place(path)
        self._scopes[place.scope.directory] = place.scope
        return place

    def _follow_links(self) -> None:
        for proposal in self.made:
            successor = proposal.successor
            for path in proposal.gone:
                # A link leads to memories of its own scope.
                lost = successor is None or (
                    proposal.kind == "merge" and self.place(successor)[0] != self.place(path)[0]
                )
                self._rename(path, None if lost or successor is None else _stem(successor))
            for output in proposal.written if proposal.kind != "rule" else ():
                was = self.files.data(output.path)
                if was is not None and output.data is not None and not is_index(output.path):
                    self._rename_field(output.path, was, output.data)
        for directory, renamed in self._renamed.items():
            scope = self._scopes[directory]
            inside = {path: data for path, data in self._after.items() if self.place(path).scope == scope}
            for path, data in {**self.files.linking(scope), **inside}.items():
                if data is None or is_index(path) or is_archived(path):
                    continue
                after = data
                for (old, gone), new in renamed.items():
                    if new != old:
                        after = references.relink(after, path, gone, (old,), None if new == _stem(path) else new)
                if after != data:
                    self._after[path] = after

    def _rename(self, path: str, stem: str | None) -> None:
        """Let the links to a file that goes lead to the stem of another, None: to nothing."""
        data = self.files.data(path)
        if data is None:
            return
        scope = self._scope(path).scope
        for name in self.files.link_names(scope, self._memory(path, data)):
            self._renamed.setdefault(scope.directory, {})[name, path] = stem

    def _rename_field(self, path: str, was: bytes, now: bytes) -> None:
        """Let links by the name in a file's frontmatter, which another name replaces, lead to the file by its stem."""
        old = self._memory(path, was)
        if self._memory(path, now).name != old.name != old.stem:
            scope = self._scope(path).scope
            if old.name in self.files.link_names(scope, old):
                self._renamed.setdefault(scope.directory, {}).setdefault((old.name, path), old.stem)

    def _follow_lines(self) -> None:
        """Make the changes of the indexes: first those that point elsewhere, then new lines, then those that go."""
        steps: list[list[tuple[Scope, Callable[[bytes], bytes]]]] = [[], [], []]
        for proposal in self.made:
            pointed = self._point_elsewhere(proposal, steps)
            for output in proposal.written:
                if is_index(output.path) or is_archived(output.path) or output.data is None:
                    continue
                if self._instructs(output.path):
                    continue
                scope, file = self._scope(output.path)
                made = self._memory(output.path, output.data)
                was = self.files.data(output.path)
                if was is not None:
                    steps[1].append((scope, _new_hook(file, self._memory(output.path, was), made)))
                elif output.path not in pointed:
                    steps[1].append((scope, self._new_line(scope, file, made)))
        for scope, change in (step for group in steps for step in group):
            path = scope.index_path
            before = self._now(path)
            after = change(before or b"")
            if after != (before or b""):
                self._after[path] = after

    def _point_elsewhere(
        self, proposal: Proposal, steps: Sequence[list[tuple[Scope, Callable[[bytes], bytes]]]]
    ) -> set[str]:
        """Plan what becomes of the lines of the files that go; return the files that get such a line."""
        successor = proposal.successor
        pointed = set()
        for path in proposal.gone:
            scope, file = self._scope(path)
            other = None if successor is None else self._scope(successor)
            if other is not None and other.scope == scope and successor is not None:
                data = self.files.data(path)
                old = self._memory(path, data) if data is not None else None
                steps[0].append((scope, _pointed(file, other.file, old, _stem(successor))))
                entries = index.parse_index(self._now(scope.index_path) or b"").entries
                if any(entry.is_for(file) for entry in entries):
                    pointed.add(successor)
            else:
                steps[2].append((scope, _without_line(file)))
        return pointed

    def _new_line(self, scope: Scope, file: str, made: Memory) -> Callable[[bytes], bytes]:
        root = self.files.store.root

        def change(data: bytes) -> bytes:
            # An index that only has the new memory would hide all others from the client.
            if not data and len(scopes.indexed(root, scope)) >= index.MAX_LINES:
                return data
            return references.with_line(root, scope, data, file, made.name, made.description, made.type)

        return change


def _pointed(file: str, other: str, old: Memory | None, stem: str) -> Callable[[bytes], bytes]:
    """Return the change of an index that lets the lines of one file lead to another. If that has a line of its own, the
    first one's line goes, and only mentions lead there."""

    def change(data: bytes) -> bytes:
        entries = index.parse_index(data).entries
        if any(entry.is_for(other) for entry in entries):
            data = index_lines.remove_line(data, file)
        title = next((entry.title for entry in entries if entry.is_for(file)), "")
        own = title if old is not None and title in {old.name, old.stem} else ""
        return index_lines.replace_target(data, file, other, old_title=own, new_title=own and stem)

    return change


def _without_line(file: str) -> Callable[[bytes], bytes]:
    return lambda data: index_lines.remove_line(data, file)


def _new_hook(file: str, was: Memory, now: Memory) -> Callable[[bytes], bytes]:
    """Return the change of an index that lets a line with the old description have the new one."""

    def change(data: bytes) -> bytes:
        if not was.description or was.description == now.description:
            return data
        return index_lines.set_hook(data, file, now.description, was.description)

    return change


def _must_be_sound(path: str, data: bytes | None) -> None:
    """Raise MemtuiError for a memory whose frontmatter nobody could read."""
    broken = None if data is None or is_index(path) else document.parse(data).broken
    if broken is not None:
        raise MemtuiError(f"{path} would be broken: {broken}.", "Correct its frontmatter in the change.")


def _must_only_add(path: str, was: bytes, data: bytes) -> None:
    """Raise MemtuiError unless instructions stay as a person wrote them, with more below."""
    if not data.startswith(was.rstrip()):
        raise MemtuiError(f"{path} would lose what is in it.", "A change may only add to instructions, at the end.")


def _is_kept(proposal: Proposal, path: str) -> bool:
    """Return whether a proposal only reads a file, and writes nothing that could have its text."""
    return proposal.kind == "relink" and all(each.path != path for each in proposal.outputs)


def _stem(path: str) -> str:
    return os.path.basename(path).removesuffix(".md")


def _stale(path: str, data: bytes | None, was_there: bool) -> ConflictError:
    what = "is gone" if data is None else "changed" if was_there else "is there now"
    return ConflictError(f"{path} {what} since this was planned.", "Plan again: memtui consolidate")


class _Refusing:
    """Turns an error inside of the `with` block into a refusal."""

    def __init__(self, reason: Reason, path: str) -> None:
        self.reason, self.path = reason, path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, MemtuiError):
            raise _RefusedError(self.reason, self.path, error) from error
