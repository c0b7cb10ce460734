"""Memories that somebody else wrote, as rows of the inbox, and the commands that decide about them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from rich.text import Text

from memtui import actions
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import age, ago, many
from memtui.core.memories.memory import read_memory
from memtui.core.memories.writers import Occasion
from memtui.core.review import changed
from memtui.core.review.changed import Changed
from memtui.present import changed as words
from memtui.present import safe_text, versions
from memtui.present.memories import scope_name
from memtui.tui.batch import BatchRunner, left_alone
from memtui.tui.dialogs import history
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.memory_subject import TOO_LARGE, MemorySubject, too_large
from memtui.tui.model import autosave, line_diff
from memtui.tui.model.data import Data
from memtui.tui.screens.inbox.chosen import Chosen
from memtui.tui.screens.inbox.hiding import HideCommands
from memtui.tui.screens.inbox.row import InboxRow, InboxView, RowKind
from memtui.tui.screens.inbox.text import lines_of
from memtui.tui.screens.list_screen import Described
from memtui.tui.services import Command
from memtui.tui.widgets.key_lines import append_keys

NAMES = ("what you saw last", "the present one")
KEYS = (
    ("inbox.accept", "keep it: it counts as seen"),
    ("inbox.edit", "edit it; what you save counts as seen"),
    ("inbox.reject", "take it back: what you saw last is restored"),
)


CHANGED = RowKind(
    "changed",
    "changed",
    "changed memory",
    "changed memories",
    {"accept": "keep", "edit": "edit", "reject": "take back", "later": "later", "history": "versions"},
)


@dataclass(frozen=True)
class ChangedRow(InboxRow):
    """A memory that somebody else wrote since the person last saw it."""

    changed: Changed = field(kw_only=True)

    @property
    def kind(self) -> RowKind:
        """A memory that others wrote."""
        return CHANGED

    @property
    def later_key(self) -> str:
        """What tells this version from all others while it is hidden."""
        return f"{self.key}@{self.changed.now.digest}"

    @property
    def gist(self) -> str:
        """The memory, what was done to it, and by whom."""
        what = "" if self.changed.kind == "edited" else f"{words.DID[self.changed.kind]}, "
        return f"{self.changed.name}, {what}{words.who(self.changed)}"

    def where(self, view: InboxView) -> str:
        """Return the scope that it is in."""
        return scope_name(self.changed.scope, view.services.data.facts.project)

    def extent(self, view: InboxView) -> str:
        """Return its age."""
        return age(self.changed.now.written, view.now)

    def describe(self, view: InboxView) -> Described:
        """Return who wrote it, and the lines that differ."""
        occasion = view.occasions.get(self.changed.key)
        head = _head(self.changed, occasion, view.now)
        difference = self._difference(view)
        path = safe_text.line(view.services.data.tilde(self.changed.key))
        text = head.copy().append(f"{path}\n\n", "dim").append_text(difference)
        view.needed = lines_of(text, view.detail_width)
        keys = KEYS if self.changed.kind != "deleted" else (KEYS[0], KEYS[2])
        append_keys(text, keys, read_only=view.services.read_only)
        return Described(text, Text("── ", "dim").append_text(head).append_text(difference))

    def copied(self, view: InboxView) -> str:
        """Return the lines that differ."""
        return self._difference(view).plain

    def _difference(self, view: InboxView) -> Text:
        return difference(view.services.data, self.changed)


def _head(item: Changed, occasion: Occasion | None, now: float) -> Text:
    """Return who wrote a memory, when, and after which prompt; `occasion` None: that is still looked up."""
    text = Text(safe_text.line(item.ref), "bold")
    title = occasion.title if occasion is not None else ""
    when = ago(item.now.written, now)
    text.append(f"\n{safe_text.line(words.by(item, title))} · {when}\n", "dim")
    if occasion is not None and occasion.prompt:
        text.append(safe_text.line(versions.prompted(occasion.prompt)) + "\n", "dim")
    return text


def difference(data: Data, item: Changed) -> Text:
    """Return the lines that differ, with the words marked; or why they can't be shown."""
    try:
        before, after = (each.decode("utf-8", "replace") for each in changed.texts(data.versions, item))
    except MemtuiError as error:
        return Text(f"! {safe_text.line(error.message)}\n", "yellow")
    return line_diff.drawn(before.rstrip("\n"), after.rstrip("\n"), NAMES)


class ChangedCommands(HideCommands):
    """The commands that keep, edit and take back memories that somebody else wrote."""

    def __init__(self, chosen: Chosen, bulk: BatchRunner) -> None:
        super().__init__(chosen)
        self.screen, self.bulk = chosen.screen, bulk

    def table(self) -> dict[str, Command]:
        """Return the commands by verb."""
        return super().table() | {
            "accept": Command(self.keep),
            "edit": Command(self.edit, self._why_no_edit),
            "reject": Command(self.take_back),
            "history": Command(self.history, self.screen.one_by_one),
            "follow": Command(self.follow, self.screen.one_by_one),
        }

    def _memories(self) -> list[Changed]:
        return [row.changed for row in self.chosen.rows(ChangedRow)]

    async def keep(self) -> None:
        """Mark the chosen ones as seen; what is not on the screen is shown first."""
        found, data = self._memories(), self.services.data
        if not await self._agreed("keep", found):
            return
        changed.keep(data.store().journal, data.versions, found)
        untrusted = words.not_trusted(changed.untrusted(data.root, found))
        why = f" {untrusted}: {actions.key_of('memories.trust')} in Memories trusts it." if untrusted else ""
        others, note = self.chosen.still_marked()
        self.chosen.unmark(others)
        self.services.say(f"{words.done('keep', found)}{why}{note} {actions.takes_back()}")
        self.services.read()

    async def _agreed(self, verb: str, found: Sequence[Changed]) -> bool:
        """Show what is not on the screen, and return whether the person goes on."""
        if self.chosen.is_seen():
            return True
        text, data = Text(), self.services.data
        for item in found:
            text.append_text(_head(item, None, data.now())).append_text(difference(data, item)).append("\n")
        what = f"{verb} {many(len(found), 'memory', 'memories')}"
        title = f"{what[0].upper()}{what[1:]}: this is what others wrote"
        answer = await self.services.ask(Preview(title, text, what))
        return bool(answer)

    async def take_back(self) -> None:
        """Restore what the person saw last of the chosen ones, as one step of undo; say which could not be. What is not
        on the screen is shown first."""
        found, data = self._memories(), self.services.data
        if not await self._agreed("take back", found):
            return
        store, (others, note) = data.store(), self.chosen.still_marked()
        try:
            outcome = await self.bulk.each(store, found, partial(changed.take_back_one, store, data.versions))
            done = [item for item, _ in outcome.done]
            left = {f"changed:{item.key}" for item, _ in outcome.failed}
            self.chosen.unmark(others | (self.screen.table.marks & left))
            data.take_in()
        finally:
            self.services.read()
        if len(found) == 1 and outcome.failed:
            raise outcome.failed[0][1]
        said = words.done("take back", done, len(outcome.failed))
        if not outcome.failed:
            self.services.say(f"{said}{note} {actions.takes_back()}")
            return
        reasons = [(row["name"], row["message"]) for row in words.failures(outcome.failed)]
        await self.services.ask(left_alone(f"{many(len(reasons), 'memory', 'memories')} left alone: {said}", reasons))

    async def edit(self) -> None:
        """Edit the memory in its form, over the inbox: what is saved there counts as seen."""
        (item,) = self._memories()
        data = self.services.data
        found = read_memory(item.key, item.scope.label)
        if too_large(found):
            self.services.go_to_memory(item.key)
            self.services.warn(actions.keyed(TOO_LARGE))
            return
        kept = autosave.kept(data.root, autosave.name_of(found.path))
        if await self.services.ask(DraftForm(MemorySubject(data, found, kept), self.services)):
            data.take_in()
            self.chosen.unmark(self.chosen.still_marked()[0])
        self.services.read()

    async def history(self) -> None:
        """List the versions of the chosen one, and restore one."""
        (item,) = self._memories()
        await history.show_memory(self.services, item.scope, item.key)

    def follow(self) -> None:
        """Go to the memory."""
        self.services.go_to_memory(self._memories()[0].key)

    def _why_no_edit(self) -> str:
        if reason := self.screen.one_by_one():
            return reason
        return "It was deleted: there is nothing to edit." if self._memories()[0].kind == "deleted" else ""
