"""`memtui consolidate`: propose merges, fixes and removals of memories."""

import argparse

from memtui.base.errors import UsageError
from memtui.cli import memories, parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result
from memtui.cli.show import dream, proposals


def register(commands: "parser.Commands") -> None:
    command = parser.command(
        commands,
        "consolidate",
        run,
        "propose merges, fixes and removals of memories",
        "memtui consolidate\nmemtui approve 3f2a9c\nmemtui consolidate --all\nmemtui consolidate --ask-model --dry-run",
        "Nothing is written before you approve it. --ask-model says first what it costs, and needs `llm_backend`"
        " (docs/faq.md says what is sent).",
    )
    command.add_argument("--ask-model", action="store_true", help="let the model propose, too")
    command.add_argument("--all", action="store_true", help="make all that is proposed; it shows them and asks first")
    command.add_argument("--scope", action="append", help="only changes to files of this scope; can be repeated")
    command.add_argument("--yes", action="store_true", help="don't ask")
    group = command.add_argument_group("with --ask-model")
    group.add_argument("--dry-run", action="store_true", help="only say what would be asked, and what it would cost")
    group.add_argument("--unattended", action="store_true", help=argparse.SUPPRESS)


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """List what is proposed, make all of it, or ask a model for more."""
    if args.ask_model:
        if args.all:
            raise UsageError("--ask-model makes nothing.", "Look at what it proposes first: memtui consolidate")
        return dream.run(ctx, args)
    if args.dry_run or args.unattended:
        raise UsageError("--dry-run goes with --ask-model.", "See `memtui consolidate --help`.")
    store = ctx.store()
    if args.all and (plans := proposals.read(ctx, store, args.scope)):
        data, print_made, code = proposals.approve(ctx, store, plans, yes=args.yes)

        def text(out: Output) -> None:
            print_made(out)
            if any(proposal.kind == "merge" for proposal in plans):
                out.say("What was merged may overlap more memories now: memtui consolidate")
            memories.say_undo(out, len(plans) if data["undo"] else 0)

        return Result(data, text, code)
    return proposals.listing(ctx, args.scope)
