"""A text area for Markdown: syntax is highlighted, and control characters are drawn as visible pictures."""

from rich.text import Text
from textual.geometry import Offset
from textual.widgets import TextArea

from memtui.tui.widgets import markdown
from memtui.views import safe_text

# Characters. A longer line can't be wrapped fast enough while a person types.
MAX_LINE = 20_000
MAX_TEXT = 500_000
# Lines above a line that are searched for the code fence around it.
FENCE_LOOKBACK = 400


def fits(text: str) -> bool:
    """Return whether a text is small enough for this widget; a larger one needs a real editor."""
    return len(text) <= MAX_TEXT and max(map(len, text.split("\n")), default=0) <= MAX_LINE


class Body(TextArea):
    DEFAULT_CSS = """
    Body { border: none; padding: 0 1; background: $surface; }
    Body:focus { border: none; }
    """

    def get_line(self, line_index: int) -> Text:
        """Return a line with its Markdown styled, and each control character replaced by one visible character."""
        source = self.document.get_line(line_index)
        line = Text(safe_text.same_length(source), end="", no_wrap=True)
        for start, end, style in markdown.spans(source, code=self._in_fence(line_index)):
            line.stylize(style, start, end)
        return line

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Scroll to the cursor, unless an undo has taken its line away."""
        if self.cursor_location[0] >= self.document.line_count:
            return Offset()
        return super().scroll_cursor_visible(center, animate)

    def _in_fence(self, line_index: int) -> bool:
        fences = 0
        for number in range(max(0, line_index - FENCE_LOOKBACK), line_index):
            line = self.document.get_line(number)
            fences += ("```" in line or "~~~" in line) and markdown.FENCE.match(line) is not None
        return fences % 2 == 1
