"""The `memtui` command: read the command line, run the command, print its answer, return its exit code."""

import gc
import os
import sys

from memtui.core.base.errors import EXIT_FAILED, EXIT_USAGE, MemtuiError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from memtui.cli.context import Context
    from memtui.cli.output import Output
    from memtui.cli.parser import Run

EXIT_INTERRUPTED = 130
OBJECTS = 200_000  # made before Python looks for garbage, which a short run has little of
EXIT_PIPE = 141  # as a shell reports a process that SIGPIPE ended
# Commands that may run where memtui's directories belong to another user: they check it themselves, or read nothing.
OWNER_UNCHECKED = {"doctor", "check", "demo"}
NEVER_FAILS = {"statusline"}  # the client drops the line of a command that fails
ONE_LINE = {"note"}  # monitors call it, and their logs want one line


def main(argv: "list[str] | None" = None) -> int:
    """Run one command and return its exit code (docs/cli.md)."""
    gc.set_threshold(OBJECTS)
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["--complete"]:
        from memtui.cli import completing

        return completing.main(words[1:], dict(os.environ))
    from memtui.cli.output import Output, UnwritableError
    from memtui.present import glyphs

    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A character that the stream's encoding lacks must not stop an answer.
            stream.reconfigure(errors=glyphs.ERRORS)
    options = words[: words.index("--")] if "--" in words else words
    out = Output(os.environ, as_json="--json" in options)
    try:
        code = _run(words, out)
        out.flush()
        return code
    except BrokenPipeError:
        return EXIT_PIPE  # the reader has closed the pipe, as `head` does
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
    """Open /dev/null for each standard stream that was closed.

    Else the next file that is opened would get its number, and messages would be written into it.
    """
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

    name = parser.command_word(words) or "memtui"
    name = parser.ALIASES.get(name, name)
    if name not in parser.COMMANDS and name not in parser.HIDDEN:
        name = "memtui"
    try:
        args = parser.parse(words)
        return _command(args, out) if name not in NEVER_FAILS else _quietly(args, out)
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
        out.error(name, _message_of(error), _log(name, error), one_line=True)
        return EXIT_FAILED


def _quietly(args: "Namespace", out: "Output") -> int:
    """Run a command that says nothing where it fails: the error is logged."""
    from memtui.cli.output import UnwritableError

    try:
        return _command(args, out)
    except (BrokenPipeError, UnwritableError):
        raise
    except Exception as error:
        _log(args.command, error)
        return 0


def _message_of(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    return f"that failed: {type(error).__name__}: {error}." if str(error) else f"that failed: {type(error).__name__}."


def _log(name: str, error: Exception) -> str:
    """Log the details of an error; return the sentence that says how to see them."""
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

    name = args.command or "memtui"
    ctx = Context(os.environ, out, getattr(args, "project", None))
    run = args.run if args.command else _without_command(args, out)
    if name not in OWNER_UNCHECKED:
        ctx.must_own()
    result = run(ctx, args)
    if out.json:
        out.envelope(name, result.data() if callable(result.data) else result.data)
    elif result.text is not None:
        _print(ctx, args, out, result.text)
    return result.code


def _print(ctx: "Context", args: "Namespace", out: "Output", answer: "Callable[[Output], None]") -> None:
    """Print the answer of a command, for a person who is there in a pager if it is long."""
    if out.tty and sys.stdin.isatty() and not getattr(args, "no_pager", False) and _may_page(ctx):
        from memtui.cli import pager

        pager.show(out, answer, ctx.env)
    else:
        answer(out)


def _may_page(ctx: "Context") -> bool:
    try:
        return ctx.setting("pager") != "never"
    except MemtuiError:
        return True  # no directory is known, and so no setting


def _without_command(args: "Namespace", out: "Output") -> "Run":
    from memtui.cli import open_tui, parser

    if args.read_only or args.screen or (open_tui.has_terminal() and not out.json):
        return lambda ctx, _: open_tui.run(ctx, read_only=args.read_only, screen=args.screen or parser.SCREENS[0])
    from memtui.cli.commands import status

    args.paths = None
    return status.run


def _trace(out: "Output") -> None:
    import traceback

    out.say(traceback.format_exc().rstrip())
