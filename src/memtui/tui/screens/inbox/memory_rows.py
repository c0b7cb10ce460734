"""Memories that others wrote, that have a problem, or are not trusted: as rows of the inbox with commands."""

import asyncio
from collections.abc import Callable
from functools import partial

from rich.text import Text

from memtui.base.findings import Problem
from memtui.base.phrasing import many, some
from memtui.review import outside_changes
from memtui.review.outside_changes import Changed
from memtui.store.versions.writers import Occasions
from memtui.tidy.checks import fixes
from memtui.tui.batch import left_alone
from memtui.tui.dialogs import history
from memtui.tui.dialogs.ask import Choice
from memtui.tui.screens.frame import Described
from memtui.tui.screens.inbox.chosen import RowCommands
from memtui.tui.screens.inbox.text import lines_of
from memtui.tui.services import Command, first_of
from memtui.tui.widgets.parts import draw
from memtui.views import changes
from memtui.views.decisions import ChangedRow, ProblemRow, TrustRow


class ChangedCommands(RowCommands[ChangedRow]):
    """The commands that keep, edit and reject memories that somebody else wrote."""

    def table(self) -> dict[str, Command]:
        one = self.screen.one_by_one
        return super().table() | {
            "approve": Command(self.keep),
            "edit": Command(self.edit, first_of(one, self._why_no_edit)),
            "reject": Command(self.reject_changes),
            "history": Command(self.history, one),
            "follow": Command(lambda: self.services.go_to_memory(self._memories()[0].key), one),
        }

    def look_up(self, row: ChangedRow) -> Callable[[], object] | None:
        """Return what finds the session and the prompt in which an agent wrote it."""
        is_known = not row.changed.writer.session or row.key in self.view.occasions
        return None if is_known else partial(Occasions(self.view.data.env).of, row.changed.writer)

    def describe(self, row: ChangedRow) -> Described:
        """Return who wrote it, and the lines that differ."""
        view = self.view
        text = draw([self.own_text(row), *row.describe(view.data, view.occasions.get(row.key))])
        view.needed = lines_of(text, view.detail_width)
        keys = [
            ("inbox.approve", "keep it: it is trusted, and sessions get it" if row.undelivered else "keep it"),
            ("inbox.reject", f"reject it: {changes.BACK[row.changed.kind]}"),
            ("inbox.edit", "edit it; what you save counts as seen"),
        ]
        return self.with_keys(text, keys[: 2 + (row.changed.kind != "deleted")])

    def copied(self, row: ChangedRow) -> str:
        """Return the lines that differ."""
        return draw([row.difference(self.view.data)]).plain

    def _memories(self) -> list[Changed]:
        return [row.changed for row in self.chosen.rows(ChangedRow)]

    async def _agreed(self, verb: str, *, back: bool = False) -> bool:
        """Show what is not on the screen, `back`: what rejecting does; return whether the person goes on."""
        if self.chosen.is_seen():
            return True
        text, rows, data = Text(), self.chosen.rows(ChangedRow), self.services.data
        occasions = Occasions(data.env)
        for row in rows:
            occasion = await asyncio.to_thread(occasions.of, row.changed.writer)
            text.append_text(draw(row.describe(data, occasion, back=back))).append("\n")
        what = f"{verb} {many(len(rows), 'memory', 'memories')}"
        title = "this is what changes" if back else "this is what was changed"
        return await self.chosen.agrees(f"{what[0].upper()}{what[1:]}: {title}", text, what)

    async def keep(self) -> None:
        """Mark the chosen ones as seen, and trust those that are not; what is not on the screen is shown first."""
        memories, data = self._memories(), self.services.data
        if await self.goes_on_with_own(self.chosen.same_kind(), self.edit):
            return
        trusted = [row.undelivered for row in self.chosen.rows(ChangedRow)]
        if await self._agreed("keep and trust" if any(trusted) else "keep"):
            sentence = changes.done("keep", memories) + (" Sessions get it now." if trusted == [True] else "")
            self.chosen.act(lambda: outside_changes.keep(data.store().journal, data.versions, memories), sentence)

    async def reject_changes(self) -> None:
        """Restore what the person saw last, as one step of undo; what is not on the screen is shown first."""
        memories, data = self._memories(), self.services.data
        rejected = self.rejected(self.chosen.same_kind())
        if not await self._agreed("reject", back=True):
            return
        try:
            work = partial(outside_changes.reject, data.store(), data.versions, memories)
            outcome = await self.services.progress.run(work, len(memories))
            self.chosen.take_off([f"changed:{item.key}" for item, _ in outcome.failed])
            data.take_in()
        finally:
            self.services.read()
        if len(memories) == 1 and outcome.failed:
            raise outcome.failed[0][1]
        if not outcome.failed:
            self.chosen.say(rejected)
            return
        answer = changes.done("reject", [item for item, _ in outcome.done], len(outcome.failed))
        reasons = [(row["name"], row["message"]) for row in changes.failures(outcome.failed)]
        await self.services.ask(left_alone(f"{many(len(reasons), 'memory', 'memories')} left alone: {answer}", reasons))

    async def edit(self) -> None:
        """Edit the memory in its form, over the inbox: what is saved there counts as seen."""
        (item,) = self._memories()
        if await self.edit_memory(item.key, item.scope.label):
            self.services.data.take_in()
            self.chosen.take_off()
            self.services.read()

    async def history(self) -> None:
        """List the versions of the chosen one, and restore one."""
        (item,) = self._memories()
        await history.show_memory(self.services, item.scope, item.key)

    def _why_no_edit(self) -> str:
        return "It was deleted: there is nothing to edit." if self._memories()[0].kind == "deleted" else ""


# The problems that a choice between two versions ends.
CONFLICTS = ("memories.conflict", "memories.index_conflict")
VERSIONS = (("ours", "Keep our version"), ("theirs", "Keep their version"), ("both", "Keep both, ours first"))


class ProblemCommands(RowCommands[ProblemRow]):
    def table(self) -> dict[str, Command]:
        one = first_of(self.screen.one_by_one, self._why_no_memory)
        return super().table() | {
            "approve": Command(self.edit, one),
            "edit": Command(self.edit, one),
            "reject": Command(self.never),
            "follow": Command(lambda: self.go_to(self._row().paths), one),
        }

    def describe(self, row: ProblemRow) -> Described:
        """Return what is wrong, the memories, and what to do."""
        text = draw(row.describe(self.view.data))
        keys = [("inbox.approve", "edit the memory"), ("inbox.follow", "go to the memory")] if row.paths else []
        if row.problem.cause in CONFLICTS:
            keys = [("inbox.approve", "choose which version to keep"), *keys[1:]]
        keys += [("inbox.reject", "reject: do not list it again"), ("inbox.later", "list it later")]
        return self.with_keys(text, keys)

    def _row(self) -> ProblemRow:
        return self.chosen.rows(ProblemRow)[0]

    def _why_no_memory(self) -> str:
        row = self._row()
        can = row.paths or row.problem.cause in CONFLICTS
        return "" if can else f"This is for you to do: {row.problem.remedy}".rstrip(": ")

    async def edit(self) -> None:
        """Edit the memory in its form, over the inbox; of what git could not merge, ask which version to keep."""
        row = self._row()
        if row.problem.cause in CONFLICTS:
            await self._resolve(row.problem)
            return
        scopes, path = self.services.data.scopes(), row.paths[0]
        await self.edit_memory(path, next((s.label for s in scopes if path.startswith(s.directory + "/")), ""))

    async def _resolve(self, problem: Problem) -> None:
        names = some(problem.memories or ["MEMORY.md"])
        side = await self.services.ask(Choice(f"Git could not merge two versions: {names}", VERSIONS))
        if side:
            subjects, store = [finding.subject for finding in problem.parts], self.services.data.store()
            self.chosen.act(lambda: fixes.resolve(store, subjects, side), f"Resolved: {names}.")


class TrustCommands(RowCommands[TrustRow]):
    def table(self) -> dict[str, Command]:
        return super().table() | {
            "approve": Command(self.trust),
            "reject": Command(self.never),
            "follow": Command(lambda: self.go_to([self._rows()[0].untrusted.memory.path]), self.screen.one_by_one),
        }

    def describe(self, row: TrustRow) -> Described:
        """Return its whole text, as the agent gets it."""
        keys = [("inbox.approve", "trust it as shown: sessions get it"), ("inbox.reject", "reject: do not ask again")]
        return self.with_keys(draw(row.describe(self.view.data)), keys)

    def _rows(self) -> list[TrustRow]:
        return self.chosen.rows(TrustRow)

    async def trust(self) -> None:
        """Trust the chosen memories, byte for byte as they are shown; those not on the screen are shown first."""
        rows, data = self._rows(), self.services.data
        text, what = Text("\n").join(draw(row.describe(data)) for row in rows), many(len(rows), "memory", "memories")
        title = f"Trust {what}: sessions get this"
        if not self.chosen.is_seen() and not await self.chosen.agrees(title, text, f"trust {what}"):
            return
        grant = partial(outside_changes.grant, data.journal(), [row.untrusted for row in rows])
        self.chosen.act(grant, f"Trusted from now on: {self.named(rows)}.")
