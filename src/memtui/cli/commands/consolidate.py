"""`memtui consolidate`: propose merges, fixes and removals of memories."""

import argparse

from memtui.cli import parser
from memtui.cli.bulk import BulkResult
from memtui.cli.context import Context
from memtui.cli.output import Result
from memtui.cli.show import dream, proposals
from memtui.core.base.errors import UsageError
from memtui.present import models


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "consolidate",
        run,
        "propose merges, fixes and removals of memories",
        "memtui consolidate\nmemtui approve 3f2a9c\nmemtui consolidate --all\nmemtui consolidate --ask-model --dry-run",
        "Nothing is written before you approve it. What is made is one step: memtui undo undoes it. --ask-model says"
        " first what it will cost, and needs `llm_backend` (memtui model); the model also writes triggers of memories"
        " that have none. Without a model it proposes what `memtui check` finds. " + models.SENT,
    )
    found.add_argument("--ask-model", action="store_true", help="let the model propose, too; interrupted, it goes on")
    found.add_argument("--all", action="store_true", help="make all that is proposed; it shows them and asks first")
    found.add_argument("--scope", action="append", help="only changes to files of this scope; can be repeated")
    found.add_argument("--yes", action="store_true", help="don't ask")
    dream.add_options(found)


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """List what is proposed, make all of it, or ask a model for more."""
    if args.ask_model:
        if args.all:
            raise UsageError("--ask-model makes nothing.", "Look at what it proposes first: memtui consolidate")
        return dream.run(ctx, args)
    if args.dry_run or args.remove is not None or args.again or args.unattended:
        raise UsageError("--dry-run, --remove and --again go with --ask-model.", "See `memtui consolidate --help`.")
    if args.all and (found := proposals.read(ctx, ctx.store(), args.scope)):
        return proposals.accept(ctx, found, BulkResult(), yes=args.yes, all_open=True)
    return proposals.listing(ctx, args.scope)
