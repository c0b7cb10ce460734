"""Memories that others wrote since a person saw them, or that are not trusted: keep or reject them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, NamedTuple

from memtui.base import ids_hot
from memtui.base.errors import ConflictError, MemtuiError, NotFoundError
from memtui.base.phrasing_hot import many
from memtui.store import history, references, status, trust_grants
from memtui.store.frontmatter import prose_hot
from memtui.store.journal import acts
from memtui.store.journal.acts import REJECTS
from memtui.store.journal.changes import Change
from memtui.store.journal.journal import Journal
from memtui.store.journal.own_files import SeenEdit
from memtui.store.memory import Memory, read_memory
from memtui.store.scopes import Scope, trust_of
from memtui.store.store import Outcome, Store
from memtui.store.versions.versions import GONE, Version, Versions, Writer
from memtui.store.versions.writers import colleagues

Kind = Literal["new", "edited", "deleted"]


@dataclass(frozen=True, slots=True)
class Changed:
    """A memory that somebody else wrote: its version `now`, the newest seen one `before` (None: new), and who."""

    scope: Scope
    now: Version
    before: Version | None
    writer: Writer

    @property
    def key(self) -> str:
        return self.now.path

    @property
    def later_key(self) -> str:
        """What this version of it is hidden under."""
        return f"changed:{self.key}@{self.now.digest}"

    @property
    def name(self) -> str:
        return references.stem(self.now.file)

    @property
    def ref(self) -> str:
        """What a person calls it: `scope:name`."""
        return f"{self.scope.shown}:{self.name}"

    @property
    def kind(self) -> Kind:
        if self.now.digest == GONE:
            return "deleted"
        return "new" if self.before is None or self.before.digest == GONE else "edited"


class Untrusted(NamedTuple):
    """A memory that came with a repository, or that a team shares, and is not trusted, so that no session gets it; `by`
    whom it is, and what was trusted of it `before`, where that is known. What came from another machine of the person's
    is not here yet: `take_in` plans to write it, with its `line` of MEMORY.md; `is_gone`: it was deleted there."""

    scope: Scope
    file: str
    memory: Memory
    by: str = ""
    before: bytes | None = None
    take_in: "Callable[[str, Sequence[Untrusted]], list[Change]] | None" = None
    is_gone: bool = False
    line: str = ""

    @property
    def later_key(self) -> str:
        """What this version of it is hidden under."""
        return f"trust:{self.memory.path}@{'gone' if self.is_gone else ids_hot.digest(self.memory.raw)}"

    @property
    def says(self) -> str:
        sentence = self.memory.description or prose_hot.first_sentence(self.memory.body) or self.memory.stem
        return ("deleted: " if self.is_gone else "") + sentence


def untrusted(root: str, scopes: Iterable[Scope], changes: Collection[Changed]) -> Iterator[Untrusted]:
    """Yield the memories of some scopes that are not trusted, but for those among `changes`: keeping trusts them."""
    for scope in scopes:
        files = status.not_trusted(root, scope)
        changed_keys = {change.key for change in changes if files}
        writers, trusts = (colleagues(scope), trust_of(root, scope)) if files else ({}, None)
        for file in files:
            with suppress(MemtuiError, OSError):
                if (path := f"{scope.directory}/{file}") not in changed_keys:
                    before = trust_grants.earlier(root, trusts, file) if trusts else None
                    yield Untrusted(scope, file, read_memory(path, scope.label), writers.get(file, ""), before)


def waiting(versions: Versions, scopes: Sequence[Scope]) -> list[Changed]:
    """List what nobody has seen of some scopes, the newest first."""
    changes = []
    for scope in filter(history.with_versions, scopes):
        unseen = versions.unseen([scope.directory])
        changes += [Changed(scope, now, before, versions.other(now)) for before, now in unseen]
    return sorted(changes, key=lambda change: change.now.written or 0.0, reverse=True)


def texts(versions: Versions, item: Changed) -> tuple[bytes, bytes]:
    """Return what a person saw last, and what is there now. Raises NotFoundError for a text that is not kept."""
    return versions.content(item.before) if item.before is not None else b"", versions.content(item.now)


def to_keep(versions: Versions, item: Changed) -> tuple[bytes, bytes]:
    """Return the two texts whose difference one sees who keeps it: all that was never trusted, if that trusts it."""
    before, now = texts(versions, item)
    trusted, was = trust_of(versions.root, item.scope), item.before.digest if item.before is not None else GONE
    return (before if trusted.knows(was) or trusted.knows(item.now.digest) else b""), now


def keep(journal: Journal, versions: Versions, items: Sequence[Changed]) -> None:
    """Record that a person has seen these, and trust what needs it, as one step of undo. Raises MemtuiError."""
    if items:
        what = items[0].ref if len(items) == 1 else many(len(items), "memory", "memories")
        texts = [(item.scope, item.now.file, versions.content(item.now)) for item in undelivered(journal.root, items)]
        changes = [_seen(versions, items, (False, True)), *trust_grants.edits(journal.root, texts)]
        journal.run("keep", changes, acts.summary("keep", what))
        versions.note()


def grant(journal: Journal, memories: Sequence[Untrusted]) -> None:
    """Trust memories as they were read, and take in what is not here, as one step of undo. Raises MemtuiError."""
    texts = [(memory.scope, memory.file, memory.memory.raw) for memory in memories if memory.take_in is None]
    trusts: list[Change] = [*trust_grants.edits(journal.root, texts)]
    for take_in in {memory.take_in for memory in memories if memory.take_in is not None}:
        trusts += take_in(journal.root, [memory for memory in memories if memory.take_in is take_in])
    if trusts:
        what = memories[0].memory.stem if len(memories) == 1 else many(len(memories), "memory", "memories")
        journal.run("trust", trusts, acts.summary("trust", what))


def _seen(versions: Versions, items: Sequence[Changed], states: tuple[bool | None, bool | None]) -> SeenEdit:
    keys = [(change.now.directory, change.now.file, change.now.digest) for change in items]
    return SeenEdit(versions.path, tuple(keys), states)


def undelivered(root: str, items: Sequence[Changed]) -> list[Changed]:
    """List those that no session gets, because nobody trusted their present text, until they are kept."""
    changes = [change for change in items if change.kind != "deleted"]
    return [change for change in changes if not trust_of(root, change.scope).knows(change.now.digest)]


def reject(store: Store, versions: Versions, items: Sequence[Changed]) -> Outcome[Changed, None]:
    """Restore what a person saw last, as one step of undo; a failure does not stop the others."""
    outcome = store.each(items, lambda item: reject_one(store, versions, item))
    history.taken_in(versions, list({change.scope.directory: change.scope for change in items}.values()))
    return outcome


def reject_one(store: Store, versions: Versions, item: Changed) -> None:
    """Restore what a person saw last of one, which then waits again. Raises as `present` and `texts`."""
    extra = [_seen(versions, [item], (False, None))]
    if item.kind == "deleted":
        store.write(item.scope, item.key, None, texts(versions, item)[0], "restore", verb=REJECTS, extra=extra)
        return
    memory = present(item)
    if item.kind == "new":
        store.delete(memory, verb=REJECTS, extra=extra)
        return
    data = history.text(versions, item.before, item.now.file) if item.before is not None else b""
    if item.before is not None and not item.before.is_of(data):  # it was renamed since: it keeps its name
        same = ((item.now.directory, item.now.file, ids_hot.digest(data)),)
        extra.append(SeenEdit(versions.path, same, (None, True)))
    store.edit(memory, data, op="restore", verb=REJECTS, extra=extra)


def present(item: Changed) -> Memory:
    """Return the memory as it is. Raises ConflictError if it is another version by now, MemtuiError."""
    try:
        memory = read_memory(item.key, item.scope.label)
    except NotFoundError as error:
        raise ConflictError(f"{item.ref} was deleted meanwhile.", "Nothing was written.") from error
    except OSError as error:
        raise MemtuiError(f"{item.key} can't be read: {error.strerror}.") from error
    if not item.now.is_of(memory.raw):
        raise ConflictError(f"{item.ref} was changed again meanwhile.", "Look at it again; nothing was written.")
    return memory
