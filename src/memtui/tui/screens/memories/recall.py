"""Recall, a state of the Memories list: a prompt on top, the list ordered by how likely each memory helps with it."""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from rich.text import Text
from textual import events
from textual.widgets import Input
from textual.widgets.input import Selection
from textual.worker import get_current_worker

from memtui import keymap
from memtui.base import findings
from memtui.base.errors import MemtuiError
from memtui.base.phrasing_hot import age, cut, short, some
from memtui.base.storage import file_error
from memtui.recall_preview import MOST_CHARACTERS, RecallCandidate, Recalling, RecallRun
from memtui.tui.dialogs.ask import Choice, Line
from memtui.tui.screens.frame import Described
from memtui.tui.screens.memories.detail import append_reasons, recall_head, rule_text
from memtui.tui.screens.memories.reader import Pair
from memtui.tui.screens.memories.rows import RULE, SAYS_FROM, WHOLE_TYPE
from memtui.tui.services import Command, first_of
from memtui.tui.texts import TABLES, TEXTS
from memtui.tui.widgets.detail import append_keys
from memtui.tui.widgets.lines import Field, Labelled
from memtui.tui.widgets.rows import Column
from memtui.views import colours, glyphs, notes, safe_text
from memtui.views import recall as words

if TYPE_CHECKING:
    from memtui.client.transcripts.prompts import Prompt

TITLE = "Recall: which memories a prompt would bring, and why"
HINT = "a prompt, as you would type it to Claude; down takes a recent one"
NO_PROMPTS = "No prompt of this project is on disk: its sessions have no transcripts here."
READING = "Looking …"
NAMES_SHOWN = 3
# Prompts that are offered, those of them that are tried for the first, and the characters of one in the list.
PROMPTS, TRIED, PROMPT_SHOWN = 60, 8, 160
WITHOUT = TABLES["not while a prompt orders the list"]  # by action: why
# The order of actions in the bottom bar, with the words of those that mean something else here.
FOOTER = ("recall", "retype", "remove", "pin", "edit", "filter", "mark")
FOOTER_WORDS = {"retype": "trigger", "remove": "mute", "pin": "pin"}
# The titles and the help of actions that do something else here.
MUTE = ("memories: mute or unmute", "Never deliver it for prompts like this, or deliver it again")
TRIGGER = ("memories: add a trigger", "Find it by other words, too")
LEGEND = glyphs.section("Memories", words.MARKS) + "\n" + TEXTS["recall legend"]


class Recall(Labelled):
    """The state of a `screen`, Memories, and the line of the `prompt`; `last`: what it brought."""

    columns = (
        Column("", 1),
        Column("likely", 11, from_width=WHOLE_TYPE),
        Column("likely", 6, until_width=WHOLE_TYPE),
        Column("name"),
        Column("what it says", from_width=SAYS_FROM),
        Column("tokens", 6, right=True, from_width=SAYS_FROM),
    )

    def __init__(self, memories: Any) -> None:
        self.line = Field(placeholder=HINT, id="prompt", select_on_focus=False)
        super().__init__("prompt", self.line)
        self.memories, self.services = memories, memories.services
        self.list, self.reader = memories.table, memories.reader
        self._usual = (memories.commands, memories.legend)
        self.recalling = Recalling(self.services.data, writes=not self.services.read_only)
        self.prompt = ""
        self.recent: list[Prompt] = []
        self.last = RecallRun("")
        self._candidates: dict[str, RecallCandidate] = {}
        self._problem = self._step = self._index_problem = ""
        self._has_indexed = False
        self._one_run = threading.Lock()

    def begin(self) -> None:
        """Begin the state: run the prompt of before, or the newest that the person typed, and let another be typed."""
        memories, some_chosen = self.memories, first_of(self.list.why_none, self.memories.no_row)
        commands = {
            **self._usual[0],
            "memories.recall": Command(self.type_prompt),
            "memories.retype": Command(self.trigger, first_of(some_chosen, memories.one_by_one), *TRIGGER),
            "memories.remove": Command(self.mute, first_of(some_chosen, self._why_no_prompt), *MUTE),
            "list.left": Command(memories.leave_detail),
            **{action: Command(self.leave, partial(keymap.keyed, why)) for action, why in WITHOUT.items()},
        }
        row_id = self.list.row_id
        self.list.recall = self
        memories.add_class("recalling")
        self._show_state(commands, LEGEND)
        memories.rows_before["recall"] = row_id
        self.run(fresh=True)
        self.run_worker(self._read_prompts, group="prompts", thread=True)
        self.type_prompt()

    def leave(self) -> bool:
        self.list.recall = None
        self.memories.remove_class("recalling")
        self._show_state(*self._usual, self.memories.rows_before.pop("recall", ""))
        self.list.focus()
        return True

    def _show_state(self, commands: dict[str, Command], legend: str, row_id: str = "") -> None:
        memories = self.memories
        memories.commands, memories.legend = commands, legend
        memories.clear_filter()
        self.list.clear_marks()
        memories.go_back_to(row_id)
        memories.sift()
        memories.wanted = None

    # in workers

    def run(self, *, fresh: bool) -> None:
        """Run the prompt in a worker; `fresh`: after the memories have changed."""
        prompt = self.prompt
        self.run_worker(lambda: self._run(prompt, fresh=fresh), group="recall", thread=True, exclusive=True)

    def _run(self, prompt: str, *, fresh: bool) -> None:
        """Run a prompt as for a new session. `fresh`: first bring the indexes up to date."""
        worker = get_current_worker()
        with self._one_run:  # of several that wait only the newest goes on
            if worker.is_cancelled:
                return
            if fresh or not self._has_indexed:
                self._has_indexed, problem = True, ""
                try:
                    self.recalling.bring_up_to_date(lambda step: self.memories.call_later(self._show_index, step, ""))
                except OSError as error:  # what there is of the indexes may still do
                    problem = f"The index can't be brought up to date: {file_error(error).message}"
                self.memories.call_later(self._show_index, "", problem)
            run, problem = RecallRun(prompt), ""
            try:
                run = self.recalling.run(prompt)
            except (MemtuiError, OSError) as error:
                to_show = error if isinstance(error, MemtuiError) else file_error(error)
                problem = f"{to_show.message} {to_show.hint}".strip()
            if not worker.is_cancelled:
                self.memories.call_later(self._show_run, run, problem)

    def _read_prompts(self) -> None:
        """Read the prompts, and find the newest that brings a memory: one that brings nothing shows little."""
        prompts = self.recalling.prompts(PROMPTS)
        first = prompts[0] if prompts else None
        with self._one_run, suppress(MemtuiError, OSError):  # the indexes are up to date then
            first = next((prompt for prompt in prompts[:TRIED] if self.recalling.run(prompt.text).delivered), first)
        self.memories.call_later(self._show_prompts, prompts, first)

    def _show_prompts(self, prompts: "list[Prompt]", first: "Prompt | None") -> None:
        """Offer the prompts; begin with the `first`, if nothing is typed."""
        self.recent = prompts
        if first is not None and not self.prompt and not self.line.value:
            self.put(first.text)

    def _show_index(self, step: str, problem: str) -> None:
        """Show what is indexed now, or the problem that keeps the indexes from being brought up to date."""
        self._step, self._index_problem = step, problem
        self._relist()

    @property
    def _is_late(self) -> bool:
        return self.prompt != self.last.prompt

    def _show_run(self, run: RecallRun, problem: str) -> None:
        """Show what a prompt would bring, or the problem with that, unless another was typed meanwhile."""
        if run.prompt != self.prompt:
            return
        if run.prompt != self.last.prompt:
            self.memories.wanted = lambda pairs: next((at for at, pair in enumerate(pairs) if pair is not RULE), None)
        self.last, self._problem = run, problem
        self._candidates = {candidate.path: candidate for candidate in run.candidates}
        self.list.redraw()
        self._relist()

    def _relist(self) -> None:
        if self.list.recall:
            self.memories.sift()

    def type_prompt(self) -> None:
        """Type a prompt: what stands there is selected, and seen from its beginning."""
        self.memories.remove_class("deep")
        self.line.focus()
        self.line.selection = Selection(len(self.line.value), 0)

    def put(self, prompt: str) -> None:
        """Put a prompt into its line, which has no line breaks, and run it."""
        self.prompt = prompt[:MOST_CHARACTERS]
        with self.line.prevent(Input.Changed):
            self.line.value = safe_text.line(prompt)
        self.line.selection = Selection(len(self.line.value), 0)
        self.run(fresh=False)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if event.value != safe_text.line(self.prompt):
            self.prompt = event.value
            self.run(fresh=False)

    def on_descendant_focus(self) -> None:
        """Show one cursor: that of the prompt while it is typed, else that of the list."""
        super().on_descendant_focus()
        self.list.has_cursor = not self.has_focus_within
        self.list.redraw()

    on_descendant_blur = on_descendant_focus

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if event.value.strip():  # else the line keeps the keys: there is no list to go to
            self.list.focus()

    def on_key(self, event: events.Key) -> None:
        if event.key in {"up", "down"}:
            event.stop()
            event.prevent_default()
            self.services.start(self.memories, self._choose_prompt(), "memories.recall")

    async def _choose_prompt(self) -> None:
        if not self.recent:
            self.services.warn(NO_PROMPTS)
            return
        now = self.services.data.now()
        texts = [cut(safe_text.line(prompt.text), PROMPT_SHOWN) for prompt in self.recent]
        rows = enumerate(zip(self.recent, texts, strict=True))
        options = [(str(number), f"{age(prompt.time or None, now):>4}  {text}") for number, (prompt, text) in rows]
        about = lambda number: safe_text.styled(safe_text.clean(self.recent[int(number)].text))
        answer = await self.services.ask(Choice("A prompt of yours", options, about=about))
        if answer is not None:
            self.list.focus()
            self.put(self.recent[int(answer)].text)

    def candidate(self, pair: Pair | None) -> RecallCandidate | None:
        """Return what the search says of a memory; None for the rule."""
        return self._candidates.get(pair[1].memory.path) if pair is not None else None

    def pairs(self) -> list[Pair]:
        """Return what would be delivered, the rule, and what is left out. A memory that is not read yet has no row."""
        pairs = {path: pair for pair in self.reader.pairs() if (path := pair[1].memory.path) in self._candidates}
        delivered = [pairs[candidate.path] for candidate in self.last.delivered if candidate.path in pairs]
        left_out = [pairs[candidate.path] for candidate in self.last.left_out if candidate.path in pairs]
        return [*delivered, RULE, *left_out] if delivered or left_out else []

    def rule(self) -> str:
        return f"{words.amount(self.last)} · " * bool(self.last.delivered) + words.others(self.last)

    def draw(self, pair: Pair) -> list[Text]:
        candidate = self.candidate(pair)
        if candidate is None:
            return [Text()] * len(self.columns)
        mark, style, _ = words.outcome(candidate.outcome)
        if findings.problems(pair[1].flags):
            mark, style = "!", colours.PROBLEM
        name, says = self.list.draw_words(pair, "bold" if candidate.delivered else "")
        likely, colour = words.scored(candidate, self.last), colours.GOOD if candidate.delivered else "dim"
        amount = Text(short(candidate.tokens) if candidate.units else "", style="dim")
        return [Text(mark, style=style), Text(likely, style=colour), Text(likely[:4], style=colour), name, says, amount]

    def why_empty(self) -> str:
        run = self.last
        if self._problem or self._step:
            return safe_text.line(self._problem) or self._step
        if self._is_late:
            return READING
        if not run.memories and (run.silent or self.prompt):
            return keymap.keyed(TEXTS["recall without memories"], read_only=self.services.read_only)
        if not self.prompt.strip():
            return "Type a prompt, or down for a recent one, to see which memories Claude would get."
        if run.silent == "no-index":
            return TEXTS["recall without index"]
        why = words.silence(run)  # that nothing is delivered stands above
        return f"{why[:1].upper()}{why[1:]}."

    def summary(self) -> Text:
        line, run = Text(no_wrap=True, overflow="ellipsis"), self.last
        if problem := self._problem or self._index_problem:
            return line.append("! " + safe_text.line(problem), style=colours.PROBLEM)
        if self._is_late and not self._step:
            return line.append(READING, style="bold")
        if self._step or not run.prompt.strip() or not run.memories:
            return line.append(safe_text.line(self._step) or TITLE, style="bold")
        headline = words.headline(run)
        line.append(headline if run.candidates else headline.partition(":")[0], style="bold")  # the list says why
        if why := self.recalling.unheard:  # sessions get nothing of this
            line.append(f" · {notes.keyed(why, read_only=self.services.read_only)}", style="bold yellow")
        elif run.off:
            line.append(f" · {words.OFF}", style="bold yellow")
        return line.append(f" · {words.took(run)}" if run.delivered else "", style="dim")

    def describe(self, pair: Pair) -> Described:
        candidate, run = self.candidate(pair), self.last
        if candidate is None:
            title = "all that it would bring" if run.delivered else "why it brings nothing"
            return Described(rule_text(run), title=title)
        text = recall_head(candidate, run, self.reader.name_of(pair[0]), self.services.data.now())
        append_reasons(text, candidate)
        muted = "deliver it again" if candidate.outcome == "muted" else "never deliver it for prompts like this"
        pinned = "no session begins with it any more" if candidate.pinned else "every session begins with it"
        keys = [("memories.retype", "add a trigger: find it by other words, too"), ("memories.remove", muted)]
        keys += [("memories.pin", pinned), ("memories.edit", "edit it")]
        append_keys(text, keys, read_only=self.services.read_only)
        return Described(text, title=safe_text.line(candidate.name))

    def copied(self, pair: Pair | None) -> str:
        candidate = self.candidate(pair)
        return (candidate.text if candidate is not None else "") or self.last.text

    def footer_actions(self) -> list[keymap.Action]:
        commands = [keymap.on_screen("memories", verb) for verb in FOOTER]
        words = FOOTER_WORDS | ({"remove": "unmute"} if self._are_muted else {})
        return [replace(action, footer=words.get(action.verb, action.footer)) for action in commands]

    def _why_no_prompt(self) -> str:
        return "" if self.prompt.strip() else keymap.keyed("Type a prompt first: {memories.recall}.")

    async def trigger(self) -> None:
        """Add a line on when the memory is needed, first of all the prompt itself."""
        from memtui.store.triggers import checked

        memory = self.list.chosen()[0][1].memory
        name, prompt = safe_text.line(memory.name, 60), safe_text.line(self.prompt, 300)
        about = "When is it needed? In the words of a prompt, other than its own."
        line = Line(f"Add a trigger for {name}", prompt, about=about, verb="add", check=checked)
        if (answer := await self.services.ask(line)) is not None:
            add = partial(self.recalling.add_trigger, memory, answer)
            self._change(add, f"Trigger added to {name}.", f"{name} has this trigger already.")

    @property
    def _are_muted(self) -> bool:
        outcomes = [candidate.outcome for pair in self.list.chosen() if (candidate := self.candidate(pair))]
        return bool(outcomes) and {*outcomes} == {"muted"}

    def mute(self) -> None:
        """Never deliver the chosen memories for prompts like this one; take that back for those that are muted."""
        back, prompt = self._are_muted, self.prompt
        pairs = [(pair, candidate) for pair in self.list.chosen() if (candidate := self.candidate(pair))]
        memories = [pair[1].memory for pair, candidate in pairs if (candidate.outcome == "muted") == back]
        sentence = "Delivered again for prompts like this" if back else "Muted for prompts like this"
        names = some([safe_text.line(memory.name, 60) for memory in memories], NAMES_SHOWN)
        self._change(lambda: self.recalling.mute(memories, prompt, back=back), f"{sentence}: {names}.")

    def _change(self, change: Callable[[], object], sentence: str, unchanged: str = "") -> None:
        """Make a change and say so; `unchanged` is said where the change returns that there was none."""
        try:
            is_changed = change() is not False
            self.list.clear_marks()
            self.services.say(f"{sentence} {keymap.takes_back()}" if is_changed else unchanged)
        finally:
            self.services.read()
