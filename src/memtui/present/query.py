"""The query of a list: words, and terms such as `type:feedback` or `project:"my shop"`; the same in all lists. Of
memories: `pnpm type:feedback scope:global is:never project:shop`."""

import re
from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass, field

from memtui.core.memories import memory
from memtui.core.memories.scopes import Scope
from memtui.core.memories.status import Row

# A word of a query; the value behind a colon may stand in quotation marks.
TERM = re.compile(r'(\w+):("[^"]*"?|\S*)|\S+')
NEVER, PROBLEM, UNTRUSTED = STATES = ("never", "problem", "untrusted")
NAMES = ("type", "scope", "is", "project")
# The value of `project:` for all projects, and that of `type:` for memories without one.
ALL, UNTYPED = "all", "untyped"
IS_PROBLEM, ALL_PROJECTS = f"is:{PROBLEM}", f"project:{ALL}"
HINT = f"type:{memory.TYPES[1]}  scope:global  is:{' '.join(STATES)}  project:NAME or all"


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


@dataclass(frozen=True)
class MemoryQuery:
    """`words`: sought in name, description and text; an empty field means all. `problem`: what is wrong with it."""

    words: str = ""
    kind: str = ""
    scope: str = ""
    state: str = ""
    project: str = ""
    problem: str = ""

    @property
    def has_terms(self) -> bool:
        """Whether it asks for more than words."""
        return bool(self.kind or self.scope or self.state or self.project)

    def matches(self, scope: Scope, row: Row, here: str, autosaves: Container[str] = ()) -> bool:
        """Return whether a memory has all that the terms say. `here`: the name of this project; `autosaves`: the paths
        of memories with unsaved text, which is a problem."""
        if self.kind and not (row.memory.type.casefold() or UNTYPED).startswith(self.kind):
            return False
        names = (scope.kind, scope.label, scope.source)
        if self.scope and not any(each.casefold().startswith(self.scope) for each in names):
            return False
        project = scope.project or (here if scope.kind in {"project", "auto", "team"} else "")
        if self.project not in {"", ALL} and self.project not in project.casefold():
            return False
        if self.state == PROBLEM:
            return row.needs_attention or row.memory.path in autosaves
        if self.state == UNTRUSTED:
            return "U" in row.letters
        return self.state != NEVER or row.never_delivered(scope)


def memories(text: str) -> MemoryQuery:
    """Return what a query of memories says."""
    found = parse(text, NAMES)
    terms = {name: value.casefold() for name, value in found.terms.items()}
    state = next((each for each in STATES if each.startswith(terms.get("is", "-"))), "")
    problem = ""
    if found.unknown:
        exist = ", ".join(f"{name}:" for name in NAMES)
        problem = f"There is no {found.unknown[0]}: here, there are {exist}."
    if "is" in terms and not state:
        problem = not_among("is", STATES)
    fields = (terms.get("type", ""), terms.get("scope", ""), state, terms.get("project", ""))
    return MemoryQuery(found.words, *fields, problem)
