"""Merges, fixes and removals in the inbox: their details, the form of an outcome, and what makes or rejects them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from rich.text import Text

from memtui import actions
from memtui.base.phrasing import many, some
from memtui.redact import redact
from memtui.store import memory
from memtui.store.plan import is_index
from memtui.tidy import changeset, composed_files, similarity, waiting_proposals
from memtui.tidy.changeset import Proposal
from memtui.tidy.composed_files import Applied
from memtui.tui.batch import left_alone
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.subject import TEXT, FormField, Saved, Shape, Subject, Typed
from memtui.tui.model import autosave
from memtui.tui.model.autosave import Autosave
from memtui.tui.model.data import Data
from memtui.tui.screens.frame import Described
from memtui.tui.screens.inbox.chosen import MEMORIES, RowCommands
from memtui.tui.screens.inbox.row import autosave_name, counted
from memtui.tui.screens.inbox.text import REJECT
from memtui.tui.services import Command, first_of
from memtui.tui.widgets import markdown
from memtui.tui.widgets.body import fits
from memtui.tui.widgets.parts import draw
from memtui.views import changesets, safe_text
from memtui.views.decisions import ProposedRow
from memtui.views.parts import heading

SECRET = (("", "Change nothing"), ("keep", "Keep it as it is, and go on"))
OUTDATED = "A file that this was made from has changed since. What you typed stays here to be copied."
# Characters of a text that is shown with others, and of several changes, after which only their names are shown.
SHOWN, MOST_SHOWN = 4000, 60_000


def count_lost(row: ProposedRow) -> str:
    """Say what a proposal loses: how many statements, or the memory; empty if nothing."""
    if row.coverage is not None and row.coverage.lost:
        return f"{many(len(row.coverage.lost), 'statement is', 'statements are')} dropped"
    return "the memory goes, and nothing replaces it" if row.proposal.kind == "delete" else ""


def texts(proposal: Proposal) -> list[tuple[Text, Text]]:
    """Return the memories that become others: name and whether it stays, and its text."""
    drawn = []
    for file in proposal.outputs:
        if file.before is None or is_index(file.path):
            continue
        mem = memory.from_bytes("", "", file.before)
        whole = f"{mem.description}\n\n{mem.body.strip()}".strip()
        body = markdown.render(whole[:SHOWN]).append("\n…" if len(whole) > SHOWN else "")
        stays = "  is deleted" if file.after is None else "  is kept"
        drawn.append((Text().append(safe_text.line(changeset.name(file.path), 60), "bold").append(stays, "dim"), body))
    return drawn


def _texts(text: Text, proposal: Proposal) -> None:
    """Append the texts of a merge; of two, the words are underlined that only one has."""
    parts = texts(proposal)
    if len(parts) == 2:
        bodies = [body for _, body in parts]
        for body, spans in zip(bodies, similarity.differing(*(body.plain for body in bodies)), strict=True):
            for start, end in spans:
                body.stylize("underline", start, end)
    underlined = "; underlined is what only one of them says" if len(parts) == 2 else ""
    text.append(*heading(f"the texts{underlined}"))
    for title, body in parts:
        text.append_text(title).append("\n").append_text(body).append("\n\n")


def previewed(changes: Sequence[ProposedRow]) -> Text:
    """Return what several proposals make, one after the other; of those after MOST_SHOWN only the names."""
    text = Text()
    for row in changes:
        if len(text) > MOST_SHOWN:
            text.append(f"{safe_text.line(changeset.title(row.proposal), 200)}\n")
            continue
        text.append_text(draw(changesets.brief(row.proposal, row.weighed, row.place)))
        text.append("\n")
    return text


class OutcomeSubject(Subject):
    """The one file that a proposal writes, beside the texts that it is made of. `applied` gets what saving made."""

    def __init__(self, data: Data, row: ProposedRow, name: str, applied: Callable[[Applied], object]) -> None:
        self.data, self.row, self._applied = data, row, applied
        self.proposal = proposal = row.proposal
        (self.output,) = proposal.written
        data_before = self.output.after or b""
        self.memory = memory.from_bytes(self.output.path, "", data_before)
        self.whole = is_index(self.output.path) or self.memory.broken is not None or not self.memory.has_frontmatter
        self.autosave = autosave.kept(data.root, name) or Autosave(name, proposal.id)
        words = safe_text.line(changeset.title(proposal), 100)
        self.shape = Shape(
            words[:1].upper() + words[1:],
            proposal.kind if proposal.kind == "merge" else "make it",
            "this change",
            OUTDATED,
            across=200,
            beside=texts(proposal),
            left=autosave.left("inbox.edit"),
            preview=self.preview,
        )
        self.fields: Sequence[FormField] = [
            FormField("description", safe_text.line(self.memory.description)),
            FormField("body", self.memory.body.strip("\n"), TEXT),
        ]
        if self.whole:
            self.fields = [FormField("raw", data_before.decode("utf-8", "surrogateescape"), TEXT, "whole file")]

    def _bytes(self, typed: Typed) -> bytes:
        """Return the file as it was typed. Raises MemtuiError."""
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
        weighed = composed_files.weigh(self.data.store().files(), edited)
        if weighed.refused is not None:
            raise weighed.refused.error
        row = replace(self.row, proposal=edited, weighed=weighed)
        lost = count_lost(row)
        title = f"{lost}; this will be written" if lost else "1 change: this will be written"
        return Preview(title, previewed([row]), "make 1 change")

    def there(self) -> str | None:
        """Return the proposal's id as long as the files that it was made from are as they were; None if they aren't."""
        return self.proposal.id if self.proposal.is_current else None

    def compared(self, typed: Typed) -> tuple[bytes, bytes]:
        return self.output.after or b"", self._bytes(typed)

    def save(self, typed: Typed) -> Saved:
        applied = composed_files.apply(self.data.store(), [self._edited(typed)])
        if applied.refused:
            raise applied.refused[0].error
        self._applied(applied)
        return Saved(self.proposal.id)


class ChangeCommands(RowCommands[ProposedRow]):
    def table(self) -> dict[str, Command]:
        return super().table() | {
            "approve": Command(self.approve),
            "edit": Command(self.edit, first_of(self.screen.one_by_one, self._why_no_edit)),
            "reject": Command(self.reject_changes),
            "follow": Command(self.follow, self._why_no_memory),
        }

    def describe(self, row: ProposedRow) -> Described:
        """Return why it is proposed, what is lost, and what changes."""
        text = draw([self.own_text(row), *changesets.head(row.proposal, row.weighed, row.place)])
        if row.weighed is None:
            text.append("\ncomparing …\n", style="dim")
        else:
            text.append_text(draw([*changesets.statements(row.coverage), *changesets.additions(row.proposal)]))
        if row.proposal.kind == "merge":
            _texts(text, row.proposal)
        text.append_text(draw(changesets.files(row.proposal, row.weighed)))
        keys = [("inbox.approve", "approve it: this change is made")] if row.refused is None else []
        keys += [("inbox.edit", "edit the outcome first, in a form")] if len(row.proposal.written) == 1 else []
        keys.append(("inbox.reject", actions.keyed(REJECT)))
        keys += [("inbox.follow", "go to the memory")] if row.proposal.memories else []
        return self.with_keys(text, keys)

    def _rows(self) -> list[ProposedRow]:
        return self.chosen.rows(ProposedRow)

    def _why_no_edit(self) -> str:
        row = self._rows()[0]
        if row.refused is not None:
            return "It can't be made now: the detail says why."
        if len(row.proposal.written) != 1:
            return "It writes no single text. Approve or reject it."
        raw = (row.proposal.written[0].after or b"").decode("utf-8", "surrogateescape")
        return "" if fits(raw) else "It is too long to be changed here."

    def _why_no_memory(self) -> str:
        row = self._rows()[0]
        if all(is_index(file.path) for file in row.proposal.files):
            return "It is about MEMORY.md, which is no memory."
        return "" if row.proposal.memories else "It is about no memory that is there."

    async def follow(self) -> None:
        await self.go_to([file.path for file in self._rows()[0].proposal.memories])

    async def approve(self) -> None:
        """Make the chosen changes. Several, or one that is not on the screen to its end, are shown first."""
        rows = self._rows()
        able = [row for row in rows if row.refused is None]
        if rows[0].refused is not None and not able:
            raise rows[0].refused.error
        if await self.goes_on_with_own(rows, self.edit):
            return
        is_seen = self.chosen.is_seen() and rows[0].weighed is not None
        if is_seen or await self._agrees(able, len(rows) - len(able)):
            await self._make(able)

    async def _agrees(self, rows: Sequence[ProposedRow], unable: int) -> bool:
        text = previewed(rows)
        if unable:
            text.append(f"! {many(unable, 'more is', 'more are')} marked that can't be made now.\n", style="yellow")
        text.append(self.unsaved(rows), "yellow")
        what = counted(rows)
        return await self.chosen.agrees(f"{what}: this will be written", text, f"approve {what}")

    async def _may_keep_secrets(self, rows: Sequence[ProposedRow]) -> bool:
        """Return whether there is no secret that no file had before, or the person wants to keep it."""
        diffs = [diff for row in rows if row.weighed for diff in row.weighed.diffs]
        before, after = (
            "\n".join((getattr(diff, key) or b"").decode("utf-8", "replace") for diff in diffs)
            for key in ("before", "after")
        )
        kinds = redact.kinds_in(after, before)
        answer = await self.services.ask(Choice(redact.question(kinds), SECRET)) if kinds else "keep"
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
        subject = OutcomeSubject(self.services.data, row, autosave_name(row), applieds.append)
        await self.services.ask(DraftForm(subject, self.services))
        self.screen.fill()
        if applieds:
            self.services.read(MEMORIES)
            await self._report(applieds[0])

    def reject_changes(self) -> None:
        """Reject the chosen changes: they are not proposed again while their memories stay as they are."""
        proposals, store = [row.proposal for row in self._rows()], self.services.data.store()
        self.reject(lambda: waiting_proposals.reject(store, proposals), MEMORIES)
