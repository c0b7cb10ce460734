"""`memtui tui` and `memtui status`: the two answers of `memtui` alone, with a terminal and without."""

import argparse

from memtui.cli import opening, parser
from memtui.cli.context import Context
from memtui.cli.output import Result


def register(commands: "parser.Commands") -> None:
    """Add the commands."""
    found = parser.command(
        commands,
        "tui",
        run,
        "open the TUI in this terminal; `memtui` alone does the same",
        "memtui tui --screen deliveries\nmemtui tui --read-only --project ~/shop",
    )
    parser.opening(found)
    parser.command(commands, "status", status, "say how things stand, and what to do next", "memtui status")


def status(ctx: Context, args: argparse.Namespace) -> Result:
    """How things stand."""
    from memtui.cli.show import overview  # half of the engine, which the TUI's first picture needs little of

    return overview.run(ctx, args)


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Run the TUI until the person leaves it."""
    return opening.opened(ctx, read_only=args.read_only, screen=args.screen or parser.SCREENS[0])
