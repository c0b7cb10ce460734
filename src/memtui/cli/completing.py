"""What a shell offers for the word that is being typed: the hidden `memtui --complete`, which the scripts of
`memtui setup completions` call.

It imports the parser of the command that was typed, and reads no more than the list that is asked for.
"""

import argparse
import os
import shlex
import sys

from memtui.cli import parser
from memtui.cli.output import cut, line

# Printed instead of words where the shell completes directories by itself.
DIRECTORIES = ":directories"
TITLE = 60  # columns of a description
SPECIAL = set(" \t\n\\'\"`$&|;<>()[]{}*?!#~")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memtui.cli.candidates import Offered


def main(argv: "list[str]", env: "Mapping[str, str] | None" = None) -> int:
    """Print what fits the last word: `SHELL WORD…` for zsh and fish, `bash LINE POINT BREAKS` for bash. Returns 0."""
    try:
        shell, words = argv[0], argv[1:]
        if shell == "bash":
            text = _for_bash(words[0][: int(words[1])], words[2], dict(env or os.environ))
        else:
            text = "".join(f"{word}\t{about}\n" for word, about in offered(words, dict(env or os.environ)))
        sys.stdout.write(text)
        sys.stdout.flush()
    except Exception:  # a shell in the middle of a line is no place for errors
        return 0
    return 0


def offered(words: "list[str]", env: "dict[str, str]") -> "list[Offered]":
    """Return what fits the last of the words, each with its description; the first word is `memtui` itself."""
    *before, last = words[1:]
    if before[:1] == ["help"]:
        before = before[1:]
    name = parser.command_word(before)
    if name is None and not last.startswith("-") and not (before and before[-1] in parser.WITH_VALUE):
        return _fitting(_commands(), last)
    if name in parser.ALIASES:
        before[before.index(name)] = name = parser.ALIASES[name]
    if name is not None and name not in parser.COMMANDS:
        return []
    place = WordPlace(parser.build(name), before)
    if place.option is None and last.startswith("-") and not place.only_words:
        option, equals, value = last.partition("=")
        action = place.parser._option_string_actions.get(option) if equals else None  # noqa: SLF001
        if action is not None:
            return [(f"{option}={word}", about) for word, about in _fitting(_values(place, action, before, env), value)]
        return _fitting(place.options(), last)
    action = place.option or place.next_word()
    return [] if action is None else _fitting(_values(place, action, before, env), last)


class WordPlace:
    """Where a command line has come to: the parser of its command or action, the option whose value is next, if any,
    and how many words it has."""

    def __init__(self, root: argparse.ArgumentParser, words: "list[str]") -> None:
        self.parser = root
        self.path: list[str] = []  # the command and its action
        self.option: argparse.Action | None = None
        self.count = 0
        self.only_words = False  # behind `--`
        self.seen: set[str] = set()
        for word in words:
            self._pass(word)

    def _pass(self, word: str) -> None:
        if self.option is not None:
            optional = self.option.nargs == "?" and word.startswith("-")
            self.option = None
            if not optional:
                return
        if word == "--":
            self.only_words = True
        elif word.startswith("-") and not self.only_words:
            option, equals, _ = word.partition("=")
            action = self.parser._option_string_actions.get(option)  # noqa: SLF001  argparse has no public way
            self.seen.add(option)
            if action is not None and action.nargs != 0 and not equals:
                self.option = action
        else:
            below = next((each for each in self._words() if isinstance(each, argparse._SubParsersAction)), None)  # noqa: SLF001
            if below is not None and self.count == 0 and word in below.choices:
                self.parser = below.choices[word]
                self.path.append(word)
            else:
                self.count += 1

    def _words(self) -> "list[argparse.Action]":
        return [each for each in self.parser._actions if not each.option_strings]  # noqa: SLF001

    def next_word(self) -> "argparse.Action | None":
        """Return what the next word is; None if no word comes here."""
        every = self._words()
        if self.count < len(every):
            return every[self.count]
        return every[-1] if every and every[-1].nargs in {"*", "+"} else None

    def options(self) -> "list[Offered]":
        """List the options that are not given yet."""
        return [
            (action.option_strings[-1], action.help or "")
            for action in self.parser._actions  # noqa: SLF001
            if action.option_strings
            and (isinstance(action, argparse._AppendAction) or not self.seen & set(action.option_strings))  # noqa: SLF001
        ]


def _commands() -> "list[Offered]":
    from memtui.cli.candidates import actions_of

    root = parser.build()
    commands = next(each for each in root._actions if isinstance(each, argparse._SubParsersAction))  # noqa: SLF001
    about = dict(actions_of(commands))
    return [*((name, about[name]) for name in parser.COMMANDS), ("help", "the options of a command, and an example")]


def _values(
    place: WordPlace, action: argparse.Action, before: "list[str]", env: "dict[str, str]"
) -> "Iterable[Offered]":
    """List the values of an option or a word."""
    from memtui.cli import candidates

    if action.metavar == "DIR":
        return [(DIRECTORIES, "")]
    typed = set(before) if action.nargs in {"*", "+"} else set()
    return [each for each in candidates.of(place.path, action, before, env) if each[0] not in typed]


def _fitting(values: "Iterable[Offered]", beginning: str) -> "list[Offered]":
    """Return what begins so, each once, with descriptions of one line."""
    unique: dict[str, str] = {}
    for word, about in values:
        if (word.startswith(beginning) or word == DIRECTORIES) and line(word) == word:
            unique.setdefault(word, cut(line(about), TITLE))
    return list(unique.items())


def _for_bash(typed: str, breaks: str, env: "dict[str, str]") -> str:
    """Return what bash puts in place of its last word, a line each. Bash ends words at `breaks`, such as `:`."""
    words, quote = split(typed)
    fitting = offered(words, env)
    if fitting and fitting[0][0] == DIRECTORIES:
        return DIRECTORIES + "\n"
    last = escaped(words[-1])
    skip = 0 if quote else max((last.rfind(each) + 1 for each in breaks if each not in " \t\n\"'"), default=0)
    return "".join((word if quote else escaped(word))[skip:] + "\n" for word, _ in fitting)


def escaped(word: str) -> str:
    """Write a word as a shell reads it."""
    return "".join("\\" + char if char in SPECIAL else char for char in word)


def split(typed: str) -> "tuple[list[str], str]":
    """Split what was typed into words, as a shell would; also return the quote that is open. The last word is empty
    behind a blank."""
    for quote in ("", "'", '"'):
        try:
            words = shlex.split(typed + quote)
        except ValueError:  # a quote is open
            continue
        behind_blank = not quote and typed[-1:].isspace() and not typed.endswith("\\ ")
        return ([*words, ""] if behind_blank or not words else words), quote
    return [*shlex.split(typed[:-1]), ""], ""  # a backslash at the end
