"""`memtui statusline`, which settings files call: `memtui setup statusline` installs a faster start."""

import argparse
import subprocess
import sys
import time

from memtui.base import fastjson_hot
from memtui.base.errors import MemtuiError
from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Result
from memtui.hooks import runner_hot, status_line_hot

STDIN_BYTES = 1 << 20
OTHER_SECONDS = 5.0  # after which the other command's line is left out
BETWEEN = " · "


@parser.command("statusline")
def run(ctx: Context, args: argparse.Namespace) -> Result:
    payload = b"" if sys.stdin.isatty() else parser.stdin_bytes(STDIN_BYTES)
    other = _other(args.after, payload) if args.after else ""
    try:
        own = _own(ctx, payload)
    except (MemtuiError, OSError):
        if not other:
            raise
        own = ""
    words = BETWEEN.join(part for part in (other, own) if part)
    return Result({"line": words, "own": own}, lambda out: out.raw(f"{words}\n" if words else ""))


def _own(ctx: Context, data: bytes) -> str:
    ctx.must_have_home()
    payload: dict[str, object] = {"cwd": ctx.cwd, **fastjson_hot.loads_dict(data)}
    if ctx.project_given:
        payload["workspace"] = {"project_dir": ctx.cwd}
    hook = runner_hot.Hook("StatusLine", ctx.env, payload, time.monotonic())
    hook.load_settings()
    return status_line_hot.line(hook) if hook.mode != "off" else ""


def _other(command: str, payload: bytes) -> str:
    """Return the first line that another command prints; empty if it fails or takes too long."""
    try:
        shell = ["/bin/sh", "-c", command]
        process = subprocess.run(shell, input=payload, stdout=subprocess.PIPE, timeout=OTHER_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return process.stdout.decode("utf-8", "replace").partition("\n")[0].rstrip()
