"""The commands of the inbox: reject drafts, tick off and keep items, turn them into notes, edit; one undo step each."""

from collections.abc import Callable
from functools import partial

from rich.text import Text

from memtui import actions
from memtui.core.base.errors import UsageError
from memtui.core.base.phrasing import many
from memtui.core.review import snoozing
from memtui.core.review.entries import Review
from memtui.core.review.waiting import Waiting
from memtui.present import dates, drafts, safe_text, unheard
from memtui.tui.batch import BatchRunner
from memtui.tui.dialogs import backfill
from memtui.tui.dialogs.ask import Choice, Line
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.preview import Preview
from memtui.tui.dialogs.subject import NOTHING
from memtui.tui.screens.inbox.approving import ApproveCommands
from memtui.tui.screens.inbox.changed import ChangedCommands
from memtui.tui.screens.inbox.chosen import Chosen
from memtui.tui.screens.inbox.entry_subject import EntrySubject, Values
from memtui.tui.screens.inbox.proposals import Proposals
from memtui.tui.screens.inbox.rows import InboxRow
from memtui.tui.screens.inbox.text import guidance_text, lines_of
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import Command, Services, first_of
from memtui.tui.widgets.body import fits

# Even the smallest screen shows this many lines of an item below the list.
SHORT = 3
# When a draft may wait until, in words that `snoozing.moment` reads: words for the person.
DAYS = {"tomorrow": "tomorrow", "3d": "in 3 days", "monday": "next week"}
DATE = "date"


class InboxCommands:
    """The table of commands of the inbox, and those that don't approve a draft."""

    def __init__(
        self,
        services: Services,
        screen: ListScreen[InboxRow],
        chosen: Chosen,
        proposals: Proposals,
        bulk: BatchRunner,
    ) -> None:
        self.services, self.screen, self.chosen = services, screen, chosen
        self.changed = ChangedCommands(services, screen, chosen, bulk)
        self.approving = ApproveCommands(services, screen, chosen, proposals)

    def table(self) -> dict[str, Command]:
        """Return the commands by action id."""
        chosen, approving = self.chosen, self.approving
        draft, item = first_of(chosen.hidden, chosen.no_draft), first_of(chosen.hidden, chosen.no_item)
        never = partial(Review.reject, never=True)
        return {
            "inbox.backfill": Command(lambda: backfill.begin(self.services)),
            "inbox.approve": self._either(Command(self.changed.keep), Command(approving.approve, draft)),
            "inbox.edit": self._either(
                Command(self.changed.edit, self.changed.why_no_edit),
                Command(self.edit, first_of(chosen.hidden, self._why_no_edit)),
            ),
            "inbox.merge": Command(approving.merge, draft),
            "inbox.reject": self._either(
                Command(self.changed.take_back),
                Command(partial(self._decide, "updates", "reject", Review.reject), draft),
            ),
            "inbox.never": Command(partial(self._decide, "updates", "never", never), draft),
            "inbox.type": Command(approving.choose_type, draft),
            "inbox.scope": Command(approving.choose_scope, draft),
            "inbox.wait": Command(self.wait, draft),
            "inbox.done": Command(partial(self._decide, "items", "done", Review.done), item),
            "inbox.keep": self._either(
                Command(self.changed.keep),
                Command(partial(self._decide, "items", "keep", Review.keep), first_of(item, self._why_no_keep)),
            ),
            "inbox.history": Command(self.changed.history, self.changed.why_no_history),
            "inbox.guide": Command(self.guide, first_of(chosen.hidden, self._why_no_guide)),
        }

    def _either(self, of_changed: Command, of_entries: Command) -> Command:
        """Return the command of one key: for memories that somebody else wrote, or for entries."""

        def means() -> Command:
            return of_changed if self.chosen.means_changed else of_entries

        return Command(lambda: means().run(), lambda: means().why_not())

    def _why_no_guide(self) -> str:
        return "" if self.chosen.items() else self.chosen.no_item()

    def _why_no_keep(self) -> str:
        found = self.chosen.items("items")
        if any(each.entry.fields.get("state") != "kept" for each in found):
            return ""
        return "It is kept already." if len(found) == 1 else "They are kept already."

    def _why_no_edit(self) -> str:
        found = self.chosen.items()
        if not found:
            return self.chosen.nothing()
        if len(found) > 1:
            return self.screen.one_by_one()
        if not fits(found[0].text):
            return f"It is too long to be changed here. It is in {safe_text.line(found[0].path)}."
        return ""

    def _decide(self, kind: str, code: str, operation: Callable[[Review, list[Waiting]], object]) -> None:
        """Run an operation on the chosen drafts or items; `code` is what it decides, as in `drafts.DECIDED`."""
        found = self.chosen.items(kind)
        self.chosen.act(lambda: operation(self.services.data.review(), found), drafts.decided(code, found), kind)

    async def wait(self) -> None:
        """Ask until when the chosen drafts wait, and hide them until then; or bring snoozed ones back."""
        found, now = self.chosen.items("updates"), self.services.data.now()
        asleep = any(each.until(now) is not None for each in found)
        days: dict[str, str] = {}  # each once: on Sundays next week begins tomorrow
        for given in DAYS:
            days.setdefault(dates.day(snoozing.moment(given, now) or now, now), given)
        rows = [("now", "now: back into the list")] * asleep
        rows += [(given, f"{DAYS[given]:<10}  {day}") for day, given in days.items()]
        answer = await self.services.ask(Choice(f"Hide {drafts.named(found)} until", [*rows, (DATE, "another time …")]))
        if answer == DATE:
            asked = Line("Hide until", below=snoozing.TAKEN, check=lambda words: snoozing.moment(words, now))
            answer = await self.services.ask(asked)
        if not answer:
            return
        until = snoozing.moment(answer, now)
        review, done = self.services.data.review(), drafts.snoozed(found, until, now)
        self.chosen.act(lambda: review.snooze(found, until), done, "updates")

    async def guide(self) -> None:
        """Turn the chosen entries into notes. Several, or one that is not fully on the screen, are shown first."""
        found = self.chosen.items()
        count, it = many(len(found), "entry", "entries"), "a note" if len(found) == 1 else "notes"
        if not (len(found) == 1 and found[0] is self.chosen.under_cursor and self._fully_shown(found[0])):
            title = f"Turn {count} into {it}: the agent gets this"
            if not await self.services.ask(Preview(title, guidance_text(found), f"turn {count} into {it}")):
                return
        why_unheard = unheard.keyed(self.services.data.unheard())
        when = f"but nothing delivers it yet: {why_unheard}" if why_unheard else "for the next prompt"
        done = f"Now {it}: {drafts.named(found)}, {when}."
        self.chosen.act(lambda: self.services.data.review().to_guidance(found), done)

    def _fully_shown(self, item: Waiting) -> bool:
        """Return whether the entry under the cursor is on the screen to its end; a short item always is."""
        short = item.kind == "items" and lines_of(Text(item.text), self.screen.detail_width) <= SHORT
        return short or self.screen.detail_seen

    async def edit(self) -> None:
        """Rewrite a draft and approve it, or change the text of an item."""
        (item,) = self.chosen.items()
        await (self._edit_item(item) if item.kind == "items" else self.approving.rewrite(item))

    async def _edit_item(self, item: Waiting) -> None:
        def check(now: Waiting, values: Values) -> str:
            if not values["body"].strip():
                raise UsageError("The text is empty.", actions.keyed("{inbox.done} marks an item done."))
            return f"changes {now.path}"

        def save(now: Waiting, values: Values) -> None:
            if values["body"].strip() in {now.text.strip(), safe_text.clean(now.text).strip()}:
                self.services.say(NOTHING)
                return
            self.services.data.review().edit(now, values["body"])
            self.services.say(f"Changed {drafts.named([now])}. {actions.takes_back()}")
            self.services.read()

        title, data = "Text of the item", self.services.data
        subject = EntrySubject(
            data, item, lambda now: {"body": now.text}, title=title, verb="save", check=check, save=save
        )
        await self.services.ask(DraftForm(subject, self.services))
        self.screen.fill()
        self.screen.table.redraw()
