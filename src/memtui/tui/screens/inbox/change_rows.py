"""Merges, fixes and removals as rows of the inbox, and the commands that make or reject them."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from rich.text import Text

from memtui import actions
from memtui.consolidate import changeset, composing, proposed
from memtui.consolidate.changeset import Proposal, is_index
from memtui.consolidate.composing import Applied
from memtui.core.base.phrasing import many
from memtui.core.redaction import redact
from memtui.present import changesets, colours, safe_text, secret
from memtui.tui.batch import AT_ONCE, left_alone
from memtui.tui.dialogs.ask import MINE, PROPOSED, Choice, ignored, which
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.model import autosave
from memtui.tui.model.autosave import Autosave
from memtui.tui.screens.inbox import change_text
from memtui.tui.screens.inbox.change_text import ChangeFacts
from memtui.tui.screens.inbox.chosen import MEMORIES, Chosen
from memtui.tui.screens.inbox.hiding import HideCommands
from memtui.tui.screens.inbox.outcome_subject import OutcomeSubject, autosave_name
from memtui.tui.screens.inbox.row import WHOLE, InboxRow, InboxView, RowKind
from memtui.tui.screens.list_screen import Described
from memtui.tui.services import Command, HowFar, first_of

SECRET = (("", "Change nothing"), ("keep", "Keep it as it is, and go on"))
DROPS, BLOCKED = ("!", colours.WARNING), ("✗", colours.PROBLEM)
MARKS = (
    (DROPS[0], "it drops a statement, or a memory that nothing replaces"),
    (BLOCKED[0], "it can't be made now: the detail says why"),
)
VERBS = {"accept": "accept", "edit": "edit", "reject": "reject", "later": "later", "follow": "go to it"}
MERGE = RowKind("change", "merge", "merge", "merges", VERBS)
FIX = RowKind("change", "fix", "fix", "fixes", VERBS)
SAFE_FIX = RowKind("change", "safe fix", "safe fix", "safe fixes", VERBS)
RULE = RowKind("change", "rule", "rule", "rules", VERBS)


@dataclass(frozen=True)
class ProposedRow(InboxRow):
    """A change that is proposed. `key` is the same for what is proposed about the same files when it is planned
    again."""

    facts: ChangeFacts = field(kw_only=True)

    @property
    def proposal(self) -> Proposal:
        """The change."""
        return self.facts.proposal

    @property
    def id(self) -> str:
        """The id of the change."""
        return self.proposal.id

    @property
    def kind(self) -> RowKind:
        """Whether it merges memories, fixes one or an index, or makes a stronger form of one that was not followed."""
        if any(each.code == "memories.violated" for each in self.proposal.evidence):
            return RULE
        return MERGE if self.proposal.kind == "merge" else SAFE_FIX if self.facts.safe else FIX

    def with_facts(self, **facts: Any) -> "ProposedRow":
        """Return the row with some facts replaced."""
        return replace(self, facts=replace(self.facts, **facts))

    def needs_look(self) -> bool:
        """Whether a person has to decide about it."""
        return not self.facts.safe or super().needs_look()

    @property
    def gist(self) -> str:
        """The memories that become one; else why it is proposed, or what it does."""
        if self.kind is MERGE:
            return changesets.about(self.proposal)
        reasons, title = changesets.reasons(self.proposal), changeset.title(self.proposal)
        return reasons[0] if reasons else f"{title[:1].upper()}{title[1:]}"

    @property
    def look(self) -> tuple[object, ...]:
        """What decides how it is drawn, but for what weighing finds."""
        return self.key, self.until, self.id

    @property
    def later_key(self) -> str:
        """What tells it from all others while it is hidden."""
        return f"change:{self.id}"

    def where(self, _view: InboxView) -> str:
        """Return the scope that it is about."""
        return self.facts.place

    def extent(self, _view: InboxView) -> str:
        """Return by how many bytes files grow or shrink."""
        return changesets.resized(self.facts.weighed.savings) if self.facts.weighed is not None else "…"

    def signs(self, _view: InboxView) -> Text:
        """Return whether it drops something, or can't be made."""
        sign, style = BLOCKED if self.facts.why_not else DROPS if self.facts.drops else ("", "")
        return Text(f"{sign} ", style) if sign else Text()

    def autosave_name(self) -> str:
        """Return the name under which unsaved text of its outcome is kept."""
        return autosave_name(self.proposal)

    def searched(self, view: InboxView) -> str:
        """Return the text that the filter searches."""
        return f"{super().searched(view)} {self.proposal.kind} {changesets.about(self.proposal)}"

    def describe(self, view: InboxView) -> Described:
        """Return why it is proposed, what is lost, and what changes."""
        data, unsaved = view.services.data, ""
        if (kept := autosave.kept(data.root, self.autosave_name())) is not None:
            unsaved = autosave.unsaved(kept.time, view.now, "inbox.edit")
        view.needed, view.glance_says_all = WHOLE, not (self.facts.drops or self.kind is MERGE)
        text = change_text.detail(self.facts, view.detail_width, unsaved=unsaved, read_only=view.services.read_only)
        return Described(text, *change_text.glance(self.facts, unsaved))


class ChangeCommands(HideCommands):
    """The commands on changes. `decided` is called with the ids of those that are done with."""

    def __init__(self, chosen: Chosen, decided: Callable[[Collection[str]], object]) -> None:
        super().__init__(chosen)
        self.screen, self.decided = chosen.screen, decided

    def table(self) -> dict[str, Command]:
        """Return the commands by verb."""
        return super().table() | {
            "accept": Command(self.accept),
            "edit": Command(self.edit, first_of(self.screen.one_by_one, self._why_no_edit)),
            "reject": Command(self.reject),
            "follow": Command(self.follow, self._why_no_memory),
        }

    def _rows(self) -> list[ProposedRow]:
        return self.chosen.rows(ProposedRow)

    # why a command can't be run

    def _why_no_edit(self) -> str:
        row = self._rows()[0]
        if row.facts.why_not:
            return "It can't be made now: the detail says why."
        if len(row.proposal.written) != 1:
            return "It writes no single text. Accept or reject it."
        return OutcomeSubject.why_not(row.proposal)

    def _why_no_memory(self) -> str:
        found = self._rows()[0].proposal
        if all(is_index(each.path) for each in found.inputs):
            return "It is about MEMORY.md, which is no memory."
        return "" if change_text.memories_of(found) else "It is about no memory that is there."

    # accept

    async def accept(self) -> None:
        """Make the chosen changes. Several, or one that is not on the screen to its end, are shown first."""
        rows = self._rows()
        able = [row for row in rows if not row.facts.why_not]
        if not able:
            facts = rows[0].facts
            refused = facts.weighed.refused if facts.weighed is not None and not facts.stale else None
            if refused is not None:
                raise refused.error
            self.services.warn(actions.keyed("A file changed since this was planned. {app.refresh} plans again."))
            return
        if len(rows) == 1 and (kept := self._kept(rows[0])) is not None:
            answer = await self.services.ask(which(kept, self.services.data.now()))
            if answer == MINE:
                await self.edit()
            if answer != PROPOSED:
                return
        is_seen = self.chosen.is_seen() and rows[0].facts.weighed is not None
        if not is_seen and not await self._agrees(able, len(rows)):
            return
        await self._make(able)

    def _kept(self, row: ProposedRow) -> Autosave | None:
        return autosave.kept(self.services.data.root, row.autosave_name())

    async def _agrees(self, rows: Sequence[ProposedRow], chosen: int) -> bool:
        """Show what will be written, and ask."""
        shown = change_text.previewed([row.facts for row in rows])
        if left := chosen - len(rows):
            shown.append(f"! {many(left, 'more is', 'more are')} marked that can't be made now.\n", style="yellow")
        if len(rows) > 1 and (kept := sum(self._kept(row) is not None for row in rows)):
            shown.append(f"! {ignored(kept, 'inbox.edit')}\n", style="yellow")
        if note := self.chosen.still_marked()[1].strip():
            shown.append(f"! {note}\n", style="yellow")
        kinds = {(row.kind.singular, row.kind.plural) for row in rows}
        what = many(len(rows), *(kinds.pop() if len(kinds) == 1 else ("change", "changes")))
        answer = await self.services.ask(Preview(f"{what}: this will be written", shown, f"make {what}"))
        return answer is True

    async def _may_keep_secrets(self, rows: Sequence[ProposedRow]) -> bool:
        """Return whether there is no secret that no file had before, or the person wants to keep it."""
        diffs = [each for row in rows if row.facts.weighed for each in row.facts.weighed.diffs]
        before, after = (
            "\n".join((getattr(each, key) or b"").decode("utf-8", "replace") for each in diffs)
            for key in ("before", "after")
        )
        kinds = redact.kinds_in(after, before)
        answer = await self.services.ask(Choice(secret.question(kinds), SECRET)) if kinds else "keep"
        return answer == "keep"

    async def _make(self, rows: Sequence[ProposedRow]) -> None:
        """Make changes as one step of undo, and say so; show those that could not be made, and why."""
        if not await self._may_keep_secrets(rows):
            return
        found = [row.proposal for row in rows]
        work = partial(composing.apply, self.services.data.store(), found)
        others, note = self.chosen.still_marked()
        try:
            applied = await self._in_thread(work, len(found)) if len(found) > AT_ONCE else work()
        finally:
            self.services.read(MEMORIES)
        await self._report(applied, others, note)

    async def _in_thread(self, work: Callable[[], Applied], count: int) -> Applied:
        self.services.at_work = True
        self.screen.post_message(HowFar(f"making {many(count, 'change')} …"))
        try:
            return await asyncio.to_thread(work)
        finally:
            self.services.at_work = False

    async def _report(self, applied: Applied, others: set[str], note: str) -> None:
        if applied.made:
            self.chosen.unmark(others)
            self.decided({each.id for each in applied.made})
            self.services.say(f"{changesets.done(applied.made)}{note} {actions.takes_back()}")
        if len(applied.refused) == 1 and not applied.made:
            raise applied.refused[0].error
        if applied.refused:
            reasons = [(changeset.title(each.proposal), each.error.message) for each in applied.refused]
            await self.services.ask(
                left_alone(f"{many(len(reasons), 'change was', 'changes were')} not made:", reasons)
            )

    # edit

    async def edit(self) -> None:
        """Edit the outcome of a change, beside the texts that it is made of; saving makes it."""
        (row,) = self._rows()
        made: list[Applied] = []
        subject = OutcomeSubject(self.services.data, row.facts, made.append)
        await self.services.ask(DraftForm(subject, self.services))
        self.screen.fill()
        self.screen.table.redraw()
        if made:
            self.services.read(MEMORIES)
            await self._report(made[0], *self.chosen.still_marked())

    # reject

    def reject(self) -> None:
        """Drop the chosen changes for good."""
        rows = self._rows()
        found = [row.proposal for row in rows]
        store, (others, note) = self.services.data.store(), self.chosen.still_marked()
        try:
            proposed.reject(store, found, f"reject {changesets.named(found)}")
        finally:
            self.services.read(MEMORIES)
        self.chosen.unmark(others)
        self.decided({each.id for each in found})
        self.services.say(f"Rejected for good: {changesets.named(found)}.{note} {actions.takes_back()}")

    # to the memory

    async def follow(self) -> None:
        """Go to the memory that the change is about; of several, ask which."""
        paths = change_text.memories_of(self._rows()[0].proposal)
        path: str | None = paths[0]
        if len(paths) > 1:
            tilde = self.services.data.tilde
            rows = [(each, safe_text.line(tilde(each))) for each in paths]
            path = await self.services.ask(Choice("Go to which memory?", rows))
        if path:
            self.services.go_to_memory(path)
