"""Drafts and todos as rows of the inbox."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from rich.text import Text

from memtui import actions
from memtui.consolidate import known_texts
from memtui.core.base.phrasing import age
from memtui.core.review import draft
from memtui.present import drafts
from memtui.tui.model import autosave
from memtui.tui.screens.inbox.row import InboxRow, InboxView, RowKind
from memtui.tui.screens.inbox.text import draft_glance, draft_head, draft_text, item_glance, item_text, lines_of
from memtui.tui.screens.list_screen import Described

if TYPE_CHECKING:
    from memtui.core.review.waiting import Waiting

# From this width of the detail on, in cells, a draft and the most similar memory are shown side by side.
SIDE_BY_SIDE = 60
# The marks of drafts that are like something.
ALIKE = {
    known_texts.REJECTED: ("!", "a draft like one that you rejected"),
    known_texts.SIMILAR: ("=", "a draft like a memory that is there"),
}
DRAFT = RowKind(
    "draft",
    "draft",
    "draft",
    "drafts",
    {"accept": "accept", "edit": "edit", "reject": "reject", "later": "later", "merge": "merge"},
)
TODO = RowKind(
    "todo", "todo", "todo", "todos", {"accept": "done", "edit": "edit", "reject": "reject", "later": "later"}
)

GHOST = RowKind("ghost", "rejected", "rejected draft", "rejected drafts", {"reject": "never again"})


@dataclass(frozen=True)
class EntryRow(InboxRow):
    """A draft or a todo."""

    item: "Waiting" = field(kw_only=True)

    @property
    def kind(self) -> RowKind:
        """Whether it is a draft or a todo."""
        return DRAFT if self.item.kind == "updates" else TODO

    @property
    def look(self) -> tuple[object, ...]:
        """What decides how it is drawn."""
        return self.key, self.until, self.item.entry.raw

    @property
    def gist(self) -> str:
        """Its first line."""
        return drafts.title(self.item, 300)

    @cached_property
    def is_one_off(self) -> bool:
        """Whether it is a draft that looks like a one-off, and that nobody hid."""
        return self.kind is DRAFT and self.until is None and self.item.entry.one_off()

    def extent(self, view: InboxView) -> str:
        """Return its age."""
        return age(self.item.entry.time(), view.now)

    def autosave_name(self) -> str:
        """Return the name under which unsaved text of it is kept."""
        return self.item.id

    def where(self, view: InboxView) -> str:
        """Return the project that it is of, or global."""
        if self.item.slug is None or (self.kind is DRAFT and draft.label_of(self.item) == "global"):
            return "global"
        return f"project {view.proposals.project_name(self.item) or view.services.data.facts.project}"

    def signs(self, view: InboxView) -> Text:
        """Return the mark of what a draft is like."""
        alike = view.alike.get(self.key)
        return Text(f"{ALIKE[alike][0]} ", "yellow") if alike else Text()

    def searched(self, view: InboxView) -> str:
        """Return the text that the filter searches: the whole entry, and what its memory is called."""
        name, kind = (self.item.entry.fields.get(field, "") for field in ("name", "kind"))
        return f"{self.kind.word} {name} {kind} {self.item.text[:2000]} {self.where(view)}"

    def copied(self, _view: InboxView) -> str:
        """Return its text."""
        return self.item.text

    def describe(self, view: InboxView) -> Described:
        """Return what it would become, and why; that it was edited and not saved comes first."""
        kept = autosave.kept(view.services.data.root, self.item.id)
        unsaved = Text(f"{autosave.unsaved(kept.time, view.now, 'inbox.edit')}\n" if kept else "", "yellow")
        states = drafts.states(view.services.data.settings(), self.item, view.now)
        describe = self._describe_draft if self.kind is DRAFT else self._describe_todo
        return describe(view, unsaved, states)

    def _describe_draft(self, view: InboxView, text: Text, states: list[str]) -> Described:
        item, data, proposals = self.item, view.services.data, view.proposals
        evidence, proposed = proposals.evidence.get(self.key), proposals.draft(item)
        project_name = proposals.project_name(item) or data.facts.project
        unsaved, beside, read_only = (
            text.copy(),
            view.is_wide and view.detail_width >= SIDE_BY_SIDE,
            view.services.read_only,
        )
        head = draft_head(item, proposed, evidence, view.detail_width, project_name=project_name, beside=beside)
        text.append_text(head)
        view.needed = lines_of(text, view.detail_width)
        text.append_text(draft_text(item, proposed, evidence, states, view.now, beside=beside, read_only=read_only))
        if view.is_wide:
            return Described(text)
        glance, tail = draft_glance(item, proposed, evidence, project_name=project_name)
        return Described(text, unsaved.append_text(glance), tail)

    def _describe_todo(self, view: InboxView, text: Text, states: list[str]) -> Described:
        evidence = view.proposals.evidence.get(self.key)
        view.needed = lines_of(Text(self.item.text), view.detail_width)
        title = evidence.title if evidence else ""
        whole = item_text(self.item, title, states, view.now, read_only=view.services.read_only)
        glance = text.copy().append_text(item_glance(self.item, states, view.now))
        return Described(text.append_text(whole), glance)


@dataclass(frozen=True)
class GhostRow(InboxRow):
    """A draft that was rejected just now, in its old place as long as the note about that stands."""

    rejected: "Waiting" = field(kw_only=True)

    @property
    def kind(self) -> RowKind:
        """A draft that is gone."""
        return GHOST

    @property
    def gist(self) -> str:
        """Its first line."""
        return drafts.title(self.rejected, 300)

    def cells(self, view: InboxView) -> list[Text]:
        """Draw the cells, all of them grey."""
        cells = super().cells(view)
        cells[1].stylize("dim")
        return cells

    def describe(self, _view: InboxView) -> Described:
        """Return what can be done with it."""
        words = "You rejected this. {inbox.reject}: it is never drafted again. {app.undo}: it waits again."
        return Described(Text(f"{self.gist}\n\n").append(actions.keyed(words), "dim"))
