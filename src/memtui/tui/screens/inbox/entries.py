"""Drafts and todos as rows of the inbox, their forms, and the commands that decide about them."""

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from rich.text import Text

from memtui import actions
from memtui.base import fastjson, ids
from memtui.base.errors import ConflictError, MemtuiError, UsageError
from memtui.base.phrasing import cut, many, share, some
from memtui.client import auto_memory
from memtui.review import approvals
from memtui.review import draft as drafting
from memtui.review.approvals import Approval
from memtui.review.draft import Choices, Draft
from memtui.review.waiting_entries import Waiting, best_first
from memtui.store import memory
from memtui.store.memory import TYPES, Memory
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.subject import CHOICE, NOTHING, TEXT, FormField, Options, Saved, Shape, Subject, Typed
from memtui.tui.model import autosave, line_diff
from memtui.tui.model.autosave import Autosave
from memtui.tui.model.data import Data
from memtui.tui.screens.frame import Described
from memtui.tui.screens.inbox.chosen import ENTRIES, RowCommands
from memtui.tui.screens.inbox.row import InboxView
from memtui.tui.screens.inbox.text import (
    REJECT,
    RENAME,
    compared,
    draft_head,
    draft_texts,
    item_text,
    lines_of,
    note_text,
    shown_of_each,
    written_text,
)
from memtui.tui.services import Command, first_of
from memtui.tui.widgets.detail import append_keys
from memtui.tui.widgets.parts import draw
from memtui.views import drafts, notes, safe_text
from memtui.views.decisions import Decision, EntryRow, of_entry
from memtui.views.memories import loader, scopes_explained

# The fields of a draft that its form edits besides the text.
LINES, CHOICES = ("name", "description", "trigger"), ("type", "scope")
FIELDS = (*LINES, *CHOICES)
GONE = "It is gone: it was decided on or removed meanwhile. What you typed stays here to be copied."
Values = Mapping[str, str]
TODO_KEYS = (
    ("inbox.approve", "mark it done and remove it"),
    ("inbox.edit", "edit its text"),
    ("inbox.reject", "reject it"),
    ("inbox.later", "hide it until later; it stays, whatever the next session leaves"),
)


def rows_of(waiting: Sequence[Waiting], view: "InboxView", places: Mapping[str, str]) -> list[Decision]:
    """Return a row for each draft, best first, then for each todo. `places`: directories of scopes, by label."""
    entries = [*best_first(entry for entry in waiting if entry.kind == "updates")]
    entries += [entry for entry in waiting if entry.kind == "items"]
    return [
        of_entry(entry, view.data, view.names, is_taken=_has_name(entry, view.data.slug, places)) for entry in entries
    ]


def _has_name(item: Waiting, slug: str, places: Mapping[str, str]) -> bool:
    """Return whether a memory has the name of a draft of this project or of all, by the directories of scopes."""
    fields, label = item.entry.fields, drafting.label_of(item)
    place = places.get(label, places.get("auto") if label == "project" else None)
    if item.kind != "updates" or item.slug not in {None, slug} or fields.get("replaces") or place is None:
        return False
    return os.path.exists(f"{place}/{fields.get('name') or memory.slugify(item.text.partition(chr(10))[0])}.md")


class EntrySubject(Subject):
    """A draft or a todo in a form."""

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
        self.shape = Shape(title, verb, "this entry", GONE, left=autosave.left("inbox.edit"))
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
    def table(self) -> dict[str, Command]:
        return super().table() | {
            "approve": Command(self.done),
            "edit": Command(self.edit, first_of(self.screen.one_by_one, self.why_too_long)),
            "reject": Command(partial(self.reject_entries, for_good=False)),
        }

    def describe(self, row: EntryRow) -> Described:
        """Return the todo; that it was edited and not saved comes first."""
        view, item, evidence = self.view, row.item, self.view.evidence.get(row.key)
        states = drafts.states(view.data.settings(), item, view.now)
        view.needed = lines_of(Text(item.text), view.detail_width)
        text = draw([self.own_text(row)])
        text.append_text(item_text(item, evidence.title if evidence else "", states, view.now))
        append_keys(text, TODO_KEYS, read_only=view.without_keys)
        return Described(text.append(f"\n{safe_text.line(view.data.tilde(item.path))}\n", style="dim"))

    async def done(self) -> None:
        """Mark the chosen todos done; those that are not on the screen are shown first."""
        items, review = self.chosen.items(), self.services.data.review()
        what = many(len(items), "todo")
        words = f"Mark {what} done"
        if self.chosen.is_seen() or await self.chosen.agrees(words, note_text(items), f"m{words[1:]}"):
            self.chosen.act(lambda: review.done(items), f"Done: {drafts.named(items)}.", ENTRIES)

    async def edit(self) -> None:
        (item,) = self.chosen.items()
        data = self.services.data

        def check(now: Waiting, values: Values) -> str:
            if not values["body"].strip():
                raise UsageError("The text is empty.", actions.keyed("{inbox.approve} marks a todo done."))
            return f"changes {now.path}"

        def save(now: Waiting, values: Values) -> None:
            if values["body"].strip() in {now.text.strip(), safe_text.clean(now.text).strip()}:
                self.services.say(NOTHING)
                return
            data.review().edit(now, values["body"])
            self.services.say(f"Edited: {drafts.named([now])}. {actions.takes_back()}")
            self.services.read()

        subject = EntrySubject(
            data, item, lambda now: {"body": now.text}, title="Edit the todo", verb="save", check=check, save=save
        )
        await self.services.ask(DraftForm(subject, self.services))
        self.screen.fill()


# Columns for the name of a memory before its description.
LONGEST_NAME = 32
# The most characters of a memory's name in a note.
NAME_SHOWN = 30
NAMES = ("the memory now", "the memory then")


class DraftCommands(RowCommands[EntryRow]):
    def table(self) -> dict[str, Command]:
        return super().table() | {
            "approve": Command(self.approve),
            "edit": Command(self.edit, first_of(self.screen.one_by_one, self.why_too_long)),
            "merge": Command(self.merge),
            "reject": Command(self.reject_entries),
        }

    def describe(self, row: EntryRow) -> Described:
        """Return what it would become, and why; that it was edited and not saved comes first."""
        view, item, evidence = self.view, row.item, self.view.evidence.get(row.key)
        text = draw([self.own_text(row)])
        states = drafts.states(view.data.settings(), item, view.now)
        proposed = view.draft(item)
        if isinstance(proposed, Draft) and proposed.taken:
            states = [*states, f"{view.home(proposed)} has a {proposed.name} already: {actions.keyed(RENAME)}"]
        text.append_text(draft_head(item, proposed, evidence))
        view.needed = lines_of(text, view.detail_width)
        both = draft_texts(text, item, proposed, states, view)
        if isinstance(proposed, Draft) and not proposed.taken:
            for part in both:
                part.append(f"\nbecomes {safe_text.line(view.data.tilde(proposed.path))}", style="dim")
        append_keys(both[0], [("inbox.reject", actions.keyed(REJECT))], read_only=view.without_keys)
        return Described(*both)

    async def approve(self) -> None:
        """Approve the chosen drafts. Several of them, or one that is not fully on the screen, are shown first."""
        rows, is_seen = self.chosen.same_kind(), self.chosen.is_seen()
        items = self.chosen.items()
        if await self.goes_on_with_own(rows, self.edit):
            return
        proposed = [self.view.draft(result) if is_seen else self.view.propose(result) for result in items]
        errors = [result for result in proposed if isinstance(result, MemtuiError)]
        drafts = [result for result in proposed if isinstance(result, Draft)]
        if not drafts:
            raise errors[0]
        if len(proposed) == 1 and drafts[0].taken:
            home, name = self.view.home(drafts[0]), drafts[0].name
            message = f"Not approved: {home} has a memory called {name} already."
            raise ConflictError(message, actions.keyed(f"{RENAME}."))
        if is_seen:
            self._write(drafts)
            return
        text = Text()
        for result in drafts:
            text.append(written_text(result, self.view.home(result), shown_of_each(len(drafts)))).append("\n")
        if errors:
            text.append(f"! {len(errors)} can't be approved: {safe_text.line(errors[0].message)}\n", style="yellow")
        text.append(self.unsaved(rows), "yellow")
        free = [result for result in drafts if not result.taken]
        title = f"Approve {many(len(free), 'draft')}: this will be written" if free else "This can't be approved"
        if await self.chosen.agrees(title, text, f"write {many(len(free), 'memory', 'memories')}" if free else ""):
            self._write(free)

    def _write(self, drafts: Sequence[Draft]) -> None:
        """Write the drafts, and say so. Raises the error of the first draft that could not be written."""
        outcomes = approvals.approve_all(drafts[0].store.journal, drafts)
        memories = [approval.memory for approval in outcomes if approval.memory is not None]
        if memories:
            self.services.data.approved = memories[0].path
            words = cut(memories[0].stem, NAME_SHOWN) if len(memories) == 1 else f"{len(memories)} memories"
            self.chosen.say(f"Approved: {words}.{self._when_loaded(outcomes)}")
            self.chosen.take_off([approval.item.key for approval in outcomes if approval.error is not None])
        self.services.read(ENTRIES)
        for draft, approval in zip(drafts, outcomes, strict=True):
            if approval.error is not None:
                raise type(approval.error)(f"{draft.name}: {approval.error.message}", approval.error.hint)

    def _when_loaded(self, outcomes: Sequence[Approval]) -> str:
        """Say from when on sessions get the memories that were written, where that is the same for all of them."""
        data = self.services.data
        approved = [(approval.item, approval.memory) for approval in outcomes if approval.memory is not None]
        labels = {memory.scope_label for _, memory in approved}
        places = {self.view.project_name(item) for item, _ in approved}
        ways = {data.way_of(memory) for _, memory in approved}
        if why_unheard := notes.keyed(data.unheard(labels)):
            return f" No session gets it yet: {why_unheard}."
        is_same = len(labels) == len(places) == len(ways) == 1
        return _who_gets(min(labels), len(approved), min(places), min(ways)) if is_same else ""

    async def edit(self) -> None:
        """Rewrite a draft in a form, then approve it."""
        item, data = self.chosen.items()[0], self.services.data

        def draft(now: Waiting, values: Values) -> Draft:
            proposed = self.view.propose(now, Choices(**values))
            if isinstance(proposed, MemtuiError):
                raise proposed
            if proposed.taken:
                raise ConflictError(f"{self.view.home(proposed)} has a {proposed.name} already.", "Give another name.")
            return proposed

        def check(now: Waiting, values: Values) -> str:
            proposed = draft(now, values)
            return f"{proposed.name}.md in {self.view.home(proposed)}"

        home = drafting.home_store(data.store(), item) if item.slug else None
        places = [scope for scope in (home or data.store()).scopes() if scope.writable and not scope.problem]
        project = self.view.project_name(item) or data.facts.project
        subject = EntrySubject(
            data,
            item,
            self._values,
            title="Edit and approve the draft",
            verb="approve",
            check=check,
            save=lambda now, values: self._write([draft(now, values)]),
            scopes=scopes_explained(places, project),
        )
        await self.services.ask(DraftForm(subject, self.services))
        self.screen.fill()

    def _values(self, item: Waiting) -> dict[str, str]:
        first, _, rest = item.text.partition("\n")
        fields, proposed = item.entry.fields, self.view.draft(item)
        return {
            "name": fields.get("name") or memory.slugify(first),
            "type": fields.get("type") or "feedback",
            "scope": proposed.scope.label if isinstance(proposed, Draft) else drafting.label_of(item),
            "description": fields.get("description") or first.strip(),
            "body": fields.get("body") or rest.strip("\n") or first.strip(),
            **({"trigger": request} if (request := fields.get("request")) else {}),
        }

    async def merge(self) -> None:
        """Ask for the memory to merge into, the most similar first; then show what it becomes, and write it."""
        items, row = self.chosen.items(), self.screen.table.row
        if await self.goes_on_with_own(self.chosen.same_kind(), self.edit):
            return
        first = next((item for item in items if row is not None and item is row.item), items[0])
        several = len({item.slug for item in items if item.slug}) > 1
        proposed, evidence = self.view.draft(first), self.view.evidence.get(first.key)
        similars = self.view.similar(first) if evidence is None else evidence.similar
        ranked = [(similar.memory, share(similar.score)) for similar in similars]
        ranks = {memory.path: rank for memory, rank in ranked}
        near = [memory for memory, _ in ranked]
        near += [mem for mem in self.view.near(first) if mem.path not in ranks and mem.broken is None]
        store = approvals.store_of(self.services.data.store(), items)
        near = [mem for mem in near if not several or mem.scope_label == "global"]
        near.sort(key=lambda mem: isinstance(proposed, MemtuiError) or mem.path != proposed.path)  # its namesake first
        able, untrusted = approvals.mergeable(store, near)
        hidden = f"Not listed, as not trusted: {some([mem.stem for mem in untrusted])}." if untrusted else ""
        if not able:
            of = " of all projects, as these drafts are of several" if several else ""
            self.services.say(f"There is no memory{of} to merge into. {hidden}".strip())
            return
        by_path = {mem.path: mem for mem in able}
        names = {mem.path: self.view.named(mem, first) for mem in able}
        wide, longest = 5 if ranks else 0, min(LONGEST_NAME, max(map(len, names.values())))
        options = [
            (path, f"{ranks.get(path, ''):<{wide}}{names[path]:<{longest}}  {safe_text.line(mem.description, 100)}")
            for path, mem in by_path.items()
        ]
        project_name = self.view.project_name(first)
        question = f"Merge {many(len(items), 'draft') if len(items) > 1 else 'the draft'} into"
        question += f" a memory of {project_name}, or of all projects" if project_name else ""
        words = " ".join(first.text.split("\n")).strip()
        choice = Choice(question, options, about=lambda path: compared(words, by_path[path], names[path]), below=hidden)
        if path := await self.services.ask(choice):
            await self._merge_into(items, by_path[path], names[path])

    async def _merge_into(self, items: Sequence[Waiting], target: Memory, name: str) -> None:
        """Show what a memory becomes with these drafts in it, and write it."""
        store = approvals.store_of(self.services.data.store(), items)
        after = approvals.merged(store, items, target).raw
        text = Text().append(safe_text.line(self.services.data.tilde(target.path)) + "\n", "dim")
        text.append_text(line_diff.drawn(target.raw, after, NAMES))
        if unsaved := self.unsaved(self.chosen.same_kind()):
            text.append(f"\n{unsaved}", "yellow")
        if await self.services.ask(Preview(f"{name} becomes", text, "write it")):
            sentence = f"Merged into {name}."
            self.chosen.act(lambda: approvals.merge(store, items, target), sentence)
            self.services.data.approved = target.path


def _who_gets(label: str, count: int, project: str, way: str) -> str:
    """Say who gets so many new memories, after a blank, in the words of `loader`, or shorter where all is as usual."""
    words = loader(label, count, project, way)
    if words and (label != "auto" or way == auto_memory.LOADED):
        where = f" in {project}" if project else ""
        words = f"The next session{where} gets {'it' if count == 1 else 'them'}"
    return f" {words}." if words else ""
