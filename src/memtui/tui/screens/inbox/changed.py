"""Memories that somebody else wrote, in the inbox: what the detail says of one, and the commands that decide."""

from functools import partial

from rich.text import Text

from memtui import actions
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import ago, many
from memtui.core.memories.memory import read_memory
from memtui.core.memories.writers import Occasion
from memtui.core.review import changed
from memtui.core.review.changed import Changed
from memtui.present import changed as words
from memtui.present import safe_text, versions
from memtui.tui.batch import BatchRunner, left_alone
from memtui.tui.dialogs import memory_history
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.memory_subject import TOO_LARGE, MemorySubject, too_large
from memtui.tui.model import autosave, line_diff
from memtui.tui.model.data import Data
from memtui.tui.screens.inbox.chosen import Chosen
from memtui.tui.screens.inbox.rows import InboxRow
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import Services
from memtui.tui.widgets.key_lines import append_keys

NAMES = ("what you saw last", "the present one")
KEYS = (
    ("inbox.approve", "keep it: it counts as seen"),
    ("inbox.edit", "edit it; what you save counts as seen"),
    ("inbox.reject", "take it back: what you saw last is restored"),
)


def head(item: Changed, occasion: Occasion | None, now: float) -> Text:
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


def described(data: Data, item: Changed, occasion: Occasion | None, *, read_only: bool) -> Text:
    """Return the whole detail of one."""
    text = head(item, occasion, data.now())
    text.append(safe_text.line(data.tilde(item.key)) + "\n\n", "dim").append_text(difference(data, item))
    keys = KEYS if item.kind != "deleted" else (KEYS[0], KEYS[2])
    append_keys(text, keys, read_only=read_only)
    return text


def glance(data: Data, item: Changed, occasion: Occasion | None) -> Text:
    """Return the beginning of the detail."""
    text = Text("── ", "dim").append_text(head(item, occasion, data.now()))
    return text.append_text(difference(data, item))


def folded(rows: "tuple[InboxRow, ...]", *, is_open: bool) -> Text:
    """Return what is in the fold of many."""
    text = Text("Memories that Claude, an editor or a program wrote since you last saw them.")
    text.append(f"\nenter {'hides' if is_open else 'shows'} them; ", "dim")
    text.append(f"{actions.key_of('inbox.approve')} on this line keeps all of them.\n\n", "dim")
    for each in rows:
        if each.changed is not None:
            text.append(f"{words.DID[each.changed.kind]:<9}", "dim").append(safe_text.line(each.changed.ref) + "\n")
    return text


class ChangedCommands:
    """The commands that keep, edit and take back memories that somebody else wrote."""

    def __init__(self, services: Services, screen: ListScreen[InboxRow], chosen: Chosen, bulk: BatchRunner) -> None:
        self.services, self.screen, self.chosen, self.bulk = services, screen, chosen, bulk

    def keep(self) -> None:
        """Mark the chosen ones as seen."""
        found = self.chosen.changed()
        changed.keep(self.services.data.store().journal, self.services.data.versions, found)
        self._unmark(found)
        untrusted = words.not_trusted(changed.untrusted(self.services.data.root, found))
        why = f" {untrusted}: {actions.key_of('memories.trust')} in Memories trusts it." if untrusted else ""
        self.services.say(f"{words.done('keep', found)}{why} {actions.takes_back()}")
        self.services.read()

    async def take_back(self) -> None:
        """Restore what the person saw last of the chosen ones, as one step of undo; say which could not be."""
        found, data = self.chosen.changed(), self.services.data
        store = data.store()
        try:
            outcome = await self.bulk.each(store, found, partial(changed.take_back_one, store, data.versions))
            done = [item for item, _ in outcome.done]
            self._unmark(done)
            data.take_in()
        finally:
            self.services.read()
        if len(found) == 1 and outcome.failed:
            raise outcome.failed[0][1]
        said = words.done("take back", done, len(outcome.failed))
        if not outcome.failed:
            self.services.say(f"{said} {actions.takes_back()}")
            return
        reasons = [(row["name"], row["message"]) for row in words.failures(outcome.failed)]
        await self.services.ask(left_alone(f"{many(len(reasons), 'memory', 'memories')} left alone: {said}", reasons))

    async def edit(self) -> None:
        """Edit the memory in its form, over the inbox: what is saved there counts as seen."""
        (item,) = self.chosen.changed()
        data = self.services.data
        found = read_memory(item.key, item.scope.label)
        if too_large(found):
            self.services.go_to_memory(item.key)
            self.services.warn(actions.keyed(TOO_LARGE))
            return
        kept = autosave.kept(data.root, autosave.name_of(found.path))
        if await self.services.ask(DraftForm(MemorySubject(data, found, kept), self.services)):
            data.take_in()
            self._unmark([item])
        self.services.read()

    async def history(self) -> None:
        """List the versions of the chosen one, and restore one."""
        (item,) = self.chosen.changed()
        await memory_history.show(self.services, item.scope, item.key)

    def why_no_history(self) -> str:
        """Say why no versions can be listed, if they can't."""
        found = self.chosen.changed()
        if not found:
            return self.chosen.hidden() or "Only a memory that others changed has versions here."
        return self.screen.one_by_one() if len(found) > 1 else ""

    def why_no_edit(self) -> str:
        """Say why the chosen ones can't be edited, if they can't."""
        found = self.chosen.changed()
        if len(found) > 1:
            return self.screen.one_by_one()
        return "It was deleted: there is nothing to edit." if found[0].kind == "deleted" else ""

    def _unmark(self, done: "list[Changed]") -> None:
        keys = {f"changed:{item.key}" for item in done}
        self.screen.table.marks = self.screen.table.marks - keys
        self.screen.count()
