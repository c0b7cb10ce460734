"""Compose proposals into what they make of the files, with the links and lines of MEMORY.md that follow, and make them.

One that can't be made is refused; the others are one step of the journal: all of it or nothing, and one undo."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Literal, NamedTuple

from memtui.consolidate import coverage, lint_fixes
from memtui.consolidate.changeset import FileOutput, MemoryFiles, Proposal, is_archived, is_index, name, title
from memtui.consolidate.coverage import Coverage
from memtui.core.base.errors import ConflictError, MemtuiError
from memtui.core.base.phrasing import many
from memtui.core.frontmatter import document
from memtui.core.inbox import format as inbox_format
from memtui.core.journal.changes import Change, FileChange, conflict
from memtui.core.journal.text_edit import text_edits
from memtui.core.memories import beside, index, index_lines, memory, references, scopes
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.core.memories.store import Store
from memtui.core.places import trust

# Why a proposal is refused: its files are as it would leave them (made), a file that it read changed since (stale),
# another proposal changes the same lines (overlap), it would spread a memory that came with a repository and that
# nobody trusted (untrusted), or a file can't be written (forbidden).
Reason = Literal["made", "stale", "overlap", "untrusted", "forbidden"]
# Times that proposals are composed again because a file changed between reading and writing.
TRIES = 3
# The verb of a proposal of each kind, for one and counted for several.
DONE = {
    "merge": "merged",
    "rewrite": "rewritten",
    "archive": "archived",
    "delete": "removed",
    "relink": "fixed",
}
# A change of an index, made when all that others do to it is known.
LineChange = Callable[[bytes], bytes]


class Refused(NamedTuple):
    """A proposal that can't be made: why, the path of the file it is about, and the error for a person."""

    proposal: Proposal
    reason: Reason
    path: str
    error: MemtuiError


class FileDiff(NamedTuple):
    """A file before and after; None for no file. `repaired`: no proposal names it, but its links or lines follow."""

    path: str
    before: bytes | None
    after: bytes | None
    repaired: bool


class Savings(NamedTuple):
    """What less there is: memories, bytes of them, lines of MEMORY.md and bytes of it; negative for more."""

    memories: int
    bytes: int
    index_lines: int
    index_bytes: int


class Weighed(NamedTuple):
    """The files that a proposal changes, what that saves, what becomes of statements, and why it can't be made."""

    proposal: Proposal
    diffs: tuple[FileDiff, ...]
    savings: Savings
    coverage: Coverage | None
    refused: Refused | None

    @property
    def safe(self) -> bool:
        """Whether nobody needs to decide about it: it only has fixes that lint makes by itself, and drops nothing."""
        dropped = self.coverage is not None and self.coverage.dropped
        return self.refused is None and not dropped and lint_fixes.is_safe(self.proposal)


class Applied(NamedTuple):
    """What became of proposals, the files that changed, and the id of the step in the journal, empty for none."""

    made: tuple[Proposal, ...]
    refused: tuple[Refused, ...]
    diffs: tuple[FileDiff, ...] = ()
    transaction: str = ""


def savings(diffs: Iterable[FileDiff]) -> Savings:
    """Return what changes of files save. An archived memory is saved, too."""
    sums = [0, 0, 0, 0]
    for each in diffs:
        for data, sign in ((each.before, 1), (each.after, -1)):
            if data is not None and not is_archived(each.path):
                at = 2 if is_index(each.path) else 0
                lines = index.budget(data).lines if at else 0  # as the TUI's bar has them
                sums[at] += sign * (lines if at else 1)
                sums[at + 1] += sign * len(data)
    return Savings(*sums)


def weigh(files: MemoryFiles, proposal: Proposal) -> Weighed:
    """Weigh a proposal by itself, against the files as they were read."""
    composed = Composition(files, [proposal])
    diffs = tuple(composed.diffs())
    return Weighed(proposal, diffs, savings(diffs), coverage.of_proposal(proposal), next(iter(composed.refused), None))


def apply(store: Store, proposals: Sequence[Proposal]) -> Applied:
    """Make the proposals that can be made. Raises MemtuiError if a file can't be written; then nothing is changed."""
    for tries_left in reversed(range(TRIES)):
        composition = Composition(MemoryFiles(store), proposals)
        made, refused = tuple(composition.made), tuple(composition.refused)
        changes = _changes(composition) if made else []
        if not changes:
            return Applied(made, refused)
        became = {gone: each.successor for each in made for gone in each.gone if each.successor}
        try:
            transaction = store.journal.run("consolidate", changes, _summary(made), became=became)
        except ConflictError:  # a file changed since it was read a moment ago: now its proposal is stale
            if not tries_left:
                raise
            continue
        return Applied(made, refused, tuple(composition.diffs()), transaction)
    raise AssertionError  # not reached: the last try returns or raises


def _changes(composition: "Composition") -> list[Change]:
    """Return the changes of files: trust, what is new, what changes, what goes."""
    store = composition.files.store
    contents: dict[str, list[tuple[str, bytes]]] = {}
    new: list[Change] = []
    changed: list[Change] = []
    gone: list[Change] = []
    for each in composition.diffs():
        scope, file = composition.place(each.path)
        path, before, after = references.real_path(scope, each.path), each.before, each.after
        if is_index(each.path) and before != b"":  # an empty one would be gone after an undo of lines
            changed += text_edits(path, before or b"", after or b"", None if before else references.file_mode(scope))
            continue
        if after is not None and composition.trusted(scope, each.path) and not is_archived(each.path):
            contents.setdefault(scope.label, []).append((file, after))
        if before is None:
            new.append(FileChange(path, None, after, references.file_mode(scope)))
        elif after is None:
            gone.append(FileChange(path, before, None))
        elif before and each.repaired:
            changed += text_edits(path, before, after)
        else:
            changed.append(FileChange(path, before, after))
    changed += beside.moved_edits(store.root, _became(composition))
    trusted = [change for label, files in contents.items() for change in store.trust_changes(store.scope(label), files)]
    return [*trusted, *new, *changed, *gone]


def _became(composition: "Composition") -> dict[beside.Place, list[beside.Place]]:
    """Map each memory that goes to the one that gets what is kept beside it: merged, archived, or none."""
    heirs: dict[beside.Place, list[beside.Place]] = {}
    for each in composition.made:
        places = [composition.place(output.path) for output in each.written if not is_index(output.path)][:1]
        for path in each.gone:
            old = composition.place(path)
            heirs[old.scope.directory, old.file] = [(new.scope.directory, new.file) for new in places]
    return heirs


def _summary(made: Sequence[Proposal]) -> str:
    """Return a line for the list of changes: `merge a into b`, `consolidate 4 changes: 3 merged, 1 archived`."""
    if len(made) == 1:
        return title(made[0])
    counts = {kind: sum(each.kind == kind for each in made) for kind in DONE}
    words = ", ".join(f"{count} {DONE[kind]}" for kind, count in counts.items() if count)
    return f"consolidate {many(len(made), 'change')}: {words}"


class _RefusedError(Exception):
    def __init__(self, reason: Reason, path: str, error: MemtuiError) -> None:
        super().__init__(error.message)
        self.why: tuple[Reason, str, MemtuiError] = (reason, path, error)


def _stale(path: str, what: str, reason: Reason = "stale") -> _RefusedError:
    words = f"{path} {what} since this was planned."
    return _RefusedError(reason, path, ConflictError(words, "Plan again: memtui consolidate"))


@contextmanager
def _forbidden(path: str) -> Iterator[None]:
    """Turn an error about a file into a refusal."""
    try:
        yield
    except MemtuiError as error:
        raise _RefusedError("forbidden", path, error) from error


class Composition:
    """What some proposals make of the files. `made`: those that can be made, in their order; `refused`: the others."""

    def __init__(self, files: MemoryFiles, proposals: Iterable[Proposal]) -> None:
        self.files, self.place = files, files.scope_of
        self.made: list[Proposal] = []
        self.refused: list[Refused] = []
        self._after: dict[str, bytes | None] = {}
        self._writer: dict[str, Proposal] = {}
        for each in proposals:
            try:
                self._after |= self._outputs(each)
            except _RefusedError as refusal:
                self.refused.append(Refused(each, *refusal.why))
            else:
                self.made.append(each)
                self._writer |= {output.path: each for output in each.outputs}
        self._named = set(self._after)
        # By the scope's directory: where links to a memory, by its name and path, lead from now on, None: to nothing.
        self._renamed: dict[str, dict[tuple[str, str], str | None]] = {}
        self._follow_links()
        self._follow_lines()

    def diffs(self) -> list[FileDiff]:
        """List the files that change: first those that proposals name, then those that follow, each by path."""
        diffs = [
            FileDiff(path, before, after, path not in self._named)
            for path, after in self._after.items()
            if (before := self.files.data(path)) != after
        ]
        return sorted(diffs, key=lambda each: (each.repaired, is_index(each.path), each.path))

    def trusted(self, scope: Scope, path: str) -> bool:
        """Return whether the new content of a file may count as trusted: a proposal wrote it from trusted files only,
        or it was trusted and its links follow."""
        writer = self._writer.get(path)
        read = [path] if writer is None else [each.path for each in writer.inputs if each.sha256]
        return all(map(self._is_trusted, read)) and not is_index(path) and scope.needs_trust

    def _is_trusted(self, path: str) -> bool:
        scope, data = self.place(path).scope, self.files.data(path)
        if not scope.needs_trust or is_index(path) or data is None:
            return True
        return trust.load(self.files.store.root, scope.directory).allows(data)

    def _now(self, path: str) -> bytes | None:
        return self._after[path] if path in self._after else self.files.data(path)

    def _outputs(self, proposal: Proposal) -> dict[str, bytes | None]:
        """Return what a proposal makes of its files, after the proposals before it. A MEMORY.md that it changes may
        have other lines by now, as each new memory adds one."""
        lists = {each.path for each in proposal.outputs if is_index(each.path)}
        for each in proposal.inputs:
            with _forbidden(each.path):
                self.files.readable(each.path)
                current, data = self.files.is_current(each), self.files.data(each.path)
            if not current and (None in (data, each.data) or each.path not in lists or self._is_made(proposal)):
                what = "is gone" if data is None else "changed" if each.sha256 else "is there now"
                raise _stale(each.path, what, "made" if self._is_made(proposal) else "stale")
            if data is not None and self._now(each.path) is None:
                raise self._overlap(each.path)
        read = {each.path: each.data if each.path in lists else self.files.data(each.path) for each in proposal.inputs}
        outputs = {each.path: self._output(each, read) for each in proposal.outputs}
        self._refuse_spreading(proposal)
        return outputs

    def _is_made(self, proposal: Proposal) -> bool:
        """Return whether the files are as a proposal would leave them: somebody made it already."""
        for each in proposal.outputs:
            with _forbidden(each.path):
                self.files.writable(each.path)
                if self.files.data(each.path) != each.data:
                    return False
        return True

    def _output(self, output: FileOutput, read: Mapping[str, bytes | None]) -> bytes | None:
        path, after = output.path, output.data
        with _forbidden(path):
            self.files.writable(path)
            was, now = read.get(path), self._now(path)
            broken = None if after is None or is_index(path) else document.parse(after).broken
            if broken is not None:
                raise MemtuiError(f"{path} would be broken: {broken}.", "Correct its frontmatter in the change.")
        if was is None and now is not None:
            if path in self._after:
                raise self._overlap(path)
            raise _RefusedError("stale", path, conflict(path, exists=True))
        if now in {was, after}:
            return after
        if after is None or was is None or now is None:
            raise self._overlap(path)
        # Another change of the file, such as a new line of MEMORY.md: both are made where they change other lines.
        text = inbox_format.decode(now)
        for edit in text_edits(path, was, after):
            try:
                if not edit.removed and edit.anchor and edit.anchor not in text:
                    raise self._overlap(path)
                text = edit.apply(text)
            except ConflictError as error:
                raise self._overlap(path) from error
        return inbox_format.encode(text)

    def _overlap(self, path: str) -> _RefusedError:
        if (other := self._writer.get(path)) is None:
            return _stale(path, "changed")
        error = ConflictError(f"{path}: change {other.ref} changes the same lines.", "Plan again after that one.")
        return _RefusedError("overlap", path, error)

    def _refuse_spreading(self, proposal: Proposal) -> None:
        """Refuse to mix an untrusted memory into another one, or to put it where no trust is needed."""
        read = [each.path for each in proposal.inputs if each.sha256 and not is_index(each.path)]
        targets = {self.place(each.path).scope.directory for each in proposal.outputs}
        outputs = {each.path for each in proposal.outputs}
        for path in read:
            alone = len(read) == 1 and targets == {self.place(path).scope.directory}
            only_read = proposal.kind == "relink" and path not in outputs
            if proposal.written and not alone and not only_read and not self._is_trusted(path):
                raise _RefusedError("untrusted", path, references.not_trusted(name(path)))

    def _memory(self, path: str, data: bytes) -> Memory:
        return memory.from_bytes(path, self.place(path).scope.label, data)

    def _follow_links(self) -> None:
        for proposal in self.made:
            for path in proposal.gone:
                # A link leads to memories of its own scope.
                heir = proposal.successor
                stem = name(heir) if heir is not None and self.place(heir)[0] == self.place(path)[0] else None
                if (data := self.files.data(path)) is not None:
                    scope = self.place(path).scope
                    names = self.files.link_names(scope, self._memory(path, data))
                    self._renamed.setdefault(scope.directory, {}).update({(each, path): stem for each in names})
            for output in proposal.written:
                path, was = output.path, self.files.data(output.path)
                if was is None or output.data is None or is_index(path):
                    continue
                # Links by a `name` that another one replaces lead to the file by its stem.
                before, scope = self._memory(path, was), self.place(path).scope
                is_renamed = self._memory(path, output.data).name != before.name != before.stem
                if is_renamed and before.name in self.files.link_names(scope, before):
                    self._renamed.setdefault(scope.directory, {}).setdefault((before.name, path), before.stem)
        for directory, renamed in self._renamed.items():
            inside = {path: data for path, data in self._after.items() if self.place(path).scope.directory == directory}
            scope = self.place(next(path for _, path in renamed)).scope
            for path, data in {**self.files.linking(scope), **inside}.items():
                if data is None or is_index(path) or is_archived(path):
                    continue
                after = data
                for (old, gone), new in renamed.items():
                    if new != old:
                        after = references.relink(after, path, gone, (old,), None if new == name(path) else new)
                if after != data:
                    self._after[path] = after

    def _follow_lines(self) -> None:
        """Make the changes of the indexes: first those that point elsewhere, then new lines, then those that go."""
        steps: list[list[tuple[Scope, LineChange]]] = [[], [], []]
        for proposal in self.made:
            pointed = self._point_elsewhere(proposal, steps)
            for output in proposal.written:
                scope, file = self.place(output.path)
                if is_index(output.path) or is_archived(output.path):
                    continue
                now, data = self._memory(output.path, output.data or b""), self.files.data(output.path)
                was = "" if data is None else self._memory(output.path, data).description
                if was and was != now.description:
                    set_hook = partial(index_lines.set_hook, target=file, hook=now.description, was=was)
                    steps[1].append((scope, set_hook))
                elif data is None and output.path not in pointed:
                    steps[1].append((scope, partial(self._with_line, scope, file, now)))
        for scope, change in (step for group in steps for step in group):
            before = self._now(scope.index_path) or b""
            after = change(before)
            if after != before:
                self._after[scope.index_path] = after

    def _point_elsewhere(self, proposal: Proposal, steps: Sequence[list[tuple[Scope, LineChange]]]) -> set[str]:
        """Plan what becomes of the lines of the files that go; return the files that get such a line."""
        heir = proposal.successor
        pointed = set()
        for path in proposal.gone:
            scope, file = self.place(path)
            if heir is not None and self.place(heir).scope == scope:
                data = self.files.data(path)
                old = self._memory(path, data) if data is not None else None
                steps[0].append((scope, partial(_pointed, file, self.place(heir).file, old, name(heir))))
                if any(entry.is_for(file) for entry in index.parse_index(self._now(scope.index_path) or b"").entries):
                    pointed.add(heir)
            else:
                steps[2].append((scope, partial(index_lines.remove_line, target=file)))
        return pointed

    def _with_line(self, scope: Scope, file: str, new: Memory, data: bytes) -> bytes:
        root = self.files.store.root
        # An index that only has the new memory would hide all others from the client.
        if not data and len(scopes.indexed(root, scope)) >= index.MAX_LINES:
            return data
        return references.with_line(root, scope, data, file, new.name, new.description, new.type)


def _pointed(file: str, other: str, old: Memory | None, stem: str, data: bytes) -> bytes:
    """Return an index in which the lines of one file lead to another, which may have its own."""
    entries = index.parse_index(data).entries
    if any(entry.is_for(other) for entry in entries):
        data = index_lines.remove_line(data, file)
    title = next((entry.title for entry in entries if entry.is_for(file)), "")
    own = title if old is not None and title in {old.name, old.stem} else ""
    return index_lines.replace_target(data, file, other, old_title=own, new_title=own and stem)
