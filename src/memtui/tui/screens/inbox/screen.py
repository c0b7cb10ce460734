"""Inbox: what wants the person's decision: drafts of memories, and work left unfinished."""

import textwrap
from functools import partial
from typing import ClassVar

from rich.text import Text
from textual import on, work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.timer import Timer

from memtui import actions
from memtui.consolidate import similar
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import age, many
from memtui.core.memories import scopes
from memtui.core.memories.memory import Memory
from memtui.core.review import evidence
from memtui.core.review.draft import Draft
from memtui.core.review.evidence import Evidence
from memtui.core.review.waiting import Waiting
from memtui.present import safe_text, undelivered, unheard
from memtui.tui.model import fuzzy
from memtui.tui.screens.inbox.approving import Deciding
from memtui.tui.screens.inbox.rows import DOUBTFUL, Line, confidence, is_doubtful, key_of, searched
from memtui.tui.screens.inbox.text import draft_glance, draft_head, draft_text, item_glance, item_text, lines_of
from memtui.tui.widgets.detail import Detail
from memtui.tui.widgets.field import Field
from memtui.tui.widgets.glance import Glance
from memtui.tui.widgets.line import OneLine
from memtui.tui.widgets.rows import Column, RowList

# With so many columns a draft and the memory most alike stand beside each other.
BESIDE = 120
# The cursor rests this long on a draft before its transcript is read.
REST_SECONDS = 0.15
KINDS = {"confirmation": "confirmed"}
EMPTY = """Nothing wants your decision.
Sessions leave drafts here when you correct or confirm the agent,
and the work they did not finish.
{app.guide} leaves guidance, {app.memories} shows what is remembered."""

DEAF = """Nothing wants your decision,
and sessions will leave no drafts here.
{}
{app.guide} leaves guidance, {app.memories} shows what is remembered."""
DEAF_WIDTH = 38


class Inbox(Deciding):
    """The list on the left; on the right the memory that a draft would become, and why."""

    group: ClassVar[str] = "inbox"
    share: ClassVar[int] = 55
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "inbox", "memories"})
    legend = (
        "conf is how sure the rules are that you meant it for good, seen how often you said it. What is below "
        f"{DOUBTFUL} and was said once is folded. Approving shows the whole file first, unless it is on the screen."
    )

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[Waiting] = []
        self.elsewhere = 0
        self.every = False
        self.unfolded = False
        self.memories: list[Memory] = []
        self.others: dict[str, list[Memory]] = {}
        self.settings_of: dict[str, Evidence] = {}
        self.changed: dict[str, dict[str, str]] = {}
        self.readied: dict[str, tuple[Waiting, dict[str, str], Draft | MemtuiError]] = {}
        self.head = 0
        self._rest: Timer | None = None
        self._problem = ""
        self._there: set[str] = set()  # the entries of all projects when they were read last
        self._known: set[str] = set()  # those that ever were
        self._undoing = False

    def body(self) -> ComposeResult:
        """Two panes; on a narrow screen the list, and the draft over it."""
        yield OneLine(id="answer")
        with Horizontal(id="panes"):
            with Vertical(id="middle"):
                yield RowList[Line](
                    [
                        Column("kind", 10),
                        Column("draft"),
                        Column("conf", 4, right=True, from_width=46),
                        Column("seen", 4, right=True, from_width=60),
                        Column("for", 8, from_width=50),
                        Column("age", 4, right=True),
                    ],
                    self._draw,
                    lambda line: line.key,
                    empty=actions.keyed(EMPTY),
                    id="list",
                )
                yield Glance(id="glance")
                yield Field(placeholder="filter: name, text, kind", id="filter")
            yield Detail(id="detail")

    @property
    def table(self) -> RowList[Line]:
        """The drafts and items."""
        return self.query_one("#list", RowList)

    # reading

    def reload(self) -> None:
        """Read the inboxes and the memories in a worker."""
        self._read()

    @work(thread=True, exclusive=True, group="inbox")
    def _read(self) -> None:
        data = self.main.data
        unread: list[MemtuiError] = []
        found = [each for each in data.waiting(every=True, unread=unread) if each.kind != "guidance"]
        problem = " ".join(f"{error.message} {error.hint}" for error in unread)
        self.others = {}
        self.app.call_from_thread(self._show, found, problem)
        memories = [
            memory
            for scope in data.scopes()
            if scope.exists and scope.writable and not scope.problem
            for memory in scopes.memories(scope)
        ]
        self.app.call_from_thread(self._know, memories)

    def _show(self, found: list[Waiting], problem: str) -> None:
        near = {self.main.data.slug, None}
        self._problem = problem
        self.readied.clear()
        self.elsewhere = sum(each.slug not in near for each in found)
        self.waiting = [each for each in found if self.every or each.slug in near]
        keys = {key_of(each) for each in found}
        back = (keys - self._there) & self._known
        self._there, self._known = keys, self._known | keys
        self.fill()
        if back and self._undoing:
            self._undoing = False
            at = next((number for number, line in enumerate(self.table.rows) if line.key in back), None)
            if at is not None:
                self.table.move_to(at)

    def _know(self, memories: list[Memory]) -> None:
        if [each.raw for each in memories] != [each.raw for each in self.memories]:
            self.memories = memories
            self.settings_of.clear()
            self.show_detail()

    def fill(self) -> None:
        """Put what waits into the list: drafts, surest first, then items."""
        drafts = [each for each in self.waiting if each.kind == "updates"]
        drafts.sort(key=lambda each: (-confidence(each), -(each.entry.time() or 0.0)))
        doubtful = [each for each in drafts if is_doubtful(each)]
        items = [each for each in self.waiting if each.kind == "items"]
        folded = doubtful and not self.unfolded and not self.typed
        shown = [each for each in drafts if not (folded and is_doubtful(each))]
        lines = [Line(key_of(each), each) for each in shown]
        if doubtful and not self.typed:
            lines.append(Line("fold", None, len(doubtful)))
        lines += [Line(key_of(each), each) for each in items]
        if self.typed:
            lines = fuzzy.select(lines, self.typed, searched)
        self.table.empty = (
            self._nothing()
            if not self.typed
            else f"Nothing fits “{safe_text.line(self.typed, 60)}”.\nescape clears the filter."
        )
        self.table.show(lines)
        self.table.marks &= {key_of(each) for each in self.waiting}
        self.count()
        self._answer(len(drafts), len(doubtful), len(items))
        self.show_detail()

    def _nothing(self) -> str:
        """What an empty list says: what will fill it, or why nothing will."""
        deaf = unheard.keyed(self.main.data.unheard())
        if not deaf:
            return actions.keyed(EMPTY)
        return actions.keyed(DEAF).format("\n".join(textwrap.wrap(deaf[:1].upper() + deaf[1:] + ".", DEAF_WIDTH)))

    def _answer(self, drafts: int, doubtful: int, items: int) -> None:
        text = Text(no_wrap=True, overflow="ellipsis")
        if self._problem:
            text.append("! " + safe_text.line(self._problem), style="red")
        else:
            sure = drafts - doubtful
            text.append(f"{many(sure, 'draft waits', 'drafts wait')} for you" if drafts else "No drafts", style="bold")
            if doubtful:
                text.append(f" · {doubtful} more look one-off", style="dim")
            text.append(f" · {many(items, 'item')} unfinished" if items else "", style="dim")
            if self.elsewhere:
                words = "with" if self.every else actions.key_of("inbox.projects") + " shows"
                text.append(f" · {words} {self.elsewhere} of other projects", style="dim")
        self.query_one("#answer", OneLine).put(text)

    # drawing

    def _draw(self, line: Line) -> list[Text]:
        item = line.item
        blank = Text("")
        if item is None:
            words = f"{many(line.count, 'draft')} that look one-off" if line.count > 1 else "1 draft that looks one-off"
            return [Text("▾" if self.unfolded else "▸", style="dim"), Text(words, style="dim"), *[blank] * 4]
        fields = item.entry.fields
        when = Text(age(item.entry.time(), self.main.data.now()), style="dim")
        where = Text(self._where(item), style="dim")
        if item.kind == "items":
            kept = fields.get("state") == "kept"
            said = Text(safe_text.line(item.text, 300))
            self._highlight(said)
            return [Text("= kept" if kept else "☐ item", style="dim"), said, blank, blank, where, when]
        name = Text(safe_text.line(self._proposed(item, "name") or item.text, 200))
        self._highlight(name)
        word = fields.get("kind", "note")
        kind = Text(safe_text.line(KINDS.get(word, word), 12), style="dim")
        conf = Text(fields["confidence"][:4].removeprefix("0") if fields.get("confidence") else "-")
        seen = safe_text.line(fields.get("seen", "1"), 4)
        return [kind, name, conf, Text(f"{seen}×", style="dim" if seen == "1" else ""), where, when]

    def _highlight(self, text: Text) -> None:
        fuzzy.mark([text], self.typed)

    def _where(self, item: Waiting) -> str:
        data = self.main.data
        if item.kind == "updates" and self._proposed(item, "scope") == "global":
            return "global"
        return self.whose(item) or safe_text.line(data.facts.project if item.slug else "global", 40)

    @on(RowList.Moved, "#list")
    def show_detail(self) -> None:
        """The draft under the cursor; its setting follows."""
        line = self.table.row
        detail, glance = self.query_one("#detail", Detail), self.query_one(Glance)
        if line is None or line.item is None:
            words = "enter shows or hides them." if line else "Nothing waits."
            detail.show("fold" if line else "", Text(words, style="dim"))
            glance.show(Text(words, style="dim") if line else Text())
            return
        item = line.item
        known = self.settings_of.get(line.key)
        data = self.main.data
        states = undelivered.words(data.settings(), item, data.now())
        if item.kind == "items":
            self.head = lines_of(Text(item.text), self.room)
            detail.show(line.key, item_text(item, known.title if known else "", states, data.now()))
            glance.show(item_glance(item, states, data.now()))
        else:
            ready, beside = self.ready(item), self.size.width >= BESIDE
            text = draft_head(item, ready, known, self.room, whose=self.whose(item), beside=beside)
            self.head = lines_of(text, self.room)
            text.append_text(draft_text(item, ready, known, states, data.now(), self.room, beside=beside))
            detail.show(line.key, text)
            glance.show(*draft_glance(item, ready, known, whose=self.whose(item)))
        self.frame()
        if known is None:
            if self._rest is not None:
                self._rest.stop()
            self._rest = self.set_timer(REST_SECONDS, partial(self._look, line.key, item))

    @work(thread=True, exclusive=True, group="evidence")
    def _look(self, key: str, item: Waiting) -> None:
        ready = self.ready(item) if item.kind == "updates" else None
        alike = similar.to_draft(ready.name, item.text, self._near(item)) if isinstance(ready, Draft) else []
        found = evidence.evidence_of(self.main.data.env, item, alike)
        self.app.call_from_thread(self._found, key, found)

    def _found(self, key: str, found: Evidence) -> None:
        self.settings_of[key] = found
        if self.table.row_id == key:
            self.show_detail()

    @property
    def seen(self) -> bool:
        """Whether the draft under the cursor is on the screen to its end."""
        detail = self.query_one("#detail", Detail)
        return super().seen and self.head <= detail.scroll_y + detail.size.height

    # moving

    def do_app_undo(self) -> None:
        """As everywhere; the cursor goes to what comes back."""
        self._undoing = True
        self.main.turn("undo")

    @on(RowList.Opened, "#list")
    def do_inbox_open(self) -> None:
        """Over the list on a narrow screen, else to the right; unfold what is folded."""
        if self.table.row is not None and self.table.row.item is None:
            self.unfolded = not self.unfolded
            self.fill()
            return
        self.deepen()

    def copied(self) -> str:
        """What y copies: the text of the entry."""
        return self.table.row.item.text if self.table.row and self.table.row.item else ""

    def do_inbox_filter(self) -> None:
        """Open the filter."""
        self.open_filter()
