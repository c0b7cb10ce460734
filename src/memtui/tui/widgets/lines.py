"""Lines: the bars above and below every screen, which say where you are and which keys work, and one-line inputs."""

import re
from collections.abc import Sequence
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len
from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static

from memtui import keymap
from memtui.tui.services import services_of
from memtui.views import safe_text

if TYPE_CHECKING:
    from memtui.tui.services import Services

TABS = ("memories", "inbox", "activity", "setup")
# Actions of every bottom bar, those that stay longest first: from WIDE cells on all, from SMALL on three, else two.
# Below TIGHT only the tab in front has its name.
EVERYWHERE = ("app.help", "app.undo", "app.quit", "app.note")
WIDE, SMALL, TIGHT = 100, 80, 60
NUMBERED = {"inbox": 4, "setup": 4}  # cells for the number behind the name of a tab that can have one
RIGHT, LEFT = 17, 12  # cells right of the tabs, where there is room; left of them at least these
PROJECT_MOST, PROJECT_LEAST = 16, 4  # cells of the project's name


class OneLine(Static):
    """A line one row high. A click on one of its `pieces` (start cell, end cell, action id) runs the action."""

    shown: Text | None = None
    pieces: Sequence[tuple[int, int, str]] = ()

    def put(self, text: Text) -> None:
        if self.shown is None or text != self.shown or text.style != self.shown.style:
            self.shown = text
            self.update(text, layout=False)

    def on_click(self, event: events.Click) -> None:
        action_name = next((action for start, end, action in self.pieces if start <= event.x < end), None)
        if action_name is not None:
            services_of(self).action_run(action_name)


def fitting(text: Text, width: int) -> Text:
    """Return as many whole facts of a text, ` · ` between them, as fit into `width` cells, at least the first."""
    ends = [len(text.plain), *[match.start() for match in re.finditer(" · ", text.plain)][::-1]]
    return text[: next((end for end in ends if text[:end].cell_len <= width), ends[-1])]


class TopBar(OneLine):
    """The top bar: project, tabs with what waits there, hooks and live sessions. Its places follow from the width."""

    def show(self, current: str, app: "Services", project: str, *, offers: bool) -> None:
        """Draw the line for a screen with the name of the `project`; `offers`: another one can be chosen there."""
        width = self.size.width or 80
        tabs = {name: _tab(name, current, app, width) for name in TABS}
        spare = max(0, width - sum(map(len, tabs.values())))
        right = min(RIGHT, max(10 if app.read_only else 3, spare - LEFT)) if width >= TIGHT else min(3, spare)
        text = _place(app, project, " ▾" * offers, max(0, min(spare - right, 2 * LEFT + 2)), wide=width >= WIDE)
        pieces = [(0, text.cell_len, "list.project")] * offers
        for name, words in tabs.items():
            start = text.cell_len
            label = words.rstrip() + " " if width >= TIGHT else words
            style = "reverse" if name == current else ""
            text.append(label[:2], style=style or "dim").append(label[2:], style=style)
            text.append(" " * (len(words) - len(label)))
            if name != current and "!" in words:  # problems
                text.stylize("not dim bold red", start + words.index("!"), start + len(label))
            pieces.append((start, start + len(label), f"app.{name}"))
        status = _status(app, width - text.cell_len - 1)
        text.append(" " * max(0, width - text.cell_len - status.cell_len - 1)).append_text(status)
        self.pieces = pieces
        self.put(text)


def _tab(name: str, current: str, app: "Services", width: int) -> str:
    """Return the words of a tab, with the room that its number may need."""
    count = app.data.facts.waiting.get(name, 0)
    badge = f"{'!' if name == 'setup' else ''}{count}" if count else ""
    if name == "inbox" and name not in app.data.facts.waiting and width >= TIGHT:
        badge = "…"
    number, title = keymap.get(f"app.{name}").keys, name.capitalize()
    if width >= TIGHT:
        room = NUMBERED.get(name, 0)
        return f" {number} {title}{f' {badge}' if badge else '':<{room}} " + "  " * (width >= WIDE)
    if name == current:
        return f" {number} {title}{' ' * bool(badge)}{badge} "
    return f" {number}({badge})" if badge else f" {number} "  # "3 6" would read as two tabs


def _place(app: "Services", project: str, sign: str, room: int, *, wide: bool) -> Text:
    """Return the project with a sign behind it and, if it is not full, the mode, in so many cells."""
    facts = app.data.facts
    mode = "" if facts.mode == "full" else f" {facts.mode}"
    name = Text(safe_text.line(project, PROJECT_MOST), "bold")
    least = min(name.cell_len, PROJECT_LEAST)
    text = Text(" memtui  " if wide else " ", "dim", end="", no_wrap=True)
    cells_left = room - text.cell_len - len(mode) - 2
    if cells_left >= least:
        name.truncate(cells_left, overflow="ellipsis")
        text.append_text(name).append(sign, "dim")
    text.append(mode if cells_left >= least else mode[1:], "bold yellow")
    text.truncate(room)
    return text.append(" " * (room - text.cell_len))


def _status(app: "Services", room: int) -> Text:
    """Return `sample world` in one, whether hooks run, and the number of live sessions, as far as there is room."""
    facts = app.data.facts
    sign = "✓" if facts.hooks else "✗"
    live = f"{len(facts.live)} live" if facts.live else ""
    words = [f"hooks {sign}  {live}"] if live else []
    words += [f"hooks {sign}"] if facts.hooks else [f"hooks {sign}", sign]
    words = words if facts.hooks is not None else [live]
    for special in ["sample world"] * app.data.is_sample + ["read-only"] * app.read_only:
        words = [f"{special}  {word}" for word in words] + [special, *words]
    text = Text(next((word for word in words if cell_len(word) <= room), ""), "dim")
    text.highlight_words(["read-only", "sample world"], "not dim bold")
    if facts.hooks is False:
        text.highlight_words([f"hooks {sign}", sign], "not dim bold red")
    return text


class FootBar(OneLine):
    """The bottom bar: as many keys of the screen as there is room for, and a count or a message on the right."""

    def show(
        self,
        commands: "Sequence[keymap.Action] | None",
        status: str,
        app: "Services",
        first: "Sequence[tuple[str, str]]" = (),
    ) -> None:
        """Draw the bar for a screen: `first` keys, then its `commands`, None while a person types letters."""
        width = self.size.width or 80
        text = Text(" ", no_wrap=True, end="")
        for key, word in first:
            text.append(key, style="bold").append(f" {word}  ", style="dim")
        room = (width - len(status) - 2 if status else width) + 2 - text.cell_len  # the last may have its blanks beyond
        rank = EVERYWHERE[: 4 if width >= WIDE else 3 if width >= SMALL else 2] if commands is not None else ()
        last = [action for action in map(keymap.get, rank) if not (action.writes and app.read_only)]
        keys = {action.id: keymap.key_word(keymap.keys_of(action)) for action in (*(commands or ()), *last)}
        cells = {action.id: len(keys[action.id]) + len(action.footer) + 3 for action in (*(commands or ()), *last)}
        while last and sum(cells[action.id] for action in last) > room:
            last.pop()
        ends = accumulate((cells[action.id] for action in commands or ()), initial=sum(cells[a.id] for a in last))
        own = [action for action, end in zip(commands or (), islice(ends, 1, None), strict=True) if end <= room]
        pieces = []
        for action in [*own, *sorted(last, key=keymap.ACTIONS.index)]:
            start = text.cell_len
            text.append(keys[action.id], style="bold").append(f" {action.footer}  ", style="dim")
            pieces.append((start, text.cell_len - 1, action.id))
        self.pieces = pieces
        text.append(status.rjust(width - text.cell_len - 1), style="dim")
        self.put(text)


class Field(Input):
    """A one-line input, one row high in every theme."""

    # A reactive without layout: another letter must not lay out the whole screen again.
    virtual_size = Reactive(Size(0, 0))
    sign = ""  # what stands in the padding before the text

    def __init__(self, value: str = "", **more: Any) -> None:
        super().__init__(value, compact=True, **more)

    def validate_value(self, value: str) -> str:
        """Replace control characters and tabs, one character each."""
        return safe_text.same_length(value).replace("\t", " ")

    def render_lines(self, crop: Region) -> list[Strip]:
        sign, end = Strip([Segment(self.sign, self.rich_style)]), self.gutter.left
        start = end - len(self.sign)
        return [Strip.join([line.crop(0, start), sign, line.crop(end)]) for line in super().render_lines(crop)]

    def on_paste(self, event: events.Paste) -> None:
        """Paste all lines as one; more than `safe_text.MAX_LINE` characters are refused, as keys would be slow."""
        event.prevent_default()
        event.stop()
        line = " ".join(line for line in event.text.splitlines() if line.strip())
        if len(self.value) + len(line) > safe_text.MAX_LINE:
            self.notify(f"{len(line):,} characters are too many for one line: nothing was pasted.", severity="warning")
        else:
            self.replace(line, *self.selection)


class Labelled(Horizontal):
    """One or more fields after a label, or below it (`over`), which is marked while one has the focus."""

    def __init__(self, label: str, *fields: Widget, over: bool = False) -> None:
        super().__init__(classes="over" if over else None)
        self.label, self.fields = label, fields

    def compose(self) -> ComposeResult:
        with Horizontal(classes="head"):
            yield Static("›", classes="mark")
            yield Static(safe_text.styled(self.label), classes="label")
        yield from self.fields

    def on_descendant_focus(self) -> None:
        """Mark the label while one of its widgets has the focus: also when it goes from an open list to another."""
        self.set_class(self.has_focus_within, "-focus")

    on_descendant_blur = on_descendant_focus
