"""Words of shell commands: what a file, a session or a note is called can only ever be one word of a command."""

import os
import shlex

from memtui.base import visible_hot


def shell_word(text: str) -> str:
    """Return text as one word of a shell command that a person may copy from the screen.

    What a screen shows differently from what it is (hidden characters, several blanks, signs that a plain terminal
    replaces, among them quotes) is written as octal numbers in `$'…'`; a shell that does not know those finds no quote
    in them either, but for a command that /bin/sh runs take `shlex.quote`. What would be an option gets `--` in front,
    so a word that has no scope or directory in front must stand last."""
    if "  " in text or not all(map(_shown_as_is, text)):
        quoted = "$'" + "".join([_escaped(char) for char in text]) + "'"
    else:
        quoted = shlex.quote(text)
    return f"-- {quoted}" if text.startswith("-") else quoted


def _shown_as_is(char: str) -> bool:
    return " " <= char <= "~" or (char.isalnum() and not visible_hot.hidden(char))


def _escaped(char: str) -> str:
    if char not in " '\\" and _shown_as_is(char):
        return char
    return "".join([f"\\{byte:03o}" for byte in os.fsencode(char)])
