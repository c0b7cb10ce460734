"""A text area for Markdown: its marks are highlighted, and what a terminal would obey is shown as a picture."""

from rich.text import Text
from textual.widgets import TextArea

from memtui.present import safe_text
from memtui.tui.model import markdown

# A longer line can't be wrapped while somebody types.
MAX_LINE = 20_000
MAX_TEXT = 500_000
# How far above a line the fence is looked for that it may stand in.
FENCE_LOOKBACK = 400


def fits(text: str) -> bool:
    """Whether a text can be edited here at all; else it wants a real editor."""
    return len(text) <= MAX_TEXT and max(map(len, text.split("\n")), default=0) <= MAX_LINE


class Body(TextArea):
    """See the module."""

    DEFAULT_CSS = """
    Body { border: none; padding: 0 1; background: $surface; }
    Body:focus { border: none; }
    """

    def get_line(self, line_index: int) -> Text:
        """A line, made harmless letter for letter, with the styles of its marks."""
        source = self.document.get_line(line_index)
        line = Text(safe_text.same_length(source), end="", no_wrap=True)
        for start, end, style in markdown.spans(source, code=self._in_fence(line_index)):
            line.stylize(style, start, end)
        return line

    def _in_fence(self, line_index: int) -> bool:
        fences = 0
        for number in range(max(0, line_index - FENCE_LOOKBACK), line_index):
            line = self.document.get_line(number)
            fences += ("```" in line or "~~~" in line) and markdown.FENCE.match(line) is not None
        return fences % 2 == 1
