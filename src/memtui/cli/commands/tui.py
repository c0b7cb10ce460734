"""`memtui tui`, which `memtui` alone runs where there is a terminal."""

import argparse

from memtui.cli import open_tui, parser
from memtui.cli.context import Context
from memtui.cli.output import Result


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "tui",
        run,
        "open the TUI in this terminal; `memtui` alone does the same",
        "memtui tui --screen deliveries\nmemtui tui --read-only --project ~/shop",
    )
    parser.add_tui_options(found)


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Run the TUI until the person leaves it."""
    return open_tui.run(ctx, read_only=args.read_only, screen=args.screen or parser.SCREENS[0])
