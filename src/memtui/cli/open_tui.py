"""Open the TUI in this terminal."""

import gc
import os
import sys

from memtui.base.errors import UsageError
from memtui.cli.context import Context
from memtui.cli.output import Result
from memtui.cli.parser import SCREENS


def has_terminal() -> bool:
    """Return whether a person can look and type."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def run(ctx: Context, *, read_only: bool = False, screen: str = SCREENS[0], tour: bool = False) -> Result:
    """Run the TUI until the person leaves it, with `tour` from the tour on; return its exit code."""
    if ctx.out.json or not has_terminal():
        raise UsageError("The TUI needs a terminal.", "`memtui status` works without one.")
    # Nearly all that is made before the first picture is kept: collecting costs a tenth of the start and frees nothing.
    gc.disable()
    # A key is painted at the next tick of Textual's clock, and must not wait for threads that read in the background.
    os.environ.setdefault("TEXTUAL_FPS", "240")
    sys.setswitchinterval(0.001)
    from memtui.tui.app import main

    now = ctx.now() if ctx.env.get("MEMTUI_NOW") else None
    return Result({}, code=main(ctx.env, ctx.cwd, read_only=read_only, screen=screen, now=now, tour=tour))
