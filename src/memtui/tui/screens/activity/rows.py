"""The rows of Activity, each of which draws, describes and offers itself: note, session, delivery, reading."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rich.text import Text

from memtui.base import findings
from memtui.base.finding import Finding
from memtui.base.phrasing import age
from memtui.deliver import log_queries, receipts
from memtui.deliver.filter import LOST
from memtui.deliver.record import session_kind
from memtui.deliver.sessions import Session
from memtui.inbox.format import Entry
from memtui.inbox.undelivered import UnderWay
from memtui.models.subconscious.runs import Run
from memtui.review.waiting_entries import Waiting, is_for
from memtui.tui.model import fuzzy
from memtui.tui.screens.activity import details
from memtui.tui.screens.activity.details import RowContext
from memtui.tui.screens.frame import REPEATED, Described
from memtui.tui.widgets.painting import SPANNED
from memtui.tui.widgets.rows import Column
from memtui.views import colours, deliveries, glyphs, models, notes, safe_text
from memtui.views.deliveries import EVENTS, GLYPHS, WORDS, brought, outcomes

COLUMNS = (
    Column("what it got"),
    Column("for", 14, from_width=60, beside_width=REPEATED),
    Column("when", 4, right=True, from_width=36),
    Column("", 1),
)
# Characters that are copied at most.
COPIED_MOST = 2_000_000
# Cells of the kind of a row, and what kinds of addressees are called in a column.
KIND_WIDTH = 11
ADDRESSEES = {"path": "files"}
WORST = (receipts.FAILED, receipts.PREVIEWED, receipts.WAITING, receipts.ARRIVED, receipts.UNKNOWN)
SESSION = "session:"
# Before the title of a session that a model read; in the place of one that is not read yet.
READ, READING = "m ", "Reading …"
WAITS, STOPPED = "○", "!"
MARKS = (
    (WAITS, "a note waits for the next prompt; urgent: also for the next tool use"),
    (STOPPED, "lost: the note is not delivered; its detail says why, and what to do"),
    (
        glyphs.UNFOLDED,
        "a session with what it got, newest first, and its worst receipt; h folds it, l unfolds it",
    ),
)


def _marked(context: RowContext, *cells: Text) -> list[Text]:
    fuzzy.mark(cells, context.words)
    return [*cells]


def _below(context: RowContext, kind: str, seconds: float, words: Text, receipt: Text) -> list[Text]:
    """Draw the cells of a row below a session: its time of the day, its kind, words, a receipt."""
    start = Text(f"    {time.strftime('%H:%M', time.localtime(seconds))} ", "dim")
    return _marked(context, Text.assemble(start, _kind(kind, 8), words), SPANNED, SPANNED, receipt)


def _kind(word: str, width: int, *, lost: bool = False) -> Text:
    """Draw the kind of a row, as wide for all."""
    style = colours.PROBLEM if lost else colours.DELIVERIES.get(word, "")
    return Text(f"{safe_text.line(word, width):<{width}} ", style)


@dataclass(frozen=True)
class NoteRow:
    """A note that waits (`item`) or is `under_way`. `home`: the slug of its project, None for all."""

    entry: Entry
    time: float | None
    home: str | None
    item: Waiting | None = None
    under_way: UnderWay | None = None
    states: tuple[Finding, ...] = ()

    @property
    def key(self) -> str:
        if self.item is not None:
            return f"{self.item.path}#{self.item.id}"
        return f"way {self.under_way.delivery} {self.entry.id}" if self.under_way is not None else ""

    @property
    def text(self) -> str:
        return self.entry.text

    def copied(self, _context: RowContext) -> str:
        return self.text

    @property
    def actions(self) -> Sequence[str]:
        if self.item is None:
            return ()
        return ("again", "edit", "withdraw", "mark") if self.is_lost else ("edit", "withdraw", "mark")

    @property
    def is_lost(self) -> bool:
        """Whether something keeps it from being delivered."""
        return any(map(findings.flag, self.states))

    @property
    def is_over(self) -> bool:
        """Whether it is no longer delivered: it has expired, or came back too often."""
        return any(finding.code in {"inbox.expired", "inbox.held"} for finding in self.states)

    @property
    def word(self) -> str:
        if self.under_way is not None:
            return WORDS[receipts.WAITING]
        if self.is_lost:
            return next(filter(None, map(findings.flag, self.states))).partition(",")[0]
        return "urgent" if self.entry.flag("urgent") else "waiting"

    @property
    def session(self) -> str:
        """The id of the session that it is for or that took it, maybe only its beginning; empty if there is none."""
        if self.under_way is not None:
            return self.under_way.session
        return next((addressee[len(SESSION) :] for addressee in self._addressees if addressee.startswith(SESSION)), "")

    @property
    def _addressees(self) -> list[str]:
        return [addressee.strip() for addressee in self.entry.fields.get("for", "").split(",") if addressee.strip()]

    def recipient(self, context: RowContext) -> str:
        """Say who gets it: `the next prompt in shop`."""
        project = "any project" if self.home is None else context.project(self.home)
        addressees, urgent = self.entry.fields.get("for", ""), self.entry.flag("urgent")
        return notes.recipient(addressees, urgent=urgent, project=project, title=context.title(self.session)[:80])

    def whom(self, context: RowContext) -> str:
        """Say in a few words for whom it is: its project, a session, an agent, some files; or which session took it."""
        if self.under_way is not None:
            taker = self.under_way.record
            name = context.title(taker.session)
            return f"→ {f'“{name}”' if name else taker.session[:8]} {session_kind(taker.entrypoint)}".rstrip()
        project = context.project(self.home) if self.home else "every project"
        words = []
        for addressee in self._addressees:
            kind, colon, name = addressee.partition(":")
            if kind == "session" and context.title(name):
                words.append(f"“{context.title(name)[:80]}”")
            else:
                label = f"{ADDRESSEES.get(kind, kind)} {name[:8] if kind == 'session' else name}"
                words.append(label if colon else addressee)
        whom = " and ".join(words)
        elsewhere = self.home not in {None, context.data.slug}
        return f"{project}, {whom}" if whom and elsewhere else whom or project

    def searched(self, context: RowContext) -> str:
        sender = details.called(self.entry.fields.get("from", ""))
        return f"{self.text[:2000]} {sender} {self.whom(context)} {self.word} {LOST * self.is_lost} note"

    def cells(self, context: RowContext) -> list[Text]:
        kind = _kind(self.word, KIND_WIDTH, lost=self.is_lost)
        words = Text.assemble(kind, safe_text.line(self.text, 400))
        whom = Text(safe_text.line(self.whom(context), 80), "dim", no_wrap=True)
        mark = STOPPED if self.is_lost else WAITS if self.item is not None else GLYPHS[receipts.WAITING][0]
        glyph = Text(mark, kind.style if self.is_lost or self.under_way else "")
        written = age(self.time, context.data.now()) if self.time is not None else ""
        return _marked(context, words, whom, Text(written, "dim"), glyph)

    def describe(self, context: RowContext) -> Described:
        text = Text(self.text)
        if self.under_way is not None:
            text = details.under_way(context, self.under_way)
        elif self.item is not None:
            text = details.waiting(context, self.item, self.states, self.recipient(context))
        return Described(text, title=f"note · {context.project(self.home) if self.home else 'any project'}")


@dataclass(frozen=True)
class SessionGroup:
    """A session, and what it got and when a model read it, newest first; `hits`: what a query wants of both."""

    session: str
    deliveries: Sequence[log_queries.DeliveryRow]
    root: str
    facts: Session
    live: bool
    unfolded: bool
    runs: "Sequence[RunRow]"
    hits: "Sequence[log_queries.DeliveryRow | RunRow]"

    @property
    def actions(self) -> Sequence[str]:
        return ("left",) if self.unfolded else ("right",) if self.foldable else ()

    @property
    def foldable(self) -> bool:
        return bool(self.hits)

    @property
    def below(self) -> "list[Row]":
        """The rows below it, newest first."""
        hits = sorted(self.hits, key=lambda hit: hit.time, reverse=True)
        return [hit if isinstance(hit, RunRow) else DeliveryEntry(hit) for hit in hits]

    @property
    def key(self) -> str:
        return f"session {self.session}"

    def copied(self, context: RowContext) -> str:
        return deliveries.resume(self.whole({}), context.data.cwd)

    def whole(self, known: Mapping[str, str]) -> Session:
        """Return all that is known of it. `known`: outcomes by delivery."""
        newest = [*(row.time for row in self.deliveries[:1]), *(run_row.time for run_row in self.runs[:1])]
        return replace(
            self.facts,
            live=self.live,
            deliveries=sum(row.injected for row in self.deliveries),
            characters=sum(row.chars for row in self.deliveries),
            ms=sum(row.ms or 0.0 for row in self.deliveries),
            outcomes=dict(Counter(known[row.id] for row in self.deliveries if row.id in known)),
            last=max(newest, default=self.facts.last),
        )

    @property
    def title(self) -> str:
        """What it is about, in quotation marks; else in words."""
        if self.facts.title or not self.facts.looked_up:
            return f"“{self.facts.title}”" if self.facts.title else READING
        return " · ".join(filter(None, (f"session {self.session[:8]}", deliveries.session_title(self.facts))))

    def cells(self, context: RowContext) -> list[Text]:
        """Draw its cells; before the glyph of the worst that became of what it got, how often: `shop · 2d · 1 lost`."""
        row = self.whole(context.data.receipts.known)
        mark = glyphs.UNFOLDED if self.unfolded else glyphs.FOLDED if self.foldable else " "
        title = Text(safe_text.line(self.title, 300), "bold" if self.live else "" if self.facts.title else "dim")
        seen = ("live", "green") if self.live else (age(row.last, context.data.now()), "dim")
        facts, glyph = [(safe_text.line(context.project(self.root), 20), "dim"), seen], Text()
        for count, word, outcome in sorted(outcomes(row.counts), key=lambda each: WORST.index(each[2]))[:1]:
            glyph = Text(*GLYPHS[outcome])
            facts.append((f"{count} {word}", GLYPHS[outcome][1]))
        words = Text.assemble(mark + " ", (READ, "cyan") if self.runs else "", title)
        between = Text.assemble((" · ", "dim"), no_wrap=True)
        return _marked(context, words, SPANNED, between.join(Text(*fact) for fact in facts if fact[0]), glyph)

    def describe(self, context: RowContext) -> Described:
        data, row, project = context.data, self.whole(context.data.receipts.known), context.project(self.root)
        for_it = [
            (note.item, note.recipient(context))
            for note in context.notes
            if note.item is not None
            and note.home in {row.slug, None}
            and ("session:" in note.item.entry.fields.get("for", "") or not deliveries.is_gone(row))
            and is_for(note.item, row.id, personal=row.kind != "script", now=data.now())
        ]
        text = details.session(context, row, project, for_it)
        mentions = [mention for mention in context.mentions if mention.session == self.session]
        details.read_along(text, [run_row.run for run_row in self.runs], mentions, data.now())
        details.session_keys(text, row, read_only=context.read_only)
        return Described(text, title=f"session · {project}")


class DeliveryEntry:
    """A delivery to a session, as the log has it. `word`: `note` if it brought notes alone, else its event."""

    def __init__(self, logged: log_queries.DeliveryRow) -> None:
        self.logged, self.key, self.session, self.time = logged, logged.id, logged.session, logged.time
        is_note = [name for name, _ in logged.contents.counts] == ["guidance"]
        self.word = "note" if is_note else EVENTS.get(logged.event, logged.event)
        self.actions: Sequence[str] = ("again",) if "guidance" in dict(logged.contents.counts) else ()

    def copied(self, _context: RowContext) -> str:
        record = log_queries.read(self.logged)
        return record.text[:COPIED_MOST] if record is not None else ""

    def cells(self, context: RowContext) -> list[Text]:
        glyph, style = GLYPHS.get(context.data.receipts.known.get(self.logged.id, ""), ("…", "dim"))
        counts, titles = brought(self.logged.contents)
        words = Text(safe_text.line(titles or counts, 200), "" if self.logged.injected else "dim")
        if titles and counts:
            words = Text.assemble((safe_text.line(counts, 80) + " · ", "dim"), words)
        return _below(context, self.word, self.time, words, Text(glyph, style))

    def describe(self, context: RowContext) -> Described:
        text = details.delivery(context, self.logged)
        return Described(text, title=f"{self.word} · {context.project(self.logged.root)}")


class RunRow:
    """A reading of a session by the model: what it changed and said, and what that cost. `root`: of its project."""

    def __init__(self, run: Run, root: str) -> None:
        self.run, self.root, self.key, self.session, self.time = run, root, f"run {run.id}", run.session, run.time
        self.actions: Sequence[str] = ("withdraw",) if run.blocks else ()

    def copied(self, _context: RowContext) -> str:
        return self.run.note

    def searched(self, _context: RowContext) -> str:
        return f"model {models.did(self.run)} {self.run.note} {' '.join(self.run.blocks)}"

    def cells(self, context: RowContext) -> list[Text]:
        outcome, style = models.ended(self.run, context.data.now())
        sentence = " · ".join(filter(None, (models.did(self.run), self.run.note)))
        ended = ("", "") if outcome == "done" else (f"{outcome} · " if sentence else outcome, style)
        cost = (f" · {models.dollars(self.run.cost)}" if outcome == "done" else "", "dim")
        return _below(context, "model", self.time, Text.assemble(ended, safe_text.line(sentence, 200), cost), Text())

    def describe(self, context: RowContext) -> Described:
        return Described(details.run(context, self.run), title=f"model · {context.project(self.root)}")


Row = NoteRow | SessionGroup | DeliveryEntry | RunRow


def newest(text: str) -> Callable[[Sequence[Row]], int | None]:
    """Return a function that finds, among shown rows, the number of the newest waiting note with this text."""

    def find(rows: Sequence[Row]) -> int | None:
        times = {at: row.time or 0.0 for at, row in enumerate(rows) if isinstance(row, NoteRow) and row.text == text}
        return max(times, key=lambda at: times[at], default=None)

    return find
