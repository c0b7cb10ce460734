"""Memories that forbid commands, by their field `forbids`, compared with what a shell is about to run. Hot path.

`recall/forbidden` under the data root lists them (recall/places.py). A command is forbidden by its first word, without
its directory, and by further words and options that follow in the same order: `git push --force` also forbids `git push
origin --force`, and nothing that `git push` alone does."""

from memtui.base import fastjson
from memtui.recall import places

FILE = "recall/forbidden"
# What stands between the commands of a shell's line, and words before a command that are none.
SEPARATORS = ";|&(){}`"
WRAPPERS = ("sudo", "env", "time", "exec", "command", "nohup", "xargs", "if", "then", "else", "do", "while", "!")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memtui.recall.path_bindings import Bound, Place


def matching(root: str, where: "Sequence[Place]", line: str) -> "list[Bound]":
    """List the memories of some places that forbid a command of a shell's line, with why."""
    matches = []
    rows_by_place = places.listed(root, FILE)
    commands = commands_of(line)
    for scope, directory in where:
        for file, forbidden in fastjson.table(rows_by_place, directory).items():
            for row in forbidden if isinstance(forbidden, list) else []:
                if any(runs(words, str(row)) for words in commands):
                    matches.append((scope, directory, file, str(row)))
                    break
    return matches


def commands_of(line: str) -> "list[list[str]]":
    """Split a shell's line into the words of its commands, without what only precedes a command. Roughly: what follows
    a separator in a quoted text is taken for a command, too."""
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
