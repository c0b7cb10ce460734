"""The commands of the Recall screen: choose a prompt and a session; pin, mute, add a trigger; edit, go to a memory."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from memtui import actions
from memtui.core.memories import memory
from memtui.core.memories.memory import Memory
from memtui.present import safe_text
from memtui.recalling import RecallCandidate
from memtui.tui.dialogs.ask import Choice, Line
from memtui.tui.model import autosave
from memtui.tui.screens.recall.rows import RecallRow, memories
from memtui.tui.services import Command, Services, first_of

if TYPE_CHECKING:
    from memtui.core.client.prompts import Prompt
    from memtui.tui.screens.recall.reading import RecallReader
    from memtui.tui.widgets.rows import RowList

NO_PROMPT = "Type a prompt first: {recall.ask}."
NO_PROMPTS = "No prompt of this project is on disk: its sessions have no transcripts here."


class PromptScreen(Protocol):
    """The screen as its commands use it: the `prompt` and whose it would be (`session`, empty for a new one), the
    `recent` prompts of the person, the list and the reader."""

    prompt: str
    session: str
    recent: "list[Prompt]"
    table: "RowList[RecallRow]"
    reader: "RecallReader"

    def one_by_one(self) -> str:
        """Return why a command works on one row only; empty if not several are marked."""

    def type_prompt(self) -> None:
        """Let the person type a prompt."""

    def show_prompt(self, prompt: str) -> None:
        """Show a prompt, and what it would bring."""

    def show_session(self, session: str, words: str) -> None:
        """Ask as for a session; `words` say which."""


class RecallCommands:
    """The commands, on the list of the screen and what it shows."""

    def __init__(self, services: Services, screen: PromptScreen) -> None:
        self.services, self.screen = services, screen

    def table(self) -> dict[str, Command]:
        """Return the commands by action id."""
        some = self._why_no_memory
        one = first_of(some, self.screen.one_by_one)
        here = first_of(one, self._why_gone)
        return {
            "app.note": Command(self.tell),
            "recall.ask": Command(self.screen.type_prompt),
            "recall.prompts": Command(self.prompts),
            "recall.session": Command(self.session),
            "recall.trigger": Command(self.trigger, here),
            "recall.mute": Command(self.mute, first_of(some, self._why_no_prompt)),
            "recall.pin": Command(self.pin, first_of(some, self._why_read_only)),
            "recall.edit": Command(self.edit, here),
            "recall.follow": Command(self.follow, one),
        }

    # why a command can't be run

    def _why_no_memory(self) -> str:
        table = self.screen.table
        if table.marks and not table.chosen():
            return "The filter hides the marked ones: escape shows them."
        return "" if table.chosen() else "There is no memory under the cursor."

    def _why_no_prompt(self) -> str:
        return "" if self.screen.prompt.strip() else actions.keyed(NO_PROMPT)

    def _why_gone(self) -> str:
        return "Its file is gone." if any(each.outcome == "gone" for each in self._chosen()) else ""

    def _why_read_only(self) -> str:
        return self._why_gone()

    def _chosen(self) -> list[RecallCandidate]:
        return memories(self.screen.table.chosen())

    def _read(self, found: RecallCandidate) -> Memory:
        return memory.read_memory(found.path, found.scope)

    # what is asked

    async def prompts(self) -> None:
        """Choose one of the prompts that were typed lately."""
        found = self.screen.recent
        if not found:
            self.services.warn(NO_PROMPTS)
            return
        texts = [safe_text.clean(each.text) for each in found]
        chosen = Choice(
            "A prompt of yours",
            self.screen.reader.prompts_to_choose(found),
            about=lambda number: safe_text.styled(texts[int(number)]),
        )
        answer = await self.services.ask(chosen)
        if answer is not None:
            self.screen.show_prompt(found[int(answer)].text)

    async def session(self) -> None:
        """Choose for which session: a new one, or one that has been told something already."""
        import asyncio

        options = await asyncio.to_thread(self.screen.reader.sessions_to_choose)
        answer = await self.services.ask(
            Choice(
                "What it would bring, for", options, self.screen.session, below="● live. What it has already counts."
            )
        )
        if answer is not None:
            words = next(words for value, words in options if value == answer)
            self.screen.show_session(answer, words.strip())

    # what is changed

    async def trigger(self) -> None:
        """Add a line on when the memory is needed, first of all the prompt itself."""
        (found,) = self._chosen()
        about = "When is it needed? In the words of a prompt, other than its own."
        answer = await self.services.ask(
            Line(
                f"A trigger for {safe_text.line(found.name, 60)}", safe_text.line(self.screen.prompt, 300), about=about
            )
        )
        if answer is None or not answer.strip():
            return
        self._changed(lambda: self.screen.reader.recalling.add_trigger(self._read(found), answer), "Trigger added.")

    def mute(self) -> None:
        """Never deliver the chosen memories for prompts like this one; take that back for those that are muted."""
        chosen = self._chosen()
        back = all(each.outcome == "muted" for each in chosen)
        recalling, prompt = self.screen.reader.recalling, self.screen.prompt
        found = [each for each in chosen if (each.outcome == "muted") == back]
        words = "Delivered again for prompts like this" if back else "Muted for prompts like this"
        names = ", ".join(safe_text.line(each.name, 60) for each in found[:3])
        names += f" and {len(found) - 3} more" if len(found) > 3 else ""
        self._changed(
            lambda: recalling.mute([self._read(each) for each in found], prompt, back=back), f"{words}: {names}."
        )

    def pin(self) -> None:
        """Pin the chosen memories, so that they count more; unpin them if all are pinned."""
        found = self._chosen()
        off = all(each.pinned for each in found)
        recalling = self.screen.reader.recalling
        words = "Unpinned" if off else "Pinned"
        self._changed(lambda: recalling.pin([self._read(each) for each in found], pinned=not off), f"{words}.")

    def _changed(self, change: Callable[[], object], words: str) -> None:
        try:
            change()
            self.screen.table.clear_marks()
            self.services.say(f"{words} {actions.takes_back()}")
        finally:
            self.services.read()

    async def edit(self) -> None:
        """Edit the memory in the form."""
        from memtui.tui.dialogs.draft_form import DraftForm
        from memtui.tui.dialogs.memory_subject import TOO_LARGE, MemorySubject, too_large

        (row,) = self._chosen()
        found = self._read(row)
        if too_large(found):
            self.services.warn(actions.keyed(TOO_LARGE))
            return
        kept = autosave.kept(self.services.data.root, autosave.name_of(found.path))
        await self.services.ask(DraftForm(MemorySubject(self.services.data, found, kept), self.services))
        self.services.read()

    async def tell(self) -> None:
        """Write guidance: to the session that was chosen, else to the project."""
        from memtui.tui.dialogs.draft_form import DraftForm
        from memtui.tui.dialogs.guidance_subject import SESSION, GuidanceSubject, blank

        data, session = self.services.data, self.screen.session
        subject = GuidanceSubject(data)
        if session:
            subject = GuidanceSubject(data, blank(data, to=SESSION + session), key=f"session-{session}")
        if await self.services.ask(DraftForm(subject, self.services)):
            self.services.read()

    def follow(self) -> None:
        """Go to the memory, on its screen."""
        row: RecallRow | None = self.screen.table.row
        if row is not None and row.found is not None:
            self.services.go_to_memory(row.found.path)
