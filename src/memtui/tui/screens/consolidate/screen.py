"""The Consolidate screen: what is proposed to be done about the memories, worst first, for a person to decide."""

from collections.abc import Callable, Collection, Container, Sequence
from dataclasses import replace
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.binding import BindingType

from memtui import actions
from memtui.consolidate import weighing
from memtui.core.base.phrasing import many
from memtui.present import changesets, safe_text
from memtui.present import legend as marks
from memtui.tui import key_bindings
from memtui.tui.model import autosave
from memtui.tui.screens.consolidate import rows, text
from memtui.tui.screens.consolidate.commands import ConsolidateCommands
from memtui.tui.screens.consolidate.outcome_subject import autosave_name
from memtui.tui.screens.consolidate.reading import (
    ChangesFound,
    PlanFailed,
    PlanMade,
    PlanProgress,
    PlanReader,
    ProposalRow,
    RowsWeighed,
)
from memtui.tui.screens.list_screen import Described, ListScreen
from memtui.tui.services import Command, Services
from memtui.tui.widgets.bars import PROJECT_MOST
from memtui.tui.widgets.rows import RowList

PLANNING = "Looking for what can be merged, fixed or removed …\nescape stops."
STOPPED = "Planning was stopped.\n{app.refresh} plans."
EMPTY = """Nothing to consolidate.
Memories that overlap, have expired, are broken or are missing in MEMORY.md are listed here, each with its fix."""
# Which memories this is about.
HERE = "These are changes of {}, and of the memories that it shares with all projects."
ELSEWHERE = "For those of another project, start memtui there."
MORE = "\n{} left for you: {app.setup} and `memtui check` say what to do."


class Consolidate(ListScreen[ProposalRow]):
    """The screen: on the left the proposals, on the right why, what is lost, and what changes."""

    BINDINGS: ClassVar[list[BindingType]] = [*key_bindings.bindings("consolidate")]
    group: ClassVar[str] = "consolidate"
    detail_percent: ClassVar[int] = 55
    glance_lines: ClassVar[int] = 12
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "inbox", "memories"})
    row_word: ClassVar[str] = "change"
    nothing_chosen: ClassVar[str] = "No change is selected."
    legend: str = (
        marks.section("Changes", rows.MARKS)
        + "\n"
        + marks.section("Kinds", changesets.MEANINGS.items())
        + "\nsize: by how much MEMORY.md and the memories become smaller (-) or larger (+) together. In the detail,"
        " what is dropped comes first; a good paraphrase may be listed there, too. A statement is a sentence, an item"
        " of a list, a row of a table, a heading or a block of code; what several memories say counts once."
    )

    def __init__(self, services: Services) -> None:
        table = RowList[ProposalRow](rows.COLUMNS, self._draw, lambda row: row.key, id="list")
        super().__init__(services, table, rows.searched, placeholder="filter: kind, name, reason, scope")
        self.reader = PlanReader(services.data, self.post_message)
        self.commands |= ConsolidateCommands(services, self, self._decided).table()
        self.commands["app.undo"] = Command(self.undo)
        self.commands["consolidate.projects"] = Command(self._say_project)
        self.planning = self.planned = self._stopped = False
        self._begins = not services.has_read
        self.is_stale = False
        self._problem, self._progress = "", ""
        self._left = 0
        self._autosaves: Container[str] = ()
        self._had: set[str] = set()

    # reading

    def reload(self) -> None:
        """Plan when the screen is first shown; later look whether files have changed since."""
        if self.planned:
            self._look_for_changes()
        elif not self.planning and not self._stopped:
            self.plan()

    def follow(self, parts: frozenset[str] | None) -> None:
        """Plan again after a change made here, or when the person asks for it; after one by others, if the plan depends
        on what has changed."""
        if parts is None and self._begins:  # the first reading of the application, during which planning has begun
            self._begins = False
        elif parts is None:
            self.plan()
        else:
            super().follow(parts)

    def plan(self) -> None:
        """Begin to plan in a worker; what was planned before stays on the screen until then."""
        self.planning, self._stopped, self._problem = True, False, ""
        self._work()
        self.fill()

    @work(thread=True, exclusive=True, group="plan")
    def _work(self) -> None:
        self.reader.plan()

    @work(thread=True, exclusive=True, group="changes")
    def _look_for_changes(self) -> None:
        self.reader.look_for_changes([row.proposal for row in self.found])

    def on_plan_progress(self, message: PlanProgress) -> None:
        """Show how far planning is."""
        if self.planning:
            self._progress = message.words
            self.count()

    def on_plan_made(self, message: PlanMade) -> None:
        """Show the plan, without what was decided while it was made."""
        known = {row.id: row.weighed for row in self.found}
        self.found = [replace(row, weighed=known.get(row.id)) for row in message.rows]
        self.planned, self.is_stale, self._left = True, False, message.left
        self._progress = "comparing …"
        if self._had:
            self.wanted = self._first_returned
        self.fill()

    def on_rows_weighed(self, message: RowsWeighed) -> None:
        """Show what some of the proposals save."""
        weighed = {each.proposal.id: each for each in message.found}
        self.found = [replace(row, weighed=weighed.get(row.id, row.weighed)) for row in self.found]
        if message.last:
            self._end()
        self.table.redraw()
        self.fill()

    def on_plan_failed(self, message: PlanFailed) -> None:
        """Show why there is no plan."""
        self._problem = f"{message.error.message} {message.error.hint}".strip()
        self._end()
        self.fill()

    def on_changes_found(self, message: ChangesFound) -> None:
        """Show which proposals are about files that have changed, and plan again."""
        self.found = [replace(row, stale=row.id in message.stale) for row in self.found]
        self.is_stale = any(row.stale for row in self.found)
        self.table.redraw()
        if message.outdated:
            self.plan()
        else:
            self.fill()

    def _end(self) -> None:
        self.planning, self._progress = False, ""
        self.services.data.facts.waiting["consolidate"] = len(self.found)

    # showing

    def fill(self) -> None:
        """Fill the list; what has unsaved text has a mark."""
        self._autosaves = autosave.names(self.services.data.root)
        super().fill()

    def _draw(self, row: ProposalRow) -> list[Text]:
        unsaved = autosave.has(self._autosaves, autosave_name(row.proposal))
        return list(rows.cells(row, self.typed, unsaved=unsaved))

    def why_empty(self) -> str:
        """Return the text of an empty list."""
        if self.typed:
            return super().why_empty()
        if self._problem:
            return safe_text.line(self._problem)
        if self.planning and not self.planned:
            return PLANNING
        if self._stopped:
            return actions.keyed(STOPPED)
        more = actions.keyed(MORE).format(many(self._left, "problem is", "problems are")) if self._left else ""
        return EMPTY + more if self.planned else ""

    def summary(self) -> Text:
        """Return how many changes are proposed and what they save together; first that the plan is stale, if it is."""
        line = Text(no_wrap=True, overflow="ellipsis")
        if self._problem:
            return line.append("! " + safe_text.line(self._problem), style="red")
        if self.is_stale and not self.planning:
            line.append(actions.keyed("! Files have changed: {app.refresh} plans again · "), style="yellow")
        if not self.planned:
            return line.append("Planning …" if self.planning else "No plan", style="bold")
        if not self.found:
            return line.append("Nothing to consolidate", style="bold")
        line.append(f"{many(len(self.found), 'change')} proposed", style="bold")
        line.append(f" in {safe_text.line(self.services.data.facts.project, PROJECT_MOST)}", style="bold")
        safe, lossy = sum(row.safe for row in self.found), sum(map(rows.drops, self.found))
        key = "" if self.services.read_only else "{consolidate.safe}: "
        line.append(actions.keyed(f" · {key}{safe} safe") if safe else "", style="dim")
        line.append(f" · {lossy} drop something" if lossy else "", style="dim")
        # It is the longest, and goes first where there is no room.
        saved = changesets.saved(weighing.total(row.weighed.savings for row in self.found if row.weighed is not None))
        line.append(f" · {saved[:1].lower()}{saved[1:].rstrip('.')}" if saved else "", style="dim")
        return line

    def count(self) -> None:
        """Say on the right of the foot how far planning is, or how many changes pass the filter."""
        if self.planning and self._progress:
            self.tell(f"{self._progress} escape stops")
        else:
            super().count()

    def describe(self, row: ProposalRow) -> Described:
        """Return the detail of a proposal."""
        data, unsaved = self.services.data, ""
        if (kept := autosave.kept(data.root, autosave_name(row.proposal))) is not None:
            unsaved = autosave.unsaved(kept.time, data.now(), "consolidate.edit")
        found = text.detail(row, self.detail_width, unsaved=unsaved, read_only=self.services.read_only)
        return Described(found, *text.glance(row, unsaved))

    @property
    def detail_seen(self) -> bool:
        """Whether the change under the cursor is on the screen to its end."""
        pane = self.detail
        return super().detail_seen and len(pane.lines) <= pane.scroll_y + pane.size.height

    # moving and deciding

    def escape_steps(self) -> Sequence[Callable[[], bool]]:
        """Return the steps of escape: the detail, planning, marks, the filter."""
        return (self.leave_detail, self._stop, self.table.clear_marks, self.clear_filter)

    def _stop(self) -> bool:
        """Stop planning; return False if that is over."""
        if not self.planning:
            return False
        self.workers.cancel_group(self, "plan")
        self._stopped = not self.planned
        self._end()
        self.fill()
        return True

    def _say_project(self) -> None:
        """Say which project this is about, and how to come to another."""
        project = safe_text.line(self.services.data.facts.project)
        self.services.say(f"{HERE.format(project)} {ELSEWHERE}")

    def _decided(self, ids: Collection[str]) -> None:
        """Take proposals off the list at once; the plan that is made anew confirms it."""
        self.found = [row for row in self.found if row.id not in ids]
        self.fill()

    def undo(self) -> None:
        """Undo the last change, and put the cursor on the proposal that comes back."""
        self._had = {row.key for row in self.found}
        self.services.turn("undo")

    def _first_returned(self, shown: Sequence[ProposalRow]) -> int | None:
        had, self._had = self._had, set()
        return next((at for at, row in enumerate(shown) if row.key not in had), None)
