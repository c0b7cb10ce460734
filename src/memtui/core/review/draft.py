"""A draft: the memory that a pending update would become, and where, before anything is written."""

from dataclasses import dataclass
from typing import NamedTuple

from memtui.core.base import paths
from memtui.core.base.errors import UsageError
from memtui.core.frontmatter import document
from memtui.core.memories import memory, references, scopes
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.core.memories.store import Store
from memtui.core.review.waiting import Waiting


class Choices(NamedTuple):
    """A person's choices for a draft, which go before what the pending update says; empty says nothing. With an empty
    `body` (not None) the description is all that the memory says."""

    name: str = ""
    type: str = ""
    scope: str = ""
    description: str = ""
    body: str | None = None


AS_DRAFTED = Choices()


@dataclass(frozen=True)
class Draft:
    """A proposed memory of a pending update. `data` is the whole file, `store` that of the project it belongs to."""

    item: Waiting
    store: Store
    scope: Scope
    name: str
    data: bytes

    @property
    def path(self) -> str:
        """The file it would become."""
        return f"{self.scope.directory}/{self.name}.md"

    @property
    def taken(self) -> bool:
        """Whether a memory of that name is there already, so that it can't be approved."""
        return any(file == f"{self.name}.md" for file, _ in scopes.files(self.scope))

    @property
    def memory(self) -> Memory:
        """The memory as it would be written."""
        return memory.from_bytes(self.path, self.scope.label, self.data)


def propose(store: Store, item: Waiting, choices: Choices = AS_DRAFTED) -> Draft:
    """The draft of a pending update: what approving it writes, and where. Raises MemtuiError for a name, a scope or a
    project that can't be.

    What a draft says of the project goes to the repository only where the person keeps memories there already, else to
    the client's native memory of the project: nothing is written into a repository unasked.
    """
    stem, data = content(item, choices)
    label = label_of(item, choices)
    there = _store_for(store, item, label)
    scope = there.scope(label)
    if not choices.scope and scope.kind == "project" and not scope.exists:
        scope = there.scope("auto")
    references.writable(scope)
    return Draft(item, there, scope, references.check_name(stem), data)


def label_of(item: Waiting, choices: Choices = AS_DRAFTED) -> str:
    """The label of the scope that a draft is for."""
    return choices.scope or item.entry.fields.get("scope") or item.scope


def content(item: Waiting, choices: Choices = AS_DRAFTED) -> tuple[str, bytes]:
    """The name of the memory that a pending update would become, and its whole file.

    The evidence stays behind; the session it came from is kept as `originSessionId`.
    """
    first, _, rest = item.text.partition("\n")
    fields = item.entry.fields
    about = choices.description or first.strip()
    stem = choices.name or fields.get("name") or memory.slugify(first)
    text = (rest.strip("\n") or first.strip()) if choices.body is None else choices.body.strip("\n") or about
    data = memory.new_memory_bytes(stem, about, choices.type or fields.get("type", "feedback"), text)
    if fields.get("session"):
        doc = document.parse(data).with_field(("metadata", "originSessionId"), fields["session"])
        data = doc.to_bytes()
    return stem, data


def home_of(item: Waiting) -> str:
    """The directory of the project that a pending update came from; empty if it does not say, or not truly."""
    home = item.entry.fields.get("project", "")
    return home if home.startswith("/") and paths.slug(paths.project_root(home)) == item.slug else ""


def home_store(store: Store, item: Waiting) -> Store | None:
    """The store of the project that an entry belongs to, on the same journal: this one for those of here and of
    everywhere; None if the project can't be found."""
    if item.slug in {None, paths.slug(paths.project_root(store.cwd))}:
        return store
    home = home_of(item)
    if not home:
        return None
    other = Store(store.env, home, by=store.journal.by, now=store.journal.now)
    other.journal = store.journal
    return other


def _store_for(store: Store, item: Waiting, label: str) -> Store:
    """The store to approve an entry with: this one, or for the `project` and `auto` scopes of another project one that
    works there. Raises UsageError if that project can't be found."""
    if label not in {"project", "auto"}:
        return store
    found = home_store(store, item)
    if found is None:
        raise UsageError(
            f"{item.id} belongs to another project, {item.slug}.",
            "Use --project DIR with its directory, or the scope global.",
        )
    return found


def near(store: Store, item: Waiting) -> list[Scope]:
    """The scopes whose memories a pending update may be like, and go into: its project's and the global one."""
    home = home_store(store, item)
    places = [scope for scope in (home or store).scopes() if home is not None or scope.label == "global"]
    return [scope for scope in places if scope.exists and scope.writable and not scope.problem]


def neighbours(store: Store, item: Waiting) -> list[Memory]:
    """The memories of the scopes that are `near`."""
    return [found for scope in near(store, item) for found in scopes.memories(scope)]
