"""The commands of the inbox: what a verb does is decided by the kind of the chosen rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich.text import Text

from memtui import actions
from memtui.tui.screens.inbox.change_rows import ChangeCommands
from memtui.tui.screens.inbox.chosen import GHOST_WORDS, Chosen, RowCommands
from memtui.tui.screens.inbox.entries import DraftCommands, TodoCommands
from memtui.tui.screens.inbox.memory_rows import ChangedCommands, ProblemCommands, TrustCommands
from memtui.tui.screens.inbox.row import GHOST, KINDS, InboxRow, InboxView
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import Command

VERBS = ("approve", "edit", "reject", "later", "merge", "history", "follow")


class Ghost:
    """The grey row of what was rejected, until the next decision. `below`: the keys of the rows below it."""

    def __init__(self, screen: ListScreen[InboxRow]) -> None:
        self.screen = screen
        self.rows: list[InboxRow] = []
        self.below: set[str] = set()

    def put(self, rows: Sequence[InboxRow]) -> None:
        """Let a row of the list stay grey; without one, there is no grey row."""
        keys = [row.key for row in self.screen.table.rows]
        self.below = {*keys[keys.index(rows[0].key) + 1 :]} if rows else set()
        self.rows = [replace(row, key=f"ghost {row.key}", kind=GHOST, is_taken=False) for row in rows]

    def among(self, rows: Sequence[InboxRow]) -> Sequence[InboxRow]:
        """Return the rows of the list with the grey one in its place."""
        here = next((at for at, row in enumerate(rows) if row.key in self.below), len(rows))
        return [*rows[:here], *self.rows, *rows[here:]]

    def drop(self) -> None:
        if self.rows:
            self.rows = []
            self.screen.fill()


class GhostCommands(RowCommands):
    """The command on the grey row of what was rejected just now."""

    def table(self) -> dict[str, Command]:
        return {"reject": Command(self.forbid)}

    async def forbid(self) -> None:
        """Reject it for good. One that is alone in the list asks, as the cursor could not go on to another row."""
        (row,) = self.chosen.same_kind()
        is_alone = len(self.screen.table.rows) == 1
        if is_alone and not await self.chosen.agrees("Never again", Text(row.says), "reject it for good"):
            return
        self.chosen.act(lambda: row.forbid(self.services.data), f"Never again: {self.named([row])}.")


def commands(chosen: Chosen, view: InboxView) -> dict[str, Command]:
    families = {
        "draft": DraftCommands(chosen, view).table(),
        "ghost": GhostCommands(chosen, view).table(),
        "todo": TodoCommands(chosen, view).table(),
        "changed": ChangedCommands(chosen, view).table(),
        "change": ChangeCommands(chosen, view).table(),
        "problem": ProblemCommands(chosen, view).table(),
        "trust": TrustCommands(chosen, view).table(),
    }
    return {f"inbox.{verb}": _routed(chosen, families, verb) for verb in VERBS}


def _routed(chosen: Chosen, families: Mapping[str, Mapping[str, Command]], verb: str) -> Command:
    """Return the command of a verb, which the kind of the chosen rows decides."""

    def why_not() -> str:
        leader = chosen.leader
        if leader is None:
            return chosen.nothing()
        if (own := families[leader.kind.family].get(verb)) is not None:
            return own.why_not()
        if leader.kind is GHOST:
            return actions.keyed(GHOST_WORDS)
        ways = [f"{actions.key_of(f'inbox.{other}')} {word}" for other, word in leader.kind.verbs.items()]
        kinds = [kind.plural for kind in KINDS if verb in kind.verbs]
        whose = f"{actions.key_of(f'inbox.{verb}')} is for {kinds[0]}; of" if len(kinds) == 1 else "That is not for"
        return f"{whose} a {leader.kind.singular}: {', '.join(ways)}."

    def run() -> object:
        leader = chosen.leader
        own = families[leader.kind.family].get(verb) if leader is not None else None
        return own.run() if own is not None else None

    return Command(run, why_not)
