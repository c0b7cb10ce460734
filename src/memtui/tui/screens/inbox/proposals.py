"""Merges, fixes and removals in the inbox: planned in a worker, described, changed in a form, made and rejected."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from rich.text import Text

from memtui import keymap
from memtui.base import fs_hot, paths_hot
from memtui.base.errors import MemtuiError
from memtui.base.phrasing_hot import many, some
from memtui.client import locate_hot
from memtui.redact import redact
from memtui.settings import config_hot
from memtui.store import memory, sidecars, trust_hot
from memtui.store.plan import is_index
from memtui.tidy import changeset, waiting_proposals
from memtui.tidy.changeset import Applied, Proposal, Weighed
from memtui.tui.dialogs.ask import Choice, left_alone
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.subject import TEXT, FormField, Saved, Subject, Typed, fits
from memtui.tui.model import autosave
from memtui.tui.model.autosave import Autosave
from memtui.tui.model.data import Data
from memtui.tui.screens.frame import Described
from memtui.tui.screens.inbox.chosen import MEMORIES, RowCommands
from memtui.tui.screens.inbox.drafts import lines_of
from memtui.tui.screens.inbox.row import autosave_name, counted
from memtui.tui.widgets import prose
from memtui.tui.widgets.prose import draw
from memtui.views import changesets, decisions, safe_text
from memtui.views.decisions import Decision, ProblemRow, ProposedRow

SECRET = (("", "Change nothing"), ("keep", "Keep it as it is, and go on"))
OUTDATED = "A file that this was made from has changed since. What you typed stays here to be copied."
# Characters of a text that is shown with others, and of several changes, after which only their names are shown.
SHOWN, MOST_SHOWN = 4000, 60_000
# The least time between two reports while proposals are weighed, and the pause after each, for keys that are pressed.
TOLD_SECONDS, PAUSE_SECONDS = 0.2, 0.003
Stamps = dict[str, int]


class InboxPlan(NamedTuple):
    """The proposed `changes`, the `problems` left for a person, `stamps` of the files."""

    changes: Sequence[ProposedRow]
    problems: Sequence[ProblemRow]
    stamps: Stamps


class PlannedChanges:
    """The rows of what was planned last; what is `decided` since, an undo brings back."""

    def __init__(self) -> None:
        self._rows: Sequence[ProposedRow] = ()
        self._problems: Sequence[ProblemRow] = ()
        self.decided: set[str] = set()
        self._stamps: Stamps = {}

    @property
    def rows(self) -> list[Decision]:
        problems = (row for row in self._problems if row.key not in self.decided)
        return [*(row for row in self._rows if row.proposal.id not in self.decided), *problems]

    def take(self, plan: InboxPlan) -> None:
        """Take over a new plan; what was weighed stays so, and so do the changes that an undo may bring back."""
        weights = {row.proposal.id: row.weighed for row in self._rows}
        ids = {row.proposal.id for row in plan.changes}
        proposed_rows = [row for row in self._rows if row.proposal.id in self.decided - ids]
        rows = [decisions.weighed(row, weights.get(row.proposal.id)) for row in plan.changes]
        self.decided -= ids | {row.key for row in self._problems}
        self._rows, self._stamps = [*rows, *proposed_rows], plan.stamps
        self._problems = plan.problems

    def weigh(self, weighed: Sequence[Weighed]) -> None:
        weights = {row.proposal.id: row.weighed for row in self._rows}
        weights |= {other.proposal.id: other for other in weighed}
        self._rows = [decisions.weighed(row, weights[row.proposal.id]) for row in self._rows]

    def look(self, data: Data) -> tuple[set[str], bool]:
        """Return which decided changes are open again, and whether a file of the plan has changed. Slow."""
        decided = [row for row in self._rows if row.proposal.id in self.decided]
        refused = set(waiting_proposals.rejected(data.root)) if decided else set()
        proposals = [row.proposal for row in decided if row.proposal.subject not in refused]
        back = {proposal.id for proposal in proposals if waiting_proposals.is_open(data.root, proposal)}
        try:
            outdated = stamps(data) != self._stamps
            return back | {row.key for row in self._problems if not outdated}, outdated
        except (MemtuiError, OSError):  # planning says what is wrong
            return back, True


def plan(data: Data, go_on: Callable[[], bool]) -> InboxPlan:
    """Plan what can be done about the memories. Raises MemtuiError, OSError."""
    before = stamps(data)
    return InboxPlan(*decisions.of_plan(data, data.undecided(go_on)), before)


def weigh(data: Data, plan: InboxPlan) -> Iterator[list[Weighed]]:
    """Weigh the changes of a plan, and yield those that were weighed since the last time."""
    files, since = data.store().files(), time.monotonic()
    weighed: list[Weighed] = []
    for row in plan.changes:
        weighed.append(changeset.weigh(files, row.proposal))
        if time.monotonic() - since > TOLD_SECONDS:
            yield weighed
            weighed, since = [], time.monotonic()
            time.sleep(PAUSE_SECONDS)
    yield weighed


def stamps(data: Data) -> Stamps:
    """Return the stamps of the files that a plan depends on, by path. Raises MemtuiError or OSError."""
    from memtui.rules import counts, counts_file  # not needed for the first paint

    root = data.root
    files = [waiting_proposals.rejected_path(root), sidecars.pairs_path(root)]
    files += [trust_hot.path(root), config_hot.file_path(root)]
    inboxes = [paths_hot.inbox_dir(root, slug) for slug in (None, data.slug)]
    for directory in (waiting_proposals.directory(root), f"{root}/{sidecars.MUTES}", *inboxes):
        files += [f"{directory}/{name}" for name in (os.listdir(directory) if os.path.isdir(directory) else ())]
    for scope in data.scopes():
        if scope.kind == "instructions":
            files += [f"{scope.directory}/{name}" for name in scope.files]
        elif not scope.problem:
            files += [scope.index_path, paths_hot.checks_path(root, scope.directory)]
            files += [f"{scope.directory}/{name}" for name, _ in locate_hot.walk(scope.directory)]
    # What is proposed about rules follows the breaks; most counts bring none.
    return {path: fs_hot.stamp(path) for path in files} | {counts_file.FILE: counts.breaks(root)}


def texts(proposal: Proposal) -> list[tuple[Text, Text]]:
    """Return the memories that become others: name and whether it stays, and its text."""
    drawn = []
    for file in proposal.outputs:
        if file.before is None or is_index(file.path):
            continue
        mem = memory.from_bytes("", "", file.before)
        whole = f"{mem.description}\n\n{mem.body.strip()}".strip()
        body = prose.render(whole[:SHOWN]).append("\n…" if len(whole) > SHOWN else "")
        stays = "  is deleted" if file.after is None else "  is kept"
        drawn.append((Text().append(safe_text.line(changeset.name(file.path), 60), "bold").append(stays, "dim"), body))
    return drawn


def previewed(changes: Sequence[ProposedRow]) -> Text:
    """Return what several proposals make, one after the other; of those after MOST_SHOWN only the names."""
    text = Text()
    for row in changes:
        if len(text) > MOST_SHOWN:
            text.append(f"{safe_text.line(changeset.title(row.proposal), 200)}\n")
        else:
            parts = changesets.describe(row.proposal, row.weighed, row.place)
            text.append_text(draw(parts + changesets.facts(row.proposal, row.weighed))).append("\n")
    return text


class OutcomeSubject(Subject):
    """The one file that a proposal writes, beside the texts that it is made of. `applied`: what saving made."""

    name, gone, action = "this change", OUTDATED, "inbox.edit"
    applied: Applied | None = None

    def __init__(self, data: Data, row: ProposedRow) -> None:
        self.data, self.row = data, row
        self.proposal = proposal = row.proposal
        (self.output,) = proposal.written
        self.memory = memory.from_bytes(self.output.path, "", self.output.after or b"")
        can_split = self.memory.broken is None and self.memory.has_frontmatter and proposal.word != "rule"
        self.whole = is_index(self.output.path) or not can_split
        name, words = autosave_name(row), safe_text.line(changeset.title(proposal), 100)
        self.autosave = autosave.kept(data.root, name) or Autosave(name, proposal.id)
        self.title, self.beside = words[:1].upper() + words[1:], texts(proposal)
        self.verb = "merge" if proposal.kind == "merge" else "make it"
        body = FormField("body", self.memory.body.strip("\n"), TEXT)
        self.fields: Sequence[FormField] = [FormField("description", safe_text.line(self.memory.description)), body]
        if self.whole:
            self.fields = [FormField("raw", self.memory.raw.decode("utf-8", "surrogateescape"), TEXT, "whole file")]

    def _bytes(self, typed: Typed) -> bytes:
        if self.whole:
            return typed.values["raw"].encode("utf-8", "surrogateescape")
        changed = dict(typed.changed)
        if "body" in changed:
            changed["body"] = "\n" + changed["body"].strip("\n") + "\n"
        return memory.with_fields(self.memory, changed) if changed else self.memory.raw

    def check(self, typed: Typed) -> Text:
        removed = list(map(changeset.name, self._edited(typed).gone))
        deleted = f"; {some(removed)} {'is' if len(removed) == 1 else 'are'} deleted" if removed else ""
        return Text(safe_text.line(f"writes {changeset.name(self.output.path)}{deleted}"))

    def _edited(self, typed: Typed) -> Proposal:
        data = self._bytes(typed)
        return self.proposal if data == self.output.after else self.proposal.edited(self.output.path, data)

    def preview(self, typed: Typed) -> Preview:
        """Return the preview of the change with the outcome that was typed: what it drops first. Raises MemtuiError."""
        edited = self._edited(typed)
        weighed = changeset.weigh(self.data.store().files(), edited)
        if weighed.refused is not None:
            raise weighed.refused.error
        lost = "the memory goes, and nothing replaces it" if edited.kind == "delete" else ""
        if weighed.coverage is not None and weighed.coverage.lost:
            lost = f"{many(len(weighed.coverage.lost), 'statement is', 'statements are')} dropped"
        title = f"{lost}; this will be written" if lost else "1 change: this will be written"
        return Preview(title, previewed([replace(self.row, proposal=edited, weighed=weighed)]), "make 1 change")

    def there(self) -> str | None:
        """Return the proposal's id as long as the files that it was made from are as they were; None if they aren't."""
        return self.proposal.id if self.proposal.is_current else None

    def compared(self, typed: Typed) -> tuple[bytes, bytes]:
        return self.output.after or b"", self._bytes(typed)

    def save(self, typed: Typed) -> Saved:
        applied = changeset.apply(self.data.store(), [self._edited(typed)])
        if applied.refused:
            raise applied.refused[0].error
        self.applied = applied
        return Saved(self.proposal.id)


class ProposalCommands(RowCommands[ProposedRow]):
    def why_not(self, verb: str) -> str:
        row = self.rows[0]
        if verb == "follow":
            return "" if row.proposal.memories else "It is about no memory that is there."
        if verb != "edit":
            return ""
        if row.refused is not None:
            return "It can't be made now: the detail says why."
        if len(row.proposal.written) != 1:
            return "It writes no single text. Approve or reject it."
        raw = (row.proposal.written[0].after or b"").decode("utf-8", "surrogateescape")
        return "" if fits(raw) else "It is too long to be changed here."

    def describe(self, row: ProposedRow) -> Described:
        text = draw([self.own_text(row), *changesets.describe(row.proposal, row.weighed, row.place, titled=False)])
        if row.weighed is None:
            text.append("\ncomparing …\n", style="dim")
        else:
            self.view.needed = lines_of(text, self.view.detail_width)
        return Described(text.append("\n").append_text(draw(changesets.facts(row.proposal, row.weighed))))

    async def follow(self) -> None:
        await self.go_to([file.path for file in self.rows[0].proposal.memories])

    async def approve(self) -> None:
        """Make the chosen changes. Several, or one that is not on the screen to its end, are shown first."""
        rows = self.rows
        able = [row for row in rows if row.refused is None]
        if rows[0].refused is not None and not able:
            raise rows[0].refused.error
        if await self.goes_on_with_own(self.edit):
            return
        if not (self.chosen.is_seen() and rows[0].weighed is not None):
            text, unable, what = previewed(able), len(rows) - len(able), counted(able)
            if unable:
                text.append(f"! {many(unable, 'more is', 'more are')} marked that can't be made now.\n", style="yellow")
            text.append(self.unsaved(), "yellow")
            if not await self.chosen.agrees(f"{what}: this will be written", text, f"approve {what}"):
                return
        if not await self._may_keep_secrets(able):
            return
        try:  # as one step of undo
            work = partial(changeset.apply, self.services.data.store(), [row.proposal for row in able])
            applied = await self.services.progress.run(work, len(able))
        finally:
            self.services.read(MEMORIES)
        await self._report(applied)

    async def _may_keep_secrets(self, rows: Sequence[ProposedRow]) -> bool:
        """Return whether there is no secret that no file had before, or the person wants to keep it."""
        diffs = [diff for row in rows if row.weighed for diff in row.weighed.diffs]
        before = b"\n".join(diff.before or b"" for diff in diffs).decode("utf-8", "replace")
        after = b"\n".join(diff.after or b"" for diff in diffs).decode("utf-8", "replace")
        kinds = redact.kinds_in(after, before)
        return not kinds or await self.services.ask(Choice(redact.question(kinds), SECRET)) == "keep"

    async def _report(self, applied: Applied) -> None:
        """Say what was made; show what could not be made, and why. Raises the error if that is all."""
        if applied.made:
            self.chosen.take_off([refusal.proposal.ref for refusal in applied.refused])
            self.services.say(f"{changesets.done(applied.made)} {keymap.takes_back()}")
        if len(applied.refused) == 1 and not applied.made:
            raise applied.refused[0].error
        if applied.refused:
            reasons = [(changeset.title(refusal.proposal), refusal.error.message) for refusal in applied.refused]
            title = f"{many(len(reasons), 'change was', 'changes were')} not made:"
            await self.services.ask(left_alone(title, reasons))

    async def edit(self) -> None:
        """Edit the outcome of a change, beside the texts that it is made of; saving makes it."""
        subject = OutcomeSubject(self.services.data, self.rows[0])
        await self.services.ask(DraftForm(subject, self.services))
        self.screen.fill()
        if subject.applied is not None:
            self.services.read(MEMORIES)
            await self._report(subject.applied)

    def reject(self, *, never: bool = False) -> None:
        """Reject the chosen changes: they are not proposed again while their memories stay as they are, or `never`."""
        proposals, store = [row.proposal for row in self.rows], self.services.data.store()
        reject = partial(waiting_proposals.reject, store, proposals, never=never)
        self.chosen.act(reject, self.rejected(self.rows, never=never), MEMORIES)

    def never(self) -> None:
        self.reject(never=True)
