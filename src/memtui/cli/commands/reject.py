"""`memtui reject`: drop drafts."""

import argparse

from memtui.cli import entries, parser
from memtui.cli.bulk import BulkResult
from memtui.cli.context import Context
from memtui.cli.output import Output, Result
from memtui.core.base.phrasing import it
from memtui.core.base.short_ids import short_id
from memtui.present import drafts


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "reject",
        run,
        "reject drafts",
        "memtui reject 7XAD\nmemtui reject --all --never",
        "`memtui undo` brings them back.",
    )
    entries.add_draft_arguments(found)
    found.add_argument("--never", action="store_true", help="never draft the same words again")


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Drop drafts."""
    bulk = BulkResult("draft", "drafts")
    items = entries.drafts(ctx, args, bulk)
    done = ctx.review().reject(items, never=args.never)
    data = {"rejected": [item.id for item in items], "never": args.never, "transaction": done}

    def text(out: Output) -> None:
        for item in items if len(items) > 1 or not out.tty else ():  # of one the sentence below says all
            out.print(f"rejected  {short_id(item.id)}  {drafts.title(item)}")
        done = drafts.decided("never" if args.never else "reject", items)
        out.say(f"{done} memtui undo brings {it(len(items))} back.")

    return bulk.result(data, text)
