"""The drafts of the inbox as they would be approved now, with the similar memories."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from memtui.consolidate import similarity
from memtui.core.base import fs, paths
from memtui.core.base.errors import MemtuiError
from memtui.core.inbox import refused
from memtui.core.memories import scopes
from memtui.core.memories.memory import Memory
from memtui.core.memories.scopes import Scope
from memtui.core.review import draft, evidence
from memtui.core.review.draft import AS_DRAFTED, Choices, Draft
from memtui.core.review.evidence import Evidence
from memtui.core.review.waiting import Waiting
from memtui.present import safe_text

if TYPE_CHECKING:
    from memtui.tui.model.data import Data


class Proposals:
    """The drafts as proposed. `evidence`: by the key of an entry; `memories`: those of this
    project and the global ones; `names`: of the projects of entries, by slug."""

    def __init__(self, data: "Data") -> None:
        self.data = data
        self.memories: Sequence[Memory] = ()
        self.names: Mapping[str, str] = {}
        self.evidence: dict[str, Evidence] = {}
        self._rejected: dict[str, int] = {}  # stamps of the rejected drafts, by the directory of their inbox
        self._drafts: dict[str, tuple[Waiting, Draft | MemtuiError]] = {}

    def forget(self, directories: Iterable[str]) -> None:
        """Forget what was computed from the files, as they were read again; `directories`: those of the inboxes. The
        evidence only if other drafts are rejected now."""
        self._drafts.clear()
        rejected = {directory: fs.stamp(refused.path(directory)) for directory in {*directories, *self._rejected}}
        if any(stamp != self._rejected.get(directory, stamp) for directory, stamp in rejected.items()):
            self.evidence.clear()
        self._rejected = rejected

    def draft(self, item: Waiting) -> Draft | MemtuiError:
        """Return what approving an entry would write, or why it can't be approved, as the files were last read."""
        known = self._drafts.get(item.key)
        if known is None or known[0] is not item:
            known = self._drafts[item.key] = (item, self.propose(item))
        return known[1]

    def propose(self, item: Waiting, choices: Choices = AS_DRAFTED) -> Draft | MemtuiError:
        """As `draft`, but read the files now; with the choices of the person."""
        try:
            return draft.propose(self.data.store(), item, choices)
        except MemtuiError as error:
            return error

    def proposed(self, item: Waiting, field: str) -> str:
        """Return a field of the draft as it would be approved now."""
        if field != "scope":
            return item.entry.fields.get(field, "")
        found = self.draft(item)
        return found.scope.label if isinstance(found, Draft) else draft.label_of(item)

    def project_name(self, item: Waiting) -> str:
        """Return the name of the project that an entry belongs to; empty if it is this project or none."""
        if item.slug is None or item.slug == self.data.slug:
            return ""
        return safe_text.line(self.names.get(item.slug, item.slug), 40)

    def near(self, item: Waiting) -> Sequence[Memory]:
        """Return the memories that a draft is compared with and may be merged into: those of its project."""
        if item.slug in {None, self.data.slug}:
            return self.memories
        return draft.neighbours(self.data.store(), item)

    def places(self, items: Sequence[Waiting]) -> list[Scope]:
        """Return the scopes that drafts may be approved to: of their project, or of this one if they are of several."""
        homes = {item.slug for item in items if item.slug}
        store = draft.home_store(self.data.store(), items[0]) if len(homes) == 1 else None
        return [s for s in (store or self.data.store()).scopes() if s.writable and not s.problem]

    def read_memories(self) -> list[Memory]:
        """Read the memories of this project and the global ones. Slow: for a worker."""
        near = [scope for scope in self.data.scopes() if scope.exists and scope.writable and not scope.problem]
        return [found for scope in near for found in scopes.memories(scope, self.data.known)]

    def look(self, item: Waiting, found: Draft | MemtuiError | None, near: Sequence[Memory]) -> Evidence:
        """Find what was said around an entry, which of the memories `near` are similar, and which drafts that were
        rejected. Slow: for a worker."""
        if not isinstance(found, Draft):
            return evidence.evidence_of(self.data.env, item)
        rejected = refused.near([item.directory, paths.inbox_dir(self.data.root, None)])
        return evidence.evidence_of(
            self.data.env,
            item,
            similarity.to_draft(found.name, item.text, near),
            similarity.to_refused(found.name, item.text, rejected),
        )
