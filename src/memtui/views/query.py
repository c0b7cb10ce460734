"""The query of a list: words, and terms such as `type:feedback` or `project:"my shop"`."""

import re
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memtui.base import findings, fs_hot
from memtui.base.errors import close_to
from memtui.base.phrasing_hot import some
from memtui.store import memory, mutes_hot
from memtui.store.scopes import Scope
from memtui.store.status import Row
from memtui.sync import state
from memtui.views.words import TABLES

# A word of a query; the value behind a colon may stand in quotation marks.
TERM = re.compile(r'(\w+):("[^"]*"?|\S*)|\S+')
NEVER, PROBLEM, UNTRUSTED, PINNED, MUTED = "never", "problem", "untrusted", "pinned", "muted"
UNKEPT = "unkept"
STATES = TABLES["memory states"]
NAMES = ("type", "scope", "is", "project", "from")
# The value of `project:` for all projects, and that of `type:` for memories without one.
ALL, UNTYPED = "all", "untyped"
IS_PROBLEM = f"is:{PROBLEM}"
LISTED = 9  # the most values that are listed where a term takes none of those that are there


@dataclass(frozen=True)
class Query:
    """The words of a query, the value of each term by its name, and names before a colon that mean nothing here."""

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
    others = [other for other in terms if not other.startswith(name + ":")]
    return " ".join(others if term in terms else [*others, term])


def term(name: str, value: str) -> str:
    """Return a term of a query, with quotation marks where the value needs them."""
    return f'{name}:"{value}"' if re.search(r"\s", value) else f"{name}:{value}"


def not_among(name: str, value: str, choices: Collection[str]) -> str:
    """Return the sentences for a value that a term does not take: the nearest that it takes, and which there are."""
    hint = "".join(f" Did you mean {term(name, near)}?" for near in close_to(value, choices))
    return f"There is no {term(name, value)}.{hint} {name}: takes {some([*choices], LISTED)}."


def not_there(name: str, names: Collection[str]) -> str:
    """Return the sentences for a term that there is not: the nearest of those that there are, and all of them."""
    hint = "".join(f" Did you mean {near}:?" for near in close_to(name, names))
    return f"There is no {name}: here.{hint} The query takes {', '.join(f'{other}:' for other in names)}."


def unknown_term(text: str, names: Collection[str]) -> str:
    """Return the sentences for the first term of a query that there is not; empty if there is none such."""
    return next((not_there(name, names) for name in parse(text, names).unknown if names), "")


def choices(places: Iterable[Scope], kinds: Iterable[str], here: str, root: str = "") -> dict[str, list[str]]:
    """Return what each term takes. `kinds`: the types of the memories that are there; `here`: this project's name;
    `root`: memtui's own directory, empty for none."""
    scopes = [*places]
    names = {name.casefold() for scope in scopes for name in (scope.kind, scope.label, scope.source)}
    types = [*memory.TYPES, *sorted({kind.casefold() for kind in kinds} - {*memory.TYPES, "", UNTYPED}), UNTYPED]
    projects = sorted({scope.project.casefold() for scope in scopes} | {here.casefold()})
    terms = {"type": types, "scope": sorted(names - {""}), "is": [*STATES], "project": [ALL, *filter(None, projects)]}
    return terms | {"from": sorted({who for names in writers(root).values() for who in names}) if root else []}


def writers(root: str) -> dict[str, list[str]]:
    """Return by path who changed a memory last, as the last sync noted it: machine and person, in lower case."""
    names_by_path: dict[str, list[str]] = {}
    for team in state.names(root):
        top = state.folder(root, team)
        for path, row in fs_hot.read_table(top + state.WRITERS).items():
            file = f"{top}/memory/{path.partition('/')[2]}" if team else path
            names_by_path[file] = [str(who).casefold() for who in row[:2] if who] if isinstance(row, list) else []
    return names_by_path


def names(scope: Scope, begun: str) -> bool:
    """Tell whether the value of `scope:` means a scope: with the beginning of its kind, label or source."""
    return bool(begun) and any(label.casefold().startswith(begun) for label in (scope.kind, scope.label, scope.source))


@dataclass(frozen=True)
class MemoryQuery:
    """`words`: sought in name, description and text; an empty field means all. `unknown`: a term that there is not."""

    words: str = ""
    kind: str = ""
    scope: str = ""
    state: str = ""
    project: str = ""
    machine: str = ""
    unknown: str = ""

    @property
    def has_terms(self) -> bool:
        """Whether it asks for more than words."""
        return bool(self.kind or self.scope or self.state or self.project or self.machine)

    @property
    def is_mistyped(self) -> bool:
        """Whether it has a word that looks like a term, such as `typ:tool`: it is not to find what is similar."""
        return bool(self.unknown and close_to(self.unknown, NAMES))

    def problem(self, values_by_name: Mapping[str, Sequence[str]]) -> str:
        """Return in sentences what is wrong with it; empty if nothing is. `values_by_name`: what each term takes."""
        if self.unknown:
            return not_there(self.unknown, NAMES)
        values = self.kind, self.scope, self.state, self.project, self.machine
        for name, value in zip(NAMES, values, strict=True):
            begun = [w for w in values_by_name[name] if w.startswith(value) or (name == "project" and value in w)]
            if value and name == "from" and not values_by_name[name]:
                return "No machine changed a memory here yet: see `memtui sync status`."
            if value and not begun:
                return not_among(name, value, values_by_name[name])
        return ""

    def matches(
        self, scope: Scope, row: Row, here: str, autosaves: Container[str] = (), marked: Container[tuple[str, str]] = ()
    ) -> bool:
        """Return whether a memory has all that the terms say; `autosaves`: the paths of those with unsaved text,
        `marked`: of those that `marked` returned."""
        if self.machine and ("from", row.memory.path) not in marked:
            return False
        if self.kind and not (row.memory.type.casefold() or UNTYPED).startswith(self.kind):
            return False
        if self.scope and not names(scope, self.scope):
            return False
        project = scope.project or (here if scope.kind in {"project", "auto", "team"} else "")
        if self.project not in {"", ALL} and self.project not in project.casefold():
            return False
        states: dict[str, Callable[[], bool]] = {
            "": lambda: True,
            NEVER: lambda: row.never_delivered(scope),
            PROBLEM: lambda: bool(findings.problems(row.flags)) or row.memory.path in autosaves,
            UNTRUSTED: lambda: "U" in row.letters,
            PINNED: lambda: row.memory.pinned,
            MUTED: lambda: (MUTED, row.memory.path) in marked,
            UNKEPT: lambda: row.held_share not in {None, 1.0},
        }
        return self.state in states and states[self.state]()

    def marked(self, root: str, scopes: Iterable[Scope]) -> set[tuple[str, str]]:
        """Return (term, path) of memories that are muted, or that the machine changed last, where it asks for them."""
        directories = [scope.directory for scope in scopes] if self.state == MUTED else []
        marked = {(MUTED, f"{place}/{file}") for place in directories for file in mutes_hot.load(root, place)}
        by_path = writers(root) if self.machine else {}
        rows = ((path, name) for path, names in by_path.items() for name in names)
        return marked | {("from", path) for path, name in rows if name.startswith(self.machine)}


def memories(text: str) -> MemoryQuery:
    query = parse(text, NAMES)
    terms = {name: value.casefold() for name, value in query.terms.items()}
    begun = terms.get("is", "")
    state = next((state_name for state_name in STATES if state_name.startswith(begun)), begun) if begun else ""
    fields = (terms.get("type", ""), terms.get("scope", ""), state, terms.get("project", ""), terms.get("from", ""))
    return MemoryQuery(query.words, *fields, query.unknown[0] if query.unknown else "")
