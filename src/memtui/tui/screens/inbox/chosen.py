"""The rows that a command of the inbox works on, and what the commands of all kinds share."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import ClassVar, Generic, TypeVar, cast

from rich.text import Text

from memtui import keymap
from memtui.base import dates
from memtui.base.dates import NEVER
from memtui.base.phrasing_hot import cut
from memtui.review.waiting_entries import Waiting, hidden_until, hide, hiding_step
from memtui.store.memory import read_memory
from memtui.tui.dialogs.ask import Choice, ignored
from memtui.tui.dialogs.dialog import Preview
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.memory_subject import TOO_LARGE, MemorySubject, too_large
from memtui.tui.dialogs.subject import fits
from memtui.tui.model import autosave
from memtui.tui.screens.frame import Described
from memtui.tui.screens.inbox.row import InboxView, autosave_name, counted
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import Services
from memtui.tui.texts import TABLES
from memtui.views import colours, drafts, safe_text
from memtui.views.decisions import Decision
from memtui.views.parts import Words

# The parts of the files that a decision about an entry, or about memories, touches. What else depends on it is read
# when the keys rest.
ENTRIES, MEMORIES, RULES = frozenset({"inbox"}), frozenset({"memories"}), frozenset({"rules"})
# When a row may wait until, in words that `hidden_until` reads: words for the person.
DAYS = {"tomorrow": "tomorrow", "3d": "in 3 days", "monday": "next week"}
NOW = "now"
GIST_SHOWN = 40  # characters of a row's sentence in a note
Kind = TypeVar("Kind", bound=Decision)


class Chosen:
    """What the keys act on. `rows`: what was chosen when a command began; none outside of one."""

    rows: Sequence[Decision] = ()

    def __init__(
        self, services: Services, screen: ListScreen[Decision], take_off: Callable[[Sequence[Decision]], object]
    ) -> None:
        self.services, self.screen, self.table, self._take_off = services, screen, screen.table, take_off

    @property
    def leader(self) -> Decision | None:
        """The row whose kind decides what a command does: the chosen one under the cursor, else the first."""
        under = self.table.row
        if under is not None and not self.table.marks:
            return None if under.folds else under
        rows = self._all()
        return under if under in rows else rows[0] if rows else None

    def _all(self) -> list[Decision]:
        return [row for row in self.table.chosen() if not row.folds]

    def same_kind(self) -> list[Decision]:
        if self.rows:
            return list(self.rows)
        leader = self.leader
        if leader is None or not self.table.marks:
            return [] if leader is None else [leader]
        return [row for row in self._all() if row.kind.family == leader.kind.family]

    def markable(self) -> Sequence[Decision]:
        """Return the rows like the one under the cursor that need no look by themselves, if any; else all."""
        under = self.table.row
        if under is None or under.folds:
            under = self.leader
        if under is None:
            return []
        alike = [row for row in self.table.rows if row.kind is under.kind]
        if under.until is not None:
            return [row for row in alike if row.until is not None]
        return [row for row in alike if not row.needs_look] or [row for row in alike if row.until is None]

    def count(self) -> str:
        """Return what the keys act on where that is not the row under the cursor alone: `1 draft`."""
        alike = self.same_kind() if self.table.marks else []
        return "" if not alike or (len(self._all()) == 1 and self.table.row in alike) else counted(alike)

    def is_seen(self) -> bool:
        """Return whether all that is chosen is on the screen: one row, under the cursor, shown to its end."""
        return self.table.chosen() == [self.table.row] == self.same_kind() and self.screen.detail_seen

    async def agrees(self, title: str, text: Text, go: str) -> bool:
        """Show what is going to be done; return whether the person goes on."""
        return await self.services.ask(Preview(title, text, go)) is True

    def take_off(self, failed: Collection[str] = ()) -> None:
        """Take the chosen rows but the `failed` off the list at once."""
        rows = [row for row in self.same_kind() if row.key not in failed]
        marks = self.table.marks - {row.key for row in rows}
        self.table.clear_marks()
        self.table.marks = marks
        self._take_off(rows)

    def act(self, change: Callable[[], object], words: str, parts: frozenset[str] | None = None) -> None:
        """Make a change, take its rows off, and say so. Raises what `change` raises. `parts`: to be read again."""
        self.services.make(change, words, parts)
        self.take_off()

    def nothing(self) -> str:
        """Say that nothing is chosen, if nothing is: the filter hides what is marked, or the row is a fold."""
        if self._all():
            return ""
        if self.table.marks and not self.table.chosen():
            return "The filter hides the marked ones: escape shows them."
        return self._why_fold() or "There is nothing under the cursor."

    def _why_fold(self) -> str:
        folds = () if self.table.row is None else self.table.row.folds
        shows = f"enter shows or hides {'it' if len(folds) == 1 else 'them'}"
        return f"This row folds {counted(folds)}: {shows}." if folds else ""

    def why_not_marked(self) -> str:
        return self._why_fold() or self.nothing()


class RowCommands(Generic[Kind]):
    """The details of rows of one family, and the commands on them: a method for each verb of the family's kinds."""

    of_one: ClassVar[frozenset[str]] = frozenset({"edit", "history", "follow"})  # verbs that work on a single row

    def __init__(self, chosen: Chosen, view: InboxView) -> None:
        self.services, self.screen, self.chosen, self.view = chosen.services, chosen.screen, chosen, view

    @property
    def rows(self) -> list[Kind]:
        return cast("list[Kind]", self.chosen.same_kind())

    @property
    def items(self) -> list[Waiting]:
        return [row.item for row in self.rows if row.item]

    def why_not(self, verb: str) -> str:  # noqa: ARG002
        """Say why a verb is not possible with the chosen rows, if it isn't."""
        return ""

    def describe(self, row: Kind) -> Described:
        return Described(Text(row.kind.word))

    def look_up(self, row: Kind) -> Callable[[], object] | None:
        """Return what finds out more about a row, which takes a worker; None if there is nothing."""
        return None if row.item is None or row.key in self.view.evidence else self.view.finder(row.item)

    def copied(self, row: Kind) -> str:
        return "" if row.item is None else row.item.text

    def named(self, rows: Sequence[Decision]) -> str:
        return f"“{cut(safe_text.line(rows[0].says), GIST_SHOWN)}”" if len(rows) == 1 else counted(rows)

    async def later(self) -> None:
        """Ask until when the chosen rows are hidden, and hide them or bring them back."""
        rows, now = self.rows, self.services.data.now()
        what = self.named(rows)
        options = [(NOW, "now: back into the list")] * any(row.until for row in rows)
        for words, shown in DAYS.items():
            options.append((words, f"{shown:<10}  {dates.day(hidden_until(words, now) or now, now)}"))
        if answer := await self.services.ask(Choice(f"Hide {what} until", options)):
            until = hidden_until(answer, now)
            self._hide(rows, until, drafts.put_off("" if len(rows) == 1 else what, until, now))

    def rejected(self, rows: Sequence[Decision], *, never: bool = False) -> str:
        word = TABLES["rejected"][rows[0].kind.verbs["reject"]]
        return f"{word}{', and nothing like it comes again' * never}: {self.named(rows)}."

    def reject(self) -> object:
        """Hide the chosen rows for good; families that have another way of rejecting replace it."""
        self._hide(self.rows, NEVER, self.rejected(self.rows))
        return None

    def _hide(self, rows: Sequence[Decision], until: float | None, words: str) -> None:
        data, items = self.services.data, [row.item for row in rows if row.item]
        if items:
            self.chosen.act(lambda: data.review().snooze(items, until), words, ENTRIES)
            return
        keys, step = [row.later_key for row in rows], hiding_step(self.named(rows), until, data.now())
        self.chosen.act(lambda: hide(data.journal(), keys, until, step), words)

    async def goes_on_with_own(self, edit: Callable[[], Awaitable[object]]) -> bool:
        """Go on in its form with the text of one row that was edited and not saved; return whether there was any."""
        rows = self.rows
        has_own = len(rows) == 1 and autosave.kept(self.services.data.root, autosave_name(rows[0])) is not None
        if has_own:
            await edit()
        return has_own

    def own_text(self, row: Kind) -> Words:
        """Return the line that says that a row was edited and not saved; empty if it was not."""
        saved = autosave.kept(self.services.data.root, autosave_name(row))
        words = f"{autosave.unsaved(saved.time, self.view.now, 'inbox.edit')}\n" if saved is not None else ""
        return Words(words, colours.WARNING)

    def unsaved(self) -> str:
        """Return a line that says how many of several chosen rows were edited and not saved; empty if none was."""
        rows = self.rows
        names = autosave.names(self.services.data.root) if len(rows) > 1 else ()
        count = sum(autosave.has(names, autosave_name(row)) for row in rows)
        return f"! {ignored(count, 'inbox.edit')}\n" if count else ""

    def why_too_long(self) -> str:
        item = self.items[0]
        return "" if fits(item.text) else f"It is too long to be changed here. It is in {safe_text.line(item.path)}."

    async def edit_memory(self, path: str, label: str) -> bool:
        """Edit a memory in its form, over the inbox; one that is too large is shown. Return whether it was saved."""
        data, memory = self.services.data, read_memory(path, label)
        if too_large(memory):
            self.services.go_to_memory(path)
            self.services.warn(keymap.keyed(TOO_LARGE))
            return False
        own_text = autosave.kept(data.root, autosave.name_of(path))
        saved = await self.services.ask(DraftForm(MemorySubject(data, memory, own_text), self.services))
        self.services.read()
        return bool(saved)

    async def go_to(self, paths: Sequence[str]) -> None:
        path: str | None = paths[0]
        if len(paths) > 1:
            rows = [(other, safe_text.line(self.services.data.tilde(other))) for other in paths]
            path = await self.services.ask(Choice("Go to which memory?", rows))
        if path:
            self.services.go_to_memory(path)
