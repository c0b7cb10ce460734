"""The Recall screen: a prompt on top; below it the memories that it would bring, and those that it would not, and
why."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input

from memtui import actions
from memtui.core.base.phrasing import many
from memtui.present import recall, safe_text, unheard
from memtui.recalling import MOST_CHARACTERS, RecallRun
from memtui.tui import key_bindings
from memtui.tui.model import fuzzy
from memtui.tui.screens.list_screen import Described, ListScreen
from memtui.tui.screens.recall import rows, text
from memtui.tui.screens.recall.commands import RecallCommands
from memtui.tui.screens.recall.reading import (
    PromptsRead,
    RecallFailed,
    RecallIndexed,
    RecallProgress,
    RecallRan,
    RecallReader,
)
from memtui.tui.screens.recall.rows import RULE, RecallList, RecallRow
from memtui.tui.services import Services
from memtui.tui.widgets.field import Field, Labelled

if TYPE_CHECKING:
    from memtui.core.client.prompts import Prompt

NOTHING_TYPED = """Nothing typed yet.
Press {recall.ask} and type a prompt, or {recall.prompts} for a recent one, to see which memories Claude would get."""
NO_MEMORIES = """Nothing is remembered here yet, so no prompt brings anything.
{app.memories}, {memories.new} creates a memory; a draft that you approve becomes one, too."""
NO_INDEX = """Nothing can be looked up: the memories have no index yet, and with --read-only none is built.
The next session builds it, and so does `memtui recall`."""
NOTHING_FOUND = """Nothing would be delivered: {}.
No memory was found for it. Other words may find some, and a trigger of a memory finds it by them."""
READING = "Looking …"
# The actions that are about the prompt, not about a memory.
ABOUT_PROMPTS = {"recall.ask", "recall.prompts", "recall.session"}
NEW = "as for a new session"


class Recall(ListScreen[RecallRow]):
    """The screen. `prompt`: the whole text that is asked about; `session`: whose it would be, empty for a new one."""

    BINDINGS: ClassVar[list[BindingType]] = [*key_bindings.bindings("recall")]
    group: ClassVar[str] = "recall"
    reads: ClassVar[frozenset[str]] = frozenset({"settings", "memories", "log"})
    row_word: ClassVar[str] = "memory"
    nothing_chosen: ClassVar[str] = ""
    detail_percent: ClassVar[int] = 50
    glance_lines: ClassVar[int] = 9
    legend: ClassVar[str] = (
        rows.LEGEND + "\n"
        "likely: how likely it is that the memory helps with the prompt. It is worked out of the words that match, of"
        " the likeness in meaning, and of what its deliveries led to. The line across the list is where delivery ends."
    )

    def __init__(self, services: Services) -> None:
        super().__init__(
            services,
            RecallList(self._draw, lambda: rows.rule(self.last)),
            rows.searched,
            placeholder="filter: name, scope, reason, description",
        )
        self.prompt_line = Field(placeholder="a prompt, as you would type it to Claude", id="prompt")
        self.reader = RecallReader(services.data, self.post_message, writes=not services.read_only)
        self.commands |= RecallCommands(services, self).table()
        self.prompt = self.session = self.session_words = ""
        self.recent: list[Prompt] = []
        self.last: RecallRun = RecallRun("")
        self._problem = self._progress = self._stale = ""
        self._is_newest = self._began = self._has_run = False

    # layout

    def body(self) -> ComposeResult:
        """Yield the prompt above all."""
        yield Labelled("prompt", self.prompt_line)
        yield from super().body()

    def begin(self) -> None:
        """Focus the list, and begin with the prompt of last time, else with the newest that the person typed."""
        self._put(str(self.left.get("prompt") or ""))
        super().begin()

    # reading

    def reload(self) -> None:
        """Bring the indexes up to date, and run the prompt."""
        self._began = True
        self._read_prompts()
        self._run(fresh=True)

    @work(thread=True, exclusive=True, group="recall")
    def _run(self, *, fresh: bool) -> None:
        self.reader.run(self.prompt, self.session, fresh=fresh)

    @work(thread=True, exclusive=True, group="prompts")
    def _read_prompts(self) -> None:
        self.reader.read_prompts()

    def on_prompts_read(self, message: PromptsRead) -> None:
        """Offer the prompts; begin with the newest, if there is none."""
        self.recent = message.found
        if self.recent and not self.prompt and not self.prompt_line.has_focus and not self._has_run:
            self._is_newest = True
            self._put(self.recent[0].text)
            self._run(fresh=False)

    def on_recall_progress(self, message: RecallProgress) -> None:
        """Show how far bringing the indexes up to date is."""
        self._progress = message.words
        self.fill()

    def on_recall_indexed(self, message: RecallIndexed) -> None:
        """Show that the indexes are up to date, or why they are not."""
        self._progress, self._stale = "", message.problem
        self.fill()

    def on_recall_failed(self, message: RecallFailed) -> None:
        """Show why there is no answer."""
        self._problem = f"{message.error.message} {message.error.hint}".strip()
        self._progress, self.found = "", ()
        self.fill()

    def on_recall_ran(self, message: RecallRan) -> None:
        """Show what a prompt would bring, unless another was typed meanwhile."""
        if (message.run.prompt, message.run.session) != (self.prompt, self.session):
            return
        changed = message.run.prompt != self.last.prompt
        self.last, self._problem, self._has_run = message.run, "", bool(message.run.prompt) or self._has_run
        self.found = rows.rows(message.run)
        if changed and self.found:
            self.wanted = lambda _: 0
        self.table.redraw()
        self.fill()

    # the prompt

    def type_prompt(self) -> None:
        """Type a prompt: what stands there is selected."""
        self.remove_class("deep", "whole")
        self.prompt_line.focus()
        self.prompt_line.action_select_all()

    def show_prompt(self, prompt: str) -> None:
        """Show a prompt, and what it would bring."""
        self._is_newest = False
        self._put(prompt)
        self.table.focus()
        self._run(fresh=False)

    def _put(self, prompt: str) -> None:
        """Put a prompt into its line, which has no line breaks."""
        self.prompt = prompt[:MOST_CHARACTERS]
        with self.prompt_line.prevent(Input.Changed):
            self.prompt_line.value = safe_text.line(prompt)

    def show_session(self, session: str, words: str) -> None:
        """Ask as for a session; `words` say which, in the list that it was chosen from."""
        self.session, self.session_words = session, words
        self._run(fresh=False)
        self.fill()

    @on(Input.Changed, "#prompt")
    def prompt_typed(self, event: Input.Changed) -> None:
        """Run the prompt while the person types."""
        if event.value != safe_text.line(self.prompt):
            self.prompt, self._is_newest = event.value, False
            self._run(fresh=False)

    @on(Input.Submitted, "#prompt")
    def prompt_submitted(self) -> None:
        """Go to the list with enter."""
        self.keep(prompt=self.prompt)
        self.table.focus()

    def on_key(self, event: events.Key) -> None:
        """Move the cursor of the list with the arrow keys while a line has the focus."""
        if event.key in {"up", "down"} and self.prompt_line.has_focus:
            self.table.action_move(1 if event.key == "down" else -1)
            event.stop()
        else:
            super().on_key(event)

    # showing

    def _draw(self, row: RecallRow) -> list[Text]:
        return rows.cells(row.found, self.typed) if row.found is not None else [Text()] * len(rows.COLUMNS)

    def select(self) -> Sequence[RecallRow]:
        """Return the rows that pass the filter, with the rule between them."""
        if not self.typed:
            return self.found
        shown = fuzzy.select([row for row in self.found if row.found is not None], self.typed, self.searched)
        return [row for row in self.found if row.key == RULE or row in shown] if shown else []

    def why_empty(self) -> str:
        """Return the text of an empty list."""
        if self.typed and self.found:
            return super().why_empty()
        if self._problem:
            return safe_text.line(self._problem)
        if self._progress:
            return self._progress
        if not self._began or (self.prompt and self.prompt != self.last.prompt):
            return READING
        if not self.last.memories:
            return actions.keyed(NO_MEMORIES, read_only=self.services.read_only)
        if not self.prompt.strip():
            return actions.keyed(NOTHING_TYPED)
        if self.last.silent == "no-index":
            return NO_INDEX
        return NOTHING_FOUND.format(recall.silence(self.last))

    def summary(self) -> Text:
        """Return what the prompt would bring, how much that is, for whom, and how long it took to find out."""
        line = Text(no_wrap=True, overflow="ellipsis")
        if self._problem or self._stale:
            return line.append("! " + safe_text.line(self._problem or self._stale), style="red")
        if self._progress:
            return line.append(safe_text.line(self._progress), style="bold")
        run = self.last
        if not run.prompt.strip() or not run.memories:
            return line.append("Recall: which memories a prompt would bring, and why", style="bold")
        line.append(recall.headline(run), style="bold")
        line.append(self._unheard(), style="bold yellow")
        line.append(f" · {recall.amount(run)}" if run.delivered else "", style="dim")
        line.append(f" · {recall.took(run)}", style="dim")
        line.append(f" · as for {safe_text.line(self.session[:8])}" if self.session else f" · {NEW}", style="dim")
        line.append(" · your newest prompt" if self._is_newest else "", style="dim")
        line.append(f" · of {many(run.memories, 'memory', 'memories')}", style="dim")
        return line

    def _unheard(self) -> str:
        """Return why sessions get nothing of this, as a fact of the summary; empty if they do."""
        if why := self.reader.recalling.unheard:
            return f" · {unheard.keyed(why, read_only=self.services.read_only)}"
        return f" · {recall.OFF}" if self.last.off else ""

    def footer_actions(self) -> list[actions.Action]:
        """Return the actions for the bottom bar; while a memory is read, first what can be done about it."""
        found = super().footer_actions()
        if self.detail_covers_list:
            found.sort(key=lambda action: action.id in ABOUT_PROMPTS)
        return found

    def count(self) -> None:
        """Count memories, not the rule."""
        shown, total = (sum(row.found is not None for row in each) for each in (self.table.rows, self.found))
        words = [f"{shown} of {total}" if self.typed else ""]
        words += [f"{len(self.table.marks)} marked" if self.table.marks else ""]
        self.tell(" · ".join(filter(None, words)))

    def markable(self) -> Sequence[RecallRow]:
        """Return the memories that are listed."""
        return [row for row in self.table.rows if row.found is not None]

    def describe(self, row: RecallRow) -> Described:
        """Return the detail of a memory, or of all that would be delivered."""
        if row.found is None:
            return Described(text.whole(self.last, self.session_words or NEW))
        now = self.services.data.now()
        found = text.detail(row.found, self.last, now, read_only=self.services.read_only)
        return Described(found, text.glance(row.found, self.last, now))

    def copied(self) -> str:
        """Return the text for the clipboard: what the model would get."""
        row = self.table.row
        return (row.found.text if row is not None and row.found is not None else "") or self.last.text

    def files_on_screen(self) -> list[str]:
        """Return the memories that are listed."""
        return [row.key for row in self.table.on_screen() if row.found is not None]

    # escape

    def escape_steps(self) -> Sequence[Callable[[], bool]]:
        """Return the steps of escape: from the prompt to the list, the detail, marks, the filter, the session."""
        return (
            self._leave_prompt,
            self.leave_detail,
            self.table.clear_marks,
            self.clear_filter,
            self._forget_session,
        )

    def _leave_prompt(self) -> bool:
        if not self.prompt_line.has_focus:
            return False
        self.table.focus()
        return True

    def _forget_session(self) -> bool:
        if not self.session:
            return False
        self.show_session("", "")
        return True
