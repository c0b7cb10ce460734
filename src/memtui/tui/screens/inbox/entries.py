"""Drafts and todos as rows of the inbox, and the commands that decide about them."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from rich.text import Text

from memtui import actions
from memtui.base.errors import ConflictError, MemtuiError, UsageError
from memtui.base.phrasing import age, cut, many, share, some
from memtui.client import auto_memory
from memtui.review import approvals
from memtui.review import draft as drafting
from memtui.review.approvals import Approval
from memtui.review.draft import Choices, Draft
from memtui.review.waiting_entries import Waiting, best_first
from memtui.store import memory
from memtui.store.memory import Memory
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.subject import NOTHING
from memtui.tui.model import line_diff
from memtui.tui.model.data import Data
from memtui.tui.screens.frame import Described
from memtui.tui.screens.inbox.chosen import ENTRIES, RowCommands
from memtui.tui.screens.inbox.row import DRAFT, TODO, InboxRow, InboxView
from memtui.tui.screens.inbox.subjects import EntrySubject, Values
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
from memtui.views import colours, delivery_obstacles, drafts, safe_text
from memtui.views.memories import loader, scopes_explained

TODO_KEYS = (
    ("inbox.approve", "mark it done and remove it"),
    ("inbox.edit", "edit its text"),
    ("inbox.reject", "reject it"),
    ("inbox.later", "hide it until later; it stays, whatever the next session leaves"),
)


@dataclass(frozen=True, kw_only=True)
class EntryRow(InboxRow):
    item: Waiting

    @property
    def look(self) -> tuple[object, ...]:
        return self.key, self.until, self.item.entry.raw, self.is_taken, self.place

    @property
    def heading(self) -> str:
        of = f" · {self.memory_type} for" if self.kind is DRAFT else " ·"
        return f"{self.kind.word}{of} {self.place}"

    def signs(self, _view: "InboxView") -> Text:
        return Text("! " if self.is_taken else "", colours.WARNING)

    def when(self, view: "InboxView") -> str:
        return "" if (written := self.item.entry.time()) is None else age(written, view.now)

    @property
    def searched(self) -> str:
        name, kind = (self.item.entry.fields.get(field, "") for field in ("name", "kind"))
        return f"{self.kind.word} {name} {kind} {self.item.text[:2000]} {self.place}"

    def copied(self, _view: "InboxView") -> str:
        return self.item.text

    def look_up(self, view: "InboxView") -> Callable[[], object] | None:
        return None if self.key in view.evidence else view.finder(self.item)

    def forbid(self, data: "Data") -> None:
        """Let the draft never be extracted again."""
        data.review().never([self.item])

    def describe(self, view: "InboxView") -> Described:
        item, evidence = self.item, view.evidence.get(self.key)
        text = Text().append(self.unsaved(view), "yellow")
        states = drafts.states(view.data.settings(), item, view.now)
        if self.kind is TODO:
            view.needed = lines_of(Text(item.text), view.detail_width)
            text.append_text(item_text(item, evidence.title if evidence else "", states, view.now))
            append_keys(text, TODO_KEYS, read_only=view.without_keys)
            text.append(f"\n{safe_text.line(view.data.tilde(item.path))}\n", style="dim")
            return Described(text)
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


def rows_of(waiting: Sequence[Waiting], view: "InboxView", places: Mapping[str, str]) -> list[InboxRow]:
    """Return a row for each draft, best first, then for each todo. `places`: directories of scopes, by label."""
    entries = [*best_first(entry for entry in waiting if entry.kind == "updates")]
    entries += [entry for entry in waiting if entry.kind == "items"]
    return [entry_row(entry, view, is_taken=_has_name(entry, view.data.slug, places)) for entry in entries]


def _has_name(item: Waiting, slug: str, places: Mapping[str, str]) -> bool:
    """Return whether a memory has the name of a draft of this project or of all, by the directories of scopes."""
    fields, label = item.entry.fields, drafting.label_of(item)
    place = places.get(label, places.get("auto") if label == "project" else None)
    if item.kind != "updates" or item.slug not in {None, slug} or fields.get("replaces") or place is None:
        return False
    return os.path.exists(f"{place}/{fields.get('name') or memory.slugify(item.text.partition(chr(10))[0])}.md")


def entry_row(item: Waiting, view: "InboxView", *, is_taken: bool = False) -> EntryRow:
    kind = DRAFT if item.kind == "updates" else TODO
    project = (view.project_name(item) or view.data.facts.project) if item.slug is not None else ""
    is_global = not project or (kind is DRAFT and drafting.label_of(item) == "global")
    memory_type = item.entry.fields.get("type") or "feedback" if kind is DRAFT else ""
    return EntryRow(
        key=item.key, kind=kind, place="global" if is_global else f"project {project}", until=item.until(view.now),
        autosave=item.id, item=item, is_taken=is_taken, memory_type=memory_type, project=project,
        says=drafts.title(item, 300),
    )  # fmt: skip


class TodoCommands(RowCommands):
    def table(self) -> dict[str, Command]:
        return super().table() | {
            "approve": Command(self.done),
            "edit": Command(self.edit, first_of(self.screen.one_by_one, self.why_too_long)),
            "reject": Command(partial(self.reject_entries, for_good=False)),
        }

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


class DraftCommands(RowCommands):
    def table(self) -> dict[str, Command]:
        return super().table() | {
            "approve": Command(self.approve),
            "edit": Command(self.edit, first_of(self.screen.one_by_one, self.why_too_long)),
            "merge": Command(self.merge),
            "reject": Command(self.reject_entries),
        }

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
        if why_unheard := delivery_obstacles.keyed(data.unheard(labels)):
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
        store = self.services.data.store()
        after = approvals.merged(approvals.store_of(store, items), items, target).raw
        text = Text().append(safe_text.line(self.services.data.tilde(target.path)) + "\n", "dim")
        text.append_text(line_diff.drawn(target.raw, after, NAMES))
        if unsaved := self.unsaved(self.chosen.same_kind()):
            text.append(f"\n{unsaved}", "yellow")
        if await self.services.ask(Preview(f"{name} becomes", text, "write it")):
            sentence = f"Merged into {name}."
            self.chosen.act(lambda: approvals.merge_all(store, items, target), sentence)
            self.services.data.approved = target.path


def _who_gets(label: str, count: int, project: str, way: str) -> str:
    """Say who gets so many new memories, after a blank, in the words of `loader`, or shorter where all is as usual."""
    words = loader(label, count, project, way)
    if words and (label != "auto" or way == auto_memory.LOADED):
        where = f" in {project}" if project else ""
        words = f"The next session{where} gets {'it' if count == 1 else 'them'}"
    return f" {words}." if words else ""
