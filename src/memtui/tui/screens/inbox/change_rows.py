"""Merges, fixes and removals as rows of the inbox, and the commands that make or reject them."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from rich.text import Text

from memtui import actions
from memtui.consolidate import changeset, composing, proposed
from memtui.consolidate.changeset import Proposal, is_index
from memtui.consolidate.composing import Applied
from memtui.core.base.phrasing import many
from memtui.core.redaction import redact
from memtui.present import changesets, safe_text, secret
from memtui.tui.batch import AT_ONCE, left_alone
from memtui.tui.dialogs.ask import MINE, PROPOSED, Choice, ignored, which
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.preview import Preview
from memtui.tui.model import autosave
from memtui.tui.model.autosave import Autosave
from memtui.tui.screens.inbox import change_text
from memtui.tui.screens.inbox.change_facts import ChangeFacts
from memtui.tui.screens.inbox.chosen import Chosen
from memtui.tui.screens.inbox.hiding import HideCommands
from memtui.tui.screens.inbox.outcome_subject import OutcomeSubject, autosave_name
from memtui.tui.screens.inbox.row import WHOLE, InboxView
from memtui.tui.screens.list_screen import Described
from memtui.tui.services import Command, HowFar, first_of

SECRET = (("", "Change nothing"), ("keep", "Keep it as it is, and go on"))
SAFE, DROPS, BLOCKED = ("✓", "green"), ("!", "yellow"), ("✗", "red")
MARKS = (
    (SAFE[0], "safe: a fix that needs no decision"),
    (DROPS[0], "it drops a statement, or a memory that nothing replaces"),
    (BLOCKED[0], "it can't be made now: the detail says why"),
)


@dataclass(frozen=True)
class ProposedRow(ChangeFacts):
    """A change that is proposed."""

    family: ClassVar[str] = "change"
    verbs: ClassVar[Mapping[str, str]] = {
        "accept": "accept",
        "edit": "edit",
        "reject": "reject",
        "later": "later",
        "follow": "go to it",
    }

    def needs_look(self) -> bool:
        """Whether a person has to decide about it."""
        return not self.safe or super().needs_look()

    @property
    def gist(self) -> str:
        """Why it is proposed, or else what it does."""
        reasons, title = changesets.reasons(self.proposal), changeset.title(self.proposal)
        return reasons[0] if reasons else f"{title[:1].upper()}{title[1:]}"

    @property
    def later_key(self) -> str:
        """What tells it from all others while it is hidden."""
        return f"change:{self.id}"

    def where(self, _view: InboxView) -> str:
        """Return the scope that it is about."""
        return self.place

    def extent(self, _view: InboxView) -> str:
        """Return by how many bytes files grow or shrink."""
        return changesets.resized(self.weighed.savings) if self.weighed is not None else "…"

    def signs(self, _view: InboxView) -> Text:
        """Return whether it is safe, drops something, or can't be made."""
        sign, style = BLOCKED if self.why_not else DROPS if self.drops else SAFE if self.safe else ("", "")
        return Text(f"{sign} ", style) if sign else Text()

    def autosave_name(self) -> str:
        """Return the name under which unsaved text of its outcome is kept."""
        return autosave_name(self.proposal)

    def searched(self, _view: InboxView) -> str:
        """Return the text that the filter searches."""
        return f"{self.word} {self.proposal.kind} {changesets.about(self.proposal)} {self.gist} {self.place}"

    def describe(self, view: InboxView) -> Described:
        """Return why it is proposed, what is lost, and what changes."""
        data, unsaved = view.services.data, ""
        if (kept := autosave.kept(data.root, self.autosave_name())) is not None:
            unsaved = autosave.unsaved(kept.time, view.now, "inbox.edit")
        view.needed, view.glance_says_all = WHOLE, not (self.drops or self.proposal.kind == "merge")
        text = change_text.detail(self, view.detail_width, unsaved=unsaved, read_only=view.services.read_only)
        return Described(text, *change_text.glance(self, unsaved))


@dataclass(frozen=True)
class MergeRow(ProposedRow):
    """Memories that become one."""

    word: ClassVar[str] = "merge"
    singular: ClassVar[str] = "merge"
    plural: ClassVar[str] = "merges"
    style: ClassVar[str] = "magenta"

    @property
    def gist(self) -> str:
        """The memories."""
        return changesets.about(self.proposal)


@dataclass(frozen=True)
class FixRow(ProposedRow):
    """A fix of a memory or an index, or a memory that goes."""

    word: ClassVar[str] = "fix"
    singular: ClassVar[str] = "fix"
    plural: ClassVar[str] = "fixes"
    style: ClassVar[str] = "blue"


@dataclass(frozen=True)
class ProposalRow(ProposedRow):
    """A stronger form of a memory that was not followed."""

    word: ClassVar[str] = "rule"
    singular: ClassVar[str] = "rule"
    plural: ClassVar[str] = "rules"
    style: ClassVar[str] = "red"


def row_class(found: Proposal) -> type[ProposedRow]:
    """Return the class of the row for a change."""
    if found.kind == "rule" or any(each.code == "memories.violated" for each in found.evidence):
        return ProposalRow
    return MergeRow if found.kind == "merge" else FixRow


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
        if row.why_not:
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
        if not (self.chosen.is_seen() and rows[0].weighed is not None) and not await self._agrees(able, len(rows)):
            return
        await self._make(able)

    def _kept(self, row: ProposedRow) -> Autosave | None:
        return autosave.kept(self.services.data.root, row.autosave_name())

    async def _agrees(self, rows: Sequence[ProposedRow], chosen: int) -> bool:
        """Show what will be written, and ask."""
        shown = change_text.previewed(list(rows))
        if left := chosen - len(rows):
            shown.append(f"! {many(left, 'more is', 'more are')} marked that can't be made now.\n", style="yellow")
        if len(rows) > 1 and (kept := sum(self._kept(row) is not None for row in rows)):
            shown.append(f"! {ignored(kept, 'inbox.edit')}\n", style="yellow")
        if note := self.chosen.still_marked()[1].strip():
            shown.append(f"! {note}\n", style="yellow")
        safe = "safe " if len(rows) > 1 and all(row.safe for row in rows) else ""
        kinds = {(row.singular, row.plural) for row in rows}
        singular, plural = kinds.pop() if len(kinds) == 1 else ("change", "changes")
        what = many(len(rows), safe + singular, safe + plural)
        answer = await self.services.ask(Preview(f"{what}: this will be written", shown, f"make {what}"))
        return answer is True

    async def _may_keep_secrets(self, rows: Sequence[ProposedRow]) -> bool:
        """Return whether there is no secret that no file had before, or the person wants to keep it."""
        diffs = [each for row in rows if row.weighed is not None for each in row.weighed.diffs]
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
            self.services.read()
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
        subject = OutcomeSubject(self.services.data, row, made.append)
        await self.services.ask(DraftForm(subject, self.services))
        self.screen.fill()
        self.screen.table.redraw()
        if made:
            self.services.read()
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
            self.services.read()
        self.chosen.unmark(others)
        self.decided({each.id for each in found})
        self.services.say(f"{changesets.rejected(found)}{note} {actions.takes_back()}")

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
