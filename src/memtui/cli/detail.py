"""`memtui inbox ID`, and `memtui show ID`: one decision whole: what it says, where it comes from, what it would do."""

from collections.abc import Sequence

from memtui.base import clock, dates, paths
from memtui.base.errors import ConflictError, MemtuiError
from memtui.base.findings import Problem
from memtui.base.phrasing import ago, some, until
from memtui.base.shell import shell_word
from memtui.base.short_ids import short_id
from memtui.cli import entries, memories, proposals
from memtui.cli.context import Context
from memtui.cli.decisions import DecisionRow, Decisions, as_data, change_lines
from memtui.cli.output import Output, Result, line, narrate, safe, styled
from memtui.review import approvals, draft, evidence, outside_changes
from memtui.review.draft import Draft
from memtui.review.evidence import Evidence, Similar
from memtui.review.outside_changes import Changed, Untrusted
from memtui.review.waiting_entries import Waiting
from memtui.store.store import Store
from memtui.store.versions.writers import Occasions
from memtui.views import drafts
from memtui.views import outside_changes as words
from memtui.views import versions as version_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.cli.output import Printer

TITLES = {"guidance": "Note", "updates": "Draft", "items": "Todo"}
WHO_WIDTH = 6  # columns for who spoke

# What a thing has more for --json, and what is printed of it.
Details = tuple[dict[str, object], "list[str | Printer]"]


def one(ctx: Context, ref: str) -> Result:
    """Show what an id or a name means. Raises NotFoundError, ConflictError."""
    row = Decisions(ctx).find(ref)
    thing = row.thing
    if isinstance(thing, Waiting):
        more, text = _entry(ctx, row, thing)
    elif isinstance(thing, Changed):
        more, text = {}, _changed(ctx, thing)
    elif isinstance(thing, Problem):
        names = some(thing.memories) if len(thing.memories) > 1 else ""
        way = narrate(f"memtui reject {short_id(row.id)} does not list it again.")
        more, text = {}, [thing.sentence, f"  {names}" * bool(names), lambda out: out.remedy(thing.remedy), way]
    elif isinstance(thing, Untrusted):
        more, text = _untrusted(ctx, thing)
    else:
        change = proposals.ShownChange(ctx.store().files(), thing)
        more, text = change.data(), [change.print]
    return Result({**more, **as_data(ctx, row)}, *text)


def _untrusted(ctx: Context, mem: Untrusted) -> Details:
    memory = mem.memory
    raw, ref = memory.raw.decode("utf-8", "replace"), memory.ref
    return {"text": raw}, [
        lambda out: out.heading(line(memory.ref), "came with the repository, not trusted"),
        "  " + styled(line(ctx.tilde(memory.path)), "dim") + "\n",
        safe(raw.rstrip("\n")),
        narrate(
            f"memtui approve {shell_word(ref)} trusts it as it is now, memtui reject {shell_word(ref)} asks no more."
        ),
    ]


def _changed(ctx: Context, item: Changed) -> "list[str | Printer]":
    does = "Trust it as it is now" if outside_changes.undelivered(ctx.root, [item]) else "Mark it as seen"
    approve, reject = f"memtui approve {shell_word(item.ref)}", f"memtui reject {shell_word(item.ref)}"
    ways = narrate(f"{does}: {approve}   Reject it: {reject}")
    return [lambda out: show_changed(ctx, out, item), ways]


def show_changed(ctx: Context, out: Output, item: Changed, *, back: bool = False) -> None:
    """Print who changed a memory, and what; with `back` what rejecting it does."""
    occasion = Occasions(ctx.env).of(item.writer)
    out.heading(line(item.ref), ago(item.now.written, ctx.now()))
    facts = [words.by(item, occasion.title), version_words.prompted(occasion.prompt), ctx.tilde(item.key)]
    facts += [words.NOT_TRUSTED] if not back and outside_changes.undelivered(ctx.root, [item]) else []
    for fact in filter(None, facts):
        out.print("  " + styled(line(fact), "dim"))
    out.print(f"  {words.BACK[item.kind]}:" if back else "")
    out.diff_lines(change_lines(ctx, item, back=back), "  ")


# entries


def _entry(ctx: Context, row: DecisionRow, item: Waiting) -> Details:
    now, store = ctx.now(), ctx.store()
    proposed, problem = _becomes(store, item)
    reason = _evidence(ctx, store, item, proposed)
    data: dict[str, object] = {}
    if item.kind != "guidance":
        data = {"setting": {"title": reason.title, "said": reason.said, "problem": reason.problem or None}}
    if item.kind == "updates":
        data |= _draft_data(proposed, reason) | {"problem": problem or None}
    ways = entries.WAYS[item.kind][1].format(short_id(item.id))
    name_is_taken = proposed is not None and proposed.taken

    def text(out: Output) -> None:
        out.heading(f"{TITLES[item.kind]} {line(item.id)}", ago(item.entry.time(), now))
        for state in entries.states(ctx, item):
            out.print("  " + (state if item.kind == "items" else styled(f"! {state}", "yellow")))
        target = proposed.scope.label if proposed is not None else ""
        for fact in filter(None, [line(row.where), *facts_of(item, now, target), line(ctx.tilde(item.path))]):
            out.print("  " + styled(fact, "dim"))
        out.print()
        out.paragraph(item.text)
        if problem:
            out.print()
            out.paragraph(f"! {problem}")
        if proposed is not None:
            _print_draft(out, proposed)
        for refusal in reason.refused[: drafts.SIMILAR_SHOWN]:
            out.paragraph(f"! {drafts.like_refused(refusal, now)}")
        if item.kind != "guidance":
            _print_evidence(out, item, reason)
        if near := reason.similar[: drafts.SIMILAR_SHOWN]:
            _print_similar(out, store, item, near)

    return data, [text, narrate(ways.replace(" makes", " --name NAME makes") if name_is_taken else ways)]


def facts_of(item: Waiting, now: float, target: str = "") -> "list[str]":
    """Return the facts about an entry, a few words each. `target`: the scope that approving a draft writes into."""
    fields = item.entry.fields
    parts = []
    if item.kind == "updates":
        parts += [f"until {dates.day(end, now)}"] if (end := item.until(now)) is not None else []
        parts.append(" · ".join(filter(None, (drafts.kind(item), *drafts.odds_of(item), drafts.by_model(fields)))))
        becomes = [part for part in (fields.get("type"), fields.get("name")) if part]
        parts += [f"→ {'/'.join([target or draft.label_of(item), *becomes])}"] if fields.get("scope") or becomes else []
    elif item.kind == "guidance":
        parts.append(f"from {fields['from']}" if "from" in fields else "hand-written")
        parts += ["urgent"] if item.entry.flag("urgent") else []
        parts += ["for " + fields["for"]] if fields.get("for") else []
        parts += ["may have been delivered before"] if item.entry.flag("repeat") else []
        expires = clock.parse(fields.get("expires"))
        parts += [f"expires {until(expires, now)}"] if expires is not None and expires > now else []
    else:
        parts.append("left by a session" if fields.get("session") else "hand-written")
    return [line(part) for part in parts]


def _becomes(store: Store, item: Waiting) -> "tuple[Draft | None, str]":
    """Return the memory that a draft would become, or why none can be made of it."""
    if item.kind != "updates":
        return None, ""
    try:
        return draft.propose(store, item), ""
    except MemtuiError as error:
        return None, f"{error.message} {error.hint}".strip()


def _evidence(ctx: Context, store: Store, item: Waiting, proposed: "Draft | None") -> Evidence:
    if item.kind == "guidance":
        return Evidence()
    if proposed is None:
        return evidence.evidence_of(ctx.env, item)
    from memtui.inbox import rejections
    from memtui.tidy import similarity

    refused_drafts = rejections.near([item.directory, paths.inbox_dir(store.root, None)])
    rejected = similarity.to_refused(proposed.name, item.text, refused_drafts)
    near = similarity.to_draft(proposed.name, item.text, draft.neighbours(store, item))
    return evidence.evidence_of(ctx.env, item, near, rejected)


def _draft_data(proposed: "Draft | None", evidence: Evidence) -> "dict[str, object]":
    becomes = proposed and {
        "name": proposed.name,
        "scope": proposed.scope.label,
        "path": proposed.path,
        "taken": proposed.taken,
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
    if request := proposed.item.entry.fields.get("request"):
        out.print(f"trigger  “{line(request)}” (your prompt before the correction; --no-trigger leaves it out)")


def _print_evidence(out: Output, item: Waiting, evidence: Evidence) -> None:
    title = f"“{line(evidence.title)}”" if evidence.title else ""
    heading, quotes = "In context", drafts.setting(evidence)
    if not quotes:
        heading, quotes = "Evidence", drafts.quoted(item)
    if quotes:
        out.print()
        out.heading(heading, title)
    elif title:
        out.print()
        out.print(f"Its session began with {title}.")
    indent = WHO_WIDTH + 3
    for quote in quotes:
        head = f"{'›' if quote.hit else ' '} {line(quote.who):<{WHO_WIDTH}} "
        for piece in out.wrapped(quote.text, indent):
            out.print((head + styled(piece, "" if quote.hit else "dim")).rstrip())
            head = " " * indent
    if evidence.problem:
        out.print("  " + styled(line(evidence.problem), "dim"))


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
