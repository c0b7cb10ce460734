"""What waits in the inbox but proposals, as it is read; the form of drafts and todos, and the commands of todos."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from rich import get_console
from rich.text import Text

from memtui import keymap
from memtui.base import fastjson, findings, ids
from memtui.base.errors import MemtuiError, UsageError
from memtui.base.finding import Finding
from memtui.base.phrasing import many
from memtui.client import projects
from memtui.review import approvals
from memtui.review.outside_changes import Changed
from memtui.review.waiting_entries import Waiting, best_first, homes, load_hidden
from memtui.store import memory
from memtui.store.memory import TYPES
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.subject import CHOICE, NOTHING, TEXT, FormField, Options, Saved, Subject, Typed
from memtui.tui.model import autosave
from memtui.tui.model.autosave import Autosave
from memtui.tui.model.data import Data
from memtui.tui.screens.frame import Described
from memtui.tui.screens.inbox.chosen import ENTRIES, RowCommands
from memtui.tui.screens.inbox.row import InboxView
from memtui.tui.widgets.prose import SHOWN, cut, draw
from memtui.views import decisions, drafts, safe_text
from memtui.views.decisions import Decision, EntryRow, of_entry

# The fields of a draft that its form edits besides the text.
LINES, CHOICES = ("name", "description", "trigger"), ("type", "scope")
FIELDS = (*LINES, *CHOICES)
GONE = "It is gone: it was decided on or removed meanwhile. What you typed stays here to be copied."
DRAFT_LENGTH = 6000  # characters of a draft that are compared word by word
LEAST_SHOWN = 1000  # characters of one entry among many
TODO_KEYS = (
    ("inbox.approve", "mark it done and remove it"),
    ("inbox.edit", "edit its text"),
    ("inbox.reject", "reject it"),
    ("inbox.later", "hide it until later; it stays, whatever the next session leaves"),
)
Values = Mapping[str, str]


class InboxReading(NamedTuple):
    """What was read for the Inbox."""

    waiting: list[Waiting]  # the drafts and todos of all inboxes
    names: dict[str, str]  # of the projects, by slug
    problem: str  # which inboxes could not be read, in words
    others: list[Decision]  # what others wrote, and what is not trusted
    hidden: dict[str, float]  # until when what is no entry is hidden
    places: dict[str, str]  # the directories of the scopes, by label
    of_all: bool  # it is of all projects


def read(data: Data, *, all_projects: bool) -> InboxReading:
    """Read all of it; with `all_projects` what others wrote in other projects, too."""
    unread, changes = list[Finding](), list[Changed]()
    waiting = data.waiting(("updates", "items"), every=True, unread=unread)
    others_by_slug = {other.slug: other.path for other in projects.with_memory(data.env)} if all_projects else {}
    names = projects.names(data.env, {**others_by_slug, **homes(data.env, waiting), data.slug: data.project_root})
    problem = " ".join(map(findings.with_remedy, unread))
    try:
        changes = data.changed(every=all_projects)
    except MemtuiError as error:
        problem = f"{problem} {error.message}".strip()
    others = [
        *decisions.of_changed(data, changes),
        *(decisions.of_untrusted(memory, data.project) for memory in data.untrusted(changes)),
    ]
    places = {scope.label: scope.directory for scope in data.scopes() if scope.exists}
    return InboxReading(waiting, names, problem, others, load_hidden(data.root), places, all_projects)


def read_entries(data: Data, last: InboxReading) -> InboxReading | None:
    """Read the drafts and todos again, only those of files that have changed anew. None if none have."""
    unread = list[Finding]()
    waiting = data.waiting(("updates", "items"), every=True, unread=unread)
    problem = " ".join(map(findings.with_remedy, unread)) or last.problem
    if problem == last.problem and list(map(id, waiting)) == list(map(id, last.waiting)):
        return None
    return last._replace(waiting=waiting, problem=problem)


def rows_of(waiting: Sequence[Waiting], view: InboxView, places: Mapping[str, str]) -> list[Decision]:
    """Return a row for each draft, best first, then for each todo. `places`: directories of scopes, by label."""
    entries = [*best_first(entry for entry in waiting if entry.kind == "updates")]
    entries += [entry for entry in waiting if entry.kind == "items"]
    return [
        of_entry(entry, view.data, view.names, is_taken=_has_name(entry, view.data.slug, places)) for entry in entries
    ]


def _has_name(item: Waiting, slug: str, places: Mapping[str, str]) -> bool:
    """Return whether a memory has the name of a draft of this project or of all, by the directories of scopes."""
    fields, label = item.entry.fields, approvals.label_of(item)
    place = places.get(label, places.get("auto") if label == "project" else None)
    if item.kind != "updates" or item.slug not in {None, slug} or fields.get("replaces") or place is None:
        return False
    return os.path.exists(f"{place}/{fields.get('name') or memory.slugify(item.text.partition(chr(10))[0])}.md")


class EntrySubject(Subject):
    """A draft or a todo in a form."""

    name, gone, action = "this entry", GONE, "inbox.edit"

    def __init__(
        self,
        data: Data,
        item: Waiting,
        values: Callable[[Waiting], Values],  # what the form shows of an entry
        *,
        title: str,
        verb: str,
        check: Callable[[Waiting, Values], str],  # returns which file would be written
        save: Callable[[Waiting, Values], None],  # as `check`, it raises MemtuiError
        scopes: Options = (),
    ) -> None:
        self.data, self.item = data, item
        self._values, self._check, self._save = values, check, save
        initial = values(item)
        self.autosave = autosave.kept(data.root, item.id) or Autosave(item.id, self._base())
        self.title, self.verb = title, verb
        options: dict[str, Options] = {"type": [(kind_name, kind_name) for kind_name in TYPES], "scope": scopes}
        self.fields: Sequence[FormField] = (
            *(FormField(key, safe_text.line(initial[key])) for key in LINES if key in initial),
            *(FormField(key, initial[key], CHOICE, options=options[key]) for key in CHOICES if key in initial),
            FormField("body", safe_text.clean(initial["body"]), TEXT),
        )

    def _base(self) -> str:
        """Return a digest of what a person can edit. Counts that the extractor updates are no change."""
        fields = {key: self.item.entry.fields.get(key, "") for key in (*FIELDS, "request")}
        return ids.digest(fastjson.dumps({**fields, "text": self.item.text}))

    def check(self, typed: Typed) -> Text:
        return safe_text.styled(self._check(self.item, typed.values))

    def there(self) -> str | None:
        """Find the entry as it is now, one without an id by its place; return its digest, None if it is gone."""
        before, entries = self.item, self.data.waiting((self.item.kind,), every=True)
        same = [entry for entry in entries if entry.key == before.key]
        if not same and not before.entry.fields.get("id"):
            place = (before.path, before.entry.start)
            same = [e for e in entries if (e.path, e.entry.start) == place and not e.entry.fields.get("id")]
        if not same:
            return None
        self.item = same[0]
        return self._base()

    def compared(self, typed: Typed) -> tuple[bytes, bytes]:
        theirs = self._values(self.item)
        return _lines(theirs), _lines({**theirs, **typed.changed})

    def save(self, typed: Typed) -> Saved:
        self._save(self.item, {**self._values(self.item), **typed.changed})
        return Saved(self.item.id)


def _lines(values: Values) -> bytes:
    words = "".join(f"{key}: {values[key]}\n" for key in FIELDS if key in values)
    return f"{words}{chr(10) * bool(words)}{values['body'].rstrip()}".encode("utf-8", "replace")


class TodoCommands(RowCommands[EntryRow]):
    def why_not(self, verb: str) -> str:
        return self.why_too_long() if verb == "edit" else ""

    def describe(self, row: EntryRow) -> Described:
        """Return the todo, and where it comes from; that it was edited and not saved comes first."""
        view, item, evidence = self.view, row.item, self.view.evidence.get(row.key)
        states = drafts.states(view.data.settings(), item, view.now)
        view.needed = lines_of(Text(item.text), view.detail_width)
        todo = cut(Text(), item.text, item.path)
        todo.stylize("bold", 0, min(len(item.text), SHOWN))
        facts = drafts.todo_facts(item, evidence.title if evidence else "", states, view.now)
        text = draw([self.own_text(row)]).append_text(todo).append("\n").append_text(draw([facts]))
        described = self.with_keys(text, TODO_KEYS)
        text.append(f"\n{safe_text.line(view.data.tilde(item.path))}\n", style="dim")
        return described

    async def approve(self) -> None:
        """Mark the chosen todos done; those that are not on the screen are shown first."""
        items, review = self.items, self.services.data.review()
        what = f"ark {many(len(items), 'todo')} done"
        text = Text()
        for item in items:
            cut(text, item.text, item.path, limit=shown_of_each(len(items)), before="  │ ").append("\n")
        if self.chosen.is_seen() or await self.chosen.agrees(f"M{what}", text, f"m{what}"):
            self.chosen.act(lambda: review.done(items), f"Done: {drafts.named(items)}.", ENTRIES)

    def reject(self) -> None:
        items, review = self.items, self.services.data.review()
        self.reject_with(lambda: review.reject(items), ENTRIES, for_good=False)

    async def edit(self) -> None:
        subject = EntrySubject(
            self.services.data,
            self.items[0],
            lambda item: {"body": item.text},
            title="Edit the todo",
            verb="save",
            check=self._check,
            save=self._save,
        )
        await self.services.ask(DraftForm(subject, self.services))
        self.screen.fill()

    def _check(self, item: Waiting, values: Values) -> str:
        if not values["body"].strip():
            raise UsageError("The text is empty.", keymap.keyed("{inbox.approve} marks a todo done."))
        return f"changes {item.path}"

    def _save(self, item: Waiting, values: Values) -> None:
        if values["body"].strip() in {item.text.strip(), safe_text.clean(item.text).strip()}:
            self.services.say(NOTHING)
        else:
            edit = self.services.data.review().edit
            self.services.make(lambda: edit(item, values["body"]), f"Edited: {drafts.named([item])}.")


def lines_of(text: Text, width: int) -> int:
    """Return how many lines a text takes; for a long one, which may be cut, more than it can take."""
    text = text.copy()
    text.rstrip()
    return len(text.wrap(get_console(), width)) if len(text.plain) <= DRAFT_LENGTH else SHOWN * 2


def shown_of_each(count: int) -> int:
    """Return how many characters are drawn of each of `count` entries."""
    return max(LEAST_SHOWN, SHOWN // max(1, count))
