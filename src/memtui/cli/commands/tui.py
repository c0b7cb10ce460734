"""`memtui tui` and `memtui status`: the two answers of `memtui` alone, with a terminal and without."""

import argparse
import gc
import os
import sys

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Result
from memtui.core.base.errors import UsageError

SCREENS = ("memories", "inbox", "guidance", "deliveries", "health")


def register(commands: "parser.Commands") -> None:
    """Add the commands."""
    found = parser.command(
        commands,
        "tui",
        run,
        "open the control room in this terminal; `memtui` alone does the same",
        "memtui tui --screen deliveries\nmemtui tui --read-only --project ~/shop",
    )
    options(found)
    parser.command(commands, "status", status, "say how things stand, and what to do next", "memtui status")


def options(found: "parser.Options") -> None:
    """How the control room opens; `memtui` alone takes them too."""
    found.add_argument("--read-only", action="store_true", help="look, but change nothing")
    found.add_argument(
        "--screen", choices=SCREENS, help="the screen to begin with: " + ", ".join(SCREENS), metavar="NAME"
    )


def has_terminal() -> bool:
    """Whether a person is there to look and to type."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def status(ctx: Context, args: argparse.Namespace) -> Result:
    """How things stand."""
    from memtui.cli.show import overview  # half of the engine, which the TUI's first picture needs little of

    return overview.run(ctx, args)


def run(ctx: Context, args: argparse.Namespace) -> Result:
    """Run the TUI until the person leaves it."""
    return opened(ctx, read_only=args.read_only, screen=args.screen or SCREENS[0])


def opened(ctx: Context, *, read_only: bool = False, screen: str = SCREENS[0]) -> Result:
    """The TUI, run until the person leaves it: its exit code and no data."""
    ctx.must_have_home()
    if ctx.out.json or not has_terminal():
        raise UsageError("The TUI needs a terminal.", "`memtui status` says how things stand without one.")
    # Until the first picture nearly all that is made is kept: collecting costs a tenth of the start and finds nothing.
    gc.disable()
    # A key is painted at the next tick of textual's clock; and it goes before what is read in the background.
    os.environ.setdefault("TEXTUAL_FPS", "240")
    sys.setswitchinterval(0.001)
    from memtui.tui.app import main

    now = ctx.now() if ctx.env.get("MEMTUI_NOW") else None
    return Result({}, None, main(ctx.env, ctx.cwd, read_only=read_only, screen=screen, now=now))
