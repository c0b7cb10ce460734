"""What can be done to guidance: write, change, withdraw, say again; marks."""

from typing import TYPE_CHECKING

from memtui import actions
from memtui.actions import Action
from memtui.core.base.phrasing import many
from memtui.core.deliveries.record import text_of
from memtui.core.review.waiting import Waiting
from memtui.present import unheard
from memtui.tui.dialogs.compose import EVERYWHERE, PROJECT, Compose, blank, note_of
from memtui.tui.screens.guidance import rows
from memtui.tui.screens.guidance.rows import Row
from memtui.tui.screens.two_panes import TwoPanes
from memtui.tui.widgets.rows import RowList

# The foot's order.
ON_WAITING, ON_TOLD = ("edit", "withdraw", "again", "mark", "filter"), ("again", "mark", "filter")


class GuidanceActs(TwoPanes):
    """The part of the screen that changes something; `table` lists the notes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Row] = []
        self.names: dict[str, str] = {}
        self.every = False
        self._wanted = ""

    if TYPE_CHECKING:

        def count(self) -> None: ...

    @property
    def table(self) -> RowList[Row]:
        """The notes."""
        return self.query_one("#list", RowList)

    def _project(self, row: Row) -> str:
        """The name of the project that a note belongs to."""
        slug = self._slug(row)
        if slug in {None, self.main.data.slug}:
            return self.main.data.facts.project
        home = row.item.entry.fields.get("project", "") if row.item is not None else ""
        home = text_of(row.note.record, "project_root") if row.note is not None else home
        return home.rstrip("/").rpartition("/")[2] or self.names.get(slug or "") or slug or ""

    def _slug(self, row: Row) -> str | None:
        if row.item is not None:
            return row.item.slug
        return (text_of(row.note.record, "project") if row.note is not None else "") or self.main.data.slug

    def copied(self) -> str:
        """What y copies: the note."""
        return self.table.row.text if self.table.row else ""

    def do_guidance_filter(self) -> None:
        """Open the filter."""
        self.open_filter()

    def do_guidance_projects(self) -> None:
        """This project, or all of them."""
        self.every = not self.every
        self.reload()

    def do_guidance_mark(self) -> None:
        """Mark."""
        self.table.toggle_mark()
        self.count()

    def do_guidance_mark_all(self) -> None:
        """Mark all that are listed, or none."""
        every = {row.key for row in self.table.rows}
        self.table.marks = set() if every <= self.table.marks else every
        self.table.redraw()
        self.count()

    def do_guidance_range(self) -> None:
        """Mark a range."""
        self.table.mark_range()
        self.count()
        if self.table.in_range:
            self.tell(actions.keyed("a range begins here: {guidance.range} again at its end"))

    # changing

    def why_not(self, action_id: str) -> str:
        """What needs a note, and one that still waits."""
        verb = action_id.partition(".")[2]
        row = self.table.row
        if verb in {"edit", "withdraw", "again", "mark", "mark_all", "range", "open"} and row is None:
            return "There is no note under the cursor."
        marked = len(self.table.chosen())
        if verb in {"edit", "again"} and marked > 1:
            return f"{marked} are marked, this goes one by one: escape unmarks."
        waits = self._waiting() if verb == "withdraw" else row is not None and row.item is not None
        if verb in {"edit", "withdraw"} and not waits:
            if row is not None and row.taken is not None:
                return "It is under way: the client has it already."
            return actions.keyed("It was told already. {guidance.again} says it again.")
        return ""

    def footer_actions(self) -> list[Action]:
        """What can be done with the row under the cursor comes first."""
        row = self.table.row
        order = ON_WAITING if row is None or row.item is not None else ON_TOLD
        return [actions.get(f"guidance.{verb}") for verb in order]

    def _waiting(self) -> list[Waiting]:
        return [row.item for row in self.table.chosen() if row.item is not None]

    def go_to(self, item: Waiting) -> None:
        """Put the cursor on a note that waits, once it is read."""
        self.every = self.every or item.slug not in {None, self.main.data.slug}
        self._wanted = item.text
        if self.is_mounted:
            self.reload()

    def _write(self, form: Compose) -> None:
        def then(sent: str | None) -> None:
            if sent:
                self._wanted = sent
                self.main.read()

        self.app.push_screen(form, then)

    def do_guidance_new(self) -> None:
        """Write guidance."""
        self._write(Compose(self.main.data))

    do_app_guide = do_guidance_new

    def do_guidance_edit(self) -> None:
        """Change what waits, and is under the cursor."""
        row = self.table.row
        if row is not None:
            self._write(Compose(self.main.data, item=row.item, home=(self._slug(row), self._project(row))))

    def do_guidance_withdraw(self) -> None:
        """Take it back."""
        items = self._waiting()
        try:
            self.main.data.review().withdraw(items)
            self.table.clear_marks()
            self.main.say(f"Withdrawn: {many(len(items), 'note')}. {actions.key_of('app.undo')} brings it back.")
        finally:
            self.main.read()

    def do_guidance_again(self) -> None:
        """Say it again: the form opens with the text. What expired or is held gets another go itself."""
        row = self.table.row
        if row is None:
            return
        if row.item is not None and rows.is_over(row):
            self._renew(row.item)
            return
        everywhere = row.note is not None and row.note.scope == "global"
        note = note_of(row.item) if row.item else blank(self.main.data, row.text, EVERYWHERE if everywhere else PROJECT)
        home = self._slug(row), self._project(row)
        self._write(Compose(self.main.data, note, key=row.key.rpartition(" ")[2], home=home))

    def _renew(self, item: Waiting) -> None:
        try:
            self.main.data.review().again(item)
            self._wanted = item.text
            deaf = unheard.keyed(self.main.data.unheard())
            words = f"but nothing delivers it yet: {deaf}" if deaf else "as if it were new"
            self.main.say(f"It goes once more, {words}. {actions.takes_back()}")
        finally:
            self.main.read()
