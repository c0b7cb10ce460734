"""The commands of the inbox: what a verb does is decided by the kind of the chosen rows."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from memtui import actions
from memtui.core.review.waiting import Waiting
from memtui.tui.screens.inbox.change_rows import ChangeCommands
from memtui.tui.screens.inbox.chosen import Chosen
from memtui.tui.screens.inbox.entries import DraftCommands, GhostCommands, TodoCommands
from memtui.tui.screens.inbox.memory_rows import ChangedCommands, ProblemCommands, TrustCommands
from memtui.tui.screens.inbox.row import InboxView
from memtui.tui.services import Command

VERBS = ("accept", "edit", "reject", "later", "merge", "history", "follow", "note")


class Ghost(NamedTuple):
    """How the grey row of a draft that was rejected just now is shown, for so many seconds, and dropped."""

    keep: Callable[[Sequence[Waiting], float], object]
    drop: Callable[[], object]


def commands(
    chosen: Chosen, view: InboxView, ghost: Ghost, decided: Callable[[Collection[str]], object]
) -> dict[str, Command]:
    """Return the commands by the id of their action. `decided` is called with the ids of changes that are done with."""
    families = {
        "draft": DraftCommands(chosen, view, ghost.keep).table(),
        "ghost": GhostCommands(chosen, ghost.drop).table(),
        "todo": TodoCommands(chosen).table(),
        "changed": ChangedCommands(chosen).table(),
        "change": ChangeCommands(chosen, decided).table(),
        "problem": ProblemCommands(chosen).table(),
        "trust": TrustCommands(chosen).table(),
    }
    return {f"inbox.{verb}": _routed(chosen, families, verb) for verb in VERBS}


def _routed(chosen: Chosen, families: Mapping[str, Mapping[str, Command]], verb: str) -> Command:
    """Return the command of a verb, which the kind of the chosen rows decides about."""

    def command() -> Command | None:
        leader = chosen.leader
        return families[leader.kind.family].get(verb) if leader is not None else None

    def why_not() -> str:
        leader, own = chosen.leader, command()
        if leader is None:
            return chosen.nothing()
        if own is not None:
            return own.why_not()
        ways = [f"{actions.key_of(f'inbox.{other}')} {word}" for other, word in leader.kind.verbs.items()]
        return f"That is not for a {leader.kind.singular}: {', '.join(ways)}."

    def run() -> object:
        own = command()
        return own.run() if own is not None else None

    return Command(run, why_not)
