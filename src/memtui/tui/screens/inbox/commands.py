"""The commands of the inbox: what a verb does is decided by the kind of the chosen rows."""

import asyncio
from collections.abc import Callable, Mapping
from copy import copy
from functools import partial
from typing import Any, ClassVar

from rich.text import Text

from memtui import keymap
from memtui.base.phrasing_hot import many
from memtui.review import outside_changes
from memtui.store.memory import read_memory
from memtui.store.versions.writers import Occasions
from memtui.tidy import changeset
from memtui.tui.dialogs.ask import Choice, left_alone
from memtui.tui.dialogs.changes import show_versions
from memtui.tui.screens.frame import Described
from memtui.tui.screens.inbox.chosen import MEMORIES, Chosen, RowCommands
from memtui.tui.screens.inbox.drafts import DraftCommands, TodoCommands, lines_of
from memtui.tui.screens.inbox.proposals import ProposalCommands
from memtui.tui.screens.inbox.row import FOLD, FoldRow
from memtui.tui.services import Command
from memtui.tui.texts import TABLES
from memtui.tui.widgets.prose import draw
from memtui.views import changes
from memtui.views.decisions import KINDS, TRUST, ChangedRow, ProblemRow, TrustRow

# The verbs, as they follow each other in the foot.
VERBS = ("approve", "edit", "reject", "later", "merge", "history", "follow", "never")
FACTS = 3  # the last parts of the detail of a changed memory: they may be off the screen when it is kept
WHY = TABLES["why rows are in a fold"]  # by its key, empty for all others
# What can be done about a memory whose own check fails.
FAILING = "memories.verify"
CHOICES = (("edit", "edit it, or its check"), ("archive", "archive it: no session gets it"))


class FoldCommands(RowCommands[FoldRow]):
    """Folds have no commands, but a detail."""

    def describe(self, row: FoldRow) -> Described:
        verb, them = "hides" if row.is_open else "shows", "it" if len(row.folds) == 1 else "them"
        return Described(Text(WHY.get(row.key, WHY[""])).append(f"\nenter {verb} {them}.", "dim"))


class ChangedCommands(RowCommands[ChangedRow]):
    """The commands that keep, edit and reject memories that somebody else wrote."""

    def why_not(self, verb: str) -> str:
        is_deleted = self.rows[0].changed.kind == "deleted"
        return "It was deleted: there is nothing to edit." if verb == "edit" and is_deleted else ""

    def look_up(self, row: ChangedRow) -> Callable[[], object] | None:
        """Return what finds the session and the prompt in which an agent wrote it."""
        is_known = not row.changed.writer.session or row.key in self.view.occasions
        return None if is_known else partial(Occasions(self.view.data.env).of, row.changed.writer)

    def describe(self, row: ChangedRow) -> Described:
        view = self.view
        parts = [self.own_text(row), *row.describe(view.data, view.occasions.get(row.key))[1:]]
        view.needed = lines_of(draw(parts[:-FACTS]), view.detail_width)
        return Described(draw(parts))

    def copied(self, row: ChangedRow) -> str:
        return draw([row.difference(self.view.data)]).plain

    async def _agreed(self, verb: str, *, back: bool = False) -> bool:
        """Show what is not on the screen, `back`: what rejecting does; return whether the person goes on."""
        if self.chosen.is_seen():
            return True
        text, rows, data = Text(), self.rows, self.services.data
        occasions = Occasions(data.env)
        for row in rows:
            occasion = await asyncio.to_thread(occasions.of, row.changed.writer)
            text.append_text(draw(row.describe(data, occasion, back=back))).append("\n")
        what = f"{verb} {many(len(rows), 'memory', 'memories')}"
        title = "this is what changes" if back else "this is what was changed"
        return await self.chosen.agrees(f"{what[0].upper()}{what[1:]}: {title}", text, what)

    async def approve(self) -> None:
        """Mark the chosen ones as seen, and trust those that are not; what is not on the screen is shown first."""
        rows, data = self.rows, self.services.data
        if await self.goes_on_with_own(self.edit):
            return
        untrusted, memories = [row.undelivered for row in rows], [row.changed for row in rows]
        if await self._agreed("keep and trust" if any(untrusted) else "keep"):
            sentence = changes.done("keep", memories) + (" Sessions get it now." if untrusted == [True] else "")
            self.chosen.act(lambda: outside_changes.keep(data.store().journal, data.versions, memories), sentence)

    async def reject(self) -> None:
        """Restore what the person saw last, as one step of undo; what is not on the screen is shown first."""
        rows, data = self.rows, self.services.data
        rejected = self.rejected(rows)
        if not await self._agreed("reject", back=True):
            return
        try:
            work = partial(outside_changes.reject, data.store(), data.versions, [row.changed for row in rows])
            outcome = await self.services.progress.run(work, len(rows))
            self.chosen.take_off([f"changed:{item.key}" for item, _ in outcome.failed])
            data.take_in()
        finally:
            self.services.read()
        if len(rows) == 1 and outcome.failed:
            raise outcome.failed[0][1]
        if not outcome.failed:
            self.services.say(f"{rejected} {keymap.takes_back()}")
            return
        answer = changes.done("reject", [item for item, _ in outcome.done], len(outcome.failed))
        reasons = [(row["name"], row["message"]) for row in changes.failures(outcome.failed)]
        await self.services.ask(left_alone(f"{many(len(reasons), 'memory', 'memories')} left alone: {answer}", reasons))

    async def edit(self) -> None:
        """Edit the memory in its form, over the inbox: what is saved there counts as seen."""
        change = self.rows[0].changed
        if await self.edit_memory(change.key, change.scope.label):
            self.services.data.take_in()
            self.chosen.take_off()
            self.services.read()

    async def history(self) -> None:
        change = self.rows[0].changed
        await show_versions(self.services, change.scope, change.key)

    def follow(self) -> None:
        self.services.go_to_memory(self.rows[0].changed.key)


class ProblemCommands(RowCommands[ProblemRow]):
    of_one: ClassVar[frozenset[str]] = frozenset({"approve", "edit", "follow"})

    def why_not(self, verb: str) -> str:
        row = self.rows[0]
        can = verb not in self.of_one or row.paths
        return "" if can else f"This is for you to do: {row.problem.remedy}".rstrip(": ")

    def describe(self, row: ProblemRow) -> Described:
        return Described(draw(row.describe(self.view.data)))

    async def approve(self) -> None:
        """Edit the memory; one whose own check fails may go to the archive instead."""
        row = self.rows[0]
        answer = await self.services.ask(Choice(row.says, CHOICES)) if row.problem.cause == FAILING else "edit"
        if answer == "edit":
            await self.edit()
        elif answer == "archive":
            self.chosen.act(partial(self._archive, row), f"Archived: {self.named([row])}.", MEMORIES)

    def _archive(self, row: ProblemRow) -> None:
        store = self.services.data.store()
        scope = store.files().scope_of(row.paths[0]).scope
        files = changeset.archived(scope.directory, read_memory(row.paths[0], scope.label))
        evidence = [changeset.evidence_of(row.problem.finding)]
        applied = changeset.apply(store, [changeset.propose("archive", files, evidence, row.says)])
        if applied.refused:
            raise applied.refused[0].error

    async def edit(self) -> None:
        path = self.rows[0].paths[0]
        await self.edit_memory(path, self.services.data.store().files().scope_of(path).scope.label)

    async def follow(self) -> None:
        await self.go_to(self.rows[0].paths)


class TrustCommands(RowCommands[TrustRow]):
    def why_not(self, verb: str) -> str:
        is_away = verb == "follow" and verb not in self.rows[0].kind.verbs
        return "It is not on this machine before you accept it." if is_away else ""

    def describe(self, row: TrustRow) -> Described:
        return Described(draw(row.describe(self.view.data)[1:]))  # the border names it

    async def approve(self) -> None:
        """Trust the chosen memories, byte for byte as they are shown; those not on the screen are shown first."""
        rows, data = self.rows, self.services.data
        text, what = Text("\n").join(draw(row.describe(data)) for row in rows), many(len(rows), "memory", "memories")
        verb, done = ("accept", "Accepted") if rows[0].kind is not TRUST else ("trust", "Trusted from now on")
        title = f"{verb.capitalize()} {what}: sessions get this"
        if self.chosen.is_seen() or await self.chosen.agrees(title, text, f"{verb} {what}"):
            grant = partial(outside_changes.grant, data.journal(), [row.untrusted for row in rows])
            self.chosen.act(grant, f"{done}: {self.named(rows)}.")

    async def follow(self) -> None:
        await self.go_to([self.rows[0].untrusted.memory.path])


Families = Mapping[str, RowCommands[Any]]
OF_FAMILY: dict[str, type[RowCommands[Any]]] = {
    "draft": DraftCommands,
    "todo": TodoCommands,
    "changed": ChangedCommands,
    "change": ProposalCommands,
    "problem": ProblemCommands,
    "trust": TrustCommands,
    FOLD.family: FoldCommands,
}


def commands(chosen: Chosen, families: Families) -> dict[str, Command]:
    """Return the commands by the id of their action: of each verb the one of the chosen rows' family."""

    def why_not(verb: str) -> str:
        leader = chosen.leader
        if leader is None:
            return chosen.nothing()
        rows = families[leader.kind.family]
        if hasattr(rows, verb):
            return (rows.screen.one_by_one() if verb in rows.of_one else "") or rows.why_not(verb)
        ways = [f"{keymap.key_of(f'inbox.{other}')} {word}" for other, word in leader.kind.verbs.items()]
        kinds = [kind.plural for kind in KINDS if verb in kind.verbs]
        whose = f"{keymap.key_of(f'inbox.{verb}')} is for {kinds[0]}; of" if len(kinds) == 1 else "That is not for"
        return f"{whose} a {leader.kind.singular}: {', '.join(ways)}."

    def run(verb: str) -> object:
        leader = chosen.leader
        if leader is None:
            return None
        acting = copy(families[leader.kind.family])  # a coroutine goes on later, when other rows may be there
        acting.chosen = copy(chosen)
        acting.chosen.rows = chosen.same_kind()
        return getattr(acting, verb)()

    return {f"inbox.{verb}": Command(partial(run, verb), partial(why_not, verb)) for verb in VERBS}
