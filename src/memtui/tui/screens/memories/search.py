"""The search dialog: finds words in names, descriptions and texts of all memories, in a worker that can be stopped."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.text import Text
from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, Static
from textual.worker import get_current_worker

from memtui.core.base.phrasing import many
from memtui.core.memories import search
from memtui.core.memories.memory import Memory
from memtui.present import safe_text
from memtui.tui.dialogs.dialog import SEARCH, Dialog, Keys
from memtui.tui.model import fuzzy
from memtui.tui.screens.memories.rows import Pair, scope_word
from memtui.tui.widgets.field import Field
from memtui.tui.widgets.rows import Column, RowList

WAIT_SECONDS = 0.15
# The most hits that are shown.
LIMIT = 500
# Hits so far are posted each time so many memories were searched.
STEP = 250
# Characters shown before the first match in a line.
LEAD = 16
# The least and most cells of the columns; a name has at most a third of the width.
LEAST_NAME, MOST_NAME, LEAST_SCOPE, MOST_SCOPE = 16, 32, 7, 16


@dataclass(frozen=True)
class SearchHit:
    """A memory that matches; `line`: the line of its text that matches best."""

    score: float
    memory: Memory
    line: str


@dataclass
class Found(Message):
    """The hits among the first `done` memories."""

    query: str
    hits: list[SearchHit]
    done: int


class Search(Dialog[str | None]):
    """The dialog; it ends with the path of the chosen memory. `query` and `at`: the words and the hit to start from."""

    DEFAULT_CSS = """
    Search { align: center top; }
    Search > Vertical { width: 120; max-width: 98%; height: 90%; margin-top: 1; padding: 1 2; background: $panel; }
    Search RowList { margin: 1 0; background: $panel; }
    Search .foot { height: 1; color: $text-muted; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "stop, close")]

    def __init__(self, pairs: Sequence[Pair], query: str = "", at: str = "") -> None:
        super().__init__()
        self.at = at
        self.memories = [row.memory for _, row in pairs]
        self.scopes = {row.memory.path: scope_word(scope, row) for scope, row in pairs}
        self.elsewhere = {row.memory.path for scope, row in pairs if scope.project}
        self.field = Field(query, placeholder="words in names, descriptions and texts")
        self.table = RowList[SearchHit](self._columns(0), self._draw, lambda hit: hit.memory.path, id="hits")
        self.foot = Static(classes="foot")
        self.running = False
        self.moved = False

    def body(self) -> ComposeResult:
        """Yield the input, the hits and the progress."""
        with Vertical():
            yield self.field
            yield self.table
            yield self.foot

    def on_mount(self) -> None:
        """Focus the input, and search for the words to start from."""
        self.field.focus()
        self._tell(f"{many(len(self.memories), 'memory', 'memories')} to search")
        self._begin(self.typed)

    def _columns(self, width: int) -> tuple[Column, ...]:
        longest = max(map(len, self.scopes.values()), default=0)
        return (
            Column("name", max(LEAST_NAME, min(MOST_NAME, width // 3))),
            Column("scope", max(LEAST_SCOPE, min(longest, MOST_SCOPE))),
            Column("match"),
        )

    def on_resize(self) -> None:
        """Give the columns the new width."""
        self.table.columns = list(self._columns(self.table.size.width))
        self.table.redraw()

    @property
    def typed(self) -> str:
        """The words that are typed."""
        return self.field.value

    def _tell(self, words: str) -> None:
        self.foot.update(Text(words, no_wrap=True))

    def keys(self) -> Keys:
        """Return the keys that work while words are typed."""
        return SEARCH

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        self.workers.cancel_group(self, "search")
        self.set_timer(WAIT_SECONDS, lambda: self._begin(event.value))

    def _begin(self, query: str) -> None:
        if query != self.typed:
            return
        if query.strip():
            self.running, self.moved = True, False
            self._search(query)
        else:
            self.table.show([])

    def on_found(self, message: Found) -> None:
        """Show the hits so far."""
        if message.query != self.typed:
            return
        hits = sorted(
            message.hits,
            key=lambda hit: search.position(hit.score, hit.memory.name, elsewhere=hit.memory.path in self.elsewhere),
        )
        self.running = message.done < len(self.memories)
        words = safe_text.line(message.query, 60)
        self.table.empty = (
            ""
            if self.running
            else f"Nothing found for “{words}”.\nTry {'fewer words' if ' ' in words.strip() else 'another word'}."
        )
        self.table.redraw()
        self.table.show(hits[:LIMIT])
        if not self.moved:
            paths = [hit.memory.path for hit in self.table.rows]
            self.table.move_to(paths.index(self.at) if self.at in paths else 0)
        searched = f"{message.done:,} of {len(self.memories):,} searched · " if self.running else ""
        self._tell(f"{searched}{many(len(hits), 'hit')}" + (f", the best {LIMIT} shown" if len(hits) > LIMIT else ""))

    @work(thread=True, exclusive=True, group="search")
    def _search(self, query: str) -> None:
        worker = get_current_worker()
        words = search.words_of(query)
        hits: list[SearchHit] = []
        for number, each in enumerate(self.memories):
            if number % STEP == 0 and number:
                if worker.is_cancelled or not self.is_attached:
                    return
                self.post_message(Found(query, list(hits), number))
            score, line = search.rank(words, each)
            if score > 0:
                hits.append(SearchHit(score, each, line))
        if not worker.is_cancelled and self.is_attached:
            self.post_message(Found(query, hits, len(self.memories)))

    def _draw(self, hit: SearchHit) -> list[Text]:
        cells = [
            Text(safe_text.line(hit.memory.stem, 200), style="bold"),
            Text(safe_text.line(self.scopes[hit.memory.path], 60), "dim"),
            Text(self._from_match(safe_text.line(hit.line or hit.memory.description, 4000))),
        ]
        fuzzy.mark([cells[0], cells[2]], self.typed)
        return cells

    def _from_match(self, line: str) -> str:
        """Return a line from shortly before its first match on."""
        begin = min((start for start, _ in fuzzy.spans(line, self.typed)), default=0) - LEAD
        return "…" + line[begin:] if begin > 0 else line

    def on_key(self, event: events.Key) -> None:
        """Move among the hits with the arrow keys while words are typed."""
        if event.key in {"up", "down"} and self.field.has_focus:
            self.moved = True
            self.table.action_move(1 if event.key == "down" else -1)
            event.stop()

    @on(Input.Submitted)
    @on(RowList.Opened, "#hits")
    def _chosen(self) -> None:
        if self.table.row is not None:
            self.dismiss(self.table.row.memory.path)

    def action_leave(self) -> None:
        """Stop the search if it is running, else close the dialog."""
        if self.running:
            self.running = False
            self.workers.cancel_group(self, "search")
            self._tell(f"stopped · {many(len(self.table.rows), 'hit')}")
        else:
            self.dismiss(None)
