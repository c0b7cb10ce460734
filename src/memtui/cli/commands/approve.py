"""`memtui approve`: say yes to what waits: drafts become memories, todos are done, changes of others are seen."""

import argparse
import dataclasses
import os
from typing import cast

from memtui.cli import decisions, entries, memories, parser, secret
from memtui.cli.bulk import BulkResult
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line, safe
from memtui.cli.show import proposals
from memtui.consolidate.proposed import Undecided
from memtui.core.base.errors import EXIT_FAILED, ConflictError, MemtuiError, UsageError
from memtui.core.base.phrasing import likeness
from memtui.core.base.shell import shell_word
from memtui.core.base.short_ids import short_id
from memtui.core.frontmatter import document
from memtui.core.memories import references
from memtui.core.memories.store import Store
from memtui.core.review import approve, changed, draft, merge
from memtui.core.review.approve import Approval
from memtui.core.review.changed import Changed
from memtui.core.review.draft import Choices, Draft
from memtui.core.review.waiting import Waiting
from memtui.present import changed as changed_words
from memtui.present import unheard
from memtui.present.memories import loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memtui.core.review.evidence import Similar


DECLINED = "Nothing was approved."


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "approve",
        run,
        "say yes: to a draft, a todo that is done, a change",
        "memtui approve 7XAD\nmemtui approve 7XAD --name use-pnpm --body 'Use pnpm, never npm.'\n"
        "memtui approve 7XAD --into prefer-pnpm\nmemtui approve prefer-pnpm",
        "A draft becomes a memory. A todo is done. A memory that somebody else wrote counts as seen. What `memtui"
        " consolidate` proposes is made, after it was shown. `memtui undo` undoes it. The first or last 4 characters of"
        " an ID are enough.",
    )
    decisions.add_arguments(found)
    draft_options = found.add_argument_group("drafts")
    draft_options.add_argument("--one-offs", action="store_true", help="with --all: also what looks like a one-off")
    draft_options.add_argument("--name", help="the memory's name")
    draft_options.add_argument("--type", help="the memory's type")
    draft_options.add_argument("--scope", help="where to: project, global, auto, agent:NAME")
    draft_options.add_argument("--description", help="the memory's description")
    draft_options.add_argument("--body", metavar="TEXT", help="another text; `-` reads standard input")
    draft_options.add_argument(
        "--no-trigger", action="store_true", help="without the prompt as a trigger that finds it"
    )
    draft_options.add_argument("--into", metavar="MEMORY", help="append to an existing memory")
    draft_options.add_argument("--edit", action="store_true", help="edit the memory's text first")
    draft_options.add_argument("--dry-run", action="store_true", help="show what would be written")
    todo_options = found.add_argument_group("todos").add_mutually_exclusive_group()
    todo_options.add_argument(
        "--keep", action="store_true", help="not done yet: keep it whatever the next session does"
    )
    todo_options.add_argument(
        "--note", action="store_true", help="tell it, or a draft, to the agent with the next prompt"
    )
    found.add_argument("--yes", action="store_true", help=secret.YES_HELP)


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Approve drafts, todos, changes of others or proposals, as one step of undo; one that fails does not stop the
    others."""
    bulk = BulkResult("of these", "of these")
    kind, items = decisions.chosen(ctx, args, bulk, ("updates", "items"), one_offs=args.one_offs)
    _check_options(args, kind)
    if args.note or kind == "items":
        return _todos(ctx, args, cast("list[Waiting]", items), bulk)
    if kind == "changed":
        return _keep(ctx, cast("list[Changed]", items), bulk)
    if kind == "proposal":
        return proposals.accept(ctx, cast("list[Undecided]", items), bulk, yes=args.yes)
    return _drafts(ctx, args, cast("list[Waiting]", items), bulk)


def _check_options(args: argparse.Namespace, kind: str) -> None:
    """Raise UsageError for options that are for another kind."""
    name = decisions.NAMES[kind]
    if kind != "updates":
        texts = ("name", "type", "scope", "description", "body", "into")
        wrong = [each for each in texts if getattr(args, each) is not None]
        wrong += [each for each in ("no_trigger", "edit", "dry_run", "one_offs") if getattr(args, each)]
        if wrong:
            raise UsageError(f"--{wrong[0].replace('_', '-')} is for drafts, not for {name}.", "Nothing was changed.")
    if (args.keep and kind != "items") or (args.note and kind not in {"items", "updates"}):
        raise UsageError(f"--{'keep' if args.keep else 'note'} is not for {name}.", "Nothing was changed.")


def _todos(ctx: Context, args: argparse.Namespace, items: "list[Waiting]", bulk: BulkResult) -> Result:
    """Say that todos are done, keep them, or turn them or drafts into notes."""
    review = ctx.review()
    action = "note" if args.note else "keep" if args.keep else "done"
    done = {"done": review.done, "keep": review.keep, "note": review.to_guidance}[action](items)
    renamed = entries.new_ids(ctx, items) if args.keep else {}
    verb = {"done": "done", "keep": "kept", "note": "now a note"}[action]

    def text(out: Output) -> None:
        for item in items:
            out.print(f"{verb}  {line(item.text)}")
        for was, now in renamed.items():
            entries.say_new_id(out, was, now)
        memories.say_undo(out, len(items))

    ids = [renamed.get(item.id, item.id) for item in items]
    return bulk.result({"action": action, "items": ids, "transaction": done}, text)


def _keep(ctx: Context, items: "list[Changed]", bulk: BulkResult) -> Result:
    """Record that a person has seen what somebody else wrote."""
    changed.keep(ctx.store().journal, ctx.versions, items)
    untrusted = changed.untrusted(ctx.root, items)
    data: dict[str, object] = {"kept": [item.key for item in items]}
    data["untrusted"] = [item.key for item in untrusted]

    def text(out: Output) -> None:
        out.print(line(changed_words.done("keep", items)))
        if untrusted:
            out.say(f"note: {line(changed_words.not_trusted(untrusted))}: memtui trust")
        out.say("memtui undo undoes it.")

    return bulk.result(data, text)


def _drafts(ctx: Context, args: argparse.Namespace, items: "list[Waiting]", bulk: BulkResult) -> Result:
    """Make memories of drafts."""
    if len(items) > 1 and (args.name or args.description or args.body is not None):
        raise UsageError("--name, --description and --body work on one entry only.")
    store = ctx.store()
    store.shared = args.yes
    near: dict[str, Sequence[Similar]] = {}
    outcomes = _into(ctx, store, args, items) if args.into else _create(ctx, store, args, items, near)
    failed = [each.error for each in outcomes if each.error is not None]
    if failed and len(items) == 1 and not bulk.failed:
        raise failed[0]
    why = unheard.data(ctx.unheard([each.memory.scope_label for each in outcomes if each.memory is not None]))
    data: dict[str, object] = {
        "dry_run": args.dry_run,
        "approved": [_data(ctx, each, _trigger(args, each.item), near.get(each.item.key, ())) for each in outcomes],
        "unheard": why,
    }

    def text(out: Output) -> None:
        for each in outcomes:
            verb = "would write" if args.dry_run else "wrote"
            _print(ctx, out, store, each, _trigger(args, each.item), near.get(each.item.key, ()), verb)
        if not args.dry_run and len(failed) < len(outcomes):
            out.say("memtui undo undoes it.")
        if why and not args.dry_run:
            out.say(f"note: {why['why']}, so no session gets it yet: {why['do']}")

    return bulk.result(data, text, EXIT_FAILED if failed else 0)


def _create(
    ctx: Context,
    store: Store,
    args: argparse.Namespace,
    items: "list[Waiting]",
    near: "dict[str, Sequence[Similar]]",
) -> "list[Approval]":
    """Make memories of drafts. A dry run makes none, and adds similar memories to `near`, by the draft's key."""
    body = None if args.body is None else parser.body_text(args.body)
    choices = Choices(
        args.name or "",
        args.type or "",
        args.scope or "",
        args.description or "",
        body,
        "" if args.no_trigger else None,
    )
    drafts: dict[str, Draft] = {}
    found: dict[str, Approval] = {}
    for item in items:
        try:
            drafts[item.key] = proposed = _propose(ctx, store, args, item, choices)
            if args.dry_run:
                if proposed.taken:
                    raise _name_taken(proposed)
                found[item.key] = Approval(item, proposed.memory)
                near[item.key] = _similar(proposed)
        except MemtuiError as error:
            drafts.pop(item.key, None)
            found[item.key] = Approval(item, None, error)
    for each in [] if args.dry_run else approve.approve_all(store.journal, list(drafts.values())):
        proposed = drafts[each.item.key]
        conflict = isinstance(each.error, ConflictError) and proposed.taken
        found[each.item.key] = each._replace(error=_name_taken(proposed)) if conflict else each
    return [found[item.key] for item in items]


def _propose(ctx: Context, store: Store, args: argparse.Namespace, item: Waiting, choices: Choices) -> Draft:
    proposed = draft.propose(store, item, choices)
    if args.edit:
        proposed = _edit(ctx, proposed)
    if args.dry_run:
        return proposed
    data = secret.checked_bytes(ctx, proposed.data, yes=args.yes, declined=DECLINED)
    return dataclasses.replace(proposed, data=data)


def _edit(ctx: Context, proposed: Draft) -> Draft:
    from memtui.cli import editor

    with editor.EditedFile(ctx, proposed.name, proposed.data) as file:
        data = file.edit()
        doc = document.parse(data)
        if doc.broken is not None:
            file.keep = True
            raise MemtuiError(f"The frontmatter can't be read: {doc.broken}.", f"Your text is kept in {file.path}.")
    name = doc.fields.get("name")
    stem = references.check_name(name) if isinstance(name, str) and name else proposed.name
    return dataclasses.replace(proposed, name=stem, data=data)


def _similar(proposed: Draft) -> "list[Similar]":
    from memtui.consolidate import similarity

    near = draft.neighbours(proposed.store, proposed.item)
    return similarity.to_draft(proposed.name, proposed.item.text, near)


def _name_taken(proposed: Draft) -> ConflictError:
    """Return the error that there is a memory of that name, with the commands that avoid it."""
    from memtui.cli.show.draft import takes_draft

    short = short_id(proposed.item.id)
    ref = f"{proposed.scope.label}:{proposed.name}"
    append, rename = (
        f"memtui approve {short} --into {shell_word(ref)}",
        f"memtui approve {short} --name {shell_word(proposed.name + '-2')}",
    )
    ways = f"Append to it: {append}\n  Or choose another name: {rename}"
    return ConflictError(
        f"There is a memory {ref} already.", ways if takes_draft(proposed) else f"Choose another name: {rename}"
    )


def _into(ctx: Context, store: Store, args: argparse.Namespace, items: "list[Waiting]") -> "list[Approval]":
    if args.name or args.type or args.scope or args.description or args.edit or args.body is not None:
        raise UsageError("--into only appends to a memory.", "Change that memory with `memtui edit`.")
    outcomes = []
    with store.journal.together():
        for item in items:
            try:
                target_store, found = merge.find(store, item, args.into)
                after = merge.merged(target_store, [item], found)
                if not args.dry_run:
                    secret.confirm(ctx, item.text, yes=args.yes, declined=DECLINED)
                    after = merge.merge(target_store, item, found, trigger=not args.no_trigger)
                outcomes.append(Approval(item, after))
            except MemtuiError as error:
                outcomes.append(Approval(item, None, error))
    return outcomes


def _project(ctx: Context, item: Waiting) -> str:
    """Return the name of a draft's project; empty if it is this one or none."""
    if item.slug in {None, ctx.slug}:
        return ""
    return line(os.path.basename(draft.project_of(item).rstrip("/")) or item.slug or "")


def _trigger(args: argparse.Namespace, item: Waiting) -> str:
    """Return the prompt that will find the memory of a draft."""
    return "" if args.no_trigger else item.entry.fields.get("request", "")


def _data(ctx: Context, each: Approval, trigger: str, near: "Sequence[Similar]") -> "dict[str, object]":
    made = each.memory
    found: dict[str, object] = {
        "id": each.item.id,
        "scope": made.scope_label if made else "",
        "name": made.stem if made else "",
        "path": made.path if made else "",
        "text": made.raw.decode("utf-8", "replace") if made else "",
        "trigger": trigger if made else "",
        "loaded_by": loader(made.scope_label, 1, _project(ctx, each.item), ctx.way_of(made)) if made else "",
    }
    if near:
        found["alike"] = [{"scope": a.memory.scope_label, "name": a.memory.stem, "score": a.score} for a in near]
    if each.error is not None:
        found["error"] = {"message": each.error.message, "hint": each.error.hint}
    return found


def _print(
    ctx: Context, out: Output, store: Store, each: Approval, trigger: str, near: "Sequence[Similar]", verb: str
) -> None:
    short = short_id(each.item.id)
    if each.error is not None:
        out.say(f"memtui: {short}: {line(each.error.message)}")
        if each.error.hint:
            out.say("  " + safe(each.error.hint))
    if each.memory is None:
        return
    memories.print_written(ctx, out, verb, each.memory)
    memories.say_line(ctx, out, each.memory)
    if loaded := loader(each.memory.scope_label, 1, _project(ctx, each.item), ctx.way_of(each.memory)):
        out.print("  " + out.style(f"{loaded}.", "dim"))
    for piece in safe(each.memory.raw.decode("utf-8", "replace")).rstrip("\n").split("\n"):
        out.print(("  │ " + piece).rstrip())
    if trigger:
        out.print(f"  trigger  “{line(trigger)}”")
    for found in near:
        where = line(found.memory.ref)
        out.print(f"  similar {likeness(found.score)}  {where}  {line(found.memory.description)[:80]}")
    if near:
        from memtui.cli.show import draft as draft_words

        out.print(f"  merge: {line(draft_words.how_to_merge(store, each.item, near))}")
