"""A one-line input without a border, and a label to put before inputs. Pasted control characters become visible."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.strip import Strip
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input, Static

from memtui.views import safe_text


class Field(Input):
    """A one-line input, one row high in every theme, whose placeholder ends in `…` where it is cut."""

    DEFAULT_CSS = """
    Field { height: 1; width: 1fr; padding: 0 1; background: $surface; }
    Field.-textual-compact { padding: 0 1; }
    Field:focus { background: $boost; }
    """
    # A reactive without layout: another letter must not lay out the whole screen again.
    virtual_size = Reactive(Size(0, 0))
    sign = ""  # what stands in the padding before the text

    def __init__(self, value: str = "", **more: Any) -> None:
        super().__init__(value, compact=True, **more)
        self.hint = self.placeholder

    def on_resize(self) -> None:
        hint = Text(self.hint)
        hint.truncate(self.scrollable_content_region.width, overflow="ellipsis")
        self.placeholder = hint.plain

    def validate_value(self, value: str) -> str:
        """Replace control characters and tabs, one character each."""
        return safe_text.same_length(value).replace("\t", " ")

    def render_lines(self, crop: Region) -> list[Strip]:
        sign, end = Strip([Segment(self.sign, self.rich_style)]), self.gutter.left
        start = end - len(self.sign)
        return [Strip.join([line.crop(0, start), sign, line.crop(end)]) for line in super().render_lines(crop)]

    def render_line(self, y: int) -> Strip:
        room = self.scrollable_content_region.width
        text = Text(self.value, no_wrap=True, end="")
        if y or self.has_focus or text.cell_len <= room:
            return super().render_line(y)
        text.truncate(room, overflow="ellipsis")
        strip = Strip(text.render(self.app.console)).extend_cell_length(room + 1)
        return strip.apply_style(self.rich_style)

    def on_paste(self, event: events.Paste) -> None:
        """Paste all lines as one; more than `safe_text.MAX_LINE` characters are refused, as keys would be slow."""
        event.prevent_default()
        event.stop()
        line = " ".join(line for line in event.text.splitlines() if line.strip())
        if len(self.value) + len(line) > safe_text.MAX_LINE:
            self.notify(f"{len(line):,} characters are too many for one line: nothing was pasted.", severity="warning")
        else:
            self.replace(line, *self.selection)


class Completion(Suggester):
    """The rest of the value of a query's last term, which → takes. `choices` returns what each term takes."""

    def __init__(self, choices: Callable[[], Mapping[str, Sequence[str]]]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self.choices = choices

    async def get_suggestion(self, value: str) -> str | None:
        """Return the whole line with its last term completed; None if there is nothing to complete."""
        name, colon, begun = value.rpartition(" ")[2].partition(":")
        values = self.choices().get(name, ()) if colon else ()
        return next(
            (value + choice[len(begun) :] for choice in values if choice.startswith(begun) and choice != begun), None
        )


class Labelled(Horizontal):
    """One or more fields after a label, or below it (`over`), which is marked while one has the focus."""

    DEFAULT_CSS = """
    Labelled { height: 1; }
    Labelled.over { layout: vertical; height: 1fr; min-height: 4; }
    Labelled > .head { width: auto; height: 1; }
    Labelled .mark { width: 1; color: $accent; visibility: hidden; }
    Labelled .label { width: 13; color: $text-muted; }
    Labelled.-focus .mark { visibility: visible; }
    Labelled.-focus .label { color: $text; text-style: bold; }
    """

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
