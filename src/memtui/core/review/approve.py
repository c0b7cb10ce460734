"""What approving a pending update would write, and where, before anything is written."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from memtui.core.base import paths
from memtui.core.base.errors import ConflictError, MemtuiError, NotFoundError, UsageError
from memtui.core.memories import references, scopes
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.core.memories.store import Store
from memtui.core.review import triage
from memtui.core.review.triage import Proposal, Waiting


@dataclass(frozen=True)
class Ready:
    """A proposal with its place. `taken`: a memory of that name is there already, so that it can't be approved."""

    proposal: Proposal
    store: Store
    scope: Scope

    @property
    def item(self) -> Waiting:
        """The pending update."""
        return self.proposal.item

    @property
    def path(self) -> str:
        """The file it would become."""
        return f"{self.scope.directory}/{self.proposal.name}.md"

    @property
    def taken(self) -> bool:
        """See the class."""
        return any(file == f"{self.proposal.name}.md" for file, _ in scopes.files(self.scope))


def home_of(item: Waiting) -> str:
    """The directory of the project that a pending update came from; empty if it does not say, or not truly."""
    home = item.entry.fields.get("project", "")
    return home if home.startswith("/") and paths.slug(paths.project_root(home)) == item.slug else ""


def store_of(store: Store, item: Waiting, label: str, now: Callable[[], float]) -> Store:
    """The store to approve an entry with: this one, or for the `project` and `auto` scopes of another project one that
    works there, on the same journal. Raises UsageError if that project can't be found."""
    if label not in {"project", "auto"}:
        return store
    found = home_store(store, item, now)
    if found is None:
        raise UsageError(
            f"{item.id} belongs to another project, {item.slug}.",
            "Use --project DIR with its directory, or the scope global.",
        )
    return found


def home_store(store: Store, item: Waiting, now: Callable[[], float]) -> Store | None:
    """The store of the project that an entry belongs to, on the same journal: this one for those of here and of
    everywhere; None if the project can't be found."""
    if item.slug in {None, paths.slug(paths.project_root(store.cwd))}:
        return store
    home = home_of(item)
    if not home:
        return None
    other = Store(store.env, home, by=store.journal.by, now=now)
    other.journal = store.journal
    return other


def _near(store: Store, item: Waiting, now: Callable[[], float]) -> list[Scope]:
    home = home_store(store, item, now)
    places = [scope for scope in (home or store).scopes() if home is not None or scope.label == "global"]
    return [scope for scope in places if scope.exists and scope.writable and not scope.problem]


def neighbours(store: Store, item: Waiting, now: Callable[[], float]) -> list[Memory]:
    """The memories that a pending update may be like, and go into: its project's and the global ones."""
    return [memory for scope in _near(store, item, now) for memory in scopes.memories(scope)]


def _found(store: Store, ref: str) -> Memory | None:
    try:
        return store.find(ref)
    except MemtuiError:
        return None


def to_merge(store: Store, item: Waiting, ref: str, now: Callable[[], float]) -> tuple[Store, Memory]:
    """The memory that a reference means, to put a pending update at its end, and the store to do it with: one of the
    update's project or a global one. Raises as `scopes.find`; ConflictError for one of another project."""
    home = home_store(store, item, now) or store
    there = store if "/" in ref else home  # a path is meant from where the person stands
    found: Memory | None
    try:
        found = there.find(ref)
    except NotFoundError:
        if there is store:
            raise
        there, found = store, _found(store, ref)
        if found is None:
            raise
    if item.slug is None or any(
        found.path == f"{scope.directory}/{name}"
        for scope in _near(store, item, now)
        for name, _ in scopes.files(scope)
    ):
        return there, found
    whose = home_of(item) or item.slug
    raise ConflictError(
        f"{found.scope_label}:{found.stem} is of another project than {item.id[-6:]}, a draft of {whose}.",
        f"Merge it into a memory of {whose}, or of the scope global; or approve it by itself and copy that memory.",
    )


def ready(store: Store, proposal: Proposal, now: Callable[[], float], chosen: str = "") -> Ready:
    """A proposal with its place: the scope that the person chose, else what `review.target` makes of the draft's.
    Raises MemtuiError for a name, a scope or a project that can't be."""
    found = store_of(store, proposal.item, proposal.scope, now)
    scope = triage.target(found, proposal.item, chosen)
    references.writable(scope)
    return Ready(replace(proposal, name=references.check_name(proposal.name)), found, scope)


def drafted(item: Waiting, fields: dict[str, str]) -> Proposal:
    """A proposal as a person rewrote it: `name`, `scope`, `type`, `description` and `body` of the draft, as far as
    given, go before what the draft says."""
    given = {"name": fields.get("name", ""), "kind": fields.get("type", ""), "scope": fields.get("scope", "")}
    return triage.propose(item, description=fields.get("description", ""), body=fields.get("body"), **given)
