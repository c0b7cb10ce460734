"""`memtui inbox`: what waits, and one entry whole."""

import argparse

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, Result, line
from memtui.cli.show import waiting as shown
from memtui.cli.waiting import LIMIT, as_data, pick, states
from memtui.core.base.phrasing import ago
from memtui.core.review.waiting import KINDS

ONE = {"guidance": "Guidance", "updates": "Pending update", "items": "Pending item"}


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "inbox",
        run,
        "list everything that waits",
        "memtui inbox\nmemtui inbox --kind updates --all-projects\nmemtui inbox show 7XAD",
        "Guidance for the agent, pending updates to review, unfinished items.",
    )
    found.add_argument("--kind", choices=KINDS, help="only guidance, updates or items")
    found.add_argument("--all-projects", action="store_true", help="the inboxes of all projects")
    found.add_argument("--limit", type=int, default=LIMIT, metavar="N", help=f"of each kind, default: {LIMIT}, 0: all")
    actions = parser.actions(found)
    each = parser.command(
        actions, "show", show, "show one entry whole, and where it comes from", "memtui inbox show 7XAD"
    )
    each.add_argument("id", metavar="ID")


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """List what waits."""
    return shown.listing(ctx, (args.kind,) if args.kind else KINDS, all_projects=args.all_projects, limit=args.limit)


def show(ctx: Context, args: argparse.Namespace) -> Result:
    """Show one entry whole."""
    from memtui.cli.show import draft

    (item,) = pick(ctx, [args.id], KINDS, "entry")
    known = None if item.kind == "guidance" else draft.DraftShown(ctx, item)

    def text(out: Output) -> None:
        now = ctx.now()
        out.heading(f"{ONE[item.kind]} {line(item.id)}", ago(item.entry.time(), now))
        for bad in states(ctx, item):
            out.print("  " + out.style(f"! {bad}", "yellow"))
        for word in [
            *filter(None, [shown.place(ctx, item, shown.homes_of(ctx, [item]))]),
            *shown.details(item, now),
            line(ctx.tilde(item.path)),
        ]:
            out.print("  " + out.style(word, "dim"))
        out.print()
        out.paragraph(item.text)
        if known is not None:
            known.print(out)

    return Result({**as_data(ctx, item), **(known.data() if known else {})}, text)
