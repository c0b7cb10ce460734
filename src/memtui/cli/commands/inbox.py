"""`memtui inbox`: list what waits for a decision, or show one entry whole."""

import argparse

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.entries import LIMIT
from memtui.cli.output import Result
from memtui.cli.show import entries as shown
from memtui.cli.show.entries import CHANGED, INBOX_WORD
from memtui.core.review.waiting import KINDS


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "inbox",
        run,
        "what waits: drafts, todos, notes, what others wrote",
        "memtui inbox\nmemtui inbox 7XAD\nmemtui inbox --kind drafts --all-projects",
        "That is notes for the agent, drafts of memories to review, todos, and the memories that Claude,"
        " an editor or a program wrote since you last saw them. In the TUI, Activity shows the notes, and Inbox the"
        " others.",
    )
    found.add_argument("id", nargs="?", metavar="ID|NAME", help="show this one completely, and where it comes from")
    found.add_argument(
        "--kind",
        type=lambda given: INBOX_WORD.get(given, given),
        choices=list(INBOX_WORD.values()),
        help="changed: memories that somebody else wrote",
    )
    found.add_argument("--snoozed", action="store_true", help="the drafts that wait until a later time")
    found.add_argument("--all-projects", action="store_true", help="the inboxes of all projects")
    found.add_argument(
        "--limit", type=parser.count, default=LIMIT, metavar="N", help=f"of each kind, default: {LIMIT}, 0: all"
    )


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """List what waits, or show one entry."""
    if args.id:
        from memtui.cli.show import entry

        return entry.one(ctx, args.id)
    kinds = tuple(kind for kind in (*KINDS, CHANGED) if args.kind in {None, INBOX_WORD[kind]})
    return shown.listing(ctx, kinds, all_projects=args.all_projects, limit=args.limit, snoozed=args.snoozed)
