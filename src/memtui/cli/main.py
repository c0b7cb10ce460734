"""The `memtui` command: read the command line, run the command, print its answer, exit with its code."""

import os
import sys

from memtui.core.base.errors import EXIT_FAILED, EXIT_USAGE, MemtuiError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from memtui.cli.output import Output

EXIT_INTERRUPTED = 130
EXIT_PIPE = 141  # as a shell reports a process that SIGPIPE ended
# These look at memtui's directories with care, or not at all.
ANYWHERE = {"doctor", "paths", "completions", "demo"}
ONE_LINE = {"guide"}  # called by monitors, whose logs want a line


def main(argv: "list[str] | None" = None) -> int:
    """Run one command; its exit code (docs/cli.md)."""
    from memtui.cli.output import Output, UnwritableError
    from memtui.present import glyphs

    _open_closed_streams()
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A stream that can't hold a character must not stop an answer.
            stream.reconfigure(errors=glyphs.ERRORS)
    plain = words[: words.index("--")] if "--" in words else words
    out = Output(os.environ, as_json="--json" in plain)
    try:
        code = _run(words, out)
        out.flush()
        return code
    except BrokenPipeError:
        return EXIT_PIPE  # whoever read has seen enough
    except UnwritableError as error:
        out.drain()
        out.say(f"memtui: the answer can't be written: {error}. What was to be done is done.")
        return EXIT_FAILED
    except KeyboardInterrupt:
        out.say("")
        return EXIT_INTERRUPTED
    finally:
        out.drain()


def _open_closed_streams() -> None:
    """A standard stream that was closed leads nowhere: else the next file that is opened got its number, and what is
    said would be written there."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            found = os.open(os.devnull, os.O_RDWR)
            if found != number:
                os.dup2(found, number)
                os.close(found)
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))  # noqa: SIM115


def _run(words: "list[str]", out: "Output") -> int:
    from memtui.cli import parser
    from memtui.cli.output import UnwritableError

    name = parser.wanted(words) or "memtui"
    if name not in parser.COMMANDS:
        name = "memtui"
    try:
        args = parser.parse(words)
        return _command(args, out)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else EXIT_USAGE
    except (BrokenPipeError, KeyboardInterrupt, UnwritableError):
        raise
    except MemtuiError as error:
        if "--debug" in words:
            _trace(out)
        out.error(name, error.message, error.hint, one_line=name in ONE_LINE)
        return error.exit_code
    except Exception as error:
        if "--debug" in words:
            _trace(out)
        out.error(name, _words_of(error), _noted(name, error), one_line=True)
        return EXIT_FAILED


def _words_of(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    return f"that failed: {type(error).__name__}: {error}." if str(error) else f"that failed: {type(error).__name__}."


def _noted(name: str, error: Exception) -> str:
    """Where the details of an error are, after noting them."""
    from memtui.core.base import paths
    from memtui.core.deliveries import error_log

    try:
        root = paths.root(dict(os.environ))
    except KeyError:
        root = ""
    if root.startswith("/") and error_log.add(root, f"memtui {name}", error):
        return "`memtui doctor --errors` has the details."
    return "Run it again with --debug to see where."


def _command(args: "Namespace", out: "Output") -> int:
    from memtui.cli.context import Context

    name = args.command
    ctx = Context(os.environ, out, getattr(args, "project", None))
    if name is None:
        name = "memtui"
        from memtui.cli import opening
        from memtui.cli.commands import tui

        asked = args.read_only or args.screen
        run = tui.run if asked or (opening.has_terminal() and not out.json) else tui.status
    else:
        run = args.run
    if name not in ANYWHERE:
        ctx.must_own()
    result = run(ctx, args)
    if out.json:
        out.envelope(name, result.data)
    elif result.text is not None:
        result.text(out)
    return int(result.code)


def _trace(out: "Output") -> None:
    import traceback

    out.say(traceback.format_exc().rstrip())
