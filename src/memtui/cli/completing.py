"""What a shell offers for the word that is being typed: the hidden `memtui --complete`, which the scripts of
`memtui setup completions` call.

It imports the parser of the command that was typed, and reads no more than the list that is asked for.
"""

import argparse
import os
import sys

from memtui.cli import parser
from memtui.cli.output import line

OPTION = "--complete"
# Printed instead of words where the shell completes directories by itself.
DIRECTORIES = ":directories"
TITLE = 60  # columns of a description
SPECIAL = set(" \t\n\\'\"`$&|;<>()[]{}*?!#~")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from memtui.cli.candidates import Found


def main(argv: "list[str]", env: "Mapping[str, str] | None" = None) -> int:
    """Print what fits the last word: `SHELL WORD…` for zsh and fish, `bash LINE POINT BREAKS` for bash. Returns 0."""
    try:
        shell, given = argv[0], argv[1:]
        if shell == "bash":
            text = _for_bash(given[0][: int(given[1])], given[2], dict(env or os.environ))
        else:
            text = "".join(f"{word}\t{about}\n" for word, about in offered(given, dict(env or os.environ)))
        sys.stdout.write(text)
        sys.stdout.flush()
    except Exception:  # a shell in the middle of a line is no place for errors
        return 0
    return 0


def offered(words: "list[str]", env: "dict[str, str]") -> "list[Found]":
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
            found = _fitting(_values(place, action, before, env), value)
            return [(f"{option}={word}", about) for word, about in found]
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
            below = self._commands()
            if below is not None and self.count == 0 and word in below.choices:
                self.parser = below.choices[word]
                self.path.append(word)
            else:
                self.count += 1

    def _words(self) -> "list[argparse.Action]":
        return [each for each in self.parser._actions if not each.option_strings]  # noqa: SLF001

    def _commands(self) -> "argparse._SubParsersAction[argparse.ArgumentParser] | None":
        return next((each for each in self._words() if isinstance(each, argparse._SubParsersAction)), None)  # noqa: SLF001

    def next_word(self) -> "argparse.Action | None":
        """Return what the next word is; None if no word comes here."""
        every = self._words()
        if self.count < len(every):
            return every[self.count]
        return every[-1] if every and every[-1].nargs in {"*", "+"} else None

    def options(self) -> "list[Found]":
        """List the options that are not given yet."""
        found = []
        for action in self.parser._actions:  # noqa: SLF001
            given = self.seen & set(action.option_strings)
            if action.option_strings and (not given or isinstance(action, argparse._AppendAction)):  # noqa: SLF001
                found.append((action.option_strings[-1], action.help or ""))
        return found


def _commands() -> "list[Found]":
    from memtui.cli.candidates import actions_of

    root = parser.build()
    found = next(each for each in root._actions if isinstance(each, argparse._SubParsersAction))  # noqa: SLF001
    about = dict(actions_of(found))
    return [*((name, about[name]) for name in parser.COMMANDS), ("help", "the options of a command, and an example")]


def _values(place: WordPlace, action: argparse.Action, before: "list[str]", env: "dict[str, str]") -> "Iterable[Found]":
    """List the values of an option or a word."""
    from memtui.cli import candidates

    if action.metavar == "DIR":
        return [(DIRECTORIES, "")]
    found = candidates.of(place.path, action, before, env)
    given = set(before) if action.nargs in {"*", "+"} else set()
    return [each for each in found if each[0] not in given]


def _fitting(found: "Iterable[Found]", beginning: str) -> "list[Found]":
    """Return what begins so, each once, with descriptions of one line."""
    unique: dict[str, str] = {}
    for word, about in found:
        if (word.startswith(beginning) or word == DIRECTORIES) and word not in unique and line(word) == word:
            unique[word] = _short(line(about))
    return list(unique.items())


def _short(text: str) -> str:
    from memtui.cli.output import cut

    return cut(text, TITLE)


def _for_bash(typed: str, breaks: str, env: "dict[str, str]") -> str:
    """Return what bash puts in place of its last word, a line each. Bash ends words at `breaks`, such as `:`."""
    words, quote, raw = split(typed)
    found = offered(words, env)
    if found and found[0][0] == DIRECTORIES:
        return DIRECTORIES + "\n"
    skip = 0 if quote else max((raw.rfind(each) + 1 for each in breaks if each not in " \t\n\"'"), default=0)
    return "".join((word if quote else escaped(word))[skip:] + "\n" for word, _ in found)


def escaped(word: str) -> str:
    """Write a word as a shell reads it."""
    return "".join("\\" + char if char in SPECIAL else char for char in word)


def split(typed: str) -> "tuple[list[str], str, str]":
    """Split what was typed into words, as a shell would; also return the quote that is open, and the last word as it
    was typed."""
    words, word, raw, quote, begun = [], "", "", "", False
    at = 0
    while at < len(typed):
        char = typed[at]
        at += 1
        if quote:
            if char == quote:
                quote = ""
            elif char == "\\" and quote == '"' and typed[at : at + 1] in {'"', "\\", "$", "`"}:
                word += typed[at]
                at += 1
            else:
                word += char
        elif char in " \t":
            words += [word] if begun else []
            word, raw, begun = "", "", False
            continue
        elif char in "\"'":
            quote = char
        elif char == "\\" and at < len(typed):
            word += typed[at]
            raw += char
            char = typed[at]
            at += 1
        else:
            word += char
        raw += char
        begun = True
    return [*words, word], quote, raw
