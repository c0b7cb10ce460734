"""Data files of words and patterns: sections that begin with `== NAME`, and comments that begin with `#`."""

import re
from collections.abc import Mapping

from memtui.base import fs_hot


def read(path: str) -> dict[str, str]:
    """Return the lines of each section by its name, in the order of the file. Raises OSError."""
    text = re.sub(r"(?m)^#.*\n", "", fs_hot.read_bytes(path).decode())
    parts = (part.partition("\n") for part in text.split("\n== "))
    return {name: lines.strip() for name, _, lines in parts if name}


def sets(path: str) -> dict[str, frozenset[str]]:
    """Return the words of each section by its name. Raises OSError."""
    return {name: frozenset(words.split()) for name, words in read(path).items()}


def expanded(sections: Mapping[str, str], name: str) -> str:
    """Return a section as one pattern: lines that begin with blanks go on, `«NAME»` stands for another section."""
    return re.sub(r"«(\w+)»", lambda other: expanded(sections, other[1]), re.sub(r"\n\s+", "", sections[name]))


def tables(path: str) -> dict[str, dict[str, str]]:
    """Return the lines `code: words` of each section by name; two blanks begin one that goes on. Raises OSError."""
    sections = {name: lines.replace("\n  ", " ") for name, lines in read(path).items()}
    return {name: dict(re.findall(r"(?m)^(.*?): ?(.*)$", lines)) for name, lines in sections.items()}
