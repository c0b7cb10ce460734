"""The rows of Activity, each of which draws, describes and offers itself: what all share, notes, and broken rules."""

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.text import Text

from memtui import keymap
from memtui.base import clock_hot, dates, findings
from memtui.base.finding import Finding
from memtui.base.phrasing_hot import age, ago, until
from memtui.base.short_ids import short_id
from memtui.deliver import receipts_hot
from memtui.deliver.filter import LOST
from memtui.deliver.record import session_kind
from memtui.deliver.sessions import Session
from memtui.inbox.format_hot import Entry
from memtui.inbox.undelivered import UnderWay
from memtui.models.subconscious.runs import SENDER
from memtui.review.waiting_entries import Waiting
from memtui.tui.model import matches
from memtui.tui.screens.frame import Described
from memtui.tui.texts import TABLES
from memtui.tui.widgets.detail import append_keys
from memtui.tui.widgets.painting import SPANNED
from memtui.tui.widgets.rows import Column
from memtui.views import colours, models, notes, rules, safe_text
from memtui.views.deliveries import GLYPHS, RECEIPTS, WORDS, resume, session_words

if TYPE_CHECKING:
    from memtui.deliver.record import Delivery
    from memtui.models.subconscious.control import WaitingMention
    from memtui.rules.counting import Moment
    from memtui.tui.model.data import Data

COLUMNS = (
    Column("notes, and what sessions got"),
    Column("for", 14, from_width=60),
    Column("when", 4, right=True, from_width=36),
    Column("", 1),
)
KIND_WIDTH = 11  # cells of the kind of a row
WAITS, STOPPED = "○", "!"
MARKS = TABLES["activity rows"].items()


@dataclass
class RowContext:
    data: "Data"
    read_only: bool = False
    words: str = ""  # of the query, which are marked
    projects: dict[str, str] = field(default_factory=dict)  # names by root or slug
    facts: dict[str, Session] = field(default_factory=dict)  # of sessions, by id
    notes: Sequence[Any] = ()  # the rows of those that wait
    mentions: "Sequence[WaitingMention]" = ()  # what was asked of the model and has no reply yet
    several_agents: bool = False  # whether sessions of more than one agent are listed

    def title(self, session: str) -> str:
        """Return what a session is about; empty if nothing tells."""
        return self.facts[session].title if session in self.facts else ""

    def project(self, root: str) -> str:
        return self.projects.get(root, root)


def marked(context: RowContext, *cells: Text) -> list[Text]:
    matches.mark(cells, context.words)
    return [*cells]


def kind_of_row(word: str, width: int, *, lost: bool = False) -> Text:
    style = colours.PROBLEM if lost else colours.DELIVERIES.get(word, "")
    return Text(f"{safe_text.line(word, width):<{width}} ", style)


def below(context: RowContext, kind: str, seconds: float, words: Text, glyph: Text) -> list[Text]:
    """Draw the cells of a row below a session: its time of the day, its kind, words, a receipt."""
    start = Text(f"    {time.strftime('%H:%M', time.localtime(seconds))} ", "dim")
    return marked(context, Text.assemble(start, kind_of_row(kind, 8), words), SPANNED, SPANNED, glyph)


def add_line(text: Text, words: str, style: str = "dim", most: int = 300) -> None:
    text.append(safe_text.line(words, most) + "\n", style=style)


def add_title(text: Text, title: str, note: str = "") -> None:
    text.append(("\n" if text.plain else "") + title, style="bold")
    text.append(f"  {note}\n" if note else "\n", style="dim")


def receipt(outcome: str) -> Text:
    words, style = RECEIPTS.get(outcome, ("… looking for its receipt", "dim"))
    return Text().append(words, f"bold {style}")


def called(sender: str) -> str:
    """Return how a sender is called: `you` for what was written in the TUI."""
    return {"tui": "you", SENDER: "the model"}.get(sender, sender) or "by hand"


def _moment(seconds: float | None, now: float) -> str:
    """Write when something was: `2d ago (Fri 13:02)`."""
    return ago(seconds, now) if seconds is None else f"{ago(seconds, now)} ({dates.when(seconds, now)})"


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
            return WORDS[receipts_hot.WAITING]
        if self.is_lost:
            return next(filter(None, map(findings.flag, self.states))).partition(",")[0]
        if self.question:
            return "answer"
        return "urgent" if self.entry.flag("urgent") else "waiting"

    @property
    def question(self) -> str:
        """What a note of the model answers; empty for all others."""
        return self.entry.fields.get("reply", "")

    @property
    def answers(self) -> Sequence[str]:
        """The id of it if it is an answer of the model, in a list."""
        return [self.entry.id] if self.question else []

    @property
    def session(self) -> str:
        """The id of the session that it is for or that took it, maybe only its beginning; empty if there is none."""
        if self.under_way is not None:
            return self.under_way.session
        return notes.kinds(self.entry.fields.get("for", "")).get("session", "")

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
        project, title = context.project(self.home) if self.home else "every project", context.title(self.session)
        whom = f"“{title[:80]}”" if title else self.entry.fields.get("for", "").replace(":", " ")
        return f"{project}, {whom}" if whom and self.home not in {None, context.data.slug} else whom or project

    def searched(self, context: RowContext) -> str:
        sender, lost = called(self.entry.fields.get("from", "")), LOST * self.is_lost
        return f"{self.question} {self.text[:2000]} {sender} {self.whom(context)} {self.word} {lost} note"

    def cells(self, context: RowContext) -> list[Text]:
        kind = kind_of_row(self.word, KIND_WIDTH, lost=self.is_lost)
        text = models.answer(self.question, self.text) if self.question else self.text
        words = Text.assemble(kind, safe_text.line(text, 400))
        whom = Text(safe_text.line(self.whom(context), 80), "dim", no_wrap=True)
        mark = STOPPED if self.is_lost else WAITS if self.item is not None else GLYPHS[receipts_hot.WAITING][0]
        glyph = Text(mark, kind.style if self.is_lost or self.under_way else "")
        written = age(self.time, context.data.now()) if self.time is not None else ""
        return marked(context, words, whom, Text(written, "dim"), glyph)

    def describe(self, context: RowContext) -> Described:
        text = Text()
        if self.question:
            text.append(f"to: {safe_text.line(self.question)}\n", "dim")
        text.append(safe_text.clean(self.text) + "\n\n")
        if self.under_way is not None:
            self._describe_way(text, self.under_way, context)
        elif self.item is not None:
            self._describe_waiting(text, self.item, context)
        project = context.project(self.home) if self.home else "any project"
        return Described(text, title=f"{'answer' if self.question else 'note'} · {project}")

    def _describe_way(self, text: Text, note: UnderWay, context: RowContext) -> None:
        text.append_text(receipt(receipts_hot.WAITING))
        text.append(": a hook has given it to the client; the transcript does not show it yet\n")
        taker = session_words(note.record.session, note.record.entrypoint, context.title(note.record.session)[:80])
        add_line(text, f"taken {_moment(note.time, context.data.now())} by {taker}")
        add_line(text, f"delivery {short_id(note.delivery)}")
        add_line(text, "What does not arrive comes back and waits again.")

    def _describe_waiting(self, text: Text, item: Waiting, context: RowContext) -> None:
        data, now, fields = context.data, context.data.now(), self.entry.fields
        addressees = fields.get("for", "")
        for finding in self.states:
            means, _, remedy = TABLES["notes that do not arrive"].get(finding.code, "").partition("|")
            add_line(text, f"! {findings.flag(finding) or findings.message(finding)}", colours.PROBLEM)
            words = " ".join(filter(None, (means.strip(), "" if context.read_only else keymap.keyed(remedy.strip()))))
            text.append(f"  {words}\n" if words else "", style="yellow")
        facts = context.facts.get(self.session)
        way = notes.way(addressees, resume(facts, data.cwd) if facts else "") if not self.states else ""
        add_line(text, f"for {self.recipient(context)}{way and f': {way}'}")
        expires = clock_hot.parse(fields.get("expires"))
        if expires is not None:
            add_line(text, f"expires {until(expires, now)}" if expires > now else f"expired {ago(expires, now)}")
        since = f", {_moment(self.entry.time(), now)}" if self.entry.time() else ""
        add_line(text, f"from {called(fields['from'])}{since}" if "from" in fields else f"written by hand{since}")
        if self.entry.flag("repeat"):
            add_line(text, "may have been delivered before")
        keys = [("activity.again", "send it again")] * self.is_lost
        keys += [("activity.edit", "edit the text, for whom, until when"), ("activity.withdraw", "withdraw it")]
        append_keys(text, keys, read_only=context.read_only)
        text.append("\n")
        add_line(text, data.tilde(item.path))


def newest(text: str) -> Callable[[Sequence[object]], int | None]:
    """Return a function that finds, among shown rows, the number of the newest waiting note with this text."""

    def find(rows: Sequence[object]) -> int | None:
        times = {at: row.time or 0.0 for at, row in enumerate(rows) if isinstance(row, NoteRow) and row.text == text}
        return max(times, key=lambda at: times[at], default=None)

    return find


# rules that sessions broke, and what one kept and broke after a delivery

BROKE = "broke"
BREAKS_SHOWN = 12  # lines of breaks that a delivery lists


class BreakRow:
    """A moment at which a session broke a rule. `root`: of the project that it ran in, empty if that is not known."""

    def __init__(self, broken: rules.Break, root: str) -> None:
        self.broken, self.root = broken, root
        self.session, self.time, self.key = broken.moment.session, broken.moment.time, broken.key
        self.actions: Sequence[str] = ()

    def copied(self, _context: RowContext) -> str:
        return self.broken.moment.line

    def searched(self, _context: RowContext) -> str:
        return self.broken.searched

    def cells(self, context: RowContext) -> list[Text]:
        command, rule = safe_text.line(self.broken.moment.line, 200), safe_text.line(self.broken.rule, 200)
        words = Text.assemble(command, (f" · {rule}", "dim"))
        return below(context, BROKE, self.time, words, Text("✗", colours.WARNING))

    def describe(self, context: RowContext) -> Described:
        text = Text().append(safe_text.line(self.broken.rule, 300) + "\n", style="bold")
        add_line(text, f"a rule of {self.broken.memory}, broken {ago(self.time, context.data.now())}")
        text.append(f"\n{safe_text.clean(self.broken.moment.line)}\n")
        return Described(text, title=f"{BROKE} · {context.project(self.root)}")


def read_breaks(root: str) -> dict[str, list[BreakRow]]:
    """Read the breaks of all rules by session, newest first."""
    from memtui.rules import counts

    by_session: dict[str, list[BreakRow]] = {}
    places = counts.places_of_breaks(root)
    for broken in rules.breaks(counts.held_by_path(root)):
        session = broken.moment.session
        by_session.setdefault(session, []).append(BreakRow(broken, places.get(session, "")))
    return by_session


def append_kept(text: Text, record: "Delivery", data: "Data") -> None:
    """Append how often the session kept the rules of the memories that a delivery brought, after it, and its breaks."""
    from memtui.rules import counts

    paths = {item.path for item in record.items if item.path and not item.left_out}
    moments = counts.moments_of(data.root, record.session) if paths else []
    after = [(path, moment) for path, moment in moments if path in paths and moment.time >= record.time]
    if not after:
        return
    add_title(text, "What it kept of that, afterwards")
    totals, kept_counts = Counter(map(_rule_of, after)), Counter(_rule_of(pair) for pair in after if pair[1].is_kept)
    for (path, rule), total in totals.items():
        words = f"{os.path.basename(path).removesuffix('.md')}: {rule}, kept {kept_counts[path, rule]:,} of {total:,}"
        add_line(text, words, "" if kept_counts[path, rule] == total else colours.WARNING)
    for _, moment in [pair for pair in after if not pair[1].is_kept][:BREAKS_SHOWN]:
        add_line(text, f"  ✗ {ago(moment.time, data.now())}: {moment.line}")


def _rule_of(pair: "tuple[str, Moment]") -> tuple[str, str]:
    return pair[0], pair[1].key
