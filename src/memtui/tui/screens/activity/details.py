"""The details of the rows of Activity: a delivery, a note, a session, a reading by the model."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.text import Text

from memtui import actions
from memtui.base import clock, dates, findings
from memtui.base.finding import Finding
from memtui.base.phrasing import ago, cut, many, share, short, until
from memtui.base.short_ids import short_id
from memtui.deliver import blocks as delivery_blocks
from memtui.deliver import log_queries, receipts
from memtui.deliver.record import RECALL, Delivery, Item, Note, find_note, notes_of, titles
from memtui.deliver.sessions import Session
from memtui.inbox.undelivered import UnderWay
from memtui.models.subconscious import runs
from memtui.models.subconscious.runs import Run
from memtui.review.waiting_entries import Waiting
from memtui.tui.model import line_diff
from memtui.tui.widgets.detail import append_keys
from memtui.views import colours, models, notes, safe_text
from memtui.views import deliveries as present
from memtui.views.deliveries import MEANINGS, RECEIPTS, counted, session_words

if TYPE_CHECKING:
    from memtui.models.subconscious.control import WaitingMention
    from memtui.tui.model.data import Data

# The kinds of items that commands take by an id.
WITH_ID = ("guidance", "pending-update", "pending-item")
# Items by name, those left out, and notes that wait for a session: the most that are shown.
NAMES_SHOWN, LEFT_OUT_SHOWN, WAITING_SHOWN = 12, 40, 8
FOLDED = "Text removed: its memory was deleted for good"
# Characters of a note that waits for a session.
WORDS_SHOWN = 110
NOT_ARRIVED = {receipts.PREVIEWED, *receipts.LOST}
# By the code of a finding: what it means for a note, and what can be done.
STUCK = {
    "inbox.held": ("It stays here until you decide.", "{activity.again} sends it again."),
    "inbox.expired": (
        "Nobody gets it any more.",
        "{activity.again} sends it again without an expiry, {activity.edit} gives it another one.",
    ),
    "inbox.long": ("Sessions only get the name of its file.", "{activity.edit} shortens it."),
    "inbox.nobody": ("", "{activity.edit} changes whom it is for."),
    "inbox.endless": ("", "{activity.edit} gives it another one."),
    "inbox.secret": ("", "{activity.edit} takes it out."),
}


@dataclass
class RowContext:
    """What all rows are drawn with."""

    data: "Data"
    read_only: bool = False
    words: str = ""  # of the query, which are marked
    projects: dict[str, str] = field(default_factory=dict)  # names by root or slug
    facts: dict[str, Session] = field(default_factory=dict)  # of sessions, by id
    notes: Sequence[Any] = ()  # the rows of those that wait
    unused: bool = False  # no session was ever given anything
    mentions: "Sequence[WaitingMention]" = ()  # what was asked of the model and has no reply yet

    def title(self, session: str) -> str:
        """Return what a session is about; empty if nothing tells."""
        return self.facts[session].title if session in self.facts else ""

    def project(self, root: str) -> str:
        return self.projects.get(root, root)


def _line(text: Text, words: str, style: str = "dim", most: int = 300) -> None:
    text.append(safe_text.line(words, most) + "\n", style=style)


# A delivery


def delivery(context: RowContext, logged: log_queries.DeliveryRow) -> Text:
    """Return the detail of a delivery: whether it arrived, what it brought and why, and its text as the log has it."""
    record, text = log_queries.read(logged), Text()
    if record is None:
        text.append("This record is no longer in the log.\n", style="bold")
        return text.append(actions.keyed("{app.refresh} reads the log again."), style="dim")
    outcome = context.data.receipts.known.get(logged.id, "")
    text.append_text(_receipt(outcome)).append(f"  {ago(record.time or None, context.data.now())}\n", style="dim")
    text.append(f"{MEANINGS[outcome]}\n" if outcome else "")
    for note in notes_of(record) if outcome in NOT_ARRIVED else ():
        _line(text, _since_lost(context, note))
    if record.recovered:
        _line(text, "A worker found it: the hook had died before it could log.")
    _delivered(text, record, context)
    _left_out(text, [item for item in record.items if item.left_out])
    if record.text:
        text.append(f"\nThe exact text  {delivery_blocks.units(record.text):,} characters\n", style="bold")
        text.append(safe_text.clean(record.text[: safe_text.MAX_LINE * 20]).rstrip("\n") + "\n")
    elif record.folded:
        text.append(f"\n{FOLDED}, {record.chars:,} characters\n", style="dim")
    text.append("\n")
    # What is seldom wanted: session, project, time, event, cost and ids.
    title = context.title(record.session)
    whose = session_words(record.session, record.entrypoint) + (f" “{safe_text.line(title, 60)}”" if title else "")
    clock_time = time.strftime("%a %d %b %Y %H:%M:%S", time.localtime(record.time)) if record.time else "no time"
    agents = [f"agent {record.agent}" if record.agent else "", f"subagent {record.agent_id}" if record.agent_id else ""]
    took, mode = f"{record.ms:g} ms" if record.ms is not None else "", f"mode {record.mode}" if record.mode else ""
    for facts in (
        (whose, context.project(logged.root)),
        (clock_time, f"{record.event} {record.tool}".rstrip(), *agents),
        (f"{record.chars:,} characters", took, mode, f"delivery {short_id(record.id)}"),
    ):
        _line(text, " · ".join(filter(None, facts)))
    return text


def _since_lost(context: RowContext, note: Note) -> str:
    """Say what became of a note that did not arrive: it waits again, was sent again, or neither."""
    row = next((message for message in context.notes if message.entry.id == note.id), None)
    if row is not None:
        return "It waits again, on top of the list." if row.item else "It comes back and waits again."
    last = find_note(context.data.root, note.id) or note
    if last.delivery.id == note.delivery.id:
        return "It waits no longer: it was withdrawn or changed since."
    words = RECEIPTS[context.data.receipts.of(last.delivery)][0]
    return f"It was sent again {ago(last.delivery.time or None, context.data.now())}: {words}."


def _receipt(outcome: str) -> Text:
    words, style = RECEIPTS.get(outcome, ("… looking for its receipt", "dim"))
    return Text().append(words, f"bold {style}")


def _delivered(text: Text, record: Delivery, context: RowContext) -> None:
    """Append why the items were delivered, by their titles; those of one reason and no score share a line."""
    items = [item for item in record.items if not item.left_out]
    groups: dict[tuple[str, str, str], list[tuple[Item, str]]] = {}
    for item, title in zip(items, titles(record.text, items), strict=True):
        why = "" if present.reason(item.reason) == present.INDEX_LINE else item.reason  # its kind says that
        alone = item.scores or item.kind == RECALL
        key = (item.kind, item.action or why, item.path or item.id if alone else item.scope)
        groups.setdefault(key, []).append((item, title))
    text.append("\nWhat it brought, and why\n" if groups else "", style="bold")
    statistics = context.data.statistics
    for (kind, reason, _), group in groups.items():
        first = group[0][0]
        text.append(safe_text.line(counted(kind, len(group)), 80))
        text.append(safe_text.line(f"  {first.scope}" if first.scope else "", 80), style="dim")
        text.append(safe_text.line(f"  {reason}" if reason else "", 300))
        # The score, such as `82%`, or its parts by name, where the record has them.
        scores = (f"{key} {value:.2f}" if key else share(value) for key, value in first.scores)
        text.append(f"  {' '.join(scores)}\n" if first.scores else "\n", style="bold")
        if kind in WITH_ID:
            for item, title in group[:NAMES_SHOWN]:
                text.append(safe_text.line(f"  {title}" if title else "  text removed", 300), "" if title else "dim")
                _line(text, f"  {short_id(item.id)}")
        else:
            text.append("  " + ", ".join(safe_text.line(title or "?", 80) for _, title in group[:NAMES_SHOWN]))
        if kind == RECALL:
            uses = present.recalls(statistics.recalled(statistics.earlier.now(first.path, record.time)))
            text.append(f"  {uses}" if uses else "", style="dim")
        more = len(group) - NAMES_SHOWN
        text.append(f"  and {more} more\n" if more > 0 else "" if kind in WITH_ID else "\n", style="dim")


def _left_out(text: Text, items: Sequence[Item]) -> None:
    total = sum(1 if item.count is None else item.count for item in items)
    text.append(f"\nLeft out  {total}\n" if items else "", style="bold")
    for item in items[:LEFT_OUT_SHOWN]:
        name = short_id(item.id) if item.kind in WITH_ID else item.id
        what = counted(item.kind, 1 if item.count is None else item.count) + (f" {name}" if item.count is None else "")
        text.append(safe_text.line(f"{what}  {item.scope}", 200).rstrip())
        _line(text, f"  {item.left_out}", "yellow")
    if len(items) > LEFT_OUT_SHOWN:
        _line(text, f"and {len(items) - LEFT_OUT_SHOWN} more")


# A note


def called(sender: str) -> str:
    """Return how a sender is called: `you` for what was written in the TUI."""
    return {"tui": "you", runs.SENDER: "the model"}.get(sender, sender) or "by hand"


def waiting(context: RowContext, item: Waiting, states: Sequence[Finding], recipient: str) -> Text:
    """Return all about a note that waits: its text, who gets it, why it is lost (`states`), and its keys."""
    data, text = context.data, Text(safe_text.clean(item.text) + "\n\n")
    now, fields = data.now(), item.entry.fields
    if context.unused and not states and not data.unheard():
        begin = notes.first_session(fields.get("for", ""), data.project_root)
        text.append(f"{begin}\n" if begin else "", style="bold")
    for finding in states:
        means, remedy = STUCK.get(finding.code, ("", ""))
        _line(text, f"! {findings.flag(finding) or findings.message(finding)}", colours.PROBLEM)
        words = " ".join(filter(None, (means, "" if context.read_only else actions.keyed(remedy))))
        text.append(f"  {words}\n" if words else "", style="yellow")
    facts = context.facts.get(notes.kinds(fields.get("for", "")).get("session", ""))
    resume = present.resume(facts, data.cwd) if facts is not None else ""
    way = "" if states else notes.way(fields.get("for", ""), resume)
    _line(text, f"for {recipient}{way and f': {way}'}")
    expires = clock.parse(fields.get("expires"))
    if expires is not None:
        _line(text, f"expires {until(expires, now)}" if expires > now else f"expired {ago(expires, now)}")
    since = f", {_moment(item.entry.time(), now)}" if item.entry.time() else ""
    _line(text, f"from {called(fields['from'])}{since}" if "from" in fields else f"written by hand{since}")
    if item.entry.flag("repeat"):
        _line(text, "may have been delivered before")
    keys = [("activity.again", "send it again")] if any(map(findings.flag, states)) else []
    keys += [("activity.edit", "edit the text, for whom, until when"), ("activity.withdraw", "withdraw it")]
    append_keys(text, keys, read_only=context.read_only)
    text.append("\n")
    _line(text, data.tilde(item.path))
    return text


def under_way(context: RowContext, note: UnderWay) -> Text:
    """Return all about a note that a hook took."""
    text = Text(safe_text.clean(note.entry.text) + "\n\n")
    text.append_text(_receipt(receipts.WAITING))
    text.append(": a hook has given it to the client; the transcript does not show it yet\n")
    taker = session_words(note.record.session, note.record.entrypoint, context.title(note.record.session)[:80])
    _line(text, f"taken {_moment(note.time, context.data.now())} by {taker}")
    _line(text, f"delivery {short_id(note.delivery)}")
    _line(text, "What does not arrive comes back and waits again.")
    return text


def _moment(seconds: float | None, now: float) -> str:
    """Write when something was: `2d ago (Fri 13:02)`."""
    return ago(seconds, now) if seconds is None else f"{ago(seconds, now)} ({dates.when(seconds, now)})"


# A session


def session(context: RowContext, row: Session, project: str, for_it: Sequence[tuple[Waiting, str]]) -> Text:
    """Return all about a session. `for_it`: the notes that it can get, each with who gets it in words."""
    now, resume = context.data.now(), present.resume(row, context.data.cwd)
    text = Text().append(safe_text.line(present.session_title(row), 300) + "\n", style="bold")
    glyph, style = present.LIVE
    text.append(f"{glyph} live" if row.live else "past", style=style if row.live else "")
    facts = [project, f"branch {row.branch}" if row.branch else "", f"of a {row.kind}" if row.kind else ""]
    text.append(safe_text.line("".join(f" · {fact}" for fact in facts if fact), 200) + "\n", style="dim")
    last = "-"
    if row.last is not None:
        last = f"{ago(row.last, now)}, {time.strftime('%a %d %b %H:%M', time.localtime(row.last))}"
    since = f" · started {ago(row.started, now)}" if row.started else ""
    _line(text, f"last seen {last}{since}")
    _line(text, row.cwd or row.project)
    text.append("\nWhat it got", style="bold")
    if row.deliveries:
        size = f"{short(row.characters)} characters, about {row.tokens:,} tokens · {row.ms:,.0f} ms in hooks"
        text.append(f"  {many(row.deliveries, 'delivery', 'deliveries')}, {size}\n", style="dim")
        lines = (Text(words, style) for words, style in present.session_sums(row))
        text.append_text(Text("  ").join(lines)).append("\n")
    else:
        text.append("\nNothing yet.\n", style="dim")
    text.append("\nWhat waits for it", style="bold")
    text.append(f"  {many(len(for_it), 'note')}\n" if for_it else "\nNothing.\n", style="dim")
    for item, recipient in for_it[:WAITING_SHOWN]:
        text.append(f"{present.WAITING} “{cut(safe_text.line(item.text.strip().splitlines()[0]), WORDS_SHOWN)}”")
        written = f", {ago(item.entry.time(), now)}" if item.entry.time() else ""
        _line(text, f"  for {recipient}{written}", most=120)
    if len(for_it) > WAITING_SHOWN:
        _line(text, f"and {len(for_it) - WAITING_SHOWN} more")
    if resume:
        text.append("\nResume it\n", style="bold")
        text.append(safe_text.line(resume) + "\n", style="dim")
    elif present.is_gone(row):
        text.append("\nIt can't be resumed: its transcript is gone.\n", style="dim")
    return text


def session_keys(text: Text, row: Session, *, read_only: bool) -> None:
    """Append the keys that work on a session, and what each does."""
    is_gone = present.is_gone(row)
    later = "write a note to its project" if is_gone else "write to it for when it is resumed, or to its project"
    keys = [("app.note", "write a note to it" if row.live else later)]
    keys += [] if is_gone else [("app.copy", "copy the command that resumes it")]
    append_keys(text, keys, read_only=read_only)


# A reading by the model


def run(context: RowContext, job: Run) -> Text:
    """Return all about a reading of a session: what it did, what that cost, what it changed and said."""
    from memtui.models.subconscious import blocks

    now, text = context.data.now(), Text()
    outcome, style = models.ended(job, now)
    did = models.did(job)
    text.append(outcome, style=style).append(f": {safe_text.line(did)}\n" if did else "\n")
    text.append(safe_text.clean(job.note) + "\n\n" if job.note else "\n")
    _line(text, f"{ago(job.time, now)}, after {job.event}, in {job.cwd}")
    calls = f"{many(job.calls, 'call')} of {models.short_name(job.model)}"
    _line(text, f"heard {many(job.heard, 'message')}, {calls}")
    _line(text, f"{job.tokens:,} tokens, {models.dollars(job.cost)}, {job.seconds:.1f} s, tools {job.tools}")
    for title, lines in (("Looked at", job.looks), ("Refused", job.refused)):
        text.append(f"\n{title}\n" if lines else "", style="bold")
        for line in lines:
            _line(text, line, "")
    for whisper in job.whispers:
        state, style = _whisper_state(context, job, whisper)
        text.append(f"\n{'Reply' if whisper.reply else 'Note'} to the session", style="bold")
        text.append(f"  {state}\n", style).append(safe_text.clean(whisper.text) + "\n")
        for words, quoted in (("to: ", whisper.reply), ("because of: ", whisper.because and f"“{whisper.because}”")):
            text.append(safe_text.line(words + quoted, 300) + "\n" if quoted else "", "dim")
    for name, before, after in blocks.changes_of(context.data.root, job.id):
        text.append(f"\n{safe_text.line(name)}\n", style="bold")
        text.append_text(line_diff.drawn(before, after, ("before", "after"))).append("\n")
    append_keys(
        text, [("activity.withdraw", "undo what it changed")] if job.blocks else [], read_only=context.read_only
    )
    return text


def _whisper_state(context: RowContext, job: Run, whisper: runs.Whisper) -> tuple[str, str]:
    """Return what became of a note of the model, in words with their style."""
    data = context.data
    try:
        delivered = find_note(data.root, whisper.id)
    except OSError:
        delivered = None
    if delivered is not None:
        return RECEIPTS[data.receipts.of(delivered.delivery)]
    if runs.waits(data.root, job, whisper):
        return "○ waiting", "cyan"
    return "expired" if data.now() - job.time > runs.EXPIRES else "withdrawn", "dim"


def read_along(text: Text, jobs: Sequence[Run], mentions: "Sequence[WaitingMention]", now: float) -> None:
    """Append how often a model read a session, and what waits for its reply."""
    if jobs:
        text.append("\nRead by the model", style="bold")
        text.append(f"  {many(len(jobs), 'time')}, last {ago(jobs[0].time, now)}", style="dim")
        text.append(f", {models.dollars(sum(job.cost or 0.0 for job in jobs))}\n", style="dim")
    for mention in mentions:
        who = "you" if mention.who == "person" else "the agent"
        _line(text, f"waits for a reply to {who}, {ago(mention.time, now)}: {mention.words}", "cyan")
