"""`memtui reject`: drop drafts."""

import argparse

from memtui.cli import entries, parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.core.base.matching import short_id
from memtui.core.base.phrasing import many


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "reject",
        run,
        "drop pending updates",
        "memtui reject 7XAD\nmemtui reject --all --never",
        "`memtui undo` brings them back.",
    )
    entries.add_draft_arguments(found)
    found.add_argument("--never", action="store_true", help="note it, so that the same words are never extracted again")


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Drop drafts."""
    items = entries.drafts(ctx, args)
    done = ctx.review().reject(items, never=args.never)
    data = {"rejected": [item.id for item in items], "never": args.never, "transaction": done}

    def text(out: Output) -> None:
        for item in items:
            out.print(f"rejected  {short_id(item.id)}  {line(item.text)[:60]}")
        never = "They are not extracted again. " if args.never else ""
        out.say(f"{never}{many(len(items), 'entry', 'entries')}; memtui undo brings them back.")

    return Result(data, text)
