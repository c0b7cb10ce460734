"""`memtui inbox ID`, and `memtui show ID`: one decision whole: what it says, where it comes from, what it would do."""

from collections.abc import Sequence

from memtui.base import clock
from memtui.base.errors import ConflictError, MemtuiError
from memtui.base.phrasing import ago, until
from memtui.base.shell import shell_word
from memtui.base.short_ids import short_id
from memtui.cli import entries, memories, proposals
from memtui.cli.context import Context
from memtui.cli.decisions import Decisions, as_data
from memtui.cli.output import Output, Result, line, narrate, picked, styled
from memtui.review import approvals, draft
from memtui.review.draft import Draft
from memtui.review.evidence import Evidence, Similar
from memtui.review.waiting_entries import Waiting
from memtui.store.store import Store
from memtui.store.versions.writers import Occasions
from memtui.tidy.composed_files import weigh
from memtui.views import drafts
from memtui.views.decisions import PROBLEM, ChangedRow, Decision, EntryRow, ProblemRow, ProposedRow, TrustRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.cli.output import Printer

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


# entries


def _entry(ctx: Context, row: EntryRow) -> "tuple[dict[str, object], list[str | Printer], bool]":
    """Return more for --json, what is printed, and whether a memory has the name of the draft."""
    now, store, item = ctx.now(), ctx.store(), row.item
    proposed, problem = _becomes(store, item)
    near = draft.neighbours(store, item) if proposed is not None else ()
    reason, data = Evidence(), dict[str, object]()
    if item.kind != "guidance":
        reason = drafts.find_evidence(ctx, item, proposed.name if proposed is not None else "", near)
        data = {"setting": {"title": reason.title, "said": reason.said, "problem": reason.problem or None}}
    if item.kind == "updates":
        data |= _draft_data(proposed, reason) | {"problem": problem or None}

    def text(out: Output) -> None:
        out.heading(f"{TITLES[item.kind]} {line(item.id)}", ago(item.entry.time(), now))
        states, facts = entries.states(ctx, item), note_facts(item, now) if item.kind == "guidance" else []
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
            _print_draft(out, proposed)
        if item.kind != "guidance":
            out.parts(drafts.conversation(item, reason))
        if similar := reason.similar[: drafts.SIMILAR_SHOWN]:
            _print_similar(out, store, item, similar)

    return data, [text], proposed is not None and proposed.taken


def note_facts(item: Waiting, now: float) -> "list[str]":
    """Return the facts about a note, a few words each."""
    fields = item.entry.fields
    parts = [f"from {fields['from']}" if "from" in fields else "hand-written"]
    parts += ["urgent"] if item.entry.flag("urgent") else []
    parts += ["for " + fields["for"]] if fields.get("for") else []
    parts += ["may have been delivered before"] if item.entry.flag("repeat") else []
    expires = clock.parse(fields.get("expires"))
    parts += [f"expires {until(expires, now)}"] if expires is not None and expires > now else []
    return [line(part) for part in parts]


def _becomes(store: Store, item: Waiting) -> "tuple[Draft | None, str]":
    """Return the memory that a draft would become, or why none can be made of it."""
    if item.kind != "updates":
        return None, ""
    try:
        return draft.propose(store, item), ""
    except MemtuiError as error:
        return None, f"{error.message} {error.hint}".strip()


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


def _print_draft(out: Output, proposed: Draft) -> None:
    out.print()
    out.print(f"becomes  {styled(f'{line(proposed.scope.label)}:{line(proposed.name)}', 'bold')}")
    if proposed.taken:
        ways = "--name or --into" if takes_draft(proposed) else "--name"
        out.print("  " + styled(f"! a memory of this name is there already: approve with {ways}", "yellow"))


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
    neighbours = draft.neighbours(proposed.store, proposed.item)
    same = [memory for memory in neighbours if memory.path == proposed.path]
    return any(approvals.refusal(proposed.store, memory) is None for memory in same)
