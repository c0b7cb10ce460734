"""Turn drafts of the inbox into memories: what is not on the screen is shown first; undo takes back each approval."""

from collections.abc import Sequence

from rich.text import Text

from memtui import actions
from memtui.core.base.errors import ConflictError, MemtuiError
from memtui.core.base.phrasing import cut, many, some
from memtui.core.memories import memory
from memtui.core.memories.memory import Memory
from memtui.core.places import loading
from memtui.core.review import approve, merge
from memtui.core.review.draft import Choices, Draft
from memtui.core.review.waiting import Waiting
from memtui.present import safe_text, unheard
from memtui.present.memories import loader, scopes_explained
from memtui.tui.dialogs.ask import MINE, PROPOSED, Choice, ignored, which
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.model import autosave
from memtui.tui.screens.inbox.chosen import ENTRIES, Chosen
from memtui.tui.screens.inbox.entry_subject import EntrySubject, Values
from memtui.tui.screens.inbox.proposals import Proposals
from memtui.tui.screens.inbox.text import compared, merged_text, score, shown_of_each, written_text

# Columns for the name of a memory before its description.
LONGEST_NAME = 32
# The most cells of a scope's name, before what it is.
SCOPE_NAME = 28
# The most characters of a memory's name in a note.
NAME_SHOWN = 30


def _who_gets(label: str, count: int, project: str, way: str) -> str:
    """Say who gets so many new memories, after a blank, in the words of `loader`, or shorter where all is as usual."""
    words = loader(label, count, project, way)
    if words and (label != "auto" or way == loading.LOADED):
        where = f" in {project}" if project else ""
        words = f"The next session{where} gets {'it' if count == 1 else 'them'}"
    return f" {words}." if words else ""


class ApproveCommands:
    """The commands that approve drafts: as proposed, rewritten, or merged into a memory."""

    def __init__(self, chosen: Chosen, proposals: Proposals) -> None:
        self.services, self.screen, self.chosen, self.proposals = chosen.services, chosen.screen, chosen, proposals

    async def approve(self) -> None:
        """Approve the chosen drafts. Several of them, or one that is not fully on the screen, are shown first."""
        items = self.chosen.items()
        root = self.services.data.root
        unsaved = [kept for item in items if (kept := autosave.kept(root, item.id)) is not None]
        if not await self._takes_proposed(items):
            return
        is_seen = self.chosen.is_seen()
        found = [self.proposals.draft(each) if is_seen else self.proposals.propose(each) for each in items]
        errors = [each for each in found if isinstance(each, MemtuiError)]
        drafts = [each for each in found if isinstance(each, Draft)]
        if not drafts:
            raise errors[0]
        if is_seen and not drafts[0].taken:
            self._write(drafts)
            return
        if len(found) == 1 and drafts[0].taken:
            await self._approve_taken(drafts[0])
            return
        text = Text()
        for each in drafts:
            text.append(written_text(each, shown_of_each(len(drafts))))
            text.append("\n")
        if errors:
            text.append(f"! {len(errors)} can't be accepted: {safe_text.line(errors[0].message)}\n", style="yellow")
        if len(items) > 1 and unsaved:
            text.append(f"! {ignored(len(unsaved), 'inbox.edit')}\n", style="yellow")
        note = self.chosen.still_marked()[1].strip()
        text.append(f"! {note}\n" if note else "", style="yellow")
        free = [each for each in drafts if not each.taken]
        yes = f"write {many(len(free), 'memory', 'memories')}" if free else ""
        title = f"Accept {many(len(free), 'draft')}: this will be written" if free else "This can't be accepted"
        if await self.services.ask(Preview(title, text, yes)):
            self._write(free)

    async def _takes_proposed(self, items: Sequence[Waiting]) -> bool:
        """Ask which text is meant of one draft that was edited and not saved, and go on with the person's in the form.
        Return whether to go on with the text as it was proposed."""
        kept = autosave.kept(self.services.data.root, items[0].id) if len(items) == 1 else None
        if kept is None:
            return True
        answer = await self.services.ask(which(kept, self.services.data.now()))
        if answer == MINE:
            await self.rewrite(items[0])
        return answer == PROPOSED

    async def _approve_taken(self, draft: Draft) -> None:
        """Ask what becomes of a draft whose name another memory has: merge it into that one, or rename it."""
        item, there = draft.item, next((e for e in self.proposals.near(draft.item) if e.path == draft.path), None)
        ways = [("name", "Give the draft another name, then accept it")]
        store = merge.store_of(self.services.data.store(), [item])
        if there is not None and merge.refusal(store, there) is None:
            ways.insert(0, ("merge", f"Merge the draft into {there.ref}; what it becomes is shown first"))
        question = f"{draft.scope.label} has a memory called {draft.name} already."
        words = " ".join(item.text.split("\n")).strip()
        about = compared(words, there) if there is not None else written_text(draft, shown_of_each(1))
        answer = await self.services.ask(Choice(question, ways, about=lambda _: about))
        if answer == "merge" and there is not None:
            await self._merge_into([item], there)
        elif answer == "name":
            await self.rewrite(item)

    def _write(self, drafts: Sequence[Draft]) -> None:
        """Write the drafts, and say so. Raises the error of the first draft that could not be written."""
        others, note = self.chosen.still_marked()
        outcomes = approve.approve_all(drafts[0].store.journal, drafts)
        written = [each.memory for each in outcomes if each.memory is not None]
        if written:
            self.chosen.unmark(others)
            self.services.data.approved = written[0].path
            words = cut(written[0].stem, NAME_SHOWN) if len(written) == 1 else f"{len(written)} memories"
            labels = {each.scope_label for each in written}
            why_unheard = unheard.keyed(self.services.data.unheard(labels))
            more = f" No session gets it yet: {why_unheard}." if why_unheard else ""
            places = {self.proposals.project_name(each.item) for each in outcomes if each.memory is not None}
            ways = {self.services.data.way_of(each) for each in written}
            same = len(labels) == len(places) == len(ways) == 1
            if same and not why_unheard:
                more = _who_gets(min(labels), len(written), min(places), min(ways))
            self.services.say(f"Accepted: {words}.{more}{note} {actions.takes_back()}")
        self.services.read(ENTRIES)
        for draft, each in zip(drafts, outcomes, strict=True):
            if each.error is not None:
                raise type(each.error)(f"{draft.name}: {each.error.message}", each.error.hint)

    async def rewrite(self, item: Waiting) -> None:
        """Rewrite a draft in a form, then approve it."""

        def draft(now: Waiting, values: Values) -> Draft:
            found = self.proposals.propose(now, Choices(**values))
            if isinstance(found, MemtuiError):
                raise found
            if found.taken:
                raise ConflictError(f"{found.scope.label} has a {found.name} already.", "Give another name.")
            return found

        subject = EntrySubject(
            self.services.data,
            item,
            self._values,
            title=f"Edit and accept: {safe_text.line(item.text.partition(chr(10))[0], 60)}",
            verb="accept",
            check=lambda now, values: f"writes {draft(now, values).path}",
            save=lambda now, values: self._write([draft(now, values)]),
            scopes=self._explained([item]),
        )
        await self.services.ask(DraftForm(subject, self.services))
        self.screen.fill()
        self.screen.table.redraw()

    def _explained(self, items: Sequence[Waiting]) -> list[tuple[str, str]]:
        """Return the scopes that drafts may be approved to, each with what it is."""
        data, several = self.services.data, len({item.slug for item in items if item.slug}) > 1
        project = "" if several else next(filter(None, map(self.proposals.project_name, items)), "")
        return scopes_explained(self.proposals.places(items), project or data.facts.project, SCOPE_NAME, data.tilde)

    def _values(self, item: Waiting) -> dict[str, str]:
        """Return what the form of a draft shows."""
        first, _, rest = item.text.partition("\n")
        proposed = self.proposals.proposed
        return {
            "name": proposed(item, "name") or memory.slugify(first),
            "type": proposed(item, "type") or "feedback",
            "scope": proposed(item, "scope"),
            "description": proposed(item, "description") or first.strip(),
            "body": proposed(item, "body") or rest.strip("\n") or first.strip(),
            **({"trigger": request} if (request := item.entry.fields.get("request")) else {}),
        }

    async def merge(self) -> None:
        """Ask for the memory to merge into, the most similar first; then show what it becomes, and write it."""
        items = self.chosen.items()
        if not await self._takes_proposed(items):
            return
        under_cursor = self.chosen.under_cursor
        first = under_cursor if under_cursor is not None and under_cursor in items else items[0]
        several = len({item.slug for item in items if item.slug}) > 1
        every = [(each, rank) for each, rank in self._ranked(first) if not several or each.scope_label == "global"]
        store = merge.store_of(self.services.data.store(), items)
        able, untrusted = merge.mergeable(store, [each for each, _ in every])
        able_paths = {each.path for each in able}
        ranked = [(each, rank) for each, rank in every if each.path in able_paths]
        hidden = f"Not listed, as not trusted: {some([each.stem for each in untrusted])}." if untrusted else ""
        if not ranked:
            of = " of all projects, as these drafts are of several" if several else ""
            self.services.say(f"There is no memory{of} to merge into. {hidden}".strip())
            return
        by_path = {each.path: each for each, _ in ranked}
        wide = 5 if any(rank for _, rank in ranked) else 0
        longest = min(LONGEST_NAME, max(len(each.ref) for each, _ in ranked))
        rows = [
            (each.path, f"{rank:<{wide}}{each.ref:<{longest}}  {safe_text.line(each.description, 100)}")
            for each, rank in ranked
        ]
        project_name = self.proposals.project_name(first)
        question = f"Merge {many(len(items), 'draft')} into" if len(items) > 1 else "Merge into"
        question += f" a memory of {project_name}, or of all projects" if project_name else ""
        words = " ".join(first.text.split("\n")).strip()
        choice = Choice(question, rows, about=lambda path: compared(words, by_path[path]), below=hidden)
        path = await self.services.ask(choice)
        if not path:
            return
        await self._merge_into(items, by_path[path])

    async def _merge_into(self, items: Sequence[Waiting], target: Memory) -> None:
        """Show what a memory becomes with these drafts in it, and write it."""
        store = self.services.data.store()
        text = merged_text(target, merge.merged(merge.store_of(store, items), items, target).raw)
        unsaved = [item for item in items if autosave.kept(store.root, item.id) is not None]
        if len(items) > 1 and unsaved:
            text.append(f"\n! {ignored(len(unsaved), 'inbox.edit')}\n", style="yellow")
        if await self.services.ask(Preview(f"{target.ref} becomes", text, "write it", end=True)):
            done = f"Merged into {target.ref}."
            self.chosen.act(lambda: merge.merge_all(store, items, target), done)
            self.services.data.approved = target.path

    def _ranked(self, item: Waiting) -> list[tuple[Memory, str]]:
        """List the memories that a draft may be merged into: the similar ones with their scores, then the others."""
        known = self.proposals.evidence.get(item.key)
        ranked = [(each.memory, score(each)) for each in (known.similar if known else [])]
        paths = {each.path for each, _ in ranked}
        others = [each for each in self.proposals.near(item) if each.path not in paths and each.broken is None]
        return ranked + [(each, "") for each in others]
