"""The filters of the deliveries: by session, project, kind, memory, outcome and text."""

from typing import TYPE_CHECKING

from rich.text import Text
from textual import on
from textual.timer import Timer
from textual.widgets import Input

from memtui.core.base.phrasing import age, many
from memtui.core.deliveries.filter import Filter
from memtui.core.deliveries.reading import DeliveryRow, Reading, Receipts
from memtui.present import safe_text
from memtui.present.deliveries import GLYPHS, KINDS, MEANINGS
from memtui.tui.dialogs.ask import Choice
from memtui.tui.model.remembered import State
from memtui.tui.screens.frame import Base

if TYPE_CHECKING:
    from memtui.core.deliveries.statistics import Statistics

TYPING_SECONDS = 0.2
OFFERED = 200


class Filters(Base):
    """What is wanted of the log; the screen reads it."""

    wanted: Filter
    reading: Reading | None
    proofs: Receipts
    tally: "Statistics"

    def __init__(self) -> None:
        super().__init__()
        self.wanted = Filter()
        self._given = False  # by another screen, before this one was there
        self._typing: Timer | None = None

    @property
    def row(self) -> DeliveryRow | None:
        """The delivery under the cursor."""
        raise NotImplementedError

    def read_anew(self) -> None:
        """Read the log from its end, by the filter that holds."""
        raise NotImplementedError

    def focus_list(self) -> None:
        """Put the focus on the list that is shown."""
        raise NotImplementedError

    def to_list(self) -> None:
        """Out of whatever is shown over the list."""
        raise NotImplementedError

    def only(self, **fields: str) -> None:
        """Show only what fits these fields too; one that is empty wants everything."""
        wanted = self.wanted.but(**fields)
        if wanted != self.wanted:
            self.wanted = wanted
            State(self.main.data.root, read_only=self.main.read_only).put(self.group, dict(wanted.words()))
            self.read_anew()

    def want(self, **fields: str) -> None:
        """Show what fits these fields and no others, in the list."""
        self._given = True
        self.wanted = Filter.of(fields)
        if self.is_mounted:  # it reads when it is
            self._show_text()
            self.to_list()
            self.read_anew()

    def as_left(self) -> None:
        """Want what was wanted when the screen was left the last time."""
        if not self._given:
            left = State(self.main.data.root).get(self.group)
            self.wanted = Filter.of(left)
        self._show_text()

    def _show_text(self) -> None:
        line = self.query_one("#filter", Input)
        with self.prevent(Input.Changed):
            line.value = self.wanted.text
        line.set_class(bool(self.wanted.text), "shown")

    def filter_line(self) -> Text:
        """What is filtered by, and how to leave it."""
        text = Text(no_wrap=True, overflow="ellipsis")
        for name, value in self.wanted.words():
            shown = value[:8] if name == "session" else value.rpartition("/")[2] if name == "memory" else value
            text.append(f"{name} ", style="dim")
            text.append(safe_text.line(shown, 60) + "  ", style="bold")
        if text.plain:
            more = "the last one" if len(self.wanted.words()) > 1 else "it"
            text.append(f"escape clears {more}", style="dim")
        return text

    def clear_filter(self) -> None:
        """Do without the filter that was set last."""
        if self._typing is not None:
            self._typing.stop()
        words = self.wanted.words()
        if words:
            self.only(**{words[-1][0]: ""})
        self._show_text()
        self.focus_list()

    def _choose(self, question: str, field: str, options: list[tuple[str, str]], current: str) -> None:
        def then(value: str | None) -> None:
            if value is not None:
                self.only(**{field: value})

        self.app.push_screen(Choice(question, [("", "everything"), *options], current), then)

    # actions

    def do_deliveries_session(self) -> None:
        """One session only."""
        now = self.main.data.now()
        found = sorted(self.tally.sessions.items(), key=lambda pair: -pair[1][0])[:OFFERED]
        options = [
            (name, f"{name[:8]}  {project}  {many(count, 'delivery', 'deliveries')}  {age(last, now)}")
            for name, (last, project, count) in found
        ]
        self._choose("Show the session", "session", options, self.row.session if self.row else "")

    def do_deliveries_project(self) -> None:
        """One project only."""
        counts: dict[str, int] = {}
        for _, project, count in self.tally.sessions.values():
            counts[project] = counts.get(project, 0) + count
        options = [
            (name, f"{name}  {many(count, 'delivery', 'deliveries')}")
            for name, count in sorted(counts.items(), key=lambda pair: -pair[1])
        ]
        self._choose("Show the project", "project", options, self.row.where if self.row else "")

    def do_deliveries_kind(self) -> None:
        """What brought one kind of thing only."""
        self._choose("Show what brought", "kind", list(KINDS.items()), self.wanted.kind)

    def do_deliveries_outcome(self) -> None:
        """One outcome only."""
        options = [(word, f"{glyph} {word}: {MEANINGS[word]}") for word, (glyph, _) in GLYPHS.items()]
        self._choose("Show by what became of it", "outcome", options, self.wanted.outcome)

    def do_deliveries_memory(self) -> None:
        """What brought one memory, or a use of it, only."""
        own = set(self.row.files) if self.row else set()
        found = sorted(self.tally.memories.items(), key=lambda pair: (pair[0] not in own, -pair[1].deliveries))
        options = [
            (path, f"{each.name}  {each.deliveries}×" + (f", used {each.uses}×" if each.uses else ""))
            for path, each in found[:OFFERED]
        ]
        self._choose("Show the memory", "memory", options, self.wanted.memory)

    def do_deliveries_text(self) -> None:
        """Words of the delivered text."""
        line = self.query_one("#filter", Input)
        line.add_class("shown")
        line.focus()

    @on(Input.Changed, "#filter")
    def _typed(self, event: Input.Changed) -> None:
        """Search when the typing rests: a long log is read anew each time."""
        if self._typing is not None:
            self._typing.stop()
        self._typing = self.set_timer(TYPING_SECONDS, lambda: self.only(text=event.value.strip()))

    @on(Input.Submitted, "#filter")
    def _submitted(self, event: Input.Submitted) -> None:
        if self._typing is not None:
            self._typing.stop()
        self.only(text=event.value.strip())
        event.input.set_class(bool(event.value.strip()), "shown")
        self.focus_list()
