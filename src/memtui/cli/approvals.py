"""One call of `memtui approve` or `reject`, and how drafts become memories."""

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from memtui.cli import decisions, memories, parser, secret
from memtui.cli.bulk import BulkResult
from memtui.cli.context import Context
from memtui.cli.decisions import DecisionRow, Decisions
from memtui.cli.output import Output, Result, line, safe
from memtui.core.base import ids
from memtui.core.base.errors import ConflictError, MemtuiError, NotFoundError, UsageError
from memtui.core.base.shell import shell_word
from memtui.core.base.short_ids import short_id
from memtui.core.review import approve as approving
from memtui.core.review import draft as draft_of
from memtui.core.review import merge
from memtui.core.review.approve import Approval
from memtui.core.review.draft import Choices, Draft
from memtui.core.review.waiting import Waiting
from memtui.present import drafts, unheard
from memtui.present.memories import loader

DECLINED = "Nothing was approved."
# What a call did with some things: for --json, and how to print it.
Done = tuple[dict[str, object], Callable[[Output], None]]


def entries_of(rows: "list[DecisionRow]") -> "list[Waiting]":
    """Return the entries of inboxes among some rows."""
    return [row.thing for row in rows if isinstance(row.thing, Waiting)]


class DecisionCall:
    """One call of approve or reject. All that it does, through whichever journal, is one step of undo."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx
        self.group = ids.new_id(ctx.now())
        self.bulk = BulkResult("of these", "of these")
        self.review = ctx.review()
        self.store = ctx.store()
        self.journal = self.store.journal
        self.undecided = 0  # of what was named and found

    def chosen(
        self, args: argparse.Namespace, kinds: "tuple[str, ...]", *, asleep: bool, one_offs: bool
    ) -> "list[DecisionRow]":
        """Return what the arguments name, each once; `kinds` are those of entries. With --all it is drafts, those that
        are `asleep` or the others, or memories that others changed. Raises UsageError, NotFoundError, ConflictError."""
        ctx = self.ctx
        ctx.must_have_home()
        if bool(args.ids) == bool(args.all):
            raise UsageError("Give one or more IDs or NAMEs, or --all.", "`memtui inbox` lists them.")
        found = Decisions(ctx, every=args.all_projects, decide=True)
        if not args.all:
            rows = self.bulk.find(args.ids, lambda ref: found.find(ref, kinds))
            return list({row.later_key: row for row in rows}.values())
        if args.kind == "changed":
            rows = found.changed()
            if not rows:
                raise decisions.gate_off(ctx) or NotFoundError(decisions.NOTHING)
            return rows
        rows = [row for row in found.read(("draft",)) if (row.until is not None) == asleep]
        folded = [row for row in rows if not one_offs and isinstance(row.thing, Waiting) and row.thing.entry.one_off()]
        if folded:
            ctx.out.say(f"{drafts.one_offs(len(folded))}: left in the inbox; --one-offs takes them too")
        if rows == folded:
            raise NotFoundError(f"There are no {'hidden ' if asleep else ''}drafts.")
        return [row for row in rows if row not in folded]

    def run(
        self, rows: "list[DecisionRow]", ways: "Sequence[tuple[tuple[str, ...], Callable[[list[DecisionRow]], Done]]]"
    ) -> Result:
        """Decide about the things of each kind by its way; what one way can't do does not stop the others."""
        data: dict[str, object] = {}
        printers: list[Callable[[Output], None]] = []
        alone = len({kinds for kinds, _ in ways for row in rows if row.kind in kinds}) == 1 and not self.bulk.failed
        with self.journal.together(self.group), self.review.journal.together(self.group):
            for kinds, way in ways:
                mine = [row for row in rows if row.kind in kinds]
                if not mine:
                    continue
                try:
                    more, print_done = way(mine)
                except MemtuiError as error:
                    if alone:
                        raise
                    self.fail(mine, error)
                    continue
                data |= more
                printers.append(print_done)

        def print_all(out: Output) -> None:
            for each in printers:
                each(out)
            memories.say_undo(out, len(rows) - self.undecided)

        return self.bulk.result(data, print_all)

    def fail(self, rows: "Sequence[DecisionRow]", error: MemtuiError) -> None:
        """Note that some things could not be decided."""
        self.undecided += len(rows)
        names = [short_id(row.id) for row in rows]
        self.bulk.failed += [{"name": name, "message": error.message, "hint": error.hint} for name in names]


def approve_drafts(call: DecisionCall, args: argparse.Namespace, rows: "list[DecisionRow]") -> Done:
    ctx, items = call.ctx, entries_of(rows)
    if len(items) > 1 and (args.name or args.description or args.body is not None):
        raise UsageError("--name, --description and --body work on one draft only.", "Nothing was changed.")
    call.store.shared = args.yes
    outcomes = _into(call, args, items) if args.into else _create(call, args, items)
    failed = [each for each in outcomes if each.error is not None]
    for each in failed:
        assert each.error is not None
        if len(outcomes) == 1:
            raise each.error
        call.fail([row for row in rows if row.thing is each.item], each.error)
    made = [each for each in outcomes if each.memory is not None]
    why = unheard.data(ctx.unheard([each.memory.scope_label for each in made if each.memory]))
    triggers = {} if args.no_trigger else {each.item.key: each.item.entry.fields.get("request", "") for each in made}
    rows_made = [_data(ctx, each, triggers.get(each.item.key, "")) for each in made]

    def text(out: Output) -> None:
        for each in made:
            _print(ctx, out, each, triggers.get(each.item.key, ""))
        if why and made:
            out.say(f"note: {why['why']}, so no session gets it yet: {why['do']}")

    return {"approved": rows_made, "unheard": why}, text


def _create(call: DecisionCall, args: argparse.Namespace, items: "list[Waiting]") -> "list[Approval]":
    body = None if args.body is None else parser.body_text(args.body)
    texts = (args.name or "", args.type or "", args.scope or "", args.description or "")
    choices = Choices(*texts, body, "" if args.no_trigger else None)
    proposed: dict[str, Draft] = {}
    found: dict[str, Approval] = {}
    for item in items:
        try:
            one = draft_of.propose(call.store, item, choices)
            data = secret.checked_bytes(call.ctx, one.data, yes=args.yes, declined=DECLINED)
            proposed[item.key] = replace(one, data=data)
        except MemtuiError as error:
            found[item.key] = Approval(item, None, error)
    for each in approving.approve_all(call.journal, list(proposed.values())):
        one = proposed[each.item.key]
        conflict = isinstance(each.error, ConflictError) and one.taken
        found[each.item.key] = each._replace(error=_name_taken(one)) if conflict else each
    return [found[item.key] for item in items]


def _name_taken(proposed: Draft) -> ConflictError:
    """Return the error that there is a memory of that name, with the commands that avoid it."""
    from memtui.cli.detail import takes_draft

    short, ref = short_id(proposed.item.id), f"{proposed.scope.label}:{proposed.name}"
    rename = f"Choose another name: memtui approve {short} --name {shell_word(proposed.name + '-2')}"
    append = f"Append to it: memtui approve {short} --into {shell_word(ref)}" if takes_draft(proposed) else ""
    return ConflictError(f"There is a memory {ref} already.", "\n  Or: ".join(filter(None, (append, rename))))


def _into(call: DecisionCall, args: argparse.Namespace, items: "list[Waiting]") -> "list[Approval]":
    if args.name or args.type or args.scope or args.description or args.body is not None:
        raise UsageError("--into only appends to a memory.", "Change that memory with `memtui edit`.")
    outcomes = []
    for item in items:
        try:
            store, found = merge.find(call.store, item, args.into)
            secret.confirm(call.ctx, item.text, yes=args.yes, declined=DECLINED)
            outcomes.append(Approval(item, merge.merge(store, item, found, trigger=not args.no_trigger)))
        except MemtuiError as error:
            outcomes.append(Approval(item, None, error))
    return outcomes


def _project(ctx: Context, item: Waiting) -> str:
    """Return the name of a draft's project; empty if it is this one or none."""
    if item.slug in {None, ctx.slug}:
        return ""
    return line(os.path.basename(draft_of.project_of(item).rstrip("/")) or item.slug or "")


def _data(ctx: Context, each: Approval, trigger: str) -> "dict[str, object]":
    made = each.memory
    assert made is not None
    return {
        "id": each.item.id,
        "scope": made.scope_label,
        "name": made.stem,
        "path": made.path,
        "text": made.raw.decode("utf-8", "replace"),
        "trigger": trigger,
        "loaded_by": loader(made.scope_label, 1, _project(ctx, each.item), ctx.way_of(made)),
    }


def _print(ctx: Context, out: Output, each: Approval, trigger: str) -> None:
    assert each.memory is not None
    memories.print_written(ctx, out, "wrote", each.memory)
    memories.say_line(ctx, out, each.memory)
    if loaded := loader(each.memory.scope_label, 1, _project(ctx, each.item), ctx.way_of(each.memory)):
        out.print("  " + out.style(f"{loaded}.", "dim"))
    for piece in safe(each.memory.raw.decode("utf-8", "replace")).rstrip("\n").split("\n"):
        out.print(("  │ " + piece).rstrip())
    if trigger:
        out.print(f"  trigger  “{line(trigger)}”")
