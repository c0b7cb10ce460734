"""Turn drafts of the inbox into memories: what is not on the screen is shown first; undo takes back each approval."""

from collections.abc import Sequence

from rich.text import Text

from memtui import actions
from memtui.core.base.errors import ConflictError, MemtuiError
from memtui.core.base.phrasing import many
from memtui.core.memories import memory
from memtui.core.review import approve, merge
from memtui.core.review.draft import Choices, Draft
from memtui.core.review.waiting import Waiting
from memtui.present import safe_text, unheard
from memtui.present.memories import loader
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.preview import Preview
from memtui.tui.screens.inbox.chosen import Chosen
from memtui.tui.screens.inbox.entry_subject import EntrySubject, Values
from memtui.tui.screens.inbox.proposals import Proposals
from memtui.tui.screens.inbox.rows import InboxRow
from memtui.tui.screens.inbox.text import compared, merged_text, score, share, written_text
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import Services


class Approving:
    """The commands that approve drafts: as proposed, rewritten, with another type or scope, or merged into a memory."""

    def __init__(self, services: Services, screen: ListScreen[InboxRow], chosen: Chosen, proposals: Proposals) -> None:
        self.services, self.screen, self.chosen, self.proposals = services, screen, chosen, proposals

    async def approve(self) -> None:
        """Approve the chosen drafts. Several of them, or one that is not fully on the screen, are shown first."""
        found = [self.proposals.propose(each) for each in self.chosen.items("updates")]
        bad = [each for each in found if isinstance(each, MemtuiError)]
        good = [each for each in found if isinstance(each, Draft)]
        if not good:
            raise bad[0]
        alone = len(good) == len(found) == 1 and good[0].item is self.chosen.under
        if alone and self.screen.seen and not good[0].taken:
            self._tell(self._approve(good))
            return
        text = Text()
        for each in good:
            text.append(written_text(each, alone=False, limit=share(len(good))))
            text.append("\n")
        if bad:
            text.append(f"! {len(bad)} can't be approved: {safe_text.line(bad[0].message)}\n", style="yellow")
        aside = self.chosen.aside("updates")[1].strip()
        text.append(f"! {aside}\n" if aside else "", style="yellow")
        free = [each for each in good if not each.taken]
        go = f"write {many(len(free), 'memory', 'memories')}" if free else ""
        title = f"Approve {many(len(free), 'draft')}: this will be written" if free else "This can't be approved"
        if await self.services.ask(Preview(title, text, go)):
            self._tell(self._approve(free))

    def _tell(self, error: MemtuiError | None) -> None:
        if error is not None:
            self.services.fail(error)

    def _approve(self, drafts: Sequence[Draft]) -> MemtuiError | None:
        """Write the drafts, and say so. Return the error of the first draft that could not be written."""
        left, aside = self.chosen.aside("updates")
        outcomes = approve.approve_all(drafts[0].store.journal, drafts)
        done = [each.memory for each in outcomes if each.memory is not None]
        failed = [(draft, each.error) for draft, each in zip(drafts, outcomes, strict=True) if each.error is not None]
        if done:
            self.chosen.unmark(left)
            words = done[0].ref if len(done) == 1 else f"{len(done)} memories"
            labels = {each.scope_label for each in done}
            deaf = unheard.keyed(self.services.data.unheard(labels))
            more = f" No session is told yet: {deaf}." if deaf else ""
            if len(labels) == 1 and not deaf and loader(min(labels)):
                more = f" From the next session on {loader(min(labels))}."
            self.services.say(f"Approved: {words}.{more}{aside} {actions.takes_back()}")
        self.services.read()
        return next((type(error)(f"{draft.name}: {error.message}", error.hint) for draft, error in failed), None)

    async def rewrite(self, item: Waiting) -> None:
        """Rewrite a draft in a form, then approve it."""

        def draft(now: Waiting, values: Values) -> Draft:
            found = self.proposals.propose(now, Choices(**values))
            if isinstance(found, MemtuiError):
                raise found
            if found.taken:
                raise ConflictError(f"{found.scope.label} has a {found.name} already.", "Give another name.")
            return found

        def save(now: Waiting, values: Values) -> None:
            error = self._approve([draft(now, values)])
            if error is not None:
                raise error

        subject = EntrySubject(
            self.services.data,
            item,
            self._values,
            title=f"Approve, rewritten: {safe_text.line(item.text.partition(chr(10))[0], 60)}",
            verb="approve",
            check=lambda now, values: f"writes {draft(now, values).path}",
            save=save,
            scopes=[scope.label for scope in self.proposals.places([item])],
        )
        await self.services.ask(DraftForm(subject, self.services))

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
        }

    async def choose_type(self) -> None:
        """Choose another type for the chosen drafts."""
        await self._choose("type", "Type of the memory", [(kind, kind) for kind in memory.TYPES])

    async def choose_scope(self) -> None:
        """Choose another scope for the chosen drafts."""
        places = self.proposals.places(self.chosen.items("updates"))
        rows = [(scope.label, f"{scope.label}  {scope.directory}") for scope in places]
        await self._choose("scope", "Scope of the memory", rows)

    async def _choose(self, field: str, question: str, options: Sequence[tuple[str, str]]) -> None:
        items = self.chosen.items("updates")
        value = await self.services.ask(Choice(question, options, self.proposals.proposed(items[0], field)))
        if not value:
            return
        for item in items:
            self.proposals.choose(item, field, value)
        aside = self.chosen.aside("updates")[1].strip()
        if aside:
            self.services.say(aside)
        self.screen.table.redraw()
        self.screen.fill()

    async def merge(self) -> None:
        """Ask for the memory to merge into, the most similar first; then show what it becomes, and write it."""
        items = self.chosen.items("updates")
        under = self.chosen.under
        first = under if under is not None and under in items else items[0]
        known = self.proposals.evidence.get(first.key)
        ranked = [(each.memory, score(each)) for each in (known.similar if known else [])]
        paths = {found.path for found, _ in ranked}
        ranked += [(each, "") for each in self.proposals.near(first) if each.path not in paths and each.broken is None]
        several = len({item.slug for item in items if item.slug}) > 1
        if several:
            ranked = [(found, rank) for found, rank in ranked if found.scope_label == "global"]
        if not ranked:
            of = " of all projects, as these drafts are of several" if several else ""
            self.services.say(f"There is no memory{of} to merge into.")
            return
        found_at = {found.path: found for found, _ in ranked}
        rows = [
            (found.path, f"{rank:<3}  {found.ref}  {safe_text.line(found.description, 100)}") for found, rank in ranked
        ]
        whose = self.proposals.whose(first)
        question = f"Merge {many(len(items), 'draft')} into" if len(items) > 1 else "Merge into"
        question += f" a memory of {whose}, or of all projects" if whose else ""
        words = " ".join(first.text.split("\n")).strip()
        path = await self.services.ask(Choice(question, rows, about=lambda path: compared(words, found_at[path])))
        if not path:
            return
        found = found_at[path]
        text = merged_text(found, merge.merged(items, found).raw)
        if await self.services.ask(Preview(f"{found.ref} becomes", text, "write it", end=True)):
            store = self.services.data.store()
            done = f"Merged into {found.ref}."
            self.chosen.act(lambda: merge.merge_all(store, items, found), done, "updates")
