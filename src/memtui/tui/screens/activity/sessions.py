"""The rows of Activity for sessions: a session, and below it what it got and when a model read it."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.text import Text

from memtui import keymap
from memtui.base import clock_hot, paths_hot
from memtui.base.phrasing_hot import age, ago, many, share, short
from memtui.base.short_ids import short_id
from memtui.client.agents import programs
from memtui.deliver import blocks_hot, receipts_hot
from memtui.deliver.log_queries import DeliveryRow, read
from memtui.deliver.record import RECALL, Delivery, Item, find_note, notes_of, titles
from memtui.deliver.sessions import Session
from memtui.models import choice
from memtui.models.subconscious import runs
from memtui.models.subconscious.runs import Run
from memtui.tui.screens.activity.rows import (
    BreakRow,
    NoteRow,
    RowContext,
    add_line,
    add_title,
    append_kept,
    below,
    marked,
    receipt,
)
from memtui.tui.screens.frame import Described
from memtui.tui.widgets import prose
from memtui.tui.widgets.detail import append_keys
from memtui.tui.widgets.painting import SPANNED
from memtui.views import colours, glyphs, models, safe_text
from memtui.views import deliveries as present
from memtui.views.deliveries import EVENTS, GLYPHS, MEANINGS, RECEIPTS, brought, counted, outcomes, session_words

if TYPE_CHECKING:
    from memtui.models.subconscious.trace import Step

COPIED_MOST = 2_000_000  # characters that are copied at most
WORST = (receipts_hot.FAILED, receipts_hot.PREVIEWED, receipts_hot.WAITING, receipts_hot.ARRIVED, receipts_hot.UNKNOWN)
NOT_ARRIVED = {receipts_hot.PREVIEWED, *receipts_hot.LOST}
# Before the title of a session that a model read; in the place of one that is not read yet.
READ, READING = "m ", "Reading …"
NAMES_SHOWN, LEFT_OUT_SHOWN = 12, 40  # items by name, and those left out: the most that are shown
OUTPUT_LINES = 6  # lines of what a tool printed
FOLDED = "Text removed: its memory was deleted for good"


@dataclass(frozen=True)
class SessionGroup:
    """A session, and of what it got and when a model read it, newest first, that which a query wants."""

    session: str
    deliveries: Sequence[DeliveryRow]
    root: str
    facts: Session
    live: bool
    unfolded: bool
    runs: "Sequence[RunRow]"
    breaks: "Sequence[BreakRow]" = ()

    @property
    def is_fold(self) -> bool:
        return bool(self.deliveries or self.runs or self.breaks)

    @property
    def actions(self) -> Sequence[str]:
        return ("left",) if self.unfolded else ("right",) if self.is_fold else ()

    @property
    def below(self) -> "Sequence[Row]":
        rows: list[DeliveryEntry | RunRow | BreakRow] = [*map(DeliveryEntry, self.deliveries), *self.runs, *self.breaks]
        return sorted(rows, key=lambda entry: entry.time, reverse=True)

    @property
    def key(self) -> str:
        return f"session {self.session}"

    def copied(self, context: RowContext) -> str:
        return present.resume(self.whole({}), context.data.cwd)

    def whole(self, known: Mapping[str, str]) -> Session:
        """Return all that is known of it. `known`: outcomes by delivery."""
        newest = [rows[0].time for rows in (self.deliveries, self.runs, self.breaks) if rows]
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
        return " · ".join(filter(None, (f"session {self.session[:8]}", present.session_title(self.facts))))

    def cells(self, context: RowContext) -> list[Text]:
        """Draw its cells; before the glyph of the worst that became of what it got, how often: `shop · 2d · 1 lost`."""
        row = self.whole(context.data.receipts.known)
        mark = glyphs.UNFOLDED if self.unfolded else glyphs.FOLDED if self.is_fold else " "
        title = Text(safe_text.line(self.title, 300), "bold" if self.live else "" if self.facts.title else "dim")
        seen = ("live", "green") if self.live else (age(row.last, context.data.now()), "dim")
        facts, glyph = [(safe_text.line(context.project(self.root), 20), "dim"), seen], Text()
        facts += [(row.agent, "dim")] * context.several_agents
        if broken := len({row.broken[:2] for row in self.breaks}):
            facts.append((f"broke {many(broken, 'rule')}", colours.WARNING))
        for count, word, outcome in sorted(outcomes(row.counts), key=lambda each: WORST.index(each[2]))[:1]:
            glyph = Text(*GLYPHS[outcome])
            facts.append((f"{count} {word}", GLYPHS[outcome][1]))
        words = Text.assemble(mark + " ", (READ, "cyan") if self.runs else "", title)
        between = Text.assemble((" · ", "dim"), no_wrap=True)
        return marked(context, words, SPANNED, between.join(Text(*fact) for fact in facts if fact[0]), glyph)

    def describe(self, context: RowContext) -> Described:
        row, project = self.whole(context.data.receipts.known), context.project(self.root)
        now, resume = context.data.now(), present.resume(row, context.data.cwd)
        text = Text().append(safe_text.line(present.session_title(row), 300) + "\n", style="bold")
        glyph, style = present.LIVE
        text.append(f"{glyph} live" if row.live else "ended", style=style if row.live else "")
        facts = [project, f"branch {row.branch}" if row.branch else "", f"of a {row.kind}" if row.kind else ""]
        facts += [programs.load(row.agent).title] * context.several_agents
        add_line(text, "".join(f" · {fact}" for fact in facts if fact), most=200)
        last = "-"
        if row.last is not None:
            last = f"{ago(row.last, now)}, {time.strftime('%a %d %b %H:%M', time.localtime(row.last))}"
        add_line(text, f"last seen {last}" + (f" · started {ago(row.started, now)}" if row.started else ""))
        add_line(text, row.cwd or row.project)
        if row.deliveries:
            size = f"{short(row.characters)} characters, about {row.tokens:,} tokens · {row.ms:,.0f} ms in hooks"
            add_title(text, "What it got", f"{many(row.deliveries, 'delivery', 'deliveries')}, {size}")
            text.append_text(Text("  ").join(Text(*words) for words in present.session_sums(row))).append("\n")
        else:
            add_title(text, "What it got")
            text.append("Nothing yet.\n" if row.live else "Nothing.\n", style="dim")
        if self.breaks:
            add_title(text, "What it broke")
        lines = Counter((row.broken.moment.line, row.broken.rule, row.broken.memory) for row in self.breaks)
        for (line, rule, memory), count in lines.items():
            add_line(text, f"✗ {line}" + f"  {count}×" * (count > 1), colours.WARNING)
            add_line(text, f"  {rule}, a rule of {memory}")
        if resume and not row.live:
            add_title(text, "Resume it")
            text.append(safe_text.line(resume) + "\n", style="dim")
        elif present.is_gone(row):
            text.append("\nIt can't be resumed: its transcript is gone.\n", style="dim")
        self._add_model(text, context)
        keys = [("app.note", "write a note to it"), ("app.copy", "copy the command that resumes it")]
        if present.is_gone(row):
            keys = [("app.note", "write a note to its project")]
        append_keys(text, keys, read_only=context.read_only)
        return Described(text, title=f"session · {project}")

    def _add_model(self, text: Text, context: RowContext) -> None:
        now = context.data.now()
        if self.runs:
            cost = models.dollars(sum(row.run.cost or 0.0 for row in self.runs))
            times = f"{many(len(self.runs), 'time')}, last {ago(self.runs[0].time, now)}, {cost}"
            add_title(text, "Read by the model", times)
        for mention in context.mentions:
            if mention.session == self.session:
                who = "you" if mention.who == "person" else "the agent"
                add_line(text, f"waits for a reply to {who}, {ago(mention.time, now)}: {mention.words}", "cyan")


class DeliveryEntry:
    """A delivery to a session, as the log has it. `word`: `note` if it brought notes alone, else its event."""

    def __init__(self, logged: DeliveryRow) -> None:
        self.logged, self.key, self.session, self.time = logged, logged.id, logged.session, logged.time
        is_note = [name for name, _ in logged.contents.counts] == ["guidance"]
        self.word = "note" if is_note else EVENTS.get(logged.event, logged.event)
        self.actions: Sequence[str] = ("again",) if "guidance" in dict(logged.contents.counts) else ()

    def copied(self, _context: RowContext) -> str:
        record = read(self.logged)
        return record.text[:COPIED_MOST] if record is not None else ""

    def cells(self, context: RowContext) -> list[Text]:
        glyph, style = GLYPHS.get(context.data.receipts.known.get(self.logged.id, ""), ("…", "dim"))
        counts, names = brought(self.logged.contents)
        words = Text(safe_text.line(names or counts, 200), "" if self.logged.injected else "dim")
        if names and counts:
            words = Text.assemble((safe_text.line(counts, 80) + " · ", "dim"), words)
        return below(context, self.word, self.time, words, Text(glyph, style))

    def describe(self, context: RowContext) -> Described:
        record, text = read(self.logged), Text()
        if record is None:
            text.append("This record is no longer in the log.\n", style="bold")
            text.append(keymap.keyed("{app.refresh} reads the log again."), style="dim")
        else:
            self._add_outcome(text, record, context)
            _add_items(text, record)
            append_kept(text, record, context.data)
            _add_left_out(text, [item for item in record.items if item.left_out])
            _add_facts(text, record, context)
        return Described(text, title=f"{self.word} · {context.project(self.logged.root)}")

    def _add_outcome(self, text: Text, record: Delivery, context: RowContext) -> None:
        outcome = context.data.receipts.known.get(self.logged.id, "")
        text.append_text(receipt(outcome)).append(f"  {ago(record.time or None, context.data.now())}\n", style="dim")
        text.append(f"{MEANINGS[outcome]}\n" if outcome else "")
        waiting = {row.entry.id for row in context.notes}
        if outcome in NOT_ARRIVED and any(note.id in waiting for note in notes_of(record)):
            add_line(text, "It waits again, on top of the list.")
        if record.recovered:
            add_line(text, "A worker found it: the hook had died before it could log.")


def _add_items(text: Text, record: Delivery) -> None:
    """Append why the items were delivered, by their titles; those of one reason and no score share a line."""
    items = [item for item in record.items if not item.left_out]
    groups: dict[tuple[str, str, str], list[tuple[Item, str]]] = {}
    for item, title in zip(items, titles(record.text, items), strict=True):
        why = "" if present.reason(item.reason) == present.INDEX_LINE else item.reason  # its kind says that
        alone = item.scores or item.kind == RECALL
        key = (item.kind, item.action or why, item.path or item.id if alone else item.scope)
        groups.setdefault(key, []).append((item, title))
    text.append("\nWhat it brought, and why\n" if groups else "", style="bold")
    for (kind, reason, _), group in groups.items():
        first = group[0][0]
        text.append(safe_text.line(counted(kind, len(group)), 80))
        text.append(safe_text.line(f"  {first.scope}" if first.scope else "", 80), style="dim")
        text.append(safe_text.line(f"  {reason}" if reason else "", 300))
        # The score, such as `82%`, or its parts by name, where the record has them.
        scores = (f"{key} {value:.2f}" if key else share(value) for key, value in first.scores)
        text.append(f"  {' '.join(scores)}\n" if first.scores else "\n", style="bold")
        text.append("  " + ", ".join(safe_text.line(title or "text removed", 80) for _, title in group[:NAMES_SHOWN]))
        more = len(group) - NAMES_SHOWN
        text.append(f"  and {more} more\n" if more > 0 else "\n", style="dim")


def _add_left_out(text: Text, items: Sequence[Item]) -> None:
    total = sum(1 if item.count is None else item.count for item in items)
    text.append(f"\nLeft out  {total}\n" if items else "", style="bold")
    for item in items[:LEFT_OUT_SHOWN]:
        what = counted(item.kind, 1 if item.count is None else item.count)
        what += f" {item.id}" * (item.count is None)
        text.append(safe_text.line(f"{what}  {item.scope}", 200).rstrip())
        add_line(text, f"  {item.left_out}", "yellow")
    if len(items) > LEFT_OUT_SHOWN:
        add_line(text, f"and {len(items) - LEFT_OUT_SHOWN} more")


def _add_facts(text: Text, record: Delivery, context: RowContext) -> None:
    """Append the exact text, then what is seldom wanted: session, project, time, event, cost and ids."""
    if record.text:
        text.append(f"\nThe exact text  {blocks_hot.units(record.text):,} characters\n", style="bold")
        text.append(safe_text.clean(record.text[: safe_text.MAX_LINE * 20]).rstrip("\n") + "\n")
    elif record.folded:
        text.append(f"\n{FOLDED}, {record.chars:,} characters\n", style="dim")
    text.append("\n")
    title = context.title(record.session)
    whose = session_words(record.session, record.entrypoint) + (f" “{safe_text.line(title, 60)}”" if title else "")
    clock_time = time.strftime("%a %d %b %Y %H:%M:%S", time.localtime(record.time)) if record.time else "no time"
    agents = [f"agent {record.agent}" if record.agent else "", f"subagent {record.agent_id}" if record.agent_id else ""]
    took, mode = f"{record.ms:g} ms" if record.ms is not None else "", f"mode {record.mode}" if record.mode else ""
    for facts in (
        (whose, context.project(record.root)),
        (clock_time, f"{record.event} {record.tool}".rstrip(), *agents),
        (f"{record.chars:,} characters", took, mode, f"delivery {short_id(record.id)}"),
    ):
        add_line(text, " · ".join(filter(None, facts)))


def _add_steps(text: Text, run: Run, steps: "Sequence[Step]") -> None:
    """Append what a run did with tools, one after another, with what came of each."""
    from memtui.models.subconscious.trace import EDITING

    text.append("\nWhat it did\n" if run.step_count else "", style="bold")
    if run.step_count and not steps:
        add_line(text, f"{many(run.step_count, 'step')}, which are not kept any more")
    for step in steps:
        text.append(safe_text.line(f"{step.tool}  {step.what}", 600)).append("  ")
        text.append("{}\n".format(*models.came_of(step)), style=models.came_of(step)[1])
        for line in step.output.splitlines()[:OUTPUT_LINES]:
            add_line(text, f"  {line}")
        changed = "changed" if step.tool in EDITING else "changed while it ran:"
        for file in step.files:
            add_line(text, f"  {changed} {file}", "")


class RunRow:
    """A reading of a session by the model: what it changed and said, and what that cost. `root`: of its project."""

    def __init__(self, run: Run, root: str) -> None:
        self._run, self.root, self.key, self.session, self.time = run, root, f"run {run.id}", run.session, run.time
        self.actions: Sequence[str] = ("withdraw",) if run.blocks or run.files else ()
        self.answers = [answer.id for answer in run.answers]
        self.word = "answer" if self.answers else "model"

    @property
    def run(self) -> Run:
        """The run as it is now: its process may have ended since the log was read."""
        return self._run.settled(clock_hot.now())

    def copied(self, _context: RowContext) -> str:
        return self.run.note

    def searched(self, _context: RowContext) -> str:
        answers = " ".join(f"{answer.reply} {answer.text}" for answer in self.run.answers)
        return f"model {models.did(self.run)} {answers} {self.run.note} {' '.join(self.run.blocks)}"

    def cells(self, context: RowContext) -> list[Text]:
        outcome, style = models.ended(self.run)
        answers = [models.answer(answer.reply, answer.text) for answer in self.run.answers]
        sentence = " · ".join(filter(None, (*answers, models.did(self.run), self.run.note)))
        ended = ("", "") if outcome == "done" else (f"{outcome} · " if sentence else outcome, style)
        cost = (f" · {models.dollars(self.run.cost)}" if outcome == "done" else "", "dim")
        return below(context, self.word, self.time, Text.assemble(ended, safe_text.line(sentence, 200), cost), Text())

    def describe(self, context: RowContext) -> Described:
        from memtui.models.subconscious import blocks, trace

        run, now, text = self.run, context.data.now(), Text()
        outcome, style = models.ended(run)
        did = models.did(run)
        text.append(outcome, style=style).append(f": {safe_text.line(did)}\n" if did else "\n")
        text.append(safe_text.clean(run.note) + "\n\n" if run.note else "\n")
        add_line(text, f"{ago(run.time, now)}, after {run.event}, in {run.cwd}")
        calls = f"{many(run.calls, 'call')} of {models.short_name(run.model)}"
        add_line(text, f"heard {many(run.heard, 'message')}, {calls}")
        add_line(text, f"{run.tokens:,} tokens, {models.dollars(run.cost)}, {run.seconds:.1f} s, tools {run.tools}")
        steps = trace.read(context.data.root, run.id)
        _add_steps(text, run, steps)
        for title, lines in (("Looked at", () if steps else run.looks), ("Refused", run.refused)):
            text.append(f"\n{title}\n" if lines else "", style="bold")
            for line in lines:
                add_line(text, line, "")
        for whisper in run.whispers:
            state, style = self._state_of(whisper, context)
            text.append(f"\n{'Answer' if whisper.reply else 'Note to the session'}", style="bold")
            text.append(f"  {state}\n", style)
            if whisper.reply:
                add_line(text, f"to: {whisper.reply}")
            text.append(safe_text.clean(whisper.text) + "\n")
            if whisper.because:
                add_line(text, f"because of: “{whisper.because}”")
        for name, before, after in blocks.changes_of(context.data.root, run.id):
            text.append(f"\n{safe_text.line(name)}\n", style="bold")
            text.append_text(prose.difference(before, after)).append("\n")
        keys = [("activity.withdraw", "undo what it changed")] if self.actions else []
        append_keys(text, keys, read_only=context.read_only)
        return Described(text, title=f"{self.word} · {context.project(self.root)}")

    def _state_of(self, whisper: runs.Whisper, context: RowContext) -> tuple[str, str]:
        """Return what became of a note of the model, in words with their style."""
        data = context.data
        try:
            delivered = find_note(data.root, whisper.id)
        except OSError:
            delivered = None
        if delivered is not None:
            return RECEIPTS[data.receipts.of(delivered.delivery)]
        if runs.waits(data.root, self.run, whisper):
            return "○ waiting", "cyan"
        return "expired" if data.now() - self.time > runs.EXPIRES else "withdrawn", "dim"


class SwitchRow(RunRow):
    """The moment at which another model was asked because the service does not have the one that was chosen."""

    def __init__(self, served: choice.Served) -> None:
        words = f"{served.instead} is asked: the service does not have {', '.join(served.refused)}"
        root = paths_hot.project_root(served.cwd)
        run = Run("switch", served.time, served.session, paths_hot.project_key(root), served.cwd, "", note=words)
        super().__init__(run, root)

    def cells(self, _context: RowContext) -> list[Text]:
        return below(_context, "model", self.time, Text(safe_text.line(self.run.note, 200), "yellow"), Text())

    def describe(self, context: RowContext) -> Described:
        text = Text(safe_text.clean(self.run.note) + ".\n\n")
        add_line(text, ago(self.time, context.data.now()))
        add_line(text, "Choose one that it has in Setup: the setting llm_model. Setup lists them.")
        return Described(text, title=f"model · {context.project(self.root)}")


Row = NoteRow | SessionGroup | DeliveryEntry | RunRow | BreakRow
