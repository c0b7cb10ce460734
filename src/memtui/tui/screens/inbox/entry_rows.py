"""Drafts and todos as rows of the inbox."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text

from memtui.consolidate import known_texts
from memtui.core.base.phrasing import age
from memtui.present import drafts, safe_text, undelivered
from memtui.tui.model import autosave
from memtui.tui.screens.inbox.row import InboxRow, InboxView
from memtui.tui.screens.inbox.text import draft_glance, draft_head, draft_text, item_glance, item_text, lines_of
from memtui.tui.screens.list_screen import Described

if TYPE_CHECKING:
    from memtui.core.review.waiting import Waiting

# From this width on, in cells, a draft and the most similar memory are shown side by side.
SIDE_BY_SIDE = 120
# The marks of drafts that are like something, and of a todo that is kept.
ALIKE = {
    known_texts.REJECTED: ("!", "a draft like one that you rejected"),
    known_texts.SIMILAR: ("=", "a draft like a memory that is there"),
}
KEPT = "="


@dataclass(frozen=True)
class EntryRow(InboxRow):
    """An entry of an inbox."""

    entry: "Waiting | None" = None

    @property
    def waiting(self) -> "Waiting":
        """The entry."""
        assert self.entry is not None
        return self.entry

    @property
    def item(self) -> "Waiting":
        """The entry."""
        return self.waiting

    @property
    def gist(self) -> str:
        """Its first line."""
        return drafts.title(self.waiting, 300)

    def extent(self, view: InboxView) -> str:
        """Return its age."""
        return age(self.waiting.entry.time(), view.now)

    def autosave_name(self) -> str:
        """Return the name under which unsaved text of it is kept."""
        return self.waiting.id

    def where(self, view: InboxView) -> str:
        """Return the project that it is of."""
        here = view.services.data.facts.project if self.waiting.slug else "global"
        return view.proposals.project_name(self.waiting) or safe_text.line(here, 40)

    def searched(self, view: InboxView) -> str:
        """Return the text that the filter searches: the whole entry, and what its memory is called."""
        name, kind = (self.waiting.entry.fields.get(field, "") for field in ("name", "kind"))
        return f"{self.word} {name} {kind} {self.waiting.text[:2000]} {self.where(view)}"

    def copied(self, _view: InboxView) -> str:
        """Return its text."""
        return self.waiting.text

    def _states(self, view: InboxView) -> list[str]:
        return undelivered.words(view.services.data.settings(), self.waiting, view.now)

    def _unsaved(self, view: InboxView) -> Text:
        """Say in a line that it was edited and not saved; empty if it was not."""
        kept = autosave.kept(view.services.data.root, self.waiting.id)
        return Text() if kept is None else Text(f"{autosave.unsaved(kept.time, view.now, 'inbox.edit')}\n", "yellow")


@dataclass(frozen=True)
class DraftRow(EntryRow):
    """A draft."""

    family: ClassVar[str] = "draft"
    word: ClassVar[str] = "draft"
    singular: ClassVar[str] = "draft"
    plural: ClassVar[str] = "drafts"
    style: ClassVar[str] = "green"
    verbs: ClassVar[Mapping[str, str]] = {
        "accept": "approve",
        "edit": "edit",
        "reject": "reject",
        "later": "later",
        "merge": "merge",
    }

    @property
    def is_one_off(self) -> bool:
        """Whether it looks like a one-off that nobody hid."""
        return self.until is None and self.waiting.entry.one_off()

    def where(self, view: InboxView) -> str:
        """Return the project that it is of, or global."""
        return "global" if view.proposals.proposed(self.waiting, "scope") == "global" else super().where(view)

    def signs(self, view: InboxView) -> Text:
        """Return the mark of what it is like."""
        alike = view.alike.get(self.key)
        return Text(f"{ALIKE[alike][0]} ", "yellow") if alike else Text()

    def describe(self, view: InboxView) -> Described:
        """Return the memory that it would become, and why."""
        item, data, proposals = self.waiting, view.services.data, view.proposals
        evidence, draft = proposals.evidence.get(self.key), proposals.draft(item)
        project_name = proposals.project_name(item) or data.facts.project
        beside, read_only = view.width >= SIDE_BY_SIDE, view.services.read_only
        text = self._unsaved(view)
        head = draft_head(item, draft, evidence, view.detail_width, project_name=project_name, beside=beside)
        text.append_text(head)
        view.needed = lines_of(text, view.detail_width)
        states = self._states(view)
        text.append_text(draft_text(item, draft, evidence, states, view.now, beside=beside, read_only=read_only))
        glance, tail = draft_glance(item, draft, evidence, project_name=project_name)
        return Described(text, self._unsaved(view).append_text(glance), tail)


@dataclass(frozen=True)
class TodoRow(EntryRow):
    """A todo."""

    family: ClassVar[str] = "todo"
    word: ClassVar[str] = "todo"
    singular: ClassVar[str] = "todo"
    plural: ClassVar[str] = "todos"
    style: ClassVar[str] = "cyan"
    verbs: ClassVar[Mapping[str, str]] = {"accept": "done", "edit": "edit", "reject": "drop", "later": "later"}

    def signs(self, _view: InboxView) -> Text:
        """Return the mark of one that is kept."""
        return Text(f"{KEPT} ", "dim") if self.waiting.entry.fields.get("state") == "kept" else Text()

    def describe(self, view: InboxView) -> Described:
        """Return its text, and what can be done with it."""
        evidence = view.proposals.evidence.get(self.key)
        view.needed = lines_of(Text(self.waiting.text), view.detail_width)
        title, states = evidence.title if evidence else "", self._states(view)
        text = item_text(self.waiting, title, states, view.now, read_only=view.services.read_only)
        glance = item_glance(self.waiting, states, view.now)
        return Described(self._unsaved(view).append_text(text), self._unsaved(view).append_text(glance))
