"""The inbox: drafts of memories and unfinished work, for the person to decide on."""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.timer import Timer

from memtui import actions
from memtui.consolidate import told_before
from memtui.core.base.errors import MemtuiError
from memtui.core.base.finding import Finding
from memtui.core.base.phrasing import age, likeness, many
from memtui.core.client import projects
from memtui.core.health import findings
from memtui.core.inbox import format as inbox_format
from memtui.core.memories.memory import Memory
from memtui.core.memories.writers import Occasion, Occasions
from memtui.core.review.changed import Changed
from memtui.core.review.draft import Draft
from memtui.core.review.evidence import Evidence
from memtui.core.review.waiting import Waiting, homes
from memtui.present import changed as changed_words
from memtui.present import dates, safe_text, undelivered, unheard
from memtui.present import drafts as words
from memtui.present import legend as marks
from memtui.tui import key_bindings
from memtui.tui.batch import BatchRunner
from memtui.tui.model import autosave, fuzzy
from memtui.tui.screens.inbox import changed, rows
from memtui.tui.screens.inbox.chosen import Chosen
from memtui.tui.screens.inbox.commands import InboxCommands
from memtui.tui.screens.inbox.proposals import Proposals
from memtui.tui.screens.inbox.rows import InboxRow
from memtui.tui.screens.inbox.text import (
    draft_glance,
    draft_head,
    draft_text,
    fold_text,
    item_glance,
    item_text,
    lines_of,
)
from memtui.tui.screens.list_screen import Described, ListScreen
from memtui.tui.services import Command, Services
from memtui.tui.widgets.line import OneLine
from memtui.tui.widgets.rows import Column, RowList

# From this width on, in cells, a draft and the most similar memory are shown side by side.
SIDE_BY_SIDE = 120
# How long the cursor rests on a draft before its transcript is read.
REST_SECONDS = 0.15
KINDS = {"confirmation": "confirmed", "write": "new", "rewrite": "rewrite"}
EMPTY = """Nothing to review.
Sessions save drafts here when you correct or confirm the agent, and the work they did not finish."""
EMPTY_UNHEARD = """Nothing to review, and sessions will save no drafts here.
{}"""
# What else can be done where nothing waits; the first only where something may be written.
ELSEWHERE = (
    "{inbox.backfill} reads earlier sessions for drafts, {app.note} writes a note, ",
    "{app.memories} shows the memories.",
)
COLUMNS = (
    Column("kind", 10),
    Column("draft"),
    Column("sure", 4, right=True, from_width=46),
    Column("lasts", 5, right=True, from_width=62),
    Column("seen", 4, right=True, from_width=60),
    Column("for", 8, from_width=50),
    Column("age", 4, right=True),
)
# The actions in the foot, in their order.
ON_DRAFT = ("approve", "edit", "merge", "reject", "wait", "never", "type", "scope", "mark", "filter", "mark_all")
ON_CHANGED = {
    "approve": "keep",
    "edit": "edit",
    "reject": "take back",
    "history": "versions",
    "mark": "mark",
    "mark_all": "mark all",
}
ON_NOTHING = ("backfill", "projects")
ON_ITEM = ("done", "keep", "edit", "guide", "mark", "filter", "mark_all")


@dataclass
class EntriesRead(Message):
    """The drafts and items of all inboxes were read. `notes`: of each note beside them the slug, None if it is to all
    projects, and whether it is stuck; `names`: of the projects, by slug; `problem`: which inboxes could not be read, in
    words; `changed`: the memories that somebody else wrote."""

    found: list[Waiting]
    notes: list[tuple[str | None, bool]]
    names: dict[str, str]
    problem: str
    changed: list[Changed]


@dataclass
class MemoriesRead(Message):
    """The memories that drafts are compared with were read. `alike`: by the key of an entry what it is like."""

    memories: list[Memory]
    alike: dict[str, str]


@dataclass
class EvidenceFound(Message):
    """The evidence of an entry was found: what was said around it, and which of the memories `near` are similar."""

    item: Waiting
    near: Sequence[Memory]
    evidence: Evidence


@dataclass
class OccasionFound(Message):
    """The session and the prompt in which an agent wrote were looked up."""

    item: Changed
    occasion: Occasion


def _scope(item: Changed) -> str:
    return safe_text.line(item.scope.project or item.scope.label, 40)


class Inbox(ListScreen[InboxRow]):
    """The screen: on the left the list, on the right the memory that a draft would become, and why."""

    BINDINGS: ClassVar[list[BindingType]] = [*key_bindings.bindings("inbox")]
    group: ClassVar[str] = "inbox"
    detail_percent: ClassVar[int] = 55
    glance_lines: ClassVar[int] = 20
    glance_cuts_tail: ClassVar[bool] = True
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "inbox", "memories", "versions"})
    row_word: ClassVar[str] = "entry"
    nothing_chosen: ClassVar[str] = "Nothing waits."
    legend: str = (
        marks.section("Todos", rows.MARKS)
        + marks.section("In front of a name", (marks.UNSAVED, *rows.ALIKE.values()))
        + marks.section("Memories that were written outside memtui", ((rows.CHANGED_MARK, "since you last saw it"),))
        + "\n"
        "sure: how likely it is that this is feedback at all; lasts: how likely it is worth keeping for good; seen:"
        f" how often you said it. What was said once and is below {inbox_format.LASTING:.0%} lasting, in an earlier"
        f" session {inbox_format.DELIVERED:.0%}, or where that is not known below {inbox_format.DOUBTFUL:.0%} sure, is"
        " folded. Approving shows the whole file first, unless it"
        " is on the screen."
    )

    def __init__(self, services: Services) -> None:
        self._elsewhere = "\n" + actions.keyed("".join(ELSEWHERE[services.read_only :]))
        empty = EMPTY + self._elsewhere
        table = RowList[InboxRow](COLUMNS, self._draw, lambda row: row.key, empty=empty, id="list")
        super().__init__(services, table, self._searched, placeholder="filter: name, text, kind, project")
        self.proposals = Proposals(services.data)
        self.chosen = Chosen(services, self)
        self.bulk = BatchRunner(self)
        self.occasions: dict[str, Occasion] = {}  # by the key of a memory that somebody else wrote
        self.commands |= InboxCommands(services, self, self.chosen, self.proposals, self.bulk).table() | {
            "inbox.mark": Command(self.mark, self.chosen.nothing),
            "inbox.mark_all": Command(self.mark_all, self.chosen.nothing),
            "inbox.projects": Command(self.projects, self._why_no_projects),
            "app.undo": Command(self.undo),
        }
        self.all_projects = False
        self.notes_line = OneLine(id="line")
        self.notes_line.display = False
        self._alike: dict[str, str] = {}  # by the key of an entry
        self.unfolded: set[str] = set()  # keys of the open folds
        self._in_other_projects = 0
        self._head_lines = 0  # lines of the detail that must be on the screen before a draft is approved unasked
        self._problem = ""
        self._autosaves: Container[str] = ()
        self._rest_timer: Timer | None = None
        self._last_keys: set[str] = set()  # keys of the entries of all projects, as last read
        self._all_keys: set[str] = set()  # keys of all entries that were ever read
        self._returned: set[str] = set()  # keys of the entries that came back with the last reading
        self._was_left = False  # whether another screen was open since the last reading

    def below_list(self) -> ComposeResult:
        """Yield the line that says how many notes wait."""
        yield self.notes_line

    # reading

    @work(thread=True, exclusive=True, group="inbox")
    def reload(self) -> None:
        """Read the inboxes and the memories in a worker."""
        data, unread = self.services.data, list[Finding]()
        every = data.waiting(every=True, unread=unread)
        found = [each for each in every if each.kind != "guidance"]
        settings, now = data.settings(), data.now()
        notes = [
            (each.slug, any(True for _ in undelivered.findings_of(settings, each, now)))
            for each in every
            if each.kind == "guidance"
        ]
        names = projects.names(data.env, {**homes(data.env, found), data.slug: data.project_root})
        problem = " ".join(map(findings.with_remedy, unread))
        try:
            others = data.changed(every=self.all_projects)
        except MemtuiError as error:
            others, problem = [], f"{problem} {error.message}".strip()
        self.post_message(EntriesRead(found, notes, names, problem, others))
        memories = self.proposals.read_memories()
        self.post_message(MemoriesRead(memories, told_before.likeness(data.root, found, memories)))

    def on_entries_read(self, message: EntriesRead) -> None:
        """Show the entries."""
        near = {self.services.data.slug, None}
        self._problem, self.proposals.names = message.problem, message.names
        self.proposals.forget({each.directory for each in message.found})
        self.occasions.clear()
        now = self.services.data.now()
        self._in_other_projects = sum(each.slug not in near and not each.entry.snoozed(now) for each in message.found)
        self.found = rows.in_order([each for each in message.found if self.all_projects or each.slug in near], now)
        self.found = [*self.found, *rows.of_changed(message.changed)]
        keys = {each.key for each in message.found} | {row.key for row in self.found if row.changed is not None}
        stuck = [is_stuck for slug, is_stuck in message.notes if self.all_projects or slug in near]
        self._show_notes(len(stuck) - sum(stuck), sum(stuck))
        self._returned = (keys - self._last_keys) & self._all_keys
        self._last_keys, self._all_keys = keys, self._all_keys | keys
        if self._was_left and self._returned:  # undone there
            self.wanted = self._first_returned
        self._was_left = False
        self.fill()

    def _show_notes(self, waiting: int, stuck: int) -> None:
        """Say below the list how many notes wait, which `memtui inbox` lists too; nothing if there are none."""
        words = [f"{many(waiting, 'note waits', 'notes wait')} for the agent"] if waiting else []
        words += [f"{stuck} stuck"] if stuck and waiting else []
        words += [many(stuck, "note is stuck", "notes are stuck")] if stuck and not waiting else []
        line = f"{', '.join(words)}: {actions.key_of('app.activity')} shows {'it' if waiting + stuck == 1 else 'them'}"
        self.notes_line.put(Text(line, "dim", no_wrap=True, overflow="ellipsis"))
        self.notes_line.pieces = [(0, len(line) + 1, "app.activity")]
        self.notes_line.display = bool(words)

    def on_screen_suspend(self) -> None:
        """Note that another screen is open, where an undo may bring entries back."""
        self._was_left = True

    def on_memories_read(self, message: MemoriesRead) -> None:
        """Look for similar memories again, if the memories have changed, and mark the drafts that are like others."""
        if message.alike != self._alike:
            self._alike = message.alike
            self.table.redraw()
        if [each.raw for each in message.memories] != [each.raw for each in self.proposals.memories]:
            self.proposals.memories = message.memories
            self.proposals.evidence.clear()
            self.show_detail()
            self.look_soon()

    @on(RowList.Moved, "#list")
    def look_soon(self) -> None:
        """Look for the evidence of the entry under the cursor, once the cursor rests."""
        item, row = self.chosen.under_cursor, self.table.row
        if self._rest_timer is not None:
            self._rest_timer.stop()
        other = row.changed if row is not None else None
        if other is not None and other.writer.session and other.key not in self.occasions:
            self._rest_timer = self.set_timer(REST_SECONDS, lambda: self._look_up(other))
        if item is None or item.key in self.proposals.evidence:
            return

        def look() -> None:
            draft = self.proposals.draft(item) if item.kind == "updates" else None
            self._look(item, draft, self.proposals.near(item) if isinstance(draft, Draft) else ())

        self._rest_timer = self.set_timer(REST_SECONDS, look)

    @work(thread=True, exclusive=True, group="evidence")
    def _look(self, item: Waiting, draft: Draft | MemtuiError | None, near: Sequence[Memory]) -> None:
        self.post_message(EvidenceFound(item, near, self.proposals.look(item, draft, near)))

    @work(thread=True, exclusive=True, group="evidence")
    def _look_up(self, item: Changed) -> None:
        self.post_message(OccasionFound(item, Occasions(self.services.data.env).of(item.writer)))

    def on_occasion_found(self, message: OccasionFound) -> None:
        """Show the session and the prompt."""
        self.occasions[message.item.key] = message.occasion
        row = self.table.row
        if row is not None and row.changed is not None and row.changed.key == message.item.key:
            self.show_detail()

    def on_evidence_found(self, message: EvidenceFound) -> None:
        """Show the evidence."""
        self.proposals.evidence[message.item.key] = message.evidence
        if self.table.row_id == message.item.key:
            self.show_detail()

    def refresh_ages(self) -> None:
        """Read the entries again too: some may have become too old."""
        super().refresh_ages()
        self.reload()

    # showing

    def fill(self) -> None:
        """Fill the list, and look for the evidence of the entry under the cursor. What has unsaved text has a mark."""
        self._autosaves = autosave.names(self.services.data.root)
        super().fill()
        self.look_soon()

    def select(self) -> Sequence[InboxRow]:
        """Return the rows to show. Doubtful and snoozed drafts are folded, unless the filter is used."""
        return super().select() if self.typed else rows.folded(self.found, self.unfolded)

    def why_empty(self) -> str:
        """Return what an empty list says: what will fill it, or why nothing will."""
        why_unheard = (
            "" if self.typed else unheard.keyed(self.services.data.unheard(), read_only=self.services.read_only)
        )
        if not why_unheard:
            return super().why_empty()
        return EMPTY_UNHEARD.format(why_unheard[:1].upper() + why_unheard[1:] + ".") + self._elsewhere

    def summary(self) -> Text:
        """Return the top line: how many drafts, items, and memories that others changed wait."""
        if self._problem:
            return Text("! " + safe_text.line(self._problem), "red", no_wrap=True, overflow="ellipsis")
        whole = self._sums(words.one_offs)
        return whole if whole.cell_len <= self.size.width - 2 else self._sums(words.one_offs_in_brief)

    def _sums(self, one_offs: Callable[[int], str]) -> Text:
        text = Text(no_wrap=True, overflow="ellipsis")
        untils = [row.until for row in self.found if row.until is not None]
        items, doubtful = sum(row.kind == "items" for row in self.found), sum(map(rows.is_doubtful, self.found))
        others = sum(row.changed is not None for row in self.found)
        drafts = len(self.found) - items - len(untils) - others
        text.append(many(drafts, "draft") if drafts else "No drafts", style="bold")
        elsewhere = f"{self._in_other_projects} in other projects" if self._in_other_projects else ""
        text.append(f" ({elsewhere})" if elsewhere and self.all_projects else "")
        told = one_offs(doubtful) if doubtful else ""
        text.append(f" · {told}" if told else "", style="dim")
        text.append(f" · {others} changed by others" if others else "", style="dim")
        text.append(f" · {many(items, 'todo')}" if items else "", style="dim")
        if elsewhere and not self.all_projects:
            text.append(f" · {actions.key_of('inbox.projects')}: {elsewhere}", style="dim")
        text.append(f" · {words.waiting(untils, self.services.data.now())}" if untils else "", style="dim")
        return text

    def _searched(self, row: InboxRow) -> str:
        if row.changed is not None:
            return f"{rows.searched(row)} {self._kind(row)} {changed_words.who(row.changed)} {_scope(row.changed)}"
        if row.item is None:
            return ""
        name = self.proposals.proposed(row.item, "name") or ""
        return f"{rows.searched(row)} {name} {self._kind(row)} {self._where(row.item)}"

    def _kind(self, row: InboxRow) -> str:
        """Return the words of the column "kind"."""
        if row.changed is not None:
            return f"{rows.CHANGED_MARK} {changed_words.DID[row.changed.kind]}"
        fields = row.item.entry.fields if row.item is not None else {}
        if row.kind == "items":
            return f"{rows.KEPT} kept" if fields.get("state") == "kept" else f"{rows.OPEN} item"
        if row.until is not None:
            return dates.day(row.until, self.services.data.now())
        given = fields.get("kind", "draft")
        return safe_text.line(KINDS.get(given, given), 12)

    def _draw(self, row: InboxRow) -> list[Text]:
        item, kind = row.item, Text(self._kind(row), style="dim")
        blank = Text("")
        if row.changed is not None:
            return self._draw_changed(row.changed, kind)
        if item is None:
            fold = Text(self._folded(row), style="dim")
            return [Text(marks.UNFOLDED if row.key in self.unfolded else marks.FOLDED, style="dim"), fold, *[blank] * 5]
        fields = item.entry.fields
        when = Text(age(item.entry.time(), self.services.data.now()), style="dim")
        where = Text(self._where(item), style="dim")
        if item.kind == "items":
            gist = Text(safe_text.line(item.text, 300))
            fuzzy.mark([kind, gist, where], self.typed)
            return [kind, self._with_mark(item, gist), blank, blank, blank, where, when]
        name = Text(safe_text.line(self.proposals.proposed(item, "name") or item.text, 200))
        fuzzy.mark([kind, name, where], self.typed)
        name = self._with_mark(item, name)
        if alike := self._alike.get(item.key):
            name = Text.assemble((f"{rows.ALIKE[alike][0]} ", "yellow"), name)
        likely = (item.entry.fraction(each) for each in ("confidence", "durable"))
        sure, lasts = (Text("-" if each is None else likeness(each)) for each in likely)
        seen = safe_text.line(fields.get("seen", "1"), 4)
        return [kind, name, sure, lasts, Text(f"{seen}×", style="dim" if seen == "1" else ""), where, when]

    def _with_mark(self, item: Waiting, words: Text) -> Text:
        if not autosave.has(self._autosaves, item.id):
            return words
        return Text.assemble((f"{marks.UNSAVED[0]} ", "yellow"), words)

    def _draw_changed(self, item: Changed, kind: Text) -> list[Text]:
        name, by = Text(safe_text.line(item.name, 200)), Text(changed_words.who(item), style="dim")
        where = Text(_scope(item), style="dim")
        fuzzy.mark([kind, name, by, where], self.typed)
        when = Text(age(item.now.written, self.services.data.now()), style="dim")
        return [kind, name.append("  ").append_text(by), Text(""), Text(""), Text(""), where, when]

    def _folded(self, row: InboxRow) -> str:
        if row.key == rows.CHANGED:
            return many(len(row.folds), "memory", "memories") + " that others changed"
        untils = [each.until for each in row.folds if each.until is not None]
        return words.waiting(untils, self.services.data.now()) if untils else words.one_offs(len(row.folds))

    def _where(self, item: Waiting) -> str:
        if item.kind == "updates" and self.proposals.proposed(item, "scope") == "global":
            return "global"
        here = self.services.data.facts.project if item.slug else "global"
        return self.proposals.project_name(item) or safe_text.line(here, 40)

    def describe(self, row: InboxRow) -> Described:
        """Return the detail of a row: the memory that a draft would become, and why; or the item."""
        item, data = row.item, self.services.data
        if row.changed is not None:
            known = self.occasions.get(row.changed.key)
            whole = changed.described(data, row.changed, known, read_only=self.services.read_only)
            return Described(whole, changed.glance(data, row.changed, known))
        if item is None and row.key == rows.CHANGED:
            return Described(changed.folded(row.folds, is_open=row.key in self.unfolded))
        if item is None:
            return Described(fold_text(row, self.services.data.now(), is_open=row.key in self.unfolded))
        evidence = self.proposals.evidence.get(row.key)
        states = undelivered.words(data.settings(), item, data.now())
        if item.kind == "items":
            self._head_lines = lines_of(Text(item.text), self.detail_width)
            text = item_text(
                item, evidence.title if evidence else "", states, data.now(), read_only=self.services.read_only
            )
            return Described(
                self._unsaved(item).append_text(text),
                self._unsaved(item).append_text(item_glance(item, states, data.now())),
            )
        draft = self.proposals.draft(item)
        project_name = self.proposals.project_name(item) or data.facts.project
        beside, read_only = self.size.width >= SIDE_BY_SIDE, self.services.read_only
        text = self._unsaved(item)
        text.append_text(draft_head(item, draft, evidence, self.detail_width, project_name=project_name, beside=beside))
        self._head_lines = lines_of(text, self.detail_width)
        text.append_text(draft_text(item, draft, evidence, states, data.now(), beside=beside, read_only=read_only))
        glance, tail = draft_glance(item, draft, evidence, project_name=project_name)
        return Described(text, self._unsaved(item).append_text(glance), tail)

    def _unsaved(self, item: Waiting) -> Text:
        """Say in a line that an entry was edited and not saved; empty if it was not."""
        data = self.services.data
        kept = autosave.kept(data.root, item.id)
        return Text() if kept is None else Text(f"{autosave.unsaved(kept.time, data.now(), 'inbox.edit')}\n", "yellow")

    def footer_actions(self) -> list[actions.Action]:
        """Return the actions for the row under the cursor."""
        if self.chosen.means_changed:
            return [replace(actions.get(f"inbox.{verb}"), footer=word) for verb, word in ON_CHANGED.items()]
        under = self.chosen.under_cursor
        if under is None and not self.found:
            return [actions.get(f"inbox.{verb}") for verb in ON_NOTHING]
        order = ON_ITEM if under is not None and under.kind == "items" else ON_DRAFT
        return [actions.get(f"inbox.{verb}") for verb in order]

    @property
    def detail_seen(self) -> bool:
        """Whether the entry under the cursor is on the screen to its end."""
        return super().detail_seen and self._head_lines <= self.detail.scroll_y + self.detail.size.height

    def copied(self) -> str:
        """Return the text of the entry under the cursor, or the difference that somebody else made."""
        row = self.table.row
        if row is not None and row.changed is not None:
            return changed.difference(self.services.data, row.changed).plain
        under = self.chosen.under_cursor
        return under.text if under is not None else ""

    # moving

    def escape_steps(self) -> Sequence[Callable[[], bool]]:
        """Return the steps of escape: what runs is stopped first."""
        return (self.bulk.stop, *super().escape_steps())

    def count(self) -> None:
        """Show how many rows are listed and marked, unless the progress of a change is shown there."""
        if not self.bulk.running:
            super().count()

    def _why_no_projects(self) -> str:
        return "" if self._in_other_projects else "Nothing waits in other projects."

    def markable(self) -> Sequence[InboxRow]:
        """Return the rows that "mark all" marks: all drafts to review; on an item all items, on a snoozed draft all
        snoozed ones, on a memory that somebody else wrote all of these."""
        under = self.table.row
        kind = under.kind if under is not None and under.kind else "updates"
        snoozed = under is not None and under.until is not None
        return [row for row in self.table.rows if row.kind == kind and (row.until is not None) == snoozed]

    def open_detail(self) -> None:
        """Go into the detail; on the fold, unfold or fold."""
        row = self.table.row
        if row is not None and row.item is None and row.changed is None:
            self.unfolded ^= {row.key}
            self.fill()
        else:
            super().open_detail()

    def projects(self) -> None:
        """Show the entries of all projects, or of this one only."""
        self.all_projects = not self.all_projects
        self.reload()

    def show_all_projects(self) -> None:
        """Show the entries of all projects."""
        self.all_projects = True
        self.reload()

    def undo(self) -> None:
        """Undo the last change, and put the cursor on the entry that comes back."""
        self.wanted = self._first_returned
        self.services.turn("undo")

    def _first_returned(self, shown: Sequence[InboxRow]) -> int | None:
        return next((at for at, row in enumerate(shown) if row.key in self._returned), None)
