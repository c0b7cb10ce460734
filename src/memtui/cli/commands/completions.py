"""`memtui completions`: completions for bash, zsh and fish, made from the parser."""

import argparse

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Result

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SHELLS = ("bash", "zsh", "fish")
# Commands and options whose arguments are names of memories, completed by `memtui list --names`.
MEMORY_COMMANDS = ("show", "edit", "rm", "mv", "cp")
MEMORY_OPTIONS = ("--memory", "--into")


def register(commands: "parser.Commands") -> None:
    """Add the command."""
    found = parser.command(
        commands,
        "completions",
        run,
        "print completions for a shell",
        "memtui completions bash > ~/.local/share/bash-completion/completions/memtui\n"
        'memtui completions zsh > "${fpath[1]}/_memtui"\n'
        "memtui completions fish > ~/.config/fish/completions/memtui.fish",
    )
    found.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def run(_: Context, args: argparse.Namespace) -> Result:
    """Print the completions."""
    import shtab

    root = parser.build()
    names = shtab.cmd("memtui list --names 2>/dev/null")
    for command, found in walk("memtui", root):
        for action in found._actions:  # noqa: SLF001  argparse has no public way to walk a parser
            is_name = command in MEMORY_COMMANDS and not action.option_strings and not action.choices
            if action.metavar == "DIR":
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
            elif is_name or any(option in MEMORY_OPTIONS for option in action.option_strings):
                action.complete = names  # type: ignore[attr-defined]
    script = shtab.complete(root, args.shell)
    return Result({"shell": args.shell, "script": script}, lambda out: out.print(script.rstrip("\n")))


def walk(name: str, found: argparse.ArgumentParser) -> "Iterator[tuple[str, argparse.ArgumentParser]]":
    """Yield the name and parser of each command and action, from the top."""
    yield name, found
    for action in found._actions:  # noqa: SLF001
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for each, below in action.choices.items():
                yield from walk(each, below)
