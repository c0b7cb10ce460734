"""The commands of the inbox: what a verb does is decided by the kind of the chosen rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rich.text import Text

from memtui import actions
from memtui.tidy import waiting_proposals
from memtui.tui.screens.frame import Described
from memtui.tui.screens.inbox.change_rows import ChangeCommands
from memtui.tui.screens.inbox.chosen import GHOST_WORDS, Chosen, RowCommands
from memtui.tui.screens.inbox.entries import DraftCommands, TodoCommands
from memtui.tui.screens.inbox.memory_rows import ChangedCommands, ProblemCommands, TrustCommands
from memtui.tui.screens.inbox.row import FOLD, GHOST, ONE_OFFS, SNOOZED, FoldRow, InboxView, cells
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import Command
from memtui.views.decisions import BY_OTHERS, KINDS, Decision, ProposedRow

VERBS = ("approve", "edit", "reject", "later", "merge", "history", "follow")


class Ghost:
    """The grey row of what was rejected, until the next decision. `below`: the keys of the rows below it."""

    def __init__(self, screen: ListScreen[Decision]) -> None:
        self.screen = screen
        self.rows: list[Decision] = []
        self.below: set[str] = set()

    def put(self, rows: Sequence[Decision]) -> None:
        """Let a row of the list stay grey; without one, there is no grey row."""
        keys = [row.key for row in self.screen.table.rows]
        self.below = {*keys[keys.index(rows[0].key) + 1 :]} if rows else set()
        self.rows = [replace(row, key=f"ghost {row.key}", kind=GHOST, is_taken=False) for row in rows]

    def among(self, rows: Sequence[Decision]) -> Sequence[Decision]:
        """Return the rows of the list with the grey one in its place."""
        here = next((at for at, row in enumerate(rows) if row.key in self.below), len(rows))
        return [*rows[:here], *self.rows, *rows[here:]]

    def drop(self) -> None:
        if self.rows:
            self.rows = []
            self.screen.fill()


class GhostCommands(RowCommands[Decision]):
    """The command on the grey row of what was rejected just now."""

    def table(self) -> dict[str, Command]:
        return {"reject": Command(self.forbid)}

    async def forbid(self) -> None:
        """Reject it for good. One that is alone in the list asks, as the cursor could not go on to another row."""
        (row,) = self.chosen.same_kind()
        is_alone = len(self.screen.table.rows) == 1
        if is_alone and not await self.chosen.agrees("Never again", Text(row.says), "reject it for good"):
            return
        self.chosen.act(lambda: self._forbid(row), f"Never again: {self.named([row])}.")

    def _forbid(self, row: Decision) -> None:
        data = self.services.data
        if isinstance(row, ProposedRow):
            waiting_proposals.reject(data.store(), [row.proposal], never=True)
        elif row.item is not None:
            data.review().never([row.item])


OF_ONE_CAUSE = "All have one cause: space marks each, A all that need no second look, once they are unfolded."
# Why rows are in a fold, by its key.
WHY = {
    ONE_OFFS: "Drafts of what was said once and was likely not meant for good.",
    SNOOZED: "You hid these. They come back by themselves.",
    BY_OTHERS: "Memories that Claude, an editor or a program wrote since you last saw them.",
}


class FoldCommands(RowCommands[FoldRow]):
    """Folds have no commands, but a detail."""

    def describe(self, row: FoldRow) -> Described:
        """Return why, and while it is folded what is in it."""
        text = Text(WHY.get(row.key, OF_ONE_CAUSE)).append(
            f"\nenter {'hides' if row.is_open else 'shows'} {'it' if len(row.folds) == 1 else 'them'}.\n\n", "dim"
        )
        for inner in () if row.is_open else row.folds:
            kind, what, *_ = cells(inner, self.view)
            kind.pad_right(max(0, 9 - kind.cell_len))
            text.append_text(kind).append_text(what).append("\n")
        return Described(text)


Families = Mapping[str, RowCommands[Any]]


def families_of(chosen: Chosen, view: InboxView) -> Families:
    """Return what describes rows and decides about them, by the family of their kind."""
    return {
        "draft": DraftCommands(chosen, view),
        "ghost": GhostCommands(chosen, view),
        "todo": TodoCommands(chosen, view),
        "changed": ChangedCommands(chosen, view),
        "change": ChangeCommands(chosen, view),
        "problem": ProblemCommands(chosen, view),
        "trust": TrustCommands(chosen, view),
        FOLD.family: FoldCommands(chosen, view),
    }


def commands(chosen: Chosen, families: Families) -> dict[str, Command]:
    """Return the commands by the id of their action."""
    tables = {family: rows.table() for family, rows in families.items()}
    return {f"inbox.{verb}": _routed(chosen, tables, verb) for verb in VERBS}


def _routed(chosen: Chosen, tables: Mapping[str, Mapping[str, Command]], verb: str) -> Command:
    """Return the command of a verb, which the kind of the chosen rows decides."""

    def why_not() -> str:
        leader = chosen.leader
        if leader is None:
            return chosen.nothing()
        if (own := tables[leader.kind.family].get(verb)) is not None:
            return own.why_not()
        if leader.kind is GHOST:
            return actions.keyed(GHOST_WORDS)
        ways = [f"{actions.key_of(f'inbox.{other}')} {word}" for other, word in leader.kind.verbs.items()]
        kinds = [kind.plural for kind in KINDS if verb in kind.verbs]
        whose = f"{actions.key_of(f'inbox.{verb}')} is for {kinds[0]}; of" if len(kinds) == 1 else "That is not for"
        return f"{whose} a {leader.kind.singular}: {', '.join(ways)}."

    def run() -> object:
        leader = chosen.leader
        own = tables[leader.kind.family].get(verb) if leader is not None else None
        return own.run() if own is not None else None

    return Command(run, why_not)
