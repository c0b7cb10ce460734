"""The commands of the inbox: what a verb does is decided by the kind of the chosen rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich.text import Text
from textual.timer import Timer

from memtui import actions
from memtui.tui.screens.inbox.change_rows import ChangeCommands
from memtui.tui.screens.inbox.chosen import GHOST_WORDS, Chosen, RowCommands
from memtui.tui.screens.inbox.entries import DraftCommands, TodoCommands
from memtui.tui.screens.inbox.memory_rows import ChangedCommands, ProblemCommands, TrustCommands
from memtui.tui.screens.inbox.row import GHOST, KINDS, InboxRow, InboxView
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.services import Command

VERBS = ("approve", "edit", "reject", "later", "merge", "history", "follow", "note")


class Ghost:
    """The grey row of what was rejected just now, which goes once the cursor rests elsewhere. `rows`: it, or
    none; `at`: where it stood; `rested`: the id of the row that the cursor was on last."""

    def __init__(self, screen: ListScreen[InboxRow]) -> None:
        self.screen = screen
        self.rows: list[InboxRow] = []
        self.at = 0
        self.rested: str | None = None
        self._timer: Timer | None = None

    def put(self, rows: Sequence[InboxRow], seconds: float) -> None:
        """Let rows of the list stay grey for so many seconds; without any, there is no grey row."""
        keys, others = {row.key for row in rows}, [row for row in self.screen.table.rows if row.kind is not GHOST]
        self.at = next((at for at, row in enumerate(others) if row.key in keys), 0)
        grey = [replace(row, key=f"ghost {row.key}", kind=GHOST, is_taken=False) for row in rows]
        self.rows = grey if seconds else []
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.screen.set_interval(seconds, self._fade) if seconds else None

    def _fade(self) -> None:
        table = self.screen.table
        if table.row not in self.rows and table.row_id == self.rested:  # who stands on it decides about it
            self.drop()
        self.rested = table.row_id

    def drop(self) -> None:
        """Take the grey row off the list."""
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
        if is_alone and not await self.chosen.agrees("Never again", Text(row.gist), "reject it for good"):
            return
        self.chosen.act(lambda: row.forbid(self.services.data), f"Never again: {self.named([row])}.")


def commands(chosen: Chosen, view: InboxView) -> dict[str, Command]:
    """Return the commands by the id of their action."""
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
