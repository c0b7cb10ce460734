"""The commands of the Subconscious screen: change a block, withdraw a whisper, stop it, have it read."""

import asyncio
from collections.abc import Sequence

from memtui import actions
from memtui.core.base import fastjson
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import age, many
from memtui.core.review.waiting import waiting_in
from memtui.present import safe_text
from memtui.present import subconscious as present
from memtui.subconscious import control, overview, undoing
from memtui.subconscious.block_versions import SUBCONSCIOUS, BlockVersion, before
from memtui.subconscious.blocks import Blocks
from memtui.subconscious.running import Along
from memtui.subconscious.whispers import Whisper
from memtui.tui.batch import left_alone
from memtui.tui.dialogs.ask import Choice
from memtui.tui.dialogs.draft_form import DraftForm
from memtui.tui.dialogs.preview import Preview
from memtui.tui.model import line_diff
from memtui.tui.screens.list_screen import ListScreen
from memtui.tui.screens.subconscious import text
from memtui.tui.screens.subconscious.block_subject import BlockSubject
from memtui.tui.screens.subconscious.rows import WAITING, SubconsciousRow
from memtui.tui.services import Command, Services, first_of
from memtui.worker import starting

RUNNING = "memtui.subconscious.running"


class SubconsciousCommands:
    """The commands, on the list of the screen."""

    def __init__(self, services: Services, screen: ListScreen[SubconsciousRow]) -> None:
        self.services, self.screen = services, screen

    def table(self) -> dict[str, Command]:
        """Return command by action id."""
        no_row = self.screen.no_row
        return {
            "subconscious.edit": Command(self.edit, first_of(no_row, self._why_no_block)),
            "subconscious.history": Command(self.history, first_of(no_row, self._why_no_block, self._why_no_versions)),
            "subconscious.back": Command(self.take_back, first_of(no_row, self._why_not_back)),
            "subconscious.session": Command(self.session, first_of(no_row, self._why_no_session)),
            "subconscious.stop": Command(self.stop),
            "subconscious.read": Command(self.read_now, self._why_not_now),
        }

    @property
    def _row(self) -> SubconsciousRow | None:
        return self.screen.table.row

    def _why_no_block(self) -> str:
        return "" if self._row is not None and self._row.name else "That is no block."

    def _why_no_versions(self) -> str:
        row = self._row
        return f"{row.name} has no versions yet: nobody has changed it." if row is not None and not row.versions else ""

    def _why_not_back(self) -> str:
        row = self._row
        if row is None or row.mention is not None:
            return "That is no block, no run and no whisper."
        if row.whisper is not None:
            return "" if row.outcome == WAITING else "It does not wait any more."
        if row.run is not None:
            return "" if row.changes else "That run changed no block."
        return self._why_no_versions()

    def _why_no_session(self) -> str:
        return "" if self._row is not None and self._row.session else "A block is of no session."

    def _why_not_now(self) -> str:
        data = self.services.data
        return control.powers(data.env, data.root, data.project_root).missing

    async def edit(self) -> None:
        """Change the block under the cursor in a form."""
        row = self._row
        if row is None:
            return
        form = DraftForm(BlockSubject(self.services.data, row.name), self.services)
        if await self.services.ask(form):
            self.services.read()

    async def history(self) -> None:
        """List the versions of a block with what each changed, and restore the chosen one."""
        row, data = self._row, self.services.data
        if row is None:
            return
        at = await self._chosen(row, f"Versions of {row.name}: enter restores one")
        if at is None:
            return
        chosen, number = row.versions[at], len(row.versions) - at
        if chosen.content == row.content:
            self.services.say("That is the present text.")
            return
        drawn = line_diff.drawn(row.content, chosen.content, ("the present text", f"version {number}"))
        title = f"{row.name} becomes version {number}"
        if await self.services.ask(Preview(title, drawn, "" if self.services.read_only else "restore it")):
            try:
                Blocks(data.root, data.slug, data.now).replace(row.name, chosen.text, data.journal(), row.content)
                self.services.say(f"Restored version {number} of {row.name}. {actions.takes_back()}")
            finally:
                self.services.read()

    async def _chosen(self, row: SubconsciousRow, question: str, current: int = 0) -> int | None:
        """Ask for one of the versions of a block; return its place among them. The cursor is on the `current` one."""
        versions, now = row.versions, self.services.data.now()
        lines = [
            (str(at), f"{len(versions) - at:>3}  {age(each.time, now):>4}  {safe_text.line(writer, 80)}")
            for at, (each, writer) in enumerate(zip(versions, present.writers(versions), strict=True))
        ]
        about = lambda value: text.changed(before(versions, int(value)), versions[int(value)].content)
        answer = await self.services.ask(Choice(question, lines, str(current), about=about))
        return None if answer is None else int(answer)

    async def take_back(self) -> None:
        """Undo the chosen change of a block, or all changes of a run, and nothing that was changed later; withdraw a
        whisper."""
        row = self._row
        if row is None:
            return
        if row.whisper is not None:
            self._withdraw(row.whisper)
        elif row.run is not None:
            await self._undo([version for version, _ in row.changes])
        else:
            await self._undo_one(row)

    async def _undo_one(self, row: SubconsciousRow) -> None:
        own = (at for at, each in enumerate(row.versions) if each.by == SUBCONSCIOUS)
        question = f"Changes of {row.name}: enter undoes one, and keeps the later ones"
        at = await self._chosen(row, question, next(own, 0))
        if at is not None:
            await self._undo([row.versions[at]])

    async def _undo(self, versions: Sequence[BlockVersion]) -> None:
        data = self.services.data
        try:
            found = undoing.each(data.root, versions, data.journal(), data.now)
        finally:
            self.services.read()
        said = present.undone(found)
        failed = [(each.version.block, each.error) for each in found if each.error is not None]
        if not failed:
            back = f" {actions.takes_back()}" if any(each.done for each in found) else ""
            self.services.say(said + back)
        elif len(found) == 1:
            self.services.fail(failed[0][1])
        else:
            reasons = [(name, f"{error.message} {error.hint}".strip()) for name, error in failed]
            await self.services.ask(left_alone(f"{said} {many(len(failed), 'change')} left alone:", reasons))

    def _withdraw(self, whisper: Whisper) -> None:
        data = self.services.data
        items = waiting_in(data.root, [whisper.project], ("guidance",))
        found = [each for each in items if each.id == whisper.id]
        if not found:
            raise MemtuiError("It was delivered meanwhile.")
        try:
            data.review().withdraw(found)
            self.services.say(f"Withdrawn. {actions.takes_back()}")
        finally:
            self.services.read()

    def session(self) -> None:
        """Show the deliveries of the session of a row."""
        if self._row is not None:
            self.services.show_activity(f"session:{self._row.session}")

    def stop(self) -> None:
        """Stop the subconscious, or let it read sessions again."""
        data = self.services.data
        again = actions.key_of("subconscious.stop")
        if control.stop(data.root):
            self.services.say(f"The subconscious is stopped, in all projects. {again} starts it again.")
        else:
            control.start(data.root)
            why = control.powers(data.env, data.root, data.project_root).missing
            self.services.say("It may read sessions again." + (f" But: {why}" if why else ""))
        self.screen.reload()

    async def read_now(self) -> None:
        """Have it read the session of the row, or the newest one of the project, in the background."""
        data = self.services.data
        row = self._row
        payload = overview.payload(data.env, data.cwd, row.session if row is not None else "")
        if not await asyncio.to_thread(Along(data.env, payload, data.now).has_news):
            self.services.say(f"Nothing new was said in session {payload['session_id'][:8]}.")
            return
        starting.start(data.env, data.root, data.cwd, RUNNING, given=fastjson.dumps(payload).encode())
        self.services.say(f"It reads session {payload['session_id'][:8]} now; what comes of it shows here.")
