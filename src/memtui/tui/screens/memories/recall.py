"""Recall, a state of the Memories list: a prompt on top, the list ordered by how likely each memory helps with it."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rich.text import Text
from textual.message import Message
from textual.widgets import Input
from textual.worker import get_current_worker

from memtui import actions
from memtui.core.base.errors import MemtuiError
from memtui.core.base.phrasing import age, cut, many, some
from memtui.core.base.storage import file_error
from memtui.present import recall as words
from memtui.present import safe_text, unheard
from memtui.recalling import MOST_CHARACTERS, RecallCandidate, Recalling, RecallRun
from memtui.tui.dialogs.ask import Choice, Line
from memtui.tui.screens.list_screen import Described, ListScreen
from memtui.tui.screens.memories import recall_rows, recall_text
from memtui.tui.screens.memories.reading import MemoryReader
from memtui.tui.screens.memories.rows import RULE, Pair
from memtui.tui.screens.memories.table import MemoryTable
from memtui.tui.services import Command, Services, first_of
from memtui.tui.widgets.field import Field, Labelled

if TYPE_CHECKING:
    from memtui.core.client.prompts import Prompt
    from memtui.tui.model.data import Data

NOTHING_TYPED = """Nothing typed yet.
Press {memories.recall} and type a prompt, or ↓ for a recent one, to see which memories Claude would get."""
NO_MEMORIES = """Nothing is remembered here yet, so no prompt brings anything.
escape, then {memories.new} creates a memory; a draft that you accept becomes one, too."""
NO_INDEX = """Nothing can be looked up: the memories have no index yet, and with --read-only none is built.
The next session builds it, and so does `memtui recall`."""
OTHER_WORDS = "Other words may find some, and a trigger of a memory finds it by them."
NO_PROMPTS = "No prompt of this project is on disk: its sessions have no transcripts here."
READING = "Looking …"
NAMES_SHOWN = 3
# Prompts that are offered, and the characters of one in the list.
PROMPTS, PROMPT_SHOWN = 60, 160
# What can't be done to a list that a prompt orders.
WITHOUT = ("sort", "project", "attention")
# The order of actions in the bottom bar, with the words of those that mean something else here.
FOOTER = ("recall", "retype", "remove", "pin", "edit", "filter", "mark")
# The titles and the help of actions that do something else here.
MUTE = ("memories: mute or unmute", "Never deliver it for prompts like this, or deliver it again")
TRIGGER = ("memories: add a trigger", "Find it by other words, too")
FOOTER_WORDS = {"retype": "trigger", "remove": "mute", "pin": "pin"}


def _first_memory(pairs: Sequence[Pair]) -> int | None:
    return next((at for at, pair in enumerate(pairs) if pair is not RULE), None)


@dataclass
class RecallNews(Message):
    """A worker has a result: `show` shows it."""

    show: "Callable[[Recall], None]"


class RecallReader:
    """What the workers of recall do: bring the indexes up to date, run a prompt, read the prompts that can be chosen.
    `post` takes their messages."""

    def __init__(self, data: "Data", post: Callable[[Message], object], *, writes: bool) -> None:
        self.data, self.post = data, post
        self.recalling = Recalling(data, writes=writes)
        self._has_indexed = False
        self._lock = threading.Lock()

    def _news(self, show: "Callable[[Recall], None]") -> None:
        self.post(RecallNews(show))

    def run(self, prompt: str, *, fresh: bool) -> None:
        """Run a prompt as for a new session, and post what it brings. `fresh`: first bring the indexes up to date."""
        worker = get_current_worker()
        with self._lock:  # of several that wait only the newest goes on
            if worker.is_cancelled:
                return
            if fresh or not self._has_indexed:
                self._has_indexed = True
                self._bring_up_to_date()
            try:
                run = self.recalling.run(prompt)
            except (MemtuiError, OSError) as error:
                failure = error if isinstance(error, MemtuiError) else file_error(error)
                self._news(lambda view: view.show_error(failure))
            else:
                if not worker.is_cancelled:
                    self._news(lambda view: view.show_run(run))

    def _bring_up_to_date(self) -> None:
        """Bring the indexes up to date. Where that fails, what there is of them may still do."""
        problem = ""
        try:
            self.recalling.bring_up_to_date(lambda words: self._news(lambda view: view.show_progress(words)))
        except OSError as error:
            problem = f"The index can't be brought up to date: {file_error(error).message}"
        self._news(lambda view: view.show_indexed(problem))

    def read_prompts(self) -> None:
        """Read the prompts that the person typed lately in this project."""
        prompts = self.recalling.prompts(PROMPTS)
        self._news(lambda view: view.show_prompts(prompts))

    def prompts_to_choose(self, prompts: "list[Prompt]") -> list[tuple[str, str]]:
        """Return the prompts as options: (number, words)."""
        now = self.data.now()
        return [
            (str(number), f"{age(each.time or None, now):>4}  {cut(safe_text.line(each.text), PROMPT_SHOWN)}")
            for number, each in enumerate(prompts)
        ]


class Recall:
    """The state. `prompt`: the whole text that is asked about; `last`: what it brought; `line`: where it is typed;
    `leave` ends the state, `relist` shows the list again."""

    def __init__(
        self,
        services: Services,
        screen: ListScreen[Pair],
        table: MemoryTable,
        memories: MemoryReader,
        *,
        leave: Callable[[], object],
        relist: Callable[[], None],
    ) -> None:
        self.services, self.screen, self.list, self.memories = services, screen, table, memories
        self.leave, self.relist = leave, relist
        self.line = Field(placeholder="a prompt, as you would type it to Claude; ↓ takes a recent one", id="prompt")
        self.labelled = Labelled("prompt", self.line)
        self.reader = RecallReader(services.data, screen.post_message, writes=not services.read_only)
        self.prompt = ""
        self.recent: list[Prompt] = []
        self.last = RecallRun("")
        self._candidates: dict[str, RecallCandidate] = {}
        self._problem = self._progress = self._stale = ""
        self._is_newest = False

    def table(self) -> dict[str, Command]:
        """Return command by action id: what keys do while the state lasts."""
        some_memory, one = self.list.why_none, self.screen.one_by_one
        return {
            "memories.recall": Command(self.type_prompt),
            "memories.retype": Command(self.trigger, first_of(some_memory, one), *TRIGGER),
            "memories.remove": Command(self.mute, first_of(some_memory, self._why_no_prompt), *MUTE),
            "memories.left": Command(self.screen.leave_detail),
            **{actions.on_screen("memories", verb).id: Command(self.leave, self._why_ordered) for verb in WITHOUT},
        }

    # running

    def begin(self) -> None:
        """Run the prompt of before, or the newest that the person typed, and let another be typed."""
        self._read_prompts()
        self.run(fresh=True)
        self.type_prompt()

    def run(self, *, fresh: bool) -> None:
        """Run the prompt in a worker; `fresh`: after the memories have changed."""
        prompt = self.prompt
        self.screen.run_worker(
            lambda: self.reader.run(prompt, fresh=fresh), group="recall", thread=True, exclusive=True
        )

    def _read_prompts(self) -> None:
        self.screen.run_worker(self.reader.read_prompts, group="prompts", thread=True, exclusive=True)

    def show_prompts(self, prompts: "list[Prompt]") -> None:
        """Offer the prompts; begin with the newest, if nothing is typed."""
        self.recent = prompts
        if prompts and not self.prompt and not self.line.value:
            self._is_newest = True
            self._put(prompts[0].text)
            self.line.action_select_all()
            self.run(fresh=False)

    def show_progress(self, words: str) -> None:
        """Show what is indexed now."""
        self._progress = words
        self.relist()

    def show_indexed(self, problem: str) -> None:
        """Show that the indexes are up to date, or the problem that keeps them from it."""
        self._progress, self._stale = "", problem
        self.relist()

    def show_error(self, error: MemtuiError) -> None:
        """Show why there is no answer."""
        self._problem = f"{error.message} {error.hint}".strip()
        self._progress, self._candidates, self.last = "", {}, RecallRun(self.prompt)
        self.relist()

    def show_run(self, run: RecallRun) -> None:
        """Show what a prompt would bring, unless another was typed meanwhile."""
        if run.prompt != self.prompt:
            return
        if run.prompt != self.last.prompt:
            self.screen.wanted = _first_memory
        self.last, self._problem = run, ""
        self._candidates = {each.path: each for each in run.candidates}
        self.list.redraw()
        self.relist()

    # the prompt

    def type_prompt(self) -> None:
        """Type a prompt: what stands there is selected."""
        self.screen.remove_class("deep", "whole")
        self.line.focus()
        self.line.action_select_all()

    def show_prompt(self, prompt: str) -> None:
        """Run a prompt, and go to the list."""
        self._is_newest = bool(self.recent) and prompt == self.recent[0].text
        self._put(prompt)
        self.list.focus()
        self.run(fresh=False)

    def _put(self, prompt: str) -> None:
        """Put a prompt into its line, which has no line breaks."""
        self.prompt = prompt[:MOST_CHARACTERS]
        with self.line.prevent(Input.Changed):
            self.line.value = safe_text.line(prompt)

    def typed(self, value: str) -> None:
        """Run the prompt while the person types."""
        if value != safe_text.line(self.prompt):
            self.prompt, self._is_newest = value, False
            self.run(fresh=False)

    async def choose_prompt(self) -> None:
        """Choose one of the prompts that were typed lately."""
        prompts = self.recent
        if not prompts:
            self.services.warn(NO_PROMPTS)
            return
        texts = [safe_text.clean(each.text) for each in prompts]
        options = self.reader.prompts_to_choose(prompts)
        answer = await self.services.ask(
            Choice("A prompt of yours", options, about=lambda number: safe_text.styled(texts[int(number)]))
        )
        if answer is not None:
            self.show_prompt(prompts[int(answer)].text)

    # the list

    def candidate(self, pair: Pair) -> RecallCandidate | None:
        """Return what the search says of a memory; None for the rule."""
        return self._candidates.get(pair[1].memory.path)

    def pairs(self) -> list[Pair]:
        """Return the rows of the list."""
        wanted = self._candidates
        memories = {pair[1].memory.path: pair for pair in self.memories.pairs() if pair[1].memory.path in wanted}
        return recall_rows.pairs(self.last, memories)

    def draw(self, pair: Pair, typed: str) -> list[Text]:
        """Return a row's cells."""
        return recall_rows.draw(self.candidate(pair), typed)

    def count(self, typed: str) -> str:
        """Return how many memories are listed, and marked."""
        shown = sum(pair is not RULE for pair in self.list.rows)
        parts = [f"{shown} of {len(self._candidates)}" if typed else ""]
        parts += [f"{len(self.list.marks)} marked" if self.list.marks else ""]
        return " · ".join(filter(None, parts))

    def why_empty(self) -> str:
        """Return why nothing is listed."""
        if self._problem:
            return safe_text.line(self._problem)
        if self._progress:
            return self._progress
        if self.prompt != self.last.prompt:
            return READING
        if not self.last.memories and (self.last.silent or self.prompt):
            return actions.keyed(NO_MEMORIES, read_only=self.services.read_only)
        if not self.prompt.strip():
            return actions.keyed(NOTHING_TYPED)
        if self.last.silent == "no-index":
            return NO_INDEX
        other_words = f"\n{OTHER_WORDS}" if self.last.silent == "nothing" else ""
        return f"{words.headline(self.last)}.{other_words}"

    def summary(self) -> Text:
        """Return what the prompt would bring, how much that is, and how long it took to find out."""
        line = Text(no_wrap=True, overflow="ellipsis")
        if self._problem or self._stale:
            return line.append("! " + safe_text.line(self._problem or self._stale), style="red")
        if self._progress:
            return line.append(safe_text.line(self._progress), style="bold")
        run = self.last
        if not run.prompt.strip() or not run.memories:
            return line.append("Recall: which memories a prompt would bring, and why", style="bold")
        line.append(words.headline(run), style="bold")
        line.append(self._unheard(), style="bold yellow")
        line.append(f" · {words.amount(run)}" if run.delivered else "", style="dim")
        line.append(f" · {words.took(run)}", style="dim")
        line.append(" · your newest prompt" if self._is_newest else "", style="dim")
        line.append(f" · of {many(run.memories, 'memory', 'memories')}", style="dim")
        return line

    def _unheard(self) -> str:
        """Return why sessions get nothing of this, as a fact of the summary; empty if they do."""
        if why := self.reader.recalling.unheard:
            return f" · {unheard.keyed(why, read_only=self.services.read_only)}"
        return f" · {words.OFF}" if self.last.off else ""

    def describe(self, pair: Pair) -> Described:
        """Return the detail of a memory, or of all that would be delivered."""
        candidate = self.candidate(pair)
        if candidate is None:
            return Described(recall_text.whole(self.last), title=words.title(self.last))
        where, now = self.memories.name_of(pair[0]), self.services.data.now()
        text = recall_text.detail(candidate, self.last, where, now, read_only=self.services.read_only)
        glance = recall_text.glance(candidate, self.last, where, now)
        return Described(text, glance, title=safe_text.line(candidate.name))

    def copied(self, pair: Pair | None) -> str:
        """Return the text for the clipboard: what the model would get."""
        candidate = self.candidate(pair) if pair is not None else None
        return (candidate.text if candidate is not None else "") or self.last.text

    def footer_actions(self) -> list[actions.Action]:
        """Return the actions for the bottom bar."""
        found = [actions.on_screen("memories", verb) for verb in FOOTER]
        return [replace(each, footer=FOOTER_WORDS.get(each.verb, each.footer)) for each in found]

    # what is changed

    def _why_no_prompt(self) -> str:
        return "" if self.prompt.strip() else actions.keyed("Type a prompt first: {memories.recall}.")

    def _why_ordered(self) -> str:
        return "The list is ordered by how likely each memory helps: escape comes back to all memories."

    def _chosen(self) -> list[tuple[Pair, RecallCandidate]]:
        return [(pair, found) for pair in self.list.chosen() if (found := self.candidate(pair)) is not None]

    async def trigger(self) -> None:
        """Add a line on when the memory is needed, first of all the prompt itself."""
        ((pair, _),) = self._chosen()
        name = safe_text.line(pair[1].memory.name, 60)
        about = "When is it needed? In the words of a prompt, other than its own."
        answer = await self.services.ask(Line(f"A trigger for {name}", safe_text.line(self.prompt, 300), about=about))
        if answer is not None and answer.strip():
            self._change(lambda: self.reader.recalling.add_trigger(pair[1].memory, answer), "Trigger added.")

    def mute(self) -> None:
        """Never deliver the chosen memories for prompts like this one; take that back for those that are muted."""
        chosen, prompt = self._chosen(), self.prompt
        back = all(candidate.outcome == "muted" for _, candidate in chosen)
        memories = [pair[1].memory for pair, candidate in chosen if (candidate.outcome == "muted") == back]
        done = "Delivered again for prompts like this" if back else "Muted for prompts like this"
        names = some([safe_text.line(each.name, 60) for each in memories], NAMES_SHOWN)
        self._change(lambda: self.reader.recalling.mute(memories, prompt, back=back), f"{done}: {names}.")

    def _change(self, change: Callable[[], object], done: str) -> None:
        try:
            change()
            self.list.clear_marks()
            self.services.say(f"{done} {actions.takes_back()}")
        finally:
            self.services.read()
