"""The inbox: everything that waits for the person's decision, worst first."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.timer import Timer

from memtui import actions
from memtui.consolidate import known_texts
from memtui.core.base.errors import MemtuiError
from memtui.core.base.finding import Finding
from memtui.core.base.phrasing import many
from memtui.core.client import projects
from memtui.core.health import findings
from memtui.core.inbox import format as inbox_format
from memtui.core.memories.memory import Memory
from memtui.core.memories.writers import Occasion, Occasions
from memtui.core.review import later
from memtui.core.review.changed import Changed
from memtui.core.review.draft import Draft
from memtui.core.review.evidence import Evidence
from memtui.core.review.waiting import Waiting, homes
from memtui.present import changesets, drafts, safe_text, unheard
from memtui.present import legend as marks
from memtui.tui import key_bindings
from memtui.tui.batch import BatchRunner
from memtui.tui.dialogs import backfill
from memtui.tui.model import autosave
from memtui.tui.screens.inbox import change_rows, entry_rows, rows
from memtui.tui.screens.inbox.change_rows import ChangeCommands, ProposedRow
from memtui.tui.screens.inbox.changed import ChangedCommands
from memtui.tui.screens.inbox.chosen import ENTRIES, Chosen
from memtui.tui.screens.inbox.commands import DraftCommands, GhostCommands, TodoCommands
from memtui.tui.screens.inbox.entry_rows import DRAFT, GhostRow
from memtui.tui.screens.inbox.planning import ChangesFound, PlanFailed, PlanMade, PlanReader, RowsWeighed
from memtui.tui.screens.inbox.problem_rows import (
    ProblemCommands,
    ProblemRow,
    TrustCommands,
    TrustRow,
    of_problems,
    of_untrusted,
)
from memtui.tui.screens.inbox.proposals import Proposals
from memtui.tui.screens.inbox.row import FoldRow, InboxRow, InboxView
from memtui.tui.screens.list_screen import Described, ListScreen
from memtui.tui.services import Command, Services
from memtui.tui.widgets.line import OneLine
from memtui.tui.widgets.rows import Column, RowList

# How long the cursor rests on a draft before its transcript is read.
REST_SECONDS = 0.15
# How long no decision follows another before what depends on them is read: changes, similar memories.
SETTLE_SECONDS = 1.5
EMPTY = """Sessions save drafts here when you correct or confirm the agent, and the work they did not finish. \
Memories that overlap, have expired or are broken are listed here, each with its fix."""
EMPTY_UNHEARD = """Sessions will save no drafts here.
{}"""
# What else can be done where nothing waits; the first only where something may be written.
ELSEWHERE = (
    "{app.palette} past sessions reads earlier sessions for drafts, {app.note} writes a note, ",
    "{app.memories} shows the memories.",
)
PLANNING = "\nLooking for what can be merged, fixed or removed …"
COLUMNS = (
    Column("kind", 8),
    Column("what it says"),
    Column("for", 13, from_width=72),
    Column("", 7, right=True),
)
# The actions in the foot, in their order; those of a row come first.
VERBS = ("accept", "edit", "reject", "later", "merge", "note", "history", "follow")
IN_FOOT = ("accept", "edit", "reject", "later", "merge", "history", "follow")
ON_LIST = ("mark", "mark_all", "filter")
ON_NOTHING = ("project",)
# What can be done with a row, by the family of its commands.
WAYS = {
    "draft": "{inbox.accept} accepts a draft, {inbox.reject} rejects it.",
    "ghost": "{inbox.reject} lets it never be drafted again, {app.undo} brings it back.",
    "todo": "{inbox.accept} marks a todo done, {inbox.reject} rejects it.",
    "changed": "{inbox.accept} keeps a changed memory, {inbox.reject} takes the change back.",
    "change": "{inbox.accept} makes the change, {inbox.reject} rejects it for good.",
    "problem": "{inbox.accept} opens the memory, {inbox.reject} does not list it again.",
    "trust": "{inbox.accept} trusts the memory, {inbox.reject} does not.",
}


@dataclass
class EntriesRead(Message):
    """The drafts and items of all inboxes were read. `notes`: of each note beside them the slug, None if it is to all
    projects, and whether it is stuck; `names`: of the projects, by slug; `problem`: which inboxes could not be read, in
    words; `changed`: the memories that somebody else wrote; `untrusted`: those that are not trusted; `hidden`: until
    when what is no entry is hidden."""

    found: list[Waiting]
    notes: list[tuple[str | None, bool]]
    names: dict[str, str]
    problem: str
    changed: list[Changed]
    untrusted: list[TrustRow]
    hidden: dict[str, float]


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


class Inbox(ListScreen[InboxRow]):
    """The screen: on the left the list, on the right what the row under the cursor becomes, and why."""

    BINDINGS: ClassVar[list[BindingType]] = [*key_bindings.bindings("inbox")]
    group: ClassVar[str] = "inbox"
    glance_lines = 20
    glance_cuts_tail: ClassVar[bool] = True
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "inbox", "memories", "versions"})
    row_word: ClassVar[str] = "row"
    nothing_chosen: ClassVar[str] = ""
    legend: str = (
        marks.section("In front of a row", (marks.UNSAVED, *entry_rows.ALIKE.values(), *change_rows.MARKS))
        + marks.section("Kinds of fixes", changesets.MEANINGS.items())
        + "\n"
        "In the detail of a change, what is dropped comes first; a good paraphrase may be listed there, too. Of a"
        " draft: how sure it is feedback, whether it is likely to last, how often it was said. A draft is folded as"
        f" probably a one-off if it was said once and is less than {inbox_format.LASTING:.0%} likely to last. In an"
        f" earlier session the limit is {inbox_format.DELIVERED:.0%}. Where that is not known, it is"
        f" {inbox_format.DOUBTFUL:.0%} sure. What is not on the screen is shown whole"
        " before it is accepted."
    )

    def __init__(self, services: Services) -> None:
        self._elsewhere = "\n" + actions.keyed("".join(ELSEWHERE[services.read_only :]))
        self.proposals = Proposals(services.data)
        self.view = InboxView(services, self.proposals)
        table = RowList[InboxRow](
            COLUMNS,
            lambda row: row.cells(self.view),
            lambda row: row.key,
            empty=EMPTY + self._elsewhere,
            look=lambda row: row.look,
            id="list",
        )
        super().__init__(
            services, table, lambda row: row.searched(self.view), placeholder="filter: words, kind, project"
        )
        self.chosen = Chosen(services, self)
        self.bulk = BatchRunner(self)
        self.reader = PlanReader(services.data, self.post_message)
        self.families: dict[str, Mapping[str, Command]] = {
            "draft": DraftCommands(self.chosen, self.proposals, self._keep_ghost).table(),
            "ghost": GhostCommands(self.chosen, self._drop_ghost).table(),
            "todo": TodoCommands(self.chosen).table(),
            "changed": ChangedCommands(self.chosen, self.bulk).table(),
            "change": ChangeCommands(self.chosen, self._decided).table(),
            "problem": ProblemCommands(self.chosen).table(),
            "trust": TrustCommands(self.chosen).table(),
        }
        self.commands |= {f"inbox.{verb}": self._routed(verb) for verb in VERBS} | {
            "inbox.backfill": Command(lambda: backfill.begin(services)),
            "list.mark": Command(self.mark, self.chosen.nothing),
            "list.mark_all": Command(self.mark_all, self.chosen.nothing),
            "list.project": Command(self.projects, self._why_no_projects),
            "app.undo": Command(self.undo),
        }
        self.all_projects = False
        self.notes_line = OneLine(id="line")
        self.notes_line.display = False
        self.unfolded: set[str] = set()  # keys of the open folds
        self._entries: Sequence[InboxRow] = ()
        self._changes: Sequence[ProposedRow] = ()
        self._problems: Sequence[InboxRow] = ()
        self._ghosts: list[InboxRow] = []  # the draft that was rejected just now, and where it stood
        self._ghost_at = 0
        self._ghost_timer: Timer | None = None
        self._decided_rows: list[ProposedRow] = []  # which an undo brings back
        self._hidden: Mapping[str, float] = {}  # until when what is no entry is hidden
        self._in_other_projects = 0
        self._problem = self._plan_problem = ""
        self.planning = self.planned = False
        self._begins = not services.files.has_read
        self._rest_timer: Timer | None = None
        self._settle_timer: Timer | None = None
        self._last_read: EntriesRead | None = None
        self._last_keys: set[str] = set()  # keys of the rows of all projects, as last read
        self._all_keys: set[str] = set()  # keys of all rows that were ever read
        self._returned: set[str] = set()  # keys of the rows that came back with the last reading
        self._was_left = False  # whether another screen was open since the last reading

    # the commands of a kind

    def _routed(self, verb: str) -> Command:
        """Return the command of a verb, which the kind of the chosen rows decides about."""

        def command() -> Command | None:
            leader = self.chosen.leader
            return self.families[leader.kind.family].get(verb) if leader is not None else None

        def why_not() -> str:
            leader = self.chosen.leader
            if leader is None:
                return self.chosen.nothing()
            found = self.families[leader.kind.family].get(verb)
            if found is not None:
                return found.why_not()
            return f"That is not for a {leader.kind.singular}. {actions.keyed(WAYS[leader.kind.family])}"

        def run() -> object:
            found = command()
            return found.run() if found is not None else None

        return Command(run, why_not)

    def below_list(self) -> ComposeResult:
        """Yield the line that says how many notes wait."""
        yield self.notes_line

    # reading

    def reload(self) -> None:
        """Read the inboxes, and plan changes when this is first shown; later look whether their files have changed."""
        self._read()
        if self.planned:
            self._look_for_changes()
        elif not self.planning:
            self.plan()

    def follow(self, parts: frozenset[str] | None) -> None:
        """After a change made here, read at once only what it touched. After one by others, read all that depends on
        it."""
        if self._begins:  # the first reading of the application, during which planning has begun
            self._begins = False
            super().follow(parts)
        elif parts is None:
            self._read(with_memories=False)
            if self.planned:
                self._look_for_changes()
                self._settle_soon()
            else:
                self.plan()
        elif parts == ENTRIES or self._settle_timer is not None:
            if parts & ENTRIES:
                self._read_entries()
            self._settle_soon()
        else:
            super().follow(parts)

    def _settle_soon(self) -> None:
        """Read what else depends on a decision once no other one follows it."""
        if self._settle_timer is not None:
            self._settle_timer.stop()
        self._settle_timer = self.set_timer(SETTLE_SECONDS, self._read_rest)

    def _read_rest(self) -> None:
        self._settle_timer = None
        if not self.planned:  # what is being planned does not know the change
            self.planning = False
        self.reload()

    @work(thread=True, exclusive=True, group="inbox")
    def _read_entries(self) -> None:
        """Read the entries again: only of files that have changed are they other objects than before."""
        data, unread, last = self.services.data, list[Finding](), self._last_read
        if last is None:
            return
        found = data.waiting(("updates", "items"), every=True, unread=unread)
        problem = " ".join(map(findings.with_remedy, unread)) or last.problem
        if problem != last.problem or list(map(id, found)) != list(map(id, last.found)):
            self.post_message(replace(last, found=found, problem=problem))

    @work(thread=True, exclusive=True, group="inbox")
    def _read(self, *, with_memories: bool = True) -> None:
        data, unread = self.services.data, list[Finding]()
        every = data.waiting(every=True, unread=unread)
        found = [each for each in every if each.kind != "guidance"]
        settings, now = data.settings(), data.now()
        notes = [(each.slug, bool(drafts.states(settings, each, now))) for each in every if each.kind == "guidance"]
        names = projects.names(data.env, {**homes(data.env, found), data.slug: data.project_root})
        problem = " ".join(map(findings.with_remedy, unread))
        try:
            others = data.changed(every=self.all_projects)
        except MemtuiError as error:
            others, problem = [], f"{problem} {error.message}".strip()
        untrusted = of_untrusted(data.root, data.scopes())
        self.post_message(EntriesRead(found, notes, names, problem, others, untrusted, later.load(data.root)))
        if not with_memories:
            return
        memories = self.proposals.read_memories()
        self.post_message(MemoriesRead(memories, known_texts.likeness(data.root, found, memories)))

    def on_entries_read(self, message: EntriesRead) -> None:
        """Show the entries."""
        near = {self.services.data.slug, None}
        self._last_read = message
        self._problem = message.problem
        if self._ghosts and self._ghosts[0].key in {f"ghost {each.key}" for each in message.found}:
            self._ghosts = []  # it was undone
        if message.names != self.proposals.names:
            self.proposals.names = message.names
            self.table.redraw()
        self.proposals.forget({each.directory for each in message.found})
        self.view.occasions.clear()
        now = self.view.now
        self._in_other_projects = sum(each.slug not in near and not each.entry.snoozed(now) for each in message.found)
        entries = rows.of_entries([each for each in message.found if self.all_projects or each.slug in near], now)
        self._entries = [*entries, *rows.of_changed(message.changed), *message.untrusted]
        self._hidden = message.hidden
        stuck = [is_stuck for slug, is_stuck in message.notes if self.all_projects or slug in near]
        self._show_notes(len(stuck) - sum(stuck), sum(stuck))
        self._note_returned({each.key for each in message.found} | {row.key for row in self._entries})
        self._arrange()

    def _note_returned(self, keys: set[str]) -> None:
        """Note which rows have come back, for the cursor."""
        keys |= {row.key for row in (*self._changes, *self._problems)}
        self._returned = (keys - self._last_keys) & self._all_keys
        self._last_keys, self._all_keys = keys, self._all_keys | keys
        if self._was_left and self._returned:  # undone there
            self.wanted = self._first_returned
        self._was_left = False

    def _arrange(self) -> None:
        """Show all rows in their order."""
        self.found = rows.in_order([*self._entries, *self._changes, *self._problems], self._hidden, self.view.now)
        self.fill()

    def _show_notes(self, waiting: int, stuck: int) -> None:
        """Say below the list how many notes wait, which `memtui inbox` lists too; nothing if there are none."""
        words = [f"{many(waiting, 'note waits', 'notes wait')} for the agent"] if waiting else []
        words += [f"{stuck} more {'is' if stuck == 1 else 'are'} stuck"] if stuck and waiting else []
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
        if message.alike != self.view.alike:
            self.view.alike = message.alike
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
        if other is not None and other.writer.session and other.key not in self.view.occasions:
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
        self.view.occasions[message.item.key] = message.occasion
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
        autosaves = autosave.names(self.services.data.root)
        if autosaves != self.view.autosaves:
            self.view.autosaves = autosaves
            self.table.redraw()
        self.view.typed = self.typed
        super().fill()
        self.look_soon()

    def select(self) -> Sequence[InboxRow]:
        """Return the rows to show. Likely one-offs and hidden rows are folded, unless the filter is used."""
        if not self.typed:
            shown = rows.folded(self.found, self.unfolded, self.view.now)
            shown[self._ghost_at : self._ghost_at] = self._ghosts
            return shown
        self.view.typed = self.typed
        return super().select()

    def why_empty(self) -> str:
        """Return what an empty list says: what will fill it, or why nothing will."""
        if self.typed:
            return super().why_empty()
        why_unheard = unheard.keyed(self.services.data.unheard(), read_only=self.services.read_only)
        said = EMPTY_UNHEARD.format(why_unheard[:1].upper() + why_unheard[1:] + ".") if why_unheard else EMPTY
        return said + (PLANNING if self.planning and not self.planned else "") + self._elsewhere

    def summary(self) -> Text:
        """Return the top line: how many rows are to be decided, which the tab says too, and how many else there are."""
        problem = self._problem or self._plan_problem
        if problem:
            return Text("! " + safe_text.line(problem), "red", no_wrap=True, overflow="ellipsis")
        awake = [row for row in self.found if row.until is None]
        tidied = len([row for row in awake if isinstance(row, (ProposedRow, ProblemRow))])
        trusted = len([row for row in awake if isinstance(row, TrustRow)])
        decided = len(awake) - tidied - trusted
        text = Text(no_wrap=True, overflow="ellipsis")
        text.append(f"{decided:,} to decide" if decided else "Nothing to decide", style="bold")
        elsewhere = f"{self._in_other_projects} in other projects" if self._in_other_projects else ""
        text.append(f" ({elsewhere})" if elsewhere and self.all_projects else "")
        text.append(f" · {trusted:,} to trust" if trusted else "")
        text.append(f" · {tidied:,} to tidy" if tidied else "")
        if elsewhere and not self.all_projects:
            text.append(f" · {actions.key_of('list.project')}: {elsewhere}", style="dim")
        return text

    def describe(self, row: InboxRow) -> Described:
        """Return the detail of a row."""
        self.view.detail_width = self.detail_width
        self.view.glance_says_all, self.view.is_wide = True, not self.has_class("narrow")
        place = row.where(self.view)
        return row.describe(self.view)._replace(title=" · ".join(filter(None, (row.kind.word, place))))

    @property
    def is_on_draft(self) -> bool:
        """Whether a draft is under the cursor."""
        return self.table.row is not None and self.table.row.kind is DRAFT

    def go_to_draft(self) -> None:
        """Put the cursor on the first draft, if there is one."""
        self.wanted = lambda rows: next((at for at, row in enumerate(rows) if row.kind is DRAFT), None)
        self.fill()

    def footer_actions(self) -> list[actions.Action]:
        """Return the actions for the chosen rows."""
        leader = self.chosen.leader
        if leader is None:
            return [actions.on_screen("inbox", verb) for verb in (ON_LIST if self.found else ON_NOTHING)]
        own = [(f"inbox.{verb}", leader.kind.verbs[verb]) for verb in IN_FOOT if verb in leader.kind.verbs]
        return [
            *(replace(actions.get(action), footer=word) for action, word in own),
            *(actions.on_screen("inbox", verb) for verb in ON_LIST),
        ]

    @property
    def detail_seen(self) -> bool:
        """Whether the row under the cursor is on the screen to its end, as far as it is to be looked at."""
        if not super().detail_seen:
            return self.glance.display and self.glance.is_whole and self.view.glance_says_all
        return min(self.view.needed, len(self.detail.lines)) <= self.detail.scroll_y + self.detail.size.height

    def copied(self) -> str:
        """Return the text of the row under the cursor."""
        row = self.table.row
        return row.copied(self.view) if row is not None else ""

    # changes

    def plan(self) -> None:
        """Begin to plan changes in a worker; what was planned before stays in the list until then."""
        self.planning, self._plan_problem = True, ""
        self._plan()

    @work(thread=True, exclusive=True, group="plan")
    def _plan(self) -> None:
        self.reader.plan()

    @work(thread=True, exclusive=True, group="changes")
    def _look_for_changes(self) -> None:
        shown, decided = ([row.proposal for row in rows] for rows in (self._changes, self._decided_rows))
        self.reader.look_for_changes(shown, decided)

    def on_plan_made(self, message: PlanMade) -> None:
        """Show what is planned."""
        known = {row.id: row.facts.weighed for row in self._changes}
        self._changes = [row.with_facts(weighed=known.get(row.id)) for row in message.rows]
        self._problems, self.planned = of_problems(message.left), True
        planned = {row.id for row in self._changes}
        self._decided_rows = [row for row in self._decided_rows if row.id not in planned]
        self._note_back({row.key for row in (*self._changes, *self._problems)})
        self._arrange()

    def on_rows_weighed(self, message: RowsWeighed) -> None:
        """Show what some of the changes save."""
        weighed = {each.proposal.id: each for each in message.found}
        self._changes = [row.with_facts(weighed=weighed.get(row.id, row.facts.weighed)) for row in self._changes]
        self.planning = self.planning and not message.last
        self.table.redraw()
        self._arrange()

    def on_plan_failed(self, message: PlanFailed) -> None:
        """Show why there is no plan."""
        self._plan_problem = f"{message.error.message} {message.error.hint}".strip()
        self.planning = False
        self.fill()

    def on_changes_found(self, message: ChangesFound) -> None:
        """Show which changes are about files that have changed, and those that an undo brought back; then plan again,
        unless a decision follows."""
        back = [row for row in self._decided_rows if row.id in message.back]
        self._decided_rows = [row for row in self._decided_rows if row.id not in message.back]
        self._changes = [*(row.with_facts(stale=row.id in message.stale) for row in self._changes), *back]
        self._note_back({row.key for row in back})
        self.table.redraw()
        self._arrange()
        if message.outdated and self._settle_timer is None:
            self.plan()

    def _note_back(self, keys: set[str]) -> None:
        """Note the rows that are back in the list, and put the cursor on the first after an undo."""
        if back := (keys - self._last_keys) & self._all_keys:
            self._returned |= back
            self.wanted = self._first_returned
        self._all_keys |= keys
        self._last_keys |= keys

    def _decided(self, ids: Collection[str]) -> None:
        """Take changes off the list at once; the plan that is made anew confirms it."""
        self._decided_rows += [row for row in self._changes if row.id in ids]
        self._changes = [row for row in self._changes if row.id not in ids]
        self._last_keys -= {row.key for row in self._decided_rows}
        self._settle_soon()
        self._arrange()

    def _keep_ghost(self, items: Sequence[Waiting], seconds: float) -> None:
        """Take rejected drafts off the list at once, so that the next key is about the next row; a single one stays as
        a grey row for some seconds."""
        keys = {item.key for item in items}
        places = [at for at, row in enumerate(self.table.rows) if row.key in keys]
        self._ghosts = [GhostRow(f"ghost {items[0].key}", rejected=items[0])] if len(items) == 1 else []
        self._ghost_at = places[0] if places else 0
        self._entries = [row for row in self._entries if row.key not in keys]
        if self._ghost_timer is not None:
            self._ghost_timer.stop()
        self._ghost_timer = self.set_timer(seconds, self._drop_ghost)
        self._arrange()
        if isinstance(self.table.row, GhostRow):  # the next key is about another row
            self.table.move_to(self._ghost_at + 1 if self._ghost_at + 1 < len(self.table.rows) else self._ghost_at - 1)

    def _drop_ghost(self) -> None:
        if self._ghosts:
            self._ghosts = []
            self.fill()

    # moving

    def escape_steps(self) -> Sequence[Callable[[], bool]]:
        """Return the steps of escape: what runs is stopped first."""
        return (self.bulk.stop, *super().escape_steps())

    def count(self) -> None:
        """Show how many rows are listed and marked, unless the progress of a change is shown there."""
        if not self.bulk.running:
            super().count()

    def _why_no_projects(self) -> str:
        return "" if self._in_other_projects else "There is nothing to decide in other projects."

    def markable(self) -> Sequence[InboxRow]:
        """Return the rows that "mark all" marks: all of the kind under the cursor that need no look by themselves; of a
        kind that always does, and among hidden rows, all of them."""
        under = self.chosen.leader
        alike = [row for row in self.table.rows if under is not None and row.kind is under.kind]
        if under is not None and under.until is not None:
            return [row for row in alike if row.until is not None]
        return [row for row in alike if not row.needs_look()] or [row for row in alike if row.until is None]

    def fold_word(self) -> str:
        """Return what enter does to a fold."""
        row = self.table.row
        return ("fold" if row.is_open else "unfold") if isinstance(row, FoldRow) else ""

    def open_detail(self) -> None:
        """Go into the detail; on the fold, unfold or fold."""
        row = self.table.row
        if isinstance(row, FoldRow):
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
        """Undo the last change, and put the cursor on the row that comes back."""
        self.wanted = self._first_returned
        self.services.turn("undo")

    def _first_returned(self, shown: Sequence[InboxRow]) -> int | None:
        return next((at for at, row in enumerate(shown) if row.key in self._returned), None)
