"""`memtui inbox ID`, and `memtui show ID`: one decision whole: what it says, where it comes from, what it would do."""

from collections.abc import Callable, Sequence

from memtui.base import clock, dates, paths
from memtui.base.errors import ConflictError, MemtuiError
from memtui.base.findings import Problem
from memtui.base.phrasing import ago, some, until
from memtui.base.shell import shell_word
from memtui.base.short_ids import short_id
from memtui.cli import entries
from memtui.cli.context import Context
from memtui.cli.decisions import DecisionRow, Decisions, as_data, difference
from memtui.cli.output import Output, Result, line, safe
from memtui.cli.show import diff, proposals
from memtui.review import approve, changed, draft, evidence
from memtui.review.changed import Changed, Untrusted
from memtui.review.draft import Draft
from memtui.review.evidence import Evidence, Similar
from memtui.review.waiting import Waiting
from memtui.store.store import Store
from memtui.store.versions.writers import Occasions
from memtui.views import changed as words
from memtui.views import drafts
from memtui.views import versions as version_words

TITLES = {"guidance": "Note", "updates": "Draft", "items": "Todo"}
WHO_WIDTH = 6  # columns for who spoke

# What a thing has more for --json, and how it is printed.
Details = tuple[dict[str, object], Callable[[Output], None]]


def one(ctx: Context, ref: str) -> Result:
    """Show what an id or a name means. Raises NotFoundError, ConflictError."""
    row = Decisions(ctx).find(ref)
    thing = row.thing
    if isinstance(thing, Waiting):
        more, text = _entry(ctx, row, thing)
    elif isinstance(thing, Changed):
        more, text = {}, lambda out: _print_changed(ctx, out, thing)
    elif isinstance(thing, Problem):
        more, text = {}, lambda out: _print_problem(out, row, thing)
    elif isinstance(thing, Untrusted):
        more, text = _untrusted(ctx, thing)
    else:
        more, text = proposals.whole(ctx, thing.proposal)
    return Result({**more, **as_data(ctx, row)}, text)


def _print_problem(out: Output, row: DecisionRow, problem: Problem) -> None:
    out.paragraph(problem.sentence)
    if len(problem.memories) > 1:
        out.paragraph(some(problem.memories), "  ")
    out.remedy(problem.remedy)
    out.say(f"memtui reject {short_id(row.id)} does not list it again.")


def _untrusted(ctx: Context, mem: Untrusted) -> Details:
    memory = mem.memory
    raw = memory.raw.decode("utf-8", "replace")

    def text(out: Output) -> None:
        out.heading(line(memory.ref), "came with the repository, not trusted")
        out.print("  " + out.style(line(ctx.tilde(memory.path)), "dim"))
        out.print()
        out.print(safe(raw.rstrip("\n")))
        ref = memory.ref
        out.say(
            f"memtui approve {shell_word(ref)} trusts it as it is now, memtui reject {shell_word(ref)} asks no more."
        )

    return {"text": raw}, text


def _print_changed(ctx: Context, out: Output, item: Changed) -> None:
    show_changed(ctx, out, item)
    does = "Trust it as it is now" if changed.undelivered(ctx.root, [item]) else "Mark it as seen"
    ref = item.ref
    out.say(f"{does}: memtui approve {shell_word(ref)}   Reject it: memtui reject {shell_word(ref)}")


def show_changed(ctx: Context, out: Output, item: Changed, *, back: bool = False) -> None:
    """Print who changed a memory, and what; with `back` what rejecting it does."""
    occasion = Occasions(ctx.env).of(item.writer)
    out.heading(line(item.ref), ago(item.now.written, ctx.now()))
    facts = [words.by(item, occasion.title), version_words.prompted(occasion.prompt), ctx.tilde(item.key)]
    facts += [words.NOT_TRUSTED] if not back and changed.undelivered(ctx.root, [item]) else []
    for fact in filter(None, facts):
        out.print("  " + out.style(line(fact), "dim"))
    out.print(f"  {words.BACK[item.kind]}:" if back else "")
    diff.show_lines(out, difference(ctx, item, back=back), "  ")


# entries


def _entry(ctx: Context, row: DecisionRow, item: Waiting) -> Details:
    now, store = ctx.now(), ctx.store()
    proposed, problem = _becomes(store, item)
    reason = _evidence(ctx, store, item, proposed)
    data: dict[str, object] = {}
    if item.kind != "guidance":
        exchange = [
            {"who": each.who, "text": each.text, "time": each.time, "evidence": each.hit} for each in reason.said
        ]
        data = {"setting": {"title": reason.title, "said": exchange, "problem": reason.problem or None}}
    if item.kind == "updates":
        data |= _draft_data(proposed, reason) | {"problem": problem or None}

    def text(out: Output) -> None:
        out.heading(f"{TITLES[item.kind]} {line(item.id)}", ago(item.entry.time(), now))
        for state in entries.states(ctx, item):
            out.print("  " + (state if item.kind == "items" else out.style(f"! {state}", "yellow")))
        target = proposed.scope.label if proposed is not None else ""
        for fact in filter(None, [line(row.where), *facts_of(item, now, target), line(ctx.tilde(item.path))]):
            out.print("  " + out.style(fact, "dim"))
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
        ways = entries.WAYS[item.kind][1].format(short_id(item.id))
        out.say(ways.replace(" makes", " --name NAME makes") if proposed is not None and proposed.taken else ways)

    return data, text


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
    from memtui.inbox import refused
    from memtui.tidy import similarity

    refused_drafts = refused.near([item.directory, paths.inbox_dir(store.root, None)])
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
    alike = [
        {"name": m.name, "scope": m.scope_label, "path": m.path, "description": m.description, "score": score}
        for m, score in ((similar.memory, similar.score) for similar in evidence.similar)
    ]
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
    out.print(f"becomes  {out.style(f'{line(proposed.scope.label)}:{line(proposed.name)}', 'bold')}")
    if proposed.taken:
        ways = "--name or --into" if takes_draft(proposed) else "--name"
        out.print("  " + out.style(f"! a memory of this name is there already: approve with {ways}", "yellow"))
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
            out.print((head + out.style(piece, "" if quote.hit else "dim")).rstrip())
            head = " " * indent
    if evidence.problem:
        out.print("  " + out.style(line(evidence.problem), "dim"))


def _print_similar(out: Output, store: Store, item: Waiting, near: "Sequence[Similar]") -> None:
    """Print the memories that are most like a draft, and the command that merges it into one, or why none takes it."""
    out.print()
    out.heading("Similar memories")
    cells = [
        [f"{each.score:.0%} alike", (line(each.memory.ref), "bold"), line(each.memory.description)] for each in near
    ]
    out.table(["", "", ""], cells, flex=(2, 1), indent="  ")
    owner = approve.store_of(store, [item])
    refused = {similar.memory.ref: approve.refusal(owner, similar.memory) for similar in near}
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
    memories = [memory for memory in draft.neighbours(proposed.store, proposed.item) if memory.path == proposed.path]
    return any(approve.refusal(proposed.store, memory) is None for memory in memories)
