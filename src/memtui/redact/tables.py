"""What tells a secret, read from `tables.txt`: the shapes of keys, the commands that take one, its names."""

import re
from collections.abc import Iterator

from memtui.base import word_lists

_CLASSES = {
    "A": "[A-Za-z0-9]",
    "W": "[A-Za-z0-9_-]",
    "H": "[0-9A-Fa-f]",
    "L": "[a-z0-9]",
    "U": "[A-Z0-9]",
    "B": "[A-Za-z0-9+/]",
}
_SECTIONS = word_lists.read(__file__.removesuffix(".py") + ".txt")


def expanded(shape: str) -> str:
    """Return a shape as a regular expression."""
    return re.sub(r"(?<!\\)([AWHULB])(?=\{)", lambda match: _CLASSES[match[1]], shape)


def _rows(text: str) -> Iterator[tuple[str, str]]:
    """Yield name and words of each entry, `name: words | name: words`; without words, the name in lower case."""
    for entry in " ".join(text.split()).split(" | "):
        name, _, words = entry.partition(": ")
        yield name, words or name.lower()


def _triples(section: str) -> list[tuple[str, str, str]]:
    rows = (line.split(" | ", 2) for line in _SECTIONS[section].split("\n"))
    return [(first, second, third) for first, second, third in rows]


# (kind, the beginnings of such a key, the shape that follows).
PREFIXED = [
    (kind, beginnings, line.partition(" ")[0])
    for line in re.split(r"\n(?! )", _SECTIONS["keys"])
    for kind, beginnings in _rows(line.partition(" ")[2])
]
# (kind, a text that such a key holds, the whole shape), and of addresses (kind, a text in it, the rest).
HOLDING, WEBHOOKS = _triples("holding"), _triples("webhooks")
# The name of a service by its words.
SERVICES = {word: name for name, words in _rows(_SECTIONS["services"]) for word in words.split()}
PASSWORDS, SECRETS, WEAK = _SECTIONS["passwords"], _SECTIONS["secrets"], _SECTIONS["weak"]

_PHRASE = (
    r"(?i)(?:seed|mnemonic|recovery|secret)(?:[ _-]?(?:phrase|words?|seed))?[\"'`]?[ \t]*(?::|=|is)[ \t]*[\"'`]?"
    r"(?P<secret>(?:[a-z]{3,8}[ \t]+){11,23}[a-z]{3,8})"
)
# (kind, words of which the text in lower case must hold one, pattern with the group `secret`).
COMMANDS = [
    (
        kind,
        tuple(words.split()),
        r"(?<![A-Za-z0-9])"
        + pattern.replace("…", r"[^\n]{0,160}?").replace("SECRET", r"(?P<secret>[^\s\"'|]{3,2000})"),
    )
    for kind, words, pattern in _triples("commands")
]
COMMANDS.append(("recovery phrase", ("phrase", "mnemonic", "seed"), _PHRASE))
