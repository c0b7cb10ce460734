"""The `memtui` command: read the command line, run the command, print its answer, return its exit code."""

import gc
import os
import sys

from memtui.base.errors import EXIT_FAILED, EXIT_USAGE, MemtuiError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from argparse import Namespace

    from memtui.cli.output import Output
    from memtui.cli.parser import Run

EXIT_INTERRUPTED = 130
OBJECTS = 200_000  # made before Python looks for garbage, which a short run has little of
EXIT_PIPE = 141  # as a shell reports a process that SIGPIPE ended
# Commands that may run where memtui's directories belong to another user: they check it themselves, or read nothing.
OWNER_UNCHECKED = {"doctor", "check", "demo"}
HOMELESS = {"check", "demo", "note", "statusline"}  # commands that may run where no directory is known
NEVER_FAILS = "statusline"  # the client drops the line of a command that fails: its errors are only logged
ONE_LINE = "note"  # monitors call it, and their logs want one line


def main(argv: "list[str] | None" = None) -> int:
    """Run one command and return its exit code (docs/cli.md)."""
    gc.set_threshold(OBJECTS)
    words = list(sys.argv[1:] if argv is None else argv)
    if "_ARGCOMPLETE" in os.environ:  # a shell asks what fits the line that is typed
        from memtui.cli import completion

        completion.complete(os.environ["COMP_LINE"][: int(os.environ["COMP_POINT"])])
    from memtui.cli.output import Output, UnwritableError
    from memtui.views import glyphs

    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=glyphs.ERRORS)  # what the stream's encoding lacks must not stop an answer
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
    """Open /dev/null for each closed standard stream: the next file that is opened would get its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, "r" if number == 0 else "w", encoding="utf-8", closefd=False))  # noqa: SIM115


def _run(words: "list[str]", out: "Output") -> int:
    from memtui.cli.output import UnwritableError

    name = words[0] if words == ["sync"] else _name(words)
    try:
        if words == ["sync"] and _is_synced(out):
            return 0
        from memtui.cli import parser

        return _command(parser.parse(words), out)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else EXIT_USAGE
    except (BrokenPipeError, KeyboardInterrupt, UnwritableError):
        raise
    except Exception as error:
        if name == NEVER_FAILS:
            _log(name, error)
            return 0
        if "--debug" in words:
            import traceback

            out.say(traceback.format_exc().rstrip())
        if isinstance(error, MemtuiError):
            out.error(name, error.message, error.hint, one_line=name == ONE_LINE)
            return error.exit_code
        message = f"that failed: {type(error).__name__}" + (f": {error}." if str(error) else ".")
        if isinstance(error, OSError) and error.strerror:
            message = f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
        out.error(name, message, _log(name, error), one_line=True)
        return EXIT_FAILED


def _name(words: "list[str]") -> str:
    from memtui.cli import parser

    name = parser.command_word(words) or "memtui"
    name = parser.ALIASES.get(name, name)
    return name if name in parser.COMMANDS or name in parser.HIDDEN else "memtui"


def _is_synced(out: "Output") -> bool:
    """Tell whether a sync has nothing to do, and say so: without the parser, which takes longer than to ask git."""
    from memtui.cli.context import Context
    from memtui.sync import quick, state

    ctx = Context(os.environ, out)
    ctx.must_have_home()
    ctx.must_own()
    own = state.load(ctx.root)
    is_synced = own is not None and not own.withheld and state.names(ctx.root) == [""]
    if is_synced and (is_synced := quick.is_done(ctx.env, ctx.now())):
        out.answer([quick.NOTHING])
    return is_synced


def _log(name: str, error: Exception) -> str:
    """Log the details of an error; return the sentence that says how to see them."""
    from memtui.base import paths_hot
    from memtui.deliver import error_log_hot

    try:
        root = paths_hot.root(dict(os.environ))
    except KeyError:
        root = ""
    if root.startswith("/") and error_log_hot.add(root, f"memtui {name}", error):
        return "`memtui doctor --errors` has the details."
    return "Run it again with --debug to see where."


def _command(args: "Namespace", out: "Output") -> int:
    from memtui.cli.context import Context

    name = args.command or "memtui"
    ctx = Context(os.environ, out, getattr(args, "project", None))
    run = args.run if args.command else _without_command(args, out)
    if name not in HOMELESS:
        ctx.must_have_home()
    if name not in OWNER_UNCHECKED:
        ctx.must_own()
    result = run(ctx, args)
    if out.json:
        out.envelope(name, result.data() if callable(result.data) else result.data)
    else:
        out.answer(result.text)
    return result.code


def _without_command(args: "Namespace", out: "Output") -> "Run":
    from memtui.cli import open_tui, parser

    if args.read_only or args.screen or (open_tui.has_terminal() and not out.json):
        return lambda ctx, _: open_tui.run(ctx, read_only=args.read_only, screen=args.screen or parser.SCREENS[0])
    from memtui.cli.commands import status

    args.paths = None
    return status.run
