"""The commands of the Consolidate screen: accept, edit and reject proposals; each is one step of undo."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from functools import partial

from memtui import actions
from memtui.consolidate import applying, changeset, rejected
from memtui.consolidate.applying import Applied
from memtui.consolidate.changeset import ChangeSet, is_index
from memtui.core.base import clock
from memtui.core.base.phrasing import many
from memtui.core.redaction import redact
from memtui.present import changesets, safe_text, secret
from memtui.tui.batch import AT_ONCE, left_alone
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.changes import Changes, ChangesListed
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.preview import Preview
from memtui.tui.dialogs.unsaved import MINE, PROPOSED, ignored, which
from memtui.tui.model import autosave
from memtui.tui.model.autosave import Autosave
from memtui.tui.screens.consolidate import text
from memtui.tui.screens.consolidate.outcome_subject import OutcomeSubject, autosave_name
from memtui.tui.screens.consolidate.reading import ProposalRow, memories_of
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import Command, HowFar, Services, first_of

SECRET = (("", "Change nothing"), ("keep", "Keep it as it is, and go on"))

APPLIED = ChangesListed("Consolidated: what was made", changesets.NONE_APPLIED, applying.history)


class ConsolidateCommands:
    """The commands on the list of the screen. `decided` is called with the ids of the proposals that are done with."""

    def __init__(
        self, services: Services, screen: ListScreen[ProposalRow], decided: Callable[[Collection[str]], object]
    ) -> None:
        self.services, self.screen, self.decided = services, screen, decided

    def table(self) -> dict[str, Command]:
        """Return the commands by action id."""
        chosen = first_of(self._why_hidden, self.screen.no_row)
        one = first_of(chosen, self.screen.one_by_one)
        return {
            "consolidate.accept": Command(self.accept, chosen),
            "consolidate.edit": Command(self.edit, first_of(one, self._why_no_edit)),
            "consolidate.reject": Command(self.reject, chosen),
            "consolidate.safe": Command(self.accept_safe, self._why_none_safe),
            "consolidate.history": Command(self.history),
            "consolidate.follow": Command(self.follow, first_of(self.screen.no_row, self._why_no_memory)),
        }

    # why a command can't be run

    def _why_hidden(self) -> str:
        table = self.screen.table
        return "The filter hides the marked ones: escape shows them." if table.marks and not table.chosen() else ""

    def _why_no_edit(self) -> str:
        (row,) = self.screen.table.chosen()
        if row.why_not:
            return "It can't be made now: the detail says why."
        if len(row.proposal.written) != 1:
            return "It writes no single text. Accept or reject it."
        return OutcomeSubject.why_not(row.proposal)

    def _why_none_safe(self) -> str:
        return "" if self._safe() else "None of these is a fix that needs no decision."

    def _why_no_memory(self) -> str:
        row = self.screen.table.row
        if row is not None and all(is_index(each.path) for each in row.proposal.inputs):
            return "It is about MEMORY.md, which is no memory."
        return "" if row is not None and memories_of(row.proposal) else "It is about no memory that is there."

    def _safe(self) -> list[ProposalRow]:
        return [row for row in self.screen.table.rows if row.safe and not row.why_not]

    # accept

    async def accept(self) -> None:
        """Make the chosen changes. Several, or one that is not on the screen to its end, are shown first."""
        rows = self.screen.table.chosen()
        able = [row for row in rows if not row.why_not]
        if not able:
            refused = rows[0].weighed.refused if rows[0].weighed is not None and not rows[0].stale else None
            if refused is not None:
                raise refused.error
            self.services.warn(actions.keyed("A file has changed since this was planned. {app.refresh} plans again."))
            return
        if len(rows) == 1 and (kept := self._kept(rows[0])) is not None:
            answer = await self.services.ask(which(kept, self.services.data.now()))
            if answer == MINE:
                await self.edit()
            if answer != PROPOSED:
                return
        alone = len(rows) == 1 and rows[0] is self.screen.table.row and rows[0].weighed is not None
        if alone and self.screen.detail_seen:
            await self._make(able)
            return
        await self._show_and_make(able, many(len(able), "change"), len(rows) - len(able))

    def _kept(self, row: ProposalRow) -> Autosave | None:
        return autosave.kept(self.services.data.root, autosave_name(row.proposal))

    async def accept_safe(self) -> None:
        """Show all listed fixes that need no decision, and make them."""
        rows = self._safe()
        await self._show_and_make(rows, many(len(rows), "safe fix", "safe fixes"))

    async def _show_and_make(self, rows: Sequence[ProposalRow], what: str, left: int = 0) -> None:
        shown = text.previewed(list(rows))
        if left:
            shown.append(f"! {many(left, 'more is', 'more are')} marked that can't be made now.\n", style="yellow")
        if len(rows) > 1 and (kept := sum(self._kept(row) is not None for row in rows)):
            shown.append(f"! {ignored(kept, 'consolidate.edit')}\n", style="yellow")
        if await self.services.ask(Preview(f"{what}: this will be written", shown, f"make {what}")):
            await self._make(rows)

    async def _may_keep_secrets(self, rows: Sequence[ProposalRow]) -> bool:
        """Return whether there is no secret that no file had before, or the person wants to keep it."""
        diffs = [each for row in rows if row.weighed is not None for each in row.weighed.diffs]
        before, after = (
            "\n".join((getattr(each, key) or b"").decode("utf-8", "replace") for each in diffs)
            for key in ("before", "after")
        )
        kinds = redact.kinds_in(after, before)
        answer = await self.services.ask(Choice(secret.question(kinds), SECRET)) if kinds else "keep"
        return answer == "keep"

    async def _make(self, rows: Sequence[ProposalRow]) -> None:
        """Make changes as one step of undo, and say so; show those that could not be made, and why."""
        if not await self._may_keep_secrets(rows):
            return
        found = [row.proposal for row in rows]
        now = clock.iso(self.services.data.now())
        changes = ChangeSet(now, "tui", tuple(each if each.accepted else each.decided("accepted") for each in found))
        store = self.services.data.store()
        work = partial(applying.apply, store, changes)
        try:
            applied = await self._in_thread(work, len(found)) if len(found) > AT_ONCE else work()
        finally:
            self.services.read()
        await self._report(applied)

    async def _in_thread(self, work: Callable[[], Applied], count: int) -> Applied:
        self.services.at_work = True
        self.screen.post_message(HowFar(f"making {many(count, 'change')} …"))
        try:
            return await asyncio.to_thread(work)
        finally:
            self.services.at_work = False

    async def _report(self, applied: Applied) -> None:
        if applied.made:
            self.screen.table.clear_marks()
            self.decided({each.id for each in applied.made})
            self.services.say(f"{changesets.done(applied.made)} {actions.takes_back()}")
        if len(applied.refused) == 1 and not applied.made:
            raise applied.refused[0].error
        if applied.refused:
            reasons = [(changeset.title(each.proposal), each.error.message) for each in applied.refused]
            await self.services.ask(
                left_alone(f"{many(len(reasons), 'change was', 'changes were')} not made:", reasons)
            )

    # edit

    async def edit(self) -> None:
        """Edit the outcome of the change under the cursor, beside the texts that it is made of; saving makes it."""
        (row,) = self.screen.table.chosen()
        made: list[Applied] = []
        subject = OutcomeSubject(self.services.data, row.proposal, made.append)
        await self.services.ask(DraftForm(subject, self.services))
        self.screen.fill()
        self.screen.table.redraw()
        if made:
            self.services.read()
            await self._report(made[0])

    # reject

    def reject(self) -> None:
        """Drop the chosen proposals for good."""
        rows = self.screen.table.chosen()
        found = [row.proposal for row in rows]
        store = self.services.data.store()
        try:
            rejected.reject(store, found, f"reject {changesets.named(found)}")
        finally:
            self.services.read()
        self.screen.table.clear_marks()
        self.decided({each.id for each in found})
        self.services.say(f"{changesets.rejected(found)} {actions.takes_back()}")

    # what was made

    async def history(self) -> None:
        """List the ChangeSets that were applied; any of them can be undone there."""
        await self.services.ask(Changes(self.services, APPLIED))

    # to the memory

    async def follow(self) -> None:
        """Go to the memory that the change under the cursor is about; of several, ask which."""
        row = self.screen.table.row
        paths = memories_of(row.proposal) if row is not None else []
        path: str | None = paths[0]
        if len(paths) > 1:
            tilde = self.services.data.tilde
            rows = [(each, safe_text.line(tilde(each))) for each in paths]
            path = await self.services.ask(Choice("Go to which memory?", rows))
        if path:
            self.services.go_to_memory(path)
