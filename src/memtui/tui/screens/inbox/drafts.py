"""Drafts in the inbox: what each would become and why, their form, and the commands that approve, merge and reject."""

from collections.abc import Sequence

from rich.text import Text

from memtui import keymap
from memtui.base.errors import ConflictError, MemtuiError
from memtui.base.phrasing import cut, many, share, some
from memtui.client import applied_settings
from memtui.review import approvals
from memtui.review.approvals import Approval, Choices, Draft
from memtui.review.evidence import Evidence
from memtui.review.waiting_entries import Waiting
from memtui.store import memory
from memtui.store.memory import Memory
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.screens.frame import Described
from memtui.tui.screens.inbox.chosen import ENTRIES, REJECT, RowCommands
from memtui.tui.screens.inbox.entries import DRAFT_LENGTH, EntrySubject, Values, lines_of, shown_of_each
from memtui.tui.widgets import prose
from memtui.tui.widgets.prose import draw
from memtui.views import drafts, notes, safe_text
from memtui.views.decisions import EntryRow
from memtui.views.memories import loader, scopes_explained
from memtui.views.parts import heading

ALIKE_LENGTH = 2000  # characters of a memory that are compared word by word
UNDERLINED = "underlined is what only one of them says"
RENAME = "{inbox.merge} merges into it, {inbox.edit} gives another name"
LEFT_OUT = f"! not written, as a memory of this name is there already; in the list {RENAME}"
# Columns for the name of a memory before its description; the most characters of one in a note.
LONGEST_NAME, NAME_SHOWN = 32, 30


class DraftCommands(RowCommands[EntryRow]):
    def why_not(self, verb: str) -> str:
        return self.why_too_long() if verb == "edit" else ""

    # the detail

    def describe(self, row: EntryRow) -> Described:
        """Return what it would become, and why; that it was edited and not saved comes first."""
        view, item, evidence = self.view, row.item, self.view.evidence.get(row.key)
        states, proposed = drafts.states(view.data.settings(), item, view.now), view.draft(item)
        is_taken = isinstance(proposed, Draft) and proposed.taken
        if isinstance(proposed, Draft) and is_taken:
            states = [*states, f"{view.home(proposed)} has a {proposed.name} already: {keymap.keyed(RENAME)}"]
        text = draw([self.own_text(row)]).append_text(_whole(item, proposed, evidence))
        view.needed = lines_of(text, view.detail_width)
        text.rstrip()
        text.append("\n").append_text(draw(drafts.warnings(states, evidence, view.now)))
        glance, facts = text.copy(), self._facts(item, proposed, evidence)
        for who, words in drafts.quoted(item):
            if who == "you":
                glance.append(f"› {who:<6}", style="bold").append(drafts.indented(words))
        text.append_text(draw(drafts.conversation(item, evidence))).append("\n").append_text(facts)
        glance.append_text(facts)
        if isinstance(proposed, Draft) and not is_taken:
            for part in (text, glance):
                part.append(f"\nbecomes {safe_text.line(view.data.tilde(proposed.path))}", style="dim")
        return self.with_keys(text, [("inbox.reject", keymap.keyed(REJECT))])._replace(glance=glance)

    def _facts(self, item: Waiting, draft: Draft | MemtuiError, evidence: Evidence | None) -> Text:
        """Return where a draft comes from, what it changes, and the memories that are similar."""
        text = draw(drafts.facts(item, evidence, self.view.now))
        if isinstance(draft, MemtuiError):
            return text
        if draft.replaced is not None:
            text.append(*heading("what it changes in the memory that is there"))
            text.append_text(prose.difference(draft.replaced.raw, draft.data))
        similars = evidence.similar[: drafts.SIMILAR_SHOWN] if evidence is not None else ()
        if similars:
            text.append(*heading(f"similar · {keymap.key_of('inbox.merge')} merges"))
        for at, similar in enumerate(similars):
            text.append(f"{share(similar.score)} {self.view.named(similar.memory, item)}", style="bold")
            if at:
                text.append(f"  {safe_text.line(similar.memory.description)}\n")
            else:
                theirs, is_marked = _marked(_content(draft.memory), similar.memory)
                text.append(f"  {UNDERLINED}\n" if is_marked else "\n", style="dim").append_text(theirs).append("\n")
        return text

    # approving

    async def approve(self) -> None:
        """Approve the chosen drafts. Several of them, or one that is not fully on the screen, are shown first."""
        is_seen, view = self.chosen.is_seen(), self.view
        if await self.goes_on_with_own(self.edit):
            return
        outcomes = [view.draft(item) if is_seen else view.propose(item) for item in self.items]
        errors = [outcome for outcome in outcomes if isinstance(outcome, MemtuiError)]
        proposed = [outcome for outcome in outcomes if isinstance(outcome, Draft)]
        if not proposed:
            raise errors[0]
        if len(outcomes) == 1 and proposed[0].taken:
            message = f"Not approved: {view.home(proposed[0])} has a memory called {proposed[0].name} already."
            raise ConflictError(message, keymap.keyed(f"{RENAME}."))
        if is_seen:
            self._write(proposed)
            return
        text, limit = Text(), shown_of_each(len(proposed))
        for draft in proposed:
            text.append_text(_written(draft, view.home(draft), limit)).append("\n")
        if errors:
            text.append(f"! {len(errors)} can't be approved: {safe_text.line(errors[0].message)}\n", style="yellow")
        text.append(self.unsaved(), "yellow")
        free = [draft for draft in proposed if not draft.taken]
        title = f"Approve {many(len(free), 'draft')}: this will be written" if free else "This can't be approved"
        if await self.chosen.agrees(title, text, f"write {many(len(free), 'memory', 'memories')}" if free else ""):
            self._write(free)

    def _write(self, proposed: Sequence[Draft]) -> None:
        """Write the drafts, and say so. Raises the error of the first draft that could not be written."""
        outcomes = approvals.approve_all(proposed[0].store.journal, proposed)
        memories = [approval.memory for approval in outcomes if approval.memory is not None]
        if memories:
            self.services.data.approved = memories[0].path
            words = cut(memories[0].stem, NAME_SHOWN) if len(memories) == 1 else f"{len(memories)} memories"
            self.services.say(f"Approved: {words}.{self._when_loaded(outcomes)} {keymap.takes_back()}")
            self.chosen.take_off([approval.item.key for approval in outcomes if approval.error is not None])
        self.services.read(ENTRIES)
        for draft, approval in zip(proposed, outcomes, strict=True):
            if approval.error is not None:
                raise type(approval.error)(f"{draft.name}: {approval.error.message}", approval.error.hint)

    def _when_loaded(self, outcomes: Sequence[Approval]) -> str:
        """Say, after a blank, from when on sessions get what was written, where that is the same for all of it."""
        data = self.services.data
        approved = [(approval.item, approval.memory) for approval in outcomes if approval.memory is not None]
        labels = {memory.scope_label for _, memory in approved}
        places = {self.view.project_name(item) for item, _ in approved}
        ways = {data.way_of(memory) for _, memory in approved}
        if why_unheard := notes.keyed(data.unheard(labels)):
            return f" No session gets it yet: {why_unheard}."
        if not len(labels) == len(places) == len(ways) == 1:
            return ""
        label, project, way, count = min(labels), min(places), min(ways), len(approved)
        words = loader(label, count, project, way)
        if words and (label != "auto" or way == applied_settings.LOADED):  # all is as usual: in short words
            where = f" in {project}" if project else ""
            words = f"The next session{where} gets {'it' if count == 1 else 'them'}"
        return f" {words}." if words else ""

    def reject(self) -> None:
        items, review = self.items, self.services.data.review()
        self.reject_with(lambda: review.reject(items), ENTRIES)

    # the form

    async def edit(self) -> None:
        item, data = self.items[0], self.services.data
        store = (approvals.home_store(data.store(), item) if item.slug else None) or data.store()
        places = [scope for scope in store.scopes() if scope.writable and not scope.problem]
        subject = EntrySubject(
            data,
            item,
            self._values,
            title="Edit and approve the draft",
            verb="approve",
            check=self._check,
            save=lambda item, values: self._write([self._proposed(item, values)]),
            scopes=scopes_explained(places, self.view.project_name(item) or data.facts.project),
        )
        await self.services.ask(DraftForm(subject, self.services))
        self.screen.fill()

    def _values(self, item: Waiting) -> dict[str, str]:
        first, _, rest = item.text.partition("\n")
        fields, proposed = item.entry.fields, self.view.draft(item)
        return {
            "name": fields.get("name") or memory.slugify(first),
            "type": fields.get("type") or "feedback",
            "scope": proposed.scope.label if isinstance(proposed, Draft) else approvals.label_of(item),
            "description": fields.get("description") or first.strip(),
            "body": fields.get("body") or rest.strip("\n") or first.strip(),
            **({"trigger": request} if (request := fields.get("request")) else {}),
        }

    def _proposed(self, item: Waiting, values: Values) -> Draft:
        proposed = self.view.propose(item, Choices(**values))
        if isinstance(proposed, MemtuiError):
            raise proposed
        if proposed.taken:
            raise ConflictError(f"{self.view.home(proposed)} has a {proposed.name} already.", "Give another name.")
        return proposed

    def _check(self, item: Waiting, values: Values) -> str:
        proposed = self._proposed(item, values)
        return f"{proposed.name}.md in {self.view.home(proposed)}"

    # merging

    async def merge(self) -> None:
        """Ask for the memory to merge into, the most similar first; then show what it becomes, and write it."""
        items, row, view = self.items, self.screen.table.row, self.view
        if await self.goes_on_with_own(self.edit):
            return
        first = next((item for item in items if row is not None and item is row.item), items[0])
        several = len({item.slug for item in items if item.slug}) > 1
        proposed, evidence = view.draft(first), view.evidence.get(first.key)
        similars = view.similar(first) if evidence is None else evidence.similar
        ranks = {similar.memory.path: share(similar.score) for similar in similars}
        near = [similar.memory for similar in similars]
        near += [mem for mem in view.near(first) if mem.path not in ranks and mem.broken is None]
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
        names = {mem.path: view.named(mem, first) for mem in able}
        wide, longest = 5 if ranks else 0, min(LONGEST_NAME, max(map(len, names.values())))
        options = [
            (path, f"{ranks.get(path, ''):<{wide}}{names[path]:<{longest}}  {safe_text.line(mem.description, 100)}")
            for path, mem in by_path.items()
        ]
        project_name = view.project_name(first)
        question = f"Merge {many(len(items), 'draft') if len(items) > 1 else 'the draft'} into"
        question += f" a memory of {project_name}, or of all projects" if project_name else ""
        words = " ".join(first.text.split("\n")).strip()
        choice = Choice(
            question, options, about=lambda path: _compared(words, by_path[path], names[path]), below=hidden
        )
        if path := await self.services.ask(choice):
            await self._merge_into(items, by_path[path], names[path])

    async def _merge_into(self, items: Sequence[Waiting], target: Memory, name: str) -> None:
        """Show what a memory becomes with these drafts in it, and write it."""
        store = approvals.store_of(self.services.data.store(), items)
        after = approvals.merged(store, items, target).raw
        text = Text().append(safe_text.line(self.services.data.tilde(target.path)) + "\n", "dim")
        text.append_text(prose.difference(target.raw, after))
        if unsaved := self.unsaved():
            text.append(f"\n{unsaved}", "yellow")
        if await self.services.ask(Preview(f"{name} becomes", text, "write it")):
            self.chosen.act(lambda: approvals.merge(store, items, target), f"Merged into {name}.")
            self.services.data.approved = target.path


def _whole(item: Waiting, draft: Draft | MemtuiError, evidence: Evidence | None) -> Text:
    text = Text()
    if isinstance(draft, MemtuiError):
        text.append(safe_text.line(item.entry.fields.get("name", "")) + "\n", style="bold")
        text.append(f"! {safe_text.line(draft.message)} {safe_text.line(draft.hint)}\n", style="yellow")
        return prose.cut(text, item.text, item.path)
    words = _content(draft.memory)
    if not (evidence and evidence.similar) or len(words) > DRAFT_LENGTH:
        return prose.cut(text, words, item.path, head=0).append("\n")
    own = prose.render(words)
    _marked(own, evidence.similar[0].memory)
    return own.append("\n\n")


def _content(memory: Memory) -> str:
    body = memory.body.strip()
    return body if body == memory.description.strip() else f"{memory.description}\n\n{body}".strip()


def _marked(draft: Text | str, memory: Memory) -> tuple[Text, bool]:
    """Underline the words that only one of both has, if few. Return the memory, and whether any are."""
    draft = prose.render(draft[:DRAFT_LENGTH]) if isinstance(draft, str) else draft
    whole = _content(memory)
    theirs = prose.render(whole[:ALIKE_LENGTH]).append("…" if len(whole) > ALIKE_LENGTH else "")
    return theirs, prose.underline(draft, theirs, "underline green")


def _compared(draft: str, memory: Memory, name: str) -> Text:
    """Return a memory that a draft might be merged into, the words that the draft does not have underlined if few."""
    theirs, is_marked = _marked(draft, memory)
    marks = f"   {UNDERLINED}" if is_marked else ""
    text = Text().append(name, style="bold")
    return text.append(f"  {safe_text.line(memory.type)}{marks}\n\n", style="dim").append_text(theirs)


def _written(draft: Draft, home: str, limit: int) -> Text:
    """Return what approving a draft writes into its scope, `home`: its file, up to `limit` characters, and its line."""
    text = Text()
    text.append(f"{safe_text.line(home)}: {safe_text.line(draft.name)}\n", style="bold")
    text.append(safe_text.line(draft.path) + "\n", style="dim")
    text.append(f"{keymap.keyed(LEFT_OUT)}\n" if draft.taken else "", style="yellow")
    content, body = draft.data.decode("utf-8", "replace").rstrip("\n"), draft.memory.body.strip("\n")
    head = max(0, content.rfind(body)) if body else len(content)
    prose.cut(text, content, draft.item.path, limit=limit, before="  │ ", head=head)
    if draft.index_lines:
        text.append("and in MEMORY.md\n", style="dim")
    for line in draft.index_lines:
        text.append("  │ ", style="dim").append(safe_text.line(line) + "\n")
    return text
