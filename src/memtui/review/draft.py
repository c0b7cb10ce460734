"""A draft: the memory that a pending update would become, and where, before anything is written."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from memtui.base import ids, paths
from memtui.base.errors import MemtuiError, UsageError
from memtui.review.waiting_entries import Waiting
from memtui.store import memory, references, scopes
from memtui.store.frontmatter import document
from memtui.store.memory import Memory
from memtui.store.scopes import Scope
from memtui.store.store import Store

# What a draft's fields become below `metadata`. Only one that was imported has more than its session.
IN_METADATA = {"tags": "tags", "created": "created", "modified": "modified", "session": "originSessionId"}


class Choices(NamedTuple):
    """A person's choices for a draft: empty ones replace nothing, but an empty `body` or `trigger` is none."""

    name: str = ""
    type: str = ""
    scope: str = ""
    description: str = ""
    body: str | None = None
    trigger: str | None = None


AS_DRAFTED = Choices()


@dataclass(frozen=True)
class Draft:
    """The memory that an update proposes: its file's `data`, its `store`, the memory `replaced`, its `trigger`."""

    item: Waiting
    store: Store
    scope: Scope
    name: str
    data: bytes
    replaced: Memory | None = None
    trigger: str = ""

    @property
    def path(self) -> str:
        if self.replaced is not None:
            return self.replaced.path
        return f"{self.scope.directory}/{self.name}.md"

    @property
    def taken(self) -> bool:
        """Whether another memory has this name already, so that the draft can't be approved."""
        return self.replaced is None and any(file == f"{self.name}.md" for file, _ in scopes.files(self.scope))

    @cached_property
    def index_lines(self) -> list[str]:
        """The lines that MEMORY.md gets with it; none where approving it will fail, and say why."""
        try:
            has_line = self.replaced is not None or self.taken
            return [] if has_line else self.store.lines_added(self.scope, self.path, self.data)
        except MemtuiError:
            return []

    @cached_property
    def memory(self) -> Memory:
        return memory.from_bytes(self.path, self.scope.label, self.data)


def propose(store: Store, item: Waiting, choices: Choices = AS_DRAFTED) -> Draft:
    """Return what approving an update writes, and where: no repository without memories. Raises MemtuiError."""
    stem, data = content(item, choices)
    label = label_of(item, choices)
    own = _store_for(store, item, label)
    scope = own.scope(label)
    if not choices.scope and scope.kind == "project" and not scope.exists:
        scope = own.scope("auto")
    references.writable(scope, shared=store.shared)
    request = item.entry.fields.get("request", "") if choices.trigger is None else choices.trigger.strip()
    replaced = _replaced(scope, item, stem)
    if replaced is not None:
        mem = memory.from_bytes(replaced.path, scope.label, data)
        fields = {"description": mem.description, "type": mem.type, "body": mem.body}
        return Draft(item, own, scope, replaced.stem, memory.with_fields(replaced, fields), replaced, request)
    return Draft(item, own, scope, references.check_name(stem), data, trigger=request)


def _replaced(scope: Scope, item: Waiting, stem: str) -> Memory | None:
    """Return the memory for which an update proposes another text; None if it is new, or that changed since."""
    fields = item.entry.fields
    file = fields.get("replaces", "")
    if not file or scope.label != fields.get("scope") or stem != fields.get("name"):
        return None
    if (file, "") not in scopes.files(scope):
        return None
    mem = memory.read_memory(f"{scope.directory}/{file}", scope.label)
    return mem if mem.broken is None and ids.digest(mem.raw) == fields.get("base") else None


def label_of(item: Waiting, choices: Choices = AS_DRAFTED) -> str:
    return choices.scope or item.entry.fields.get("scope") or item.scope


def content(item: Waiting, choices: Choices = AS_DRAFTED) -> tuple[str, bytes]:
    """Return the name of the memory that a pending update would become, and its whole file, without the evidence."""
    first, _, rest = item.text.partition("\n")
    fields = item.entry.fields
    description = choices.description or first.strip()
    stem = choices.name or fields.get("name") or memory.slugify(first)
    text = (rest.strip("\n") or first.strip()) if choices.body is None else choices.body.strip("\n") or description
    data = memory.new_memory_bytes(stem, description, choices.type or fields.get("type", "feedback"), text)
    doc = document.parse(data)
    for key, field in IN_METADATA.items():
        if fields.get(key):
            value = [tag.strip() for tag in fields[key].split(",")] if key == "tags" else fields[key]
            doc = doc.with_field(("metadata", field), value)
    return stem, doc.raw


def project_of(item: Waiting) -> str:
    """Return the directory of the project that a pending update came from; empty if it names none, or a wrong one."""
    directory = item.entry.fields.get("project", "")
    is_right = directory.startswith("/") and paths.project_key(paths.project_root(directory)) == item.slug
    return directory if is_right else ""


def home_store(store: Store, item: Waiting) -> Store | None:
    """Return the store of an entry's project, on the same journal (`store` for its own and global); None if unknown."""
    if item.slug in {None, paths.project_key(paths.project_root(store.cwd))}:
        return store
    directory = project_of(item)
    if not directory:
        return None
    other = Store(store.env, directory, by=store.journal.by, now=store.journal.now)
    other.journal = store.journal
    return other


def _store_for(store: Store, item: Waiting, label: str) -> Store:
    """Return the store to approve an entry with. Raises UsageError if the entry's project can't be found."""
    if label not in {"project", "auto"}:
        return store
    other = home_store(store, item)
    if other is None:
        raise UsageError(
            f"{item.id} belongs to another project, {item.slug}.",
            "Use --project DIR with its directory, or the scope global.",
        )
    return other


def merge_scopes(store: Store, item: Waiting) -> list[Scope]:
    """Return the scopes whose memories a pending update may be merged into: its project's and the global one."""
    home = home_store(store, item)
    places = [scope for scope in (home or store).scopes() if home is not None or scope.label == "global"]
    return [scope for scope in places if scope.exists and scope.writable and not scope.problem]


def neighbours(store: Store, item: Waiting) -> list[Memory]:
    """Return the memories that a pending update may be merged into."""
    return [mem for scope in merge_scopes(store, item) for mem in scopes.memories(scope)]
