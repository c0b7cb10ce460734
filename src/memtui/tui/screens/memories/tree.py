"""The tree of scopes, and of groups of scopes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rich.text import Text

from memtui import keymap
from memtui.base import findings
from memtui.store.scopes import Scope
from memtui.tui.screens.memories.reader import MemoryReader
from memtui.tui.widgets.rows import Column, RowList
from memtui.views import colours, glyphs, safe_text
from memtui.views import memories as present

ALL = "all"
# The groups of scopes, folded at first: (key, label).
INSTRUCTIONS = "instructions"
GROUPS = {"others": "other projects", "agents": "agents", INSTRUCTIONS: INSTRUCTIONS}
# Shown instead of a count until all memories are read.
UNREAD = "…"
EMPTY = "Nothing is remembered here yet.\n\n"
KEYS = """{app.note}  writes a note: your next prompt gets it{once}
{memories.new}  creates a memory
{app.inbox}  shows drafts from your sessions, for you to approve
{app.help}  lists all keys"""
# What fills a scope without memories, by its kind.
FILLED_BY = {
    "global": "What is true in all your projects.\n{memories.new} creates a memory.\n{app.inbox} has drafts.",
    "project": "What all who work on this repository should know, in its .claude/memory.\n{memories.new} creates one.",
    "auto": "Claude Code writes its own memories here while you work.\n{memories.new} creates one.",
    "agent": "The agent of this name writes its own memories here while it works.",
}


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
    def scope(self) -> Scope | None:
        """Its scope; None if it has several."""
        return self.scopes[0] if len(self.scopes) == 1 else None

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
        return f"{GROUPS[group_of(self.scopes[0])]} ▸ {self.label}" if self.depth else self.label

    def draw(self) -> list[Text]:
        mark = {True: f"{glyphs.UNFOLDED} ", False: f"{glyphs.FOLDED} ", None: "  "}[self.fold]
        name = "  " * self.depth + mark + safe_text.line(self.label, 60)
        text = Text(name, style="bold" if not self.depth and (self.count or self.unread) else "dim")
        if self.scope is not None and not self.depth and (self.scope.problem or not self.scope.trusted):
            text.append(" !", colours.PROBLEM)
        return [text, Text(self.counted, "dim"), Text(self.to_fix, colours.PROBLEM)]


def group_of(scope: Scope) -> str:
    """Return the key of a scope's group; empty for scopes with a line of their own at the top."""
    if scope.label in {"global", "project", "auto", "team", "model"}:
        return ""
    return {"agent": "agents", INSTRUCTIONS: INSTRUCTIONS}.get(scope.kind, "others")


def is_here(scope: Scope) -> bool:
    """Return whether a scope belongs to this project, so that the first line of the tree counts it."""
    return group_of(scope) not in {"others", INSTRUCTIONS}


class ScopeTree(RowList[Place]):
    """The widget. `folds`: what the person has folded (False) or unfolded, by key of the place."""

    def __init__(self, reader: MemoryReader) -> None:
        columns = (Column(""), Column("", 4, right=True))
        super().__init__(columns, Place.draw, lambda place: place.key, header=False, id="scopes")
        self.reader = reader
        self.folds: dict[str, bool] = {}
        self.wanted = ""  # the key of the place that the cursor goes to, once it is there
        self._is_everywhere = False  # whether the memories of all projects count

    def restore(self, state: Mapping[str, object]) -> None:
        """Restore the remembered folds, and the cursor once the scopes are read."""
        place, folds = state.get("place"), state.get("folds")
        self.wanted = self.wanted or (place if isinstance(place, str) else "")
        if isinstance(folds, dict):
            self.folds |= {str(key): fold for key, fold in folds.items() if isinstance(fold, bool)}

    def show_scopes(self) -> None:
        self._refold()
        if any(scope.label == self.wanted for scope in self.reader.scopes) or self.wanted in GROUPS:
            self.go_to(self.wanted)
            self.wanted = ""
        self.wanted = "" if self.reader.loaded else self.wanted

    def of_all_projects(self, everywhere: bool) -> None:
        """Show that the list has the memories of all projects, or only those of the place under the cursor."""
        if everywhere != self._is_everywhere:
            self._is_everywhere = everywhere
            self._refold()

    def places(self, folds: Mapping[str, bool] | None = None) -> list[Place]:
        """Return the lines of the tree. `folds`: what is folded (False) or unfolded, by key; None: all is unfolded."""
        scopes, unread = self.reader.scopes, self.reader.unread
        project = self.reader.services.data.facts.project

        def place(key: str, label: str, members: Sequence[Scope]) -> Place:
            rows = [row for scope in members for row in self.reader.rows.get(scope.label, ())]
            of_indexes = [finding for scope in members for finding in self.reader.of_indexes.get(scope.label, ())]
            problems = findings.problems([*(flag for row in rows for flag in row.flags), *of_indexes])
            is_unread = any(scope.label in unread for scope in members)
            return Place(key, label, len(rows), tuple(members), unread=is_unread, problems=problems)

        def place_of(scope: Scope) -> Place:
            name = present.scope_name(scope, project)
            return place(scope.label, name.partition(" ")[2] if group_of(scope) else name, [scope])

        here = [scope for scope in scopes if is_here(scope)]
        every = [scope for scope in scopes if group_of(scope) != INSTRUCTIONS]
        label, counted = ("all projects", every) if self._is_everywhere else ("all here", here)
        places = [replace(place(ALL, label, counted), scopes=tuple(here))]
        places += [place_of(scope) for scope in scopes if not group_of(scope)]
        for key, label in GROUPS.items():
            members = [scope for scope in scopes if group_of(scope) == key]
            unfolded = folds is None or folds.get(key, False)
            places += [replace(place(key, label, members), fold=unfolded)] if members else []
            places += [replace(place_of(scope), depth=1) for scope in members] if unfolded else []
        return places

    def _refold(self) -> None:
        places = self.places(self.folds)
        counts = max((len(place.counted) for place in places), default=0)
        problems = max((len(place.to_fix) for place in places), default=0)
        self.columns[1:] = [Column("", max(4, counts), right=True), *([Column("", problems)] if problems else [])]
        here, keys = self.row_id, {place.key for place in places}
        self.show(places)
        if here and here not in keys:  # not the next one: keys would go to another project's memories
            self._move_to_key(ALL)

    def fold(self, key: str, unfolded: bool) -> None:
        self.folds[key] = unfolded
        self._refold()

    def to_parent(self) -> None:
        self.move_to(next(at for at in range(self.cursor, -1, -1) if not self.rows[at].depth))

    def go_to(self, key: str) -> None:
        """Move the cursor to a place, unfolding what it is under."""
        scope = next((scope for scope in self.reader.scopes if scope.label == key), None)
        if scope is not None and group_of(scope):
            self.fold(group_of(scope), True)
        self._move_to_key(key)

    def _move_to_key(self, key: str) -> None:
        at = self.index_of(key)
        if at is not None:
            self.move_to(at)

    def why_empty(self) -> str:
        """Return why the list has no memories of the place under the cursor, and what will fill it."""
        from memtui.views import notes

        services, scope = self.reader.services, self.row.scope if self.row is not None else None
        if scope is not None and scope.problem:
            return f"{scope.directory}\n{scope.problem}: it is not read."
        if scope is not None and any(self.reader.rows.values()):
            filled_by = keymap.keyed(FILLED_BY.get(scope.kind, ""), read_only=services.read_only)
            return f"No memories in {self.reader.name_of(scope)}.\n{filled_by}"
        words = EMPTY + notes.before(services.data.unheard(["project"]), KEYS)
        return keymap.keyed(words, read_only=services.read_only)
