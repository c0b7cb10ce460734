"""How `memtui approve` makes a memory of a pending update: show what will be written, write it, say what happened."""

import argparse
import dataclasses

from memtui.cli import memories, parser, secret
from memtui.cli.commands import guide, inbox
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, safe
from memtui.core.base.errors import ConflictError, MemtuiError, UsageError
from memtui.core.frontmatter import document
from memtui.core.inbox.guidance import UNHEARD
from memtui.core.memories import references, scopes
from memtui.core.memories.store import Store
from memtui.core.places import loading
from memtui.core.review import approve, triage
from memtui.core.review.approve import Ready
from memtui.core.review.triage import Proposal, Review, Waiting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memtui.core.review.evidence import Alike


@dataclasses.dataclass
class Outcome:
    """What became of one entry: the memory's path and scope, or the error; `data` is what was, or would be, written.
    `alike`, for a dry run: memories that it might be merged into."""

    item: Waiting
    scope: str = ""
    name: str = ""
    path: str = ""
    data: bytes = b""
    error: MemtuiError | None = None
    alike: "tuple[Alike, ...]" = ()


def run(ctx: Context, args: argparse.Namespace, items: "list[Waiting]") -> Result:
    """Approve entries; what fails stops none of the others, and all of them are one step of undo."""
    if len(items) > 1 and (args.name or args.description or args.body is not None):
        raise UsageError("--name, --description and --body are for one entry at a time.")
    store = ctx.store()
    body = None if args.body is None else parser.text_of(args.body)
    outcomes = []
    with store.together():
        for item in items if args.into else triage.from_the_end(items):
            try:
                outcomes.append(_into(ctx, store, args, item) if args.into else _create(ctx, store, args, item, body))
            except MemtuiError as error:
                if len(items) == 1:
                    raise
                outcomes.append(Outcome(item, error=error))
    outcomes.sort(key=lambda each: items.index(each.item))
    failed = [each.error for each in outcomes if each.error is not None]
    data: dict[str, object] = {"dry_run": args.dry_run, "approved": [_data(each) for each in outcomes]}
    deaf = _deaf(ctx, {each.scope for each in outcomes if each.error is None})
    data["unheard"] = {"why": UNHEARD[deaf][0], "do": UNHEARD[deaf][1]} if deaf else None
    code = failed[0].exit_code if failed else 0

    def text(out: Output) -> None:
        _print(ctx, out, outcomes, dry=args.dry_run)
        if deaf and not args.dry_run:
            out.say(f"note: {UNHEARD[deaf][0]}, so no session is told of it yet: {UNHEARD[deaf][1]}")

    return Result(data, text, code)


def _deaf(ctx: Context, labels: "set[str]") -> str:
    """Why nothing would load a memory of one of these scopes, one of UNHEARD; empty if all are loaded."""
    told = guide.unheard(ctx, memories=True) if labels & {"project", "global"} else ""
    return told or ("auto" if "auto" in labels and loading.auto_memory_off(ctx.env, ctx.cwd) else "")


def _create(ctx: Context, store: Store, args: argparse.Namespace, item: Waiting, body: "str | None") -> Outcome:
    given = {"name": args.name or "", "kind": args.type or "", "scope": args.scope or ""}
    proposal = triage.propose(item, description=args.description or "", body=body, **given)
    ready = approve.ready(store, proposal, ctx.now, args.scope or "")
    if args.edit:
        ready = dataclasses.replace(ready, proposal=_edited(ctx, ready.proposal))
    if not args.dry_run:
        data = secret.checked_bytes(ctx, ready.proposal.data, yes=args.yes, otherwise="Nothing was approved.")
        ready = dataclasses.replace(ready, proposal=dataclasses.replace(ready.proposal, data=data))
    outcome = Outcome(item, ready.scope.label, ready.proposal.name, ready.path, ready.proposal.data)
    if args.dry_run:
        _check_free(ready)
        outcome.alike = tuple(_alike(ready.store, ready.proposal))
        return outcome
    try:
        outcome.path = Review(ctx.root, now=ctx.now).approve(ready.store, ready.proposal, ready.scope).path
    except ConflictError:
        _check_free(ready)
        raise
    return outcome


def _alike(store: Store, proposal: Proposal) -> "list[Alike]":
    from memtui.consolidate import similar

    places = [scope for scope in store.scopes() if scope.writable and scope.exists and not scope.problem]
    near = (each for place in places for each in scopes.memories(place))
    return similar.to_draft(proposal.name, proposal.item.text, near)


def _check_free(ready: Ready) -> None:
    """Raise ConflictError, with the ways out, if there is a memory of that name."""
    if not ready.taken:
        return
    name, draft = ready.proposal.name, inbox.short(ready.item.id)
    ref = f"{ready.scope.label}:{name}"
    raise ConflictError(
        f"There is a memory {ref} already.",
        f"Append to it: memtui approve {draft} --into {ref}\n"
        f"  Or choose another name: memtui approve {draft} --name {name}-2",
    )


def _edited(ctx: Context, proposal: Proposal) -> Proposal:
    from memtui.cli import editor

    with editor.Draft(ctx, proposal.name, proposal.data) as draft:
        data = draft.edit()
        doc = document.parse(data)
        if doc.broken is not None:
            draft.keep = True
            raise MemtuiError(f"The frontmatter can't be read: {doc.broken}.", f"Your text is kept in {draft.path}.")
    name = doc.fields.get("name")
    stem = references.check_name(name) if isinstance(name, str) and name else proposal.name
    return dataclasses.replace(proposal, name=stem, data=data)


def _into(ctx: Context, store: Store, args: argparse.Namespace, item: Waiting) -> Outcome:
    if args.name or args.type or args.scope or args.description or args.edit or args.body is not None:
        raise UsageError("--into appends to a memory as it is.", "Change that memory with `memtui edit`.")
    store, found = approve.to_merge(store, item, args.into, ctx.now)
    if found.broken is not None:
        raise MemtuiError(f"{found.path} is broken: {found.broken}.", "Mend it in an editor first.")
    outcome = Outcome(item, found.scope_label, found.stem, found.path, triage.merged(item, found))
    if not args.dry_run:
        secret.asked(ctx, item.text, yes=args.yes, otherwise="Nothing was approved.")
        Review(ctx.root, now=ctx.now).merge(store, item, found)
    return outcome


def _data(each: Outcome) -> "dict[str, object]":
    found: dict[str, object] = {"id": each.item.id, "scope": each.scope, "name": each.name, "path": each.path}
    found["text"] = each.data.decode("utf-8", "replace")
    found["loaded_by"] = loading.loader(each.scope)
    if each.alike:
        found["alike"] = [{"scope": a.memory.scope_label, "name": a.memory.stem, "score": a.score} for a in each.alike]
    if each.error is not None:
        found["error"] = {"message": each.error.message, "hint": each.error.hint}
    return found


def _print(ctx: Context, out: Output, outcomes: "list[Outcome]", *, dry: bool) -> None:
    for each in outcomes:
        if each.error is not None:
            out.say(f"memtui: {inbox.short(each.item.id)}: {line(each.error.message)}")
            if each.error.hint:
                out.say("  " + safe(each.error.hint))
            continue
        verb = "would write" if dry else "wrote"
        memories.print_written(ctx, out, verb, f"{each.scope}:{each.name}", each.path)
        if loading.loader(each.scope):
            out.print("  " + out.style(f"{loading.loader(each.scope)}.", "dim"))
        for piece in safe(each.data.decode("utf-8", "replace")).rstrip("\n").split("\n"):
            out.print(("  │ " + piece).rstrip())
        for found in each.alike:
            where = line(found.memory.ref)
            out.print(f"  alike {found.score:.2f}  {where}  {line(found.memory.description)[:80]}")
        if each.alike:
            first = each.alike[0].memory
            out.print(f"  merge: memtui approve {inbox.short(each.item.id)} --into {first.ref}")
    if not dry and any(each.error is None for each in outcomes):
        out.say("memtui undo takes it back.")
