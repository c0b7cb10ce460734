"""What waits for a decision, as the Inbox of the TUI lists it, and what an id or a name means among it."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property

from memtui.base import clock_hot, short_ids
from memtui.base.errors import EXIT_CONFLICT, ConflictError, MemtuiError, NotFoundError
from memtui.base.phrasing_hot import ago, many
from memtui.base.shell import shell_word
from memtui.base.short_ids import short_id
from memtui.base.storage import file_error
from memtui.cli import entries, memories
from memtui.cli.context import Context
from memtui.cli.output import Output, Printer, Result, line, narrate, picked, safe, styled
from memtui.client import projects
from memtui.review import approvals, waiting_entries
from memtui.review.approvals import Draft
from memtui.review.evidence import Evidence
from memtui.review.outside_changes import Changed
from memtui.review.waiting_entries import Waiting, best_first, load_hidden
from memtui.store import scopes, sidecars
from memtui.store.store import Store
from memtui.store.versions.writers import Occasions
from memtui.tidy import changeset, waiting_proposals
from memtui.tidy.changeset import Composition, Proposal, Refused, Weighed, savings, weigh
from memtui.tidy.checks import lint
from memtui.views import changes, changesets, decisions, drafts, rules
from memtui.views.decisions import PROBLEM, ChangedRow, Decision, EntryRow, ProblemRow, ProposedRow, TrustRow
from memtui.views.parts import TextDifference, Words

KINDS = {kind.option: kind.word for kind in decisions.KINDS}  # by what `--kind` calls them
PROPOSED = tuple(decisions.PROPOSED)
NOT_MADE = "Nothing was changed."


class Decisions:
    """The decisions of a project, or of `every` one; to `decide`, what was written just now is taken in first."""

    def __init__(self, ctx: Context, *, every: bool = False, decide: bool = False) -> None:
        self.ctx, self.every, self.decide = ctx, every, decide
        self.unread: list[dict[str, str]] = []
        self.hidden = load_hidden(ctx.root)

    @cached_property
    def entries(self) -> "list[Waiting]":
        """All that waits in inboxes, of all projects; drafts that are most worth keeping first."""
        return best_first(entries.read(self.ctx, every=True, unread=self.unread))

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
            go_on = lambda: self.ctx.out.progress("Checking the memories … Ctrl-C stops it.")
            return decisions.of_plan(self.ctx, self.ctx.undecided(go_on))
        except OSError as error:
            raise file_error(error) from error
        finally:
            self.ctx.out.progress("")

    def untrusted(self) -> "list[TrustRow]":
        """Return the memories of the repository, or of a team, that are not trusted and that nobody changed since."""
        changes: list[Changed] = []
        with suppress(MemtuiError):  # `changed` says why
            self.ctx.look()
            changes = self.ctx.changed()
        return [decisions.of_untrusted(memory, self.ctx.project) for memory in self.ctx.untrusted(changes)]

    def _sources(self) -> "list[tuple[set[str], Callable[[], Sequence[Decision]]]]":
        """Return where decisions besides entries come from, each with the words of its kinds."""
        fixes, problems = (lambda: self._plan[0]), (lambda: self._plan[1])
        return [({"changed"}, self.changed), ({"trust"}, self.untrusted), ({*PROPOSED}, fixes), ({"problem"}, problems)]

    def read(self, kinds: "tuple[str, ...]") -> "list[Decision]":
        """Return the decisions of some kinds, in their order, those put off last. What can't be read is said."""
        rows: list[Decision] = [row for row in self.of_entries if self.near(row.item)]
        for words, source in self._sources():
            try:
                rows += source() if words & {*kinds} else ()
            except MemtuiError as error:
                self.ctx.out.say(f"! {line(error.message)}")
        return decisions.in_order([row for row in rows if row.kind.word in kinds], self.hidden, self.ctx.now())

    def find(self, ref: str, kinds: "tuple[str, ...]" = ("draft", "todo", "note")) -> Decision:
        """Return what an id or name means, else what is about that memory. Raises NotFoundError, ConflictError."""
        about: list[Decision] = []
        changed, *others = (source for _, source in self._sources())
        of_kinds = [row for row in self.of_entries if row.kind.word in kinds]
        for source in (lambda: of_kinds, changed, lambda: self.changed(every=True), *others):
            rows = decisions.in_order(source(), self.hidden, self.ctx.now())
            if row := _match(rows, ref):
                return row
            about += [row for row in rows if ref in row.about]
        if len(about) == 1:
            return about[0]
        if about:
            raise ConflictError(f"“{ref}” can mean several: {', '.join(short_id(row.id) for row in about)}.")
        raise self._unknown(ref)

    def _unknown(self, ref: str) -> NotFoundError:
        try:
            memories.find(self.ctx, ref)
        except NotFoundError:
            pass
        else:
            unchanged = f"Nobody else has changed “{ref}” since you saw it.", entries.LISTED
            return NotFoundError(*changes.gate_off(self.ctx) or unchanged)
        if (error := entries.why_not(self.ctx, ref)) is not None:
            return error
        short = f"Give at least {short_ids.MIN_REF} characters of the id."
        hint = short if len(ref) < short_ids.MIN_REF else entries.LISTED
        return NotFoundError(f"Nothing that waits is called “{ref}”.", hint)


def _match(rows: "list[Decision]", ref: str) -> "Decision | None":
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
    time, until = (clock_hot.iso_seconds(at) if at is not None else None for at in (row.time, row.until))
    data: dict[str, object] = {"id": row.id, "kind": row.kind.word, "says": row.says, "where": row.place}
    data |= {"time": time, "until": until}
    if isinstance(row, EntryRow):
        return data | entries.as_data(ctx, row.item)
    if isinstance(row, TrustRow):
        memory = row.untrusted.memory
        return data | {"name": memory.stem, "path": memory.path, "by": row.untrusted.by}
    if isinstance(row, ProblemRow):
        return data | {"code": row.problem.cause, "memories": row.problem.memories, "remedy": row.problem.remedy}
    if isinstance(row, ProposedRow):
        return data | {"proposal": row.proposal.kind, "by": row.proposal.by}
    if not isinstance(row, ChangedRow):
        return data
    change, writer = row.changed, row.changed.writer
    occasion, part = Occasions(ctx.env).of(writer), row.difference(ctx)
    diff = "\n".join(part.lines) if isinstance(part, TextDifference) else part.text
    data |= {"name": change.name, "scope": change.scope.label, "path": change.key, "change": change.kind}
    data |= {"by": writer.by, "session": writer.session or None, "title": occasion.title or None}
    return data | {"prompt": writer.prompt or None, "prompt_text": occasion.prompt or None, "diff": diff}


TITLES = {"guidance": "Note", "updates": "Draft", "items": "Todo"}

# By verb: the command that does it.
COMMANDS = {"approve": "memtui approve", "reject": "memtui reject", "later": "memtui reject --later friday"}


def one(ctx: Context, ref: str) -> Result:
    """Show what an id or a name means, as `Decisions.find` does. Raises NotFoundError, ConflictError."""
    row = Decisions(ctx).find(ref)
    commands = dict(COMMANDS)
    if isinstance(row, EntryRow):
        more, text, name_is_taken = _entry(ctx, row)
        if name_is_taken:
            commands["approve"] += " --name NAME"
    elif isinstance(row, ProposedRow):
        change = weigh(ctx.store().files(), row.proposal)
        more, text = proposal_data(change), [proposal_printer(ctx, change)]
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
        checks = [rules.proposed_data(rule) for rule in reason.rules]
        data |= _draft_data(proposed, reason) | {"problem": problem or None, "checks": checks}

    def text(out: Output) -> None:
        out.heading(f"{TITLES[item.kind]} {line(item.id)}", ago(item.entry.time(), now))
        states, facts = entries.states(ctx, item), entries.note_facts(item, now) if item.kind == "guidance" else []
        out.parts(drafts.warnings(states if item.kind != "items" else ()), "  ")
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
            out.print("  " + styled("! a memory of this name is there already: approve with --name", "yellow"))
        out.parts(drafts.checks(reason.rules))
        if item.kind != "guidance":
            out.parts(drafts.conversation(item, reason))
        if similar := reason.similar[: drafts.SIMILAR_SHOWN]:
            out.section()
            out.heading("Similar memories")
            alike = [(near.memory, f"{near.score:.0%} alike") for near in similar]
            cells = [[share, (line(memory.ref), "bold"), line(memory.description)] for memory, share in alike]
            out.table(["", "", ""], cells, flex=(2, 1), indent="  ")

    return data, [text], proposed is not None and proposed.taken


def _draft_data(proposed: "Draft | None", evidence: Evidence) -> "dict[str, object]":
    text = proposed.data.decode("utf-8", "replace") if proposed else ""
    becomes = proposed and {**picked(proposed, "name path taken"), "scope": proposed.scope.label, "text": text}
    alike = [{**memories.data_of(similar.memory), "score": similar.score} for similar in evidence.similar]
    return {"becomes": becomes, "alike": alike}


def name_taken(proposed: Draft) -> ConflictError:
    """Return the error that there is a memory of that name, with the command that avoids it."""
    approve = f"memtui approve {short_id(proposed.item.id)} --name {shell_word(proposed.name + '-2')}"
    problem = f"There is a memory {proposed.scope.label}:{proposed.name} already."
    return ConflictError(problem, f"Choose another name: {approve}")


# what `memtui consolidate` proposes


def read_proposals(ctx: Context, store: Store, labels: "list[str] | None" = None) -> "list[Proposal]":
    """List the proposals that nobody decided about, first those of a model, of scopes with these labels or of all."""
    subject = lint.here(ctx.env, ctx.cwd, ctx.root, ctx.now(), ctx.usage, sidecars.kept_apart(ctx.root))
    if not labels:
        return [*waiting_proposals.undecided(store, subject).proposals]
    every = [scope for label in labels for scope in memories.chosen_scopes(ctx, label)]
    chosen = [scope for scope in every if scope.kind != "instructions"]
    return [*waiting_proposals.undecided(store, subject.with_scopes(chosen), within=chosen).proposals]


def brief_data(proposal: Proposal) -> "dict[str, object]":
    return {"id": proposal.ref, "kind": proposal.kind, "title": changeset.title(proposal)}


def list_proposals(ctx: Context, labels: "list[str] | None") -> Result:
    store = ctx.store()
    files, proposals = store.files(), read_proposals(ctx, store, labels)
    changes = [weigh(files, proposal) for proposal in proposals]
    saved = savings(Composition(files, proposals).preview())
    data = {"changes": [proposal_data(change) for change in changes], "saved": saved}
    if not changes:
        return Result(data, "There is nothing to consolidate.")
    sums = f"\n{many(len(changes), 'change')} proposed. {changesets.saved(saved)}".rstrip()
    ways = "Approve one: memtui approve ID   Reject one: memtui reject ID   All: memtui consolidate --all"
    return Result(data, *(proposal_printer(ctx, change) for change in changes), sums, narrate(ways))


def proposal_data(change: Weighed) -> "dict[str, object]":
    """Return for --json a proposal with what it would do to files, and what it would drop."""
    proposal, covered = change.proposal, change.coverage
    data: dict[str, object] = {
        **brief_data(proposal),
        "reason": proposal.reason,
        "score": max((fact.score for fact in proposal.evidence if fact.score is not None), default=None),
        "codes": sorted({evidence.code for evidence in proposal.evidence}),
        "safe": proposal.is_safe,
        "files": [
            {"path": diff.path, "gone": diff.after is None, "new": diff.before is None, "repaired": diff.repaired}
            | {"diff": "\n".join(TextDifference(diff.before, diff.after).lines)}
            for diff in change.diffs
        ],
        "dropped": None,
        "added": changesets.added(proposal),
        "refused": change.refused and _refusal(change.refused),
    }
    if covered is not None:
        reworded = [(was, now.text) for was, how, now in covered.statements if how == "reworded" and now]
        data |= {
            "dropped": [{"path": cover.statement.path, "text": cover.statement.text} for cover in covered.dropped],
            "reworded": [{"path": was.path, "text": was.text, "as": now} for was, now in reworded],
            "kept": len(covered.of("kept")),
        }
    return data


def proposal_printer(ctx: Context, change: Weighed) -> "Printer":
    place = decisions.place_of(change.proposal, scopes.discover(ctx.env, ctx.cwd), ctx.project)

    def text(out: Output) -> None:
        out.section()
        parts = changesets.describe(change.proposal, change, place) + changesets.facts(change.proposal, change)
        out.parts([Words(f"{short_id(change.proposal.ref)}  ", "cyan"), *parts])

    return text


def _refusal(refused: Refused) -> "dict[str, object]":
    return {"id": refused.proposal.ref, **picked(refused, "reason path"), "message": refused.error.message}


def make_proposals(
    ctx: Context, store: Store, proposals: "list[Proposal]", *, yes: bool
) -> "tuple[dict[str, object], list[str | Printer], int]":
    """Make proposals that a person saw; return data, how to print it, the exit code. Raises MemtuiError for no."""
    _confirm_proposals(ctx, store, proposals, yes=yes)
    with store.journal.together():
        applied = changeset.apply(store, proposals)
    saved = savings(applied.diffs)
    made, refused = list(map(brief_data, applied.made)), list(map(_refusal, applied.refused))
    data = {"made": made, "refused": refused, "files": [change.path for change in applied.diffs]}
    data |= {"saved": saved, "undo": "memtui undo" if applied.transaction else None}
    text: list[str | Printer] = []
    for refusal in applied.refused:
        hint = safe(refusal.error.hint)
        text += [narrate(safe(changesets.refused(refusal))), narrate(f"  {hint}" if hint else "")]
    parts = (changesets.made(applied.made), changesets.saved(saved)) if applied.made else ()
    return data, [*text, " ".join(filter(None, parts))], EXIT_CONFLICT if applied.refused else 0


def _confirm_proposals(ctx: Context, store: Store, proposals: "list[Proposal]", *, yes: bool) -> None:
    """Show what would be made, and ask about it; then about new secrets. Raises MemtuiError for no."""
    files = store.files()
    composition = Composition(files, proposals)
    if not composition.applicable:
        return
    diffs = composition.preview()
    if not yes:
        for proposal in [] if ctx.out.json else composition.applicable:
            proposal_printer(ctx, weigh(files, proposal))(ctx.out)
        ctx.confirm(f"Approve {many(len(composition.applicable), 'change')} to {many(len(diffs), 'file')}?", NOT_MADE)
    after, before = (
        "\n".join(data.decode("utf-8", "replace") for change in diffs if (data := getattr(change, key)) is not None)
        for key in ("after", "before")
    )
    ctx.confirm_secrets(after, yes=yes, declined=NOT_MADE, before=before)
