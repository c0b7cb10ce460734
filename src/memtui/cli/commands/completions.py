"""`memtui completions`: for bash, zsh and fish, made from the parser, so that they never lag behind it."""

import argparse

from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Result

SHELLS = ("bash", "zsh", "fish")
# What follows these commands and options is a memory's name: asked of memtui itself.
NAMED = ("show", "edit", "rm", "mv", "cp")
NAMED_OPTIONS = ("--memory", "--into")
NAMES = "memtui list --names 2>/dev/null"


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


class Node:
    """A command: its options as (names, help, choices, nargs), its positional choices, its sub-commands."""

    def __init__(self, name: str, summary: str, found: argparse.ArgumentParser) -> None:
        self.name = name
        self.summary = summary
        self.options: list[tuple[list[str], str, list[str], object]] = []
        self.words: list[str] = []
        self.below: list[Node] = []
        for action in found._actions:  # noqa: SLF001  argparse has no public way to walk a parser
            if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
                helps = {a.dest: a.help or "" for a in action._choices_actions}  # noqa: SLF001
                self.below = [Node(n, helps.get(n, ""), p) for n, p in action.choices.items()]
            elif action.option_strings:
                choices = [str(choice) for choice in action.choices or ()]
                self.options.append((list(action.option_strings), action.help or "", choices, action.nargs))
            elif action.choices:
                self.words = [str(choice) for choice in action.choices]

    def flags(self) -> "list[str]":
        """All option names."""
        return [name for names, *_ in self.options for name in names]


def tree() -> Node:
    """The whole command line."""
    return Node("memtui", "", parser.build())


def run(_: Context, args: argparse.Namespace) -> Result:
    """Print the completions."""
    script = {"bash": bash, "zsh": zsh, "fish": fish}[args.shell](tree())
    return Result({"shell": args.shell, "script": script}, lambda out: out.print(script.rstrip("\n")))


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def bash(root: Node) -> str:
    """A completion function for bash 3.2 and newer."""
    lines = [
        "# bash completion for memtui",
        "_memtui() {",
        "  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= action= word words=",
        '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
        "    case $word in -*) continue ;; esac",
        '    if [ -z "$command" ]; then command=$word; elif [ -z "$action" ]; then action=$word; fi',
        "  done",
        "  case $previous in",
        '    --project) COMPREPLY=($(compgen -d -- "$current")); return ;;',
        f'    {"|".join(NAMED_OPTIONS)}) COMPREPLY=($(compgen -W "$({NAMES})" -- "$current")); return ;;',
        "  esac",
        '  case "$command $action" in',
    ]
    for node in root.below:
        for each in node.below:
            words = " ".join([*each.words, *each.flags()])
            lines.append(f"    {_quote(node.name + ' ' + each.name)}*) words={_quote(words)} ;;")
        words = " ".join([*(each.name for each in node.below), *node.words, *node.flags()])
        if node.name in NAMED:
            lines.append(f'    {_quote(node.name + " ")}*) words={_quote(words)}" $({NAMES})" ;;')
        else:
            lines.append(f"    {_quote(node.name + ' ')}*) words={_quote(words)} ;;")
    top = " ".join([*(node.name for node in root.below), *root.flags()])
    lines += [f"    *) words={_quote(top)} ;;", "  esac", '  case "$command $previous" in']
    for command, node in [("", root), *((node.name, node) for node in root.below)]:
        for each in [node, *(node.below if command else ())]:
            for names, _, choices, _ in each.options:
                if choices:
                    pattern = "|".join(_quote(f"{command} {name}") for name in names)
                    lines.append(f"    {pattern}) words={_quote(' '.join(choices))} ;;")
    lines += ["  esac", '  COMPREPLY=($(compgen -W "$words" -- "$current"))', "}", "complete -F _memtui memtui"]
    return "\n".join(lines) + "\n"


def _described(name: str, text: str) -> str:
    clean = text.replace(":", "\\:").replace("[", "(").replace("]", ")")
    return _quote(f"{name.replace(':', chr(92) + ':')}:{clean}")


def _zsh_arguments(node: Node, indent: str) -> "list[str]":
    """The specs of a command's options and words, for `_arguments`."""
    specs = []
    for names, text, choices, nargs in node.options:
        about = text.replace("[", "(").replace("]", ")").replace("%", "")
        colons = "::" if nargs == "?" else ":"
        rest = f"{colons}value:({' '.join(choices)})" if choices else "" if nargs == 0 else f"{colons}value:_files"
        if names[0] in NAMED_OPTIONS:
            rest = f':memory:(${{(f)"$({NAMES})"}})'
        specs += [_quote(f"{name}[{about}]{rest}") for name in names]
    if node.words:
        specs.append(_quote(f"*:word:({' '.join(node.words)})"))
    elif node.name in NAMED:
        specs.append(_quote(f'*:memory:(${{(f)"$({NAMES})"}})'))
    return [f"{indent}  {spec} \\" for spec in specs]


def zsh(root: Node) -> str:
    """A completion function for zsh."""
    lines = ["#compdef memtui", "_memtui() {", "  local -a commands actions", "  commands=("]
    lines += [f"    {_described(node.name, node.summary)}" for node in root.below]
    lines += ["  )", "  if (( CURRENT == 2 )); then", "    _describe command commands; return", "  fi"]
    lines.append("  case $words[2] in")
    for node in root.below:
        lines.append(f"    {node.name})")
        if node.below:
            actions = " ".join(_described(each.name, each.summary) for each in node.below)
            lines.append(f"      if (( CURRENT == 3 )); then actions=({actions}); _describe action actions; fi")
            lines.append("      case $words[3] in")
            for each in node.below:
                lines += [f"        {each.name})", "          _arguments \\", *_zsh_arguments(each, "          ")]
                lines += ["          && return ;;"]
            lines.append("      esac")
        lines += ["      _arguments \\", *_zsh_arguments(node, "      "), "      && return ;;"]
    lines += ["  esac", "}", '_memtui "$@"']
    return "\n".join(lines) + "\n"


def fish(root: Node) -> str:
    """Completions for fish."""
    lines = ["# fish completion for memtui", "complete -c memtui -f"]
    names = " ".join(node.name for node in root.below)
    first = f"complete -c memtui -n 'not __fish_seen_subcommand_from {names}'"
    lines += [f"{first} -a {node.name} -d {_quote(node.summary)}" for node in root.below]
    for node in root.below:
        here = f"-n '__fish_seen_subcommand_from {node.name}'"
        for each in node.below:
            lines.append(f"complete -c memtui {here} -a {each.name} -d {_quote(each.summary)}")
            below = f"-n '__fish_seen_subcommand_from {node.name}; and __fish_seen_subcommand_from {each.name}'"
            lines += _fish_options(each, below)
        if node.words:
            lines.append(f"complete -c memtui {here} -a {_quote(' '.join(node.words))}")
        if node.name in NAMED:
            lines.append(f"complete -c memtui {here} -a {_quote('(' + NAMES + ')')}")
        lines += _fish_options(node, here)
    return "\n".join(lines) + "\n"


def _fish_options(node: Node, here: str) -> "list[str]":
    lines = []
    for names, text, choices, nargs in node.options:
        spelled = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in names)
        # fish knows no value that may be left out.
        more = "" if nargs in {0, "?"} else f" -x -a {_quote(' '.join(choices))}" if choices else " -r"
        if names[0] in NAMED_OPTIONS:
            more = f" -x -a {_quote('(' + NAMES + ')')}"
        lines.append(f"complete -c memtui {here} {spelled}{more} -d {_quote(text)}")
    return lines
