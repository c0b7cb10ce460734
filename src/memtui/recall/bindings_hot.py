"""Memories that a tool brings: bound to paths that it touches, or forbidding a command that it runs. Hot path.

Two files under the data root list them, by directory and file, with the values of their fields `paths` and `forbids`,
and a third those with checks of their own. A worker writes these (worker/index_updates.py); where no memory has any
there is no such file. A command is forbidden by its first word, without its directory, and by further words and options
that follow in the same order: `git push --force` also forbids `git push origin --force`, and nothing that `git push`
alone does."""

from memtui.base import fastjson_hot, fs_hot, globs_hot

PATHS, FORBIDDEN, CHECKS = "recall/paths", "recall/forbidden", "recall/checks"
PINNED = "recall/pinned"
VERSION = 1
# What stands between the commands of a shell's line, and words before a command that are none.
SEPARATORS = ";|&(){}`"
WRAPPERS = ("sudo", "env", "time", "exec", "command", "nohup", "xargs", "if", "then", "else", "do", "while", "!")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    # (scope, directory); a bound memory has also its file there, and why it is given.
    Place = tuple[str, str]
    Bound = tuple[str, str, str, str]


def of_paths(root: str, where: "Sequence[Place]", touched: "Sequence[str]", project_root: str) -> "list[Bound]":
    """List the memories of some places that are bound to any of the paths `touched`, with why."""
    fits = lambda glob: any(globs_hot.matches(glob, path, project_root) for path in touched)
    bound = _matching(root, PATHS, where, fits)
    return [(scope, directory, file, f"bound to {glob}") for scope, directory, file, glob in bound]


def of_command(root: str, where: "Sequence[Place]", line: str) -> "list[Bound]":
    """List the memories of some places that forbid a command of a shell's line, with what they forbid."""
    commands = commands_of(line)
    return _matching(root, FORBIDDEN, where, lambda forbidden: any(runs(words, forbidden) for words in commands))


def pinned(root: str, where: "Sequence[Place]") -> "list[Bound]":
    """List the memories of some places that every session begins with."""
    return _matching(root, PINNED, where, bool)


def _matching(root: str, name: str, where: "Sequence[Place]", fits: "Callable[[str], bool]") -> "list[Bound]":
    """List the memories of which a value fits, each with the first one."""
    bound = []
    rows_by_place = listed(root, name)
    for scope, directory in where:
        rows = fastjson_hot.table(rows_by_place, directory)
        for file in rows:
            for value in fastjson_hot.rows(rows, file):
                if fits(str(value)):
                    bound.append((scope, directory, file, str(value)))
                    break
    return bound


def listed(root: str, file: str) -> "dict[str, object]":
    """Return what a file under the data root lists, by directory; `{}` if it lists nothing or can't be read."""
    try:
        table = fastjson_hot.loads_dict(fs_hot.read(f"{root}/{file}", "cache"))
    except OSError:
        return {}
    return fastjson_hot.table(table, "dirs") if table.get("v") == VERSION else {}


def commands_of(line: str) -> "list[list[str]]":
    """Split a shell's line roughly into the words of its commands, without what only precedes a command."""
    for separator in SEPARATORS:
        line = line.replace(separator, "\n")
    commands = []
    for part in line.split("\n"):
        words = [_unquoted(word) for word in part.split()]
        while words and (words[0] in WRAPPERS or _is_assignment(words[0])):
            del words[0]
        if words:
            words[0] = words[0][words[0].rfind("/") + 1 :]
            commands.append(words)
    return commands


def _unquoted(word: str) -> str:
    return word[1:-1] if word[:1] in "\"'" and word[:1] == word[-1:] else word


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.replace("_", "a").isalnum()


def runs(words: "Sequence[str]", forbidden: str) -> bool:
    """Tell whether a command, in words, is a forbidden one."""
    first, *further = forbidden.split() or [""]
    if not first or words[0] != first:
        return False
    at = 1
    for word in further:
        while at < len(words) and words[at] != word:
            at += 1
        at += 1
    return at <= len(words)
