"""The parser of the command line. It imports only the module of the command that was called."""

import argparse
import os
import re
import sys
from functools import cache
from importlib import import_module
from types import MappingProxyType

import memtui
from memtui.base import word_lists
from memtui.base.errors import UsageError, close_to
from memtui.cli.output import terminal_columns

# The commands by group, in the order of `memtui --help`; behind `=` the module under memtui.cli.commands, where that
# has another name.
GROUPS = {
    group: {name: module or name for name, _, module in (word.partition("=") for word in words.split())}
    for group, words in {
        "see": "list show=list search=list recall=list activity status",
        "decide": "inbox=decide approve=decide reject=decide",
        "change": "new=edit edit mv=change rm=change history=change undo=change note",
        "tidy": "check=tidy consolidate=tidy",
        "bring": "import=transfer export=transfer",
        "set up": "setup config trust doctor=setup model sync demo",
    }.items()
}
COMMANDS = {name: module for group in GROUPS.values() for name, module in group.items()}
HIDDEN = {"statusline": "statusline", "merge-driver": "merge_driver"}  # what files call that memtui has written
ALIASES = {"guide": "note"}
# Words of other tools.
ELSEWHERE = {
    "install": "setup hooks",
    "uninstall": "setup hooks --remove",
    "add": "new",
    "delete": "rm",
    "redo": "undo --redo",
    "completion": "setup completions",
    "version": "--version",
}
LONG_CHOICES = 44  # characters of choices from which on the usage has a word for them
SCREENS = ("memories", "inbox", "activity", "setup")
EVERYWHERE = {"help", "json", "debug", "project"}  # the options of all commands, which no usage repeats
WITH_VALUE = ("--project", "--screen")  # options that may stand before the command, and take the next word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, NoReturn

    from memtui.cli.context import Context
    from memtui.cli.output import Result

    Options = argparse._ActionsContainer  # noqa: SLF001  argparse has no public name for it
    Run = Callable[["Context", argparse.Namespace], "Result"]
    More = Mapping[str, dict[str, Any]]
    Commands = argparse._SubParsersAction["Parser"]  # noqa: SLF001  argparse has no public name for it

# How argparse says what is wrong, and how a person would.
ARGPARSE_WORDS = {
    "the following arguments are required:": "give",
    ": expected one argument": " needs a value",
    ": not allowed with argument ": " does not go with ",
    "argument ": "",
}


class Parser(argparse.ArgumentParser):
    """A parser that raises UsageError, where argparse would print and exit."""

    def __init__(self, **options: "Any") -> None:
        super().__init__(**{"formatter_class": _Formatter, "allow_abbrev": False, **options})
        self._positionals.title = "arguments"

    def error(self, message: str) -> "NoReturn":
        for words, better in ARGPARSE_WORDS.items():
            message = message.replace(words, better)
        raise UsageError(message[:1].upper() + message[1:] + ".", f"See `{self.prog} --help`.")

    def _check_value(self, action: argparse.Action, value: "Any") -> None:
        if action.choices is None or value in action.choices:
            return
        names, more = ", ".join(map(str, action.choices)), f"See `{self.prog} --help`."
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            close = close_to(value, action.choices, 3)
            hint = f"Did you mean `{self.prog} {close[0]}`? " if close else ""
            raise UsageError(f"`{self.prog}` has no “{value}”, only: {names}.", hint + more)
        if action.dest == "key":  # settings are too many to list
            hint = _did_you_mean(close_to(value, action.choices, 3))
            raise UsageError(f"There is no setting “{value}”.", f"{hint}`memtui config list` lists them.")
        name = action.option_strings[-1] if action.option_strings else action.metavar or "The argument"
        raise UsageError(f"{name} must be one of {names}, not “{value}”.", more)


class _Root(Parser):
    """The parser of the whole command line. Its help lists the commands by group."""

    def format_help(self) -> str:
        import textwrap

        commands = next((action for action in self._actions if isinstance(action, argparse._SubParsersAction)), None)  # noqa: SLF001
        if commands is None:
            return super().format_help()
        about = {action.dest: action.help or "" for action in commands._choices_actions}  # noqa: SLF001
        lines = [str(self.description), "", "usage: memtui [COMMAND] [OPTION…]"]
        for group, names in GROUPS.items():
            lines += ["", group, *(f"  {name:<13}{about[name]}" for name in names)]
        lines += ["", "options"]
        for action in self._actions:
            if action.option_strings and action.dest != "debug":
                name = action.option_strings[-1] + (f" {action.metavar}" if action.metavar else "")
                lines.append(
                    textwrap.fill(str(action.help), 78, initial_indent=f"  {name:<16}", subsequent_indent=" " * 18)
                )
        return "\n".join([*lines, "", "examples", "  " + _sections()["examples"], "", str(self.epilog), ""])


class _Formatter(argparse.HelpFormatter):
    """A formatter that wraps prose, and leaves examples and the table of exit codes as they are."""

    def __init__(self, prog: str, **options: "Any") -> None:
        # argparse makes a formatter for every option that is added, and would import shutil to find the width.
        super().__init__(prog, **{"width": (terminal_columns(os.environ) or 80) - 2, **options})

    def add_usage(self, usage: "Any", actions: "Any", groups: "Any", prefix: "Any" = None) -> None:
        super().add_usage(usage, [action for action in actions if action.dest not in EVERYWHERE], groups, prefix)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith("example") else super()._fill_text(text, width, indent)


def _add_common(parser: Parser) -> None:
    """Add the options that every command has. They may stand before the command or after it."""
    group = parser.add_argument_group("everywhere")
    for name, about in (("--json", "print JSON"), ("--debug", "show where an error came from")):
        group.add_argument(name, action="store_true", default=argparse.SUPPRESS, help=about)
    about = "the project of DIR, not of the current directory"
    group.add_argument("--project", metavar="DIR", default=argparse.SUPPRESS, help=about)


_NAME = re.compile(r"\{(\w+)\}")
# Of the modules that were imported: functions, each with the name of its command, options of arguments, and facts.
USAGES: "list[tuple[Run, str, More, dict[str, object]]]" = []


def command(path: str, more: "More" = MappingProxyType({}), **facts: object) -> "Callable[[Run], Run]":
    """Make a function the command of that path in commands.txt. `facts` fill names in its help, `more` has what
    argparse gets besides, by the name of the argument."""

    def add(run: "Run") -> "Run":
        USAGES.append((run, path, more, facts))
        return run

    return add


@cache
def _sections() -> "dict[str, str]":
    return word_lists.read(os.path.dirname(__file__) + "/commands.txt")


def _text(name: str, facts: "Mapping[str, object]") -> str:
    """Return a fact, or a section of commands.txt in which each name in braces is replaced in the same way."""
    return str(facts[name]) if name in facts else _NAME.sub(lambda match: _text(match[1], facts), _sections()[name])


def _add(commands: "Commands", run: "Run", path: str, more: "More", facts: "Mapping[str, object]") -> None:
    summary, *lines = _text(path, facts).replace("\n    ", " ").splitlines()
    examples = [row for row in lines if row.startswith("  ")]
    others = [row for row in lines if not row.startswith("  ")]
    prose = [row for row in others if " |" not in row and not row.endswith(":")]
    above, _, name = path.rpartition(" ")
    parser = (_actions(commands.choices[above]) if above else commands).add_parser(
        name,
        help=summary,
        description=" ".join([f"{summary[:1].upper()}{summary[1:]}.", *prose]),
        epilog="\n".join([f"example{'s' * (len(examples) > 1)}:", *examples]),
    )
    parser.set_defaults(run=run)
    _add_common(parser)
    group: Options = parser
    exclusive: Options | None = None
    for row in others:
        form, is_argument, about = row.partition(" |")
        if is_argument and form.startswith("/ "):
            exclusive = exclusive or group.add_mutually_exclusive_group()
            _add_argument(exclusive, form[2:], about.strip(), more)
        elif is_argument:
            _add_argument(group, form, about.strip(), more)
        elif row.endswith(":"):
            group, exclusive = parser.add_argument_group(row[:-1]), None


# An argument: where it goes, its option, its value (in brackets, if it may be missing), and the default.
ARGUMENT = re.compile(r"(?:(\w+)=)?(--[\w-]+)? ?(\[?)([^.\]]*?)(\.\.\.)?\]?(?:=([a-z0-9]+))?")


def _add_argument(group: "Options", form: str, about: str, more: "More") -> None:
    match = ARGUMENT.fullmatch(form)
    assert match is not None, form
    dest, option, may_miss, value, is_repeated, default = match.groups()
    names = value.split()
    options: dict[str, Any] = {"help": about or (argparse.SUPPRESS if option else None)}
    if value.islower():
        options["choices"] = value.split("|")
        if len(value) > LONG_CHOICES:
            options["metavar"] = "NAME"
    elif names:
        options["metavar"] = names[0] if len(names) == 1 else tuple(names)
        options["type"] = count if value == "N" else None
    if default:
        options["default"] = default
    if option and is_repeated:
        options |= {"action": "append", "default": []}
    elif option and may_miss:
        options |= {"nargs": "?", "const": True}
    elif may_miss or is_repeated:
        options["nargs"] = "*" if may_miss and is_repeated else "+" if is_repeated else "?"
    elif len(names) > 1:
        options["nargs"] = len(names)
    elif option and not names:
        options["action"] = "store_true"
    if option and dest:
        options["dest"] = dest
    name = option or dest or value.lower()
    group.add_argument(name, **{**options, **more.get(name.removeprefix("--"), {})})


def _actions(parser: Parser) -> "Commands":
    """Return where the actions of a command are added. Without an action the command lists."""
    for action in parser._actions:  # noqa: SLF001  argparse has no public way
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            return action
    return parser.add_subparsers(title="actions", dest="action", parser_class=Parser, metavar="[ACTION]")


def build(only: "str | None" = None) -> Parser:
    parser = _without_commands(tui_options=only is None)
    commands: Commands = parser.add_subparsers(
        title="commands", dest="command", metavar="COMMAND", parser_class=Parser, required=False, prog="memtui"
    )
    modules = dict.fromkeys(COMMANDS.values()) if only is None else [{**COMMANDS, **HIDDEN}[only]]
    for name in modules:
        module = import_module("memtui.cli.commands." + name)
        for usage in USAGES:
            if usage[0].__module__ == module.__name__:
                _add(commands, *usage)
    return parser


def walk(name: str, argument_parser: argparse.ArgumentParser) -> "Iterator[tuple[str, argparse.ArgumentParser]]":
    """Yield the name and parser of each command and action, from the top."""
    yield name, argument_parser
    for action in argument_parser._actions:  # noqa: SLF001  argparse has no public way to walk a parser
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for word, below in action.choices.items():
                yield from walk(word, below)


def _without_commands(*, tui_options: bool) -> Parser:
    parser = _Root(
        prog="memtui",
        description="Review what Claude Code remembers, and send notes to it.",
        epilog="`memtui help COMMAND` explains a command, with an example.",
    )
    version = f"memtui {memtui.__version__}"
    parser.add_argument("-V", "--version", action="version", version=version, help="print the version")
    if tui_options:
        parser.add_argument("--read-only", action="store_true", help="open the TUI to look, and change nothing")
        about = "open the TUI on this screen: " + ", ".join(SCREENS)
        parser.add_argument("--screen", choices=SCREENS, help=about, metavar="NAME")
    _add_common(parser)
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


def _did_you_mean(close: "list[str]") -> str:
    return f"Did you mean {' or '.join(close)}? " if close else ""


def _takes_no(words: str, rest: "list[str]", parser: argparse.ArgumentParser) -> UsageError:
    options = parser._option_string_actions  # noqa: SLF001  argparse has no public way
    option = next((word.partition("=")[0] for word in rest if word.startswith("-")), "")
    word = "expires" if option == "--until" else option.lstrip("-")
    names = close_to(word, [name[2:] for name in options if name.startswith("--")], 3)
    hint = _did_you_mean([f"--{name}" for name in names])
    what = option or " ".join(f"“{word}”" for word in rest)
    return UsageError(f"`memtui {words}` takes no {what}.", f"{hint}See `memtui {words} --help`.")


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
    if name in ALIASES:
        argv = [*before, ALIASES[name], *argv[len(before) + 1 :]]
        name = ALIASES[name]
    if name not in COMMANDS and name not in HIDDEN:
        hint = _did_you_mean([ELSEWHERE[name]] if name in ELSEWHERE else close_to(name, COMMANDS, 3))
        raise UsageError(f"There is no command “{name}”.", f"{hint}`memtui --help` lists them.")
    if any(word.partition("=")[0] in {"--screen", "--read-only"} for word in before):
        raise UsageError("--screen and --read-only are for the TUI, without a command.", "See `memtui --help`.")
    root = build(name)
    namespace, rest = root.parse_known_args(argv, argparse.Namespace(command=None))
    if rest:
        action = getattr(namespace, "action", None)
        words = f"{name} {action}" if action in argv else name
        parsers = dict(walk("", root))
        raise _takes_no(words, rest, parsers.get(words.rpartition(" ")[2], parsers[name]))
    return namespace


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


def body_text(given: str) -> str:
    """Return the text of a --body: the argument itself, or standard input for `-`. Raises UsageError if not text."""
    from memtui.inbox.format_hot import MAX_BYTES

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
