"""The Memories screen: the agent's memories, by scope."""

import dataclasses
import gc
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.widgets import Input

from memtui import actions
from memtui.actions import Action
from memtui.core.base.phrasing import many, some
from memtui.core.health import findings
from memtui.present import memory_query, query, safe_text
from memtui.tui import key_bindings
from memtui.tui.batch import BatchRunner
from memtui.tui.model import autosave, fuzzy
from memtui.tui.model.autosave import Autosave
from memtui.tui.screens.list_screen import NARROW, Described, ListScreen
from memtui.tui.screens.memories import rows, tree
from memtui.tui.screens.memories.commands import MemoryCommands
from memtui.tui.screens.memories.detail import MemoryDetail
from memtui.tui.screens.memories.editing import MemoryEditing
from memtui.tui.screens.memories.navigation import MemoryNavigation
from memtui.tui.screens.memories.reading import Arrived, Counted, Ended, MemoryReader, Read
from memtui.tui.screens.memories.returned import Returned
from memtui.tui.screens.memories.rows import RULE, Pair, View
from memtui.tui.screens.memories.table import MemoryTable
from memtui.tui.screens.memories.text import glance_text
from memtui.tui.screens.memories.trail import Trail
from memtui.tui.screens.memories.transferring import TransferCommands
from memtui.tui.screens.memories.tree import ScopeTree
from memtui.tui.services import Command, Services, first_of
from memtui.tui.widgets.line import OneLine
from memtui.tui.widgets.rows import RowList

if TYPE_CHECKING:
    from memtui.tui.screens.memories.recall import Recall, RecallNews

# The least width in cells for the memory beside the list; on a narrower screen it is below.
BESIDE = 140
# The most autosaves that are named at the start.
AUTOSAVES_NAMED = 4
# The order of actions in the bottom bar.
IN_LIST = ("edit", "filter", "recall", "new", "remove", "mark", "retype", "move", "sort", "attention")
WHILE_READ = ("edit", "next", "previous", "follow", "remove", "retype", "move")
READING = "Reading …"
EMPTY = """Nothing is remembered here yet.

{app.note}  writes a note: your next prompt gets it
{memories.new}  creates a memory
{app.inbox}  shows drafts from your sessions, for you to accept
{app.help}  lists all keys"""
# What fills a scope without memories, by its kind.
FILLED_BY = {
    "global": "What is true in all your projects.\n{memories.new} creates a memory.\n{app.inbox} has drafts.",
    "project": "What all who work on this repository should know, in its .claude/memory.\n{memories.new} creates one.",
    "auto": "Claude Code writes its own memories here while you work.\n{memories.new} creates one.",
    "agent": "The agent of this name writes its own memories here while it works.",
}


def _titles(kept: list[Autosave]) -> str:
    """Return the titles of some autosaves, each with the key that opens it."""
    new, edit = actions.key_of("memories.new"), actions.key_of("memories.edit")
    ways = [f"{new}, its file is gone" if each.orphan else edit if each.path else new for each in kept]
    return some([f"{each.title} ({way})" for each, way in zip(kept, ways, strict=True)], AUTOSAVES_NAMED)


class Memories(ListScreen[Pair]):
    """The screen: scopes on the left, memories in the middle, the memory on the right, below the list or over it."""

    BINDINGS: ClassVar[list[BindingType]] = [*key_bindings.bindings("memories")]
    detail_percent: ClassVar[int] = 28
    HORIZONTAL_BREAKPOINTS = [(0, "narrow"), (NARROW, "stacked"), (BESIDE, "wide")]  # noqa: RUF012  textual's
    group: ClassVar[str] = "memories"
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "log", "memories"})
    row_word: ClassVar[str] = "memory"
    legend: str = rows.LEGEND
    table: MemoryTable

    def __init__(self, services: Services) -> None:
        table = MemoryTable(self._draw, self._glance, empty=READING)
        super().__init__(services, table, rows.searched, placeholder="words, type:, scope:, is:, project:")
        self.places, self.view, self.index_line = ScopeTree(), View(), OneLine(id="line")
        self.reader = MemoryReader(services, self)
        self.details = MemoryDetail(services, self, self.reader)
        self.trail = Trail(services, self, self.places, self.reader, self.go_to)
        self.bulk = BatchRunner(self)
        self.navigation = MemoryNavigation(services, self, table, self.places, self.view, self.relist)
        editing = MemoryEditing(services, table, self.places, self.reader)
        commands = MemoryCommands(services, table, self.places, self.reader, self.bulk)
        self.commands |= self.navigation.table() | commands.table()
        self.commands |= TransferCommands(services, self.places).table()
        self.returned = Returned(services, self, self.reader)
        why_none = first_of(table.why_none, self.one_by_one)
        self.commands["memories.history"] = Command(self._show_history, why_none)
        for verb, term in (("attention", memory_query.IS_PROBLEM), ("project", memory_query.ALL_PROJECTS)):
            self.commands[f"list.{verb}"] = Command(partial(self._toggle, term))
        self.commands["memories.recall"] = Command(self._begin_recall)
        self.commands |= editing.table(self) | self.trail.table(table.why_none) | self.returned.table()
        self._pairs: fuzzy.Haystack[Pair] = fuzzy.Haystack((), rows.searched)
        self.search = memory_query.MemoryQuery()
        self.counted = ""
        self.places.border_title = "scopes"
        self._usual_commands = self.commands
        self.recall: Recall | None = None  # made when it is first begun
        self._painted = False  # whether the list was painted: the detail and the index line come after it

    def body(self) -> ComposeResult:
        """Yield three panes; a narrow screen shows only the list, or the memory over it."""
        with Horizontal(id="panes"):
            yield self.places
            with self.middle:
                yield self.summary_line
                yield self.table
                yield self.filter_line
            yield self.detail
        yield self.index_line

    def begin(self) -> None:
        """Focus the list in its remembered state, with the first page of memories read; all others are read after the
        first paint."""
        left = self.left
        self.view.restore(left)
        self.places.restore(left)
        self._put_query(str(left.get("query") or ""))
        self.table.focus()
        # Within the key press, not by a message after it: the letter and the list are painted at once then.
        self.watch(self.filter_line, "value", self._query_typed, init=False)
        self.reader.first_page(self.app.size.height)
        self._show()
        self.call_after_refresh(self._show_beside)
        kept = autosave.of_memories(self.services.data.root)
        if kept:
            self.services.say(f"{many(len(kept), 'unsaved text')}: {_titles(kept)}.")

    def _keep(self) -> None:
        self.keep(**dataclasses.asdict(self.view), query=self.typed, place=self.places.row_id, folds=self.places.folds)

    async def _show_history(self) -> None:
        from memtui.tui.dialogs import history

        scope, row = self.table.chosen()[0]
        if scope.kind == "model":
            await history.show_block(self.services, row.memory.stem)
        else:
            self.reader.expected = await history.show_memory(self.services, scope, row.memory.path)

    # reading

    def reload(self) -> None:
        """Read all scopes in a worker."""
        self.reader.reload()
        if recall := self.recalled:
            recall.run(fresh=True)

    def follow(self, parts: frozenset[str] | None) -> None:
        """Reload after a change of memories or settings. For the log, read only what was appended."""
        if parts is None or parts & (self.reads - {"log"}):
            self.reload()
        elif "log" in parts:
            self.reader.count_deliveries()
            if recall := self.recalled:
                recall.run(fresh=False)
        elif "receipts" in parts:
            self._take_outcomes(self.services.data.outcomes([]))

    def files_on_screen(self) -> list[str]:
        """Return the files of the memories on the screen."""
        return [pair[1].memory.path for pair in self.table.on_screen() if pair is not RULE]

    def on_read(self, message: Read) -> None:
        """Show the memories that were read."""
        self.reader.take(message)
        if message.whole:
            gc.freeze()  # else each garbage collection visits thousands of memories, and a key waits for it
        self._show()

    def on_counted(self, message: Counted) -> None:
        """Show how often memories were delivered."""
        if message.paths is None:
            self.reload()
        elif self.reader.recount(message.paths) and (self.search.state or self.view.sort in rows.BY_DELIVERIES):
            self.sift()

    def on_arrived(self, message: Arrived) -> None:
        """Show which deliveries arrived."""
        self._take_outcomes(message.outcomes)

    def on_ended(self, _: Ended) -> None:
        """Start the next reading, if one is waiting."""
        self.reader.ended()

    def _take_outcomes(self, outcomes: dict[str, str]) -> None:
        self.reader.outcomes = outcomes
        self.table.redraw()
        self.show_detail()

    # showing

    def _show(self) -> None:
        if not self.table.is_attached:
            return  # the screen is closing
        self.found = self.reader.pairs()
        self.details.forget()
        reader = self.reader
        project = self.services.data.facts.project
        self.places.show_scopes(reader.found, reader.rows, project, reader.unread, loaded=reader.loaded)
        self.returned.look()
        self.sift()
        if reader.expected:
            self._move_to(reader.expected)

    def on_screen_resume(self) -> None:
        """Put the cursor on the memory that was approved meanwhile, once it is read."""
        approved, self.services.data.approved = self.services.data.approved, ""
        if approved and os.path.exists(approved):
            self.reader.expected = approved

    def here(self) -> list[Pair]:
        """Return the memories of the chosen place in the tree."""
        place = self.places.row
        return [pair for pair in self.reader.pairs(place.scopes) if place.holds(pair[1])] if place else []

    # recall

    @property
    def recalled(self) -> "Recall | None":
        """Recall while the list is in that state, else None."""
        return self.recall if self.has_class("recalling") else None

    async def _begin_recall(self) -> None:
        """Show a line for a prompt, and order the list by how likely each memory helps with it."""
        from memtui.tui.screens.memories import recall_rows
        from memtui.tui.screens.memories.recall import Recall

        if not self.middle.is_attached:  # a key that came with the one of the tab
            self.call_after_refresh(self._begin_recall)
            return
        recall = self.recall
        if recall is None:
            recall = self.recall = Recall(
                self.services, self, self.table, self.reader, leave=self._leave_recall, relist=self.sift
            )
            await self.middle.mount(recall.labelled, before=0)
        self.clear_filter()
        self.table.clear_marks()
        self.add_class("recalling")
        self.commands = self._usual_commands | recall.table()
        self.table.recall_columns = recall_rows.COLUMNS
        self.table.rule = lambda: recall_rows.rule(recall.last)
        self.legend = recall_rows.LEGEND
        self.sift()
        recall.begin()

    def _leave_recall(self) -> bool:
        """Show all memories again; return False if recall is not on."""
        if self.recalled is None:
            return False
        self.remove_class("recalling")
        self.commands, self.table.recall_columns, self.legend = self._usual_commands, (), rows.LEGEND
        self.clear_filter()
        self.table.clear_marks()
        self.sift()
        self.table.focus()
        return True

    def on_recall_news(self, message: "RecallNews") -> None:
        """Show what a worker of recall has to say."""
        if recall := self.recalled:
            message.show(recall)

    @on(Input.Changed, "#prompt")
    def _prompt_typed(self, event: Input.Changed) -> None:
        if recall := self.recalled:
            recall.typed(event.value)

    @on(Input.Submitted, "#prompt")
    def _prompt_submitted(self) -> None:
        self.table.focus()

    def on_key(self, event: events.Key) -> None:
        """Offer recent prompts with the arrow keys while a prompt is typed."""
        recall = self.recalled
        if recall and recall.line.has_focus and event.key in {"up", "down"}:
            event.stop()
            event.prevent_default()
            self.services.start(self, recall.choose_prompt(), "memories.recall")

    def sift(self) -> None:
        """Show the memories of the chosen place that pass the filters, in order; in recall what a prompt finds."""
        if recall := self.recalled:
            self._pairs = fuzzy.Haystack(recall.pairs(), rows.searched)
            self.table.measure(self._pairs.rows, *self.table.order)
            self.fill()
            return
        view = self.view
        self._pairs = fuzzy.Haystack(view.ordered(self._sought_in()), rows.searched, rows.body)
        self.table.measure(self._pairs.rows, view.sort, view.reverse)
        self.fill()

    def _sought_in(self) -> list[Pair]:
        """Return the memories that the query is about: of the chosen place, of this project, or of all."""
        if self.search.project:
            return self.reader.pairs()
        if self.search.scope:
            return self.reader.pairs(scope for scope in self.reader.found if not scope.project)
        return self.here()

    def show_query(self, text: str) -> None:
        """Show what a query finds, and remember it."""
        self._put_query(text)
        self.table.redraw()
        self.fill()
        self._keep()

    def _toggle(self, term: str) -> None:
        self.show_query(query.toggled(self.typed, term))

    def _put_query(self, text: str) -> None:
        self.typed = self.filter_line.value = text
        self.filter_line.set_class(bool(text), "shown")

    def _query_typed(self, text: str) -> None:
        if text != self.typed:
            if text:  # the row under the cursor may match too, but worse
                self.wanted = lambda pairs: 0 if pairs else None
            self.typed = text
            self.table.redraw()
            self.fill()

    @on(Input.Submitted, "#filter")
    def _query_submitted(self) -> None:
        self._keep()

    def clear_filter(self) -> bool:
        """Clear the query; return False if there was none."""
        cleared = super().clear_filter()
        if cleared:
            self._keep()
        return cleared

    def on_descendant_focus(self) -> None:
        """Show below a query what can be typed."""
        self._show_index()

    def relist(self) -> None:
        """Show the list after a change of place or order, and remember that state."""
        self.sift()
        self._keep()

    def select(self) -> Sequence[Pair]:
        """Return the memories that match what is typed."""
        wanted = self.search
        if not self.typed:
            return self._pairs.rows
        matching = self._pairs.select(wanted.words)
        if wanted.has_terms:
            here, autosaves = self.services.data.facts.project, self.reader.autosaves
            matching = [pair for pair in matching if wanted.matches(*pair, here, autosaves)]
        if self.recalled:
            from memtui.tui.screens.memories import recall_rows

            return recall_rows.filtered(self._pairs.rows, matching)
        return matching

    def markable(self) -> Sequence[Pair]:
        """Return the memories that are listed."""
        return [pair for pair in self.table.rows if pair is not RULE]

    def fill(self) -> None:
        """Show the memories that match the query, and the fill level of their indexes."""
        before, self.search = self.search, memory_query.parse(self.typed)
        self.places.of_all_projects(self.of_all_projects)
        if (bool(before.scope), bool(before.project)) != (bool(self.search.scope), bool(self.search.project)):
            self.sift()  # it is about other memories now
            return
        super().fill()
        self._show_index()

    def why_empty(self) -> str:
        """Return why the list is empty, and what to do."""
        place, recall = self.places.row, self.recalled
        if recall and not self.typed:
            return recall.why_empty()
        if not self.reader.loaded:
            return READING
        if self.typed:
            nothing = self.search.problem or f"No matches for “{safe_text.line(self.typed, 60)}”."
            everywhere = "" if self.search.project else " project:all seeks in all projects."
            return f"{nothing}\nescape clears the filter.{everywhere}"
        scope = place.scopes[0] if place and len(place.scopes) == 1 else None
        if scope is not None and scope.problem:
            return f"{scope.directory}\n{scope.problem}: it is not read."
        if scope is not None and self.found:
            filled_by = actions.keyed(FILLED_BY.get(scope.kind, ""), read_only=self.services.read_only)
            return f"No memories in {self.reader.name_of(scope)}.\n{filled_by}"
        from memtui.present import unheard

        words = EMPTY + unheard.paragraph(self.services.data.unheard(["project"]))
        return actions.keyed(words, read_only=self.services.read_only)

    def count(self) -> None:
        """Show on the right of the bottom bar how many memories are listed, and by which filters."""
        if self.bulk.running:
            return  # its progress is shown there
        if self.reader.partly:
            self.tell("reading …")
            return
        if recall := self.recalled:
            self.tell(recall.count(self.typed))
            return
        shown, total, marked = len(self.table.rows), len(self._pairs.rows), len(self.table.marks)
        words = f"{shown} of {total}" if shown != total else many(total, "memory", "memories")
        is_problem = self.search.state == memory_query.PROBLEM
        wrong = findings.problems(flag for _, row in self.table.rows for flag in row.flags) if is_problem else 0
        words += f" · {marked} marked" if marked else ""
        words += f" · {wrong} to fix" * bool(wrong)
        self.counted = words
        self.summarize()
        self.tell("")

    def title_of_list(self, _summary: Text) -> Text:
        """Return how many memories are listed, and what waits in the Inbox; in recall what the prompt would bring."""
        return self.recalled.summary() if self.recalled else Text(self.counted + self._waiting())

    def _waiting(self) -> str:
        count = self.services.data.facts.waiting.get("inbox", 0)
        words = actions.keyed(f" · {many(count, 'waits', 'wait')} in the Inbox: {{app.inbox}}")
        at_start = self.places.row is not None and self.places.row.key == tree.ALL and not self.typed
        return words if count and self.counted and at_start else ""

    def frame_top(self) -> None:
        """Draw the top line, and the title, which both say how much waits in the Inbox."""
        super().frame_top()
        if self.is_mounted and self.foot.is_attached:
            self.summarize()

    def summary(self) -> Text:
        """Return the line above the list, for screens without room for the tree: the place and the filters; in recall
        what the prompt would bring."""
        if recall := self.recalled:
            return recall.summary()
        return rows.place_line(self.places.row, self.counted).append(self._waiting(), "dim")

    @property
    def of_all_projects(self) -> bool:
        """Whether the list has the memories of all projects."""
        return self.search.project == memory_query.ALL

    def _show_index(self) -> None:
        """Show how full the indexes are; without a detail pane, what is wrong with the memory instead."""
        place, pair = self.places.row, self.table.row
        if not self._painted or place is None:
            return
        if self.filter_line.has_focus:
            self.index_line.put(Text(f" {self.search.problem or memory_query.HINT}", "dim", overflow="ellipsis"))
        elif pair is not None and pair[1].flags and not self.detail_seen:
            self.index_line.put(self.details.findings(pair))
        else:
            self.index_line.put(self.details.indexes(place.scopes, self.index_line.content_size.width))

    def _show_beside(self) -> None:
        self._painted = True
        self.summarize()
        self._show_index()
        self.show_detail()

    @on(RowList.Moved, "#list")
    def _moved(self) -> None:
        if self.has_class("narrow"):
            self._show_index()

    def describe(self, row: Pair) -> Described:
        """Return the detail of a memory."""
        if recall := self.recalled:
            return recall.describe(row)
        return Described(self.details.text(row) if self._painted else Text(), title=safe_text.line(row[1].memory.name))

    @property
    def sought(self) -> str:
        """The words that the detail highlights: those of the query."""
        return self.search.words

    def _glance(self, pair: Pair) -> tuple[Text, str]:
        """Return the preview for the free rows below the list, on a narrow screen, and the words it highlights."""
        if recall := self.recalled:
            head = recall.describe(pair).glance or Text()
            return Text("\n").append_text(head) if self.has_class("narrow") else Text(), self.sought
        return glance_text(pair[1].memory) if self.has_class("narrow") else Text(), self.sought

    def _draw(self, pair: Pair) -> list[Text]:
        if recall := self.recalled:
            return recall.draw(pair, self.search.words)
        now, autosaves = self.services.data.now(), self.reader.autosaves
        return rows.draw(pair, self.search.words, self.reader.outcomes, autosaves, now, self.view.sort)

    def copied(self) -> str:
        """Return the text for the clipboard: the whole file of the memory; in recall what the model would get."""
        if recall := self.recalled:
            return recall.copied(self.table.row)
        return self.table.row[1].memory.raw.decode("utf-8", "replace") if self.table.row else ""

    def footer_actions(self) -> list[Action]:
        """Return the actions for the memory under the cursor, in the list or while its text is read."""
        reading, pair = self.detail.has_focus, self.table.row
        if recall := self.recalled:
            return recall.footer_actions()
        order = list(WHILE_READ if reading else IN_LIST)
        if pair is not None and "U" in pair[1].letters:
            order.insert(1, "trust")
        if reading and not self.trail.links():
            order.remove("follow")
        return [actions.on_screen("memories", verb) for verb in order]

    def typing_keys(self) -> Sequence[tuple[str, str]]:
        """Return the keys for the line in which a prompt or a query is typed."""
        if self.recalled and self.recalled.line.has_focus:
            return (("enter", "to the list"), ("↓", "recent prompts"), ("escape", "back"))
        return super().typing_keys()

    # moving

    def on_resize(self) -> None:
        """Draw the index line for the new width."""
        self.call_after_refresh(self._show_index)

    def open_detail(self) -> None:
        """Focus the memory, which covers the list on a narrow screen."""
        self.set_class(self.has_class("narrow"), "deep")
        self._show_index()
        self.detail.focus()

    def _move_to(self, path: str) -> None:
        """Put the cursor on a memory that a command brought; in recall only if it is listed."""
        if self.recalled is None:
            self.go_to(path)
            return
        self.reader.expected = ""
        if (at := self.table.index_of(path)) is not None:
            self.table.move_to(at)

    def go_to(self, path: str) -> None:
        """Put the cursor on a memory, leaving recall and clearing filters that hide it; one that is not read yet, once
        it is."""
        self._leave_recall()
        found = next((pair for pair in self.reader.pairs() if pair[1].memory.path == path), None)
        self.reader.expected = "" if found else path
        if found is None:
            return
        scope, row = found
        place = self.places.row
        if place is None or scope.label not in {s.label for s in place.scopes} or not place.holds(row):
            self.places.go_to(tree.ALL if tree.is_here(scope) else scope.label)
        if self.typed:
            self.typed = ""
            self.clear_filter()
            self.table.focus()
        self.wanted = lambda pairs: next((at for at, pair in enumerate(pairs) if pair[1].memory.path == path), None)
        self.sift()
        self.wanted = None

    @on(RowList.Moved, "#scopes")
    def _place_moved(self) -> None:
        self.relist()

    def fold_word(self) -> str:
        """Return what enter does to a folded group of scopes."""
        place = self.places.row
        return "unfold" if self.places.has_focus and place is not None and place.fold is False else ""

    @on(RowList.Opened, "#scopes")
    def _place_opened(self) -> None:
        self.navigation.enter_place()

    def on_click(self, event: events.Click) -> None:
        """Choose a scope, or in recall type a prompt, when the line above the list is clicked."""
        if event.widget is self.summary_line:
            self.services.action_run("memories.recall" if self.recalled else "memories.left")

    @on(RowList.Headed, "#list")
    def _headed(self, event: RowList.Headed) -> None:
        sort = rows.sort_of(event.column, self.view.sort)
        if sort and not self.recalled:
            self.navigation.order(sort, sort == self.view.sort and not self.view.reverse)

    # back

    def escape_steps(self) -> Sequence[Callable[[], bool]]:
        """Return the steps of escape, from what runs to the place in the tree."""
        return (
            self.bulk.stop,
            self._leave_prompt,
            self._step_back,
            self.leave_detail,
            lambda: self.filter_line.has_focus and self.clear_filter(),
            self.table.clear_marks,
            self.clear_filter,
            self._leave_recall,
            self.reader.stop,
            self._to_all,
        )

    def _leave_prompt(self) -> bool:
        """Go from the prompt to the list; if nothing is listed, to all memories."""
        recall = self.recalled
        if recall is None or not recall.line.has_focus:
            return False
        if not self.table.rows:
            return self._leave_recall()
        self.table.focus()
        return True

    def _step_back(self) -> bool:
        return not self.filter_line.has_focus and self.trail.step_back()

    def leave_detail(self) -> bool:
        """Go back to the list, with the index line for it."""
        left = super().leave_detail()
        self._show_index()
        return left

    def _to_all(self) -> bool:
        place = self.places.row
        if place is None or place.key == tree.ALL:
            return False
        self.places.go_to(tree.ALL)
        self.table.focus()
        return True
