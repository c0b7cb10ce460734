"""The query of a list: words, and terms such as `type:feedback` or `project:"my shop"`; the same in all lists."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

# A word of a query; the value behind a colon may stand in quotation marks.
TERM = re.compile(r'(\w+):("[^"]*"?|\S*)|\S+')


@dataclass(frozen=True)
class Query:
    """`words`: what is no term, with blanks between; `terms`: value by name, of two of a name the last; `unknown`:
    names before a colon that mean nothing here, and are words."""

    words: str = ""
    terms: Mapping[str, str] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()


def parse(text: str, names: Collection[str]) -> Query:
    """Return what a query says; `names`: those of the terms. A term without a value says nothing yet."""
    terms: dict[str, str] = {}
    words, unknown = [], []
    for match in TERM.finditer(text):
        name, value = match[1], (match[2] or "").strip('"')
        if name not in names:
            words.append(match[0])
            unknown += [name] if name else []
        elif value:
            terms[name] = value
    return Query(" ".join(words), terms, tuple(unknown))


def toggled(text: str, term: str) -> str:
    """Return the query with this term instead of others of its name, or without it if it is there."""
    name = term.partition(":")[0]
    terms = [match[0] for match in TERM.finditer(text)]
    others = [each for each in terms if not each.startswith(name + ":")]
    return " ".join(others if term in terms else [*others, term])


def term(name: str, value: str) -> str:
    """Return a term of a query, with quotation marks where the value needs them."""
    return f'{name}:"{value}"' if re.search(r"\s", value) else f"{name}:{value}"


def not_among(name: str, choices: Collection[str]) -> str:
    """Return the sentence for a value that a term does not take."""
    return f"{name}: takes {', '.join(choices)}."
