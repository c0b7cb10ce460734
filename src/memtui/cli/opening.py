"""Open the TUI in this terminal."""

import gc
import os
import sys

from memtui.cli.context import Context
from memtui.cli.output import Result
from memtui.cli.parser import SCREENS
from memtui.core.base.errors import UsageError


def has_terminal() -> bool:
    """Whether a person is there to look and to type."""
    return sys.stdin.isatty() and sys.stdout.isatty()


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
