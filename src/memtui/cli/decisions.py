"""What waits for a decision, as the Inbox of the TUI lists it, and what an id or a name means among it."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property

from memtui.base import clock, short_ids
from memtui.base.errors import ConflictError, MemtuiError, NotFoundError
from memtui.base.phrasing import ago
from memtui.base.shell import shell_word
from memtui.base.short_ids import short_id
from memtui.base.storage import file_error
from memtui.cli import entries, memories, proposals
from memtui.cli.context import Context
from memtui.cli.output import Output, Printer, Result, difference, line, narrate, picked, styled
from memtui.client import projects
from memtui.review import approvals, waiting_entries
from memtui.review.approvals import Draft
from memtui.review.evidence import Evidence, Similar
from memtui.review.outside_changes import Changed
from memtui.review.waiting_entries import Waiting, best_first, load_hidden
from memtui.settings import config
from memtui.store.store import Store
from memtui.store.versions.writers import Occasions
from memtui.tidy.composed_files import weigh
from memtui.views import changes, decisions, drafts
from memtui.views.decisions import PROBLEM, ChangedRow, Decision, EntryRow, ProblemRow, ProposedRow, TrustRow
from memtui.views.parts import TextDifference

NOTHING = "Nothing that waits is called"
# By what `--kind` calls them: the words of the kinds, in the order of the list.
KINDS = {kind.option: kind.word for kind in decisions.KINDS}
PROPOSED = tuple(decisions.PROPOSED)
ALL = ("all", "everything", "drafts")  # words for what --all means


class Decisions:
    """The decisions of a project, or of `every` one; to `decide`, what was written just now is taken in first."""

    def __init__(self, ctx: Context, *, every: bool = False, decide: bool = False) -> None:
        self.ctx, self.every, self.decide = ctx, every, decide
        self.unread: list[dict[str, str]] = []
        self.hidden = load_hidden(ctx.root)

    @cached_property
    def entries(self) -> "list[Waiting]":
        """All that waits in inboxes, of all projects; drafts that are most worth keeping first."""
        return best_first(entries.read(self.ctx, all_projects=True, unread=self.unread))

    def near(self, item: "Waiting | None") -> bool:
        """Return whether an entry is of this project or global, or all projects are asked for."""
        return item is not None and (self.every or item.slug in {self.ctx.slug, None})

    @cached_property
    def of_entries(self) -> "list[EntryRow]":
        """The drafts, todos and notes of all projects."""
        ctx = self.ctx
        homes = waiting_entries.homes(ctx.env, (item for item in self.entries if item.slug != ctx.slug))
        names = projects.names(ctx.env, {**homes, ctx.slug: ctx.project_root})
        return [decisions.of_entry(item, ctx, names) for item in self.entries]

    def changed(self, *, every: bool = False) -> "list[ChangedRow]":
        """Return the memories that others wrote, also just now, since the person saw them. Raises MemtuiError."""
        if self.decide:
            self.ctx.take_in()
        self.ctx.look()
        return decisions.of_changed(self.ctx, self.ctx.changed(every=every or self.every))

    @cached_property
    def _plan(self) -> "tuple[list[ProposedRow], list[ProblemRow]]":
        try:
            return decisions.of_plan(self.ctx, self.ctx.undecided())
        except OSError as error:
            raise file_error(error) from error

    def untrusted(self) -> "list[TrustRow]":
        """Return the memories of the repository, or of a team, that are not trusted and that nobody changed since."""
        changes: list[Changed] = []
        with suppress(MemtuiError):  # `changed` says why
            self.ctx.look()
            changes = self.ctx.changed()
        return [decisions.of_untrusted(memory, self.ctx.project) for memory in self.ctx.untrusted(changes)]

    def _sources(self) -> "list[tuple[set[str], Callable[[], Sequence[Decision]]]]":
        """Return where decisions besides entries come from, each with the words of its kinds."""
        return [
            ({"changed"}, self.changed),
            ({"trust"}, self.untrusted),
            ({*PROPOSED}, lambda: self._plan[0]),
            ({"problem"}, lambda: self._plan[1]),
        ]

    def read(self, kinds: "tuple[str, ...]") -> "list[Decision]":
        """Return the decisions of some kinds, in their order, those put off last. What can't be read is said."""
        rows: list[Decision] = [row for row in self.of_entries if self.near(row.item)]
        for words, source in self._sources():
            try:
                rows += source() if words & {*kinds} else ()
            except MemtuiError as error:
                self.ctx.out.say(f"! {line(error.message)}")
        return decisions.in_order([row for row in rows if row.kind.word in kinds], self.hidden, self.ctx.now())

    def find(
        self, ref: str, kinds: "tuple[str, ...]" = ("draft", "todo", "note"), *, by_memory: bool = True
    ) -> Decision:
        """Return what an id or a name means, of entries only these kinds; with `by_memory`, where nothing is called so,
        what is about the memory of that name. Raises NotFoundError, ConflictError."""
        about: list[Decision] = []
        changed, *others = (source for _, source in self._sources())
        of_kinds = [row for row in self.of_entries if row.kind.word in kinds]
        for source in (lambda: of_kinds, changed, lambda: self.changed(every=True), *others):
            rows = decisions.in_order(source(), self.hidden, self.ctx.now())
            if row := _match(rows, ref):
                return row
            about += [row for row in rows if by_memory and ref in row.about]
        if len(about) == 1:
            return about[0]
        if about:
            raise ConflictError(f"“{ref}” can mean several: {', '.join(short_ids.short_id(row.id) for row in about)}.")
        raise self._unknown(ref, kinds)

    def _unknown(self, ref: str, kinds: "tuple[str, ...]") -> NotFoundError:
        """Return the error for what nothing that waits is called."""
        try:
            memories.find(self.ctx, ref)
        except NotFoundError as unlike:
            near = unlike.hint
        else:
            words = f"Nobody else has changed “{ref}” since you saw it."
            return self.gate_off() or NotFoundError(words, entries.LISTED)
        if (error := entries.why_not(self.ctx, ref)) is not None:
            return error
        hint, lowered = entries.LISTED, ref.lower()
        rows = [row for row in self.of_entries if row.kind.word in kinds and lowered]
        beginning = [row for row in rows if row.says.lower().startswith(lowered)][:3]
        if lowered in ALL:
            hint = f"Did you mean --all (all drafts)? {hint}"
        elif beginning:
            hint = f"Did you mean {' or '.join(f'{short_ids.short_id(row.id)} (“{row.says}”)' for row in beginning)}?"
        elif near.startswith("Did you mean"):
            hint = near
        elif len(ref) < short_ids.MIN_REF:
            hint = f"Give at least {short_ids.MIN_REF} characters of the id."
        return NotFoundError(f"{NOTHING} “{ref}”.", hint)

    def gate_off(self) -> "NotFoundError | None":
        """Return the error that says that nothing is listed because the gate is off; None if it is not."""
        if self.ctx.setting("gate") != "off":
            return None
        own = config.is_own(self.ctx.settings(), self.ctx.project_root, "gate")
        return NotFoundError(*changes.gate_off(self.ctx.count_hidden(), own=own))


def _match(rows: "list[Decision]", ref: str) -> "Decision | None":
    """Return the row that a name or an id means, None if none does. Raises ConflictError."""
    named = [row for row in rows if {ref, ref.removesuffix(".md")} & {*row.names}]
    if len(named) > 1:
        raise ConflictError(f"“{ref}” can mean several: {', '.join(row.names[0] for row in named)}.")
    if named:
        return named[0]
    with suppress(NotFoundError):
        by_id = {row.id: row for row in rows}
        return by_id[short_ids.match(ref, by_id, "entry")]
    return None


def as_data(ctx: Context, row: Decision) -> "dict[str, object]":
    time, until = (clock.iso_seconds(at) if at is not None else None for at in (row.time, row.until))
    data: dict[str, object] = {
        "id": row.id,
        "kind": row.kind.word,
        "says": row.says,
        "where": row.place,
        "time": time,
        "until": until,
    }
    if isinstance(row, EntryRow):
        return data | entries.as_data(ctx, row.item)
    if isinstance(row, TrustRow):
        memory = row.untrusted.memory
        return data | {"name": memory.stem, "path": memory.path}
    if isinstance(row, ProblemRow):
        return data | {"code": row.problem.cause, "memories": row.problem.memories, "remedy": row.problem.remedy}
    if isinstance(row, ProposedRow):
        return data | {"proposal": row.proposal.kind, "by": row.proposal.by}
    if not isinstance(row, ChangedRow):
        return data
    change = row.changed
    occasion, part = Occasions(ctx.env).of(change.writer), row.difference(ctx)
    diff = "\n".join(difference(part.before, part.after)) if isinstance(part, TextDifference) else part.text
    return data | {
        "name": change.name,
        "scope": change.scope.label,
        "path": change.key,
        "change": change.kind,
        "by": change.writer.by,
        "session": change.writer.session or None,
        "title": occasion.title or None,
        "prompt": change.writer.prompt or None,
        "prompt_text": occasion.prompt or None,
        "diff": diff,
    }


TITLES = {"guidance": "Note", "updates": "Draft", "items": "Todo"}

# By verb: the command that does it.
COMMANDS = {"approve": "memtui approve", "reject": "memtui reject", "later": "memtui reject --later friday"}


def one(ctx: Context, ref: str, *, by_memory: bool = True) -> Result:
    """Show what an id or a name means, as `Decisions.find` does. Raises NotFoundError, ConflictError."""
    row = Decisions(ctx).find(ref, by_memory=by_memory)
    commands = dict(COMMANDS)
    if isinstance(row, EntryRow):
        more, text, name_is_taken = _entry(ctx, row)
        if name_is_taken:
            commands["approve"] += " --name NAME"
    elif isinstance(row, ProposedRow):
        change = weigh(ctx.store().files(), row.proposal)
        more, text = proposals.data_of(change), [proposals.shown(ctx, change)]
    else:
        more = {"text": row.untrusted.memory.raw.decode("utf-8", "replace")} if isinstance(row, TrustRow) else {}
        text = [lambda out: print_row(ctx, out, row)]
    name = shell_word(row.names[0]) if row.names else short_id(row.id)
    verbs = [verb for verb in commands if verb in row.kind.verbs and not (verb == "approve" and row.kind is PROBLEM)]
    ways = [f"{row.kind.verbs[verb].capitalize()}: {commands[verb]} {name}" for verb in verbs]
    return Result({**more, **as_data(ctx, row)}, *text, narrate("   ".join(ways)))


def print_row(ctx: Context, out: Output, row: Decision, *, back: bool = False) -> None:
    """Print what a person decides about; of what others wrote with `back` what rejecting it does."""
    if isinstance(row, ChangedRow):
        out.parts(row.describe(ctx, Occasions(ctx.env).of(row.changed.writer), back=back))
    elif isinstance(row, ProblemRow | TrustRow):
        out.parts(row.describe(ctx))


def _entry(ctx: Context, row: EntryRow) -> "tuple[dict[str, object], list[str | Printer], bool]":
    """Return more for --json, what is printed, and whether a memory has the name of the draft."""
    now, store, item = ctx.now(), ctx.store(), row.item
    proposed, problem = None, ""
    if item.kind == "updates":
        try:
            proposed = approvals.propose(store, item)
        except MemtuiError as error:
            problem = f"{error.message} {error.hint}".strip()
    near = approvals.neighbours(store, item) if proposed is not None else ()
    reason, data = Evidence(), dict[str, object]()
    if item.kind != "guidance":
        reason = drafts.find_evidence(ctx, item, proposed.name if proposed is not None else "", near)
        data = {"setting": {"title": reason.title, "said": reason.utterances, "problem": reason.problem or None}}
    if item.kind == "updates":
        data |= _draft_data(proposed, reason) | {"problem": problem or None}

    def text(out: Output) -> None:
        out.heading(f"{TITLES[item.kind]} {line(item.id)}", ago(item.entry.time(), now))
        states, facts = entries.states(ctx, item), entries.note_facts(item, now) if item.kind == "guidance" else []
        out.parts(drafts.warnings(states if item.kind != "items" else (), reason, now), "  ")
        for fact in (line(row.place), *facts, line(ctx.tilde(item.path))):
            out.print("  " + styled(fact, "dim"))
        if item.kind == "updates":
            out.parts(drafts.facts(item, reason, now), "  ")
        elif item.kind == "items":
            out.parts([drafts.todo_facts(item, reason.title, states, now)], "  ")
        out.print()
        out.paragraph(item.text)
        if problem:
            out.print()
            out.paragraph(f"! {problem}")
        if proposed is not None:
            out.print()
            out.print(f"becomes  {styled(f'{line(proposed.scope.label)}:{line(proposed.name)}', 'bold')}")
        if proposed is not None and proposed.taken:
            ways = "--name or --into" if takes_draft(proposed) else "--name"
            out.print("  " + styled(f"! a memory of this name is there already: approve with {ways}", "yellow"))
        if item.kind != "guidance":
            out.parts(drafts.conversation(item, reason))
        if similar := reason.similar[: drafts.SIMILAR_SHOWN]:
            _print_similar(out, store, item, similar)

    return data, [text], proposed is not None and proposed.taken


def _draft_data(proposed: "Draft | None", evidence: Evidence) -> "dict[str, object]":
    becomes = proposed and {
        **picked(proposed, "name path taken"),
        "scope": proposed.scope.label,
        "text": proposed.data.decode("utf-8", "replace"),
    }
    alike = [{**memories.data_of(similar.memory), "score": similar.score} for similar in evidence.similar]
    rejected = [
        {
            "text": refusal.draft.description,
            "time": None if refusal.draft.time is None else clock.iso_seconds(refusal.draft.time),
            "never": refusal.draft.never,
            "score": refusal.score,
        }
        for refusal in evidence.refused
    ]
    return {"becomes": becomes, "alike": alike, "rejected_alike": rejected}


def _print_similar(out: Output, store: Store, item: Waiting, near: "Sequence[Similar]") -> None:
    """Print the memories that are most like a draft, and the command that merges it into one, or why none takes it."""
    out.print()
    out.heading("Similar memories")
    cells = [
        [f"{other.score:.0%} alike", (line(other.memory.ref), "bold"), line(other.memory.description)] for other in near
    ]
    out.table(["", "", ""], cells, flex=(2, 1), indent="  ")
    owner = approvals.store_of(store, [item])
    refused = {similar.memory.ref: approvals.refusal(owner, similar.memory) for similar in near}
    first = next(iter(refused.values()))
    way = f"{first.message} {first.hint}" if first is not None else ""
    if ref := next((ref for ref, error in refused.items() if error is None), ""):
        way = f"memtui approve {short_id(item.id)} --into {shell_word(ref)}"
    out.print(f"Merge: {line(way)}")


def name_taken(proposed: Draft) -> ConflictError:
    """Return the error that there is a memory of that name, with the commands that avoid it."""
    draft_id, ref = proposed.item.id, f"{proposed.scope.label}:{proposed.name}"
    ways = [f"choose another name: memtui approve {short_id(draft_id)} --name {shell_word(proposed.name + '-2')}"]
    if takes_draft(proposed):
        ways.insert(0, f"append to it: memtui approve {short_id(draft_id)} --into {shell_word(ref)}")
    hint = "\n  Or ".join(ways)
    return ConflictError(f"There is a memory {ref} already.", hint[:1].upper() + hint[1:])


def takes_draft(proposed: Draft) -> bool:
    """Return whether the draft can be merged into the memory that has its name already."""
    neighbours = approvals.neighbours(proposed.store, proposed.item)
    same = [memory for memory in neighbours if memory.path == proposed.path]
    return any(approvals.refusal(proposed.store, memory) is None for memory in same)
