"""`memtui reject`: say no to what waits, or not now."""

import argparse
from typing import cast

from memtui.cli import decisions, memories, parser
from memtui.cli.bulk import BulkResult
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.cli.show import proposals
from memtui.consolidate.proposed import Undecided
from memtui.core.base import clock
from memtui.core.base.errors import UsageError
from memtui.core.base.phrasing import it
from memtui.core.base.short_ids import short_id
from memtui.core.review import changed, snoozing
from memtui.core.review.changed import Changed
from memtui.core.review.waiting import KINDS, Waiting
from memtui.present import changed as changed_words
from memtui.present import dates, drafts


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "reject",
        run,
        "say no, or not now: --later",
        "memtui reject 7XAD\nmemtui reject --all --never\nmemtui reject 7XAD --later friday\nmemtui reject prefer-pnpm",
        "A draft, a todo or a note that waits is dropped. Of a memory that somebody else wrote, what you saw last is"
        " restored: a new one goes to the trash, a deleted one comes back. What `memtui consolidate` proposes is not"
        " proposed again. `memtui undo` undoes it.",
    )
    decisions.add_arguments(found)
    draft_options = found.add_argument_group("drafts").add_mutually_exclusive_group()
    draft_options.add_argument("--never", action="store_true", help="never draft the same words again")
    draft_options.add_argument(
        "--later", metavar="WHEN", help=f"hide it until WHEN: {snoozing.TAKEN}; `memtui inbox --snoozed` lists those"
    )


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Reject drafts, todos, notes, changes of others or proposals, as one step of undo."""
    bulk = BulkResult("of these", "of these")
    until = None if args.later is None else snoozing.moment(args.later, ctx.now())
    back = args.later is not None and until is None
    kind, items = decisions.chosen(ctx, args, bulk, KINDS, snoozed=back)
    if kind != "updates" and (args.never or args.later is not None):
        option = "never" if args.never else "later"
        raise UsageError(f"--{option} is for drafts, not for {decisions.NAMES[kind]}.", "Nothing was changed.")
    if kind == "changed":
        return _take_back(ctx, cast("list[Changed]", items), bulk)
    if kind == "proposal":
        return proposals.reject(ctx, cast("list[Undecided]", items), bulk)
    entries = cast("list[Waiting]", items)
    if args.later is not None:
        return _snooze(ctx, entries, until, bulk)
    return _drafts(ctx, entries, bulk, never=args.never) if kind == "updates" else _drop(ctx, entries, bulk)


def _drafts(ctx: Context, items: "list[Waiting]", bulk: BulkResult, *, never: bool) -> Result:
    done = ctx.review().reject(items, never=never)
    data = {"rejected": [item.id for item in items], "never": never, "transaction": done}

    def text(out: Output) -> None:
        for item in items if len(items) > 1 or not out.tty else ():  # of one the sentence below says all
            out.print(f"rejected  {short_id(item.id)}  {drafts.title(item)}")
        words = drafts.decided("never" if never else "reject", items)
        out.say(f"{words} memtui undo brings {it(len(items))} back.")

    return bulk.result(data, text)


def _drop(ctx: Context, items: "list[Waiting]", bulk: BulkResult) -> Result:
    """Remove todos or notes that wait."""
    done = ctx.review().withdraw(items)

    def text(out: Output) -> None:
        for item in items:
            out.print(f"dropped  {line(item.text)}")
        memories.say_undo(out, len(items))

    return bulk.result({"rejected": [item.id for item in items], "transaction": done}, text)


def _snooze(ctx: Context, items: "list[Waiting]", until: "float | None", bulk: BulkResult) -> Result:
    """Hide drafts until a time, or bring them back."""
    now = ctx.now()
    done = ctx.review().snooze(items, until)
    data: dict[str, object] = {
        "snoozed": [item.id for item in items],
        "until": None if until is None else clock.iso_seconds(until),
        "transaction": done,
    }

    def text(out: Output) -> None:
        for item in items if len(items) > 1 or not out.tty else ():  # of one the sentence below says all
            state = "back" if until is None else f"until {dates.day_and_time(until, now)}"
            out.print(f"{state}  {short_id(item.id)}  {drafts.title(item)}")
        out.say(f"{drafts.snoozed(items, until, now)} memtui undo undoes it.")

    return bulk.result(data, text)


def _take_back(ctx: Context, items: "list[Changed]", bulk: BulkResult) -> Result:
    """Restore what the person saw last; one that fails does not stop the others."""
    outcome = changed.take_back(ctx.store(), ctx.versions, items)
    if len(items) == 1 and outcome.failed and not bulk.failed:
        raise outcome.failed[0][1]
    done = [item for item, _ in outcome.done]
    bulk.failed += changed_words.failures(outcome.failed)

    def text(out: Output) -> None:
        if done:
            out.print(line(changed_words.done("take back", done)))
            out.say("memtui undo undoes it.")

    data: dict[str, object] = {"taken_back": [item.key for item in done]}
    return bulk.result(data, text)
