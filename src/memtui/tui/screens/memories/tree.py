"""The tree of scopes: groups, types under each scope, and what lies below the cut of its index."""

import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from rich.text import Text

from memtui.core.memories.scopes import Scope
from memtui.core.memories.status import Row
from memtui.present import safe_text
from memtui.tui.widgets.rows import Column, RowList

ALL = "all"
# Groups of scopes that are rarely looked at begin folded; a scope's types as well where several scopes share a group.
GROUPS = (("others", "other projects"), ("agents", "agents"), ("instructions", "instructions"))
OPEN = ("global", "project", "auto")
# In the place of a count, while not all is read that it counts.
UNREAD = "…"


@dataclass(frozen=True)
class Place:
    """A line of the tree. `kind` narrows the scopes' memories to a type, `below` to those below the cut; `fold` is
    whether it is unfolded, None where there is nothing to fold; `unread` whether more than `count` may be there."""

    key: str
    label: str
    count: int
    scopes: tuple[Scope, ...]
    depth: int = 0
    kind: str = ""
    below: bool = False
    fold: bool | None = None
    unread: bool = False

    @property
    def counted(self) -> str:
        """How many memories it has, as far as that is known."""
        return UNREAD if self.unread else str(self.count)

    def holds(self, row: Row) -> bool:
        """Whether it shows a memory of its scopes."""
        if self.below:
            return "B" in row.letters
        return not self.kind or (row.memory.type or "-") == self.kind

    @property
    def words(self) -> str:
        """Its name on one line."""
        if not self.depth:
            return self.label
        above = name_of(self.scopes[0], "") if "/" in self.key else dict(GROUPS).get(group_of(self.scopes[0]), "")
        return f"{above} ▸ {self.label}"

    def draw(self) -> list[Text]:
        """Its cells."""
        style = "bold" if not self.depth and self.fold is not None else "dim" if self.depth else ""
        mark = {True: "▾ ", False: "▸ ", None: "  "}[self.fold]
        problem = len(self.scopes) == 1 and not self.depth and (self.scopes[0].problem or not self.scopes[0].trusted)
        text = Text(
            "  " * self.depth + mark + safe_text.line(self.label, 60),
            style=style if self.count or self.unread else "dim",
        )
        if problem:
            text.append(" !", "yellow")
        return [text, Text(self.counted, style="yellow" if self.below else "dim")]


def name_of(scope: Scope, project: str) -> str:
    """A scope as the tree calls it."""
    if scope.label in {"project", "auto"}:
        return f"{scope.label} {project}".strip()
    if scope.kind == "auto":
        return os.path.basename(scope.root_path) if scope.root_path else str(scope.slug)
    return scope.label.removeprefix("agent:").removeprefix("instructions:") if scope.kind != "global" else "global"


def group_of(scope: Scope) -> str:
    """The group that a scope stands in; empty for those with a line of their own at the top."""
    if scope.label in {"global", "project", "auto"}:
        return ""
    return {"agent": "agents", "instructions": "instructions"}.get(scope.kind, "others")


def is_here(scope: Scope) -> bool:
    """Whether the first line of the tree counts it: what is remembered for this project."""
    return group_of(scope) not in {"others", "instructions"}


def build(
    found: Sequence[Scope],
    rows: Mapping[str, Sequence[Row]],
    folds: Mapping[str, bool],
    project: str,
    unread: Collection[str] = (),
) -> list[Place]:
    """The lines of the tree; `folds` holds what the person has folded or unfolded, `unread` names the scopes of which
    not all is read."""
    here = tuple(scope for scope in found if is_here(scope))
    places = [Place(ALL, "all here", _count(here, rows), here, unread=_any(here, unread))]
    for scope in found:
        if not group_of(scope):
            places += _scope(scope, rows, folds, project, scope.label in unread)
    for key, label in GROUPS:
        members = tuple(scope for scope in found if group_of(scope) == key)
        if not members:
            continue
        unfolded = folds.get(key, False)
        count = _count(members, rows)
        places.append(Place(key, label, count, members, fold=unfolded, unread=_any(members, unread)))
        for scope in members if unfolded else ():
            name, count = name_of(scope, project), len(rows.get(scope.label, ()))
            places.append(Place(scope.label, name, count, (scope,), depth=1, unread=scope.label in unread))
    return places


def _scope(
    scope: Scope, rows: Mapping[str, Sequence[Row]], folds: Mapping[str, bool], project: str, unread: bool
) -> list[Place]:
    mine = rows.get(scope.label, ())
    kinds = Counter([row.memory.type or "-" for row in mine])
    below = sum("B" in row.letters for row in mine if row.flags)
    unfolded = folds.get(scope.label, scope.label in OPEN)
    fold = unfolded if kinds else None
    places = [Place(scope.label, name_of(scope, project), len(mine), (scope,), fold=fold, unread=unread)]
    if below:
        places.append(Place(f"{scope.label}/below", "below the cut", below, (scope,), 1, below=True))
    if unfolded:
        for kind, count in sorted(kinds.items(), key=lambda each: (each[0] == "-", each[0])):
            label = "untyped" if kind == "-" else kind
            places.append(Place(f"{scope.label}/{kind}", label, count, (scope,), 1, kind, unread=unread))
    return places


def _any(found: Sequence[Scope], unread: Collection[str]) -> bool:
    return any(scope.label in unread for scope in found)


def _count(found: Sequence[Scope], rows: Mapping[str, Sequence[Row]]) -> int:
    return sum(len(rows.get(scope.label, ())) for scope in found)


class ScopeTree(RowList[Place]):
    """The tree. `folds` is what the person has folded or unfolded, by key."""

    def __init__(self) -> None:
        super().__init__((Column("scope"), Column("", 5, right=True)), Place.draw, lambda place: place.key, id="scopes")
        self.folds: dict[str, bool] = {}
        self.wanted = ""  # the place to stand on, once it is there
        self._of: Callable[[Mapping[str, bool]], list[Place]] = lambda _: []

    def take(self, left: Mapping[str, object]) -> None:
        """Be as it was left, once the scopes are read."""
        place, folds = left.get("place"), left.get("folds")
        self.wanted = place if isinstance(place, str) else ""
        if isinstance(folds, dict):
            self.folds |= {str(key): fold for key, fold in folds.items() if isinstance(fold, bool)}

    def plant(
        self,
        found: Sequence[Scope],
        rows: Mapping[str, Sequence[Row]],
        project: str,
        unread: Collection[str],
        *,
        loaded: bool,
    ) -> None:
        """Draw the tree of these scopes; `loaded`: all of them were read."""
        self._of = lambda folds: build(found, rows, folds, project, unread)
        self.grow()
        if self.wanted and (self._stand_on(self.wanted) or loaded):
            self.wanted = ""

    def grow(self) -> None:
        """Draw it anew, folded as it is now."""
        self.show(self._of(self.folds))

    def unfolded(self) -> list[Place]:
        """All its places, as a list to choose from."""
        return self._of(dict.fromkeys([*self.folds, *(key for key, _ in GROUPS), *OPEN], True))

    def fold(self, key: str, unfolded: bool) -> None:
        """Fold or unfold a place."""
        self.folds[key] = unfolded
        self.grow()

    def to_parent(self) -> None:
        """Go to the place that this one stands under."""
        self.move_to(next(at for at in range(self.cursor, -1, -1) if not self.rows[at].depth))

    def go_to(self, key: str) -> None:
        """Stand on a place, unfolding what it stands under."""
        head = key.partition("/")[0]
        if key not in {place.key for place in self.rows}:
            scope = next((s for place in self.unfolded() for s in place.scopes if s.label == head), None)
            self.fold(group_of(scope) or head if scope else head, True)
        self._stand_on(key)

    def _stand_on(self, key: str) -> bool:
        at = next((at for at, place in enumerate(self.rows) if place.key == key), None)
        if at is not None:
            self.move_to(at)
        return at is not None
