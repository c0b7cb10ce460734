"""The `memtui` command: read the command line, run the command, print its answer, exit with its code."""

import os
import sys

from memtui.core.errors import EXIT_FAILED, EXIT_USAGE, MemtuiError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from memtui.cli.output import Output

EXIT_INTERRUPTED = 130
EXIT_PIPE = 141  # as a shell reports a process that SIGPIPE ended
ONE_LINE = {"guide"}  # called by monitors, whose logs want a line


def main(argv: "list[str] | None" = None) -> int:
    """Run one command; its exit code (docs/cli.md)."""
    from memtui.cli.output import Output
    from memtui.core import glyphs

    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A stream that can't hold a character must not stop an answer.
            stream.reconfigure(errors=glyphs.ERRORS)
    plain = words[: words.index("--")] if "--" in words else words
    out = Output(os.environ, as_json="--json" in plain)
    try:
        code = _run(words, out)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Whoever read has seen enough. What is still buffered must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_PIPE
    except KeyboardInterrupt:
        out.say("")
        return EXIT_INTERRUPTED


def _run(words: "list[str]", out: "Output") -> int:
    from memtui.cli import parser

    name = parser.wanted(words) or "memtui"
    if name not in parser.COMMANDS:
        name = "memtui"
    try:
        args = parser.parse(words)
        return _command(args, out)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else EXIT_USAGE
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except MemtuiError as error:
        if "--debug" in words:
            _trace(out)
        out.error(name, error.message, error.hint, one_line=name in ONE_LINE)
        return error.exit_code
    except Exception as error:
        if "--debug" in words:
            _trace(out)
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        hint = "" if "--debug" in words else "Run it again with --debug to see where."
        out.error(name, f"unexpected: {what}", hint, one_line=True)
        return EXIT_FAILED


def _command(args: "Namespace", out: "Output") -> int:
    from memtui.cli.context import Context

    name = args.command
    ctx = Context(os.environ, out, getattr(args, "project", None))
    if name is None:
        name = "memtui"
        from memtui.cli import tui

        asked = args.read_only or args.screen
        run = tui.run if asked or (tui.has_terminal() and not out.json) else tui.status
    else:
        run = args.run
    result = run(ctx, args)
    if out.json:
        out.envelope(name, result.data)
    elif result.text is not None:
        result.text(out)
    return int(result.code)


def _trace(out: "Output") -> None:
    import traceback

    out.say(traceback.format_exc().rstrip())
