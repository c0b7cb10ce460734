"""The commands of the inbox on drafts and todos: decide, hide until later, edit, make notes of; one undo step each."""

from collections.abc import Callable, Sequence
from functools import partial

from memtui import actions
from memtui.core.base.errors import UsageError
from memtui.core.base.phrasing import many
from memtui.core.review.entries import Review
from memtui.core.review.waiting import Waiting
from memtui.present import drafts, safe_text, unheard
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.subject import NOTHING
from memtui.tui.screens.inbox.approving import ApproveCommands
from memtui.tui.screens.inbox.chosen import ENTRIES, Chosen
from memtui.tui.screens.inbox.entry_rows import GhostRow
from memtui.tui.screens.inbox.entry_subject import EntrySubject, Values
from memtui.tui.screens.inbox.hiding import ask_until
from memtui.tui.screens.inbox.proposals import Proposals
from memtui.tui.screens.inbox.text import guidance_text
from memtui.tui.services import Command, note_seconds
from memtui.tui.widgets.body import fits

# Characters of a draft in a note.
TITLE_SHOWN = 40
REJECTED = "Rejected. {inbox.reject} on its grey row: never draft it again."


class EntryCommands:
    """What is done with drafts and with todos alike."""

    def __init__(self, chosen: Chosen) -> None:
        self.services, self.screen, self.chosen = chosen.services, chosen.screen, chosen

    def table(self) -> dict[str, Command]:
        """Return the commands by verb."""
        return {"later": Command(self.later), "note": Command(self.note)}

    async def later(self) -> None:
        """Ask until when the chosen entries wait, and hide them until then; or bring hidden ones back."""
        found, now = self.chosen.items(), self.services.data.now()
        asleep = any(each.until(now) is not None for each in found)
        answered, until = await ask_until(self.services, drafts.named(found), asleep=asleep)
        if not answered:
            return
        review, done = self.services.data.review(), drafts.snoozed(found, until, now)
        self.chosen.act(lambda: review.snooze(found, until), done, ENTRIES)

    async def note(self) -> None:
        """Turn the chosen entries into notes. Several, or one that is not fully on the screen, are shown first."""
        found = self.chosen.items()
        count, it = many(len(found), "entry", "entries"), "a note" if len(found) == 1 else "notes"
        if not self.chosen.is_seen():
            title = f"Turn {count} into {it}: the agent gets this"
            if not await self.services.ask(Preview(title, guidance_text(found), f"turn {count} into {it}")):
                return
        why_unheard = unheard.keyed(self.services.data.unheard())
        when = f"but nothing delivers it yet: {why_unheard}" if why_unheard else "for the next prompt"
        done = f"Now {it} {when}."
        self.chosen.act(lambda: self.services.data.review().to_guidance(found), done)

    def decide(self, code: str, operation: Callable[[Review, list[Waiting]], object], words: str = "") -> None:
        """Run an operation on the chosen entries; `code` is what it decides, as in `drafts.DECIDED`; `words` say it
        otherwise."""
        found = self.chosen.items()
        words = words or drafts.decided(code, found)
        self.chosen.act(lambda: operation(self.services.data.review(), found), words, ENTRIES)

    def why_not_one(self) -> str:
        """Say why the chosen entries can't be edited, if they can't."""
        found = self.chosen.items()
        if reason := self.screen.one_by_one():
            return reason
        if not fits(found[0].text):
            return f"It is too long to be changed here. It is in {safe_text.line(found[0].path)}."
        return ""


class DraftCommands(EntryCommands):
    """The commands on drafts. `rejected` is called with those that were rejected, and how long the note about that
    stands, in seconds."""

    def __init__(
        self, chosen: Chosen, proposals: Proposals, rejected: Callable[[Sequence[Waiting], float], object]
    ) -> None:
        super().__init__(chosen)
        self.approving, self._rejected = ApproveCommands(chosen, proposals), rejected

    def table(self) -> dict[str, Command]:
        """Return the commands by verb."""
        return super().table() | {
            "accept": Command(self.approving.approve),
            "edit": Command(self.edit, self.why_not_one),
            "merge": Command(self.approving.merge),
            "reject": Command(self.reject),
        }

    async def edit(self) -> None:
        """Rewrite a draft and approve it."""
        await self.approving.rewrite(self.chosen.items()[0])

    def reject(self) -> None:
        """Reject the chosen drafts. A single one stays as a grey row while the note stands, to be rejected for good."""
        found = self.chosen.items()
        words = actions.keyed(REJECTED) if len(found) == 1 else drafts.decided("reject", found)
        self.decide("reject", Review.reject, words)
        self._rejected(found, note_seconds(words))


class GhostCommands:
    """The command on the grey row of a draft that was rejected just now. `gone` takes it off the list."""

    def __init__(self, chosen: Chosen, gone: Callable[[], object]) -> None:
        self.services, self.chosen, self._gone = chosen.services, chosen, gone

    def table(self) -> dict[str, Command]:
        """Return the commands by verb."""
        return {"reject": Command(self.never)}

    def never(self) -> None:
        """Let the draft never be extracted again."""
        found = [row.rejected for row in self.chosen.rows(GhostRow)]
        self._gone()
        words = f"Never drafted again: “{drafts.title(found[0], TITLE_SHOWN)}”."
        self.chosen.act(lambda: self.services.data.review().never(found), words, ENTRIES)


class TodoCommands(EntryCommands):
    """The commands on todos."""

    def table(self) -> dict[str, Command]:
        """Return the commands by verb."""
        return super().table() | {
            "accept": Command(self.done),
            "edit": Command(self.edit, self.why_not_one),
            "reject": Command(partial(self.decide, "drop", Review.withdraw)),
        }

    async def done(self) -> None:
        """Mark the chosen todos done; those that are not on the screen are shown first."""
        found = self.chosen.items()
        if not self.chosen.is_seen():
            what = many(len(found), "todo")
            text = guidance_text(found)
            if note := self.chosen.still_marked()[1].strip():
                text.append(f"! {note}\n", style="yellow")
            if not await self.services.ask(Preview(f"Mark {what} done", text, f"mark {what} done")):
                return
        self.decide("done", Review.done)

    async def edit(self) -> None:
        """Change the text of a todo."""
        (item,) = self.chosen.items()

        def check(now: Waiting, values: Values) -> str:
            if not values["body"].strip():
                raise UsageError("The text is empty.", actions.keyed("{inbox.accept} marks a todo done."))
            return f"changes {now.path}"

        def save(now: Waiting, values: Values) -> None:
            if values["body"].strip() in {now.text.strip(), safe_text.clean(now.text).strip()}:
                self.services.say(NOTHING)
                return
            self.services.data.review().edit(now, values["body"])
            self.services.say(f"Changed {drafts.named([now])}. {actions.takes_back()}")
            self.services.read()

        title, data = "Text of the todo", self.services.data
        subject = EntrySubject(
            data, item, lambda now: {"body": now.text}, title=title, verb="save", check=check, save=save
        )
        await self.services.ask(DraftForm(subject, self.services))
        self.screen.fill()
        self.screen.table.redraw()
