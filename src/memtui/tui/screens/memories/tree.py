"""The tree of scopes, and of groups of scopes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rich.text import Text

from memtui.base import findings
from memtui.base.finding import Finding
from memtui.store.scopes import Scope
from memtui.store.status import Row
from memtui.tui.widgets.rows import Column, RowList
from memtui.views import colours, glyphs, safe_text
from memtui.views import memories as present

ALL = "all"
# The groups of scopes, folded at first: (key, label).
INSTRUCTIONS = "instructions"
GROUPS = (("others", "other projects"), ("agents", "agents"), (INSTRUCTIONS, INSTRUCTIONS))
# Shown instead of a count until all memories are read.
UNREAD = "…"


@dataclass(frozen=True)
class Place:
    """A line of the tree: some scopes."""

    key: str
    label: str
    count: int
    scopes: tuple[Scope, ...]
    depth: int = 0
    fold: bool | None = None  # whether it is unfolded, None if it can't be folded
    unread: bool = False  # it may have more memories than `count`
    problems: int = 0  # how many are to fix

    @property
    def counted(self) -> str:
        """The number of memories in words, UNREAD until it is known."""
        return UNREAD if self.unread else str(self.count)

    @property
    def to_fix(self) -> str:
        """The number of problems to fix in a few characters, `!3`; empty for none."""
        return f"!{self.problems}" if self.problems else ""

    @property
    def words(self) -> str:
        """Its name, with that of the group above it."""
        return f"{dict(GROUPS)[group_of(self.scopes[0])]} ▸ {self.label}" if self.depth else self.label

    def draw(self) -> list[Text]:
        style = "dim" if self.depth else "bold"
        mark = {True: f"{glyphs.UNFOLDED} ", False: f"{glyphs.FOLDED} ", None: "  "}[self.fold]
        problem = len(self.scopes) == 1 and not self.depth and (self.scopes[0].problem or not self.scopes[0].trusted)
        text = Text(
            "  " * self.depth + mark + safe_text.line(self.label, 60),
            style=style if self.count or self.unread else "dim",
        )
        if problem:
            text.append(" !", colours.PROBLEM)
        return [text, Text(self.counted, "dim"), Text(self.to_fix, colours.PROBLEM)]


def name_of(scope: Scope, project: str) -> str:
    """Return the name of a scope in the tree, where the group stands above it."""
    name = present.scope_name(scope, project)
    return name.partition(" ")[2] if group_of(scope) else name


def group_of(scope: Scope) -> str:
    """Return the key of a scope's group; empty for scopes with a line of their own at the top."""
    if scope.label in {"global", "project", "auto", "team", "model"}:
        return ""
    return {"agent": "agents", INSTRUCTIONS: INSTRUCTIONS}.get(scope.kind, "others")


def is_here(scope: Scope) -> bool:
    """Return whether a scope belongs to this project, so that the first line of the tree counts it."""
    return group_of(scope) not in {"others", INSTRUCTIONS}


@dataclass(frozen=True)
class Library:
    """What the tree shows. `unread`, `of_indexes`: by label; `everywhere`: memories of all projects count."""

    scopes: Sequence[Scope] = ()
    rows: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    project: str = ""
    unread: Collection[str] = ()
    everywhere: bool = False
    of_indexes: Mapping[str, Sequence[Finding]] = field(default_factory=dict)

    def places(self, folds: Mapping[str, bool]) -> list[Place]:
        """Return the lines of the tree. `folds`: what the person has folded (False) or unfolded, by key."""
        here = [scope for scope in self.scopes if is_here(scope)]
        every = [scope for scope in self.scopes if group_of(scope) != INSTRUCTIONS]
        label, counted = ("all projects", every) if self.everywhere else ("all here", here)
        places = [replace(self._place(ALL, label, counted), scopes=tuple(here))]
        places += [self._scope(scope) for scope in self.scopes if not group_of(scope)]
        for key, label in GROUPS:
            members = [scope for scope in self.scopes if group_of(scope) == key]
            unfolded = folds.get(key, False)
            places += [replace(self._place(key, label, members), fold=unfolded)] if members else []
            places += [replace(self._scope(scope), depth=1) for scope in members] if unfolded else []
        return places

    def _scope(self, scope: Scope) -> Place:
        return self._place(scope.label, name_of(scope, self.project), [scope])

    def _place(self, key: str, label: str, scopes: Sequence[Scope]) -> Place:
        rows = [row for scope in scopes for row in self.rows.get(scope.label, ())]
        of_indexes = [finding for scope in scopes for finding in self.of_indexes.get(scope.label, ())]
        problems = findings.problems([*(flag for row in rows for flag in row.flags), *of_indexes])
        unread = any(scope.label in self.unread for scope in scopes)
        return Place(key, label, len(rows), tuple(scopes), unread=unread, problems=problems)


class ScopeTree(RowList[Place]):
    """The widget. `folds`: what the person has folded (False) or unfolded, by key of the place."""

    def __init__(self) -> None:
        columns = (Column(""), Column("", 4, right=True))
        super().__init__(columns, Place.draw, lambda place: place.key, header=False, id="scopes")
        self.folds: dict[str, bool] = {}
        self.wanted = ""  # the key of the place that the cursor goes to, once it is there
        self._library = Library()

    def restore(self, state: Mapping[str, object]) -> None:
        """Restore the remembered folds, and the cursor once the scopes are read."""
        place, folds = state.get("place"), state.get("folds")
        self.wanted = self.wanted or (place if isinstance(place, str) else "")
        if isinstance(folds, dict):
            self.folds |= {str(key): fold for key, fold in folds.items() if isinstance(fold, bool)}

    def show_scopes(self, library: Library, *, loaded: bool) -> None:
        """Show the tree of these scopes; `loaded`: all of them were read."""
        self._library = replace(library, everywhere=self._library.everywhere)
        self._refold()
        if any(scope.label == self.wanted for scope in library.scopes) or self.wanted in dict(GROUPS):
            self.go_to(self.wanted)
            self.wanted = ""
        self.wanted = "" if loaded else self.wanted

    def of_all_projects(self, everywhere: bool) -> None:
        """Show that the list has the memories of all projects, or only those of the place under the cursor."""
        if everywhere != self._library.everywhere:
            self._library = replace(self._library, everywhere=everywhere)
            self._refold()

    def _refold(self) -> None:
        places = self._library.places(self.folds)
        counts = max((len(place.counted) for place in places), default=0)
        problems = max((len(place.to_fix) for place in places), default=0)
        self.columns[1:] = [Column("", max(4, counts), right=True), *([Column("", problems)] if problems else [])]
        here, keys = self.row_id, {place.key for place in places}
        self.show(places)
        if here and here not in keys:  # not the next one: keys would go to another project's memories
            self._move_to_key(ALL)

    def unfolded(self) -> list[Place]:
        return self._library.places(dict.fromkeys(dict(GROUPS), True))

    def fold(self, key: str, unfolded: bool) -> None:
        self.folds[key] = unfolded
        self._refold()

    def to_parent(self) -> None:
        """Move the cursor to the place that this one is under."""
        self.move_to(next(at for at in range(self.cursor, -1, -1) if not self.rows[at].depth))

    def go_to(self, key: str) -> None:
        """Move the cursor to a place, unfolding what it is under."""
        scope = next((place for place in self._library.scopes if place.label == key), None)
        if scope is not None and group_of(scope):
            self.fold(group_of(scope), True)
        self._move_to_key(key)

    def _move_to_key(self, key: str) -> None:
        at = self.index_of(key)
        if at is not None:
            self.move_to(at)
