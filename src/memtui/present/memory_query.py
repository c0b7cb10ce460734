"""The query of memories, in both user interfaces: `pnpm type:feedback scope:global is:never project:shop`."""

from collections.abc import Container
from dataclasses import dataclass

from memtui.core.memories import memory
from memtui.core.memories.scopes import Scope
from memtui.core.memories.status import Row
from memtui.present import query

NEVER, PROBLEM, UNTRUSTED = STATES = ("never", "problem", "untrusted")
NAMES = ("type", "scope", "is", "project")
# The value of `project:` for all projects, and that of `type:` for memories without one.
ALL, UNTYPED = "all", "untyped"
IS_PROBLEM, ALL_PROJECTS = f"is:{PROBLEM}", f"project:{ALL}"
HINT = f"type:{memory.TYPES[1]}  scope:global  is:{' '.join(STATES)}  project:NAME or all"


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


def parse(text: str) -> MemoryQuery:
    """Return what a query of memories says."""
    found = query.parse(text, NAMES)
    terms = {name: value.casefold() for name, value in found.terms.items()}
    state = next((each for each in STATES if each.startswith(terms.get("is", "-"))), "")
    problem = ""
    if found.unknown:
        exist = ", ".join(f"{name}:" for name in NAMES)
        problem = f"There is no {found.unknown[0]}: here, there are {exist}."
    if "is" in terms and not state:
        problem = query.not_among("is", STATES)
    fields = (terms.get("type", ""), terms.get("scope", ""), state, terms.get("project", ""))
    return MemoryQuery(found.words, *fields, problem)
