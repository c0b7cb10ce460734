"""The rows of Activity: a note that waits, a session, and a delivery to it. Each draws, describes and offers itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rich.text import Text

from memtui.core.base.finding import Finding
from memtui.core.base.phrasing import age
from memtui.core.deliveries import reading
from memtui.core.deliveries.memory_counts import ReceiptCounts
from memtui.core.deliveries.record import session_kind
from memtui.core.deliveries.sessions import SessionRow
from memtui.core.inbox.format import Entry
from memtui.core.inbox.under_way import UnderWay
from memtui.core.review.waiting import Waiting, is_for
from memtui.present import legend, models, safe_text, sessions
from memtui.present import subconscious as model_words
from memtui.present.deliveries import EVENTS, GLYPHS, brought, sums
from memtui.subconscious.overview import WaitingMention
from memtui.subconscious.runs import Run
from memtui.tui.model import fuzzy
from memtui.tui.model.times import when
from memtui.tui.screens.activity import delivery_text, note_text, run_text, session_text
from memtui.tui.screens.list_screen import Described
from memtui.tui.widgets.painting import SPANNED
from memtui.tui.widgets.rows import Column

if TYPE_CHECKING:
    from memtui.tui.model.data import Data

COLUMNS = (
    Column("what"),
    Column("project", 14, from_width=60),
    Column("age", 4, right=True, from_width=36),
    Column("receipt", 1, until_width=48),
    Column("receipt", 9, right=True, from_width=48),
)
SESSION = "session:"
# Before the title of a session that a model read.
READ = "m "
WAITS, STOPPED = "○", "!"
# Why a note is not delivered, short enough for a column.
STUCK = {"inbox.expired": "expired", "inbox.held": "held", "inbox.binary": "binary", "inbox.long": "too long"}
MARKS = (
    (WAITS, "a note waits for the next prompt; urgent: also before the next tool use"),
    (STOPPED, "it is not delivered: expired, held after three times, binary or too long"),
    (legend.UNFOLDED, "a session with what it got, newest first; enter or h folds it"),
)


@dataclass
class RowContext:
    """What all rows are drawn with. `words`: those of the query, which are marked; `projects`: names by root or slug;
    `facts`: of sessions, by id; `notes`: those that wait; `unused`: no session was ever given anything;
    `mentions`: what was asked of the model and has no reply yet."""

    data: "Data"
    read_only: bool = False
    words: str = ""
    projects: dict[str, str] = field(default_factory=dict)
    facts: dict[str, SessionRow] = field(default_factory=dict)
    notes: "Sequence[NoteRow]" = ()
    unused: bool = False
    mentions: Sequence[WaitingMention] = ()

    @property
    def titles(self) -> Mapping[str, str]:
        """The titles of sessions, by id."""
        return {name: facts.title[:80] for name, facts in self.facts.items() if facts.title}

    def title(self, session: str) -> str:
        """Return what a session is about; empty if nothing tells."""
        return self.facts[session].title if session in self.facts else ""

    def project(self, root: str) -> str:
        """Return the name of a project."""
        return self.projects.get(root, root)


def _marked(cells: list[Text], words: str) -> list[Text]:
    for text in cells if words else ():
        for start, end in fuzzy.spans(text.plain, words):
            text.stylize(fuzzy.STYLE, start, end)
    return cells


@dataclass(frozen=True)
class NoteRow:
    """A note that waits (`item`; `states`: why it is stuck), or that a hook took and no transcript shows yet
    (`under_way`). `home`: the slug of its project, None for all."""

    text: str
    time: float | None
    home: str | None
    item: Waiting | None = None
    under_way: UnderWay | None = None
    states: tuple[Finding, ...] = ()

    @property
    def key(self) -> str:
        """What tells it from other rows."""
        if self.item is not None:
            return f"{self.item.path}#{self.item.id}"
        return f"way {self.under_way.delivery} {self.entry.id}" if self.under_way is not None else ""

    @property
    def entry(self) -> Entry:
        """The note as its inbox has it."""
        if self.item is not None:
            return self.item.entry
        return self.under_way.entry if self.under_way is not None else Entry("", {}, self.text, "", 0)

    @property
    def actions(self) -> Sequence[str]:
        """The verbs that suit it, for the foot."""
        if self.item is None:
            return ()
        return ("edit", "withdraw", "again", "mark") if self.states else ("edit", "withdraw", "mark")

    @property
    def is_over(self) -> bool:
        """Whether it is no longer delivered: it has expired, or came back too often."""
        return any(each.code in {"inbox.expired", "inbox.held"} for each in self.states)

    @property
    def state(self) -> Text:
        """Its state in a word."""
        if self.under_way is not None:
            return Text("sent", "cyan")
        if self.states:
            return Text(STUCK[self.states[0].code], "yellow")
        return Text("urgent", "bold") if self.entry.flag("urgent") else Text("waiting")

    @property
    def session(self) -> str:
        """The id of the session that it is for or that took it, maybe only its beginning; empty if there is none."""
        if self.under_way is not None:
            return self.under_way.session
        given = self.entry.fields.get("for", "").split(",")
        return next((each.strip()[len(SESSION) :] for each in given if each.strip().startswith(SESSION)), "")

    def whom(self, context: RowContext) -> str:
        """Say for whom it is: its project, a session, an agent, some files; or which session took it."""
        if self.under_way is not None:
            taker = self.under_way.record
            kind = session_kind(taker.entrypoint)
            name = context.title(taker.session)
            return f"→ {f'“{name}”' if name else taker.session[:8]} {kind}".rstrip()
        project = context.project(self.home) if self.home else "every project"
        given = [each.strip() for each in self.entry.fields.get("for", "").split(",") if each.strip()]
        whom = " and ".join(note_text.addressee(each, context.titles) for each in given)
        elsewhere = self.home not in {None, context.data.slug}
        return f"{project}, {whom}" if whom and elsewhere else whom or project

    def searched(self, context: RowContext) -> str:
        """Return the text that a query searches."""
        sender = note_text.called(self.entry.fields.get("from", note_text.BY_HAND))
        return f"{self.text[:2000]} {sender} {self.whom(context)} {self.state.plain} note"

    def cells(self, context: RowContext) -> list[Text]:
        """Draw its cells."""
        state = self.state
        state.pad_right(max(1, 9 - state.cell_len))
        words = Text.assemble(state, safe_text.line(self.text, 400))
        whom = Text(safe_text.line(self.whom(context), 80), "dim")
        mark = STOPPED if self.states else WAITS if self.item is not None else GLYPHS["waiting"][0]
        seen = Text(age(self.time, context.data.now()), "dim")
        glyph = Text(mark, "yellow" if self.states else "cyan" if self.under_way else "")
        return _marked([words, whom, seen, glyph, glyph], context.words)

    def describe(self, context: RowContext) -> Described:
        """Return the note, why it waits, and the keys that work on it."""
        data = context.data
        if self.under_way is not None:
            return Described(note_text.under_way(self.under_way, context.titles, data.now()))
        if self.item is None:
            return Described(Text(self.text))
        start = data.project_root if context.unused and not data.unheard() else ""
        project = context.project(self.home) if self.home else data.facts.project
        text = note_text.waiting(
            self.item,
            self.states,
            context.titles,
            project,
            data.now(),
            start=start,
            read_only=context.read_only,
        )
        return Described(text)


@dataclass(frozen=True)
class SessionGroup:
    """A session with what it got, newest first. `facts`: what is known of it beside that; `live`: a client serves it
    now; `runs`: when a model read it, newest first."""

    session: str
    deliveries: Sequence[reading.DeliveryRow]
    root: str
    facts: SessionRow
    live: bool
    unfolded: bool
    runs: "Sequence[RunRow]" = ()

    @property
    def actions(self) -> Sequence[str]:
        """The verbs that suit it, for the foot."""
        return ("fold",) if self.unfolded else ("unfold",) if self.foldable else ()

    @property
    def foldable(self) -> bool:
        """Whether there are rows below it."""
        return bool(self.deliveries or self.runs)

    @property
    def below(self) -> "list[Row]":
        """The rows below it, newest first."""
        found: list[Row] = [*(DeliveryEntry(each) for each in self.deliveries), *self.runs]
        return sorted(found, key=_time, reverse=True) if self.runs else found

    @property
    def key(self) -> str:
        """What tells it from other rows."""
        return session_key(self.session)

    @property
    def last(self) -> float | None:
        """When it got something last, or was seen last."""
        times = [*(each.time for each in self.deliveries[:1]), *(each.time for each in self.runs[:1])]
        return max(times) if times else self.facts.last

    def whole(self, known: Mapping[str, str]) -> SessionRow:
        """Return all that is known of it. `known`: outcomes by delivery."""
        outcomes: dict[str, int] = {}
        for each in self.deliveries:
            if each.id in known:
                outcomes[known[each.id]] = outcomes.get(known[each.id], 0) + 1
        chars, ms = (sum(each.chars for each in self.deliveries), sum(each.ms or 0.0 for each in self.deliveries))
        count = sum(each.injected for each in self.deliveries)
        return replace(
            self.facts,
            live=self.live,
            deliveries=count,
            characters=chars,
            ms=round(ms),
            outcomes=outcomes,
            last=self.last,
        )

    @property
    def title(self) -> str:
        """What it is about, in quotation marks; else in words."""
        if self.facts.title:
            return f"“{self.facts.title}”"
        return " · ".join(filter(None, (f"session {self.session[:8]}", sessions.title(self.facts))))

    def searched(self, context: RowContext) -> str:
        """Return the text that a query searches."""
        return f"{self.facts.title[:300]} {self.facts.branch} {self.session} {context.project(self.root)}"

    def cells(self, context: RowContext) -> list[Text]:
        """Draw its cells."""
        mark = legend.UNFOLDED if self.unfolded else legend.FOLDED if self.foldable else " "
        known = bool(self.facts.title)
        title = Text(safe_text.line(self.title, 300), "bold" if self.live else "" if known else "dim")
        whose = Text(safe_text.line(context.project(self.root), 40), "dim")
        seen = Text("live", "green") if self.live else Text(age(self.last, context.data.now()), "dim")
        worst = _worst(self.whole(context.data.receipts.known).counts)
        return _marked(
            [Text.assemble(mark + " ", (READ, "cyan") if self.runs else "", title), whose, seen, worst[:1], worst],
            context.words,
        )

    @property
    def runs_of(self) -> list[Run]:
        """When a model read it, as its log has it."""
        return [each.run for each in self.runs]

    def describe(self, context: RowContext) -> Described:
        """Return what it is about, what became of what it got, what waits for it, and how to resume it."""
        data, row = context.data, self.whole(context.data.receipts.known)
        project = context.project(self.root)
        homes, personal = {row.slug, None}, row.kind != "script"
        waiting = [each.item for each in context.notes if each.item is not None and each.home in homes]
        waiting = [each for each in waiting if is_for(each, row.id, personal=personal, now=data.now())]
        whole = session_text.detail(row, project, waiting, sessions.resume(row, data.cwd), data.now())
        mentions = [each for each in context.mentions if each.session == self.session]
        run_text.read_along(whole, self.runs_of, mentions, data.now())
        session_text.add_keys(whole, row, read_only=context.read_only)
        return Described(whole, session_text.head(row, project, data.now()), session_text.tail(row, waiting))


@dataclass(frozen=True)
class DeliveryEntry:
    """A delivery to a session, as the log has it."""

    logged: reading.DeliveryRow
    actions: Sequence[str] = ("again",)

    @property
    def key(self) -> str:
        """What tells it from other rows."""
        return self.logged.id

    @property
    def session(self) -> str:
        """The id of the session that got it."""
        return self.logged.session

    def searched(self, context: RowContext) -> str:  # noqa: ARG002  the log is searched for its text
        """Return the text that a query searches."""
        return " ".join((self.logged.event, *brought(self.logged.contents)))

    def cells(self, context: RowContext) -> list[Text]:
        """Draw its cells."""
        each, now = self.logged, context.data.now()
        glyph, style = GLYPHS.get(context.data.receipts.known.get(each.id, ""), ("…", "dim"))
        counts, titles = brought(each.contents)
        kind = (
            "note" if [name for name, _ in each.contents.counts] == ["guidance"] else EVENTS.get(each.event, each.event)
        )
        words = Text(safe_text.line(titles or counts, 200), "" if each.injected else "dim")
        if titles and counts:
            words = Text.assemble((safe_text.line(counts, 80) + " · ", "dim"), words)
        start = Text(f"    {moment(each.time, now):<5} {safe_text.line(kind, 20):<7} ", "dim")
        receipt = Text(glyph, style)
        return _marked([Text.assemble(start, words), SPANNED, SPANNED, receipt, receipt], context.words)

    def describe(self, context: RowContext) -> Described:
        """Return what was delivered, why, and whether it arrived, with the text as the log has it."""
        data, each = context.data, self.logged
        found, outcome = reading.read(each), data.receipts.known.get(each.id, "")
        title, project = context.title(each.session), context.project(each.root)
        statistics = data.statistics
        text = delivery_text.delivery_text(
            found,
            outcome,
            title,
            project,
            data.now(),
            lambda item: statistics.recalled(statistics.earlier.now(item.path, each.time)),
        )
        return Described(text, *delivery_text.delivery_glance(found, outcome, title))


@dataclass(frozen=True)
class RunRow:
    """A reading of a session by the model: what it changed and said, and what that cost. `root`: of its project."""

    run: Run
    root: str

    @property
    def actions(self) -> Sequence[str]:
        """The verbs that suit it, for the foot."""
        return ("withdraw",) if self.run.blocks else ()

    @property
    def key(self) -> str:
        """What tells it from other rows."""
        return f"run {self.run.id}"

    @property
    def session(self) -> str:
        """The id of the session that was read."""
        return self.run.session

    @property
    def time(self) -> float:
        """When it began, in seconds since the epoch."""
        return self.run.time

    def searched(self, context: RowContext) -> str:  # noqa: ARG002  as the other rows
        """Return the text that a query searches."""
        return f"model {model_words.did(self.run)} {self.run.note} {' '.join(self.run.blocks)}"

    def cells(self, context: RowContext) -> list[Text]:
        """Draw its cells."""
        said = " · ".join(filter(None, (model_words.did(self.run), self.run.note)))
        start = Text(f"    {moment(self.time, context.data.now()):<5} {'model':<7} ", "dim")
        words = Text.assemble(start, safe_text.line(said, 200))
        outcome, style = model_words.outcome(self.run, context.data.now())
        state = Text(models.dollars(self.run.cost), "dim") if outcome == "done" else Text(outcome, style)
        return _marked([words, SPANNED, SPANNED, Text(), state], context.words)

    def describe(self, context: RowContext) -> Described:
        """Return all about it."""
        return Described(run_text.detail(context.data, self.run, read_only=context.read_only))


Row = NoteRow | SessionGroup | DeliveryEntry | RunRow


def moment(seconds: float, now: float) -> str:
    """Write when something was, without seconds: these stand in the detail."""
    found = when(seconds, now)
    return found[:5] if found.count(":") == 2 else found


def _time(row: Row) -> float:
    return row.logged.time if isinstance(row, DeliveryEntry) else row.time if isinstance(row, RunRow) else 0.0


def session_key(session: str) -> str:
    """Return what tells the row of a session from other rows."""
    return f"session {session}"


def _worst(counts: ReceiptCounts) -> Text:
    """Draw the worst that became of some deliveries, and how often: `✗ 1 lost`, else `◐ 2`, `… 1`, `✓ 4`."""
    words = {text.partition(" ")[0]: (text, style) for text, style in sums(counts, brief=True)}
    if counts.lost:
        return Text(f"{GLYPHS['failed'][0]} {counts.lost} lost", GLYPHS["failed"][1])
    for outcome in ("previewed", "waiting"):
        if (found := words.get(GLYPHS[outcome][0])) is not None:
            return Text(found[0], found[1])
    if counts.arrived:
        return Text(f"{GLYPHS['arrived'][0]} {counts.arrived}", GLYPHS["arrived"][1])
    return Text(f"{GLYPHS['unknown'][0]} {counts.unknown}" if counts.unknown else "", "dim")


def newest(text: str) -> Callable[[Sequence[Row]], int | None]:
    """Return a function that finds, among shown rows, the number of the newest waiting note with this text."""

    def find(rows: Sequence[Row]) -> int | None:
        found = {at: row.time or 0.0 for at, row in enumerate(rows) if isinstance(row, NoteRow) and row.text == text}
        return max(found, key=lambda at: found[at], default=None)

    return find
