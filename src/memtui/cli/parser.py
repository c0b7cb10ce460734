"""The parser of the command line.

Only the module of the command that was called is imported: monitors call `memtui note` every minute.
"""

import argparse
import os
import sys
from importlib import import_module

import memtui
from memtui.cli.output import terminal_columns
from memtui.core.base.errors import UsageError

# By group, in the order of `memtui --help`: command -> module under memtui.cli.commands.
GROUPS = {
    "see": {
        "list": "list",
        "show": "show",
        "search": "list",
        "recall": "recall",
        "activity": "activity",
        "status": "status",
    },
    "decide": {"inbox": "inbox", "approve": "decide", "reject": "decide"},
    "change": {
        "new": "edit",
        "edit": "edit",
        "mv": "change",
        "rm": "change",
        "history": "history",
        "undo": "undo",
        "note": "note",
    },
    "tidy": {"check": "check", "consolidate": "consolidate"},
    "bring": {"import": "transfer", "export": "transfer"},
    "set up": {
        "setup": "setup",
        "config": "config",
        "trust": "trust",
        "doctor": "doctor",
        "model": "model",
        "demo": "demo",
    },
}
COMMANDS = {name: module for group in GROUPS.values() for name, module in group.items()}
HIDDEN = {"statusline": "statusline"}  # what settings files call that memtui has written
ALIASES = {"guide": "note"}
SCREENS = ("memories", "inbox", "activity", "setup")
# metavar -> what it names, and the command that lists them, in errors
KINDS_OF = {"KEY": ("setting", "memtui config list"), "PATH": ("path", "memtui status --paths")}
MOST_NAMED = 20  # choices that an error lists; of more it names only similar ones
WITH_VALUE = ("--project", "--screen")  # options that may stand before the command, and take the next word
OPTION_WORDS = {"version": "--version"}  # what some type as a command, and the option that it is
COMMAND_WORDS = {
    "archive": "rm",
    "delete": "rm",
    "del": "rm",
    "remove": "rm",
    "rename": "mv",
    "move": "mv",
    "copy": "mv --copy",
    "notes": "note",
    "man": "help",
    "manual": "help",
}  # other words for a command
UNSAID = {"debug", "no_pager"}  # options that only the help of a command lists
VERBATIM = ("example:",)  # beginnings of help texts that are not wrapped
EXAMPLES = """\
  memtui                                    open the TUI
  memtui inbox                              what waits for a decision
  memtui approve 7XAD                       make that draft a memory
  memtui note "CI is red: fix that first"   tell the next session
  memtui activity                           what sessions got
  memtui demo                               a sample world to try it in"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, NoReturn

    from memtui.cli.context import Context
    from memtui.cli.output import Result

    Options = argparse._ActionsContainer  # noqa: SLF001  argparse has no public name for it
    Run = Callable[["Context", argparse.Namespace], "Result"]
    Commands = argparse._SubParsersAction["Parser"]  # noqa: SLF001  argparse has no public name for it


class Parser(argparse.ArgumentParser):
    """A parser that raises UsageError, where argparse would print and exit."""

    def __init__(self, **options: "Any") -> None:
        super().__init__(**{"formatter_class": _Formatter, "allow_abbrev": False, **options})

    def error(self, message: str) -> "NoReturn":
        raise UsageError(message[:1].upper() + message[1:] + ".", f"See `{self.prog} --help`.")

    def _check_value(self, action: argparse.Action, value: "Any") -> None:
        if not isinstance(action, argparse._SubParsersAction) or value in action.choices:  # noqa: SLF001
            if action.choices is None or value in action.choices:
                return
            if len(list(action.choices)) > MOST_NAMED:
                kind, lists = KINDS_OF.get(str(action.metavar), (str(action.metavar), f"{self.prog} --help"))
                raise _no_such(kind, value, action.choices, f"`{lists}` lists them.")
            name = action.option_strings[-1] if action.option_strings else action.metavar or action.dest
            names = ", ".join(map(str, action.choices))
            raise UsageError(f"{name} must be one of {names}, not “{value}”.", f"See `{self.prog} --help`.")
        names = ", ".join(action.choices)
        close = _close(value, action.choices)
        hint = f"Did you mean `{self.prog} {close[0]}`? " if close else ""
        raise UsageError(f"`{self.prog}` has no “{value}”, only: {names}.", f"{hint}See `{self.prog} --help`.")


class _Root(Parser):
    """The parser of the whole command line. Its help lists the commands by group."""

    def format_help(self) -> str:
        commands = next((each for each in self._actions if isinstance(each, argparse._SubParsersAction)), None)  # noqa: SLF001
        if commands is None:
            return super().format_help()
        about = {each.dest: each.help or "" for each in commands._choices_actions}  # noqa: SLF001
        lines = [str(self.description), "", "usage: memtui [COMMAND] [OPTION…]"]
        for group, names in GROUPS.items():
            lines += ["", group, *(f"  {name:<13}{about[name]}" for name in names)]
        lines += [
            "",
            "options",
            *(_option_line(each) for each in self._actions if each.option_strings and each.dest not in UNSAID),
        ]
        return "\n".join([*lines, "", "examples", EXAMPLES, "", str(self.epilog), ""])


def _option_line(action: argparse.Action) -> str:
    import textwrap

    name = action.option_strings[-1] + (f" {action.metavar}" if action.metavar else "")
    return textwrap.fill(str(action.help), 78, initial_indent=f"  {name:<16}", subsequent_indent=" " * 18)


class _Formatter(argparse.HelpFormatter):
    """A formatter that wraps prose, and leaves examples and the table of exit codes as they are."""

    def __init__(self, prog: str, **options: "Any") -> None:
        # argparse makes a formatter for every option that is added, and would import shutil to find the width.
        super().__init__(prog, **{"width": (terminal_columns(os.environ) or 80) - 2, **options})

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if text.startswith(VERBATIM):
            return text
        return super()._fill_text(text, width, indent)


def add_common(parser: Parser) -> None:
    """Add the options that every command has. They may stand before the command or after it."""
    group = parser.add_argument_group("everywhere")
    group.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print JSON")
    group.add_argument(
        "--project", metavar="DIR", default=argparse.SUPPRESS, help="the project of DIR, not of the current directory"
    )
    group.add_argument(
        "--no-pager", action="store_true", default=argparse.SUPPRESS, help="print a long answer without a pager"
    )
    group.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help="show where an error came from")


def command(
    commands: "Commands", name: str, run: "Run", summary: str, example: str, more: str = "", table: str = ""
) -> Parser:
    """Add a command with a one-line `summary`, `more` of its description, an `example` (lines of shell), and below it a
    `table`, printed as it is."""
    lines = "\n".join("  " + each for each in example.splitlines())
    parser = commands.add_parser(
        name,
        help=summary,
        description=(summary[:1].upper() + summary[1:] + "." + (" " + more if more else "")),
        epilog=f"example:\n{lines}" + (f"\n\n{table}" if table else ""),
    )
    parser.set_defaults(run=run)
    add_common(parser)
    return parser


def actions(parser: Parser) -> "Commands":
    """Let a command have actions, and return where to add them. Without an action the command lists."""
    return parser.add_subparsers(title="actions", dest="action", parser_class=Parser, metavar="[ACTION]")


def build(only: "str | None" = None) -> Parser:
    """Return the parser with all commands, or with one."""
    parser = _without_commands(tui_options=only is None)
    commands: Commands = parser.add_subparsers(
        title="commands", dest="command", metavar="COMMAND", parser_class=Parser, required=False, prog="memtui"
    )
    modules = dict.fromkeys(COMMANDS.values()) if only is None else [{**COMMANDS, **HIDDEN}[only]]
    for name in modules:
        import_module("memtui.cli.commands." + name).register(commands)
    return parser


def walk(name: str, found: argparse.ArgumentParser) -> "Iterator[tuple[str, argparse.ArgumentParser]]":
    """Yield the name and parser of each command and action, from the top."""
    yield name, found
    for action in found._actions:  # noqa: SLF001  argparse has no public way to walk a parser
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for each, below in action.choices.items():
                yield from walk(each, below)


def _without_commands(*, tui_options: bool) -> Parser:
    parser = _Root(
        prog="memtui",
        description="Review what Claude Code remembers, and send notes to it.",
        epilog="`memtui help COMMAND` explains a command, with an example.",
    )
    parser.add_argument("-V", "--version", action="version", version=f"memtui {memtui.__version__}")
    if tui_options:
        parser.add_argument("--read-only", action="store_true", help="open the TUI to look, and change nothing")
        parser.add_argument(
            "--screen", choices=SCREENS, help="open the TUI on this screen: " + ", ".join(SCREENS), metavar="NAME"
        )
    add_common(parser)
    return parser


def command_word(argv: "list[str]") -> "str | None":
    """Return the word of a command line that stands where a command should; None if there is none."""
    skip = False
    for word in argv:
        if skip:
            skip = False
        elif word in WITH_VALUE:
            skip = True
        elif not word.startswith("-"):
            return word
    return None


def _close(given: str, choices: "Iterable[str]") -> "list[str]":
    import difflib

    return difflib.get_close_matches(given, choices, 3, 0.6)


def _no_such(what: str, given: str, choices: "Iterable[str]", more: str = "") -> UsageError:
    close = _close(given, choices)
    hint = f"Did you mean {' or '.join(close)}? " if close else ""
    return UsageError(f"There is no {what} “{given}”.", (hint + more).rstrip())


def parse(argv: "list[str]") -> argparse.Namespace:
    """Read a command line. Raises UsageError, SystemExit after --help and --version."""
    name = command_word(argv)
    while name == "help":
        place = argv.index("help")
        argv = [*argv[:place], *(word for word in argv[place + 1 :] if word != "--help"), "--help"]
        name = command_word(argv)
    before = argv if name is None else argv[: argv.index(name)]
    if "-h" in before or "--help" in before:
        return build().parse_args(before, argparse.Namespace(command=None))
    if name is None:
        return _without_commands(tui_options=True).parse_args(argv, argparse.Namespace(command=None))
    if meant := OPTION_WORDS.get(name) or COMMAND_WORDS.get(name):
        raise UsageError(f"There is no command “{name}”.", f"Did you mean memtui {meant}?")
    if name in ALIASES:
        argv = [*before, ALIASES[name], *argv[len(before) + 1 :]]
        name = ALIASES[name]
    if name not in COMMANDS and name not in HIDDEN:
        raise _no_such("command", name, COMMANDS, "`memtui --help` lists them.")
    if any(word.partition("=")[0] in {"--screen", "--read-only"} for word in before):
        raise UsageError("--screen and --read-only are for the TUI, without a command.", "See `memtui --help`.")
    found, rest = build(name).parse_known_args(argv, argparse.Namespace(command=None))
    if rest:
        action = getattr(found, "action", None)
        words = f"{name} {action}" if action in argv else name
        raise UsageError(f"Unrecognized arguments: {' '.join(rest)}.", f"See `memtui {words} --help`.")
    return found


def stdin_bytes(limit: int) -> bytes:
    """Read standard input, at most one byte more than `limit`. Raises UsageError if it is a terminal."""
    if sys.stdin.isatty():
        raise UsageError("There is no text on standard input.", "Pipe it in, or give it on the command line.")
    try:
        return sys.stdin.buffer.read(limit + 1)
    except OSError as error:
        raise UsageError(f"Standard input can't be read: {error.strerror}.") from error


def count(text: str) -> int:
    """Return the number of an option such as --limit or --show, which is 0 or more. Raises ArgumentTypeError."""
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"give a number, 0 or more, not {text}")
    return int(text)


def add_limit(parser: Parser, default: int, what: str = "rows") -> None:
    """Add the option of how much a list shows."""
    parser.add_argument("--limit", type=count, default=default, metavar="N", help=f"{what}, default: {default}, 0: all")


def body_text(given: str) -> str:
    """Return the text of a --body: the argument itself, or standard input for `-`. Raises UsageError if not text."""
    from memtui.core.inbox.format import MAX_BYTES

    text = given
    if given == "-":
        try:
            text = stdin_bytes(MAX_BYTES).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise UsageError("Standard input is not UTF-8 text.") from error
        if not text.strip():
            raise UsageError("Standard input is empty.", "To leave the text empty, use --body ''.")
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise UsageError("The body is binary, not text.")
    if len(text) > MAX_BYTES:
        raise UsageError("The body is longer than a memory should ever be.", "Put it into a file and name the file.")
    return text
