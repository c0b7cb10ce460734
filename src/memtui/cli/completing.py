"""Completion of command lines: the scripts of `memtui setup completions`, and what they ask the hidden `memtui
--complete` for, which imports only the command that was typed and reads only the list that is asked for.

Where nothing is offered, the shells complete names of files."""

import argparse
import os
import shlex
import sys
from contextlib import suppress
from itertools import islice

from memtui.base.short_ids import short_id
from memtui.cli import parser
from memtui.cli.context import Context
from memtui.cli.output import Output, cut, line

SCRIPTS = {
    "bash": """\
# Completions of memtui for bash.
_memtui() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done < <(memtui --complete bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[:=] ]]; then
        compopt -o nospace 2>/dev/null
    fi
    return 0
}
complete -o default -F _memtui memtui
""",
    "zsh": """\
#compdef memtui
# Completions of memtui for zsh.
_memtui() {
    local line
    local -a found
    while IFS= read -r line; do
        line=${line%$'\\t'}
        found+=("${${line%%$'\\t'*}//:/\\\\:}${${(M)line#*$'\\t'}:+:${line#*$'\\t'}}")
    done < <(memtui --complete zsh "${(Q)words[@]:0:$CURRENT}" 2>/dev/null)
    (( $#found )) || { _files; return }
    _describe -V memtui found
}
if [[ $funcstack[1] == _memtui ]]; then
    _memtui "$@"
else
    compdef _memtui memtui
fi
""",
    "fish": """\
# Completions of memtui for fish.
function __memtui_complete
    set -l words (commandline -opc) (commandline -ct | string unescape 2>/dev/null; or commandline -ct)
    set -l found (memtui --complete fish $words 2>/dev/null)
    if set -q found[1]
        string join \\n -- $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c memtui -f -k -a '(__memtui_complete)'
""",
}
NEWEST = 50  # ids of deliveries, sessions and changes that are offered
TITLE = 60  # columns of a description
SPECIAL = set(" \t\n\\'\"`$&|;<>()[]{}*?!#~")
END = "\x1f"  # marks the end of what was typed
# The words or options of a command -> what they can be; the command is empty where it does not matter.
SOURCES = {
    ("", "--scope"): "scopes",
    ("", "--type"): "types",
    ("", "--memory"): "memories",
    ("", "--into"): "memories",
    ("", "--session"): "sessions",
    ("note", "--withdraw"): "notes",
    ("note", "--again"): "notes",
    ("show", "name"): "memories",
    ("history", "names"): "memories trash",
    ("check", "--apart"): "memories",
    ("edit", "names"): "memories waiting",
    ("rm", "names"): "memories",
    ("mv", "names"): "memories",
    ("trust", "names"): "memories",
    ("undo", "id"): "changes",
    ("approve", "ids"): "waiting changed",
    ("reject", "ids"): "waiting changed",
    ("inbox", "id"): "waiting changed",
    ("activity", "id"): "deliveries sessions",
}

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Offered = tuple[str, str]  # a word, and what it is


def main(argv: "list[str]", env: "Mapping[str, str]") -> int:
    """Print what fits the last word: `SHELL WORD…` for zsh and fish, `bash LINE BREAKS` for bash. Returns 0."""
    with suppress(Exception):  # a shell in the middle of a line is no place for errors
        if argv[0] == "bash":
            sys.stdout.write(_for_bash(argv[1], argv[2], dict(env)))
        else:
            sys.stdout.write("".join(f"{word}\t{about}\n" for word, about in offered(argv[1:], dict(env))))
        sys.stdout.flush()
    return 0


def _for_bash(typed: str, breaks: str, env: "dict[str, str]") -> str:
    """Return what bash puts in place of its last word, a line each. Bash ends words at `breaks`, such as `:`."""
    words, quote = split(typed)
    last = escaped(words[-1])
    skip = 0 if quote else max((last.rfind(other) + 1 for other in breaks if other not in " \t\n\"'"), default=0)
    return "".join((word if quote else escaped(word))[skip:] + "\n" for word, _ in offered(words, env))


def escaped(word: str) -> str:
    """Write a word as a shell reads it."""
    return "".join("\\" + char if char in SPECIAL else char for char in word)


def split(typed: str) -> "tuple[list[str], str]":
    """Split what was typed into words, as a shell would, the last empty behind a blank; also return the open quote."""
    for quote in ("", "'", '"'):
        with suppress(ValueError):  # another quote is open
            *words, last = shlex.split(typed + END + quote)
            return [*words, last.removesuffix(END)], quote
    return [""], ""


def offered(words: "list[str]", env: "dict[str, str]") -> "list[Offered]":
    """Return what fits the last of the words, each with its description; the first word is `memtui` itself."""
    *before, last = words[1:]
    if before[:1] == ["help"]:
        before = before[1:]
    name = parser.command_word(before)
    if name is None and not last.startswith("-") and not (before and before[-1] in parser.WITH_VALUE):
        about = dict(actions_of(next(filter(_has_actions, parser.build()._actions))))  # noqa: SLF001
        commands = [(name, about[name]) for name in parser.COMMANDS]
        return _fitting([*commands, ("help", "the options of a command, and an example")], last)
    if name in parser.ALIASES:
        before[before.index(name)] = name = parser.ALIASES[name]
    if name is not None and name not in parser.COMMANDS:
        return []
    option: argparse.Action | None = None
    current: argparse.ArgumentParser = parser.build(name)
    path: list[str] = []  # the command and its action
    count, options, seen = 0, True, set()
    for word in before:
        if option is not None and not (option.nargs == "?" and word.startswith("-")):
            option = None
        elif word == "--":
            options = False
        elif word.startswith("-") and options:
            written, equals, _ = word.partition("=")
            seen.add(written)
            option = current._option_string_actions.get(written)  # noqa: SLF001  argparse has no public way
            if option is not None and (option.nargs == 0 or equals):
                option = None
        elif count == 0 and word in (below := _actions(current)):
            current, path = below[word], [*path, word]
        else:
            count += 1
    if option is None and last.startswith("-") and options:
        unused = (
            (action.option_strings[-1], action.help or "")
            for action in current._actions  # noqa: SLF001
            if action.option_strings
            and (isinstance(action, argparse._AppendAction) or not seen & {*action.option_strings})  # noqa: SLF001
        )
        return _fitting(unused, last)
    places = [action for action in current._actions if not action.option_strings]  # noqa: SLF001
    if option is None and places:
        several = places[-1] if places[-1].nargs in {"*", "+"} else None
        option = places[count] if count < len(places) else several
    return [] if option is None else _fitting(_values(path, option, before, env), last)


def _actions(current: argparse.ArgumentParser) -> "dict[str, argparse.ArgumentParser]":
    return next((action.choices for action in current._actions if isinstance(action, argparse._SubParsersAction)), {})  # noqa: SLF001


def _has_actions(action: argparse.Action) -> bool:
    return isinstance(action, argparse._SubParsersAction)  # noqa: SLF001


def actions_of(commands: "argparse.Action") -> "list[Offered]":
    """List the commands, or the actions of one, each with its summary."""
    about = {action.dest: action.help or "" for action in commands._choices_actions}  # type: ignore[attr-defined]  # noqa: SLF001
    return [(name, about.get(name, "")) for name in commands.choices or ()]


def _fitting(values: "Iterable[Offered]", beginning: str) -> "list[Offered]":
    """Return what begins so, each once, with descriptions of one line."""
    unique: dict[str, str] = {}
    for word, about in values:
        if word.startswith(beginning) and line(word) == word:
            unique.setdefault(word, cut(line(about), TITLE))
    return list(unique.items())


def _values(
    path: "list[str]", action: argparse.Action, before: "list[str]", env: "dict[str, str]"
) -> "Iterable[Offered]":
    """List the values of an option or a word of the command `path`; nothing where anything can be given. `before`: the
    words that were typed so far. Raises MemtuiError, OSError."""
    name = action.option_strings[-1] if action.option_strings else action.dest
    if _has_actions(action):
        return actions_of(action)
    if name == "value" and path == ["config", "set"]:
        return _setting_values(before[-1])
    if action.choices:
        return [(str(value), "") for value in action.choices]
    kinds = SOURCES.get((" ".join(path), name)) or SOURCES.get(("", name)) or ""
    project = next((before[at + 1] for at, word in enumerate(before[:-1]) if word == "--project"), None)
    ctx = Context(env, Output({}), project)
    typed = set(before) if action.nargs in {"*", "+"} else set()
    return (value for kind in kinds.split() for value in _present(ctx, kind) if value[0] not in typed)


def _setting_values(key: str) -> "list[Offered]":
    from memtui.settings import config

    default = config.DEFAULTS.get(key)
    text = str(default).lower() if isinstance(default, bool) else default
    values = config.CHOICES.get(key) or (("true", "false") if isinstance(default, bool) else ())
    return [(value, "default" if value == text else "") for value in values]


def _present(ctx: Context, kind: str) -> "Iterator[Offered]":
    """Yield what there is of a kind at the moment."""
    if kind in {"memories", "scopes"}:
        from memtui.store import scopes

        for scope in scopes.discover(ctx.env, ctx.cwd):
            if kind == "scopes":
                yield scope.label, ctx.tilde(scope.directory)
                continue
            for name, _ in sorted(scopes.files(scope), key=lambda pair: pair[0].lower()):
                yield os.path.basename(name).removesuffix(".md"), scope.label
    elif kind == "types":
        from memtui.store.memory import TYPES

        yield from ((each, "") for each in TYPES)
    elif kind in {"waiting", "notes"}:
        for item in ctx.waiting(("guidance",) if kind == "notes" else None, every=True):
            yield short_id(item.id), item.text.partition("\n")[0]
    elif kind == "changed":
        from memtui.views import changed

        yield from ((each.name, changed.by(each)) for each in ctx.changed())
    elif kind == "changes":
        yield from ((short_id(each.id), each.summary) for each in ctx.journal().ledger().changes()[:NEWEST])
    elif kind == "trash":
        yield from ((each.memory.stem, each.memory.description) for each in ctx.store().trash())
    else:
        yield from _delivered(ctx, kind)


def _delivered(ctx: Context, kind: str) -> "Iterator[Offered]":
    """Yield the newest deliveries that `memtui activity` lists, or the sessions of the newest."""
    from memtui.base import clock
    from memtui.base.phrasing import ago
    from memtui.client.transcripts import titles, transcript
    from memtui.deliver import log, sessions
    from memtui.deliver.filter import Filter
    from memtui.deliver.record import Delivery
    from memtui.views.deliveries import in_short

    records = list(islice(log.newest_first(ctx.root), NEWEST))
    if kind == "deliveries":
        for delivery in filter(Filter().matches, map(Delivery.of, records)):
            yield short_id(delivery.id), f"{ago(delivery.time or None, ctx.now())}: {in_short(delivery.contents)}"
        return
    finder = transcript.Finder(ctx.config_dir)
    for session in sessions.collect(ctx.root, records)[:NEWEST]:
        when = ago(clock.parse(session.last), ctx.now())
        yield session.id[:8], f"{when}: {titles.about(finder.find(session.id)).title}"
