"""Merges, fixes and removals as rows of the inbox, and the commands that make or reject them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from rich.text import Text

from memtui.base.phrasing import many
from memtui.redact import redact
from memtui.store.plan import is_index
from memtui.tidy import changeset, composed_files, waiting_proposals
from memtui.tidy.changeset import Proposal
from memtui.tidy.composed_files import Applied
from memtui.tui.batch import left_alone
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.model.data import Data
from memtui.tui.screens.frame import Described
from memtui.tui.screens.inbox import change_text
from memtui.tui.screens.inbox.change_text import ChangeFacts
from memtui.tui.screens.inbox.chosen import MEMORIES, RowCommands
from memtui.tui.screens.inbox.row import FIX, MERGE, RULE, SAFE_FIX, WHOLE, InboxRow, InboxView, counted
from memtui.tui.screens.inbox.subjects import OutcomeSubject
from memtui.tui.services import Command, first_of
from memtui.tui.widgets.body import fits
from memtui.views import changesets, colours, query, secret

SECRET = (("", "Change nothing"), ("keep", "Keep it as it is, and go on"))
DROPS, BLOCKED = ("!", colours.WARNING), ("✗", colours.PROBLEM)
MARKS = (
    (DROPS[0], "it drops a statement, or a memory that nothing replaces; a draft: its name is taken"),
    (BLOCKED[0], "it can't be made now: the detail says why"),
)


@dataclass(frozen=True, kw_only=True)
class ProposedRow(InboxRow):
    facts: ChangeFacts

    @classmethod
    def of(cls, facts: ChangeFacts) -> "ProposedRow":
        """Make the row of a change; planned again, it is the same row."""
        proposal, kind = facts.proposal, {"merge": MERGE, "rule": RULE, "fix": FIX}[facts.proposal.word]
        if kind is FIX and facts.weighed is not None and facts.weighed.safe:
            kind = SAFE_FIX
        return cls(
            key=proposal.ref,
            kind=kind,
            says=changesets.without_scope(changesets.gist(proposal), changesets.scope_of(proposal), facts.place),
            place=facts.place,
            later_key=proposal.later_key,
            autosave=f"proposal-{proposal.id}",
            facts=facts,
            state="" if kind in (MERGE, RULE) else query.PROBLEM,
            cause=f"fix {proposal.evidence[0].code}" if proposal.evidence and kind is not MERGE else "",
        )

    @property
    def proposal(self) -> Proposal:
        return self.facts.proposal

    @property
    def needs_look(self) -> str:
        is_safe = self.facts.weighed is not None and self.facts.weighed.safe
        return super().needs_look if is_safe else "it is no safe fix"

    def signs(self, _view: InboxView) -> Text:
        sign, style = BLOCKED if self.facts.refused else DROPS if self.facts.drops else ("", "")
        return Text(f"{sign} ", style) if sign else Text()

    @property
    def searched(self) -> str:
        return f"{super().searched} {self.proposal.kind} {changesets.about(self.proposal)}"

    def forbid(self, data: Data) -> None:
        """Let it never be proposed again, however its memories change."""
        waiting_proposals.reject(data.store(), [self.proposal], never=True)

    def describe(self, view: InboxView) -> Described:
        view.needed = WHOLE
        return Described(change_text.detail(self.facts, self.unsaved(view), read_only=view.without_keys))


class ChangeCommands(RowCommands):
    def table(self) -> dict[str, Command]:
        return super().table() | {
            "approve": Command(self.approve),
            "edit": Command(self.edit, first_of(self.screen.one_by_one, self._why_no_edit)),
            "reject": Command(self.reject_changes),
            "follow": Command(
                lambda: self.go_to([file.path for file in self._rows()[0].facts.proposal.memories]), self._why_no_memory
            ),
        }

    def _rows(self) -> list[ProposedRow]:
        return self.chosen.rows(ProposedRow)

    def _why_no_edit(self) -> str:
        facts = self._rows()[0].facts
        if facts.refused is not None:
            return "It can't be made now: the detail says why."
        if len(facts.proposal.written) != 1:
            return "It writes no single text. Approve or reject it."
        raw = (facts.proposal.written[0].after or b"").decode("utf-8", "surrogateescape")
        return "" if fits(raw) else "It is too long to be changed here."

    def _why_no_memory(self) -> str:
        facts = self._rows()[0].facts
        if all(is_index(file.path) for file in facts.proposal.files):
            return "It is about MEMORY.md, which is no memory."
        return "" if facts.proposal.memories else "It is about no memory that is there."

    async def approve(self) -> None:
        """Make the chosen changes. Several, or one that is not on the screen to its end, are shown first."""
        rows = self._rows()
        able = [row for row in rows if row.facts.refused is None]
        if rows[0].facts.refused is not None and not able:
            raise rows[0].facts.refused.error
        if await self.goes_on_with_own(rows, self.edit):
            return
        is_seen = self.chosen.is_seen() and rows[0].facts.weighed is not None
        if is_seen or await self._agrees(able, len(rows) - len(able)):
            await self._make(able)

    async def _agrees(self, rows: Sequence[ProposedRow], unable: int) -> bool:
        text = change_text.previewed([row.facts for row in rows])
        if unable:
            text.append(f"! {many(unable, 'more is', 'more are')} marked that can't be made now.\n", style="yellow")
        text.append(self.unsaved(rows), "yellow")
        what = counted(rows)
        return await self.chosen.agrees(f"{what}: this will be written", text, f"approve {what}")

    async def _may_keep_secrets(self, rows: Sequence[ProposedRow]) -> bool:
        """Return whether there is no secret that no file had before, or the person wants to keep it."""
        diffs = [diff for row in rows if row.facts.weighed for diff in row.facts.weighed.diffs]
        before, after = (
            "\n".join((getattr(diff, key) or b"").decode("utf-8", "replace") for diff in diffs)
            for key in ("before", "after")
        )
        kinds = redact.kinds_in(after, before)
        answer = await self.services.ask(Choice(secret.question(kinds), SECRET)) if kinds else "keep"
        return answer == "keep"

    async def _make(self, rows: Sequence[ProposedRow]) -> None:
        """Make changes as one step of undo, and say so; show those that could not be made, and why."""
        if not await self._may_keep_secrets(rows):
            return
        try:
            work = partial(composed_files.apply, self.services.data.store(), [row.proposal for row in rows])
            applied = await self.services.progress.run(work, len(rows))
        finally:
            self.services.read(MEMORIES)
        await self._report(applied)

    async def _report(self, applied: Applied) -> None:
        if applied.made:
            self.chosen.take_off([refusal.proposal.ref for refusal in applied.refused])
            self.chosen.say(changesets.done(applied.made))
        if len(applied.refused) == 1 and not applied.made:
            raise applied.refused[0].error
        if applied.refused:
            reasons = [(changeset.title(refusal.proposal), refusal.error.message) for refusal in applied.refused]
            title = f"{many(len(reasons), 'change was', 'changes were')} not made:"
            await self.services.ask(left_alone(title, reasons))

    async def edit(self) -> None:
        """Edit the outcome of a change, beside the texts that it is made of; saving makes it."""
        (row,) = self._rows()
        applieds: list[Applied] = []
        subject = OutcomeSubject(self.services.data, row.facts, row.autosave, applieds.append)
        await self.services.ask(DraftForm(subject, self.services))
        self.screen.fill()
        if applieds:
            self.services.read(MEMORIES)
            await self._report(applieds[0])

    def reject_changes(self) -> None:
        """Reject the chosen changes: they are not proposed again while their memories stay as they are."""
        proposals, store = [row.proposal for row in self._rows()], self.services.data.store()
        self.reject(lambda: waiting_proposals.reject(store, proposals), MEMORIES)
