"""`memtui inbox`: list what waits, or show one entry whole."""

import argparse

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.entries import LIMIT, as_data, pick, states
from memtui.cli.output import Output, Result, line
from memtui.cli.show import entries as shown
from memtui.cli.show.changed import whole
from memtui.cli.show.entries import CHANGED, INBOX_WORD
from memtui.core.base.errors import NotFoundError
from memtui.core.base.phrasing import ago
from memtui.core.review import changed
from memtui.core.review.waiting import KINDS

TITLES = {"guidance": "Note", "updates": "Draft", "items": "Unfinished item"}


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "inbox",
        run,
        "list notes, drafts, unfinished work, and what others wrote",
        "memtui inbox\nmemtui inbox --kind drafts --all-projects\nmemtui inbox show 7XAD",
        "That is notes for the agent, drafts of memories to review, unfinished items, and the memories that Claude,"
        " an editor or a program wrote since you last saw them. In the TUI, Guidance shows the notes, and Inbox the"
        " others.",
    )
    found.add_argument(
        "--kind",
        type=lambda given: INBOX_WORD.get(given, given),
        choices=list(INBOX_WORD.values()),
        help="items: unfinished work, changed: memories that somebody else wrote",
    )
    found.add_argument("--snoozed", action="store_true", help="the drafts that wait until a later time")
    found.add_argument("--all-projects", action="store_true", help="the inboxes of all projects")
    found.add_argument(
        "--limit", type=parser.count, default=LIMIT, metavar="N", help=f"of each kind, default: {LIMIT}, 0: all"
    )
    actions = parser.actions(found)
    each = parser.command(
        actions, "show", show, "show one entry completely, and where it comes from", "memtui inbox show 7XAD"
    )
    each.add_argument("id", metavar="ID")


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """List what waits."""
    kinds = tuple(kind for kind in (*KINDS, CHANGED) if args.kind in {None, INBOX_WORD[kind]})
    return shown.listing(ctx, kinds, all_projects=args.all_projects, limit=args.limit, snoozed=args.snoozed)


def show(ctx: Context, args: argparse.Namespace) -> Result:
    """Show one entry whole."""
    from memtui.cli.show import draft

    try:
        item = pick(ctx, args.id, KINDS, "entry")
    except NotFoundError:
        ctx.look()
        try:
            found = changed.find(ctx.changed(every=True), args.id)
        except NotFoundError:
            found = None
        if found is None:
            raise
        return whole(ctx, found)
    more = None if item.kind == "guidance" else draft.DraftDetails(ctx, item)

    def text(out: Output) -> None:
        now = ctx.now()
        out.heading(f"{TITLES[item.kind]} {line(item.id)}", ago(item.entry.time(), now))
        for state in states(ctx, item):
            out.print("  " + (state if item.kind == "items" else out.style(f"! {state}", "yellow")))
        place = shown.place(ctx, item, shown.homes_of(ctx, [item]))
        for fact in [place, *shown.details(item, now, shown.DraftTargets(ctx).of(item)), line(ctx.tilde(item.path))]:
            if fact:
                out.print("  " + out.style(fact, "dim"))
        out.print()
        out.paragraph(item.text)
        if more is not None:
            more.print(out)

    return Result({**as_data(ctx, item), **(more.data() if more else {})}, text)
